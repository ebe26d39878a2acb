"""The loops over rows against their plain NumPy counterparts."""

import numpy as np
import pytest

from everystump._core import rowloops
from everystump._core.codes import Codes

BLOCK = rowloops._BLOCK
ROWS = [1, 2, 3, 17, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3]
# Sizes of the columns; their number is not a multiple of four.
TYPES = {
    np.uint8: (2, 1, 256, 7, 16, 3, 2),
    np.uint16: (3, 300, 20, 2),
    np.uint32: (70_000, 5),
}


def plain_gather(codes, starts, table):
    return sum(table[starts[g] + codes[g].astype(int)] for g in range(len(codes)))


def plain_scatter(codes, starts, r):
    sizes = np.diff(starts)
    return np.concatenate(
        [np.bincount(codes[g], weights=r, minlength=sizes[g]) for g in range(len(codes))]
    )


@pytest.fixture(params=[(n, dtype) for dtype in TYPES for n in ROWS], ids=str)
def rows(request):
    """Return codes, starts, a table and one number per row."""
    n, dtype = request.param
    sizes = TYPES[dtype]
    rng = np.random.default_rng(n)
    codes = np.stack([rng.integers(0, size, size=n) for size in sizes]).astype(dtype)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return codes, starts, rng.normal(size=starts[-1]), rng.normal(size=n)


def test_gather(rows):
    codes, starts, table, r = rows
    out = np.full(len(r), np.nan)
    rowloops.gather(Codes.from_bins(codes, starts), table, out)
    np.testing.assert_allclose(out, plain_gather(codes, starts, table), rtol=1e-13, atol=1e-13)


def test_scatter(rows):
    codes, starts, table, r = rows
    out = np.full_like(table, np.nan)
    rowloops.scatter(Codes.from_bins(codes, starts), r, 0, len(r), out)
    np.testing.assert_allclose(out, plain_scatter(codes, starts, r), rtol=1e-10, atol=1e-11)


def test_gather_scatter(rows):
    codes, starts, table, w = rows
    out = np.full_like(table, np.nan)
    rowloops.gather_scatter(Codes.from_bins(codes, starts), table, w, out)
    expected = plain_scatter(codes, starts, w * plain_gather(codes, starts, table))
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("n_columns", range(1, 10))
def test_any_number_of_columns(n_columns):
    rng = np.random.default_rng(n_columns)
    codes = rng.integers(0, 5, size=(n_columns, 100)).astype(np.uint8)
    starts = 5 * np.arange(n_columns + 1)
    table, r = rng.normal(size=5 * n_columns), rng.normal(size=100)
    score, sums = np.full(100, np.nan), np.full_like(table, np.nan)
    rowloops.gather(Codes.from_bins(codes, starts), table, score)
    rowloops.scatter(Codes.from_bins(codes, starts), r, 0, 100, sums)
    np.testing.assert_allclose(score, plain_gather(codes, starts, table), atol=1e-12)
    np.testing.assert_allclose(sums, plain_scatter(codes, starts, r), atol=1e-12)


def test_gather_and_scatter_are_transposes(rows):
    codes, starts, table, r = rows
    score, sums = np.empty(len(r)), np.empty_like(table)
    rowloops.gather(Codes.from_bins(codes, starts), table, score)
    rowloops.scatter(Codes.from_bins(codes, starts), r, 0, len(r), sums)
    assert r @ score == pytest.approx(table @ sums, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize(
    ("first", "last"),
    [(0, 0), (5, 5), (0, 1), (3, 10), (1, BLOCK + 2), (BLOCK - 1, 2 * BLOCK + 1), (7, 2 * BLOCK)],
)
def test_scatter_of_some_rows(first, last):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 9, size=(2, 2 * BLOCK + 5)).astype(np.uint8)
    starts, r = np.array([0, 9, 18]), rng.normal(size=2 * BLOCK + 5)
    out = np.full(18, np.nan)
    rowloops.scatter(Codes.from_bins(codes, starts), r, first, last, out)
    expected = plain_scatter(codes[:, first:last], starts, r[first:last])
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_taken", [0, 1, 50])
def test_take_rows(dtype, n_taken):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 200, size=(3, 40)).astype(dtype)
    index = rng.integers(0, 40, size=n_taken)
    out = np.empty((3, n_taken), dtype=dtype)
    rowloops.take_rows(codes, index, out)
    np.testing.assert_array_equal(out, codes[:, index])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_columns", [1, 4, 7])
