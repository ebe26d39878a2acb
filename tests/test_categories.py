"""Categories: against explicit one-hot columns, every stump tried, LIBSVM, and edge cases."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from mixed_tables import (
    all_votes,
    check_bags,
    check_ensembles,
    check_rounds,
    mixed_table,
    one_hot,
    smallest_error,
)
from oracles import seeds
from sklearn.base import clone
from sklearn.svm import SVC
from test_bagging import draws
from test_missing import ESTIMATORS, LEARNERS, SEEDS, SLOPES

from everystump import (
    BoostedStumpSVC,
    DecisionStumpClassifier,
    StumpBaggingClassifier,
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpSVC,
    SubsampleVotingClassifier,
)
from everystump.measures import Weighted

MEASURES = pytest.mark.parametrize("measure", ["uniform", "lebesgue", "middle", "rank", "mixed"])
INTERCEPT = pytest.mark.parametrize("fit_intercept", [True, False])
NAMES = np.array(["blue", "green", "red", "white"])


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return clone(ESTIMATORS[request.param])


@pytest.fixture(params=LEARNERS)
def learner(request):
    return clone(LEARNERS[request.param])


def colors(X):
    """Return a frame whose third column is text, as the numbers there are."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    levels = frame["c"].map(dict(enumerate(NAMES)))
    return frame.assign(c=levels.astype("str"))


def of_one_hot_columns(estimator, n_before, n_levels, n_after):
    """Return the estimator of one-hot columns: `mixed` gives a level half of their mass."""
    plain = clone(estimator)
    if estimator.measure != "mixed":
        return plain
    weights = [1.0] * n_before + [0.5] * n_levels + [1.0] * n_after
    return plain.set_params(measure=Weighted("mixed", weights))


def plain_scores(estimator, X, y, weight=None):
    explicit = one_hot(X, X, [2])
    plain = of_one_hot_columns(estimator, 2, explicit.shape[1] - 3, 1)
    return plain.fit(explicit, y, weight).decision_function(explicit)


# Infinite ensembles


@MEASURES
@INTERCEPT
def test_a_category_is_its_one_hot_columns(estimator, measure, fit_intercept):
    """The same problem twice, "is missing" of the other columns included."""
    X, y = mixed_table(0)
    new = mixed_table(1)[0] * [1.5, 1.5, 1, 1.5]
    estimator.set_params(measure=measure, fit_intercept=fit_intercept)
    plain = of_one_hot_columns(estimator, 2, 5, 1).fit(one_hot(X, X, [2]), y)
    estimator.fit(colors(X), y)
    for rows in (X, new):
        np.testing.assert_allclose(
            estimator.decision_function(colors(rows)),
            plain.decision_function(one_hot(rows, X, [2])),
            atol=5e-5,
        )
    assert estimator.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-7)
    assert estimator.half_mass_ == pytest.approx(plain.half_mass_)


@pytest.mark.parametrize("interactions", [0, [(0, 1)]])
def test_two_levels_are_a_column_of_zeros_and_ones(estimator, interactions):
    """Under `mixed` it does not matter whether a category of two levels is text or a number."""
    X, y = mixed_table(7)
    X[:, 2] = X[:, 2] > 1
    estimator.set_params(measure="mixed", interactions=interactions)
    plain = clone(estimator).fit(X[:, [2, 3]], y).decision_function(X[:, [2, 3]])
    frame = colors(X)[["c", "d"]]
    np.testing.assert_allclose(estimator.fit(frame, y).decision_function(frame), plain, atol=5e-5)


@MEASURES
def test_several_classes(estimator, measure):
    X, y = mixed_table(2, n_classes=3)
    estimator.set_params(measure=measure)
    expected = plain_scores(estimator, X, y)
    estimator.fit(colors(X), y)
    np.testing.assert_allclose(estimator.decision_function(colors(X)), expected, atol=5e-5)


