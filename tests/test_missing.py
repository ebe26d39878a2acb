"""Missing values: against imputed data with indicators, exhaustive search, LIBSVM; edge cases."""

import numpy as np
import pytest
from mixed_tables import (
    all_votes,
    check_bags,
    check_ensembles,
    check_rounds,
    filled,
    mixed_table,
    smallest_error,
)
from oracles import seeds
from scipy.special import expit
from sklearn.base import clone
from sklearn.svm import SVC
from test_bagging import draws

from everystump import (
    BoostedStumpSVC,
    DecisionStumpClassifier,
    StumpBaggingClassifier,
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpSVC,
    StumpSVCCV,
    SubsampleVotingClassifier,
)
from everystump._core.columns import make_columns

ESTIMATORS = {
    "hinge": StumpSVC(0.5, tol=1e-9, n_jobs=1),
    "squared hinge": StumpSVC(0.5, loss="squared_hinge", tol=5e-11, n_jobs=1),
    "logistic": StumpLogisticRegression(0.5, tol=5e-11, n_jobs=1),
}
LEARNERS = {
    **ESTIMATORS,
    "no intercept": StumpSVC(fit_intercept=False, n_jobs=1),
    "rank": StumpSVC(measure="rank", n_jobs=1),
    "middle": StumpSVC(measure="middle", n_jobs=1),
    "hard margin": StumpSVC(np.inf, n_jobs=1),
    "hinge path": StumpSVCCV(Cs=[0.1, 1.0], cv=3, interactions=0, n_jobs=1),
    "logistic path": StumpLogisticRegressionCV(Cs=[0.1, 1.0], cv=3, interactions=0, n_jobs=1),
    "stump": DecisionStumpClassifier(n_jobs=1),
    "gini stump": DecisionStumpClassifier(criterion="gini", n_jobs=1),
    "adaboost": StumpBoostingClassifier(n_estimators=20, n_jobs=1),
    "madaboost": StumpBoostingClassifier("mada", n_estimators=20, n_jobs=1),
    "logitboost": StumpBoostingClassifier("logistic", n_estimators=20, n_jobs=1),
    "bagging": StumpBaggingClassifier(30, random_state=0, n_jobs=1),
    "adaboost+svm": BoostedStumpSVC(30, n_jobs=1),
    "votes": SubsampleVotingClassifier(StumpSVC(), n_estimators=3, random_state=0, n_jobs=1),
}
# Minus the derivatives of the losses, up to a factor.
SLOPES = {
    "exponential": lambda m: np.exp(-m),
    "mada": lambda m: np.exp(-2 * np.maximum(m, 0)),
    "logistic": lambda m: expit(-2 * m),
}
SEEDS = seeds(4)
MEASURES = pytest.mark.parametrize("measure", ["uniform", "lebesgue", "middle"])
INTERCEPT = pytest.mark.parametrize("fit_intercept", [True, False])


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return clone(ESTIMATORS[request.param])


@pytest.fixture(params=LEARNERS)
def learner(request):
    return clone(LEARNERS[request.param])


def numbers_with_missing(seed, n_classes=2, n=80):
    return mixed_table(seed, n=n, n_classes=n_classes, categories=())


# Infinite ensembles


@MEASURES
@INTERCEPT
def test_a_missing_value_is_a_median_with_an_indicator(estimator, measure, fit_intercept):
    """The same problem twice; a gap of 1e-9 leaves scores apart by about its root."""
    X, y = numbers_with_missing(0)
    new = numbers_with_missing(1)[0] * 1.5
    estimator.set_params(measure=measure, fit_intercept=fit_intercept)
    plain = clone(estimator).fit(filled(X, X), y)
    estimator.fit(X, y)
    assert np.isnan(new).any()
    for rows in (X, new):
        np.testing.assert_allclose(
            estimator.decision_function(rows), plain.decision_function(filled(rows, X)), atol=5e-5
        )
    assert estimator.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-8)
    assert estimator.half_mass_ == pytest.approx(plain.half_mass_)


