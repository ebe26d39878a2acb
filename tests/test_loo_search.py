"""Model selection by a bound: against bounds by hand, and with its fits counted."""

import numpy as np
import pandas as pd
import pytest
from bad_tables import X0, Y0, assert_invalid, table
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ParameterGrid

from everystump import KernelSVC, LooBoundSearch, StumpSVC, StumpSVCCV, SubsampleVotingClassifier
from everystump.bounds import det_loo_bound, loo_bound, loo_error
from everystump.datasets import make_threenorm
from everystump.explain import BoundSearchDisplay

MACHINE = KernelSVC(fit_intercept=False, gamma=0.4)
GRID = {"C": [0.05, 0.3, 5.0], "gamma": [0.05, 0.5]}


class Counting(KernelSVC):
    """A classifier that counts its fits."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Counting.n_fits += 1
        return super().fit(X, y, sample_weight)


# LooBoundSearch


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_best_has_the_least_bound(n_classes):
    X, y = table(n_classes)
    search = LooBoundSearch(MACHINE, GRID).fit(X, y)
    grid = list(ParameterGrid(GRID))
    fitted = [clone(MACHINE).set_params(**params).fit(X, y) for params in grid]
    bounds = np.array([loo_bound(model, X, y).value for model in fitted])
    assert len(np.unique(bounds)) > 2
    best = int(bounds.argmin())
    np.testing.assert_array_equal(search.cv_results_["bound"], bounds)
    assert search.best_index_ == best
    assert search.best_params_ == grid[best]
    assert search.best_bound_.value == bounds[best]
    assert search.best_score_ == pytest.approx(1 - bounds[best])
    np.testing.assert_array_equal(search.decision_function(X), fitted[best].decision_function(X))
    np.testing.assert_array_equal(search.predict(X), fitted[best].predict(X))


def test_one_fit_per_candidate():
    Counting.n_fits = 0
    search = LooBoundSearch(Counting(fit_intercept=False), GRID).fit(X0, Y0)
    assert Counting.n_fits == len(search.candidates_) == 6


def test_cv_results_have_the_format_of_grid_search():
    grid = [{"C": [0.1, 1.0]}, {"kernel": ["linear", "laplacian"], "C": [0.3]}]
    search = LooBoundSearch(clone(MACHINE).set_params(tol=1e-9), grid).fit(X0, Y0)
    results = search.cv_results_
    assert results["params"] == list(ParameterGrid(grid))
    assert results["param_C"].tolist() == [0.1, 1.0, 0.3, 0.3]
    assert results["param_kernel"].mask.tolist() == [True, True, False, False]
    names = {"bound", "holds", "vacuous", "mean_test_score", "rank_test_score", "mean_fit_time"}
    assert names <= set(results)
    assert all(len(column) == 4 for column in results.values())
    np.testing.assert_allclose(results["mean_test_score"], 1 - results["bound"])
    assert results["rank_test_score"][search.best_index_] == 1
    assert np.all(results["mean_fit_time"] > 0)
    assert results["holds"].all()
    pd.DataFrame(results)


def test_ties_select_the_first_candidate():
    search = LooBoundSearch(MACHINE, {"max_iter": [500, 1000, 2000]}).fit(X0, Y0)
    assert search.best_index_ == 0
    assert search.cv_results_["rank_test_score"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("random_state", [None, 3])
def test_all_candidates_draw_the_same_rows(random_state):
    vote = SubsampleVotingClassifier(MACHINE, n_estimators=4, random_state=random_state)
    search = LooBoundSearch(vote, {"estimator__C": [0.1, 1.0, 3.0]}).fit(X0, Y0)
    first, *others = (model.estimators_samples_ for model in search.candidates_)
    for other in others:
        np.testing.assert_array_equal(first, other)
    bounds = [det_loo_bound(model, X0, Y0).value for model in search.candidates_]
    np.testing.assert_array_equal(search.cv_results_["bound"], bounds)
    assert vote.random_state == random_state


def test_the_bound_finds_a_good_kernel_width():
    """As good as any of the grid within 0.02, where C K(x, x) is below 1."""
    X, y = make_threenorm(200, random_state=0)
    new, answer = make_threenorm(1000, random_state=1)
    machine = KernelSVC(C=0.5, fit_intercept=False)
    search = LooBoundSearch(machine, {"gamma": [1e-4, 1e-3, 1e-2, 0.1, 1.0]}).fit(X, y)
    scores = [model.score(new, answer) for model in search.candidates_]
    assert search.score(new, answer) > max(scores) - 0.02
    assert loo_error(search.best_estimator_, X, y) <= search.best_bound_.value


def test_stump_ensembles_and_precomputed_kernels_can_be_searched():
    grid = {"C": [0.01, 0.1, 1.0]}
    stumps = LooBoundSearch(StumpSVC(fit_intercept=False), grid).fit(X0, Y0)
    assert not stumps.cv_results_["holds"].any()
    K = rbf_kernel(X0, gamma=0.4)
    precomputed = LooBoundSearch(KernelSVC("precomputed", fit_intercept=False), grid).fit(K, Y0)
    named = LooBoundSearch(MACHINE, grid).fit(X0, Y0)
    np.testing.assert_array_equal(precomputed.cv_results_["bound"], named.cv_results_["bound"])


def test_names_are_kept():
    frame = pd.DataFrame(X0, columns=["a", "b", "c"])
    search = LooBoundSearch(MACHINE, {"C": [0.1, 1.0]}).fit(frame, Y0)
    assert search.feature_names_in_.tolist() == ["a", "b", "c"]
    search.predict(frame)


BAD = {
    "no kernel machine": (
        LooBoundSearch(LogisticRegression(), {"C": [1.0]}),
        r"estimator=LogisticRegression\(\) is not a kernel machine; use KernelSVC, ",
    ),
    "vote of others": (
        LooBoundSearch(SubsampleVotingClassifier(LogisticRegression()), {"n_estimators": [2]}),
        r"is not a kernel machine, and the bounds are for votes of KernelSVC or StumpSVC",
    ),
    "learned weights": (
        LooBoundSearch(SubsampleVotingClassifier(MACHINE, n_estimators=2), {"combine": ["svm"]}),
        r'combine="svm" learns the weights .* use combine="mean"',
    ),
    "votes": (
        LooBoundSearch(SubsampleVotingClassifier(MACHINE, n_estimators=2), {"outputs": ["votes"]}),
        r'outputs="votes" combines signs',
    ),
    "unknown parameter": (LooBoundSearch(MACHINE, {"D": [1]}), r"Invalid parameter 'D'"),
    "no values": (LooBoundSearch(MACHINE, {"C": []}), r"non-empty sequence"),
    "no grid": (LooBoundSearch(MACHINE, []), r"param_grid=\[\]"),
    "grid": (LooBoundSearch(MACHINE, 3), r"'param_grid' parameter of LooBoundSearch .* Got 3"),
}


@pytest.mark.parametrize(("search", "match"), BAD.values(), ids=BAD)
def test_bad_input(search, match):
    assert_invalid(lambda: search.fit(X0, Y0), match)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        search.predict(X0)


def test_other_objects_are_rejected():
    search = LooBoundSearch(3, {"C": [1]})
    assert_invalid(lambda: search.fit(X0, Y0), r"'estimator' parameter of LooBoundSearch .* Got 3")


# StumpSVCCV(selection="loo-bound")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_path_takes_the_least_bound(n_classes, fit_intercept):
    X, y = table(n_classes)
    Cs = [0.01, 0.1, 1.0, 10.0]
    path = StumpSVCCV(Cs, selection="loo-bound", fit_intercept=fit_intercept, tol=1e-6).fit(X, y)
    fitted = [StumpSVC(C, fit_intercept=fit_intercept, tol=1e-6).fit(X, y) for C in Cs]
    bounds = np.array([loo_bound(model, X, y).value for model in fitted])
    np.testing.assert_allclose(path.cv_results_["mean_test_score"], 1 - bounds, atol=1e-9)
    best = int(bounds.argmin())
    assert best == Cs.index(path.C_)
    assert path.best_score_ == pytest.approx(1 - bounds.min())
    assert path.cv_results_["n_splits"] == 1
    np.testing.assert_allclose(
        path.decision_function(X), fitted[best].decision_function(X), atol=1e-2
    )


def test_the_path_counts_weights_in_the_bound():
    weight = np.random.default_rng(0).integers(0, 4, size=90).astype(float)
    path = StumpSVCCV([0.05, 0.5], selection="loo-bound", tol=1e-6, fit_intercept=False)
    path.fit(X0, Y0, sample_weight=weight)
    model = StumpSVC(0.05, tol=1e-6, fit_intercept=False).fit(X0, Y0, sample_weight=weight)
    expected = loo_bound(model, X0, Y0, sample_weight=weight).value
    assert path.cv_results_["mean_test_score"][0] == pytest.approx(1 - expected)
    assert path.dual_coef_.shape == (90,)


def test_the_path_is_extended_where_its_edge_is_best():
    X, y = make_threenorm(150, random_state=0)
    path = StumpSVCCV(3, selection="loo-bound").fit(X, y)
    Cs, scores = path.cv_results_["param_C"], path.cv_results_["mean_test_score"]
    assert scores.argmax() == Cs.tolist().index(path.C_)
    assert len(Cs) > 3


def test_the_plot_shows_bounds_and_test_errors():
    search = LooBoundSearch(MACHINE, {"gamma": [1.0, 0.01, 0.1]}).fit(X0[:60], Y0[:60])
    display = BoundSearchDisplay.from_search(search, X0[60:], Y0[60:])
    bound, error, chosen = display.ax_.lines
    np.testing.assert_array_equal(bound.get_xdata(), [0.01, 0.1, 1.0])
    np.testing.assert_array_equal(bound.get_ydata(), search.cv_results_["bound"][[1, 2, 0]])
    by_hand = [1 - search.candidates_[k].score(X0[60:], Y0[60:]) for k in (1, 2, 0)]
    np.testing.assert_allclose(error.get_ydata(), by_hand)
    assert chosen.get_xdata()[0] == search.best_params_["gamma"]
    assert display.ax_.get_xscale() == "log"


def test_the_plot_shows_the_best_of_several_parameters():
    grid = {"gamma": [0.01, 1.0], "C": [0.1, 0.5, 1.0]}
    search = LooBoundSearch(MACHINE, grid).fit(X0, Y0)
    of_each = search.cv_results_["bound"].reshape(3, 2)  # the last name of the alphabet is fastest
    display = BoundSearchDisplay.from_search(search, X0, Y0, param="C")
    np.testing.assert_array_equal(display.bounds, of_each.min(axis=1))
    assert len(BoundSearchDisplay.from_search(search, X0, Y0).bounds) == 6


def test_impossible_plots_are_rejected():
    search = LooBoundSearch(MACHINE, {"kernel": ["gaussian", "laplacian"]}).fit(X0, Y0)
    draw = BoundSearchDisplay.from_search
    assert_invalid(lambda: draw(search, X0, Y0), "param='kernel' is not a numeric parameter")
    assert_invalid(lambda: draw(MACHINE, X0, Y0), "has no bounds; pass a fitted LooBoundSearch")
