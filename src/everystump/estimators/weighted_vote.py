"""Weighted votes of arbitrary classifiers."""

from __future__ import annotations

import zlib
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import issparse
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from everystump._core.sparse import SparseTable
from everystump._selection.folds import split_holdout
from everystump._sklearn_compat import (
    BaseHeterogeneousEnsemble,
    Interval,
    check_columns,
    is_regressor,
    safe_indexing,
)
from everystump._tables.frames import check_column_names, is_frame, reorder_columns
from everystump._tables.labels import read_labels, vote_fractions
from everystump._tables.overlap import Overlap, TrainingRecord
from everystump._tables.row_hashes import hash_numbers, hash_rows
from everystump._tables.validation import check_n_classes, check_sample_weight
from everystump._tables.weighted_rows import WeightedRows, fit_weighted, supports_sample_weight
from everystump._warnings import warn_user
from everystump.bounds._nested_overlap import with_prefit_members
from everystump.estimators._base import ProbabilityClassifier, ScoreClassifier


@dataclass(eq=False, repr=False)
class WeightedVoteClassifier(ProbabilityClassifier, ScoreClassifier, BaseHeterogeneousEnsemble):
    """Weighted vote of arbitrary classifiers (Sugiyama, section 30.4).

    The non-negative weights minimize the logistic loss of the vote on held-out samples.  Integer
    sample weights count copies of a sample, some of which may be held out; other weights are passed
    to the classifiers and to the loss.

    The probabilities are the total weights of the classifiers that predict each class.  They agree
    with ``predict``, but are not calibrated: where all classifiers agree, they are 0 and 1.  Use
    `sklearn.calibration.CalibratedClassifierCV` for calibrated probabilities.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Named classifiers.
    prefit : bool, default=False
        Whether the classifiers are already fitted.  Then all samples are used to find the weights.
    validation_fraction : float, default=0.25
        Fraction of the samples that is held out to find the weights, unless `prefit`.
    C : float, default=100.0
        Inverse regularization strength of the weights.  It matters only if some classifiers make no
        errors on the held-out samples.
    random_state : int, RandomState instance or None, default=None
        Controls which samples are held out.

    Attributes
    ----------
    weights_ : ndarray of shape (n_estimators,)
        Weight of each classifier; they sum to 1.
    estimators_ : list of estimators
        Fitted classifiers.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training data had names.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from everystump import StumpBoostingClassifier, WeightedVoteClassifier
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> estimators = [("boost", StumpBoostingClassifier()), ("neighbors", KNeighborsClassifier())]
    >>> model = WeightedVoteClassifier(estimators, random_state=0).fit(X, y)
    >>> model.weights_.shape, model.score(X, y) > 0.95
    ((2,), True)
    """

    _fitted_attribute: ClassVar[str] = "weights_"

    _parameter_constraints: ClassVar[dict] = {
        "estimators": [list],
        "prefit": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    estimators: list
    _: KW_ONLY
    prefit: bool = False
    validation_fraction: float = 0.25
    C: float = 100.0
    random_state: Any = None

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        members = self._members()
        y = validate_data(self, y=read_labels(y))
        X = self._check_samples(X, reset=True)
        check_classification_targets(y)
        check_consistent_length(X, y)
        weight, kept, n_input_rows = None, None, len(y)
        if sample_weight is not None:
            weight = check_sample_weight(sample_weight, y)
            kept = np.flatnonzero(weight)
            X, y, weight = safe_indexing(X, kept), y[kept], weight[kept]
        classes, label = np.unique(y, return_inverse=True)
        check_n_classes(classes, self)
        self._reset()
        self.classes_ = classes
        hashes = hash_rows(self._comparable_rows(X), label)
        weight_hash = 0 if weight is None else hash_numbers(weight)
        self._training_record = TrainingRecord.from_hashes(hashes, n_input_rows, kept, weight_hash)
        rows = WeightedRows.from_hashes(hashes, weight)
        if self.prefit:
            self.estimators_, index = members, np.arange(len(label))
        else:
            train, held_out = self._split(rows, label)
            self.estimators_ = [_fit_member(member, rows, train, X, y) for member in members]
            index, weight = rows.merge_copies(np.sort(held_out))
        votes = self._votes(safe_indexing(X, index))
        self.weights_ = _normalized(_optimal_weights(votes, label[index], self.C, weight))

    def _sub_estimators(self) -> list:
        return [] if self.prefit else self.estimators_

    def _split(self, rows: WeightedRows, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the copies of samples to train the classifiers on, and the held-out ones."""
        copies = rows.copies()
        train, test = split_holdout(label[copies], self.validation_fraction, self.random_state)
        return copies[train], copies[test]

    def _members(self) -> list:
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in self.estimators):
            raise ValueError(f"estimators={self.estimators!r} must be (name, estimator) pairs.")
        if all(member == "drop" for _, member in self.estimators):
            raise ValueError(
                f"estimators={self.estimators!r} has no classifiers; pass at least one."
            )
        for name, member in self.estimators:
            if is_regressor(member):
                raise ValueError(
                    f"estimators: {name!r} is a regressor, {member!r}; pass classifiers, or use "
                    f"VotingRegressor of scikit-learn."
                )
        _, members = self._validate_estimators()
        return [member for member in members if member != "drop"]

    def _check_samples(self, X: Any, reset: bool = False) -> Any:
        """Validate samples; frames are passed to the classifiers as they are."""
        if is_frame(X):
            check_column_names(X)
            if not reset and hasattr(self, "feature_names_in_"):
                X = reorder_columns(X, self.feature_names_in_)
            check_columns(self, X, reset=reset)
            return X
        formats = ("csr", "csc") if get_tags(self).input_tags.sparse else False
        return validate_data(
            self, X, reset=reset, ensure_all_finite="allow-nan", accept_sparse=formats
        )

    def _comparable_rows(self, X: Any) -> Any:
        X = self._check_samples(X)
        if issparse(X):
            return SparseTable(X).csr
        columns = [X[name] for name in X.columns] if is_frame(X) else X.T
        return np.column_stack([_as_numbers(np.asarray(column)) for column in columns])

    def _training_overlap(self, X: Any, y: Any) -> Overlap:
        rows = self._check_samples(X)
        prefit = [
            (member, rows)
            for member in self.estimators_
            if self.prefit or isinstance(member, FrozenEstimator)
        ]
        return with_prefit_members(super()._training_overlap(X, y), prefit, self.classes_, y)

    def _votes(self, X: Any) -> np.ndarray:
        """Return 1 where a classifier predicts a class: (n_samples, n_classes, n_estimators)."""
        predicted = np.column_stack([member.predict(X) for member in self.estimators_])
        return (predicted[:, None, :] == self.classes_[None, :, None]).astype(np.float64)

    def _decision_function(self, X: Any) -> np.ndarray:
        scores = self._votes(X) @ self.weights_
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        return vote_fractions(scores)


def _as_numbers(cells: np.ndarray) -> np.ndarray:
    """Return a column as numbers, text as checksums."""
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64)
    texts, inverse = np.unique(cells.astype(str), return_inverse=True)
    sums = [zlib.crc32(text.encode("utf-8", "surrogatepass")) for text in texts.tolist()]
    return np.array(sums, dtype=np.float64)[inverse]


def _fit_member(member: Any, rows: WeightedRows, train: np.ndarray, X: Any, y: np.ndarray) -> Any:
    """Return a classifier fitted to some copies of samples."""
    rows.check_supports_weights(member)
    index, weight = np.sort(train), None
    if supports_sample_weight(member):
        index, weight = rows.merge_copies(index)
    return fit_weighted(clone(member), safe_indexing(X, index), y[index], weight)


def _normalized(weights: np.ndarray) -> np.ndarray:
    """Return weights that sum to 1, equal ones if all are 0."""
    if weights.any():
        return weights / weights.sum()
    warn_user(
        "estimators: no classifier is better than chance on the held-out samples, so all get "
        "the same weight; pass better classifiers or more samples."
    )
    return np.full(len(weights), 1.0 / len(weights))


def _optimal_weights(
    votes: np.ndarray, label: np.ndarray, C: float, weight: np.ndarray | None
) -> np.ndarray:
    """Minimize ``|w|^2 / 2 - C sum_i log softmax(votes_i w)[label_i]`` over ``w >= 0``."""
    correct = votes[np.arange(len(label)), label]
    cost = np.full(len(label), C) if weight is None else C * weight

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        score = votes @ w
        loss = cost @ (logsumexp(score, axis=1) - correct @ w)
        gradient = np.einsum("i,ik,ikt->t", cost, softmax(score, axis=1), votes) - cost @ correct
        return float(w @ w) / 2 + float(loss), w + gradient

    start = np.zeros(votes.shape[2])
    bounds = [(0, None)] * len(start)
    return minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x
