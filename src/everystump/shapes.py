"""The fitted artefact of every stump ensemble: one curve a feature, and an intercept.

A curve is given by knots in ascending order and a value at each; it runs straight between knots
and flat beyond them.  Two knots at the same place make a jump, the curve taking its right value
there, as ``sign(0) = 1`` has it.  So smooth stumps, stumps, and sums of both are the same thing,
and adding, scaling and averaging models is adding, scaling and averaging curves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from everystump import rowloops
from everystump.columns import Lookup
from everystump.threads import share

_ROWS_PER_BLOCK = 8192
_VALUES_WORTH_SHARING = 20_000


@dataclass(frozen=True, eq=False)
class Shape:
    """The curve of one feature.

    Attributes
    ----------
    knots : ndarray of shape (n_knots,)
        Ascending; the same number twice is a jump.
    values : ndarray of shape (n_knots,)
        The curve's value at each knot.

    Examples
    --------
    >>> ramp = Shape(np.array([0.0, 1.0]), np.array([-1.0, 1.0]))
    >>> ramp(np.array([-5.0, 0.5, 2.0]))
    array([-1.,  0.,  1.])
    """

    knots: np.ndarray
    values: np.ndarray

    @classmethod
    def steps(cls, cuts: np.ndarray, levels: np.ndarray) -> Shape:
        """Return the curve that jumps from ``levels[k]`` to ``levels[k + 1]`` at ``cuts[k]``."""
        if len(cuts) == 0:
            return cls(np.zeros(1), np.asarray(levels, dtype=np.float64))
        values = np.repeat(levels, 2)[1:-1]
        return cls(np.repeat(cuts, 2), values)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the curve's value at each ``x``."""
        x = np.ascontiguousarray(x, dtype=np.float64)
        return ShapeModel((self,), 0.0).evaluate(x.reshape(-1, 1), n_threads=1).reshape(x.shape)

    @property
    def is_step(self) -> bool:
        """Whether the curve is flat between its jumps."""
        between = self.knots[1:] > self.knots[:-1]
        return bool(np.all(np.diff(self.values)[between] == 0.0))

    def before(self, x: np.ndarray) -> np.ndarray:
        """Return the limit of the curve from the left at each ``x``."""
        # Mirrored, the limit from the left is the value at the place itself.
        return Shape(-self.knots[::-1], self.values[::-1])(-np.asarray(x))


class Ensemble(NamedTuple):
    """A model as a vote of smooth stumps with non-negative weights (Theorem 5 of Lin & Li).

    Stump ``j`` votes ``-direction`` up to ``lower``, ``+direction`` from ``upper`` on, and runs
    straight between; where both are equal it is a plain decision stump.
    """

    feature: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    direction: np.ndarray
    weight: np.ndarray
    constant: float

    def __repr__(self) -> str:
        n_features = len(np.unique(self.feature))
        return f"<Ensemble: {len(self.weight)} smooth stumps on {n_features} features>"

    def vote(self, X: np.ndarray) -> np.ndarray:
        """Return the weighted vote on each row of ``X``, stump by stump."""
        X = np.asarray(X)
        score = np.full(len(X), self.constant)
        for d, low, high, direction, weight in zip(*self[:5], strict=True):
            x = X[:, d]
            if low == high:
                side = np.where(x >= low, 1.0, -1.0)
            else:
                side = np.clip((2 * x - low - high) / (high - low), -1.0, 1.0)
            score += weight * direction * side
        return score


