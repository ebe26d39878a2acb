"""Surfaces in the record that all exporters read, and in all formats."""

import json
import sqlite3
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from oracles import search
from test_export_sql import ENGINES, in_duckdb, in_sqlite, with_key
from test_surfaces import N_FEATURES, N_LEVELS, models, points, scores

from everystump import StumpSVC
from everystump._core.shapes import Shape, ShapeModel, combine
from everystump._core.surfaces import Axis, Surface
from everystump.datasets import make_twonorm
from everystump.export import score_json, to_json, to_sql
from everystump.export._record import TargetFeature, Terms, sum_terms
from everystump.export._sql_surfaces import Table
from everystump.export.sql import _values as values_table

pd = pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")


def make_model(seed):
    """Return a model of a number, a category of 3 levels and another number."""
    rng = np.random.default_rng(seed)
    axes = Axis(np.array([0.0, 1.0, 1.0, 2.5])), Axis.category(3, True), Axis(np.arange(3.0))
    surfaces = [
        Surface(term, own, rng.normal(size=[len(axis) for axis in own]))
        for term in [(0, 1), (1, 2), (0, 1, 2)]
        for own in [tuple(axes[d] for d in term)]
    ]
    line = Shape(np.array([0.0, 2.0]), rng.normal(size=2))
    shapes = (line, Shape.category(rng.normal(size=3), 0.5), line)
    return ShapeModel(shapes, float(rng.normal()), tuple(surfaces))


def random_rows(n):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(-1, 3, n), rng.integers(-1, 3, n), rng.uniform(-1, 3, n)])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def evaluate(terms, n_features, X):
    """Return the scores of terms, one column each."""
    models = [
        ShapeModel(
            tuple(curves.get(d, Shape(np.zeros(1), np.zeros(1))) for d in range(n_features)),
            float(intercept),
            tuple(surfaces.values()),
        )
        for intercept, curves, surfaces in zip(
            terms.intercepts, terms.curves, terms.surfaces, strict=True
        )
    ]
    return np.column_stack([model.evaluate(X) for model in models])


def test_scores_of_mixed_and_added_terms():
    first, second, X = make_model(1), make_model(2), random_rows(200)
    terms, weights = Terms.from_shapes([first, second]), np.array([[2.0, 0.0], [1.0, -3.0]])
    scores = np.column_stack([first.evaluate(X), second.evaluate(X)])
    assert np.allclose(evaluate(terms.mix(weights), 3, X), scores @ weights.T, atol=1e-12)
    added = sum_terms([Terms.from_shapes([first]), Terms.from_shapes([second])])
    expected = combine([first, second], [1.0, 1.0]).evaluate(X)
    assert np.allclose(evaluate(added, 3, X)[:, 0], expected, atol=1e-12)
    assert terms.used_features() == {0, 1, 2}


def test_scores_over_the_features_of_a_larger_table():
    model, X = make_model(3), random_rows(200)
    levels = np.array([4, 0, 2])  # of the category, which has 5 levels in the larger table
    targets = [TargetFeature(3), TargetFeature(1, levels, 5), TargetFeature(0)]
    wider = np.zeros((len(X), 4))
    wider[:, 3], wider[:, 0] = X[:, 0], X[:, 2]
    codes = np.where(np.isnan(X[:, 1]), -1, X[:, 1]).astype(int)
    wider[:, 1] = np.where(codes >= 0, levels[codes], np.where(np.isnan(X[:, 1]), np.nan, -1.0))
    terms = Terms.from_shapes([model]).remap(targets)
    assert sorted(terms.surfaces[0]) == [(0, 1), (0, 1, 3), (1, 3)]
    assert np.allclose(evaluate(terms, 4, wider)[:, 0], model.evaluate(X), atol=1e-12)


@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_surfaces_that_are_zero_everywhere_are_left_out(scale):
    model = combine([make_model(4)], [scale])
    terms = Terms.from_shapes([model])
    assert [len(surfaces) for surfaces in terms.surfaces] == ([3] if scale else [])


