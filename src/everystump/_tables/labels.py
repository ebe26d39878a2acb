"""Labels: reading and encoding them, and predicting them from scores."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any, NoReturn

import numpy as np
from scipy.special import logsumexp

from everystump._tables.column_errors import has_times
from everystump._values import is_missing

# Sorting is fast enough for fewer labels.
_MANY_ROWS = 10_000
# The longest lookup table of integer labels, and how many rows are looked up at a time.
_MAX_RANGE, _CHUNK_ROWS = 1 << 16, 1 << 13


def read_labels(y: Any) -> Any:
    """Return labels as an array of NumPy's own types; raise if one is missing.

    Labels that scikit-learn can validate are returned unchanged.

    Examples
    --------
    >>> read_labels(np.array(["a", "b"], dtype=np.dtypes.StringDType()))
    array(['a', 'b'], dtype='<U1')
    """
    if _is_pandas_extension(y):
        return _read_pandas_extension(y)
    cells = np.asarray(y)
    if cells.ndim != 1:
        return y
    if cells.dtype.kind == "T":
        cells = cells.astype(object)
        _check_not_missing(cells)
        return cells.astype(str)
    if cells.dtype == object:
        _check_not_missing(cells)
    if cells.dtype.kind == "f" and np.isnan(cells).any():
        _raise_missing(float("nan"), int(np.flatnonzero(np.isnan(cells))[0]))
    return y


def _is_pandas_extension(y: Any) -> bool:
    return hasattr(getattr(y, "dtype", None), "na_value") and hasattr(y, "isna")


def _read_pandas_extension(y: Any) -> np.ndarray:
    """Return labels of a pandas extension type as a NumPy array."""
    missing = np.flatnonzero(np.asarray(y.isna()))
    if len(missing):
        _raise_missing(None, int(missing[0]))
    numbers = getattr(y.dtype, "numpy_dtype", None)
    if numbers is not None and numbers.kind in "iufb":
        return y.to_numpy(dtype=numbers)
    cells = np.asarray(y)
    return np.asarray(cells.tolist()) if cells.dtype == object else cells


def _check_not_missing(cells: np.ndarray) -> None:
    for row, label in enumerate(cells.tolist()):
        if is_missing(label):
            _raise_missing(label, row)


def _raise_missing(label: Any, row: int) -> NoReturn:
    raise ValueError(
        f"y: the label of row {row} is missing ({label!r}; y contains NaN or None), and every row "
        f"needs one; drop these rows, or assign them a separate class."
    )


def read_numbers(y: Any) -> Any:
    """Return the targets of a regression; raise if one is missing or not a finite number.

    Targets that scikit-learn can validate are returned unchanged.

    Examples
    --------
    >>> read_numbers([1, 2.5])
    [1, 2.5]
    """
    _check_no_dates(y)
    if _is_pandas_extension(y):
        _check_finite(~np.asarray(y.isna()), y)
        y = _read_pandas_extension(y)
    cells = np.asarray(y)
    if cells.ndim != 1:
        return y
    if cells.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must contain real numbers.")
    if cells.dtype.kind not in "biuf":
        try:
            y = cells = cells.astype(np.float64)
        except (TypeError, ValueError):
            row = next(k for k, cell in enumerate(cells.tolist()) if not _is_number(cell))
            raise ValueError(
                f"y: the target of row {row} is {cells.tolist()[row]!r}, which is not a number; a "
                f"regression needs numbers, and classes need a classifier such as StumpSVC."
            ) from None
    if cells.dtype.kind == "f":
        _check_finite(np.isfinite(cells), cells)
    return y


def _check_finite(is_finite: np.ndarray, targets: Any) -> None:
    """Raise if the target of a row is missing or infinite."""
    if not is_finite.all():
        row = int(np.flatnonzero(~is_finite)[0])
        raise ValueError(
            f"y: the target of row {row} is {targets.tolist()[row]} (y contains NaN or infinity), "
            f"and every row needs a finite number; drop these rows."
        )


def _check_no_dates(y: Any) -> None:
    """Raise if targets are dates, times or durations; of objects, the first one decides."""
    cells = y if hasattr(y, "dtype") else np.asarray(y)
    shown = str(cells.dtype)
    is_date = has_times(cells)
    if shown == "object" and cells.ndim == 1:
        first = next((cell for cell in cells if not is_missing(cell)), None)
        is_date, shown = isinstance(first, date | time | timedelta), f"such as {first!r}"
    if is_date:
        raise ValueError(
            f"y contains dates or times ({shown}), and a regression needs numbers; convert them, "
            f"such as to days since some date."
        )


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def check_numbers(y: Any, n_rows: int) -> np.ndarray:
    """Return the targets of ``n_rows`` samples as floats."""
    numbers = np.asarray(read_numbers(y), dtype=np.float64)
    if numbers.shape != (n_rows,):
        raise ValueError(
            f"y must have one number for each of the {n_rows} samples; it has shape "
            f"{numbers.shape}."
        )
    return numbers


def number_codes(y: np.ndarray) -> np.ndarray:
    """Return integers by which rows with equal targets are recognized.

    They depend on about 5 digits, like the hashes of the features.

    Examples
    --------
    >>> codes = number_codes(np.array([1e300, 1.000001e300, 1.001e300]))
    >>> (codes[0] == codes).tolist()
    [True, True, False]
    """
    bits = (np.asarray(y, dtype=np.float64) + 0.0).view(np.uint64)  # -0.0 becomes 0.0
    rounded = (bits + np.uint64(1 << 35)) >> np.uint64(36)  # sign, exponent, 16 binary digits
    return rounded.astype(np.int32)


def labels_from_scores(score: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the class that each score favors; of two classes, a score of 0 favors the first.

    Examples
    --------
    >>> labels_from_scores(np.array([-1.0, 2.0]), np.array(["no", "yes"]))
    array(['no', 'yes'], dtype='<U3')
    """
    if score.ndim == 1:
        return classes[(score > 0).astype(int)]
    return classes[score.argmax(axis=1)]


