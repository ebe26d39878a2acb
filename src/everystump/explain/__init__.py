"""Plots of fitted models; needs the ``plot`` extra (matplotlib)."""

from everystump.explain.boundary import BoundaryDisplay
from everystump.explain.contributions import ContributionsDisplay
from everystump.explain.curves import CurvesDisplay
from everystump.explain.feature_learning import FeatureLearningDisplay
from everystump.explain.importances import ImportanceDisplay
from everystump.explain.losses import LossesDisplay
from everystump.explain.margins import MarginDisplay, MarginsDisplay
from everystump.explain.selection import BoundSearchDisplay, PathDisplay

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
