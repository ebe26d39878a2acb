"""The private parts of scikit-learn that everystump uses, imported here and nowhere else.

They work with scikit-learn 1.7 and later; ``make test-oldest`` runs the tests with the oldest
supported version.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.base import is_regressor as _is_regressor
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _num_samples as num_samples
from sklearn.utils.validation import validate_data

__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "allow_many_classes",
    "check_columns",
    "is_regressor",
    "num_samples",
    "one_of",
    "param_names",
    "safe_indexing",
    "score_function",
    "set_random_states",
]

# Before 1.9, scikit-learn reads the column names of dataframes other than pandas' through a
# protocol that polars 2 does not implement.
_SUPPORTS_POLARS = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


def __getattr__(name: str) -> Any:
    """Import the base class of heterogeneous ensembles when needed: `sklearn.ensemble` is slow."""
    if name == "BaseHeterogeneousEnsemble":
        from sklearn.ensemble._base import _BaseHeterogeneousEnsemble

        return _BaseHeterogeneousEnsemble
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def is_regressor(estimator: Any) -> bool:
    """Whether an object is a regressor, or a pipeline or search of one.

    Unlike scikit-learn's function, this one accepts objects without tags.
    """
    return hasattr(estimator, "__sklearn_tags__") and _is_regressor(estimator)


class _ColumnNames:
    """The columns of a dataframe in the form of the interchange protocol."""

    def __init__(self, X: Any) -> None:
        self.shape, self.column_names = X.shape, lambda: list(X.columns)

    def __dataframe__(self) -> _ColumnNames:
        return self


@contextmanager
def allow_many_classes() -> Iterator[None]:
    """Compute metrics of few rows of many classes without a warning.

    Before 1.8, scikit-learn's metrics warn that more classes than half of the rows may be a
    regression problem; later, only its classifiers do.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%")
        yield


def check_columns(
    estimator: BaseEstimator, X: Any, y: Any = "no_validation", *, reset: bool = True
) -> None:
    """Store the names and the number of a table's columns; without ``reset``, check them."""
    is_frame = hasattr(X, "columns") and hasattr(X, "dtypes")
    if is_frame and not _SUPPORTS_POLARS and not hasattr(X, "__dataframe__"):
        X = _ColumnNames(X)
    validate_data(estimator, X, y, reset=reset, skip_check_array=True)


def one_of(*names: str) -> StrOptions:
    """Return the constraint that a parameter is one of some strings; errors list them in order.

    Examples
    --------
    >>> print(one_of("mean", "svm"))
    a str among {'mean', 'svm'}
    """
    return StrOptions(dict.fromkeys(names).keys())


def param_names(cls: type[BaseEstimator]) -> list[str]:
    """Return the sorted names of an estimator's parameters."""
    return cls._get_param_names()


def score_function(scorer: Callable) -> Callable:
    """Return the metric inside a scorer, or the scorer itself if it is a plain function."""
    return getattr(scorer, "_score_func", scorer)


def set_random_states(estimator: BaseEstimator, rng: np.random.RandomState) -> None:
    """Seed each ``random_state`` parameter of an estimator and of its nested estimators."""
    names = sorted(estimator.get_params())
    seeded = [name for name in names if name.rpartition("__")[2] == "random_state"]
    estimator.set_params(**{name: rng.randint(np.iinfo(np.int32).max) for name in seeded})
