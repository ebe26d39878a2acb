"""AdaBoost+SVM: boosting finds the stumps, a support vector machine their weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from everystump._arguments import as_float_array
from everystump._core.boosting.stumps import Stumps
from everystump._core.design import Design
from everystump._core.losses import Hinge
from everystump._core.progress import FitProgress
from everystump._core.shapes import ShapeModel
from everystump._core.solvers.certificate import Certificate, InseparableError
from everystump._core.threads import count_threads, one_blas_thread
from everystump._sklearn_compat import Interval
from everystump._tables.training_table import ClassTable
from everystump.estimators._base import check_cost, unwrap_binary, warn_if_not_converged
from everystump.estimators._finite import BoostedEnsemble


class _StageSolution(NamedTuple):
    """The support vector machine over the first stumps of one class."""

    stumps: Stumps
    model: ShapeModel
    certificate: Certificate
    margin: float
    n_iter: int


class Stage(NamedTuple):
    """The ensemble after some rounds; attributes are lists for more than two classes.

    Attributes
    ----------
    n_estimators : int
        Number of stumps.
    shapes : ShapeModel or list of ShapeModel
        Their weighted vote as shape functions.
    certificate : Certificate or list of Certificate
        Optimality certificate of the weights.
    margin : float or list of float
        One over the norm of the weights.
    """

    n_estimators: int
    shapes: ShapeModel | list[ShapeModel]
    certificate: Certificate | list[Certificate]
    margin: float | list[float]


@dataclass(eq=False, repr=False)
class BoostedStumpSVC(BoostedEnsemble):
    """AdaBoost+SVM: a support vector classifier over the stumps of AdaBoost.

    AdaBoost finds T stumps ``h``; then their weights ``beta`` minimize
    ``|beta|^2 / 2 + C sum_i hinge(y_i (beta h(x_i) + b))`` (Wang et al., Algorithm 2).  A stump
    that was found several times counts as several features.

    Parameters
    ----------
    n_estimators : int, default=100
        Maximum number of rounds of AdaBoost.
    C : float, default=1.0
        Inverse regularization strength, as in `StumpSVC`; ``inf`` requests a hard margin.
    stages : array-like of int, default=None
        Additional numbers of rounds after which weights are fitted; see ``stages_``.
    features, criterion, min_weight_fraction_leaf
        As in `StumpBoostingClassifier`.
    max_bins : int or "auto", default="auto"
        As in `StumpBoostingClassifier`; limits the thresholds of the stumps.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply C and the initial weights of AdaBoost.
    random_state : int, RandomState instance or None, default=None
        Controls the random features.
    categorical_features, tol, max_iter, n_jobs, verbose
        As in `StumpSVC`.

    Attributes
    ----------
    stumps_ : Stumps or list of Stumps
        The stumps of AdaBoost in the order of the rounds, with the weights ``beta``.
    estimator_weights_ : ndarray of shape (n_stumps,), or list of ndarray
        These weights; some may be negative.
    estimator_errors_ : ndarray of shape (n_stumps,), or list of ndarray
        Weighted training error of each stump in AdaBoost.
    boosting_weights_ : ndarray of shape (n_stumps,), or list of ndarray
        Weight of each stump in AdaBoost.
    margin_ : float or list of float
        Margin ``1 / |beta|``.
    stages_ : list of Stage
        One record per entry of `stages`, and one for all stumps: number of stumps, shapes,
        certificate, margin.  Stages that boosting did not reach are left out, and with ``C=inf``
        also those whose stumps do not separate the classes.
    shapes_, intercept_, certificate_, n_iter_
        As in `StumpSVC`.
    classes_, exact_, feature_info_, density_, n_features_in_, feature_names_in_
        As in `StumpBoostingClassifier`.

    Examples
    --------
    >>> from everystump import BoostedStumpSVC
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = BoostedStumpSVC(100, stages=[25, 50]).fit(X, y)
    >>> [stage.n_estimators for stage in model.stages_], model.certificate_.converged
    ([25, 50, 100], True)
    """

    _optimum_over: ClassVar[str] = "weighting of its stumps"
    _parameter_constraints: ClassVar[dict] = {
        **BoostedEnsemble._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="right")],
        "stages": ["array-like", None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    n_estimators: int = 100
    _: KW_ONLY
    C: float = 1.0
    stages: Any = None
    tol: float = 1e-3
    max_iter: int = 1000

    def _fit_table(self, table: ClassTable) -> None:
        check_cost(self.C, table.weight)
        counts = self._stage_sizes()
        self._fit_seed = self._seed()
        binned = self._bin(table)
        problems = table.problems()
        results = [
            self._boost(
                self._boosted_rows(binned, table, positive), binned.search, k, table.title(k)
            )
            for k, positive in enumerate(problems)
        ]
        boosted = [result.stumps for result in results]
        n_stumps = max(len(stumps.weight) for stumps in boosted)
        counts = sorted({min(n, n_stumps) for n in counts})
        with one_blas_thread:
            stages = [self._solve_stage(table, boosted, n) for n in counts]
        last = stages[-1]
        stumps = [solution.stumps for solution in last]
        models = [solution.model for solution in last]
        self._store(table.classes, stumps, binned.columns, models)
        self.stages_ = [_stage(n, stage) for n, stage in zip(counts, stages, strict=True) if stage]
        self.boosting_weights_ = unwrap_binary([stumps.weight for stumps in boosted])
        self.certificate_, self.margin_ = self.stages_[-1].certificate, self.stages_[-1].margin
        self.intercept_ = np.array([model.intercept for model in models])
        self.n_iter_ = max(1, max(solution.n_iter for solution in last))
        self._warn_if_stopped(results)
        warn_if_not_converged(self)

    def _stage_sizes(self) -> list[int]:
        """Return the numbers of rounds after which weights are fitted, in ascending order."""
        if self.stages is None:
            return [self.n_estimators]
        expected = f"integers from 1 to n_estimators={self.n_estimators}"
        sizes = as_float_array(self.stages, "stages", expected)
        is_integer = sizes.ndim == 1 and np.all(sizes == np.floor(sizes))
        if not is_integer or np.any((sizes < 1) | (sizes > self.n_estimators)):
            raise ValueError(f"stages={self.stages!r} must be {expected}.")
        return sorted({*sizes.astype(int).tolist(), self.n_estimators})

    def _solve_stage(
        self, table: ClassTable, boosted: list[Stumps], n: int
    ) -> list[_StageSolution]:
        """Fit the weights of the first ``n`` stumps of each class.

        Returns an empty list if these do not separate the classes but later stumps may.
        """
        try:
            return [
                self._solve(table, positive, stumps.first(n), k)
                for k, (positive, stumps) in enumerate(zip(table.problems(), boosted, strict=True))
            ]
        except InseparableError as error:
            n_stumps = max(len(stumps.weight) for stumps in boosted)
            if n < n_stumps:
                return []
            more = "raise n_estimators or " if n_stumps == self.n_estimators else ""
            raise InseparableError(
                f"C=inf requests a hard margin, but the {n} stumps of n_estimators="
                f"{self.n_estimators} rounds do not separate the classes; {more}use a finite C."
            ) from error

    def _solve(
        self, table: ClassTable, positive: np.ndarray, stumps: Stumps, k: int
    ) -> _StageSolution:
        design = Design.from_rows(
            table.X,
            measure=stumps.as_measure(self.n_features_in_),
            max_bins=len(table.X),
            n_levels=table.n_levels,
            fit_intercept=True,
            feature_range=None,
            sample_weight=table.sample_weight,
            n_threads=count_threads(self.n_jobs),
        )
        name = type(self).__name__
        title = f"{name}, {len(stumps.weight)} stumps, C={self.C:g}{table.title(k)}"
        with FitProgress(self.verbose, title) as progress:
            solution = design.solve(
                Hinge,
                positive,
                table.weight,
                C=self.C,
                tol=self.tol,
                max_iter=self.max_iter,
                n_threads=count_threads(self.n_jobs),
                progress=progress,
            )
        jumps = design.terms.chains.jumps * solution.weights
        weighted = stumps.with_jumps(design.columns.columns, design.split_by_feature(jumps))
        norm = float(np.linalg.norm(weighted.weight))
        return _StageSolution(
            weighted,
            weighted.shape_model(table.n_levels, solution.intercept + float(jumps.sum()) / 2),
            solution.certificate,
            1 / norm if norm else np.inf,
            solution.n_iter,
        )

    def _staged_scores(self, X: np.ndarray) -> Iterator[np.ndarray]:
        for stage in self.stages_:
            yield self._evaluate(stage.shapes, X)


def _stage(n: int, solutions: list[_StageSolution]) -> Stage:
    _, models, certificates, margins, _ = (list(part) for part in zip(*solutions, strict=True))
    return Stage(n, unwrap_binary(models), unwrap_binary(certificates), unwrap_binary(margins))
