"""Everystump: train the vote of every decision stump there is, exactly and fast.

Importing this package is quick: names are brought in when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everystump.estimators import (
        BoostedStumpSVC,
        DecisionStumpClassifier,
        StumpBaggingClassifier,
        StumpBoostingClassifier,
        StumpLogisticRegression,
        StumpLogisticRegressionCV,
        StumpSVC,
        StumpSVCCV,
        WeightedVoteClassifier,
    )

__version__ = "0.1.0"

_HOME = {
    "BoostedStumpSVC": "everystump.estimators",
    "DecisionStumpClassifier": "everystump.estimators",
    "StumpBaggingClassifier": "everystump.estimators",
    "StumpBoostingClassifier": "everystump.estimators",
    "StumpLogisticRegression": "everystump.estimators",
    "StumpLogisticRegressionCV": "everystump.estimators",
    "StumpSVC": "everystump.estimators",
    "StumpSVCCV": "everystump.estimators",
    "WeightedVoteClassifier": "everystump.estimators",
}

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


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'everystump' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
