"""Cross-validation along a path of C, with shared bins and warm starts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning

from everystump._core.design import Design
from everystump._core.progress import progress_counter
from everystump._core.solvers.problem import Solution
from everystump._core.threads import count_threads, one_blas_thread, thread_map
from everystump._selection.folds import Fold, make_folds
from everystump._selection.grid import CGrid, select_best
from everystump._selection.scorers import Candidate, Score, make_score
from everystump._sklearn_compat import Interval, one_of, param_names
from everystump._tables.frames import Feature
from everystump._tables.training_table import TrainingTable
from everystump._warnings import warn_user
from everystump.bounds._leave_one_out_bounds import LOO_THEOREM, bound_left_out_error
from everystump.estimators._base import warn_if_not_converged
from everystump.estimators._bounds import single_machine_ensembles
from everystump.estimators._stump_ensemble import BaseStumpEnsemble, FixedCEnsemble

# Largest tolerance of fits that only select C; they may be less accurate than the final one.
_MAX_FOLD_TOL = 0.02
# With fewer codes, a fit is mostly Python code, which threads cannot speed up.
_MIN_CODES_FOR_THREADS = 500_000


@dataclass
class _FoldPath:
    """One fold, its scorer, and the results of each C."""

    fold: Fold
    score: Score
    solutions: dict[float, list[Solution]] = field(default_factory=dict)
    gaps: dict[float, float] = field(default_factory=dict)
    scores: dict[float, float] = field(default_factory=dict)
    fit_times: dict[float, float] = field(default_factory=dict)
    score_times: dict[float, float] = field(default_factory=dict)


@dataclass(eq=False, repr=False)
class CPathEnsemble(BaseStumpEnsemble):
    """An infinite ensemble of stumps whose C is chosen along a path."""

    _fixed_C_class: ClassVar[type[FixedCEnsemble]]
    _C_is_fixed: ClassVar[bool] = False
    _default_scoring: ClassVar[str] = "accuracy"

    _parameter_constraints: ClassVar[dict] = {
        **BaseStumpEnsemble._parameter_constraints,
        "Cs": [Interval(Integral, 2, None, closed="left"), "array-like"],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "selection": [one_of("cv", "cv-1se", "loo-bound")],
        "random_state": ["random_state"],
    }

    Cs: Any = 11
    _: KW_ONLY
    cv: Any = 5
    scoring: Any = None
    selection: str = "cv"
    random_state: Any = 0

    def _fixed_c_estimator(self, C: float) -> FixedCEnsemble:
        """Return an unfitted estimator with the same parameters and a fixed C."""
        params = {**self.get_params(deep=False), "C": C, "n_jobs": 1, "verbose": 0}
        names = param_names(self._fixed_C_class)
        return self._fixed_C_class(**{name: params[name] for name in names})

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        grid = CGrid(self.Cs)
        with one_blas_thread:
            table, design = self._prepare(X, y, sample_weight)
            self._select(table, design, grid)
            self._store(table, design, self._solve(table, design, self.C_))
        warn_if_not_converged(self)

    def _fold_tol(self) -> float:
        if self.selection == "loo-bound":
            return self.tol
        return max(self.tol, min(self._loss_class().path_tolerance * self.tol, _MAX_FOLD_TOL))

    def _select(self, table: TrainingTable, design: Design, grid: CGrid) -> None:
        """Fit and score the values of the grid until it is complete, then choose C."""
        paths = self._fold_paths(table)
        done: list[float] = []
        remaining = grid.first()
        while remaining:
            self._fit_folds(table, design, paths, remaining)
            done = sorted([*done, *remaining])
            remaining = grid.next(np.array(done), _scores(done, paths))
        results = _cv_results(done, paths)
        mean, std = results["mean_test_score"], results["std_test_score"]
        best = select_best(mean, std, len(paths), self.selection)
        self._warn_if_folds_not_converged(results)
        self.cv_results_ = results
        self.C_ = float(done[best])
        self.best_score_ = float(mean[best])

    def _fold_paths(self, table: TrainingTable) -> list[_FoldPath]:
        """Return the folds with their scorers."""
        if self.selection == "loo-bound":
            self._check_unconstrained()
            self.scoring_ = "1 - leave-one-out bound"
            all_rows = np.arange(len(table.label))
            return [_FoldPath(Fold(all_rows, all_rows), _loo_bound_score(table))]
        scoring = self._default_scoring if self.scoring is None else self.scoring
        self.scoring_ = scoring if isinstance(scoring, str) else "score"
        folds = make_folds(self.cv, table, self.random_state)
        return [_FoldPath(fold, make_score(self, scoring, table, fold.test)) for fold in folds]

    def _warn_if_folds_not_converged(self, results: dict[str, Any]) -> None:
        worst = float(np.max(results["max_gap"]))
        if worst > self._fold_tol():
            warn_user(
                f"{type(self).__name__}: some fits of the path stopped at max_iter={self.max_iter} "
                f"with relative duality gaps of up to {worst:.1e}, which may affect the choice of "
                f"C; raise max_iter or tol.",
                ConvergenceWarning,
            )

    def _fit_folds(
        self, table: TrainingTable, design: Design, paths: list[_FoldPath], Cs: Sequence[float]
    ) -> None:
        """Fit and score every fold for every C."""
        is_small = design.packing.codes.bins.size < _MIN_CODES_FOR_THREADS
        n_threads = 1 if is_small else count_threads(self.n_jobs)
        title = f"{type(self).__name__}: fits"
        with progress_counter(self.verbose, title, len(paths) * len(Cs)) as tick:

            def fit_path(path: _FoldPath) -> None:
                for C in Cs:
                    self._fit_and_score(table, design, path, C)
                    tick()

            thread_map(fit_path, paths, n_threads)

    def _fit_and_score(
        self, table: TrainingTable, design: Design, path: _FoldPath, C: float
    ) -> None:
        """Fit and score one fold for one C, starting from the solution of the nearest C."""
        start = time.perf_counter()
        nearest = min(path.solutions, key=lambda c: abs(np.log(c / C)), default=None)
        solutions = self._solve(
            table,
            design,
            C,
            tol=self._fold_tol(),
            index=path.fold.train,
            starts=None if nearest is None else path.solutions[nearest],
            n_threads=1,
            verbose=0,
        )
        fitted = time.perf_counter()
        path.scores[C] = path.score(self._candidate(table, design, C, solutions))
        path.gaps[C] = max(solution.certificate.gap for solution in solutions)
        # The path continues only from its ends, so solutions in between are dropped.
        path.solutions[C] = solutions
        ends = min(path.solutions), max(path.solutions)
        path.solutions = {end: path.solutions[end] for end in ends}
        path.fit_times[C] = fitted - start
        path.score_times[C] = time.perf_counter() - fitted

    def _candidate(
        self, table: TrainingTable, design: Design, C: float, solutions: list[Solution]
    ) -> Candidate:
        """Return a fitted model of the path for a scorer."""
        fitted = self._fixed_c_estimator(C)

        def scores(index: np.ndarray) -> np.ndarray:
            columns = [design.scores(solution, index) for solution in solutions]
            return columns[0] if len(columns) == 1 else np.column_stack(columns)

        def model() -> BaseStumpEnsemble:
            fitted._store(table, design, solutions)
            fitted.n_features_in_ = self.n_features_in_
            # The validated samples that the scorer gets are numbers.
            fitted.feature_info_ = (Feature(),) * self.n_features_in_
            return fitted

        return Candidate(scores, model)


def _loo_bound_score(table: TrainingTable) -> Score:
    """Return a function that scores a model by one minus its leave-one-out bound."""
    signs = table.signs()

    def score(candidate: Candidate) -> float:
        machines = candidate.model().kernel_machines(lambda: table.X, signs)
        ensembles = single_machine_ensembles(machines)
        return 1.0 - bound_left_out_error(ensembles, LOO_THEOREM, table.sample_weight).value

    return score


def _scores(Cs: list[float], paths: list[_FoldPath]) -> np.ndarray:
    """Return the scores, of shape (n_folds, n_Cs)."""
    scores = np.array([[path.scores[C] for C in Cs] for path in paths])
    if not np.all(np.isfinite(scores)):
        k = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0])
        raise ValueError(
            f"scoring returned {scores[k][~np.isfinite(scores[k])][0]} on fold {k}; use another "
            f"scorer, or larger folds if it is undefined for so few samples."
        )
    return scores


def _cv_results(Cs: list[float], paths: list[_FoldPath]) -> dict[str, Any]:
    """Return the results of all fits in the format of GridSearchCV."""
    scores = _scores(Cs, paths)
    fit_times = np.array([[path.fit_times[C] for C in Cs] for path in paths])
    score_times = np.array([[path.score_times[C] for C in Cs] for path in paths])
    gaps = [[path.gaps[C] for C in Cs] for path in paths]
    return {
        "param_C": np.array(Cs),
        "params": [{"C": C} for C in Cs],
        **{f"split{k}_test_score": row for k, row in enumerate(scores)},
        "mean_test_score": scores.mean(axis=0),
        "std_test_score": scores.std(axis=0),
        "rank_test_score": rankdata(-scores.mean(axis=0), method="min").astype(int),
        "mean_fit_time": fit_times.mean(axis=0),
        "std_fit_time": fit_times.std(axis=0),
        "mean_score_time": score_times.mean(axis=0),
        "std_score_time": score_times.std(axis=0),
        "max_gap": np.max(gaps, axis=0),
        "n_splits": len(paths),
    }