@INTERCEPT
def test_weights(estimator, fit_intercept):
    X, y = mixed_table(3)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    estimator.set_params(measure="uniform", fit_intercept=fit_intercept)
    expected = plain_scores(estimator, X, y, weight)
    again = np.repeat(np.arange(len(y)), weight)
    twice = clone(estimator).fit(colors(X[again]), y[again])
    estimator.fit(colors(X), y, weight)
    np.testing.assert_allclose(estimator.decision_function(colors(X)), expected, atol=5e-5)
    np.testing.assert_allclose(twice.decision_function(colors(X)), expected, atol=5e-5)


@pytest.mark.parametrize("measure", ["uniform", "mixed"])
@INTERCEPT
def test_a_hard_margin(measure, fit_intercept):
    X, y = mixed_table(4, n=25)
    model = StumpSVC(np.inf, measure=measure, fit_intercept=fit_intercept, tol=1e-9)
    expected = plain_scores(model, X, y)
    model.fit(colors(X), y)
    np.testing.assert_allclose(model.decision_function(colors(X)), expected, atol=1e-4)
    assert ((2 * y - 1) * model.decision_function(colors(X))).min() >= 1 - 1e-4


def test_inseparable_hard_margin():
    X = pd.DataFrame({"a": ["x", "x", "y"]})
    with pytest.raises(ValueError, match=r"rows with equal features have different labels"):
        StumpSVC(np.inf).fit(X, [0, 1, 1])


