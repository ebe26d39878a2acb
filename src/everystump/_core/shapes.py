"""The fitted model of every stump ensemble: curves, surfaces and an intercept.

Every feature has a shape function (curve); interactions of features are surfaces, see
`everystump._core.surfaces`.

A curve is given by knots in ascending order and a value at each knot; it is linear between knots
and constant beyond them.  Two equal knots make a jump, where the curve takes its right value,
because ``sign(0) = 1``.  Smooth stumps, decision stumps and sums of both thus have one form, and
adding, scaling and averaging models is adding, scaling and averaging curves.

The curve of a category is a step function over the codes of its levels and 0 beyond them: an
unknown level contributes nothing.  Missing values have a separate value, which is 0 if
training had none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from everystump._core import curves, multilinear
from everystump._core.sparse import SparseTable
from everystump._core.surfaces import Surface, combine_surfaces
from everystump._core.threads import thread_map

_ROWS_PER_BLOCK, _CELLS_PER_BLOCK = 8192, 1 << 19
# The positions of a block's rows along the axes of surfaces should fit into the L2 cache.
_MIN_ROWS_PER_BLOCK, _POSITIONS_PER_BLOCK = 256, 1 << 16
_MIN_VALUES_FOR_THREADS = 20_000


@dataclass(frozen=True, eq=False)
class Shape:
    """The shape function (curve) of one feature.

    Attributes
    ----------
    knots : ndarray of shape (n_knots,)
        Ascending; the same number twice is a jump.
    values : ndarray of shape (n_knots,)
        The curve's value at each knot.
    missing : float or None
        The value of the curve at missing values; None, treated as 0, if training had none.
    is_category : bool
        Whether the curve is defined over the codes of levels; see `levels`.

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
        """Return the curve that is ``levels[k]`` at level ``k`` and 0 at unknown levels."""
        edges = np.arange(len(levels) + 1) - 0.5
        steps = cls.steps(edges, np.concatenate([[0.0], levels, [0.0]]), missing)
        return replace(steps, is_category=True)

    @property
    def levels(self) -> np.ndarray:
        """The value of the curve at each level of a category."""
        return self.values[1:-1:2].copy()

    def with_levels(self, codes: np.ndarray | None, n_levels: int) -> Shape:
        """Return a category's curve over more levels; ``codes`` are the codes of its own levels."""
        levels = np.zeros(n_levels)
        if codes is not None:
            levels[codes.astype(int)] = self.levels
        return Shape.category(levels, self.missing)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the curve's value at each ``x``."""
        x = np.ascontiguousarray(x, dtype=np.float64)
        return ShapeModel((self,), 0.0).evaluate(x.reshape(-1, 1), n_threads=1).reshape(x.shape)

    @property
    def is_step(self) -> bool:
        """Whether the curve is constant between its jumps."""
        between = self.knots[1:] > self.knots[:-1]
        return bool(np.all(np.diff(self.values)[between] == 0.0))

    def left_limit(self, x: np.ndarray) -> np.ndarray:
        """Return the limit of the curve from the left at each ``x``."""
        # It is the value of the mirrored curve at ``-x``.
        return Shape(-self.knots[::-1], self.values[::-1])(-np.asarray(x))

    def at_missing(self) -> float:
        """Return the value of the curve at missing values."""
        return 0.0 if self.missing is None else self.missing

    def pieces(self) -> curves.Pieces:
        """Return the linear pieces of the curve."""
        return curves.linear_pieces(self.knots, self.values)


