"""A vote of any classifiers, with weights found on rows that they have not seen."""

from __future__ import annotations

import warnings
import zlib
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import issparse
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from everystump._sklearn_compat import BaseHeterogeneousEnsemble, Interval, safe_indexing
from everystump._tables import (
    SparseTable,
    check_column_names,
    is_frame,
    read_labels,
    reorder_columns,
)
from everystump._tables.labels import vote_shares
from everystump._tables.overlap import Overlap, TrainingRecord
from everystump._tables.row_hashes import hash_numbers, hash_rows
from everystump._tables.validation import check_n_classes, check_sample_weight
from everystump._tables.weighted_rows import WeightedRows, fit_weighted, supports_sample_weight
from everystump.bounds._nested_overlap import with_prefit_members
from everystump.estimators._base import ScoreClassifier


class WeightedVoteClassifier(ScoreClassifier, BaseHeterogeneousEnsemble):
    """Vote of any classifiers, with weights found on held-out rows (Sugiyama, section 30.4).

    The weights, none of them negative, minimise the logistic loss of the vote on these rows.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The voters, each with a name.
    prefit : bool, default=False
        Whether the voters are fitted already, so that all rows given to ``fit`` serve to find the
        weights.
    validation_fraction : float, default=0.25
        Share of the rows that is held out to find the weights, unless `prefit`.
    C : float, default=100.0
        What a held-out row's loss costs against half the squared weights; it matters only where
        some voters make no mistake.
    random_state : int, RandomState instance or None, default=None
        Draws the held-out rows.

    Attributes
    ----------
    weights_ : ndarray of shape (n_estimators,)
        The weight of each voter's vote; they sum to 1.
    estimators_ : list of estimators
        The fitted voters.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from everystump import StumpBoostingClassifier, WeightedVoteClassifier
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> voters = [("boosting", StumpBoostingClassifier()), ("neighbours", KNeighborsClassifier())]
    >>> model = WeightedVoteClassifier(voters, random_state=0).fit(X, y)
    >>> model.weights_.shape, model.score(X, y) > 0.95
    ((2,), True)
    """

    _parameter_constraints: ClassVar[dict] = {
        "estimators": [list],
        "prefit": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimators: list,
        *,
        prefit: bool = False,
        validation_fraction: float = 0.25,
        C: float = 100.0,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.prefit = prefit
        self.validation_fraction = validation_fraction
        self.C = C
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the weights, and fit the voters before unless they are.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows; what is allowed in them is up to the voters.
        y : array-like of shape (n_rows,)
            Labels.
        sample_weight : array-like of shape (n_rows,), optional
            Whole weights count copies of a row, some of which may be held out and others not, as
            with repeated rows; a weight of 0 is a row's absence.  With other weights rows are held
            out as without, and voters and the loss of the vote take the weights of their rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validate_params()
        voters = self._voters()
        y = validate_data(self, y=read_labels(y))
        X = self._rows(X)
        check_classification_targets(y)
        check_consistent_length(X, y)
        weight, kept, n_input_rows = None, None, len(y)
        if sample_weight is not None:
            weight = check_sample_weight(sample_weight, y)
            kept = np.flatnonzero(weight)
            X, y, weight = safe_indexing(X, kept), y[kept], weight[kept]
        self.classes_, label = np.unique(y, return_inverse=True)
        check_n_classes(self.classes_, self)
        hashes = hash_rows(self._comparable_rows(X), label)
        marks = 0 if weight is None else hash_numbers(weight)
        self._training_record = TrainingRecord.of(hashes, n_input_rows, kept, marks)
        rows = WeightedRows.of(hashes, weight)
        held_out = np.arange(len(label))
        if self.prefit:
            self.estimators_ = voters
        else:
            seen, held_out = self._split(rows, label)
            self.estimators_ = [_fitted(voter, rows, seen, X, y) for voter in voters]
        index, own = (held_out, weight) if self.prefit else rows.merged(np.sort(held_out))
        votes = self._votes(safe_indexing(X, index))
        self.weights_ = _shares(_find_weights(votes, label[index], self.C, own))
        return self

    def _sub_estimators(self) -> list:
        return [] if self.prefit else self.estimators_

    def _split(self, rows: WeightedRows, label: np.ndarray) -> list[np.ndarray]:
        """Return the copies of rows that the voters see, and those that are held out."""
        copies = rows.copies()
        by_class = label[copies]
        return train_test_split(
            copies,
            test_size=self.validation_fraction,
            stratify=by_class if np.bincount(by_class).min() > 1 else None,
            random_state=self.random_state,
        )

    def _voters(self) -> list:
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in self.estimators):
            raise ValueError(f"estimators={self.estimators!r} must be (name, estimator) pairs.")
        if all(voter == "drop" for _, voter in self.estimators):
            raise ValueError(f"estimators={self.estimators!r} holds nobody to vote; name some.")
        _, voters = self._validate_estimators()
        return [voter for voter in voters if voter != "drop"]

    def _rows(self, X: Any, reset: bool = True) -> Any:
        """Check rows; frames reach the voters as they are, who may want their names and words."""
        if is_frame(X):
            check_column_names(X)
            if not reset and hasattr(self, "feature_names_in_"):
                X = reorder_columns(X, self.feature_names_in_)
            return validate_data(self, X, reset=reset, skip_check_array=True)
        formats = ("csr", "csc") if get_tags(self).input_tags.sparse else False
        return validate_data(
            self, X, reset=reset, ensure_all_finite="allow-nan", accept_sparse=formats
        )

    def _comparable_rows(self, X: Any) -> Any:
        X = self._rows(X, reset=False)
        if issparse(X):
            return SparseTable(X).csr
        columns = [X[name] for name in X.columns] if is_frame(X) else X.T
        return np.column_stack([_as_numbers(np.asarray(column)) for column in columns])

    def _compare(self, X: Any, y: Any) -> Overlap:
        """Compare rows with those of the weights, and with those of voters that were fitted."""
        rows = self._rows(X, reset=False)
        parts = [
            (voter, rows)
            for voter in self.estimators_
            if self.prefit or isinstance(voter, FrozenEstimator)
        ]
        return with_prefit_members(super()._compare(X, y), parts, self.classes_, y)

    def _votes(self, X: Any) -> np.ndarray:
        """Return 1 where a voter names a class, as (n_rows, n_classes, n_voters)."""
        said = np.column_stack([voter.predict(X) for voter in self.estimators_])
        return (said[:, None, :] == self.classes_[None, :, None]).astype(np.float64)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the weighted vote on each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            By how much more weight speaks for ``classes_[1]`` than for ``classes_[0]``, or the
            weight that speaks for each class.
        """
        check_is_fitted(self, "weights_")
        X = self._rows(X, reset=False)
        score = self._votes(X) @ self.weights_
        return score[:, 1] - score[:, 0] if len(self.classes_) == 2 else score

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of the vote's weight that names each class, for each row.

        These shares agree with ``predict``, but they are no calibrated probabilities: each voter
        counts by the class that it names, whether or not it has probabilities of its own, so that
        a row on which all agree gets 0 and 1.  For probabilities calibrate the vote, for example
        with `sklearn.calibration.CalibratedClassifierCV`.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Rows sum to 1.
        """
        return vote_shares(self.decision_function(X))


