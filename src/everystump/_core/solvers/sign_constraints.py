"""Monotonic curves: sign constraints on the weights of the stumps.

The table of a feature is ``U[k] = U[k-1] + s[k] w[k]``, so its curve increases if ``w[k] >= 0`` for
all of its bins.  With ``sigma[k]`` 1, -1 or 0 for increasing, decreasing and free curves, the dual
problem is

    max over a and u >= 0 of   sum over i of dual_i(a_i) - |v(a) + sigma u|^2 / 2,

where the best multipliers ``u`` for given ``a`` make ``v(a) + sigma u`` the projection of ``v(a)``
on the signs.  A constraint is thus one more row with a hard margin, of 0 instead of 1, that depends
on a single weight.  Like the hinge of a row, it is smoothed by an augmented Lagrangian around
multipliers ``center``:

    max over u >= 0 of   -u sigma w - (u - center)^2 / (2 penalty)

The objective thus keeps a continuous slope, and its curvature grows by ``penalty`` at the weights
whose constraint is active.  More curvature of one weight is equivalent to a smaller jump ``s[k]``,
down to none as the penalty goes to infinity.
"""

from __future__ import annotations

import numpy as np

_MAX_PENALTY = 1e12


class SignConstraints:
    """The constraints of signs ``sigma``, None if there are none, their multipliers and penalty.

    ``needs_penalty`` is whether `set_penalty` must be called before the next Newton step.
    """

    def __init__(self, signs: np.ndarray | None) -> None:
        self._entries = np.flatnonzero([] if signs is None else signs)
        self._signs = np.zeros(0) if signs is None else signs[self._entries].astype(np.float64)
        self._center = np.zeros(len(self._entries))
        self.penalty = 0.0
        self._factor = 1.0
        self.needs_penalty = len(self._entries) > 0

    def __bool__(self) -> bool:
        return len(self._entries) > 0

    def set_penalty(self, curvature: np.ndarray) -> None:
        """Choose the penalty to match the curvature of the objective in every single weight.

        The right size depends on C, on the rows and on the smoothing of their losses; the mean
        curvature reflects all of these.
        """
        penalty = min(self._factor * float(curvature[self._entries].mean()), _MAX_PENALTY)
        self.penalty = max(self.penalty, penalty)
        self.needs_penalty = False

    def warm_start(self, dual_weights: np.ndarray, penalty: float) -> None:
        """Center the smoothing at the best multipliers for ``v(a) = dual_weights``."""
        if not self:
            return
        self.penalty = penalty
        self._center = np.maximum(-self._signs * dual_weights[self._entries], 0.0)

    def recenter(self, weights: np.ndarray, growth: float) -> None:
        """Center the smoothing at the current multipliers; the next penalty will be larger."""
        if self:
            self._center = self._multipliers(weights)
            self._factor = min(self._factor * growth, _MAX_PENALTY)
            self.needs_penalty = True

    def force(self, weights: np.ndarray) -> np.ndarray:
        """Return ``sigma u``, minus the derivative of the smoothed constraints."""
        out = np.zeros_like(weights)
        out[self._entries] = self._signs * self._multipliers(weights)
        return out

    def smoothing_cost(self, weights: np.ndarray) -> float:
        """Return ``|u - center|^2 / penalty``, the cost of the smoothing."""
        if not self:
            return 0.0
        change = self._multipliers(weights) - self._center
        return float(change @ change) / (self.penalty or 1.0)

    def jump_factors(self, weights: np.ndarray) -> np.ndarray:
        """Return the factors of the jumps that are equivalent to the added curvature."""
        out = np.ones_like(weights)
        active = self._multipliers(weights) > 0
        out[self._entries[active]] = 1.0 / np.sqrt(1.0 + self.penalty)
        return out

    def directional_slope(self, weights: np.ndarray, dw: np.ndarray, t: float) -> float:
        """Return minus the derivative of the smoothed constraints along ``dw`` at length ``t``."""
        if not self:
            return 0.0
        return float(self._signs * self._multipliers(weights + t * dw) @ dw[self._entries])

    def _multipliers(self, weights: np.ndarray) -> np.ndarray:
        free = self._center - self.penalty * self._signs * weights[self._entries]
        return np.maximum(free, 0.0)


NO_CONSTRAINTS = SignConstraints(None)
