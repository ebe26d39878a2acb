"""Explanations of models with interactions."""

import json
from copy import copy
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from command import run
from interaction_models import TERMS, add_surfaces, fit_surfaces
from test_explanations import each, strange_rows, table

from everystump import StumpLogisticRegression, SubsampleVotingClassifier, save
from everystump._explanations.terms import interaction_features, term_features
from everystump._tables.frames import Feature
from everystump._tables.validation import check_rows
from everystump._workflow.evaluation import score_importances
from everystump._workflow.predictions import importances, row_contributions
from everystump.explain import CurvesDisplay

NAMES = ["age × income", "age × job", "age × income × job"]


@pytest.fixture(scope="module", params=[2, 3], ids=["binary", "multiclass"])
def fitted(request):
    """Return a model with random surfaces."""
    X, y = table(request.param)
    return fit_surfaces(X, y), X


def parts_of(model, frame):
    return [frame] if frame.columns.nlevels == 1 else [frame[label] for label in model.classes_]


# Samples


def test_contributions_of_all_terms_sum_to_the_score(fitted):
    model, X = fitted
    for rows in (X, strange_rows()):
        frame = model.explain_local(rows)
        assert frame.index.equals(rows.index)
        scores = model.decision_function(rows).reshape(len(rows), -1)
        for part, expected in zip(parts_of(model, frame), scores.T, strict=True):
            assert part.columns.tolist() == [
                *["intercept", "age", "income", "job"],
                *["age × income", "age × income × job", "age × job", "score"],
            ]
            np.testing.assert_allclose(part["score"], expected, rtol=0, atol=1e-12)
            added = part.drop(columns="score").sum(axis=1)
            np.testing.assert_allclose(added, expected, rtol=0, atol=1e-12)


