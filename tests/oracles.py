"""Independent oracles: stump kernels in plain NumPy, LIBSVM, a box solver, random tables.

Nothing here calls everystump except `as_fitted`, which reads a fitted model's curves.  Letters are
those of the papers: ``K_S(x, x') = (total mass) / 2 - (mass between x and x')``.
"""

import os
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from scipy.optimize import linprog
from sklearn.svm import SVC

EXAMPLES = int(os.environ.get("EVERYSTUMP_EXAMPLES", "0"))
LIBSVM_STEPS = 200_000


def search(default):
    """Return Hypothesis settings: the profile's percentage of ``default``, or EVERYSTUMP_EXAMPLES.

    Failures are not shrunk: a case is a few numbers already, and large tables shrink slowly.
    """
    return settings(
        max_examples=EXAMPLES or max(1, default * settings.default.max_examples // 100),
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
    )


def seeds(n):
    """Return seeds for ``parametrize``: the first 30% of ``n``, at least 2; the rest are slow."""
    quick = max(2, -(-3 * n // 10))
    return [*range(quick), *(pytest.param(s, marks=pytest.mark.slow) for s in range(quick, n))]


def density(a):
    """Return the density over thresholds that the tests use; its integral is a + a^3 / 3."""
    return 1 + a**2


def gaps(measure, values, counts, low, high):
    """Return the masses of the gaps between sorted values, and the mass outside them."""
    length, outside = np.diff(values), (values[0] - low) + (high - values[-1])
    if measure == "lebesgue":
        return length, outside
    if measure == "density":
        edges = np.concatenate([[low], values, [high]])
        a, b = edges[:-1], edges[1:]
        mass = (b - a) * (1 + (a**2 + a * b + b**2) / 3)
        return mass[1:-1], mass[0] + mass[-1]
    if measure == "middle":
        return np.ones(len(values) - 1), 0.0
    half = (high - low) / 2 or 1.0
    uniform = length / half
    rank = (counts[1:] + counts[:-1]) / 2
    rank = 2 * rank / (rank.sum() or 1.0)
    share = np.full(len(values) - 1, 2 / max(len(values) - 1, 1))
    return {
        "uniform": (uniform, outside / half),
        "rank": (rank, 0.0),
        "mixed": ((uniform + rank + share) / 3, outside / half / 3),
    }[measure]


@dataclass(frozen=True)
class Axis:
    """One feature: the bin of each row, the masses, and a point in each bin."""

    code: np.ndarray
    inside: np.ndarray
    outside: float
    points: np.ndarray


def axis(x, measure, counts=None, limits=None):
    """Return the axis of a feature under a named measure."""
    values, code = np.unique(x, return_inverse=True)
    low, high = limits or (values[0], values[-1])
    counts = np.bincount(code, weights=counts, minlength=len(values))
    return Axis(code, *gaps(measure, values, counts, low, high), values)


def chosen_axis(x, thresholds):
    """Return the axis of a feature with given stumps only, of mass 2 each."""
    cuts, times = np.unique(np.asarray(thresholds, dtype=float), return_counts=True)
    code = np.sum(x[:, None] >= cuts[None, :], axis=1)
    before = np.append(cuts, x)[:1] - 1 - np.abs(np.append(cuts, x)[:1])
    return Axis(code, 2.0 * times, 0.0, np.concatenate([before, cuts]))


def positions(axes):
    """Return the mass between the first bin and each row, for each feature."""
    return np.column_stack([np.append(0.0, np.cumsum(a.inside))[a.code] for a in axes])


def distances(axes):
    """Return the mass between every two rows."""
    return np.sum([np.abs(p[:, None] - p[None, :]) for p in positions(axes).T], axis=0)


def gram(axes):
    """Return the matrix of ``K_S``."""
    return sum(a.inside.sum() + a.outside for a in axes) / 2 - distances(axes)


def smooth_stumps(axes, fit_intercept):
    """Return Theorem 5's features ``sqrt(mass / 2) * s_hat`` of each row, one column per gap."""
    blocks = []
    for a in axes:
        side = np.where(a.code[:, None] > np.arange(len(a.inside))[None, :], 1.0, -1.0)
        blocks.append(side * np.sqrt(a.inside / 2))
        if not fit_intercept:
            blocks.append(np.full((len(a.code), 1), np.sqrt(a.outside / 2)))
    return np.hstack(blocks)


@dataclass(frozen=True)
class Curves:
    """A function of the kernel's space: the increments of each feature's curve over the gaps.

    ``corner`` is the sum of the curve's two ends, part of the norm if there is no intercept.
    """

    rises: tuple
    corner: np.ndarray

    def __sub__(self, other):
        rises = tuple(a - b for a, b in zip(self.rises, other.rises, strict=True))
        return Curves(rises, self.corner - other.corner)

    def energy(self, axes, fit_intercept):
        """Return the squared norm."""
        pairs = [(rise, a.inside) for rise, a in zip(self.rises, axes, strict=True)]
        if not fit_intercept:
            pairs += [(c, a.outside) for c, a in zip(self.corner, axes, strict=True)]
        return sum(_square_over(rise, np.asarray(mass)) for rise, mass in pairs)


def _square_over(rise, mass):
    return float(np.sum(np.divide(rise**2, 2 * mass, out=np.zeros(mass.shape), where=mass > 0)))


def expansion(axes, beta):
    """Return the curves of ``sum of beta_i K_S(x_i, .)`` and their scores of all rows."""
    rises, corner, scores = [], [], np.zeros(len(beta))
    for a in axes:
        sums = np.bincount(a.code, weights=beta, minlength=len(a.points))
        right = np.cumsum(sums[::-1])[::-1][1:]
        rise = a.inside * (2 * right - beta.sum())
        start = (a.outside * beta.sum() - rise.sum()) / 2
        scores += start + np.append(0.0, np.cumsum(rise))[a.code]
        rises.append(rise)
        corner.append(a.outside * beta.sum())
    return Curves(tuple(rises), np.array(corner)), scores


def as_fitted(axes, shapes):
    """Return the curves of a fitted model."""
    tables = [shape(a.points) for shape, a in zip(shapes, axes, strict=True)]
    return Curves(tuple(np.diff(t) for t in tables), np.array([t[0] + t[-1] for t in tables]))


@dataclass(frozen=True)
class Solution:
    """A solution of the SVM problem: its curves, its scores, and both values."""

    curves: Curves
    scores: np.ndarray
    primal: float
    dual: float

    @property
    def gap(self):
        """The absolute gap."""
        return self.primal - self.dual


def hinge_solution(axes, y, cost, beta, b, *, fit_intercept):
    """Return the solution of dual variables ``y a = beta`` and intercept ``b``."""
    curves, scores = expansion(axes, beta)
    energy = curves.energy(axes, fit_intercept)
    if np.all(np.isinf(cost)):
        return _hard_solution(curves, y, scores + b, energy, np.abs(beta).sum())
    loss = float(cost @ np.maximum(0, 1 - y * (scores + b)))
    ray = min(1.0, np.abs(beta).sum() / energy) if energy > 0 else 1.0
    dual = ray * np.abs(beta).sum() - ray**2 * energy / 2
    return Solution(curves, scores + b, energy / 2 + loss, dual)


def _hard_solution(curves, y, scores, energy, total):
    least = (y * scores).min()
    if least <= 0:
        return Solution(curves, scores, np.inf, total**2 / (2 * energy))
    curves = Curves(tuple(rise / least for rise in curves.rises), curves.corner / least)
    return Solution(curves, scores / least, energy / least**2 / 2, total**2 / (2 * energy))


def libsvm(axes, y, cost):
    """Return LIBSVM's solution on the precomputed kernel, with an intercept."""
    finite = np.where(np.isinf(cost), 1e6 / max(distances(axes).max(), 1e-30), cost)
    C = finite.max()
    svc = SVC(C=C, kernel="precomputed", tol=1e-7, max_iter=LIBSVM_STEPS, cache_size=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        svc.fit(gram(axes), y, sample_weight=finite / C)
    beta = np.zeros(len(y))
    beta[svc.support_] = svc.dual_coef_[0]
    return hinge_solution(axes, y, cost, beta, svc.intercept_[0], fit_intercept=True)


def box_solution(axes, y, cost):
    """Return the solution without an intercept, by an interior-point method on the dual."""
    Q = gram(axes) * np.outer(y, y)
    top = np.where(np.isinf(cost), 1e6 / max(np.trace(Q), 1e-30), cost)
    return hinge_solution(axes, y, cost, y * box_interior_point(Q, top), 0.0, fit_intercept=False)


def box_interior_point(Q, top, steps=100):
    """Minimize ``a'Qa / 2 - sum(a)`` over ``0 <= a <= top``, to about 1e-10."""
    a, left = top / 2, top / 2
    z = w = 1 + np.abs(Q @ a - 1)
    for _ in range(steps):
        mu = (a @ z + left @ w) / (20 * len(a))
        if mu * len(a) <= 1e-11 * a.sum():
            break
        H = Q + np.diag(z / a + w / left)
        d = 1 / np.sqrt(np.diag(H))
        scaled = d[:, None] * H * d + 1e-15 * np.eye(len(a))
        da = d * np.linalg.solve(scaled, d * (1 - Q @ a + mu / a - mu / left))
        dz, dw = mu / a - z - z / a * da, mu / left - w + w / left * da
        pairs = [(a, da), (left, -da), (z, dz), (w, dw)]
        longest = min(np.min(-x[dx < 0] / dx[dx < 0], initial=np.inf) for x, dx in pairs)
        a, left, z, w = (x + min(1.0, 0.95 * longest) * dx for x, dx in pairs)
    return np.clip(a, 0, top)


def widest_margin(axes, y, *, fit_intercept):
    """Return the largest margin with weights of at most 1; 0 if no ensemble separates.

    It is relative to the norm of the votes, so a feature of tiny mass has a tiny margin.
    """
    votes = smooth_stumps(axes, fit_intercept)
    votes = votes / (np.sqrt(np.sum(votes[0] ** 2)) or 1.0)
    if fit_intercept:
        votes = np.hstack([votes, np.ones((len(y), 1))])
    n, d = votes.shape
    sides = np.hstack([-y[:, None] * votes, np.ones((n, 1))])
    found = linprog(np.append(np.zeros(d), -1.0), sides, np.zeros(n), bounds=[(-1, 1)] * (d + 1))
    return -found.fun


def every_stump(X):
    """Return features, thresholds and votes (one column per stump) of all stumps and constants.

    Each feature has a constant vote, threshold minus infinity, and one threshold per gap.
    """
    cuts = [np.append(-np.inf, (v[1:] + v[:-1]) / 2) for v in map(np.unique, X.T)]
    feature = np.repeat(np.arange(X.shape[1]), [len(c) for c in cuts])
    threshold = np.concatenate(cuts)
    return feature, threshold, np.where(X[:, feature] >= threshold, 1.0, -1.0)


def smallest_error(X, y, weight):
    """Return the smallest weighted error of all stumps in both directions."""
    edges = every_stump(X)[2].T @ (weight * y)
    return (1 - np.abs(edges).max() / weight.sum()) / 2


BOOSTING_LOSSES = {
    "exponential": lambda m: np.exp(-m),
    "mada": lambda m: np.where(m <= 0, 0.5 - m, np.exp(-2 * np.maximum(m, 0)) / 2),
    "logistic": lambda m: np.logaddexp(0, -2 * m),
}


def noisy_table(seed, n=200, d=4):
    """Return rows of distinct 32-bit values, labels 0 and 1, and weights."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.choice(2**20, size=n, replace=False) for _ in range(d)]) / 1024.0
    centered = (X - 512) / 300
    y = (centered[:, 0] - centered[:, 1] ** 2 + rng.normal(size=n) > -0.5).astype(int)
    return X, y, rng.uniform(0.2, 2.0, size=n)


def assert_same_stumps(one, other, rtol=1e-9):
    for name in one._fields:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol, err_msg=name)
