"""scikit-learn classes, thin over the rooms below."""

from everystump.estimators.logistic import StumpLogisticRegression
from everystump.estimators.svc import StumpSVC

__all__ = ["StumpLogisticRegression", "StumpSVC"]
