"""Certificates of multinomial models with many classes, against decimal arithmetic of 40 digits."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from everystump._core import softmaxloops
from everystump._core.design import Design
from everystump._core.measures import as_measure
from everystump._core.multiclass import solve_classes
from everystump._core.solvers.certificate import UNIT_ROUNDOFF, sum_rounding
from everystump._core.solvers.multinomial_duality import _DUAL_ROUNDING
from everystump._core.solvers.problem import no_progress

K, N = 150, 450


@pytest.fixture(autouse=True)
def _forty_digits():
    with localcontext() as context:
        context.prec = 40
        yield


def exact(values):
    """Return an array of floats as decimal numbers."""
    return np.array([Decimal(float(v)) for v in np.ravel(values)]).reshape(np.shape(values))


def entropy(q):
    """Return the entropy of each column of decimal numbers."""
    terms = [-v * v.ln() if v > 0 else Decimal(0) for v in q.ravel()]
    return np.array(terms).reshape(q.shape).sum(axis=0)


def make_design(seed=0):
    """Return a design of two features, labels of 150 classes, and equal rows of other classes."""
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(K), N // K)
    X = np.column_stack([label % 16, label // 16]) + rng.normal(scale=0.4, size=(N, 2))
    X[1::3] = X[::-3]
    design = Design.from_rows(
        X,
        measure=as_measure("mixed"),
        max_bins=24,
        n_levels=[0, 0],
        fit_intercept=True,
        feature_range=None,
        sample_weight=None,
        n_threads=1,
    )
    return design, label


class Exact:
    """The problem of a design in decimal arithmetic; chains are paths."""

    def __init__(self, design, label, cost):
        self.jumps, self.starts = exact(design.terms.chains.jumps), design.terms.chains.starts
        self.bins = design.columns.codes.T + self.starts[:-1]
        self.one_hot = exact(np.arange(K)[:, None] == label)
        self.label, self.cost = label, exact(cost)
        self.class_costs = self.one_hot @ self.cost

    def primal(self, solutions):
        weights = exact([s.weights for s in solutions])
        steps = weights * self.jumps
        parts = zip(self.starts[:-1], self.starts[1:], strict=True)
        tables = np.concatenate([np.cumsum(steps[:, a:b], axis=1) for a, b in parts], axis=1)
        scores = tables[:, self.bins].sum(axis=2) + exact([[s.intercept] for s in solutions])
        own = scores[self.label, np.arange(N)]
        others = np.array([v.exp() for v in (scores - own).ravel()]).reshape(scores.shape)
        losses = np.array([v.ln() for v in others.sum(axis=0)])
        return (weights**2).sum() / 2 + self.cost @ losses

    def dual(self, dual_coef):
        """Return the dual value of stored dual variables, made feasible as the module says."""
        q = np.where(self.one_hot > 0, Decimal(0), -exact(dual_coef) / self.cost)
        own = 1 - q.sum(axis=0)
        assert min(own) > -Decimal("1e-15")
        q = np.where(self.one_hot > 0, own, q) if min(own) >= 0 else q / max(q.sum(axis=0))
        q = q + self.one_hot * (1 - q.sum(axis=0))
        imbalance = self.class_costs - q @ self.cost
        fraction = max(abs(imbalance) / self.class_costs)
        if fraction > 0:
            total = self.cost.sum()
            target = self.class_costs / total + (1 - fraction) / fraction * imbalance / total
            assert min(target) >= 0
            q = (1 - fraction) * q + fraction * target[:, None]
        a = self.cost * (self.one_hot - q)
        assert max(abs(a.sum(axis=1))) < Decimal("1e-30") * self.cost.sum()
        squares = Decimal(0)
        for d, (first, last) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            for k in range(first + 1, last):
                v = self.jumps[k] * a[:, self.bins[:, d] >= k].sum(axis=1)
                squares += v @ v
        return self.cost @ entropy(q) - squares / 2


@pytest.mark.parametrize("log10_range", [0, 10], ids=["equal weights", "weights over 10 decades"])
def test_150_classes_are_enclosed(log10_range):
    """The optimum is between the values of the certificate, which are close to the exact ones."""
    design, label = make_design()
    weight = 10.0 ** np.where(np.arange(N) % 3 == 1, -log10_range, 0)
    options = {"C": 5.0, "tol": 1e-6, "max_iter": 100, "n_threads": 1, "progress": no_progress}
    solutions = solve_classes(design, label, K, weight, **options)
    certificate = solutions[0].certificate
    assert certificate.converged
    problem = Exact(design, label, 5.0 * weight)
    primal, dual = problem.primal(solutions), problem.dual([s.dual_coef for s in solutions])
    assert dual <= primal
    slack = Decimal(certificate.rounding) * primal
    assert primal <= Decimal(certificate.primal) <= primal + slack
    assert dual - slack <= Decimal(certificate.dual) <= dual


def similar(own, n_classes, rng):
    """Return probabilities of which all but the first are similar."""
    p = rng.uniform(0.5, 1.5, size=n_classes)
    p *= (1 - own) / p[1:].sum()
    p[0] = own
    return p


def tiny(own, n_classes, rng):
    """Return probabilities of which all but two are too small to change a plain sum."""
    p = np.full(n_classes, 5e-17)
    p[1] = 1 - own - p[2:].sum()
    p[0] = own
    return p


@pytest.mark.parametrize("make", [similar, tiny])
@pytest.mark.parametrize("own", [1e-17, 1e-15, 1e-8, 0.3, 1 - 1e-9])
@pytest.mark.parametrize("n_classes", [3, 150, 1000])
def test_dual_terms_are_accurate_for_any_number_of_classes(make, own, n_classes):
    """The error of a row's entropy is within the bound of the certificate.

    Where ``own`` is tiny, its relative error is large, and so is the logarithm.
    """
    rng = np.random.default_rng(n_classes)
    label, cost, zeros = np.zeros(1, dtype=int), np.ones(1), np.zeros(n_classes)
    for _ in range(5):
        p = make(own, n_classes, rng)[:, None]
        dual, size = softmaxloops.duals(p, label, cost, zeros, 0.0, zeros, np.empty_like(p))
        q = exact(p[1:])
        rest = max(1 - q.sum(), Decimal(0))
        true = entropy(np.concatenate([[[rest]], q]))[0]
        bound = (sum_rounding(n_classes + 8) + _DUAL_ROUNDING * UNIT_ROUNDOFF) * size
        assert abs(Decimal(dual) - true) <= Decimal(bound)
