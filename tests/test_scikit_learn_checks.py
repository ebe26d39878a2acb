"""Every estimator passes scikit-learn's own checks: each class once, and every variant."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import everystump as es

KERNEL = es.KernelSVC(fit_intercept=False)
BOOSTING = es.StumpBoostingClassifier(n_estimators=20)
# Classes with different ways to be fitted are checked once for those that share the least code.
ESTIMATORS = [
    es.StumpSVC(),
    es.StumpLogisticRegression(),
    es.StumpSVCCV(Cs=[1.0], cv=2, interactions=0),
    es.StumpLogisticRegressionCV(Cs=[1.0], cv=2, interactions=0),
    es.StumpLogisticRegression(multi_class="ovr"),
    es.StumpLogisticRegression(interactions=2),
    es.StumpRegressor(),
    es.StumpRegressor(loss="quantile", quantile=0.9),
    es.StumpRegressorCV(Cs=[1.0], cv=2, interactions=0),
    es.KernelSVC(),
    KERNEL,
    es.KernelSVC(loss="least_squares", fit_intercept=False),
    es.PerceptronSVC(),
    es.DecisionStumpClassifier(),
    es.DecisionStumpRegressor(),
    BOOSTING,
    es.StumpBoostingRegressor(),
    es.StumpBaggingClassifier(20),
    es.BoostedStumpSVC(10),
    es.WeightedVoteClassifier([("boosting", BOOSTING), ("line", LogisticRegression())]),
    es.SubsampleVotingClassifier(es.KernelSVC(), n_estimators=3),
    es.LooBoundSearch(KERNEL, {"C": [0.1, 1]}),
]
VARIANTS = [
    es.StumpSVC(fit_intercept=False),
    es.StumpSVC(loss="squared_hinge"),
    es.StumpSVC(interactions="auto"),
    es.StumpSVCCV(Cs=[1.0], selection="loo-bound"),
    es.StumpLogisticRegressionCV(Cs=[1.0], cv=2, interactions=1, interaction_strength=0.1),
    es.StumpSVCCV(Cs=3, cv=2),
    es.StumpSVCCV(Cs=3, selection="loo-bound"),
    es.StumpLogisticRegressionCV(Cs=3, cv=2),
    es.StumpSVC(interactions="auto", fit_intercept=False, loss="squared_hinge"),
    es.StumpLogisticRegression(interactions=2, max_interaction_order=3),
    es.StumpLogisticRegression(interactions="auto", max_interaction_order=3),
    es.StumpLogisticRegressionCV(Cs=3, cv=2, interactions=0),
    es.StumpLogisticRegressionCV(Cs=[1.0], cv=2, multi_class="ovr", interactions=0),
    es.StumpLogisticRegressionCV(Cs=3, cv=2, interactions=2, interaction_strength=[0.1, 1.0]),
    *(
        es.StumpRegressor(loss=loss)
        for loss in ("huber", "absolute", "epsilon_insensitive", "poisson", "gamma")
    ),
    es.StumpRegressor(interactions=2),
    es.StumpRegressor(fit_intercept=False),
    es.StumpRegressor(loss="poisson", fit_intercept=False),
    es.StumpRegressorCV(Cs=3, cv=2),
    es.StumpRegressorCV(
        Cs=3, cv=2, loss="absolute", interactions=2, interaction_strength=[0.1, 1.0]
    ),
    es.StumpRegressorCV(Cs=3, cv=2, loss="gamma", interactions=0),
    es.KernelSVC(loss="squared_hinge"),
    es.KernelSVC("stump"),
    es.KernelSVC("perceptron", fit_intercept=False),
    es.KernelSVC("linear"),
    es.PerceptronSVC(exact=False, n_directions=20),
    es.PerceptronSVC(include_axes=True, n_directions=40),
    es.DecisionStumpClassifier("random", random_state=0),
    es.DecisionStumpClassifier(criterion="gini"),
    es.DecisionStumpRegressor("random", random_state=0),
    es.StumpBoostingRegressor("absolute"),
    es.StumpBoostingRegressor(features="random", random_state=0),
    es.StumpBoostingClassifier(),
    es.StumpBoostingClassifier("mada", n_estimators=20),
    es.StumpBoostingClassifier("logistic", n_estimators=20),
    es.StumpBoostingClassifier(criterion="gini", n_estimators=20),
    es.StumpBoostingClassifier(features="random", random_state=0),
    es.StumpBaggingClassifier(50),
    es.StumpBaggingClassifier(50, features="random", random_state=0),
    es.BoostedStumpSVC(30),
    es.BoostedStumpSVC(30, stages=[10]),
    es.SubsampleVotingClassifier(es.StumpSVC(), n_estimators=3),
    es.SubsampleVotingClassifier(
        es.KernelSVC(), combine="svm", outputs="votes", feature_subsets=0.5, n_estimators=3
    ),
]
pytestmark = [
    pytest.mark.filterwarnings("ignore:estimators. no classifier is better than chance"),
    pytest.mark.filterwarnings("ignore:StumpBaggingClassifier. no sample was left out"),
]


@parametrize_with_checks(ESTIMATORS)
def test_every_class(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(VARIANTS)
def test_every_variant(estimator, check):
    check(estimator)
