"""Losses of regression in plain NumPy, and other solvers for them on an explicit kernel matrix.

Nothing here calls everystump.  A loss is a function of the scaled target ``t`` and the score ``m``;
``a`` are dual variables, positive where the score is below the target.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy
from sklearn.svm import SVR

SMOOTH = ("squared", "huber", "poisson", "gamma")
KINKED = ("absolute", "quantile", "epsilon_insensitive")
LOG_LINK = ("poisson", "gamma")


@dataclass(frozen=True)
class Loss:
    """A loss by its name and its parameters."""

    name: str
    quantile: float = 0.5
    epsilon: float | None = None

    @property
    def tube(self):
        """The scaled residual up to which the loss is 0, or quadratic."""
        default = {"huber": 0.5, "epsilon_insensitive": 0.1}.get(self.name, 0.0)
        return default if self.epsilon is None or self.name not in self._tubes else self.epsilon

    _tubes = ("huber", "epsilon_insensitive")

    @property
    def sides(self):
        """The slopes above and below of a piecewise linear loss."""
        return (self.quantile, 1 - self.quantile) if self.name == "quantile" else (1.0, 1.0)

    @property
    def is_kinked(self):
        return self.name in KINKED

    @property
    def has_log_link(self):
        return self.name in LOG_LINK

    def scale(self, y, weight, *, fit_intercept):
        """Return center and scale of the targets, as the documentation defines them."""
        w = np.ones(len(y)) if weight is None else weight
        mean = np.average(y, weights=w)
        deviation = np.sqrt(np.average((y - mean) ** 2, weights=w))
        if self.has_log_link:
            return 0.0, mean if fit_intercept else 1.0
        if self.name == "squared":
            center = mean if fit_intercept else 0.0
            return center, np.sqrt(np.average((y - center) ** 2, weights=w)) or 1.0
        low, middle, high = (quantile_of(y, w, q) for q in (0.25, self.quantile_or_half, 0.75))
        scale = (high - low) / 1.3489795003921634 or deviation or 1.0
        if self.name == "epsilon_insensitive" and np.ptp(y) <= 2 * self.tube * scale:
            middle = (y.min() + y.max()) / 2
        return middle if fit_intercept else 0.0, scale

    @property
    def quantile_or_half(self):
        return self.quantile if self.name == "quantile" else 0.5

    def value(self, t, m):
        """Return the loss of each row, without its cost."""
        r = t - m
        if self.name == "squared":
            return r**2
        if self.name == "huber":
            d = self.tube
            return np.where(np.abs(r) <= d, r**2, d * (2 * np.abs(r) - d))
        if self.name == "poisson":
            return np.exp(m) - t * m - t + xlogy(t, t)
        if self.name == "gamma":
            return t * np.exp(-m) + m - 1 - np.log(t)
        above, below = self.sides
        return above * np.maximum(r - self.tube, 0) + below * np.maximum(-r - self.tube, 0)

    def slope(self, t, m):
        """Return minus the derivative of a smooth loss."""
        r = t - m
        return {
            "squared": lambda: 2 * r,
            "huber": lambda: 2 * np.clip(r, -self.tube, self.tube),
            "poisson": lambda: t - np.exp(m),
            "gamma": lambda: t * np.exp(-m) - 1,
        }[self.name]()

    def curvature(self, t, m):
        """Return the second derivative of a smooth loss."""
        return {
            "squared": lambda: np.full(len(t), 2.0),
            "huber": lambda: np.where(np.abs(t - m) < self.tube, 2.0, 0.0),
            "poisson": lambda: np.exp(m),
            "gamma": lambda: t * np.exp(-m),
        }[self.name]()

    def limits(self, t, cost):
        """Return the smallest and the largest dual variable of each row."""
        infinite = np.full(len(t), np.inf)
        if self.name == "squared":
            return -infinite, infinite
        if self.name == "huber":
            return -2 * self.tube * cost, 2 * self.tube * cost
        if self.name == "poisson":
            return -infinite, cost * t
        if self.name == "gamma":
            return -cost, infinite
        above, below = self.sides
        return -below * cost, above * cost

    def dual(self, t, a, cost):
        """Return the dual terms ``min over m of cost value(t, m) + a m`` of feasible ``a``."""
        if self.name in ("squared", "huber"):
            return a * t - a**2 / (4 * cost)
        if self.name == "poisson":
            p = np.maximum(t - a / cost, 0.0)
            return cost * (p - xlogy(p, p) - t + xlogy(t, t))
        if self.name == "gamma":
            p = np.maximum(1 + a / cost, 0.0)
            return cost * (p - xlogy(p, p) - 1) + a * np.log(t)
        return a * t - self.tube * np.abs(a)


def quantile_of(y, weight, q):
    """Return the smallest value up to which there is at least the fraction ``q`` of the weight."""
    order = np.argsort(y, kind="stable")
    share = np.cumsum(weight[order]) / weight.sum()
    return y[order][np.argmax(share >= q - 1e-12)]


def objectives(loss, K, t, cost, beta, b):
    """Return the values of both problems at dual variables and an intercept."""
    energy = beta @ K @ beta
    primal = energy / 2 + float(cost @ loss.value(t, K @ beta + b))
    return primal, float(loss.dual(t, beta, cost).sum()) - energy / 2


def solve_dense(loss, K, t, cost, *, fit_intercept):
    """Return dual variables and intercept, found by another solver."""
    if loss.is_kinked:
        return tube_interior_point(loss, K, t, cost, fit_intercept)
    return _newton(loss, K, t, cost, fit_intercept)


def libsvm(loss, K, t, cost):
    """Return dual variables and intercept of scikit-learn's SVR, of a symmetric loss."""
    C = cost.max()
    svr = SVR(kernel="precomputed", C=C, epsilon=loss.tube, tol=1e-9, max_iter=2_000_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        svr.fit(K, t, sample_weight=cost / C)
    beta = np.zeros(len(t))
    beta[svr.support_] = svr.dual_coef_[0]
    return beta, svr.intercept_[0]


def tube_interior_point(loss, K, t, cost, fit_intercept, steps=100):
    """Return the solution for a piecewise linear loss, by an interior-point method on the dual.

    ::

        min over u, v of  (u - v)'K(u - v) / 2 - t'(u - v) + tube sum(u + v)

    with ``0 <= u <= above cost`` and ``0 <= v <= below cost``, and ``sum(u - v) = 0`` if there is
    an intercept, which is the multiplier of that constraint.
    """
    above, below = loss.sides
    top = np.concatenate([above * cost, below * cost])
    n, sign = len(t), np.repeat([1.0, -1.0], len(t))
    linear = loss.tube - sign * np.tile(t, 2)
    x, b = top / 2, 0.0
    left = top - x
    z = w = np.full(2 * n, 1.0 + np.abs(linear).max())
    for _ in range(steps):
        gradient = sign * np.tile(K @ (x[:n] - x[n:]), 2) + linear + b * sign * fit_intercept
        gap = x @ z + left @ w
        if gap <= 1e-11 * (np.abs(linear) @ x):
            break
        mu = gap / (20 * n)
        D = z / x + w / left
        right = -(gradient - mu / x + mu / left)
        # The matrix sign K sign + D: eliminate the difference of both halves.
        dx, db = _solve_reduced(K, D, right, sign, x, fit_intercept)
        dz, dw = mu / x - z - z / x * dx, mu / left - w + w / left * dx
        pairs = [(x, dx), (left, -dx), (z, dz), (w, dw)]
        longest = min(np.min(-v[dv < 0] / dv[dv < 0], initial=np.inf) for v, dv in pairs)
        step = min(1.0, 0.95 * longest)
        x, left, z, w = (v + step * dv for v, dv in pairs)
        b += step * db
    return x[:n] - x[n:], b if fit_intercept else 0.0


def _solve_reduced(K, D, right, sign, x, fit_intercept):
    """Return the step of both halves and of the multiplier.

    ``s = dx_u - dx_v`` solves ``(K + E) s + db = E (right_u / D_u - right_v / D_v)``, with
    ``1 / E = 1 / D_u + 1 / D_v``.
    """
    n = len(K)
    Du, Dv, ru, rv = D[:n], D[n:], right[:n], right[n:]
    E = 1 / (1 / Du + 1 / Dv)
    M = K + np.diag(E)
    d = 1 / np.sqrt(np.diag(M))
    scaled = d[:, None] * M * d + 1e-15 * np.eye(n)
    rhs = np.column_stack([E * (ru / Du - rv / Dv), np.ones(n)])
    s, ones = (d[:, None] * np.linalg.solve(scaled, d[:, None] * rhs)).T
    db = 0.0
    if fit_intercept:
        db = (s.sum() + float(x[:n].sum() - x[n:].sum())) / ones.sum()
        s = s - db * ones
    common = np.tile(K @ s + db * fit_intercept, 2) * sign
    return (right - common) / D, db


def _newton(loss, K, t, cost, fit_intercept):
    """Minimize over coordinates in which the kernel is an inner product, by Newton's method."""
    values, vectors = np.linalg.eigh(K)
    keep = values > 1e-13 * max(values.max(), 1e-300)
    votes = vectors[:, keep] * np.sqrt(values[keep])
    ridge = np.ones(votes.shape[1] + fit_intercept)
    if fit_intercept:
        votes, ridge[-1] = np.column_stack([votes, np.ones(len(t))]), 0.0
    v = np.zeros(len(ridge))

    def objective(v):
        with np.errstate(over="ignore"):
            return v @ (ridge * v) / 2 + cost @ loss.value(t, votes @ v)

    for _ in range(300):
        m = votes @ v
        gradient = ridge * v - votes.T @ (cost * loss.slope(t, m))
        curvature = cost * loss.curvature(t, m)
        H = np.diag(ridge + 1e-14 * (1e-3 + curvature.max())) + (votes.T * curvature) @ votes
        step = -np.linalg.solve(H, gradient)
        size, now, decrease = 1.0, objective(v), -gradient @ step
        while size > 1e-13 and not objective(v + size * step) <= now - 1e-4 * size * decrease:
            size /= 2
        if decrease <= 1e-14 * now or size <= 1e-13:
            break
        v = v + size * step
    beta = cost * loss.slope(t, votes @ v)
    return beta, v[-1] if fit_intercept else 0.0
