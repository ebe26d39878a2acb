"""`measure_interactions`, and the plot of the strength path."""

import numpy as np
import pandas as pd
import pytest

from everystump import (
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpRegressor,
    StumpRegressorCV,
    StumpSVC,
    StumpSVCCV,
)
from everystump.explain import PathDisplay, measure_interactions


def make_frame(n=400, seed=0):
    """A table with a category and missing values, in which a and b interact."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    X["d"] = pd.Categorical(rng.choice(["u", "v", "w"], n))
    y = np.where(X.c + 2 * X.a * X.b + 0.3 * rng.normal(size=n) > 0, "yes", "no")
    X.loc[::11, "c"] = np.nan
    return X, y


@pytest.mark.parametrize(
    "estimator",
    [None, StumpLogisticRegressionCV(Cs=[0.1, 1.0], cv=3), StumpSVC(loss="squared_hinge")],
)
def test_the_interaction_of_the_data_is_first(estimator):
    X, y = make_frame()
    table = measure_interactions(X, y, estimator=estimator)
    assert len(table) == 6 and set(table["features"]) == {
        (i, j) for i in range(4) for j in range(i + 1, 4)
    }
    assert table.loc[0, "interaction"] == "a × b" and table.loc[0, "features"] == (0, 1)
    assert table["decrement"].is_monotonic_decreasing and table["decrement"].min() >= 0
    assert table.loc[0, "decrement"] > 3 * table.loc[1, "decrement"]


def test_decrement_of_binary_features():
    """With two values, a feature has one stump, so that the decrement is a fraction."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(300, 3)).astype(float)
    y = np.where(rng.random(300) < 0.2, 0, X[:, 0].astype(int) ^ X[:, 1].astype(int))
    weight, C, rho = rng.uniform(0.5, 2, 300), 0.5, 0.3
    estimator = StumpLogisticRegression(C=C)
    table = measure_interactions(
        X, y, estimator=estimator, interaction_strength=rho, sample_weight=weight
    )
    model = StumpLogisticRegression(C=C, tol=1e-6).fit(X, y, weight)
    mass = 2 * model.half_mass_ / 3  # of the stump of each feature
    dual = np.abs(model.dual_coef_)
    curvature = dual * (1 - dual / (C * weight))
    centered = np.sqrt(2 * mass) * (X - np.average(X, axis=0, weights=weight))
    for (d, e), decrement in zip(table["features"], table["decrement"], strict=True):
        v = np.sqrt(rho) * centered[:, d] * centered[:, e]
        variance = curvature @ v**2 - (curvature @ v) ** 2 / curvature.sum()
        expected = (model.dual_coef_ @ v) ** 2 / (1 + variance) / 2
        # The additive model of the table is only fitted to a relative gap of 0.01.
        assert decrement == pytest.approx(expected, rel=0.05, abs=0.05)
    assert table["features"][0] == (0, 1)


def test_decrements_of_classes_are_summed():
    X, y = make_frame()
    label = np.where(X.a > 1, "high", y)
    table = measure_interactions(X, label)
    assert table.loc[0, "interaction"] == "a × b" and len(table) == 6


def test_triples_are_measured_on_request():
    rng = np.random.default_rng(2)
    X = rng.choice([-1.0, 1.0], size=(600, 4))
    y = X[:, 0] * X[:, 1] * X[:, 3] > 0
    assert len(measure_interactions(X, y)) == 6
    table = measure_interactions(X, y, max_interaction_order=3)
    assert len(table) == 10 and table.loc[0, "features"] == (0, 1, 3)
    assert table.loc[0, "interaction"] == "x0 × x1 × x3"


