"""Interactions in plain NumPy: cells, centered stumps, the kernel, and solvers for every loss.

Nothing here calls everystump.  A feature is described by the stumps that vote on it, one column
each: 0 or 1 at its points (values or levels, then missing values if any), with a mass.
"""

import warnings
from dataclasses import dataclass
from functools import reduce

import numpy as np
from oracles import LIBSVM_STEPS, box_interior_point, gaps
from scipy.special import expit, xlog1py, xlogy
from sklearn.svm import SVC

CELLS_OF_TRIPLES = 12


def quantile_groups(counts, mass, n_groups):
    """Return the group of each of the sorted values, in groups of about equal weight.

    The weight is the share of the rows plus the share of the mass in the gaps on both sides.  A
    value heavier than a group counts as one group, the others share the rest; a value is in the
    group of its midpoint.
    """
    beside = np.append(mass, 0) + np.append(0, mass)
    counts = counts / counts.sum() + beside / (beside.sum() or 1.0)
    heavy = np.zeros(len(counts), dtype=bool)
    while True:
        size = counts[~heavy].sum() / (n_groups - heavy.sum())
        more = heavy | (counts > size)
        if more.sum() in (heavy.sum(), *range(n_groups, len(counts) + 1)):
            break
        heavy = more
    capped = np.minimum(counts, size)
    middle = np.cumsum(capped) - capped / 2
    groups = np.clip(np.floor(middle / capped.sum() * n_groups + 1e-9), 0, n_groups - 1)
    return np.unique(groups, return_inverse=True)[1]


@dataclass(frozen=True)
class Feature:
    """The stumps of a feature at its points, and the point of each training row."""

    code: np.ndarray  # (n_rows,): the point of each row
    stumps: np.ndarray  # (n_points, n_stumps): 0 or 1
    mass: np.ndarray  # (n_stumps,)
    share: np.ndarray  # (n_points,): fraction of the weight of the rows
    knots: np.ndarray  # (n_values,): where the values are, or the levels
    cuts: np.ndarray  # between the values
    group: np.ndarray  # the point of each level
    is_category: bool
    is_step: bool

    @property
    def centered(self):
        """The kernel of the centered stumps between all points."""
        votes = np.sqrt(2 * self.mass) * (self.stumps - self.share @ self.stumps)
        return votes @ votes.T

    @property
    def plain(self):
        """The kernel of stumps that vote -1 or 1 between all points."""
        votes = np.sqrt(self.mass / 2) * (2 * self.stumps - 1)
        return votes @ votes.T

    @property
    def is_exact(self):
        """Whether each value is a point of its own."""
        return len(set(self.group)) == len(self.group)

    def locate(self, x):
        """Return the weights of all points at new values, of shape (n_new, n_points)."""
        n, out = len(self.knots), np.zeros((len(x), len(self.stumps)))
        missing = np.isnan(x)
        out[missing, -1] = 1.0
        rows, x = np.flatnonzero(~missing), x[~missing]
        if self.is_category:
            out[rows, self.group[np.searchsorted(self.knots, x)]] = 1.0
        elif self.is_step:
            out[rows, np.searchsorted(self.cuts, x, side="right")] = 1.0
        elif n == 1:
            out[rows, 0] = 1.0
        else:
            left = np.clip(np.searchsorted(self.knots, x, side="right") - 1, 0, n - 2)
            width = self.knots[left + 1] - self.knots[left]
            t = np.clip((x - self.knots[left]) / width, 0.0, 1.0)
            out[rows, left] = 1 - t
            out[rows, left + 1] += t
        return out


