"""Prediction intervals and prediction sets with guaranteed coverage, by split conformal prediction.

The names and the shapes of the results are those of MAPIE.  Public names are imported on first use;
``__init__.pyi`` lists them.
"""

from everystump._lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__)
