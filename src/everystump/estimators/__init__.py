"""scikit-learn classes, thin over the rooms below."""

from everystump.estimators.logistic import StumpLogisticRegression, StumpLogisticRegressionCV
from everystump.estimators.svc import StumpSVC, StumpSVCCV

__all__ = ["StumpLogisticRegression", "StumpLogisticRegressionCV", "StumpSVC", "StumpSVCCV"]
