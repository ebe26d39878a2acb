"""What StumpSVC, StumpLogisticRegression and their C paths share."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from everystump._arguments import check_feature_range
from everystump._core.columns import RowDensity
from everystump._core.design import Design
from everystump._core.losses import Loss
from everystump._core.measures import Measure, as_measure
from everystump._core.progress import FitProgress
from everystump._core.shapes import ShapeModel
from everystump._core.solvers import Solution
from everystump._core.threads import count_threads, one_blas_thread
from everystump._sklearn_compat import Interval, one_of
from everystump._tables import Feature
from everystump._tables.labels import labels_from_scores
from everystump._tables.monotonic import check_monotonic_cst
from everystump._tables.validation import TrainingTable, check_rows, check_table
from everystump.estimators._bounded import StumpBoundsMixin
from everystump.estimators._classes import as_class_list, per_class
from everystump.estimators._editing import EditingMixin
from everystump.estimators._reading import ExplanationMixin
from everystump.estimators._training import TrainingOverlapMixin

_LEAST_COST, _MOST_COST = 1e-100, 1e18


class ScoreClassifier(TrainingOverlapMixin, ClassifierMixin, BaseEstimator):
    """A classifier that goes by its scores."""

    # An attribute that only a fit that did not fail has set.
    _fitted_attribute: ClassVar[str] = "classes_"
    feature_info_: tuple[Feature, ...]

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of each row: one number for two classes, else one per class.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows; of precomputed products, those with all training rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Positive numbers speak for ``classes_[1]``, or for the column's class.
        """
        check_is_fitted(self, self._fitted_attribute)
        return self._decision_function(check_rows(self, X))

    def _decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the scores of checked rows."""
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels out of ``classes_``.
        """
        return labels_from_scores(self.decision_function(X), self.classes_)

    @property
    def features_(self) -> tuple[Feature, ...]:
        """Deprecated alias of ``feature_info_``."""
        features = self.feature_info_
        warnings.warn(
            "features_ is deprecated and will be removed in the next release; use feature_info_.",
            FutureWarning,
            stacklevel=2,
        )
        return features

    def _sub_estimators(self) -> Sequence[Any]:
        """Return the classifiers that a fit trained on the same labels and keeps: none here.

        An estimator that holds others says so here, so that all of them can be told the names of
        the classes; see `rename_classes`.
        """
        return ()


def rename_classes(model: Any, names: np.ndarray) -> None:
    """Name the classes of a classifier, and of its members, that was fitted on numbers of classes.

    Parameters
    ----------
    model : estimator
        Fitted on labels 0, 1, and so on.
    names : ndarray of shape (n_classes,)
        The name of each number.
    """
    model.classes_ = names[model.classes_]
    for member in model._sub_estimators() if isinstance(model, ScoreClassifier) else ():
        rename_classes(member, names)


class ShapeClassifier(ExplanationMixin, EditingMixin, ScoreClassifier):
    """A classifier whose fitted state is one shape model a class (one for two classes)."""

    _fitted_attribute: ClassVar[str] = "shapes_"
    n_jobs: int | None
    shapes_: ShapeModel | list[ShapeModel]

    def _decision_function(self, X: np.ndarray) -> np.ndarray:
        return self._scores(X, self.shapes_)

    def _scores(self, X: np.ndarray, models: ShapeModel | list[ShapeModel]) -> np.ndarray:
        n_threads = count_threads(self.n_jobs)
        if isinstance(models, ShapeModel):
            return models.evaluate(X, n_threads=n_threads)
        return np.column_stack([m.evaluate(X, n_threads=n_threads) for m in models])


