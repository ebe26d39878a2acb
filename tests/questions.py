"""Tables with holes and categories, and every stump on them, in plain NumPy.

The levels of a category are whole numbers here; where a column is one is told by ``categories``,
the numbers of such columns.
"""

import numpy as np


def mixed_table(seed, n=80, n_classes=2, categories=(2,)):
    """Return rows of numbers with and without ties, four levels, 20% holes, and labels.

    The last feature has no holes.  Where a value is missing says something of the label.
    """
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.normal(size=n), rng.integers(0, 6, n), rng.integers(0, 4, n), rng.lognormal(size=n)]
    )
    told = np.where(np.isin(np.arange(4), categories), X == 2, X - X.mean(axis=0))
    score = told @ [1.0, -0.3, 1.0, 0.4] + rng.normal(size=n)
    holes = (rng.random((n, 4)) < 0.2) | ((rng.random((n, 4)) < 0.2) & (score > 0)[:, None])
    X[:, :3][holes[:, :3]] = np.nan
    return X, np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)


def lower_median(x, weight=None):
    """Return the median of what is there, the lower one of two; a weight of 2 is a row twice."""
    there = ~np.isnan(x)
    times = np.ones(there.sum(), dtype=int) if weight is None else weight[there].astype(int)
    ordered = np.sort(np.repeat(x[there], times))
    return ordered[(len(ordered) - 1) // 2]


def filled(X, training, weight=None):
    """Fill holes with the training rows' medians; add "is it missing?" where these have holes."""
    holes = np.isnan(X)
    medians = [lower_median(x, weight) for x in training.T]
    asked = holes[:, np.isnan(training).any(axis=0)]
    return np.column_stack([np.where(holes, medians, X), asked])


def one_hot(X, training, categories):
    """Give categories a column of 0 and 1 for each training level, and one for holes there."""
    columns = []
    for d in range(X.shape[1]):
        if d not in categories:
            columns.append(X[:, d])
            continue
        levels = np.unique(training[:, d])  # NaN is the last of them
        columns += [np.isnan(X[:, d]) if np.isnan(k) else X[:, d] == k for k in levels]
    return np.column_stack(columns).astype(float)


def votes_of_all(X, categories=(), weight=None):
    """Return the votes of every stump and of a constant, a column each.

    A hole is on the median's side of a threshold and on the far side of "is it this level?".
    """
    votes = [np.ones(len(X), dtype=bool)]
    for d, x in enumerate(X.T):
        holes = np.isnan(x)
        values = np.unique(x[~holes])
        if d in categories:
            votes += [x == value for value in values]
        elif len(values):
            whole = np.where(holes, lower_median(x, weight), x)
            votes += [whole > value for value in values[:-1]]
        votes.append(holes)
    return np.where(np.array(votes).T, 1.0, -1.0)


def smallest_error(votes, side, weight):
    """Return the smallest weighted error of stumps in both directions; sides are -1 and 1."""
    return (1 - np.abs(votes.T @ (weight * side)).max() / weight.sum()) / 2
