"""A measure with a weight per feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump._arguments import as_float_array
from everystump._core.columns import Column
from everystump._core.measures import Masses, Measure, as_measure


class Weighted(Measure):
    """Another measure, with the masses of each feature multiplied by a weight.

    A feature with a larger weight is regularized less, and an interaction of two features in
    proportion to the geometric mean of their weights.

    Parameters
    ----------
    measure : str, callable or Measure
        The measure whose masses are multiplied.
    weights : array-like of shape (n_features,)
        Positive finite numbers.

    Examples
    --------
    >>> from everystump import StumpSVC
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(100, 3, random_state=0)
    >>> model = StumpSVC(measure=Weighted("mixed", [1, 1, 0.5])).fit(X, y)
    >>> round(model.half_mass_, 6)  # half the mass of all stumps
    2.5
    """

    def __init__(self, measure: Any, weights: Any) -> None:
        self.measure, expected = as_measure(measure), "a list of positive finite numbers"
        self.weights = as_float_array(weights, "weights", expected)
        if self.weights.ndim != 1 or not np.all((self.weights > 0) & (self.weights < np.inf)):
            raise ValueError(f"weights={weights!r} must be {expected}, one per feature.")

    @property
    def is_step(self) -> bool:  # type: ignore[override]
        """Whether curves are step functions."""
        return self.measure.is_step

    @property
    def is_piecewise_linear(self) -> bool:  # type: ignore[override]
        """Whether curves are exactly linear between their knots."""
        return self.measure.is_piecewise_linear

    @property
    def uses_counts(self) -> bool:  # type: ignore[override]
        """Whether masses depend on the rows."""
        return self.measure.uses_counts

    def __repr__(self) -> str:
        weights = ", ".join(f"{weight:.3g}" for weight in self.weights)
        return f"Weighted({self.measure!r}, [{weights}])"

    def check(self, n_features: int) -> None:
        """Check that there is a weight for each feature."""
        self.measure.check(n_features)
        if len(self.weights) != n_features:
            raise ValueError(
                f"measure: there are weights of {len(self.weights)} features, but X has "
                f"{n_features}; pass one per feature."
            )

    def for_interactions(self) -> Measure:
        """Return the measure with the square roots of the weights.

        The kernel of a pair is then multiplied by the geometric mean of two weights.
        """
        return Weighted(self.measure.for_interactions(), np.sqrt(self.weights))

    def with_base(self, base: Measure) -> Measure:
        """Return the measure ``base`` with the same weights."""
        return Weighted(base, self.weights)

    def masses(self, column: Column, d: int) -> Masses:
        """Return the weighted masses of the thresholds of feature ``d``."""
        return self._weigh(self.measure.masses(column, d), d)

    def stump_masses(self, column: Column, d: int) -> Masses:
        """Return the weighted masses of all stumps of feature ``d``."""
        return self._weigh(self.measure.stump_masses(column, d), d)

    def indicator_masses(self, column: Column, d: int) -> np.ndarray:
        """Return the weighted masses of the stumps "is this level" and "is missing"."""
        return self.weights[d] * self.measure.indicator_masses(column, d)

    def thresholds(self, d: int) -> np.ndarray | None:
        """Return the only thresholds of feature ``d``, or None if every threshold may vote."""
        return self.measure.thresholds(d)

    def knot_positions(self, column: Column, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the knots of the curve of feature ``d``; weights do not change them."""
        return self.measure.knot_positions(column, d)

    def _weigh(self, masses: Masses, d: int) -> Masses:
        weight = float(self.weights[d])
        return Masses(weight * masses.inside, weight * masses.left, weight * masses.right)
