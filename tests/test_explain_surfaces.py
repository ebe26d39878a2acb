"""Displays of models with interactions show the numbers of the model."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from interaction_models import fit_surfaces
from matplotlib.collections import QuadMesh
from matplotlib.contour import QuadContourSet
from test_explanations import table

from everystump import StumpLogisticRegression, StumpSVC
from everystump.explain import (
    ContributionsDisplay,
    CurvesDisplay,
    ImportanceDisplay,
    SurfacesDisplay,
)

matplotlib.use("Agg")
X, Y = table()
MODEL = fit_surfaces(X, Y)
PAIR, MIXED, TRIPLE = "age × income", "age × job", "age × income × job"


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def meshes(axis):
    """Return the centers and values of the blocks of a heat map."""
    found = []
    for mesh in axis.collections:
        if isinstance(mesh, QuadMesh):
            corners = mesh.get_coordinates()
            x, y = corners[0, :, 0], corners[:, 0, 1]
            found.append(((x[:-1] + x[1:]) / 2, (y[:-1] + y[1:]) / 2, mesh.get_array()))
    return found


def hatched_at(axis, x, y):
    """Return whether a point of a heat map is hatched."""
    regions = [c for c in axis.collections if isinstance(c, QuadContourSet)]
    return any(path.contains_point((x, y)) for c in regions for path in c.get_paths())


# Heat maps


@pytest.mark.parametrize("jumps", [False, True])
def test_colors_are_the_values_of_the_surface(jumps):
    """Numbers on both axes; missing incomes are set apart at the top."""
    model = fit_surfaces(X, Y, [(0, 1)], jumps=jumps)
    display = SurfacesDisplay.from_estimator(model)
    (axis,) = display.axes_
    (surface,) = model.shapes_.surfaces
    (x, y, values), (_, top, missing) = meshes(axis)
    points = np.stack(np.meshgrid(x, y), axis=-1)
    np.testing.assert_allclose(values, surface(points), rtol=0, atol=1e-12)
    at_missing = surface(np.column_stack([x, np.full(len(x), np.nan)]))
    np.testing.assert_allclose(missing[0], at_missing, rtol=0, atol=1e-12)
    assert top[0] > y[-1]
    assert axis.get_yticklabels()[-1].get_text() == "missing"
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("age", "income")
    assert axis.get_title() == PAIR


def test_categories_are_on_the_vertical_axis():
    display = SurfacesDisplay.from_estimator(MODEL, terms=[MIXED])
    (axis,) = display.axes_
    surface = MODEL.shapes_.surfaces[2]
    (x, _, values), (_, _, missing) = meshes(axis)
    labels = [label.get_text() for label in axis.get_yticklabels()]
    assert labels == ["smith", "maid", "clerk", "missing"]
    for level, row in zip([2, 1, 0], values, strict=True):
        expected = surface(np.column_stack([x, np.full(len(x), level)]))
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-12)
    expected = surface(np.column_stack([x, np.full(len(x), np.nan)]))
    np.testing.assert_allclose(missing[0], expected, rtol=0, atol=1e-12)
    # The first feature of this surface is the category.
    frame = X[["job", "age"]]
    swapped = SurfacesDisplay.from_estimator(fit_surfaces(frame, Y, [(0, 1)])).axes_[0]
    assert (swapped.get_xlabel(), swapped.get_ylabel()) == ("age", "job")


def test_two_categories_with_many_levels():
    """Seven levels are drawn, and the mean of the others over their samples."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"job": X["job"].to_numpy(), "city": rng.choice([f"c{k:02}" for k in range(15)], len(X))}
    )
    model = fit_surfaces(frame, Y, [(0, 1)])
    (axis,) = SurfacesDisplay.from_estimator(model).axes_
    (surface,), (weights,) = model.shapes_.surfaces, model.surface_density_
    labels = [label.get_text() for label in axis.get_yticklabels()]
    assert len(labels) == 8 and labels[-1] == "8 more"
    sizes = (weights * np.abs(surface.values)).sum(axis=0)
    levels = model.feature_info_[1].levels
    assert set(labels[:-1]) == set(levels[np.argsort(-sizes)[:7]])
    (_, _, values), (_, _, missing) = meshes(axis)
    codes = [model.feature_info_[1].level_index[label] for label in labels[:-1]]
    jobs = [label.get_text() for label in axis.get_xticklabels()][:3]
    columns = [model.feature_info_[0].level_index[job] for job in jobs]
    np.testing.assert_allclose(values[:7], surface.values[np.ix_(columns, codes)].T)
    np.testing.assert_allclose(missing[:7, 0], surface.values[3, codes])
    rest = np.setdiff1d(np.arange(15), codes)
    counts = frame["city"].value_counts()[levels[rest]].to_numpy()
    expected = np.average(surface.values[np.ix_(columns, rest)], axis=1, weights=counts)
    np.testing.assert_allclose(values[7], expected)


