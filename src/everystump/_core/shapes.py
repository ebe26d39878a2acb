"""The fitted artefact of every stump ensemble: one curve a feature, and an intercept.

A curve is given by knots in ascending order and a value at each; it runs straight between knots
and flat beyond them.  Two knots at the same place make a jump, the curve taking its right value
there, as ``sign(0) = 1`` has it.  So smooth stumps, stumps, and sums of both are the same thing,
and adding, scaling and averaging models is adding, scaling and averaging curves.

The curve of a category runs over the numbers of its levels, in steps from one to the next, and is
0 beyond them: an unknown level adds nothing.  A missing value has a value of its own, or none if
training saw none missing, and then adds nothing as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from everystump._core import rowloops
from everystump._core.binning import Lookup
from everystump._core.sparse import SparseTable
from everystump._core.threads import share

_ROWS_PER_BLOCK, _CELLS_PER_BLOCK = 8192, 1 << 19
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
    missing : float or None
        What a missing value adds; None if there was none in training, and then it adds nothing.
    is_category : bool
        Whether the curve runs over the numbers of levels; see `levels`.

    Examples
    --------
    >>> ramp = Shape(np.array([0.0, 1.0]), np.array([-1.0, 1.0]))
    >>> ramp(np.array([-5.0, 0.5, 2.0]))
    array([-1.,  0.,  1.])
    """

    knots: np.ndarray
    values: np.ndarray
    missing: float | None = None
    is_category: bool = False

    @classmethod
    def steps(cls, cuts: np.ndarray, levels: np.ndarray, missing: float | None = None) -> Shape:
        """Return the curve that jumps from ``levels[k]`` to ``levels[k + 1]`` at ``cuts[k]``."""
        if len(cuts) == 0:
            return cls(np.zeros(1), np.asarray(levels, dtype=np.float64), missing)
        values = np.repeat(levels, 2)[1:-1]
        return cls(np.repeat(cuts, 2), values, missing)

    @classmethod
    def category(cls, levels: np.ndarray, missing: float | None = None) -> Shape:
        """Return the curve that adds ``levels[k]`` at level ``k``, and nothing at unknown ones."""
        edges = np.arange(len(levels) + 1) - 0.5
        steps = cls.steps(edges, np.concatenate([[0.0], levels, [0.0]]), missing)
        return replace(steps, is_category=True)

    @property
    def levels(self) -> np.ndarray:
        """What each level of a category adds."""
        return self.values[1:-1:2].copy()

    def with_levels(self, numbers: np.ndarray | None, n_levels: int) -> Shape:
        """Return a category's curve over more levels, of which its own have these numbers."""
        levels = np.zeros(n_levels)
        if numbers is not None:
            levels[numbers.astype(int)] = self.levels
        return Shape.category(levels, self.missing)

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

    def at_missing(self) -> float:
        """Return what a missing value adds."""
        return 0.0 if self.missing is None else self.missing


