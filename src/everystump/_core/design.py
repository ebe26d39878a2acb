"""The stumps of one training table, ready for any number of two-class problems on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from everystump._core import rowloops
from everystump._core.chains import Chains
from everystump._core.columns import Column, Columns, make_columns
from everystump._core.losses import Loss
from everystump._core.measures import Masses, Measure
from everystump._core.packing import Packing, pack
from everystump._core.shapes import Shape, ShapeModel
from everystump._core.solvers import (
    Certificate,
    Gram,
    InseparableError,
    Problem,
    Progress,
    Rows,
    Solution,
    solve,
)


@dataclass(frozen=True)
class Design:
    """Columns, their chains under a measure, and the packed codes.

    All classes, folds and values of C of one training table share one design, and with it the
    kernel matrix ``gram`` where rows are few.  ``signs`` are those that `Problem` asks for.
    """

    columns: Columns
    measure: Measure
    masses: tuple[Masses, ...]
    chains: Chains
    packing: Packing
    gram: Gram
    signs: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        X: np.ndarray,
        *,
        measure: Measure,
        max_bins: int,
        n_levels: Sequence[int],
        fit_intercept: bool,
        feature_range: np.ndarray | None,
        sample_weight: np.ndarray | None,
        n_threads: int,
        directions: np.ndarray | None = None,
    ) -> Design:
        """Code the rows of ``X`` and weigh the gaps between their places.

        ``directions`` says which features' curves may only rise (1) or only fall (-1).
        """
        measure.check(X.shape[1])
        columns = make_columns(
            X,
            max_bins=max_bins,
            n_levels=n_levels,
            sample_weight=sample_weight,
            thresholds=measure.thresholds,
            n_threads=n_threads,
        )
        if feature_range is not None:
            columns = _widen(columns, feature_range)
        masses = tuple(
            _check_masses(measure, column, d) for d, column in enumerate(columns.columns)
        )
        chains = Chains.of(columns.columns, masses, centered=not fit_intercept)
        packing = pack(columns.codes, columns.sizes)
        signs = chains.edge_signs(directions)
        return cls(columns, measure, masses, chains, packing, Gram(chains, packing), signs)

    @property
    def half_mass(self) -> float:
        """The kernel of any row with itself: half the mass of all stumps."""
        return float(sum(m.inside.sum() + m.outside for m in self.masses)) / 2

    def solve(
        self,
        loss: type[Loss],
        positive: np.ndarray,
        weight: np.ndarray,
        *,
        C: float,
        tol: float,
        max_iter: int,
        n_threads: int,
        progress: Progress,
        index: np.ndarray | None = None,
        start: Solution | None = None,
    ) -> Solution:
        """Solve one two-class problem on the rows ``index`` (all of them by default)."""
        if index is not None:
            positive, weight = positive[index], weight[index]
        if np.isinf(C):
            weight = np.broadcast_to(1.0, weight.shape)
            self._check_distinct_rows(positive, index)
        if self._is_one_sided(positive):
            return self._constant(positive, C)
        problem = Problem(
            self.chains,
            self.packing,
            loss,
            bias=not self.chains.centered,
            hard=bool(np.isinf(C)),
            signs=self.signs,
        )
        rows = Rows(self.packing, index, positive, loss, weight, C, n_threads)
        return solve(
            problem,
            rows,
            tol=tol,
            max_iter=max_iter,
            progress=progress,
            start=start,
            gram=self.gram,
        )

    def _check_distinct_rows(self, positive: np.ndarray, index: np.ndarray | None) -> None:
        """Raise if equal rows have different labels: no margin is hard enough for them."""
        codes = self.packing.codes if index is None else self.packing.codes[:, index]
        rows = np.ascontiguousarray(codes.T)
        whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
        _, first, group = np.unique(whole, return_index=True, return_inverse=True)
        n_odd = np.sum(positive != positive[first[group]])
        if n_odd:
            raise InseparableError(
                f"C=inf asks for a hard margin, but no stump ensemble separates the two classes: "
                f"rows with equal features have different labels ({n_odd} of them); use a finite C."
            )

    def _is_one_sided(self, positive: np.ndarray) -> bool:
        """Tell whether a constant is all there is to learn, as in a fold that lacks a class."""
        return not self.chains.centered and bool(positive.all() or not positive.any())

    def _constant(self, positive: np.ndarray, C: float) -> Solution:
        """Return a constant on the right side; the certificate is that of ever larger ones."""
        bias = np.log(2 * len(positive) + 1) * (1 if positive.all() else -1)
        return Solution(
            weights=np.zeros(len(self.chains.jumps)),
            bias=float(bias),
            dual_coef=np.zeros(self.packing.codes.shape[1]),
            certificate=Certificate(0.0, 0.0, 0.0, True, 0.0),
            n_iter=0,
            C=C,
        )

    def scores(self, solution: Solution, index: np.ndarray) -> np.ndarray:
        """Return the scores of some rows of the table, binned as they are.

        Unlike those of `shape_model` they cost no more for many features than a product does.
        """
        codes = np.empty((len(self.packing.codes), len(index)), dtype=self.packing.codes.dtype)
        rowloops.take_rows(self.packing.codes, index, codes)
        table = self.packing.expand(self.chains.matvec(solution.weights))
        out = np.empty(len(index))
        rowloops.gather(codes, self.packing.starts, table, out)
        return out + solution.bias

    def shape_model(self, solution: Solution) -> ShapeModel:
        """Return the curves of a solution, each with weighted mean 0 if there is a bias.

        A constant of a feature and the bias are interchangeable; centered curves are the ones
        that can be read.  Without a bias curves are as the kernel has them.
        """
        tables = self.split_by_feature(self.chains.matvec(solution.weights))
        intercept, shapes = solution.bias, []
        for d, (column, values) in enumerate(zip(self.columns.columns, tables, strict=True)):
            if self.chains.centered:
                shapes.append(self._extended(d, self._curve(d, values), solution.weights))
            else:
                mean = float(column.weights @ values / column.weights.sum())
                intercept += mean
                shapes.append(self._curve(d, values - mean))
        return ShapeModel(tuple(shapes), float(intercept))

    def split_by_feature(self, flat: np.ndarray) -> list[np.ndarray]:
        """Return the part of each feature of a flat array of all places."""
        return np.split(flat, self.chains.starts[1:-1])

    def _curve(self, d: int, table: np.ndarray) -> Shape:
        """Return the curve through the values of a feature's places."""
        column = self.columns.columns[d]
        values = table[column.first : column.missing_bin]
        missing = float(table[column.missing_bin]) if column.missing > 0 else None
        if column.is_category:
            # What no row was at is as good as unknown.
            return Shape.category(np.where(column.counts > 0, values, 0.0), missing)
        if self.measure.is_step:
            return Shape.steps(column.cuts, values, missing)
        knots, position = self.measure.knot_positions(column, d)
        return Shape(knots, np.interp(position, np.arange(len(values)), values), missing)

    def _extended(self, d: int, curve: Shape, weights: np.ndarray) -> Shape:
        """Return the curve out to the ends of its range, where it has opposite values.

        The stumps left of all places and those right of them share the constant that they add,
        each side by its mass; beyond the places they change sides.
        """
        masses, column = self.masses[d], self.columns.columns[d]
        if masses.outside == 0.0:
            return curve
        root = self.chains.starts[d]
        both = self.chains.jumps[root] * weights[root] / masses.outside
        ends = curve.values[0] - both * masses.left, curve.values[-1] - both * masses.right
        keep = np.array([masses.left > 0, *[True] * len(curve.knots), masses.right > 0])
        knots = np.concatenate([[column.low], curve.knots, [column.high]])
        values = np.concatenate([ends[:1], curve.values, ends[1:]])[keep]
        return Shape(knots[keep], values, curve.missing)


def _check_masses(measure: Measure, column: Column, d: int) -> Masses:
    masses = measure.stump_masses(column, d)
    if not np.isfinite(masses.inside.sum() + masses.outside):
        raise ValueError(
            f"measure: feature {d} goes from {column.low:g} to {column.high:g}, too far for its "
            f'mass to be a finite number; scale the feature or use measure="rank".'
        )
    return masses


def _widen(columns: Columns, feature_range: np.ndarray) -> Columns:
    """Return the columns with the ranges [L, R] that the user gave."""
    low, high = feature_range.T
    for d, column in enumerate(columns.columns):
        if column.is_category:
            continue
        if not (low[d] <= column.low and column.high <= high[d]):
            raise ValueError(
                f"feature_range: [{low[d]:g}, {high[d]:g}] does not hold feature {d}, whose values "
                f"go from {column.low:g} to {column.high:g}; widen the range."
            )
    return replace(
        columns,
        columns=tuple(
            column if column.is_category else replace(column, low=float(a), high=float(b))
            for column, a, b in zip(columns.columns, low, high, strict=True)
        ),
    )