@INTERCEPT
def test_a_range_and_missing_values(estimator, fit_intercept):
    X, y = numbers_with_missing(2)
    limits = np.column_stack([np.nanmin(X, axis=0) - 1, np.nanmax(X, axis=0) + 2])
    estimator.set_params(measure="uniform", fit_intercept=fit_intercept, feature_range=limits)
    plain = clone(estimator).set_params(feature_range=[*limits, (0, 1), (0, 1), (0, 1)])
    np.testing.assert_allclose(
        estimator.fit(X, y).decision_function(X),
        plain.fit(filled(X, X), y).decision_function(filled(X, X)),
        atol=5e-5,
    )


@MEASURES
def test_missing_values_and_multiclass(estimator, measure):
    X, y = numbers_with_missing(3, n_classes=3)
    plain = clone(estimator).set_params(measure=measure).fit(filled(X, X), y)
    estimator.set_params(measure=measure).fit(X, y)
    np.testing.assert_allclose(
        estimator.decision_function(X), plain.decision_function(filled(X, X)), atol=5e-5
    )


@MEASURES
@INTERCEPT
def test_weights_move_the_median(estimator, measure, fit_intercept):
    X, y = numbers_with_missing(4)
    weight = np.where(X[:, 0] > 0, 3, 1) * np.where(np.isnan(X[:, 1]), 2, 1)
    estimator.set_params(measure=measure, fit_intercept=fit_intercept)
    weighted = clone(estimator).fit(X, y, weight).decision_function(X)
    again = np.repeat(np.arange(len(y)), weight)
    twice = clone(estimator).fit(X[again], y[again]).decision_function(X)
    explicit = filled(X, X, weight)
    plain = clone(estimator).fit(explicit, y, weight).decision_function(explicit)
    assert not np.array_equal(explicit, filled(X, X))
    np.testing.assert_allclose(weighted, twice, atol=5e-5)
    np.testing.assert_allclose(weighted, plain, atol=5e-5)


@pytest.mark.parametrize("measure", ["mixed", "rank"])
def test_missing_values_do_not_change_the_masses(estimator, measure):
    """Unlike imputed values, missing values add no mass at the median."""
    X, y = numbers_with_missing(5)
    x = X[:, 0]
    whole = ~np.isnan(x)
    separate = clone(estimator).set_params(measure=measure).fit(x[whole, None], y[whole])
    estimator.set_params(measure=measure).fit(x[:, None], y)
    assert estimator.half_mass_ == pytest.approx(separate.half_mass_ + 1)


def test_a_hard_margin_with_missing_values():
    X, y = numbers_with_missing(6, n=25)
    model = StumpSVC(np.inf, measure="uniform", tol=1e-9).fit(X, y)
    plain = StumpSVC(np.inf, measure="uniform", tol=1e-9).fit(filled(X, X), y)
    side = 2 * y - 1
    assert (side * model.decision_function(X)).min() >= 1 - 1e-4
    np.testing.assert_allclose(
        model.decision_function(X), plain.decision_function(filled(X, X)), atol=1e-4
    )


def test_equal_samples_with_missing_values_are_inseparable():
    with pytest.raises(ValueError, match=r"rows with equal features have different labels \(1 of"):
        StumpSVC(np.inf).fit([[1.0], [np.nan], [np.nan], [2.0]], [0, 0, 1, 1])


# Finite ensembles


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", seeds(20))
def test_no_stump_beats_the_best(seed, weighted):
    X, y = numbers_with_missing(seed, n=30)
    weight = np.random.default_rng(seed).integers(1, 4, 30) if weighted else np.ones(30)
    model = DecisionStumpClassifier().fit(X, y, weight)
    side = 2 * y - 1
    expected = smallest_error(all_votes(X, weight=weight), side, weight)
    assert model.error_ == pytest.approx(expected, abs=1e-12)
    wrong = model.predict(X) != y
    assert weight[wrong].sum() / weight.sum() == pytest.approx(expected, abs=1e-12)


def test_is_missing():
    X = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, np.nan], [4.0, 4.0], [1.0, 3.0]])
    model = DecisionStumpClassifier().fit(X, [1, 0, 1, 0, 0])
    assert (model.feature_, model.threshold_, model.direction_, model.error_) == (1, np.inf, 1, 0)
    assert model.predict([[0, np.nan], [0, 1e300]]).tolist() == [1, 0]


