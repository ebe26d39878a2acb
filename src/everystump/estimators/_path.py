"""Cross-validation along paths of C and of the strength of interactions.

Bins are shared, and each fit starts from the solution of the previous value.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from everystump._core.design import Design
from everystump._core.measures import Measure
from everystump._core.progress import progress_counter
from everystump._core.solvers.problem import Solution
from everystump._core.term_sizes import adaptive_weights
from everystump._core.threads import count_threads, thread_map
from everystump._core.weighted_measure import Weighted
from everystump._selection.folds import Fold
from everystump._selection.grid import (
    PathGrid,
    cost_grid,
    exceeds_error,
    next_cost_grid,
    refined_cost_grid,
    select_best,
    strength_grid,
)
from everystump._selection.scorers import Candidate, Metric, Score
from everystump._sklearn_compat import Interval, one_of, param_names
from everystump._tables.frames import Feature
from everystump._tables.training_table import TrainingTable
from everystump._warnings import warn_user
from everystump.estimators._fold_path import Fit, FoldDesign, FoldPath, cv_results, path_scores
from everystump.estimators._interactions import (
    SCREENING_STRENGTH,
    AdditiveFit,
    InteractionChoice,
)
from everystump.estimators._stump_ensemble import BaseStumpEnsemble, FixedCEnsemble

# Largest tolerance of fits that only select C; they may be less accurate than the final one.
_MAX_FOLD_TOL = 0.02
# With more samples, the strength of interactions is chosen on a single split.
_MAX_ROWS_OF_FOLDS, _HELD_OUT_FRACTION = 30_000, 0.2
# With fewer codes, a fit is mostly Python code, which threads cannot speed up.
_MIN_CODES_FOR_THREADS = 500_000


@dataclass(eq=False, repr=False)
class CPathEnsemble(BaseStumpEnsemble):
    """An infinite ensemble of stumps whose C is chosen along a path."""

    _fixed_C_class: ClassVar[type[FixedCEnsemble]]
    _C_is_fixed: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict] = {
        **BaseStumpEnsemble._parameter_constraints,
        "Cs": [Interval(Integral, 2, None, closed="left"), "array-like"],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "selection": [one_of("cv", "cv-1se")],
        "feature_weights": [one_of("auto", "equal", "adaptive")],
        "interaction_strength": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "random_state": ["random_state"],
    }

    Cs: Any = 11
    _: KW_ONLY
    cv: Any = 5
    scoring: Any = None
    selection: str = "cv"
    feature_weights: str = "equal"
    interactions: Any = "auto"
    interaction_strength: Any = None
    random_state: Any = 0

    def _fixed_c_estimator(self, C: float) -> FixedCEnsemble:
        """Return an unfitted estimator with the same parameters and a fixed C."""
        params = {**self.get_params(deep=False), "C": C, "n_jobs": 1, "verbose": 0}
        params["interaction_strength"] = SCREENING_STRENGTH
        names = param_names(self._fixed_C_class)
        return self._fixed_C_class(**{name: params[name] for name in names})

    def _fitted_cost(self) -> float:
        return self.C_

    def _validate_params(self) -> None:
        super()._validate_params()
        cost_grid(self.Cs)
        strength_grid(self.interaction_strength, 1.0)

    def _fit_design(self, table: TrainingTable, design: Design) -> None:
        choice = self._interaction_choice(len(table.problems()))
        if self.selection == "loo-bound" and choice.requested == "auto":
            choice = replace(choice, requested=0)  # a bound chooses none by itself
        design, folds = self._select_weights(table, design, has_interactions=not choice.is_none)
        starts = None
        if not choice.is_none:
            design, starts = self._select_interactions(table, design, choice, folds)
        self._store(table, *self._solve_and_prune(table, design, self.C_, choice, starts))

    def _fold_tol(self) -> float:
        if self.selection == "loo-bound":
            return self.tol
        return max(self.tol, min(self._loss_family().path_tolerance * self.tol, _MAX_FOLD_TOL))

    def _select_weights(
        self, table: TrainingTable, design: Design, *, has_interactions: bool
    ) -> tuple[Design, list[FoldDesign]]:
        """Choose C, then weights of the features and C with them, unless weights are equal.

        Return the design, and the folds that choose the strength of interactions.  As a fold must
        not know its held-out samples, its weights are those of its own training samples.
        """
        folds = [FoldDesign(fold, design) for fold in self._folds(table)]
        scores = self._select_cost(table, folds, cost_grid(self.Cs))
        others = self._strength_folds(table, folds, design) if has_interactions else folds
        self.feature_weights_ = np.ones(len(design.masses))
        if self.feature_weights == "equal":
            return design, others
        C, n_threads = self.C_, self._path_threads(design)
        equal = self.C_, self.best_score_, self.cv_results_

        def reweight(own: FoldDesign) -> FoldDesign:
            weights = self._adaptive_weights(table, design, C, own.fold.train)
            return own._replace(design=design.with_measure(Weighted(design.measure, weights)))

        folds, same = thread_map(reweight, folds, n_threads), others is folds
        gains = self._select_cost(table, folds, next_cost_grid(self.Cs, C)) - scores
        if self.feature_weights == "auto" and not exceeds_error(gains):
            self.C_, self.best_score_, self.cv_results_ = equal
            return design, others
        self.feature_weights_ = self._adaptive_weights(table, design, C)
        weighted = design.with_measure(Weighted(design.measure, self.feature_weights_))
        return weighted, folds if same else [reweight(own) for own in others]

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

    def _select_cost(
        self, table: TrainingTable, folds: list[FoldDesign], grid: PathGrid
    ) -> np.ndarray:
        """Fit and score the values of the grid until it is complete; choose C.

        Return the scores of the chosen C by fold.
        """
        paths = self._paths(table, folds)

        def fit(path: FoldPath, C: float) -> None:
            self._fit_and_score(table, path, C, path.design, C)

        Cs = self._run_path(paths, grid, fit, "C")
        self.cv_results_ = cv_results("C", Cs, paths)
        self.C_, self.best_score_ = self._best(self.cv_results_, "C")
        return path_scores([self.C_], paths)[:, 0]

    def _select_interactions(
        self,
        table: TrainingTable,
        design: Design,
        choice: InteractionChoice,
        folds: list[FoldDesign],
    ) -> tuple[Design, list[Solution] | None]:
        """Choose the strength of the interactions; return the design with them and a start."""
        additive: list[Solution] = []
        if choice.needs_screening(design):
            additive = self._solve_additive(table, design)
        extended = self._add_interactions(choice, self._additive_fit(table, design, additive))
        if not extended.terms.interactions.terms:
            return design, None
        strength = self.interaction_strength
        if not isinstance(strength, Real):
            strength = self._select_strength(table, design, extended, choice, folds)
            if strength == 0.0:
                return design, None
        extended = extended.with_strength(float(strength))
        starts = [extended.warm_start(solution, design) for solution in additive]
        return extended, starts or None

    def _additive_solutions(self, table: TrainingTable, design: Design) -> list[Solution]:
        folds = [FoldDesign(fold, design) for fold in self._folds(table)]
        self._select_cost(table, folds, cost_grid(self.Cs))
        return self._solve_additive(table, design)

    def _solve_additive(self, table: TrainingTable, design: Design) -> list[Solution]:
        """Return solutions without interactions for the chosen C."""
        return self._solve(table, design, self.C_, tol=self._fold_tol(), verbose=0)

    def _add_interactions(self, choice: InteractionChoice, fit: AdditiveFit) -> Design:
        """Return the design with the interactions chosen at additive solutions."""
        strength = self.interaction_strength
        return choice.extend(
            fit, float(strength) if isinstance(strength, Real) else SCREENING_STRENGTH
        )

    def _select_strength(
        self,
        table: TrainingTable,
        design: Design,
        extended: Design,
        choice: InteractionChoice,
        folds: list[FoldDesign],
    ) -> float:
        """Return the best strength of the interactions, 0 if the additive model is about as good.

        Where interactions are chosen by their decrements, each fold chooses its own: a choice that
        had seen the held-out samples would make interactions look better than they are.
        """
        paths = self._paths(table, folds)
        n_threads = self._strength_threads(paths)

        def fit_additive(path: FoldPath) -> None:
            own = path.design
            path.fits[0.0], additive = self._fit_fold(table, path, None, own, self.C_, n_threads)
            path.first_start = own, additive
            path.design = extended
            if own is not design or choice.needs_screening(design):
                fit = self._additive_fit(table, own, additive, n_threads)
                path.design = self._add_interactions(choice, fit)

        def fit(path: FoldPath, strength: float) -> None:
            own = path.design.with_strength(strength)
            self._fit_and_score(table, path, strength, own, self.C_, n_threads)

        thread_map(fit_additive, paths, self._path_threads(design))
        grid = strength_grid(self.interaction_strength, self.C_)
        strengths = self._run_path(paths, grid, fit, "the strength of interactions")
        self.interaction_cv_results_ = cv_results("interaction_strength", [0.0, *strengths], paths)
        best, self.best_score_ = self._best(self.interaction_cv_results_, "interaction_strength")
        if best == 0.0:
            return best
        if not exceeds_error(path_scores([best], paths) - path_scores([0.0], paths)):
            self.best_score_ = float(path_scores([0.0], paths).mean())
            self.interaction_cv_results_["chosen"] = 0.0
            return 0.0
        return self._refine_cost(table, paths, best) if self._refines_cost else best

    @property
    def _refines_cost(self) -> bool:
        """Whether C is chosen once more with interactions: if C and their strength are free."""
        is_free = isinstance(self.Cs, Integral) and self.interaction_strength is None
        return is_free and self.selection == "cv"

    def _refine_cost(self, table: TrainingTable, paths: list[FoldPath], strength: float) -> float:
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
        results = cv_results("C", Cs, refined)
        strengths = product / results["param_C"]
        results["param_interaction_strength"] = strengths
        for params, own in zip(results["params"], strengths.tolist(), strict=True):
            params["interaction_strength"] = own
        self.refined_cv_results_ = results
        self.C_, self.best_score_ = self._best(self.refined_cv_results_, "C")
        return product / self.C_

    def _strength_threads(self, paths: list[FoldPath]) -> int:
        """Return the threads of a fit on a path: all if there is one fold, else one per fold."""
        return count_threads(self.n_jobs) if len(paths) == 1 else 1

    def _paths(self, table: TrainingTable, folds: list[FoldDesign]) -> list[FoldPath]:
        return [FoldPath(fold, self._score(table, fold), design) for fold, design in folds]

    def _strength_folds(
        self, table: TrainingTable, folds: list[FoldDesign], design: Design
    ) -> list[FoldDesign]:
        """Return the folds that choose a strength: of many samples a single split."""
        is_number = self.cv is None or isinstance(self.cv, Integral)
        if self.selection == "loo-bound" or not is_number or table.n_rows <= _MAX_ROWS_OF_FOLDS:
            return folds
        fold = self._hold_out(table, _HELD_OUT_FRACTION, self.random_state)
        return [FoldDesign(fold, design)]

    def _run_path(
        self,
        paths: list[FoldPath],
        grid: PathGrid,
        fit: Callable[[FoldPath, float], None],
        name: str,
    ) -> list[float]:
        """Fit and score the values of the grid until it is complete; return them, ascending."""
        done = grid.known()
        remaining = grid.first()
        n_threads = self._path_threads(paths[0].design)
        title = f"{type(self).__name__}: fits"
        while remaining:
            with progress_counter(self.verbose, title, len(paths) * len(remaining)) as tick:

                def fit_path(path: FoldPath, values: list[float] = remaining) -> None:
                    for value in values:
                        fit(path, value)
                        tick()

                thread_map(fit_path, paths, n_threads)
            done = sorted([*done, *remaining])
            remaining = grid.next(np.array(done), path_scores(done, paths))
        self._warn_if_folds_not_converged(paths, name)
        return done

    def _path_threads(self, design: Design) -> int:
        codes = design.packing.codes
        is_small = codes.n_rows * codes.n_lookups < _MIN_CODES_FOR_THREADS
        return 1 if is_small else count_threads(self.n_jobs)

    def _best(self, results: dict[str, Any], name: str) -> tuple[float, float]:
        """Return the selected value of a parameter and its score; add the value to the results."""
        mean, std = results["mean_test_score"], results["std_test_score"]
        best = select_best(mean, std, results["n_splits"], self.selection)
        results["chosen"] = float(results[f"param_{name}"][best])
        return results["chosen"], float(mean[best])

    def _folds(self, table: Any) -> list[Fold]:
        """Return the folds of the paths."""
        return self._make_folds(table, self.cv, self.random_state)

    def _default_scorer(self) -> str | Metric:
        """Return the scorer that is used if the user passes none."""
        raise NotImplementedError

    def _score(self, table: Any, fold: Fold) -> Score:
        """Return the scorer of a fold."""
        scoring = self._default_scorer() if self.scoring is None else self.scoring
        if isinstance(scoring, Metric):
            self.scoring_ = scoring.name
        else:
            self.scoring_ = scoring if isinstance(scoring, str) else "score"
        return self._make_score(table, scoring, fold.test)

    def _warn_if_folds_not_converged(self, paths: list[FoldPath], name: str) -> None:
        worst = max(fit.gap for path in paths for fit in path.fits.values())
        if worst > self._fold_tol():
            warn_user(
                f"{type(self).__name__}: some fits of the path stopped at max_iter={self.max_iter} "
                f"with relative duality gaps of up to {worst:.1e}, which may affect the choice of "
                f"{name}; raise max_iter or tol.",
                ConvergenceWarning,
            )

    def _fit_and_score(
        self,
        table: TrainingTable,
        path: FoldPath,
        value: float,
        design: Design,
        C: float,
        n_threads: int = 1,
    ) -> None:
        """Fit and score one fold for one value of the parameter."""
        starts = path.starts(value, design)
        fit, solutions = self._fit_fold(table, path, starts, design, C, n_threads)
        path.add(value, fit, (design, solutions))

    def _fit_fold(
        self,
        table: TrainingTable,
        path: FoldPath,
        starts: list[Solution] | None,
        design: Design,
        C: float,
        n_threads: int,
    ) -> tuple[Fit, list[Solution]]:
        """Fit one fold; return the results and the solutions."""
        start = time.perf_counter()
        solutions = self._solve(
            table,
            design,
            C,
            tol=self._fold_tol(),
            index=path.fold.train,
            starts=starts,
            n_threads=n_threads,
            verbose=0,
        )
        fitted = time.perf_counter()
        score = path.score(self._candidate(table, design, C, solutions))
        certificates = [solution.certificate for solution in solutions]
        # More steps would not change what rounding hides, such as all of an optimum of 0.
        gap = max(max(own.gap - own.rounding, 0.0) for own in certificates)
        return Fit(score, gap, fitted - start, time.perf_counter() - fitted), solutions

    def _candidate(
        self, table: TrainingTable, design: Design, C: float, solutions: list[Solution]
    ) -> Candidate:
        """Return a fitted model of the path for a scorer."""

        def scores(index: np.ndarray) -> np.ndarray:
            columns = [design.scores(solution, index) for solution in solutions]
            return columns[0] if len(columns) == 1 else np.column_stack(columns)

        def model() -> BaseStumpEnsemble:
            fitted = self._fixed_c_estimator(C)
            fitted._store(table, design, solutions)
            fitted.n_features_in_ = self.n_features_in_
            # The validated samples that the scorer gets are numbers.
            fitted.feature_info_ = (Feature(),) * self.n_features_in_
            return fitted

        return Candidate(scores, model)