def estimator_of(model, levels):
    """Return an estimator with these shapes; its categories have 3 levels and one level."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(12, N_FEATURES)), columns=[f"x{d}" for d in range(5)])
    X["x1"], X["x3"] = [levels[k % 3] for k in range(12)], [levels[0]] * 12
    estimator = StumpSVC(categorical_features=[1, 3]).fit(X, np.arange(12) % 2)
    estimator.shapes_ = model
    return estimator


def rows_of(X, levels):
    """Return codes of levels as levels, those out of range as unknown ones."""
    rows = pd.DataFrame(X, columns=[f"x{d}" for d in range(5)])
    unknown = {-1.0: levels[3], 1.0: levels[3], 3.0: levels[3]}
    for d in N_LEVELS:
        known = {float(k): levels[k] for k in range(N_LEVELS[d])}
        column = rows[f"x{d}"].map(unknown | known)
        rows[f"x{d}"] = column.astype(object).where(column.notna(), None)
    return rows if isinstance(levels[0], str) else rows.astype(float)


LEVELS = pytest.mark.parametrize("levels", [["a", "b'", "c", "?"], [-1.0, 2.5, 7.25, 3.0]])


@LEVELS
@search(25)
@given(model=models())
def test_random_surfaces_in_json(levels, model):
    X = points()
    document = json.loads(to_json(estimator_of(model, levels)))
    found = score_json(document, rows_of(X, levels)).score
    np.testing.assert_allclose(found, scores(model, X), atol=1e-12)
    assert document["version"] == (2 if model.surfaces else 1)


@LEVELS
@pytest.mark.parametrize("run", [in_sqlite, pytest.param(in_duckdb, marks=pytest.mark.slow)])
@search(12)
@given(model=models())
def test_random_surfaces_in_sql(run, levels, model):
    X = points()
    query = to_sql(estimator_of(model, levels), "da ta", keep=["Key"])
    found = run(query, with_key(rows_of(X, levels)))
    np.testing.assert_allclose(found.numbers("score")[:, 0], scores(model, X), atol=1e-9)


@LEVELS
@search(12)
@given(model=models())
def test_random_surfaces_in_onnx(levels, model):
    onnx_tests = pytest.importorskip("test_export_onnx", reason="onnx is not installed")
    X = points()
    session = onnx_tests.session_of(estimator_of(model, levels))
    found = onnx_tests.run(session, rows_of(X, levels))["score"]
    np.testing.assert_allclose(found, scores(model, X), atol=1e-9)


def numeric_estimator(surface):
    """Return an estimator of two numbers with one surface and no curves."""
    estimator = StumpSVC().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    flat = (Shape(np.zeros(1), np.zeros(1)),) * 2
    estimator.shapes_ = ShapeModel(flat, 0.0, (surface,))
    return estimator


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e150, 1.7e308])
def test_axes_and_values_at_extreme_scales(scale):
    """Distances between knots may overflow, and knots may be adjacent numbers."""
    first = Axis(scale * np.array([-1.0, 0.1, 1.0]))
    second = Axis(np.array([0.1, np.nextafter(0.1, 1.0), 0.7, 0.7, 1e8, np.nextafter(1e8, 2e8)]))
    surface = Surface((0, 1), (first, second), np.arange(18.0).reshape(3, 6) ** 2 - 40.0)
    model = numeric_estimator(surface)
    grid = np.meshgrid(
        np.concatenate([first.knots, scale * np.array([-0.5, 0.05, 0.3])]),
        np.concatenate([second.knots, np.nextafter(second.knots, -1.0), [-1e300, 0.3, 1e300]]),
    )
    rows = pd.DataFrame({"x0": grid[0].ravel(), "x1": grid[1].ravel()})
    expected = model.decision_function(rows.to_numpy())
    np.testing.assert_allclose(score_json(to_json(model), rows).score, expected, atol=1e-9)
    for run in (in_sqlite, in_duckdb):
        found = run(to_sql(model, "da ta", keep=["Key"]), with_key(rows))
        np.testing.assert_allclose(found.numbers("score")[:, 0], expected, atol=1e-9)
    onnx_tests = pytest.importorskip("test_export_onnx", reason="onnx is not installed")
    found = onnx_tests.run(onnx_tests.session_of(model), rows)["score"]
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("size", [1e-290, 1e-12, 1e12, 1e300])
def test_values_are_as_precise_as_the_largest(size):
    axis = Axis(np.linspace(0.0, 1.0, 5))
    values = size * np.random.default_rng(0).uniform(-1, 1, size=(5, 5))
    model = numeric_estimator(Surface((0, 1), (axis, axis), values))
    rows = pd.DataFrame(np.random.default_rng(1).uniform(size=(50, 2)), columns=["x0", "x1"])
    expected = model.decision_function(rows.to_numpy())
    found = in_sqlite(to_sql(model, "da ta", keep=["Key"]), with_key(rows)).numbers("score")[:, 0]
    np.testing.assert_allclose(found, expected, atol=1e-13 * size)


@pytest.mark.parametrize("run", [in_sqlite, in_duckdb])
@pytest.mark.parametrize("kind", ["text", "numbers"])
def test_surfaces_of_many_levels(kind, run):
    """Their levels are joined as a table."""
    rng = np.random.default_rng(0)
    levels = np.array([f"l'{k}" for k in range(150)]) if kind == "text" else rng.normal(size=150)
    frame = pd.DataFrame({"c": rng.choice(levels, 900), "x": rng.normal(size=900)})
    y = (frame["x"] * np.isin(frame["c"], levels[:70]) > 0).astype(int)
    model = StumpSVC(categorical_features=["c"], interactions=1, interaction_strength=1.0)
    model.fit(frame, y)
    rows = frame.head(150).astype({"c": object})
    rows.loc[3, "c"], rows.loc[4, "c"] = "unknown" if kind == "text" else 7.5, None
    rows = rows if kind == "text" else rows.astype(float)
    found = run(to_sql(model, "da ta", keep=["Key"]), with_key(rows)).numbers("score")[:, 0]
    np.testing.assert_allclose(found, model.decision_function(rows), atol=1e-9)


@pytest.mark.parametrize("table", ["cells", "Corners", "corners_"])
def test_tables_named_as_generated_ones(table):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model = StumpSVC(interactions=2).fit(X, (X[:, 0] * X[:, 1] > 0).astype(int))
    rows = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    found = in_sqlite(to_sql(model, table, keep=["Key"]), with_key(rows), table)
    expected = model.decision_function(X)
    np.testing.assert_allclose(found.numbers("score")[:, 0], expected, atol=1e-9)


def test_the_statement_of_many_pairs_stays_small():
    """About 15 characters for each value: engines parse it in a fraction of a second."""
    X, y = make_twonorm(400, random_state=0)
    model = StumpSVC(interactions=190, tol=0.1).fit(X, y)
    additive = StumpSVC(tol=0.1).fit(X, y)
    n_values = sum(surface.values.size for surface in model.shapes_.surfaces)
    query = to_sql(model, "da ta", keep=["Key"])
    assert n_values > 150_000
    assert len(query) - len(to_sql(additive)) < 18 * n_values
    found = in_sqlite(query, with_key(pd.DataFrame(X[:5]).add_prefix("x")))
    expected = model.decision_function(X[:5])
    np.testing.assert_allclose(found.numbers("score")[:, 0], expected, atol=1e-9)


@ENGINES
def test_scores_of_classes_with_different_surfaces(run):
    """A class may lack a surface, or have one on another grid."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = np.select([X[:, 0] * X[:, 1] > 0.4, X[:, 1] * X[:, 2] < -0.4], [0, 1], 2)
    model = StumpSVC(interactions=3, interaction_bins=6).fit(X, y)
    first, second, third = model.shapes_
    zero = replace(first.surfaces[1], values=0.0 * first.surfaces[1].values)
    coarse = Surface((1, 2), (Axis(np.array([-1.0, 1.0])),) * 2, np.array([[2.0, 1.0], [0.0, 1.0]]))
    first = replace(first, surfaces=(first.surfaces[0], zero, coarse))
    model.shapes_ = [first, second, replace(third, surfaces=())]
    found = run(to_sql(model, "da ta", keep=["Key"]), with_key(pd.DataFrame(X).add_prefix("x")))
    expected = np.column_stack([shapes.evaluate(X) for shapes in model.shapes_])
    order = np.argsort(found.numbers("Key")[:, 0])
    np.testing.assert_allclose(found.numbers("score")[order], expected, atol=1e-9)


