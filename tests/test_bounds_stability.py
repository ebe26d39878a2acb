"""Stability, the bounds that follow from it, and which models the bounds are for."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from bad_tables import assert_invalid
from leave_out import (
    PLAIN,
    as_signs,
    error_by_hand,
    margins_by_hand,
    rows,
    vote,
    vote_margins_by_hand,
)
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from everystump import KernelSVC, LooBoundSearch, StumpSVC, StumpSVCCV
from everystump.bounds import (
    combining_helps,
    det_loo_bound,
    det_loo_error,
    ensemble_margin_bound,
    loo_bound,
    loo_error,
    measured_stability,
    radius_margin_bound,
    stability_bound,
    uniform_stability,
    validation_bound,
)
from everystump.datasets import load_dataset

BOUNDS = [
    loo_bound,
    det_loo_bound,
    ensemble_margin_bound,
    radius_margin_bound,
    stability_bound,
]
X0, Y0 = rows(0)

# Stability


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
@pytest.mark.parametrize("C", [0.02, 0.3, 5.0])
def test_no_score_changes_by_more_than_the_stability(kernel, C):
    for seed in range(5):
        X, y = rows(seed)
        model = KernelSVC(kernel, C=C, gamma=0.5, fit_intercept=False, tol=1e-9).fit(X, y)
        beta = uniform_stability(model, X, y)
        assert beta == C
        assert measured_stability(model, X, y) <= beta + 1e-6
        whole = vote(X, y, model, subsample=1.0)
        assert measured_stability(whole, X, y) <= uniform_stability(whole, X, y) + 1e-6


@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares"])
def test_squared_losses_change_scores_by_more_than_c_kappa(loss):
    X, y = np.array([[0.0], [9.0]]), np.array([0, 1])
    model = KernelSVC(C=0.1, gamma=1.0, loss=loss, fit_intercept=False).fit(X, y)
    assert measured_stability(model, X, y) == pytest.approx(0.2 / 1.2)  # more than 0.1


def test_measured_stability_is_the_largest_change_of_a_score():
    X, y = rows(6)
    model = clone(PLAIN).fit(X, y)
    before = model.decision_function(X)
    rest = [np.delete(np.arange(16), i) for i in range(16)]
    after = [clone(PLAIN).fit(X[r], y[r]).decision_function(X) for r in rest]
    expected = np.abs(np.array(after) - before).max()
    assert measured_stability(model, X, y) == pytest.approx(expected, abs=1e-4)


def test_two_rows_contradict_the_papers_constant():
    """Far apart, each changes its own score by C when it is left out, twice the paper's beta."""
    X, y = np.array([[0.0], [9.0]]), np.array([0, 1])
    model = KernelSVC(C=0.1, gamma=1.0, fit_intercept=False).fit(X, y)
    assert uniform_stability(model, X, y, constants="paper") == 0.05
    assert measured_stability(model, X, y) == pytest.approx(0.1)


@pytest.mark.parametrize("error", ["loo-bound", "loo", "empirical"])
@pytest.mark.parametrize("constants", ["proven", "paper"])
@pytest.mark.parametrize("share", [None, 0.5])
def test_stability_bounds_are_their_formulas(error, constants, share):
    X, y = rows(6)
    delta, eta, C, n = 0.7, 0.1, 0.5, 16
    model = clone(PLAIN).fit(X, y) if share is None else vote(X, y, subsample=share)
    margin = as_signs(y) * model.decision_function(X)
    if share is None:
        influence, left = np.abs(model.dual_coef_), margins_by_hand(PLAIN, X, y)
    else:
        influence, left = np.zeros(n), vote_margins_by_hand(model, X, y)
        for machine, own in zip(model.estimators_, model.estimators_samples_, strict=True):
            influence[own] += np.abs(machine.dual_coef_) / 4
    margins = {"loo-bound": margin - influence, "loo": left, "empirical": margin}[error]
    beta = C * (share or 1.0) * (1.0 if constants == "proven" else 0.5)
    once, times = (beta / delta, 4) if constants == "proven" else (beta, 2)
    expected = error_by_hand(margins, delta) + once * (2 if error == "empirical" else 1)
    expected += (times * n * beta / delta + 1) * np.sqrt(np.log(1 / eta) / (2 * n))
    bound = stability_bound(model, X, y, delta=delta, eta=eta, error=error, constants=constants)
    assert bound.value == pytest.approx(expected, abs=1e-4)
    assert bound.holds == (constants == "proven" and share is None)
    assert bound.vacuous
    assert ("5.1" if share is None else "5.2") in bound.reference


