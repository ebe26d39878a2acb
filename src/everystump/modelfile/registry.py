"""The classes and functions that a model file may contain; nothing else is ever built.

A class is stored by its fields or parameters (see `everystump.modelfile.records`): a new field or
a new public estimator needs no change here, any other new class needs a line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.metrics.pairwise import linear_kernel

from everystump import estimators, kernels
from everystump._core.boosting.stumps import Stumps
from everystump._core.columns import RowDensity
from everystump._core.kernel_machines.kernels import (
    CallableKernel,
    Expansion,
    NamedKernel,
    PrecomputedKernel,
)
from everystump._core.measures import (
    ChosenStumps,
    EqualShare,
    Lebesgue,
    Middle,
    Mixed,
    Rank,
    Uniform,
)
from everystump._core.shapes import Ensemble, Shape, ShapeModel
from everystump._core.solvers.certificate import Certificate
from everystump._core.surfaces import Axis, Surface
from everystump._core.weighted_measure import Weighted
from everystump._tables.frames import Feature
from everystump._tables.overlap import TrainingRecord
from everystump.bounds._bound import Bound
from everystump.estimators._subsamples import Stack
from everystump.estimators.boosted_svc import Stage

_RECORDS = (
    Axis,
    Bound,
    Certificate,
    RowDensity,
    Ensemble,
    Expansion,
    Feature,
    CallableKernel,
    NamedKernel,
    PrecomputedKernel,
    Shape,
    ShapeModel,
    Stack,
    Stage,
    Stumps,
    Surface,
    TrainingRecord,
)
_MEASURES = (ChosenStumps, EqualShare, Lebesgue, Middle, Mixed, Rank, Uniform, Weighted)
_FUNCTIONS: tuple[Callable, ...] = (
    linear_kernel,
    *(getattr(kernels, name) for name in kernels.__all__ if name.endswith("_kernel")),
)

ESTIMATORS: dict[str, type] = {
    name: getattr(estimators, name)
    for name in estimators.__all__  # type: ignore[attr-defined]  # the stub cannot declare it
}
CLASSES = ESTIMATORS | {cls.__name__: cls for cls in (*_RECORDS, *_MEASURES)}
FUNCTIONS: dict[str, Callable] = {function.__name__: function for function in _FUNCTIONS}


def is_registered(value: Any) -> bool:
    """Whether the class of an object is registered itself, not merely one of its bases."""
    return CLASSES.get(type(value).__name__) is type(value)


def is_registered_function(value: Any) -> bool:
    """Whether a function is registered."""
    return FUNCTIONS.get(getattr(value, "__name__", "")) is value
