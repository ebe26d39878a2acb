"""scikit-learn classes, thin over the rooms below."""

from everystump.estimators.bagging import StumpBaggingClassifier
from everystump.estimators.boosted_svc import BoostedStumpSVC
from everystump.estimators.boosting import StumpBoostingClassifier
from everystump.estimators.logistic import StumpLogisticRegression, StumpLogisticRegressionCV
from everystump.estimators.stump import DecisionStumpClassifier
from everystump.estimators.svc import StumpSVC, StumpSVCCV
from everystump.estimators.weighted_vote import WeightedVoteClassifier

__all__ = [
    "BoostedStumpSVC",
    "DecisionStumpClassifier",
    "StumpBaggingClassifier",
    "StumpBoostingClassifier",
    "StumpLogisticRegression",
    "StumpLogisticRegressionCV",
    "StumpSVC",
    "StumpSVCCV",
    "WeightedVoteClassifier",
]
