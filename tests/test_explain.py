"""Displays show the numbers of the model."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.cbook import is_math_text
from matplotlib.text import Text
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from test_explanations import strange_rows, table

from everystump import (
    BoostedStumpSVC,
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpSVC,
)
from everystump._text import format_short_percent
from everystump.datasets import load_dataset, make_twonorm
from everystump.explain import (
    BoundaryDisplay,
    BoundSearchDisplay,
    ContributionsDisplay,
    CurvesDisplay,
    FeatureLearningDisplay,
    ImportanceDisplay,
    LossesDisplay,
    MarginDisplay,
    MarginsDisplay,
)
from everystump.explain._display import display_names, escape, truncate

matplotlib.use("Agg")
HEART = load_dataset("heart")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


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


def test_unknown_losses_raise():
    with pytest.raises(ValueError, match=r"losses: 'hinge' is unknown; use some of"):
        LossesDisplay.from_losses(["hinge"])


def test_margin_by_number_of_stumps():
    X, y = make_twonorm(100, random_state=0)
    model = BoostedStumpSVC(100, C=np.inf, stages=[50, 75]).fit(X, y)
    line = MarginDisplay.from_estimator(model).ax_.lines[0]
    np.testing.assert_array_equal(line.get_xdata(), [50, 75, 100])
    np.testing.assert_array_equal(line.get_ydata(), [s.margin for s in model.stages_])


def test_margin_of_one_class_of_several():
    X = make_twonorm(100, random_state=0)[0]
    model = BoostedStumpSVC(20, stages=[10]).fit(X, np.searchsorted([-1.0, 1.0], X[:, 0]))
    display = MarginDisplay.from_estimator(model, class_label=2)
    np.testing.assert_array_equal(display.margin, [s.margin[2] for s in model.stages_])
    assert "soft" in display.ax_.get_ylabel()


def test_samples_votes_and_weights():
    model = BoostedStumpSVC(30, C=0.1).fit(HEART.data, HEART.target)
    display = FeatureLearningDisplay.from_estimator(
        model, HEART.data, HEART.target, feature_names=HEART.feature_names
    )
    image = display.axes_[1].images[0].get_array()
    votes = np.array(list(model.stumps_.votes(display.X))).T
    np.testing.assert_array_equal(2 * image - 1, votes)
    assert display.axes_[0].get_xlabel() in HEART.feature_names
    shares = [np.abs(c.get_offsets()[:, 1]).sum() for c in display.axes_[2].collections]
    np.testing.assert_allclose(shares, 100.0)


def test_feature_learning_of_one_feature():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1))
    y = X[:, 0] + rng.normal(size=40) > 0
    model = BoostedStumpSVC(5).fit(X, y)
    display = FeatureLearningDisplay.from_estimator(model, X, y)
    assert display.axes_[0].get_xlabel() == display.axes_[0].get_ylabel() == "x0"
    with pytest.raises(ValueError, match="feature_names has 2 names"):
        FeatureLearningDisplay.from_estimator(model, X, y, feature_names=["a", "b"])


@pytest.mark.parametrize("display", [FeatureLearningDisplay, MarginDisplay])
def test_other_estimators_raise(display):
    model = StumpBoostingClassifier(n_estimators=3).fit(HEART.data, HEART.target)
    rows = (HEART.data, HEART.target) if display is FeatureLearningDisplay else ()
    with pytest.raises(ValueError, match=r"estimator=.*BoostedStumpSVC"):
        display.from_estimator(model, *rows)


def test_curves_cover_the_range_of_the_data():
    model = StumpBoostingClassifier(n_estimators=20).fit(HEART.data, HEART.target)
    display = CurvesDisplay.from_estimator(model, HEART.data, feature_names=HEART.feature_names)
    for name, axis in zip(display.names, display.axes_, strict=False):
        x = HEART.data[:, HEART.feature_names.index(name)]
        low, high = axis.get_xlim()
        assert low <= x.min() and x.max() <= high


def test_unused_features_are_not_drawn():
    model = StumpBoostingClassifier(n_estimators=2).fit(HEART.data, HEART.target)
    display = CurvesDisplay.from_estimator(model, HEART.data, feature_names=HEART.feature_names)
    assert len(display.names) == len(np.unique(model.stumps_.feature)) == 2


def test_large_data_is_subsampled():
    X, y = make_twonorm(5000, random_state=0)
    model = BoostedStumpSVC(5).fit(X, y)
    display = FeatureLearningDisplay.from_estimator(model, X, y)
    assert 1000 < len(display.X) <= 2000
    with pytest.raises(ValueError, match="y must have one of the classes"):
        FeatureLearningDisplay.from_estimator(model, X, y[:-1])


# Curves


def axis_of(display, name):
    return display.axes_[display.names.index(name)]


def widths(axis):
    return [bar.get_width() for bar in axis.patches]


def labels(axis):
    return [text.get_text() for text in axis.get_yticklabels()]


def test_curves_of_frames_with_missing_values_and_categories():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    display = CurvesDisplay.from_estimator(model)
    display.figure_.canvas.draw()
    assert sorted(display.names) == ["age", "income", "job"]
    assert "positive values favor class 'mid'" in display.figure_._supxlabel.get_text()
    ends = [axis_of(display, "age").get_ylim(), axis_of(display, "job").get_xlim()]
    assert ends[0] == ends[1]  # one scale for all, horizontal or vertical


def test_levels_are_sorted_bars():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    axis = axis_of(CurvesDisplay.from_estimator(model), "job")
    shape, names = model.shapes_[2], np.array(["clerk", "maid", "smith"])
    order = np.argsort(shape.levels)
    np.testing.assert_array_equal(widths(axis), [shape.missing, *shape.levels[order]])
    share = X["job"].isna().mean()
    assert labels(axis)[0] == f"missing  {format_short_percent(share)}"
    shares = [(X["job"] == name).mean() for name in names[order]]
    expected = [
        f"{n}  {format_short_percent(s)}" for n, s in zip(names[order], shares, strict=True)
    ]
    assert labels(axis)[1:] == expected


def test_missing_values_are_set_apart():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    display = CurvesDisplay.from_estimator(model)
    axis = axis_of(display, "income")
    (position, value) = axis.collections[0].get_offsets()[0]
    assert value == model.shapes_[1].missing
    assert X["income"].max() < position < axis.get_xlim()[1]
    assert axis.texts[0].get_text() == f"missing {format_short_percent(X['income'].isna().mean())}"
    assert not axis_of(display, "age").collections


def test_unimportant_levels_are_drawn_together():
    rng = np.random.default_rng(0)
    level = np.repeat([f"level {k}" for k in range(12)], np.arange(1, 13) * 5)
    X = pd.DataFrame({"many": level})
    y = rng.random(len(X)) < np.repeat(rng.random(12), np.arange(1, 13) * 5)
    model = StumpLogisticRegression().fit(X, y)
    axis = CurvesDisplay.from_estimator(model).axes_[0]
    assert len(axis.patches) == 8
    drawn = dict(zip((text.split("  ")[0] for text in labels(axis)), widths(axis), strict=True))
    contribution = model.explain_local(X)["many"]
    moves = contribution.abs().groupby(level).sum().sort_values()
    others = np.isin(level, moves.index[:5])
    assert drawn.pop("5 more") == pytest.approx(contribution[others].mean(), abs=1e-12)
    curve = model.curve("many").set_index("value")["contribution"]
    assert drawn == {name: curve[name] for name in moves.index[5:]}
    assert widths(axis) == sorted(widths(axis))


def test_equally_frequent_levels_are_ranked_by_contribution():
    level = np.repeat([f"level {k:02d}" for k in range(20)], 10)
    y = np.tile([0, 1], 100)
    y[150:160], y[170:180] = 0, 1  # the other levels are uninformative
    model = StumpLogisticRegression().fit(pd.DataFrame({"many": level}), y)
    axis = CurvesDisplay.from_estimator(model).axes_[0]
    assert labels(axis)[0] == "level 15  5.0%" and labels(axis)[-1] == "level 17  5.0%"


@pytest.mark.parametrize("given", [True, False])
def test_density_of_training_or_given_samples(given):
    """The bars at the bottom are a histogram of the training samples, or of given ones."""
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


def test_few_distinct_values_have_one_bar_each():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(1, 5, 100), rng.choice([0.0, 1.5, 3.7], 100)])
    X[:10, 1] = np.nan
    model = StumpLogisticRegression().fit(X, X[:, 0] + np.nan_to_num(X[:, 1]) > 4)
    display = CurvesDisplay.from_estimator(model, features=[0, 1])
    for d, axis in enumerate(display.axes_):
        values, counts = np.unique(X[~np.isnan(X[:, d]), d], return_counts=True)
        middles = [bar.get_x() + bar.get_width() / 2 for bar in axis.patches]
        np.testing.assert_allclose(middles, values, rtol=0, atol=1e-12)
        heights = np.array([bar.get_height() for bar in axis.patches])
        np.testing.assert_allclose(heights / heights.max(), counts / counts.max())


@pytest.mark.parametrize("learner", [StumpSVC(), StumpSVC(measure="middle")])
def test_ticks_of_constant_features(learner):
    """The one knot of a constant is arbitrary: an axis has ticks only where samples are."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"year": rng.integers(2000, 2020, 80), "empty": np.nan, "three": 3.0})
    model = learner.fit(X, X["year"] > 2010)
    for fitted in (model, model.remove_feature("year")):
        display = CurvesDisplay.from_estimator(fitted, features=["year", "empty", "three"])
        years, empty, three = display.axes_
        assert 1990 < years.get_xlim()[0] < years.get_xlim()[1] < 2030
        assert empty.get_xticks().tolist() == []
        assert three.get_xticks().tolist() == [3.0]