class TabularClassifier(ShapeClassifier):
    """A classifier that takes missing values and categories."""

    _supports_categories: ClassVar[bool] = True
    categorical_features: Any
    feature_info_: tuple[Feature, ...]
    density_: tuple[RowDensity, ...]

    def __sklearn_tags__(self) -> Tags:
        """Say that missing values and sparse tables are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class BaseStumpEnsemble(TabularClassifier, StumpBoundsMixin):
    """An infinite ensemble of stumps; subclasses name their criterion and their parameters."""

    _optimum_over: ClassVar[str] = "ensemble of stumps"

    _parameter_constraints: ClassVar[dict] = {
        "measure": [str, callable, Measure],
        "max_bins": [Interval(Integral, 2, None, closed="left")],
        "categorical_features": ["array-like", one_of("from_dtype"), None],
        "fit_intercept": ["boolean"],
        "feature_range": ["array-like", None],
        "monotonic_cst": ["array-like", dict, None],
        "class_weight": [dict, str, None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
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
        self.measure = measure
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.fit_intercept = fit_intercept
        self.feature_range = feature_range
        self.monotonic_cst = monotonic_cst
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _loss_class(self) -> type[Loss]:
        """Return the class of the loss."""
        raise NotImplementedError

    def _max_bins(self, n_rows: int) -> int:
        """Return how many places a feature may have."""
        return self.max_bins

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[TrainingTable, Design]:
        """Check parameters and data, then code the rows."""
        self._validate_params()
        measure = as_measure(self.measure)
        n_threads = count_threads(self.n_jobs)
        table = check_table(self, X, y, sample_weight, self.class_weight)
        limits = self.feature_range
        if limits is not None:
            limits = check_feature_range(limits, table.X.shape[1])
        design = Design.of(
            table.X,
            measure=measure,
            max_bins=self._max_bins(len(table.X)),
            n_levels=table.n_levels,
            fit_intercept=self.fit_intercept,
            feature_range=limits,
            directions=self._monotonic_signs(),
            sample_weight=table.sample_weight,
            n_threads=n_threads,
        )
        return table, design

    def _monotonic_signs(self) -> np.ndarray | None:
        """Return which curves may only rise or fall, None if none."""
        directions = check_monotonic_cst(self.monotonic_cst, self.feature_info_)
        if directions is not None and not self.fit_intercept:
            raise ValueError(
                "fit_intercept=False does not go with monotonic_cst: the stumps outside the data "
                "make curves turn; use fit_intercept=True."
            )
        return directions

    def _solve(
        self,
        table: TrainingTable,
        design: Design,
        C: float,
        *,
        tol: float | None = None,
        index: np.ndarray | None = None,
        starts: Sequence[Solution] | None = None,
        n_threads: int | None = None,
        verbose: int | None = None,
    ) -> list[Solution]:
        """Solve the problem of each class, on the rows ``index`` if given."""
        check_cost(C, table.weight)
        problems = table.problems()
        solutions = []
        for k, positive in enumerate(problems):
            title = f"{type(self).__name__}, C={C:g}{table.title(k)}"
            with FitProgress(self.verbose if verbose is None else verbose, title) as report:
                solution = design.solve(
                    self._loss_class(),
                    positive,
                    table.weight,
                    C=C,
                    tol=tol or self.tol,
                    max_iter=self.max_iter,
                    n_threads=n_threads or count_threads(self.n_jobs),
                    progress=report,
                    index=index,
                    start=None if starts is None else starts[k],
                )
            solutions.append(solution)
        return solutions

    def _store(self, table: TrainingTable, design: Design, solutions: list[Solution]) -> Self:
        """Keep what was learned as plain arrays and records."""
        models = [design.shape_model(solution) for solution in solutions]
        certificates = [solution.certificate for solution in solutions]
        self.classes_ = table.classes
        self._kept = table.kept
        self._largest_cost = float(solutions[0].C * table.weight.max())
        self.shapes_ = per_class(models)
        self.certificate_ = per_class(certificates)
        self.intercept_ = np.array([model.intercept for model in models])
        self.dual_coef_ = table.to_input_rows([solution.dual_coef for solution in solutions])
        self.n_iter_ = max(1, max(solution.n_iter for solution in solutions))
        self.exact_ = design.columns.exact
        self.half_mass_ = design.half_mass
        self.density_ = design.columns.density()
        return self


class FixedCEnsemble(BaseStumpEnsemble):
    """A `BaseStumpEnsemble` for one given C."""

    _parameter_constraints: ClassVar[dict] = {
        **BaseStumpEnsemble._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="right")],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
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
        self.C = C

    def _max_bins(self, n_rows: int) -> int:
        # A hard margin is a promise about the rows themselves, not about their bins.
        return n_rows if np.isinf(self.C) else self.max_bins

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the vote of every stump.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers and categories, values may be missing; a pandas or polars frame keeps its
            column names.
        y : array-like of shape (n_rows,)
            Labels of two or more classes; more than two are set one against the rest.
        sample_weight : array-like of shape (n_rows,), optional
            A weight of 2 counts as the row twice, a weight of 0 as its absence.

        Returns
        -------
        self
            The fitted estimator.
        """
        with one_blas_thread:
            table, design = self._prepare(X, y, sample_weight)
            self._store(table, design, self._solve(table, design, self.C))
        warn_if_not_converged(self)
        return self


def warn_if_not_converged(estimator: Any, stacklevel: int = 3) -> None:
    """Warn if a fit stopped short of its tolerance."""
    worst = max(as_class_list(estimator.certificate_), key=lambda certificate: certificate.gap)
    if worst.converged:
        return
    kernel = estimator.get_params(deep=False).get("kernel", "precomputed")
    other = "lower C" if kernel == "precomputed" else "scale the features of X alike"
    reached = f"a relative duality gap of {worst.gap:.1e}"
    if worst.rounding > estimator.tol:
        told = (
            f"reached {reached}, and rounding ({worst.rounding:.0e} of the objective) keeps one of "
            f"tol={estimator.tol:g} from being shown; raise tol or {other}."
        )
    else:
        short = estimator.n_iter_ >= estimator.max_iter
        more = f"raise max_iter={estimator.max_iter}" if short else other
        told = (
            f"stopped after {estimator.n_iter_} steps at {reached}, above tol={estimator.tol:g}; "
            f"{more} or raise tol."
        )
    warnings.warn(f"{type(estimator).__name__} {told}", ConvergenceWarning, stacklevel=stacklevel)


def check_cost(C: float, weight: np.ndarray) -> None:
    """Raise if C times a weight is a number that sums of squares cannot hold."""
    low, high = C * weight.min(), C * weight.max()
    if np.inf > C and not _LEAST_COST <= low <= high <= _MOST_COST:
        raise ValueError(
            f"C={C:g} times the weights of the rows goes from {low:g} to {high:g}; keep it between "
            f"{_LEAST_COST:g} and {_MOST_COST:g} (C=inf is the hard margin)."
        )