class Ensemble(NamedTuple):
    """A model as a vote of smooth stumps with non-negative weights (Theorem 5 of Lin & Li).

    Stump ``j`` votes ``-direction`` up to ``lower``, ``+direction`` from ``upper`` on, and runs
    straight between; where both are equal it is a plain decision stump.  One with a ``level`` of 0
    or more votes ``+direction`` at that level of a category only.  One with an infinite ``lower``
    asks "is it missing?", and the thresholds do not vote on what is.
    """

    feature: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    level: np.ndarray
    direction: np.ndarray
    weight: np.ndarray
    constant: float

    def __repr__(self) -> str:
        n_features = len(np.unique(self.feature))
        return f"<Ensemble: {len(self.weight)} smooth stumps on {n_features} features>"

    def vote(self, X: np.ndarray) -> np.ndarray:
        """Return the weighted vote on each row of ``X``, stump by stump."""
        X = np.asarray(X, dtype=np.float64)
        score = np.full(len(X), self.constant)
        for d, low, high, level, direction, weight in zip(*self[:6], strict=True):
            score += weight * direction * _side(X[:, d], low, high, level)
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
        X = self._checked(X)
        out = np.empty(len(X))
        curves = self._curves

        def work(part: slice) -> None:
            rowloops.evaluate(X[part], curves, self.intercept, out[part])

        self._share(work, X, n_threads)
        return out

    def contributions(
        self, X: np.ndarray, *, n_threads: int = 1, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return what each feature adds to the score of each row of ``X``, column by column.

        It is written into ``out``, of the shape of ``X``, if given.
        """
        X = self._checked(X)
        parts = np.empty(X.shape, order="F") if out is None else out
        curves = self._curves

        def work(part: slice) -> None:
            rowloops.contributions(X[part], curves, parts[part])

        self._share(work, X, n_threads)
        return parts

    def _checked(self, X: Any) -> Any:
        X = X if isinstance(X, SparseTable) else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != len(self):
            raise ValueError(
                f"X has shape {X.shape}, but the model has {len(self)} features; pass a table with "
                f"one column for each."
            )
        return X

    def _share(self, work: Callable[[slice], None], X: Any, n_threads: int) -> None:
        """Let threads work on blocks of rows, if there are enough of them."""
        few = X.size < _VALUES_WORTH_SHARING
        step = _ROWS_PER_BLOCK
        if isinstance(X, SparseTable):  # a block of which takes memory of its own
            step = min(step, max(1, _CELLS_PER_BLOCK // len(self)))
        parts = [slice(k, k + step) for k in range(0, len(X), step)]
        share(work, parts, 1 if few else n_threads)

    @cached_property
    def _curves(self) -> rowloops.Curves:
        """All curves end to end, ready for the loop over rows."""
        pieces = [linear_pieces(shape) for shape in self.shapes]
        lookups = [Lookup.over(piece.cuts) for piece in pieces]
        return rowloops.Curves(
            _starts([piece.level for piece in pieces]),
            np.concatenate([lookup.cuts for lookup in lookups]),
            np.concatenate([piece.level for piece in pieces]),
            np.concatenate([piece.slope for piece in pieces]),
            np.concatenate([piece.anchor for piece in pieces]),
            np.array([shape.at_missing() for shape in self.shapes]),
            _starts([lookup.first for lookup in lookups]),
            np.concatenate([lookup.first for lookup in lookups]),
            np.array([lookup.low for lookup in lookups]),
            np.array([lookup.scale for lookup in lookups]),
        )

    def ensemble(self) -> Ensemble:
        """Return the model as a table of smooth stumps whose vote is the score."""
        parts = [_as_stumps(shape) for shape in self.shapes]
        features = [np.full(len(part.change), d) for d, part in enumerate(parts)]
        lower, upper, level, change = (np.concatenate(part) for part in zip(*parts, strict=True))
        voting = change != 0.0
        change = change[voting]
        ends = [(shape.values[0] + shape.values[-1]) / 2 for shape in self.shapes]
        asked = change[(level[voting] >= 0) | np.isinf(lower[voting])]
        return Ensemble(
            np.concatenate(features)[voting],
            lower[voting],
            upper[voting],
            level[voting],
            np.sign(change).astype(int),
            np.abs(change) / 2,
            float(self.intercept + sum(ends) + asked.sum() / 2),
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
    missing = None
    if any(shape.missing is not None for shape in shapes):
        missing = sum(w * shape.at_missing() for w, shape in zip(weights, shapes, strict=True))
    if shapes[0].is_category:
        levels = [w * shape.levels for w, shape in zip(weights, shapes, strict=True)]
        return Shape.category(np.sum(levels, axis=0), missing)
    knots = np.unique(np.concatenate([shape.knots for shape in shapes]))
    before = sum(w * shape.before(knots) for w, shape in zip(weights, shapes, strict=True))
    at = sum(w * shape(knots) for w, shape in zip(weights, shapes, strict=True))
    times = np.where(before == at, 1, 2)
    ends = np.cumsum(times) - 1
    values = np.repeat(before, times)
    values[ends] = at
    return Shape(np.repeat(knots, times), values, missing)


class _StumpsOfCurve(NamedTuple):
    """The stumps of one curve, each with the change of the curve beyond it."""

    lower: np.ndarray
    upper: np.ndarray
    level: np.ndarray
    change: np.ndarray


def _as_stumps(shape: Shape) -> _StumpsOfCurve:
    if shape.is_category:
        change = shape.levels
        level = np.arange(len(change))
        edges = np.full((2, len(change)), np.nan)
    else:
        change = np.diff(shape.values)
        level = np.full(len(change), -1)
        edges = np.array([shape.knots[:-1], shape.knots[1:]])
    # Thresholds do not vote on what is missing, which leaves the middle of the curve's two ends.
    middle = (shape.values[0] + shape.values[-1]) / 2
    change, level = np.append(change, shape.at_missing() - middle), np.append(level, -1)
    edges = np.column_stack([edges, [np.inf, np.inf]])
    return _StumpsOfCurve(edges[0], edges[1], level, change)


def _side(x: np.ndarray, low: float, high: float, level: int) -> np.ndarray:
    """Return on which side of a smooth stump each ``x`` is, from -1 to 1."""
    if level >= 0:
        return np.where(x == level, 1.0, -1.0)
    if np.isinf(low):
        return np.where(np.isnan(x), 1.0, -1.0)
    if low == high:
        side = np.where(x >= low, 1.0, -1.0)
    else:
        side = np.clip((2 * x - low - high) / (high - low), -1.0, 1.0)
    return np.where(np.isnan(x), 0.0, side)


class Pieces(NamedTuple):
    """A curve as ``level[k] + slope[k] (x - anchor[k])``, k being the number of cuts up to x."""

    cuts: np.ndarray
    level: np.ndarray
    slope: np.ndarray
    anchor: np.ndarray


def linear_pieces(shape: Shape) -> Pieces:
    """Return the straight pieces of a curve; flat ones that go on as one are one.

    A piece as computed lies between the values at its two ends, so that a curve whose values rise
    is monotone at all numbers, neighboring ones too.

    Examples
    --------
    >>> linear_pieces(Shape.steps(np.array([0.0, 1.0, 2.0]), np.array([0.0, 3.0, 3.0, 5.0]))).cuts
    array([0., 2.])
    """
    knots, values = shape.knots, shape.values
    slope = np.zeros(len(knots) + 1)  # before each knot, and after the last
    last = np.ones(len(knots) + 1, dtype=bool)  # of two knots at one place the right one holds
    with np.errstate(over="ignore", invalid="ignore"):
        width = knots[1:] - knots[:-1]
        np.greater(width, 0.0, out=last[1:-1])
        np.divide(values[1:] - values[:-1], width, out=slope[1:-1], where=last[1:-1])
    slope[~np.isfinite(slope)] = 0.0
    _end_in_time(slope[1:-1], knots, values)
    slope, level = slope[last], np.concatenate([values[:1], values])[last]
    cuts = knots[last[1:]]
    flat = slope == 0.0
    kept = np.ones(len(level), dtype=bool)
    kept[1:] = ~(flat[1:] & flat[:-1] & (level[1:] == level[:-1]))
    anchor = np.concatenate([cuts[:1], cuts])
    return Pieces(cuts[kept[1:]], level[kept], slope[kept], anchor[kept])


def _end_in_time(slope: np.ndarray, knots: np.ndarray, values: np.ndarray) -> None:
    """Make slopes flatter, by a few units in the last place, where rounding goes too far.

    Then ``values[k] + slope[k] (x - knots[k])``, as computed, is never beyond ``values[k + 1]``
    for a number ``x`` before ``knots[k + 1]``: curves that rise or fall do so at every number.
    """
    with np.errstate(over="ignore"):
        longest = np.nextafter(knots[1:], -np.inf) - knots[:-1]
    steep = np.flatnonzero(slope)
    while len(steep):
        end = values[steep] + slope[steep] * longest[steep]
        steep = steep[np.sign(slope[steep]) * (end - values[steep + 1]) > 0.0]
        slope[steep] = np.nextafter(slope[steep], 0.0)


def _starts(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])])
