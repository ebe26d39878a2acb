"""Choosing C, and weights of the features, along paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from everystump._core.design import Design
from everystump._core.measures import Measure
from everystump._core.solvers.problem import Solution
from everystump._core.term_sizes import adaptive_weights
from everystump._core.threads import thread_map
from everystump._core.weighted_measure import Weighted
from everystump._selection.folds import Fold
from everystump._selection.grid import PathGrid, cost_grid, is_relevant
from everystump._tables.training_table import TrainingTable
from everystump.estimators._fold_path import (
    FoldDesign,
    FoldPath,
    cv_results,
    path_fits,
    path_scores,
)
from everystump.estimators._path import PathEnsemble


class _ChosenC(NamedTuple):
    """A C chosen along paths, its mean score, its scores by fold, and the results of the paths."""

    C: float
    mean_score: float
    scores: np.ndarray
    results: dict[str, Any]
    paths: list[FoldPath]


@dataclass(eq=False, repr=False)
class CPathEnsemble(PathEnsemble):
    """An infinite ensemble of stumps whose C and feature weights are chosen along paths."""

    def _has_equal_weights(self, table: TrainingTable) -> bool:
        """Whether no other weights are tried.

        With many samples, weights hardly matter; a bound does not choose between kernels that
        depend on the labels.
        """
        if self.feature_weights == "auto":
            return self._has_many_rows(table) or not self._selection.has_folds
        return self.feature_weights == "equal"

    def _select_weights(
        self, table: TrainingTable, design: Design, held_out: Fold | None
    ) -> tuple[Design, list[FoldDesign]]:
        """Choose C, then weights of the features and C with them, unless weights are equal.

        Return the design, and the folds with theirs, or ``held_out`` in place of these if it is not
        None.  As a fold must not know the labels of its held-out samples, its weights are those of
        a fit to its own training samples.
        """
        folds = [FoldDesign(fold, design) for fold in self._folds(table)]
        single = [] if held_out is None else [FoldDesign(held_out, design)]
        equal = self._choose_cost(table, folds, cost_grid(self.Cs))
        self._store_cost(equal)
        self.feature_weights_ = np.ones(len(design.masses))
        if self._has_equal_weights(table):
            return design, single or folds

        def reweight(path: FoldPath) -> FoldDesign:
            solutions = self._fold_solutions(table, path, equal.C, design, equal.C)[1]
            return FoldDesign(path.fold, _weighted(design, adaptive_weights(design, solutions)))

        reweighted = thread_map(reweight, equal.paths, self._path_threads(design))
        grid = self._selection.next_cost_grid(self.Cs, equal.C)
        adaptive = self._choose_cost(table, reweighted, grid)
        self.weights_cv_results_ = adaptive.results
        gains = adaptive.scores - equal.scores
        if self.feature_weights == "auto" and not is_relevant(gains, equal.scores):
            return design, single or folds
        self._store_cost(adaptive)
        solutions = self._solve_roughly(table, design, equal.C)
        self.feature_weights_ = adaptive_weights(design, solutions)
        if held_out is not None:
            solutions = self._solve_roughly(table, design, equal.C, index=held_out.train)
            weighted = _weighted(design, adaptive_weights(design, solutions))
            reweighted = [FoldDesign(held_out, weighted)]
        return _weighted(design, self.feature_weights_), reweighted

    def _solve_roughly(
        self, table: TrainingTable, design: Design, C: float, **options: Any
    ) -> list[Solution]:
        """Return solutions that are as accurate as those of the folds, by default of all samples.

        ``options`` are those of ``_solve``.
        """
        return self._solve(table, design, C, tol=self._fold_tol(), verbose=0, **options)

    def _fitted_measure(self) -> Measure:
        measure, weights = super()._fitted_measure(), getattr(self, "feature_weights_", None)
        return measure if weights is None else Weighted(measure, weights)

    def _choose_cost(
        self, table: TrainingTable, folds: list[FoldDesign], grid: PathGrid
    ) -> _ChosenC:
        """Fit and score the values of the grid until it is complete, then choose C."""
        paths = self._paths(table, folds)

        def fit(path: FoldPath, C: float) -> None:
            self._fit_and_score(table, path, C, path.design, C)

        Cs = self._run_path(paths, grid, fit, "C")
        results = cv_results("C", Cs, path_fits(Cs, paths))
        C, mean_score = self._best(results, "C")
        return _ChosenC(C, mean_score, path_scores([C], paths)[:, 0], results, paths)

    def _store_cost(self, chosen: _ChosenC) -> None:
        self.C_, self.best_score_, self.cv_results_ = chosen.C, chosen.mean_score, chosen.results

    def _additive_solutions(self, table: TrainingTable, design: Design) -> list[Solution]:
        folds = [FoldDesign(fold, design) for fold in self._folds(table)]
        self._store_cost(self._choose_cost(table, folds, cost_grid(self.Cs)))
        return self._solve_roughly(table, design, self.C_)


def _weighted(design: Design, weights: np.ndarray) -> Design:
    """Return the design with weights of the features."""
    return design.with_measure(Weighted(design.measure, weights))
