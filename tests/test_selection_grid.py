"""The values of a parameter along a path."""

import numpy as np
import pytest

from everystump._selection.grid import PathGrid, refined_cost_grid, strength_grid


def run(grid: PathGrid, score) -> list[float]:
    """Return all values that a grid tries for a score of the base-2 logarithm."""
    values = sorted([*grid.known(), *grid.first()])
    for _ in range(100):
        more = grid.next(np.array(values), np.array([[score(np.log2(v)) for v in values]]))
        if not more:
            return values
        values = sorted([*values, *more])
    raise AssertionError("the grid does not end")


def logs(values: list[float], C: float = 1.0) -> list[float]:
    return (np.log2(values) + np.log2(C)).round(9).tolist()


@pytest.mark.parametrize("C", [0.25, 1.0, 64.0])
@pytest.mark.parametrize(
    ("peak", "tried"),
    [
        (-2, [-10, -6, -4, -2, 0]),
        (-6, [-10, -8, -6, -4, -2]),
        (-4, [-10, -6, -4, -2]),
        (-10, [-10, -8, -6, -2]),
        (-30, [-10, -8, -6, -2]),
        (3.4, [-10, -6, -2, 0, 2, 4, 6]),
    ],
)
def test_strengths_climb_to_a_peak(C, peak, tried):
    values = run(strength_grid(None, C), lambda log: -abs(log + np.log2(C) - peak))
    assert logs(values, C) == tried


def test_strengths_have_a_limit():
    values = run(strength_grid(None, 1.0), lambda log: log)
    assert max(values) == 2.0**20
    values = run(strength_grid(None, 2.0**10), lambda log: log)
    assert max(values) * 2.0**10 <= 2.0**21


@pytest.mark.parametrize(
    ("peak", "tried"),
    [
        (0, [-1, 0, 1]),
        (-3, [-4, -3, -2, -1, 0]),
        (2.2, [-1, 0, 1, 2, 3]),
        (-99, list(range(-21, 1))),
    ],
)
def test_refined_values_of_c_climb_downwards_first(peak, tried):
    assert logs(run(refined_cost_grid(1.0), lambda log: -abs(log - peak))) == tried


def test_refinement_stops_on_a_plateau():
    assert logs(run(refined_cost_grid(1.0), lambda log: 0.9)) == [-1, 0, 1]
    # A relative gain of 1e-5 per step is not worth a fit.
    assert logs(run(refined_cost_grid(1.0), lambda log: 1 - 1e-5 * log)) == [-1, 0, 1]
    assert len(run(strength_grid(None, 1.0), lambda log: 0.9)) == 4


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1.0])
def test_scores_near_the_best_possible_one_are_still_compared(unit):
    """A R² of 0.9999 is not about equal to one of 0.99999, as losses of 1e-4 and 1e-5 are not."""
    expected = logs(run(refined_cost_grid(1.0), lambda log: -unit * (1.0 + abs(log + 3))))
    assert expected == [-4, -3, -2, -1, 0]
    found = logs(run(refined_cost_grid(1.0), lambda log: 1.0 - unit * 0.2 * (1.0 + abs(log + 3))))
    assert found == expected


def test_listed_strengths_are_all_tried():
    assert run(strength_grid([1.0, 0.1, 1.0], 5.0), lambda log: log) == [0.1, 1.0]