def test_rows_from_an_offset_on(dtype, n_columns):
    """All loops over rows that begin at an offset; more than one block of them."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 6, size=(n_columns, 5007)).astype(dtype)
    starts, (table, out) = 6 * np.arange(n_columns + 1), rng.normal(size=(2, 6 * n_columns))
    r, positive = rng.normal(size=5000), rng.uniform(size=5000) < 0.3
    mine, score = np.ascontiguousarray(codes[:, 7:]), np.empty((2, 5000))
    rowloops.gather(Codes.from_bins(codes, starts), table, score[0], 7)
    rowloops.gather(Codes.from_bins(mine, starts), table, score[1])
    np.testing.assert_array_equal(*score)
    sums = np.empty((2, 2, 6 * n_columns))
    rowloops.scatter(Codes.from_bins(codes, starts), r, 0, 5000, sums[0, 0], 7)
    rowloops.scatter(Codes.from_bins(mine, starts), r, 0, 5000, sums[1, 0])
    rowloops.gather_scatter(Codes.from_bins(codes, starts), table, r, sums[0, 1], 7)
    rowloops.gather_scatter(Codes.from_bins(mine, starts), table, r, sums[1, 1])
    np.testing.assert_array_equal(*sums)
    rowloops.scatter_by_class(Codes.from_bins(codes, starts), r, positive, 7, sums[0])
    for side, which in zip(sums[0], (positive, ~positive), strict=True):
        rowloops.scatter(Codes.from_bins(mine, starts), np.where(which, r, 0.0), 0, 5000, out)
        np.testing.assert_allclose(side, out, rtol=1e-10, atol=1e-10)
    taken = np.empty((n_columns, 3), dtype=dtype)
    rowloops.take_rows(codes, np.array([4, 0, 4999]), taken, 7)
    np.testing.assert_array_equal(taken, mine[:, [4, 0, 4999]])


def test_sum_by_class():
    rng = np.random.default_rng(6)
    values, positive = rng.normal(size=999), rng.uniform(size=999) < 0.5
    sides = values[positive].sum(), values[~positive].sum()
    np.testing.assert_allclose(rowloops.sum_by_class(values, positive), sides, rtol=1e-10)


def test_scatter_pair(rows):
    codes, starts, _, w = rows
    sizes = np.diff(starts)
    first, second = np.argsort(sizes)[:2]
    out = np.full((sizes[first], sizes[second]), np.nan)
    rowloops.scatter_pair(codes[first], codes[second], w, out)
    expected = np.zeros_like(out)
    np.add.at(expected, (codes[first], codes[second]), w)
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-11)


def plain_signs(seed, rows):
    """Return the last bit of SplitMix64, in Python's integers."""
    mask, signs = 2**64 - 1, []
    for row in rows:
        x = (seed + int(row) * 0x9E3779B97F4A7C15) & mask
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
        signs.append(-1.0 if (x ^ (x >> 31)) & 1 else 1.0)
    return np.array(signs)


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_random_signs(seed):
    rows, out = np.arange(5, 4005), np.arange(4000.0)
    rowloops.random_signs(np.uint64(seed), rows, out)
    expected = plain_signs(seed, rows)
    np.testing.assert_array_equal(out, expected * np.arange(4000.0))
    # The mean of 4,000 independent signs, and that of products of neighbors, is below 4 / sqrt(n).
    assert abs(expected.mean()) < 4 / np.sqrt(4000)
    assert abs(np.mean(expected[1:] * expected[:-1])) < 4 / np.sqrt(4000)