def test_long_tables_are_searched_by_an_index():
    """Written as one VALUES, they would be read from the start for each row."""
    parts = [
        Table(name, ["key"], [[str(k)] for k in range(n)])
        for name, n in [("a", 31_000), ("b", 3_000)]
    ]
    tables = ", ".join(values_table(part) for part in parts)
    query = f"WITH {tables} SELECT COUNT(*) FROM b CROSS JOIN a ON a.key = b.key + 1"
    base = sqlite3.connect(":memory:")
    plan = base.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
    assert any("SEARCH a USING AUTOMATIC" in step[-1] for step in plan)
    assert base.execute(query).fetchone() == (3_000,)


def test_the_schema_of_surfaces():
    jsonschema = pytest.importorskip("jsonschema", reason="the schema is checked by jsonschema")
    schema = json.loads(files("everystump.export").joinpath("model.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = StumpSVC(interactions=[(0, 1, 2)]).fit(X, (X.prod(axis=1) > 0).astype(int))
    document = json.loads(to_json(model))
    validator.validate(document)
    assert not validator.is_valid(document | {"version": 1})
    surface = document["scores"][0]["surfaces"][0]
    surface["axes"].append(surface["axes"][0])
    surface["axes"].append(surface["axes"][0])
    assert not validator.is_valid(document)
