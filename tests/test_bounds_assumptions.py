"""Bounds that hold are above the true error; all others list a violated assumption."""

import sys
from contextlib import contextmanager

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from leave_out import PLAIN, as_signs, margins_by_hand, rows, vote
from oracles import seeds
from sklearn.base import clone

from everystump import (
    DecisionStumpClassifier,
    KernelSVC,
    StumpLogisticRegression,
    StumpSVC,
    SubsampleVotingClassifier,
)
from everystump._core.measures import Lebesgue
from everystump.bounds import (
    det_loo_bound,
    det_loo_error,
    ensemble_margin_bound,
    loo_bound,
    loo_error,
    measured_stability,
    radius_margin_bound,
    stability_bound,
)

KNOWN = {"feature_range": (-9, 9), "fit_intercept": False, "tol": 1e-9, "n_jobs": 1}
X0, Y0 = rows(0)
WITH_LEVELS = np.column_stack([np.arange(16.0) % 3, X0])
WITH_MISSING = np.where(np.arange(32).reshape(16, 2) == 7, np.nan, X0)
DATA_DEPENDENT = {
    "categories": ({"categorical_features": [0]}, WITH_LEVELS, "0: the levels of a category"),
    "missing values": (
        {},
        WITH_MISSING,
        "1: a missing value counts as the median of the training samples",
    ),
    "ranges": ({"feature_range": None}, X0, "feature_range=None"),
    "bins": ({"max_bins": 3}, X0, "max_bins"),
    "masses": ({"measure": "rank"}, X0, "measure='rank'"),
    "a density": ({"measure": lambda a: 1 + a**2}, X0, "scores between training samples are"),
    "balanced costs": ({"class_weight": "balanced"}, X0, 'class_weight="balanced"'),
    "an intercept": ({"fit_intercept": True}, X0, "fit_intercept=True"),
}


@pytest.mark.parametrize("machine", [StumpSVC, StumpLogisticRegression])
@pytest.mark.parametrize("case", DATA_DEPENDENT)
def test_a_kernel_that_depends_on_the_data_is_a_violation(machine, case):
    parameters, X, why = DATA_DEPENDENT[case]
    model = machine(0.01, **{"measure": "lebesgue", **KNOWN, **parameters})
    alone, many = clone(model).fit(X, Y0), vote(X, Y0, model, subsample=0.9)
    for bound in (loo_bound(alone, X, Y0), det_loo_bound(many, X, Y0)):
        assert not bound.holds
        assert any(why in text for text in bound.violations)


def test_features_that_depend_on_the_data_are_listed_together():
    X = np.column_stack([WITH_LEVELS[:, [0, 0]], WITH_MISSING])
    model = StumpSVC(0.01, measure="lebesgue", categorical_features=[0, 1], **KNOWN).fit(X, Y0)
    assert loo_bound(model, X, Y0).violations == (
        "features 0, 1: the levels of a category are those of the training samples",
        "feature 3: a missing value counts as the median of the training samples",
    )


def test_a_kernel_that_is_fixed_beforehand_has_a_bound_that_holds():
    for measure in ("lebesgue", "uniform", Lebesgue()):
        model = StumpSVC(0.01, measure=measure, **KNOWN).fit(X0, Y0)
        bound = loo_bound(model, X0, Y0)
        assert bound.holds and bound.violations == ()


def test_levels_that_depend_on_the_data_can_exceed_the_bound():
    """The kernel changes with the row, so the leave-one-out error is above the bound."""
    X = np.array([[3.0, 1.3], [1.0, 0.9], [1.0, -0.6], [1.0, -0.3]])
    model = StumpSVC(0.2676, measure="uniform", categorical_features=[0], **KNOWN)
    model.set_params(feature_range=(-6, 6)).fit(X, [0, 1, 0, 1])
    bound = loo_bound(model, X, [0, 1, 0, 1])
    assert loo_error(model, X, [0, 1, 0, 1]) == 0.5 > bound.value
    assert not bound.holds


def test_a_class_of_one_row_cannot_be_left_out():
    y = np.array([1] + [0] * 15)
    assert "a class has a single sample" in loo_bound(clone(PLAIN).fit(X0, y), X0, y).violations[0]
    y[1] = 1
    assert loo_bound(clone(PLAIN).fit(X0, y), X0, y).holds


# Duality gaps


def test_a_large_gap_is_a_violation():
    """The duality gap of a rough fit limits what is proven."""
    X, y = rows(3, n=60)
    rough = KernelSVC(C=0.5, gamma=0.5, fit_intercept=False, tol=0.3, max_iter=1).fit(X, y)
    bound = loo_bound(rough, X, y)
    assert not bound.holds and any("lower tol" in text for text in bound.violations)
    fine = KernelSVC(C=0.5, gamma=0.5, fit_intercept=False, tol=1e-9).fit(X, y)
    assert loo_bound(fine, X, y).holds


@pytest.mark.parametrize("seed", seeds(12))
def test_no_margin_falls_by_more_than_the_gap_allows(seed):
    """The lemma for machines with a duality gap, against optimal refits."""
    X, y = rows(seed, n=14)
    tol = [0.3, 1e-1, 1e-2][seed % 3]
    for loss in ("hinge", "squared_hinge"):
        machine = KernelSVC(C=2.0, gamma=0.5, loss=loss, fit_intercept=False, tol=tol)
        (problem,) = machine.fit(X, y).kernel_ensembles(X, y)
        exact = clone(machine).set_params(tol=1e-11)
        after = margins_by_hand(exact, X, y)
        assert np.all(after >= problem.margin - problem.influence_within_gaps - 1e-7)
        stumps = StumpSVC(2.0, loss=loss, measure="uniform", **{**KNOWN, "tol": tol}).fit(X, y)
        (problem,) = stumps.kernel_ensembles(X, y)
        after = margins_by_hand(clone(stumps).set_params(tol=1e-10), X, y)
        assert np.all(after >= problem.margin - problem.influence_within_gaps - 1e-6)


