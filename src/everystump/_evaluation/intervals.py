"""95% confidence intervals of proportions, means, and areas under ROC curves.

With sample weights, a proportion has the interval of Kish's effective number of rows, and the
standard error of a mean is that of a weighted mean of independent values.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

import numpy as np
from scipy.special import expit, logit

Interval = tuple[float, float]
NORMAL = "normal approximation"  # the method of `mean_interval`
Z = 1.959963984540054  # the 97.5% quantile of the standard normal distribution
MIN_ROWS = 20  # per class, for an asymptotic interval
MIN_MEAN_ROWS = 30  # for an interval or a test of a mean of losses
ROUNDING = 1e-12  # of areas that are sums


def effective_size(weight: np.ndarray) -> float:
    """Return the number of rows with equal weights whose mean has the same variance (Kish 1965).

    Examples
    --------
    >>> effective_size(np.array([2.0, 2.0, 2.0])), effective_size(np.array([1.0, 1.0, 0.0]))
    (3.0, 2.0)
    """
    return float(weight.sum() ** 2 / (weight**2).sum()) if len(weight) else 0.0


def count_hits(is_hit: np.ndarray, weight: np.ndarray | None) -> tuple[float, float]:
    """Return the number of hits and of rows, or effective numbers if rows have weights.

    Examples
    --------
    >>> count_hits(np.array([True, False, True]), None)
    (2, 3)
    >>> count_hits(np.array([True, False]), np.array([3.0, 1.0]))
    (1.2000000000000002, 1.6)
    """
    if weight is None:
        return int(is_hit.sum()), len(is_hit)
    n = effective_size(weight)
    return (n * float(np.average(is_hit, weights=weight)), n) if n else (0, 0)


def standard_error(values: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Return the standard error of a mean, or of a weighted one, of independent values.

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 4.0])
    >>> round(standard_error(values), 6), round(standard_error(values, np.ones(3)), 6)
    (0.881917, 0.881917)
    """
    if weight is None:
        return float(values.std(ddof=1) / np.sqrt(len(values)))
    share, n = weight / weight.sum(), effective_size(weight)
    squares = (share * (values - share @ values)) ** 2
    return float(np.sqrt(squares.sum() * n / (n - 1.0)))


def wilson(n_hits: float, n: float) -> Interval | None:
    """Return Wilson's score interval of a proportion, None if ``n`` is zero.

    Examples
    --------
    >>> wilson(0, 10), wilson(0, 0)
    ((0.0, 0.277...), None)
    """
    if n == 0:
        return None
    p, unit = n_hits / n, Z**2 / n
    center = (p + unit / 2) / (1 + unit)
    half_width = np.sqrt(unit * (p * (1 - p) + unit / 4)) / (1 + unit)
    low = 0.0 if n_hits == 0 else float(center - half_width)
    return low, 1.0 if n_hits == n else float(center + half_width)


def mean_of_proportions(n_hits: Sequence[float], n: Sequence[float]) -> Interval:
    """Return an interval of the mean of independent proportions.

    The distances from each proportion to the ends of its Wilson interval are squared and added
    (Newcombe 1998, method 10, for a mean instead of a difference).

    Examples
    --------
    >>> low, high = mean_of_proportions([9, 5], [10, 10])
    >>> round(low, 3), round(high, 3)
    (0.499, 0.838)
    """
    p = np.array(n_hits) / np.array(n)
    ends = np.array([wilson(hits, total) for hits, total in zip(n_hits, n, strict=True)])
    below, above = np.sqrt(((p[:, None] - ends) ** 2).sum(axis=0)) / len(p)
    return float(p.mean() - below), float(p.mean() + above)


