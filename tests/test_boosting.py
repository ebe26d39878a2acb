"""One stump and boosted stumps: against scikit-learn, NumPy references and closed forms."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import (
    BOOSTING_LOSSES,
    assert_same_stumps,
    every_stump,
    noisy_table,
    search,
    seeds,
    smallest_error,
)
from random_tables import cases
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from everystump import DecisionStumpClassifier, StumpBoostingClassifier
from everystump.datasets import make_twonorm

# Minus the derivatives, up to a factor.
SLOPES = {
    "exponential": lambda m: np.exp(-m),
    "mada": lambda m: np.exp(-2 * np.maximum(m, 0)),
    "logistic": lambda m: expit(-2 * m),
}
SEEDS = seeds(5)


def quietly(fit, *args, **kwargs):
    """Fit, and ignore the warning that every stump has an error of one half."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "StumpBoostingClassifier stopped after .* one half")
        return fit(*args, **kwargs)


def assert_equals_scikit_learn(model, reference, X):
    """Check weights, errors, votes and staged predictions of scikit-learn's AdaBoost.

    Its classes have weights twice as large: it adds to the score of the class voted for.
    """
    stumps = model.stumps_
    np.testing.assert_allclose(2 * stumps.weight, reference.estimator_weights_, rtol=1e-8)
    np.testing.assert_allclose(stumps.error, reference.estimator_errors_, rtol=1e-9)
    for j, estimator in enumerate(reference.estimators_):
        up = X[:, stumps.feature[j]] >= stumps.threshold[j]
        np.testing.assert_array_equal(estimator.predict(X), up == (stumps.direction[j] > 0))
    np.testing.assert_array_equal(list(model.staged_predict(X)), list(reference.staged_predict(X)))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("learning_rate", [1.0, 0.5])
def test_gini_boosting_is_adaboost_on_trees_of_depth_one(seed, weighted, learning_rate):
    """Scikit-learn's trees split by Gini impurity, at thresholds of 32 bits."""
    X, y, weight = noisy_table(seed)
    weight = weight if weighted else None
    params = {"n_estimators": 40, "learning_rate": learning_rate}
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    reference = AdaBoostClassifier(tree, **params).fit(X, y, weight)
    model = StumpBoostingClassifier(criterion="gini", **params).fit(X, y, weight)
    assert_equals_scikit_learn(model, reference, X)
    cuts = np.isfinite(model.stumps_.threshold)
    assert cuts.sum() > 20
    trees = [estimator.tree_ for estimator in reference.estimators_]
    features = np.array([tree.feature[0] for tree in trees])
    thresholds = np.array([tree.threshold[0] for tree in trees])
    np.testing.assert_array_equal(model.stumps_.feature[cuts], features[cuts])
    np.testing.assert_allclose(model.stumps_.threshold[cuts], thresholds[cuts], rtol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_boosting_is_adaboost_on_the_same_stumps(seed, weighted):
    X, y, weight = noisy_table(seed, n=120)
    weight = weight if weighted else None
    reference = AdaBoostClassifier(DecisionStumpClassifier(), n_estimators=30).fit(X, y, weight)
    model = StumpBoostingClassifier(n_estimators=30).fit(X, y, weight)
    assert_equals_scikit_learn(model, reference, X)
    np.testing.assert_array_equal(
        model.stumps_.feature, [e.feature_ for e in reference.estimators_]
    )
    np.testing.assert_array_equal(
        model.stumps_.threshold, [e.threshold_ for e in reference.estimators_]
    )


@search(100)
@given(cases())
def test_no_stump_has_a_smaller_error(case):
    X, y, weight = case.table()
    stump = DecisionStumpClassifier().fit(X, y, weight)
    weight = np.ones(len(y)) if weight is None else weight
    assert stump.error_ == pytest.approx(smallest_error(X, y, weight), abs=1e-12)
    assert stump.error_ == pytest.approx(weight[stump.predict(X) != y].sum() / weight.sum())
    feature, threshold, _ = every_stump(X)
    own = threshold[feature == stump.feature_]
    assert np.any(np.isclose(own, stump.threshold_, rtol=1e-12, atol=0))


@pytest.mark.parametrize(("y", "direction"), [([0, 0, 1], 1), ([1, 1, 0], -1)])
def test_a_stump_in_both_directions(y, direction):
    stump = DecisionStumpClassifier().fit([[0.0], [1.0], [4.0]], y)
    found = stump.feature_, stump.threshold_, stump.direction_, stump.error_
    assert found == (0, 2.5, direction, 0.0)
    np.testing.assert_array_equal(stump.predict([[2.5], [2.4]]), y[::-2])


def test_a_stump_of_a_random_feature_is_the_best_of_that_feature():
    X, y, weight = noisy_table(0)
    drawn = set()
    for seed in range(30):
        stump = DecisionStumpClassifier("random", random_state=seed).fit(X, y, weight)
        drawn.add(stump.feature_)
        own = X[:, [stump.feature_]]
        assert stump.error_ == pytest.approx(smallest_error(own, 2 * y - 1, weight), abs=1e-12)
    assert drawn == {0, 1, 2, 3}


def test_weights_of_a_stump_count_copies():
    X, y, _ = noisy_table(1)
    times = np.random.default_rng(0).integers(0, 4, size=len(y))
    weighted = DecisionStumpClassifier().fit(X, y, times)
    repeated = DecisionStumpClassifier().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_same_stumps(weighted.stumps_, repeated.stumps_)


def test_one_stump_rejects_three_classes():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"3 classes.*use StumpBoostingClassifier"):
        DecisionStumpClassifier().fit(X, y)


