"""Measures over thresholds: which stumps vote, and with what weight."""

from everystump._core.measures import (
    ChosenStumps,
    Density,
    EqualShare,
    Lebesgue,
    Measure,
    Middle,
    Mixed,
    Rank,
    Uniform,
)
from everystump._core.weighted_measure import Weighted

__all__ = [
    "ChosenStumps",
    "Density",
    "EqualShare",
    "Lebesgue",
    "Measure",
    "Middle",
    "Mixed",
    "Rank",
    "Uniform",
    "Weighted",
]
