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
]
