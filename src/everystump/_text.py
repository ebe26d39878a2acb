"""What a person reads: numbers and names in words, and refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class InvalidInputError(ValueError):
    """Something that the user can fix, in one sentence."""


def format_percent(share: float) -> str:
    """Return a share for a sentence, in three digits, small ones in two.

    Examples
    --------
    >>> [format_percent(share) for share in (0.2057, 0.0313, 0.00048, 0.0, 1e-9)]
    ['20.6%', '3.13%', '0.048%', '0%', 'less than 0.0001%']
    """
    shown = 100 * share
    if 0.0 < shown < 0.0001:
        return "less than 0.0001%"
    return f"{float(f'{shown:.3g}' if shown >= 1 else f'{shown:.2g}'):g}%"


def format_percents(*shares: float) -> list[str]:
    """Return shares that are read together, with the same digits after the point.

    Examples
    --------
    >>> format_percents(0.25, 0.186, 0.328), format_percents(0.004, 0.0, 0.0217)
    (['25.0%', '18.6%', '32.8%'], ['0.40%', '0.00%', '2.17%'])
    """
    least = min((share for share in shares if share > 0.0), default=1.0)
    digits = next((n for n in (1, 2, 3) if least >= 10.0 ** (-1 - n)), 4)
    return [f"{100 * share:.{digits}f}%" for share in shares]


def format_short_percent(share: float) -> str:
    """Return a share for a plot, where there is little room.

    Examples
    --------
    >>> [format_short_percent(share) for share in (0.387, 0.031, 0.0004, 0.998)]
    ['39%', '3.1%', '<0.1%', '99.8%']
    """
    if 0.0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1.0:
        return ">99.9%"
    is_whole = share in (0.0, 1.0) or 0.0995 <= share <= 0.9905
    return f"{100 * share:.{0 if is_whole else 1}f}%"


def format_number(value: float, digits: int = 4) -> str:
    """Return a number with so many digits, whole ones in full and with separators.

    Examples
    --------
    >>> format_number(165.49065), format_number(0.57561), format_number(12000), format_number(-3.0)
    ('165.5', '0.5756', '12,000', '-3')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.{digits}g}"


def pluralize(n: int, what: str) -> str:
    """Return how many there are of something.

    Examples
    --------
    >>> pluralize(1, "row"), pluralize(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def truncate_list(names: Sequence[Any], most: int = 8) -> str:
    """Return the first few of some names, and how many more there are.

    Examples
    --------
    >>> truncate_list(["a", "b"]), truncate_list("abcd", 3)
    ('a, b', 'a, b, c and 1 more')
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(str(name) for name in names[:most]) + more
