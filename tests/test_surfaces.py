"""Surfaces and their sums, against a plain reading of their definition."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import search
from scipy.sparse import csr_array

from everystump._core.shapes import Shape, ShapeModel, average, combine
from everystump._core.sparse import SparseTable
from everystump._core.surfaces import Axis, Surface

QUICK = search(60)
N_FEATURES = 5
N_LEVELS = {1: 3, 3: 1}  # features 1 and 3 are categories
TERMS = [t for order in (2, 3) for t in itertools.combinations(range(N_FEATURES), order)]


def entries(axis, x):
    """Return which entries of an axis ``x`` falls between, and their shares."""
    if np.isnan(x):
        return {len(axis) - 1: 1.0} if axis.has_missing else {}
    if axis.is_category:
        return {int(x): 1.0} if x in axis.knots else {}
    last = np.searchsorted(axis.knots, x, side="right") - 1
    if last < 0:
        return {0: 1.0}
    if last == len(axis.knots) - 1 or axis.knots[last] == x:
        return {last: 1.0}
    share = (x - axis.knots[last]) / (axis.knots[last + 1] - axis.knots[last])
    return {last: 1 - share, last + 1: share}


def looked_up(surface, X):
    """Return the surface at each row, entry by entry."""
    out = np.zeros(len(X))
    for i, row in enumerate(X):
        found = [
            entries(axis, row[d]) for axis, d in zip(surface.axes, surface.features, strict=True)
        ]
        for index in itertools.product(*found):
            share = np.prod([found[j][k] for j, k in enumerate(index)])
            out[i] += share * surface.values[index]
    return out


def scores(model, X):
    """Return the score of each row, term by term."""
    curves = sum(shape(X[:, d]) for d, shape in enumerate(model))
    return model.intercept + curves + sum(looked_up(surface, X) for surface in model.surfaces)


@st.composite
def axes(draw, d):
    """Draw an axis of feature ``d`` whose knots are integers, each once or twice."""
    has_missing = draw(st.booleans())
    if d in N_LEVELS:
        return Axis.category(N_LEVELS[d], has_missing)
    knots = np.sort(draw(st.lists(st.integers(-4, 4), min_size=1, max_size=6, unique=True)))
    times = draw(st.lists(st.integers(1, 2), min_size=len(knots), max_size=len(knots)))
    return Axis(np.repeat(knots.astype(float), times), has_missing=has_missing)


@st.composite
def surfaces(draw, features=None):
    """Draw a surface, constant between the knots of some of its axes."""
    features = draw(st.sampled_from(TERMS)) if features is None else features
    parts = tuple(draw(axes(d)) for d in features)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = rng.normal(size=[len(axis) for axis in parts])
    for j, axis in enumerate(parts):
        if draw(st.booleans()) and not axis.is_category:
            cell = np.concatenate([[0], np.cumsum(axis.knots[1:] == axis.knots[:-1])])
            cell = np.append(cell, len(axis.knots)) if axis.has_missing else cell
            values = np.take(values, np.minimum(cell, len(axis) - 1), axis=j)
    return Surface(features, parts, values)


@st.composite
def models(draw):
    terms = draw(st.lists(st.sampled_from(TERMS), max_size=4, unique=True))
    curves = tuple(
        Shape.category(np.arange(N_LEVELS[d]) + 0.5)
        if d in N_LEVELS
        else Shape(np.array([-1.0, 2.0]), np.array([0.5, d]))
        for d in range(N_FEATURES)
    )
    return ShapeModel(curves, 0.25, tuple(draw(surfaces(features)) for features in terms))


def points(seed=0, n=60):
    """Return rows between, at and beyond all knots, with unknown levels and missing values."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-6, 6, size=(n, N_FEATURES))
    X[: n // 2] = np.round(X[: n // 2])
    for d, n_levels in N_LEVELS.items():
        X[:, d] = rng.integers(-1, n_levels + 1, size=n)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


@QUICK
@given(surfaces())
def test_a_surface_is_multilinear_between_knots(surface):
    X = points()
    expected = looked_up(surface, X)
    np.testing.assert_allclose(surface(X[:, surface.features]), expected, atol=1e-12)


@QUICK
@given(st.integers(0, N_FEATURES - 1).flatmap(axes))
def test_shares_of_the_entries_of_an_axis(axis):
    x = np.append(np.random.default_rng(0).permutation(np.linspace(-5, 5, 41)), [0, 0, 1, np.nan])
    shares = axis.shares(x)
    for value, row in zip(x, shares, strict=True):
        expected = np.zeros(len(axis))
        for k, share in entries(axis, value).items():
            expected[k] += share
        is_level = not axis.is_category or np.isnan(value) or value == np.round(value)
        if is_level:
            np.testing.assert_allclose(row, expected, atol=1e-12)


@QUICK
@given(models(), st.sampled_from([1, 3]))
def test_a_model_is_the_sum_of_its_terms(model, n_threads):
    X = points()
    expected = scores(model, X)
    np.testing.assert_allclose(model.evaluate(X, n_threads=n_threads), expected, atol=1e-12)
    parts = model.contributions(X, n_threads=n_threads)
    assert model.terms == (*((d,) for d in range(5)), *sorted(s.features for s in model.surfaces))
    assert parts.shape == (len(X), len(model.terms))
    for term, part in zip(model.terms, parts.T, strict=True):
        found = [s for s in model.surfaces if s.features == term]
        expected_part = looked_up(found[0], X) if found else model[term[0]](X[:, term[0]])
        np.testing.assert_allclose(part, expected_part, atol=1e-12)


@QUICK
@given(models(), models(), st.floats(-4, 4, width=16))
def test_adding_and_scaling(a, b, factor):
    X = points()
    np.testing.assert_allclose((a + b).evaluate(X), scores(a, X) + scores(b, X), atol=1e-11)
    np.testing.assert_allclose((factor * a).evaluate(X), factor * scores(a, X), atol=1e-11)
    assert {s.features for s in (a + b).surfaces} == {s.features for s in a.surfaces + b.surfaces}


@QUICK
@given(st.lists(models(), min_size=1, max_size=4))
def test_averaging(bag):
    X = points()
    mean = np.mean([scores(model, X) for model in bag], axis=0)
    np.testing.assert_allclose(average(bag).evaluate(X), mean, atol=1e-11)


@QUICK
@given(st.sampled_from(TERMS).flatmap(lambda term: st.tuples(surfaces(term), surfaces(term))))
def test_a_sum_has_the_knots_and_jumps_of_both(pair):
    a, b = pair
    flat = tuple(Shape(np.zeros(1), np.zeros(1)) for _ in range(N_FEATURES))
    (total,) = combine([ShapeModel(flat, 0.0, (s,)) for s in (a, b)], [1.0, 2.0]).surfaces
    for own, other, axis in zip(a.axes, b.axes, total.axes, strict=True):
        assert axis.has_missing == (own.has_missing or other.has_missing)
        values, times = np.unique(axis.knots, return_counts=True)
        for value, n in zip(values, times, strict=True):
            assert n == max(np.sum(own.knots == value), np.sum(other.knots == value))


def test_models_on_the_same_axes_keep_them():
    axis = Axis(np.array([0.0, 1.0, 1.0]))
    flat = (Shape(np.zeros(1), np.zeros(1)),) * 2
    model = ShapeModel(flat, 0.0, (Surface((0, 1), (axis, axis), np.arange(9.0).reshape(3, 3)),))
    (total,) = (model + 2 * model).surfaces
    assert total.axes[0].same_as(axis)
    np.testing.assert_array_equal(total.values, 3 * model.surfaces[0].values)


def test_an_axis_is_either_numeric_or_a_category():
    flat = (Shape(np.zeros(1), np.zeros(1)),) * 2
    a, b = (
        ShapeModel(flat, 0.0, (Surface((0, 1), (axis, axis), np.zeros((2, 2))),))
        for axis in (Axis.category(2), Axis(np.array([0.0, 1.0])))
    )
    with pytest.raises(ValueError, match="category in one surface and numeric in another"):
        a + b


@QUICK
@given(models(), st.integers(0, 100))
def test_more_levels(model, seed):
    """The model scores codes of other levels as its own; the added ones contribute nothing."""
    rng = np.random.default_rng(seed)
    n_levels = [N_LEVELS.get(d, 0) and N_LEVELS[d] + 2 for d in range(N_FEATURES)]
    codes = [
        rng.permutation(n_levels[d])[: N_LEVELS[d]].astype(float) if d in N_LEVELS else None
        for d in range(N_FEATURES)
    ]
    X = points()
    recoded = X.copy()
    for d in N_LEVELS:
        # Unknown levels become one of the added ones.
        added = np.setdiff1d(np.arange(n_levels[d]), codes[d])[0]
        known = np.isin(X[:, d], np.arange(N_LEVELS[d]))
        recoded[known, d] = codes[d][X[known, d].astype(int)]
        recoded[~known & ~np.isnan(X[:, d]), d] = added
    wider = model.with_levels(codes, n_levels)
    np.testing.assert_allclose(wider.evaluate(recoded), scores(model, X), atol=1e-12)


def test_a_category_without_own_levels_gets_levels():
    """A member of a vote may have seen no level of a category at all."""
    axes = (Axis(np.zeros(1), has_missing=True), Axis(np.array([0.0, 1.0])))
    surface = Surface((0, 1), axes, np.array([[7.0, 7.0], [1.0, 3.0]]))
    wider = surface.with_levels([np.empty(0), None], [2, 0])
    X = np.array([[0.0, 0.0], [1.0, 0.5], [np.nan, 0.5], [-1.0, 0.0]])
    np.testing.assert_array_equal(wider(X), [0.0, 0.0, 2.0, 0.0])


@QUICK
@given(surfaces(), st.permutations(range(8)))
def test_other_features(surface, order):
    features = order[: surface.order]
    moved = surface.with_features(features)
    assert moved.features == tuple(sorted(features))
    X = points()
    wide = np.full((len(X), 8), np.nan)
    wide[:, features] = X[:, surface.features]
    expected = surface(X[:, surface.features])
    np.testing.assert_allclose(moved(wide[:, moved.features]), expected, atol=1e-12)


def test_steps_are_exact():
    """Between jumps the values are returned as they are."""
    rng = np.random.default_rng(3)
    cuts = np.sort(rng.normal(size=6))
    cells = rng.normal(size=(7, 7, 7))
    values = cells
    for j in range(3):
        values = np.repeat(values, 2, axis=j).take(np.arange(1, 13), axis=j)
    surface = Surface((0, 1, 2), (Axis(np.repeat(cuts, 2)),) * 3, values)
    X = np.vstack([rng.normal(size=(200, 3)), rng.choice(cuts, size=(50, 3))])
    index = tuple(np.searchsorted(cuts, x, side="right") for x in X.T)
    np.testing.assert_array_equal(surface(X), cells[index])
    assert all(len(grid.cuts) == 6 and not grid.is_linear for grid in surface.table().grids)


def test_a_constant_surface_is_exact():
    """Also between knots, where no rounding error must appear."""
    axis = Axis(np.array([0.0, 0.3, 0.3, 1.1]))
    values = np.full((4, 4), 0.1)
    values[0, 0] = 0.2
    X = np.random.default_rng(0).uniform(0.3, 2.0, size=(100, 2))
    np.testing.assert_array_equal(Surface((0, 1), (axis, axis), values)(X), 0.1)


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e150, 1.7e308])
def test_axes_at_extreme_scales(scale):
    axis = Axis(scale * np.array([-1.0, 1.0]))
    surface = Surface((0, 1), (axis, axis), np.array([[0.0, 1.0], [2.0, 3.0]]))
    grid = np.array([-1.0, -0.5, 0.0, 0.5, 1.0]) * scale
    values = surface(np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1))
    assert values.shape == (5, 5)
    assert np.all((values >= 0) & (values <= 3))
    assert np.all(np.diff(values, axis=0) >= 0)
    assert np.all(np.diff(values, axis=1) >= 0)
    np.testing.assert_array_equal(values[[0, 0, -1, -1], [0, -1, 0, -1]], [0, 1, 2, 3])


