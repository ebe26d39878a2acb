"""Base classes of classifiers and regressors, checks of costs, and convergence warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from everystump._core.columns import RowDensity
from everystump._core.shapes import ShapeModel
from everystump._core.targets import INVERSE_LINKS
from everystump._core.threads import count_threads
from everystump._explanations.thumbnails import curves_html
from everystump._sklearn_compat import num_samples
from everystump._tables.frames import Feature, as_supported_table
from everystump._tables.labels import (
    check_numbers,
    class_indices,
    labels_from_scores,
    log_probabilities,
    number_codes,
)
from everystump._tables.overlap import Overlap, TrainingRecord
from everystump._tables.row_hashes import hash_rows
from everystump._tables.training_table import ClassTable, TrainingTable
from everystump._tables.validation import check_rows, check_table
from everystump._warnings import warn_user
from everystump.estimators._editing import EDIT_ATTRIBUTES, EditingMixin
from everystump.estimators._explanation import ExplanationMixin

_MIN_COST, _MAX_COST = 1e-100, 1e18


class TableEstimator(BaseEstimator):
    """A model of a training table, by which it recognizes its training samples."""

    # An attribute that only a successful fit sets.
    _fitted_attribute: ClassVar[str]
    # The fitted attributes by which scores become predictions, such as the classes or the link.
    _output_attributes: ClassVar[tuple[str, ...]]
    _training_record: TrainingRecord | None = None
    feature_info_: tuple[Feature, ...]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.  The names of the columns of a pandas or polars frame are kept.
        y : array-like of shape (n_samples,)
            Class labels, or for a regressor the numbers to predict.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.  A weight of 2 is equivalent to repeating the sample, a weight of 0 to
            leaving it out.

        Returns
        -------
        self
            Fitted estimator.
        """
        self._validate_params()
        self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Fit with validated parameters."""
        raise NotImplementedError

    def _set_training_table(self, table: TrainingTable) -> None:
        """Clear an earlier fit, and store what is known of the training table."""
        self._reset()
        self.feature_info_ = table.features
        self._training_record = table.training_record()

    def _reset(self) -> None:
        """Delete all fitted attributes, except what `validate_data` has just set."""
        for name in list(vars(self)):
            is_fitted = name.endswith("_") and name not in ("n_features_in_", "feature_names_in_")
            if is_fitted or name in EDIT_ATTRIBUTES:
                delattr(self, name)

    def _check_samples(self, X: Any) -> Any:
        """Validate the samples of a prediction."""
        return check_rows(self, X)

    def _decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of validated samples."""
        raise NotImplementedError

    def training_overlap(self, X: Any, y: Any) -> Overlap:
        """Compare labeled samples with the training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their labels or, for a regressor, their targets.

        Returns
        -------
        Overlap
            Number of samples that match training samples, and whether they are the training data.

        Examples
        --------
        >>> from everystump import StumpSVC
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
        >>> model = StumpSVC().fit(X, y)
        >>> model.training_overlap(X, y).same_table
        True
        >>> model.training_overlap([[3.0], [5.0]], [1, 1]).match_rate
        0.5
        """
        check_is_fitted(self, self._fitted_attribute)
        return self._training_overlap(X, y)

    def _training_overlap(self, X: Any, y: Any) -> Overlap:
        rows = as_supported_table(self._comparable_rows(X))
        codes, record = self._target_codes(y, num_samples(X)), self._training_record
        return Overlap(recorded=False) if record is None else record.compare(hash_rows(rows, codes))

    def _comparable_rows(self, X: Any) -> Any:
        """Return samples as numbers, as they are hashed in training."""
        return self._check_samples(X)

    def _target_codes(self, y: Any, n_samples: int) -> np.ndarray:
        """Return the integers that stand for labels or targets in hashes."""
        raise NotImplementedError

    @property
    def features_(self) -> tuple[Feature, ...]:
        """Deprecated alias of ``feature_info_``."""
        features = self.feature_info_
        warn_user(
            "features_ is deprecated and will be removed in the next release; use feature_info_.",
            FutureWarning,
        )
        return features


