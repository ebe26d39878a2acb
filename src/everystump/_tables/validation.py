"""What every estimator does to its input first: check it, in one place and in one voice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_X_y, get_tags
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from everystump._arguments import as_float_array
from everystump._core.threads import count_threads
from everystump._tables import (
    Feature,
    SparseTable,
    as_supported_table,
    check_2d,
    check_column_names,
    check_dense_2d,
    drop_unused_levels,
    is_frame,
    read_labels,
    read_rows,
    read_table,
    reorder_columns,
    warn_if_rounded,
)
from everystump._tables.labels import encode_labels, one_vs_rest
from everystump._tables.overlap import TrainingRecord
from everystump._tables.row_hashes import RowHashes, hash_numbers, hash_rows

# Of more rows than these a few labels say what kind they are.
_MANY_ROWS, _FEW_LABELS = 10_000, 20
# What scikit-learn checks of a table; what may be missing or infinite is ours to say.
_LOOSELY: dict[str, Any] = {"dtype": (np.float64, np.float32), "ensure_all_finite": False}
_SPARSELY: dict[str, Any] = {**_LOOSELY, "accept_sparse": ("csr", "csc")}


@dataclass(frozen=True)
class TrainingTable:
    """A checked training table; rows of weight 0 are left out.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features), or SparseTable
        Finite numbers, the numbers of levels, NaN where a value is missing.
    features : tuple of Feature
        What the columns of ``X`` are.
    label : ndarray of int, shape (n_rows,)
        Index of each row's class in ``classes``.
    classes : ndarray of shape (n_classes,)
        The labels that occur, sorted.
    sample_weight : ndarray of shape (n_rows,) or None
        Positive weights, None if all are 1.
    class_factor : ndarray of shape (n_rows,)
        The weight of each row's class.
    kept : ndarray of int, shape (n_rows,)
        The row of the user's table that each row is.
    n_input_rows : int
        How many rows the user's table has.
    hashes : RowHashes
        By which the rows are known again.
    """

    X: Any
    features: tuple[Feature, ...]
    label: np.ndarray
    classes: np.ndarray
    sample_weight: np.ndarray | None
    class_factor: np.ndarray
    kept: np.ndarray
    n_input_rows: int
    hashes: RowHashes

    @property
    def n_levels(self) -> list[int]:
        """How many levels each category has, 0 for numbers."""
        return [feature.n_levels for feature in self.features]

    @cached_property
    def weight(self) -> np.ndarray:
        """Sample weights times class weights."""
        if self.sample_weight is None:
            return self.class_factor
        return self.class_factor * self.sample_weight

    def take(self, index: np.ndarray) -> TrainingTable:
        """Return some of the rows as a table of their own."""
        return replace(
            self,
            X=self.X[index],
            label=self.label[index],
            sample_weight=None if self.sample_weight is None else self.sample_weight[index],
            class_factor=self.class_factor[index],
            kept=self.kept[index],
            hashes=self.hashes.take(index),
        )

    def subset(self, index: np.ndarray, features: np.ndarray | None) -> TrainingTable:
        """Return some rows and features as a training table of their own."""
        part = self.take(index)
        return replace(
            part,
            X=part.X if features is None else part.X[:, features],
            features=self.features if features is None else _some(self.features, features),
            kept=np.arange(len(index)),
            n_input_rows=len(index),
        )

    def with_class_weight(self, class_weight: Any) -> TrainingTable:
        """Return the table with other class weights."""
        factor = _class_factors(class_weight, self.classes, self.label, self.sample_weight)
        return replace(self, class_factor=_by_row(factor, self.label))

    def to_input_rows(
        self, parts: Sequence[np.ndarray] | np.ndarray, fill: float = 0.0
    ) -> np.ndarray:
        """Return values per row of each problem as values per input row.

        Rows of weight 0 get ``fill``.  The shape is (n_input_rows,) for one problem, else
        (n_problems, n_input_rows).
        """
        if len(self.kept) < self.n_input_rows:
            whole = np.full((len(parts), self.n_input_rows), fill)
            whole[:, self.kept] = parts
            parts = list(whole)
        return parts[0] if len(parts) == 1 else np.array(parts)

    def training_record(self) -> TrainingRecord:
        """Return the record by which the training rows are recognized later."""
        kept = None if len(self.kept) == self.n_input_rows else self.kept
        is_plain = self.sample_weight is None and np.all(self.class_factor == 1.0)
        weights = 0 if is_plain else hash_numbers(self.weight)
        return TrainingRecord.of(self.hashes, self.n_input_rows, kept, weights)

    def title(self, k: int) -> str:
        """Return what a report adds to name the problem of class ``k``: nothing for two classes."""
        return "" if len(self.classes) == 2 else f", class {self.classes[k]}"

    def signs(self) -> np.ndarray:
        """Return 1 for the positive and -1 for the negative rows of each problem."""
        return np.where(self.problems(), 1.0, -1.0)

    def problems(self) -> list[np.ndarray]:
        """Return which rows are positive: one problem for two classes, else one per class."""
        return one_vs_rest(self.label, len(self.classes))


def check_table(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any,
    class_weight: Any,
    *,
    reset: bool = True,
) -> TrainingTable:
    """Check a training table, or say in one sentence what is wrong with it.

    Without ``reset`` it must have the columns of the table that the estimator knows.
    """
    X, y, features = _read(estimator, X, y, reset)
    _check_labels(y)
    n_input_rows = len(y)
    kept = np.arange(n_input_rows, dtype=np.int32 if n_input_rows < 2**31 else np.int64)
    weight = None
    if sample_weight is not None:
        weight = check_sample_weight(sample_weight, X)
        kept = np.flatnonzero(weight)
        X, y, weight = _rows(X, kept), y[kept], weight[kept]
    if reset:
        features = drop_unused_levels(X, features)
    classes, label = encode_labels(y)
    check_n_classes(classes, estimator)
    by_class = _class_factors(class_weight, classes, label, weight)
    factor = _by_row(by_class, label)
    hashes = hash_rows(as_supported_table(X), label, count_threads(getattr(estimator, "n_jobs", 1)))
    return TrainingTable(X, features, label, classes, weight, factor, kept, n_input_rows, hashes)


def _by_row(by_class: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return the weight of each row's class; equal ones take no memory."""
    if np.all(by_class == by_class[0]):
        return np.broadcast_to(by_class[0], label.shape)
    return by_class[label]


