"""Invariance to order, threads, repeated rows instead of weights, units and constants."""

from functools import partial

import numpy as np
import pytest

from everystump import StumpLogisticRegression, StumpSVC
from everystump.datasets import make_twonorm

MEASURES = ["lebesgue", "uniform", "rank", "mixed", "middle"]
ESTIMATORS = {
    "hinge": StumpSVC,
    "squared_hinge": lambda **given: StumpSVC(loss="squared_hinge", **given),
    "logistic": partial(StumpLogisticRegression, multi_class="ovr"),
}


@pytest.fixture
def table():
    """Return 90 rows of 3 features, one of them tied, with noisy labels."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(90, 3))
    X[:, 1] = np.round(2 * X[:, 1])
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=90) > 0, 1, -1)
    return X, y


@pytest.fixture
def new():
    """Return 100 rows to score, some beyond the training data."""
    return np.random.default_rng(12).normal(scale=1.5, size=(100, 3))


def scores(name, X, y, new, weight=None, **params):
    model = ESTIMATORS[name](**{"n_jobs": 1, "tol": 1e-10} | params).fit(X, y, sample_weight=weight)
    assert model.certificate_.converged
    return model.decision_function(new)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("max_bins", [16, 256])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_integer_weights_repeat_samples(table, new, name, measure, max_bins, fit_intercept):
    """Weights 0, 1, 2, 3 give the scores of absent, single, double, triple rows.

    Both are within a relative gap of 1e-10 of one optimum, so scores agree to its root.
    """
    X, y = table
    times = np.random.default_rng(0).integers(0, 4, size=len(y))
    params = {"measure": measure, "max_bins": max_bins, "fit_intercept": fit_intercept, "C": 0.5}
    weighted = scores(name, X, y, new, times.astype(float), **params)
    repeated = scores(name, np.repeat(X, times, axis=0), np.repeat(y, times), new, **params)
    np.testing.assert_allclose(weighted, repeated, rtol=0, atol=2e-5)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_integer_weights_repeat_samples_at_the_default_tolerance(table, name):
    """The intervals around the optimum from weights and from repeated rows overlap."""
    X, y = table
    times = np.random.default_rng(1).integers(0, 4, size=len(y))
    weighted = ESTIMATORS[name]().fit(X, y, sample_weight=times.astype(float)).certificate_
    X, y = np.repeat(X, times, axis=0), np.repeat(y, times)
    repeated = ESTIMATORS[name]().fit(X, y).certificate_
    assert max(weighted.dual, repeated.dual) <= min(weighted.primal, repeated.primal)


def test_integer_weights_repeat_samples_with_balanced_classes(table, new):
    """Balanced class weights depend on total weights, not on rows, to 1e-8."""
    X, y = table
    times = np.random.default_rng(2).integers(0, 4, size=len(y))
    weighted = scores("hinge", X, y, new, times.astype(float), class_weight="balanced")
    X, y = np.repeat(X, times, axis=0), np.repeat(y, times)
    np.testing.assert_allclose(
        weighted, scores("hinge", X, y, new, class_weight="balanced"), rtol=0, atol=1e-8
    )


def test_weights_of_zero_exclude_an_outlier(table, new):
    """A distant row of weight 0 has no effect, not even on the range of its feature."""
    X, y = table
    far = np.vstack([X, [[1e6, 1e6, -1e6]]])
    weight = np.append(np.ones(len(y)), 0.0)
    plain = scores("hinge", X, y, new)
    assert np.array_equal(plain, scores("hinge", far, np.append(y, 1), new, weight))


def test_dual_variables_of_copies_add_up(table):
    """A double row's two dual variables sum to that of the row of weight 2, to 1e-6."""
    X, y = table
    times = np.where(np.arange(len(y)) % 3 == 0, 2, 1)
    params = {"C": 0.3, "tol": 5e-12, "n_jobs": 1, "loss": "squared_hinge"}
    weighted = StumpSVC(**params).fit(X, y, sample_weight=times.astype(float))
    repeated = StumpSVC(**params).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    row = np.repeat(np.arange(len(y)), times)
    sums = np.bincount(row, weights=repeated.dual_coef_)
    np.testing.assert_allclose(sums, weighted.dual_coef_, atol=1e-6)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("max_bins", [16, 256])