def make_feature(x, weight, measure, max_cells, *, is_category=False):
    """Return a feature with at most so many points for its values."""
    missing = np.isnan(x)
    values, code = np.unique(x[~missing], return_inverse=True)
    counts = np.bincount(code, weights=weight[~missing], minlength=len(values))
    make = _levels if is_category else _numbers
    group, stumps, mass, knots, cuts, parent = make(values, counts, measure, max_cells)
    n_points = len(stumps)
    points = np.full(len(x), n_points)
    points[~missing] = group[code]
    if missing.any():  # a leaf with a stump of its own, otherwise on the side of its parent
        stumps = np.vstack([stumps, parent])
        stumps = np.column_stack([stumps, np.arange(n_points + 1) == n_points])
        mass = np.append(mass, _indicator(measure, is_category))
    share = np.bincount(points, weights=weight, minlength=len(stumps)) / weight.sum()
    # A stump "is this level" that is the same for all rows has no mass.
    constant = is_category & (share @ stumps > 1 - 1e-12)
    return Feature(
        points,
        stumps,
        np.where(constant, 0.0, mass),
        share,
        knots,
        cuts,
        group,
        is_category,
        measure == "middle",
    )


def _numbers(values, counts, measure, max_cells):
    """Return groups, stumps, masses, points, cuts, and the votes on missing values."""
    group = np.arange(len(values))
    if len(values) > max_cells:
        mass, _ = gaps(measure, values, counts, values[0], values[-1])
        group = quantile_groups(counts, mass, max_cells)
    sizes = np.bincount(group, weights=counts)
    first, last = (np.array([values[group == k][j] for k in np.unique(group)]) for j in (0, -1))
    means = np.bincount(group, weights=counts / sizes[group] * values)
    knots, cuts = np.clip(means, first, last), last[:-1] + (first[1:] - last[:-1]) / 2
    mass, _ = gaps(measure, knots, sizes, values[0], values[-1])
    stumps = np.greater.outer(np.arange(len(knots)), np.arange(len(knots) - 1)).astype(float)
    median = np.argmax(np.cumsum(sizes) >= sizes.sum() / 2)
    return group, stumps, mass, knots, cuts, stumps[median]


def _levels(values, counts, measure, max_cells):
    """Return the same for a category, whose rarest levels share the last point."""
    n, group = len(counts), np.arange(len(counts))
    if n > max_cells:
        frequent = sorted(range(n), key=lambda k: (-counts[k], k))[: max_cells - 1]
        group = np.full(n, max_cells - 1)
        group[sorted(frequent)] = np.arange(max_cells - 1)
    n_points = group.max() + 1
    mass = np.full(n_points, _indicator(measure, True))
    return group, np.eye(n_points), mass, values, np.empty(0), np.zeros(n_points)


def _indicator(measure, is_category):
    """Return the mass of a level, or of missing numbers."""
    is_half = is_category and measure == "mixed"
    return 1.0 if measure in ("lebesgue", "middle") or is_half else 2.0


@dataclass(frozen=True)
class Ensemble:
    """The kernel ``sum of K_d + sum over terms of strength^(order - 1) times products``."""

    plain: list  # one `Feature` per feature
    terms: dict  # the features of each term
    strength: float

    @property
    def is_exact(self):
        """Whether every value of a feature of a term has its own cell."""
        return all(f.is_exact for features in self.terms.values() for f in features)

    @property
    def gram(self):
        """The kernel matrix of the training rows."""
        return self._kernel(lambda d, f: f.code)

    def kernel(self, X):
        """Return the kernel of new rows with the training rows, as the fitted model defines it."""
        return self._kernel(lambda d, f: f.locate(X[:, d]))

    def _kernel(self, rows):
        """Return a kernel matrix, given the points of rows, or the weights of all points."""

        def values(d, f, kernel):
            points = rows(d, f)
            return (kernel[points] if points.ndim == 1 else points @ kernel)[:, f.code]

        total = sum(values(d, f, f.plain) for d, f in enumerate(self.plain))
        for term, features in self.terms.items():
            parts = [values(d, f, f.centered) for d, f in zip(term, features, strict=True)]
            total = total + self.strength ** (len(term) - 1) * reduce(np.multiply, parts)
        return total

    @property
    def largest(self):
        """An upper bound on the kernel of any row with itself."""
        total = sum(np.diag(f.plain).max() for f in self.plain)
        for features in self.terms.values():
            tops = [np.diag(f.centered).max() for f in features]
            total += self.strength ** (len(tops) - 1) * np.prod(tops)
        return total


