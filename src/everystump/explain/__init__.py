"""Pictures of fitted models; needs the ``plot`` extra (matplotlib)."""

from everystump.explain.bound_search import BoundSearchDisplay
from everystump.explain.curves import CurvesDisplay
from everystump.explain.features import FeatureLearningDisplay
from everystump.explain.losses import LossesDisplay
from everystump.explain.margin import MarginDisplay
from everystump.explain.path import PathDisplay

__all__ = [
    "BoundSearchDisplay",
    "CurvesDisplay",
    "FeatureLearningDisplay",
    "LossesDisplay",
    "MarginDisplay",
    "PathDisplay",
]
