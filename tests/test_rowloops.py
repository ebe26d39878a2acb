"""The loops over rows against their plain NumPy twins."""

import numpy as np
import pytest

from everystump._core import rowloops
from everystump._core.binning import Lookup

BLOCK = rowloops._BLOCK
ROWS = [1, 2, 3, 17, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3]
# Sizes of the columns; their numbers are what is left after groups of four, and such a group.
TYPES = {
    np.uint8: (2, 1, 256, 7, 16, 3, 2),
    np.uint16: (3, 300, 20, 2),
    np.uint32: (70_000, 5),
}


def twin_gather(codes, starts, table):
    return sum(table[starts[g] + codes[g].astype(int)] for g in range(len(codes)))


def twin_scatter(codes, starts, r):
    sizes = np.diff(starts)
    return np.concatenate(
        [np.bincount(codes[g], weights=r, minlength=sizes[g]) for g in range(len(codes))]
    )


@pytest.fixture(params=[(n, dtype) for dtype in TYPES for n in ROWS], ids=str)
def rows(request):
    """Return codes, starts, a table and a number a row."""
    n, dtype = request.param
    sizes = TYPES[dtype]
    rng = np.random.default_rng(n)
    codes = np.stack([rng.integers(0, size, size=n) for size in sizes]).astype(dtype)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return codes, starts, rng.normal(size=starts[-1]), rng.normal(size=n)


def test_gather(rows):
    codes, starts, table, r = rows
    out = np.full(len(r), np.nan)
    rowloops.gather(codes, starts, table, out)
    np.testing.assert_allclose(out, twin_gather(codes, starts, table), rtol=1e-13, atol=1e-13)


def test_scatter(rows):
    codes, starts, table, r = rows
    out = np.full_like(table, np.nan)
    rowloops.scatter(codes, starts, r, 0, len(r), out)
    np.testing.assert_allclose(out, twin_scatter(codes, starts, r), rtol=1e-10, atol=1e-11)


def test_gather_scatter(rows):
    codes, starts, table, w = rows
    out = np.full_like(table, np.nan)
    rowloops.gather_scatter(codes, starts, table, w, out)
    expected = twin_scatter(codes, starts, w * twin_gather(codes, starts, table))
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("n_columns", range(1, 10))
def test_any_number_of_columns(n_columns):
    rng = np.random.default_rng(n_columns)
    codes = rng.integers(0, 5, size=(n_columns, 100)).astype(np.uint8)
    starts = 5 * np.arange(n_columns + 1)
    table, r = rng.normal(size=5 * n_columns), rng.normal(size=100)
    score, sums = np.full(100, np.nan), np.full_like(table, np.nan)
    rowloops.gather(codes, starts, table, score)
    rowloops.scatter(codes, starts, r, 0, 100, sums)
    np.testing.assert_allclose(score, twin_gather(codes, starts, table), atol=1e-12)
    np.testing.assert_allclose(sums, twin_scatter(codes, starts, r), atol=1e-12)


