"""Small random tables, votes on them, and margins of models refitted without a row."""

import numpy as np
from sklearn.base import clone

from everystump import KernelSVC, SubsampleVotingClassifier

PLAIN = KernelSVC(C=0.5, gamma=0.5, fit_intercept=False, tol=1e-9)


def rows(seed, n=16, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    score = X[:, 0] + 0.7 * rng.normal(size=n)
    return X, np.argsort(np.argsort(score)) * n_classes // n


def as_signs(y):
    return np.where(y == 1, 1.0, -1.0)


def vote(X, y, estimator=PLAIN, **parameters):
    params = {"n_estimators": 4, "subsample": 0.6, "random_state": 0, "n_jobs": 1, **parameters}
    return SubsampleVotingClassifier(estimator, **params).fit(X, y)


def refit_margin(estimator, X, y, row):
    """Return a row's margin for a model of the others; 1 or -1 if they have one class."""
    rest = np.arange(len(y)) != row
    if len(set(y[rest])) == 1:
        return 1.0 if y[row] == y[rest][0] else -1.0
    score = clone(estimator).fit(X[rest], y[rest]).decision_function(X[[row]])[0]
    return as_signs(y)[row] * score


def margins_by_hand(estimator, X, y):
    return np.array([refit_margin(estimator, X, y, i) for i in range(len(y))])


def vote_margins_by_hand(model, X, y):
    """Return ``y_i F_i(x_i)``, with every member trained again without row i."""
    scores = np.array([member.decision_function(X) for member in model.estimators_])
    parts = zip(model.estimators_, model.estimators_samples_, strict=True)
    for t, (member, own) in enumerate(parts):
        for position, i in enumerate(own):
            scores[t, i] = as_signs(y)[i] * refit_margin(member, X[own], y[own], position)
    if model.outputs == "votes":
        scores = np.where(scores > 0, 1.0, -1.0)
    return as_signs(y) * (model.weights_ @ scores)


def error_by_hand(margins, delta):
    if delta == 0:
        return np.mean(margins < 0)
    return np.mean(np.clip(1 - margins / delta, 0, 1))
