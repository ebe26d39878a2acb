"""Leave-one-out bounds of machines and ensembles, against errors found by brute force."""

import numpy as np
import pandas as pd
import pytest
from leave_out import (
    PLAIN,
    as_signs,
    error_by_hand,
    margins_by_hand,
    rows,
    vote,
    vote_margins_by_hand,
)
from oracles import seeds
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel

from everystump import KernelSVC, StumpSVC, SubsampleVotingClassifier
from everystump._core.kernel_machines.leave_one_out import leave_one_out
from everystump._core.kernel_machines.problem import LOSSES, KernelProblem
from everystump.bounds import (
    det_loo_bound,
    det_loo_error,
    ensemble_margin_bound,
    loo_bound,
    loo_error,
    measured_stability,
    radius_margin_bound,
    soft_margin_loss,
)

KERNELS = ["gaussian", "laplacian", "linear"]


# Lemma 3.1, and the errors themselves


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("seed", seeds(3))
def test_leaving_a_row_out_lowers_its_margin_by_at_most_its_influence(loss, kernel, C, seed):
    """Lemma 3.1; the margin of a row with a negative dual variable rises when it is left out."""
    X, y = rows(seed)
    machine = KernelSVC(kernel, C=C, gamma=0.5, loss=loss, fit_intercept=False, tol=1e-11)
    model = clone(machine).fit(X, y)
    square = model.expansion_.kernel.matrix(X, X)
    sign, before = as_signs(y), as_signs(y) * model.decision_function(X)
    a = sign * model.dual_coef_
    after = margins_by_hand(machine, X, y)
    slack = 1e-4 * (1 + np.abs(before).max())
    assert np.all(after >= before - np.maximum(a, 0) * np.diag(square) - slack)
    np.testing.assert_allclose(after[a == 0], before[a == 0], atol=slack)
    problem = KernelProblem(sign, LOSSES[loss](np.full(16, C)), False, 1e-9, 1000)
    left_out = leave_one_out(square, problem, a, before, np.arange(16))
    found = {row: margins[row] for row, margins in left_out}
    assert sorted(found) == np.flatnonzero(a).tolist()
    np.testing.assert_allclose(list(found.values()), after[a != 0], atol=slack)


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_leave_one_out_error_is_that_of_refits(loss, fit_intercept):
    for seed in range(2):
        X, y = rows(seed)
        machine = KernelSVC(C=2.0, gamma=0.5, loss=loss, fit_intercept=fit_intercept, tol=1e-9)
        margins, model = margins_by_hand(machine, X, y), clone(machine).fit(X, y)
        for delta in (0.0, 0.5, 2.0):
            found = loo_error(model, X, y, delta=delta)
            assert found == pytest.approx(error_by_hand(margins, delta), abs=1e-4)


def test_any_classifier_has_a_leave_one_out_error():
    X, y = rows(1, n=24)
    for machine in (LogisticRegression(), StumpSVC(fit_intercept=False)):
        margins = margins_by_hand(machine, X, y)
        for delta in (0.0, 1.0):
            found = loo_error(clone(machine).fit(X, y), X, y, delta=delta)
            assert found == pytest.approx(error_by_hand(margins, delta), abs=1e-9)


def test_an_ensemble_draws_new_subsamples_for_each_row_left_out():
    """Eq. 6: subsamples of the same size, from the other rows."""
    X, y = rows(2)
    model = vote(X, y)
    again = clone(model).set_params(subsample=9)
    expected = error_by_hand(margins_by_hand(again, X, y), 0.0)
    assert len(model.estimators_samples_[0]) == 9
    assert loo_error(model, X, y) == expected


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("outputs", ["scores", "votes"])
def test_the_det_leave_one_out_error_is_that_of_refits(fit_intercept, outputs):
    for seed in range(2):
        X, y = rows(seed)
        machine = KernelSVC(C=2.0, gamma=0.5, fit_intercept=fit_intercept, tol=1e-9)
        model = vote(X, y, machine, outputs=outputs, weights=[0.15, 0.2, 0.25, 0.4])
        margins = vote_margins_by_hand(model, X, y)
        for delta in (0.0, 0.7):
            found = det_loo_error(model, X, y, delta=delta)
            assert found == pytest.approx(error_by_hand(margins, delta), abs=1e-4)


