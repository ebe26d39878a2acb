"""Loops of the multinomial logistic loss: ``cost (log of sum_k exp(f_k) - f_y)`` of each row.

Arrays of scores, steps and probabilities have one row per class and one column per sample.  All
quantities are computed from ``exp(f_k - max_j f_j)``, without overflow; a loss near 0 keeps its
relative accuracy, because the exponential 1 of the largest score is left out of ``log1p(others)``.
"""

from __future__ import annotations

import numpy as np

from everystump._core.jit import jit, jit_reassociated
from everystump._core.lossloops import exp_minus_abs
from everystump._core.splitmix import mix_bits

_BLOCK = 1024


def count_additions(n_rows: int) -> int:
    """Return the largest number of additions that a row's term goes through in a sum of these."""
    return min(n_rows, _BLOCK) + -(-n_rows // _BLOCK)


@jit
def _exponentials(score, bits, largest, out, others):
    """Write the largest score, ``exp(f_k - largest)``, and the sum of all but its own 1."""
    n_classes, n = score.shape
    best = np.zeros(n, dtype=np.int64)
    for i in range(n):
        largest[i] = score[0, i]
        others[i] = 0.0
    for k in range(1, n_classes):
        for i in range(n):
            best[i] = k if score[k, i] > largest[i] else best[i]
            largest[i] = max(largest[i], score[k, i])
    for k in range(n_classes):
        for i in range(n):
            out[k, i] = largest[i] - score[k, i]
        exp_minus_abs(out[k], bits[:n], out[k])
        for i in range(n):
            others[i] += out[k, i] if best[i] != k else 0.0


@jit
def softmax(score, label, cost, out):
    """Write the probabilities; return the summed loss."""
    n_classes, n = score.shape
    bits = np.empty(_BLOCK, dtype=np.int64)
    largest, others = np.empty(_BLOCK), np.empty(_BLOCK)
    total = 0.0
    for lo in range(0, n, _BLOCK):
        f, p = score[:, lo : lo + _BLOCK], out[:, lo : lo + _BLOCK]
        m = f.shape[1]
        _exponentials(f, bits, largest[:m], p, others[:m])
        part = 0.0
        for i in range(m):
            loss = (largest[i] - f[label[lo + i], i]) + np.log1p(others[i])
            part += cost[lo + i] * loss
            others[i] = 1.0 / (1.0 + others[i])
        for k in range(n_classes):
            for i in range(m):
                p[k, i] *= others[i]
        total += part
    return total


@jit
def total_within(score, label, cost, radius):
    """Return the summed loss if the score of every row's class is lower by ``2 radius``."""
    n_classes, n = score.shape
    bits = np.empty(_BLOCK, dtype=np.int64)
    largest, others = np.empty(_BLOCK), np.empty(_BLOCK)
    moved, workspace = np.empty((n_classes, _BLOCK)), np.empty((n_classes, _BLOCK))
    total = 0.0
    for lo in range(0, n, _BLOCK):
        m = min(_BLOCK, n - lo)
        f = moved[:, :m]
        f[:] = score[:, lo : lo + m]
        for i in range(m):
            f[label[lo + i], i] -= 2.0 * radius
        _exponentials(f, bits, largest[:m], workspace[:, :m], others[:m])
        part = 0.0
        for i in range(m):
            loss = (largest[i] - f[label[lo + i], i]) + np.log1p(others[i])
            part += cost[lo + i] * loss
        total += part
    return total


@jit
def directional_slope(score, step, t, label, cost):
    """Return minus the derivative of the summed loss along ``step`` at length ``t``."""
    n_classes, n = score.shape
    bits = np.empty(_BLOCK, dtype=np.int64)
    largest, others, mean = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    moved, workspace = np.empty((n_classes, _BLOCK)), np.empty((n_classes, _BLOCK))
    total = 0.0
    for lo in range(0, n, _BLOCK):
        m = min(_BLOCK, n - lo)
        f, p = moved[:, :m], workspace[:, :m]
        for k in range(n_classes):
            for i in range(m):
                f[k, i] = score[k, lo + i] + t * step[k, lo + i]
        _exponentials(f, bits, largest[:m], p, others[:m])
        mean[:m] = 0.0
        for k in range(n_classes):
            for i in range(m):
                mean[i] += p[k, i] * step[k, lo + i]
        part = 0.0
        for i in range(m):
            own = step[label[lo + i], lo + i]
            part += cost[lo + i] * (own - mean[i] / (1.0 + others[i]))
        total += part
    return total


@jit
def curvature_product(p, cost, step):
    """Replace each column ``s`` of ``step`` by ``cost (diag(p) - p p') s``."""
    n_classes, n = p.shape
    workspace = np.empty(_BLOCK)
    for lo in range(0, n, _BLOCK):
        m = min(_BLOCK, n - lo)
        mean = workspace[:m]
        mean[:] = 0.0
        for k in range(n_classes):
            for i in range(m):
                mean[i] += p[k, lo + i] * step[k, lo + i]
        for k in range(n_classes):
            for i in range(m):
                step[k, lo + i] = cost[lo + i] * p[k, lo + i] * (step[k, lo + i] - mean[i])


@jit
def add_curvature_shift(p, cost, shift, out):
    """Add ``cost (diag(p) - p p') shift`` to each column of ``out``."""
    n_classes, n = p.shape
    workspace = np.empty(_BLOCK)
    for lo in range(0, n, _BLOCK):
        m = min(_BLOCK, n - lo)
        mean = workspace[:m]
        mean[:] = 0.0
        for k in range(n_classes):
            for i in range(m):
                mean[i] += p[k, lo + i] * shift[k]
        for k in range(n_classes):
            for i in range(m):
                out[k, lo + i] += cost[lo + i] * p[k, lo + i] * (shift[k] - mean[i])


@jit
def curvature_along(p, cost, basis, out):
    """Write ``cost q' (diag(p) - p p') q`` for each column ``q`` of ``basis``: a row of ``out``.

    As a sum of squares of differences from the mean, it keeps its accuracy near certainty.
    """
    n_classes, n = p.shape
    workspace = np.empty(_BLOCK)
    for lo in range(0, n, _BLOCK):
        m = min(_BLOCK, n - lo)
        mean = workspace[:m]
        for d in range(basis.shape[1]):
            mean[:] = 0.0
            out[d, lo : lo + m] = 0.0
            for k in range(n_classes):
                for i in range(m):
                    mean[i] += p[k, lo + i] * basis[k, d]
            for k in range(n_classes):
                for i in range(m):
                    out[d, lo + i] += cost[lo + i] * p[k, lo + i] * (basis[k, d] - mean[i]) ** 2


@jit
def duals(p, label, cost, shift, fraction, frequency, out):
    """Write ``a = cost (1[k = y] - q)``, ``q = (1 - fraction) (p + shift) + fraction frequency``.

    ``shift`` and ``frequency`` have one entry per class.  The entry of a row's class is minus the
    sum of the others, so that each column sums to 0 up to a relative rounding error.  That sum is
    compensated (Kahan): its error is about 2 units for any number of classes, which matters where
    it is near 1 and the logarithm of the difference is large.  Return the sum of the dual terms
    ``cost H(q)``, and that of their sizes, for bounds on rounding.
    """
    n_classes, n = p.shape
    total, size = 0.0, 0.0
    for lo in range(0, n, _BLOCK):
        part, part_size = 0.0, 0.0
        for i in range(lo, min(n, lo + _BLOCK)):
            wrong, lost, entropy, y = 0.0, 0.0, 0.0, label[i]
            for k in range(n_classes):
                if k != y:
                    q = (1.0 - fraction) * (p[k, i] + shift[k]) + fraction * frequency[k]
                    q = min(max(q, 0.0), 1.0)
                    term = q - lost
                    longer = wrong + term
                    lost = (longer - wrong) - term
                    wrong = longer
                    entropy -= q * np.log(q) if q > 0.0 else 0.0
                    out[k, i] = -cost[i] * q
            own = max(1.0 - wrong, 0.0)
            entropy -= own * np.log1p(-min(wrong, 1.0)) if own > 0.0 else 0.0
            out[y, i] = cost[i] * wrong
            part += cost[i] * entropy
            part_size += cost[i] * (entropy + (1.0 if own < 0.5 else 0.0))
        total += part
        size += part_size
    return total, size


@jit
def noise(p, cost, number, seed, out):
    """Write independent noise with covariance ``cost (diag(p) - p p')`` in each column.

    It is ``cost^(1/2) (diag(p^(1/2)) - p p'^(1/2)) s`` with random signs ``s``, which depend on the
    ``number`` of the row and on the ``seed`` only.
    """
    n_classes, n = p.shape
    bits = np.uint64(0)
    for i in range(n):
        state = mix_bits(np.uint64(seed) ^ mix_bits(np.uint64(number[i]) + np.uint64(1)))
        total = 0.0
        for k in range(n_classes):
            if k % 64 == 0:
                bits = mix_bits(state + np.uint64(k))
            root = np.sqrt(p[k, i])
            root = root if bits & np.uint64(1) else -root
            bits >>= np.uint64(1)
            out[k, i] = root
            total += root
        scale = np.sqrt(cost[i])
        for k in range(n_classes):
            out[k, i] = scale * (out[k, i] - p[k, i] * total)


@jit_reassociated
def sum_rows(values, out):
    """Write the sum of each row of an array, accurate by summing blocks first."""
    for k in range(values.shape[0]):
        total = 0.0
        for lo in range(0, values.shape[1], _BLOCK):
            part = 0.0
            for i in range(lo, min(values.shape[1], lo + _BLOCK)):
                part += values[k, i]
            total += part
        out[k] = total
