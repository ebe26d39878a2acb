"""Kernels against explicit sums over their hypotheses."""

import numpy as np
import pytest
from scipy.special import gammaln
from sklearn.svm import SVC

from everystump import StumpSVC, kernels
from everystump.kernels import (
    EmbodiedKernel,
    gaussian_kernel,
    laplacian_kernel,
    middle_stump_kernel,
    perceptron_kernel,
    simplified_stump_kernel,
    stump_kernel,
)

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(25, 3))
Y = RNG.uniform(-1, 1, size=(10, 3))
RANGE = [(-1.0, 1.0), (-2.0, 1.5), (-1.0, 1.0)]
ALL = [
    stump_kernel,
    simplified_stump_kernel,
    middle_stump_kernel,
    perceptron_kernel,
    laplacian_kernel,
    gaussian_kernel,
]


def by_hand(X, Y, product):
    return np.array([[product(x, y) for y in Y] for x in X])


@pytest.mark.parametrize(
    ("kernel", "product"),
    [
        (simplified_stump_kernel, lambda x, y: -np.abs(x - y).sum()),
        (perceptron_kernel, lambda x, y: -np.sqrt(((x - y) ** 2).sum())),
        (laplacian_kernel, lambda x, y: np.exp(-np.abs(x - y).sum() / 3)),
        (gaussian_kernel, lambda x, y: np.exp(-((x - y) ** 2).sum() / 3)),
    ],
)
def test_formulas(kernel, product):
    np.testing.assert_allclose(kernel(X, Y), by_hand(X, Y, product), atol=1e-12)
    np.testing.assert_allclose(kernel(X), by_hand(X, X, product), atol=1e-12)


def test_the_stump_kernel_is_an_integral_over_thresholds():
    """Definition 2: r = 1/2 for both directions, on a fine grid of thresholds in [L, R]."""
    total = np.zeros((25, 10))
    for d, (low, high) in enumerate(RANGE):
        edges = np.linspace(low, high, 20_001)
        threshold = (edges[1:] + edges[:-1]) / 2
        own, other = (np.where(Z[:, [d]] >= threshold, 1.0, -1.0) for Z in (X, Y))
        total += 2 * 0.25 * (own @ other.T) * (high - low) / 20_000
    np.testing.assert_allclose(stump_kernel(X, Y, feature_range=RANGE), total, atol=1e-3)


def test_the_midpoint_stumps_are_summed():
    training = np.round(X, 1)
    kernel = np.zeros((25, 10))
    for d in range(3):
        values = np.unique(training[:, d])
        for threshold in (values[1:] + values[:-1]) / 2:
            votes = [np.where(Z[:, d] >= threshold, 1.0, -1.0) for Z in (X, Y)]
            kernel += 0.5 * np.outer(*votes)
    np.testing.assert_allclose(middle_stump_kernel(X, Y, training=training), kernel)


@pytest.mark.parametrize("kernel", [stump_kernel, middle_stump_kernel, laplacian_kernel])
def test_kernels_of_hypotheses_are_positive(kernel):
    assert np.linalg.eigvalsh(kernel(X)).min() > -1e-9


@pytest.mark.parametrize("kernel", [simplified_stump_kernel, perceptron_kernel])
def test_simplified_kernels_are_positive_on_weights_that_sum_to_0(kernel):
    center = np.eye(25) - 1 / 25
    assert np.linalg.eigvalsh(center @ kernel(X) @ center).min() > -1e-9


def test_the_chain_solver_is_libsvm_on_the_kernel():
    """The gap of 1e-9 allows scores a distance of about 1e-4."""
    y = X.sum(axis=1) + RNG.normal(size=25) > 0
    for kernel, measure in ((stump_kernel, "lebesgue"), (middle_stump_kernel, "middle")):
        svc = SVC(kernel="precomputed", C=2.0, tol=1e-10).fit(kernel(X), y)
        model = StumpSVC(C=2.0, measure=measure, tol=1e-10).fit(X, y)
        expected = svc.decision_function(kernel(X))
        np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-3)