def test_the_det_leave_one_out_error_of_any_members():
    X, y = rows(3)
    model = vote(X, y, LogisticRegression())
    expected = error_by_hand(vote_margins_by_hand(model, X, y), 0.5)
    assert det_loo_error(model, X, y, delta=0.5) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_least_squares_without_a_row_has_a_closed_form(C):
    """``1 - y_i f_i(x_i) = a_i / (A^-1)_ii`` with ``A = K + I / 2C``."""
    X, y = rows(4)
    sign = as_signs(y)
    model = KernelSVC(C=C, gamma=0.5, loss="least_squares", fit_intercept=False, tol=1e-12)
    inverse = np.linalg.inv(rbf_kernel(X, gamma=0.5) + np.eye(16) / (2 * C))
    margins = 1 - sign * (inverse @ sign) / np.diag(inverse)
    for delta in (0.0, 1.0, 3.0):
        found = loo_error(model.fit(X, y), X, y, delta=delta)
        assert found == pytest.approx(error_by_hand(margins, delta), abs=1e-5)


def test_soft_margins_lie_between_errors_and_margins():
    m = np.array([-2.0, -0.0, 0.1, 0.5, 1.0, 7.0])
    np.testing.assert_allclose(soft_margin_loss(m, 0.0), [1, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(soft_margin_loss(m, 0.5), [1, 1, 0.8, 0, 0, 0])


# Theorems 3.1 and 3.3


@pytest.mark.parametrize("seed", seeds(10))
def test_no_leave_one_out_error_exceeds_its_bound(seed):
    """Machines and ensembles of all kernels, losses with ``a >= 0``, weights and costs."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        X, y = rows(rng.integers(10**6), n=int(rng.integers(6, 14)))
        machines = [
            KernelSVC(
                rng.choice(KERNELS),
                C=10.0 ** rng.uniform(-2, 1.5),
                gamma=10.0 ** rng.uniform(-1, 1),
                loss=rng.choice(["hinge", "squared_hinge"]),
                fit_intercept=False,
                tol=1e-9,
            )
            for _ in range(2)
        ]
        weights = rng.dirichlet(np.ones(3))
        model = vote(X, y, machines, n_estimators=3, weights=weights, subsample=0.7)
        bound = det_loo_bound(model, X, y)
        rarest = min(np.bincount(y[own]).min() for own in model.estimators_samples_)
        assert bound.holds == (rarest > 1)
        assert det_loo_error(model, X, y, n_jobs=1) <= bound.value
        assert bound.value <= ensemble_margin_bound(model, X, y).value + 1e-9
        alone = machines[0].fit(X, y)
        assert loo_error(alone, X, y) <= loo_bound(alone, X, y).value


def test_the_bound_holds_for_an_ensemble_of_least_squares():
    """A row beyond the margin has ``a < 0`` in one machine, which must not offset the other."""
    X = np.array([[4.0, 0.0]] + [[1.0, 5.0]] * 10 + [[-1.0, 0.0]] * 10)
    y = np.array([1] * 11 + [0] * 10)
    common = {"gamma": 1.0, "loss": "least_squares", "fit_intercept": False, "tol": 1e-10}
    machines = [KernelSVC("linear", **common), KernelSVC(**common)]
    parameters = {"n_estimators": 2, "subsample": 1.0, "weights": [0.1, 0.9]}
    model = vote(X, y, machines, feature_subsets=[[0], [1]], **parameters)
    assert det_loo_error(model, X, y) == pytest.approx(1 / 21)
    bound = det_loo_bound(model, X, y)
    assert bound.holds and bound.value >= 1 / 21


def test_lemma_and_bound_are_tight_for_orthogonal_rows():
    """``K = I``: the score of a row that is left out is 0, which is ``y f - a K``."""
    y = np.arange(6) % 2
    model = KernelSVC("precomputed", C=0.5, fit_intercept=False, tol=1e-12).fit(np.eye(6), y)
    np.testing.assert_allclose(as_signs(y) * model.training_scores_, 0.5)
    assert loo_bound(model, np.eye(6), y).value == 1.0
    assert loo_error(model, np.eye(6), y, delta=1e-6) == 1.0
    assert measured_stability(model, np.eye(6), y) == pytest.approx(0.5)


def test_the_bound_is_the_fraction_of_rows_that_may_be_wrong():
    X, y = rows(5)
    model = vote(X, y)
    influence = np.zeros(16)
    for machine, own in zip(model.estimators_, model.estimators_samples_, strict=True):
        influence[own] += np.abs(machine.dual_coef_) / 4
    may_be_wrong = influence > as_signs(y) * model.decision_function(X)
    assert det_loo_bound(model, X, y).value == may_be_wrong.mean()


@pytest.mark.parametrize("n_classes", [3, 4])
def test_with_several_classes_the_bound_is_above_the_error(n_classes):
    for seed in range(5):
        X, y = rows(seed, n=20, n_classes=n_classes)
        rest = [np.delete(np.arange(20), i) for i in range(20)]
        wrong = [
            clone(PLAIN).fit(X[r], y[r]).predict(X[[i]])[0] != y[i] for i, r in enumerate(rest)
        ]
        bound = loo_bound(clone(PLAIN).fit(X, y), X, y)
        assert np.mean(wrong) <= bound.value
        assert bound.holds


# Radius, margin and delta


@pytest.mark.parametrize("seed", seeds(8))
def test_the_radius_margin_bound_is_above_the_others(seed):
    """Eq. 9: leave-one-out error, its bound, ``d^2 / (n rho^2)``."""
    X, y = rows(seed)
    model = KernelSVC(C=1e6, gamma=2.0, fit_intercept=False, tol=1e-9).fit(X, y)
    bound = radius_margin_bound(model, X, y)
    own = model.dual_coef_
    norm = own @ rbf_kernel(X, gamma=2.0) @ own
    assert bound.value == pytest.approx(norm / 16, rel=1e-4)
    assert bound.holds
    assert bound.vacuous == (bound.value >= 1)
    assert loo_error(model, X, y) <= loo_bound(model, X, y).value <= bound.value + 1e-6


@pytest.mark.parametrize("seed", seeds(5))
def test_the_radius_margin_bound_of_an_ensemble_is_a_mean(seed):
    """Corollary 3.2."""
    X, y = rows(seed)
    model = vote(X, y, KernelSVC(C=1e6, gamma=2.0, fit_intercept=False, tol=1e-8))
    short = np.mean(as_signs(y) * model.decision_function(X) < 0.99)
    norms = [np.abs(machine.dual_coef_).sum() for machine in model.estimators_]
    bound = radius_margin_bound(model, X, y)
    assert bound.value == pytest.approx(short + np.mean(norms) / 16, rel=1e-3)
    assert det_loo_error(model, X, y) <= det_loo_bound(model, X, y).value
    assert det_loo_error(model, X, y) <= bound.value
    assert bound.holds and "Corollary 3.2" in bound.reference


def test_the_radius_margin_bound_needs_separating_machines():
    X, y = rows(0)
    assert not radius_margin_bound(clone(PLAIN).fit(X, y), X, y).holds
    squared = KernelSVC(C=1e6, gamma=2.0, loss="squared_hinge", fit_intercept=False).fit(X, y)
    assert not radius_margin_bound(squared, X, y).holds


def margin_bound_by_hand(model, X, y, delta):
    """Eq. 11 as printed, for a Gaussian kernel: d = 1 if there is a support vector."""
    above = as_signs(y) * model.decision_function(X) >= delta
    total = 0.0
    for machine, own in zip(model.estimators_, model.estimators_samples_, strict=True):
        total += np.abs(machine.dual_coef_)[above[own]].sum() / len(model.estimators_)
    return np.mean(~above) + total / (len(y) * delta)


@pytest.mark.parametrize("seed", seeds(5))
def test_the_margin_bound_of_every_delta_and_its_minimum(seed):
    """Corollary 3.1: above Theorem 3.3 for every delta, with its minimum at a margin."""
    X, y = rows(seed)
    model = vote(X, y)
    margins = as_signs(y) * model.decision_function(X)
    deltas = np.append(np.linspace(0.01, 1.5, 200), margins[margins > 0] * (1 - 1e-12))
    by_hand = np.array([margin_bound_by_hand(model, X, y, d) for d in deltas])
    found = [ensemble_margin_bound(model, X, y, delta=d).value for d in deltas[:200:10]]
    np.testing.assert_allclose(found, by_hand[:200:10])
    least = ensemble_margin_bound(model, X, y).value
    assert least == pytest.approx(min(by_hand.min(), 1.0))
    assert det_loo_bound(model, X, y).value <= least + 1e-12


@pytest.mark.parametrize("seed", seeds(20))
def test_the_bounds_hold_at_the_default_tolerance(seed):
    X, y = rows(seed, n=40)
    machine = KernelSVC(C=0.5, gamma=0.5, fit_intercept=False)
    model = clone(machine).fit(X, y)
    assert loo_error(model, X, y) <= loo_bound(model, X, y).value
    many = vote(X, y, machine)
    assert det_loo_error(many, X, y) <= det_loo_bound(many, X, y).value


def test_processes_compute_the_same_error():
    X, y = rows(3, n=40)
    model = clone(PLAIN).fit(X, y)
    for delta in (0.0, 0.5):
        assert loo_error(model, X, y, delta=delta, n_jobs=2) == loo_error(model, X, y, delta=delta)


def test_an_ensemble_of_ensembles_is_refitted():
    X, y = rows(0, n=20)
    inner = SubsampleVotingClassifier(PLAIN, n_estimators=3, subsample=0.8, random_state=0)
    model = vote(X, y, inner, n_estimators=2, subsample=0.9)
    margins = vote_margins_by_hand(model, X, y)
    for delta in (0.0, 0.5):
        found = det_loo_error(model, X, y, delta=delta)
        assert found == pytest.approx(error_by_hand(margins, delta), abs=1e-6)


def test_frames_keep_their_column_names_in_refits():
    X, y = rows(1)
    frame = pd.DataFrame(X, columns=["a", "b"])
    for machine in (PLAIN, StumpSVC(n_jobs=1)):
        expected = loo_error(clone(machine).fit(X, y), X, y)
        assert loo_error(clone(machine).fit(frame, y), frame, y) == expected
    by_names = vote(frame, y, feature_subsets=[["a"], ["a", "b"]])
    by_numbers = vote(X, y, feature_subsets=[[0], [0, 1]])
    assert det_loo_error(by_names, frame, y) == det_loo_error(by_numbers, X, y)
    assert loo_error(by_names, frame, y) == loo_error(by_numbers, X, y)


def test_subsamples_of_all_rows_lose_the_left_out_row():
    X, y = rows(2)
    model = vote(X, y, subsample=1.0)
    assert loo_error(model, X, y) == error_by_hand(margins_by_hand(PLAIN, X, y), 0.0)


def test_only_ensembles_assume_fixed_weights():
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1], 6)
    machine = KernelSVC(C=1.0, gamma=0.1, fit_intercept=False)
    fixed = "fixed weights of the machines"
    assert fixed not in loo_bound(machine.fit(X, y), X, y).assumptions
    several = SubsampleVotingClassifier(machine, n_estimators=3, random_state=0).fit(X, y)
    assert fixed in det_loo_bound(several, X, y).assumptions
