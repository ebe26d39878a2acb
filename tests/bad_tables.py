"""Invalid tables, and the error messages of every estimator."""

import numpy as np
import pytest


def table(n_classes=2, n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    edges = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(edges, score)


def with_one(value, row=4, column=1):
    X = table()[0].copy()
    X[row, column] = value
    return X


X0, Y0 = table()
BAD_TABLES = {
    "infinity": (with_one(np.inf), Y0, None, r"X contains infinity in row 4, feature 1"),
    "minus infinity": (with_one(-np.inf, 0, 2), Y0, None, r"infinity in row 0, feature 2"),
    "one class": (X0, np.ones(90), None, r"y: only one class, 1\.0, .* at least two classes"),
    "one class of positive weight": (
        X0,
        Y0,
        Y0,
        r"y: only one class, 1, has rows of positive weight",
    ),
    "no rows": (X0[:0], Y0[:0], None, r"0 sample\(s\)"),
    "no columns": (X0[:, :0], Y0, None, r"0 feature\(s\)"),
    "one dimension": (X0[:, 0], Y0, None, r"Expected 2D array, got 1D"),
    "three dimensions": (X0[None], Y0, None, r"dim 3"),
    "fewer labels": (X0, Y0[:-1], None, r"inconsistent numbers of samples: \[90, 89\]"),
    "labels in two columns": (X0, np.column_stack([Y0, Y0]), None, r"y should be a 1d array"),
    "continuous labels": (X0, X0[:, 0], None, r"Unknown label type"),
    "negative weight": (
        X0,
        Y0,
        np.where(np.arange(90) == 3, -1, 1),
        r"sample_weight contains -1; weights must not be negative",
    ),
    "all weights 0": (X0, Y0, np.zeros(90), r"(?i)sample_weight is zero for every row"),
    "nan weight": (X0, Y0, np.where(np.arange(90) == 3, np.nan, 1), r"sample_weight contains NaN"),
    "too few weights": (
        X0,
        Y0,
        np.ones(89),
        r"sample_weight has shape \(89,\).* each of the 90 rows",
    ),
    "weights in two columns": (X0, Y0, np.ones((90, 2)), r"sample_weight has shape \(90, 2\)"),
}
# Valid for stump ensembles, but not for other estimators.
NUMBERS_ONLY = {
    "nan": (
        with_one(np.nan),
        Y0,
        None,
        r"X contains NaN in row 4, feature 1; .* impute them, .*SimpleImputer, or use StumpSVC",
    ),
    "words": (
        [["a", "b"], ["c", "d"]],
        [0, 1],
        None,
        r"X has 'a' in column 0, which is not a number, .* OneHotEncoder, or use StumpSVC",
    ),
}


def assert_invalid(fit, match):
    """Check that a call raises one clear sentence, not an error from a lower level."""
    with pytest.raises((ValueError, TypeError), match=match) as caught:
        fit()
    assert "\n\n" not in str(caught.value)
