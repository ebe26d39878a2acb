"""What every estimator does to its input first: check it, in one place and in one voice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from everystump.arguments import as_numbers
from everystump.labels import one_against_the_rest


@dataclass(frozen=True)
class Table:
    """A checked training table; rows of weight 0 are left out.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Finite numbers.
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
    n_given : int
        How many rows the user's table has.
    """

    X: np.ndarray
    label: np.ndarray
    classes: np.ndarray
    sample_weight: np.ndarray | None
    class_factor: np.ndarray
    kept: np.ndarray
    n_given: int

    @cached_property
    def weight(self) -> np.ndarray:
        """Sample weights times class weights."""
        if self.sample_weight is None:
            return self.class_factor
        return self.class_factor * self.sample_weight

    def take(self, index: np.ndarray) -> Table:
        """Return some of the rows as a table of their own."""
        return replace(
            self,
            X=self.X[index],
            label=self.label[index],
            sample_weight=None if self.sample_weight is None else self.sample_weight[index],
            class_factor=self.class_factor[index],
            kept=self.kept[index],
        )

    def alone(self, index: np.ndarray, features: np.ndarray | None) -> Table:
        """Return some rows and features as a table that knows of no others."""
        part = self.take(index)
        return replace(
            part,
            X=part.X if features is None else part.X[:, features],
            kept=np.arange(len(index)),
            n_given=len(index),
        )

    def weighed(self, class_weight: Any) -> Table:
        """Return the table with other weights of classes."""
        factor = _class_factors(class_weight, self.classes, self.label, self.sample_weight)
        return replace(self, class_factor=factor[self.label])

    def title(self, k: int) -> str:
        """Return what a report adds to name the problem of class ``k``: nothing for two classes."""
        return "" if len(self.classes) == 2 else f", class {self.classes[k]}"

    def signs(self) -> np.ndarray:
        """Return 1 for the positive and -1 for the negative rows of each problem."""
        return np.where(self.problems(), 1.0, -1.0)

    def problems(self) -> list[np.ndarray]:
        """Return which rows are positive: one problem for two classes, else one a class."""
        return one_against_the_rest(self.label, len(self.classes))


def check_table(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any,
    class_weight: Any,
    *,
    reset: bool = True,
) -> Table:
    """Check a training table, or say in one sentence what is wrong with it.

    Without ``reset`` it must have the columns of the table that the estimator knows.
    """
    kinds = (np.float64, np.float32)
    try:
        X, y = validate_data(estimator, X, y, dtype=kinds, ensure_all_finite=False, reset=reset)
    except (TypeError, ValueError):
        _refuse_text(X)
        raise
    refuse_nonfinite(X, estimator)
    check_classification_targets(y)
    n_given = len(y)
    kept = np.arange(n_given)
    weight = None
    if sample_weight is not None:
        weight = _check_weight(sample_weight, X)
        kept = np.flatnonzero(weight)
        X, y, weight = _rows(X, kept), y[kept], weight[kept]
    classes, label = np.unique(y, return_inverse=True)
    refuse_one_class(classes, estimator)
    by_class = _class_factors(class_weight, classes, label, weight)
    return Table(X, label, classes, weight, by_class[label], kept, n_given)


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


def _check_weight(sample_weight: Any, X: np.ndarray) -> np.ndarray:
    given = as_numbers(sample_weight, "sample_weight", "numbers, one for each row")
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
    return _check_sample_weight(given if given.ndim else float(given), X, dtype=np.float64)


def check_rows(estimator: BaseEstimator, X: Any) -> np.ndarray:
    """Check the rows that a fitted estimator is asked about."""
    X = validate_data(
        estimator, X, dtype=(np.float64, np.float32), ensure_all_finite=False, reset=False
    )
    refuse_nonfinite(X, estimator)
    return X


def refuse_one_class(classes: np.ndarray, estimator: BaseEstimator) -> None:
    """Raise if there is nothing to tell apart."""
    if len(classes) < 2:
        raise ValueError(
            f"y: only one class, {classes.tolist()[0]!r}, has rows of positive weight; "
            f"{type(estimator).__name__} needs at least two classes."
        )


def _refuse_text(X: Any) -> None:
    """Raise if a column of a frame, an array or lists is not numbers, naming it."""
    if hasattr(X, "columns"):
        columns = {name: np.asarray(X[name]) for name in X.columns}
    else:
        cells = np.asarray(X, dtype=object)
        columns = dict(enumerate(cells.T)) if cells.ndim == 2 else {}
    for name, column in columns.items():
        try:
            column.astype(np.float64)
        except (TypeError, ValueError):
            text = next((value for value in column if isinstance(value, str)), None)
            if text is not None:
                raise ValueError(
                    f"X has {str(text)!r} in column {name!r}, which is no number: encode the "
                    f"column's categories first, for example with scikit-learn's OrdinalEncoder."
                ) from None


def refuse_nonfinite(X: np.ndarray, estimator: BaseEstimator) -> None:
    """Raise if ``X`` holds NaN or infinity, naming the first one."""
    with np.errstate(all="ignore"):
        if np.isfinite(X.sum()):
            return
    bad = np.argwhere(~np.isfinite(X))
    if len(bad) == 0:
        return
    row, column = bad[0]
    names = getattr(estimator, "feature_names_in_", None)
    feature = f"feature {column}" if names is None else f"feature {names[column]!r}"
    what = "NaN" if np.isnan(X[row, column]) else "infinity"
    raise ValueError(
        f"X contains {what} in row {row}, {feature}; {type(estimator).__name__} does not accept "
        f"missing values or infinity: impute or remove them first."
    )


def _rows(X: np.ndarray, kept: np.ndarray) -> np.ndarray:
    return X if len(kept) == len(X) else X[kept]
