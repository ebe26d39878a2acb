"""Gains of all stumps, from class-weight histograms.

With ``S`` the positive minus the negative weight on a side of a stump and ``W`` their sum, its gain
is

- error: ``|S_beyond - S_before|``, so that the largest gain is the smallest weighted error over all
  n + 1 thresholds and both directions (Sugiyama; Wang et al.);
- gini: ``sqrt(W (S_before^2 / W_before + S_beyond^2 / W_beyond))``, the split of a decision tree of
  depth one, each side voting for its heavier class.  The square root has the unit of a weight.

Histograms of all features are concatenated; feature d has the bins ``starts[d]`` to
``starts[d + 1]``, and ``parents`` are the numbers of parent bins within the feature.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from everystump._core.jit import jit


@jit
def sum_beyond(starts, parents, sums):
    """Replace the sum of each bin by that of all bins beyond its edge."""
    for d in range(starts.shape[0] - 1):
        first = starts[d]
        for k in range(starts[d + 1] - 1, first, -1):
            sums[first + parents[k]] += sums[k]


@jit
def error_gains(positive, negative, starts, parents, out):
    """Write the gain in weighted error of the stump of each bin."""
    for k in range(out.shape[0]):
        out[k] = positive[k] - negative[k]
    sum_beyond(starts, parents, out)
    for d in range(starts.shape[0] - 1):
        total = out[starts[d]]
        for k in range(starts[d], starts[d + 1]):
            out[k] = abs(total - 2.0 * out[k])


@jit
def gini_gains(positive, negative, starts, parents, out):
    """Write the gain in Gini impurity of the stump of each bin."""
    weights = positive + negative
    for k in range(out.shape[0]):
        out[k] = positive[k] - negative[k]
    sum_beyond(starts, parents, out)
    sum_beyond(starts, parents, weights)
    for d in range(starts.shape[0] - 1):
        total, weight = out[starts[d]], weights[starts[d]]
        for k in range(starts[d], starts[d + 1]):
            beyond, beyond_weight = out[k], weights[k]
            before, before_weight = total - beyond, weight - beyond_weight
            out[k] = beyond * beyond / beyond_weight if beyond_weight > 0.0 else 0.0
            if before_weight > 0.0:
                out[k] += before * before / before_weight
            out[k] = np.sqrt(weight * out[k])


@jit
def exclude_small_sides(positive, negative, starts, parents, min_weight, gains):
    """Set the gain to -1 for stumps with less than ``min_weight`` on a side.

    A constant vote has one side only and keeps its gain.
    """
    weights = positive + negative
    sum_beyond(starts, parents, weights)
    for d in range(starts.shape[0] - 1):
        for k in range(starts[d] + 1, starts[d + 1]):
            if weights[k] < min_weight or weights[starts[d]] - weights[k] < min_weight:
                gains[k] = -1.0


@jit
def first_at_least(gains, min_gain):
    """Return the first bin whose gain is at least ``min_gain``."""
    for k in range(gains.shape[0]):
        if gains[k] >= min_gain:
            return k
    return 0


Gains = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], None]
GAINS: dict[str, Gains] = {"error": error_gains, "gini": gini_gains}
