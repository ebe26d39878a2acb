"""Joint columns: fewer codes, the same sums."""

import numpy as np
import pytest

from everystump._core import rowloops
from everystump._core.codes import Codes
from everystump._core.packing import _FEW_BINS, _MAX_JOINT_BINS, pack


def random_codes(sizes, n=500, dtype=np.uint8, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, size, size=n) for size in sizes]).astype(dtype)


def flat_starts(sizes):
    return np.concatenate([[0], np.cumsum(sizes)])


def gather(codes, starts, table):
    out = np.empty(codes.shape[1])
    rowloops.gather(Codes.from_bins(codes, starts), table, out)
    return out


def scatter(codes, starts, r):
    out = np.empty(starts[-1])
    rowloops.scatter(Codes.from_bins(codes, starts), r, 0, len(r), out)
    return out


MIXES = {
    "all join": (2, 3, 2),
    "some join": (2, 100, 3, 40, 4),
    "none joins": (17, 100, 200),
    "several joint columns": (16, 16, 16, 16, 2, 2),
    "one column": (5,),
    "constant columns": (1, 1, 4),
}


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("sizes", MIXES.values(), ids=MIXES)
def test_sums_are_unchanged(sizes, dtype):
    codes, starts = random_codes(sizes, dtype=dtype), flat_starts(sizes)
    packing = pack(codes, np.array(sizes))
    rng = np.random.default_rng(1)
    table, r = rng.normal(size=starts[-1]), rng.normal(size=codes.shape[1])
    np.testing.assert_allclose(
        gather(packing.codes.bins, packing.starts, packing.expand(table)),
        gather(codes, starts, table),
        atol=1e-12,
    )
    np.testing.assert_allclose(
        packing.fold(scatter(packing.codes.bins, packing.starts, r)),
        scatter(codes, starts, r),
        atol=1e-11,
    )


@pytest.mark.parametrize("sizes", MIXES.values(), ids=MIXES)
def test_a_joint_bin_is_one_bin_of_each_member(sizes):
    codes, starts = random_codes(sizes), flat_starts(sizes)
    packing = pack(codes, np.array(sizes))
    assert sorted(d for members in packing.members for d in members) == list(range(len(sizes)))
    for members, bins, joint in zip(packing.members, packing.bins, packing.codes.bins, strict=True):
        expected = codes[list(members)].astype(int) + starts[list(members)][:, None]
        np.testing.assert_array_equal(bins[joint].T, expected)


@pytest.mark.parametrize("sizes", MIXES.values(), ids=MIXES)
def test_joint_columns_have_few_bins(sizes):
    packing = pack(random_codes(sizes), np.array(sizes))
    for members, n_bins in zip(packing.members, np.diff(packing.starts), strict=True):
        assert len(members) == 1 or n_bins <= _MAX_JOINT_BINS
        assert len(members) == 1 or max(np.array(sizes)[list(members)]) <= _FEW_BINS


def test_one_hot_columns_become_one():
    level = np.random.default_rng(2).integers(0, 44, size=1000)
    codes = (level == np.arange(44)[:, None]).astype(np.uint8)
    packing = pack(codes, np.full(44, 2))
    assert packing.members == (tuple(range(44)),)
    assert packing.starts[-1] == 44
    assert len(np.unique(np.stack([level, packing.codes.bins[0]]), axis=1).T) == 44


def test_a_column_of_many_bins_is_not_joined():
    packing = pack(random_codes((2, 17, 2)), np.array([2, 17, 2]))
    assert packing.members == ((0, 2), (1,))


def test_nothing_joined_keeps_codes_and_order():
    codes = random_codes((20, 30, 17))
    packing = pack(codes, np.array([20, 30, 17]))
    assert packing.codes.bins is codes
    assert packing.members == ((0,), (1,), (2,))
    np.testing.assert_array_equal(packing.expand_matrix.toarray(), np.eye(67))


def test_too_many_joint_bins_start_another_joint_column():
    """Three columns of 16 values in all combinations: 256 joint bins, then 16 in another column."""
    grid = np.stack(np.meshgrid(*[np.arange(16)] * 3)).reshape(3, -1).astype(np.uint8)
    packing = pack(grid, np.array([16, 16, 16]))
    assert packing.members == ((0, 1), (2,))
    np.testing.assert_array_equal(np.diff(packing.starts), [256, 16])
    assert packing.codes.bins.dtype == np.uint8


def test_only_bins_that_occur_are_counted():
    """Any number of equal columns of 16 bins are joined."""
    column = random_codes((16,))[0]
    packing = pack(np.stack([column] * 10), np.full(10, 16))
    assert packing.members == (tuple(range(10)),)
    assert packing.starts[-1] == 16


def test_wide_codes_keep_their_type():
    codes = random_codes((2, 300, 3), dtype=np.uint16)
    packing = pack(codes, np.array([2, 300, 3]))
    assert packing.codes.bins.dtype == np.uint16
    assert packing.members == ((0, 2), (1,))
    np.testing.assert_array_equal(packing.codes.bins[1], codes[1])


def test_constant_columns_share_one_bin():
    """However many there are, they cost the row loops one column and the solver nothing."""
    codes = np.zeros((500, 6), dtype=np.uint8)
    codes[7] = codes[450] = [0, 1, 0, 1, 1, 0]
    sizes = np.where(codes.any(axis=1), 2, 1)
    packing = pack(codes, sizes)
    assert sorted(len(members) for members in packing.members) == [2, 498]
    table = np.random.default_rng(0).normal(size=sizes.sum())
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    scores = (packing.expand(table))[packing.codes.bins + packing.starts[:-1, None]].sum(axis=0)
    np.testing.assert_allclose(scores, table[starts[:, None] + codes].sum(axis=0))


def test_the_bins_of_the_members_are_limited():
    """A thousand copies of one column have two joint bins, but not one block of a thousand."""
    codes = np.tile(np.array([0, 1, 1, 0], dtype=np.uint8), (1000, 1))
    packing = pack(codes, np.full(1000, 2))
    assert max(len(members) for members in packing.members) == 512
