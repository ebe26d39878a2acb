"""The two loops over rows, gather and scatter, and fused variants of them.

Codes are stored column by column: ``codes[g, i]`` is the bin of row ``i`` in column ``g``.  Tables
of all columns are concatenated in one flat array, in which column ``g`` begins at ``starts[g]``.
Each loop processes the rows in blocks that fit into the L1 cache.
"""

from __future__ import annotations

import numpy as np

from everystump._core.jit import jit, jit_reassociated

_BLOCK = 4096


@jit
def _gather_block(codes, starts, table, lo, out):
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
def _scatter_block(codes, starts, r, shift, lo, out):
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
def gather(codes, starts, table, out, offset=0):
    """Write the score of each row, ``out[i] = sum_g table[g, codes[g, offset + i]]``."""
    n = out.shape[0]
    for lo in range(0, n, _BLOCK):
        _gather_block(codes, starts, table, offset + lo, out[lo : min(n, lo + _BLOCK)])


@jit
def scatter(codes, starts, r, first, last, out, offset=0):
    """Write the transpose of gather, ``out[g, k] = sum of r[i] over rows with codes[g, i] = k``.

    Only rows from ``first`` up to ``last`` are used; the codes of row ``i`` are in column
    ``offset + i``.
    """
    out[:] = 0.0
    for lo in range(first, last, _BLOCK):
        _scatter_block(codes, starts, r[lo : min(last, lo + _BLOCK)], None, offset + lo, out)


@jit
def scatter_by_class(codes, starts, r, positive, offset, out):
    """Write `scatter` of the positive rows into ``out[0]``, of the negative rows into ``out[1]``.

    Rows may be in any order; see `scatter` for ``offset``.
    """
    n = r.shape[0]
    out[:] = 0.0
    sums = out.reshape(-1)
    shift = np.empty(min(n, _BLOCK), dtype=np.uint32)
    for lo in range(0, n, _BLOCK):
        hi = min(n, lo + _BLOCK)
        for i in range(hi - lo):
            shift[i] = 0 if positive[lo + i] else out.shape[1]
        _scatter_block(codes, starts, r[lo:hi], shift, offset + lo, sums)


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
def gather_scatter(codes, starts, table, w, out, offset=0):
    """Write ``scatter(w * gather(table))``, reading each code from memory once."""
    n = w.shape[0]
    out[:] = 0.0
    score = np.empty(min(n, _BLOCK))
    for lo in range(0, n, _BLOCK):
        hi = min(n, lo + _BLOCK)
        block = score[: hi - lo]
        _gather_block(codes, starts, table, offset + lo, block)
        for i in range(hi - lo):
            block[i] *= w[lo + i]
        _scatter_block(codes, starts, block, None, offset + lo, out)


@jit
def take_rows(codes, index, out, offset=0):
    """Write ``codes[:, offset + index]``."""
    for g in range(codes.shape[0]):
        column = codes[g, offset:]
        target = out[g]
        for i in range(index.shape[0]):
            target[i] = column[index[i]]