def test_three_features_are_drawn_as_slices():
    display = SurfacesDisplay.from_estimator(MODEL, terms=[TRIPLE])
    assert display.names == [TRIPLE] and len(display.panels) == len(display.axes_) == 3
    surface = MODEL.shapes_.surfaces[1]
    for axis, level in zip(display.axes_, ("clerk", "maid", "smith"), strict=True):
        assert axis.get_title() == f"{TRIPLE}\njob = {level}"
        code = MODEL.feature_info_[2].level_index[level]
        x, y, values = meshes(axis)[0]
        points = np.stack([*np.meshgrid(x, y), np.full((len(y), len(x)), code)], axis=-1)
        np.testing.assert_allclose(values, surface(points), rtol=0, atol=1e-12)


def test_slices_of_numbers_are_at_quantiles():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 3))
    model = fit_surfaces(rows, rows[:, 0] > 0, [(0, 1, 2)])
    display = SurfacesDisplay.from_estimator(model)
    shares = []
    for panel in display.panels:
        name, value = panel.title.split("\n")[1].split(" = ")
        assert name == "x2"
        shares.append(np.mean(rows[:, 2] <= float(value)))
    np.testing.assert_allclose(shares, [1 / 6, 1 / 2, 5 / 6], atol=0.15)
    assert shares == sorted(shares)


# Samples


def test_regions_without_samples_are_hatched():
    rng = np.random.default_rng(0)
    a = rng.uniform(size=2000)
    rows = np.column_stack([a, a + rng.normal(0, 0.02, 2000)])
    model = fit_surfaces(rows, a > 0.5, [(0, 1)])
    display = SurfacesDisplay.from_estimator(model)
    (axis,) = display.axes_
    assert hatched_at(axis, 0.1, 0.9) and hatched_at(axis, 0.9, 0.1)
    assert not any(hatched_at(axis, at, at) for at in (0.15, 0.5, 0.85))
    label = display.figure_.axes[-1].get_xlabel()
    assert "hatched: no samples" in label.replace("\n", " ")
    everywhere = SurfacesDisplay.from_estimator(model, rng.uniform(size=(2000, 2)))
    assert not any(isinstance(c, QuadContourSet) for c in everywhere.axes_[0].collections)
    assert "hatched" not in everywhere.figure_.axes[-1].get_xlabel()


