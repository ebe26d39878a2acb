"""The binning loops against plain NumPy."""

import numpy as np
import pytest

from everystump._core import binloops
from everystump._core.lookup import Lookup

TYPES = [np.uint8, np.uint16, np.uint32]


@pytest.mark.parametrize("n", [1, 2, 3, 1000])
@pytest.mark.parametrize("n_values", [1, 2, 50])
def test_run_lengths(n, n_values):
    rng = np.random.default_rng(n)
    ordered = np.sort(rng.integers(0, n_values, size=n)).astype(float)
    weights = rng.uniform(size=n)
    values, counts = np.empty(n), np.empty(n)
    size = binloops.run_lengths(ordered, weights, values, counts)
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
    lookup, out = Lookup.build(cuts), np.empty(500 + n_cuts, dtype=dtype)
    binloops.encode(x, lookup.cuts, lookup.first, lookup.low, lookup.scale, n_cuts + 1, out)
    expected = np.searchsorted(cuts, x, side="right")
    expected[3] = n_cuts + 1
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_cuts", [0, 1, 2, 3, 100])
def test_encode_by_bisection(dtype, n_cuts):
    """More values than one block, some of them exactly at the cuts."""
    rng = np.random.default_rng(2)
    cuts = np.sort(rng.normal(size=n_cuts)) ** 9
    x = np.concatenate([rng.normal(size=1500) ** 9, cuts])
    x[3] = np.nan
    out = np.empty(1500 + n_cuts, dtype=dtype)
    binloops.encode_by_bisection(x, np.append(cuts, np.inf), n_cuts + 1, out)
    expected = np.searchsorted(cuts, x, side="right")
    expected[3] = n_cuts + 1
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", TYPES)
def test_cells_are_mapped(dtype):
    rng = np.random.default_rng(5)
    cells = rng.integers(0, 9, size=300).astype(np.uint16)
    table, out = rng.integers(0, 200, size=9).astype(dtype), np.empty(300, dtype=dtype)
    binloops.map_cells(cells, table, out)
    np.testing.assert_array_equal(out, table[cells])


def test_cells_are_counted_and_found():
    rng = np.random.default_rng(4)
    x, weights = rng.normal(size=300), rng.uniform(size=300)
    cells = rng.integers(0, 9, size=300).astype(np.uint16)
    counts, sums = np.zeros(10), np.zeros(10)
    origins = rng.normal(size=10)
    binloops.count_cells(x, weights, origins, cells, counts, sums)
    expected = np.bincount(cells, weights=weights, minlength=10)
    np.testing.assert_allclose(counts, expected, rtol=1e-12)
    expected = np.bincount(cells, weights=weights * (x - origins[cells]), minlength=10)
    np.testing.assert_allclose(sums, expected, rtol=1e-9, atol=1e-12)
    flags = np.arange(10) % 3 == 0
    index = np.empty(binloops.count_flagged(cells, flags), dtype=np.int64)
    binloops.find_flagged(cells, flags, index)
    np.testing.assert_array_equal(index, np.flatnonzero(flags[cells]))


def test_encode_cells():
    """Cells with no cut, one cut and several cuts; NaN is in the last cell."""
    x = np.array([0.1, 0.9, 1.5, 2.1, 2.2, 2.9, np.nan])
    cells = np.array([0, 0, 1, 2, 2, 2, 3], dtype=np.uint16)
    cuts = np.array([0.5, 2.15, 2.2, np.inf, np.inf])
    out = np.empty(7, dtype=np.uint8)
    binloops.encode_cells(x, cells, np.array([0, 1, 1, 4], dtype=np.int32), cuts, out)
    np.testing.assert_array_equal(out, [0, 1, 1, 1, 3, 3, 4])


def plain_lookup(cuts, low, scale, cells):
    """Return the number of cuts in earlier cells, for each cell and beyond the last."""
    cell = np.clip(np.floor((cuts - low) * scale), 0, cells - 1)
    return np.searchsorted(cell, np.arange(cells + 1), side="left")


@pytest.mark.parametrize("n_cuts", [1, 2, 37])
def test_fill_lookup(n_cuts):
    cuts = np.sort(np.random.default_rng(3).normal(size=n_cuts)) * 8
    low, scale, cells = cuts[0], 0.7, 4 * n_cuts
    out = np.empty(cells + 1, dtype=np.int32)
    binloops.fill_lookup(cuts, low, scale, out)
    np.testing.assert_array_equal(out, plain_lookup(cuts, low, scale, cells))
