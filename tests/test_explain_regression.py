"""Plots of regressors: names of axes, colors, residuals, and errors where classes are needed."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")

from regression_tables import make_houses
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error, r2_score

from everystump import StumpRegressor, StumpRegressorCV, StumpSVC
from everystump.explain import (
    BoundaryDisplay,
    BoundSearchDisplay,
    ContributionsDisplay,
    CurvesDisplay,
    FeatureLearningDisplay,
    ImportanceDisplay,
    MarginDisplay,
    MarginsDisplay,
    PathDisplay,
    ResidualsDisplay,
    SurfacesDisplay,
    measure_interactions,
)
from everystump.explain._display import FIRST, SECOND


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def table():
    return make_houses()


@pytest.fixture(scope="module")
def model(table):
    return StumpRegressor(interactions=[("area", "town")]).fit(*table)


@pytest.fixture(scope="module")
def log_model(table):
    return StumpRegressor(loss="gamma").fit(*table)


def test_curves_say_what_they_add_to(model, log_model):
    display = CurvesDisplay.from_estimator(model)
    assert display.caption == (
        "contribution to the prediction; without 1 interaction, which SurfacesDisplay draws"
    )
    assert display.figure_.get_supxlabel().replace("\n", " ") == display.caption
    caption = CurvesDisplay.from_estimator(log_model).caption
    assert caption == "contribution to the logarithm of the prediction"
    surfaces = SurfacesDisplay.from_estimator(model)
    assert surfaces.caption == "contribution to the prediction"


def test_what_raises_a_prediction_has_the_color_of_a_second_class(model, table):
    curves = CurvesDisplay.from_estimator(model)
    axis = curves.axes_[curves.names.index("age <years>")]
    assert [line.get_color() for line in axis.lines[-2:]] == [SECOND, FIRST]
    assert SurfacesDisplay.from_estimator(model).colors == (SECOND, FIRST)
    display = ContributionsDisplay.from_estimator(model, table[0], row=3)
    for bar, part in zip(display.ax_.patches[1:-1], display.contributions, strict=True):
        assert to_hex(bar.get_facecolor()) == (SECOND if part >= 0 else FIRST)


def test_contributions_lead_to_the_prediction(model, table):
    X, _ = table
    display = ContributionsDisplay.from_estimator(model, X, row=5)
    predicted = model.predict(X)[5]
    assert display.score == pytest.approx(predicted, rel=1e-12)
    assert display.intercept + display.contributions.sum() == pytest.approx(predicted, rel=1e-12)
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names[-1] == "prediction" and display.ax_.get_xlabel() == "prediction"
    # The axis shows the sums, not 0, which is far away.
    assert display.ax_.get_xlim()[0] > 0
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts[-1] == f"{predicted:.1f}" and texts[1][0] in "+−"


def test_contributions_to_a_logarithm_name_the_prediction(log_model, table):
    X, _ = table
    display = ContributionsDisplay.from_estimator(log_model, X, row=5)
    predicted = log_model.predict(X)[5]
    assert np.exp(display.score) == pytest.approx(predicted, rel=1e-12)
    assert display.title == f"prediction {predicted:.4g}"
    assert display.total == "logarithm of the prediction"


@pytest.mark.parametrize(
    ("scale", "pattern"),
    [(1e4, r"[\d]{7}"), (1e9, r"\d\.\d\de\+11"), (1e-3, r"0\.\d{4,5}"), (1e-9, r"\d\.\d\de−07")],
)
def test_contributions_have_as_many_decimals_as_their_scale_needs(table, scale, pattern):
    X, y = table
    model = StumpRegressor(C=0.1).fit(X, scale * y)
    text = ContributionsDisplay.from_estimator(model, X, row=5).ax_.texts[-1].get_text()
    assert re.fullmatch(pattern, text)
    assert float(text.replace("−", "-")) == pytest.approx(model.predict(X)[5], rel=1e-2)


def test_importances_and_paths_of_regressors(model, log_model, table):
    display = ImportanceDisplay.from_estimator(model)
    expected = model.explain_global()
    assert display.names == expected["feature"].tolist()
    assert "to the prediction)" in display.ax_.get_xlabel().replace("\n", " ")
    display = ImportanceDisplay.from_estimator(log_model)
    assert "to the logarithm of the prediction)" in display.ax_.get_xlabel().replace("\n", " ")
    cv = StumpRegressorCV(Cs=[0.01, 1.0], cv=2).fit(*table)
    assert PathDisplay.from_estimator(cv).ax_.get_ylabel() == "R² on held-out folds"
    cv = StumpRegressorCV(Cs=[0.01, 1.0], cv=2, loss="gamma").fit(*table)
    assert PathDisplay.from_estimator(cv).ax_.get_ylabel() == (
        "mean gamma deviance on held-out folds (lower is better)"
    )


def test_residuals(model, table):
    X, y = table
    display = ResidualsDisplay.from_estimator(model, X, y, unit="k$")
    first, second = display.axes_
    predicted = model.predict(X)
    assert np.allclose(first.collections[0].get_offsets(), np.column_stack([predicted, y]))
    assert np.allclose(
        second.collections[0].get_offsets(), np.column_stack([predicted, y - predicted])
    )
    assert first.get_xlabel() == second.get_xlabel() == r"predicted (k\$)"
    assert first.get_xlim() == first.get_ylim()
    assert display.caption.startswith(f"R² {r2_score(y, predicted):.3f}, RMSE ")
    assert display.caption.endswith(f"MAE {mean_absolute_error(y, predicted):.2f}")


def test_residuals_of_many_samples_and_of_other_libraries(table):
    X, y = table
    X = X[["age <years>"]]
    other = LinearRegression().fit(X, y)
    display = ResidualsDisplay.from_estimator(other, X, y, subsample=50)
    assert len(display.y_true) == len(display.axes_[0].collections[0].get_offsets()) == 50
    assert f"R² {other.score(X, y):.3f}," in display.caption  # of all samples
    assert display.caption.endswith("; 50 of 300 samples drawn")
    again = ResidualsDisplay.from_estimator(other, X, y, subsample=50)
    assert np.array_equal(display.y_true, again.y_true)
    assert len(ResidualsDisplay.from_estimator(other, X, y, subsample=None).y_true) == 300


def test_residuals_of_a_single_sample_and_of_equal_targets():
    for y in ([3.0], [0.0, 0.0]):
        display = ResidualsDisplay.from_predictions(y, y)
        display.figure_.canvas.draw()
        assert display.y_true.tolist() == y


def test_invalid_residuals(model, table):
    X, y = table
    classifier = StumpSVC().fit(X, y > 200)
    with pytest.raises(ValueError, match=r"is a classifier, which has no residuals; pass a regr"):
        ResidualsDisplay.from_estimator(classifier, X, y)
    with pytest.raises(ValueError, match="one number for each of the 300 samples"):
        ResidualsDisplay.from_estimator(model, X, y[:-1])
    with pytest.raises(ValueError, match="y has no samples to draw"):
        ResidualsDisplay.from_predictions([], [])
    with pytest.raises(ValueError, match="subsample=0 must be at least 1"):
        ResidualsDisplay.from_predictions([1.0], [1.0], subsample=0)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (MarginsDisplay.from_estimator, "a regressor, which MarginsDisplay cannot draw; pass a cl"),
        (BoundaryDisplay.from_estimator, "a regressor, which BoundaryDisplay cannot draw; pass a"),
        (lambda model, X, y: MarginDisplay.from_estimator(model), "has no stages; pass a fitted"),
        (FeatureLearningDisplay.from_estimator, "must be a BoostedStumpSVC that was fitted to two"),
        (BoundSearchDisplay.from_search, "has no bounds; pass a fitted LooBoundSearch"),
        (lambda model, X, y: PathDisplay.from_estimator(model), "has no path; pass a fitted Stump"),
        (
            lambda model, X, y: CurvesDisplay.from_estimator(model, class_label="yes"),
            "class_label='yes' has no curves; a regressor has no classes: pass None",
        ),
    ],
)
def test_displays_of_classifiers_reject_regressors(model, table, draw, message):
    with pytest.raises(ValueError, match=message):
        draw(model, *table)


def test_interactions_are_measured_for_a_regressor(table):
    found = measure_interactions(*table, estimator=StumpRegressor())
    assert found["interaction"][0] == "area × town"