def _as_numbers(cells: np.ndarray) -> np.ndarray:
    """Return numbers that stand for the cells of any column: text by a checksum."""
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64)
    texts, place = np.unique(cells.astype(str), return_inverse=True)
    sums = [zlib.crc32(text.encode("utf-8", "surrogatepass")) for text in texts.tolist()]
    return np.array(sums, dtype=np.float64)[place]


def _fitted(voter: Any, rows: WeightedRows, seen: np.ndarray, X: Any, y: np.ndarray) -> Any:
    """Return a voter that was fitted to some copies of rows."""
    rows.check_supports_weights(voter)
    index, weight = (
        rows.merged(np.sort(seen)) if supports_sample_weight(voter) else (np.sort(seen), None)
    )
    return fit_weighted(clone(voter), safe_indexing(X, index), y[index], weight)


def _shares(found: np.ndarray) -> np.ndarray:
    """Return weights that sum to 1."""
    if found.any():
        return found / found.sum()
    warnings.warn(
        "estimators: no voter is better than a coin on the held-out rows, so all get the same "
        "weight; pass better voters or more rows.",
        stacklevel=3,
    )
    return np.full(len(found), 1.0 / len(found))


def _find_weights(
    votes: np.ndarray, label: np.ndarray, C: float, weight: np.ndarray | None
) -> np.ndarray:
    """Minimise ``|w|^2 / 2 + C sum of -log softmax(votes w)[label]`` over ``w >= 0``."""
    rows = np.arange(len(label))
    own = votes[rows, label]
    cost = np.full(len(label), C) if weight is None else C * weight

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        score = votes @ w
        loss = cost @ (logsumexp(score, axis=1) - own @ w)
        slope = np.einsum("i,ik,ikt->t", cost, softmax(score, axis=1), votes) - cost @ own
        return float(w @ w) / 2 + float(loss), w + slope

    start = np.zeros(votes.shape[2])
    return minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(start)
    ).x
