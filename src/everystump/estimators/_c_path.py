"""Choosing C, and weights of the features, along paths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from everystump._core.design import Design
from everystump._core.measures import Measure
from everystump._core.solvers.problem import Solution
from everystump._core.term_sizes import adaptive_weights
from everystump._core.threads import thread_map
from everystump._core.weighted_measure import Weighted
from everystump._selection.grid import PathGrid, cost_grid, is_relevant, next_cost_grid
from everystump._tables.training_table import TrainingTable
from everystump.estimators._fold_path import (
    FoldDesign,
    FoldPath,
    cv_results,
    path_fits,
    path_scores,
)
from everystump.estimators._interaction_path import InteractionPathEnsemble


class _ChosenC(NamedTuple):
    """A C chosen along a path, its mean score, its scores by fold, and the results of the path."""

    C: float
    mean_score: float
    scores: np.ndarray
    results: dict[str, Any]


@dataclass(eq=False, repr=False)
class CPathEnsemble(InteractionPathEnsemble):
    """An infinite ensemble of stumps whose C is chosen along a path."""

    def _fit_design(self, table: TrainingTable, design: Design) -> None:
        choice = self._interaction_choice(len(table.problems()))
        if self.selection == "loo-bound" and choice.requested == "auto":
            choice = replace(choice, requested=0)  # a bound chooses none by itself
        design, folds = self._select_weights(table, design, has_interactions=not choice.is_none)
        starts = None
        if not choice.is_none:
            design, starts = self._select_interactions(table, design, choice, folds)
        self._store(table, *self._solve_and_prune(table, design, self.C_, choice, starts))

    def _has_equal_weights(self, table: TrainingTable) -> bool:
        """Whether no other weights are tried.

        With many samples, weights hardly matter; a bound does not choose between kernels that
        depend on the labels.
        """
        if self.feature_weights == "auto":
            return self._has_many_rows(table) or self.selection == "loo-bound"
        return self.feature_weights == "equal"

    def _select_weights(
        self, table: TrainingTable, design: Design, *, has_interactions: bool
    ) -> tuple[Design, list[FoldDesign]]:
        """Choose C, then weights of the features and C with them, unless weights are equal.

        Return the design, and the folds that choose the strength of interactions.  As a fold must
        not know the labels of its held-out samples, its weights are those of a fit to its own
        training samples.
        """
        folds = [FoldDesign(fold, design) for fold in self._folds(table)]
        equal = self._choose_cost(table, folds, cost_grid(self.Cs))
        self._store_cost(equal)
        others = self._strength_folds(table, folds, design) if has_interactions else folds
        self.feature_weights_ = np.ones(len(design.masses))
        if self._has_equal_weights(table):
            return design, others
        C, n_threads = equal.C, self._path_threads(design)

        def reweight(own: FoldDesign) -> FoldDesign:
            weights = self._adaptive_weights(table, design, C, own.fold.train)
            return own._replace(design=design.with_measure(Weighted(design.measure, weights)))

        reweighted = thread_map(reweight, folds, n_threads)
        adaptive = self._choose_cost(table, reweighted, next_cost_grid(self.Cs, C))
        self.weights_cv_results_ = adaptive.results
        gains = adaptive.scores - equal.scores
        if self.feature_weights == "auto" and not is_relevant(gains, equal.scores):
            return design, others
        self._store_cost(adaptive)
        self.feature_weights_ = self._adaptive_weights(table, design, C)
        weighted = design.with_measure(Weighted(design.measure, self.feature_weights_))
        return weighted, reweighted if others is folds else [reweight(own) for own in others]

    def _adaptive_weights(
        self, table: TrainingTable, design: Design, C: float, index: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the weights of features that follow from an additive fit with equal ones."""
        n_threads = None if index is None else 1
        solutions = self._solve(
            table, design, C, tol=self._fold_tol(), index=index, n_threads=n_threads, verbose=0
        )
        return adaptive_weights(design, solutions)

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
        return _ChosenC(C, mean_score, path_scores([C], paths)[:, 0], results)

    def _store_cost(self, chosen: _ChosenC) -> None:
        self.C_, self.best_score_, self.cv_results_ = chosen.C, chosen.mean_score, chosen.results

    def _additive_solutions(self, table: TrainingTable, design: Design) -> list[Solution]:
        folds = [FoldDesign(fold, design) for fold in self._folds(table)]
        self._store_cost(self._choose_cost(table, folds, cost_grid(self.Cs)))
        return self._solve_roughly(table, design, self.C_)