def test_curves_of_chosen_features():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    display = CurvesDisplay.from_estimator(model, features=["job", 0], max_features=1)
    assert display.names == ["job", "age"]
    assert display.shapes == [model.shapes_[2], model.shapes_[0]]
    assert display.caption.endswith("favor class 'mid'); 2 of 3 features")
    named = CurvesDisplay.from_estimator(model, features=["c"], feature_names=["a", "b", "c"])
    assert named.shapes == [model.shapes_[2]]
    for features, message in [
        (["jobb"], "feature='jobb' is not among the 3 features; .*'job'"),
        ([3], "feature=3: the model has 3 features"),
        ([], r"features=\[\] is empty"),
        ("job", r"features='job' must be a list; pass \['job'\]"),
    ]:
        with pytest.raises(ValueError, match=message):
            CurvesDisplay.from_estimator(model, features=features)


def test_curves_of_a_class_by_its_label():
    X, y = table(3)
    model = StumpSVC().fit(X, y)
    display = CurvesDisplay.from_estimator(model, strange_rows(), class_label="top")
    assert display.shapes[display.names.index("age")] is model.shapes_[2][0]
    assert "class 'top' over the rest" in display.caption
    with pytest.raises(ValueError, match="class_label='best' has no curves; pass one of"):
        CurvesDisplay.from_estimator(model, class_label="best")
    with pytest.raises(ValueError, match="max_features=0 must be at least 1"):
        CurvesDisplay.from_estimator(model, max_features=0)