@dataclass(frozen=True, eq=False)
class ShapeModel:
    """A sum of curves: ``f(x) = intercept + sum over d of shapes[d](x[d])``.

    Examples
    --------
    >>> stump = Shape.steps(np.array([0.0]), np.array([-1.0, 1.0]))
    >>> model = ShapeModel((stump,), 0.5)
    >>> (2 * model + model).evaluate(np.array([[-1.0], [0.0]]))
    array([-1.5,  4.5])
    """

    shapes: tuple[Shape, ...]
    intercept: float

    def __getstate__(self) -> dict:
        return {"shapes": self.shapes, "intercept": self.intercept}

    def __len__(self) -> int:
        return len(self.shapes)

    def __getitem__(self, d: int) -> Shape:
        return self.shapes[d]

    def __iter__(self) -> Iterator[Shape]:
        return iter(self.shapes)

    def __add__(self, other: ShapeModel) -> ShapeModel:
        return combine([self, other], [1.0, 1.0])

    def __mul__(self, factor: float) -> ShapeModel:
        return combine([self], [factor])

    __rmul__ = __mul__

    def evaluate(self, X: np.ndarray, *, n_threads: int = 1) -> np.ndarray:
        """Return the score of each row of ``X``."""
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != len(self):
            raise ValueError(
                f"X has shape {X.shape}, but the model has {len(self)} features; pass a table with "
                f"one column for each."
            )
        out = np.empty(len(X))
        curves = self._curves

        def work(first: int) -> None:
            part = slice(first, first + _ROWS_PER_BLOCK)
            rowloops.evaluate(X[part], curves, self.intercept, out[part])

        few = X.size < _VALUES_WORTH_SHARING
        share(work, range(0, len(X), _ROWS_PER_BLOCK), 1 if few else n_threads)
        return out

    @cached_property
    def _curves(self) -> rowloops.Curves:
        """All curves end to end, ready for the loop over rows."""
        pieces = [_pieces(shape) for shape in self.shapes]
        lookups = [Lookup.over(piece.cuts) for piece in pieces]
        return rowloops.Curves(
            _starts([piece.level for piece in pieces]),
            np.concatenate([lookup.cuts for lookup in lookups]),
            np.concatenate([piece.level for piece in pieces]),
            np.concatenate([piece.slope for piece in pieces]),
            np.concatenate([piece.anchor for piece in pieces]),
            _starts([lookup.first for lookup in lookups]),
            np.concatenate([lookup.first for lookup in lookups]),
            np.array([lookup.low for lookup in lookups]),
            np.array([lookup.scale for lookup in lookups]),
        )

    def ensemble(self) -> Ensemble:
        """Return the model as a table of smooth stumps whose vote is the score."""
        features, lowers, uppers, changes = [], [], [], []
        constant = self.intercept
        for d, shape in enumerate(self.shapes):
            change = np.diff(shape.values)
            moving = np.flatnonzero(change)
            features.append(np.full(len(moving), d))
            lowers.append(shape.knots[:-1][moving])
            uppers.append(shape.knots[1:][moving])
            changes.append(change[moving])
            constant += (shape.values[0] + shape.values[-1]) / 2
        change = np.concatenate(changes)
        return Ensemble(
            np.concatenate(features),
            np.concatenate(lowers),
            np.concatenate(uppers),
            np.sign(change).astype(int),
            np.abs(change) / 2,
            float(constant),
        )


def combine(models: Sequence[ShapeModel], weights: Sequence[float]) -> ShapeModel:
    """Return the weighted sum of models over the same features, as one model."""
    sizes = {len(model) for model in models}
    if len(sizes) != 1:
        raise ValueError(
            f"models: their numbers of features differ ({sorted(sizes)}); combine models of the "
            f"same features."
        )
    intercept = float(sum(w * m.intercept for w, m in zip(weights, models, strict=True)))
    shapes = tuple(
        _combine_shapes([model[d] for model in models], weights) for d in range(sizes.pop())
    )
    return ShapeModel(shapes, intercept)


def average(models: Sequence[ShapeModel]) -> ShapeModel:
    """Return the mean of models over the same features, as one model."""
    return combine(models, [1 / len(models)] * len(models))


def _combine_shapes(shapes: Sequence[Shape], weights: Sequence[float]) -> Shape:
    knots = np.unique(np.concatenate([shape.knots for shape in shapes]))
    before = sum(w * shape.before(knots) for w, shape in zip(weights, shapes, strict=True))
    at = sum(w * shape(knots) for w, shape in zip(weights, shapes, strict=True))
    times = np.where(before == at, 1, 2)
    ends = np.cumsum(times) - 1
    values = np.repeat(before, times)
    values[ends] = at
    return Shape(np.repeat(knots, times), values)


class _Pieces(NamedTuple):
    """A curve as ``level[k] + slope[k] (x - anchor[k])``, k being the number of cuts up to x."""

    cuts: np.ndarray
    level: np.ndarray
    slope: np.ndarray
    anchor: np.ndarray


def _pieces(shape: Shape) -> _Pieces:
    if len(shape.knots) == 1:
        return _Pieces(np.empty(0), shape.values, np.zeros(1), np.zeros(1))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        width = np.diff(shape.knots)
        slope = np.diff(shape.values) / width
    slope = np.append(np.where((width > 0) & np.isfinite(slope), slope, 0.0), 0.0)
    last = np.append(width > 0, True)  # of two knots at one place the right one holds
    cuts = shape.knots[last]
    return _Pieces(
        cuts,
        np.concatenate([shape.values[:1], shape.values[last]]),
        np.concatenate([[0.0], slope[last]]),
        np.concatenate([cuts[:1], cuts]),
    )


def _starts(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])])
