"""From scores to labels, and from labels to the numbers of their classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

# Sorting is quick enough for fewer labels.
_MANY_ROWS = 10_000
# The longest table of labels to look up, and how many rows are looked up at a time.
_WIDEST, _ROWS_AT_A_TIME = 1 << 16, 1 << 18


def labels_from_scores(score: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the class that each score speaks for; a score of 0 for the first of two.

    Examples
    --------
    >>> labels_from_scores(np.array([-1.0, 2.0]), np.array(["no", "yes"]))
    array(['no', 'yes'], dtype='<U3')
    """
    if score.ndim == 1:
        return classes[(score > 0).astype(int)]
    return classes[score.argmax(axis=1)]


def log_probabilities(log_odds: np.ndarray) -> np.ndarray:
    """Return the log-probability of each class: those of each against the rest are normalized.

    Examples
    --------
    >>> np.exp(log_probabilities(np.array([0.0])))
    array([[0.5, 0.5]])
    """
    if log_odds.ndim == 1:
        return -np.logaddexp(0.0, np.column_stack([log_odds, -log_odds]))
    log_p = -np.logaddexp(0.0, -log_odds)
    return log_p - logsumexp(log_p, axis=1, keepdims=True)


def classifier_scores(classifier: Any, X: Any) -> np.ndarray:
    """Return any classifier's scores of rows: a decision function, chances, or votes.

    Chances and votes of two classes go from -1 to 1.  Scores of pairs of classes are not used.
    """
    if hasattr(classifier, "decision_function"):
        scores = classifier.decision_function(X)
        if scores.ndim == 1 or scores.shape[1] == len(classifier.classes_):
            return scores
    if hasattr(classifier, "predict_proba"):
        chances = classifier.predict_proba(X)
    else:
        chances = (classifier.predict(X)[:, None] == classifier.classes_).astype(np.float64)
    return chances[:, 1] - chances[:, 0] if chances.shape[1] == 2 else chances


def vote_shares(score: np.ndarray, shares: np.ndarray | None = None) -> np.ndarray:
    """Return shares of votes as probabilities that agree with `labels_from_scores`.

    For two classes ``score`` is the share of the second less that of the first.  For several,
    ``shares`` are those of each class, not always summing to 1, and go up with the scores; the
    scores themselves by default.

    Examples
    --------
    >>> vote_shares(np.array([-0.5, 1.0]))
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """
    if score.ndim == 1:
        second = np.clip((1.0 + score) / 2, 0.0, 1.0)
        shares = np.column_stack([1.0 - second, second])
        winner = (score > 0).astype(int)
    else:
        shares = np.maximum(score if shares is None else shares, 0.0)
        total = shares.sum(axis=1, keepdims=True)
        even = np.full_like(shares, 1.0 / shares.shape[1])
        shares = np.divide(shares, total, out=even, where=total > 0)
        winner = score.argmax(axis=1)
    # Scores that differ in their last digits only may have made equal shares.
    lost = np.flatnonzero(shares.argmax(axis=1) != winner)
    shares[lost, winner[lost]] = np.nextafter(shares[lost].max(axis=1), 2.0)
    return shares


def one_vs_rest(label: np.ndarray, n_classes: int) -> list[np.ndarray]:
    """Return which rows are positive: one problem for two classes, else one per class.

    Examples
    --------
    >>> one_vs_rest(np.array([0, 1, 1]), 2)
    [array([False,  True,  True])]
    """
    positive = [1] if n_classes == 2 else range(n_classes)
    return [label == k for k in positive]


def encode_labels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted labels that occur and the number of each row's label, in few bytes.

    Many labels are not sorted row by row: whole numbers are looked up, others hashed.

    Examples
    --------
    >>> encode_labels(np.array(["no", "yes", "no"]))
    (array(['no', 'yes'], dtype='<U3'), array([0, 1, 0], dtype=int8))
    """
    found = None
    if len(y) > _MANY_ROWS and y.dtype.kind in "biu":
        found = _code_whole_numbers(y)
    elif len(y) > _MANY_ROWS and y.dtype.kind in "fUO":
        found = _code_by_hash(y)
    classes, label = np.unique(y, return_inverse=True) if found is None else found
    return classes, label.astype(_label_type(len(classes)), copy=False)


def _label_type(n_classes: int) -> np.dtype:
    """Return the smallest type that holds the number of each class; signed, to be safe in sums."""
    return np.min_scalar_type(-max(n_classes, 1))


def _code_whole_numbers(y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Look whole numbers up in a table from the smallest to the largest, if it is not too large."""
    low, high = int(y.min()), int(y.max())
    if high - low >= _WIDEST:
        return None
    parts = [slice(k, k + _ROWS_AT_A_TIME) for k in range(0, len(y), _ROWS_AT_A_TIME)]
    seen = np.zeros(high - low + 1, dtype=bool)
    for part in parts:
        seen[_above(y[part], low)] = True
    there = np.flatnonzero(seen)
    classes = np.array([low + k for k in there.tolist()]).astype(y.dtype)
    number = np.zeros(len(seen), dtype=_label_type(len(classes)))
    number[there] = np.arange(len(there))
    label = np.empty(len(y), dtype=number.dtype)
    for part in parts:
        label[part] = number[_above(y[part], low)]
    return classes, label


def _above(y: np.ndarray, low: int) -> np.ndarray:
    """Return how far numbers are above the lowest; as uint64 none is too far for that."""
    return (y.astype(np.uint64) - np.uint64(low % 2**64)).astype(np.intp)


def _code_by_hash(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from pandas import factorize  # slow to import, and needed by few

    label, found = factorize(y, use_na_sentinel=False)
    classes, rank = np.unique(np.asarray(found, dtype=y.dtype), return_inverse=True)
    return classes, rank.astype(_label_type(len(classes)))[label]


def class_indices(y: Any, classes: np.ndarray, n_rows: int) -> np.ndarray:
    """Return the number of each label in ``classes``, or say that a label is none of them.

    Classes are sorted, unless somebody chose which of two is the positive one.

    Examples
    --------
    >>> class_indices(["bad", "good", "bad"], np.array(["good", "bad"]), 3)
    array([1, 0, 1])
    """
    y = np.asarray(y)
    wanted = f"y must hold one of the classes {classes.tolist()} for each of the {n_rows} rows of X"
    if y.shape != (n_rows,):
        raise ValueError(f"{wanted}; it has shape {y.shape}.")
    foreign = np.flatnonzero(~np.isin(y, classes))
    if len(foreign):
        row = int(foreign[0])
        raise ValueError(f"{wanted}; row {row} has {y[row : row + 1].tolist()[0]!r}.")
    order = np.argsort(classes, kind="stable")
    return order[np.searchsorted(classes, y, sorter=order)]
