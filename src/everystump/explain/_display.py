"""Common parts of the displays: axes, names, captions, ticks and colors.

Each class has one color, the same in every plot, and other things have other colors.
"""

from __future__ import annotations

from textwrap import fill
from typing import Any, ClassVar, Self

from sklearn.base import is_regressor

from everystump._core.shapes import ShapeModel
from everystump._explanations.access import class_labels, feature_names
from everystump._text import pluralize
from everystump.estimators._editing import EditedModelError

SECOND, FIRST = "#1f5fa8", "#c2571a"  # of two classes: a score above zero favors the blue one
NEUTRAL, PALE, MISSING = "#66738a", "#c9d6e6", "#7a4fb5"
LINE_COLORS = (NEUTRAL, "#2f8558", "#b14a8a")  # for lines that belong to no class
TEXT = "#555555"
_CLASSES = (
    *("#1f5fa8", "#c2571a", "#2f8558", "#b14a8a"),
    *("#94790c", "#5a7888", "#1f8585", "#80613f"),
)
DASHED = (0, (4, 4))
_MAX_EDIT_LENGTH = 60
# matplotlib multiplies values by small numbers, and divides by ranges.
_MAX_DRAWN, _MIN_DRAWN = 1e306, 1e-280
_MAX_LABEL_LENGTH = 44  # characters of a line below a plot


class AxesDisplay:
    """Base class of the displays that draw on a single matplotlib Axes, in `_draw`."""

    _hidden_spines: ClassVar[tuple[str, ...]] = ("top", "right")

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on ``ax`` or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure by default.

        Returns
        -------
        display
            The display itself, with ``figure_`` and ``ax_``.
        """
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=self._figure_size(), layout="constrained")
        ax.tick_params(colors=TEXT)
        for side in self._hidden_spines:
            ax.spines[side].set_visible(False)
        self._draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _figure_size(self) -> tuple[float, float]:
        """Return the width and height of a new figure, in inches."""
        return 5.8, 3.8

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


def check_max_features(max_features: int) -> None:
    """Check that max_features is at least 1."""
    if max_features < 1:
        raise ValueError(f"max_features={max_features} must be at least 1.")


def display_names(estimator: Any, n_features: int, names: Any) -> list[str]:
    """Return the names as text; if None, those of the training data, or x0, x1 and so on."""
    if names is not None and len(names) != n_features:
        raise ValueError(
            f"feature_names has {len(names)} names; pass one for each of the {n_features} features."
        )
    if names is not None:
        return [str(name) for name in names]
    if hasattr(estimator, "feature_info_"):
        names = feature_names(estimator.feature_info_)
    else:  # a classifier of another library
        names = getattr(estimator, "feature_names_in_", [f"x{d}" for d in range(n_features)])
    return [str(name) for name in names]


def escape(text: Any) -> str:
    r"""Return text for a plot, with ``$`` escaped so that it does not start a formula."""
    return str(text).replace("$", r"\$")


def truncate(text: str, max_length: int) -> str:
    """Return a text with at most this many characters."""
    return text if len(text) <= max_length else f"{text[: max_length - 1].rstrip()}…"


def wrap(text: str, n_columns: int = 1) -> str:
    """Return a label in lines that fit below a plot, or below several side by side."""
    return fill(text, n_columns * _MAX_LABEL_LENGTH)


def favored_notes(estimator: Any, models: list[ShapeModel], k: int) -> list[str]:
    """Return a note on the class that a positive score of the model ``k`` favors.

    The list is empty for a regressor, whose positive contributions raise its prediction.
    """
    classes = class_labels(estimator).tolist()
    if not classes:
        return []
    if len(models) == 1:
        return [f"positive values favor class {classes[1]!r}"]
    return [f"positive values favor class {classes[k]!r} over the rest"]


def add_note(text: str, notes: list[str]) -> str:
    """Return a text with notes in parentheses, if there are any."""
    return f"{text} ({'; '.join(notes)})" if notes else text


def check_classifier(estimator: Any, display: type) -> None:
    """Raise an error if a display of classifiers gets a regressor."""
    if is_regressor(estimator):
        raise ValueError(
            f"estimator={estimator!r} is a regressor, which {display.__name__} cannot draw; pass a "
            f"classifier, or draw the regressor with ResidualsDisplay."
        )


def edit_notes(estimator: Any) -> list[str]:
    """Return the caption for the edits of a model, as a list that is empty without edits."""
    edits = getattr(estimator, "edits_", ())
    if not edits:
        return []
    others = f" ({pluralize(len(edits) - 1, 'earlier edit')})" if len(edits) > 1 else ""
    return [f"edited: {truncate(edits[-1], _MAX_EDIT_LENGTH)}{others}"]


def training_attribute(estimator: Any, name: str, problem: str) -> Any:
    """Return an attribute that training sets, and that edited models no longer have."""
    try:
        return getattr(estimator, name)
    except EditedModelError:
        raise
    except AttributeError:
        raise ValueError(f"estimator={estimator!r} {problem}.") from None


def class_colors(n_classes: int) -> list[str]:
    """Return a color for each class; beyond eight they repeat."""
    if n_classes == 2:
        return [FIRST, SECOND]
    return [_CLASSES[k % len(_CLASSES)] for k in range(n_classes)]


def lighten(color: str) -> str:
    """Return a light tint of a color, for the background of samples in that color."""
    parts = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 - 0.15 * (255 - part)):02x}" for part in parts)


def sign_colors(n_classes: int, k: int) -> tuple[str, str]:
    """Return the colors of positive and negative contributions to the score of class ``k``.

    With two classes these are the colors of the second and the first, which a regressor, without
    classes, has as well; with several, the color of the class and a neutral one.
    """
    return (SECOND, FIRST) if n_classes <= 2 else (class_colors(n_classes)[k], NEUTRAL)


def check_drawable(name: str, low: float, high: float) -> None:
    """Raise an error if the range of a feature is too wide for the arithmetic of a plot."""
    if max(abs(low), abs(high)) > _MAX_DRAWN or 0.0 < high - low < _MIN_DRAWN:
        raise ValueError(
            f"estimator: feature {name} has values from {low:g} to {high:g}, too large or too "
            f"close to be drawn; multiply it by a constant and fit again, or draw other features."
        )


def round_ticks(low: float, high: float) -> list[float]:
    """Return some round numbers from ``low`` to ``high``."""
    from matplotlib.ticker import MaxNLocator

    ticks = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in ticks if low <= tick <= high]