# Importances


@pytest.mark.parametrize("n_classes", [2, 3])
def test_importance_bars(n_classes):
    X, y = table(n_classes)
    model = StumpLogisticRegression().fit(X, y)
    display = ImportanceDisplay.from_estimator(model, max_features=2)
    found = model.explain_global()
    total = found.groupby("feature")["importance"].sum().sort_values(ascending=False)
    assert labels(display.ax_) == display.names == total.index[:2].tolist()
    bars = np.array(widths(display.ax_)).reshape(-1, 2)
    np.testing.assert_allclose(bars.sum(axis=0), total[:2], rtol=0, atol=1e-12)
    assert len(bars) == (1 if n_classes == 2 else 3)
    assert "the 2 most important of 3 features" in display.ax_.get_xlabel()
    if n_classes == 3:
        legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
        assert legend == ["class 'low'", "class 'mid'", "class 'top'"]


def test_importances_on_given_samples():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    display = ImportanceDisplay.from_estimator(model, strange_rows())
    expected = model.explain_global(strange_rows())
    np.testing.assert_array_equal(display.importances[:, 0], expected["importance"])
    with pytest.raises(ValueError, match="max_features=0 must be at least 1"):
        ImportanceDisplay.from_estimator(model, max_features=0)


# Contributions


def test_contributions_lead_from_the_intercept_to_the_score():
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


