"""How much each term of a solution contributes to the scores of the training rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from everystump._core.design import Design
from everystump._core.solvers.problem import Solution
from everystump._terms import Term

# The smallest weight of a feature, relative to the mean.
_MIN_WEIGHT = 0.3


def curve_sizes(design: Design, solutions: Sequence[Solution]) -> np.ndarray:
    """Return the standard deviation of each curve over the training rows, summed by class."""
    columns, n_bins = design.columns.columns, design.terms.n_bins
    sizes = np.zeros(len(columns))
    for solution in solutions:
        tables = design.split_by_feature(design.terms.matvec(solution.weights)[:n_bins])
        sizes += [_deviation(t, c.weights) for t, c in zip(tables, columns, strict=True)]
    return sizes


def adaptive_weights(design: Design, solutions: Sequence[Solution]) -> np.ndarray:
    """Return weights of features in proportion to the sizes of their curves, with mean about 1.

    A feature whose curve is flat may still interact with others: no weight is tiny.  Constant
    features have no curve and do not count.
    """
    sizes = curve_sizes(design, solutions)
    if not sizes.any():
        return np.ones(len(sizes))
    varies = [column.varies for column in design.columns.columns]
    return np.maximum(sizes / sizes[varies].mean(), _MIN_WEIGHT)


def interaction_sizes(design: Design, solutions: Sequence[Solution]) -> dict[Term, float]:
    """Return the standard deviation of each interaction over the rows, summed by class.

    Interactions are as they were solved for, not purified.
    """
    interactions, n_bins = design.terms.interactions, design.terms.n_bins
    sizes = dict.fromkeys(interactions.terms, 0.0)
    for solution in solutions:
        for term, weights in design.cell_weights.items():
            table = interactions.term_table(term, solution.weights[n_bins:])
            sizes[term] += _deviation(table, weights)
    return sizes


def _deviation(values: np.ndarray, weights: np.ndarray) -> float:
    mean = np.average(values, weights=weights)
    return float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))
