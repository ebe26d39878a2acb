"""Conformal prediction: its guarantee as a theorem, and the same numbers as MAPIE."""

import numpy as np
import pytest
from scipy.stats import beta, kstest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.linear_model import QuantileRegressor as LinearQuantileRegressor
from sklearn.metrics import mean_pinball_loss
from sklearn.pipeline import make_pipeline

from everystump import StumpLogisticRegression, StumpRegressor, StumpSVC
from everystump.conformal import (
    ConformalizedQuantileRegressor,
    SplitConformalClassifier,
    SplitConformalRegressor,
    predict_quantiles,
)
from everystump.conformal._conformal import conformal_quantile, conformal_rank


class Constant(RegressorMixin, BaseEstimator):
    """Predict a constant: the residuals of uniform targets are then uniform."""

    def __init__(self, value=0.0):
        self.value = value

    def fit(self, X, y):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        return np.full(len(X), self.value)


def noisy(n, seed=0):
    """Return one feature and a target whose noise grows with it."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 1))
    return X, np.sin(6 * X[:, 0]) + (0.1 + X[:, 0]) * rng.normal(size=n)


def test_rank_is_the_smallest_with_the_guarantee():
    for n in range(1, 60):
        for level in (0.5, 0.8, 0.9, 0.95):
            k = conformal_rank(n, level)
            assert k / (n + 1) >= level - 1e-9 > (k - 1) / (n + 1) - 2e-9


def test_quantile_is_an_order_statistic():
    scores = np.random.default_rng(0).permutation(99) + 1.0
    assert conformal_quantile(scores, 0.9) == 90.0
    assert conformal_quantile(scores, 0.99) == 99.0
    assert conformal_quantile(scores, 0.995) == np.inf


def test_coverage_has_a_beta_distribution():
    """Given n calibration samples, the coverage of new ones is Beta(k, n + 1 - k).

    Targets are uniform on (0, 1) and predictions 0, so that the coverage of the interval (-w, w) is
    w itself, and no test samples are needed.
    """
    rng = np.random.default_rng(0)
    n, level, X = 40, 0.9, np.zeros((40, 1))
    model = SplitConformalRegressor(Constant().fit(None, None), level)
    coverages = []
    for _ in range(2000):
        _, intervals = model.conformalize(X, rng.uniform(size=n)).predict_interval(X[:1])
        coverages.append(intervals[0, 1, 0])
    k = conformal_rank(n, level)
    # A correct law fails at this level with a probability of 0.001, and the seed is fixed.
    assert kstest(coverages, beta(k, n + 1 - k).cdf).pvalue > 0.001
    # The neighboring ranks are rejected, so that the test can fail.
    for other in (k - 1, k + 1):
        assert kstest(coverages, beta(other, n + 1 - other).cdf).pvalue < 1e-12


@pytest.mark.parametrize("symmetric_correction", [False, True])
def test_coverage_of_quantile_intervals(symmetric_correction):
    """The mean coverage over calibration samples is between the level and the level + 2/(n + 1)."""
    n, X_test, y_test = 99, *noisy(20_000, seed=1)
    X, y = noisy(300, seed=2)
    model = ConformalizedQuantileRegressor(StumpRegressor(loss="quantile", C=0.1))
    model.fit(X, y)
    coverages, above, below = [], [], []
    for seed in range(100):
        model.conformalize(*noisy(n, seed=10 + seed))
        _, intervals = model.predict_interval(X_test, symmetric_correction=symmetric_correction)
        low, high = intervals[:, :, 0].T
        below.append(np.mean(y_test < low))
        above.append(np.mean(y_test > high))
        coverages.append(1 - above[-1] - below[-1])
    error = 4 * np.std(coverages) / 10  # four standard errors
    assert 0.9 - error < np.mean(coverages) < 0.9 + 0.02 + error
    if not symmetric_correction:
        assert np.mean(above) < 0.05 + error
        assert np.mean(below) < 0.05 + error


@pytest.mark.parametrize("conformity_score", ["lac", "aps"])
def test_coverage_of_sets(conformity_score):
    X, y = make_classification(11_000, n_classes=4, n_informative=6, class_sep=0.7, random_state=0)
    fitted = LogisticRegression().fit(X[:500], y[:500])
    model = SplitConformalClassifier(fitted, [0.8, 0.95], conformity_score)
    test, coverages = slice(8000, None), []
    for k in range(50):
        part = slice(500 + 150 * k, 500 + 150 * (k + 1))
        _, sets = model.conformalize(X[part], y[part]).predict_set(X[test])
        coverages.append(sets[np.arange(3000), y[test]].mean(axis=0))
        assert (sets.sum(axis=1) >= (conformity_score == "aps")).all()
        assert (sets[:, :, 1] >= sets[:, :, 0]).all()
    error = 4 * np.std(coverages, axis=0) / np.sqrt(50) + 0.01  # 3,000 common test samples
    assert np.all(np.mean(coverages, axis=0) > np.array([0.8, 0.95]) - error)
    if conformity_score == "lac":  # without randomization, other sets are larger
        assert np.all(np.mean(coverages, axis=0) < np.array([0.8, 0.95]) + 1 / 151 + error)


def test_intervals_by_hand():
    X = np.zeros((9, 1))
    model = SplitConformalRegressor(Constant(2.0).fit(None, None), [0.5, 0.9])
    model.conformalize(X, 2 + np.array([1, -2, 3, -4, 5, -6, 7, -8, 9]))
    assert model.conformity_scores.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    predictions, intervals = model.predict_interval(X[:2])
    assert predictions.tolist() == model.predict(X[:2]).tolist() == [2.0, 2.0]
    assert intervals.tolist() == [[[-3.0, -7.0], [7.0, 11.0]]] * 2


def test_few_calibration_samples():
    X = np.zeros((8, 1))
    model = SplitConformalRegressor(Constant().fit(None, None)).conformalize(X, np.arange(8.0))
    with pytest.raises(ValueError, match="needs at least 9 calibration samples, and there are 8"):
        model.predict_interval(X)
    _, intervals = model.predict_interval(X, allow_infinite_bounds=True)
    assert np.all(intervals == [[-np.inf], [np.inf]])
    nine = SplitConformalRegressor(Constant().fit(None, None)).conformalize(
        np.zeros((9, 1)), np.arange(9.0)
    )
    assert np.isfinite(nine.predict_interval(X)[1]).all()
    quantiles = ConformalizedQuantileRegressor([Constant().fit(None, None)] * 3, 0.9, prefit=True)
    quantiles.conformalize(X, np.arange(8.0))
    with pytest.raises(ValueError, match="needs at least 19 calibration samples"):
        quantiles.predict_interval(X)
    with pytest.raises(ValueError, match="needs at least 9 calibration samples"):
        quantiles.predict_interval(X, symmetric_correction=True)
    assert np.isinf(quantiles.predict_interval(X, allow_infinite_bounds=True)[1]).all()


def test_sets_of_few_calibration_samples_contain_all_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 3
    fitted = LogisticRegression().fit(X, y)
    _, sets = SplitConformalClassifier(fitted, 0.99).conformalize(X, y).predict_set(X)
    assert sets.all()


def test_rearranged_quantiles_never_have_a_larger_pinball_loss():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + rng.normal(size=60)
    levels = [0.3, 0.4, 0.5, 0.6, 0.7]
    models = [StumpRegressor(C=10, loss="quantile", quantile=q).fit(X, y) for q in levels]
    X, y = rng.normal(size=(500, 4)), rng.normal(size=500)
    crossing = np.column_stack([model.predict(X) for model in models])
    assert (np.diff(crossing) < 0).mean() > 0.05
    found = predict_quantiles(models, X)
    assert (np.diff(found) >= 0).all()

    def losses(predicted):
        """Return the sum of the pinball losses of each sample."""
        distance = y[:, None] - predicted
        return np.sum(np.maximum(levels * distance, (np.array(levels) - 1) * distance), axis=1)

    assert (losses(found) <= losses(crossing) + 1e-12).all()
    total = sum(mean_pinball_loss(y, found[:, k], alpha=q) for k, q in enumerate(levels))
    assert losses(found).mean() == pytest.approx(total)


def test_quantile_intervals_adapt_to_the_noise():
    X, y = noisy(2000)
    model = ConformalizedQuantileRegressor(StumpRegressor(loss="quantile", C=0.1), 0.8)
    model.fit(X[:1000], y[:1000]).conformalize(X[1000:], y[1000:])
    predictions, intervals = model.predict_interval(X)
    widths = np.diff(intervals[:, :, 0], axis=1).ravel()
    assert widths[X[:, 0] > 0.8].mean() > 2.5 * widths[X[:, 0] < 0.2].mean()
    assert (widths >= 0).all()
    assert np.array_equal(predictions, model.predict(X))


def test_empty_intervals_become_points():
    """If quantiles are too far apart, both corrections are negative and may cross."""
    low, high = Constant(-100.0).fit(None, None), Constant(0.1).fit(None, None)
    X = np.zeros((50, 1))
    model = ConformalizedQuantileRegressor([low, high, high], 0.5, prefit=True)
    y = np.concatenate([np.full(25, -100.0), np.full(25, -100.5)])
    _, intervals = model.conformalize(X, y).predict_interval(X)
    assert (np.diff(intervals[:, :, 0], axis=1) >= 0).all()


def test_other_regressors():
    X, y = noisy(300)
    model = ConformalizedQuantileRegressor(LinearQuantileRegressor(alpha=0.0))
    model.fit(X[:200], y[:200]).conformalize(X[200:], y[200:])
    assert [own.quantile for own in model.estimator_] == pytest.approx([0.05, 0.95, 0.5])
    weighted = SplitConformalRegressor(LinearRegression(), prefit=False)
    weighted.fit(X[:200], y[:200], {"sample_weight": np.arange(200)})
    expected = LinearRegression().fit(X[:200], y[:200], np.arange(200)).predict(X)
    np.testing.assert_allclose(weighted.conformalize(X[200:], y[200:]).predict(X), expected)


def test_copies_are_not_fitted():
    X, y = noisy(200)
    model = SplitConformalRegressor(StumpRegressor(), prefit=False).fit(X[:100], y[:100])
    copied = clone(model.conformalize(X[100:], y[100:]))
    assert copied.get_params()["confidence_level"] == 0.9
    with pytest.raises(NotFittedError, match="call fit before conformalize"):
        copied.conformalize(X, y)
    with pytest.raises(NotFittedError, match="call conformalize first"):
        model.fit(X[:50], y[:50]).predict_interval(X)


def test_errors():
    X, y = noisy(100)
    fitted = StumpRegressor().fit(X, y)
    with pytest.raises(ValueError, match="prefit=True: the estimator is fitted already"):
        SplitConformalRegressor(fitted).fit(X, y)
    with pytest.raises(ValueError, match=r"confidence_level=1.5 must be a number"):
        SplitConformalRegressor(fitted, 1.5).conformalize(X, y)
    with pytest.raises(NotFittedError):
        SplitConformalRegressor(StumpRegressor()).conformalize(X, y)
    with pytest.raises(ValueError, match="one number for each of the 100 samples"):
        SplitConformalRegressor(fitted).conformalize(X, y[:50])
    with pytest.raises(ValueError, match="does not predict quantiles"):
        ConformalizedQuantileRegressor(StumpRegressor()).fit(X, y)
    with pytest.raises(ValueError, match="does not predict quantiles"):
        ConformalizedQuantileRegressor(LinearRegression()).fit(X, y)
    with pytest.raises(ValueError, match="pass one number"):
        ConformalizedQuantileRegressor(confidence_level=[0.8, 0.9]).fit(X, y)
    with pytest.raises(ValueError, match="must be a list of three fitted regressors"):
        ConformalizedQuantileRegressor(fitted, prefit=True).conformalize(X, y)
    svm = StumpSVC().fit(X, y > 0)
    with pytest.raises(ValueError, match="has no predict_proba; wrap it"):
        SplitConformalClassifier(svm).conformalize(X, y > 0)
    logistic = StumpLogisticRegression().fit(X, y > 0)
    with pytest.raises(ValueError, match="conformity_score='raps' must be"):
        SplitConformalClassifier(logistic, conformity_score="raps").conformalize(X, y > 0)


@pytest.mark.parametrize("model", [None, "regressor", [StumpRegressor()], StumpRegressor, np.sin])
def test_what_is_not_an_estimator(model):
    X, y = noisy(100)
    for predictor in (
        SplitConformalRegressor(model),
        SplitConformalRegressor(model, prefit=False),
        SplitConformalClassifier(model),
        ConformalizedQuantileRegressor([model] * 3, prefit=True),
        ConformalizedQuantileRegressor(model or "none"),
    ):
        work = predictor.conformalize if predictor.prefit else predictor.fit
        with pytest.raises(ValueError, match=r"^estimator.*=.* is not a (regr|class).*; pass one"):
            work(X, y)
    with pytest.raises(ValueError, match=r"models=.* must be a list|models\[0\]=.* is not a"):
        predict_quantiles([model], X)


def test_models_that_do_not_predict_a_number():
    X, y = noisy(100)
    classifier = StumpLogisticRegression().fit(X, y > 0)
    message = (
        r"estimator=KMeans\(.*\) is a clusterer, which has no prediction intervals; pass a reg"
    )
    with pytest.raises(ValueError, match=message):
        SplitConformalRegressor(KMeans(2).fit(X)).conformalize(X, y)
    with pytest.raises(ValueError, match=r"estimator\[0\]=.* is a classifier"):
        ConformalizedQuantileRegressor([classifier] * 3, prefit=True).conformalize(X, y)
    with pytest.raises(ValueError, match=r"models\[1\]=.* is a classifier"):
        predict_quantiles([StumpRegressor().fit(X, y), classifier], X)
    for models in ([], StumpRegressor().fit(X, y)):
        with pytest.raises(ValueError, match=r"models=.* must be a list of fitted regressors"):
            predict_quantiles(models, X)
    two = LinearRegression().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=r"predicts an array of shape \(100, 2\)"):
        SplitConformalRegressor(two).conformalize(X, y)


@pytest.mark.parametrize("wrap", [lambda model: model, make_pipeline])
def test_models_of_the_other_kind(wrap):
    X, y = noisy(100)
    regressor, classifier = wrap(StumpRegressor()), wrap(StumpLogisticRegression())
    regressor.fit(X, y)
    classifier.fit(X, y > 0)
    with pytest.raises(ValueError, match=r"is a classifier.*use SplitConformalClassifier"):
        SplitConformalRegressor(classifier).conformalize(X, y > 0)
    with pytest.raises(ValueError, match=r"is a classifier.*use SplitConformalClassifier"):
        SplitConformalRegressor(classifier, prefit=False).fit(X, y > 0)
    with pytest.raises(ValueError, match=r"is a regressor.*use SplitConformalRegressor"):
        SplitConformalClassifier(regressor).conformalize(X, y)
    with pytest.raises(ValueError, match=r"is a regressor.*use SplitConformalRegressor"):
        SplitConformalClassifier(regressor, prefit=False).fit(X, y)


class TestAgainstMapie:
    """The same intervals and sets as MAPIE, and our models inside it."""

    @pytest.fixture(autouse=True)
    def _needs_mapie(self):
        pytest.importorskip("mapie", minversion="1.0")

    def test_intervals(self):
        from mapie.regression import SplitConformalRegressor as Theirs

        X, y = noisy(400)
        model = StumpRegressor(C=0.1).fit(X[:200], y[:200])
        for n, levels in ((20, 0.9), (99, [0.5, 0.8, 0.9]), (150, [0.95])):
            part = slice(200, 200 + n)
            ours = SplitConformalRegressor(model, levels).conformalize(X[part], y[part])
            theirs = Theirs(model, levels).conformalize(X[part], y[part])
            for one, other in zip(
                ours.predict_interval(X), theirs.predict_interval(X), strict=True
            ):
                assert one.shape == other.shape
                np.testing.assert_allclose(one, other, rtol=1e-12)

    @pytest.mark.parametrize("symmetric_correction", [False, True])
    def test_quantile_intervals(self, symmetric_correction):
        from mapie.regression import ConformalizedQuantileRegressor as Theirs

        X, y = noisy(600)
        models = [
            StumpRegressor(C=0.01, loss="quantile", quantile=q).fit(X[:300], y[:300])
            for q in (0.1, 0.9, 0.5)
        ]
        predicted = np.column_stack([models[k].predict(X) for k in (0, 2, 1)])
        assert (np.diff(predicted) >= 0).all()  # MAPIE does not rearrange quantiles
        parts = []
        for cls in (ConformalizedQuantileRegressor, Theirs):
            model = cls(models, confidence_level=0.8, prefit=True).conformalize(X[300:], y[300:])
            parts.append(model.predict_interval(X, symmetric_correction=symmetric_correction))
        for one, other in zip(*parts, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)

    def test_sets(self):
        from mapie.classification import SplitConformalClassifier as Theirs

        X, y = make_classification(900, n_classes=3, n_informative=5, random_state=0)
        model = StumpLogisticRegression().fit(X[:400], y[:400])
        parts = []
        for cls in (SplitConformalClassifier, Theirs):
            fitted = cls(model, confidence_level=[0.8, 0.9]).conformalize(X[400:700], y[400:700])
            parts.append(fitted.predict_set(X[700:]))
        for one, other in zip(*parts, strict=True):
            assert np.array_equal(one, other)

    def test_cross_conformal_regression_inside_mapie(self):
        from mapie.regression import CrossConformalRegressor

        X, y = noisy(300)
        model = CrossConformalRegressor(StumpRegressor(C=0.1), confidence_level=0.9)
        _, intervals = model.fit_conformalize(X[:200], y[:200]).predict_interval(X[200:])
        low, high = intervals[:, :, 0].T
        assert np.mean((low <= y[200:]) & (y[200:] <= high)) > 0.8


@pytest.mark.parametrize("kind", ["split", "quantiles"])
def test_display_of_intervals(kind):
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    from everystump.explain import IntervalsDisplay

    X, y = noisy(500)
    model = SplitConformalRegressor(StumpRegressor(C=0.1), [0.8, 0.9], prefit=False)
    if kind == "quantiles":
        model = ConformalizedQuantileRegressor(confidence_level=0.8)
    model.fit(X[:200], y[:200]).conformalize(X[200:400], y[200:400])
    display = IntervalsDisplay.from_estimator(model, X[400:], y[400:], max_samples=50)
    _, intervals = model.predict_interval(X[400:])
    low, high = intervals[:, :, 0].T
    inside = np.mean((low <= y[400:]) & (y[400:] <= high))
    assert display.caption == f"80% intervals; {100 * inside:.0f}% of 100 samples are inside"
    assert len(display.actual) == 50
    assert (np.diff(display.predictions) >= 0).all()
    bars = display.axes_.containers[0]
    np.testing.assert_allclose([bar.get_y() for bar in bars], display.low)
    np.testing.assert_allclose([bar.get_height() for bar in bars], display.high - display.low)
    inner, outer = (len(dots.get_offsets()) for dots in display.axes_.collections)
    assert inner + outer == 50
    mpl.pyplot.close("all")
