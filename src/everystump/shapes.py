"""The curves and surfaces of a fitted model, which can be added, scaled and averaged."""

from everystump._core.shapes import Ensemble, Shape, ShapeModel, average, combine
from everystump._core.surfaces import Axis, Surface

__all__ = ["Axis", "Ensemble", "Shape", "ShapeModel", "Surface", "average", "combine"]
