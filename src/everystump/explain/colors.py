"""Colors of plots: one for each class, the same in every plot, and others for what is of none."""

from __future__ import annotations

SECOND, FIRST = "#1f5fa8", "#c2571a"  # of two classes: blue is what a score above zero favors
PLAIN, PALE, MISSING = "#66738a", "#c9d6e6", "#7a4fb5"
LINE_COLORS = (PLAIN, "#2f8558", "#b14a8a")  # for several lines
TEXT = "#555555"
_SEVERAL = (
    *("#1f5fa8", "#c2571a", "#2f8558", "#b14a8a"),
    *("#94790c", "#5a7888", "#1f8585", "#80613f"),
)


def class_colors(n_classes: int) -> list[str]:
    """Return a color for each class; beyond eight they come again.

    Examples
    --------
    >>> class_colors(2) == [FIRST, SECOND]
    True
    """
    if n_classes == 2:
        return [FIRST, SECOND]
    return [_SEVERAL[k % len(_SEVERAL)] for k in range(n_classes)]


def pale(color: str) -> str:
    """Return a color that rows of the same class stand out from.

    Examples
    --------
    >>> pale("#000000"), pale("#ff8000")
    ('#d9d9d9', '#ffecd9')
    """
    parts = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 - 0.15 * (255 - part)):02x}" for part in parts)


def side_colors(n_classes: int, k: int) -> tuple[str, str]:
    """Return the colors of what is above and below zero on the score of a class.

    Of two classes these are the second and the first; of several, the class and none of them.

    Examples
    --------
    >>> side_colors(2, 0) == (SECOND, FIRST), side_colors(3, 0)[1] == PLAIN
    (True, True)
    """
    return (SECOND, FIRST) if n_classes == 2 else (class_colors(n_classes)[k], PLAIN)
