"""Curves that may only rise, or only fall: the signs of the stumps' weights.

A feature's table is ``U[k] = U[k-1] + s[k] w[k]``, so its curve rises if ``w[k] >= 0`` at all of
its places.  With ``sigma[k]`` 1, -1 or 0 for "rises", "falls" and "free", the dual is

    max over a and u >= 0 of   sum over i of dual_i(a_i) - |v(a) + sigma u|^2 / 2,

and the best ``u`` for given ``a`` makes ``v(a) + sigma u`` the projection of ``v(a)`` on the signs.
An edge with a sign is thus one more row with a hard margin, of 0 instead of 1, that sees a single
weight; and like the rows of the hinge it is smoothed around its dual variable, its force ``u``:

    max over u >= 0 of   -u sigma w - (u - anchor)^2 / (2 stiffness)

So the objective keeps a slope everywhere, and its curvature grows by ``stiffness`` at the edges
that are pressed against their sign.  More curvature of one weight is as good as a smaller jump
``s[k]``: a stump of which less is left, and none when it is infinitely stiff.
"""

from __future__ import annotations

import numpy as np

_MOST_STIFFNESS = 1e12


class Edges:
    """The edges with a sign, the forces on them, and how stiffly they are held.

    Parameters
    ----------
    signs : ndarray of shape (n_bins,) or None
        ``sigma`` above; None if no edge has a sign.
    """

    def __init__(self, signs: np.ndarray | None) -> None:
        self._entries = np.flatnonzero([] if signs is None else signs)
        self._signs = np.zeros(0) if signs is None else signs[self._entries].astype(np.float64)
        self._anchors = np.zeros(len(self._entries))
        self.stiffness = 0.0
        self._share = 1.0
        self.loose = len(self._entries) > 0

    def __bool__(self) -> bool:
        return len(self._entries) > 0

    def hold(self, bend: np.ndarray) -> None:
        """Hold the edges as stiffly as fits the curvature ``bend`` of every weight alone.

        What is stiff and what is slack depends on C, on the rows and on how sharp their losses
        are; the mean curvature knows all of it.
        """
        wanted = min(self._share * float(bend[self._entries].mean()), _MOST_STIFFNESS)
        self.stiffness = max(self.stiffness, wanted)
        self.loose = False

    def lean(self, reach: np.ndarray, stiffness: float) -> None:
        """Smooth around the best forces for ``v(a) = reach``, as stiffly as given."""
        if not self:
            return
        self.stiffness = stiffness
        self._anchors = np.maximum(-self._signs * reach[self._entries], 0.0)

    def anchor(self, weights: np.ndarray, growth: float) -> None:
        """Smooth around the current forces, and more stiffly from the next `hold` on."""
        if self:
            self._anchors = self._forces(weights)
            self._share = min(self._share * growth, _MOST_STIFFNESS)
            self.loose = True

    def pull(self, weights: np.ndarray) -> np.ndarray:
        """Return ``sigma u``, the force on every weight."""
        out = np.zeros_like(weights)
        out[self._entries] = self._signs * self._forces(weights)
        return out

    def strain(self, weights: np.ndarray) -> float:
        """Return ``|u - anchor|^2 / stiffness``, what the smoothing costs."""
        if not self:
            return 0.0
        change = self._forces(weights) - self._anchors
        return float(change @ change) / (self.stiffness or 1.0)

    def scale(self, weights: np.ndarray) -> np.ndarray:
        """Return the factors of the jumps that stand for the curvature of the edges."""
        out = np.ones_like(weights)
        pressed = self._forces(weights) > 0
        out[self._entries[pressed]] = 1.0 / np.sqrt(1.0 + self.stiffness)
        return out

    def along(self, weights: np.ndarray, dw: np.ndarray, t: float) -> float:
        """Return minus the derivative of the smoothed edges after ``t`` times ``dw``."""
        if not self:
            return 0.0
        return float(self._signs * self._forces(weights + t * dw) @ dw[self._entries])

    def _forces(self, weights: np.ndarray) -> np.ndarray:
        held = self._anchors - self.stiffness * self._signs * weights[self._entries]
        return np.maximum(held, 0.0)


NO_CONSTRAINTS = Edges(None)
