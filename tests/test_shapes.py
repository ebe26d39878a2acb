"""Curves and their sums, against NumPy's interpolation and against each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import search

from everystump._core.shapes import Shape, ShapeModel, average, combine
from everystump.export.scoring import _line

QUICK = search(60)


def interpolated(shape, x):
    """Return the curve at each ``x``: interpolation, and the right value at jumps."""
    out = np.interp(x, shape.knots, shape.values)
    for i, v in enumerate(x):
        at = np.flatnonzero(shape.knots == v)
        if len(at):
            out[i] = shape.values[at[-1]]
    return out


@st.composite
def shapes(draw):
    """Draw a curve whose knots are integers, each once or twice, so that models share them."""
    knots = np.sort(draw(st.lists(st.integers(-6, 6), min_size=1, max_size=8, unique=True)))
    times = draw(st.lists(st.integers(1, 2), min_size=len(knots), max_size=len(knots)))
    knots = np.repeat(knots.astype(float), times)
    values = draw(st.lists(st.floats(-9, 9, width=16), min_size=len(knots), max_size=len(knots)))
    return Shape(knots, np.array(values))


@st.composite
def models(draw, n_features=2):
    parts = tuple(draw(shapes()) for _ in range(n_features))
    return ShapeModel(parts, draw(st.floats(-3, 3, width=16)))


def points(n_features=2, seed=0):
    """Return rows between, exactly at, and beyond all knots."""
    rng = np.random.default_rng(seed)
    between = rng.uniform(-8, 8, size=(40, n_features))
    at = rng.permuted(np.tile(np.arange(-8.0, 9.0)[:, None], n_features), axis=0)
    return np.vstack([between, at])


@QUICK
@given(shapes())
def test_a_curve_is_linear_between_knots_and_jumps_at_equal_ones(shape):
    x = points(1)[:, 0]
    np.testing.assert_allclose(shape(x), interpolated(shape, x), atol=1e-12)


@QUICK
@given(shapes())
def test_left_limit(shape):
    x = np.arange(-8.0, 9.0)
    near = shape(x - 1e-9)
    np.testing.assert_allclose(shape.left_limit(x), near, atol=1e-6)


@QUICK
@given(models())
def test_a_model_is_the_sum_of_its_curves(model):
    X = points()
    expected = model.intercept + sum(interpolated(model[d], X[:, d]) for d in range(len(model)))
    np.testing.assert_allclose(model.evaluate(X), expected, atol=1e-12)


@QUICK
@given(models(), models(), st.floats(-4, 4, width=16))
def test_adding_and_scaling(a, b, factor):
    X = points()
    sums = a.evaluate(X) + b.evaluate(X)
    np.testing.assert_allclose((a + b).evaluate(X), sums, atol=1e-11)
    np.testing.assert_allclose((factor * a).evaluate(X), factor * a.evaluate(X), atol=1e-11)
    np.testing.assert_allclose((a * factor).evaluate(X), factor * a.evaluate(X), atol=1e-11)


@QUICK
@given(st.lists(models(1), min_size=1, max_size=5))
def test_averaging(bag):
    X = points(1)
    mean = np.mean([model.evaluate(X) for model in bag], axis=0)
    np.testing.assert_allclose(average(bag).evaluate(X), mean, atol=1e-11)


@QUICK
@given(models())
def test_the_ensembles_vote_is_the_score(model):
    X, ensemble = points(), model.ensemble()
    np.testing.assert_allclose(ensemble.vote(X), model.evaluate(X), atol=1e-11)
    assert np.all(ensemble.weight > 0)
    assert set(ensemble.direction.tolist()) <= {-1, 1}
    assert np.all(ensemble.lower <= ensemble.upper)


def test_the_ensemble_of_constants():
    """A curve of 0 needs no stump; any other constant does not apply to missing values."""
    nothing = ShapeModel((Shape(np.zeros(1), np.zeros(1)),), 1.0).ensemble()
    assert len(nothing.weight) == 0
    ensemble = ShapeModel((Shape(np.zeros(1), np.array([2.0])),), 1.0).ensemble()
    assert np.isposinf(ensemble.lower).tolist() == [True]
    np.testing.assert_array_equal(ensemble.vote(np.array([[0.0], [7.0], [np.nan]])), [3, 3, 1])


def test_steps():
    shape = Shape.steps(np.array([0.0, 2.0]), np.array([5.0, 7.0, -1.0]))
    x = np.array([-1.0, np.nextafter(0, -1), 0.0, 1.0, 2.0, 9.0])
    np.testing.assert_array_equal(shape(x), [5, 5, 7, 7, -1, -1])
    np.testing.assert_array_equal(shape.left_limit(x), [5, 5, 5, 7, 7, -1])
    assert shape.is_step


def test_steps_without_a_cut_are_a_constant():
    shape = Shape.steps(np.array([]), np.array([5.0]))
    np.testing.assert_array_equal(shape(np.array([-1e9, 0.0, 1e9])), [5, 5, 5])
    assert shape.is_step


def test_only_flat_pieces_make_a_step():
    assert Shape(np.array([0.0, 1.0]), np.array([2.0, 2.0])).is_step
    assert Shape(np.array([0.0, 0.0]), np.array([2.0, 3.0])).is_step
    assert not Shape(np.array([0.0, 1.0]), np.array([2.0, 3.0])).is_step


def test_a_sum_of_steps_is_a_step():
    rng = np.random.default_rng(0)
    bag = [
        ShapeModel((Shape.steps(np.sort(rng.normal(size=5)), rng.normal(size=6)),), 0.0)
        for _ in range(20)
    ]
    together = average(bag)
    assert together[0].is_step
    assert len(together[0].knots) == 200


def test_a_curve_keeps_the_form_of_its_argument():
    shape = Shape(np.array([0.0, 1.0]), np.array([-1.0, 1.0]))
    assert shape(np.zeros((3, 4))).shape == (3, 4)
    assert shape(np.zeros(0)).shape == (0,)


def test_iteration():
    parts = tuple(Shape(np.zeros(1), np.array([float(k)])) for k in range(3))
    model = ShapeModel(parts, 0.0)
    assert tuple(model) == parts
    assert len(model) == 3
    assert model[1] is parts[1]


def test_models_of_other_features_cannot_be_added():
    one = ShapeModel((Shape(np.zeros(1), np.zeros(1)),), 0.0)
    two = ShapeModel(one.shapes * 2, 0.0)
    with pytest.raises(ValueError, match=r"different numbers of features \(\[1, 2\]\)"):
        combine([one, two], [1.0, 1.0])


@pytest.fixture
def large():
    """Return a model of 5 features and 20,001 rows, enough for several blocks and threads."""
    rng = np.random.default_rng(1)
    parts = tuple(
        Shape(np.sort(rng.standard_cauchy(size=k)), rng.normal(size=k)) for k in (1, 2, 9, 64, 255)
    )
    return ShapeModel(parts, 0.7), rng.normal(size=(20_001, 5))


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_threads_and_blocks_give_the_same_scores(large, n_threads):
    model, X = large
    expected = 0.7 + sum(np.interp(X[:, d], s.knots, s.values) for d, s in enumerate(model))
    np.testing.assert_allclose(model.evaluate(X, n_threads=n_threads), expected, atol=1e-9)


def test_layouts_of_the_table(large):
    model, X = large
    X = X[:500].astype(np.float32)
    expected = model.evaluate(X.astype(np.float64))
    for form in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        np.testing.assert_array_equal(model.evaluate(form), expected)


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e150, 8.9e307])
def test_curves_at_extreme_scales(scale):
    """A curve over a range of any size stays within its values."""
    for reach in (scale, 2 * scale):
        shape = Shape(np.array([-reach, reach]), np.array([0.0, 1.0]))
        x = reach * np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
        values = shape(x)
        assert np.all((values >= 0) & (values <= 1))
        assert np.all(np.diff(values) >= 0)
        if scale > 1e-310 and np.isfinite(reach - -reach):
            np.testing.assert_allclose(values, [0, 0.25, 0.5, 0.75, 1], rtol=1e-12)


@QUICK
@given(st.integers(0, 2**32), st.sampled_from([1e-3, 1.0, 1e6]), st.sampled_from([-1.0, 1.0]))
def test_monotone_curves_are_monotonic_at_neighboring_floats(seed, scale, direction):
    """Scores are monotonic from each float to the next, in Python and as JSON."""
    rng = np.random.default_rng(seed)
    knots = np.sort(scale * rng.normal(size=8))
    values = direction * np.cumsum(rng.exponential(size=8) ** 3) + rng.normal()
    near = np.concatenate([knots, rng.uniform(knots[0], knots[-1], size=50)])
    near = np.sort([near, np.nextafter(near, -np.inf), np.nextafter(near, np.inf)], axis=None)
    other = Shape(np.array([0.0, 1.0]), np.array([0.3, 0.7]))
    model = ShapeModel((other, Shape(knots, values), other), float(rng.normal()))
    X = np.column_stack([np.full(len(near), 0.2), near, np.full(len(near), 0.9)])
    assert np.all(direction * np.diff(model.evaluate(X)) >= 0)
    assert np.all(direction * np.diff(_line(knots, values, near)) >= 0)


def test_an_overflowing_slope_stays_within_its_values():
    shape = Shape(np.array([0.0, 5e-324]), np.array([3.0, -3.0]))
    np.testing.assert_array_equal(shape(np.array([-1.0, 0.0, 5e-324, 1.0])), [3, 3, -3, -3])


def test_a_table_of_other_columns_raises():
    """The compiled loops do not check bounds."""
    model = ShapeModel((Shape(np.zeros(1), np.ones(1)),) * 3, 0.0)
    with pytest.raises(ValueError, match=r"X has shape \(5, 1\), but the model has 3 features"):
        model.evaluate(np.zeros((5, 1)))