def test_the_papers_form_of_theorem_5_2():
    """``sqrt(r^2 / 2n (2 beta / delta + 1 / r)^2 log(1 / eta))`` with ``beta = C kappa / 2``."""
    X, y = rows(8)
    model = vote(X, y, subsample=8)
    observed = error_by_hand(as_signs(y) * model.decision_function(X), 1.0)
    beta, r, n = 0.25, 8, 16
    deviation = np.sqrt(r**2 / (2 * n) * (2 * beta + 1 / r) ** 2 * np.log(1 / 0.05))
    bound = stability_bound(model, X, y, error="empirical", constants="paper")
    assert bound.value == pytest.approx(observed + 2 * r / n * beta + deviation)
    mixed = vote(X, y, [PLAIN, KernelSVC("linear", fit_intercept=False)])
    assert "5.3" in stability_bound(mixed, X, y).reference


def test_combining_helps_if_subsamples_are_not_much_less_stable():
    """Corollary 5.1."""
    assert combining_helps(0.5, 0.5, r=40, n_rows=100)
    assert not combining_helps(0.4, 1.0, r=40, n_rows=100)
    assert combining_helps(0.41, 1.0, r=40, n_rows=100)
    with pytest.raises(ValueError, match=r"r=101 must be an integer from 1 to n_rows=100"):
        combining_helps(0.5, 0.5, r=101, n_rows=100)


# Validation


@pytest.fixture(params=["machine", "vote", "stumps"])
def fitted(request):
    if request.param == "vote":
        return vote(X0, Y0, subsample=1.0)
    return clone({"machine": PLAIN, "stumps": StumpSVC()}[request.param]).fit(X0, Y0)


def test_the_validation_bound_holds_on_rows_other_than_training_rows(fitted):
    assert not validation_bound(fitted, X0, Y0).holds
    assert validation_bound(fitted, X0 + 0.1, Y0).holds


# Supported models and assumptions

NOT_PROVEN = {
    "an intercept": {"fit_intercept": True},
    "gamma of the rows": {"gamma": "scale"},
    "ranges of the rows": {"kernel": "stump"},
    "middles of the rows": {"kernel": "middle"},
    "radius of the rows": {"kernel": "perceptron"},
}


@pytest.mark.parametrize("parameters", NOT_PROVEN.values(), ids=NOT_PROVEN)
@pytest.mark.parametrize("bound", BOUNDS)
def test_violated_assumptions_are_reported(parameters, bound):
    machine = clone(PLAIN).set_params(C=1e5, **parameters)
    expected = "no intercept" if "fit_intercept" in parameters else "kernels and costs that do not"
    models = [clone(machine).fit(X0, Y0)]
    if bound is not loo_bound:
        models.append(vote(X0, Y0, machine))
    for model in models:
        found = bound(model, X0, Y0)
        assert not found.holds
        assert any(text.startswith(expected) for text in found.assumptions)
        assert "Evgeniou" in found.reference


UNPROVEN = {
    "costs of the rows": clone(PLAIN).set_params(class_weight="balanced"),
    "C of the rows": StumpSVCCV(
        Cs=[0.01, 0.1], measure="uniform", feature_range=(-9, 9), fit_intercept=False, n_jobs=1
    ),
}


@pytest.mark.parametrize("model", UNPROVEN.values(), ids=UNPROVEN)
def test_machines_outside_the_theorems_have_violations(model):
    assert not loo_bound(clone(model).fit(X0, Y0), X0, Y0).holds


def test_a_machine_that_has_not_converged_has_a_violation():
    model = clone(PLAIN).fit(X0, Y0)
    assert loo_bound(model, X0, Y0).holds
    model.certificate_ = replace(model.certificate_, converged=False)
    assert not loo_bound(model, X0, Y0).holds


def test_a_stump_ensemble_with_a_fixed_kernel_has_a_bound_that_holds():
    model = StumpSVC(0.01, measure="uniform", feature_range=(-9, 9), fit_intercept=False, n_jobs=1)
    assert loo_bound(model.fit(X0, Y0), X0, Y0).holds


