"""Fitted models of every kind for the tests of model files."""

from functools import cache, partial

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_iris

import everystump
from everystump._core.measures import ChosenStumps, Rank
from everystump.datasets import make_twonorm
from everystump.kernels import gaussian_kernel

KERNEL = everystump.KernelSVC(C=0.5, gamma=0.1, fit_intercept=False)
TWO = {
    "StumpSVC": everystump.StumpSVC(),
    "StumpSVC, hard margin": everystump.StumpSVC(C=np.inf, class_weight={-1: 1.0, 1: 2.0}),
    "StumpSVC, measure": everystump.StumpSVC(measure=Rank(), tol=np.float64(1e-3)),
    "StumpSVC, chosen": everystump.StumpSVC(measure=ChosenStumps([[0.0], [1.0, 0.0], [0.5], []])),
    "StumpSVC, range": everystump.StumpSVC(fit_intercept=False, feature_range=(-9, 9)),
    "StumpSVC, interactions": everystump.StumpSVC(interactions=3, interaction_bins=8),
    "StumpLogisticRegression": everystump.StumpLogisticRegression(multi_class="multinomial"),
    "StumpLogisticRegression, ovr": everystump.StumpLogisticRegression(multi_class="ovr"),
    "StumpSVCCV": everystump.StumpSVCCV(Cs=3, cv=2, interactions=0),
    "StumpSVCCV, bound": everystump.StumpSVCCV(
        Cs=3, selection="loo-bound", fit_intercept=False, interactions=0
    ),
    "StumpLogisticRegressionCV": everystump.StumpLogisticRegressionCV(
        Cs=[0.1, 1.0], cv=2, interactions=0
    ),
    "StumpLogisticRegressionCV, interactions": everystump.StumpLogisticRegressionCV(
        Cs=[1.0], cv=2, interactions="auto", interaction_bins=4, interaction_strength=[0.1, 1.0]
    ),
    "PerceptronSVC": everystump.PerceptronSVC(),
    "PerceptronSVC, axes": everystump.PerceptronSVC(
        n_directions=9, include_axes=True, random_state=0
    ),
    "KernelSVC": KERNEL,
    "KernelSVC, laplacian": everystump.KernelSVC("laplacian"),
    "KernelSVC, linear": everystump.KernelSVC("linear"),
    "KernelSVC, middle": everystump.KernelSVC("middle"),
    "KernelSVC, stump": everystump.KernelSVC("stump", loss="squared_hinge"),
    "KernelSVC, our function": everystump.KernelSVC(partial(gaussian_kernel, gamma=0.1)),
    "DecisionStumpClassifier": everystump.DecisionStumpClassifier(),
    "StumpBoostingClassifier": everystump.StumpBoostingClassifier(n_estimators=30),
    "StumpBaggingClassifier": everystump.StumpBaggingClassifier(30, random_state=0),
    "BoostedStumpSVC": everystump.BoostedStumpSVC(20, stages=[5, 10]),
    "WeightedVoteClassifier": everystump.WeightedVoteClassifier(
        [("stumps", everystump.StumpSVC()), ("kernel", KERNEL)], random_state=0
    ),
    "SubsampleVotingClassifier": everystump.SubsampleVotingClassifier(
        KERNEL, n_estimators=3, random_state=0
    ),
    "SubsampleVotingClassifier, learned": everystump.SubsampleVotingClassifier(
        [everystump.StumpSVC(), KERNEL], n_estimators=4, combine="svm", random_state=0
    ),
    "LooBoundSearch": everystump.LooBoundSearch(KERNEL, {"C": [0.1, 1.0], "gamma": [0.1]}),
    "LooBoundSearch, two grids": everystump.LooBoundSearch(KERNEL, [{"C": [1.0]}, {"gamma": [1]}]),
}
THREE = {
    name: model
    for name, model in TWO.items()
    if not name.startswith("Decision") and name not in {"StumpSVC, hard margin"}
}
CASES = [(name, 2) for name in TWO] + [(name, 3) for name in THREE]


REGRESSORS = {
    "StumpRegressor": everystump.StumpRegressor(),
    "StumpRegressor, poisson": everystump.StumpRegressor(
        loss="poisson", monotonic_cst=[1, 0, 0, 0]
    ),
    "StumpRegressor, quantile": everystump.StumpRegressor(loss="quantile", quantile=0.9),
    "StumpRegressor, interactions": everystump.StumpRegressor(interactions=3, interaction_bins=8),
    "DecisionStumpRegressor": everystump.DecisionStumpRegressor(),
    "StumpBoostingRegressor": everystump.StumpBoostingRegressor(n_estimators=5),
    "StumpRegressorCV": everystump.StumpRegressorCV(
        Cs=[0.1, 1.0], cv=2, loss="gamma", interactions=0
    ),
}


@cache
def regression_table():
    """A table of 4 features, and positive targets."""
    X, _ = make_twonorm(120, random_state=0)
    return X[:, :4], np.exp(0.3 * X[:, 0] + 0.1 * X[:, 1] * X[:, 2])


@cache
def table(n_classes):
    """A table of 4 features; three classes have text labels."""
    if n_classes == 2:
        X, y = make_twonorm(120, random_state=0)
        return X[:, :4], y
    X, y = load_iris(return_X_y=True)
    return X[::2], np.array(["setosa", "versicolor", "virginica"])[y[::2]]


@cache
def fitted(name, n_classes=2):
    if name in REGRESSORS:
        return clone(REGRESSORS[name]).fit(*regression_table())
    return clone(TWO[name]).fit(*table(n_classes))
