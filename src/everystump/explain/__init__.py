"""Pictures of fitted models; needs the ``plot`` extra (matplotlib)."""

from everystump.explain.curves import CurvesDisplay
from everystump.explain.path import PathDisplay

__all__ = ["CurvesDisplay", "PathDisplay"]
