"""Colors of plots: one per class, the same in every plot, and others for everything else."""

from __future__ import annotations

SECOND, FIRST = "#1f5fa8", "#c2571a"  # of two classes: a score above zero favors the blue one
NEUTRAL, PALE, MISSING = "#66738a", "#c9d6e6", "#7a4fb5"
LINE_COLORS = (NEUTRAL, "#2f8558", "#b14a8a")  # for lines that belong to no class
TEXT = "#555555"
_CLASSES = (
    *("#1f5fa8", "#c2571a", "#2f8558", "#b14a8a"),
    *("#94790c", "#5a7888", "#1f8585", "#80613f"),
)


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

    With two classes these are the colors of the second and the first; with several, the color of
    the class and a neutral one.
    """
    return (SECOND, FIRST) if n_classes == 2 else (class_colors(n_classes)[k], NEUTRAL)
