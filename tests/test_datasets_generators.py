"""Simulated data compared with closed forms, and label noise."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import ncx2, norm

from everystump.datasets import (
    flip_labels,
    make_ringnorm,
    make_threenorm,
    make_twonorm,
)

GENERATORS = [make_twonorm, make_threenorm, make_ringnorm]
N, D = 20_000, 20
ROOT_D = np.sqrt(D)


def assert_moments(X, mean, covariance):
    """Compare with closed-form moments to within 5 standard errors of an entry."""
    errors = 5 * np.sqrt(np.max(np.diag(covariance)) / len(X))
    np.testing.assert_allclose(X.mean(axis=0), mean, atol=errors)
    # The variance of a product of two coordinates is at most 2 * max variance ** 2 for normals.
    errors *= np.sqrt(2 * np.max(np.diag(covariance)))
    np.testing.assert_allclose(np.cov(X.T), covariance, atol=errors)


def assert_rate(errors, expected):
    """Compare an error rate with its expectation to within 4 standard errors."""
    assert abs(errors.mean() - expected) < 4 * np.sqrt(expected * (1 - expected) / errors.size)


def threenorm_bayes_error():
    """Return the error of the optimal rule, exp(2 q) < cosh(2 p); p along 1, q along s, even d."""

    def boundary(p):
        return 0.5 * np.log(np.cosh(2 * p))

    missed, _ = quad(lambda p: norm.pdf(p, loc=2) * ndtr(-boundary(p)), -8, 12)
    false, _ = quad(lambda p: norm.pdf(p) * ndtr(boundary(p) - 2), -10, 10)
    return (missed + false) / 2


def ringnorm_bayes_ball(d, a):
    """Return the squared radius of the optimal ball for class -1 around ``4/3 a 1``."""
    return 4 / 9 * d * a**2 + 4 / 3 * d * np.log(4)


@pytest.mark.parametrize("make", GENERATORS)
class TestEveryGenerator:
    def test_shapes_and_labels(self, make):
        X, y = make(random_state=0)
        assert X.shape == (300, 20)
        assert X.dtype == np.float64
        assert y.shape == (300,)
        assert set(y.tolist()) == {-1, 1}

    def test_classes_are_equally_likely(self, make):
        _, y = make(N, 2, random_state=1)
        assert_rate(y > 0, 0.5)

    def test_same_seed_same_sample(self, make):
        first, second = make(random_state=3), make(random_state=3)
        np.testing.assert_array_equal(first[0], second[0])
        np.testing.assert_array_equal(first[1], second[1])
        assert not np.array_equal(first[0], make(random_state=4)[0])

    def test_random_state_instance_advances(self, make):
        rng = np.random.RandomState(0)
        assert not np.array_equal(make(random_state=rng)[0], make(random_state=rng)[0])

    @pytest.mark.parametrize("argument", ["n_samples", "n_features"])
    @pytest.mark.parametrize("value", [0, -3, 2.5, True, "7"])
    def test_sizes_must_be_positive_integers(self, make, argument, value):
        with pytest.raises(ValueError, match=rf"{argument}={value!r} .* at least 1"):
            make(**{argument: value})


class TestMoments:
    def test_twonorm(self):
        X, y = make_twonorm(N, random_state=0)
        for label in (-1, 1):
            assert_moments(X[y == label], label * np.full(D, 2 / ROOT_D), np.eye(D))

    def test_threenorm(self):
        X, y = make_threenorm(N, random_state=0)
        a = 2 / ROOT_D
        assert_moments(X[y > 0], np.zeros(D), np.eye(D) + a**2)
        assert_moments(X[y < 0], a * np.resize([1.0, -1.0], D), np.eye(D))

    @pytest.mark.parametrize("a", [None, 0.0, 2 / ROOT_D])
    def test_ringnorm(self, a):
        X, y = make_ringnorm(N, a=a, random_state=0)
        assert_moments(X[y > 0], np.zeros(D), 4 * np.eye(D))
        assert_moments(X[y < 0], np.full(D, 1 / ROOT_D if a is None else a), np.eye(D))

    @pytest.mark.parametrize("a", [np.nan, np.inf, "wide"])
    def test_ringnorm_mean_must_be_finite(self, a):
        with pytest.raises(ValueError, match=r"a=.* finite number or None"):
            make_ringnorm(a=a)


class TestBayesErrors:
    @pytest.mark.parametrize("d", [1, 2, 20])
    def test_twonorm(self, d):
        X, y = make_twonorm(N, d, random_state=0)
        assert norm.cdf(-2) == pytest.approx(0.023, abs=5e-4)
        assert_rate((X.sum(axis=1) > 0) != (y > 0), norm.cdf(-2))

    @pytest.mark.parametrize("d", [2, 20])
    def test_threenorm(self, d):
        X, y = make_threenorm(N, d, random_state=0)
        p = X.sum(axis=1) / np.sqrt(d)
        q = X @ np.resize([1.0, -1.0], d) / np.sqrt(d)
        expected = threenorm_bayes_error()
        assert expected == pytest.approx(0.105, abs=5e-4)
        assert_rate((np.cosh(2 * p) > np.exp(2 * q)) != (y > 0), expected)

    def test_ringnorm(self):
        X, y = make_ringnorm(N, random_state=0)
        a = 1 / ROOT_D
        radius = ringnorm_bayes_ball(D, a)
        outside = ((X - 4 / 3 * a) ** 2).sum(axis=1) > radius
        missed = ncx2.cdf(radius / 4, D, 4 / 9 * D * a**2)
        false = ncx2.sf(radius, D, D * a**2 / 9)
        assert_rate(outside != (y > 0), (missed + false) / 2)


class TestFlipLabels:
    @pytest.mark.parametrize("fraction", [0, 0.1, 0.123, 0.5, 1.0])
    @pytest.mark.parametrize(
        "classes", [(-1, 1), (False, True), ("benign", "malignant"), (0.5, 2.5)]
    )
    def test_exact_number_of_flips(self, fraction, classes):
        y = np.resize(np.array(classes), 77)
        noisy = flip_labels(y, fraction, random_state=0)
        assert (noisy != y).sum() == round(fraction * 77)
        assert noisy.dtype == y.dtype
        assert set(noisy.tolist()) == set(classes)

    def test_argument_is_not_modified(self):
        y = np.array([0, 1] * 10)
        flip_labels(y, 1.0)
        np.testing.assert_array_equal(y, [0, 1] * 10)

    def test_same_seed_same_labels(self):
        y = [0, 1] * 50
        first = flip_labels(y, 0.2, random_state=5)
        np.testing.assert_array_equal(first, flip_labels(y, 0.2, random_state=5))
        assert not np.array_equal(first, flip_labels(y, 0.2, random_state=6))

    def test_every_label_can_be_flipped(self):
        y = np.array([0, 1] * 5)
        flipped = [flip_labels(y, 0.3, random_state=seed) != y for seed in range(100)]
        assert np.any(flipped, axis=0).all()

    @pytest.mark.parametrize("fraction", [-0.1, 1.1, np.nan, "0.1"])
    def test_fraction_must_be_valid(self, fraction):
        with pytest.raises(ValueError, match=r"fraction=.* between 0 and 1"):
            flip_labels([0, 1], fraction)

    @pytest.mark.parametrize(("y", "count"), [([1, 1], 1), ([0, 1, 2], 3), ([], 0)])
    def test_labels_must_have_two_classes(self, y, count):
        with pytest.raises(ValueError, match=rf"y has {count} distinct labels"):
            flip_labels(y, 0.1)

    def test_labels_must_be_a_vector(self):
        with pytest.raises(ValueError, match=r"y has shape \(2, 1\)"):
            flip_labels([[0], [1]], 0.1)