def _check_labels(y: np.ndarray) -> None:
    """Check that labels are of classes; of many rows only what tells that is looked at."""
    if len(y) > _MANY_ROWS:
        few = y[:_FEW_LABELS]
        odd = y[y != np.floor(y)][:_FEW_LABELS] if y.dtype.kind == "f" else few
        y = odd if len(odd) else few
    check_classification_targets(y)


def _class_factors(
    class_weight: Any, classes: np.ndarray, label: np.ndarray, weight: np.ndarray | None
) -> np.ndarray:
    """Return the weight of each class."""
    if class_weight is None:
        return np.ones(len(classes))
    by_class = compute_class_weight(
        class_weight, classes=classes, y=classes[label], sample_weight=weight
    )
    if not np.all((by_class > 0) & (by_class < np.inf)):
        raise ValueError(
            f"class_weight={class_weight!r} must hold positive finite numbers; leave a class out "
            f"of the training table, or give its rows sample_weight=0, to do without it."
        )
    return by_class


def check_sample_weight(sample_weight: Any, X: Any) -> np.ndarray:
    """Return the weight of each row, or say in one sentence what is wrong with them."""
    given = as_float_array(sample_weight, "sample_weight", "numbers, one for each row")
    if np.any(given < 0):
        raise ValueError(
            f"sample_weight holds {given.min():g}; weights must not be negative (0 leaves a row "
            f"out)."
        )
    if given.size and not given.any():
        raise ValueError("sample_weight is zero for every row; give some row a positive weight.")
    if given.ndim and given.shape != (len(X),):
        raise ValueError(
            f"sample_weight has shape {given.shape}; pass one weight for each of the {len(X)} rows."
        )
    weight = given if given.ndim else np.full(len(X), given)
    return check_array(weight, ensure_2d=False, input_name="sample_weight")


def check_rows(estimator: BaseEstimator, X: Any) -> Any:
    """Check the rows that a fitted estimator is asked about; the columns of frames go by name.

    They are returned as an ndarray, or as a `SparseTable`, which reads like one.
    """
    features, X = estimator.feature_info_, as_supported_table(X)
    if is_frame(X):
        check_column_names(X)
        names = [feature.name for feature in features]
        if None not in names:
            X = reorder_columns(X, names)
        validate_data(estimator, X, reset=False, skip_check_array=True)
        X = check_array(read_rows(X, features), **_LOOSELY)
    elif any(feature.levels is not None for feature in features) or _holds_objects(X):
        check_dense_2d(X)
        validate_data(estimator, X, reset=False, skip_check_array=True)
        X = check_array(read_rows(X, features), **_LOOSELY)
    elif _is_sparse(X, estimator):
        X = SparseTable(validate_data(estimator, X, reset=False, **_SPARSELY))
    else:
        check_2d(X)
        X = validate_data(estimator, X, reset=False, **_LOOSELY)
    check_finite(X, estimator, features)
    return X


