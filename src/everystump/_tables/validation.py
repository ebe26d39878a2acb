"""Validation of the tables, labels and weights that are passed to estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_X_y, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from everystump._arguments import as_float_array
from everystump._core.sparse import SparseTable
from everystump._core.targets import TargetScale
from everystump._core.threads import count_threads
from everystump._sklearn_compat import check_columns
from everystump._tables.column_errors import warn_if_matrix_rounded
from everystump._tables.frames import (
    Feature,
    as_supported_table,
    check_2d,
    check_column_names,
    check_dense_2d,
    drop_unused_levels,
    is_frame,
    read_rows,
    read_table,
    reorder_columns,
)
from everystump._tables.labels import encode_labels, number_codes, read_labels, read_numbers
from everystump._tables.row_hashes import RowHashes, hash_rows
from everystump._tables.training_table import ClassTable, NumberTable, class_factors

# In longer label arrays, only a few labels are checked to be classes.
_MANY_ROWS, _FEW_LABELS = 10_000, 20
# Arguments of scikit-learn's checks; NaN and infinity are checked here.
_DENSE: dict[str, Any] = {"dtype": (np.float64, np.float32), "ensure_all_finite": False}
_SPARSE: dict[str, Any] = {**_DENSE, "accept_sparse": ("csr", "csc")}


def check_table(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any,
    class_weight: Any,
    *,
    reset: bool = True,
) -> ClassTable:
    """Validate a training table of classes.

    Without ``reset`` it must have the columns of the table that the estimator was fitted to.
    """
    y = read_labels(y)
    if reset:
        X, y, features = _read(estimator, X, y)
    else:
        X, features = check_rows(estimator, X), estimator.feature_info_
        _, y = check_X_y(as_supported_table(X), y, **_SPARSE)
    check_target(y)
    rows = _weighted_rows(X, y, sample_weight)
    if reset:
        features = drop_unused_levels(rows.X, features)
    classes, label = encode_labels(rows.y)
    check_n_classes(classes, estimator)
    return ClassTable(
        X=rows.X,
        features=features,
        label=label,
        classes=classes,
        sample_weight=rows.weight,
        class_factor=class_factors(class_weight, classes, label, rows.weight),
        input_index=rows.input_index,
        n_input_rows=len(y),
        hashes=_hashes(estimator, rows.X, label),
    )


def check_regression_table(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any,
    target_scale: Callable[[np.ndarray, np.ndarray | None], TargetScale],
) -> NumberTable:
    """Validate a training table of numbers to predict.

    ``target_scale`` returns their scale, given targets and weights, or raises an error.
    """
    y = read_numbers(y)
    X, y, features = _read(estimator, X, y)
    y = np.asarray(y, dtype=np.float64)
    rows = _weighted_rows(X, y, sample_weight)
    return NumberTable(
        X=rows.X,
        features=drop_unused_levels(rows.X, features),
        y=rows.y,
        scale=target_scale(rows.y, rows.weight),
        sample_weight=rows.weight,
        input_index=rows.input_index,
        n_input_rows=len(y),
        hashes=_hashes(estimator, rows.X, number_codes(rows.y)),
    )


class _WeightedRows(NamedTuple):
    """The rows of positive weight; the weights are None if all are 1."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    input_index: np.ndarray


def _weighted_rows(X: Any, y: np.ndarray, sample_weight: Any) -> _WeightedRows:
    """Validate the weights; return the rows of positive weight."""
    if sample_weight is None:
        index = np.arange(len(y), dtype=np.int32 if len(y) < 2**31 else np.int64)
        return _WeightedRows(X, y, None, index)
    weight = check_sample_weight(sample_weight, X)
    index = np.flatnonzero(weight)
    rows = X if len(index) == len(X) else X[index]
    return _WeightedRows(rows, y[index], weight[index], index)


def _hashes(estimator: BaseEstimator, X: Any, label: np.ndarray) -> RowHashes:
    n_threads = count_threads(getattr(estimator, "n_jobs", 1))
    return hash_rows(as_supported_table(X), label, n_threads)


def check_rows(estimator: BaseEstimator, X: Any) -> Any:
    """Validate rows for a fitted estimator; the columns of dataframes are matched by name.

    The result is an ndarray, or a `SparseTable`, which is read like one.
    """
    features, X = estimator.feature_info_, as_supported_table(X)
    if is_frame(X):
        check_column_names(X)
        names = [feature.name for feature in features]
        if None not in names:
            X = reorder_columns(X, names)
        check_columns(estimator, X, reset=False)
        X = check_array(read_rows(X, features), **_DENSE)
    elif any(feature.levels is not None for feature in features) or _contains_objects(X):
        check_dense_2d(X)
        check_columns(estimator, X, reset=False)
        X = check_array(read_rows(X, features), **_DENSE)
    elif _is_sparse(X, estimator):
        X = SparseTable(validate_data(estimator, X, reset=False, **_SPARSE))
    else:
        check_2d(X)
        X = validate_data(estimator, X, reset=False, **_DENSE)
    _check_finite(X, estimator, features)
    return X