@pytest.fixture(scope="module")
def large():
    """Return a model with surfaces of all kinds and enough rows for several blocks and threads."""
    rng = np.random.default_rng(5)
    axes = [Axis(np.sort(rng.normal(size=k))) for k in (2, 9, 32)]
    axes += [Axis(np.repeat(np.sort(rng.normal(size=5)), 2), has_missing=True), Axis.category(4)]
    parts = tuple(
        Surface(
            term,
            tuple(axes[d] for d in term),
            rng.normal(size=[len(axes[d]) for d in term]),
        )
        for term in TERMS
    )
    X = rng.normal(size=(9001, 5))
    X[:, 4] = rng.integers(-1, 5, size=len(X))
    X[rng.random(X.shape) < 0.3] = 0.0
    shapes = tuple(Shape(np.array([-1.0, 1.0]), rng.normal(size=2)) for _ in range(5))
    return ShapeModel(shapes, 0.7, parts), X


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_threads_and_blocks_give_the_same_scores(large, n_threads):
    model, X = large
    one_by_one = sum(s(X[:, s.features]) for s in model.surfaces)
    expected = ShapeModel(model.shapes, model.intercept).evaluate(X) + one_by_one
    np.testing.assert_allclose(model.evaluate(X, n_threads=n_threads), expected, atol=1e-10)
    some = np.arange(0, len(X), 150)
    np.testing.assert_allclose(expected[some], scores(model, X[some]), atol=1e-10)