def make_ensemble(X, weight, terms, measure, strength, max_cells, categories=()):
    """Return the kernel of an additive part with all values and of terms with few cells."""
    weight = np.ones(len(X)) if weight is None else weight

    def feature(d, limit):
        return make_feature(X[:, d], weight, measure, limit, is_category=d in categories)

    found = {}
    for term in terms:
        limit = max_cells if len(term) == 2 else min(max_cells, CELLS_OF_TRIPLES)
        found[term] = [feature(d, limit) for d in term]
    return Ensemble([feature(d, len(X)) for d in range(X.shape[1])], found, strength)


# Losses and solvers


def loss_of(loss, margin, cost):
    """Return the summed loss."""
    if loss == "logistic":
        return float(cost @ np.logaddexp(0, -margin))
    shortfall = np.maximum(0, 1 - margin)
    return float(cost @ (shortfall if loss == "hinge" else shortfall**2))


def dual_of(loss, a, cost):
    """Return the summed dual terms of dual variables."""
    if loss == "hinge":
        return float(a.sum())
    if loss == "squared_hinge":
        return float(np.sum(a - a**2 / (4 * cost)))
    p = a / cost
    # Not xlogy(1 - p, 1 - p): the rounding of 1 - p, times a large cost, would count.
    return float(-cost @ (xlogy(p, p) + xlog1py(1 - p, -p)))


def solve_dense(loss, K, y, cost, *, fit_intercept):
    """Return the dual variables times labels, and the intercept, found by another solver."""
    if loss != "hinge":
        return _newton(loss, K, y, cost, fit_intercept)
    if fit_intercept:
        return _libsvm(K, y, cost)
    return y * box_interior_point(K * np.outer(y, y), cost), 0.0


def objectives(loss, K, y, cost, beta, b):
    """Return the values of both problems at dual variables times labels and an intercept."""
    energy = beta @ K @ beta
    primal = energy / 2 + loss_of(loss, y * (K @ beta + b), cost)
    return primal, dual_of(loss, y * beta, cost) - energy / 2


def _libsvm(K, y, cost):
    C = cost.max()
    svc = SVC(C=C, kernel="precomputed", tol=1e-8, max_iter=LIBSVM_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        svc.fit(K, y, sample_weight=cost / C)
    beta = np.zeros(len(y))
    beta[svc.support_] = svc.dual_coef_[0]
    return beta, svc.intercept_[0]


def _newton(loss, K, y, cost, fit_intercept):
    """Minimize over coordinates in which the kernel is an inner product, by Newton's method."""
    values, vectors = np.linalg.eigh(K)
    keep = values > 1e-13 * values.max()
    votes = y[:, None] * vectors[:, keep] * np.sqrt(values[keep])
    ridge = np.ones(votes.shape[1] + fit_intercept)
    if fit_intercept:
        votes, ridge[-1] = np.column_stack([votes, y]), 0.0
    v, step, t = np.zeros(len(ridge)), 0.0, 1.0

    def objective(v):
        return v @ (ridge * v) / 2 + loss_of(loss, votes @ v, cost)

    for _ in range(300):
        slope, curvature = _derivatives(loss, votes @ v, cost)
        gradient = ridge * v - votes.T @ slope
        H = np.diag(ridge + 1e-14 * curvature.max()) + (votes.T * curvature) @ votes
        step = -np.linalg.solve(H, gradient)
        t, now, decrease = 1.0, objective(v), -gradient @ step
        while t > 1e-12 and objective(v + t * step) > now - 1e-4 * t * decrease:
            t /= 2
        if decrease <= 1e-15 * now or t <= 1e-12:
            break
        v = v + t * step
    return y * _derivatives(loss, votes @ v, cost)[0], v[-1] if fit_intercept else 0.0


def _derivatives(loss, margin, cost):
    """Return minus the slope, and the curvature, of the loss of each row."""
    if loss == "logistic":
        return cost * expit(-margin), cost * expit(-margin) * expit(margin)
    return 2 * cost * np.maximum(0, 1 - margin), 2.0 * cost * (margin < 1)