@INTERCEPT
def test_categories_alone(estimator, fit_intercept):
    """All features are categories: curves are then exact sums over one-hot columns."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 4, size=(60, 3)).astype(float)
    y = (X[:, 0] == X[:, 1]) | (rng.random(60) < 0.2)
    estimator.set_params(measure="uniform", fit_intercept=fit_intercept)
    explicit = one_hot(X, X, [0, 1, 2])
    plain = clone(estimator).fit(explicit, y)
    estimator.set_params(categorical_features=[0, 1, 2]).fit(X, y)
    np.testing.assert_allclose(
        estimator.decision_function(X), plain.decision_function(explicit), atol=5e-5
    )


def test_feature_ranges_are_for_numbers():
    X, y = mixed_table(6)
    model = StumpSVC(feature_range=[(-9, 9), (-9, 9), (0, 1), (-9, 99)], tol=1e-9)
    model.fit(colors(X), y)
    other = clone(model).set_params(feature_range=[(-9, 9), (-9, 9), (5, 7), (-9, 99)])
    other.fit(colors(X), y)
    np.testing.assert_array_equal(
        model.decision_function(colors(X)), other.decision_function(colors(X))
    )


TINY = {
    "a level twice": ([["x", 1], ["y", 2], [None, 3], ["x", 4]], [0, 1, 1, 0]),
    "a level a row": ([["x", 1], ["y", 2], ["z", 3], ["x", 4]], [0, 1, 1, 0]),
    "a missing value": ([["x", 0], ["y", None], ["y", 1]], [0, 1, 1]),
}


@pytest.mark.parametrize(("rows", "y"), TINY.values(), ids=TINY)
@pytest.mark.parametrize("C", [0.3, 0.5, 1.0, 2.0, 10.0])
def test_tiny_tables_are_solved(rows, y, C):
    model = StumpSVC(C).fit(rows, y)
    assert model.certificate_.gap <= 1e-3
    assert model.predict(rows).tolist() == y


def many_levels(n, n_levels, seed=0):
    rng = np.random.default_rng(seed)
    x = np.append(np.arange(n_levels), rng.integers(0, n_levels, n - n_levels))
    y = (rng.normal(size=n_levels)[x] + rng.normal(size=n) > 0).astype(int)
    return x, y


def test_hundreds_of_levels_are_their_one_hot_columns(estimator):
    x, y = many_levels(900, 300)
    explicit = np.eye(300)[x]
    estimator.set_params(tol=max(estimator.tol, 1e-9))  # limited by rounding
    plain = of_one_hot_columns(estimator, 0, 300, 0).fit(explicit, y).decision_function(explicit)
    frame = pd.DataFrame({"x": x.astype(str)})
    np.testing.assert_allclose(estimator.fit(frame, y).decision_function(frame), plain, atol=5e-5)


@pytest.mark.parametrize("model", [StumpSVC(), StumpLogisticRegression()], ids=["hinge", "log"])
def test_thousands_of_levels(model):
    """5,000 levels on 20,000 rows; one-hot columns would be 100 million numbers."""
    x, y = many_levels(20_000, 5_000)
    frame = pd.DataFrame(
        {"x": pd.Series(x).astype(str), "z": np.random.default_rng(1).random(20_000)}
    )
    model = clone(model)
    model.fit(frame, y)
    assert len(model.feature_info_[0].levels) == 5_000
    assert model.certificate_.converged
    assert model.score(frame, y) > 0.7


# Finite ensembles


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", seeds(20))
def test_no_stump_beats_the_best(seed, weighted):
    X, y = mixed_table(seed, n=30)
    weight = np.random.default_rng(seed).integers(1, 4, 30) if weighted else np.ones(30)
    model = DecisionStumpClassifier().fit(colors(X), y, weight)
    votes = all_votes(X, [2], weight)
    expected = smallest_error(votes, 2 * y - 1, weight)
    assert model.error_ == pytest.approx(expected, abs=1e-12)
    wrong = model.predict(colors(X)) != y
    assert weight[wrong].sum() / weight.sum() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("loss", SLOPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_each_round_takes_the_best_of_all_stumps(loss, seed):
    X, y = mixed_table(seed)
    weight = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float)
    model = StumpBoostingClassifier(loss, n_estimators=25).fit(colors(X), y, weight)
    check_rounds(model, SLOPES[loss], X, colors(X), y, weight, all_votes(X, [2], weight))
    assert np.any(model.stumps_.level >= 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_bag_takes_the_best_of_all_stumps(seed):
    X, y = mixed_table(seed)
    y = np.where(np.arange(len(y)) % 3 == 0, y, X[:, 2] == 2)
    model = StumpBaggingClassifier(40, random_state=seed, categorical_features=[2]).fit(X, y)
    assert np.any(model.stumps_.level >= 0)
    check_bags(model, draws(X, y, seed, 40, n_levels=[0, 0, 4, 0]), X, y, all_votes(X, [2]))


@pytest.mark.parametrize("criterion", ["error", "gini"])
@pytest.mark.parametrize("features", ["best", "random"])
def test_stages_and_curves_are_the_votes_of_the_stumps(criterion, features):
    X, y = mixed_table(7)
    check_ensembles(X, colors(X), y, criterion=criterion, features=features, random_state=0)


@pytest.mark.parametrize("C", [0.05, 1.0, np.inf])
def test_libsvm_on_the_votes(C):
    X, y = mixed_table(1, n=60)
    model = BoostedStumpSVC(80, C=C, tol=1e-9).fit(colors(X), y)
    Z = np.array(list(model.stumps_.votes(X))).T
    svc = SVC(C=min(C, 1e8), kernel="linear", tol=1e-9).fit(Z, y)
    np.testing.assert_allclose(
        model.decision_function(colors(X)), svc.decision_function(Z), atol=2e-4
    )
    np.testing.assert_allclose(model.estimator_weights_, svc.coef_[0], atol=2e-4)
    assert np.any(model.stumps_.level >= 0)
    assert np.isposinf(model.stumps_.threshold).any()


def test_boosting_continues_with_categories():
    X, y = mixed_table(9)
    whole = StumpBoostingClassifier(n_estimators=30).fit(colors(X), y)
    model = StumpBoostingClassifier(n_estimators=12, warm_start=True).fit(colors(X), y)
    model.set_params(n_estimators=30).fit(colors(X), y)
    for one, other in zip(model.stumps_, whole.stumps_, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


# Every learner


def with_color(frame, color):
    return frame.assign(c=pd.Series([color] * len(frame), dtype="str"))


def separable(X):
    """Move rows apart by a little, so that a hard margin exists."""
    return X + np.where(np.arange(4) == 2, 0, np.arange(len(X))[:, None] / 1e4)


def test_unknown_levels_contribute_nothing(learner):
    X, y = mixed_table(10)
    frame = colors(separable(X))
    learner.fit(frame, y)
    new = with_color(frame, "violet")
    others = learner.shapes_.contributions(
        np.column_stack([separable(X)[:, :2], -np.ones(80), X[:, 3]])
    )
    assert np.all(others[:, 2] == 0.0)
    rest = learner.decision_function(frame) - learner.shapes_[2](X[:, 2])
    np.testing.assert_allclose(learner.decision_function(new), rest, atol=1e-12)


def test_unknown_levels_contribute_nothing_at_any_stage():
    X, y = mixed_table(11)
    y = np.where(np.arange(len(y)) % 3 == 0, y, np.isnan(X[:, 2]))
    frame = colors(X)
    for model in (StumpBoostingClassifier(n_estimators=40), BoostedStumpSVC(40)):
        model.fit(frame, y)
        is_missing_test = (model.stumps_.feature == 2) & np.isposinf(model.stumps_.threshold)
        assert is_missing_test.any()  # "is missing" treats an unknown level like the others
        new = with_color(frame, "violet")
        *_, last = model.staged_decision_function(new)
        np.testing.assert_allclose(last, model.decision_function(new), atol=1e-12)


def test_unseen_missing_values_contribute_nothing(learner):
    X, y = mixed_table(12)
    X[:, 2] = np.where(np.isnan(X[:, 2]), 1, X[:, 2])
    frame = colors(separable(X))
    learner.fit(frame, y)
    rest = learner.decision_function(frame) - learner.shapes_[2](X[:, 2])
    missing = learner.decision_function(with_color(frame, None))
    np.testing.assert_allclose(missing, rest, atol=1e-12)
    assert learner.shapes_[2].missing is None


def test_levels_of_no_weight_are_unknown(learner):
    X, y = mixed_table(13)
    if isinstance(learner, SubsampleVotingClassifier):
        return
    weight = np.where(X[:, 2] == 3, 0.0, 1.0)
    frame = colors(separable(X))
    learner.fit(frame, y, sample_weight=weight)
    assert learner.feature_info_[2].levels.tolist() == ["blue", "green", "red"]
    used = weight > 0
    separate = clone(learner).fit(frame[used], y[used])
    np.testing.assert_allclose(
        learner.decision_function(frame), separate.decision_function(frame), atol=1e-12
    )
    np.testing.assert_array_equal(
        learner.decision_function(with_color(frame, "white")),
        learner.decision_function(with_color(frame, "violet")),
    )


def test_unused_categories_of_pandas_are_unknown(learner):
    X, y = mixed_table(14)
    frame = colors(separable(X))
    unused = pd.CategoricalDtype(["violet", *NAMES, "black"])
    learner.fit(frame.astype({"c": unused}), y)
    assert learner.feature_info_[2].levels.tolist() == NAMES.tolist()
    plain = clone(learner).fit(frame, y)
    scores = learner.decision_function(frame)
    np.testing.assert_array_equal(scores, plain.decision_function(frame))
    np.testing.assert_array_equal(scores, learner.decision_function(frame.astype({"c": unused})))


@pytest.mark.parametrize("ordered", [False, True])
def test_the_order_of_levels_does_not_matter(estimator, ordered):
    X, y = mixed_table(15)
    frame = colors(X)
    turned = frame.astype({"c": pd.CategoricalDtype(NAMES[::-1], ordered=ordered)})
    one = clone(estimator).fit(frame, y).decision_function(frame)
    np.testing.assert_allclose(estimator.fit(turned, y).decision_function(turned), one, atol=5e-5)
    np.testing.assert_array_equal(
        estimator.decision_function(frame), estimator.decision_function(turned)
    )


def test_a_single_level(learner):
    X, y = mixed_table(16)
    X = separable(X)
    X[:, 2] = 1.0
    separate = clone(learner).fit(X[:, [0, 1, 3]], y).decision_function(X[:, [0, 1, 3]])
    scores = learner.fit(colors(X), y).decision_function(colors(X))
    assert np.all(np.isfinite(scores))
    if not getattr(learner, "fit_intercept", True):
        return
    assert learner.shapes_[2].levels == pytest.approx([0.0])
    if not hasattr(learner, "estimators_samples_") and not hasattr(learner, "oob_score_"):
        np.testing.assert_allclose(scores, separate, atol=5e-2)


@pytest.mark.parametrize(
    "chosen",
    [[2], [-2], np.array([2]), ["c"], (2,), [False, False, True, False], np.arange(4) == 2],
    ids=str,
)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_numbers_as_categories(chosen, frame):
    X, y = mixed_table(17)
    table = frame(dict(zip("abcd", X.T, strict=True)))
    model = StumpSVC(tol=1e-9, categorical_features=chosen).fit(table, y)
    assert [feature.n_levels for feature in model.feature_info_] == [0, 0, 4, 0]
    assert model.feature_info_[2].levels.tolist() == [0, 1, 2, 3]
    text = StumpSVC(tol=1e-9).fit(colors(X), y).decision_function(colors(X))
    np.testing.assert_allclose(model.decision_function(table), text, atol=5e-5)
    if "c" not in list(chosen):
        plain = StumpSVC(tol=1e-9, categorical_features=chosen).fit(X, y)
        np.testing.assert_array_equal(plain.decision_function(X), model.decision_function(table))


def test_numbers_as_categories_in_every_learner(learner):
    X, y = mixed_table(18)
    X = separable(X)
    text = clone(learner).fit(colors(X), y).decision_function(colors(X))
    inner = learner.estimator if isinstance(learner, SubsampleVotingClassifier) else learner
    inner.set_params(categorical_features=[2])
    np.testing.assert_allclose(learner.fit(X, y).decision_function(X), text, atol=1e-12)
    unknown = X.copy()
    unknown[:, 2] = 7.0
    np.testing.assert_allclose(
        learner.decision_function(unknown), text - learner.shapes_[2](X[:, 2]), atol=1e-12
    )


def test_none_treats_numbers_as_numbers():
    X, y = mixed_table(19)
    model = StumpSVC(categorical_features=None).fit(X, y)
    assert all(feature.levels is None for feature in model.feature_info_)


@pytest.mark.parametrize("subsample", [0.2, 0.5])
@pytest.mark.parametrize("combine", ["mean", "svm"])
def test_votes_of_members_trained_without_every_level(subsample, combine):
    """A level that is new to a member contributes nothing, before and after merging."""
    x, y = many_levels(200, 40)
    frame = pd.DataFrame({"x": x.astype(str), "z": np.random.default_rng(2).random(200)})
    model = SubsampleVotingClassifier(
        StumpSVC(), n_estimators=6, subsample=subsample, combine=combine, random_state=0
    ).fit(frame, y)
    assert any(len(estimator.feature_info_[0].levels) < 40 for estimator in model.estimators_)
    outputs = model.machine_scores(frame) @ model.weights_ + model.intercept_
    np.testing.assert_allclose(model.decision_function(frame), outputs, atol=1e-12)


def test_densities_count_levels(learner):
    X, y = mixed_table(20)
    learner.fit(colors(separable(X)), y)
    density = learner.density_[2]
    np.testing.assert_array_equal(density.counts, [np.sum(X[:, 2] == k) for k in range(4)])
    assert density.missing == np.isnan(X[:, 2]).sum()