def test_layouts_of_the_table(large):
    model, X = large
    X = X[:500].astype(np.float32)
    expected = model.evaluate(X.astype(np.float64))
    for form in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        np.testing.assert_array_equal(model.evaluate(form), expected)


def test_sparse_tables(large):
    model, X = large
    table = SparseTable(csr_array(X))
    np.testing.assert_array_equal(model.evaluate(table, n_threads=2), model.evaluate(X))
    np.testing.assert_array_equal(model.contributions(table), model.contributions(X))


def test_equal_axes_are_prepared_once(large):
    model, _ = large
    assert model._tables.n_grids == 5


def test_contributions_into_an_array(large):
    model, X = large
    out = np.full((len(X), len(model.terms) + 2), np.nan)
    model.contributions(X, out=out[:, 1:-1])
    np.testing.assert_array_equal(out[:, 1:-1], model.contributions(X))
    assert np.isnan(out[:, [0, -1]]).all()
    with pytest.raises(ValueError, match=r"out has shape \(9001, 5\); pass an array of shape"):
        model.contributions(X, out=np.empty(X.shape))


def test_pickles(large):
    model, X = large
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.evaluate(X), model.evaluate(X))
    assert set(model.__getstate__()) == {"shapes", "intercept", "surfaces"}


def test_models_pickled_without_surfaces_have_none():
    model = ShapeModel.__new__(ShapeModel)
    curve = Shape(np.zeros(1), np.ones(1))
    model.__dict__.update({"shapes": (curve,), "intercept": 1.0})
    assert model.surfaces == ()
    np.testing.assert_array_equal(model.evaluate(np.zeros((2, 1))), [2.0, 2.0])