def test_labels_show_names_and_values():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    display = ContributionsDisplay.from_estimator(model, strange_rows(), row=1)
    assert set(display.labels) == {"age = 1e+06", "income = 0.05", "job is an unknown level"}
    display = ContributionsDisplay.from_estimator(model, strange_rows(), row=0)
    assert {"income is missing", "job = smith"} < set(display.labels)
    assert display.ax_.get_xlabel() == "score (positive values favor class 'mid')"


def test_small_contributions_are_drawn_together():
    model = StumpLogisticRegression().fit(HEART.data, HEART.target)
    display = ContributionsDisplay.from_estimator(model, HEART.data, row=4, max_features=5)
    parts = model.shapes_.contributions(HEART.data[4:5])[0]
    small = parts[np.argsort(-np.abs(parts))[5:]]
    assert display.labels[-1] == "8 other features"
    assert display.contributions[-1] == pytest.approx(small.sum(), abs=1e-12)
    with pytest.raises(ValueError, match="row=270 must be an integer from 0 to 269"):
        ContributionsDisplay.from_estimator(model, HEART.data, row=270)


def test_numbers_do_not_overlap_names():
    """Numbers on the left are between their bars and the names, even in a narrow figure."""
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    long = ["an age of some length, in years", "an income", "a job"]
    for row in range(10):
        ax = plt.figure(figsize=(4.2, 2.4), layout="constrained").subplots()
        display = ContributionsDisplay.from_estimator(model, X, row=row, feature_names=long, ax=ax)
        display.figure_.canvas.draw()
        ends = [label.get_window_extent().x1 for label in display.ax_.get_yticklabels()]
        starts = [text.get_window_extent().x0 for text in display.ax_.texts]
        assert max(ends) < min(starts)


def test_contributions_need_a_sample():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="X has no rows; pass a table with the row to explain"):
        ContributionsDisplay.from_estimator(model, X[:0])


def test_contributions_to_the_predicted_class():
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
    with pytest.raises(ValueError, match="only X or only y of the held-out rows was passed"):
        MarginsDisplay.from_estimator(model, X_test=HEART.data)
    with pytest.raises(ValueError, match="X=None and X_test=None: there are no samples to draw"):
        MarginsDisplay.from_estimator(model)


# Boundaries


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_regions_are_the_predictions(kind, n_classes):
    X, _ = make_twonorm(150, 2, random_state=0)
    y = np.searchsorted([-1.0, 1.0][: n_classes - 1], X.sum(axis=1))
    rows = X if kind is np.asarray else kind({"a": X[:, 0], "b": X[:, 1]})
    model = StumpSVC().fit(rows, y)
    display = BoundaryDisplay.from_estimator(model, rows, y, limits=(-4, 4), resolution=21)
    ticks = np.linspace(-4, 4, 21)
    grid = np.array([[a, b] for b in ticks for a in ticks])
    points = grid if kind is np.asarray else kind({"a": grid[:, 0], "b": grid[:, 1]})
    np.testing.assert_array_equal(display._predicted().ravel(), model.predict(points))
    drawn = [line.get_xydata() for line in display.ax_.lines]
    assert len(drawn) == n_classes
    for k, xy in enumerate(drawn):
        np.testing.assert_array_equal(xy, X[y == k])
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


def test_constant_predictions_have_no_boundary():
    X, y = make_twonorm(20, 2, random_state=0)
    model = StumpSVC().fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y, limits=((5, 6), (5, 6)), resolution=5)
    assert np.unique(display._predicted()).tolist() == [1]


def test_boundaries_need_two_features():
    model = StumpSVC().fit(HEART.data, HEART.target)
    with pytest.raises(ValueError, match=r"X has shape \(270, 13\); a boundary plot needs two"):
        BoundaryDisplay.from_estimator(model, HEART.data, HEART.target)
    X, y = make_twonorm(20, 2, random_state=0)
    model = StumpSVC().fit(X, y)
    with pytest.raises(ValueError, match="X has no samples to draw; pass samples or limits"):
        BoundaryDisplay.from_estimator(model, X[:0], y[:0])
    with pytest.raises(ValueError, match=r"limits=\(1, 0\) must be \(low, high\)"):
        BoundaryDisplay.from_estimator(model, X, y, limits=(1, 0))
    with pytest.raises(ValueError, match="resolution=1 must be at least 2"):
        BoundaryDisplay.from_estimator(model, X, y, resolution=1)


