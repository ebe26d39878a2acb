"""Common parts of the displays: axes, names and captions."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from everystump._core.shapes import ShapeModel
from everystump._explanations.access import feature_names
from everystump.estimators._editing import EditedModelError
from everystump.explain._colors import TEXT

DASHED = (0, (4, 4))
_MAX_EDIT_LENGTH = 60


class AxesDisplay:
    """Base of the displays that draw on a single matplotlib Axes, in `_draw`."""

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
            Itself, with ``figure_`` and ``ax_``.
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
    """Check that at least one feature may be drawn."""
    if max_features < 1:
        raise ValueError(f"max_features={max_features} must be at least 1.")


def display_names(estimator: Any, n_features: int, given: Any) -> list[str]:
    """Return the given names, or those of the training table, or x0, x1 and so on."""
    if given is not None and len(given) != n_features:
        raise ValueError(
            f"feature_names has {len(given)} names; pass one for each of the {n_features} features."
        )
    if given is not None:
        names = given
    elif hasattr(estimator, "feature_info_"):
        names = feature_names(estimator.feature_info_)
    else:  # a classifier of another library
        names = getattr(estimator, "feature_names_in_", [f"x{d}" for d in range(n_features)])
    return [str(name) for name in names]


def escape(text: Any) -> str:
    r"""Return text of the data for a plot, where ``$`` must not start a formula."""
    return str(text).replace("$", r"\$")


def truncate(text: str, max_length: int) -> str:
    """Return a text with at most this many characters."""
    return text if len(text) <= max_length else f"{text[: max_length - 1].rstrip()}…"


def favored_class(estimator: Any, models: list[ShapeModel], k: int) -> str:
    """Return which class a positive score of the model ``k`` favors."""
    classes = estimator.classes_.tolist()
    if len(models) == 1:
        return f"positive values favor class {classes[1]!r}"
    return f"positive values favor class {classes[k]!r} over the rest"


def edit_notes(estimator: Any) -> list[str]:
    """Return the caption for the edits of a model, as a list that is empty without edits."""
    edits = getattr(estimator, "edits_", ())
    if not edits:
        return []
    others = f" after {len(edits) - 1} more" if len(edits) > 1 else ""
    return [f"edited: {truncate(edits[-1], _MAX_EDIT_LENGTH)}{others}"]


def training_attribute(estimator: Any, name: str, otherwise: str) -> Any:
    """Return an attribute that training set; edited models no longer have it."""
    try:
        return getattr(estimator, name)
    except EditedModelError:
        raise
    except AttributeError:
        raise ValueError(f"estimator={estimator!r} {otherwise}.") from None
