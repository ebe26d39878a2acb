"""Pictures of fitted models; needs the ``plot`` extra (matplotlib)."""

from everystump.explain.bound_search import BoundSearchDisplay
from everystump.explain.boundary import BoundaryDisplay
from everystump.explain.contributions import ContributionsDisplay
from everystump.explain.curves import CurvesDisplay
from everystump.explain.features import FeatureLearningDisplay
from everystump.explain.importances import ImportanceDisplay
from everystump.explain.losses import LossesDisplay
from everystump.explain.margin import MarginDisplay
from everystump.explain.margins import MarginsDisplay
from everystump.explain.path import PathDisplay

__all__ = [
    "BoundSearchDisplay",
    "BoundaryDisplay",
    "ContributionsDisplay",
    "CurvesDisplay",
    "FeatureLearningDisplay",
    "ImportanceDisplay",
    "LossesDisplay",
    "MarginDisplay",
    "MarginsDisplay",
    "PathDisplay",
]
