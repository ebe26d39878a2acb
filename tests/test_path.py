"""The C path against GridSearchCV, its selection rules, and its plots."""

from functools import partial

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, get_scorer, log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold

import everystump
from everystump import StumpLogisticRegression, StumpSVC
from everystump._selection.folds import make_class_folds
from everystump._selection.grid import SELECTIONS, is_past_best
from everystump._tables.validation import check_table
from everystump.datasets import load_dataset, make_twonorm
from everystump.explain import CurvesDisplay, PathDisplay

# The path of C is the same with interactions and weights, whose own paths follow it.
PARAMETERS = {"interactions": 0, "feature_weights": "equal"}
StumpSVCCV = partial(everystump.StumpSVCCV, **PARAMETERS)
StumpLogisticRegressionCV = partial(everystump.StumpLogisticRegressionCV, **PARAMETERS)
PATHS = {
    "hinge": (StumpSVCCV, StumpSVC, {}),
    "squared hinge": (StumpSVCCV, StumpSVC, {"loss": "squared_hinge"}),
    "logistic": (StumpLogisticRegressionCV, StumpLogisticRegression, {}),
}
CS = [0.03, 0.3, 3.0]


def table(n=120, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] - X[:, 1] + rng.normal(size=n)
    return X, np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)


X0, Y0 = table()


@pytest.fixture(params=PATHS)
def path(request):
    return PATHS[request.param]


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


# The table of scores


def test_cv_results_have_the_format_of_grid_search(path):
    estimator, single, extra = path
    model = estimator(Cs=CS, cv=4, **extra).fit(X0, Y0)
    search = GridSearchCV(single(**extra), {"C": CS}, cv=4).fit(X0, Y0)
    assert set(search.cv_results_) <= set(model.cv_results_)
    for key, column in search.cv_results_.items():
        assert len(model.cv_results_[key]) == len(column), key
    assert model.cv_results_["params"] == search.cv_results_["params"]
    assert set(model.cv_results_) - set(search.cv_results_) == {"max_gap", "n_splits", "chosen"}
    assert model.cv_results_["n_splits"] == 4
    # folds are solved to a few times tol, coarsely enough to be quick
    assert np.all(model.cv_results_["max_gap"] <= 10 * model.tol)
    assert np.all(model.cv_results_["mean_fit_time"] > 0)
    assert len(pd.DataFrame(model.cv_results_)) == 3


def test_means_deviations_and_ranks_follow_from_the_folds():
    results = StumpSVCCV(Cs=CS, cv=4).fit(X0, Y0).cv_results_
    scores = np.array([results[f"split{k}_test_score"] for k in range(4)])
    np.testing.assert_allclose(results["mean_test_score"], scores.mean(axis=0))
    np.testing.assert_allclose(results["std_test_score"], scores.std(axis=0))
    better = [np.sum(scores.mean(axis=0) > m) for m in scores.mean(axis=0)]
    np.testing.assert_array_equal(results["rank_test_score"], 1 + np.array(better))
    np.testing.assert_array_equal(results["param_C"], CS)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_a_grid_search(path, n_classes):
    """Folds share the bins of all samples, which makes no difference with exact lebesgue measures.

    A bin without rows then splits a gap into two of the same total length, and the optimum runs
    straight through it.  So scores must agree up to predictions that depend on `tol`.
    """
    estimator, single, extra = path
    X, y = table(n_classes=n_classes)
    common = {"measure": "lebesgue", "max_bins": 1000, "tol": 1e-9, **extra}
    options = {"cv": StratifiedKFold(4), "scoring": "accuracy"}
    model = estimator(Cs=CS, **options, **common).fit(X, y)
    search = GridSearchCV(single(**common), {"C": CS}, **options).fit(X, y)
    for k in range(4):
        key = f"split{k}_test_score"
        np.testing.assert_allclose(model.cv_results_[key], search.cv_results_[key], atol=1e-12)
    assert search.best_params_["C"] == model.C_
    assert search.best_score_ == pytest.approx(model.best_score_)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_smooth_scores_are_those_of_a_grid_search(n_classes):
    """The same for the log loss, which is sensitive to every digit.

    Gaps of folds are at most 1e-10, so that scores differ by the order of 1e-5.
    """
    common = {"measure": "lebesgue", "max_bins": 1000, "tol": 1e-11}
    X, y = table(n_classes=n_classes)
    cv = StratifiedKFold(4, shuffle=True, random_state=3)
    model = StumpLogisticRegressionCV(Cs=CS, cv=4, random_state=3, **common).fit(X, y)
    single = StumpLogisticRegression(**common)
    search = GridSearchCV(single, {"C": CS}, cv=cv, scoring="neg_log_loss").fit(X, y)
    assert model.scoring_ == "neg_log_loss"
    for k in range(4):
        key = f"split{k}_test_score"
        np.testing.assert_allclose(model.cv_results_[key], search.cv_results_[key], atol=5e-6)


