"""Evaluation of piecewise linear curves at many rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from everystump._core.binloops import find_bin
from everystump._core.jit import jit
from everystump._core.lookup import Lookup


class Pieces(NamedTuple):
    """A curve ``level[k] + slope[k] (x - anchor[k])``; ``k`` counts the cuts ``<= x``."""

    cuts: np.ndarray
    level: np.ndarray
    slope: np.ndarray
    anchor: np.ndarray


def linear_pieces(knots: np.ndarray, values: np.ndarray) -> Pieces:
    """Return the pieces of the curve through the values at the knots; equal flat ones are merged.

    Two equal knots make a jump.  In floating point, each piece stays between the values at its two
    ends, so that a curve with ascending values is monotonic even between adjacent floats.

    Examples
    --------
    >>> linear_pieces(np.array([0.0, 0.0, 2.0, 2.0]), np.array([0.0, 3.0, 3.0, 5.0])).cuts
    array([0., 2.])
    """
    slope = np.zeros(len(knots) + 1)  # before each knot, and after the last
    last = np.ones(len(knots) + 1, dtype=bool)  # of two equal knots, the right one counts
    with np.errstate(over="ignore", invalid="ignore"):
        width = knots[1:] - knots[:-1]
        np.greater(width, 0.0, out=last[1:-1])
        np.divide(values[1:] - values[:-1], width, out=slope[1:-1], where=last[1:-1])
    slope[~np.isfinite(slope)] = 0.0
    _limit_slopes(slope[1:-1], knots, values)
    slope, level = slope[last], np.concatenate([values[:1], values])[last]
    cuts = knots[last[1:]]
    flat = slope == 0.0
    keep = np.ones(len(level), dtype=bool)
    keep[1:] = ~(flat[1:] & flat[:-1] & (level[1:] == level[:-1]))
    anchor = np.concatenate([cuts[:1], cuts])
    return Pieces(cuts[keep[1:]], level[keep], slope[keep], anchor[keep])


def _limit_slopes(slope: np.ndarray, knots: np.ndarray, values: np.ndarray) -> None:
    """Reduce slopes by a few units in the last place where rounding would overshoot.

    Afterwards ``values[k] + slope[k] (x - knots[k])``, as computed, is never beyond
    ``values[k + 1]`` for any float ``x`` before ``knots[k + 1]``.
    """
    with np.errstate(over="ignore"):
        longest = np.nextafter(knots[1:], -np.inf) - knots[:-1]
    steep = np.flatnonzero(slope)
    while len(steep):
        end = values[steep] + slope[steep] * longest[steep]
        steep = steep[np.sign(slope[steep]) * (end - values[steep + 1]) > 0.0]
        slope[steep] = np.nextafter(slope[steep], 0.0)


class Curves(NamedTuple):
    """The pieces of several curves, concatenated; those of curve ``d`` begin at ``starts[d]``.

    ``missing[d]`` is the value of curve ``d`` where ``x`` is NaN.  The cuts of each curve end with
    an infinite one; ``cells``, ``lookup``, ``low`` and ``scale`` are the grids over them, see
    `everystump._core.binloops.find_bin`.
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


def concatenate(pieces: Sequence[Pieces], missing: Sequence[float]) -> Curves:
    """Return the curves of some pieces, ready for the loops over rows."""
    lookups = [Lookup.build(piece.cuts) for piece in pieces]
    return Curves(
        _starts([piece.level for piece in pieces]),
        np.concatenate([lookup.cuts for lookup in lookups]),
        np.concatenate([piece.level for piece in pieces]),
        np.concatenate([piece.slope for piece in pieces]),
        np.concatenate([piece.anchor for piece in pieces]),
        np.array(missing),
        _starts([lookup.first for lookup in lookups]),
        np.concatenate([lookup.first for lookup in lookups]),
        np.array([lookup.low for lookup in lookups]),
        np.array([lookup.scale for lookup in lookups]),
    )


def _starts(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])])


@jit
def evaluate(X, curves, intercept, out):
    """Write ``intercept`` plus the sum of the curves at each row of ``X``."""
    for i in range(out.shape[0]):
        out[i] = intercept
    for d in range(curves.starts.shape[0] - 1):
        _add_curve(X[:, d], curves, d, out)


@jit
def contributions(X, curves, out):
    """Write each curve at each row of ``X``."""
    out[:] = 0.0
    for d in range(curves.starts.shape[0] - 1):
        _add_curve(X[:, d], curves, d, out[:, d])


@jit
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
                k = find_bin(value, cuts, lookup, low, scale)
                # The length of a flat piece may overflow.
                if slope[k] == 0.0:
                    out[i] += level[k]
                else:
                    # First the curve, then the sum: each operation preserves the order of values.
                    out[i] += level[k] + slope[k] * (value - anchor[k])