def placements(
    is_positive: np.ndarray, score: np.ndarray, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the placement values of DeLong et al. (1988), whose means are the area.

    For each positive row, the fraction of negative rows with a smaller score; for each negative
    row, the fraction of positive rows with a larger one.  Ties count one half.

    Examples
    --------
    >>> of_positives, of_negatives = placements(
    ...     np.array([True, True, False]), np.array([3.0, 1.0, 1.0])
    ... )
    >>> of_positives.tolist(), of_negatives.tolist()
    ([1.0, 0.5], [0.75])
    """
    _, rank = np.unique(score, return_inverse=True)
    unit = np.ones(len(score)) if weight is None else weight
    negative = np.bincount(rank, np.where(is_positive, 0.0, unit))
    positive = np.bincount(rank, np.where(is_positive, unit, 0.0))
    smaller = (np.cumsum(negative) - negative / 2) / negative.sum()
    larger = 1.0 - (np.cumsum(positive) - positive / 2) / positive.sum()
    return smaller[rank[is_positive]], larger[rank[~is_positive]]


def area_influences(
    actual: np.ndarray, scores: np.ndarray, weight: np.ndarray | None = None
) -> np.ndarray:
    """Return the influence of each row on the area under the ROC curve.

    For several classes, it is that on the mean of the one-vs-rest areas.  Within a class, the
    influences are independent, and the sum over classes of their variance is that of DeLong et al.

    Parameters
    ----------
    actual : ndarray of shape (n_rows,)
        Indices of classes.
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        For two classes, the scores of the class 1.
    weight : ndarray of shape (n_rows,), optional
        Sample weights.

    Returns
    -------
    ndarray of shape (n_rows,)
        Their mean, weighted if rows have weights, is the area.

    Examples
    --------
    >>> float(area_influences(np.array([0, 1, 1]), np.array([0.0, 1.0, -1.0])).mean())
    0.5
    """
    unit = np.ones(len(actual)) if weight is None else weight
    columns = {1: scores} if scores.ndim == 1 else {k: scores[:, k] for k in np.unique(actual)}
    influence = np.zeros(len(actual))
    for k, column in columns.items():
        is_own = actual == k
        own, others = placements(is_own, column, weight)
        area = np.average(own, weights=unit[is_own])
        influence += area
        for part, values in ((is_own, own), (~is_own, others)):
            influence[part] += (values - area) * unit.sum() / unit[part].sum()
    return influence / len(columns)


def stratified_error(
    actual: np.ndarray, values: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Return the standard error of a mean of values that are independent within each class.

    The number of rows of each class, or their total weight, is taken as given.

    Examples
    --------
    >>> stratified_error(np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 7.0, 7.0]))
    0.5
    """
    unit = np.ones(len(actual)) if weight is None else weight
    parts = [actual == k for k in np.unique(actual)]
    errors = (
        unit[part].sum() * standard_error(values[part], None if weight is None else weight[part])
        for part in parts
    )
    return hypot(*errors) / float(unit.sum())


def delong(
    actual: np.ndarray, scores: np.ndarray, weight: np.ndarray | None = None
) -> Interval | None:
    """Return an interval of the area under the ROC curve (DeLong et al. 1988, on the logit scale).

    For several classes, it is that of the mean of the one-vs-rest areas.  None if the variance
    cannot be estimated: with fewer than 20 rows of a class, or if the scores separate the classes
    perfectly.  Arguments are those of `area_influences`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> label = np.arange(100) < 30
    >>> low, high = delong(label, label + rng.normal(size=100))
    >>> 0.5 < low < high < 1
    True
    """
    unit = np.ones(len(actual)) if weight is None else weight
    parts = [actual == k for k in np.unique(actual)]
    if len(parts) < 2 or min(effective_size(unit[part]) for part in parts) < MIN_ROWS:
        return None
    influence = area_influences(actual, scores, weight)
    area = float(np.average(influence, weights=weight))
    error = stratified_error(actual, influence, weight)
    if error < ROUNDING or not 0.0 < area < 1.0:
        return None
    half_width = Z * error / (area * (1.0 - area))
    return float(expit(logit(area) - half_width)), float(expit(logit(area) + half_width))


def mean_interval(values: np.ndarray, weight: np.ndarray | None = None) -> Interval | None:
    """Return an interval of the mean of independent values, None if there are fewer than 30.

    Examples
    --------
    >>> low, high = mean_interval(np.arange(100.0))
    >>> round(low, 1), round(high, 1), mean_interval(np.arange(29.0))
    (43.8, 55.2, None)
    """
    if (len(values) if weight is None else effective_size(weight)) < MIN_MEAN_ROWS:
        return None
    mean = float(np.average(values, weights=weight))
    half_width = Z * standard_error(values, weight)
    return mean - half_width, mean + half_width