def test_without_an_intercept_a_given_range_makes_folds_alike():
    """Then the mass outside the rows of a fold is part of the kernel, and must not depend on it."""
    common = {
        "measure": "lebesgue",
        "max_bins": 1000,
        "tol": 1e-10,
        "fit_intercept": False,
        "feature_range": (-9.0, 9.0),
    }
    cv, scoring = StratifiedKFold(3), "neg_log_loss"
    model = StumpLogisticRegressionCV(Cs=CS, cv=cv, scoring=scoring, **common).fit(X0, Y0)
    search = GridSearchCV(StumpLogisticRegression(**common), {"C": CS}, cv=cv, scoring=scoring)
    search.fit(X0, Y0)
    np.testing.assert_allclose(
        model.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"], atol=1e-6
    )


def test_the_final_fit_is_the_single_model(path):
    estimator, single, extra = path
    model = estimator(Cs=CS, tol=1e-9, **extra).fit(X0, Y0)
    separate = single(model.C_, tol=1e-9, **{"measure": model.measure_, **extra}).fit(X0, Y0)
    np.testing.assert_allclose(
        model.decision_function(X0), separate.decision_function(X0), atol=1e-6
    )
    assert model.certificate_.primal == pytest.approx(separate.certificate_.primal, rel=1e-8)


# The grid


def test_an_integer_is_a_logarithmic_grid():
    model = StumpLogisticRegressionCV(Cs=6, scoring=prefer(2.0**3), cv=2).fit(X0, Y0)
    np.testing.assert_allclose(model.cv_results_["param_C"], 2.0 ** np.linspace(-9, 6, 6))


def test_the_path_stops_after_its_best():
    """Two values of C, both worse in all folds, must follow the best; then no more are tried."""
    model = StumpLogisticRegressionCV(Cs=11, scoring=prefer(2.0**-6), cv=2).fit(X0, Y0)
    np.testing.assert_allclose(model.cv_results_["param_C"], 2.0 ** np.linspace(-9, 0, 7)[:6])
    assert model.C_ == 2.0**-6


@pytest.mark.parametrize(
    ("scores", "passed"),
    [
        ([[0.5, 0.9, 0.8, 0.7], [0.4, 0.9, 0.7, 0.7], [0.4, 0.9, 0.8, 0.8]], True),
        ([[-0.5, -0.1, -0.2, -0.3], [-0.6, -0.1, -0.3, -0.3]], True),
        ([[0.5, 0.9, 0.8, 0.7]], False),  # one fold has no standard error
        ([[0.5, 0.5, 0.9, 0.7], [0.4, 0.5, 0.9, 0.7]], False),  # one value past the best only
        ([[0.5, 0.9, 0.95, 0.7], [0.4, 0.9, 0.7, 0.7]], False),  # one fold differs
        ([[0.9, 0.9, 0.9, 0.9], [0.9, 0.9, 0.9, 0.9]], False),
    ],
)
def test_is_past_best(scores, passed):
    assert is_past_best(np.array(scores)) is passed


