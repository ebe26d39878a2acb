"""Choosing the strength and the number of interactions along paths, and C with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from everystump._core.design import Design
from everystump._core.measures import Measure, as_measure
from everystump._core.solvers.problem import Solution
from everystump._core.threads import count_threads, thread_map
from everystump._selection.grid import (
    MIN_PROMISING_GAIN,
    PathGrid,
    cost_grid,
    exceeds_error,
    is_past_best,
    is_relevant,
    refined_cost_grid,
    strength_grid,
)
from everystump._tables.training_table import TrainingTable
from everystump.estimators._c_path import CPathEnsemble
from everystump.estimators._fold_path import (
    FoldPath,
    Start,
    add_strengths,
    cv_results,
    path_fits,
    path_scores,
)
from everystump.estimators._interactions import SCREENING_STRENGTH, AdditiveFit, InteractionChoice


class _Search(NamedTuple):
    """What a choice of interactions begins with."""

    table: TrainingTable
    choice: InteractionChoice
    additive: Design
    extended: Design  # with the interactions of all samples
    paths: list[FoldPath]  # of C in the folds, without interactions


class _Selected(NamedTuple):
    """C, the strength of interactions, 0 for none, and how their number is halved.

    ``measure`` is another measure that is better with these interactions, if it was found.
    """

    C: float
    strength: float
    plan: _HalvingPlan | None = None
    measure: Measure | None = None


class _HalvingPlan(NamedTuple):
    """How often the number of interactions is halved, and with which strength that begins.

    The strength doubles with each halving; C remains that of the additive model.
    """

    n_halvings: int
    strength: float


class _NumberStep(NamedTuple):
    """The folds with the same number of interactions, and their strength."""

    strength: float
    paths: list[FoldPath]

    @property
    def n_interactions(self) -> int:
        """The number of interactions of a fold; the largest if folds differ."""
        return max(len(path.design.terms.interactions.terms) for path in self.paths)

    @property
    def scores(self) -> np.ndarray:
        """The scores by fold."""
        return path_scores([self.strength], self.paths)[:, 0]


class _ChosenNumber(NamedTuple):
    """The folds with the best number of interactions, and the results of all numbers, if any."""

    step: _NumberStep
    n_halvings: int = 0
    results: dict[str, Any] | None = None


@dataclass(eq=False, repr=False)
class InteractionPathEnsemble(CPathEnsemble):
    """An infinite ensemble of stumps whose interactions are chosen along paths, as is C."""

    def _fit_design(self, table: TrainingTable, design: Design) -> None:
        choice = self._interaction_choice(len(table.problems()))
        if choice.requested == "auto" and not self._selection.has_folds:
            choice = replace(choice, requested=0)  # a bound chooses none by itself
        design, paths = self._select_weights(table, design)
        starts = None
        if not choice.is_none:
            design, starts = self._select_interactions(table, design, choice, paths)
            choice = replace(choice, is_validated=True)
        self._store(table, *self._solve_and_prune(table, design, self.C_, choice, starts))

    def _select_interactions(
        self,
        table: TrainingTable,
        design: Design,
        choice: InteractionChoice,
        paths: list[FoldPath],
    ) -> tuple[Design, list[Solution] | None]:
        """Choose strength and number of the interactions, and C with them.

        Return the design with the interactions and a start.
        """
        additive: list[Solution] = []
        if choice.needs_screening(design):
            additive = self._solve_roughly(table, design, self.C_)
        extended = self._add_interactions(choice, self._additive_fit(table, design, additive))
        if not extended.terms.interactions.terms:
            return design, None
        selected = self._select(_Search(table, choice, design, extended, paths))
        if selected.strength == 0.0:
            return design, None
        source, solutions = design, additive
        if selected.plan is not None:
            source, solutions = self._halve(table, choice, extended, selected.plan)
            extended = source
        self.C_ = selected.C
        extended = extended.with_strength(selected.strength)
        if selected.measure is not None:  # whose weights have other units: there is no start
            n_threads = count_threads(self.n_jobs)
            return choice.exchange_measure(extended, selected.measure, n_threads), None
        starts = [extended.warm_start(solution, source) for solution in solutions]
        return extended, starts or None

    def _select(self, search: _Search) -> _Selected:
        """Choose what the user has not given."""
        if isinstance(self.interaction_strength, Real):
            return self._choose_cost_with(search, float(self.interaction_strength))
        return self._select_strength(search)

    def _add_interactions(self, choice: InteractionChoice, fit: AdditiveFit) -> Design:
        """Return the design with the interactions chosen at additive solutions."""
        strength = self.interaction_strength
        return choice.extend(
            fit, float(strength) if isinstance(strength, Real) else SCREENING_STRENGTH
        )

    def _select_strength(self, search: _Search) -> _Selected:
        """Choose the best strength of interactions, 0 if the additive model is about as good."""
        paths = self._extended_paths(search)
        grid = strength_grid(self.interaction_strength, self.C_)
        strengths = [0.0, *self._run_strengths(search.table, paths, grid)]
        fits = path_fits(strengths, paths)
        self.interaction_cv_results_ = cv_results("interaction_strength", strengths, fits)
        best, self.best_score_ = self._best(self.interaction_cv_results_, "interaction_strength")
        if best == 0.0:
            return _Selected(self.C_, 0.0)
        additive = path_scores([0.0], paths)[:, 0]
        number = self._select_number(search, _NumberStep(best, paths), additive)
        if not is_relevant(number.step.scores - additive, additive):
            self.best_score_ = float(additive.mean())
            self.interaction_cv_results_["chosen"] = 0.0
            return _Selected(self.C_, 0.0)
        if number.results is not None:
            self.number_cv_results_ = number.results
        step, measure = self._select_interaction_measure(search, number.step)
        self.best_score_ = float(step.scores.mean())
        plan = _HalvingPlan(number.n_halvings, best) if number.n_halvings > 0 else None
        selected = _Selected(self.C_, best)
        if self._refines_interactions():
            selected = self._refine_cost(search.table, step)
        return selected._replace(plan=plan, measure=measure)

    def _select_interaction_measure(
        self, search: _Search, step: _NumberStep
    ) -> tuple[_NumberStep, Measure | None]:
        """Return the folds with the other measure, and that, if it is better with interactions."""
        name = self._other_measure(search.additive)
        if name is None:
            return step, None
        measure, n_threads = as_measure(name), self._fold_threads(step.paths)

        def exchange(design: Design) -> Design:
            own = design.with_strength(step.strength)
            return search.choice.exchange_measure(own, measure, n_threads)

        results, paths = self._try_measure(
            search.table, step.paths, step.strength, self.C_, name, exchange
        )
        add_strengths(results, np.full(2, step.strength))
        self.interaction_measure_cv_results_ = results
        better = _NumberStep(step.strength, paths)
        return better, measure if self.measure_ == name else None

    def _refines_interactions(self) -> bool:
        """Whether parameters are chosen again, given interactions: if they are free."""
        is_free = isinstance(self.Cs, Integral) and self.interaction_strength is None
        return is_free and self._selection.refines

    def _extended_paths(self, search: _Search) -> list[FoldPath]:
        """Return the paths of folds with interactions, and with the results without any as 0.

        Where interactions are chosen by their decrements, each fold chooses its own: a choice that
        had seen the held-out samples would make interactions look better than they are.
        """
        table, choice, additive_design, extended, paths = search
        C, n_threads = self.C_, self._fold_threads(paths)

        def extend(path: FoldPath) -> FoldPath:
            if C not in path.fits:
                self._fit_and_score(table, path, C, path.design, C, n_threads)
            own, start = self._fold_solutions(table, path, C, path.design, C, n_threads)
            # Fits with interactions take more steps from there: this one must be as accurate.
            fit_alone, additive = self._fit_fold(table, path, start, own, C, n_threads)
            design = extended
            if own is not additive_design or choice.needs_screening(additive_design):
                fit = self._additive_fit(table, own, additive, n_threads)
                design = self._add_interactions(choice, fit)
            return FoldPath(path.fold, path.score, design, (own, additive), {0.0: fit_alone})

        return thread_map(extend, paths, self._path_threads(additive_design))

    def _choose_cost_with(self, search: _Search, strength: float) -> _Selected:
        """Choose C once more, with interactions of a given strength."""
        table, paths = search.table, self._extended_paths(search)
        n_threads = self._fold_threads(paths)
        for path in paths:
            path.fits.clear()  # from here on, they are those of values of C

        def fit(path: FoldPath, C: float) -> None:
            own = path.design.with_strength(strength)
            self._fit_and_score(table, path, C, own, C, n_threads)

        Cs = self._run_path(paths, cost_grid(self.Cs), fit, "C")
        C = self._best_refined(Cs, paths, np.full(len(Cs), strength))
        return _Selected(C, strength)

    def _best_refined(self, Cs: list[float], paths: list[FoldPath], strengths: np.ndarray) -> float:
        """Return the C that is best with interactions; store the results of its path."""
        results = cv_results("C", Cs, path_fits(Cs, paths))
        add_strengths(results, strengths)
        self.refined_cv_results_ = results
        C, self.best_score_ = self._best(results, "C")
        return C

    def _run_strengths(
        self, table: TrainingTable, paths: list[FoldPath], grid: PathGrid
    ) -> list[float]:
        """Fit and score strengths until the grid is complete; return them, ascending."""
        n_threads = self._fold_threads(paths)

        def fit(path: FoldPath, strength: float) -> None:
            own = path.design.with_strength(strength)
            self._fit_and_score(table, path, strength, own, self.C_, n_threads)

        return self._run_path(paths, grid, fit, "the strength of interactions")

    def _select_number(
        self, search: _Search, first: _NumberStep, additive: np.ndarray
    ) -> _ChosenNumber:
        """Halve the number of interactions repeatedly; return the best.

        Each fold keeps the interactions that are largest in its own solution.  All remain if they
        help and the best number does not gain more than one standard error over all, or if they are
        not even promising, given the scores of the additive model.
        """
        is_auto = search.choice.requested == "auto" and self._refines_interactions()
        is_single = len(first.paths) == 1
        gains = first.scores - additive
        if is_single or not (is_auto and is_relevant(gains, additive, MIN_PROMISING_GAIN)):
            return _ChosenNumber(first)
        steps, scores = [first], first.scores[:, None]
        while steps[-1].n_interactions > 1 and not is_past_best(scores):
            steps.append(self._halve_folds(search, steps[-1]))
            scores = np.column_stack([scores, steps[-1].scores])
        halved = [path for step in steps[1:] for path in step.paths]
        self._warn_if_folds_not_converged(halved, "the number of interactions")
        best = int(np.argmax(scores.mean(axis=0)))
        if is_relevant(gains, additive) and not exceeds_error(scores[:, best] - first.scores):
            best = 0
        results = _number_cv_results(steps)
        results["chosen"] = steps[best].n_interactions
        return _ChosenNumber(steps[best], best, results)

    def _halve_folds(self, search: _Search, last: _NumberStep) -> _NumberStep:
        """Fit and score the folds with half of their interactions and twice the strength."""
        table, strength = search.table, 2 * last.strength
        n_threads = self._fold_threads(last.paths)

        def halve(path: FoldPath) -> FoldPath:
            own = path.design.with_strength(last.strength)
            design, solutions = self._fold_solutions(
                table, path, last.strength, own, self.C_, n_threads
            )
            halved = search.choice.halve(design, solutions, n_threads)
            return FoldPath(path.fold, path.score, halved, (design, solutions))

        paths = self._refit_folds(table, last.paths, strength, self.C_, halve)
        return _NumberStep(strength, paths)

    def _halve(
        self,
        table: TrainingTable,
        choice: InteractionChoice,
        design: Design,
        plan: _HalvingPlan,
    ) -> Start:
        """Halve the interactions of all samples as those of the folds; return the last solution."""
        design = design.with_strength(plan.strength)
        solutions = self._solve_roughly(table, design, self.C_)
        for _ in range(plan.n_halvings):
            halved = choice.halve(design, solutions, count_threads(self.n_jobs))
            starts = [halved.warm_start(solution, design) for solution in solutions]
            design = halved
            solutions = self._solve_roughly(table, design, self.C_, starts=starts)
        return design, solutions

    def _refine_cost(self, table: TrainingTable, step: _NumberStep) -> _Selected:
        """Choose C once more, with C times the strength fixed.

        Part of what curves have to explain without interactions is explained by these.
        """
        strength, paths = step
        product = self.C_ * strength
        n_threads = self._fold_threads(paths)
        refined = [path.restart(strength, self.C_) for path in paths]

        def fit(path: FoldPath, C: float) -> None:
            own = path.design.with_strength(product / C)
            self._fit_and_score(table, path, C, own, C, n_threads)

        Cs = self._run_path(refined, refined_cost_grid(self.C_), fit, "C")
        C = self._best_refined(Cs, refined, product / np.array(Cs))
        return _Selected(C, product / C)


def _number_cv_results(steps: list[_NumberStep]) -> dict[str, Any]:
    """Return the results of all numbers of interactions, ascending, as `cv_results` does."""
    steps = steps[::-1]
    fits = [[path.fits[step.strength] for path in step.paths] for step in steps]
    numbers = [step.n_interactions for step in steps]
    results = cv_results("n_interactions", numbers, list(zip(*fits, strict=True)))
    add_strengths(results, np.array([step.strength for step in steps]))
    return results
