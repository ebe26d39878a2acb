"""The pictures draw what they say."""

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from test_explain_reading import strange_rows, table

from everystump import (
    BoostedStumpSVC,
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpSVC,
)
from everystump.datasets import load_dataset, make_twonorm
from everystump.explain import (
    BoundaryDisplay,
    ContributionsDisplay,
    CurvesDisplay,
    FeatureLearningDisplay,
    ImportanceDisplay,
    LossesDisplay,
    MarginDisplay,
    MarginsDisplay,
)
from everystump.explain.names import percent, shortened

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
    display = MarginDisplay.from_estimator(model, class_label=2)
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


# Curves


def axis_of(display, name):
    return display.axes_[display.names.index(name)]


def widths(axis):
    return [bar.get_width() for bar in axis.patches]


def labels(axis):
    return [text.get_text() for text in axis.get_yticklabels()]


def test_curves_of_frames_with_holes_and_categories():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    display = CurvesDisplay.from_estimator(model)
    display.figure_.canvas.draw()
    assert sorted(display.names) == ["age", "income", "job"]
    assert "positive for class 'mid'" in display.figure_._supxlabel.get_text()
    ends = [axis_of(display, "age").get_ylim(), axis_of(display, "job").get_xlim()]
    assert ends[0] == ends[1]  # one scale for all, lying or standing


def test_levels_are_bars_in_order():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    axis = axis_of(CurvesDisplay.from_estimator(model), "job")
    shape, names = model.shapes_[2], np.array(["clerk", "maid", "smith"])
    order = np.argsort(shape.levels)
    np.testing.assert_array_equal(widths(axis), [shape.missing, *shape.levels[order]])
    share = X["job"].isna().mean()
    assert labels(axis)[0] == f"missing  {percent(share)}"
    shares = [(X["job"] == name).mean() for name in names[order]]
    expected = [f"{n}  {percent(s)}" for n, s in zip(names[order], shares, strict=True)]
    assert labels(axis)[1:] == expected


def test_missing_values_stand_apart():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    display = CurvesDisplay.from_estimator(model)
    axis = axis_of(display, "income")
    (place, value) = axis.collections[0].get_offsets()[0]
    assert value == model.shapes_[1].missing
    assert X["income"].max() < place < axis.get_xlim()[1]
    assert axis.texts[0].get_text() == f"missing {percent(X['income'].isna().mean())}"
    assert not axis_of(display, "age").collections


def test_rare_levels_are_drawn_together():
    rng = np.random.default_rng(0)
    level = np.repeat([f"level {k}" for k in range(12)], np.arange(1, 13) * 5)
    X = pd.DataFrame({"many": level})
    y = rng.random(len(X)) < np.repeat(rng.random(12), np.arange(1, 13) * 5)
    model = StumpLogisticRegression().fit(X, y)
    axis = CurvesDisplay.from_estimator(model).axes_[0]
    assert len(axis.patches) == 8
    drawn = dict(zip((text.split("  ")[0] for text in labels(axis)), widths(axis), strict=True))
    contribution = model.explain_local(X)["many"]
    rare = np.isin(level, [f"level {k}" for k in range(5)])
    assert drawn.pop("5 more") == pytest.approx(contribution[rare].mean(), abs=1e-12)
    curve = model.curve("many").set_index("value")["contribution"]
    assert drawn == {name: curve[name] for name in drawn} and "level 11" in drawn
    assert widths(axis) == sorted(widths(axis))


@pytest.mark.parametrize("given", [True, False])
def test_densities_are_those_of_the_rows(given):
    """The bars at the foot are a histogram of the training rows, or of given ones."""
    model = StumpLogisticRegression().fit(HEART.data, HEART.target)
    rows = HEART.data[:100] if given else HEART.data
    display = CurvesDisplay.from_estimator(
        model, rows if given else None, feature_names=HEART.feature_names
    )
    axis = axis_of(display, "age")
    x = rows[:, HEART.feature_names.index("age")]
    ends = (HEART.data[:, 0].min(), HEART.data[:, 0].max())
    counts = np.histogram(x, 30, range=ends)[0]
    heights = np.array([bar.get_height() for bar in axis.patches])
    np.testing.assert_allclose(heights / heights.max(), counts / counts.max())
    assert display.figure_.axes == list(display.axes_)


