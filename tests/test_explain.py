"""The pictures of boosting draw what they say."""

import matplotlib
import numpy as np
import pytest

from everystump import BoostedStumpSVC, StumpBoostingClassifier
from everystump.datasets import load_dataset, make_twonorm
from everystump.explain import (
    CurvesDisplay,
    FeatureLearningDisplay,
    LossesDisplay,
    MarginDisplay,
)

matplotlib.use("Agg")
HEART = load_dataset("heart")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    matplotlib.pyplot.close("all")


def test_losses_at_known_margins():
    """exp(0) = 1, 1/2 and log 2 at margin 0; the mada loss is a line left of it."""
    display = LossesDisplay.from_losses()
    at = {
        name: np.interp([-2.0, 0.0], display.margin, loss) for name, loss in display.losses.items()
    }
    np.testing.assert_allclose(at["exponential"], [np.exp(2.0), 1.0])
    np.testing.assert_allclose(at["mada"], [2.5, 0.5])
    np.testing.assert_allclose(at["logistic"], [np.log1p(np.exp(4.0)), np.log(2.0)])
    assert display.ax_.lines[0].get_label() == "0/1"
    assert len(display.ax_.lines) == 4


def test_unknown_losses_are_named():
    with pytest.raises(ValueError, match=r"losses: 'hinge' is not known; use some of"):
        LossesDisplay.from_losses(["hinge"])


def test_the_margins_that_were_found():
    X, y = make_twonorm(100, random_state=0)
    model = BoostedStumpSVC(100, C=np.inf, stages=[50, 75]).fit(X, y)
    line = MarginDisplay.from_estimator(model).ax_.lines[0]
    np.testing.assert_array_equal(line.get_xdata(), [50, 75, 100])
    np.testing.assert_array_equal(line.get_ydata(), [s.margin for s in model.stages_])


def test_margins_of_one_class_of_several():
    X = make_twonorm(100, random_state=0)[0]
    model = BoostedStumpSVC(20, stages=[10]).fit(X, np.searchsorted([-1.0, 1.0], X[:, 0]))
    display = MarginDisplay.from_estimator(model, class_index=2)
    np.testing.assert_array_equal(display.margin, [s.margin[2] for s in model.stages_])
    assert "soft" in display.ax_.get_ylabel()


def test_rows_votes_and_weights():
    model = BoostedStumpSVC(30, C=0.1).fit(HEART.data, HEART.target)
    display = FeatureLearningDisplay.from_estimator(
        model, HEART.data, HEART.target, feature_names=HEART.feature_names
    )
    picture = display.axes_[1].images[0].get_array()
    votes = np.array(list(model.stumps_.votes(display.X))).T
    np.testing.assert_array_equal(2 * picture - 1, votes)
    assert display.axes_[0].get_xlabel() in HEART.feature_names
    shares = [np.abs(c.get_offsets()[:, 1]).sum() for c in display.axes_[2].collections]
    np.testing.assert_allclose(shares, 100.0)


def test_one_feature_is_enough():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1))
    y = X[:, 0] + rng.normal(size=40) > 0
    model = BoostedStumpSVC(5).fit(X, y)
    display = FeatureLearningDisplay.from_estimator(model, X, y)
    assert display.axes_[0].get_xlabel() == display.axes_[0].get_ylabel() == "x0"
    with pytest.raises(ValueError, match="feature_names holds 2 names"):
        FeatureLearningDisplay.from_estimator(model, X, y, feature_names=["a", "b"])


@pytest.mark.parametrize("display", [FeatureLearningDisplay, MarginDisplay])
def test_other_models_are_refused(display):
    model = StumpBoostingClassifier(n_estimators=3).fit(HEART.data, HEART.target)
    rows = (HEART.data, HEART.target) if display is FeatureLearningDisplay else ()
    with pytest.raises(ValueError, match=r"estimator=.*BoostedStumpSVC"):
        display.from_estimator(model, *rows)


def test_curves_reach_as_far_as_the_data():
    model = StumpBoostingClassifier(n_estimators=20).fit(HEART.data, HEART.target)
    display = CurvesDisplay.from_estimator(model, HEART.data, feature_names=HEART.feature_names)
    for name, axis in zip(display.names, display.axes_, strict=False):
        x = HEART.data[:, HEART.feature_names.index(name)]
        low, high = axis.get_xlim()
        assert low <= x.min() and x.max() <= high


def test_features_that_never_vote_are_not_drawn():
    model = StumpBoostingClassifier(n_estimators=2).fit(HEART.data, HEART.target)
    display = CurvesDisplay.from_estimator(model, HEART.data, feature_names=HEART.feature_names)
    assert len(display.names) == len(np.unique(model.stumps_.feature)) == 2


def test_large_tables_are_drawn_in_part():
    X, y = make_twonorm(5000, random_state=0)
    model = BoostedStumpSVC(5).fit(X, y)
    display = FeatureLearningDisplay.from_estimator(model, X, y)
    assert 1000 < len(display.X) <= 2000
    with pytest.raises(ValueError, match="y must hold one of the classes"):
        FeatureLearningDisplay.from_estimator(model, X, y[:-1])
