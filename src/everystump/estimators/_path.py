"""Cross-validation along a path of a parameter.

Bins are shared, and each fit starts from the solution of the previous value.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from everystump._core.design import Design
from everystump._core.measures import Measure
from everystump._core.progress import progress_counter
from everystump._core.solvers.problem import Solution
from everystump._core.threads import count_threads, thread_map
from everystump._selection.folds import Fold
from everystump._selection.grid import SELECTIONS, PathGrid, Selection, cost_grid, strength_grid
from everystump._selection.scorers import Candidate, Metric, Score
from everystump._sklearn_compat import Interval, one_of, param_names
from everystump._tables.frames import Feature
from everystump._tables.training_table import TrainingTable
from everystump._warnings import warn_user
from everystump.estimators._fold_path import Fit, FoldDesign, FoldPath, Start, path_scores
from everystump.estimators._interactions import SCREENING_STRENGTH
from everystump.estimators._stump_ensemble import (
    STRENGTH_INTERVAL,
    BaseStumpEnsemble,
    FixedCEnsemble,
)

# Largest tolerance of fits that only select parameters; the final one may be more accurate.
_MAX_FOLD_TOL = 0.02
# With more samples, and if `cv` is a number, weights of features, the strength of interactions and
# the measure with them are chosen on a single split, and the number of interactions not at all.
_MAX_ROWS_OF_FOLDS, _HELD_OUT_FRACTION = 30_000, 0.2
# With fewer codes, a fit is mostly Python code, which threads cannot speed up.
_MIN_CODES_FOR_THREADS = 500_000


@dataclass(eq=False, repr=False)
class PathEnsemble(BaseStumpEnsemble):
    """An infinite ensemble of stumps with parameters that are chosen along paths."""

    _fixed_C_class: ClassVar[type[FixedCEnsemble]]
    _C_is_fixed: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict] = {
        **BaseStumpEnsemble._parameter_constraints,
        "Cs": [Interval(Integral, 2, None, closed="left"), "array-like"],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "selection": [one_of("cv", "cv-1se")],
        "feature_weights": [one_of("auto", "equal", "adaptive")],
        "interaction_strength": [STRENGTH_INTERVAL, "array-like", None],
        "random_state": ["random_state"],
    }

    Cs: Any = 11
    _: KW_ONLY
    cv: Any = 5
    scoring: Any = None
    selection: str = "cv"
    measure: Any = "auto"
    feature_weights: str = "auto"
    interactions: Any = "auto"
    interaction_strength: Any = None
    random_state: Any = 0

    @property
    def _chooses_measure(self) -> bool:
        """Whether the measure is chosen by the fit."""
        return isinstance(self.measure, str) and self.measure == "auto"

    def _fixed_c_estimator(self, C: float, measure: Measure) -> FixedCEnsemble:
        """Return an unfitted estimator with the same parameters, a fixed C and a measure."""
        params = {**self.get_params(deep=False), "C": C, "n_jobs": 1, "verbose": 0}
        params |= {"measure": measure, "interaction_strength": SCREENING_STRENGTH}
        names = param_names(self._fixed_C_class)
        return self._fixed_C_class(**{name: params[name] for name in names})

    def _fitted_cost(self) -> float:
        return self.C_

    def _validate_params(self) -> None:
        super()._validate_params()
        cost_grid(self.Cs)
        strength_grid(self.interaction_strength, 1.0)

    @property
    def _selection(self) -> Selection:
        """The way to select parameters."""
        return SELECTIONS[self.selection]

    def _fold_tol(self) -> float:
        if not self._selection.has_folds:
            return self.tol
        return max(self.tol, min(self._loss_family().path_tolerance * self.tol, _MAX_FOLD_TOL))

    def _single_split(self, table: TrainingTable) -> Fold | None:
        """Return the single split of many samples, which chooses what follows the measure."""
        is_number = self.cv is None or isinstance(self.cv, Integral)
        if not (self._selection.has_folds and is_number and table.n_rows > _MAX_ROWS_OF_FOLDS):
            return None
        return self._hold_out(table, _HELD_OUT_FRACTION, self.random_state)

    def _paths(self, table: TrainingTable, folds: list[FoldDesign]) -> list[FoldPath]:
        return [FoldPath(fold, self._score(table, fold), design) for fold, design in folds]

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
        while remaining:
            with self._count_fits(len(paths) * len(remaining)) as tick:

                def fit_path(path: FoldPath, values: list[float] = remaining) -> None:
                    for value in values:
                        fit(path, value)
                        tick()

                thread_map(fit_path, paths, n_threads)
            done = sorted([*done, *remaining])
            remaining = grid.next(np.array(done), path_scores(done, paths))
        self._warn_if_folds_not_converged(paths, name)
        return done

    def _refit_folds(
        self,
        table: TrainingTable,
        paths: list[FoldPath],
        value: float,
        C: float,
        change: Callable[[FoldPath], FoldPath],
    ) -> list[FoldPath]:
        """Fit and score a single value of a parameter in changed folds; return their paths."""
        n_threads = self._fold_threads(paths)
        with self._count_fits(len(paths)) as tick:

            def refit(path: FoldPath) -> FoldPath:
                changed = change(path)
                self._fit_and_score(table, changed, value, changed.design, C, n_threads)
                tick()
                return changed

            return thread_map(refit, paths, self._path_threads(paths[0].design))

    def _count_fits(self, n_fits: int) -> AbstractContextManager[Callable[[], None]]:
        """Return a counter of fits that is shown if the user wants to see the progress."""
        return progress_counter(self.verbose, f"{type(self).__name__}: fits", n_fits)

    def _fold_threads(self, paths: list[FoldPath]) -> int:
        """Return the threads of a fit on a path: all if there is one fold, else one per fold."""
        return count_threads(self.n_jobs) if len(paths) == 1 else 1

    def _path_threads(self, design: Design) -> int:
        codes = design.packing.codes
        is_small = codes.n_rows * codes.n_lookups < _MIN_CODES_FOR_THREADS
        return 1 if is_small else count_threads(self.n_jobs)

    def _best(self, results: dict[str, Any], name: str) -> tuple[float, float]:
        """Return the selected value of a parameter and its score; add the value to the results."""
        mean, std = results["mean_test_score"], results["std_test_score"]
        best = self._selection.best(mean, std, results["n_splits"])
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
        worst = max((fit.gap for path in paths for fit in path.fits.values()), default=0.0)
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

    def _fold_solutions(
        self,
        table: TrainingTable,
        path: FoldPath,
        value: float,
        design: Design,
        C: float,
        n_threads: int = 1,
    ) -> Start:
        """Return the solutions of a fold for a value, which were kept only for some."""
        known = path.start_at(value)
        if known is not None:
            return known
        starts = path.starts(value, design)
        return design, self._fit_fold(table, path, starts, design, C, n_threads)[1]

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
            fitted = self._fixed_c_estimator(C, design.measure)
            fitted._store(table, design, solutions)
            fitted.n_features_in_ = self.n_features_in_
            # The validated samples that the scorer gets are numbers.
            fitted.feature_info_ = (Feature(),) * self.n_features_in_
            return fitted

        return Candidate(scores, model)
