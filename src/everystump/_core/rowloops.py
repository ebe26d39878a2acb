"""The two loops over rows, gather and scatter, and fused variants of them.

``codes`` is a record of the codes of all rows in single columns and in interactions, see
`everystump._core.codes.Codes`.  Tables of all columns are concatenated in one flat array.  Each
loop processes the rows in blocks that fit into the L1 cache.
"""

from __future__ import annotations

import numpy as np

from everystump._core.jit import jit, jit_reassociated
from everystump._core.splitmix import GOLDEN_GAMMA, mix_bits

_BLOCK = 4096


@jit
def _gather_bins(codes, starts, table, lo, out):
    """``out[i] = sum_g table[starts[g] + codes[g, lo + i]]`` for one block of rows.

    Four columns at a time, so that ``out`` is read and written a quarter as often.
    """
    n = out.shape[0]
    n_columns = codes.shape[0]
    n_unrolled = n_columns - n_columns % 4
    for i in range(n):
        out[i] = 0.0
    for g in range(0, n_unrolled, 4):
        code0, values0 = codes[g, lo : lo + n], table[starts[g] :]
        code1, values1 = codes[g + 1, lo : lo + n], table[starts[g + 1] :]
        code2, values2 = codes[g + 2, lo : lo + n], table[starts[g + 2] :]
        code3, values3 = codes[g + 3, lo : lo + n], table[starts[g + 3] :]
        for i in range(n):
            left = values0[code0[i]] + values1[code1[i]]
            out[i] += left + (values2[code2[i]] + values3[code3[i]])
    for g in range(n_unrolled, n_columns):
        code0, values0 = codes[g, lo : lo + n], table[starts[g] :]
        for i in range(n):
            out[i] += values0[code0[i]]


@jit
def _scatter_bins(codes, starts, r, shift, lo, out):
    """Add ``r[i]`` to the bin of row ``lo + i`` in every column, ``shift[i]`` further on.

    ``shift`` may be None.  Four columns at a time: in columns of few bins, neighboring rows often
    share a bin and would wait for each other's store.
    """
    n = r.shape[0]
    n_columns = codes.shape[0]
    n_unrolled = n_columns - n_columns % 4
    for g in range(0, n_unrolled, 4):
        code0, sums0 = codes[g, lo : lo + n], out[starts[g] :]
        code1, sums1 = codes[g + 1, lo : lo + n], out[starts[g + 1] :]
        code2, sums2 = codes[g + 2, lo : lo + n], out[starts[g + 2] :]
        code3, sums3 = codes[g + 3, lo : lo + n], out[starts[g + 3] :]
        for i in range(n):
            x = r[i]
            k = np.uint32(0) if shift is None else shift[i]  # decided at compile time
            sums0[k + code0[i]] += x
            sums1[k + code1[i]] += x
            sums2[k + code2[i]] += x
            sums3[k + code3[i]] += x
    for g in range(n_unrolled, n_columns):
        code0, sums0 = codes[g, lo : lo + n], out[starts[g] :]
        for i in range(n):
            k = np.uint32(0) if shift is None else shift[i]
            sums0[k + code0[i]] += r[i]


@jit
def _head_positions(codes, g, lo, out):
    """Write the position of each row in the head of an interaction group, for a block of rows."""
    n = out.shape[0]
    first, second = codes.heads[g]
    stride, second_stride = codes.strides[g]
    cells = codes.cells[first, lo : lo + n]
    for i in range(n):
        out[i] = stride * cells[i]
    if second_stride > 0:
        cells = codes.cells[second, lo : lo + n]
        for i in range(n):
            out[i] += second_stride * cells[i]


@jit
def _gather_cells(codes, table, lo, position, out):
    """Add the table entries of all interactions for one block of rows, four at a time."""
    n = out.shape[0]
    cells, offsets = codes.cells, codes.offsets
    for g in range(codes.heads.shape[0]):
        _head_positions(codes, g, lo, position)
        first, last = codes.group_starts[g], codes.group_starts[g + 1]
        n_unrolled = (last - first) // 4 * 4
        for p in range(first, first + n_unrolled, 4):
            code0, values0 = cells[codes.lasts[p], lo : lo + n], table[offsets[p] :]
            code1, values1 = cells[codes.lasts[p + 1], lo : lo + n], table[offsets[p + 1] :]
            code2, values2 = cells[codes.lasts[p + 2], lo : lo + n], table[offsets[p + 2] :]
            code3, values3 = cells[codes.lasts[p + 3], lo : lo + n], table[offsets[p + 3] :]
            for i in range(n):
                k = position[i]
                left = values0[k + code0[i]] + values1[k + code1[i]]
                out[i] += left + (values2[k + code2[i]] + values3[k + code3[i]])
        for p in range(first + n_unrolled, last):
            code0, values0 = cells[codes.lasts[p], lo : lo + n], table[offsets[p] :]
            for i in range(n):
                out[i] += values0[position[i] + code0[i]]


