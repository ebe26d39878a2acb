"""Bands on the report page: standard errors are those of the model."""

import numpy as np
import pytest

pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")

from scipy.stats import norm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_report import data_of, needs_node, run_script
from test_report_interactions import table

from everystump import StumpLogisticRegression, StumpRegressor
from everystump._pipelines.folding import fold_pipeline
from everystump._tables.validation import check_rows
from everystump.estimators._base import as_class_list
from everystump.report import render, summarize

Z = norm.ppf(0.975)


def fit_with_bands(model, n_classes=2):
    """Return a model with bands, and its training samples."""
    X, score = table(300, 0)
    if isinstance(model, StumpRegressor):
        y = score
    else:
        edges = np.quantile(score, np.arange(1, n_classes) / n_classes)
        y = np.array(["no", "yes", "maybe"])[np.searchsorted(edges, score)]
    return model.fit(X, y).compute_bands(X, y), X, y


MODELS = {
    "pairs": (StumpLogisticRegression(interactions=[("a", "b")], interaction_bins=6), 2),
    "classes": (StumpLogisticRegression(multi_class="ovr"), 3),
    "number": (StumpRegressor(), 0),
    "steps": (StumpRegressor(measure="middle", loss="poisson", C=0.1), 0),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    estimator, n_classes = MODELS[request.param]
    if request.param == "steps":
        X, score = table(300, 0)
        counts = np.random.default_rng(0).poisson(np.exp(score / 3)).astype(float)
        return estimator.fit(X, counts).compute_bands(X, counts)
    return fit_with_bands(estimator, n_classes)[0]


def test_standard_errors_are_in_the_order_of_the_document(model):
    summary = summarize(model)
    bands = summary["bands"]
    assert bands["level"] == 0.95 and bands["width"] == pytest.approx(Z)
    models = as_class_list(model.standard_errors_)
    for score, own, errors in zip(
        summary["document"]["scores"], bands["scores"], models, strict=True
    ):
        assert own["intercept"] == errors.intercept
        for curve, found in zip(score["curves"], own["curves"], strict=True):
            shape = errors[curve["feature"]]
            key = "level_values" if "level_values" in curve else "values"
            assert len(found["values"]) == len(curve[key])
            assert found["missing"] == shape.missing
            expected = shape.levels if shape.is_category else shape.values
            assert found["values"] == expected.tolist()
        by_features = {surface.features: surface for surface in errors.surfaces}
        for surface, found in zip(score.get("surfaces", []), own["surfaces"], strict=True):
            expected = by_features[tuple(surface["features"])]
            assert found["values"] == expected.values.tolist()


@needs_node
def test_the_page_reads_the_bands_as_python_does(model):
    X, _ = table(20, 1)
    rows = [
        {name: None if value != value else value for name, value in row.items()}
        for row in X.astype(object).where(X.notna(), None).to_dict("records")
    ]
    page = render(summarize(model))
    found = run_script(page, rows)
    frame = X.astype({"code": model.feature_info_[3].levels.dtype})
    terms = as_class_list(model.shapes_)[0].terms
    for k, errors in enumerate(as_class_list(model.standard_errors_)):
        expected = Z * errors.contributions(check_rows(model, frame))
        for row, half_widths in zip(found, expected, strict=True):
            shown = [0.0 if half is None else half for half in row["halfWidths"][k]]
            drawn = [term in drawn_terms(model, k) for term in terms]
            np.testing.assert_allclose(shown, np.where(drawn, half_widths, 0.0), rtol=1e-5)


def drawn_terms(model, k):
    """Return the terms of a score that are not zero everywhere."""
    shapes = as_class_list(model.shapes_)[k]
    curves = [(d,) for d, shape in enumerate(shapes) if shape.values.any() or shape.missing]
    return [*curves, *(s.features for s in shapes.surfaces if s.values.any())]


def test_models_without_bands():
    X, score = table(100, 0)
    model = StumpRegressor().fit(X, score)
    assert summarize(model)["bands"] is None
    assert data_of(render(summarize(model)))["bands"] is None
    edited = model.compute_bands(X, score).flatten_curve("a")
    assert summarize(model)["bands"] is not None
    assert summarize(edited)["bands"] is None


def test_bands_take_half_the_space_of_the_curves():
    model, _, _ = fit_with_bands(StumpRegressor(max_bins=32))
    with_bands = len(render(summarize(model)))
    del model.standard_errors_
    without = len(render(summarize(model)))
    n_values = sum(len(shape.values) for shape in model.shapes_)
    assert with_bands - without < 4 * 4 / 3 * n_values + 1000


def test_pipelines_keep_their_bands():
    """Scaled columns have the errors of the last step; sums of two columns would have others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) * [1, 100]
    y = X[:, 0] + rng.normal(size=200)
    scaled = StandardScaler().fit_transform(X)
    pipeline = make_pipeline(StandardScaler(), StumpRegressor()).fit(X, y)
    pipeline[-1].compute_bands(scaled, y)
    folded = fold_pipeline(pipeline)
    for d in range(2):
        np.testing.assert_allclose(
            folded.standard_errors_[d](X[:, d]),
            pipeline[-1].standard_errors_[d](scaled[:, d]),
            rtol=1e-9,
        )
    assert summarize(pipeline)["bands"]["scores"][0]["curves"][0]["values"]
