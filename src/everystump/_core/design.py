"""One training table, prepared for any number of binary problems on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from everystump._core import rowloops
from everystump._core.blocks import take_rows
from everystump._core.chains import Chains
from everystump._core.columns import Column, Columns, make_columns
from everystump._core.losses import Loss
from everystump._core.measures import Masses, Measure
from everystump._core.packing import Packing, pack
from everystump._core.shapes import Shape, ShapeModel
from everystump._core.solvers import solve
from everystump._core.solvers.certificate import Certificate, InseparableError
from everystump._core.solvers.problem import (
    Problem,
    Progress,
    Solution,
    SolverOptions,
    TableKernelMatrix,
)
from everystump._core.solvers.rows import Rows


@dataclass(frozen=True)
class Design:
    """The binned columns of a table, their chains under a measure, and the packed codes.

    All classes, folds and values of C of one training table share one design.
    """

    columns: Columns
    measure: Measure
    masses: tuple[Masses, ...]  # of the stumps of each feature
    chains: Chains
    packing: Packing
    kernel_matrix: TableKernelMatrix  # for problems with few rows
    signs: np.ndarray | None = None  # the sign constraints of monotonic curves; see `Problem`

    @classmethod
    def from_rows(
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
        """Encode the rows of ``X`` and compute the masses of the gaps between their bins.

        ``directions`` holds 1 for features whose curve must increase, -1 for decreasing ones.
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
            _finite_masses(measure, column, d) for d, column in enumerate(columns.columns)
        )
        chains = Chains.from_columns(columns.columns, masses, centered=not fit_intercept)
        packing = pack(columns.codes, columns.sizes)
        kernel_matrix, signs = TableKernelMatrix(chains, packing), chains.edge_signs(directions)
        return cls(columns, measure, masses, chains, packing, kernel_matrix, signs)

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
        """Solve one binary problem on the rows ``index`` (all of them by default)."""
        if index is not None:
            positive, weight = positive[index], weight[index]
        if np.isinf(C):
            weight = np.broadcast_to(1.0, weight.shape)
            self._check_distinct_rows(positive, index)
        if self._is_constant_optimal(positive):
            return self._constant(positive, C)
        intercept, hard = not self.chains.centered, bool(np.isinf(C))
        problem = Problem(self.chains, self.packing, loss, intercept, hard, self.signs)
        rows = Rows(self.packing, index, positive, loss, weight, C, n_threads)
        options = SolverOptions(tol, max_iter, progress, start, self.kernel_matrix)
        return solve(problem, rows, options)

    def _check_distinct_rows(self, positive: np.ndarray, index: np.ndarray | None) -> None:
        """Raise if equal rows have different labels, which no hard margin can separate."""
        codes = self.packing.codes if index is None else self.packing.codes[:, index]
        rows = np.ascontiguousarray(codes.T)
        row_bytes = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
        _, first, group = np.unique(row_bytes, return_index=True, return_inverse=True)
        n_conflicts = np.sum(positive != positive[first[group]])
        if n_conflicts:
            raise InseparableError(
                f"C=inf requires a hard margin, but no stump ensemble separates the two classes: "
                f"rows with equal features have different labels ({n_conflicts} of them); use a "
                f"finite C."
            )

    def _is_constant_optimal(self, positive: np.ndarray) -> bool:
        """Whether there is an intercept and only one class, as in a fold without the other."""
        return not self.chains.centered and bool(positive.all() or not positive.any())

    def _constant(self, positive: np.ndarray, C: float) -> Solution:
        """Return a constant of the right sign, with the certificate of its limit at infinity."""
        intercept = np.log(2 * len(positive) + 1) * (1 if positive.all() else -1)
        return Solution(
            weights=self.chains.zeros(),
            intercept=float(intercept),
            dual_coef=np.zeros(self.packing.codes.shape[1]),
            certificate=Certificate(0.0, 0.0, 0.0, True, 0.0),
            n_iter=0,
            C=C,
        )

    def scores(self, solution: Solution, index: np.ndarray) -> np.ndarray:
        """Return the scores of some rows of the table, from their bins.

        With many features this is faster than evaluating `shape_model`.
        """
        codes = take_rows(self.packing.codes, index)
        table = self.packing.expand(self.chains.matvec(solution.weights))
        out = np.empty(len(index))
        rowloops.gather(codes, self.packing.starts, table, out)
        return out + solution.intercept

    def shape_model(self, solution: Solution) -> ShapeModel:
        """Return the curves of a solution, each with weighted mean 0 if there is an intercept.

        A constant can be moved between a curve and the intercept; centered curves are easiest to
        interpret.  Without an intercept, the kernel determines the constant of each curve.
        """
        tables = self.split_by_feature(self.chains.matvec(solution.weights))
        intercept, shapes = solution.intercept, []
        for d, (column, values) in enumerate(zip(self.columns.columns, tables, strict=True)):
            if self.chains.centered:
                shapes.append(self._extend_to_range(d, self._curve(d, values), solution.weights))
            else:
                mean = float(column.weights @ values / column.weights.sum())
                intercept += mean
                shapes.append(self._curve(d, values - mean))
        return ShapeModel(tuple(shapes), float(intercept))

    def split_by_feature(self, flat: np.ndarray) -> list[np.ndarray]:
        """Split a flat array with one entry per bin into one array per feature."""
        return np.split(flat, self.chains.starts[1:-1])

    def _curve(self, d: int, table: np.ndarray) -> Shape:
        """Return the curve through the values of a feature's bins."""
        column = self.columns.columns[d]
        values = table[column.first : column.missing_bin]
        missing = float(table[column.missing_bin]) if column.missing > 0 else None
        if column.is_category:
            # A level without rows is treated as an unknown level.
            return Shape.category(np.where(column.counts > 0, values, 0.0), missing)
        if self.measure.is_step:
            return Shape.steps(column.cuts, values, missing)
        knots, positions = self.measure.knot_positions(column, d)
        return Shape(knots, np.interp(positions, np.arange(len(values)), values), missing)

    def _extend_to_range(self, d: int, curve: Shape, weights: np.ndarray) -> Shape:
        """Return the curve extended to the ends of its range, where it has opposite values.

        The stumps left of all bins and those right of them add a constant, to which each side
        contributes in proportion to its mass; beyond the bins their votes change sign.
        """
        masses, column = self.masses[d], self.columns.columns[d]
        if masses.outside == 0.0:
            return curve
        root = self.chains.starts[d]
        per_mass = self.chains.jumps[root] * weights[root] / masses.outside
        ends = curve.values[0] - per_mass * masses.left, curve.values[-1] - per_mass * masses.right
        keep = np.array([masses.left > 0, *[True] * len(curve.knots), masses.right > 0])
        knots = np.concatenate([[column.low], curve.knots, [column.high]])
        values = np.concatenate([ends[:1], curve.values, ends[1:]])[keep]
        return Shape(knots[keep], values, curve.missing)


def _finite_masses(measure: Measure, column: Column, d: int) -> Masses:
    """Return the masses of a feature; raise if their sum overflows."""
    masses = measure.stump_masses(column, d)
    if not np.isfinite(masses.inside.sum() + masses.outside):
        raise ValueError(
            f"measure: feature {d} ranges from {column.low:g} to {column.high:g}, too wide for its "
            f'mass to be a finite number; scale the feature or use measure="rank".'
        )
    return masses


def _widen(columns: Columns, feature_range: np.ndarray) -> Columns:
    """Return the columns with the ranges [L, R] set by the user."""
    low, high = feature_range.T
    for d, column in enumerate(columns.columns):
        if column.is_category:
            continue
        if not (low[d] <= column.low and column.high <= high[d]):
            raise ValueError(
                f"feature_range: [{low[d]:g}, {high[d]:g}] does not contain feature {d}, whose "
                f"values range from {column.low:g} to {column.high:g}; widen the range."
            )
    return replace(
        columns,
        columns=tuple(
            column if column.is_category else replace(column, low=float(a), high=float(b))
            for column, a, b in zip(columns.columns, low, high, strict=True)
        ),
    )
