"""Categories with very many levels on the report page: exact scores in a small file."""

import base64

import numpy as np
import pytest
from test_report import data_of, needs_node, run_script

from everystump import StumpLogisticRegression
from everystump._core.surfaces import Axis, Surface
from everystump.datasets import load_dataset
from everystump.estimators._base import as_class_list
from everystump.report import render, summarize
from everystump.report._cells import level_cells, merge_levels
from everystump.report._encoding import (
    encode_bytes,
    encode_floats,
    encode_indices,
    pack,
    pack_features,
)

pd = pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")


def many_levels(n=3000, n_levels=500, n_classes=2, seed=0):
    """Return a model with a pair of a number and a category with missing values, and rows."""
    rng = np.random.default_rng(seed)
    code = np.concatenate(
        [np.arange(n_levels), (n_levels * rng.power(0.3, n - n_levels)).astype(int)]
    )
    X = pd.DataFrame({"x": rng.normal(size=n), "level": [f"level {k}" for k in code]})
    score = X["x"] * np.where(code % 3, 1, -1) + rng.normal(size=n)
    X.loc[::13, "level"] = None
    X.loc[::17, "x"] = np.nan
    y = np.digitize(score, np.linspace(-1, 1, n_classes - 1))
    model = StumpLogisticRegression(interactions=[("x", "level")], tol=0.05)
    return model.fit(X, y), X


def table(values, has_missing=False):
    n_levels = len(values) - has_missing
    axes = (Axis.category(n_levels, has_missing), Axis(np.array([0.0, 1.0])))
    return Surface((0, 1), axes, np.asarray(values, dtype=float))


def test_levels_share_a_cell_if_no_surface_tells_them_apart():
    first = np.repeat([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], [50, 30, 21], axis=0)
    second = np.repeat([[7.0, 7.0], [8.0, 7.0]], [60, 41], axis=0)
    surfaces = [table(first, has_missing=True), table(second, has_missing=True)]
    cells, numbers = level_cells(surfaces)
    assert numbers is None
    assert len(cells) == 100  # the last entry is that of missing values
    groups = [(*first[k], *second[k]) for k in range(100)]
    assert {*zip(groups, cells.tolist(), strict=True)} == {
        (group, cells[groups.index(group)]) for group in groups
    }
    for surface in surfaces:
        merged = merge_levels(surface.values, [cells, None])
        assert merged.shape == (cells.max() + 2, 2)
        assert np.array_equal(merged[cells], surface.values[:100])
        assert np.array_equal(merged[-1], surface.values[-1])
    counts = merge_levels(np.ones((101, 2)), [cells, None], np.add)
    assert counts[:-1, 0].tolist() == np.bincount(cells).tolist() and counts[-1, 0] == 1


def test_levels_are_kept_if_they_are_few_or_different():
    assert level_cells([table(np.zeros((10, 2)))]) == [None, None]
    different = np.arange(200.0).reshape(100, 2)
    assert level_cells([table(different)]) == [None, None]
    assert level_cells([table(np.zeros((100, 2)))])[0].tolist() == [0] * 100


@needs_node
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_page_scores_as_python_does(n_classes):
    model, X = many_levels(n_classes=n_classes)
    page = render(summarize(model, X[:200]))
    rows = X[::5].copy()
    rows.loc[rows.index[::50], "level"] = "never seen"
    cells = rows.astype(object).where(rows.notna(), None).to_dict("records")
    found = run_script(page, cells)
    score = np.array([np.atleast_1d(one["score"]) for one in found])
    expected = model.decision_function(rows).reshape(len(rows), -1)
    assert np.abs(score - expected).max() < 1e-9
    parts = np.array([one["contributions"][0][2] for one in found])
    assert len(np.unique(parts)) > 30


def test_the_page_holds_each_cell_once():
    model, _ = many_levels()
    summary = summarize(model)
    packed = pack(summary["document"], summary["interactions"])
    (surface,) = packed["scores"][0]["surfaces"]
    axis = surface["axes"][1]
    assert (
        axis["levels"] == len(model.feature_info_[1].levels) > 480
        and axis["n_cells"] <= 33
        and "cells" not in surface["axes"][0]
    )
    cells = np.frombuffer(base64.b64decode(packed["arrays"][axis["cells"]]), np.uint8)
    assert cells.tolist() == summary["interactions"][0]["cells"][1]
    (whole,) = as_class_list(model.shapes_)[0].surfaces
    text = packed["arrays"][surface["values"]].partition("|")[0]
    assert len(base64.b64decode(text)) <= 8 * whole.values.shape[0] * (axis["n_cells"] + 1)
    (term,) = data_of(render(summary))["interactions"]
    assert "cells" not in term
    n_points = whole.values.shape[0] * (axis["n_cells"] + 1)
    rows = np.frombuffer(base64.b64decode(term["rows"]), np.uint8)
    assert len(rows) == n_points and rows.max() == 255
    weights = merge_levels(model.surface_density_[0], [None, cells.astype(int)], np.add)
    assert np.array_equal(rows, np.round(255 * np.sqrt(weights / weights.max())).ravel())


def test_distributions_are_those_of_the_training_rows():
    model, _ = many_levels()
    summary = summarize(model)
    number, category = summary["features"]
    density = model.density_[0]
    total = density.counts.sum() + density.missing
    assert number["distribution"]["values"] == density.values[density.counts > 0].tolist()
    assert sum(number["distribution"]["shares"]) == pytest.approx(1 - density.missing / total)
    packed = pack_features(summary["features"])
    shares = np.frombuffer(base64.b64decode(packed[1]["shares"]), "<f4")
    assert np.abs(shares - category["shares"]).max() < 1e-7
    values = np.frombuffer(base64.b64decode(packed[0]["distribution"]["values"]), "<f4")
    assert np.allclose(values, number["distribution"]["values"], rtol=1e-6)


def test_two_values():
    X = np.array([[0.0, 1.0, 3.0], [1.0, 2.0, 3.0], [0.0, 3.0, 3.0], [1.0, np.nan, 3.0]])
    features = summarize(StumpLogisticRegression().fit(X, [0, 1, 0, 1]))["features"]
    assert [feature["two_values"] for feature in features] == [[0.0, 1.0], None, None]


def test_encodings():
    assert np.frombuffer(base64.b64decode(encode_floats([1.5, -2e300])), "<f4")[0] == 1.5
    assert np.isfinite(np.frombuffer(base64.b64decode(encode_floats([1e300])), "<f4")[0])
    indices = [0, 1, 65_535]
    assert (
        np.frombuffer(base64.b64decode(encode_indices(np.array(indices), 65_536)), "<u2").tolist()
        == indices
    )
    numbers = np.array([[0, 255], [7, 9]])
    assert list(base64.b64decode(encode_bytes(numbers))) == [0, 255, 7, 9]


@pytest.mark.slow
def test_size_of_a_page_with_all_pairs():
    magic = load_dataset("magic", as_frame=True)
    X, y = magic.data, magic.target.to_numpy()
    model = StumpLogisticRegression(interactions=45, tol=0.01).fit(X[::4], y[::4])
    assert len(model.shapes_.surfaces) == 45
    assert len(render(summarize(model, X[1::4], y[1::4])).encode()) < 3_000_000
