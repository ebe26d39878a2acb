"""KernelSVC against LIBSVM, SciPy, closed forms and the chain solver, and its errors."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from bad_tables import BAD_TABLES, NUMBERS_ONLY, X0, Y0, assert_invalid, table, with_one
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from everystump import KernelSVC, StumpSVC
from everystump._core.kernel_machines.kernel_matrix import LazyKernelMatrix
from everystump.kernels import perceptron_kernel, simplified_stump_kernel, stump_kernel

S0 = np.where(Y0 == 1, 1.0, -1.0)
WEIGHT = np.random.default_rng(3).uniform(0.3, 3.0, size=90)
NAMES = ["gaussian", "laplacian", "linear", "middle", "perceptron", "stump"]
LOSSES = ["hinge", "squared_hinge", "least_squares"]


# Against others; a gap of 1e-10 leaves scores a distance of about 1e-4


@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_with_an_intercept_it_is_libsvm(C, weight):
    model = KernelSVC(C=C, gamma=0.4, tol=1e-9).fit(X0, Y0, sample_weight=weight)
    svc = SVC(C=C, gamma=0.4, tol=1e-9).fit(X0, Y0, sample_weight=weight)
    np.testing.assert_allclose(
        model.decision_function(X0), svc.decision_function(X0), atol=1e-4 * max(1.0, C)
    )
    assert model.certificate_.converged
    assert set(model.support_) >= set(np.flatnonzero(np.abs(model.dual_coef_)))


@pytest.mark.parametrize("name", NAMES)
def test_every_kernel_with_an_intercept_is_libsvm_on_its_matrix(name):
    model = KernelSVC(name, tol=1e-9).fit(X0, Y0)
    matrix = model.expansion_.kernel.matrix(X0, X0)
    svc = SVC(kernel="precomputed", tol=1e-9).fit(matrix, Y0)
    np.testing.assert_allclose(
        model.decision_function(X0), svc.decision_function(matrix), atol=1e-3
    )


@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_gamma_is_that_of_scikit_learn(gamma):
    model = KernelSVC(gamma=gamma, tol=1e-9).fit(X0, Y0)
    svc = SVC(gamma=gamma, tol=1e-9).fit(X0, Y0)
    np.testing.assert_allclose(model.decision_function(X0), svc.decision_function(X0), atol=1e-4)


PENALTIES = {
    "hinge": lambda m: np.maximum(1 - m, 0),
    "squared_hinge": lambda m: np.maximum(1 - m, 0) ** 2,
    "least_squares": lambda m: (1 - m) ** 2,
}


def dual_by_scipy(K, cost, loss, *, fit_intercept):
    """Return signed dual variables; an intercept adds the constraint that they sum to 0."""
    ridge = np.zeros(90) if loss == "hinge" else 0.5 / cost
    low = -np.inf if loss == "least_squares" else 0.0
    high = cost if loss == "hinge" else np.full(90, np.inf)
    Q = K * np.outer(S0, S0) + np.diag(ridge)
    return (
        S0
        * minimize(
            lambda a: (0.5 * a @ Q @ a - a.sum(), Q @ a - 1),
            np.zeros(90),
            jac=True,
            method="SLSQP" if fit_intercept else "L-BFGS-B",
            bounds=np.column_stack([np.full(90, low), high]),
            constraints=[{"type": "eq", "fun": lambda a: a @ S0, "jac": lambda a: S0}]
            if fit_intercept
            else (),
            options={"maxiter": 2000, "ftol": 1e-15},
        ).x
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("weight", [np.ones(90), WEIGHT], ids=["equal", "weighted"])
def test_every_loss_is_scipys_optimum(loss, fit_intercept, weight):
    """The values of both problems meet: the dual at SciPy's variables, the primal at ours."""
    K = rbf_kernel(X0, gamma=0.4)
    model = KernelSVC(C=0.7, gamma=0.4, loss=loss, fit_intercept=fit_intercept, tol=1e-8)
    model.fit(X0, Y0, sample_weight=weight)
    beta = dual_by_scipy(K, 0.7 * weight, loss, fit_intercept=fit_intercept)
    extra = 0.0 if loss == "hinge" else np.sum(beta**2 / (4 * 0.7 * weight))
    dual = beta @ S0 - extra - beta @ K @ beta / 2
    own = model.dual_coef_
    margin = S0 * model.decision_function(X0)
    primal = own @ K @ own / 2 + 0.7 * weight @ PENALTIES[loss](margin)
    assert primal == pytest.approx(dual, rel=1e-6)
    assert primal == pytest.approx(model.certificate_.primal, rel=1e-9)
    if not fit_intercept:
        assert model.intercept_ == 0.0
    np.testing.assert_allclose(model.decision_function(X0) - model.intercept_, K @ beta, atol=3e-3)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_least_squares_is_a_linear_system(fit_intercept, C):
    """``(K + I / 2C) beta + b = y``, and with an intercept the betas sum to 0."""
    K = rbf_kernel(X0, gamma=0.4)
    model = KernelSVC(C=C, gamma=0.4, loss="least_squares", fit_intercept=fit_intercept, tol=1e-11)
    model.fit(X0, Y0)
    ones = np.full((90, 1), float(fit_intercept))
    system = np.block(
        [[K + np.eye(90) / (2 * C), ones], [ones.T, np.array([[float(not fit_intercept)]])]]
    )
    found = np.linalg.solve(system, np.append(S0, 0.0))
    expected = K @ found[:-1] + found[-1]
    np.testing.assert_allclose(model.decision_function(X0), expected, atol=1e-4)
    assert model.intercept_[0] == pytest.approx(found[-1], abs=1e-4)