def test_negligible_gains_do_not_extend_the_grid():
    """A score that still increases at the edge, but by less than a thousandth of its range."""
    model = StumpSVCCV(Cs=5, scoring=lambda model, X, y: -0.001 / model.C, cv=2).fit(X0, Y0)
    assert len(model.cv_results_["param_C"]) == 5


def prefer(C):
    """Return a scorer that prefers models with C close to a value."""
    return lambda model, X, y: -abs(np.log2(model.C / C))


@pytest.mark.parametrize("liked", [2.0**13, 2.0**-14])
def test_the_grid_is_extended_until_the_best_is_inside(liked):
    model = StumpLogisticRegressionCV(Cs=6, scoring=prefer(liked), cv=2).fit(X0, Y0)
    Cs = model.cv_results_["param_C"]
    assert Cs[0] < model.C_ < Cs[-1]
    assert abs(np.log2(model.C_ / liked)) <= 1.5
    np.testing.assert_allclose(np.diff(np.log2(Cs)), 3.0)
    assert len(Cs) > 6


@pytest.mark.parametrize("liked", [2.0**99, 2.0**-99])
def test_the_grid_extension_is_limited(liked):
    model = StumpLogisticRegressionCV(Cs=4, scoring=prefer(liked), cv=2).fit(X0, Y0)
    Cs = model.cv_results_["param_C"]
    assert np.all(np.abs(np.log2(Cs)) <= 21)
    assert np.log2(Cs).min() < -9 or np.log2(Cs).max() > 6


def test_the_grid_is_extended_if_the_data_require_it():
    """In thousandths, lengths are so short that the best C is beyond 2^6."""
    x = np.linspace(0, 1e-3, 60)[:, None]
    y = x[:, 0] > 4e-4
    options = {"measure": "lebesgue", "scoring": "neg_log_loss"}
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    assert StumpLogisticRegressionCV(Cs=4, cv=cv, **options).fit(x, y).C_ > 2.0**6
    assert StumpLogisticRegressionCV(Cs=[1.0, 64.0], cv=cv, **options).fit(x, y).C_ == 64.0


def test_equally_good_edges_do_not_extend_the_grid():
    model = StumpSVCCV(Cs=4, scoring=lambda model, X, y: 1.0, cv=2).fit(X0, Y0)
    assert len(model.cv_results_["param_C"]) == 4
    assert model.C_ == 2.0**-9


@pytest.mark.parametrize("Cs", [[1.0], [4.0, 1.0, 2.0], np.array([0.5, 8.0]), (1.0, 1.0)])
def test_given_values_stay_as_they_are(Cs):
    model = StumpSVCCV(Cs=Cs, scoring=prefer(2.0**20), cv=2).fit(X0, Y0)
    np.testing.assert_array_equal(model.cv_results_["param_C"], np.unique(Cs))
    assert max(Cs) == model.C_


# The choice


def noisy(means, spread):
    """Return a scorer with these means over four folds and this standard deviation."""
    calls = {}

    def score(model, X, y):
        k = calls[model.C] = calls.get(model.C, -1) + 1
        return means[model.C] + spread * (1 if k % 2 else -1)

    return score


MEANS = {0.1: 0.70, 1.0: 0.79, 10.0: 0.80, 100.0: 0.75}


@pytest.mark.parametrize(
    ("spread", "chosen"), [(0.0, 10.0), (0.01, 10.0), (0.018, 1.0), (0.09, 1.0), (0.2, 0.1)]
)
def test_one_standard_error(spread, chosen):
    """The standard error of a mean over 4 folds is the deviation over sqrt(3)."""
    model = StumpSVCCV(
        Cs=list(MEANS), cv=4, scoring=noisy(MEANS, spread), selection="cv-1se", n_jobs=1
    ).fit(X0, Y0)
    assert chosen == model.C_
    assert model.best_score_ == pytest.approx(MEANS[chosen])


def test_the_best_mean():
    model = StumpSVCCV(Cs=list(MEANS), cv=4, scoring=noisy(MEANS, 0.2), n_jobs=1).fit(X0, Y0)
    assert model.C_ == 10.0