def test_columns_are_the_surfaces(fitted):
    model, X = fitted
    rows = check_rows(model, X)
    for part, shapes in zip(
        parts_of(model, model.explain_local(X)), each(model.shapes_), strict=True
    ):
        for surface in shapes.surfaces:
            name = " × ".join(X.columns[list(surface.features)])
            expected = surface(rows[:, surface.features])
            np.testing.assert_allclose(part[name], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("measure", ["mixed", "middle"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_fitted_interactions(n_classes, measure):
    """The triple adds a surface for each of its pairs; all have mean 0 along each axis."""
    X, y = table(n_classes)
    model = StumpLogisticRegression(interactions=[(0, 1, 2)], measure=measure).fit(X, y)
    frame, found = model.explain_local(X), model.explain_global()
    scores = model.decision_function(X).reshape(len(X), -1)
    for part, score in zip(parts_of(model, frame), scores.T, strict=True):
        assert part.columns[4:-1].tolist() == [*NAMES[::2], "age × job", "income × job"]
        np.testing.assert_allclose(part["score"], score, rtol=0, atol=1e-10)
    for shapes in each(model.shapes_):
        for surface, weights in zip(shapes.surfaces, model.surface_density_, strict=True):
            for j in range(surface.order):
                sums = (weights * surface.values).sum(axis=j)
                np.testing.assert_allclose(sums, 0.0, atol=1e-9)
    if measure == "middle":  # steps: the grid represents the samples exactly
        exact = model.explain_global(X)
        np.testing.assert_allclose(found["importance"], exact["importance"], atol=1e-9)


def test_polars_frames(fitted):
    model, X = fitted
    frame = model.explain_local(pl.from_pandas(X))
    np.testing.assert_array_equal(frame, model.explain_local(X))
    assert frame.columns.equals(model.explain_local(X).columns)


def test_arrays_have_numbered_interactions():
    X, y = table()
    model = fit_surfaces(X[["age", "income"]].to_numpy(), y, [(0, 1)])
    assert model.explain_local(X[["age", "income"]].to_numpy()).columns[3] == "x0 × x1"


def test_rows_of_the_command(fitted):
    model, X = fitted
    found = row_contributions(model, X.iloc[[3]])
    parts = parts_of(model, model.explain_local(X.iloc[[3]]))
    for title, part in zip(found.columns[2:], parts, strict=True):
        by_name = found.set_index("feature")[title].drop(["(intercept)", "(score)"])
        np.testing.assert_array_equal(by_name, part[by_name.index].iloc[0])
    values = found.set_index("feature")["value"]
    assert values["age × job"] == X.iloc[3][["age", "job"]].tolist()
    assert values["age"] == X["age"].iloc[3]
    largest = found[found.columns[2:]].abs().max(axis=1)[:-2]
    assert len(largest) == 6 and largest.is_monotonic_decreasing


# Importance


def test_importance_on_samples_is_the_standard_deviation(fitted):
    model, X = fitted
    for rows in (X, strange_rows()):
        frame = model.explain_local(rows)
        found = model.explain_global(rows)
        assert found["importance"].is_monotonic_decreasing
        assert len(found) == 6 * len(each(model.shapes_))
        for row in found.to_dict("records"):
            name = row["feature"]
            column = frame[(row["class"], name)] if "class" in row else frame[name]
            assert row["importance"] == pytest.approx(column.std(ddof=0), abs=1e-12)
            features = name.split(" × ")
            assert row["share_missing"] == pytest.approx(rows[features].isna().any(axis=1).mean())
            assert (row["kind"] == "interaction") == (len(features) > 1)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_importance_on_the_training_samples(is_weighted):
    """Surfaces that are constant between jumps have exact weights at their grid points."""
    X, y = table()
    weight = np.random.default_rng(1).integers(1, 4, len(X)) if is_weighted else None
    model = StumpLogisticRegression().fit(X, y, sample_weight=weight)
    add_surfaces(model, X, [(0, 2)], sample_weight=weight, jumps=True)
    (surface,) = model.shapes_.surfaces
    steps = np.repeat(np.arange(len(surface.axes[0].knots) // 2 + 1), 2)[1:-1]
    surface.values[:] = surface.values[2 * np.minimum(steps, 4)]
    column = np.repeat(model.explain_local(X)["age × job"], 1 if weight is None else weight)
    assert column.nunique() > 10
    found = model.explain_global().set_index("feature").loc["age × job"]
    assert found["importance"] == pytest.approx(column.std(ddof=0), abs=1e-12)
    missing = np.repeat(X["job"].isna(), 1 if weight is None else weight)
    assert found["share_missing"] == pytest.approx(missing.mean())
    assert found["lowest"] == surface.values.min()
    assert found["highest"] == surface.values.max()


def test_feature_importances_share_those_of_interactions(fitted):
    model, _ = fitted
    by_name = model.explain_global().groupby("feature")["importance"].sum()
    pair, other, triple = by_name[NAMES]
    expected = by_name[["age", "income", "job"]].to_numpy() + triple / 3
    expected += np.array([pair + other, pair, other]) / 2
    assert model.feature_importances_.shape == (3,)
    np.testing.assert_allclose(model.feature_importances_, expected / expected.sum(), rtol=1e-12)


def test_importances_of_the_command(fitted):
    """Those on held-out rows replace those on the training rows."""
    model, X = fitted
    model = copy(model)
    rows = X.iloc[:50]
    model.about_ = {"importances": score_importances(model, rows)}
    found, measured_on = importances(model)
    assert measured_on == "50 held-out rows"
    pd.testing.assert_series_equal(found["importance"], model.explain_global(rows)["importance"])
    assert found["feature"].tolist() == model.explain_global(rows)["feature"].tolist()


def test_votes_have_the_density_of_the_surfaces_of_all_members():
    """Members have different grids; their vote has the grid of all of them."""
    X, y = table()
    member = StumpLogisticRegression(interactions=[(0, 1), (0, 2)])
    vote = SubsampleVotingClassifier(member, n_estimators=3, subsample=0.6, random_state=0).fit(
        X, y
    )
    shapes = [weights.shape for weights in vote.surface_density_]
    assert shapes == [surface.values.shape for surface in vote.shapes_.surfaces]
    assert [weights.sum() for weights in vote.surface_density_] == [len(X)] * 2
    score = vote.explain_local(X)["score"]
    np.testing.assert_allclose(score, vote.decision_function(X), rtol=0, atol=1e-12)
    assert len(vote.explain_global()) == 5


def test_a_model_without_the_density_of_its_surfaces():
    X, y = table()
    model = fit_surfaces(X, y)
    del model.surface_density_
    with pytest.raises(ValueError, match=r"no surface_density_ .* 3 interactions; .*_global\(X\)"):
        model.explain_global()
    with pytest.raises(AttributeError, match="no feature_importances_"):
        model.feature_importances_  # noqa: B018
    assert len(model.explain_global(X)) == 6


def test_there_is_no_table_of_stumps(fitted):
    with pytest.raises(ValueError, match="has 3 interactions, which are votes of products"):
        fitted[0].explain_ensemble()


# Surfaces


def test_surfaces_are_grid_points(fitted):
    model, _ = fitted
    frame = model.surface(("job", "age"))
    parts = [frame]
    if "class" in frame:
        parts = [frame[frame["class"] == label] for label in model.classes_]
    for part, shapes in zip(parts, each(model.shapes_), strict=True):
        surface = shapes.surfaces[2]
        assert surface.features == (0, 2)
        assert part.columns.tolist()[-3:] == ["age", "job", "contribution"]
        np.testing.assert_array_equal(part["contribution"], surface.values.ravel())
        levels = part["job"].to_numpy().reshape(surface.values.shape)
        assert levels[0, :3].tolist() == ["clerk", "maid", "smith"] and pd.isna(levels[0, 3])
        np.testing.assert_array_equal(part["age"], np.repeat(surface.axes[0].knots, 4))


def test_a_feature_named_contribution():
    X, y = table()
    X = X.rename(columns={"age": "contribution"})
    model = fit_surfaces(X, y, [(0, 1)])
    assert model.surface("contribution × income").columns.tolist() == [
        *["contribution", "income", "(contribution)"]
    ]


# Names


def test_terms_by_name_or_number():
    features = [Feature("a"), Feature("b"), Feature("a × b"), Feature("c")]
    terms = [(0,), (1,), (2,), (3,), (0, 1), (0, 3), (0, 1, 3)]
    assert term_features(features, terms, "a × b") == (2,)  # a feature comes first
    assert term_features(features, terms, ("a", "b")) == (0, 1)
    assert term_features(features, terms, ["b", 0]) == (0, 1)
    assert term_features(features, terms, "c × a") == (0, 3)
    assert term_features(features, terms, ("c",)) == term_features(features, terms, 3) == (3,)
    for order in permutations("abc"):
        assert term_features(features, terms, " × ".join(order)) == (0, 1, 3)
        assert term_features(features, terms, order) == (0, 1, 3)


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("age × incme", r"^feature='age × incme' is not an interaction .*; use 'age × income'\.$"),
        ("qty × unit", r"'qty × unit' is not an interaction of the model; choose one of 'age"),
        ("wage", r"is not among the 3 features and 3 interactions; use 'age'\.$"),
        (("income", "job"), r"\('income', 'job'\) is not an interaction of the model; choose one"),
        (("age", "age"), r"\('age', 'age'\) is not an interaction of the model; .*'age × income'"),
        (("age", 7), "feature=7: the model has 3 features; pass a name or an index from 0 to 2"),
        ((), r"feature=\(\) is not an interaction of the model"),
        ("age", r"feature='age' is a single feature, not an interaction; choose one of 'age × "),
        (0, "feature=0 is a single feature"),
    ],
)
def test_unknown_interactions(fitted, term, message):
    with pytest.raises(ValueError, match=message) as raised:
        fitted[0].surface(term)
    assert "\n" not in str(raised.value)


def test_additive_models_have_no_interactions():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    for term in (("age", "income"), "age", "age × income"):
        with pytest.raises(ValueError, match="the model has none, so fit it with interactions"):
            model.surface(term)


@pytest.mark.parametrize("feature", ["age × income", "income × age", ("age", "income")])
def test_interactions_have_no_curve(fitted, feature):
    model, _ = fitted
    message = r"is not a single feature, so it has no curve; use surface\(\) or SurfacesDisplay"
    with pytest.raises(ValueError, match=message):
        model.curve(feature)
    with pytest.raises(ValueError, match=message):
        CurvesDisplay.from_estimator(model, features=[feature])


def test_interactions_of_features_by_number():
    terms = [(0,), (1,), (0, 1)]
    assert interaction_features([Feature(), Feature()], terms, "x1 × x0") == (0, 1)
    assert sorted(TERMS) == [(0, 1), (0, 1, 2), (0, 2)]


# The command


def test_the_command_lists_interactions(tmp_path):
    X, y = table()
    model = StumpLogisticRegression(interactions=[("age", "income"), ("age", "job")]).fit(X, y)
    save(model, tmp_path / "m.stump")
    rows = X.assign(income=np.nan)[:1]
    rows.to_csv(tmp_path / "rows.csv", index=False)
    listed = run("explain", tmp_path / "m.stump").stdout
    assert "age × income" in listed and "interaction" in listed
    record = json.loads(
        run("explain", tmp_path / "m.stump", tmp_path / "rows.csv", "--json").stdout
    )
    values = {row["feature"]: row["value"] for row in record["rows"]}
    assert values["age × income"] == [rows["age"].iloc[0], None]
    parts = {row["feature"]: row["contribution"] for row in record["rows"]}
    score = parts.pop("(score)")
    assert sum(parts.values()) == pytest.approx(score, abs=1e-9)
    text = run("explain", tmp_path / "m.stump", tmp_path / "rows.csv").stdout
    assert f"{rows['age'].iloc[0]:g}, missing" in text