@pytest.mark.parametrize("loss", BOOSTING_LOSSES)
@search(60)
@given(
    case=cases(),
    features=st.sampled_from(["best", "random"]),
    criterion=st.sampled_from(["error", "gini"]),
    learning_rate=st.sampled_from([0.5, 1.0]),
)
def test_the_loss_never_rises(loss, case, features, criterion, learning_rate):
    """Up to rounding, 1e-12 of the loss at the start."""
    X, y, weight = case.table()
    model = StumpBoostingClassifier(
        loss,
        n_estimators=40,
        features=features,
        criterion=criterion,
        learning_rate=learning_rate,
        random_state=case.seed,
    )
    quietly(model.fit, X, y, weight)
    if np.any(model.estimator_errors_ == 0):
        assert model.score(X, y) == 1
        np.testing.assert_array_equal(model.estimator_weights_, [1.0])
        return
    staged = [np.zeros(len(y)), *model.staged_decision_function(X)]
    losses = [np.average(BOOSTING_LOSSES[loss](y * score), weights=weight) for score in staged]
    assert np.all(np.diff(losses) <= 1e-12)


FIELDS = ("feature", "threshold", "direction", "weight", "error")


def boost_in_numpy(loss, X, y, weight, rounds):
    """Boost in plain NumPy: every stump tried, steps by a root finder; y in {-1, 1}."""
    feature, threshold, votes = every_stump(X)
    score, found = np.zeros(len(y)), []
    for _ in range(rounds):
        row_weight = weight * SLOPES[loss](y * score)
        edges = votes.T @ (row_weight * y) / row_weight.sum()
        j = np.argmax(np.abs(edges))
        vote = votes[:, j] * np.sign(edges[j])

        def slope(t, score=score, vote=vote):
            return np.sum(weight * SLOPES[loss](y * (score + t * vote)) * y * vote)

        step = brentq(slope, 0, 50, xtol=1e-14)
        found.append((feature[j], threshold[j], np.sign(edges[j]), step, (1 - abs(edges[j])) / 2))
        score = score + step * vote
    return map(np.array, zip(*found, strict=True)), score