def test_ties_select_the_smallest_c():
    model = StumpSVCCV(Cs=CS, scoring=lambda model, X, y: 0.5).fit(X0, Y0)
    assert min(CS) == model.C_


# Scorers and splits


def by_hand(cv, fold_score, single, weight=None, Cs=CS):
    """Return mean scores of fits on each fold by itself, as in the comparison above."""
    rows = []
    for train, test in cv.split(X0, Y0):
        part = None if weight is None else weight[train]
        models = (clone(single).set_params(C=C) for C in Cs)
        fitted = (model.fit(X0[train], Y0[train], sample_weight=part) for model in models)
        rows.append([fold_score(model, test) for model in fitted])
    return np.mean(rows, axis=0)


LOGISTIC = {"measure": "lebesgue", "max_bins": 1000, "tol": 1e-9}
SCORERS = {
    "roc_auc": lambda m, t: roc_auc_score(Y0[t], m.decision_function(X0[t])),
    "neg_log_loss": lambda m, t: -log_loss(Y0[t], m.predict_proba(X0[t])),
    "accuracy": lambda m, t: accuracy_score(Y0[t], m.predict(X0[t])),
}


@pytest.mark.parametrize("scoring", SCORERS)
def test_any_scorer(scoring):
    cv = KFold(3, shuffle=True, random_state=0)
    model = StumpLogisticRegressionCV(Cs=CS, cv=cv, scoring=scoring, **LOGISTIC).fit(X0, Y0)
    expected = by_hand(cv, SCORERS[scoring], StumpLogisticRegression(**LOGISTIC))
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], expected, atol=1e-5)


def test_a_callable_scorer_gets_a_fitted_model_and_the_rows_held_out():
    calls = []

    def score(model, X, y):
        calls.append((model.C, len(X), len(y), model.predict(X).shape))
        return 0.5

    StumpSVCCV(Cs=CS, cv=3, scoring=score, measure="mixed", n_jobs=1).fit(X0, Y0)
    assert len(calls) == 9
    assert {s[1:] for s in calls} == {(40, 40, (40,))}
    assert {s[0] for s in calls} == set(CS)


def test_a_scorer_without_sample_weights():
    """A callable of three arguments is all that scikit-learn requires."""
    model = StumpSVCCV(Cs=CS, cv=3, scoring=lambda model, X, y: model.C)
    model.fit(X0, Y0, sample_weight=np.full(120, 2.0))
    assert max(CS) == model.C_


def test_a_scorer_can_read_the_parameters():
    """A scorer can read the parameters of the model."""
    params = set()

    def score(model, X, y):
        params.add((repr(model.measure), model.fit_intercept, model.tol))
        return 0.5

    StumpSVCCV(Cs=[1.0], scoring=score, measure="rank", fit_intercept=False, tol=0.01).fit(X0, Y0)
    assert params == {("Rank()", False, 0.01)}


def test_explicit_splits():
    splits = [(np.arange(0, 60), np.arange(60, 120)), (np.arange(60, 120), np.arange(20))]
    results = StumpSVCCV(Cs=CS, cv=splits).fit(X0, Y0).cv_results_
    again = StumpSVCCV(Cs=CS, cv=iter(splits)).fit(X0, Y0).cv_results_
    assert results["n_splits"] == 2
    np.testing.assert_array_equal(results["mean_test_score"], again["mean_test_score"])
    times_twenty = 20 * results["split1_test_score"]
    np.testing.assert_allclose(times_twenty, np.round(times_twenty))


def test_a_splitter():
    cv = ShuffleSplit(7, test_size=10, random_state=0)
    assert StumpSVCCV(Cs=CS, cv=cv).fit(X0, Y0).cv_results_["n_splits"] == 7


