"""Paired tests of two models on the same rows, with 95% intervals of their difference.

Differences are those of the second model minus the first one.

References
----------
McNemar (1947), with the mid-p value of Fagerland, Lydersen & Laake (2013); Agresti & Min (2005) for
the interval of a difference of matched proportions; DeLong, DeLong & Clarke-Pearson (1988) for
areas under ROC curves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import binom, norm
from scipy.stats import t as student_t

from everystump._evaluation.intervals import (
    MIN_MEAN_ROWS,
    MIN_ROWS,
    Z,
    area_influences,
    standard_error,
    stratified_error,
)

_SQUARES_TEST = "paired t of squared errors"


class PairedTest(NamedTuple):
    """The difference of two models in a metric.

    Attributes
    ----------
    low, high : float or None
        95% confidence limits, None if there are too few rows, or if the rows do not differ from
        each other in the difference, so that they do not show how it varies.
    p : float or None
        Two-sided p-value of the hypothesis that there is no difference.
    test : str
        Name of the test.
    """

    low: float | None = None
    high: float | None = None
    p: float | None = None
    test: str = ""


def mcnemar(n_only_first: int, n_only_second: int) -> tuple[float, float]:
    """Return the mid-p value and the exact p-value of McNemar's test.

    Parameters
    ----------
    n_only_first, n_only_second : int
        Number of rows that only the first, or only the second model predicts correctly.

    Examples
    --------
    >>> mid_p, exact = mcnemar(1, 9)
    >>> round(mid_p, 4), round(exact, 4)
    (0.0117, 0.0215)
    """
    n, fewer = n_only_first + n_only_second, min(n_only_first, n_only_second)
    twice = 2.0 * float(binom.cdf(fewer, n, 0.5))
    return twice - float(binom.pmf(fewer, n, 0.5)), min(1.0, twice)


def compare_proportions(first: np.ndarray, second: np.ndarray) -> PairedTest:
    """Compare how often two models are right, given whether they are on each row.

    Examples
    --------
    >>> first, second = np.arange(100) < 80, np.arange(100) < 90
    >>> test = compare_proportions(first, second)
    >>> round(test.low, 3), round(test.high, 3), round(test.p, 4)
    (0.037, 0.159, 0.001)
    """
    only_first, only_second = int(np.sum(first & ~second)), int(np.sum(second & ~first))
    # Half a row is added to each of the four cells.
    n = len(first) + 2.0
    gain, loss = (only_second + 0.5) / n, (only_first + 0.5) / n
    error = Z * np.sqrt((gain + loss - (gain - loss) ** 2) / n)
    p = mcnemar(only_first, only_second)[0]
    center = gain - loss
    return PairedTest(float(center - error), float(center + error), p, "McNemar, mid-p")


def compare_means(first: np.ndarray, second: np.ndarray) -> PairedTest:
    """Compare the mean losses of two models, given those of each row, by a paired t-test.

    Examples
    --------
    >>> losses = np.linspace(0, 1, 50)
    >>> compare_means(losses, losses).p
    1.0
    """
    return t_test(second - first, "paired t")


def t_test(differences: np.ndarray, name: str, p: float | None = None) -> PairedTest:
    """Return the interval of a mean, and the p-value of a t-test unless one is given.

    Examples
    --------
    >>> test = t_test(np.arange(40) - 10.0, "paired t")
    >>> round(test.low, 2), round(test.high, 2)
    (5.76, 13.24)
    """
    n = len(differences)
    if n < MIN_MEAN_ROWS:
        return PairedTest()
    mean, error = float(differences.mean()), standard_error(differences)
    width = float(student_t.ppf(0.975, n - 1)) * error
    if p is None:
        p = 2.0 * float(student_t.sf(abs(mean) / error, n - 1)) if error > 0.0 else float(mean == 0)
    return _with_limits(mean, width, p, name)


def compare_class_means(actual: np.ndarray, first: np.ndarray, second: np.ndarray) -> PairedTest:
    """Compare two models by a mean over classes of a mean over the rows of each class.

    The test and the interval use the normal approximation; there must be 20 rows of each class.

    Examples
    --------
    >>> actual = np.repeat([0, 1], 30)
    >>> compare_class_means(actual, actual == 0, actual == actual).test
    'paired z, by class'
    """
    differences = second.astype(float) - first
    parts = [differences[actual == k] for k in np.unique(actual)]
    if min(map(len, parts)) < MIN_ROWS:
        return PairedTest()
    mean = float(np.mean([part.mean() for part in parts]))
    error = np.sqrt(sum(part.var(ddof=1) / len(part) for part in parts)) / len(parts)
    return _normal_test(mean, float(error), "paired z, by class")


def compare_areas(actual: np.ndarray, first: np.ndarray, second: np.ndarray) -> PairedTest:
    """Compare the areas under the ROC curves of two models (DeLong et al.).

    There must be 20 rows of each class.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> actual, noise = np.arange(400) % 2, rng.normal(size=(2, 400))
    >>> test = compare_areas(actual, actual + 2 * noise[0], actual + noise[1])
    >>> test.p < 0.05 and test.low > 0
    True
    """
    counts = np.unique(actual, return_counts=True)[1]
    if len(counts) < 2 or counts.min() < MIN_ROWS:
        return PairedTest()
    differences = area_influences(actual, second) - area_influences(actual, first)
    error = stratified_error(actual, differences)
    return _normal_test(float(differences.mean()), error, "DeLong")


def compare_root_means(first: np.ndarray, second: np.ndarray) -> PairedTest:
    """Compare the roots of the mean squared errors of two models, given those of each row.

    The test is that of the mean squared errors, the interval that of the linearized roots.

    Examples
    --------
    >>> squares = np.linspace(0, 1, 50)
    >>> test = compare_root_means(squares, 4 * squares)
    >>> bool(test.low < np.sqrt(2) - np.sqrt(0.5) < test.high)
    True
    """
    roots = [float(np.sqrt(squares.mean())) for squares in (first, second)]
    p = compare_means(first, second).p
    if 0.0 in roots:
        return PairedTest(p=p, test=_SQUARES_TEST)
    parts = [
        root + (squares - root**2) / (2 * root)
        for root, squares in zip(roots, (first, second), strict=True)
    ]
    return t_test(parts[1] - parts[0], _SQUARES_TEST, p)


def compare_r2(spread: np.ndarray, first: np.ndarray, second: np.ndarray) -> PairedTest:
    """Compare R² of two models, given their squared errors and squared deviations of the targets.

    The test is that of the mean squared errors, the interval that of the linearized ratio.  If all
    targets are equal, R² is undefined, and there is neither.

    Examples
    --------
    >>> spread, squares = np.ones(50), np.linspace(0, 1, 50)
    >>> compare_r2(spread, squares, squares / 2).low > 0
    True
    """
    total, worse = float(spread.mean()), second - first
    if total == 0.0:
        return PairedTest()
    ratio = float(worse.mean()) / total
    p = compare_means(first, second).p
    return t_test(-(worse - ratio * spread) / total - ratio, _SQUARES_TEST, p)


def _normal_test(mean: float, error: float, name: str) -> PairedTest:
    p = 2.0 * float(norm.sf(abs(mean) / error)) if error > 0.0 else float(mean == 0.0)
    return _with_limits(mean, Z * error, p, name)


def _with_limits(center: float, width: float, p: float, name: str) -> PairedTest:
    if width == 0.0:
        return PairedTest(p=p, test=name)
    return PairedTest(center - width, center + width, p, name)
