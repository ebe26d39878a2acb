"""What must not change a model with interactions: order, units, threads, formats, repeated rows.

Also what its surfaces and scores guarantee: purified tables, monotone scores, unknown values.
"""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from interaction_oracles import make_feature
from scipy.sparse import csc_array, csr_array

from everystump import StumpLogisticRegression, StumpSVC

ESTIMATORS = {
    "hinge": StumpSVC,
    "squared_hinge": lambda **given: StumpSVC(loss="squared_hinge", **given),
    "logistic": StumpLogisticRegression,
}
ALL_LOSSES = pytest.mark.parametrize("name", ESTIMATORS)
TERMS = {"pairs": [(0, 1), (0, 2), (1, 2)], "triple": [(0, 1), (0, 1, 2)]}
ALL_TERMS = pytest.mark.parametrize("terms", TERMS.values(), ids=TERMS)


@pytest.fixture
def table():
    """Return 90 rows of 3 features, one of them tied, and classes that depend on a product."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(90, 3))
    X[:, 1] = np.round(2 * X[:, 1])
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=90) > 0, 1, -1)
    return X, y


@pytest.fixture
def new():
    """Return 100 rows to score, some beyond the training data."""
    return np.random.default_rng(12).normal(scale=1.5, size=(100, 3))


def fit(name, X, y, weight=None, **params):
    given = {"C": 0.5, "interaction_strength": 0.5, "tol": 1e-10, "n_jobs": 1} | params
    model = ESTIMATORS[name](**given).fit(X, y, sample_weight=weight)
    assert model.certificate_.converged
    return model


@ALL_LOSSES
@ALL_TERMS
@pytest.mark.parametrize("bins", [5, 32])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_integer_weights_repeat_samples(table, new, name, terms, bins, fit_intercept):
    """Weights 0 to 3 give the scores of absent to triple rows, to the root of the gap."""
    X, y = table
    X[::7, 1] = np.nan
    times = np.random.default_rng(0).integers(0, 4, size=len(y))
    params = {"interactions": terms, "interaction_bins": bins, "fit_intercept": fit_intercept}
    weighted = fit(name, X, y, times.astype(float), **params)
    repeated = fit(name, np.repeat(X, times, axis=0), np.repeat(y, times), **params)
    np.testing.assert_allclose(
        weighted.decision_function(new), repeated.decision_function(new), rtol=0, atol=5e-5
    )


@ALL_LOSSES
@ALL_TERMS
def test_order_of_features_and_rows(table, new, name, terms):
    X, y = table
    order, rows = [2, 0, 1], np.random.default_rng(0).permutation(len(y))
    moved = [tuple(order.index(d) for d in term) for term in terms]
    plain = fit(name, X, y, interactions=terms, interaction_bins=7)
    other = fit(name, X[np.ix_(rows, order)], y[rows], interactions=moved, interaction_bins=7)
    np.testing.assert_allclose(
        plain.decision_function(new), other.decision_function(new[:, order]), rtol=0, atol=5e-5
    )


@ALL_LOSSES
@ALL_TERMS
def test_flipped_features(table, new, name, terms):
    """Minus a feature has the same stumps in the other direction."""
    X, y = table
    sides = np.array([1.0, -1.0, -1.0])
    for measure in ("mixed", "rank", "uniform"):
        params = {"interactions": terms, "measure": measure, "interaction_bins": 7}
        plain = fit(name, X, y, **params).decision_function(new)
        flipped = fit(name, X * sides, y, **params).decision_function(new * sides)
        np.testing.assert_allclose(plain, flipped, rtol=0, atol=5e-5)


@ALL_LOSSES
@ALL_TERMS
def test_monotone_transforms_under_rank(table, name, terms):
    """Ranks determine the optimum, and if every value has a cell also the training scores."""
    X, y = table
    curved = np.column_stack([np.exp(X[:, 0]), X[:, 1] ** 3, np.arctan(X[:, 2])])
    for bins, limit in ((6, 12), (100, 12 if len(terms[-1]) == 3 else 100)):
        params = {"interactions": terms, "measure": "rank", "interaction_bins": bins}
        plain, other = fit(name, X, y, **params), fit(name, curved, y, **params)
        assert plain.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-9)
        np.testing.assert_allclose(plain.dual_coef_, other.dual_coef_, rtol=0, atol=1e-4)
        if limit == 100:
            np.testing.assert_allclose(
                plain.decision_function(X), other.decision_function(curved), rtol=0, atol=5e-5
            )


@ALL_LOSSES
def test_units_under_other_measures(table, new, name):
    X, y = table
    scale, shift = np.array([1e6, 1e-6, -3.0]), np.array([5.0, -2.0, 100.0])
    for measure in ("mixed", "uniform"):
        params = {"interactions": TERMS["pairs"], "measure": measure, "interaction_bins": 7}
        plain = fit(name, X, y, **params).decision_function(new)
        other = fit(name, X * scale + shift, y, **params).decision_function(new * scale + shift)
        np.testing.assert_allclose(plain, other, rtol=0, atol=1e-4)


@ALL_LOSSES
def test_threads(name):
    """The optimum is the same; sums of rows are in another order."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    y = X[:, 0] * X[:, 1] + rng.normal(size=6000) > 0
    params = {"interactions": "auto", "interaction_bins": 8, "tol": 1e-6}
    one, two = (fit(name, X, y, n_jobs=n_jobs, **params) for n_jobs in (1, 2))
    assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=2e-6)
    np.testing.assert_allclose(
        one.decision_function(X[:100]), two.decision_function(X[:100]), rtol=0, atol=0.02
    )


