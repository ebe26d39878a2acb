"""Finite ensembles of stumps: the best stump, boosting, bagging."""

from everystump._core.boosting.bagging import BaggingResult, bag_stumps
from everystump._core.boosting.boosting import (
    BoostingResult,
    Monitor,
    StopReason,
    StumpChoice,
    best_of_all,
    best_of_random,
    boost,
)
from everystump._core.boosting.gains import GAINS
from everystump._core.boosting.losses import BOOSTING_LOSSES, BoostingLoss
from everystump._core.boosting.rows import BoostedRows
from everystump._core.boosting.search import Stump, StumpSearch
from everystump._core.boosting.stumps import Stumps

__all__ = [
    "BOOSTING_LOSSES",
    "GAINS",
    "BaggingResult",
    "BoostedRows",
    "BoostingLoss",
    "BoostingResult",
    "Monitor",
    "StopReason",
    "Stump",
    "StumpChoice",
    "StumpSearch",
    "Stumps",
    "bag_stumps",
    "best_of_all",
    "best_of_random",
    "boost",
]