class ScoreClassifier(ClassifierMixin, TableEstimator):
    """A classifier that predicts by the sign or the maximum of its decision function."""

    _fitted_attribute: ClassVar[str] = "classes_"
    _output_attributes: ClassVar[tuple[str, ...]] = ("classes_",)
    classes_: np.ndarray

    def _check_training_data(
        self, X: Any, y: Any, sample_weight: Any, class_weight: Any = None, *, reset: bool = True
    ) -> ClassTable:
        """Validate training data; clear an earlier fit, or continue it if not ``reset``."""
        table = check_table(self, X, y, sample_weight, class_weight, reset=reset)
        if reset:
            self._set_training_table(table)
        elif self._training_record is not None:
            self._training_record = self._training_record.merge(table.training_record())
        return table

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of each sample: one number for two classes, else one per class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; for precomputed kernels, their kernel values with all training samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive scores favor ``classes_[1]``, or the class of the column.
        """
        check_is_fitted(self, self._fitted_attribute)
        return self._decision_function(self._check_samples(X))

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        return labels_from_scores(self.decision_function(X), self.classes_)

    def _target_codes(self, y: Any, n_samples: int) -> np.ndarray:
        return class_indices(y, self.classes_, n_samples)

    def _sub_estimators(self) -> Sequence[Any]:
        """Return the fitted classifiers inside this one that have the same classes."""
        return ()


def rename_classes(model: Any, names: np.ndarray) -> None:
    """Replace the classes 0, 1, ... of a fitted classifier, and of those inside it, by names.

    The same is done with the classes that have weights in ``class_weight``.
    """
    model.classes_ = names[model.classes_]
    rename_class_weights(model, dict(enumerate(names.tolist())))
    for inner in model._sub_estimators() if isinstance(model, ScoreClassifier) else ():
        rename_classes(inner, names)


def rename_class_weights(model: Any, names: Mapping[Any, Any]) -> None:
    """Replace the classes in the parameters ``class_weight`` of a classifier and its members."""
    for parameter, weights in model.get_params().items():
        if parameter.rpartition("__")[2] == "class_weight" and isinstance(weights, Mapping):
            renamed = {names.get(label, label): weight for label, weight in weights.items()}
            model.set_params(**{parameter: renamed})


def unwrap_binary(parts: list) -> Any:
    """Return the single entry of a list, or the list itself if there is one entry per class."""
    return parts[0] if len(parts) == 1 else parts


def as_class_list(value: Any) -> list:
    """Return the argument of `unwrap_binary`, given its result (a tuple is not a list)."""
    return value if isinstance(value, list) else [value]


class ProbabilityClassifier(ScoreClassifier):
    """A classifier whose probabilities are a function of its scores."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class for each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``; each row sums to 1.  With more than two
            classes, they are the softmax of the scores of a multinomial model; those of
            one-vs-rest problems are normalized.
        """
        return self._probabilities(self.decision_function(X))

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return class probabilities for the scores of `decision_function`."""
        raise NotImplementedError


class ShapeEstimator(ExplanationMixin, EditingMixin, TableEstimator):
    """An estimator whose fitted state is a shape model, or one per class."""

    _fitted_attribute: ClassVar[str] = "shapes_"
    n_jobs: int | None
    shapes_: ShapeModel | list[ShapeModel]

    def _decision_function(self, X: np.ndarray) -> np.ndarray:
        return self._evaluate(self.shapes_, X)

    def _html_repr(self) -> str:
        """Return the diagram of scikit-learn, and the curves of a fitted model, for notebooks."""
        diagram = super()._html_repr()
        return diagram + curves_html(self) if hasattr(self, "shapes_") else diagram

    def _evaluate(self, models: ShapeModel | list[ShapeModel], X: np.ndarray) -> np.ndarray:
        n_threads = count_threads(self.n_jobs)
        if isinstance(models, ShapeModel):
            return models.evaluate(X, n_threads=n_threads)
        return np.column_stack([model.evaluate(X, n_threads=n_threads) for model in models])