def test_formats(table):
    """Sparse matrices, 32-bit numbers, and frames of pandas and Polars give the same model."""
    X, y = table
    X = np.where(np.abs(X) < 0.5, 0.0, X).astype(np.float32)
    plain = fit("logistic", X.astype(float), y, interactions="auto")
    expected = plain.decision_function(X.astype(float))
    names = list("abc")
    for other in (
        X,
        csr_array(X),
        csc_array(X),
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
    ):
        model = fit("logistic", other, y, interactions="auto")
        np.testing.assert_allclose(model.decision_function(other), expected, rtol=0, atol=1e-9)


def test_frames_with_text_and_missing_values():
    """Text in a frame of pandas or Polars is a category; its levels are sorted."""
    rng = np.random.default_rng(0)
    number, text = rng.normal(size=80), rng.choice(["u", "v", "w"], size=80)
    y = (number > 0) ^ (text == "v")
    data = {"number": np.where(rng.random(80) < 0.1, np.nan, number), "text": text}
    frames = pd.DataFrame(data), pl.DataFrame(data, nan_to_null=True)
    codes = np.column_stack([data["number"], np.unique(text, return_inverse=True)[1]])
    expected = fit("hinge", codes, y, interactions="auto", categorical_features=[1])
    assert expected.score(codes, y) > 0.9
    for frame in frames:
        model = fit("hinge", frame, y, interactions=[("text", "number")])
        np.testing.assert_allclose(
            model.decision_function(frame), expected.decision_function(codes), rtol=0, atol=1e-9
        )


# Surfaces


def in_cells(array, features):
    """Return an array over the grid of a surface with the levels that share a cell added up."""
    for j, feature in enumerate(features):
        groups = feature.group if feature.is_category else np.arange(len(feature.knots))
        if len(feature.stumps) > groups.max() + 1:
            groups = np.append(groups, groups.max() + 1)
        sums = np.eye(len(feature.stumps))[groups].T
        array = np.moveaxis(np.tensordot(sums, array, axes=(1, j)), 0, j)
    return array