def test_boundaries_need_numbers_without_missing_values():
    needs = "a boundary plot needs two numeric features without missing values"
    X, y = table()
    for columns, fault in [
        (["age", "income"], r"X contains nan in row \d+, feature 'income'"),
        (["age", "job"], "X: feature 'job' is a category"),
        (["age", "income", "job"], r"X has shape \(120, 3\)"),
    ]:
        model = StumpLogisticRegression().fit(X[columns], y)
        with pytest.raises(ValueError, match=f"{fault}; {needs}"):
            BoundaryDisplay.from_estimator(model, X[columns], y)
    levels = np.column_stack([X["age"] > 45, X["age"]]).astype(float)
    model = StumpLogisticRegression(categorical_features=[0]).fit(levels, y)
    with pytest.raises(ValueError, match=f"X: feature 0 is a category; {needs}"):
        BoundaryDisplay.from_estimator(model, levels, y)


def test_boundaries_follow_the_names_of_columns():
    X, y = make_twonorm(60, 2, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = StumpSVC().fit(frame, y)
    display = BoundaryDisplay.from_estimator(model, frame[["b", "a"]], y, resolution=5)
    assert display.names == ["a", "b"]
    np.testing.assert_array_equal(display.X, X)


# Feature learning with levels and missing values


def test_feature_learning_of_frames_with_missing_values_and_categories():
    X, y = table()
    model = BoostedStumpSVC(30).fit(X, y)
    rows = pd.concat([X, strange_rows().iloc[1:2]])
    rows["age"] = rows["age"].clip(0, 100)
    display = FeatureLearningDisplay.from_estimator(model, rows, [*y, "low"])
    image = display.axes_[1].images[0].get_array()
    votes = np.array(list(model.stumps_.votes(display.X))).T
    np.testing.assert_array_equal(2 * image - 1, votes)
    assert len(display.X) == 121 and np.isnan(display.X).sum() == X.isna().sum().sum()


def test_samples_are_at_their_levels_or_apart():
    X, y = table()
    model = BoostedStumpSVC(30).fit(X[["income", "job"]], y)
    rows = X[["income", "job"]].copy()
    rows.iloc[0] = [0.0, "astronaut"]
    display = FeatureLearningDisplay.from_estimator(model, rows, y)
    axis = display.axes_[0]
    sides = {axis.get_xlabel(): (0, axis.xaxis), axis.get_ylabel(): (1, axis.yaxis)}
    drawn = np.concatenate([dots.get_offsets() for dots in axis.collections])
    side, marked = sides["job"]
    labels = [text.get_text() for text in marked.get_ticklabels()]
    assert labels == ["unknown", "clerk", "maid", "smith", "missing"]
    counts = np.bincount(np.round(drawn[:, side]).astype(int) + 1)
    observed = [(rows["job"] == name).sum() for name in ("astronaut", "clerk", "maid", "smith")]
    assert counts.tolist() == [*observed, rows["job"].isna().sum()]
    side, marked = sides["income"]
    apart = drawn[:, side] > rows["income"].max()
    assert apart.sum() == rows["income"].isna().sum()
    assert marked.get_ticklabels()[-1].get_text() == "missing"
    lines = [line.get_xydata()[:, sides["job"][0]] for line in axis.lines]
    levels = model.stumps_.level[model.stumps_.level >= 0]
    across = {ends[0] for ends in lines if ends[0] == ends[1]}
    assert across >= {level + half for level in levels for half in (-0.5, 0.5)}


# Edited models


def test_captions_mention_edits():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    edited = model.remove_feature("job").flatten_curve("age", low=60)
    labels = [
        CurvesDisplay.from_estimator(edited).figure_._supxlabel.get_text(),
        ImportanceDisplay.from_estimator(edited).ax_.get_xlabel(),
        ContributionsDisplay.from_estimator(edited, X).ax_.get_xlabel(),
    ]
    words = "edited: age was flattened from 60 on (1 earlier edit)"
    assert all(words in label.replace("\n", " ") for label in labels)
    assert "edited" not in CurvesDisplay.from_estimator(model).caption
    assert "edited" not in ContributionsDisplay.from_estimator(model, X).title


@pytest.mark.parametrize("display", [FeatureLearningDisplay, MarginDisplay])
def test_edited_models_lack_training_attributes(display):
    X, y = table()
    model = BoostedStumpSVC(5).fit(X, y).remove_feature("age")
    rows = (X, y) if display is FeatureLearningDisplay else ()
    with pytest.raises(ValueError, match=r"edited \(age was removed\).* model before its edits"):
        display.from_estimator(model, *rows)


# Text of the data

MONEY = "$0-$10k"
BAD_TEX = "$tex_{bad$"


def dollars():
    """A frame whose names, levels and labels would be formulas, some of them invalid."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {BAD_TEX: rng.choice([MONEY, "$x$_{"], 60).astype(object), "$y$": rng.normal(size=60)}
    )
    return X, np.where(X["$y$"] + (X[BAD_TEX] == MONEY) > 0.5, "_$^$", MONEY)


def displayed_text(figure):
    """Draw a figure; return its texts as displayed, none of them a formula."""
    figure.canvas.draw()
    texts = [text.get_text() for text in figure.findobj(Text)]
    assert not any(is_math_text(text) for text in texts if "mathdefault" not in text)
    return " ".join(texts).replace("\\$", "$")


def assert_displays(display, *words):
    text = displayed_text(display.figure_)
    assert [word for word in words if word not in text] == []


def test_dollar_signs_do_not_start_formulas():
    X, y = dollars()
    model = StumpLogisticRegression().fit(X, y)
    assert_displays(CurvesDisplay.from_estimator(model), BAD_TEX, "$y$", MONEY, "$x$_{", "'_$^$'")
    assert_displays(ImportanceDisplay.from_estimator(model), BAD_TEX, "$y$")
    display = ContributionsDisplay.from_estimator(model, X.iloc[[0]])
    assert_displays(display, f"{BAD_TEX} = {X.iloc[0, 0]}", "'_$^$'")
    assert_displays(MarginsDisplay.from_estimator(model, X, y), "training rows")
    boosted = BoostedStumpSVC(10).fit(X, y)
    learned = FeatureLearningDisplay.from_estimator(boosted, X, y)
    assert_displays(learned, BAD_TEX, "$y$", MONEY, "$x$_{", "_$^$")
    assert_displays(MarginDisplay.from_estimator(boosted), "stumps")
    several = ImportanceDisplay.from_estimator(StumpSVC().fit(X, np.where(X["$y$"] > 1, "$", y)))
    assert_displays(several, "class '$'", f"class '{MONEY}'")


def test_dollars_on_boundaries_and_bounds():
    X, y = dollars()
    numbers = X[["$y$"]].assign(**{BAD_TEX: X["$y$"] ** 2})
    model = StumpSVC().fit(numbers, y)
    display = BoundaryDisplay.from_estimator(model, numbers, y, resolution=5)
    assert_displays(display, BAD_TEX, "$y$", MONEY, "_$^$")
    ends = np.array([0.1, 0.2])
    assert_displays(BoundSearchDisplay(ends, ends, ends, 0.1, "$step$__C").plot(), "$step$__C")


def test_names_that_are_numbers():
    """scikit-learn does not store column names that are numbers, but displays show them."""
    X, y = table()
    years = X[["age", "income"]].set_axis([2021, 2022], axis=1)
    model = StumpLogisticRegression().fit(years, y)
    names = ["2021", "2022"]
    assert display_names(model, 2, None) == names
    assert sorted(CurvesDisplay.from_estimator(model).names) == names
    assert sorted(ImportanceDisplay.from_estimator(model).names) == names
    assert CurvesDisplay.from_estimator(model, features=[2022]).names == ["2022"]
    full = years.fillna(0.0)
    for learner in (StumpSVC(), LogisticRegression()):
        fitted = learner.fit(full, y)
        display = BoundaryDisplay.from_estimator(fitted, full, y, resolution=5)
        assert display.names == (names if learner.__class__ is StumpSVC else ["x0", "x1"])
    assert display_names(LogisticRegression().fit(X[["age"]], y), 1, None) == ["age"]


def test_text_helpers():
    assert escape(MONEY) == r"\$0-\$10k" and escape(3) == "3"
    assert [format_short_percent(s) for s in (0.0, 0.0003, 0.0994, 0.0996, 1.0)] == [
        "0%",
        "<0.1%",
        "9.9%",
        "10%",
        "100%",
    ]
    assert truncate("short", 5) == "short" and truncate("longer", 5) == "long…"
