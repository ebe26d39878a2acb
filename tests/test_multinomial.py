"""Multinomial logistic regression against independent optimizers on explicit smooth stumps."""

import math
import warnings

import numpy as np
import pytest
from oracles import as_fitted, axis, smooth_stumps
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax, xlogy
from sklearn.linear_model import LogisticRegression

import everystump
from everystump import StumpLogisticRegression, StumpLogisticRegressionCV
from everystump._core.design import Design
from everystump._core.measures import as_measure
from everystump._core.multiclass import solve_classes
from everystump._core.solvers.multinomial_system import balancing_step
from everystump._core.solvers.problem import no_progress
from everystump.measures import Weighted

TIGHT = 1e-9


def table(n_classes=3, n=80, seed=0):
    """Return features (continuous, tied, two-valued, constant), labels and weights."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.normal(size=n), rng.integers(0, 4, n), rng.integers(0, 2, n), np.full(n, 3.0)]
    )
    score = X[:, 0] + X[:, 1] / 2 + rng.normal(size=n)
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return X, y, rng.choice([0.5, 1.0, 4.0], size=n)


def explicit(X, weight, *, fit_intercept):
    """Return the axes, the explicit feature matrix, and the ranges of the features."""
    limits = None if fit_intercept else [(x.min() - 1, x.max() + 2) for x in X.T]
    axes = [
        axis(x, "mixed", weight, pair)
        for x, pair in zip(X.T, limits or [None] * X.shape[1], strict=True)
    ]
    return axes, smooth_stumps(axes, fit_intercept), limits


def loss(scores, y, cost):
    return -cost @ log_softmax(scores, axis=1)[np.arange(len(y)), y]


def optimum(Phi, y, cost, *, fit_intercept):
    """Minimize the objective over explicit weights by L-BFGS; return its value and scores."""
    n, n_classes = len(y), y.max() + 1
    Phi = np.hstack([Phi, np.full((n, 1), float(fit_intercept))])
    penalty = np.append(np.ones(Phi.shape[1] - 1), 0.0)[:, None]
    one_hot = np.eye(n_classes)[y]

    def value_and_slope(flat):
        w = flat.reshape(Phi.shape[1], n_classes)
        scores = Phi @ w
        value = np.sum(penalty * w**2) / 2 + loss(scores, y, cost)
        slope = penalty * w + Phi.T @ (cost[:, None] * (softmax(scores, axis=1) - one_hot))
        return value, slope.ravel()

    w = np.zeros(Phi.shape[1] * n_classes)
    options = {"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 50}
    for _ in range(3):
        w = minimize(value_and_slope, w, jac=True, method="L-BFGS-B", options=options).x
    return value_and_slope(w)[0], Phi @ w.reshape(Phi.shape[1], n_classes)


def fit(X, y, weight=None, *, tol=TIGHT, **parameters):
    model = StumpLogisticRegression(multi_class="multinomial", tol=tol, n_jobs=1, **parameters)
    return model.fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("n_classes", [3, 4, 6, 10])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_objective_and_scores_are_the_optimum(n_classes, fit_intercept, C):
    """The optimum of L-BFGS lies between the dual and the primal value, up to its own 1e-8."""
    X, y, weight = table(n_classes)
    axes, Phi, limits = explicit(X, weight, fit_intercept=fit_intercept)
    best, scores = optimum(Phi, y, C * weight, fit_intercept=fit_intercept)
    model = fit(X, y, weight, C=C, fit_intercept=fit_intercept, feature_range=limits)
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.primal == pytest.approx(best, rel=1e-8)
    assert certificate.dual <= best
    found = model.decision_function(X)
    np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=1e-9)
    np.testing.assert_allclose(softmax(found, axis=1), softmax(scores, axis=1), atol=1e-4)
    energy = sum(as_fitted(axes, s).energy(axes, fit_intercept) for s in model.shapes_)
    primal = energy / 2 + loss(found, y, C * weight)
    assert certificate.primal == pytest.approx(primal, rel=1e-9)


def test_scikit_learn_finds_the_same_probabilities():
    """With its default of no weights; lbfgs stops at about 4 digits."""
    X, y, _ = table(4, n=150, seed=1)
    _, Phi, _ = explicit(X, None, fit_intercept=True)
    peer = LogisticRegression(C=0.7, tol=1e-9, max_iter=20_000).fit(Phi, y)
    model = fit(X, y, C=0.7)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(Phi), atol=5e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("tol", [1e-2, 1e-8])
def test_the_dual_variables_attain_the_dual_value(fit_intercept, tol):
    """Feasible up to rounding, with the dual value of the certificate in plain NumPy."""
    X, y, weight = table(5)
    _, Phi, limits = explicit(X, weight, fit_intercept=fit_intercept)
    model = fit(X, y, weight, C=2.0, tol=tol, fit_intercept=fit_intercept, feature_range=limits)
    cost, a = 2.0 * weight, model.dual_coef_
    q = (np.arange(5)[:, None] == y) - a / cost
    assert a.shape == (5, len(y)) and np.all(q >= -1e-15)
    np.testing.assert_allclose(q.sum(axis=0), 1.0, atol=1e-14)
    if fit_intercept:
        np.testing.assert_allclose(a.sum(axis=1), 0.0, atol=1e-11)
    dual = -cost @ xlogy(q, q).sum(axis=0) - np.sum((Phi.T @ a.T) ** 2) / 2
    assert model.certificate_.dual == pytest.approx(dual, rel=1e-9)
    assert model.certificate_.dual <= dual
    assert model.certificate_.gap <= tol


@pytest.mark.parametrize("n_classes", range(3, 11))
def test_gaps_of_small_problems_reach_any_tolerance(n_classes):
    X, y, weight = table(n_classes, n=120, seed=n_classes)
    for C in (1e-3, 1e3):
        certificate = fit(X, y, weight, C=C, tol=1e-8).certificate_
        assert certificate.converged and certificate.rounding < 1e-9


def test_two_classes_are_the_binary_problem():
    X, y, weight = table(2)
    models = [
        StumpLogisticRegression(multi_class=way).fit(X, y, sample_weight=weight)
        for way in ("multinomial", "ovr")
    ]
    assert np.array_equal(*[model.decision_function(X) for model in models])
    assert models[0].certificate_ == models[1].certificate_


def test_probabilities_are_the_softmax_of_the_scores():
    X, y, _ = table(4)
    model = fit(X, y, tol=1e-3)
    scores = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X), softmax(scores, axis=1), rtol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X), log_softmax(scores, axis=1), rtol=1e-12)
    assert model.multi_class_ == "multinomial" and not isinstance(model.certificate_, list)


def test_weights_are_repetitions_and_class_weights_are_weights():
    X, y, _ = table(3)
    times = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = fit(X, y, times)
    repeated = fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-5
    )
    by_class = {0: 1.0, 1: 3.0, 2: 0.5}
    one = StumpLogisticRegression(
        multi_class="multinomial", measure="uniform", class_weight=by_class, tol=TIGHT
    ).fit(X, y)
    other = fit(X, y, np.vectorize(by_class.get)(y), measure="uniform")
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-5)


def mixed_design(fit_intercept=True):
    """Return a design with missing values, a category and interactions, and labels."""
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=(90, 2)), rng.integers(0, 5, 90)])
    X[rng.random(90) < 0.2, 0] = np.nan
    label = (np.nan_to_num(X[:, 0] * X[:, 1]) > 0.2).astype(int) + (X[:, 2] > 2)
    design = Design.from_rows(
        X,
        measure=as_measure("mixed"),
        max_bins=256,
        n_levels=[0, 0, 5],
        fit_intercept=fit_intercept,
        feature_range=None,
        sample_weight=None,
        n_threads=1,
    )
    return design.with_interactions([(0, 1), (1, 2)], max_cells=8, strength=0.3), label


def solve(design, label, **options):
    defaults = {"C": 3.0, "tol": 1e-10, "max_iter": 100, "n_threads": 1, "progress": no_progress}
    weight = np.ones(len(label))
    return solve_classes(design, label, 3, weight, **(defaults | options))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_scores_are_kernel_sums_of_the_dual_variables(fit_intercept):
    """The representer theorem, with interactions, a category and missing values.

    The gap is ``|v(a) - w|^2 / 2`` in the norm of the kernel.
    """
    design, label = mixed_design(fit_intercept)
    K = design.terms.kernel_matrix(design.packing, design.packing.codes)
    solutions = solve(design, label)
    a = np.array([solution.dual_coef for solution in solutions])
    scores = np.array([design.scores(s, np.arange(len(label))) for s in solutions])
    intercepts = np.array([[solution.intercept] for solution in solutions])
    certificate = solutions[0].certificate
    atol = np.sqrt(2 * (certificate.primal - certificate.dual) * np.diag(K).max())
    assert atol < 1e-3
    np.testing.assert_allclose(scores - intercepts, a @ K, rtol=0, atol=atol)
    q = softmax(scores, axis=0)
    np.testing.assert_allclose(a, 3.0 * ((np.arange(3)[:, None] == label) - q), atol=1e-9)


def test_threads_and_warm_starts_lead_to_the_same_solution():
    design, label = mixed_design()
    cold = solve(design, label)
    for warm in (
        solve(design, label, n_threads=3),
        solve(design, label, starts=solve(design, label, C=1.0)),
    ):
        assert warm[0].certificate.primal == pytest.approx(cold[0].certificate.primal, rel=1e-9)
        for one, other in zip(cold, warm, strict=True):
            np.testing.assert_allclose(one.weights, other.weights, atol=1e-4)


def test_a_class_without_rows_gets_a_low_probability():
    design, label = mixed_design()
    index = np.flatnonzero(label != 1)
    solutions = solve(design, label, index=index)
    p = softmax([design.scores(s, index) for s in solutions], axis=0)
    assert np.all(p[1] < 0.05) and np.all(p[1] > 0.0)
    assert solutions[0].certificate.converged and not solutions[1].dual_coef.any()
    assert sum(s.intercept for s in solutions) == pytest.approx(0.0, abs=1e-12)
    only = solve(design, label, index=np.flatnonzero(label == 2))
    p = softmax([design.scores(s, index) for s in only], axis=0)
    assert np.all(p[2] > 0.9) and only[0].certificate.converged


def test_cross_validation_with_a_class_that_folds_lack():
    X, y, _ = table(3, n=60)
    y[y == 2] = 1
    y[[5, 17]] = 2
    model = StumpLogisticRegressionCV(multi_class="multinomial", Cs=[0.1, 1.0], interactions=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer rows of a class than folds
        model.fit(X, y)
    assert np.all(np.isfinite(model.cv_results_["mean_test_score"]))
    assert model.predict_proba(X).shape == (60, 3)


@pytest.mark.slow
def test_the_path_chooses_c_and_interactions_by_the_softmax():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.5)
    model = StumpLogisticRegressionCV(multi_class="multinomial", tol=1e-3).fit(X, y)
    assert (0, 1) in model.interactions_ and model.certificate_.converged
    assert model.score(X, y) > 0.9
    fixed = StumpLogisticRegression(
        model.C_,
        multi_class="multinomial",
        measure=Weighted(model.measure_, model.feature_weights_),
        interactions=model.interactions_,
        interaction_strength=model.interaction_strength_,
        tol=1e-3,
    ).fit(X, y)
    np.testing.assert_allclose(fixed.predict_proba(X), model.predict_proba(X), atol=0.02)
    scores = [model.cv_results_[f"split{k}_test_score"] for k in range(5)]
    assert np.all(np.array(scores) < 0)  # log-probabilities


def test_fitting_in_chunks_is_the_same():
    X, y, weight = table(3)
    model = fit(X, y, weight, tol=1e-8)
    chunks = [(X[k::2], y[k::2], weight[k::2]) for k in range(2)]
    other = StumpLogisticRegression(multi_class="multinomial", tol=1e-8).fit_chunks(chunks)
    np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), atol=1e-4)


def test_it_is_the_default_for_more_than_two_classes():
    X, y, _ = table(3)
    for cls in (StumpLogisticRegression, StumpLogisticRegressionCV):
        assert cls().multi_class == "multinomial"
    default, joint = StumpLogisticRegression().fit(X, y), fit(X, y, tol=1e-3)
    assert default.multi_class_ == "multinomial"
    np.testing.assert_array_equal(default.decision_function(X), joint.decision_function(X))
    assert StumpLogisticRegression().fit(X, y > 1).multi_class_ == "ovr"


@pytest.mark.parametrize("cls", [StumpLogisticRegression, StumpLogisticRegressionCV])
def test_monotonic_curves_are_those_of_one_vs_rest(cls):
    X, y, _ = table(3)
    params = {} if cls is StumpLogisticRegression else {"Cs": [0.1, 1.0], "cv": 3}
    model = cls(monotonic_cst=[1, 0, 0, 0], **params).fit(X, y)
    other = cls(monotonic_cst=[1, 0, 0, 0], multi_class="ovr", **params).fit(X, y)
    assert (model.multi_class, model.multi_class_) == ("multinomial", "ovr")
    assert len(model.certificate_) == 3
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))
    if cls is StumpLogisticRegressionCV:
        np.testing.assert_array_equal(
            model.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
        )
    assert all(np.all(np.diff(shapes[0].values) >= 0) for shapes in model.shapes_)
    free = cls(monotonic_cst=[0, 0, 0, 0], **params).fit(X, y)
    assert free.multi_class_ == "multinomial"


def test_monotonic_scores_would_not_constrain_the_probabilities():
    """Adding an increasing function to the scores of all classes changes no probability."""
    X, y, _ = table(3)
    model = fit(X, y, tol=1e-3)
    x = np.sort(X[:, 0])
    scores = np.column_stack([shapes[0](x) for shapes in model.shapes_])
    falls = np.minimum(np.diff(scores, axis=0), 0.0).min(axis=1)
    rising = scores - np.append(0.0, np.cumsum(falls))[:, None]
    assert falls.min() < -0.01 and np.all(np.diff(rising, axis=0) >= -1e-12)
    np.testing.assert_allclose(softmax(rising, axis=1), softmax(scores, axis=1), rtol=1e-9)


def test_unknown_ways_and_mixed_merges_are_errors():
    X, y, _ = table(3)
    with pytest.raises(ValueError, match="multi_class"):
        StumpLogisticRegression(multi_class="auto").fit(X, y)
    model, other = fit(X, y, tol=1e-3), StumpLogisticRegression(multi_class="ovr").fit(X, y)
    with pytest.raises(ValueError, match=r"models\[1\] has the multi_class 'ovr'"):
        everystump.merge([model, other])


def test_votes_merges_and_edits_keep_the_softmax():
    X, y, _ = table(3)
    members = [fit(X[k::2], y[k::2], tol=1e-3) for k in range(2)]
    merged = everystump.merge(members, weights=[1, 1])
    mean = np.mean([member.decision_function(X) for member in members], axis=0)
    np.testing.assert_allclose(merged.predict_proba(X), softmax(mean, axis=1), rtol=1e-9)
    vote = everystump.SubsampleVotingClassifier(
        StumpLogisticRegression(multi_class="multinomial"), n_estimators=2, random_state=0
    ).fit(X, y)
    mean = np.mean([e.decision_function(X) for e in vote.estimators_], axis=0)
    np.testing.assert_allclose(vote.predict_proba(X), softmax(mean, axis=1), rtol=1e-9)
    constrained = everystump.SubsampleVotingClassifier(
        StumpLogisticRegression(monotonic_cst=[1, 0, 0, 0]), n_estimators=2, random_state=0
    ).fit(X, y)
    mean = np.mean([e.decision_function(X) for e in constrained.estimators_], axis=0)
    separate = expit(mean)
    expected = separate / separate.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(constrained.predict_proba(X), expected, rtol=1e-9)
    edited = members[0].remove_feature(0)
    scores = edited.decision_function(X)
    np.testing.assert_allclose(edited.predict_proba(X), softmax(scores, axis=1), rtol=1e-12)


@pytest.mark.parametrize("C", [2.0**17, 2.0**18, 2.0**20, 2.0**21])
def test_nearly_certain_probabilities(C):
    """The curvature of a common shift of the scores is 0, not a rounding error."""
    X = [[1, 1, 1], [2, 0, 2], [0, 0, 1], [2, 2, 2]]
    model = StumpLogisticRegression(C).fit(X, [2, 2, 1, 0])
    assert model.certificate_.converged
    assert model.n_iter_ < 50


def test_steps_of_intercepts_are_exact_near_certainty():
    """Two pairs of classes: the curvature between them is 1e-25 of that within them."""
    coupling = np.array([[0, 3, 1e-25, 0], [3, 0, 0, 2e-25], [1e-25, 0, 0, 5], [0, 2e-25, 5, 0]])
    curvature = np.diag(coupling.sum(axis=1)) - coupling
    # A difference of 1 between the pairs, and small ones within them.
    expected = np.array([0.0, 1e-3, 1.0, 1.002])
    difference = expected[:, None] - expected
    imbalance = np.array([math.fsum(row) for row in coupling * difference])
    step = balancing_step(curvature, imbalance)
    # Rounding of the imbalance decides about the difference between the pairs.
    np.testing.assert_allclose(np.diff(step)[[0, 2]], [1e-3, 2e-3], rtol=1e-12)
    assert np.isfinite(step).all()
    connected = np.array([[0, 1e-20, 0], [1e-20, 0, 4.0], [0, 4.0, 0]])
    imbalance = np.array([-2e-20, 2e-20 - 4.0, 4.0])
    step = balancing_step(np.diag(connected.sum(axis=1)) - connected, imbalance)
    np.testing.assert_allclose(step[2] - step[1], 1.0, rtol=1e-12)
    certain = balancing_step(np.zeros((3, 3)), np.array([1.0, -1.0, 0.0]))
    assert certain[1] == -1e100  # the length is damped afterwards


@pytest.mark.parametrize("n_classes", [3, 4, 9])
def test_weights_of_samples_over_many_decades(n_classes):
    """Some classes are then certain everywhere, and only the intercepts can change that."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = np.round(2 * rng.normal(size=(24, 3)))
        y = np.append(np.arange(n_classes), rng.integers(n_classes, size=24 - n_classes))
        weight = 10.0 ** rng.uniform(-7, 7, size=24)
        model = StumpLogisticRegression(max_iter=100).fit(X, y, sample_weight=weight)
        assert model.certificate_.converged
