"""Choosing C, the measure, and weights of the features, along paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from everystump._core.design import Design
from everystump._core.measures import DEFAULT_MEASURE, Measure, as_measure
from everystump._core.solvers.problem import Solution
from everystump._core.term_sizes import adaptive_weights
from everystump._core.threads import thread_map
from everystump._core.weighted_measure import Weighted
from everystump._selection.grid import (
    MIN_MEASURE_GAIN,
    MIN_PROMISING_GAIN,
    PathGrid,
    cost_grid,
    is_relevant,
)
from everystump._tables.training_table import TrainingTable
from everystump.estimators._fold_path import (
    FoldDesign,
    FoldPath,
    cv_results,
    path_fits,
    path_scores,
)
from everystump.estimators._path import PathEnsemble

# What ``measure="auto"`` compares with the default measure, from which it starts.
_OTHER_MEASURE = "uniform"


class _ChosenC(NamedTuple):
    """A C chosen along paths, its scores by fold, and the results of the paths."""

    C: float
    scores: np.ndarray
    results: dict[str, Any]
    paths: list[FoldPath]


def compare_measures(
    names: Sequence[str], value: float, first: Sequence[FoldPath], tried: Sequence[FoldPath]
) -> dict[str, Any]:
    """Return the results of two measures at a value of their paths; "chosen" is the better one.

    The second measure may gain less than what would justify a more complex model.
    """
    scores, others = (path_scores([value], paths)[:, 0] for paths in (first, tried))
    fits = [[path.fits[value] for path in pair] for pair in zip(first, tried, strict=True)]
    is_better = is_relevant(others - scores, scores, MIN_PROMISING_GAIN, MIN_MEASURE_GAIN)
    return {**cv_results("measure", names, fits), "chosen": names[is_better]}


@dataclass(eq=False, repr=False)
class CPathEnsemble(PathEnsemble):
    """An infinite ensemble of stumps whose C, measure and weights are chosen along paths."""

    def _first_measure(self) -> Measure:
        return as_measure(self._first_choice)

    @property
    def _first_choice(self) -> Any:
        """The measure with which a fit begins, as it is stored."""
        return DEFAULT_MEASURE if self._chooses_measure else self.measure

    @property
    def _chosen_measure(self) -> Any:
        return getattr(self, "measure_", self.measure)

    def _fitted_measure(self) -> Measure:
        measure, weights = super()._fitted_measure(), getattr(self, "feature_weights_", None)
        return measure if weights is None else Weighted(measure, weights)

    def _other_measure(self, design: Design) -> str | None:
        """Return the measure to compare with that of the design; None if there is none.

        A bound compares none.  A cost that is smaller than the best one on purpose would favor the
        measure of the larger mass, whatever its shape.
        """
        if not (self._chooses_measure and self._selection.refines):
            return None
        name = _OTHER_MEASURE if self._chosen_measure == DEFAULT_MEASURE else DEFAULT_MEASURE
        other = design.measure.with_base(as_measure(name))
        return None if design.is_proportional_to(other) else name

    def _try_measure(
        self,
        table: TrainingTable,
        paths: list[FoldPath],
        value: float,
        C: float,
        name: str,
        exchange: Callable[[Design], Design],
    ) -> tuple[dict[str, Any], list[FoldPath]]:
        """Adopt another measure if it is better; return the results, and the better paths."""
        # Folds that share a design share that of the other measure.
        designs = {id(path.design): path.design for path in paths}
        others = {key: exchange(design) for key, design in designs.items()}

        def change(path: FoldPath) -> FoldPath:
            return FoldPath(path.fold, path.score, others[id(path.design)])

        tried = self._refit_folds(table, paths, value, C, change)
        self._warn_if_folds_not_converged(tried, "the measure")
        results = compare_measures((self._chosen_measure, name), value, paths, tried)
        self.measure_ = results["chosen"]
        return results, tried if self.measure_ == name else paths

    def _select_measure(
        self, table: TrainingTable, design: Design, first: _ChosenC
    ) -> tuple[Design, _ChosenC]:
        """Compare measures at the C of the first one; choose C again if the other one is better."""
        self.measure_ = self._first_choice
        name = self._other_measure(design)
        if name is None:
            return design, first
        measure = as_measure(name)
        self.measure_cv_results_, paths = self._try_measure(
            table, first.paths, first.C, first.C, name, lambda own: own.with_measure(measure)
        )
        if self.measure_ != name:
            return design, first
        grid = self._selection.next_cost_grid(self.Cs, first.C)
        return paths[0].design, self._choose_cost(table, paths, grid)

    def _has_equal_weights(self) -> bool:
        """Whether no other weights are tried: a bound does so only if the user asks for it."""
        is_bound = not self._selection.has_folds
        return self.feature_weights == "equal" or (self.feature_weights == "auto" and is_bound)

    def _select_weights(
        self, table: TrainingTable, design: Design
    ) -> tuple[Design, list[FoldPath]]:
        """Choose C and the measure, then weights and C with them, unless weights are equal.

        Return the design, and the paths of the folds that choose other parameters, of many samples
        a single one, which has no fits yet if only equal weights are tried.
        As a fold must not know the labels of its held-out samples, its weights are those of a fit
        to its own training samples.
        """
        folds = [FoldDesign(fold, design) for fold in self._folds(table)]
        equal = self._choose_cost(table, self._paths(table, folds), cost_grid(self.Cs))
        design, equal = self._select_measure(table, design, equal)
        self._store_cost(equal)
        self.feature_weights_ = np.ones(len(design.masses))
        C, split = equal.C, self._single_split(table)
        paths = equal.paths
        if split is not None:
            paths = self._paths(table, [FoldDesign(split, design)])
        if self._has_equal_weights():
            return design, paths
        if split is not None:
            equal = self._choose_cost(table, paths, cost_grid([C]))
        adaptive = self._choose_weighted_cost(table, design, equal)
        self.weights_cv_results_ = adaptive.results
        adaptive.results["equal_test_scores"] = equal.scores
        # On a single split, a C that was chosen on it would always gain something.
        C_compared = adaptive.C if split is None else C
        gains = path_scores([C_compared], adaptive.paths)[:, 0] - equal.scores
        if self.feature_weights == "auto" and not is_relevant(gains, equal.scores):
            return design, equal.paths
        self._store_cost(adaptive)
        solutions = self._solve_roughly(table, design, C)
        self.feature_weights_ = adaptive_weights(design, solutions)
        return _weighted(design, self.feature_weights_), adaptive.paths

    def _choose_weighted_cost(
        self, table: TrainingTable, design: Design, equal: _ChosenC
    ) -> _ChosenC:
        """Choose C with the weights of each fold, given the paths with equal ones."""
        C, n_threads = equal.C, self._fold_threads(equal.paths)

        def reweight(path: FoldPath) -> FoldDesign:
            solutions = self._fold_solutions(table, path, C, design, C, n_threads)[1]
            return FoldDesign(path.fold, _weighted(design, adaptive_weights(design, solutions)))

        reweighted = thread_map(reweight, equal.paths, self._path_threads(design))
        # A single split has no standard error.
        keeps_C = len(reweighted) == 1 and self._selection.prefers_small
        grid = cost_grid([C]) if keeps_C else self._selection.next_cost_grid(self.Cs, C)
        return self._choose_cost(table, self._paths(table, reweighted), grid)

    def _solve_roughly(
        self,
        table: TrainingTable,
        design: Design,
        C: float,
        starts: list[Solution] | None = None,
    ) -> list[Solution]:
        """Return solutions of all samples that are as accurate as those of the folds."""
        return self._solve(table, design, C, tol=self._fold_tol(), starts=starts, verbose=0)

    def _choose_cost(self, table: TrainingTable, paths: list[FoldPath], grid: PathGrid) -> _ChosenC:
        """Fit and score the values of the grid until it is complete, then choose C."""
        n_threads = self._fold_threads(paths)

        def fit(path: FoldPath, C: float) -> None:
            if C not in path.fits:
                self._fit_and_score(table, path, C, path.design, C, n_threads)

        Cs = self._run_path(paths, grid, fit, "C")
        results = cv_results("C", Cs, path_fits(Cs, paths))
        C = self._best(results, "C")[0]
        return _ChosenC(C, path_scores([C], paths)[:, 0], results, paths)

    def _store_cost(self, chosen: _ChosenC) -> None:
        self.C_, self.cv_results_ = chosen.C, chosen.results
        self.best_score_ = float(chosen.scores.mean())

    def _additive_solutions(self, table: TrainingTable, design: Design) -> list[Solution]:
        folds = [FoldDesign(fold, design) for fold in self._folds(table)]
        paths = self._paths(table, folds)
        self._store_cost(self._choose_cost(table, paths, cost_grid(self.Cs)))
        return self._solve_roughly(table, design, self.C_)


def _weighted(design: Design, weights: np.ndarray) -> Design:
    """Return the design with weights of the features."""
    return design.with_measure(Weighted(design.measure, weights))