def test_row_order_does_not_matter(table, new, name, max_bins):
    """A permutation of the rows does not change the scores, to 1e-8."""
    X, y = table
    order = np.random.default_rng(3).permutation(len(y))
    plain = scores(name, X, y, new, max_bins=max_bins)
    permuted = scores(name, X[order], y[order], new, max_bins=max_bins)
    np.testing.assert_allclose(permuted, plain, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_feature_order_does_not_matter(table, new, name):
    """A permutation of the features does not change the scores, to 1e-8."""
    X, y = table
    plain = scores(name, X, y, new)
    permuted = scores(name, X[:, [2, 0, 1]], y, new[:, [2, 0, 1]])
    np.testing.assert_allclose(permuted, plain, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_threads_do_not_matter(name):
    """One, two and three threads give the same scores to 1e-12, on 420,000 codes in 3 blocks."""
    X, y = make_twonorm(70_000, 6, random_state=0)
    one, two, three = (
        scores(name, X, y, X, n_jobs=n, tol=1e-3, max_bins=64, C=1e-3) for n in (1, 2, 3)
    )
    np.testing.assert_allclose(two, one, rtol=0, atol=1e-12)
    np.testing.assert_allclose(three, one, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_rank_is_invariant_to_monotonic_transforms(table, name):
    """exp, cube and arctan of the features do not change the training scores, to 1e-9."""
    X, y = table
    plain = scores(name, X, y, X, measure="rank")
    for transform in (np.exp, lambda x: x**3, np.arctan):
        warped = scores(name, transform(X), y, transform(X), measure="rank")
        np.testing.assert_allclose(warped, plain, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("measure", ["uniform", "mixed", "middle", "rank"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_relative_measures_are_invariant_to_units(table, new, name, measure, fit_intercept):
    """Affine transforms of each feature do not change the scores of new rows, to 1e-7."""
    X, y = table
    slope, shift = np.array([1e6, 0.25, 1e-6]), np.array([-3.0, 8.0, 0.0])
    params = {"measure": measure, "fit_intercept": fit_intercept}
    plain = scores(name, X, y, new, **params)
    moved = scores(name, X * slope + shift, y, new * slope + shift, **params)
    np.testing.assert_allclose(moved, plain, rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("s", [1e-6, 0.1, 1e6])
def test_scaling_the_kernel_is_scaling_c(table, new, name, fit_intercept, s):
    """Under lebesgue, X times s with C is X with C times s (section 5.2), scores to 1e-6."""
    X, y = table
    params = {"measure": "lebesgue", "fit_intercept": fit_intercept}
    scaled = scores(name, s * X, y, s * new, C=0.5 / s, **params)
    plain = scores(name, X, y, new, C=0.5, **params)
    np.testing.assert_allclose(scaled, plain, rtol=0, atol=1e-6)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_constant_feature_contributes_nothing(table, new, measure, fit_intercept):
    """Its curve is zero, and the scores are those without it, to 1e-8."""
    X, y = table
    params = {"measure": measure, "fit_intercept": fit_intercept, "tol": 1e-10, "n_jobs": 1}
    model = StumpSVC(**params).fit(np.column_stack([X, np.full(len(y), 5.0)]), y)
    with_it = model.decision_function(np.column_stack([new, np.linspace(-9, 9, len(new))]))
    np.testing.assert_allclose(with_it, scores("hinge", X, y, new, **params), rtol=0, atol=1e-8)
    assert np.all(np.abs(model.shapes_[3].values) <= 1e-12)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_swapping_labels_negates_the_scores(table, new, name):
    """Negated labels negate the scores, to 1e-8."""
    X, y = table
    plain, turned = scores(name, X, y, new), scores(name, X, -y, new)
    np.testing.assert_allclose(turned, -plain, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_multiclass_is_one_vs_rest(table, new, name, fit_intercept):
    """Each column of scores, its duals and its certificate are those of the class by itself."""
    X, _ = table
    y = np.digitize(X[:, 0] + X[:, 1], [-1.0, 1.0])
    params = {"fit_intercept": fit_intercept, "n_jobs": 1, "max_bins": 32}
    together = ESTIMATORS[name](**params).fit(X, y)
    score = together.decision_function(new)
    for k in range(3):
        separate = ESTIMATORS[name](**params).fit(X, y == k)
        np.testing.assert_allclose(score[:, k], separate.decision_function(new), atol=1e-12)
        np.testing.assert_allclose(together.dual_coef_[k], separate.dual_coef_, atol=1e-12)
        assert together.certificate_[k] == separate.certificate_
    assert np.array_equal(together.predict(new), score.argmax(axis=1))
