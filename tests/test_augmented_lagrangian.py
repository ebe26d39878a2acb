"""Hinge problems of very many rows start from the solution on a subsample."""

import numpy as np
import pytest

from everystump import StumpSVC
from everystump._core.solvers import augmented_lagrangian
from everystump._core.solvers.rows import Rows

TOL = 1e-6


@pytest.fixture
def table(monkeypatch):
    """A thousand rows, treated as very many: an eighth of them is solved first."""
    monkeypatch.setattr(augmented_lagrangian, "_MANY_ROWS", 700)
    monkeypatch.setattr(augmented_lagrangian, "_MIN_CLASS_ROWS", 10)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 5)).round(1)
    y = X.sum(axis=1) + rng.standard_normal(1000) > 0
    return X, y, rng.integers(1, 4, size=1000).astype(float)


@pytest.mark.parametrize("more", [{}, {"fit_intercept": False}, {"class_weight": "balanced"}])
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_optimum_is_the_same(table, C, more, weighted, monkeypatch):
    X, y, weight = table
    weight = weight if weighted else None
    model = StumpSVC(C=C, tol=TOL, n_jobs=1, **more)
    sampled, subsample = [], Rows.subsample
    monkeypatch.setattr(Rows, "subsample", lambda rows, n: sampled.append(n) or subsample(rows, n))
    found = model.fit(X, y, sample_weight=weight).certificate_
    assert len(sampled) == 1
    monkeypatch.setattr(augmented_lagrangian, "_MANY_ROWS", len(X) + 1)
    plain = model.fit(X, y, sample_weight=weight).certificate_
    assert found.converged
    assert found.gap <= TOL
    assert max(found.dual, plain.dual) <= min(found.primal, plain.primal) * (1 + 1e-9)
    assert len(sampled) == 1


@pytest.mark.parametrize("n_positive", [1, 30])
def test_a_rare_class_is_not_lost_in_the_subsample(table, n_positive):
    X, y, _ = table
    y = np.arange(len(X)) < n_positive
    assert StumpSVC(tol=TOL, n_jobs=1).fit(X, y).certificate_.gap <= TOL


def test_periodic_labels(table):
    """Every eighth row is positive, exactly the rows that a plain stride would take."""
    X, _, _ = table
    y = np.arange(len(X)) % 8 == 0
    assert StumpSVC(C=0.1, tol=TOL, n_jobs=1).fit(X, y).certificate_.gap <= TOL