def test_an_ensemble_with_learned_weights_records_its_training_rows():
    model = vote(X0, Y0, combine="svm")
    assert not validation_bound(model, X0, Y0).holds
    assert validation_bound(model, X0 + 0.1, Y0).holds
    search = LooBoundSearch(PLAIN, {"C": [0.1]}).fit(X0, Y0)
    assert not validation_bound(search, X0, Y0).holds


@pytest.mark.parametrize(
    "weight", [[1.0, 2.0], -np.ones(90), np.zeros(90), np.full(90, np.nan), "a"]
)
def test_invalid_sample_weight(weight):
    model = clone(PLAIN).fit(X0, Y0)
    assert_invalid(
        lambda: loo_bound(model, X0, Y0, sample_weight=weight), "sample_weight.* must be one number"
    )


def test_a_finite_ensemble_is_not_the_expected_one():
    found = stability_bound(vote(X0, Y0), X0, Y0)
    assert not found.holds
    assert any("is not known, and subsamples" in text for text in found.assumptions)
    assert stability_bound(vote(X0, Y0, subsample=1.0), X0, Y0).holds
    assert not stability_bound(
        vote(X0, Y0, subsample=1.0, weights=[0.1, 0.2, 0.3, 0.4]), X0, Y0
    ).holds


def test_stability_needs_a_bounded_kernel():
    model = clone(PLAIN).set_params(kernel="linear").fit(X0, Y0)
    assert loo_bound(model, X0, Y0).holds
    assert not stability_bound(model, X0, Y0).holds


@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares"])
def test_stability_rejects_squared_losses(loss):
    model = clone(PLAIN).set_params(loss=loss).fit(X0, Y0)
    for function in (uniform_stability, stability_bound):
        assert_invalid(
            partial(function, model, X0, Y0), "squared loss .* hinge or the logistic loss"
        )


def test_a_kernel_without_gamma_does_not_depend_on_the_data():
    """Alone and in an ensemble, whatever its unused gamma is."""
    machine = KernelSVC("linear", fit_intercept=False)
    assert loo_bound(clone(machine).fit(X0, Y0), X0, Y0).holds
    assert det_loo_bound(vote(X0, Y0, machine), X0, Y0).holds


def test_stumps_in_a_given_range_do_not_depend_on_the_data():
    params = {"measure": "lebesgue", "feature_range": (-9, 9)}
    machine = StumpSVC(fit_intercept=False, tol=1e-8, **params)
    found = loo_bound(machine.fit(X0, Y0), X0, Y0)
    assert found.holds
    refits = margins_by_hand(machine, X0, Y0)
    assert error_by_hand(refits, 0.0) <= found.value
    assert not loo_bound(StumpSVC(fit_intercept=False).fit(X0, Y0), X0, Y0).holds


@pytest.mark.parametrize("bound", [*BOUNDS, uniform_stability])
def test_unsupported_models_are_rejected_with_the_supported_ones(bound):
    assert_invalid(
        lambda: bound(LogisticRegression().fit(X0, Y0), X0, Y0),
        rf"is not a kernel machine; {bound.__name__} is for a fitted KernelSVC or StumpSVC, or a "
        r"SubsampleVotingClassifier of them",
    )
    for parameters, match in (
        ({"outputs": "votes"}, rf'outputs="votes" combines signs, but {bound.__name__} is for'),
        ({"combine": "svm"}, r'combine="svm" learns the weights .*use combine="mean", or validat'),
        (
            {"estimator": LogisticRegression()},
            r"not a kernel machine, .* votes of KernelSVC",
        ),
    ):
        model = vote(X0, Y0, **parameters)
        assert_invalid(lambda model=model: bound(model, X0, Y0), match)


def test_bounds_of_a_single_machine_point_to_those_of_ensembles():
    assert_invalid(lambda: loo_bound(vote(X0, Y0), X0, Y0), r"single machine.* use det_loo_bound")
    assert_invalid(
        lambda: det_loo_error(clone(PLAIN).fit(X0, Y0), X0, Y0),
        r"an ensemble with fixed weights; det_loo_error is for .*, loo_error for any classifier",
    )