def test_a_model_with_surfaces_is_no_vote_of_stumps(large):
    with pytest.raises(ValueError, match="has 20 interactions, which are votes of products"):
        large[0].ensemble()


UNIT = Axis(np.array([0.0, 1.0]))


@pytest.mark.parametrize(
    ("features", "axes", "shape", "message"),
    [
        ((0,), (UNIT,), (2,), r"features=\(0,\) of a surface must be two or three"),
        ((0, 1, 2, 3), (UNIT,) * 4, (2,) * 4, "must be two or three"),
        ((1, 0), (UNIT, UNIT), (2, 2), "in ascending order"),
        ((1, 1), (UNIT, UNIT), (2, 2), "in ascending order"),
        ((-1, 1), (UNIT, UNIT), (2, 2), "two or three numbers of features"),
        ((0, 1), (UNIT, UNIT), (2, 3), r"have shape \(2, 3\), but its axes have \(2, 2\) entries"),
        ((0, 1), (UNIT,), (2,), "pass one axis per feature"),
    ],
)
def test_invalid_surfaces(features, axes, shape, message):
    with pytest.raises(ValueError, match=message):
        Surface(features, axes, np.zeros(shape))


def test_a_table_of_other_columns_raises():
    surface = Surface((0, 1), (UNIT, UNIT), np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"X has shape \(4, 3\), but the surface has the features"):
        surface(np.zeros((4, 3)))


def test_the_surfaces_of_a_model():
    curves = (Shape(np.zeros(1), np.zeros(1)),) * 3
    a, b, c = (Surface(f, (UNIT, UNIT), np.zeros((2, 2))) for f in ((1, 2), (0, 2), (0, 3)))
    model = ShapeModel(curves, 0.0, (a, b))
    assert model.surfaces == (b, a)
    assert len(model) == 3
    assert tuple(model) == curves
    with pytest.raises(ValueError, match=r"two surfaces of features \(1, 2\)"):
        ShapeModel(curves, 0.0, (a, b, a))
    with pytest.raises(ValueError, match=r"features \(0, 3\), but the model has 3 features"):
        ShapeModel(curves, 0.0, (c,))