def test_wide_tables_are_ranked_first():
    """With 100 features there are 4,950 pairs, of which 2,000 are measured with all bins."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1000, 100))
    y = X[:, 3] * X[:, 70] + 0.3 * rng.normal(size=1000) > 0
    table = measure_interactions(X, y, interaction_bins=16)
    assert len(table) == 2000 and table["features"].is_unique
    assert table.loc[0, "features"] == (3, 70)
    assert table.loc[0, "decrement"] > 5 * table.loc[1, "decrement"]


def test_monotonic_and_constant_features_do_not_interact():
    X, y = make_frame()
    X["e"] = 1.0
    estimator = StumpLogisticRegression(monotonic_cst={"c": 1}, interactions=[(0, 1)])
    table = measure_interactions(X, y, estimator=estimator)
    assert set(table["features"]) == {(0, 1), (0, 3), (1, 3)}
    assert not hasattr(estimator, "feature_info_")  # it is cloned


def test_a_single_feature_has_no_interactions():
    X, y = make_frame()
    table = measure_interactions(X[["a"]], y)
    assert table.empty and table.columns.tolist() == ["interaction", "features", "decrement"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": StumpBoostingClassifier()}, r"estimator=.*cannot measure interactions"),
        ({"interaction_strength": 0}, r"interaction_strength=0 must be a positive number"),
        ({"interaction_strength": None}, r"interaction_strength=None must be a positive"),
        ({"interaction_bins": 1}, r"interaction_bins"),
        ({"max_interaction_order": 4}, r"max_interaction_order"),
    ],
)
def test_mistakes_get_one_clear_sentence(options, message):
    X, y = make_frame(60)
    with pytest.raises(ValueError, match=message):
        measure_interactions(X, y, **options)


# The strength path


@pytest.fixture(scope="module")
def path_model():
    X, y = make_frame()
    return StumpSVCCV(Cs=[0.1, 1.0], cv=3, interactions="auto").fit(X, y)


def test_the_strength_path_is_drawn(path_model):
    display = PathDisplay.from_estimator(path_model, param="interaction_strength")
    axis, results = display.ax_, path_model.interaction_cv_results_
    display.figure_.canvas.draw()
    (mean,) = [line for line in axis.lines if line.get_marker() == "o"]
    np.testing.assert_array_equal(mean.get_ydata(), results["mean_test_score"])
    strengths = results["param_interaction_strength"]
    np.testing.assert_array_equal(mean.get_xdata()[1:], strengths[1:])
    assert 0 < mean.get_xdata()[0] < strengths[1]
    assert axis.get_xlabel() == "interaction strength"
    assert axis.get_xticklabels()[0].get_text() == "none"
    (chosen,) = [line for line in axis.lines if len(set(line.get_xdata())) == 1]
    assert chosen.get_xdata()[0] == path_model.interaction_strength_ > 0
    legend = [text.get_text() for text in axis.get_legend().get_texts()]
    assert f"chosen interaction strength = {path_model.interaction_strength_:.3g}" in legend


def test_the_choice_of_no_interactions_is_marked(path_model):
    results = path_model.interaction_cv_results_
    display = PathDisplay(results, 0.0, "accuracy", "interaction_strength").plot()
    (chosen,) = [line for line in display.ax_.lines if len(set(line.get_xdata())) == 1]
    assert chosen.get_xdata()[0] < results["param_interaction_strength"][1]
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "chosen: no interactions" in legend


def test_other_paths_raise(path_model):
    with pytest.raises(ValueError, match=r"param='tol' has no path; use one of \['C', 'inter"):
        PathDisplay.from_estimator(path_model, param="tol")
    X, y = make_frame(100)
    model = StumpSVCCV(Cs=[1.0], cv=2, interactions=0).fit(X, y)
    with pytest.raises(ValueError, match="has no path of interaction_strength; pass a StumpSVCCV"):
        PathDisplay.from_estimator(model, param="interaction_strength")
    with pytest.raises(ValueError, match="has no path of n_interactions; pass a StumpSVCCV"):
        PathDisplay.from_estimator(path_model, param="n_interactions")


def make_regression(n=400):
    """A table in which a and b interact, and targets of thousands."""
    X, _ = make_frame(n)
    return X, 1000 * (X.c.fillna(0) + X.a * X.b + (X.d == "u"))


@pytest.mark.parametrize(
    "estimator",
    [
        StumpRegressor(),
        StumpRegressor(loss="absolute"),
        StumpRegressorCV(Cs=[0.1, 1.0], cv=3, loss="huber"),
    ],
)
def test_interactions_of_regressions(estimator):
    X, y = make_regression()
    table = measure_interactions(X, y, estimator=estimator)
    assert len(table) == 6 and table.loc[0, "interaction"] == "a × b"
    assert table.loc[0, "decrement"] > 3 * table.loc[1, "decrement"]
    cents = measure_interactions(X, 100 * y, estimator=estimator)
    assert cents["decrement"].to_numpy() == pytest.approx(table["decrement"].to_numpy(), rel=1e-6)


def test_interactions_with_a_log_link():
    X, y = make_regression()
    table = measure_interactions(X, np.exp(y / 1000), estimator=StumpRegressor(loss="gamma"))
    assert table.loc[0, "interaction"] == "a × b"


def test_decrement_of_binary_features_in_a_regression():
    """With two values and the squared loss, the decrement is that of a ridge regression."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(300, 3)).astype(float)
    y = 7 * X[:, 0] * X[:, 1] + rng.normal(size=300)
    C, rho = 0.5, 0.3
    table = measure_interactions(X, y, estimator=StumpRegressor(C=C), interaction_strength=rho)
    model = StumpRegressor(C=C, tol=1e-6).fit(X, y)
    dual = model.dual_coef_ / model.target_scale_
    mass = 2 * model.half_mass_ / 3  # of the stump of each feature
    centered = np.sqrt(2 * mass) * (X - X.mean(axis=0))
    for (d, e), decrement in zip(table["features"], table["decrement"], strict=True):
        v = np.sqrt(rho) * centered[:, d] * centered[:, e]
        expected = (dual @ v) ** 2 / (1 + 2 * C * 300 * v.var()) / 2
        # The additive model of the table is only fitted to a relative gap of 0.01.
        assert decrement == pytest.approx(expected, rel=0.05, abs=0.05)
    assert table["features"][0] == (0, 1)


def test_numbers_need_a_regressor():
    X, y = make_regression()
    with pytest.raises(
        ValueError, match=r"^y has numbers .*; pass estimator=StumpRegressor\(\)\.$"
    ):
        measure_interactions(X, y + 0.5)
    with pytest.raises(ValueError, match="StumpSVC or StumpRegressor, or a CV version"):
        measure_interactions(X, y, estimator=StumpBoostingClassifier())