@pytest.mark.parametrize("C", [0.02, 0.3, 5.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_all_stumps_by_the_kernel_and_by_the_chain_agree(C, loss):
    """Two solvers without an intercept: the corner term against the constant of K_S."""
    kernel = KernelSVC("stump", C=C, loss=loss, fit_intercept=False, tol=1e-9).fit(X0, Y0)
    chain = StumpSVC(C, loss=loss, measure="lebesgue", fit_intercept=False, tol=1e-9).fit(X0, Y0)
    np.testing.assert_allclose(kernel.decision_function(X0), chain.decision_function(X0), atol=2e-4)
    assert kernel.certificate_.primal == pytest.approx(chain.certificate_.primal, rel=1e-8)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_certificate_is_the_value_of_the_problem(loss, fit_intercept):
    """Primal computed by hand, and the dual below it by the gap."""
    model = KernelSVC(
        "laplacian", C=2.0, gamma=0.3, loss=loss, fit_intercept=fit_intercept, tol=1e-6
    )
    model.fit(X0, Y0)
    own = model.dual_coef_
    K = model.expansion_.kernel.matrix(X0, X0)
    primal = own @ K @ own / 2 + 2.0 * PENALTIES[loss](S0 * model.decision_function(X0)).sum()
    extra = 0.0 if loss == "hinge" else np.sum(own**2) / 8
    dual = own @ S0 - extra - own @ K @ own / 2
    assert model.certificate_.primal == pytest.approx(primal)
    assert model.certificate_.dual <= dual + 1e-9
    assert 1 - dual / primal <= 1e-6
    assert abs(own.sum()) < 1e-6 or not fit_intercept


# Weights and classes


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_sample_weights_repeat_samples(loss, fit_intercept):
    times = np.random.default_rng(1).integers(0, 4, size=90)
    model = KernelSVC(loss=loss, fit_intercept=fit_intercept, tol=1e-10)
    weighted = clone(model).fit(X0, Y0, sample_weight=times)
    repeated = clone(model).fit(np.repeat(X0, times, axis=0), np.repeat(Y0, times))
    np.testing.assert_allclose(
        weighted.decision_function(X0), repeated.decision_function(X0), atol=2e-4
    )
    np.testing.assert_array_equal(weighted.dual_coef_[times == 0], 0.0)
    assert np.all(np.isnan(weighted.training_scores_) == (times == 0))


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_class_weights_multiply_sample_weights(fit_intercept):
    model = KernelSVC(fit_intercept=fit_intercept, gamma=0.4, tol=1e-10)
    both = clone(model).set_params(class_weight={1: 3.0}).fit(X0, Y0, sample_weight=WEIGHT)
    product = clone(model).fit(X0, Y0, sample_weight=WEIGHT * np.where(Y0, 3.0, 1.0))
    np.testing.assert_allclose(both.decision_function(X0), product.decision_function(X0), atol=2e-4)
    np.testing.assert_allclose(both.row_costs_, WEIGHT * np.where(Y0, 3.0, 1.0))


def test_balanced_weights_are_those_of_scikit_learn():
    y = np.arange(90) < 20
    model = KernelSVC(gamma=0.4, class_weight="balanced", tol=1e-9).fit(X0, y)
    svc = SVC(gamma=0.4, class_weight="balanced", tol=1e-9).fit(X0, y)
    np.testing.assert_allclose(model.decision_function(X0), svc.decision_function(X0), atol=1e-3)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_multiclass_is_one_vs_rest(fit_intercept):
    X, y = table(3)
    names = np.array(["a", "b", "c"])
    model = KernelSVC(gamma=0.4, fit_intercept=fit_intercept, tol=1e-9).fit(X, names[y])
    score = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), names[score.argmax(axis=1)])
    assert model.dual_coef_.shape == model.training_scores_.shape == (3, 90)
    assert len(model.certificate_) == len(model.intercept_) == 3
    for k in range(3):
        separate = clone(model).fit(X, y == k)
        np.testing.assert_allclose(separate.decision_function(X), score[:, k], atol=1e-9)
    np.testing.assert_allclose(model.training_scores_.T, score, atol=1e-8)


