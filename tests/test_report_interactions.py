"""Interactions on the report page: scores, contributions and importances are those of Python."""

import base64
from functools import cache

import numpy as np
import pytest
from test_report import data_of, needs_node, run_script

from everystump import StumpLogisticRegression, StumpLogisticRegressionCV, StumpSVC
from everystump._core.gridweights import grid_weights
from everystump._tables.validation import check_rows
from everystump.estimators._base import as_class_list
from everystump.report import render, summarize
from everystump.report._encoding import pack
from everystump.shapes import Axis, Surface

pd = pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")

LEVELS = ["red", "green", "</script>", "blue"]
PAIRS = [("a", "b"), ("a", "word"), ("word", "code"), ("b", "flag")]


def table(n, seed):
    """Return numbers, categories and missing values, and a score with interactions."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.integers(0, 12, size=n).astype(float),
            "word": rng.choice(np.array(LEVELS, dtype=object), size=n, p=[0.5, 0.3, 0.1, 0.1]),
            "code": pd.Categorical(rng.choice([3, 10, 7], size=n)),
            "flag": rng.choice([True, False], size=n),
            "unused": np.ones(n),
        }
    )
    score = frame["a"] * (frame["b"] - 6) / 3 + (frame["word"] == "red") * (
        frame["code"] == 3
    ).astype(float)
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    frame.loc[rng.random(n) < 0.1, "word"] = None
    return frame, score + 0.3 * rng.normal(size=n)


FITS = {
    "pairs": (StumpLogisticRegression(interactions=PAIRS, interaction_bins=8), 2),
    "triple": (StumpSVC(interactions=[("a", "b", "word")], interaction_bins=6), 2),
    "steps": (StumpSVC(interactions=PAIRS, measure="middle", interaction_bins=8), 2),
    "classes": (StumpLogisticRegression(interactions=3, interaction_bins=8, tol=0.01), 3),
}
ALL = pytest.mark.parametrize("name", FITS)


@cache
def fitted(name):
    """Return a model with interactions, rows that it was not trained on, and their classes."""
    model, n_classes = FITS[name]
    frame, score = table(500, 0)
    edges = np.quantile(score, np.arange(1, n_classes) / n_classes)
    y = np.array(["no", "yes", "maybe"])[np.searchsorted(edges, score)]
    return model.fit(frame[:300], y[:300]), frame[300:], y[300:]


def unusual_rows(model, n=300):
    """Return rows with unknown levels, missing values, values on knots, and values far away."""
    rng = np.random.default_rng(5)
    rows = table(n, 7)[0]
    surfaces = as_class_list(model.shapes_)[0].surfaces
    axes = [dict(zip(surface.features, surface.axes, strict=True)) for surface in surfaces]
    for d, name in enumerate(["a", "b"]):
        knots = np.concatenate([own[d].knots for own in axes if d in own] or [np.zeros(1)])
        some = rng.choice(knots, 60)
        chosen = rng.permutation(n)[:65]
        near = [*some[:40], *np.nextafter(some[40:], -np.inf)]
        rows.loc[chosen, name] = [*near, 1e300, -1e300, 40.0, -40.0, -0.0]
    for name, level in {"word": "never seen", "code": 99, "flag": None}.items():
        rows[name] = rows[name].astype(object)
        rows.loc[rng.random(n) < 0.1, name] = level
    for name in rows:
        rows[name] = rows[name].where(rng.random(n) > 0.05, None)
    return rows


def as_cells(rows):
    """Return rows for the scorer of the page."""
    cells = rows.astype(object).where(rows.notna(), None).to_dict("records")
    return [{k: int(v) if isinstance(v, bool) else v for k, v in row.items()} for row in cells]


@needs_node
@ALL
def test_the_page_scores_interactions_as_python_does(name):
    model, _, _ = fitted(name)
    rows = unusual_rows(model)
    found = run_script(render(summarize(model)), as_cells(rows))
    score = np.array([np.atleast_1d(one["score"]) for one in found])
    expected = model.decision_function(rows).reshape(len(rows), -1)
    assert np.abs(score - expected).max() < 1e-9
    X = check_rows(model, rows)
    for k, shapes in enumerate(as_class_list(model.shapes_)):
        assert shapes.surfaces
        parts = np.array([one["contributions"][k] for one in found])
        assert np.abs(parts - shapes.contributions(X)).max() < 1e-9
        assert np.ptp(parts[:, len(shapes) :], axis=0).min() > 0


@needs_node
@ALL
def test_the_page_holds_the_exported_surfaces(name):
    summary = summarize(fitted(name)[0])
    assert summary["document"]["scores"][0]["surfaces"]
    assert run_script(render(summary), [], "model.document") == summary["document"]


@ALL
def test_importances_and_order_of_terms(name):
    model, X, y = fitted(name)
    for rows in ((), (X, y)):
        summary = summarize(model, *rows)
        expected = model.explain_global(*rows[:1]).groupby("feature")["importance"].sum()
        names = [feature["name"] for feature in summary["features"]]
        terms = [*summary["features"], *summary["interactions"]]
        names += [" × ".join(names[d] for d in term["features"]) for term in terms[len(names) :]]
        totals = [sum(term["importance"]) for term in terms]
        assert dict(zip(names, totals, strict=True)) == pytest.approx(expected.to_dict())
        ordered = [totals[t] for t in summary["order"]]
        assert ordered == sorted(ordered, reverse=True)
        assert sorted(summary["order"]) == list(range(len(terms)))


@ALL
def test_explained_rows_list_the_contributions_of_interactions(name):
    model, X, y = fitted(name)
    summary = summarize(model, X, y)
    n_terms = len(summary["features"]) + len(summary["interactions"])
    scores = model.decision_function(X)
    for row in summary["explained"]["least_certain"] + summary["explained"]["largest_errors"]:
        assert len(row["contributions"]) == n_terms
        if scores.ndim == 1:
            expected = scores[row["row"]] - model.shapes_.intercept
        else:
            difference = [scores[row["row"], row[key]] for key in ("predicted", "other")]
            intercepts = [model.shapes_[row[key]].intercept for key in ("predicted", "other")]
            expected = (difference[0] - difference[1]) - (intercepts[0] - intercepts[1])
        assert sum(row["contributions"]) == pytest.approx(expected, abs=1e-9)


def flags_of(interaction, shape):
    bits = np.unpackbits(np.frombuffer(base64.b64decode(interaction["occupied"]), np.uint8))
    return bits[: np.prod(shape)].reshape(shape).astype(bool)


def test_grid_points_close_to_rows():
    model, _, _ = fitted("pairs")
    surfaces, weights = model.shapes_.surfaces, model.surface_density_
    interactions = summarize(model)["interactions"]
    by_features = {surface.features: t for t, surface in enumerate(surfaces)}
    t = by_features[2, 3]  # two categories
    assert np.array_equal(flags_of(interactions[t], weights[t].shape), weights[t] > 0)
    t = by_features[0, 1]  # two numbers, the first with missing values
    padded = np.pad(weights[t][:-1] > 0, 1)
    near = np.any([np.roll(padded, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)], axis=0)
    found = flags_of(interactions[t], weights[t].shape)
    assert np.array_equal(found[:-1], near[1:-1, 1:-1])


def test_rows_count_if_the_training_rows_are_unknown():
    model, X, _ = fitted("pairs")
    known = model.surface_density_
    try:
        del model.surface_density_
        assert summarize(model)["interactions"][0]["occupied"] is None
        found = summarize(model, X)["interactions"]
    finally:
        model.surface_density_ = known
    weights = grid_weights(model.shapes_.surfaces, check_rows(model, X))
    t = [tuple(interaction["features"]) for interaction in found].index((2, 3))
    assert np.array_equal(flags_of(found[t], weights[t].shape), weights[t] > 0)


def test_sentences_mention_interactions():
    text = summarize(fitted("pairs")[0])["text"]
    assert "It has 4 interactions of two features: " in text["description"][1]
    assert "Each feature and each interaction adds" in " ".join(text["description"])
    assert text["certificate"].startswith("No ensemble of stumps and products of stumps can")
    text = summarize(fitted("triple")[0])["text"]
    assert "1 interaction of three features" in text["description"][1]
    text = summarize(fitted("classes")[0])["text"]
    assert "the contributions of the features and interactions" in " ".join(text["description"])


def test_an_additive_model_has_no_interactions():
    frame, score = table(200, 1)
    model = StumpLogisticRegression().fit(frame, score > 0)
    summary = summarize(model)
    assert "interactions" not in summary and "interactions" not in summary["about"]
    assert all("surfaces" not in score for score in summary["document"]["scores"])
    assert "interaction" not in " ".join(summary["text"]["description"])
    assert "interaction" not in summary["text"]["certificate"]


def test_a_removed_interaction_is_not_listed():
    model, X, y = fitted("pairs")
    edited = model.remove_feature("a × b")
    data = data_of(render(summarize(edited, X, y)))
    assert [0, 1] not in [interaction["features"] for interaction in data["interactions"]]
    assert len(data["interactions"]) == 3
    row = data["explained"]["least_certain"][0]
    assert len(row["contributions"]) == len(data["features"]) + 3
    score = edited.decision_function(X)[row["row"]]
    assert sum(row["contributions"]) == pytest.approx(score - edited.shapes_.intercept, abs=1e-9)


def test_size_of_a_page_with_190_surfaces():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 20)), np.arange(500) % 2
    model = StumpSVC(tol=0.5).fit(X, y)
    axes = [Axis(np.sort(rng.normal(size=32))) for _ in range(20)]
    surfaces = tuple(
        Surface((d, e), (axes[d], axes[e]), rng.normal(size=(32, 32)))
        for d in range(20)
        for e in range(d + 1, 20)
    )
    model.shapes_ = type(model.shapes_)(model.shapes_.shapes, 0.0, surfaces)
    summary = summarize(model, X, y)
    # 195,000 numbers of 8 bytes in base64 are 2.1 MB.
    assert len(render(summary)) < 3_000_000
    arrays = pack(summary["document"])["arrays"]
    assert len(arrays) == 20 * 2 + 20 + 190


def test_strength_and_its_path():
    frame, score = table(200, 3)
    model = StumpLogisticRegressionCV(
        Cs=[0.1, 1.0], interactions=2, interaction_strength=[0.1, 1.0], interaction_bins=4, cv=2
    ).fit(frame, score > 0)
    record = summarize(model)["about"]["interactions"]
    assert record["strength"] == model.interaction_strength_ == record["path"]["chosen"]
    results = model.interaction_cv_results_
    assert record["path"]["strength"] == results["param_interaction_strength"].tolist()
    assert record["path"]["mean"] == results["mean_test_score"].tolist()
    assert summarize(fitted("pairs")[0])["about"]["interactions"] == {
        "strength": fitted("pairs")[0].interaction_strength_
    }
