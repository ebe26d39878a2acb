"""Means with standard errors, paired tests, and verdicts on numbers compared with a paper's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from everystump._experiments.engine.experiment import Cell

MAX_STANDARD_ERRORS = 3.0
SIGNIFICANCE_LEVEL = 0.05
# Error rates take few distinct values: with one or two runs they may coincide by chance.
MIN_RUNS = 3

Verdict: TypeAlias = Literal["agrees", "better", "explained", "differs", "no data", "too few runs"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


class Mean(NamedTuple):
    """Mean over runs, its standard error (None for too few runs), and the standard deviation."""

    value: float
    error: float | None
    deviation: float

    def format(self, digits: int = 1) -> str:
        """Return the mean as text, with its standard error if it has one."""
        error = "" if self.error is None else f" ± {self.error:.{digits}f}"
        return f"{self.value:.{digits}f}{error}"


def mean_over_runs(values: ArrayLike, *, scale: float = 1.0) -> Mean:
    """Return the mean of the values of some runs, times ``scale``.

    Examples
    --------
    >>> from everystump._experiments.engine.statistics import mean_over_runs
    >>> mean_over_runs([0.1, 0.2, 0.3], scale=100)
    Mean(value=20.0, error=5.77..., deviation=10.0)
    """
    runs = np.asarray(values, dtype=np.float64) * scale
    deviation = float(runs.std(ddof=1)) if runs.size > 1 else 0.0
    error = deviation / math.sqrt(runs.size) if runs.size >= MIN_RUNS else None
    return Mean(float(runs.mean()), error, deviation)


class PairedTest(NamedTuple):
    """Difference of two methods on the same runs: mean, standard error, two-sided p-value.

    The p-value is NaN if there are too few runs for a test.
    """

    difference: float
    error: float
    p_value: float

    def format(self, *, scale: float = 1.0) -> str:
        """Return the difference in points and the test as text."""
        points = f"{scale * self.difference:+.2f}"
        if math.isnan(self.p_value):
            return f"{points} points (too few runs for a test)"
        error = f"{scale * self.error:.2f}"
        return f"{points} ± {error} points (paired t-test, p = {self.p_value:.2g})"

    @property
    def first_is_lower(self) -> bool:
        """Whether the first method's numbers are significantly lower."""
        return self.difference < 0 and self.p_value < SIGNIFICANCE_LEVEL

    @property
    def first_is_higher(self) -> bool:
        """Whether the first method's numbers are significantly higher."""
        return self.difference > 0 and self.p_value < SIGNIFICANCE_LEVEL


def paired_t_test(first: ArrayLike, second: ArrayLike) -> PairedTest:
    """Compare two methods by Student's t-test on the differences of each run.

    Unlike `scipy.stats.ttest_rel`, differences that do not vary have a p-value: 1 if they are
    zero, 0 if not.

    Examples
    --------
    >>> from everystump._experiments.engine.statistics import paired_t_test
    >>> paired_t_test([1.0, 2.0, 3.1], [2.0, 3.1, 4.0]).first_is_lower
    True
    >>> paired_t_test([1.0, 2.0], [2.0, 3.0]).format()
    '-1.00 points (too few runs for a test)'
    """
    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    mean = mean_over_runs(differences)
    if mean.error is None:
        return PairedTest(mean.value, 0.0, math.nan)
    if mean.error == 0:
        return PairedTest(mean.value, 0.0, float(mean.value == 0))
    p_value = 2 * stats.t.sf(abs(mean.value) / mean.error, differences.size - 1)
    return PairedTest(mean.value, mean.error, float(p_value))


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
    """Compare our number with the paper's.

    It *agrees* if it is within the cell's tolerance, or, where both numbers have standard errors,
    within 3 combined standard errors.  Otherwise it is *better*, or it *differs*, or it is
    *explained* if a trial found a likely reason for the difference.  With *too few runs* we have
    no standard error.

    Examples
    --------
    >>> from everystump._experiments.engine.experiment import Cell
    >>> from everystump._experiments.engine.statistics import verdict
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
    sampling_error = MAX_STANDARD_ERRORS * (combined_error(cell) or 0.0)
    if abs(difference) <= max(cell.tolerance, sampling_error):
        return "agrees"
    if (difference > 0) == cell.higher_is_better:
        return "better"
    return "explained" if cell.reason else "differs"


def count_verdicts(cells: Sequence[Cell]) -> dict[Verdict, int]:
    """Return the number of cells with each verdict."""
    verdicts = [verdict(cell) for cell in cells]
    return {name: verdicts.count(name) for name in VERDICTS}
