"""AdaBoost + SVM: boosting finds the stumps, a support vector machine their weights."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everystump._arguments import as_float_array
from everystump._core.boosting import Stumps
from everystump._core.design import Design
from everystump._core.losses import Hinge
from everystump._core.progress import FitProgress
from everystump._core.shapes import ShapeModel
from everystump._core.solvers import Certificate, InseparableError
from everystump._core.threads import count_threads, one_blas_thread
from everystump._sklearn_compat import Interval
from everystump._tables.validation import TrainingTable, check_rows
from everystump.estimators._base import check_cost, per_class, warn_if_not_converged
from everystump.estimators._finite import BoostedEnsemble


class Machine(NamedTuple):
    """The support vector machine over the first stumps of one class."""

    stumps: Stumps
    model: ShapeModel
    certificate: Certificate
    margin: float
    n_iter: int


class Stage(NamedTuple):
    """The ensemble after some rounds; lists hold one entry a class if there are several.

    Attributes
    ----------
    n_estimators : int
        How many stumps were there.
    shapes : ShapeModel or list of ShapeModel
        Their vote under the weights of the machine.
    certificate : Certificate or list of Certificate
        The proof of its optimality.
    margin : float or list of float
        One over the norm of the weights.
    """

    n_estimators: int
    shapes: ShapeModel | list[ShapeModel]
    certificate: Certificate | list[Certificate]
    margin: float | list[float]


class BoostedStumpSVC(BoostedEnsemble):
    """AdaBoost+SVM: the stumps of AdaBoost as features of a support vector machine.

    AdaBoost's rounds find T stumps ``h``; then ``min |beta|^2 / 2 + C sum of hinge(y (beta h(x) +
    b))`` finds their weights, exactly (Wang et al., Algorithm 2).  A stump that was found several
    times counts as several features.

    Parameters
    ----------
    n_estimators : int, default=100
        Rounds of AdaBoost at most.
    C : float, default=1.0
        What a unit of loss costs; ``inf`` asks for the hard margin.
    stages : array-like of int, optional
        Numbers of rounds after which to find weights as well, from the one run of AdaBoost; see
        ``stages_``.
    features : {"best", "random"}, default="best"
        As in `StumpBoostingClassifier`.
    criterion : {"error", "gini"}, default="error"
        As in `StumpBoostingClassifier`.
    min_weight_fraction_leaf : float, default=0.0
        As in `StumpBoostingClassifier`.
    categorical_features : "from_dtype", list, mask or None, default="from_dtype"
        As in `StumpSVC`.
    max_bins : int or "auto", default="auto"
        As in `StumpBoostingClassifier`; it limits the thresholds that stumps may have.
    class_weight : dict, "balanced" or None, default=None
        Factors of C, and of AdaBoost's first weights, for each class.
    tol : float, default=1e-3
        The relative duality gap to reach.
    max_iter : int, default=1000
        Newton steps at most; if they do not suffice, a ``ConvergenceWarning`` says so.
    random_state : int, RandomState instance or None, default=None
        Draws features.
    n_jobs : int, optional
        Threads over the rows.  None is all cores, unlike in most of scikit-learn, or what
        ``joblib.parallel_config`` says.
    verbose : int, default=0
        1 shows live progress.

    Attributes
    ----------
    stumps_ : Stumps, or a list of them for several classes
        AdaBoost's stumps in their order, with the weights ``beta`` of the machine.
    estimator_weights_ : ndarray of shape (n_stumps,), or a list of them
        These weights; some may be negative.
    estimator_errors_ : ndarray of shape (n_stumps,), or a list of them
        The stumps' weighted errors in AdaBoost.
    boosting_weights_ : ndarray of shape (n_stumps,), or a list of them
        The weights that AdaBoost gave.
    margin_ : float, or a list of them
        ``1 / |beta|``.
    stages_ : list of Stage
        One record for each number in `stages` and a last one for all stumps: number of stumps,
        shapes, certificate, margin.  With ``C=inf`` those at which the stumps do not separate the
        classes are left out, and so are numbers that boosting did not reach.
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

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        C: float = 1.0,
        stages: Any = None,
        features: str = "best",
        criterion: str = "error",
        min_weight_fraction_leaf: float = 0.0,
        categorical_features: Any = "from_dtype",
        max_bins: int | str = "auto",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.C = C
        self.stages = stages
        self.features = features
        self.criterion = criterion
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit_table(self, table: TrainingTable) -> None:
        check_cost(self.C, table.weight)
        counts = self._counts()
        self._fit_seed = self._seed()
        coded = self._code(table)
        problems = table.problems()
        runs = [self._boost(coded, table, k, positive) for k, positive in enumerate(problems)]
        boosted = [run.stumps for run in runs]
        most = max(len(stumps.weight) for stumps in boosted)
        counts = sorted({min(n, most) for n in counts})
        with one_blas_thread:
            stages = [self._machines(table, boosted, n) for n in counts]
        found = [machine.stumps for machine in stages[-1]]
        models = [machine.model for machine in stages[-1]]
        self._store(table, found, models, coded.columns)
        self.stages_ = [_stage(n, ms) for n, ms in zip(counts, stages, strict=True) if ms]
        self._store_machines(boosted, stages[-1])
        self._warn_if_stopped(runs)
        warn_if_not_converged(self, stacklevel=4)

    def _counts(self) -> list[int]:
        """Return the numbers of rounds at which weights are wanted, ascending."""
        if self.stages is None:
            return [self.n_estimators]
        wanted = f"whole numbers from 1 to n_estimators={self.n_estimators}"
        given = as_float_array(self.stages, "stages", wanted)
        whole = given.ndim == 1 and np.all(given == np.floor(given))
        if not whole or np.any((given < 1) | (given > self.n_estimators)):
            raise ValueError(f"stages={self.stages!r} must be {wanted}.")
        return sorted({*given.astype(int).tolist(), self.n_estimators})

    def _machines(self, table: TrainingTable, boosted: list[Stumps], n: int) -> list[Machine]:
        """Find the weights of the first ``n`` stumps of each class.

        Returns nothing if a hard margin is asked for too early.
        """
        try:
            return [
                self._machine(table, positive, stumps.first(n), k)
                for k, (positive, stumps) in enumerate(zip(table.problems(), boosted, strict=True))
            ]
        except InseparableError as error:
            most = max(len(stumps.weight) for stumps in boosted)
            if n < most:
                return []
            more = "raise n_estimators or " if most == self.n_estimators else ""
            raise InseparableError(
                f"C=inf asks for a hard margin, but the {n} stumps of n_estimators="
                f"{self.n_estimators} rounds do not separate the classes; {more}use a finite C."
            ) from error

    def _machine(
        self, table: TrainingTable, positive: np.ndarray, stumps: Stumps, k: int
    ) -> Machine:
        design = Design.of(
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
        with FitProgress(self.verbose, title) as report:
            solution = design.solve(
                Hinge,
                positive,
                table.weight,
                C=self.C,
                tol=self.tol,
                max_iter=self.max_iter,
                n_threads=count_threads(self.n_jobs),
                progress=report,
            )
        steps = design.chains.jumps * solution.weights
        weighed = stumps.with_jumps(design.columns.columns, design.split_by_feature(steps))
        norm = float(np.linalg.norm(weighed.weight))
        return Machine(
            weighed,
            weighed.shape_model(table.n_levels, solution.bias + float(steps.sum()) / 2),
            solution.certificate,
            1 / norm if norm else np.inf,
            solution.n_iter,
        )

    def _store_machines(self, boosted: list[Stumps], machines: list[Machine]) -> None:
        last = self.stages_[-1]
        self.boosting_weights_ = per_class([stumps.weight for stumps in boosted])
        self.certificate_, self.margin_ = last.certificate, last.margin
        self.intercept_ = np.array([machine.model.intercept for machine in machines])
        self.n_iter_ = max(1, max(machine.n_iter for machine in machines))

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the scores of the rows at each of ``stages_``.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            As `decision_function`.
        """
        check_is_fitted(self, "shapes_")
        X = check_rows(self, X)
        for stage in self.stages_:
            yield self._scores(X, stage.shapes)


def _stage(n: int, machines: list[Machine]) -> Stage:
    _, models, certificates, margins, _ = (list(part) for part in zip(*machines, strict=True))
    return Stage(n, per_class(models), per_class(certificates), per_class(margins))
