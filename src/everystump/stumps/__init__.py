"""Finite ensembles: the best stump, boosting, bagging."""

from everystump.stumps.bagging import Bag, bag
from everystump.stumps.boosting import (
    Boosted,
    Choice,
    Ending,
    Watch,
    best_of_all,
    best_of_random,
    boost,
)
from everystump.stumps.losses import LOSSES, BoostingLoss
from everystump.stumps.rows import BoostedRows
from everystump.stumps.search import GAINS, Search, Stump
from everystump.stumps.vote import Stumps

__all__ = [
    "GAINS",
    "LOSSES",
    "Bag",
    "Boosted",
    "BoostedRows",
    "BoostingLoss",
    "Choice",
    "Ending",
    "Search",
    "Stump",
    "Stumps",
    "Watch",
    "bag",
    "best_of_all",
    "best_of_random",
    "boost",
]
