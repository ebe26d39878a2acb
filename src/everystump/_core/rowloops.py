"""The two loops over rows: gather and scatter, and the forms that fuse them.

Codes are stored column by column, ``codes[g, i]`` being the place of row ``i`` in column ``g``.
Tables of all columns lie end to end in one flat array; ``starts[g]`` is where column ``g``
begins.  Every kernel takes a table, walks the rows in blocks that stay in the first-level cache
and releases the GIL, so that Python threads can work on different rows at the same time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from everystump._core.jit import jit_reassociated, kernel

_BLOCK = 4096
_HALVED = 1024


@kernel
def _gather_block(codes, starts, table, lo, out):
    """``out[i] = sum_g table[starts[g] + codes[g, lo + i]]`` for one block of rows.

    Four columns at a time: a quarter of the traffic of ``out``.
    """
    n = out.shape[0]
    n_columns = codes.shape[0]
    whole = n_columns - n_columns % 4
    for i in range(n):
        out[i] = 0.0
    for g in range(0, whole, 4):
        code0, values0 = codes[g, lo : lo + n], table[starts[g] :]
        code1, values1 = codes[g + 1, lo : lo + n], table[starts[g + 1] :]
        code2, values2 = codes[g + 2, lo : lo + n], table[starts[g + 2] :]
        code3, values3 = codes[g + 3, lo : lo + n], table[starts[g + 3] :]
        for i in range(n):
            left = values0[code0[i]] + values1[code1[i]]
            out[i] += left + (values2[code2[i]] + values3[code3[i]])
    for g in range(whole, n_columns):
        code0, values0 = codes[g, lo : lo + n], table[starts[g] :]
        for i in range(n):
            out[i] += values0[code0[i]]


@kernel
def _scatter_block(codes, starts, r, lo, out):
    """Add ``r[i]`` to the place of row ``lo + i`` in every column.

    Four columns at a time: equal neighbours, the rule in columns of few places, would otherwise
    wait for each other's store.
    """
    n = r.shape[0]
    n_columns = codes.shape[0]
    whole = n_columns - n_columns % 4
    for g in range(0, whole, 4):
        code0, sums0 = codes[g, lo : lo + n], out[starts[g] :]
        code1, sums1 = codes[g + 1, lo : lo + n], out[starts[g + 1] :]
        code2, sums2 = codes[g + 2, lo : lo + n], out[starts[g + 2] :]
        code3, sums3 = codes[g + 3, lo : lo + n], out[starts[g + 3] :]
        for i in range(n):
            x = r[i]
            sums0[code0[i]] += x
            sums1[code1[i]] += x
            sums2[code2[i]] += x
            sums3[code3[i]] += x
    for g in range(whole, n_columns):
        code0, sums0 = codes[g, lo : lo + n], out[starts[g] :]
        for i in range(n):
            sums0[code0[i]] += r[i]


@kernel
def gather(codes, starts, table, out, offset=0):
    """Write the score of each row, ``out[i] = sum_g table[g, codes[g, offset + i]]``."""
    n = out.shape[0]
    for lo in range(0, n, _BLOCK):
        _gather_block(codes, starts, table, offset + lo, out[lo : min(n, lo + _BLOCK)])


@kernel
def scatter(codes, starts, r, first, last, out, offset=0):
    """Write the transpose of gather, ``out[g, k] = sum of r[i] over rows with codes[g, i] = k``.

    Only rows from ``first`` up to ``last`` are looked at; the codes of row ``i`` are in column
    ``offset + i``.
    """
    out[:] = 0.0
    for lo in range(first, last, _BLOCK):
        _scatter_block(codes, starts, r[lo : min(last, lo + _BLOCK)], offset + lo, out)


@kernel
def scatter_by_class(codes, starts, r, positive, offset, out):
    """Write `scatter` of the positive rows into ``out[0]``, and of the others into ``out[1]``.

    Rows need not be sorted by their side for that; see `scatter` for ``offset``.
    """
    n = r.shape[0]
    out[:] = 0.0
    sums = out.reshape(-1)
    beyond = np.empty(min(n, _BLOCK), dtype=np.uint32)
    for lo in range(0, n, _BLOCK):
        hi = min(n, lo + _BLOCK)
        for i in range(hi - lo):
            beyond[i] = 0 if positive[lo + i] else out.shape[1]
        _scatter_block_sides(codes, starts, r[lo:hi], beyond, offset + lo, sums)


@kernel
def _scatter_block_sides(codes, starts, r, beyond, lo, out):
    """Do what `_scatter_block` does, ``beyond[i]`` further on in ``out`` for row ``i``."""
    n = r.shape[0]
    n_columns = codes.shape[0]
    whole = n_columns - n_columns % 4
    for g in range(0, whole, 4):
        code0, sums0 = codes[g, lo : lo + n], out[starts[g] :]
        code1, sums1 = codes[g + 1, lo : lo + n], out[starts[g + 1] :]
        code2, sums2 = codes[g + 2, lo : lo + n], out[starts[g + 2] :]
        code3, sums3 = codes[g + 3, lo : lo + n], out[starts[g + 3] :]
        for i in range(n):
            x = r[i]
            k = beyond[i]
            sums0[k + code0[i]] += x
            sums1[k + code1[i]] += x
            sums2[k + code2[i]] += x
            sums3[k + code3[i]] += x
    for g in range(whole, n_columns):
        code0, sums0 = codes[g, lo : lo + n], out[starts[g] :]
        for i in range(n):
            sums0[beyond[i] + code0[i]] += r[i]


@jit_reassociated
def sum_by_class(values, positive):
    """Return the sums over the positive rows and over the others."""
    inside = 0.0
    outside = 0.0
    for i in range(values.shape[0]):
        inside += values[i] if positive[i] else 0.0
        outside += 0.0 if positive[i] else values[i]
    return inside, outside


@kernel
def gather_scatter(codes, starts, table, w, out, offset=0):
    """Write ``scatter(w * gather(table))`` with one look at each code."""
    n = w.shape[0]
    out[:] = 0.0
    score = np.empty(min(n, _BLOCK))
    for lo in range(0, n, _BLOCK):
        hi = min(n, lo + _BLOCK)
        block = score[: hi - lo]
        _gather_block(codes, starts, table, offset + lo, block)
        for i in range(hi - lo):
            block[i] *= w[lo + i]
        _scatter_block(codes, starts, block, offset + lo, out)


@kernel
def take_rows(codes, index, out, offset=0):
    """Write ``codes[:, offset + index]``."""
    for g in range(codes.shape[0]):
        column = codes[g, offset:]
        target = out[g]
        for i in range(index.shape[0]):
            target[i] = column[index[i]]


@kernel
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


@kernel
def _cell(x, low, scale, cells):
    position = (x - low) * scale
    position = position if position > 0.0 else 0.0
    return int(position if position < cells - 1.0 else cells - 1.0)


@kernel
def locate(x, cuts, lookup, low, scale):
    """Return how many cuts are at most ``x``: an even grid first, then halving inside its cell.

    ``cuts`` end with an infinite one that does not count.  Few cells hold more than one cut, and
    the last comparison is made in empty cells as well: rows come in no order, so each branch left
    out here is one that is not guessed wrong.
    """
    cell = _cell(x, low, scale, lookup.shape[0] - 1)
    first = lookup[cell]
    last = lookup[cell + 1]
    while last - first > 1:
        middle = (first + last) >> 1
        if x >= cuts[middle]:
            first = middle + 1
        else:
            last = middle
    return first + (1 if x >= cuts[first] else 0)


@kernel
def encode(x, cuts, lookup, low, scale, missing, out):
    """Write the place of each value, ``out[i]`` = how many cuts are at most ``x[i]``.

    NaN is at the place ``missing``.  ``cuts`` end with an infinite one; see `locate`.
    """
    for i in range(x.shape[0]):
        out[i] = missing if x[i] != x[i] else locate(x[i], cuts, lookup, low, scale)


@kernel
def encode_by_bisection(x, cuts, missing, out):
    """Write what `encode` does by halving all cuts, of many values in step.

    That takes no branch that may be guessed wrong, however the cuts are spread.
    """
    first = np.empty(_HALVED, dtype=np.int32)
    for lo in range(0, x.shape[0], _HALVED):
        values = x[lo : lo + _HALVED]
        found = first[: values.shape[0]]
        found[:] = 0
        left = cuts.shape[0] - 1
        while left > 0:
            half = np.int32((left + 1) >> 1)
            middle = cuts[half - 1 :]
            for i in range(values.shape[0]):
                k = found[i]
                found[i] = k + half if values[i] >= middle[k] else k
            left -= half
        for i in range(values.shape[0]):
            out[lo + i] = missing if values[i] != values[i] else found[i]


@kernel
def count_cells(x, weights, origins, cells, counts, sums):
    """Add up the weights and the weighted values of each cell, as differences from its origin."""
    for i in range(x.shape[0]):
        cell = cells[i]
        counts[cell] += weights[i]
        sums[cell] += weights[i] * (x[i] - origins[cell])


@kernel
def encode_cells(x, cells, first, cuts, out):
    """Write how many cuts are at most each value, given how many are where its cell begins."""
    for i in range(x.shape[0]):
        k = first[cells[i]]
        while x[i] >= cuts[k]:
            k += 1
        out[i] = k


@kernel
def count_flagged(cells, flags):
    """Return how many rows are in cells that are flagged."""
    total = 0
    for i in range(cells.shape[0]):
        total += flags[cells[i]]
    return total


@kernel
def find_flagged(cells, flags, out):
    """Write which rows are in cells that are flagged."""
    k = 0
    for i in range(cells.shape[0]):
        if flags[cells[i]]:
            out[k] = i
            k += 1


@kernel
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


@kernel
def smoothed_hinge_slope(margin, cost, anchor, sharpness, out):
    """Write ``clip(anchor + sharpness (1 - margin), 0, cost)``."""
    for i in range(margin.shape[0]):
        a = anchor[i] + sharpness[i] * (1.0 - margin[i])
        out[i] = min(max(a, 0.0), cost[i])


@kernel
def smoothed_hinge_curvature(margin, cost, anchor, sharpness, out):
    """Write ``sharpness`` where the slope is strictly between 0 and ``cost``, else 0."""
    for i in range(margin.shape[0]):
        a = anchor[i] + sharpness[i] * (1.0 - margin[i])
        out[i] = sharpness[i] if (a > 0.0) & (a < cost[i]) else 0.0


@jit_reassociated
def smoothed_hinge_along(margin, step, t, cost, anchor, sharpness):
    """Return the sum of ``slope(margin + t step) * step``."""
    total = 0.0
    for i in range(margin.shape[0]):
        a = anchor[i] + sharpness[i] * (1.0 - margin[i] - t * step[i])
        total += min(max(a, 0.0), cost[i]) * step[i]
    return total


@jit_reassociated
def hinge_total(margin, cost):
    """Return the sum of ``cost max(0, 1 - margin)`` for finite costs."""
    total = 0.0
    for i in range(margin.shape[0]):
        total += cost[i] * max(1.0 - margin[i], 0.0)
    return total


@kernel
def advance(vote, step, rate, log_scale, least, most, margin, out):
    """Move each margin by ``step vote``; write ``log_scale - rate margin`` kept within limits."""
    for i in range(margin.shape[0]):
        margin[i] += step * vote[i]
        out[i] = min(max(log_scale - rate * margin[i], least), most)


@jit_reassociated
def mada_along(odds, vote, cost, factor, scale):
    """Return the summed ``vote weight`` after a step, and how fast it falls; see `advance`.

    ``odds`` are before the step, which multiplies them by ``factor`` or divides them by it.  The
    weight is ``min(odds, scale)``.
    """
    slope = 0.0
    fall = 0.0
    back = 1.0 / factor
    for i in range(odds.shape[0]):
        after = odds[i] * (factor if vote[i] > 0.0 else back)
        slope += vote[i] * cost[i] * min(after, scale)
        fall += cost[i] * (2.0 * after if after < scale else 0.0)
    return slope, fall


@jit_reassociated
def logistic_along(odds, vote, cost, factor, scale):
    """Return what `mada_along` does for the weight ``odds / (1 + odds / scale)``."""
    slope = 0.0
    fall = 0.0
    back = 1.0 / factor
    unit = 1.0 / scale
    for i in range(odds.shape[0]):
        after = odds[i] * (factor if vote[i] > 0.0 else back)
        share = 1.0 / (1.0 + after * unit)
        weight = cost[i] * after * share
        slope += vote[i] * weight
        fall += 2.0 * weight * share
    return slope, fall


class Curves(NamedTuple):
    """Piecewise linear curves end to end; curve ``d`` is ``starts[d]`` to ``starts[d + 1]``.

    With ``k`` the number of cuts up to ``x``, a curve is ``level[k] + slope[k] (x - anchor[k])``,
    and ``missing[d]`` where ``x`` is NaN.  Its cuts end with an infinite one; ``cells``,
    ``lookup``, ``low`` and ``scale`` are the grids over them, see `locate`.
    """

    starts: np.ndarray
    cuts: np.ndarray
    level: np.ndarray
    slope: np.ndarray
    anchor: np.ndarray
    missing: np.ndarray
    cells: np.ndarray
    lookup: np.ndarray
    low: np.ndarray
    scale: np.ndarray


@kernel
def evaluate(X, curves, intercept, out):
    """Write ``intercept`` plus the sum of the curves at each row of ``X``."""
    for i in range(out.shape[0]):
        out[i] = intercept
    for d in range(curves.starts.shape[0] - 1):
        _add_curve(X[:, d], curves, d, out)


@kernel
def contributions(X, curves, out):
    """Write each curve at each row of ``X``."""
    out[:] = 0.0
    for d in range(curves.starts.shape[0] - 1):
        _add_curve(X[:, d], curves, d, out[:, d])


@kernel
def _add_curve(x, curves, d, out):
    """Add one curve at each ``x``."""
    first, last = curves.starts[d], curves.starts[d + 1]
    cuts, level = curves.cuts[first:last], curves.level[first:last]
    slope, anchor = curves.slope[first:last], curves.anchor[first:last]
    lookup = curves.lookup[curves.cells[d] : curves.cells[d + 1]]
    low, scale, missing = curves.low[d], curves.scale[d], curves.missing[d]
    if last - first == 1 and missing == level[0]:
        for i in range(out.shape[0]):
            out[i] += level[0]
    else:
        for i in range(out.shape[0]):
            value = x[i]
            if value != value:
                out[i] += missing
            else:
                k = locate(value, cuts, lookup, low, scale)
                # A flat piece may be too long for its length to be a number.
                if slope[k] == 0.0:
                    out[i] += level[k]
                else:
                    # The curve first, then the sum: each step keeps the order of two values.
                    out[i] += level[k] + slope[k] * (value - anchor[k])