def test_curves_of_a_class_by_its_label():
    X, y = table(3)
    model = StumpSVC().fit(X, y)
    display = CurvesDisplay.from_estimator(model, strange_rows(), class_label="top")
    assert display.shapes[display.names.index("age")] is model.shapes_[2][0]
    assert "class 'top' against the rest" in display.caption
    with pytest.raises(ValueError, match="class_label='best': there are curves for"):
        CurvesDisplay.from_estimator(model, class_label="best")
    with pytest.raises(ValueError, match="max_features=0 must be at least 1"):
        CurvesDisplay.from_estimator(model, max_features=0)


# Importances


@pytest.mark.parametrize("n_classes", [2, 3])
def test_importances_are_bars(n_classes):
    X, y = table(n_classes)
    model = StumpLogisticRegression().fit(X, y)
    display = ImportanceDisplay.from_estimator(model, max_features=2)
    found = model.explain_global()
    total = found.groupby("feature")["importance"].sum().sort_values(ascending=False)
    assert labels(display.ax_) == display.names == total.index[:2].tolist()
    bars = np.array(widths(display.ax_)).reshape(-1, 2)
    np.testing.assert_allclose(bars.sum(axis=0), total[:2], rtol=0, atol=1e-12)
    assert len(bars) == (1 if n_classes == 2 else 3)
    assert "2 of 3 features" in display.ax_.get_xlabel()
    if n_classes == 3:
        legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
        assert legend == ["class 'low'", "class 'mid'", "class 'top'"]


def test_importances_on_other_rows():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    display = ImportanceDisplay.from_estimator(model, strange_rows())
    expected = model.explain_global(strange_rows())
    np.testing.assert_array_equal(display.importances[:, 0], expected["importance"])
    with pytest.raises(ValueError, match="max_features=0 must be at least 1"):
        ImportanceDisplay.from_estimator(model, max_features=0)


# Contributions


def test_the_way_to_a_score():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    rows = strange_rows()
    for row in range(len(rows)):
        display = ContributionsDisplay.from_estimator(model, rows, row=row)
        expected = model.explain_local(rows).iloc[row]
        bars = display.ax_.patches
        starts, lengths = [bar.get_x() for bar in bars], widths(display.ax_)
        ends = np.add(starts, lengths)
        order = expected[["age", "income", "job"]].abs().sort_values(ascending=False).index
        np.testing.assert_allclose(
            lengths, expected[["intercept", *order, "score"]], rtol=0, atol=1e-12
        )
        np.testing.assert_allclose(starts[1:-1], ends[:-2], rtol=0, atol=1e-12)
        assert starts[0] == starts[-1] == 0.0
        assert ends[-2] == pytest.approx(model.decision_function(rows)[row], abs=1e-12)


def test_values_beside_the_names():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    display = ContributionsDisplay.from_estimator(model, strange_rows(), row=1)
    assert set(display.labels) == {"age = 1e+06", "income = 0.05", "job is an unknown level"}
    display = ContributionsDisplay.from_estimator(model, strange_rows(), row=0)
    assert {"income is missing", "job = smith"} < set(display.labels)
    assert display.ax_.get_xlabel() == "score, positive for class 'mid'"


def test_small_contributions_are_drawn_together():
    model = StumpLogisticRegression().fit(HEART.data, HEART.target)
    display = ContributionsDisplay.from_estimator(model, HEART.data, row=4, max_features=5)
    parts = model.shapes_.contributions(HEART.data[4:5])[0]
    small = parts[np.argsort(-np.abs(parts))[5:]]
    assert display.labels[-1] == "8 more features"
    assert display.contributions[-1] == pytest.approx(small.sum(), abs=1e-12)
    with pytest.raises(ValueError, match="row=270 must be a number from 0 to 269"):
        ContributionsDisplay.from_estimator(model, HEART.data, row=270)


def test_the_predicted_class_explains_itself():
    X, y = table(3)
    model = StumpLogisticRegression().fit(X, y)
    display = ContributionsDisplay.from_estimator(model, X, row=3)
    score = model.decision_function(X)[3]
    assert display.score == pytest.approx(score.max(), abs=1e-12)
    other = ContributionsDisplay.from_estimator(model, X, row=3, class_label="low")
    assert other.score == pytest.approx(score[0], abs=1e-12)


# Margins


