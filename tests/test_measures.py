"""The masses of the gaps, by hand, in closed form and by SciPy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from everystump._core.columns import make_columns
from everystump._core.measures import (
    ChosenStumps,
    Density,
    EqualShare,
    Lebesgue,
    Measure,
    Middle,
    Mixed,
    Rank,
    Uniform,
    as_measure,
)

SCALED = [Uniform(), Rank(), EqualShare(), Mixed()]
VALUES = np.array([-1.0, 0.0, 0.5, 4.0, 7.0])
COUNTS = np.array([3, 1, 2, 1, 4])


def column(x=None, low=None, high=None):
    """Return the column of some values, five with repetitions by default."""
    x = np.repeat(VALUES, COUNTS) if x is None else np.asarray(x, dtype=float)
    record = make_columns(x[:, None], max_bins=1000).columns[0]
    return replace(
        record,
        low=record.low if low is None else low,
        high=record.high if high is None else high,
    )


def name(measure):
    return type(measure).__name__


@pytest.mark.parametrize("measure", SCALED, ids=name)
@pytest.mark.parametrize("n", [2, 5, 100])
def test_total_mass_is_two(measure, n):
    x = np.random.default_rng(n).standard_cauchy(size=n)
    masses = measure.masses(column(x), 0)
    assert masses.inside.shape == (n - 1,)
    assert np.all(masses.inside > 0)
    assert masses.inside.sum() == pytest.approx(2.0)
    assert masses.outside == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "measure", [*SCALED, Lebesgue(), Middle(), Density(np.ones_like)], ids=name
)
def test_a_constant_feature_has_no_gap(measure):
    masses = measure.masses(column([3.0, 3.0]), 0)
    assert len(masses.inside) == 0
    assert masses.outside == 0.0


def test_lebesgue_is_length():
    np.testing.assert_array_equal(Lebesgue().masses(column(), 0).inside, [1, 0.5, 3.5, 3])


def test_uniform_is_length_in_half_ranges():
    np.testing.assert_allclose(Uniform().masses(column(), 0).inside, np.diff(VALUES) / 4)


def test_rank_counts_half_of_both_ends():
    pairs = np.array([4, 3, 3, 5]) / 2
    np.testing.assert_allclose(Rank().masses(column(), 0).inside, 2 * pairs / pairs.sum())


def test_equal_share_divides_evenly():
    np.testing.assert_allclose(EqualShare().masses(column(), 0).inside, [0.5] * 4)


def test_mixed_is_the_mean_of_three():
    parts = [part.masses(column(), 0).inside for part in (Uniform(), Rank(), EqualShare())]
    np.testing.assert_allclose(Mixed().masses(column(), 0).inside, np.mean(parts, axis=0))


def test_middle_is_one_for_every_gap():
    masses = Middle().masses(column(), 0)
    np.testing.assert_array_equal(masses.inside, [1, 1, 1, 1])
    assert masses.outside == 0.0


def test_measures_of_single_stumps_make_steps():
    assert Middle().is_step and ChosenStumps([[0.0]]).is_step
    assert not any(measure.is_step for measure in [*SCALED, Lebesgue(), Density(np.ones_like)])


@pytest.mark.parametrize(
    ("measure", "outside"),
    [
        (Lebesgue(), 5.0),
        (Uniform(), 5.0 / 6.5),
        (Rank(), 0.0),
        (Middle(), 0.0),
        (Mixed(), 5.0 / 6.5 / 3),
        (Density(np.ones_like), 5.0),
    ],
    ids=lambda value: name(value) if isinstance(value, Measure) else "",
)
def test_a_wider_range_has_mass_outside(measure, outside):
    """The range [-3, 10] around [-1, 7] adds 2 + 3; half of it is 6.5."""
    masses = measure.masses(column(low=-3.0, high=10.0), 0)
    assert masses.outside == pytest.approx(outside)


def test_uniform_total_is_two_with_a_wider_range():
    masses = Uniform().masses(column(low=-3.0, high=10.0), 0)
    assert masses.inside.sum() + masses.outside == pytest.approx(2.0)
    np.testing.assert_allclose(masses.inside, np.diff(VALUES) / 6.5)


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1.0, 1e300])
def test_uniform_at_extreme_scales(scale):
    """Subnormal numbers have few digits: their gaps are accurate to 1%."""
    masses = Uniform().masses(column(VALUES * 2 * scale), 0)
    np.testing.assert_allclose(masses.inside, np.diff(VALUES) / 4, rtol=1e-2)


def test_uniform_far_from_zero():
    """Integers near 1e15 are exact, and so are their differences."""
    masses = Uniform().masses(column(1e15 + np.arange(4.0)), 0)
    np.testing.assert_allclose(masses.inside, [2 / 3] * 3, rtol=1e-12)


def test_chosen_stumps_have_a_mass_of_two_each():
    measure = ChosenStumps([[], [3.0, 1.0, 3.0, 3.0]])
    np.testing.assert_array_equal(measure.thresholds(0), [])
    np.testing.assert_array_equal(measure.thresholds(1), [1.0, 3.0])
    np.testing.assert_array_equal(measure.masses(column(), 0).inside, [])
    np.testing.assert_array_equal(measure.masses(column(), 1).inside, [2.0, 6.0])
    assert measure.masses(column(), 1).outside == 0.0


def test_other_measures_have_no_fixed_thresholds():
    assert all(measure.thresholds(0) is None for measure in [*SCALED, Lebesgue(), Middle()])


@pytest.mark.parametrize("limits", [(None, None), (-3.0, 10.0)])
def test_density_one_is_lebesgue(limits):
    record = column(None, *limits)
    one, length = Density(np.ones_like).masses(record, 0), Lebesgue().masses(record, 0)
    np.testing.assert_allclose(one.inside, length.inside, rtol=1e-12)
    assert one.outside == pytest.approx(length.outside)


def test_gaussian_density():
    """Integrals are accurate to 1e-8 of the largest gap."""
    x = np.random.default_rng(0).uniform(-4, 4, size=50)
    record = column(x, -6.0, 6.0)
    masses = Density(stats.norm.pdf).masses(record, 0)
    np.testing.assert_allclose(masses.inside, np.diff(stats.norm.cdf(record.values)), atol=1e-9)
    outside = stats.norm.cdf(6) - stats.norm.cdf(-6) - masses.inside.sum()
    assert masses.outside == pytest.approx(outside, abs=1e-9)


@pytest.mark.parametrize("measure", [*SCALED, Lebesgue()], ids=name)
def test_curves_are_linear_from_bin_to_bin(measure):
    knots, position = measure.knot_positions(column(), 0)
    np.testing.assert_array_equal(knots, VALUES)
    np.testing.assert_array_equal(position, np.arange(5))


def test_curves_follow_the_density_inside_a_gap():
    """Within a gap the curve follows its cumulative mass, as the smooth stumps of Theorem 5 do."""
    record = column([-3.0, 0.0, 1.0])
    knots, position = Density(stats.norm.pdf).knot_positions(record, 0)
    gap = np.clip(np.searchsorted(record.values, knots, side="right") - 1, 0, 1)
    cdf = stats.norm.cdf
    low, high = cdf(record.values[gap]), cdf(record.values[gap + 1])
    np.testing.assert_allclose(position, gap + (cdf(knots) - low) / (high - low), atol=1e-6)
    assert np.all(np.diff(knots) > 0) and np.all(np.diff(position) > 0)
    assert np.isin(record.values, knots).all()


def test_curves_cross_a_gap_without_mass():
    knots, position = Density(lambda a: (a > 0.0).astype(float)).knot_positions(
        column([-1.0, 0.0, 1.0]), 0
    )
    assert np.all(np.diff(position) >= 0)
    assert position[0] == 0 and position[-1] == 2 and position[knots == 0.0] == 1


def test_the_curve_of_a_constant_feature_has_one_knot():
    knots, position = Density(np.ones_like).knot_positions(column([3.0, 3.0]), 0)
    np.testing.assert_array_equal(knots, [3.0])
    np.testing.assert_array_equal(position, [0.0])


def test_one_density_for_each_feature():
    measure = Density([np.ones_like, lambda a: 2 * np.ones_like(a)])
    np.testing.assert_allclose(
        measure.masses(column(), 1).inside, 2 * measure.masses(column(), 0).inside
    )


def test_a_density_that_jumps():
    masses = Density(lambda a: (a > 2.0).astype(float)).masses(column(), 0)
    np.testing.assert_allclose(masses.inside, [0, 0, 2, 3], atol=1e-3)


def test_a_negative_density_raises():
    with pytest.raises(ValueError, match=r"density of feature 3 is -\d.* must not be negative"):
        Density(lambda a: -np.ones_like(a)).masses(column(), 3)


@pytest.mark.parametrize(
    "function",
    [lambda a: 1 / np.abs(a), lambda a: np.full_like(a, np.nan), lambda a: np.full_like(a, np.inf)],
    ids=["1/x", "nan", "inf"],
)
def test_a_density_without_integral_raises(function):
    with pytest.raises(
        ValueError, match=r"density of feature 2 could not be integrated .*\[-1, 7\]"
    ):
        Density(function).masses(column(), 2)


@pytest.mark.parametrize("function", [lambda a: 1.0, lambda a: a[:-1], lambda a: a[:, None]])
def test_a_density_of_the_wrong_shape_raises(function):
    with pytest.raises(ValueError, match=r"density of feature 1 returned shape .* one value per"):
        Density(function).masses(column(), 1)


def test_too_few_lists_of_thresholds_raise():
    with pytest.raises(ValueError, match="there are thresholds for 1 features"):
        ChosenStumps([[0.0]]).check(2)


@pytest.mark.parametrize(
    ("measure", "kind"),
    [
        ("lebesgue", Lebesgue),
        ("uniform", Uniform),
        ("rank", Rank),
        ("middle", Middle),
        ("mixed", Mixed),
        (np.ones_like, Density),
    ],
)
def test_as_measure_of_names_and_densities(measure, kind):
    assert type(as_measure(measure)) is kind


def test_as_measure_of_a_measure():
    measure = ChosenStumps([[0.0]])
    assert as_measure(measure) is measure


@pytest.mark.parametrize("unknown", ["gauss", "Uniform", 3, None])
def test_an_unknown_measure_raises(unknown):
    with pytest.raises(ValueError, match=r"measure=.* is unknown; use .*'lebesgue', "):
        as_measure(unknown)
