"""The values of C along a path, and the selection of one of them."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from everystump._arguments import as_float_array

# The default grid, and the limit of its extensions.
_MIN_LOG2, _MAX_LOG2, _EXTENSION_LOG2 = -9.0, 6.0, 21.0
# The fraction of a grid that is tried first, and how many values are then tried at a time.
_FIRST, _STEP = 0.45, 2
# The grid is extended if its end beats all other values by more than this fraction of the range.
_MIN_GAIN = 1e-3
# A path is past its peak when scores are this many standard errors lower.
_N_STANDARD_ERRORS = 2.0
# Mean scores with a smaller relative difference are equal up to rounding.
_ROUNDING = 1e-12


class CGrid:
    """The values of C along a path, a few at a time.

    Values listed by the user are tried all at once.  If the user sets only their number, they are
    tried in ascending order until the scores are past their peak, and the grid is extended at an
    end that is the best value.
    """

    def __init__(self, Cs: Any) -> None:
        self.fixed = not isinstance(Cs, Integral)
        self._remaining = _check_values(Cs) if self.fixed else _default_values(int(Cs))

    def first(self) -> list[float]:
        """Return the values to try first."""
        n = len(self._remaining)
        return self._take(n if self.fixed else max(2, int(_FIRST * n)))

    def next(self, Cs: np.ndarray, scores: np.ndarray) -> list[float]:
        """Return the values to try next; none if the path is complete.

        ``scores`` has one row per fold and one column per value in ``Cs``, which are ascending.
        """
        if self.fixed:
            return []
        if self._remaining and not is_past_best(scores):
            return self._take(_STEP)
        self._remaining = []
        return _extension(Cs, scores.mean(axis=0))

    def _take(self, n: int) -> list[float]:
        taken, self._remaining = self._remaining[:n], self._remaining[n:]
        return taken


def is_past_best(scores: np.ndarray) -> bool:
    """Whether the last two values of C are significantly worse than the best, paired by folds.

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
    """Return the index of the selected C: the best, or the smallest within one standard error.

    Among values that are equal up to rounding, the smallest C is selected, the simplest model.
    """
    best = int(np.flatnonzero(mean >= mean.max() - _ROUNDING * np.abs(mean).max())[0])
    if selection != "cv-1se":
        return best
    error = std[best] / np.sqrt(max(n_folds - 1, 1))
    return int(np.flatnonzero(mean >= mean[best] - error)[0])


def _default_values(n: int) -> list[float]:
    return (2.0 ** np.linspace(_MIN_LOG2, _MAX_LOG2, n)).tolist()


def _check_values(Cs: Any) -> list[float]:
    expected = "an integer or a list of positive finite numbers"
    values = as_float_array(Cs, "Cs", expected)
    grid = np.unique(values)
    if values.ndim != 1 or len(grid) == 0 or not np.all((grid > 0) & (grid < np.inf)):
        raise ValueError(f"Cs={Cs!r} must be {expected}.")
    return grid.tolist()


def _extension(Cs: np.ndarray, mean: np.ndarray) -> list[float]:
    """Return values of C beyond an end of the grid if it beats all others; otherwise none."""
    best = int(np.argmax(mean))
    runner_up = np.max(np.delete(mean, best))
    if mean[best] - runner_up <= _MIN_GAIN * np.ptp(mean):
        return []
    steps = (Cs[1] / Cs[0]) ** np.arange(1, _STEP + 1)
    if best == len(Cs) - 1:
        grid = Cs[-1] * steps
    elif best == 0:
        grid = Cs[0] / steps
    else:
        return []
    return grid[np.abs(np.log2(grid)) <= _EXTENSION_LOG2].tolist()
