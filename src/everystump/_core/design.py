"""One training table, prepared for any number of problems on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from everystump._core import rowloops
from everystump._core.chains import Chains
from everystump._core.columns import Columns, make_columns, widen
from everystump._core.fitted_shapes import SurfaceBuilder, inside_cells, spread_weights
from everystump._core.interaction_layout import add_interactions, make_interactions
from everystump._core.losses import LossFamily
from everystump._core.measures import Masses, Measure, are_proportional, finite_masses
from everystump._core.packing import Packing, keep_columns, pack
from everystump._core.purify import Purifier
from everystump._core.screening import Residuals, Screener
from everystump._core.shapes import Shape, ShapeModel
from everystump._core.solvers import solve
from everystump._core.solvers.certificate import Certificate, InseparableError
from everystump._core.solvers.problem import (
    Coefficients,
    Problem,
    Progress,
    Solution,
    SolverOptions,
    TableKernelMatrix,
)
from everystump._core.solvers.row_blocks import SolverBlocks
from everystump._core.solvers.rows import Rows
from everystump._core.terms import Terms
from everystump._terms import Term


@dataclass(frozen=True)
class Design:
    """The binned columns of a table, their stumps under a measure, and the packed codes.

    All classes, folds and values of C of one training table share one design.
    """

    columns: Columns
    measure: Measure
    masses: tuple[Masses, ...]  # of the stumps of each feature
    terms: Terms
    packing: Packing
    kernel_matrix: TableKernelMatrix  # for problems with few rows
    sample_weight: np.ndarray | None = None
    signs: np.ndarray | None = None  # the sign constraints of monotonic curves; see `Problem`
    # Whether columns are joined; not if the rows are only a part of the table, or none of it.
    joins_columns: bool = True

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

        See `from_columns` for the other arguments.
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
        return cls.from_columns(
            columns,
            measure=measure,
            fit_intercept=fit_intercept,
            feature_range=feature_range,
            sample_weight=sample_weight,
            directions=directions,
        )

    @classmethod
    def from_columns(
        cls,
        columns: Columns,
        *,
        measure: Measure,
        fit_intercept: bool,
        feature_range: np.ndarray | None,
        sample_weight: np.ndarray | None,
        directions: np.ndarray | None = None,
        join: bool = True,
    ) -> Design:
        """Compute the masses of the gaps between the bins of encoded rows.

        ``directions`` holds 1 for features whose curve must increase, -1 for decreasing ones.
        Without ``join``, the design of some rows of a table is that of all of them.
        """
        if feature_range is not None:
            columns = widen(columns, feature_range)
        masses, terms = _curve_terms(columns, measure, centered=not fit_intercept)
        packing = (pack if join else keep_columns)(columns.codes, columns.sizes)
        signs = terms.chains.edge_signs(directions)
        return cls(
            columns,
            measure,
            masses,
            terms,
            packing,
            TableKernelMatrix(terms, packing),
            sample_weight,
            signs,
            join,
        )

    def with_measure(self, measure: Measure) -> Design:
        """Return the design of the same bins under another measure, without interactions."""
        masses, terms = _curve_terms(self.columns, measure, centered=self.terms.chains.centered)
        kernel_matrix = TableKernelMatrix(terms, self.packing)
        return replace(
            self, measure=measure, masses=masses, terms=terms, kernel_matrix=kernel_matrix
        )

    def is_proportional_to(self, measure: Measure) -> bool:
        """Whether the masses of another measure are a multiple of the own ones.

        Its models are then those of this design with another C.
        """
        others = [finite_masses(measure, c, d) for d, c in enumerate(self.columns.columns)]
        return are_proportional(self.masses, others)

    def with_interactions(
        self, terms: Sequence[Term], *, max_cells: int, strength: float, n_threads: int = 1
    ) -> Design:
        """Return the design with exactly these interactions, each a tuple of features."""
        made = make_interactions(
            self.columns,
            terms,
            measure=self.measure,
            max_cells=max_cells,
            strength=strength,
            n_threads=n_threads,
            join=self.joins_columns,
        )
        return self._with_terms(
            Terms(self.terms.chains, made.interactions),
            replace(self.packing, codes=add_interactions(self.packing.codes, made)),
        )

    def with_cell_sums(self, sums: np.ndarray) -> Design:
        """Return the design, without rows, of rows elsewhere whose `cell_sums` are given."""
        design = replace(self)
        vars(design)["cell_sums"] = sums
        return design

    def with_strength(self, strength: float) -> Design:
        """Return the design with the same interactions of another strength."""
        interactions = self.terms.interactions.with_strength(strength)
        terms = Terms(self.terms.chains, interactions)
        return replace(self, terms=terms, kernel_matrix=self.kernel_matrix.with_strength(terms))

    def warm_start(self, solution: Solution, source: Design) -> Solution:
        """Return the solution of another design of the same rows as a start for this one.

        Interactions keep their tables, also if their strength changes; new ones are 0.
        """
        n_bins, interactions = self.terms.n_bins, self.terms.interactions
        weights = self.terms.zeros()
        weights[:n_bins] = solution.weights[:n_bins]
        others = source.terms.interactions
        weights[n_bins:] = interactions.convert(solution.weights[n_bins:], others)
        return replace(solution, weights=weights)

    def screener(
        self,
        solutions: Sequence[Solution],
        loss: LossFamily,
        targets: Sequence[np.ndarray],
        weight: np.ndarray,
        *,
        strength: float,
        max_cells: int,
        n_threads: int = 1,
        scale: float = 1.0,
    ) -> Screener:
        """Return what measures interactions at solutions without them, one per problem.

        If the rows are a sample, each stands for ``scale`` rows.
        """
        duals = np.array([solution.dual_coef for solution in solutions])
        curvature = np.array(
            [
                loss.for_rows(solution.C * weight, target).typical_curvature(
                    loss.signs(target) * solution.dual_coef
                )
                for solution, target in zip(solutions, targets, strict=True)
            ]
        )
        residuals = Residuals(scale * duals, scale * curvature)
        return Screener(
            self.columns,
            self.measure,
            residuals,
            strength,
            max_cells,
            fit_intercept=not self.terms.chains.centered,
            n_threads=n_threads,
        )

    def _with_terms(self, terms: Terms, packing: Packing) -> Design:
        signs = self.signs
        if signs is not None:
            n_interactions = terms.n_weights - terms.n_bins
            signs = np.append(signs[: terms.n_bins], np.zeros(n_interactions, dtype=signs.dtype))
        kernel_matrix = TableKernelMatrix(terms, packing)
        return replace(self, terms=terms, packing=packing, kernel_matrix=kernel_matrix, signs=signs)

    @property
    def half_mass(self) -> float:
        """The kernel of any row with itself: half the mass of all stumps."""
        return float(sum(m.inside.sum() + m.outside for m in self.masses)) / 2

    def kernel_diagonal(self) -> np.ndarray:
        """Return the kernel of each row with itself; a single number without interactions."""
        if not self.terms.interactions.terms:
            return np.array([self.half_mass])
        codes, out = self.packing.codes, np.empty(self.packing.codes.n_rows)
        table = np.zeros(codes.n_entries)
        table[codes.starts[-1] :] = self.terms.interactions.diagonal_table()
        rowloops.gather(codes, table, out)
        return self.half_mass + out

    @property
    def max_kernel(self) -> float:
        """An upper bound on the kernel of any row with itself."""
        return self.half_mass + self.terms.interactions.max_kernel

    @property
    def exact(self) -> bool:
        """Whether binning is lossless in every feature, also in interactions."""
        features = self.terms.interactions.features.values()
        return self.columns.exact and all(f.cells.column.exact for fs in features for f in fs)

    def solve(
        self,
        loss: LossFamily,
        target: np.ndarray,
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
        """Solve one problem on the rows ``index`` (all of them by default).

        ``target`` is whether each row of the table is positive, or the number to predict.
        """
        if index is not None:
            target, weight = target[index], weight[index]
        if np.isinf(C):
            weight = np.broadcast_to(1.0, weight.shape)
            self._check_distinct_rows(target, index)
        if self._has_one_class(target):
            return self._constant(target, C)
        parts = SolverBlocks(self.packing, index, target, loss, weight, C, n_threads)
        options = SolverOptions(tol, max_iter, progress, start, self.kernel_matrix)
        return self.solve_rows(loss, Rows(parts, C), options)

    def solve_rows(self, loss: LossFamily, rows: Rows, options: SolverOptions) -> Solution:
        """Solve one problem on some rows, wherever these are."""
        intercept, hard = not self.terms.chains.centered, bool(np.isinf(rows.C))
        problem = Problem(self.terms, self.packing, loss, intercept, hard, self.signs)
        return solve(problem, rows, options)

    def _check_distinct_rows(self, positive: np.ndarray, index: np.ndarray | None) -> None:
        """Raise if equal rows have different labels, which no hard margin can separate."""
        bins = self.packing.codes.bins
        rows = np.ascontiguousarray((bins if index is None else bins[:, index]).T)
        row_bytes = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
        _, first, group = np.unique(row_bytes, return_index=True, return_inverse=True)
        n_conflicts = np.sum(positive != positive[first[group]])
        if n_conflicts:
            raise InseparableError(
                f"C=inf requires a hard margin, but no stump ensemble separates the two classes: "
                f"rows with equal features have different labels ({n_conflicts} of them); use a "
                f"finite C."
            )

    def _has_one_class(self, target: np.ndarray) -> bool:
        """Whether there is an intercept and only one class, as in a fold without the other."""
        if self.terms.chains.centered or target.dtype != bool:
            return False
        return bool(target.all() or not target.any())

    def _constant(self, positive: np.ndarray, C: float) -> Solution:
        """Return a constant of the right sign, with the certificate of its limit at infinity."""
        intercept = np.log(2 * len(positive) + 1) * (1 if positive.all() else -1)
        return Solution(
            weights=self.terms.zeros(),
            intercept=float(intercept),
            dual_coef=np.zeros(self.packing.codes.n_rows),
            certificate=Certificate(0.0, 0.0, 0.0, True, 0.0),
            n_iter=0,
            C=C,
        )

    def scores(self, solution: Solution, index: np.ndarray) -> np.ndarray:
        """Return the scores of some rows of the table, from their bins.

        With many features this is faster than evaluating `shape_model`.
        """
        codes = self.packing.codes.take(index)
        table = self.packing.expand(self.terms.matvec(solution.weights))
        out = np.empty(len(index))
        rowloops.gather(codes, table, out)
        return out + solution.intercept

    def shape_model(self, solution: Coefficients) -> ShapeModel:
        """Return curves and surfaces of a solution, with weighted mean 0 if there is an intercept.

        A constant can be moved between a curve and the intercept; centered curves are easiest to
        interpret.  Without an intercept, the kernel determines the constant of each curve.
        """
        tables = self.split_by_feature(self.terms.matvec(solution.weights)[: self.terms.n_bins])
        intercept, shapes = solution.intercept, []
        for d, (column, values) in enumerate(zip(self.columns.columns, tables, strict=True)):
            if self.terms.chains.centered:
                shapes.append(self._extend_to_range(d, self.curve(d, values), solution.weights))
            else:
                mean = float(column.weights @ values / column.weights.sum())
                intercept += mean
                shapes.append(self.curve(d, values - mean))
        model = ShapeModel(tuple(shapes), float(intercept))
        return self._add_surfaces(model, solution) if self.terms.interactions.terms else model

    def _add_surfaces(self, model: ShapeModel, solution: Coefficients) -> ShapeModel:
        """Return the model with its interactions; see `fitted_shapes`."""
        interactions = self.terms.interactions
        weights = solution.weights[self.terms.n_bins :]
        builder = SurfaceBuilder(self.measure.is_step)
        cells = {
            term: [f.cells for f in interactions.features[term]] for term in interactions.terms
        }
        for term, own in cells.items():
            table = interactions.term_table(term, weights)[inside_cells(own)]
            builder.add(term, own, self._purifiers[term].purify(table))
        for term, own in cells.items():
            builder.purify_sum(term, own, self._purifiers[term])
        return builder.add_to(model)

    @cached_property
    def _purifiers(self) -> dict[Term, Purifier]:
        """What purifies each interaction, shared by all classes."""
        interactions = self.terms.interactions
        return {
            term: Purifier(weights[inside_cells([f.cells for f in interactions.features[term]])])
            for term, weights in self.cell_weights.items()
        }

    def surface_density(self, model: ShapeModel) -> tuple[np.ndarray, ...]:
        """Return the weight of the training rows at each grid point of each surface."""
        found: dict[Term, np.ndarray] = {}
        interactions, surfaces = self.terms.interactions, {s.features: s for s in model.surfaces}
        # A triple also adds to the surfaces of its pairs, which may be terms themselves.
        for term in sorted(interactions.terms, key=len):
            for features in [term, *(combinations(term, 2) if len(term) == 3 else ())]:
                if features not in found:
                    axes = [term.index(d) for d in features]
                    others = tuple(j for j in range(len(term)) if j not in axes)
                    cells = [interactions.features[term][j].cells for j in axes]
                    weights = self.cell_weights[term].sum(axis=others)
                    surface = surfaces[features]
                    found[features] = spread_weights(surface, cells, weights, self.measure.is_step)
        return tuple(found[surface.features] for surface in model.surfaces)

    @cached_property
    def cell_weights(self) -> dict[Term, np.ndarray]:
        """The weight of the training rows in the cells of each interaction."""
        interactions, table = self.terms.interactions, self.cell_sums
        return {term: interactions.term_sums(term, table) for term in interactions.terms}

    @cached_property
    def cell_sums(self) -> np.ndarray:
        """The weight of the rows by entry of the tables of interactions."""
        codes, weight = self.packing.codes, self.sample_weight
        if weight is None:
            weight = np.ones(codes.n_rows)
        sums = np.empty(codes.n_entries)
        rowloops.scatter(codes, weight, 0, codes.n_rows, sums)
        return sums[codes.starts[-1] :]

    def split_by_feature(self, flat: np.ndarray) -> list[np.ndarray]:
        """Split a flat array with one entry per bin into one array per feature."""
        return np.split(flat, self.terms.chains.starts[1:-1])

    def curve(self, d: int, table: np.ndarray) -> Shape:
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
        root = self.terms.chains.starts[d]
        per_mass = self.terms.chains.jumps[root] * weights[root] / masses.outside
        ends = curve.values[0] - per_mass * masses.left, curve.values[-1] - per_mass * masses.right
        keep = np.array([masses.left > 0, *[True] * len(curve.knots), masses.right > 0])
        knots = np.concatenate([[column.low], curve.knots, [column.high]])
        values = np.concatenate([ends[:1], curve.values, ends[1:]])[keep]
        return Shape(knots[keep], values, curve.missing)


def _curve_terms(
    columns: Columns, measure: Measure, *, centered: bool
) -> tuple[tuple[Masses, ...], Terms]:
    """Return the masses of the stumps of each feature, and the terms of all curves."""
    masses = tuple(finite_masses(measure, column, d) for d, column in enumerate(columns.columns))
    return masses, Terms(Chains.from_columns(columns.columns, masses, centered=centered))