@pytest.mark.parametrize("loss", SLOPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_each_round_takes_the_best_of_all_stumps(loss, seed):
    X, y = numbers_with_missing(seed)
    weight = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float)
    model = StumpBoostingClassifier(loss, n_estimators=25).fit(X, y, weight)
    check_rounds(model, SLOPES[loss], X, X, y, weight, all_votes(X, weight=weight))
    assert np.isposinf(model.stumps_.threshold).any()


@pytest.mark.parametrize("seed", SEEDS)
def test_each_bag_takes_the_best_of_all_stumps(seed):
    """A missing value counts as the median of all samples, not of the drawn ones."""
    X, y = numbers_with_missing(seed)
    model = StumpBaggingClassifier(40, random_state=seed).fit(X, y)
    check_bags(model, draws(X, y, seed, 40), X, y, all_votes(X))


@pytest.mark.parametrize("criterion", ["error", "gini"])
@pytest.mark.parametrize("features", ["best", "random"])
def test_stages_and_curves_are_the_votes_of_the_stumps(criterion, features):
    X, y = numbers_with_missing(7)
    check_ensembles(X, X, y, criterion=criterion, features=features, random_state=0)


@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_libsvm_on_the_votes(C, weighted):
    X, y = numbers_with_missing(1)
    weight = np.random.default_rng(0).integers(1, 4, len(y)) if weighted else None
    model = BoostedStumpSVC(40, C=C, tol=1e-9).fit(X, y, weight)
    Z = np.array(list(model.stumps_.votes(X))).T
    svc = SVC(C=C, kernel="linear", tol=1e-9).fit(Z, y, sample_weight=weight)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(Z), atol=1e-4)
    np.testing.assert_allclose(model.estimator_weights_, svc.coef_[0], atol=1e-4)
    assert np.isposinf(model.stumps_.threshold).any()


