"""Means with their errors, paired tests, and the verdict on a number beside the paper's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from everystump._experiments.experiment import Cell

MOST_STANDARD_ERRORS = 3.0
LEVEL = 0.05
# Error rates are multiples of one number: one or two runs may coincide by chance.
FEWEST_RUNS = 3

Verdict: TypeAlias = Literal["agrees", "better", "explained", "differs", "no data", "too few runs"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


class Mean(NamedTuple):
    """A mean over runs, its standard error (None for too few), and the deviation of a run."""

    value: float
    error: float | None
    deviation: float

    def words(self, digits: int = 1) -> str:
        """Return the mean as text, with its error if it has one."""
        error = "" if self.error is None else f" ± {self.error:.{digits}f}"
        return f"{self.value:.{digits}f}{error}"


def mean_of(values: ArrayLike, *, scale: float = 1.0) -> Mean:
    """Return the mean of some runs times ``scale``.

    Examples
    --------
    >>> from everystump._experiments.statistics import mean_of
    >>> mean_of([0.1, 0.2, 0.3], scale=100)
    Mean(value=20.0, error=5.77..., deviation=10.0)
    """
    runs = np.asarray(values, dtype=np.float64) * scale
    deviation = float(runs.std(ddof=1)) if runs.size > 1 else 0.0
    error = deviation / math.sqrt(runs.size) if runs.size >= FEWEST_RUNS else None
    return Mean(float(runs.mean()), error, deviation)


class Paired(NamedTuple):
    """How much two methods differ on the same runs: mean, standard error, two-sided p-value.

    The p-value is NaN where there are too few runs for a test.
    """

    difference: float
    error: float
    p_value: float

    def words(self, *, scale: float = 1.0) -> str:
        """Return the difference in points and the test as text."""
        points = f"{scale * self.difference:+.2f}"
        if math.isnan(self.p_value):
            return f"{points} points (too few runs for a test)"
        error = f"{scale * self.error:.2f}"
        return f"{points} ± {error} points (paired t-test, p = {self.p_value:.2g})"

    @property
    def first_is_less(self) -> bool:
        """Whether the first method's numbers are less, beyond chance."""
        return self.difference < 0 and self.p_value < LEVEL

    @property
    def first_is_more(self) -> bool:
        """Whether the first method's numbers are more, beyond chance."""
        return self.difference > 0 and self.p_value < LEVEL


def paired(first: ArrayLike, second: ArrayLike) -> Paired:
    """Compare two methods by Student's test on the differences of each run.

    Examples
    --------
    >>> from everystump._experiments.statistics import paired
    >>> paired([1.0, 2.0, 3.1], [2.0, 3.1, 4.0]).first_is_less
    True
    >>> paired([1.0, 2.0], [2.0, 3.0]).words()
    '-1.00 points (too few runs for a test)'
    """
    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    mean = mean_of(differences)
    if mean.error is None:
        return Paired(mean.value, 0.0, math.nan)
    if mean.error == 0:
        return Paired(mean.value, 0.0, float(mean.value == 0))
    p_value = 2 * stats.t.sf(abs(mean.value) / mean.error, differences.size - 1)
    return Paired(mean.value, mean.error, float(p_value))


def combined_error(cell: Cell) -> float | None:
    """Return the standard error of the difference, None unless both numbers have one."""
    if cell.paper_error is None or cell.ours_error is None:
        return None
    return math.hypot(cell.paper_error, cell.ours_error)


def standard_errors(cell: Cell) -> float | None:
    """Return ours minus the paper's in combined standard errors, None if there are none."""
    error = combined_error(cell)
    if cell.ours is None or cell.paper is None or not error:
        return None
    return (cell.ours - cell.paper) / error


def verdict(cell: Cell) -> Verdict:
    """Say how our number stands beside the paper's.

    It *agrees* if it is within 3 combined standard errors or the cell's tolerance, or the tolerance
    alone where the paper has no error; beyond that it is *better* or *differs*, and *explained* is
    a difference whose reason was tested.  *Too few runs* have
    no standard error to judge by.

    Examples
    --------
    >>> from everystump._experiments.experiment import Cell
    >>> from everystump._experiments.statistics import verdict
    >>> verdict(Cell("heart", "error", ours=16.9, ours_error=0.3, paper=16.4, paper_error=0.3))
    'agrees'
    >>> verdict(Cell("heart", "error", ours=12.0, ours_error=0.3, paper=16.4, paper_error=0.3))
    'better'
    """
    if cell.ours is None or cell.paper is None:
        return "no data"
    if cell.ours_error is None:
        return "too few runs"
    difference = cell.ours - cell.paper
    by_chance = MOST_STANDARD_ERRORS * (combined_error(cell) or 0.0)
    if abs(difference) <= max(cell.tolerance, by_chance):
        return "agrees"
    if (difference > 0) == cell.more_is_better:
        return "better"
    return "explained" if cell.reason else "differs"


def count_verdicts(cells: Sequence[Cell]) -> dict[Verdict, int]:
    """Return how many cells have each verdict."""
    found = [verdict(cell) for cell in cells]
    return {name: found.count(name) for name in VERDICTS}
