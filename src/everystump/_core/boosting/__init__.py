"""Finite ensembles: the best stump, boosting, bagging."""

from everystump._core.boosting.bagging import Bag, bag
from everystump._core.boosting.boosting import (
    Boosted,
    Choice,
    StopReason,
    Watch,
    best_of_all,
    best_of_random,
    boost,
)
from everystump._core.boosting.losses import LOSSES, BoostingLoss
from everystump._core.boosting.rows import BoostedRows
from everystump._core.boosting.search import GAINS, Search, Stump
from everystump._core.boosting.vote import Stumps

__all__ = [
    "GAINS",
    "LOSSES",
    "Bag",
    "Boosted",
    "BoostedRows",
    "BoostingLoss",
    "Choice",
    "Search",
    "StopReason",
    "Stump",
    "Stumps",
    "Watch",
    "bag",
    "best_of_all",
    "best_of_random",
    "boost",
]