# Kernels


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_precomputed_products_are_the_kernel_itself(fit_intercept):
    X, new = X0[:60], X0[60:]
    named = KernelSVC("stump", fit_intercept=fit_intercept, tol=1e-10).fit(X, Y0[:60])
    limits = np.column_stack([X.min(axis=0), X.max(axis=0)])
    by_hand = KernelSVC("precomputed", fit_intercept=fit_intercept, tol=1e-10)
    by_hand.fit(stump_kernel(X, X, feature_range=limits), Y0[:60])
    new_products = stump_kernel(new, X, feature_range=limits)
    np.testing.assert_allclose(
        by_hand.decision_function(new_products), named.decision_function(new), atol=1e-4
    )


def test_precomputed_samples_of_weight_zero_keep_their_columns():
    K = rbf_kernel(X0, gamma=0.4)
    weight = np.where(np.arange(90) % 3 == 0, 0.0, 1.0)
    left = weight > 0
    model = KernelSVC("precomputed", fit_intercept=False, tol=1e-9).fit(K, Y0, weight)
    separate = KernelSVC("precomputed", fit_intercept=False, tol=1e-9)
    separate.fit(K[np.ix_(left, left)], Y0[left])
    np.testing.assert_allclose(
        model.decision_function(K), separate.decision_function(K[:, left]), atol=1e-6
    )


def gaussian_04(A, B):
    return rbf_kernel(A, B, gamma=0.4)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_function_is_a_kernel(fit_intercept):
    own = KernelSVC(gaussian_04, fit_intercept=fit_intercept, tol=1e-9).fit(X0, Y0)
    named = KernelSVC(gamma=0.4, fit_intercept=fit_intercept, tol=1e-9).fit(X0, Y0)
    np.testing.assert_allclose(own.decision_function(X0), named.decision_function(X0), atol=1e-5)


# Memory


def wide_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 3))
    return X, X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=250) > 1


def gigabytes_for_some_rows(X):
    """Return a memory limit for at least 64 rows of the kernel matrix, but less than half."""
    low, high = 0.0, 1e9
    while True:
        middle = (low + high) / 2
        try:
            width = LazyKernelMatrix(None, X, middle).width
        except ValueError:
            low = middle
            continue
        if width < len(X) / 2:
            return middle / 1e9
        high = middle


SOME_OF_IT = gigabytes_for_some_rows(wide_table()[0])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_little_memory_gives_the_same_machine(loss, fit_intercept):
    X, y = wide_table()
    model = KernelSVC(gamma=0.4, loss=loss, fit_intercept=fit_intercept, tol=1e-4)
    whole = clone(model).fit(X, y)
    parts = clone(model).set_params(memory_limit=SOME_OF_IT).fit(X, y)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=0.1)
    assert parts.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=1e-4)


