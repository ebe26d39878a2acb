"""The C path: all folds and values of C on shared columns, each solved from its neighbour."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import signature
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils._param_validation import Interval, StrOptions

from everystump.arguments import as_numbers
from everystump.bounds.reading import LOO_THEOREM, count_doubtful
from everystump.estimators.base import FixedCMachine, StumpMachine, warn_unless_converged
from everystump.estimators.design import Design
from everystump.estimators.progress import count_done
from everystump.estimators.table import Table
from everystump.estimators.training import one_by_one
from everystump.frames import Feature
from everystump.solvers import Solution
from everystump.threads import count_threads, one_blas_thread, share

_LOWEST_LOG2, _HIGHEST_LOG2 = -9.0, 6.0
_MOST_LOG2 = 21.0
_EXTENSION = 4
# Choosing C needs less accuracy than the model that is kept: ten times tol, but no more than this.
_ROUGHER, _ROUGHEST = 10.0, 0.02
_CODES_WORTH_SHARING = 500_000


# Says how good a fitted model is; more is better.
Score = Callable[[StumpMachine], float]


@dataclass
class _Fold:
    """One fold: its rows, and what was found for each C so far."""

    train: np.ndarray
    test: np.ndarray
    solutions: dict[float, list[Solution]] = field(default_factory=dict)
    gaps: dict[float, float] = field(default_factory=dict)
    scores: dict[float, float] = field(default_factory=dict)
    fit_times: dict[float, float] = field(default_factory=dict)
    score_times: dict[float, float] = field(default_factory=dict)


class PathMachine(StumpMachine):
    """A `StumpMachine` whose C is chosen by cross-validation along a path."""

    _single: ClassVar[type[FixedCMachine]]
    _C_is_given: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict] = {
        **StumpMachine._parameter_constraints,
        "Cs": [Interval(Integral, 2, None, closed="left"), "array-like"],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "selection": [StrOptions({"cv", "cv-1se", "loo-bound"})],
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

    def _at(self, C: float) -> FixedCMachine:
        """Return an unfitted estimator of the same kind for one C."""
        given = {**self.get_params(deep=False), "C": C, "n_jobs": 1, "verbose": 0}
        names = self._single._get_param_names()
        return self._single(**{name: given[name] for name in names})

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
        grid = _check_grid(self.Cs)
        with one_blas_thread:
            table, design = self._prepare(X, y, sample_weight)
            self._select(table, design, grid)
            self._store(table, design, self._solve(table, design, self.C_))
        warn_unless_converged(self)
        return self

    def _fold_tol(self) -> float:
        if self.selection == "loo-bound":
            return self.tol
        return max(self.tol, min(_ROUGHER * self.tol, _ROUGHEST))

    def _select(self, table: Table, design: Design, grid: list[float]) -> None:
        """Walk the path, and further where the best C lies at its edge."""
        folds, scores = self._judges(table)
        done: list[float] = []
        while grid:
            self._walk(table, design, folds, scores, grid)
            done = sorted([*done, *grid])
            results = _results(done, folds)
            grid = _extension(results) if isinstance(self.Cs, Integral) else []
        best = _choose(results, self.selection)
        self._warn_of_folds(results)
        self.cv_results_ = results
        self.C_ = float(done[best])
        self.best_score_ = float(results["mean_test_score"][best])

    def _judges(self, table: Table) -> tuple[list[_Fold], list[Score]]:
        """Return the folds, and what scores a model on each."""
        if self.selection == "loo-bound":
            self._refuse_monotone()
            every = np.arange(len(table.label))
            return [_Fold(every, every)], [_by_loo_bound(table)]
        scorer = check_scoring(self, scoring=self.scoring)
        folds = self._split(table)
        return folds, [_scoring(table, scorer, fold.test) for fold in folds]

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

    def _split(self, table: Table) -> list[_Fold]:
        """Return the folds; rows are numbered as in the checked table."""
        y = table.classes[table.label]
        if self.cv is None or isinstance(self.cv, Integral) or hasattr(self.cv, "split"):
            splitter = check_cv(self.cv, y, classifier=True)
            folds = [_Fold(*split) for split in splitter.split(np.zeros((len(y), 1)), y)]
        else:
            position = np.full(table.n_given, -1)
            position[table.kept] = np.arange(len(table.kept))
            numbered = [(position[train], position[test]) for train, test in self.cv]
            folds = [_Fold(train[train >= 0], test[test >= 0]) for train, test in numbered]
        if min((min(len(fold.train), len(fold.test)) for fold in folds), default=0) == 0:
            raise ValueError(
                f"cv={self.cv!r} makes a fold without rows of positive sample_weight; use fewer "
                f"folds or other splits."
            )
        _warn_of_absent_classes(self.cv, table, folds)
        return folds

    def _walk(
        self,
        table: Table,
        design: Design,
        folds: list[_Fold],
        scores: list[Score],
        grid: Sequence[float],
    ) -> None:
        """Fit and score every fold for every C of ``grid``."""
        # Small problems are mostly Python, which threads only take from each other.
        few = design.packing.codes.size < _CODES_WORTH_SHARING
        n_threads = 1 if few else count_threads(self.n_jobs)
        with count_done(
            self.verbose, f"{type(self).__name__}: fits", len(folds) * len(grid)
        ) as tick:

            def work(judge: tuple[_Fold, Score]) -> None:
                fold, score = judge
                for C in grid:
                    self._visit(table, design, score, fold, C)
                    tick()

            share(work, zip(folds, scores, strict=True), n_threads)

    def _visit(
        self,
        table: Table,
        design: Design,
        score: Score,
        fold: _Fold,
        C: float,
    ) -> None:
        """Fit and score one fold for one C, starting from the nearest C already there."""
        start = time.perf_counter()
        nearest = min(fold.solutions, key=lambda c: abs(np.log(c / C)), default=None)
        solutions = self._solve(
            table,
            design,
            C,
            tol=self._fold_tol(),
            index=fold.train,
            starts=None if nearest is None else fold.solutions[nearest],
            n_threads=1,
            verbose=0,
        )
        fitted = time.perf_counter()
        model = self._at(C)._store(table, design, solutions)
        model.n_features_in_ = self.n_features_in_
        model.features_ = (Feature(),) * self.n_features_in_  # its rows are numbers by now
        fold.scores[C] = score(model)
        fold.gaps[C] = max(solution.certificate.gap for solution in solutions)
        # The path goes on from its ends only; what lies between need not be kept.
        fold.solutions[C] = solutions
        ends = min(fold.solutions), max(fold.solutions)
        fold.solutions = {end: fold.solutions[end] for end in ends}
        fold.fit_times[C] = fitted - start
        fold.score_times[C] = time.perf_counter() - fitted


def _warn_of_absent_classes(cv: Any, table: Table, folds: list[_Fold]) -> None:
    for k, fold in enumerate(folds):
        absent = np.setdiff1d(np.arange(len(table.classes)), table.label[fold.train])
        if len(absent):
            warnings.warn(
                f"cv={cv!r}: the training rows of fold {k} lack class {table.classes[absent[0]]}, "
                f"so that its score says little; shuffle the rows or use stratified folds.",
                UserWarning,
                stacklevel=5,
            )
            return


def _scoring(table: Table, scorer: Any, test: np.ndarray) -> Score:
    """Return the function that scores a model on the rows ``test``."""
    X, y = table.X[test], table.classes[table.label[test]]
    weight = {}
    if table.sample_weight is not None and _takes_weights(scorer):
        weight = {"sample_weight": table.sample_weight[test]}
    return lambda model: float(scorer(model, X, y, **weight))


def _by_loo_bound(table: Table) -> Score:
    """Return the function that scores a model by one minus its leave-one-out bound."""
    signs = table.signs()

    def score(model: StumpMachine) -> float:
        problems = one_by_one(model._as_machines(lambda: table.X, signs))
        return 1.0 - count_doubtful(problems, LOO_THEOREM, table.sample_weight).value

    return score


def _takes_weights(scorer: Callable) -> bool:
    """Tell whether a scorer, perhaps a plain function of the user's, accepts sample weights."""
    parameters = signature(getattr(scorer, "_score_func", scorer)).parameters.values()
    return any(p.name == "sample_weight" or p.kind == p.VAR_KEYWORD for p in parameters)


