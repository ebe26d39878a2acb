"""The values of a parameter along a path, and the selection of one of them."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from everystump._arguments import as_float_array

# The base-2 logarithms of the default values of C, and the limit of extensions of the grid.
_C_RANGE, _EXTENSION_LOG2 = (-9.0, 6.0), 21.0
# Those of the default strengths of interactions, and their number.
_STRENGTH_RANGE, _N_STRENGTHS = (-16.0, 4.0), 11
# The fraction of a grid that is tried first, and how many values are then tried at a time.
_FIRST, _STEP = 0.45, 2
# The grid is extended if its end beats all other values by more than this fraction of the range.
_MIN_GAIN = 1e-3
# A path is past its peak when scores are this many standard errors lower.
_N_STANDARD_ERRORS = 2.0
# Mean scores with a smaller relative difference are equal up to rounding.
_ROUNDING = 1e-12


class PathGrid:
    """The values of a parameter along a path, a few at a time.

    Values listed by the user are tried all at once.  Default values are tried in ascending order
    until the scores are past their peak, and the grid is extended at an end that is the best value.
    """

    def __init__(
        self, values: list[float], *, fixed: bool, stops_without_error: bool = False
    ) -> None:
        self.fixed = fixed
        self._remaining = values
        # With a single fold there is no standard error: stop at the second value that is worse.
        self._stops_without_error = stops_without_error

    @classmethod
    def for_cost(cls, Cs: Any) -> PathGrid:
        """Return the grid of the parameter ``Cs``, a number of values or a list of them."""
        if isinstance(Cs, Integral):
            return cls(_spaced(_C_RANGE, int(Cs)), fixed=False)
        expected = "an integer or a list of positive finite numbers"
        return cls(_check_values(Cs, "Cs", expected), fixed=True)

    @classmethod
    def for_strengths(cls, strengths: Any) -> PathGrid:
        """Return the grid of the parameter ``interaction_strength``; None for the default grid."""
        if strengths is None:
            values = _spaced(_STRENGTH_RANGE, _N_STRENGTHS)
            return cls(values, fixed=False, stops_without_error=True)
        expected = "a positive finite number or a list of them"
        listed = np.atleast_1d(np.asarray(strengths, dtype=object)).tolist()
        return cls(_check_values(listed, "interaction_strength", expected), fixed=True)

    def first(self) -> list[float]:
        """Return the values to try first."""
        n = len(self._remaining)
        return self._take(n if self.fixed else max(2, int(_FIRST * n)))

    def next(self, values: np.ndarray, scores: np.ndarray) -> list[float]:
        """Return the values to try next; none if the path is complete.

        ``scores`` has one row per fold and one column per value in ``values``, which are ascending.
        """
        if self.fixed:
            return []
        if self._remaining and not self._is_past_best(scores):
            return self._take(_STEP if len(scores) > 1 else 1)
        self._remaining = []
        return _extension(values, scores.mean(axis=0))

    def _is_past_best(self, scores: np.ndarray) -> bool:
        if self._stops_without_error and len(scores) == 1:
            return scores.shape[1] - int(np.argmax(scores[0])) >= 3
        return is_past_best(scores)

    def _take(self, n: int) -> list[float]:
        taken, self._remaining = self._remaining[:n], self._remaining[n:]
        return taken


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
    loss = scores[:, [best]] - scores[:, -2:]
    error = loss.std(axis=0, ddof=1) / np.sqrt(n_folds)
    return bool(np.all(loss.mean(axis=0) > _N_STANDARD_ERRORS * error))


def select_best(mean: np.ndarray, std: np.ndarray, n_folds: int, selection: str) -> int:
    """Return the index of the selected value: the best, or the smallest within one standard error.

    Among values that are equal up to rounding, the smallest is selected, the simplest model.
    """
    best = int(np.flatnonzero(mean >= mean.max() - _ROUNDING * np.abs(mean).max())[0])
    if selection != "cv-1se":
        return best
    error = std[best] / np.sqrt(max(n_folds - 1, 1))
    return int(np.flatnonzero(mean >= mean[best] - error)[0])


def _spaced(log2_range: tuple[float, float], n: int) -> list[float]:
    return (2.0 ** np.linspace(*log2_range, n)).tolist()


def _check_values(values: Any, name: str, expected: str) -> list[float]:
    array = as_float_array(values, name, expected)
    grid = np.unique(array)
    if array.ndim != 1 or len(grid) == 0 or not np.all((grid > 0) & (grid < np.inf)):
        raise ValueError(f"{name}={values!r} must be {expected}.")
    return grid.tolist()


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
