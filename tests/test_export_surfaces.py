"""Surfaces in the record that all exporters read, and in the JSON document."""

import numpy as np
import pytest

from everystump._core.shapes import Shape, ShapeModel, combine
from everystump._core.surfaces import Axis, Surface
from everystump.export._record import TargetFeature, Terms, sum_terms


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