def _read(
    estimator: BaseEstimator, X: Any, y: Any, reset: bool
) -> tuple[Any, np.ndarray, tuple[Feature, ...]]:
    """Read a training table as numbers, and check that it goes with ``y``."""
    y = read_labels(y)
    if not reset:
        X = check_rows(estimator, X)
        _, y = check_X_y(as_supported_table(X), y, **_SPARSELY)
        return X, y, estimator.feature_info_
    chosen, X = getattr(estimator, "categorical_features", "from_dtype"), as_supported_table(X)
    plain = isinstance(chosen, str) or chosen is None
    if is_frame(X):
        check_column_names(X)
        validate_data(estimator, X, y, skip_check_array=True)
        X, features = read_table(X, chosen)
        X, y = check_X_y(X, y, **_LOOSELY)
    elif plain and _is_sparse(X, estimator):
        given = X
        X, y = validate_data(estimator, X, y, **_SPARSELY)
        X, features = SparseTable(X), (Feature(),) * X.shape[1]
        _warn_if_sparse_rounded(given, X)
    elif plain and not _holds_objects(X):
        given = np.asarray(X)
        X, y = validate_data(estimator, X, y, **_LOOSELY)
        features = (Feature(),) * X.shape[1]
        if given.dtype in (np.int64, np.uint64) and np.abs([X.min(), X.max()]).max() >= 2.0**53:
            for d in range(X.shape[1]):
                warn_if_rounded(given[:, d], X[:, d], str(d))
    else:
        X, features = read_table(X, chosen)
        X, y = validate_data(estimator, X, y, **_LOOSELY)
    _refuse_categories(features, estimator)
    check_finite(X, estimator, features)
    return X, y, features


def _is_sparse(X: Any, estimator: BaseEstimator) -> bool:
    """Tell whether a table is sparse, and the estimator takes it so."""
    return sparse.issparse(X) and get_tags(estimator).input_tags.sparse


def _warn_if_sparse_rounded(given: Any, table: SparseTable) -> None:
    if given.dtype in (np.int64, np.uint64):
        as_given = SparseTable(given.tocsc())
        rows = table.csr
        for d in np.unique(rows.indices[np.abs(rows.data) >= 2.0**53]):
            warn_if_rounded(as_given[:, d], table[:, d], str(d))


def _holds_objects(X: Any) -> bool:
    """Tell whether an array or lists may hold more than numbers."""
    return not sparse.issparse(X) and np.asarray(X).dtype.kind in "OUSMm"


def _some(features: tuple[Feature, ...], index: np.ndarray) -> tuple[Feature, ...]:
    return tuple(features[d] for d in index)


def check_n_classes(classes: np.ndarray, estimator: BaseEstimator) -> None:
    """Raise if there is nothing to tell apart."""
    if len(classes) < 2:
        raise ValueError(
            f"y: only one class, {classes.tolist()[0]!r}, has rows of positive weight; "
            f"{type(estimator).__name__} needs at least two classes."
        )


def _refuse_categories(features: tuple[Feature, ...], estimator: BaseEstimator) -> None:
    """Raise if an estimator of numbers is given a category."""
    if getattr(estimator, "_supports_categories", False):
        return
    for d, feature in enumerate(features):
        if feature.levels is not None:
            raise ValueError(
                f"X has {feature.levels.tolist()[0]!r} in column {feature.shown(d)}, which is no "
                f"number, and {type(estimator).__name__} takes numbers only: encode the column, "
                f"for example with scikit-learn's OneHotEncoder, or use StumpSVC."
            )


def _first_bad(X: np.ndarray, allow_nan: bool) -> tuple[int, int] | None:
    """Return row and feature of the first infinite cell, or NaN where none is allowed."""
    with np.errstate(all="ignore"):
        if np.isfinite(X.sum()):
            return None
    bad = np.argwhere(np.isinf(X) if allow_nan else ~np.isfinite(X))
    return (int(bad[0, 0]), int(bad[0, 1])) if len(bad) else None


def check_finite(X: Any, estimator: BaseEstimator, features: tuple[Feature, ...]) -> None:
    """Raise if ``X`` holds infinity, or NaN where the estimator takes none, naming the first."""
    allow_nan = get_tags(estimator).input_tags.allow_nan
    is_sparse = isinstance(X, SparseTable)
    found = X.first_invalid(allow_nan) if is_sparse else _first_bad(X, allow_nan)
    if found is None:
        return
    row, d = found
    where = f"in row {row}, feature {features[d].shown(d)}"
    name = type(estimator).__name__
    if np.isnan(X[row : row + 1][0, d]):
        raise ValueError(
            f"X contains NaN {where}; {name} does not accept missing values: fill them, for "
            f"example with scikit-learn's SimpleImputer, or use StumpSVC, which learns from them."
        )
    raise ValueError(
        f"X contains infinity {where}; {name} does not accept infinity: replace it by a large "
        f"number{' or by NaN' if allow_nan else ''}."
    )


def _rows(X: Any, kept: np.ndarray) -> Any:
    return X if len(kept) == len(X) else X[kept]