@pytest.mark.parametrize("loss", BOOSTING_LOSSES)
@pytest.mark.parametrize("seed", SEEDS)
def test_boosting_against_plain_numpy(loss, seed):
    """Steps solve for a slope of 1e-10, so weights agree to about as much."""
    X, y, weight = noisy_table(seed, n=100)
    model = StumpBoostingClassifier(loss, n_estimators=30).fit(X, y, weight)
    stumps, score = boost_in_numpy(loss, X, 2 * y - 1, weight, 30)
    cuts = np.isfinite(model.stumps_.threshold)
    for name, expected in zip(FIELDS, stumps, strict=True):
        selected = cuts if name == "feature" else slice(None)
        found = getattr(model.stumps_, name)[selected]
        np.testing.assert_allclose(found, expected[selected], rtol=1e-7, err_msg=name)
    np.testing.assert_allclose(model.decision_function(X), score, atol=1e-7)


@pytest.mark.parametrize("loss", BOOSTING_LOSSES)
def test_probabilities_are_those_of_half_log_odds(loss):
    X, y = make_twonorm(200, random_state=0)
    model = StumpBoostingClassifier(loss, n_estimators=20).fit(X, y)
    expected = expit(2 * model.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)


def test_margins_are_fractions_of_the_vote():
    X, y, _ = noisy_table(2)
    model = StumpBoostingClassifier(n_estimators=25).fit(X, y)
    stumps = model.stumps_
    votes = np.where(X[:, stumps.feature] >= stumps.threshold, 1, -1) * stumps.direction
    expected = (2 * y - 1) * (votes @ stumps.weight) / stumps.weight.sum()
    np.testing.assert_allclose(model.margins(X, y), expected, atol=1e-12)
    assert np.abs(model.margins(X, y)).max() <= 1
    with pytest.raises(ValueError, match=r"classes \[0, 1\]"):
        model.margins(X, y + 1)


@pytest.mark.parametrize("features", ["best", "random"])
@pytest.mark.parametrize("max_bins", ["auto", 8])
def test_weights_count_copies_in_any_order(features, max_bins):
    X, y, _ = noisy_table(1)
    times = np.random.default_rng(0).integers(0, 4, size=len(y))
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), times))
    params = {"n_estimators": 30, "features": features, "max_bins": max_bins, "random_state": 0}
    weighted = StumpBoostingClassifier(**params).fit(X, y, times)
    repeated = StumpBoostingClassifier(**params).fit(X[rows], y[rows])
    assert_same_stumps(weighted.stumps_, repeated.stumps_, rtol=1e-8)


def test_class_weights_are_factors_of_the_weights():
    X, y, weight = noisy_table(1)
    by_class = StumpBoostingClassifier(class_weight={0: 2, 1: 5}).fit(X, y, weight)
    by_row = StumpBoostingClassifier().fit(X, y, weight * (2 + 3 * y))
    assert_same_stumps(by_class.stumps_, by_row.stumps_)


@pytest.mark.parametrize("loss", BOOSTING_LOSSES)
def test_threads_share_the_rows_of_large_tables(loss):
    X, y = make_twonorm(150_000, n_features=3, random_state=0)
    one, three = (StumpBoostingClassifier(loss, n_jobs=n, n_estimators=5) for n in (1, 3))
    assert_same_stumps(one.fit(X, y).stumps_, three.fit(X, y).stumps_, rtol=1e-7)


def test_multiclass_is_one_vs_rest():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = StumpBoostingClassifier(n_estimators=15).fit(X, names)
    scores, staged = model.decision_function(X), list(model.staged_decision_function(X))
    np.testing.assert_allclose(staged[-1], scores, atol=1e-12)
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])
    margins = model.margins(X, names)
    for k in range(3):
        separate = StumpBoostingClassifier(n_estimators=15).fit(X, y == k)
        # A perfect stump outweighs all other classes together.
        scale = model.stumps_[k].weight[0] / separate.stumps_.weight[0]
        assert scale == 1 if k else scale > max(model.stumps_[j].weight.sum() for j in (1, 2))
        weight = scale * separate.stumps_.weight
        assert_same_stumps(model.stumps_[k], separate.stumps_._replace(weight=weight))
        np.testing.assert_allclose(scores[:, k], scale * separate.decision_function(X), atol=1e-12)
        own = y == k
        np.testing.assert_allclose(margins[own], separate.margins(X, own)[own], atol=1e-12)


