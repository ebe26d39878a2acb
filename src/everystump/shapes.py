"""Shape functions: the curves of a fitted model, which can be added, scaled and averaged."""

from everystump._core.shapes import Ensemble, Shape, ShapeModel, average, combine

__all__ = ["Ensemble", "Shape", "ShapeModel", "average", "combine"]