@pytest.mark.parametrize("seed", seeds(8))
def test_bounds_that_hold_are_above_the_error(seed):
    """Machines of all kinds and tolerances, against optimal refits."""
    rng, n_holding = np.random.default_rng(seed), 0
    for _ in range(6):
        X, y = rows(int(rng.integers(10**6)), n=int(rng.integers(8, 14)))
        X = X.round(int(rng.integers(0, 3)))
        C, tol = 10.0 ** rng.uniform(-2, 1), float(rng.choice([1e-2, 1e-3, 1e-9]))
        machine = StumpSVC(
            C,
            loss=rng.choice(["hinge", "squared_hinge"]),
            measure=rng.choice(["uniform", "lebesgue"]),
        ).set_params(**KNOWN | {"tol": tol})
        if rng.random() < 0.5:
            machine = KernelSVC(rng.choice(["linear", "gaussian"]), C=C, gamma=0.5, tol=tol)
            machine.set_params(fit_intercept=False)
        model = clone(machine).fit(X, y)
        wrong = np.mean(margins_by_hand(machine.set_params(tol=1e-10), X, y) < -1e-8)
        for bound in (loo_bound, ensemble_margin_bound, radius_margin_bound):
            found = bound(model, X, y)
            assert wrong <= found.value or not found.holds
            n_holding += found.holds
    assert n_holding >= 6  # a third of them: the others are fits too rough for a proof


# Columns are matched by name


def frames(X):
    data = {name: X[:, d] for d, name in enumerate("ab")}
    backwards = {name: data[name] for name in "ba"}
    return [
        (pd.DataFrame(data), pd.DataFrame(backwards)),
        (pl.DataFrame(data), pl.DataFrame(backwards)),
    ]


@pytest.mark.parametrize("kind", [0, 1])
def test_leave_one_out_errors_match_columns_by_name(kind):
    X, y = rows(4, n=12)
    X = X * [1.0, 30.0]
    frame, backwards = frames(X)[kind]
    ranges = [(-9, 9), (-300, 300)]
    machines = [
        KernelSVC("linear", C=0.5, fit_intercept=False),
        StumpSVC(0.1, feature_range=ranges, fit_intercept=False, n_jobs=1),
        SubsampleVotingClassifier(PLAIN, n_estimators=3, subsample=0.8, random_state=0, n_jobs=1),
    ]
    for machine in machines:
        model = clone(machine).fit(frame, y)
        expected = loo_error(clone(machine).fit(X, y), X, y, delta=0.5)
        assert loo_error(model, frame, y, delta=0.5) == pytest.approx(expected)
        assert loo_error(model, backwards, y, delta=0.5) == pytest.approx(expected)
    assert det_loo_error(model, backwards, y, delta=0.5) == det_loo_error(
        model, frame, y, delta=0.5
    )
    assert measured_stability(model, backwards, y) == measured_stability(model, frame, y)
    linear = clone(machines[0]).fit(frame, y)
    assert measured_stability(linear, backwards, y) == measured_stability(linear, frame, y)
    bound = stability_bound(linear, backwards, y, error="loo")
    assert bound.value == stability_bound(linear, frame, y, error="loo").value


def test_lists_are_accepted():
    model = clone(PLAIN).fit(X0.tolist(), Y0.tolist())
    assert loo_error(model, X0.tolist(), Y0.tolist()) == loo_error(model, X0, Y0)
    assert measured_stability(model, X0.tolist(), Y0.tolist()) == measured_stability(model, X0, Y0)


# Progress


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_counts_rows_and_members(n_jobs, capsys):
    with parallel_config("threading", n_jobs=n_jobs):
        _check_progress(capsys)


def _check_progress(capsys):
    model = clone(PLAIN).fit(X0, Y0)
    assert loo_error(model, X0, Y0, n_jobs=1) == loo_error(model, X0, Y0, verbose=1)
    matter = int(np.count_nonzero(as_signs(Y0) * model.dual_coef_))
    assert f"loo_error: rows left out, {matter} of {matter}\n" in capsys.readouterr().err
    loo_error(DecisionStumpClassifier().fit(X0, Y0), X0, Y0, verbose=1)
    assert "loo_error: rows left out, 16 of 16\n" in capsys.readouterr().err
    many = vote(X0, Y0)
    assert det_loo_error(many, X0, Y0, n_jobs=1) == det_loo_error(many, X0, Y0, verbose=1)
    assert "det_loo_error: members, 4 of 4\n" in capsys.readouterr().err


def test_progress_of_processes_is_reported_part_by_part(monkeypatch):
    module, events = sys.modules["everystump.bounds._leave_one_out_errors"], []

    @contextmanager
    def count(verbose, title, total):
        yield lambda: events.append("row")

    def in_turn(work, items, n_jobs, done):
        for item in items:
            events.append("part")
            done(work(item))

    monkeypatch.setattr(module, "progress_counter", count)
    monkeypatch.setattr(module, "process_map", in_turn)
    monkeypatch.setattr(module, "effective_n_jobs", lambda n_jobs: 2)
    model = clone(PLAIN).fit(X0, Y0)
    loo_error(model, X0, Y0, n_jobs=2)
    assert events == ["part", "row"] * int(np.count_nonzero(model.dual_coef_))
