"""Loops over the chains of all features; see `everystump._core.chains` for the notation."""

from __future__ import annotations

import numpy as np

from everystump._core.jit import jit

# The numbers of features and rows of a kernel matrix that fit into the cache together.
_FEATURES_PER_TILE, _TILE = 32, 128


@jit
def matvec(starts, parents, jumps, centered, weights, table):
    """Write ``S weights``."""
    for d in range(starts.shape[0] - 1):
        total = 0.0
        first = starts[d]
        table[first] = 0.0
        # Along a path the sum is kept in a register, without waiting for the previous store.
        if _is_path(parents, first, starts[d + 1] - 1):
            for k in range(first + 1, starts[d + 1]):
                total += jumps[k] * weights[k]
                table[k] = total
        else:
            for k in range(first + 1, starts[d + 1]):
                change = jumps[k] * weights[k]
                total += change
                table[k] = table[parents[k]] + change
        if centered:
            base = (jumps[first] * weights[first] - total) / 2
            for k in range(first, starts[d + 1]):
                table[k] += base


@jit
def rmatvec(starts, parents, jumps, centered, sums, out):
    """Write ``S' sums``."""
    for d in range(starts.shape[0] - 1):
        first = starts[d]
        if _is_path(parents, first, starts[d + 1] - 1):
            total = 0.0
            for k in range(starts[d + 1] - 1, first, -1):
                total += sums[k]
                out[k] = jumps[k] * total
            out[first] = sums[first] + total
        else:
            out[first : starts[d + 1]] = sums[first : starts[d + 1]]
            for k in range(starts[d + 1] - 1, first, -1):
                total = out[k]
                out[parents[k]] += total
                out[k] = jumps[k] * total
        half = 0.0
        if centered:
            half = out[first] / 2
            for k in range(first + 1, starts[d + 1]):
                out[k] -= jumps[k] * half
        out[first] = jumps[first] * half


@jit
def factor(starts, parents, jumps, diagonal, schur, damp):
    """Factor ``I + S'(D - dd'/sum(d))S`` of each feature, ``D = diag(d)``, ``S`` not centered.

    ``schur[k]`` is the curvature in the value at ``k`` after all bins beyond ``k`` are minimized
    out (a Schur complement), and ``damp[k] = 1 / (1 + s[k]^2 schur[k])``.  Nothing is subtracted.
    """
    schur[:] = diagonal
    for d in range(starts.shape[0] - 1):
        first = starts[d]
        for k in range(starts[d + 1] - 1, first, -1):
            damp[k] = 1.0 / (1.0 + jumps[k] * jumps[k] * schur[k])
            schur[parents[k]] += schur[k] * damp[k]
        damp[first] = 1.0 / (1.0 + jumps[first] * jumps[first] * schur[first])


@jit
def solve(starts, parents, jumps, schur, damp, rhs, out):
    """Solve with the factors of `factor`: a sweep toward the roots, then one away from them.

    With ``load[k]`` the eliminated right-hand sides beyond ``k``, the sweeps are
    ``load[parent] += damp (load + s schur rhs)`` and
    ``value[k] = damp (value[parent] + s (rhs - s load))``.
    """
    longest = 0
    for d in range(starts.shape[0] - 1):
        longest = max(longest, starts[d + 1] - starts[d])
    load = np.empty(longest)
    value = np.empty(longest)
    for d in range(starts.shape[0] - 1):
        first = starts[d]
        last = starts[d + 1] - 1
        if _is_path(parents, first, last):
            _solve_path(first, last, jumps, schur, damp, rhs, load, out)
        else:
            _solve_tree(first, last, parents, jumps, schur, damp, rhs, load, value, out)


@jit
def _is_path(parents, first, last):
    """Whether the parent of every bin is the bin before it."""
    branches = 0
    for k in range(first + 1, last + 1):
        branches += parents[k] != k - 1
    return branches == 0


@jit
def _solve_path(first, last, jumps, schur, damp, rhs, load, out):
    """Do what `_solve_tree` does, for a path, with the running load and value in registers."""
    carried = 0.0
    for k in range(last, first, -1):
        load[k - first] = carried
        carried = damp[k] * schur[k] * jumps[k] * rhs[k] + damp[k] * carried
    value = -carried / schur[first] if schur[first] > 0.0 else 0.0
    out[first] = rhs[first]
    for k in range(first + 1, last + 1):
        change = damp[k] * (rhs[k] - jumps[k] * load[k - first])
        out[k] = change - damp[k] * jumps[k] * schur[k] * value
        value = value * damp[k] + jumps[k] * change


@jit
def _solve_tree(first, last, parents, jumps, schur, damp, rhs, load, value, out):
    load[: last - first + 1] = 0.0
    for k in range(last, first, -1):
        total = load[k - first] + schur[k] * jumps[k] * rhs[k]
        load[parents[k] - first] += damp[k] * total
    value[0] = -load[0] / schur[first] if schur[first] > 0.0 else 0.0
    out[first] = rhs[first]
    for k in range(first + 1, last + 1):
        before = value[parents[k] - first]
        change = damp[k] * (rhs[k] - jumps[k] * load[k - first])
        out[k] = change - damp[k] * jumps[k] * schur[k] * before
        value[k - first] = before * damp[k] + jumps[k] * change


@jit
def add_minima(positions, first, last, out):
    """Add ``sum over d of min(positions[d, i], positions[d, j])`` to ``out[i, j]``, ``j <= i``.

    Only for rows ``i`` from ``first`` up to ``last``; the entries above the diagonal are undefined.
    The number of features is a multiple of 4.  Two rows and four features are processed at a time,
    so that each position is used twice and ``out`` is read and written a quarter as often.
    """
    n_features = positions.shape[0]
    unused = np.empty(_TILE)
    for lo in range(0, last, _TILE):
        for start in range(0, n_features, _FEATURES_PER_TILE):
            end = min(n_features, start + _FEATURES_PER_TILE)
            for i in range(max(first, lo), last, 2):
                k = min(i + 1, last - 1)
                n = min(lo + _TILE, k + 1) - lo
                upper = out[i, lo : lo + n]
                lower = out[k, lo : lo + n] if k > i else unused[:n]
                for d in range(start, end, 4):
                    _add_minima_of_two(positions[d : d + 4], i, k, lo, upper, lower)


@jit
def _add_minima_of_two(x, i, k, lo, upper, lower):
    x0, x1, x2, x3 = x[0, lo:], x[1, lo:], x[2, lo:], x[3, lo:]
    a0, a1, a2, a3 = x[0, i], x[1, i], x[2, i], x[3, i]
    b0, b1, b2, b3 = x[0, k], x[1, k], x[2, k], x[3, k]
    for j in range(upper.shape[0]):
        y0, y1, y2, y3 = x0[j], x1[j], x2[j], x3[j]
        left = (y0 if y0 < a0 else a0) + (y1 if y1 < a1 else a1)
        upper[j] += left + ((y2 if y2 < a2 else a2) + (y3 if y3 < a3 else a3))
        left = (y0 if y0 < b0 else b0) + (y1 if y1 < b1 else b1)
        lower[j] += left + ((y2 if y2 < b2 else b2) + (y3 if y3 < b3 else b3))


@jit
def mirror(out):
    """Copy the entries below the diagonal of a matrix to above it."""
    n = out.shape[0]
    for top in range(0, n, _TILE):
        for left in range(0, top + 1, _TILE):
            for i in range(top, min(n, top + _TILE)):
                for j in range(left, min(i, left + _TILE)):
                    out[j, i] = out[i, j]
