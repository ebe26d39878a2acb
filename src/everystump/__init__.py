"""Everystump: train the vote of every decision stump there is, exactly and fast.

Importing this package is quick: names are brought in when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everystump import bounds as bounds
    from everystump import datasets as datasets
    from everystump import explain as explain
    from everystump import export as export
    from everystump import kernels as kernels
    from everystump import measures as measures
    from everystump import report as report
    from everystump import shapes as shapes
    from everystump.estimators.bagging import StumpBaggingClassifier
    from everystump.estimators.boosted_svc import BoostedStumpSVC
    from everystump.estimators.boosting import StumpBoostingClassifier
    from everystump.estimators.kernel_svc import KernelSVC
    from everystump.estimators.logistic import StumpLogisticRegression, StumpLogisticRegressionCV
    from everystump.estimators.loo_search import LooBoundSearch
    from everystump.estimators.perceptron import PerceptronSVC
    from everystump.estimators.stump import DecisionStumpClassifier
    from everystump.estimators.subsample_voting import SubsampleVotingClassifier
    from everystump.estimators.svc import StumpSVC, StumpSVCCV
    from everystump.estimators.weighted_vote import WeightedVoteClassifier
    from everystump.modelfile import ModelFileError, load, save

__version__ = "0.1.0"

_HOME = {
    "BoostedStumpSVC": "everystump.estimators.boosted_svc",
    "DecisionStumpClassifier": "everystump.estimators.stump",
    "KernelSVC": "everystump.estimators.kernel_svc",
    "LooBoundSearch": "everystump.estimators.loo_search",
    "ModelFileError": "everystump.modelfile",
    "PerceptronSVC": "everystump.estimators.perceptron",
    "StumpBaggingClassifier": "everystump.estimators.bagging",
    "StumpBoostingClassifier": "everystump.estimators.boosting",
    "StumpLogisticRegression": "everystump.estimators.logistic",
    "StumpLogisticRegressionCV": "everystump.estimators.logistic",
    "StumpSVC": "everystump.estimators.svc",
    "StumpSVCCV": "everystump.estimators.svc",
    "SubsampleVotingClassifier": "everystump.estimators.subsample_voting",
    "WeightedVoteClassifier": "everystump.estimators.weighted_vote",
    "load": "everystump.modelfile",
    "save": "everystump.modelfile",
}

__all__ = [
    "BoostedStumpSVC",
    "DecisionStumpClassifier",
    "KernelSVC",
    "LooBoundSearch",
    "ModelFileError",
    "PerceptronSVC",
    "StumpBaggingClassifier",
    "StumpBoostingClassifier",
    "StumpLogisticRegression",
    "StumpLogisticRegressionCV",
    "StumpSVC",
    "StumpSVCCV",
    "SubsampleVotingClassifier",
    "WeightedVoteClassifier",
    "load",
    "save",
]


_PACKAGES = ("bounds", "datasets", "explain", "export", "kernels", "measures", "report", "shapes")


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _PACKAGES:
        return import_module(f"everystump.{name}")
    raise AttributeError(f"module 'everystump' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
