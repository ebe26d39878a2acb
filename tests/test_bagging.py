"""Bagged stumps against stumps refitted one by one on rows drawn with replacement."""

import numpy as np
import pytest
from oracles import every_stump, smallest_error
from sklearn.datasets import load_iris

from everystump import DecisionStumpClassifier, StumpBaggingClassifier
from everystump._core.boosting.bagging import _canonical_order, _sampler
from everystump._core.columns import make_columns
from everystump._core.packing import pack
from everystump.datasets import make_twonorm


@pytest.fixture
def table():
    """Return 60 rows of 3 features, one of them tied, noisy labels, and new rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[:, 1] = np.round(2 * X[:, 1])
    y = (X[:, 0] + X[:, 1] / 2 + rng.normal(size=60) > 0).astype(int)
    return X, y, rng.normal(scale=1.5, size=(200, 3))


def draws(X, y, random_state, n_estimators, n_levels=None):
    """Yield the rows of each bootstrap sample, and the generator for its stump."""
    columns = make_columns(X, max_bins=len(X), n_levels=n_levels)
    order = _canonical_order(pack(columns.codes, columns.sizes), None)
    order = np.concatenate([order[y[order] == side] for side in (1, 0)])
    seed = np.random.RandomState(random_state).randint(np.iinfo(np.int32).max)
    for child in np.random.SeedSequence(int(seed)).spawn(n_estimators):
        rng = np.random.default_rng(child)
        yield order[rng.integers(len(y), size=len(y))], rng


def refitted(X, y):
    """Return feature, threshold and direction of the best stump of some rows; 0 at chance level.

    A constant vote comes first if it is as good as any, else the first feature's lowest cut.
    """
    side = 2 * y - 1
    feature, threshold, votes = every_stump(X)
    edges = votes.T @ side
    if np.abs(edges).max() == abs(side.sum()):
        return 0, -np.inf, np.sign(side.sum())
    j = np.argmax(np.abs(edges))
    return feature[j], threshold[j], np.sign(edges[j])


def votes_on(X, stumps):
    """Return the vote of each stump (a row) on each row of X (a column)."""
    feature, threshold, direction = np.array(stumps).T
    up = threshold[:, None] <= X[:, feature.astype(int)].T
    return np.where(up, 1, -1) * direction[:, None]


@pytest.mark.parametrize("n_estimators", [1000, pytest.param(5000, marks=pytest.mark.slow)])
def test_thousands_of_stumps_are_those_refitted_one_by_one(table, n_estimators):
    X, y, new = table
    model = StumpBaggingClassifier(n_estimators, random_state=3).fit(X, y)
    samples = [rows for rows, _ in draws(X, y, 3, n_estimators)]
    stumps = [refitted(X[rows], y[rows]) for rows in samples]
    expected = votes_on(new, stumps).mean(axis=0)
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-12)
    voting = model.estimator_weights_ > 0
    np.testing.assert_allclose(model.stumps_.threshold[voting], np.array(stumps)[voting, 1])
    np.testing.assert_array_equal(model.estimator_weights_[voting], 1 / n_estimators)


def test_out_of_bag_votes_are_those_of_stumps_trained_without_the_row(table):
    X, y, _ = table
    for n_estimators in (300, 2):
        model = StumpBaggingClassifier(n_estimators, random_state=1).fit(X, y)
        samples = [rows for rows, _ in draws(X, y, 1, n_estimators)]
        votes = votes_on(X, [refitted(X[rows], y[rows]) for rows in samples])
        unseen = np.array([~np.isin(np.arange(60), rows) for rows in samples])
        times = unseen.sum(axis=0)
        expected = np.full(60, np.nan)
        expected[times > 0] = (votes * unseen).sum(axis=0)[times > 0] / times[times > 0]
        np.testing.assert_allclose(model.oob_decision_function_, expected, atol=1e-12)
        right = (expected[times > 0] > 0) == y[times > 0]
        assert model.oob_score_ == pytest.approx(right.mean())
        assert model.oob_error_ == pytest.approx(1 - right.mean())


def test_each_stump_is_fitted_to_its_bag(table):
    X, y, _ = table
    model = StumpBaggingClassifier(50, criterion="gini", random_state=2).fit(X, y)
    for j, (rows, _) in enumerate(draws(X, y, 2, 50)):
        separate = DecisionStumpClassifier(criterion="gini").fit(X[rows], y[rows])
        feature, threshold, level, direction, _, _, error = (a[j] for a in model.stumps_)
        assert (feature, level, direction) == (separate.feature_, -1, separate.direction_)
        assert threshold == pytest.approx(separate.threshold_)
        assert error == pytest.approx(separate.error_, abs=1e-14)


def test_a_random_feature_for_each_sample(table):
    X, y, _ = table
    model = StumpBaggingClassifier(200, features="random", random_state=4).fit(X, y)
    for j, (rows, rng) in enumerate(draws(X, y, 4, 200)):
        d = rng.permutation(3)[0]
        error = smallest_error(X[rows][:, [d]], 2 * y[rows] - 1, np.ones(60))
        if error < 0.5:
            assert model.stumps_.feature[j] == d
            assert model.stumps_.error[j] == pytest.approx(error, abs=1e-12)
    assert set(model.stumps_.feature) == {0, 1, 2}


def test_class_weights_count_once_rows_are_drawn(table):
    X, y, _ = table
    model = StumpBaggingClassifier(100, class_weight={0: 1, 1: 3}, random_state=5).fit(X, y)
    for j, (rows, _) in enumerate(draws(X, y, 5, 100)):
        error = smallest_error(X[rows], 2 * y[rows] - 1, 1.0 + 2 * y[rows])
        assert model.stumps_.error[j] == pytest.approx(error, abs=1e-12)


@pytest.mark.parametrize("features", ["best", "random"])
@pytest.mark.parametrize("max_bins", ["auto", 8])
def test_threads_and_the_order_of_rows_do_not_matter(table, features, max_bins):
    X, y, _ = table
    X, y = np.vstack([X, X[:5]]), np.append(y, 1 - y[:5])
    params = {"features": features, "max_bins": max_bins, "random_state": 0}
    one = StumpBaggingClassifier(101, n_jobs=1, **params).fit(X, y)
    order = np.random.default_rng(1).permutation(len(y))
    for n_jobs in (2, 3):
        other = StumpBaggingClassifier(101, n_jobs=n_jobs, **params).fit(X[order], y[order])
        for a, b in zip(one.stumps_, other.stumps_, strict=True):
            np.testing.assert_array_equal(a, b)
        found, expected = other.oob_decision_function_, one.oob_decision_function_[order]
        if max_bins != "auto":  # rows of the same bins and label are interchangeable
            found, expected = np.sort(found), np.sort(expected)
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("features", ["best", "random"])
@pytest.mark.parametrize("max_bins", ["auto", 8])
def test_integer_weights_count_copies(table, features, max_bins):
    X, y, _ = table
    times = np.random.default_rng(2).integers(0, 4, size=60)
    params = {"features": features, "max_bins": max_bins, "random_state": 0}
    weighted = StumpBaggingClassifier(100, **params).fit(X, y, times)
    rows = np.repeat(np.arange(60), times)
    repeated = StumpBaggingClassifier(100, **params).fit(X[rows], y[rows])
    for a, b in zip(weighted.stumps_, repeated.stumps_, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    np.testing.assert_array_equal(np.isnan(weighted.oob_decision_function_), times == 0)


def test_tiny_weights_are_never_drawn(table):
    X, y, _ = table
    weight = np.where(np.arange(60) < 5, 1e-12, np.random.default_rng(3).uniform(0.5, 2, 60))
    model = StumpBaggingClassifier(300, random_state=0).fit(X, y, weight)
    scores = model.decision_function(X)
    np.testing.assert_allclose(model.oob_decision_function_[:5], scores[:5], atol=1e-12)
    assert not np.allclose(model.oob_decision_function_[5:], scores[5:], atol=1e-3)
    scaled = StumpBaggingClassifier(300, random_state=0).fit(X, y, weight / 1024)
    np.testing.assert_array_equal(scaled.stumps_.threshold, model.stumps_.threshold)


def test_weights_are_draw_probabilities():
    """A sample with draw probability p is missing from (1 - p)^60 of the bags, within 5 sigma."""
    X = np.arange(60.0)[:, None]
    y = (X[:, 0] == 59).astype(int)
    weight = np.where(y == 1, 1.5, 0.7)
    model = StumpBaggingClassifier(4000, random_state=0).fit(X, y, weight)
    p = 1.5 / weight.sum()
    missing = np.mean(np.isneginf(model.stumps_.threshold))
    assert missing == pytest.approx((1 - p) ** 60, abs=5 * 0.5 / np.sqrt(4000))


def test_bags_at_chance_level_do_not_vote():
    X, y = np.ones((4, 2)), np.array([0, 0, 1, 1])
    model = StumpBaggingClassifier(200, random_state=0).fit(X, y)
    sides = [int(np.sign((2 * y - 1)[rows].sum())) for rows, _ in draws(X, y, 0, 200)]
    np.testing.assert_array_equal(model.estimator_weights_, np.abs(sides) / 200)
    np.testing.assert_allclose(model.decision_function([[7.0, 7.0]]), [np.mean(sides)], atol=1e-12)


def test_one_sample_per_class():
    model = StumpBaggingClassifier(50, random_state=0).fit([[3.0], [5.0]], ["no", "yes"])
    assert model.predict([[0.0], [9.0]]).tolist() == ["no", "yes"]


@pytest.mark.filterwarnings("ignore:StumpBaggingClassifier. no sample was left out")
def test_no_out_of_bag_samples_give_no_score():
    X, y = np.array([[3.0], [5.0]]), np.array([0, 1])
    none_left_out = []
    for seed in range(20):
        model = StumpBaggingClassifier(1, random_state=seed).fit(X, y)
        rows = next(draws(X, y, seed, 1))[0]
        none_left_out.append(len(set(rows)) == 2)
        np.testing.assert_array_equal(np.isnan(model.oob_decision_function_), np.isin([0, 1], rows))
        assert np.isnan(model.oob_score_) == none_left_out[-1]
    assert 0 < sum(none_left_out) < 20


def test_large_integer_weights_leave_no_sample_out_and_warn():
    """A weight of 1000 is 1000 copies, and a bag of as many draws contains every sample."""
    X, y = make_twonorm(40, random_state=0)
    with pytest.warns(
        UserWarning, match=r"no sample was left out .* divide sample_weight by its mean"
    ):
        model = StumpBaggingClassifier(20, random_state=0).fit(X, y, np.full(40, 1000.0))
    assert np.isnan(model.oob_score_)
    model.fit(X, y, np.full(40, 1000.5))
    assert model.oob_score_ > 0.5


def test_large_integer_weights_are_draw_frequencies():
    """Of two samples, the one with 100 times the weight is drawn 100 times as often."""
    draw = _sampler(2, np.array([1000.0, 10.0]))
    counts = np.array([draw(np.random.default_rng(seed)) for seed in range(300)])
    np.testing.assert_array_equal(counts.sum(axis=1), 1010)
    assert counts[:, 1].mean() == pytest.approx(10, abs=4 * np.sqrt(10 / 300))


def test_multiclass_is_one_vs_rest():
    X, y = load_iris(return_X_y=True)
    model = StumpBaggingClassifier(100, random_state=0).fit(X, y)
    scores = model.decision_function(X)
    for k in range(3):
        separate = StumpBaggingClassifier(100, random_state=0).fit(X, y == k)
        np.testing.assert_allclose(scores[:, k], separate.decision_function(X), atol=1e-12)
        oob = model.oob_decision_function_[:, k]
        np.testing.assert_allclose(oob, separate.oob_decision_function_, atol=1e-12)
    right = model.oob_decision_function_.argmax(axis=1) == y
    assert model.oob_score_ == pytest.approx(right.mean())


def test_the_out_of_bag_score_is_weighted():
    X, y = make_twonorm(60, random_state=0)
    noisy = np.where(np.random.default_rng(0).random(60) < 0.3, -y, y)
    weight = np.random.default_rng(1).uniform(0.1, 5.0, size=60)
    model = StumpBaggingClassifier(100, random_state=0).fit(X, noisy, weight)
    right = np.where(model.oob_decision_function_ > 0, 1, -1) == noisy
    assert model.oob_score_ == pytest.approx(np.average(right, weights=weight))
    assert model.oob_score_ != pytest.approx(right.mean(), abs=1e-3)