@pytest.mark.parametrize("scoring", SCORERS)
def test_weights_count_in_fitting_and_in_scoring(scoring):
    weight = np.random.default_rng(0).uniform(0.2, 3.0, size=120)
    cv = KFold(3)
    estimator = StumpLogisticRegressionCV(Cs=CS, cv=cv, scoring=scoring, **LOGISTIC)
    model = estimator.fit(X0, Y0, sample_weight=weight)
    expected = by_hand(
        cv,
        lambda m, t: get_scorer(scoring)(m, X0[t], Y0[t], sample_weight=weight[t]),
        StumpLogisticRegression(**LOGISTIC),
        weight,
    )
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], expected, atol=1e-5)


def test_samples_of_weight_zero_stay_in_their_folds():
    """They are not used, and the indices of folds refer to all samples."""
    weight = np.where(np.arange(120) % 4 == 0, 0.0, 1.0)
    used = weight > 0
    splits = [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]
    number = np.cumsum(used) - 1
    same = [tuple(number[part[used[part]]] for part in split) for split in splits]
    a = StumpSVCCV(Cs=CS, cv=splits, tol=1e-9).fit(X0, Y0, sample_weight=weight)
    b = StumpSVCCV(Cs=CS, cv=same, tol=1e-9).fit(X0[used], Y0[used])
    np.testing.assert_allclose(a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"])
    np.testing.assert_allclose(a.decision_function(X0), b.decision_function(X0), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_fold_that_lacks_a_class(path, n_classes, fit_intercept):
    """Samples sorted by class and not shuffled: each training fold lacks a class."""
    estimator, _, extra = path
    X, y = table(n_classes=n_classes)
    order = np.argsort(y, kind="stable")
    model = estimator(Cs=CS, cv=KFold(n_classes), fit_intercept=fit_intercept, **extra)
    with pytest.warns(UserWarning, match="fold 0 has no training rows of class"):
        model.fit(X[order], y[order])
    scores = [model.cv_results_[f"split{k}_test_score"] for k in range(n_classes)]
    if fit_intercept and model.scoring_ == "accuracy":
        np.testing.assert_array_equal(scores, 0.0)
    if fit_intercept and model.scoring_ == "neg_log_loss":
        assert np.all(np.array(scores) < -4)  # finite, but as bad as being wrong for certain
    assert np.all(np.isfinite(scores))
    assert model.score(X, y) > 0.6


def test_folds_are_shuffled_and_stratified(path):
    """Rows sorted by their class, and by a feature that would mislead folds taken in order."""
    estimator, _, extra = path
    order = np.lexsort([X0[:, 0], Y0])
    X, y = X0[order], Y0[order]
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    by_default = estimator(Cs=CS, **extra).fit(X, y)
    explicit = estimator(Cs=CS, cv=cv, **extra).fit(X, y)
    for key in ("split0_test_score", "split4_test_score"):
        np.testing.assert_array_equal(by_default.cv_results_[key], explicit.cv_results_[key])
    in_order = estimator(Cs=CS, cv=StratifiedKFold(5), **extra).fit(X, y)
    assert in_order.best_score_ < by_default.best_score_


def test_random_state_draws_the_folds():
    def scores(random_state):
        model = StumpLogisticRegressionCV(Cs=[1.0], random_state=random_state).fit(X0, Y0)
        return [model.cv_results_[f"split{k}_test_score"][0] for k in range(5)]

    assert scores(0) == scores(0)
    assert scores(1) != scores(0)
    assert scores(np.random.RandomState(1)) == scores(1)


# Rare classes


def with_rare(*counts):
    """Return data with more classes of these sizes."""
    X, y = X0.copy(), Y0.copy()
    first = 0
    for k, count in enumerate(counts):
        y[first : first + count] = 2 + k
        first += count
    return X, y


@pytest.mark.parametrize(
    ("counts", "n_folds", "note"),
    [
        ((4,), 4, "Class 2 has only 4 rows: C is chosen by 4 folds instead of 5"),
        ((2,), 3, "Class 2 has only 2 rows: C is chosen by 3 folds instead of 5, and it is"),
        ((4, 2), 3, "Class 3 has only 2 rows: C is chosen by 3 folds instead of 5, and it is"),
        ((1,), 5, "Class 2 has a single row: used for training, but never held out"),
        ((1, 1), 5, "Classes 2, 3 have a single row"),
    ],
)
def test_rare_classes_reduce_the_folds_with_a_warning(path, counts, n_folds, note):
    estimator, _, extra = path
    X, y = with_rare(*counts)
    with pytest.warns(UserWarning, match=note) as caught:
        model = estimator(Cs=CS, **extra).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.cv_results_["n_splits"] == n_folds
    assert np.isfinite(model.best_score_)
    np.testing.assert_array_equal(model.classes_, np.unique(y))


def test_a_rare_class_is_in_the_training_part_of_every_fold():
    X, y = with_rare(2, 1)
    table = check_table(StumpSVC(), X, y, None, None)
    with pytest.warns(UserWarning):
        folds = make_class_folds(5, table, 0)
    for fold in folds:
        assert set(y[fold.train]) == set(y)
        np.testing.assert_array_equal(np.sort([*fold.train, *fold.test]), np.arange(len(y)))
    held_out = np.concatenate([fold.test for fold in folds])
    np.testing.assert_array_equal(np.sort(held_out), np.flatnonzero(y != 3))


def test_classes_of_one_sample_each_cannot_be_held_out():
    with pytest.raises(
        ValueError, match=r"cv=5: every class has one row.*; add rows, or use an estimator"
    ):
        StumpSVCCV().fit([[0.0], [1.0]], [0, 1])


def test_two_folds_stay_two():
    X, y = with_rare(2)
    assert StumpSVCCV(Cs=CS, cv=2).fit(X, y).cv_results_["n_splits"] == 2


def test_a_start_from_another_cost_is_not_taken_for_the_solution():
    """It may be within the tolerance, but then the scores of neighboring values would be equal."""
    X, y = make_twonorm(2000, random_state=0)
    scores = StumpLogisticRegressionCV(Cs=[0.01, 0.011, 0.012], tol=0.01).fit(X, y).cv_results_
    assert len(set(scores["mean_test_score"])) == 3


def test_folds_that_stop_early_warn():
    estimator = StumpSVCCV(Cs=[1.0, 1e3], max_iter=3, tol=1e-6)
    with pytest.warns(ConvergenceWarning) as caught:
        estimator.fit(X0, Y0)
    assert any("fits of the path stopped" in str(warning.message) for warning in caught)


def test_a_loose_tol_still_solves_the_folds():
    """A few times tol, but never a gap above 0.02 unless tol itself is."""
    assert StumpSVCCV(Cs=CS, tol=0.01).fit(X0, Y0).cv_results_["max_gap"].max() <= 0.02


def test_scores_must_be_finite():
    estimator = StumpSVCCV(Cs=CS, scoring=lambda model, X, y: np.nan)
    with pytest.raises(ValueError, match=r"scoring returned nan on fold 0; use another scorer"):
        estimator.fit(X0, Y0)


def test_a_metric_without_sample_weights_can_score_a_weighted_fit():
    scorer = make_scorer(lambda y, predicted: float(np.mean(y == predicted)))
    model = StumpSVCCV(Cs=CS, scoring=scorer).fit(X0, Y0, sample_weight=np.ones(len(Y0)))
    assert 0 < model.best_score_ <= 1


def test_a_path_continues_from_a_solution_at_all_bounds():
    """At 2^-9 every dual variable is at its bound; from there the path still reaches 2^6."""
    heart = load_dataset("heart")
    X, y = heart.data[:40], heart.target[:40]
    assert StumpSVCCV(Cs=[2.0**-9, 2.0**6], cv=2).fit(X, y).cv_results_["max_gap"].max() <= 0.01


# Plots


def test_path_display():
    model = StumpSVCCV(Cs=CS, cv=4).fit(X0, Y0)
    display = PathDisplay.from_estimator(model)
    axis = display.ax_
    assert display.figure_.axes == [axis]
    folds = [model.cv_results_[f"split{k}_test_score"] for k in range(4)]
    np.testing.assert_array_equal([line.get_ydata() for line in axis.lines[:4]], folds)
    mean = [line for line in axis.lines if line.get_marker() == "o"]
    np.testing.assert_array_equal(mean[0].get_ydata(), model.cv_results_["mean_test_score"])
    chosen = [line for line in axis.lines if len(set(line.get_xdata())) == 1]
    assert [line.get_xdata()[0] for line in chosen] == [model.C_]
    legend = [text.get_text() for text in axis.get_legend().get_texts()]
    assert f"chosen C = {model.C_:.3g}" in legend
    assert axis.get_xscale() == "log"


def test_edited_models_have_no_path():
    model = StumpSVCCV(Cs=CS, cv=2).fit(X0, Y0).remove_feature(0)
    with pytest.raises(ValueError, match=r"edited \(x0 was removed\).* model before its edits"):
        PathDisplay.from_estimator(model)
    with pytest.raises(ValueError, match="has no path; pass a fitted StumpSVCCV"):
        PathDisplay.from_estimator(StumpSVC().fit(X0, Y0).remove_feature(0))


def test_path_display_on_given_axes():
    model = StumpSVCCV(Cs=CS, cv=2).fit(X0, Y0)
    figure, axes = plt.subplots(1, 2)
    display = PathDisplay.from_estimator(model, ax=axes[1])
    assert display.ax_ is axes[1] and display.figure_ is figure
    assert not axes[0].lines


@pytest.mark.parametrize(
    ("n_features", "with_rows"),
    [
        (1, True),
        (3, False),
        pytest.param(6, True, marks=pytest.mark.slow),
        pytest.param(14, False, marks=pytest.mark.slow),
    ],
)
def test_curves_display(n_features, with_rows):
    X, y = make_twonorm(100, random_state=0)
    X = X[:, :n_features]
    model = StumpSVC().fit(X, y)
    display = CurvesDisplay.from_estimator(model, X if with_rows else None)
    visible = [axis for axis in display.axes_ if axis.get_visible()]
    assert len(visible) == len(display.names) == min(n_features, 12)
    for axis, name, shape in zip(visible, display.names, display.shapes, strict=True):
        assert axis.get_title() == name
        curve = max(axis.lines, key=lambda line: len(line.get_xdata()))
        np.testing.assert_array_equal(curve.get_xdata()[1:-1], shape.knots)
        np.testing.assert_array_equal(curve.get_ydata()[1:-1], shape.values)
    assert display.figure_.axes == list(display.axes_)
    display.figure_.canvas.draw()


def test_curves_display_draws_the_most_influential_first():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["weak", "none", "strong"])
    y = 3 * X["strong"] + X["weak"] > 0
    display = CurvesDisplay.from_estimator(StumpSVC().fit(X, y), X, max_features=2)
    assert display.names == ["strong", "weak"]


def test_curves_display_of_one_class_of_several():
    X, y = table(n_classes=3)
    model = StumpLogisticRegression().fit(X, y)
    display = CurvesDisplay.from_estimator(
        model, class_label=model.classes_[2], feature_names=list("abcd")
    )
    assert sorted(display.names) == list("abcd")
    drawn = dict(zip(display.names, display.shapes, strict=True))
    assert drawn["b"] is model.shapes_[2][1]


def test_curves_display_of_steps_and_constants():
    X = np.column_stack([X0[:, 0], np.full(120, 3.0)])
    display = CurvesDisplay.from_estimator(StumpSVC(measure="middle").fit(X, Y0), X)
    display.figure_.canvas.draw()
    assert display.names == ["x0"]
    flat = CurvesDisplay.from_estimator(StumpSVC().fit(X[:, 1:], Y0), X[:, 1:])
    flat.figure_.canvas.draw()
    assert flat.names == ["x0"]


def test_equal_scores_up_to_rounding_choose_the_simplest_model():
    mean = np.array([0.7, 0.7761904761904762, 0.75, 0.7761904761904763])
    assert SELECTIONS["cv"].best(mean, np.zeros(4), 5) == 1