@pytest.mark.parametrize(
    "needs_all",
    [{}, {"loss": "least_squares"}, {"loss": "least_squares", "fit_intercept": False}],
    ids=["LIBSVM", "least squares", "least squares without an intercept"],
)
def test_losses_that_need_the_whole_matrix_are_rejected_with_a_remedy(needs_all):
    model = KernelSVC("laplacian", memory_limit=SOME_OF_IT)
    assert_invalid(
        lambda: clone(model).set_params(**needs_all).fit(*wide_table()),
        r"memory_limit=\S+ gigabytes is too little .* 250 rows, which needs \S+; raise it, use "
        r"StumpSVC or PerceptronSVC.*SubsampleVotingClassifier",
    )
    model.set_params(fit_intercept=False).fit(*wide_table())


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_too_little_memory_is_rejected(fit_intercept):
    model = KernelSVC("laplacian", fit_intercept=fit_intercept, memory_limit=1e-3)
    assert_invalid(lambda: model.fit(*wide_table()), r"memory_limit=0\.001 gigabytes is too little")


def test_the_memory_that_the_error_suggests_is_enough():
    model = KernelSVC(fit_intercept=False, memory_limit=1e-3)
    with pytest.raises(ValueError, match="which needs") as caught:
        model.fit(*wide_table())
    needed = float(str(caught.value).split("which needs ")[1].split(";")[0])
    assert model.set_params(memory_limit=1.1 * needed).fit(*wide_table()).certificate_.converged


# Bad input


