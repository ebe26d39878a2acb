"""95% confidence intervals of proportions, of their mean, and of the area under a ROC curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, logit
from scipy.stats import rankdata

Interval = tuple[float, float]
_Z = 1.959963984540054  # the 97.5% quantile of the standard normal distribution
_MIN_ROWS = 20  # rows per class for an asymptotic interval


def wilson(n_hits: int, n: int) -> Interval | None:
    """Return Wilson's score interval of a proportion, None if ``n`` is zero.

    Examples
    --------
    >>> wilson(0, 10), wilson(0, 0)
    ((0.0, 0.277...), None)
    """
    if n == 0:
        return None
    p, unit = n_hits / n, _Z**2 / n
    center = (p + unit / 2) / (1 + unit)
    half_width = np.sqrt(unit * (p * (1 - p) + unit / 4)) / (1 + unit)
    low = 0.0 if n_hits == 0 else float(center - half_width)
    return low, 1.0 if n_hits == n else float(center + half_width)


def mean_of_proportions(n_hits: Sequence[int], n: Sequence[int]) -> Interval:
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


def delong(is_positive: np.ndarray, score: np.ndarray) -> Interval | None:
    """Return an interval of the area under the ROC curve (DeLong et al. 1988, on the logit scale).

    None if the variance cannot be estimated: with fewer than 20 rows of a class, or if the scores
    separate the classes perfectly.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> label = np.arange(100) < 30
    >>> low, high = delong(label, label + rng.normal(size=100))
    >>> 0.5 < low < high < 1
    True
    """
    m, n = int(is_positive.sum()), int((~is_positive).sum())
    if min(m, n) < _MIN_ROWS:
        return None
    ranks = rankdata(score)
    positive_ranks = (ranks[is_positive] - rankdata(score[is_positive])) / n
    negative_ranks = 1.0 - (ranks[~is_positive] - rankdata(score[~is_positive])) / m
    area = float(positive_ranks.mean())
    deviation = float(np.sqrt(positive_ranks.var(ddof=1) / m + negative_ranks.var(ddof=1) / n))
    if deviation == 0.0 or not 0.0 < area < 1.0:
        return None
    half_width = _Z * deviation / (area * (1.0 - area))
    return float(expit(logit(area) - half_width)), float(expit(logit(area) + half_width))