@pytest.mark.parametrize(
    "bound", [ensemble_margin_bound, radius_margin_bound, stability_bound, uniform_stability]
)
def test_several_classes_are_rejected(bound):
    X, y = rows(0, n_classes=3)
    assert_invalid(
        lambda: bound(clone(PLAIN).fit(X, y), X, y), rf"has 3 classes, but {bound.__name__} is for"
    )


@pytest.mark.parametrize("bound", [det_loo_bound, stability_bound, ensemble_margin_bound])
def test_other_data_is_rejected(bound, fitted):
    for X, y in ((X0 + 0.1, Y0), (X0[::-1], Y0[::-1]), (X0[:-1], Y0[:-1]), (X0, 1 - Y0)):
        assert_invalid(lambda X=X, y=y: bound(fitted, X, y), r"must be the data that")


def test_errors_reject_data_of_another_length():
    assert_invalid(lambda: det_loo_error(vote(X0, Y0), X0[:9], Y0[:9]), r"must be the data that")


def test_sample_weights_count_in_the_bound():
    weight = np.where(np.arange(16) % 4 == 0, 0.0, 1.0 + np.arange(16) % 3)
    model = clone(PLAIN).fit(X0, Y0, sample_weight=weight)
    margin = as_signs(Y0) * model.decision_function(X0)
    counted = np.abs(model.dual_coef_) > margin
    found = loo_bound(model, X0, Y0, sample_weight=weight).value
    assert found == pytest.approx(np.average(counted, weights=weight))


BAD = {
    "delta": (lambda m: loo_error(m, X0, Y0, delta=-1), r"delta=-1 must be a finite number, 0 or"),
    "delta 0": (
        lambda m: ensemble_margin_bound(m, X0, Y0, delta=0),
        r"delta=0 is not allowed here",
    ),
    "no delta": (
        lambda m: stability_bound(m, X0, Y0, delta=0),
        r"delta=0 is not allowed here; pass a positive",
    ),
    "eta": (lambda m: stability_bound(m, X0, Y0, eta=1), r"eta=1 must be a number between 0 and 1"),
    "error": (lambda m: stability_bound(m, X0, Y0, error="x"), r"error='x' must be one of"),
    "constants": (lambda m: uniform_stability(m, X0, Y0, constants="x"), r"constants='x' must be"),
    "three classes": (
        lambda m: loo_error(m, X0, np.arange(16) % 3),
        r"3 classes .* one label per sample",
    ),
    "candidates": (lambda m: validation_bound(m, X0, Y0, n_candidates=0), r"n_candidates=0 must"),
    "validation eta": (lambda m: validation_bound(m, X0, Y0, eta=0), r"eta=0 must be a number"),
    "no classifier": (
        lambda m: validation_bound(3, X0, Y0),
        r"fitted=3 is not a fitted classifier",
    ),
}


@pytest.mark.parametrize(("call", "match"), BAD.values(), ids=BAD)
def test_bad_input(call, match):
    model = clone(PLAIN).fit(X0, Y0)
    assert_invalid(lambda: call(model), match)


# Results of the paper


def test_bagging_tightens_the_bound_on_real_data():
    """Section 4 on the heart data, C = 0.5, no intercept: bound minus test error.

    The vote's bound is nearer to its test error at every sigma's mean and by a third in all.
    """
    X, y = load_dataset("heart", return_X_y=True)
    X = scale(X)
    one, many = np.zeros((4, 5)), np.zeros((4, 5))
    for k, sigma in enumerate((2.0, 3.5, 6.0, 10.0)):
        machine = KernelSVC(C=0.5, gamma=1 / (2 * sigma**2), fit_intercept=False)
        for split in range(5):
            own, new, own_y, new_y = train_test_split(X, y, test_size=100, random_state=split)
            alone = clone(machine).fit(own, own_y)
            bagged = vote(own, own_y, machine, n_estimators=30, subsample=0.4, random_state=split)
            one[k, split] = loo_bound(alone, own, own_y).value - (1 - alone.score(new, new_y))
            many[k, split] = det_loo_bound(bagged, own, own_y).value - (
                1 - bagged.score(new, new_y)
            )
    assert np.all(many.mean(axis=1) < one.mean(axis=1))
    assert np.abs(many).mean() < np.abs(one).mean() * 2 / 3
