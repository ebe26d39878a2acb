"""The classes and functions that a model file may contain; nothing else is ever built.

A class is stored by its fields or parameters (see `everystump.modelfile.records`): a new field
needs no change here, a new class needs a line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.metrics.pairwise import linear_kernel

from everystump import kernels
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
from everystump._tables.frames import Feature
from everystump._tables.overlap import TrainingRecord
from everystump.bounds._bound import Bound
from everystump.estimators._subsamples import Stack
from everystump.estimators.bagging import StumpBaggingClassifier
from everystump.estimators.boosted_svc import BoostedStumpSVC, Stage
from everystump.estimators.boosting import StumpBoostingClassifier
from everystump.estimators.kernel_svc import KernelSVC
from everystump.estimators.logistic import StumpLogisticRegression, StumpLogisticRegressionCV
from everystump.estimators.loo_search import LooBoundSearch
from everystump.estimators.perceptron import PerceptronSVC
from everystump.estimators.stump import DecisionStumpClassifier
from everystump.estimators.subsample_voting import SubsampleVotingClassifier
from everystump.estimators.svc import StumpSVC, StumpSVCCV
from everystump.estimators.weighted_vote import WeightedVoteClassifier

_ESTIMATORS = (
    BoostedStumpSVC,
    DecisionStumpClassifier,
    KernelSVC,
    LooBoundSearch,
    PerceptronSVC,
    StumpBaggingClassifier,
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpSVC,
    StumpSVCCV,
    SubsampleVotingClassifier,
    WeightedVoteClassifier,
)
_RECORDS = (
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
    TrainingRecord,
)
_MEASURES = (ChosenStumps, EqualShare, Lebesgue, Middle, Mixed, Rank, Uniform)
_FUNCTIONS: tuple[Callable, ...] = (
    linear_kernel,
    *(getattr(kernels, name) for name in kernels.__all__ if name.endswith("_kernel")),
)

ESTIMATORS: dict[str, type] = {cls.__name__: cls for cls in _ESTIMATORS}
CLASSES: dict[str, type] = {cls.__name__: cls for cls in (*_ESTIMATORS, *_RECORDS, *_MEASURES)}
FUNCTIONS: dict[str, Callable] = {function.__name__: function for function in _FUNCTIONS}


def is_registered(value: Any) -> bool:
    """Whether the class of an object is registered itself, not merely one of its bases."""
    return CLASSES.get(type(value).__name__) is type(value)


def is_registered_function(value: Any) -> bool:
    """Whether a function is registered."""
    return FUNCTIONS.get(getattr(value, "__name__", "")) is value