def _check_grid(Cs: Any) -> list[float]:
    """Return the values of C to begin with, ascending."""
    if isinstance(Cs, Integral):
        return (2.0 ** np.linspace(_LOWEST_LOG2, _HIGHEST_LOG2, int(Cs))).tolist()
    wanted = "a whole number of values or a list of positive finite numbers"
    given = as_numbers(Cs, "Cs", wanted)
    grid = np.unique(given)
    if given.ndim != 1 or len(grid) == 0 or not np.all((grid > 0) & (grid < np.inf)):
        raise ValueError(f"Cs={Cs!r} must be {wanted}.")
    return grid.tolist()


def _extension(results: dict[str, Any]) -> list[float]:
    """Return more values of C beyond an edge that beats all others, none otherwise."""
    Cs, mean = results["param_C"], results["mean_test_score"]
    best = int(np.argmax(mean))
    if np.sum(mean == mean[best]) > 1:
        return []
    steps = (Cs[1] / Cs[0]) ** np.arange(1, _EXTENSION + 1)
    if best == len(Cs) - 1:
        grid = Cs[-1] * steps
    elif best == 0:
        grid = Cs[0] / steps
    else:
        return []
    return grid[np.abs(np.log2(grid)) <= _MOST_LOG2].tolist()


def _results(Cs: list[float], folds: list[_Fold]) -> dict[str, Any]:
    """Return the table of all scores, in the form of GridSearchCV's."""
    scores = np.array([[fold.scores[C] for C in Cs] for fold in folds])
    if not np.all(np.isfinite(scores)):
        k = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0])
        raise ValueError(
            f"scoring gave {scores[k][~np.isfinite(scores[k])][0]} on fold {k}; use another "
            f"scorer, or larger folds if it cannot be computed on so few rows."
        )
    fit_times = np.array([[fold.fit_times[C] for C in Cs] for fold in folds])
    score_times = np.array([[fold.score_times[C] for C in Cs] for fold in folds])
    gaps = [[fold.gaps[C] for C in Cs] for fold in folds]
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
        "n_splits": len(folds),
    }


def _choose(results: dict[str, Any], selection: str) -> int:
    """Return the index of the chosen C: the best, or the smallest within a standard error.

    Among equals the smallest C wins, the simplest model.
    """
    mean = results["mean_test_score"]
    best = int(np.argmax(mean))
    if selection != "cv-1se":
        return best
    error = results["std_test_score"][best] / np.sqrt(max(results["n_splits"] - 1, 1))
    return int(np.flatnonzero(mean >= mean[best] - error)[0])
