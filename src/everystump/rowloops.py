"""The two loops over rows: gather and scatter, and the forms that fuse them.

Codes are stored column by column, ``codes[g, i]`` being the place of row ``i`` in column ``g``.
Tables of all columns lie end to end in one flat array; ``starts[g]`` is where column ``g``
begins.  Every kernel takes a table, walks the rows in blocks that stay in the first-level cache
and releases the GIL, so that Python threads can work on different rows at the same time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

# One place for the decision how row kernels are compiled: cached between processes, no GIL.
row_kernel = njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")

_BLOCK = 4096


@row_kernel
def _gather_block(codes, starts, table, lo, out):
    """``out[i] = sum_g table[starts[g] + codes[g, lo + i]]`` for one block of rows."""
    n = out.shape[0]
    for i in range(n):
        out[i] = 0.0
    for g in range(codes.shape[0]):
        column = codes[g, lo : lo + n]
        values = table[starts[g] : starts[g + 1]]
        for i in range(n):
            out[i] += values[column[i]]


@row_kernel
def _scatter_block(codes, starts, r, lo, even, odd):
    """Add ``r[i]`` to the place of row ``lo + i`` in every column.

    Even and odd rows go to tables of their own: equal neighbours, the rule in columns of two
    values, would otherwise wait for each other's store.
    """
    n = r.shape[0]
    for g in range(codes.shape[0]):
        column = codes[g, lo : lo + n]
        first = even[starts[g] : starts[g + 1]]
        second = odd[starts[g] : starts[g + 1]]
        for i in range(0, n - 1, 2):
            first[column[i]] += r[i]
            second[column[i + 1]] += r[i + 1]
        if n % 2 == 1:
            first[column[n - 1]] += r[n - 1]


@row_kernel
def gather(codes, starts, table, out):
    """Write the score of each row, ``out[i] = sum_g table[g, codes[g, i]]``."""
    n = out.shape[0]
    for lo in range(0, n, _BLOCK):
        _gather_block(codes, starts, table, lo, out[lo : min(n, lo + _BLOCK)])


@row_kernel
def scatter(codes, starts, r, first, last, out):
    """Write the transpose of gather, ``out[g, k] = sum of r[i] over rows with codes[g, i] = k``.

    Only rows from ``first`` up to ``last`` are looked at.
    """
    odd = np.zeros_like(out)
    out[:] = 0.0
    for lo in range(first, last, _BLOCK):
        _scatter_block(codes, starts, r[lo : min(last, lo + _BLOCK)], lo, out, odd)
    out += odd


@row_kernel
def gather_scatter(codes, starts, table, w, out):
    """Write ``scatter(w * gather(table))`` with one look at each code."""
    n = w.shape[0]
    odd = np.zeros_like(out)
    out[:] = 0.0
    score = np.empty(min(n, _BLOCK))
    for lo in range(0, n, _BLOCK):
        hi = min(n, lo + _BLOCK)
        block = score[: hi - lo]
        _gather_block(codes, starts, table, lo, block)
        for i in range(hi - lo):
            block[i] *= w[lo + i]
        _scatter_block(codes, starts, block, lo, out, odd)
    out += odd


@row_kernel
def take_rows(codes, index, out):
    """Write ``codes[:, index]``."""
    for g in range(codes.shape[0]):
        column = codes[g]
        target = out[g]
        for i in range(index.shape[0]):
            target[i] = column[index[i]]


@row_kernel
def fill_lookup(cuts, low, scale, out):
    """Write, for each cell of an even grid, how many cuts lie before the cell's first point.

    ``out`` has one entry a cell and a last one holding ``len(cuts)``; see `locate`.
    """
    cells = out.shape[0] - 1
    for cell in range(cells + 1):
        out[cell] = cuts.shape[0]
    for k in range(cuts.shape[0] - 1, -1, -1):
        out[_cell(cuts[k], low, scale, cells)] = k
    for cell in range(cells - 1, -1, -1):
        out[cell] = min(out[cell], out[cell + 1])
    out[0] = 0


@row_kernel
def _cell(x, low, scale, cells):
    position = (x - low) * scale
    if not position > 0.0:
        return 0
    if position >= cells:
        return cells - 1
    return int(position)


@row_kernel
def locate(x, cuts, lookup, low, scale):
    """Return how many cuts are at most ``x``: an even grid first, then halving inside its cell."""
    cell = _cell(x, low, scale, lookup.shape[0] - 1)
    first = lookup[cell]
    last = lookup[cell + 1]
    while first < last:
        middle = (first + last) >> 1
        if x >= cuts[middle]:
            first = middle + 1
        else:
            last = middle
    return first


@row_kernel
def encode(x, cuts, lookup, low, scale, out):
    """Write the place of each value, ``out[i]`` = how many cuts are at most ``x[i]``."""
    for i in range(x.shape[0]):
        out[i] = locate(x[i], cuts, lookup, low, scale)


@row_kernel
def run_lengths(ordered, weights, values, counts):
    """Write the distinct values of an ordered array with their total weights; return how many."""
    size = 0
    values[0] = ordered[0]
    counts[0] = weights[0]
    for i in range(1, ordered.shape[0]):
        if ordered[i] != values[size]:
            size += 1
            values[size] = ordered[i]
            counts[size] = 0.0
        counts[size] += weights[i]
    return size + 1


class Curves(NamedTuple):
    """Piecewise linear curves end to end; curve ``d`` is ``starts[d]`` to ``starts[d + 1]``.

    ``slopes`` hold right of each knot; ``cells``, ``lookup``, ``low`` and ``scale`` are the grids
    over the knots, see `locate`.
    """

    starts: np.ndarray
    knots: np.ndarray
    values: np.ndarray
    slopes: np.ndarray
    cells: np.ndarray
    lookup: np.ndarray
    low: np.ndarray
    scale: np.ndarray


@row_kernel
def evaluate(X, curves, intercept, out):
    """Write ``intercept`` plus the sum of the curves at each row of ``X``."""
    starts, cells = curves.starts, curves.cells
    for i in range(out.shape[0]):
        out[i] = intercept
    for d in range(starts.shape[0] - 1):
        knots = curves.knots[starts[d] : starts[d + 1]]
        values = curves.values[starts[d] : starts[d + 1]]
        slopes = curves.slopes[starts[d] : starts[d + 1]]
        lookup = curves.lookup[cells[d] : cells[d + 1]]
        low, scale = curves.low[d], curves.scale[d]
        for i in range(out.shape[0]):
            x = X[i, d]
            k = locate(x, knots, lookup, low, scale)
            if k == 0:
                out[i] += values[0]
            else:
                out[i] += values[k - 1] + slopes[k - 1] * (x - knots[k - 1])