@pytest.mark.parametrize(
    "model", [StumpBoostingClassifier(n_estimators=10), KNeighborsClassifier()]
)
def test_margins_are_cumulative(model):
    half = slice(0, 135), slice(135, None)
    train, test = ((HEART.data[part], HEART.target[part]) for part in half)
    model.fit(*train)
    display = MarginsDisplay.from_estimator(model, *train, X_test=test[0], y_test=test[1])
    for line, (rows, y) in zip(display.ax_.lines[1:], (train, test), strict=True):
        x, share = line.get_xdata(), line.get_ydata()
        # The share of margins below 0, where the curve crosses 0, is the error but for ties.
        wrong = share[np.flatnonzero(x < 0)[-1]]
        tied = np.mean(x[1:-1] == 0)
        error = 1 - model.score(rows, y)
        assert wrong - 1e-12 <= error <= wrong + tied + 1e-12
        assert share[0] == 0.0 and share[-1] == 1.0


def test_margins_of_several_classes():
    X, y = table(3)
    model = StumpLogisticRegression().fit(X, y)
    display = MarginsDisplay.from_estimator(model, X_test=X, y_test=y)
    margins = display.margins["held-out rows"]
    assert np.mean(margins > 0) == pytest.approx(model.score(X, y))
    score = np.sort(model.decision_function(X), axis=1)
    right = model.predict(X) == y
    np.testing.assert_allclose(
        margins[margins > 0], np.sort((score[:, 2] - score[:, 1])[right]), rtol=0, atol=1e-12
    )


def test_margins_need_rows_and_labels():
    model = StumpSVC().fit(HEART.data, HEART.target)
    with pytest.raises(ValueError, match="pass both of the held-out rows"):
        MarginsDisplay.from_estimator(model, X_test=HEART.data)
    with pytest.raises(ValueError, match="X=None and X_test=None leave no rows"):
        MarginsDisplay.from_estimator(model)


# Boundaries


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_regions_are_the_decisions(kind, n_classes):
    X, _ = make_twonorm(150, 2, random_state=0)
    y = np.searchsorted([-1.0, 1.0][: n_classes - 1], X.sum(axis=1))
    rows = X if kind is np.asarray else kind({"a": X[:, 0], "b": X[:, 1]})
    model = StumpSVC().fit(rows, y)
    display = BoundaryDisplay.from_estimator(model, rows, y, limits=(-4, 4), resolution=21)
    ticks = np.linspace(-4, 4, 21)
    grid = np.array([[a, b] for b in ticks for a in ticks])
    asked = grid if kind is np.asarray else kind({"a": grid[:, 0], "b": grid[:, 1]})
    np.testing.assert_array_equal(display._winners().ravel(), model.predict(asked))
    drawn = [line.get_xydata() for line in display.ax_.lines]
    assert len(drawn) == n_classes
    for k, points in enumerate(drawn):
        np.testing.assert_array_equal(points, X[y == k])
    names = ["x0", "x1"] if kind is np.asarray else ["a", "b"]
    assert [display.ax_.get_xlabel(), display.ax_.get_ylabel()] == names


def test_boundaries_of_any_classifier():
    X, y = make_twonorm(100, 2, random_state=0)
    display = BoundaryDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)
    low, high = display.ax_.get_xlim()
    assert low < X[:, 0].min() and X[:, 0].max() < high
    line = display.ax_.collections[-1].get_paths()[0].vertices
    score = LogisticRegression().fit(X, y).decision_function(line)
    np.testing.assert_allclose(score, 0.0, atol=1e-6)


def test_a_classifier_of_one_mind_has_no_boundary():
    X, y = make_twonorm(20, 2, random_state=0)
    model = StumpSVC().fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y, limits=((5, 6), (5, 6)), resolution=5)
    assert np.unique(display._winners()).tolist() == [1]


def test_boundaries_need_two_features():
    model = StumpSVC().fit(HEART.data, HEART.target)
    with pytest.raises(ValueError, match=r"X has shape \(270, 13\); a boundary is drawn for two"):
        BoundaryDisplay.from_estimator(model, HEART.data, HEART.target)
    X, y = make_twonorm(20, 2, random_state=0)
    model = StumpSVC().fit(X, y)
    with pytest.raises(ValueError, match=r"limits=\(1, 0\) must be \(low, high\)"):
        BoundaryDisplay.from_estimator(model, X, y, limits=(1, 0))
    with pytest.raises(ValueError, match="resolution=1 must be at least 2"):
        BoundaryDisplay.from_estimator(model, X, y, resolution=1)


def test_words():
    assert [percent(s) for s in (0.0, 0.0003, 0.0994, 0.0996, 1.0)] == [
        "0 %",
        "<0.1 %",
        "9.9 %",
        "10 %",
        "100 %",
    ]
    assert shortened("short", 5) == "short" and shortened("longer", 5) == "long…"