def log_probabilities(log_odds: np.ndarray, *, softmax: bool = False) -> np.ndarray:
    """Return log-probabilities from log-odds.

    For several classes, those of one-vs-rest are normalized; with ``softmax``, the scores of all
    classes are those of one multinomial model.

    Examples
    --------
    >>> np.exp(log_probabilities(np.array([0.0])))
    array([[0.5, 0.5]])
    """
    if log_odds.ndim == 1:
        return -np.logaddexp(0.0, np.column_stack([log_odds, -log_odds]))
    log_p = log_odds if softmax else -np.logaddexp(0.0, -log_odds)
    return log_p - logsumexp(log_p, axis=1, keepdims=True)


def classifier_scores(classifier: Any, X: Any) -> np.ndarray:
    """Return a classifier's scores: its decision function, or else probabilities or votes.

    Probabilities and votes of two classes are mapped to [-1, 1].  One-vs-one scores are not used.
    """
    if hasattr(classifier, "decision_function"):
        scores = classifier.decision_function(X)
        if scores.ndim == 1 or scores.shape[1] == len(classifier.classes_):
            return scores
    if hasattr(classifier, "predict_proba"):
        probabilities = classifier.predict_proba(X)
    else:
        is_predicted = classifier.predict(X)[:, None] == classifier.classes_
        probabilities = is_predicted.astype(np.float64)
    if probabilities.shape[1] == 2:
        return probabilities[:, 1] - probabilities[:, 0]
    return probabilities