def test_too_few_rows_to_hold_out():
    with pytest.raises(
        ValueError, match=r"validation_fraction=0\.1: 4 rows of 2 classes are too few"
    ):
        StumpBoostingClassifier(validation_fraction=0.1).fit([[0], [1], [2], [3]], [0, 1, 0, 1])


@pytest.mark.parametrize("loss", BOOSTING_LOSSES)
def test_only_a_perfect_stump_is_kept_in_any_round(loss):
    X, y, weight = noisy_table(0)
    X[:, 2] = y
    perfect, late = [[2], [0.5], [-1], [1], [0], [1.0], [0.0]], 0
    best = StumpBoostingClassifier(loss).fit(X, y, weight)
    assert [array.tolist() for array in best.stumps_] == perfect
    for seed in range(20):
        model = StumpBoostingClassifier(loss, features="random", random_state=seed)
        assert [array.tolist() for array in model.fit(X, y, weight).stumps_] == perfect
        late += model.set_params(n_estimators=1).fit(X, y, weight).stumps_.feature[0] != 2
    assert late > 5


@pytest.mark.parametrize("loss", BOOSTING_LOSSES)
@pytest.mark.parametrize("features", ["best", "random"])
def test_warns_if_no_stump_is_better_than_chance(loss, features):
    model = StumpBoostingClassifier(loss, features=features)
    with pytest.warns(UserWarning, match=r"stopped after 0 of n_estimators=100 .* one half"):
        model.fit([[1.0, 2.0]] * 4, [0, 1, 1, 0])
    assert len(model.estimator_weights_) == 0
    assert list(model.staged_predict([[1.0, 2.0]])) == []
    np.testing.assert_array_equal(model.predict_proba([[5.0, 0.0]]), [[0.5, 0.5]])
    np.testing.assert_array_equal(model.margins([[5.0, 0.0]], [1]), [0.0])
    with pytest.warns(UserWarning, match="stopped after 1 of"):
        model.fit([[1.0, 2.0]] * 4, [0, 1, 1, 1])
    np.testing.assert_allclose(model.predict_proba([[5.0, 0.0]]), [[0.25, 0.75]], rtol=1e-9)


@pytest.mark.parametrize("loss", BOOSTING_LOSSES)
@pytest.mark.parametrize("features", ["best", "random"])
def test_identical_rows_with_opposite_labels_get_their_log_odds(loss, features):
    """Boosting ends at the minimum of all three losses: half the log-odds of each distinct row.

    It ends when edges are 1e-12, or after 1,000 rounds when they are about 1e-6.
    """
    positive, negative = np.array([1.0, 5, 2, 3]), np.array([2.0, 1, 4, 3])
    X = np.tile([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 0.0]], (2, 1))
    y, weight = np.repeat([1, 0], 4), np.concatenate([positive, negative])
    model = StumpBoostingClassifier(loss, n_estimators=1000, features=features, random_state=0)
    quietly(model.fit, X, y, weight)
    expected = np.log(positive / negative) / 2
    np.testing.assert_allclose(model.decision_function(X[:4]), expected, atol=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("criterion", ["error", "gini"])
def test_boosting_stops_only_if_every_stump_is_at_chance(seed, criterion):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, size=(40, 2)).astype(float), rng.integers(0, 2, size=40)
    model = StumpBoostingClassifier(criterion=criterion, n_estimators=20_000)
    with pytest.warns(UserWarning, match="one half"):
        model.fit(X, y)
    side = 2 * y - 1
    weight = np.exp(-side * model.decision_function(X))
    assert smallest_error(X, side, weight) == pytest.approx(0.5, abs=1e-10)


TINY = {
    "separable": (np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])),
    "not separable": (np.array([[0.0], [1.0], [2.0], [1.0]]), np.array([0, 1, 0, 0])),
}


