"""A class has the same color in every plot; everything else has other colors."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from everystump import StumpSVC
from everystump.explain import (
    BoundaryDisplay,
    ContributionsDisplay,
    CurvesDisplay,
    ImportanceDisplay,
)
from everystump.explain._display import FIRST, NEUTRAL, SECOND, class_colors, sign_colors

pd = pytest.importorskip("pandas", reason="the table of these tests is a pandas frame")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"number": rng.normal(size=60), "word": rng.choice(["x", "y"], 60)})
    return X, np.where(X["number"] + (X["word"] == "x") > 0.5, "b", "a")


def drawn(display, name):
    """Return the axis of a feature."""
    return display.axes_[display.names.index(name)]


def test_curves_of_two_classes_change_their_color_at_zero():
    X, y = table()
    display = CurvesDisplay.from_estimator(StumpSVC().fit(X, y))
    axis = drawn(display, "number")
    above, below = axis.lines[-2:]
    assert (above.get_color(), below.get_color()) == (SECOND, FIRST)
    for bar in drawn(display, "word").patches:
        assert to_hex(bar.get_facecolor()) == (SECOND if bar.get_width() > 0 else FIRST)


def test_contributions_and_boundaries_have_the_colors_of_the_curves():
    X, y = table()
    model = StumpSVC().fit(X, y)
    display = ContributionsDisplay.from_estimator(model, X, row=3)
    for bar, adds in zip(display.ax_.patches[1:-1], display.contributions, strict=True):
        assert to_hex(bar.get_facecolor()) == (SECOND if adds >= 0 else FIRST)
    numbers = X.assign(word=(X["word"] == "x").astype(float))
    drawing = BoundaryDisplay.from_estimator(StumpSVC().fit(numbers, y), numbers, y)
    assert [line.get_color() for line in drawing.ax_.lines] == [FIRST, SECOND]
    (bars,) = ImportanceDisplay.from_estimator(model).ax_.containers
    assert {to_hex(bar.get_facecolor()) for bar in bars} == {NEUTRAL}


def test_several_classes_have_distinct_colors():
    assert len(set(class_colors(8))) == 8
    for k in range(3):
        assert sign_colors(3, k) == (class_colors(3)[k], NEUTRAL)
