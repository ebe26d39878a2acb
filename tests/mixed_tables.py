"""Tables with missing values and categories, and every stump on them, in plain NumPy.

Levels of a category are integers; ``categories`` are the indices of the categorical columns.
"""

import numpy as np


def mixed_table(seed, n=80, n_classes=2, categories=(2,)):
    """Return numbers with and without ties, four levels, 20% missing values, and labels.

    The last feature has no missing values.  That a value is missing is informative.
    """
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.normal(size=n), rng.integers(0, 6, n), rng.integers(0, 4, n), rng.lognormal(size=n)]
    )
    centered = np.where(np.isin(np.arange(4), categories), X == 2, X - X.mean(axis=0))
    score = centered @ [1.0, -0.3, 1.0, 0.4] + rng.normal(size=n)
    missing = (rng.random((n, 4)) < 0.2) | ((rng.random((n, 4)) < 0.2) & (score > 0)[:, None])
    X[:, :3][missing[:, :3]] = np.nan
    return X, np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)


def lower_median(x, weight=None):
    """Return the lower median of the observed values; a weight of 2 is a row twice."""
    observed = ~np.isnan(x)
    times = np.ones(observed.sum(), dtype=int) if weight is None else weight[observed].astype(int)
    ordered = np.sort(np.repeat(x[observed], times))
    return ordered[(len(ordered) - 1) // 2]


def filled(X, training, weight=None):
    """Impute training medians; append indicators of features that have missing training values."""
    missing = np.isnan(X)
    medians = [lower_median(x, weight) for x in training.T]
    indicators = missing[:, np.isnan(training).any(axis=0)]
    return np.column_stack([np.where(missing, medians, X), indicators])


def one_hot(X, training, categories):
    """Encode categories: one column per training level, and one for missing training values."""
    columns = []
    for d in range(X.shape[1]):
        if d not in categories:
            columns.append(X[:, d])
            continue
        levels = np.unique(training[:, d])  # NaN is the last of them
        columns += [np.isnan(X[:, d]) if np.isnan(k) else X[:, d] == k for k in levels]
    return np.column_stack(columns).astype(float)


def all_votes(X, categories=(), weight=None):
    """Return the votes of every stump and of a constant, one column each.

    A missing value is on the median's side of a threshold, and not equal to any level.
    """
    votes = [np.ones(len(X), dtype=bool)]
    for d, x in enumerate(X.T):
        missing = np.isnan(x)
        values = np.unique(x[~missing])
        if d in categories:
            votes += [x == value for value in values]
        elif len(values):
            whole = np.where(missing, lower_median(x, weight), x)
            votes += [whole > value for value in values[:-1]]
        votes.append(missing)
    return np.where(np.array(votes).T, 1.0, -1.0)


def smallest_error(votes, side, weight):
    """Return the smallest weighted error of stumps in both directions; sides are -1 and 1."""
    return (1 - np.abs(votes.T @ (weight * side)).max() / weight.sum()) / 2
