"""Pipelines that end in a model with interactions, folded into one model."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from test_explanations import table as mixed_table
from test_pipelines import CHAINS, around, made, table

from everystump import StumpLogisticRegression, StumpSVC
from everystump._core.gridweights import grid_weights
from everystump._pipelines.folding import fold_pipeline

ONCE = [chain for chain in CHAINS if "twice" not in chain]


def near_surfaces(X, model):
    """Return rows at and next to the knots of curves and surfaces."""
    rng = np.random.default_rng(1)
    rows = [around(X, model)]
    for surface in model.shapes_.surfaces:
        for d, axis in zip(surface.features, surface.axes, strict=True):
            for knots in (axis.knots, np.nextafter(axis.knots, -np.inf)):
                some = X[rng.integers(0, len(X), len(knots))].copy()
                some[:, d] = knots
                rows.append(some)
    return np.concatenate(rows)


@pytest.mark.parametrize("chain", ONCE, ids="+".join)
@pytest.mark.parametrize("measure", ["middle", "mixed"])
def test_surfaces_of_input_columns(chain, measure):
    takes_missing = not {"selected", "varying"} & {*chain[:1]}
    X, y = table(3, missing=takes_missing)
    model = StumpSVC(measure=measure, interactions=[(0, 1)], interaction_bins=8)
    pipeline = made(chain, model).fit(X, y)
    one = fold_pipeline(pipeline)
    assert len(one.shapes_.surfaces) == 1
    assert one.interactions_ == [surface.features for surface in one.shapes_.surfaces]
    rows = near_surfaces(X, one)
    scores = pipeline.decision_function(rows)
    # Shifting and scaling rounds smooth surfaces; jumps stay at the same floats.
    atol = 1e-12 if measure == "middle" else 1e-9
    np.testing.assert_allclose(one.decision_function(rows), scores, rtol=0, atol=atol)
    (weights,) = one.surface_density_
    assert weights.shape == one.shapes_.surfaces[0].values.shape
    assert weights.sum() == len(X)


@pytest.mark.parametrize("measure", ["middle", "mixed"])
def test_triples(measure):
    X, y = table(5)
    model = StumpLogisticRegression(measure=measure, interactions=[(0, 1, 2)], interaction_bins=4)
    turned = ColumnTransformer([("a", StandardScaler(), [2]), ("b", MinMaxScaler(), [0, 1])])
    pipeline = make_pipeline(turned, model).fit(X, y)
    one = fold_pipeline(pipeline)
    assert [surface.features for surface in one.shapes_.surfaces] == [
        *[(0, 1), (0, 1, 2), (0, 2), (1, 2)]
    ]
    rows = near_surfaces(X, one)
    # These values are far from 0 compared with their differences, so scaling rounds more.
    np.testing.assert_allclose(
        one.decision_function(rows), pipeline.decision_function(rows), rtol=0, atol=1e-6
    )
    assert [w.shape for w in one.surface_density_] == [
        surface.values.shape for surface in one.shapes_.surfaces
    ]


def test_a_column_that_is_used_twice():
    """Two surfaces of the same input columns become one."""
    X, y = table(3, missing=True)
    twice = ColumnTransformer([("a", MinMaxScaler(), [0, 1]), ("b", MaxAbsScaler(), [1, 2])])
    pairs = [(0, 1), (0, 2), (1, 3)]
    pipeline = make_pipeline(twice, StumpSVC(interactions=pairs, interaction_bins=5)).fit(X, y)
    one = fold_pipeline(pipeline)
    assert [surface.features for surface in one.shapes_.surfaces] == [(0, 1), (1, 2)]
    assert one.interactions_ == [(0, 1), (1, 2)]
    rows = near_surfaces(X, one)
    np.testing.assert_allclose(
        one.decision_function(rows), pipeline.decision_function(rows), rtol=0, atol=1e-9
    )
    for weights, surface in zip(one.surface_density_, one.shapes_.surfaces, strict=True):
        assert weights.shape == surface.values.shape and weights.sum() == len(X)
    with_itself = StumpSVC(interactions=list(combinations(range(4), 2)))
    with pytest.raises(ValueError, match=r"use the same column twice in an interaction .*\[1, 1\]"):
        fold_pipeline(make_pipeline(twice, with_itself).fit(X, y))


def test_weights_are_those_of_the_input_samples():
    X, y = table(4)
    model = StumpSVC(measure="middle", interactions=[(0, 2)], interaction_bins=6)
    one = fold_pipeline(make_pipeline(StandardScaler(), model).fit(X, y))
    (weights,), (surface,) = one.surface_density_, one.shapes_.surfaces
    found = (weights * surface.values).sum() / len(X)
    assert found == pytest.approx(surface(X[:, [0, 2]]).mean(), abs=1e-12)
    counted = grid_weights([surface], X)[0]
    assert (counted * surface.values).sum() / len(X) == pytest.approx(found, abs=1e-12)
    expected = (weights * surface.values**2).sum()
    assert (counted * surface.values**2).sum() == pytest.approx(expected)


def test_imputed_categories():
    X, y = mixed_table()
    X["job"] = X["job"].fillna(np.nan)  # the imputer does not replace None
    fill = ColumnTransformer(
        [
            ("text", SimpleImputer(strategy="most_frequent"), ["job"]),
            ("number", SimpleImputer(strategy="median"), ["income"]),
        ],
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    model = StumpLogisticRegression(interactions=[(0, 1)], interaction_bins=6)
    pipeline = make_pipeline(fill, model).fit(X, y)
    one = fold_pipeline(pipeline)
    rows = pd.concat([X, X.assign(job="astronaut"), X.assign(job=np.nan, income=np.nan)])
    np.testing.assert_allclose(
        one.decision_function(rows), pipeline.decision_function(rows), rtol=0, atol=1e-12
    )
    assert one.explain_local(X).columns[-2] == "income × job"