@jit
def _scatter_cells(codes, r, shift, lo, position, out):
    """Add ``r[i]`` to the entries of all interactions, ``shift[i]`` further on; see above."""
    n = r.shape[0]
    cells, offsets = codes.cells, codes.offsets
    for g in range(codes.heads.shape[0]):
        _head_positions(codes, g, lo, position)
        if shift is not None:
            for i in range(n):
                position[i] += shift[i]
        first, last = codes.group_starts[g], codes.group_starts[g + 1]
        n_unrolled = (last - first) // 4 * 4
        for p in range(first, first + n_unrolled, 4):
            code0, sums0 = cells[codes.lasts[p], lo : lo + n], out[offsets[p] :]
            code1, sums1 = cells[codes.lasts[p + 1], lo : lo + n], out[offsets[p + 1] :]
            code2, sums2 = cells[codes.lasts[p + 2], lo : lo + n], out[offsets[p + 2] :]
            code3, sums3 = cells[codes.lasts[p + 3], lo : lo + n], out[offsets[p + 3] :]
            for i in range(n):
                x, k = r[i], position[i]
                sums0[k + code0[i]] += x
                sums1[k + code1[i]] += x
                sums2[k + code2[i]] += x
                sums3[k + code3[i]] += x
        for p in range(first + n_unrolled, last):
            code0, sums0 = cells[codes.lasts[p], lo : lo + n], out[offsets[p] :]
            for i in range(n):
                sums0[position[i] + code0[i]] += r[i]


@jit
def _gather_block(codes, table, lo, position, out):
    """Write the score of each row of a block that begins at row ``lo``."""
    _gather_bins(codes.bins, codes.starts, table, lo, out)
    _gather_cells(codes, table, lo, position[: out.shape[0]], out)


@jit
def _scatter_block(codes, r, shift, lo, position, out):
    """Add ``r[i]`` to the entries of row ``lo + i`` in every column, ``shift[i]`` further on."""
    _scatter_bins(codes.bins, codes.starts, r, shift, lo, out)
    _scatter_cells(codes, r, shift, lo, position[: r.shape[0]], out)


@jit
def _positions(n):
    return np.empty(min(n, _BLOCK), dtype=np.uint32)


@jit
def gather(codes, table, out, offset=0):
    """Write the score of each row: the sum of its table entries in all columns.

    The codes of row ``i`` are in column ``offset + i``.
    """
    n = out.shape[0]
    position = _positions(n)
    for lo in range(0, n, _BLOCK):
        _gather_block(codes, table, offset + lo, position, out[lo : min(n, lo + _BLOCK)])


@jit
def scatter(codes, r, first, last, out, offset=0):
    """Write the transpose of gather: for each table entry the sum of ``r`` over its rows.

    Only rows from ``first`` up to ``last`` are used.
    """
    out[:] = 0.0
    position = _positions(last - first)
    for lo in range(first, last, _BLOCK):
        part = r[lo : min(last, lo + _BLOCK)]
        _scatter_block(codes, part, None, offset + lo, position, out)


@jit
def scatter_by_class(codes, r, positive, offset, out):
    """Write `scatter` of the positive rows into ``out[0]``, of the negative rows into ``out[1]``.

    Rows may be in any order.
    """
    n = r.shape[0]
    out[:] = 0.0
    sums = out.reshape(-1)
    position, shift = _positions(n), _positions(n)
    for lo in range(0, n, _BLOCK):
        hi = min(n, lo + _BLOCK)
        for i in range(hi - lo):
            shift[i] = 0 if positive[lo + i] else out.shape[1]
        _scatter_block(codes, r[lo:hi], shift, offset + lo, position, sums)


@jit_reassociated
def sum_by_class(values, positive):
    """Return the sums over the positive rows and over the negative rows."""
    positive_sum = 0.0
    negative_sum = 0.0
    for i in range(values.shape[0]):
        positive_sum += values[i] if positive[i] else 0.0
        negative_sum += 0.0 if positive[i] else values[i]
    return positive_sum, negative_sum


@jit
def gather_scatter(codes, table, w, out, offset=0):
    """Write ``scatter(w * gather(table))``, reading each code from memory once."""
    n = w.shape[0]
    out[:] = 0.0
    score, position = np.empty(min(n, _BLOCK)), _positions(n)
    for lo in range(0, n, _BLOCK):
        hi = min(n, lo + _BLOCK)
        block = score[: hi - lo]
        _gather_block(codes, table, offset + lo, position, block)
        for i in range(hi - lo):
            block[i] *= w[lo + i]
        _scatter_block(codes, block, None, offset + lo, position, out)


@jit
def scatter_pair(first, second, w, out):
    """Write the sums of ``w`` over the rows with each pair of codes in two columns."""
    out[:] = 0.0
    for i in range(w.shape[0]):
        out[first[i], second[i]] += w[i]


@jit
def random_signs(seed, rows, out):
    """Multiply ``out[i]`` by a random sign that depends only on the seed and on ``rows[i]``."""
    for i in range(out.shape[0]):
        if mix_bits(seed + np.uint64(rows[i]) * GOLDEN_GAMMA) & np.uint64(1):
            out[i] = -out[i]


@jit
def take_rows(codes, index, out, offset=0):
    """Write ``codes[:, offset + index]``."""
    for g in range(codes.shape[0]):
        column = codes[g, offset:]
        target = out[g]
        for i in range(index.shape[0]):
            target[i] = column[index[i]]