class ShapeClassifier(ShapeEstimator, ScoreClassifier):
    """A classifier whose fitted state is a shape model, or one per class."""


class LogOddsClassifier(ProbabilityClassifier, ShapeClassifier):
    """A classifier whose scores are log-odds, up to a factor."""

    # The log-odds are this factor times the scores.
    _log_odds_factor: ClassVar[float] = 1.0

    @property
    def _has_softmax(self) -> bool:
        """Whether the scores of several classes are those of one multinomial model."""
        return False

    def _log_probabilities(self, scores: np.ndarray) -> np.ndarray:
        return log_probabilities(self._log_odds_factor * scores, softmax=self._has_softmax)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Log-probabilities in the order of ``classes_``.
        """
        return self._log_probabilities(self.decision_function(X))

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        return np.exp(self._log_probabilities(scores))


class TabularEstimator(ShapeEstimator):
    """An estimator that accepts missing values, categorical features and sparse matrices."""

    _supports_categories: ClassVar[bool] = True
    categorical_features: Any
    feature_info_: tuple[Feature, ...]
    density_: tuple[RowDensity, ...]

    def __sklearn_tags__(self) -> Tags:
        """Declare support for missing values and sparse matrices."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class TabularClassifier(TabularEstimator, ShapeClassifier):
    """A classifier that accepts missing values, categorical features and sparse matrices."""


class ScoreRegressor(RegressorMixin, TableEstimator):
    """A regressor whose scores are predictions or, with a log link, their logarithms."""

    _output_attributes: ClassVar[tuple[str, ...]] = ("link_",)
    link_: str  # a key of `INVERSE_LINKS`

    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions, in the units of the training targets.
        """
        check_is_fitted(self, self._fitted_attribute)
        return self._predictions(self._decision_function(self._check_samples(X)))

    def _predictions(self, scores: np.ndarray) -> np.ndarray:
        """Return the predictions for some scores."""
        return INVERSE_LINKS[self.link_](scores)

    def _target_codes(self, y: Any, n_samples: int) -> np.ndarray:
        return number_codes(check_numbers(y, n_samples))


class TabularRegressor(TabularEstimator, ScoreRegressor):
    """A regressor that accepts missing values, categorical features and sparse matrices."""


def warn_if_not_converged(estimator: Any) -> None:
    """Warn if a fit did not reach its tolerance."""
    worst = max(as_class_list(estimator.certificate_), key=lambda certificate: certificate.gap)
    if worst.converged:
        return
    kernel = estimator.get_params(deep=False).get("kernel", "precomputed")
    other = "lower C" if kernel == "precomputed" else "scale the features of X to similar ranges"
    reached = f"a relative duality gap of {worst.gap:.1e}"
    if worst.rounding > estimator.tol:
        message = (
            f"reached {reached}, and rounding ({worst.rounding:.0e} of the objective) prevents "
            f"verification of tol={estimator.tol:g}; raise tol or {other}."
        )
    else:
        exhausted = estimator.n_iter_ >= estimator.max_iter
        remedy = f"raise max_iter={estimator.max_iter}" if exhausted else other
        message = (
            f"stopped after {estimator.n_iter_} steps at {reached}, above tol={estimator.tol:g}; "
            f"{remedy} or raise tol."
        )
    warn_user(f"{type(estimator).__name__} {message}", ConvergenceWarning)


def check_cost(C: float, weight: np.ndarray) -> None:
    """Check that C times the weights can be squared and summed in floating point."""
    low, high = C * weight.min(), C * weight.max()
    if np.inf > C and not _MIN_COST <= low <= high <= _MAX_COST:
        raise ValueError(
            f"C={C:g} times the sample weights ranges from {low:g} to {high:g}; keep it between "
            f"{_MIN_COST:g} and {_MAX_COST:g} (C=inf is the hard margin)."
        )