def test_steps_are_not_hatched_between_their_jumps():
    """Fitted weights are stored at one of the two ends of a step."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(2000, 2))
    model = StumpSVC(measure="middle", interactions=[(0, 1)], interaction_bins=4)
    model.fit(rows, (rows[:, 0] > 0.5) ^ (rows[:, 1] > 0.5))
    (axis,) = SurfacesDisplay.from_estimator(model).axes_
    assert not any(isinstance(c, QuadContourSet) for c in axis.collections)
    low, high = axis.get_xlim()
    knots = model.shapes_.surfaces[0].axes[0].knots
    assert low < knots[0] and knots[-1] < high  # the outer steps are drawn, too


def test_histograms_count_the_samples():
    (axis,) = SurfacesDisplay.from_estimator(MODEL, terms=[MIXED]).axes_
    top, right = axis.child_axes
    heights = sum(bar.get_height() for bar in top.patches)
    low, high = axis.get_xlim()
    assert heights == X["age"].between(low, high).sum()
    widths = [bar.get_width() for bar in right.patches]
    counts = X["job"].value_counts()
    assert widths == [*counts[["smith", "maid", "clerk"]], X["job"].isna().sum()]


def test_the_color_scale_is_that_of_regions_with_samples():
    model = fit_surfaces(X, Y, [(0, 1)])
    (surface,), (weights,) = model.shapes_.surfaces, model.surface_density_
    weights[0, 0] = 0.0
    surface.values[0, 0] = 50.0
    display = SurfacesDisplay.from_estimator(model)
    assert display.limit == np.abs(surface.values[weights > 0]).max()
    assert display.axes_[0].collections[0].norm.vmax == display.limit
    assert display.axes_[0].collections[0].norm.vmin == -display.limit


def test_a_model_without_densities():
    model = fit_surfaces(X, Y)
    del model.surface_density_, model.density_
    display = SurfacesDisplay.from_estimator(model)
    assert all(not axis.child_axes[0].patches for axis in display.axes_)
    order = np.argsort([-s.values.std() for s in model.shapes_.surfaces])
    assert display.names == [[PAIR, TRIPLE, MIXED][t] for t in order]
    with_samples = SurfacesDisplay.from_estimator(model, X)
    assert all(panel.weights is not None for panel in with_samples.panels)


# Choosing


@pytest.mark.parametrize("samples", [None, X.iloc[:40]])
def test_the_most_important_interactions_are_drawn_first(samples):
    names = SurfacesDisplay.from_estimator(MODEL, samples).names
    importance = MODEL.explain_global().set_index("feature")["importance"]
    if samples is None:
        assert names == [name for name in importance.index if "×" in name]
    assert set(names) == {PAIR, MIXED, TRIPLE}
    display = SurfacesDisplay.from_estimator(MODEL, samples, max_terms=2)
    assert display.names == names[:2]
    assert display.caption.endswith("; the 2 most important of 3 interactions")


def test_chosen_interactions():
    display = SurfacesDisplay.from_estimator(MODEL, terms=[("job", "age"), PAIR, "job × age"])
    assert display.names == [MIXED, PAIR]
    assert display.caption.endswith("; 2 of 3 interactions")
    renamed = SurfacesDisplay.from_estimator(
        MODEL, terms=["Age × Income", ("Job", "Age")], feature_names=["Age", "Income", "Job"]
    )
    assert renamed.names == ["Age × Income", "Age × Job"]
    assert renamed.axes_[0].get_xlabel() == "Age"


def test_one_class_of_several():
    rows, y = table(3)
    model = fit_surfaces(rows, y, [(0, 1)])
    display = SurfacesDisplay.from_estimator(model, class_label="top")
    assert display.panels[0].surface is model.shapes_[2].surfaces[0]
    assert "favor class 'top' over the rest" in display.caption


def test_edited_models():
    display = SurfacesDisplay.from_estimator(MODEL.set_curve(PAIR, 0.0, low=(50, None)))
    assert display.caption.endswith("edited: age × income was set to 0 for age from 50 on")


def test_interactions_that_contribute_nothing_are_not_drawn():
    model = fit_surfaces(X, Y)
    model.shapes_.surfaces[2].values[:] = 0.0
    assert MIXED not in SurfacesDisplay.from_estimator(model).names
    assert SurfacesDisplay.from_estimator(model, terms=[MIXED]).limit == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_terms": 0}, "max_terms=0 must be at least 1"),
        ({"terms": PAIR}, r"terms='age × income' must be a list; pass \['age × income'\]"),
        ({"terms": []}, r"terms=\[\] is empty; pass an interaction, or None"),
        ({"terms": ["age"]}, "feature='age' is a single feature, not an interaction"),
        ({"terms": [("income", "job")]}, "is not an interaction of the model"),
        ({"feature_names": ["a"]}, "feature_names has 1 names"),
    ],
)
def test_invalid_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        SurfacesDisplay.from_estimator(MODEL, **options)


def test_additive_models_have_no_surfaces():
    with pytest.raises(ValueError, match=r"has no interactions; fit it .* with CurvesDisplay\."):
        SurfacesDisplay.from_estimator(StumpSVC().fit(X, Y))


def test_fitted_interactions():
    model = StumpLogisticRegression(interactions=[("age", "income"), ("age", "job")]).fit(X, Y)
    display = SurfacesDisplay.from_estimator(model)
    for panel, axis in zip(display.panels, display.axes_, strict=True):
        assert panel.title == axis.get_title()
        assert panel.weights.sum() == len(X)
    display.figure_.canvas.draw()


# Other displays


def test_levels_are_sorted_as_in_the_curves():
    curves = CurvesDisplay.from_estimator(MODEL, features=["job"])
    surfaces = SurfacesDisplay.from_estimator(MODEL, terms=[MIXED])
    bars = [label.get_text().split("  ")[0] for label in curves.axes_[0].get_yticklabels()]
    levels = [label.get_text() for label in surfaces.axes_[0].get_yticklabels()]
    drawn = [level for level in levels if level in set(X["job"].dropna())]
    assert drawn != sorted(drawn)
    assert drawn == [bar for bar in bars if bar in drawn]


@pytest.mark.parametrize("display", [CurvesDisplay, SurfacesDisplay])
def test_features_too_large_to_be_drawn(display):
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, 1, size=(100, 2)) * [1.7e308, 1.0]
    model = StumpSVC(interactions=1).fit(rows, np.sign(rows[:, 0]) * rows[:, 1] > 0)
    assert np.isfinite(model.decision_function(rows)).all()
    with pytest.raises(ValueError, match=r"too large or too close to be drawn; multiply it by"):
        display.from_estimator(model)


def test_curves_are_drawn_without_interactions():
    display = CurvesDisplay.from_estimator(MODEL)
    assert sorted(display.names) == ["age", "income", "job"]
    assert display.caption.endswith("; without 3 interactions, which SurfacesDisplay draws")


def test_contributions_of_interactions():
    display = ContributionsDisplay.from_estimator(MODEL, X, row=3)
    parts = MODEL.explain_local(X.iloc[[3]]).iloc[0]
    assert display.score == pytest.approx(parts["score"])
    total = display.intercept + display.contributions.sum()
    assert total == pytest.approx(display.score, abs=1e-12)
    age, job = X["age"].iloc[3], X["job"].iloc[3]
    label = f"age = {age:g} × job = {job}"
    at = display.labels.index(label)
    assert display.contributions[at] == pytest.approx(parts[MIXED], abs=1e-12)
    long = ContributionsDisplay.from_estimator(MODEL, X, feature_names=["a" * 40, "b" * 40, "c"])
    assert max(map(len, long.labels)) == 60
    few = ContributionsDisplay.from_estimator(MODEL, X, row=3, max_features=2)
    assert few.labels[-1] == "4 other terms"
    assert few.contributions[-1] == pytest.approx(display.contributions[2:].sum())


def test_importances_of_interactions():
    display = ImportanceDisplay.from_estimator(MODEL)
    found = MODEL.explain_global()
    assert display.names == found["feature"].tolist()
    np.testing.assert_allclose(display.importances[:, 0], found["importance"])
    few = ImportanceDisplay.from_estimator(MODEL, X, max_features=4)
    assert few.caption == "the 4 most important of 6 features and interactions"
    assert few.names == MODEL.explain_global(X)["feature"].tolist()[:4]
