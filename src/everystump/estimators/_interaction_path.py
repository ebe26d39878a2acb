"""Choosing the strength and the number of interactions along paths, given C."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from everystump._core.design import Design
from everystump._core.solvers.problem import Solution
from everystump._core.threads import count_threads, thread_map
from everystump._selection.grid import (
    PathGrid,
    cost_grid,
    exceeds_error,
    is_past_best,
    is_relevant,
    refined_cost_grid,
    strength_grid,
)
from everystump._tables.training_table import TrainingTable
from everystump.estimators._fold_path import (
    FoldDesign,
    FoldPath,
    Start,
    add_strengths,
    cv_results,
    path_fits,
    path_scores,
)
from everystump.estimators._interactions import SCREENING_STRENGTH, AdditiveFit, InteractionChoice
from everystump.estimators._path import PathEnsemble

# The fraction of many samples that is held out to choose the strength of interactions.
_HELD_OUT_FRACTION = 0.2


class _Search(NamedTuple):
    """What a choice of interactions begins with."""

    table: TrainingTable
    choice: InteractionChoice
    additive: Design
    extended: Design  # with the interactions of all samples
    folds: list[FoldDesign]


class _Selected(NamedTuple):
    """The strength that was chosen, 0 for no interactions, and how their number is halved."""

    strength: float
    plan: _HalvingPlan | None = None


class _HalvingPlan(NamedTuple):
    """How often the number of interactions is halved, and with which C and strength that begins.

    The strength doubles with each halving.
    """

    n_halvings: int
    C: float
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


@dataclass(eq=False, repr=False)
class InteractionPathEnsemble(PathEnsemble):
    """An infinite ensemble of stumps whose interactions are chosen along paths."""

    def _select_interactions(
        self,
        table: TrainingTable,
        design: Design,
        choice: InteractionChoice,
        folds: list[FoldDesign],
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
        search = _Search(table, choice, design, extended, folds)
        if isinstance(self.interaction_strength, Real):
            selected = _Selected(float(self.interaction_strength))
            if self.selection != "loo-bound":
                self._choose_cost_with(search, selected.strength)
        else:
            selected = self._select_strength(search)
        if selected.strength == 0.0:
            return design, None
        source, solutions = design, additive
        if selected.plan is not None:
            source, solutions = self._halve(table, choice, extended, selected.plan)
            extended = source
        extended = extended.with_strength(selected.strength)
        starts = [extended.warm_start(solution, source) for solution in solutions]
        return extended, starts or None

    def _solve_roughly(
        self,
        table: TrainingTable,
        design: Design,
        C: float,
        starts: list[Solution] | None = None,
    ) -> list[Solution]:
        """Return solutions of all samples that are as accurate as those of the folds."""
        return self._solve(table, design, C, tol=self._fold_tol(), starts=starts, verbose=0)

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
            return _Selected(0.0)
        additive = path_scores([0.0], paths)
        if not is_relevant(path_scores([best], paths) - additive, additive):
            self.best_score_ = float(additive.mean())
            self.interaction_cv_results_["chosen"] = 0.0
            return _Selected(0.0)
        return self._refine(search.table, search.choice, paths, best)

    def _extended_paths(self, search: _Search) -> list[FoldPath]:
        """Return the paths of folds with interactions, and with the results without any as 0.

        Where interactions are chosen by their decrements, each fold chooses its own: a choice that
        had seen the held-out samples would make interactions look better than they are.
        """
        table, choice, additive_design, extended, folds = search
        paths = self._paths(table, folds)
        n_threads = self._strength_threads(paths)

        def extend(path: FoldPath) -> None:
            own = path.design
            path.fits[0.0], additive = self._fit_fold(table, path, None, own, self.C_, n_threads)
            path.first_start = own, additive
            path.design = extended
            if own is not additive_design or choice.needs_screening(additive_design):
                fit = self._additive_fit(table, own, additive, n_threads)
                path.design = self._add_interactions(choice, fit)

        thread_map(extend, paths, self._path_threads(additive_design))
        return paths

    def _choose_cost_with(self, search: _Search, strength: float) -> None:
        """Choose C once more, with interactions of a given strength."""
        table, paths = search.table, self._extended_paths(search)
        n_threads = self._strength_threads(paths)

        def fit(path: FoldPath, C: float) -> None:
            own = path.design.with_strength(strength)
            self._fit_and_score(table, path, C, own, C, n_threads)

        Cs = self._run_path(paths, cost_grid(self.Cs), fit, "C")
        self._store_refined(Cs, paths, np.full(len(Cs), strength))

    def _store_refined(self, Cs: list[float], paths: list[FoldPath], strengths: np.ndarray) -> None:
        """Store the C that was chosen with interactions, and the results of its path."""
        results = cv_results("C", Cs, path_fits(Cs, paths))
        add_strengths(results, strengths)
        self.refined_cv_results_ = results
        C, self.best_score_ = self._best(results, "C")
        self.C_: float = C

    def _run_strengths(
        self, table: TrainingTable, paths: list[FoldPath], grid: PathGrid
    ) -> list[float]:
        """Fit and score strengths until the grid is complete; return them, ascending."""
        n_threads = self._strength_threads(paths)

        def fit(path: FoldPath, strength: float) -> None:
            own = path.design.with_strength(strength)
            self._fit_and_score(table, path, strength, own, self.C_, n_threads)

        return self._run_path(paths, grid, fit, "the strength of interactions")

    def _refine(
        self,
        table: TrainingTable,
        choice: InteractionChoice,
        paths: list[FoldPath],
        strength: float,
    ) -> _Selected:
        """Choose the number of interactions, then C once more, if they are free."""
        C, is_free = self.C_, isinstance(self.Cs, Integral) and self.interaction_strength is None
        if not is_free or self.selection != "cv":
            return _Selected(strength)
        if choice.requested != "auto" or len(paths) == 1:
            return _Selected(self._refine_cost(table, strength, paths))
        chosen, n_halvings = self._select_number(table, choice, _NumberStep(strength, paths))
        plan = _HalvingPlan(n_halvings, C, strength) if n_halvings > 0 else None
        return _Selected(self._refine_cost(table, chosen.strength, chosen.paths), plan)

    def _select_number(
        self, table: TrainingTable, choice: InteractionChoice, first: _NumberStep
    ) -> tuple[_NumberStep, int]:
        """Halve the number of interactions repeatedly; return the best, and how many halvings.

        Each fold keeps the interactions that are largest in its own solution.  All remain unless
        the best number gains more than one standard error.
        """
        steps, scores = [first], first.scores[:, None]
        while steps[-1].n_interactions > 1 and not is_past_best(scores):
            steps.append(self._halve_folds(table, choice, steps[-1]))
            scores = np.column_stack([scores, steps[-1].scores])
        halved = [path for step in steps[1:] for path in step.paths]
        self._warn_if_folds_not_converged(halved, "the number of interactions")
        best = int(np.argmax(scores.mean(axis=0)))
        if not exceeds_error(scores[:, best] - first.scores, n_errors=1.0):
            best = 0
        self.best_score_ = float(scores[:, best].mean())
        self.number_cv_results_ = _number_cv_results(steps)
        self.number_cv_results_["chosen"] = steps[best].n_interactions
        return steps[best], best

    def _halve_folds(
        self, table: TrainingTable, choice: InteractionChoice, last: _NumberStep
    ) -> _NumberStep:
        """Fit and score the folds with half of their interactions and twice the strength."""
        strength, n_threads = 2 * last.strength, self._strength_threads(last.paths)
        with self._count_fits(len(last.paths)) as tick:

            def halve(path: FoldPath) -> FoldPath:
                design, solutions = self._solve_fold(table, path, last.strength, n_threads)
                halved = choice.halve(design, solutions, n_threads)
                own = FoldPath(path.fold, path.score, halved, (design, solutions))
                self._fit_and_score(table, own, strength, halved, self.C_, n_threads)
                tick()
                return own

            threads = self._path_threads(last.paths[0].design)
            return _NumberStep(strength, thread_map(halve, last.paths, threads))

    def _solve_fold(
        self, table: TrainingTable, path: FoldPath, strength: float, n_threads: int
    ) -> Start:
        """Return the solutions of a fold for a strength, which were kept only for some."""
        start = path.start_at(strength)
        if start is not None:
            return start
        design = path.design.with_strength(strength)
        starts = path.starts(strength, design)
        return design, self._fit_fold(table, path, starts, design, self.C_, n_threads)[1]

    def _halve(
        self,
        table: TrainingTable,
        choice: InteractionChoice,
        design: Design,
        plan: _HalvingPlan,
    ) -> Start:
        """Halve the interactions of all samples as those of the folds; return the last solution."""
        design = design.with_strength(plan.strength)
        solutions = self._solve_roughly(table, design, plan.C)
        for _ in range(plan.n_halvings):
            halved = choice.halve(design, solutions, count_threads(self.n_jobs))
            starts = [halved.warm_start(solution, design) for solution in solutions]
            design = halved
            solutions = self._solve_roughly(table, design, plan.C, starts)
        return design, solutions

    def _refine_cost(self, table: TrainingTable, strength: float, paths: list[FoldPath]) -> float:
        """Choose C once more, with C times the strength fixed; return the new strength.

        Part of what curves have to explain without interactions is explained by these.
        """
        product = self.C_ * strength
        n_threads = self._strength_threads(paths)
        refined = [path.restart(strength, self.C_) for path in paths]

        def fit(path: FoldPath, C: float) -> None:
            own = path.design.with_strength(product / C)
            self._fit_and_score(table, path, C, own, C, n_threads)

        Cs = self._run_path(refined, refined_cost_grid(self.C_), fit, "C")
        self._store_refined(Cs, refined, product / np.array(Cs))
        return product / self.C_

    def _strength_threads(self, paths: list[FoldPath]) -> int:
        """Return the threads of a fit on a path: all if there is one fold, else one per fold."""
        return count_threads(self.n_jobs) if len(paths) == 1 else 1

    def _strength_folds(
        self, table: TrainingTable, folds: list[FoldDesign], design: Design
    ) -> list[FoldDesign]:
        """Return the folds that choose a strength: of many samples a single split."""
        is_number = self.cv is None or isinstance(self.cv, Integral)
        if self.selection == "loo-bound" or not is_number or not self._has_many_rows(table):
            return folds
        fold = self._hold_out(table, _HELD_OUT_FRACTION, self.random_state)
        return [FoldDesign(fold, design)]


def _number_cv_results(steps: list[_NumberStep]) -> dict[str, Any]:
    """Return the results of all numbers of interactions, ascending, as `cv_results` does."""
    steps = steps[::-1]
    fits = [[path.fits[step.strength] for path in step.paths] for step in steps]
    numbers = [step.n_interactions for step in steps]
    results = cv_results("n_interactions", numbers, list(zip(*fits, strict=True)))
    add_strengths(results, np.array([step.strength for step in steps]))
    return results