def vote_fractions(score: np.ndarray, shares: np.ndarray | None = None) -> np.ndarray:
    """Return shares of votes as probabilities that agree with `labels_from_scores`.

    For two classes, ``score`` is the share of the second minus that of the first.  For several,
    ``shares`` are those of each class, which increase with the scores and need not sum to 1; by
    default they are the scores themselves.

    Examples
    --------
    >>> vote_fractions(np.array([-0.5, 1.0]))
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
    # Scores that differ only in their last digits may have led to equal shares.
    tied = np.flatnonzero(shares.argmax(axis=1) != winner)
    shares[tied, winner[tied]] = np.nextafter(shares[tied].max(axis=1), 2.0)
    return shares


def one_vs_rest(label: np.ndarray, n_classes: int) -> list[np.ndarray]:
    """Return which rows are positive in each one-vs-rest problem; two classes are one problem.

    Examples
    --------
    >>> one_vs_rest(np.array([0, 1, 1]), 2)
    [array([False,  True,  True])]
    """
    positive = [1] if n_classes == 2 else range(n_classes)
    return [label == k for k in positive]


def encode_labels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes, and the class index of each row in a small integer type.

    Many labels are not sorted: integers are looked up in a table, others are hashed.

    Examples
    --------
    >>> encode_labels(np.array(["no", "yes", "no"]))
    (array(['no', 'yes'], dtype='<U3'), array([0, 1, 0], dtype=int8))
    """
    encoded = None
    if len(y) > _MANY_ROWS and y.dtype.kind in "biu":
        encoded = _encode_integers(y)
    elif len(y) > _MANY_ROWS and y.dtype.kind in "fUO":
        encoded = _encode_by_hash(y)
    classes, label = np.unique(y, return_inverse=True) if encoded is None else encoded
    return classes, label.astype(label_type(len(classes)), copy=False)


def label_type(n_classes: int) -> np.dtype:
    """Return the smallest signed type for class indices; unsigned ones would wrap around."""
    return np.min_scalar_type(-max(n_classes, 1))


def _encode_integers(y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Encode integers by a table from the smallest to the largest, unless it is too large."""
    low, high = int(y.min()), int(y.max())
    if high - low >= _MAX_RANGE:
        return None
    parts = [slice(k, k + _CHUNK_ROWS) for k in range(0, len(y), _CHUNK_ROWS)]
    is_present = np.zeros(high - low + 1, dtype=bool)
    for part in parts:
        is_present[_above(y[part], low)] = True
    present = np.flatnonzero(is_present)
    classes = np.array([low + k for k in present.tolist()]).astype(y.dtype)
    index = np.zeros(len(is_present), dtype=label_type(len(classes)))
    index[present] = np.arange(len(present))
    label = np.empty(len(y), dtype=index.dtype)
    for part in parts:
        label[part] = index[_above(y[part], low)]
    return classes, label


def _above(y: np.ndarray, low: int) -> np.ndarray:
    """Return integers minus the lowest one; the difference of any two fits into uint64."""
    return (y.astype(np.uint64) - np.uint64(low % 2**64)).astype(np.intp)


def _encode_by_hash(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from pandas import factorize  # slow to import

    label, distinct = factorize(y, use_na_sentinel=False)
    classes, rank = np.unique(np.asarray(distinct, dtype=y.dtype), return_inverse=True)
    return classes, rank.astype(label_type(len(classes)))[label]


def class_indices(y: Any, classes: np.ndarray, n_rows: int) -> np.ndarray:
    """Return the index of each label in ``classes``; raise if a label is not among them.

    Classes are sorted, unless the user chose which of two is the positive one.

    Examples
    --------
    >>> class_indices(["bad", "good", "bad"], np.array(["good", "bad"]), 3)
    array([1, 0, 1])
    """
    y = np.asarray(y)
    expected = f"y must have one of the classes {classes.tolist()} for each of the {n_rows} samples"
    if y.shape != (n_rows,):
        raise ValueError(f"{expected}; it has shape {y.shape}.")
    unknown = np.flatnonzero(~np.isin(y, classes))
    if len(unknown):
        row = int(unknown[0])
        raise ValueError(f"{expected}; row {row} has {y[row : row + 1].tolist()[0]!r}.")
    order = np.argsort(classes, kind="stable")
    return order[np.searchsorted(classes, y, sorter=order)]
