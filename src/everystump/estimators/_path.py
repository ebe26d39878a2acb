"""The C path: all folds and values of C on shared columns, each solved from its neighbor."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning

from everystump._core.design import Design
from everystump._core.progress import progress_counter
from everystump._core.solvers import Solution
from everystump._core.threads import count_threads, one_blas_thread, thread_map
from everystump._selection.folds import Fold, make_folds
from everystump._selection.grid import Grid, choose
from everystump._selection.scorers import Candidate, Score, make_score
from everystump._sklearn_compat import Interval, one_of, param_names
from everystump._tables import Feature
from everystump._tables.validation import TrainingTable
from everystump.bounds._reading import LOO_THEOREM, bound_left_out_error
from everystump.estimators._base import (
    BaseStumpEnsemble,
    FixedCEnsemble,
    warn_if_not_converged,
)
from everystump.estimators._training import one_by_one

# Choosing C needs less accuracy than the model that is kept, but this much at least.
_ROUGHEST = 0.02
_CODES_WORTH_SHARING = 500_000


@dataclass
class _Walk:
    """One fold: what scores its models, and what was found for each C so far."""

    fold: Fold
    score: Score
    solutions: dict[float, list[Solution]] = field(default_factory=dict)
    gaps: dict[float, float] = field(default_factory=dict)
    scores: dict[float, float] = field(default_factory=dict)
    fit_times: dict[float, float] = field(default_factory=dict)
    score_times: dict[float, float] = field(default_factory=dict)


class CPathEnsemble(BaseStumpEnsemble):
    """A `BaseStumpEnsemble` whose C is chosen by cross-validation along a path."""

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

    def __init__(
        self,
        Cs: Any = 11,
        *,
        cv: Any = 5,
        scoring: Any = None,
        selection: str = "cv",
        measure: Any = "mixed",
        max_bins: int = 256,
        categorical_features: Any = "from_dtype",
        fit_intercept: bool = True,
        feature_range: Any = None,
        monotonic_cst: Any = None,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            measure=measure,
            max_bins=max_bins,
            categorical_features=categorical_features,
            fit_intercept=fit_intercept,
            feature_range=feature_range,
            monotonic_cst=monotonic_cst,
            class_weight=class_weight,
            tol=tol,
            max_iter=max_iter,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.selection = selection
        self.random_state = random_state

    def _at(self, C: float) -> FixedCEnsemble:
        """Return an unfitted estimator of the same kind for one C."""
        given = {**self.get_params(deep=False), "C": C, "n_jobs": 1, "verbose": 0}
        names = param_names(self._fixed_C_class)
        return self._fixed_C_class(**{name: given[name] for name in names})

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose C by cross-validation, then fit on all rows with it.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers and categories, values may be missing; a pandas or polars frame keeps its
            column names.
        y : array-like of shape (n_rows,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_rows,), optional
            Weights, used in fitting and in scoring.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validate_params()
        grid = Grid(self.Cs)
        with one_blas_thread:
            table, design = self._prepare(X, y, sample_weight)
            self._select(table, design, grid)
            self._store(table, design, self._solve(table, design, self.C_))
        warn_if_not_converged(self)
        return self

    def _fold_tol(self) -> float:
        if self.selection == "loo-bound":
            return self.tol
        return max(self.tol, min(self._loss_class().path_tolerance * self.tol, _ROUGHEST))

    def _select(self, table: TrainingTable, design: Design, grid: Grid) -> None:
        """Walk the path until the grid says that it is complete, then choose."""
        walks = self._walks(table)
        done: list[float] = []
        wanted = grid.first()
        while wanted:
            self._walk(table, design, walks, wanted)
            done = sorted([*done, *wanted])
            wanted = grid.after(np.array(done), _scores(done, walks))
        results = _results(done, walks)
        mean, std = results["mean_test_score"], results["std_test_score"]
        best = choose(mean, std, len(walks), self.selection)
        self._warn_of_folds(results)
        self.cv_results_ = results
        self.C_ = float(done[best])
        self.best_score_ = float(mean[best])

    def _walks(self, table: TrainingTable) -> list[_Walk]:
        """Return the folds, each with what scores a model on it."""
        if self.selection == "loo-bound":
            self._check_unconstrained()
            self.scoring_ = "1 - leave-one-out bound"
            every = np.arange(len(table.label))
            return [_Walk(Fold(every, every), _by_loo_bound(table))]
        scoring = self._default_scoring if self.scoring is None else self.scoring
        self.scoring_ = scoring if isinstance(scoring, str) else "score"
        folds = make_folds(self.cv, table, self.random_state, stacklevel=5)
        return [_Walk(fold, make_score(self, scoring, table, fold.test)) for fold in folds]

    def _warn_of_folds(self, results: dict[str, Any]) -> None:
        worst = float(np.max(results["max_gap"]))
        if worst > self._fold_tol():
            warnings.warn(
                f"{type(self).__name__}: some fits of the path stopped at max_iter={self.max_iter} "
                f"with relative duality gaps of up to {worst:.1e}, so that C may be chosen badly; "
                f"raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _walk(
        self, table: TrainingTable, design: Design, walks: list[_Walk], grid: Sequence[float]
    ) -> None:
        """Fit and score every fold for every C of ``grid``."""
        # Small problems are mostly Python, which threads only take from each other.
        few = design.packing.codes.size < _CODES_WORTH_SHARING
        n_threads = 1 if few else count_threads(self.n_jobs)
        title = f"{type(self).__name__}: fits"
        with progress_counter(self.verbose, title, len(walks) * len(grid)) as tick:

            def work(walk: _Walk) -> None:
                for C in grid:
                    self._visit(table, design, walk, C)
                    tick()

            thread_map(work, walks, n_threads)

    def _visit(self, table: TrainingTable, design: Design, walk: _Walk, C: float) -> None:
        """Fit and score one fold for one C, starting from the nearest C already there."""
        start = time.perf_counter()
        nearest = min(walk.solutions, key=lambda c: abs(np.log(c / C)), default=None)
        solutions = self._solve(
            table,
            design,
            C,
            tol=self._fold_tol(),
            index=walk.fold.train,
            starts=None if nearest is None else walk.solutions[nearest],
            n_threads=1,
            verbose=0,
        )
        fitted = time.perf_counter()
        walk.scores[C] = walk.score(self._candidate(table, design, C, solutions))
        walk.gaps[C] = max(solution.certificate.gap for solution in solutions)
        # The path goes on from its ends only; what lies between need not be kept.
        walk.solutions[C] = solutions
        ends = min(walk.solutions), max(walk.solutions)
        walk.solutions = {end: walk.solutions[end] for end in ends}
        walk.fit_times[C] = fitted - start
        walk.score_times[C] = time.perf_counter() - fitted

    def _candidate(
        self, table: TrainingTable, design: Design, C: float, solutions: list[Solution]
    ) -> Candidate:
        """Return a model of the path as scorers see it."""
        alike = self._at(C)

        def scores(index: np.ndarray) -> np.ndarray:
            columns = [design.scores(one, index) for one in solutions]
            return columns[0] if len(columns) == 1 else np.column_stack(columns)

        def model() -> BaseStumpEnsemble:
            alike._store(table, design, solutions)
            alike.n_features_in_ = self.n_features_in_
            alike.feature_info_ = (Feature(),) * self.n_features_in_  # its rows are numbers by now
            return alike

        return Candidate(scores, model)


def _by_loo_bound(table: TrainingTable) -> Score:
    """Return the function that scores a model by one minus its leave-one-out bound."""
    signs = table.signs()

    def score(candidate: Candidate) -> float:
        problems = one_by_one(candidate.model().kernel_machines(lambda: table.X, signs))
        return 1.0 - bound_left_out_error(problems, LOO_THEOREM, table.sample_weight).value

    return score


def _scores(Cs: list[float], walks: list[_Walk]) -> np.ndarray:
    """Return the score of each fold (rows) at each C (columns)."""
    scores = np.array([[walk.scores[C] for C in Cs] for walk in walks])
    if not np.all(np.isfinite(scores)):
        k = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0])
        raise ValueError(
            f"scoring gave {scores[k][~np.isfinite(scores[k])][0]} on fold {k}; use another "
            f"scorer, or larger folds if it cannot be computed on so few rows."
        )
    return scores


def _results(Cs: list[float], walks: list[_Walk]) -> dict[str, Any]:
    """Return the table of all scores, in the form of GridSearchCV's."""
    scores = _scores(Cs, walks)
    fit_times = np.array([[walk.fit_times[C] for C in Cs] for walk in walks])
    score_times = np.array([[walk.score_times[C] for C in Cs] for walk in walks])
    gaps = [[walk.gaps[C] for C in Cs] for walk in walks]
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
        "n_splits": len(walks),
    }
