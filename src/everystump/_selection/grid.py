"""The values of a parameter along a path, and the selection of one of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from everystump._arguments import as_float_array

# The base-2 logarithms of the default values of C, and the limit of extensions of the grid.
_C_RANGE, _EXTENSION_LOG2 = (-9.0, 6.0), 21.0
# Those of the coarse grid of C times the strength of interactions.
_COARSE_LOG2 = (-10, -6, -2)
_STRENGTH_FACTOR, _REFINED_C_FACTOR = 4.0, 2.0
# The fraction of a grid that is tried first, and how many values are then tried at a time.
_FIRST, _STEP = 0.45, 2
# The grid is extended if its end beats all other values by more than this fraction of the range.
_MIN_GAIN = 1e-3
# A path is past its peak when scores are this many standard errors lower.
_N_STANDARD_ERRORS = 2.0
# A model with interactions, with fewer than all, or with other weights must gain the first number
# of standard errors; the second suffices for another measure, and for trying fewer interactions.
_MIN_RELEVANT_GAIN, MIN_PROMISING_GAIN = 1.0, 0.5
# Gains below this fraction of the distance from the best possible score do not count: a climbing
# grid does not go on for them, and neither weights nor interactions are used for them.
_MIN_RELATIVE_GAIN = 1e-4
# The same for another measure: in the study "interactions-tables", changes of the measure for
# smaller gains were more often worse than better on test rows.
MIN_MEASURE_GAIN = 2.5e-3
# The largest strength of interactions, about that of the path for the smallest C: with a larger
# one, rounding hides everything else.
MAX_STRENGTH = 1e13
_LARGEST = float(np.finfo(float).max)
# Mean scores with a smaller relative difference are equal up to rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Selection:
    """A way to select parameters.

    Attributes
    ----------
    has_folds : bool
        Whether models are scored on held-out samples, not by a bound.
    prefers_small : bool
        Whether the smallest value within one standard error of the best is selected.
    """

    has_folds: bool = True
    prefers_small: bool = False

    @property
    def refines(self) -> bool:
        """Whether parameters are chosen again, given others: as long as the best is selected."""
        return self.has_folds and not self.prefers_small

    def best(self, mean: np.ndarray, std: np.ndarray, n_folds: int) -> int:
        """Return the index of the selected value, given the scores of ascending values.

        Among values that are equal up to rounding, the smallest is selected, the simplest model.
        """
        best = int(np.flatnonzero(mean >= mean.max() - _ROUNDING * np.abs(mean).max())[0])
        if not self.prefers_small:
            return best
        error = std[best] / np.sqrt(max(n_folds - 1, 1))
        return int(np.flatnonzero(mean >= mean[best] - error)[0])

    def next_cost_grid(self, Cs: Any, C: float) -> PathGrid:
        """Return the grid of the parameter ``Cs`` for a similar model, whose best C was ``C``."""
        if self.prefers_small or not isinstance(Cs, Integral):
            return cost_grid(Cs)  # all listed values are tried, and all smaller ones of the best
        low, high = 2.0**-_EXTENSION_LOG2, 2.0**_EXTENSION_LOG2
        factor = 2.0 ** ((_C_RANGE[1] - _C_RANGE[0]) / (int(Cs) - 1))
        return ClimbingGrid([], [C], factor, low, high, upwards=False)


# By the value of the parameter ``selection``.
SELECTIONS = {
    "cv": Selection(),
    "cv-1se": Selection(prefers_small=True),
    "loo-bound": Selection(has_folds=False),
}


class PathGrid(ABC):
    """The values of a parameter along a path, a few at a time."""

    def known(self) -> list[float]:
        """Return the values whose scores are already known."""
        return []

    @abstractmethod
    def first(self) -> list[float]:
        """Return the values to try first."""

    @abstractmethod
    def next(self, values: np.ndarray, scores: np.ndarray) -> list[float]:
        """Return the values to try next; none if the path is complete.

        ``scores`` has one row per fold and one column per value in ``values``, which are ascending.
        """


class FixedGrid(PathGrid):
    """Values listed by the user, all tried at once."""

    def __init__(self, values: Any, name: str, expected: str, largest: float = _LARGEST) -> None:
        array = as_float_array(values, name, expected)
        grid = np.unique(array)
        if array.ndim != 1 or len(grid) == 0 or not np.all((grid > 0) & (grid <= largest)):
            raise ValueError(f"{name}={values!r} must be {expected}.")
        self._values = grid.tolist()

    def first(self) -> list[float]:
        """Return all values."""
        return self._values

    def next(self, values: np.ndarray, scores: np.ndarray) -> list[float]:
        """Return no further values."""
        return []


class AscendingGrid(PathGrid):
    """Values of C in ascending order, until the scores are past their peak.

    The grid is extended at an end that is the best value.
    """

    def __init__(self, n_values: int) -> None:
        self._remaining = (2.0 ** np.linspace(*_C_RANGE, n_values)).tolist()

    def first(self) -> list[float]:
        """Return the smallest values."""
        return self._take(max(2, int(_FIRST * len(self._remaining))))

    def next(self, values: np.ndarray, scores: np.ndarray) -> list[float]:
        """Return the next larger values, or those of an extension."""
        if self._remaining and not is_past_best(scores):
            return self._take(_STEP)
        self._remaining = []
        return _extension(values, scores.mean(axis=0))

    def _take(self, n: int) -> list[float]:
        taken, self._remaining = self._remaining[:n], self._remaining[n:]
        return taken


class ClimbingGrid(PathGrid):
    """Values on a geometric grid: the first ones, then neighbors of the best until it is a peak.

    The neighbors of a value are ``factor`` times larger and smaller.  One of them is tried first,
    the other one only if that is not better.

    Parameters
    ----------
    known, first : list of float
        Values whose scores are known, and those to try first.
    factor : float
        Greater than 1.
    low, high : float
        Limits of the values.
    upwards : bool
        Whether the larger neighbor is tried first.
    """

    def __init__(
        self,
        known: list[float],
        first: list[float],
        factor: float,
        low: float,
        high: float,
        *,
        upwards: bool,
    ) -> None:
        self._known, self._first, self._limits = known, first, (low, high)
        self._factors = (factor, 1 / factor) if upwards else (1 / factor, factor)

    def known(self) -> list[float]:
        """Return the values whose scores are known."""
        return self._known

    def first(self) -> list[float]:
        """Return the first values."""
        return self._first

    def next(self, values: np.ndarray, scores: np.ndarray) -> list[float]:
        """Return a neighbor of the best value; none if both are known."""
        best, (low, high) = self._best(values, scores.mean(axis=0)), self._limits
        for factor in self._factors:
            value = best * factor
            is_known = np.any(np.abs(np.log(values / value)) < _ROUNDING)
            if not is_known and low <= value <= high:
                return [value]
        return []

    def _best(self, values: np.ndarray, mean: np.ndarray) -> float:
        """Return the best value; of about equal ones the one to begin with, or the smallest."""
        equal = values[mean >= mean.max() - _irrelevant_gain(mean.max())]
        single = self._first if len(self._first) == 1 else []
        return next((value for value in [*self._known, *single] if value in equal), float(equal[0]))


def refined_cost_grid(C: float) -> PathGrid:
    """Return the grid on which C is refined, downwards first, given a C whose score is known."""
    low, high = 2.0**-_EXTENSION_LOG2, 2.0**_EXTENSION_LOG2
    first = [max(low, C / _REFINED_C_FACTOR)]
    return ClimbingGrid([C], first, _REFINED_C_FACTOR, low, high, upwards=False)


def cost_grid(Cs: Any) -> PathGrid:
    """Return the grid of the parameter ``Cs``, a number of values or a list of them."""
    if isinstance(Cs, Integral):
        return AscendingGrid(int(Cs))
    return FixedGrid(Cs, "Cs", "an integer or a list of positive finite numbers")


def strength_grid(strength: Any, C: float) -> PathGrid:
    """Return the grid of the parameter ``interaction_strength``; None for the default."""
    if strength is None:
        C = max(C, 2.0**-_EXTENSION_LOG2)  # no strength of the grid is above the maximum
        products = [2.0**k for k in _COARSE_LOG2]
        return ClimbingGrid(
            [],
            [product / C for product in products],
            _STRENGTH_FACTOR,
            products[0] / C,
            2.0**_EXTENSION_LOG2 / C,
            upwards=True,
        )
    listed = np.atleast_1d(np.asarray(strength, dtype=object)).tolist()
    expected = f"a positive number of at most {MAX_STRENGTH:g} or a list of them"
    return FixedGrid(listed, "interaction_strength", expected, MAX_STRENGTH)


def is_past_best(scores: np.ndarray) -> bool:
    """Whether the last two values are significantly worse than the best, paired by folds.

    Examples
    --------
    >>> is_past_best(np.array([[0.5, 0.9, 0.8, 0.7], [0.4, 0.9, 0.7, 0.7]]))
    True
    """
    n_folds, n_values = scores.shape
    best = int(np.argmax(scores.mean(axis=0)))
    if n_folds < 2 or n_values - best < 3:
        return False
    mean, error = _mean_and_error(scores[:, [best]] - scores[:, -2:])
    return bool(np.all(mean > _N_STANDARD_ERRORS * error))


def is_relevant(
    gains: np.ndarray,
    scores: np.ndarray,
    n_errors: float = _MIN_RELEVANT_GAIN,
    min_fraction: float = _MIN_RELATIVE_GAIN,
) -> bool:
    """Whether gains over scores exceed ``n_errors`` standard errors, and are not tiny.

    They are tiny up to ``min_fraction`` of the distance of the scores from the best possible one.

    Examples
    --------
    >>> gains = np.array([1e-5, 2e-5, 1e-5])
    >>> is_relevant(gains, np.full(3, 0.5)), is_relevant(gains, np.full(3, 0.999))
    (False, True)
    """
    is_tiny = np.mean(gains) <= _irrelevant_gain(float(np.mean(scores)), min_fraction)
    return exceeds_error(gains, n_errors) and not is_tiny


def exceeds_error(gains: np.ndarray, n_errors: float = _MIN_RELEVANT_GAIN) -> bool:
    """Whether the mean gain over the folds is more than ``n_errors`` standard errors.

    Examples
    --------
    >>> exceeds_error(np.array([0.1, 0.2, 0.1])), exceeds_error(np.array([0.1, -0.1, 0.01]))
    (True, False)
    """
    mean, error = _mean_and_error(gains)
    return bool(np.all(mean > n_errors * error))


def _irrelevant_gain(score: float, fraction: float = _MIN_RELATIVE_GAIN) -> float:
    """Return the largest gain over a score that does not count.

    The best possible score is taken as 1 for scores from 0 to 1, such as R² and accuracy, and as 0
    for all others, such as negated losses.

    Examples
    --------
    >>> [_irrelevant_gain(score) for score in (0.5, 0.0, -0.5, -20.0)]
    [5e-05, 0.0001, 5e-05, 0.002]
    """
    best = 1.0 if 0 <= score <= 1 else 0.0
    return max(fraction * abs(best - score), _ROUNDING * abs(score))


def _mean_and_error(gains: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means over folds and their standard errors, in a unit in which squares are finite.

    ``gains`` has one row per fold; the standard error of a single fold is 0.
    """
    n_folds = len(gains)
    gains = np.ldexp(gains, -np.frexp(np.abs(gains).max())[1])
    error = gains.std(axis=0, ddof=1) / np.sqrt(n_folds) if n_folds > 1 else np.zeros(1)
    return gains.mean(axis=0), error


def _extension(values: np.ndarray, mean: np.ndarray) -> list[float]:
    """Return values beyond an end of the grid if it beats all others; otherwise none."""
    best = int(np.argmax(mean))
    runner_up = np.max(np.delete(mean, best))
    if mean[best] - runner_up <= _MIN_GAIN * np.ptp(mean):
        return []
    steps = (values[1] / values[0]) ** np.arange(1, _STEP + 1)
    if best == len(values) - 1:
        grid = values[-1] * steps
    elif best == 0:
        grid = values[0] / steps
    else:
        return []
    return grid[np.abs(np.log2(grid)) <= _EXTENSION_LOG2].tolist()