@pytest.mark.parametrize("bins", [4, 32])
@pytest.mark.parametrize("terms", [[(0, 1), (1, 2)], [(0, 1, 2)]], ids=["pairs", "triple"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_surfaces_have_mean_zero_along_each_axis(bins, terms, fit_intercept):
    """Also with few cells, missing values, a category of many levels, and weights."""
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=200), rng.geometric(0.3, size=200), rng.normal(size=200)])
    X[:, 1] = np.unique(X[:, 1], return_inverse=True)[1]
    y = (X[:, 0] > 0) ^ (X[:, 1] == 1) ^ (X[:, 2] > 0.5)
    X[rng.random(200) < 0.1, 0] = np.nan
    X[rng.random(200) < 0.1, 1] = np.nan
    weight = rng.choice([0.5, 1.0, 4.0], size=200)
    model = fit(
        "logistic",
        X,
        y,
        weight,
        interactions=terms,
        interaction_bins=bins,
        interaction_strength=3.0,
        categorical_features=[1],
        fit_intercept=fit_intercept,
        tol=1e-4,
    )
    limit = bins if len(terms[0]) == 2 else min(bins, 12)
    made = [make_feature(x, weight, "mixed", limit, is_category=d == 1) for d, x in enumerate(X.T)]
    for surface, density in zip(model.shapes_.surfaces, model.surface_density_, strict=True):
        features = [made[d] for d in surface.features]
        counts = np.zeros([len(feature.stumps) for feature in features])
        np.add.at(counts, tuple(feature.code for feature in features), weight)
        np.testing.assert_allclose(in_cells(density, features), counts, atol=1e-9)
        sums = in_cells(density * surface.values, features)
        scale = np.abs(surface.values).max() * weight.sum()
        assert scale > 0
        for j in range(surface.order):
            assert np.abs(sums.sum(axis=j)).max() <= 1e-10 * scale
    assert np.abs(model.shapes_.surfaces[-1].values).max() > 0.1


def test_unknown_values_add_nothing():
    """A new level, or a missing value where training had none, has no curve and no surface."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=120), "b": rng.normal(size=120)})
    X["c"] = rng.choice(["u", "v"], size=120)
    y = (X["a"] > 0) ^ (X["c"] == "u")
    model = fit("hinge", X, y, interactions=[("a", "b"), ("a", "c")])
    new = X.head(3).copy()
    new.loc[1, "a"] = np.nan
    new.loc[2, "c"] = "new"
    table = new.assign(c=[["u", "v"].index(level) if level in "uv" else 2 for level in new["c"]])
    known, missing, level = model.shapes_.contributions(table.to_numpy(dtype=float))
    assert model.shapes_.terms == ((0,), (1,), (2,), (0, 1), (0, 2))
    assert np.all(known != 0)
    assert not missing[[0, 3, 4]].any() and missing[[1, 2]].all()
    assert not level[[2, 4]].any() and level[[0, 1, 3]].all()
    np.testing.assert_allclose(
        model.decision_function(new),
        model.shapes_.intercept + np.array([known, missing, level]).sum(axis=1),
        atol=1e-12,
    )


@ALL_LOSSES
def test_scores_are_constant_beyond_the_training_range(table, name):
    X, y = table
    model = fit(name, X, y, interactions=TERMS["triple"])
    far = X[:20] * [1e3, 1e300, 1]
    clipped = np.clip(far, X.min(axis=0), X.max(axis=0))
    np.testing.assert_allclose(
        model.decision_function(far), model.decision_function(clipped), rtol=0, atol=1e-12
    )
    assert np.isfinite(model.decision_function(np.full((1, 3), 1.7e308))).all()


# Monotonic constraints


@ALL_LOSSES
@pytest.mark.parametrize("order", [2, 3])
def test_scores_are_monotone_in_constrained_features(name, order):
    """The whole score is, as constrained features do not interact; the others do."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 5))
    y = X[:, 0] - X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4] + rng.normal(size=150) > 0
    constraints = [1, -1, 0, 0, 0]
    model = fit(
        name,
        X,
        y,
        monotonic_cst=constraints,
        interactions=3,
        max_interaction_order=order,
        interaction_strength=2.0,
        tol=1e-4,
    )
    free = [term for k in range(2, order + 1) for term in combinations((2, 3, 4), k)]
    assert model.interactions_ == free
    before = rng.normal(size=(3000, 5)) * 1.5
    after = before + rng.exponential(size=(3000, 5)) * np.array(constraints)
    change = model.decision_function(after) - model.decision_function(before)
    assert change.min() >= -1e-9
    assert change.max() > 0.1
