"""Tables with missing values and categories, every stump on them in plain NumPy, and checks.

Levels of a category are integers; ``categories`` are the indices of the categorical columns.
"""

import numpy as np
import pytest

from everystump import BoostedStumpSVC, StumpBaggingClassifier, StumpBoostingClassifier


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
    """Return the lower median of the observed values; a weight of 2 repeats a row."""
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


def check_rounds(model, loss_weight, X, table, y, weight, votes):
    """Check that each round of boosting takes the best of all stumps; sums agree to 1e-9.

    ``table`` is ``X`` as the model was given it, ``loss_weight`` the weight of a margin.
    """
    side = 2 * y - 1
    scores = [np.zeros(len(y)), *model.staged_decision_function(table)]
    cast = model.stumps_.votes(X)
    for score, error, vote in zip(scores, model.estimator_errors_, cast, strict=False):
        row_weight = weight * loss_weight(side * score)
        assert error == pytest.approx(smallest_error(votes, side, row_weight), abs=1e-9)
        assert row_weight[vote != side].sum() / row_weight.sum() == pytest.approx(error, abs=1e-9)
    np.testing.assert_allclose(scores[-1], model.decision_function(table), atol=1e-12)


def check_bags(model, samples, X, y, votes):
    """Check that each stump of bagging is the best of all on its sample."""
    for error, (rows, _) in zip(model.estimator_errors_, samples, strict=True):
        times = np.bincount(rows, minlength=len(y))
        assert error == pytest.approx(smallest_error(votes, 2 * y - 1, times), abs=1e-12)
    mean = model.estimator_weights_ @ list(model.stumps_.votes(X))
    np.testing.assert_allclose(model.decision_function(X), mean, atol=1e-12)


def check_ensembles(X, table, y, **parameters):
    """Check that scores, stages and curves of finite ensembles are the votes of their stumps."""
    for model in (
        StumpBoostingClassifier(n_estimators=30, **parameters),
        BoostedStumpSVC(30, stages=[10, 20], **parameters),
        StumpBaggingClassifier(30, **parameters),
    ):
        model.fit(table, y)
        vote = model.estimator_weights_ @ list(model.stumps_.votes(X))
        vote = vote + getattr(model, "intercept_", 0.0)
        np.testing.assert_allclose(model.decision_function(table), vote, atol=1e-12)
        np.testing.assert_allclose(model.shapes_.ensemble().vote(X), vote, atol=1e-12)
        if hasattr(model, "staged_decision_function"):
            *_, last = model.staged_decision_function(table)
            np.testing.assert_allclose(last, vote, atol=1e-12)
