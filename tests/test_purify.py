"""Purified interactions, against least squares on indicator matrices."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import search

from everystump._core.purify import purify

QUICK = search(100)


@st.composite
def interactions(draw, order):
    """Draw values and weights; many weights are zero, some of them in whole rows."""
    limit = 7 if order == 2 else 4
    shape = draw(st.lists(st.integers(1, limit), min_size=order, max_size=order))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = rng.normal(size=shape) + draw(st.sampled_from([0.0, 5.0]))
    weights = rng.integers(0, 4, size=shape) * 1.0
    if draw(st.booleans()):
        weights *= 10.0 ** rng.integers(-4, 5, size=shape)
    weights[rng.random(shape) < draw(st.sampled_from([0.0, 0.5, 0.8, 1.0]))] = 0.0
    for j in range(order):
        if draw(st.booleans()):
            np.moveaxis(weights, j, 0)[rng.integers(shape[j])] = 0.0
    return values, weights


def indicators(shape, axes):
    """Return one column per combination of the indices along some axes, 1 in its cells."""
    index = np.indices(shape)[list(axes)].reshape(len(axes), -1)
    code = np.ravel_multi_index(index, [shape[j] for j in axes])
    return (code[:, None] == np.arange(code.max() + 1)).astype(float)


def twin(values, weights):
    """Return what weighted least squares on functions of one feature less leave over."""
    order = values.ndim
    design = np.hstack(
        [indicators(values.shape, axes) for axes in itertools.combinations(range(order), order - 1)]
    )
    root = np.sqrt(weights.ravel())
    coef = np.linalg.lstsq(root[:, None] * design, root * values.ravel(), rcond=1e-13)[0]
    return values - (design @ coef).reshape(values.shape)


def expand(part, axes, order):
    return np.expand_dims(part, tuple(j for j in range(order) if j not in axes))


def check_parts(values, weights, pure):
    """Check that the parts add up, and that each has mean zero under its marginal weights."""
    order = values.ndim
    subsets = [s for n in range(order) for s in itertools.combinations(range(order), n)]
    assert set(pure.removed) == set(subsets)
    parts = {tuple(range(order)): pure.values, **pure.removed}
    total = sum(expand(part, axes, order) for axes, part in parts.items())
    scale = np.abs(values).max()
    np.testing.assert_allclose(total, values, atol=1e-13 * scale)
    for axes, part in parts.items():
        assert np.isfinite(part).all()
        assert part.shape == tuple(values.shape[j] for j in axes)
        marginal = weights.sum(axis=tuple(j for j in range(order) if j not in axes))
        for j in range(part.ndim):
            sums = np.sum(marginal * part, axis=j)
            np.testing.assert_allclose(sums, 0.0, atol=1e-12 * scale * weights.sum())


@QUICK
@given(interactions(2))
def test_pairs(interaction):
    values, weights = interaction
    pure = purify(values, weights)
    check_parts(values, weights, pure)
    used = weights > 0
    np.testing.assert_allclose(pure.values[used], twin(values, weights)[used], atol=1e-7)


@QUICK
@given(interactions(3))
def test_three_features(interaction):
    values, weights = interaction
    pure = purify(values, weights)
    check_parts(values, weights, pure)
    expected = twin(values, weights)
    np.testing.assert_allclose(
        np.sqrt(weights) * pure.values,
        np.sqrt(weights) * expected,
        atol=1e-7 * np.sqrt(weights.max()) + 1e-300,
    )


@QUICK
@given(interactions(2))
def test_empty_cells_of_pairs_count_as_if_they_had_a_small_weight(interaction):
    values, weights = interaction
    weights = np.minimum(weights, 4.0)
    weights[weights < 1.0] = 0.0
    # The values at a small weight differ from their limit by about that weight.
    expected = twin(values, weights + 1e-6)
    np.testing.assert_allclose(purify(values, weights).values, expected, atol=1e-3)


@pytest.mark.parametrize("order", [2, 3])
def test_without_weights_all_cells_count_the_same(order):
    values = np.random.default_rng(0).normal(size=(3, 4, 5)[:order])
    pure, uniform = (purify(values, w) for w in (np.zeros(values.shape), np.ones(values.shape)))
    np.testing.assert_array_equal(pure.values, uniform.values)
    for j in range(order):
        np.testing.assert_allclose(uniform.values.mean(axis=j), 0.0, atol=1e-14)


@pytest.mark.parametrize("order", [2, 3])
def test_sums_of_parts_of_lower_order_leave_nothing(order):
    rng = np.random.default_rng(1)
    shape = (4, 5, 6)[:order]
    values = sum(
        expand(rng.normal(size=[shape[j] for j in axes]), axes, order)
        for axes in itertools.combinations(range(order), order - 1)
    )
    weights = rng.integers(0, 3, size=shape)
    pure = purify(values, weights)
    check_parts(values, weights, pure)
    np.testing.assert_allclose(pure.values, 0.0, atol=1e-3 if order == 3 else 1e-12)


def test_few_rows_in_many_cells():
    """Most cells are empty; the remainder in them stays of the size of the values."""
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(500, 3)) @ (np.eye(3) + 0.8)
    weights = np.histogramdd(Z, bins=14)[0]
    values = (
        rng.normal(size=weights.shape) + np.add.outer(np.arange(14.0), np.arange(14.0))[..., None]
    )
    for w, v in ((weights, values), (weights.sum(axis=2), values[:, :, 0])):
        assert (w == 0).mean() > 0.4
        pure = purify(v, w)
        check_parts(v, w, pure)
        assert np.abs(pure.values).max() < 12


def test_purified_values_stay_as_they_are():
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 5, size=(6, 7))
    once = purify(rng.normal(size=(6, 7)), weights)
    twice = purify(once.values, weights)
    np.testing.assert_allclose(twice.values, once.values, atol=1e-13)
    assert all(np.abs(part).max() < 1e-13 for part in twice.removed.values())


@pytest.mark.parametrize(("shape", "other"), [((3,), (3,)), ((2, 3), (3, 2)), ((2,) * 4, (2,) * 4)])
def test_invalid_shapes(shape, other):
    with pytest.raises(ValueError, match="pass two arrays of the same shape with two or three"):
        purify(np.zeros(shape), np.ones(other))