def mean_error(kernel_of, exact, n_hypotheses, repeats=40):
    """Return the root mean square error of kernels of random hypotheses."""
    errors = [kernel_of(n_hypotheses, seed)(X, Y) - exact for seed in range(repeats)]
    return np.sqrt(np.mean(np.square(errors)))


def assert_converges(kernel_of, exact):
    """Sixteen times the hypotheses have a quarter of the error, which 40 repeats give to 10%."""
    few, many = (mean_error(kernel_of, exact, n) for n in (200, 3200))
    assert few / many == pytest.approx(4.0, rel=0.25)
    assert many < 0.15


def test_random_stumps_converge_to_the_stump_kernel():
    assert_converges(
        lambda n, seed: EmbodiedKernel.of_stumps(RANGE, n, random_state=seed),
        stump_kernel(X, Y, feature_range=RANGE),
    )


def test_random_perceptrons_converge_to_the_perceptron_kernel():
    """E|cos| is Gamma(D/2) / (sqrt(pi) Gamma((D+1)/2)), 1/2 in three dimensions."""
    mean_cosine = np.exp(gammaln(1.5) - gammaln(2.0)) / np.sqrt(np.pi)
    assert mean_cosine == pytest.approx(0.5)
    assert_converges(
        lambda n, seed: EmbodiedKernel.of_perceptrons(3, 2.0, n, random_state=seed),
        2.0 + mean_cosine * perceptron_kernel(X, Y),
    )


def test_negations_and_the_constant_are_in_the_kernel():
    """Two hypotheses with weights r, their negations, and the constant."""
    votes = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    kernel = EmbodiedKernel(lambda rows: votes, r=[0.5, 2.0], constant=3.0)
    weighted = np.hstack([votes * [0.5, 2.0], -votes * [0.5, 2.0], [[3.0, -3.0]] * 3])
    np.testing.assert_allclose(kernel(np.zeros((3, 1))), weighted @ weighted.T)
    features = kernel.features(np.zeros((3, 1)))
    np.testing.assert_allclose(features @ features.T, weighted @ weighted.T)


BAD = {
    "not votes": (
        lambda: EmbodiedKernel(lambda X: X)(X),
        r"votes returned .* for 25 samples; it must return 1 or -1",
    ),
    "one dimension": (
        lambda: EmbodiedKernel(lambda X: X[:, 0] * 0 + 1)(X),
        r"votes returned .*\(25,\)",
    ),
    "weights": (
        lambda: EmbodiedKernel(lambda X: np.sign(X), r=[1.0, 2.0])(X),
        r"r has shape \(2,\), but there are 3 hypotheses",
    ),
    "negative": (lambda: EmbodiedKernel(np.sign, r=-1.0), r"r=-1.0 must be positive"),
    "negative constant": (lambda: EmbodiedKernel(np.sign, constant=-1), r"constant=-1"),
    "range": (lambda: stump_kernel(X, feature_range=[(0, 1)] * 2), r"feature_range=.* 3 features"),
    "range reversed": (lambda: stump_kernel(X, feature_range=(1, 0)), r"feature_range=\(1, 0\)"),
    "no stumps": (lambda: EmbodiedKernel.of_stumps(RANGE, 0), r"n_hypotheses=0 must be positive"),
    "no range": (lambda: EmbodiedKernel.of_stumps([(1, 1)], 5), r"range=0\.0 must be positive"),
    "radius": (lambda: EmbodiedKernel.of_perceptrons(3, -1.0, 5), r"radius=-1\.0 must be positive"),
    "columns": (lambda: perceptron_kernel(X, Y[:, :2]), r"Incompatible dimension"),
}


@pytest.mark.parametrize(("call", "match"), BAD.values(), ids=BAD)
def test_bad_input(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def test_every_kernel_is_listed_and_documented():
    for kernel in ALL:
        assert getattr(kernels, kernel.__name__) is kernel
        assert "Returns\n" in kernel.__doc__