@pytest.mark.parametrize("n_rounds", [3000, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("loss", BOOSTING_LOSSES)
@pytest.mark.parametrize("table", TINY)
def test_many_rounds(loss, table, n_rounds):
    X, y = TINY[table]
    model = quietly(StumpBoostingClassifier(loss, n_estimators=n_rounds).fit, X, y)
    weights, score = model.estimator_weights_, model.decision_function(X)
    assert np.all(np.isfinite(weights) & (weights > 0))
    assert np.all(np.isfinite(score) & np.isfinite(model.predict_log_proba(X)).all(axis=1))
    if table == "separable":
        assert len(weights) == n_rounds
        np.testing.assert_array_equal(model.predict(X), y)
        # The best margin is 1/3: each of the three cuts has a third of the vote.
        np.testing.assert_allclose(model.margins(X, y).min(), 1 / 3, atol=100 / n_rounds)


@pytest.mark.parametrize("loss", BOOSTING_LOSSES)
@pytest.mark.parametrize("features", ["best", "random"])
@pytest.mark.parametrize("decades", [0, 4, 12])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_last_stump_is_at_chance_under_new_weights(loss, features, decades, seed):
    """The step ends where both sides weigh the same, also for weights of 24 orders of magnitude."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, size=(12, 3)).astype(float), np.arange(12) % 2
    weight = 10.0 ** rng.uniform(-decades, decades, size=12)
    model = StumpBoostingClassifier(loss, n_estimators=30, features=features, random_state=seed)
    quietly(model.fit, X, y, weight)
    stumps, side = model.stumps_, 2 * y - 1
    right = (X[:, stumps.feature] >= stumps.threshold) == (stumps.direction * side[:, None] > 0)
    for j, score in enumerate(model.staged_decision_function(X)):
        row_weight = weight * SLOPES[loss](side * score)
        assert row_weight[right[:, j]].sum() == pytest.approx(
            row_weight[~right[:, j]].sum(), rel=1e-6
        )


def test_one_sample_per_class():
    model = StumpBoostingClassifier("mada").fit([[3.0], [5.0]], ["no", "yes"])
    assert [array.tolist() for array in model.stumps_] == [[0], [4.0], [-1], [1], [0], [1.0], [0.0]]
    assert model.predict([[0.0], [9.0]]).tolist() == ["no", "yes"]


@pytest.mark.parametrize("loss", BOOSTING_LOSSES)
@pytest.mark.parametrize("learning_rate", [1.5, 1.99])
def test_weights_are_finite_up_to_twice_the_step(loss, learning_rate):
    X, y, weight = TINY["separable"][0][[0, 0, 1, 1]], [0, 1, 0, 1], [1.0, 2.0, 5.0, 1.0]
    model = StumpBoostingClassifier(loss, n_estimators=300, learning_rate=learning_rate)
    quietly(model.fit, X, y, weight)
    assert np.all(np.isfinite(model.estimator_weights_))


def test_ties_within_a_side_do_not_depend_on_rounding():
    """Weights count rows, also where a side of a split holds equal weights of both classes."""
    rng = np.random.default_rng(10)
    n = int(rng.integers(8, 60))
    X, y = rng.normal(size=(n, 3)), rng.integers(0, 2, n)
    y[:2] = 0, 1
    weight = rng.integers(0, 4, n)
    weight[:2] = 1
    repeated = np.repeat(np.arange(n), weight)
    model = StumpBoostingClassifier(n_estimators=15, criterion="gini")
    weighted = clone(model).fit(X, y, sample_weight=weight).decision_function(X)
    np.testing.assert_allclose(
        weighted, model.fit(X[repeated], y[repeated]).decision_function(X), atol=1e-9
    )


@pytest.mark.parametrize("criterion", ["error", "gini"])
def test_minimum_side_weights_do_not_depend_on_rounding(criterion):
    """3 of 12 rows are a quarter of them, as weights and as copies."""
    X = np.array([[2.0], [3.0], [4.0], [3.0], [4.0]])
    y, weight = np.array([0, 1, 0, 1, 1]), np.array([3, 2, 1, 3, 3])
    model = StumpBoostingClassifier(
        n_estimators=1, criterion=criterion, min_weight_fraction_leaf=0.25
    )
    weighted = clone(model).fit(X, y, sample_weight=weight).stumps_
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).stumps_
    assert weighted.threshold == repeated.threshold == 2.5