def test_boosting_continues_with_missing_values():
    X, y = numbers_with_missing(9)
    whole = StumpBoostingClassifier(n_estimators=30).fit(X, y)
    model = StumpBoostingClassifier(n_estimators=12, warm_start=True).fit(X, y)
    model.set_params(n_estimators=30).fit(X, y)
    for one, other in zip(model.stumps_, whole.stumps_, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


# Every learner


def test_unseen_missing_values_contribute_nothing(learner):
    X, y = numbers_with_missing(10)
    X = np.where(np.isnan(X), 0.5, X) + np.arange(len(X))[:, None] / 1e4
    learner.fit(X, y)
    new = X.copy()
    new[::2, 0] = new[1::2, 3] = np.nan
    parts = learner.shapes_.contributions(new)
    np.testing.assert_array_equal(parts[np.isnan(new)], 0.0)
    whole = learner.shapes_.contributions(X)
    np.testing.assert_array_equal(parts[~np.isnan(new)], whole[~np.isnan(new)])
    np.testing.assert_allclose(
        learner.decision_function(new), learner.shapes_.intercept + parts.sum(axis=1), atol=1e-12
    )
    nothing = np.full((1, 4), np.nan)
    assert learner.decision_function(nothing) == pytest.approx(learner.shapes_.intercept)
    assert all(shape.missing is None for shape in learner.shapes_)


def test_unseen_missing_values_contribute_nothing_at_any_stage():
    X, y = numbers_with_missing(11)
    whole = np.where(np.isnan(X), 0.5, X)
    for model in (StumpBoostingClassifier(n_estimators=20), BoostedStumpSVC(20)):
        model.fit(whole, y)
        *_, last = model.staged_decision_function(X)
        np.testing.assert_allclose(last, model.decision_function(X), atol=1e-12)


def test_row_by_row(learner):
    X, y = numbers_with_missing(12)
    learner.fit(X, y)
    one_by_one = np.concatenate([learner.decision_function(row[None]) for row in X])
    np.testing.assert_array_equal(one_by_one, learner.decision_function(X))


def test_all_values_missing(learner):
    """A feature without values is unused, and raises no error."""
    X, y = numbers_with_missing(13)
    if "subsample" in learner.get_params():
        learner.set_params(subsample=1.0)  # the draws depend on all values of the rows
    separate = clone(learner).fit(X[:, 1:], y)
    X[:, 0] = np.nan
    learner.fit(X, y)
    if learner.get_params().get("fit_intercept", True):
        np.testing.assert_allclose(
            learner.decision_function(X), separate.decision_function(X[:, 1:]), atol=2e-2
        )
    assert np.all(np.isfinite(learner.decision_function(X)))
    assert np.all(np.isfinite(learner.decision_function(np.ones((3, 4)))))


def test_one_value_present(learner):
    X, y = numbers_with_missing(14)
    X[1:, 1] = np.nan
    X[0, 1] = 3.0
    learner.fit(X, y)
    assert np.all(np.isfinite(learner.decision_function(X)))
    np.testing.assert_array_equal(learner.predict(X), learner.predict(np.array(X)))


@pytest.mark.parametrize("measure", ["uniform", "lebesgue"])
def test_one_value_present_is_its_indicator(estimator, measure):
    X, y = numbers_with_missing(15)
    X[:, 1] = np.where(np.arange(len(y)) == 7, 3.0, np.nan)
    estimator.set_params(measure=measure)
    plain = clone(estimator).fit(filled(X, X), y).decision_function(filled(X, X))
    np.testing.assert_allclose(estimator.fit(X, y).decision_function(X), plain, atol=5e-5)


def test_missing_in_one_class_only(learner):
    """Then a test for missing values separates the classes."""
    X, y = numbers_with_missing(16)
    X[:, 0] = np.where(y == 1, np.nan, 1.0)
    learner.fit(X, y)
    assert learner.score(X, y) == 1
    shape = learner.shapes_[0]
    assert shape.missing > shape(np.array([1.0]))[0]


def test_threads_change_nothing(learner):
    X, y = numbers_with_missing(17)
    one = clone(learner).set_params(n_jobs=1).fit(X, y).decision_function(X)
    three = clone(learner).set_params(n_jobs=3).fit(X, y).decision_function(X)
    np.testing.assert_allclose(one, three, atol=1e-12)


def test_shuffled_rows_change_nothing(estimator):
    X, y = numbers_with_missing(18)
    order = np.random.default_rng(0).permutation(len(y))
    expected = clone(estimator).fit(X, y).decision_function(X)
    found = estimator.fit(X[order], y[order]).decision_function(X)
    np.testing.assert_allclose(found, expected, atol=5e-5)


def test_samples_of_weight_zero_do_not_count_as_missing(learner):
    X, y = numbers_with_missing(19)
    whole = np.where(np.isnan(X), 0.5, X)
    X, y = np.vstack([whole, X]), np.append(y, y)
    weight = np.repeat([1.0, 0.0], len(whole))
    if isinstance(learner, SubsampleVotingClassifier):
        return
    learner.fit(X, y, sample_weight=weight)
    assert all(shape.missing is None for shape in learner.shapes_)


# Bins


@pytest.mark.parametrize("max_bins", [3, 16, 255, 256])
@pytest.mark.parametrize("n_values", [2, 255, 256, 257, 3000])
def test_missing_values_take_one_bin(max_bins, n_values):
    rng = np.random.default_rng(0)
    x = np.append(rng.permutation(n_values).astype(float), [np.nan] * 5)
    columns = make_columns(x[:, None], max_bins=max_bins)
    column = columns.columns[0]
    assert column.n_bins == min(max_bins, n_values + 1)
    assert columns.codes.dtype == np.uint8
    np.testing.assert_array_equal(columns.codes[0, -5:], column.n_bins - 1)
    assert column.missing == 5
    assert column.exact == (n_values + 1 <= max_bins)
    middle = columns.codes[0, np.flatnonzero(x == (n_values - 1) // 2)[0]]
    assert abs(int(middle) - column.missing_parent) <= (0 if column.exact else 1)


def test_missing_values_do_not_widen_the_codes():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(2000, 2)), rng.random(2000) > 0.5
    X[::3, 0] = np.nan
    model = StumpSVC(C=0.01).fit(X, y)
    assert not model.exact_
    assert len(model.shapes_[0].knots) == 255
    assert len(model.shapes_[1].knots) == 256