class Ensemble(NamedTuple):
    """A model as a vote of smooth stumps with non-negative weights (Theorem 5 of Lin & Li).

    Stump ``j`` votes ``-direction`` up to ``lower``, ``+direction`` from ``upper`` on, and is
    linear in between; if both are equal, it is a decision stump.  A stump with ``level >= 0``
    votes ``+direction`` at that level of a category only.  A stump with an infinite ``lower``
    votes ``+direction`` at missing values only; stumps with a threshold do not vote on these.
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
            score += weight * direction * _vote(X[:, d], low, high, level)
        return score


@dataclass(frozen=True, eq=False)
class ShapeModel:
    """A sum of curves and surfaces.

    ``f(x) = intercept + sum over d of shapes[d](x[d]) + sum over t of surfaces[t](x[features])``

    The length of a model is the number of its features; its items are their curves.

    Attributes
    ----------
    shapes : tuple of Shape
        One curve per feature.
    intercept : float
        The score where all curves and surfaces are 0.
    surfaces : tuple of Surface
        The interactions, sorted by their features, which are different for each.

    Examples
    --------
    >>> stump = Shape.steps(np.array([0.0]), np.array([-1.0, 1.0]))
    >>> model = ShapeModel((stump,), 0.5)
    >>> (2 * model + model).evaluate(np.array([[-1.0], [0.0]]))
    array([-1.5,  4.5])
    """

    shapes: tuple[Shape, ...]
    intercept: float
    surfaces: tuple[Surface, ...] = ()

    def __post_init__(self) -> None:
        surfaces = tuple(sorted(self.surfaces, key=lambda surface: surface.features))
        object.__setattr__(self, "surfaces", surfaces)
        seen: set[tuple[int, ...]] = set()
        for features in (surface.features for surface in surfaces):
            if features in seen:
                raise ValueError(
                    f"surfaces has two surfaces of features {features}; combine them into one."
                )
            if features[-1] >= len(self.shapes):
                raise ValueError(
                    f"surfaces has a surface of features {features}, but the model has "
                    f"{len(self.shapes)} features, numbered from 0."
                )
            seen.add(features)

    def __getstate__(self) -> dict:
        return {"shapes": self.shapes, "intercept": self.intercept, "surfaces": self.surfaces}

    @property
    def terms(self) -> tuple[tuple[int, ...], ...]:
        """The features of each term: first of each curve, then of each surface."""
        curves = tuple((d,) for d in range(len(self)))
        return curves + tuple(surface.features for surface in self.surfaces)

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

    def with_levels(
        self, codes: Sequence[np.ndarray | None], n_levels: Sequence[int]
    ) -> ShapeModel:
        """Return the model over more levels of its categories; the added ones contribute 0.

        For each feature, ``codes`` are the codes of its own levels among ``n_levels`` new ones,
        which is 0 for numbers.
        """
        shapes = tuple(
            shape.with_levels(own, n) if n else shape
            for shape, own, n in zip(self.shapes, codes, n_levels, strict=True)
        )
        surfaces = tuple(
            surface.with_levels(
                [codes[d] for d in surface.features], [n_levels[d] for d in surface.features]
            )
            for surface in self.surfaces
        )
        return ShapeModel(shapes, self.intercept, surfaces)

    def evaluate(self, X: np.ndarray, *, n_threads: int = 1) -> np.ndarray:
        """Return the score of each row of ``X``."""
        X = self._check(X)
        out = np.empty(len(X))
        prepared, tables = self._curves, self._tables

        def work(part: slice) -> None:
            rows = X[part]
            curves.evaluate(rows, prepared, self.intercept, out[part])
            if tables is not None:
                multilinear.add(rows, tables, out[part])

        self._map_blocks(work, X, n_threads)
        return out

    def contributions(
        self, X: np.ndarray, *, n_threads: int = 1, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the contribution of each term to the score of each row, one column per term.

        The columns are in the order of `terms`.  The result is written to ``out``, of shape
        (n_rows, n_terms), if it is not None.
        """
        X = self._check(X)
        shape = (len(X), len(self) + len(self.surfaces))
        parts = np.empty(shape, order="F") if out is None else out
        if parts.shape != shape:
            raise ValueError(f"out has shape {parts.shape}; pass an array of shape {shape}.")
        prepared, tables = self._curves, self._tables

        def work(part: slice) -> None:
            rows = X[part]
            curves.contributions(rows, prepared, parts[part, : len(self)])
            if tables is not None:
                multilinear.contributions(rows, tables, parts[part, len(self) :])

        self._map_blocks(work, X, n_threads)
        return parts

    def _check(self, X: Any) -> Any:
        X = X if isinstance(X, SparseTable) else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != len(self):
            raise ValueError(
                f"X has shape {X.shape}, but the model has {len(self)} features; pass a table with "
                f"one column per feature."
            )
        return X

    def _map_blocks(self, work: Callable[[slice], None], X: Any, n_threads: int) -> None:
        """Call ``work`` for blocks of rows, in threads if there are enough values."""
        few = len(X) * len(self.terms) < _MIN_VALUES_FOR_THREADS
        step = _ROWS_PER_BLOCK
        if self._tables is not None:
            step = max(_MIN_ROWS_PER_BLOCK, min(step, _POSITIONS_PER_BLOCK // self._tables.n_grids))
        if isinstance(X, SparseTable):  # its blocks are copied to dense arrays
            step = min(step, max(1, _CELLS_PER_BLOCK // len(self)))
        parts = [slice(k, k + step) for k in range(0, len(X), step)]
        thread_map(work, parts, 1 if few else n_threads)

    @cached_property
    def _curves(self) -> curves.Curves:
        """All curves, ready for the loops over rows."""
        pieces = [shape.pieces() for shape in self.shapes]
        return curves.concatenate(pieces, [shape.at_missing() for shape in self.shapes])

    @cached_property
    def _tables(self) -> multilinear.Tables | None:
        """All surfaces, ready for the loops over rows; None without surfaces."""
        if not self.surfaces:
            return None
        return multilinear.concatenate([surface.table() for surface in self.surfaces])

    def ensemble(self) -> Ensemble:
        """Return the model as a table of smooth stumps whose vote is the score.

        A model with surfaces has no such table.
        """
        if self.surfaces:
            raise ValueError(
                f"the model has {len(self.surfaces)} interactions, which are votes of products of "
                f"stumps, not of single stumps; fit it with interactions=0 for a table of stumps."
            )
        parts = [_curve_stumps(shape) for shape in self.shapes]
        features = [np.full(len(part.change), d) for d, part in enumerate(parts)]
        lower, upper, level, change = (np.concatenate(part) for part in zip(*parts, strict=True))
        used = change != 0.0
        change = change[used]
        ends = [(shape.values[0] + shape.values[-1]) / 2 for shape in self.shapes]
        indicators = change[(level[used] >= 0) | np.isinf(lower[used])]
        return Ensemble(
            np.concatenate(features)[used],
            lower[used],
            upper[used],
            level[used],
            np.sign(change).astype(int),
            np.abs(change) / 2,
            float(self.intercept + sum(ends) + indicators.sum() / 2),
        )


def combine(models: Sequence[ShapeModel], weights: Sequence[float]) -> ShapeModel:
    """Return the weighted sum of models over the same features, as one model."""
    sizes = {len(model) for model in models}
    if len(sizes) != 1:
        raise ValueError(
            f"models have different numbers of features ({sorted(sizes)}); combine models of "
            f"the same features."
        )
    intercept = float(sum(w * m.intercept for w, m in zip(weights, models, strict=True)))
    shapes = tuple(
        combine_shapes([model[d] for model in models], weights) for d in range(sizes.pop())
    )
    grouped: dict[tuple[int, ...], list[tuple[Surface, float]]] = {}
    for model, weight in zip(models, weights, strict=True):
        for surface in model.surfaces:
            grouped.setdefault(surface.features, []).append((surface, weight))
    surfaces = tuple(combine_surfaces(*zip(*parts, strict=True)) for parts in grouped.values())
    return ShapeModel(shapes, intercept, surfaces)


def average(models: Sequence[ShapeModel]) -> ShapeModel:
    """Return the mean of models over the same features, as one model."""
    return combine(models, [1 / len(models)] * len(models))


def combine_shapes(shapes: Sequence[Shape], weights: Sequence[float]) -> Shape:
    """Return the weighted sum of curves of the same feature."""
    missing = None
    if any(shape.missing is not None for shape in shapes):
        missing = sum(w * shape.at_missing() for w, shape in zip(weights, shapes, strict=True))
    if shapes[0].is_category:
        levels = [w * shape.levels for w, shape in zip(weights, shapes, strict=True)]
        return Shape.category(np.sum(levels, axis=0), missing)
    knots = np.unique(np.concatenate([shape.knots for shape in shapes]))
    before = sum(w * shape.left_limit(knots) for w, shape in zip(weights, shapes, strict=True))
    at = sum(w * shape(knots) for w, shape in zip(weights, shapes, strict=True))
    repeats = np.where(before == at, 1, 2)
    ends = np.cumsum(repeats) - 1
    values = np.repeat(before, repeats)
    values[ends] = at
    return Shape(np.repeat(knots, repeats), values, missing)


class _CurveStumps(NamedTuple):
    """The stumps of one curve, each with the change of the curve beyond it."""

    lower: np.ndarray
    upper: np.ndarray
    level: np.ndarray
    change: np.ndarray


def _curve_stumps(shape: Shape) -> _CurveStumps:
    if shape.is_category:
        change = shape.levels
        level = np.arange(len(change))
        edges = np.full((2, len(change)), np.nan)
    else:
        change = np.diff(shape.values)
        level = np.full(len(change), -1)
        edges = np.array([shape.knots[:-1], shape.knots[1:]])
    # Thresholds do not vote on missing values: without an indicator, the vote is `middle`.
    middle = (shape.values[0] + shape.values[-1]) / 2
    change, level = np.append(change, shape.at_missing() - middle), np.append(level, -1)
    edges = np.column_stack([edges, [np.inf, np.inf]])
    return _CurveStumps(edges[0], edges[1], level, change)


def _vote(x: np.ndarray, low: float, high: float, level: int) -> np.ndarray:
    """Return the vote of a smooth stump of direction +1 at each ``x``, from -1 to 1."""
    if level >= 0:
        return np.where(x == level, 1.0, -1.0)
    if np.isinf(low):
        return np.where(np.isnan(x), 1.0, -1.0)
    if low == high:
        vote = np.where(x >= low, 1.0, -1.0)
    else:
        vote = np.clip((2 * x - low - high) / (high - low), -1.0, 1.0)
    return np.where(np.isnan(x), 0.0, vote)
