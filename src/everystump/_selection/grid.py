"""Which values of C a path tries, and which of them it takes."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from everystump._arguments import as_float_array

_LOWEST_LOG2, _HIGHEST_LOG2 = -9.0, 6.0
_MOST_LOG2 = 21.0
# Of a number of values, this share is tried at first; then so many at a time.
_FIRST, _AT_A_TIME = 0.45, 2
# It goes on beyond an edge that beats its neighbor by more than this share of the range of scores.
_WORTH = 1e-3
# A path has passed its best when it is this many standard errors below it.
_CLEARLY = 2.0
# Mean scores nearer to each other than this share are equal but for rounding.
_ROUNDING = 1e-12


class Grid:
    """The values of C of a path, handed out a few at a time.

    Given values are handed out all at once.  A number of values is handed out in ascending order
    until the scores have clearly passed their best, and beyond an edge while that is the best.
    """

    def __init__(self, Cs: Any) -> None:
        self.fixed = not isinstance(Cs, Integral)
        self._waiting = _given(Cs) if self.fixed else _spread(int(Cs))

    def first(self) -> list[float]:
        """Return the values to begin with."""
        n = len(self._waiting)
        return self._take(n if self.fixed else max(2, int(_FIRST * n)))

    def after(self, Cs: np.ndarray, scores: np.ndarray) -> list[float]:
        """Return the values to try next, none if the path is complete.

        ``scores`` has one row for each fold and one column for each of ``Cs``, which ascend.
        """
        if self.fixed:
            return []
        if self._waiting and not is_past_best(scores):
            return self._take(_AT_A_TIME)
        self._waiting = []
        return _extension(Cs, scores.mean(axis=0))

    def _take(self, n: int) -> list[float]:
        taken, self._waiting = self._waiting[:n], self._waiting[n:]
        return taken


def is_past_best(scores: np.ndarray) -> bool:
    """Tell whether the last two values of C are clearly worse than the best, fold by fold.

    Examples
    --------
    >>> is_past_best(np.array([[0.5, 0.9, 0.8, 0.7], [0.4, 0.9, 0.7, 0.7]]))
    True
    """
    n_folds, n_values = scores.shape
    best = int(np.argmax(scores.mean(axis=0)))
    if n_folds < 2 or n_values - best < 3:
        return False
    lost = scores[:, [best]] - scores[:, -2:]
    error = lost.std(axis=0, ddof=1) / np.sqrt(n_folds)
    return bool(np.all(lost.mean(axis=0) > _CLEARLY * error))


def choose(mean: np.ndarray, std: np.ndarray, n_folds: int, selection: str) -> int:
    """Return the number of the chosen C: the best, or the smallest within a standard error.

    Among equals up to rounding the smallest C wins, the simplest model.
    """
    best = int(np.flatnonzero(mean >= mean.max() - _ROUNDING * np.abs(mean).max())[0])
    if selection != "cv-1se":
        return best
    error = std[best] / np.sqrt(max(n_folds - 1, 1))
    return int(np.flatnonzero(mean >= mean[best] - error)[0])


def _spread(n: int) -> list[float]:
    return (2.0 ** np.linspace(_LOWEST_LOG2, _HIGHEST_LOG2, n)).tolist()


def _given(Cs: Any) -> list[float]:
    wanted = "a whole number of values or a list of positive finite numbers"
    given = as_float_array(Cs, "Cs", wanted)
    grid = np.unique(given)
    if given.ndim != 1 or len(grid) == 0 or not np.all((grid > 0) & (grid < np.inf)):
        raise ValueError(f"Cs={Cs!r} must be {wanted}.")
    return grid.tolist()


def _extension(Cs: np.ndarray, mean: np.ndarray) -> list[float]:
    """Return more values of C beyond an edge that clearly beats all others, none otherwise."""
    best = int(np.argmax(mean))
    runner_up = np.max(np.delete(mean, best))
    if mean[best] - runner_up <= _WORTH * np.ptp(mean):
        return []
    steps = (Cs[1] / Cs[0]) ** np.arange(1, _AT_A_TIME + 1)
    if best == len(Cs) - 1:
        grid = Cs[-1] * steps
    elif best == 0:
        grid = Cs[0] / steps
    else:
        return []
    return grid[np.abs(np.log2(grid)) <= _MOST_LOG2].tolist()