def test_gather_and_scatter_are_transposes(rows):
    codes, starts, table, r = rows
    score, sums = np.empty(len(r)), np.empty_like(table)
    rowloops.gather(codes, starts, table, score)
    rowloops.scatter(codes, starts, r, 0, len(r), sums)
    assert r @ score == pytest.approx(table @ sums, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize(
    ("first", "last"),
    [(0, 0), (5, 5), (0, 1), (3, 10), (1, BLOCK + 2), (BLOCK - 1, 2 * BLOCK + 1), (7, 2 * BLOCK)],
)
def test_scatter_looks_at_a_part_of_the_rows(first, last):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 9, size=(2, 2 * BLOCK + 5)).astype(np.uint8)
    starts, r = np.array([0, 9, 18]), rng.normal(size=2 * BLOCK + 5)
    out = np.full(18, np.nan)
    rowloops.scatter(codes, starts, r, first, last, out)
    expected = twin_scatter(codes[:, first:last], starts, r[first:last])
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
    """All loops over rows of codes, the first of which is not theirs; more than a block of them."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 6, size=(n_columns, 5007)).astype(dtype)
    starts, (table, out) = 6 * np.arange(n_columns + 1), rng.normal(size=(2, 6 * n_columns))
    r, positive = rng.normal(size=5000), rng.uniform(size=5000) < 0.3
    mine, score = np.ascontiguousarray(codes[:, 7:]), np.empty((2, 5000))
    rowloops.gather(codes, starts, table, score[0], 7)
    rowloops.gather(mine, starts, table, score[1])
    np.testing.assert_array_equal(*score)
    sums = np.empty((2, 2, 6 * n_columns))
    rowloops.scatter(codes, starts, r, 0, 5000, sums[0, 0], 7)
    rowloops.scatter(mine, starts, r, 0, 5000, sums[1, 0])
    rowloops.gather_scatter(codes, starts, table, r, sums[0, 1], 7)
    rowloops.gather_scatter(mine, starts, table, r, sums[1, 1])
    np.testing.assert_array_equal(*sums)
    rowloops.scatter_by_class(codes, starts, r, positive, 7, sums[0])
    for side, which in zip(sums[0], (positive, ~positive), strict=True):
        rowloops.scatter(mine, starts, np.where(which, r, 0.0), 0, 5000, out)
        np.testing.assert_allclose(side, out, rtol=1e-10, atol=1e-10)
    taken = np.empty((n_columns, 3), dtype=dtype)
    rowloops.take_rows(codes, np.array([4, 0, 4999]), taken, 7)
    np.testing.assert_array_equal(taken, mine[:, [4, 0, 4999]])


def test_sum_sides():
    rng = np.random.default_rng(6)
    values, positive = rng.normal(size=999), rng.uniform(size=999) < 0.5
    sides = values[positive].sum(), values[~positive].sum()
    np.testing.assert_allclose(rowloops.sum_by_class(values, positive), sides, rtol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3, 1000])
@pytest.mark.parametrize("n_values", [1, 2, 50])
def test_run_lengths(n, n_values):
    rng = np.random.default_rng(n)
    ordered = np.sort(rng.integers(0, n_values, size=n)).astype(float)
    weights = rng.uniform(size=n)
    values, counts = np.empty(n), np.empty(n)
    size = rowloops.run_lengths(ordered, weights, values, counts)
    expected, code = np.unique(ordered, return_inverse=True)
    np.testing.assert_array_equal(values[:size], expected)
    np.testing.assert_allclose(counts[:size], np.bincount(code, weights=weights), rtol=1e-12)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_cuts", [0, 1, 100])
def test_encode(dtype, n_cuts):
    rng = np.random.default_rng(2)
    cuts = np.sort(rng.normal(size=n_cuts))
    x = np.concatenate([rng.normal(size=500), cuts])
    x[3] = np.nan
    lookup, out = Lookup.over(cuts), np.empty(500 + n_cuts, dtype=dtype)
    rowloops.encode(x, lookup.cuts, lookup.first, lookup.low, lookup.scale, n_cuts + 1, out)
    expected = np.searchsorted(cuts, x, side="right")
    expected[3] = n_cuts + 1
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_cuts", [0, 1, 2, 3, 100])
def test_encode_by_halving(dtype, n_cuts):
    """More values than are halved in step, some of them exactly at the cuts."""
    rng = np.random.default_rng(2)
    cuts = np.sort(rng.normal(size=n_cuts)) ** 9
    x = np.concatenate([rng.normal(size=1500) ** 9, cuts])
    x[3] = np.nan
    out = np.empty(1500 + n_cuts, dtype=dtype)
    rowloops.encode_by_bisection(x, np.append(cuts, np.inf), n_cuts + 1, out)
    expected = np.searchsorted(cuts, x, side="right")
    expected[3] = n_cuts + 1
    np.testing.assert_array_equal(out, expected)


def test_cells_are_counted_and_found():
    rng = np.random.default_rng(4)
    x, weights = rng.normal(size=300), rng.uniform(size=300)
    cells = rng.integers(0, 9, size=300).astype(np.uint16)
    counts, sums = np.zeros(10), np.zeros(10)
    origins = rng.normal(size=10)
    rowloops.count_cells(x, weights, origins, cells, counts, sums)
    expected = np.bincount(cells, weights=weights, minlength=10)
    np.testing.assert_allclose(counts, expected, rtol=1e-12)
    expected = np.bincount(cells, weights=weights * (x - origins[cells]), minlength=10)
    np.testing.assert_allclose(sums, expected, rtol=1e-9, atol=1e-12)
    flags = np.arange(10) % 3 == 0
    index = np.empty(rowloops.count_flagged(cells, flags), dtype=np.int64)
    rowloops.find_flagged(cells, flags, index)
    np.testing.assert_array_equal(index, np.flatnonzero(flags[cells]))


def test_encode_cells():
    """Cells that hold no cut, one, and several; NaN is in the last one."""
    x = np.array([0.1, 0.9, 1.5, 2.1, 2.2, 2.9, np.nan])
    cells = np.array([0, 0, 1, 2, 2, 2, 3], dtype=np.uint16)
    cuts = np.array([0.5, 2.15, 2.2, np.inf, np.inf])
    out = np.empty(7, dtype=np.uint8)
    rowloops.encode_cells(x, cells, np.array([0, 1, 1, 4], dtype=np.int32), cuts, out)
    np.testing.assert_array_equal(out, [0, 1, 1, 1, 3, 3, 4])


def twin_lookup(cuts, low, scale, cells):
    """Return how many cuts lie in earlier cells, for each cell and beyond the last."""
    cell = np.clip(np.floor((cuts - low) * scale), 0, cells - 1)
    return np.searchsorted(cell, np.arange(cells + 1), side="left")


@pytest.mark.parametrize("n_cuts", [1, 2, 37])
def test_fill_lookup(n_cuts):
    cuts = np.sort(np.random.default_rng(3).normal(size=n_cuts)) * 8
    low, scale, cells = cuts[0], 0.7, 4 * n_cuts
    out = np.empty(cells + 1, dtype=np.int32)
    rowloops.fill_lookup(cuts, low, scale, out)
    np.testing.assert_array_equal(out, twin_lookup(cuts, low, scale, cells))


@pytest.fixture(params=[1, 2, 1001])
def margins(request):
    """Return margins, steps, costs, anchors and sharpness; some at both bounds."""
    rng = np.random.default_rng(request.param)
    margin, step = rng.normal(1.0, 1.0, size=(2, request.param))
    cost, share, sharpness = rng.uniform(0.1, 2.0, size=(3, request.param))
    return margin, step, cost, cost * share / 2, sharpness


def twin_slope(margin, cost, anchor, sharpness):
    return np.clip(anchor + sharpness * (1 - margin), 0, cost)


def test_smoothed_hinge_slope(margins):
    margin, _, *rest = margins
    out = np.full_like(margin, np.nan)
    rowloops.smoothed_hinge_slope(margin, *rest, out)
    np.testing.assert_allclose(out, twin_slope(margin, *rest), rtol=1e-13, atol=1e-15)


def test_smoothed_hinge_curvature(margins):
    margin, _, cost, anchor, sharpness = margins
    out = np.full_like(margin, np.nan)
    rowloops.smoothed_hinge_curvature(margin, cost, anchor, sharpness, out)
    a = anchor + sharpness * (1 - margin)
    np.testing.assert_array_equal(out, np.where((a > 0) & (a < cost), sharpness, 0))


@pytest.mark.parametrize("t", [0.0, 1.0, -0.3])
def test_smoothed_hinge_along(margins, t):
    margin, step, *rest = margins
    along = rowloops.smoothed_hinge_along(margin, step, t, *rest)
    expected = twin_slope(margin + t * step, *rest) @ step
    assert along == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_hinge_total(margins):
    margin, _, cost, *_ = margins
    total = rowloops.hinge_total(margin, cost)
    assert total == pytest.approx(cost @ np.maximum(0, 1 - margin), rel=1e-12)


@pytest.mark.parametrize("n", [1, 1000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_evaluate(n, dtype, order):
    rng = np.random.default_rng(4)
    sizes = (0, 2, 30)
    cuts = [np.sort(rng.normal(size=k)) for k in sizes]
    lookups = [Lookup.over(c) for c in cuts]
    missing = rng.normal(size=3)
    level, slope, anchor = ([rng.normal(size=k + 1) for k in sizes] for _ in range(3))
    curves = rowloops.Curves(
        np.cumsum([0] + [k + 1 for k in sizes]),
        np.concatenate([lookup.cuts for lookup in lookups]),
        np.concatenate(level),
        np.concatenate(slope),
        np.concatenate(anchor),
        missing,
        np.cumsum([0] + [len(lookup.first) for lookup in lookups]),
        np.concatenate([lookup.first for lookup in lookups]),
        np.array([lookup.low for lookup in lookups]),
        np.array([lookup.scale for lookup in lookups]),
    )
    slope[0][:] = curves.slope[0] = 0.0
    X = np.asarray(rng.normal(size=(n, 3)), dtype=dtype, order=order)
    X[rng.random(size=X.shape) < 0.2] = np.nan
    out, parts = np.full(n, np.nan), np.full((n, 3), np.nan)
    rowloops.evaluate(X, curves, 0.25, out)
    rowloops.contributions(X, curves, parts)
    expected = np.empty((n, 3))
    for d in range(3):
        k = np.minimum(np.searchsorted(cuts[d], X[:, d], side="right"), sizes[d])
        curve = level[d][k] + slope[d][k] * (X[:, d] - anchor[d][k])
        expected[:, d] = np.where(np.isnan(X[:, d]), missing[d], curve)
    np.testing.assert_allclose(parts, expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(out, 0.25 + expected.sum(axis=1), rtol=1e-11, atol=1e-12)
