"""The loops of the multinomial loss against plain NumPy."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax, xlogy

from everystump._core import softmaxloops

K, N = 4, 2500  # more than two blocks of rows


@pytest.fixture(params=[1.0, 30.0, 1000.0], ids="scale {}".format)
def rows(request):
    """Return scores, a direction, labels and costs; large scores overflow without care."""
    rng = np.random.default_rng(0)
    score = request.param * rng.normal(size=(K, N))
    return score, rng.normal(size=(K, N)), rng.integers(0, K, N), rng.uniform(0.1, 3.0, N)


def losses(score, label):
    return -log_softmax(score, axis=0)[label, np.arange(score.shape[1])]


def test_probabilities_and_loss(rows):
    score, _, label, cost = rows
    p = np.empty((K, N))
    total = softmaxloops.softmax(score, label, cost, p)
    assert total == pytest.approx(cost @ losses(score, label), rel=1e-13)
    np.testing.assert_allclose(p, softmax(score, axis=0), rtol=1e-12, atol=1e-300)


def test_a_tiny_loss_keeps_its_digits():
    score = np.array([[60.0], [0.0], [1.0]])
    total = softmaxloops.softmax(score, np.zeros(1, dtype=int), np.ones(1), np.empty((3, 1)))
    assert total == pytest.approx(np.exp(-60.0) + np.exp(-59.0), rel=1e-13)


def test_the_worst_loss_is_that_of_the_worst_scores(rows):
    score, _, label, cost = rows
    worst = score + 0.1
    worst[label, np.arange(N)] -= 0.2
    total = softmaxloops.total_within(score, label, cost, 0.1)
    assert total == pytest.approx(cost @ losses(worst, label), rel=1e-12)


def test_directional_slope(rows):
    """Against the derivative in closed form, and at a moderate scale against differences."""
    score, step, label, cost = rows
    moved = score + 0.7 * step
    own = step[label, np.arange(N)]
    expected = cost @ (own - np.sum(softmax(moved, axis=0) * step, axis=0))
    found = softmaxloops.directional_slope(score, step, 0.7, label, cost)
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-9)
    if np.abs(score).max() < 10:
        h = 1e-5
        rise = cost @ (losses(moved + h * step, label) - losses(moved - h * step, label))
        assert found == pytest.approx(-rise / (2 * h), rel=1e-6)


def test_products_with_the_curvature(rows):
    score, step, _, cost = rows
    p = softmax(score, axis=0)
    matrices = cost * (np.einsum("ki,kj->kji", p, np.eye(K)) - np.einsum("ki,ji->kji", p, p))
    found = step.copy()
    softmaxloops.curvature_product(p, cost, found)
    expected = np.einsum("kji,ji->ki", matrices, step)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    shift = np.array([0.3, -1.0, 2.0, 0.0])
    softmaxloops.add_curvature_shift(p, cost, shift, found)
    expected += np.einsum("kji,j->ki", matrices, shift)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_duals_and_their_entropy(rows):
    score, _, label, cost = rows
    p = softmax(score, axis=0)
    shift, frequency = np.array([1e-3, -2e-3, 0.0, 1e-3]), np.array([0.1, 0.2, 0.3, 0.4])
    fraction = 0.02
    q = (1 - fraction) * (p + shift[:, None]) + fraction * frequency[:, None]
    a = np.empty((K, N))
    dual, size = softmaxloops.duals(p, label, cost, shift, fraction, frequency, a)
    one_hot = np.arange(K)[:, None] == label
    np.testing.assert_allclose(a, cost * (one_hot - q), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(a.sum(axis=0), 0.0, atol=1e-14)
    assert dual == pytest.approx(-cost @ xlogy(q, q).sum(axis=0), rel=1e-11)
    assert size >= dual


def test_sums_of_rows(rows):
    score, _, _, _ = rows
    out = np.empty(K)
    softmaxloops.sum_rows(score, out)
    np.testing.assert_allclose(out, score.sum(axis=1), rtol=1e-11)


def test_curvature_along_directions_keeps_its_accuracy(rows):
    score, _, _, cost = rows
    basis = np.array([[0.5, 0.5], [0.5, -0.5], [0.5, 0.5], [0.5, -0.5]])
    out = np.empty((2, score.shape[1]))
    p = softmax(score, axis=0)
    softmaxloops.curvature_along(p, cost, basis, out)
    expected = cost * ((basis**2).T @ p - (basis.T @ p) ** 2)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-12)
    # Where one class is nearly certain, the curvature is that of the others' probabilities.
    rare = np.array([[1e-30], [0.0], [1.0], [0.0]])
    softmaxloops.curvature_along(rare, np.ones(1), np.eye(4)[:, :1], out[:1, :1])
    assert out[0, 0] == pytest.approx(1e-30)