def indefinite(smallest):
    """Return a matrix of 90 rows with this as its smallest eigenvalue, also when centered."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(np.column_stack([np.ones(90), rng.normal(size=(90, 89))]))[0]
    values = np.append(5.0, np.linspace(1.0, 3.0, 89))
    values[-1] = smallest
    matrix = (basis * values) @ basis.T
    return (matrix + matrix.T) / 2


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_indefinite_matrices_are_rejected(fit_intercept):
    model = KernelSVC("precomputed", fit_intercept=fit_intercept)
    assert_invalid(
        lambda: model.fit(indefinite(-0.25), Y0),
        r"smallest of the 90 eigenvalues of the .*kernel matrix is -0\.25; .*0\.25 added to",
    )
    model.fit(indefinite(-0.25) + 0.25 * np.eye(90), Y0)
    model.fit(indefinite(-1e-12), Y0)


@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares"])
def test_squared_losses_reject_conditionally_positive_kernels(loss):
    for kernel in (simplified_stump_kernel, perceptron_kernel):
        model = KernelSVC(kernel, loss=loss)
        assert_invalid(lambda m=model: m.fit(X0, Y0), "eigenvalues of the kernel matrix is -")


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("offset", [1e4, 1e6, 1e8])
def test_an_offset_of_the_features_changes_little(offset, fit_intercept):
    """Differences of rows keep 8 digits at least, where the rows themselves are not squared."""
    model = KernelSVC(gamma=0.4, fit_intercept=fit_intercept, tol=1e-6)
    score = clone(model).fit(X0, Y0).decision_function(X0)
    far = clone(model).fit(X0 + offset, Y0).decision_function(X0 + offset)
    np.testing.assert_allclose(far, score, atol=1e-2)


def test_with_an_intercept_conditionally_positive_kernels_suffice():
    """``-|x - y|_1`` is a kernel with an intercept, and none without."""
    K = -np.abs(X0[:, None] - X0[None]).sum(axis=2)
    KernelSVC("precomputed").fit(K, Y0)
    smallest = np.linalg.eigvalsh(K)[0]
    assert_invalid(
        lambda: KernelSVC("precomputed", fit_intercept=False).fit(K, Y0),
        rf"eigenvalues of the kernel matrix is {smallest:.4g}",
    )


def test_asymmetric_matrices_are_rejected():
    K = np.eye(90)
    K[3, 7] = 0.5
    assert_invalid(
        lambda: KernelSVC("precomputed").fit(K, Y0),
        r"symmetric kernel matrix, but the entries of rows 3 and 7 are 0\.5 and 0; take the mean",
    )


BAD_KERNELS = {
    "shape": (lambda A, B: A @ A.T if len(A) != len(B) else A, r"shape \(\d+, 3\) for \d+ and"),
    "one number": (lambda A, B: 1.0, r"returned an array of shape \(\) for .* must return one"),
    "nan": (lambda A, B: np.full((len(A), len(B)), np.nan), r"returned NaN or infinity; scale"),
    "infinity": (lambda A, B: np.full((len(A), len(B)), np.inf), r"returned NaN or infinity"),
}


@pytest.mark.parametrize(("kernel", "match"), BAD_KERNELS.values(), ids=BAD_KERNELS)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_bad_kernels_are_rejected(kernel, match, fit_intercept):
    assert_invalid(
        lambda: KernelSVC(kernel, fit_intercept=fit_intercept).fit(X0, Y0), "kernel=.*" + match
    )


BAD_PARAMETERS = {
    "kernel": (
        KernelSVC("gauss"),
        r"'kernel' parameter of KernelSVC .*\{'gaussian', 'laplacian', 'linear', .* Got 'gauss'",
    ),
    "C": (KernelSVC(C=0), r"'C' parameter of KernelSVC .* Got 0"),
    "C=inf": (KernelSVC(C=np.inf), r"'C' parameter of KernelSVC .* Got inf"),
    "huge C": (KernelSVC(C=1e100), r"C=1e\+100 times the sample weights .* keep it between"),
    "gamma": (KernelSVC(gamma=-1.0), r"'gamma' parameter of KernelSVC .* Got -1\.0"),
    "loss": (KernelSVC(loss="log"), r"'loss' parameter of KernelSVC .* Got 'log'"),
    "tol": (KernelSVC(tol=0), r"'tol' parameter of KernelSVC .* Got 0"),
    "memory": (KernelSVC(memory_limit=0), r"'memory_limit' parameter of KernelSVC .* Got 0"),
    "not square": (KernelSVC("precomputed"), r"X has 90 rows and 3 columns; pass a square matrix"),
}


@pytest.mark.parametrize(("estimator", "match"), BAD_PARAMETERS.values(), ids=BAD_PARAMETERS)
def test_bad_parameters(estimator, match):
    assert_invalid(lambda: clone(estimator).fit(X0, Y0), match)


BAD = BAD_TABLES | NUMBERS_ONLY


@pytest.mark.parametrize(("X", "y", "weight", "match"), BAD.values(), ids=BAD)
def test_bad_tables(X, y, weight, match):
    model = KernelSVC(fit_intercept=False)
    assert_invalid(lambda: model.fit(X, y, sample_weight=weight), match)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.predict(X0)


def test_prediction_validates_its_samples():
    model = KernelSVC().fit(X0, Y0)
    assert_invalid(lambda: model.predict(X0[:, :2]), r"X has 2 features, but .* is expecting 3")
    assert_invalid(lambda: model.predict(with_one(np.nan)), r"X contains NaN in row 4, feature 1")


# Estimator conventions


@pytest.mark.parametrize("kernel", [*NAMES, gaussian_04])
def test_pickles(kernel):
    model = KernelSVC(kernel, fit_intercept=False).fit(X0, Y0)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X0), model.decision_function(X0))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_keep_their_names(frame):
    X = frame({"age": X0[:, 0], "height": X0[:, 1], "weight": X0[:, 2]})
    model = KernelSVC().fit(X, Y0)
    assert model.feature_names_in_.tolist() == ["age", "height", "weight"]
    plain = KernelSVC().fit(X0, Y0)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X0), atol=1e-9)


def test_progress_only_if_verbose(capsys):
    KernelSVC(fit_intercept=False).fit(X0, Y0)
    assert capsys.readouterr() == ("", "")
    KernelSVC(fit_intercept=False, verbose=1).fit(X0, Y0)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("KernelSVC, 90 samples, C=1")


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_scores_keep_their_digits_beside_a_large_offset(offset, loss):
    """For example a column of timestamps: scores agree with exact arithmetic."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)).round(3)
    y = X.sum(axis=1) + 0.3 * rng.normal(size=40) > 0
    X[:, 1] += offset
    model = KernelSVC("linear", C=100.0, loss=loss).fit(X, y)
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    coef = [Fraction(c) for c in model.dual_coef_.tolist()]
    weights = [sum(c * row[d] for c, row in zip(coef, rows, strict=True)) for d in range(2)]
    exact = [
        float(sum(w * v for w, v in zip(weights, row, strict=True)) + Fraction(model.intercept_[0]))
        for row in rows
    ]
    size = np.abs(np.array(weights, dtype=float) * X).sum(axis=1).max()
    np.testing.assert_allclose(model.decision_function(X), exact, rtol=0, atol=1e-15 * size + 1e-9)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("gamma", ["scale", 0.3])
def test_rbf_is_the_gaussian_kernel(gamma):
    one, other = (KernelSVC(name, gamma=gamma).fit(X0, Y0) for name in ("gaussian", "rbf"))
    assert np.array_equal(one.decision_function(X0), other.decision_function(X0))
