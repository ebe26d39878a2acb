"""Every estimator passes scikit-learn's own checks: each class once, and every variant."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from everystump import (
    BoostedStumpSVC,
    DecisionStumpClassifier,
    KernelSVC,
    LooBoundSearch,
    PerceptronSVC,
    StumpBaggingClassifier,
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpSVC,
    StumpSVCCV,
    SubsampleVotingClassifier,
    WeightedVoteClassifier,
)

KERNEL = KernelSVC(fit_intercept=False)
BOOSTING = StumpBoostingClassifier(n_estimators=20)
# A class that has several ways to be fitted is checked once for each.
ESTIMATORS = [
    StumpSVC(),
    StumpSVC(fit_intercept=False),
    StumpLogisticRegression(),
    StumpSVCCV(Cs=[1.0], cv=2),
    StumpSVCCV(Cs=[1.0], selection="loo-bound"),
    StumpLogisticRegressionCV(Cs=[1.0], cv=2),
    KernelSVC(),
    KERNEL,
    KernelSVC(loss="least_squares", fit_intercept=False),
    PerceptronSVC(),
    PerceptronSVC(exact=False, n_directions=20),
    DecisionStumpClassifier(),
    BOOSTING,
    StumpBaggingClassifier(20),
    BoostedStumpSVC(10),
    WeightedVoteClassifier([("boosting", BOOSTING), ("line", LogisticRegression())]),
    SubsampleVotingClassifier(KernelSVC(), n_estimators=3),
    LooBoundSearch(KERNEL, {"C": [0.1, 1]}),
]
VARIANTS = [
    StumpSVC(loss="squared_hinge"),
    StumpSVCCV(Cs=3),
    StumpSVCCV(Cs=3, selection="loo-bound"),
    StumpLogisticRegressionCV(Cs=3),
    KernelSVC(loss="squared_hinge"),
    KernelSVC("stump"),
    KernelSVC("perceptron", fit_intercept=False),
    KernelSVC("linear"),
    PerceptronSVC(include_axes=True, n_directions=40),
    DecisionStumpClassifier("random", random_state=0),
    DecisionStumpClassifier(criterion="gini"),
    StumpBoostingClassifier(),
    StumpBoostingClassifier("mada", n_estimators=20),
    StumpBoostingClassifier("logistic", n_estimators=20),
    StumpBoostingClassifier(criterion="gini", n_estimators=20),
    StumpBoostingClassifier(features="random", random_state=0),
    StumpBaggingClassifier(50),
    StumpBaggingClassifier(50, features="random", random_state=0),
    BoostedStumpSVC(30),
    BoostedStumpSVC(30, stages=[10]),
    SubsampleVotingClassifier(StumpSVC(), n_estimators=3),
    SubsampleVotingClassifier(
        KernelSVC(), combine="svm", outputs="votes", feature_subsets=0.5, n_estimators=3
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
