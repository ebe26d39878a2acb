"""Loops for binning: from values to bin numbers, and the weights of distinct values.

``cuts`` are ascending; the bin of ``x`` is the number of cuts that are at most ``x``.
"""

from __future__ import annotations

import numpy as np

from everystump._core.jit import jit

_BLOCK = 1024


@jit
def fill_lookup(cuts, low, scale, out):
    """Write, for each cell of a uniform grid, how many cuts lie before the start of the cell.

    ``out`` has one entry per cell and ends with ``len(cuts)``; see `find_bin`.
    """
    cells = out.shape[0] - 1
    for cell in range(cells + 1):
        out[cell] = cuts.shape[0]
    for k in range(cuts.shape[0] - 1, -1, -1):
        out[_cell(cuts[k], low, scale, cells)] = k
    for cell in range(cells - 1, -1, -1):
        out[cell] = min(out[cell], out[cell + 1])
    out[0] = 0


@jit
def _cell(x, low, scale, cells):
    position = (x - low) * scale
    position = position if position > 0.0 else 0.0
    return int(position if position < cells - 1.0 else cells - 1.0)


@jit
def find_bin(x, cuts, lookup, low, scale):
    """Return how many cuts are at most ``x``: look up its cell, then bisect the cuts of the cell.

    ``cuts`` must end with an infinite cut, which does not count.  Few cells hold more than one
    cut; the last comparison is made in empty cells too, because rows are unordered and a branch
    would often be mispredicted.
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


@jit
def encode(x, cuts, lookup, low, scale, missing, out):
    """Write the bin of each value, and ``missing`` for NaN; see `find_bin`."""
    for i in range(x.shape[0]):
        out[i] = missing if x[i] != x[i] else find_bin(x[i], cuts, lookup, low, scale)


@jit
def encode_by_bisection(x, cuts, missing, out):
    """Write the same as `encode` by bisecting all cuts, for many values in lockstep.

    There is no branch to mispredict, however the cuts are distributed.
    """
    first = np.empty(_BLOCK, dtype=np.int32)
    for lo in range(0, x.shape[0], _BLOCK):
        values = x[lo : lo + _BLOCK]
        bins = first[: values.shape[0]]
        bins[:] = 0
        remaining = cuts.shape[0] - 1
        while remaining > 0:
            half = np.int32((remaining + 1) >> 1)
            middle = cuts[half - 1 :]
            for i in range(values.shape[0]):
                k = bins[i]
                bins[i] = k + half if values[i] >= middle[k] else k
            remaining -= half
        for i in range(values.shape[0]):
            out[lo + i] = missing if values[i] != values[i] else bins[i]


@jit
def encode_cells(x, cells, first, cuts, out):
    """Write the bin of each value, given the first bin of the cell that it is in."""
    for i in range(x.shape[0]):
        k = first[cells[i]]
        while x[i] >= cuts[k]:
            k += 1
        out[i] = k


@jit
def map_cells(cells, table, out):
    """Write the entry of a table for the cell of each row."""
    for i in range(cells.shape[0]):
        out[i] = table[cells[i]]


@jit
def count_cells(x, weights, origins, cells, counts, sums):
    """Sum the weights of each cell, and the weighted differences of its values from its origin."""
    for i in range(x.shape[0]):
        cell = cells[i]
        counts[cell] += weights[i]
        sums[cell] += weights[i] * (x[i] - origins[cell])


@jit
def count_flagged(cells, flags):
    """Return the number of rows in flagged cells."""
    total = 0
    for i in range(cells.shape[0]):
        total += flags[cells[i]]
    return total


@jit
def find_flagged(cells, flags, out):
    """Write the indices of the rows in flagged cells."""
    k = 0
    for i in range(cells.shape[0]):
        if flags[cells[i]]:
            out[k] = i
            k += 1


@jit
def run_lengths(ordered, weights, values, counts):
    """Write the distinct values of a sorted array and their total weights; return their number."""
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


@jit
def group_entries(counts, limit, starts):
    """Write where groups of neighbors begin whose total is at most ``limit``; return their number.

    An entry above the limit is a group of its own.
    """
    size = 0
    total = np.inf
    for i in range(counts.shape[0]):
        total += counts[i]
        if total > limit:
            starts[size] = i
            size += 1
            total = counts[i]
    return size


@jit
def sum_bins(x, weights, codes, origins, counts, sums):
    """Add the weights of the rows of each bin, and their differences from its origin, to the sums.

    NaN adds nothing to ``sums``.
    """
    for i in range(x.shape[0]):
        k = codes[i]
        counts[k] += weights[i]
        if x[i] == x[i]:
            sums[k] += weights[i] * (x[i] - origins[k])