def _read(estimator: BaseEstimator, X: Any, y: Any) -> tuple[Any, np.ndarray, tuple[Feature, ...]]:
    """Read a training table as numbers, and check that it has as many rows as ``y``."""
    X = as_supported_table(X)
    categorical = getattr(estimator, "categorical_features", "from_dtype")
    lists_columns = not (categorical is None or isinstance(categorical, str))
    if is_frame(X):
        check_column_names(X)
        check_columns(estimator, X, y)
        X, features = read_table(X, categorical)
        X, y = check_X_y(X, y, **_DENSE)
    elif lists_columns or _contains_objects(X):
        X, features = read_table(X, categorical)
        X, y = validate_data(estimator, X, y, **_DENSE)
    else:
        is_sparse = _is_sparse(X, estimator)
        matrix = X if is_sparse else np.asarray(X)
        X, y = validate_data(estimator, X, y, **(_SPARSE if is_sparse else _DENSE))
        X, features = SparseTable(X) if is_sparse else X, (Feature(),) * X.shape[1]
        warn_if_matrix_rounded(matrix, X)
    _check_supports_categories(features, estimator)
    _check_finite(X, estimator, features)
    return X, y, features


def _is_sparse(X: Any, estimator: BaseEstimator) -> bool:
    """Whether a table is sparse and the estimator accepts sparse tables."""
    return sparse.issparse(X) and get_tags(estimator).input_tags.sparse


def _contains_objects(X: Any) -> bool:
    """Whether an array or lists may contain more than numbers."""
    return not sparse.issparse(X) and np.asarray(X).dtype.kind in "OUSMm"


def check_sample_weight(sample_weight: Any, X: Any, *, allow_zeros: bool = False) -> np.ndarray:
    """Return the weight of each row; all may be zero only if ``allow_zeros``."""
    weight = as_float_array(sample_weight, "sample_weight", "numbers, one per row")
    if np.any(weight < 0):
        raise ValueError(
            f"sample_weight contains {weight.min():g}; weights must not be negative (a weight of 0 "
            f"drops a row)."
        )
    if weight.size and not weight.any() and not allow_zeros:
        raise ValueError("sample_weight is zero for every row; give some row a positive weight.")
    if weight.ndim and weight.shape != (len(X),):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; pass one weight for each of the {len(X)} "
            f"rows."
        )
    weight = weight if weight.ndim else np.full(len(X), weight)
    return check_array(weight, ensure_2d=False, input_name="sample_weight")


def check_target(y: np.ndarray) -> None:
    """Check that labels are classes and not continuous; of many labels only some are checked."""
    if len(y) > _MANY_ROWS:
        few = y[:_FEW_LABELS]
        fractions = y[y != np.floor(y)][:_FEW_LABELS] if y.dtype.kind == "f" else few
        y = fractions if len(fractions) else few
    check_classification_targets(y)


def check_n_classes(classes: np.ndarray, estimator: BaseEstimator) -> None:
    """Check that there are at least two classes."""
    if len(classes) < 2:
        raise ValueError(
            f"y: only one class, {classes.tolist()[0]!r}, has rows of positive weight; "
            f"{type(estimator).__name__} needs at least two classes."
        )


def _check_supports_categories(features: tuple[Feature, ...], estimator: BaseEstimator) -> None:
    if getattr(estimator, "_supports_categories", False):
        return
    for d, feature in enumerate(features):
        if feature.levels is not None:
            raise ValueError(
                f"X has {feature.levels.tolist()[0]!r} in column {feature.display_name(d)}, which "
                f"is not a number, and {type(estimator).__name__} accepts only numbers: encode the "
                f"column, for example with scikit-learn's OneHotEncoder, or use StumpSVC."
            )


def _check_finite(X: Any, estimator: BaseEstimator, features: tuple[Feature, ...]) -> None:
    """Check that ``X`` has no infinity, and no NaN unless the estimator accepts it."""
    allow_nan = get_tags(estimator).input_tags.allow_nan
    is_sparse = isinstance(X, SparseTable)
    position = X.first_invalid(allow_nan) if is_sparse else _first_invalid(X, allow_nan)
    if position is None:
        return
    row, d = position
    where, name = f"in row {row}, feature {features[d].display_name(d)}", type(estimator).__name__
    if np.isnan(X[row : row + 1][0, d]):
        raise ValueError(
            f"X contains NaN {where}; {name} does not accept missing values: impute them, for "
            f"example with scikit-learn's SimpleImputer, or use StumpSVC, which supports them."
        )
    raise ValueError(
        f"X contains infinity {where}; {name} does not accept infinity: replace it with a large "
        f"number{' or NaN' if allow_nan else ''}."
    )


def _first_invalid(X: np.ndarray, allow_nan: bool) -> tuple[int, int] | None:
    """Return row and feature of the first infinity, or NaN unless allowed."""
    with np.errstate(all="ignore"):
        if np.isfinite(X.sum()):
            return None
    invalid = np.argwhere(np.isinf(X) if allow_nan else ~np.isfinite(X))
    return (int(invalid[0, 0]), int(invalid[0, 1])) if len(invalid) else None
