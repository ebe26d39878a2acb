"""Formatting of numbers and names for messages, and the error for invalid input."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from math import floor, log10
from typing import Any

_MAX_SUGGESTIONS = 10
# How similar a suggested name must be, by difflib.  Below, names that share a part are suggested.
_SIMILAR = 0.6
_ROUNDING = 1e-12


class InvalidInputError(ValueError):
    """Invalid input that the user can correct; the message is one sentence."""


def format_percent(fraction: float) -> str:
    """Return a fraction as a percentage with three significant digits, or two if it is small.

    A fraction below 1 is never shown as 100%, and one above 0 never as 0%.

    Examples
    --------
    >>> [format_percent(fraction) for fraction in (0.2057, 0.0313, 0.00048, 0.0, 1e-9)]
    ['20.6%', '3.13%', '0.048%', '0%', 'less than 0.0001%']
    >>> [format_percent(fraction) for fraction in (0.9994, 0.99996, 1 - 1e-9, 1.0)]
    ['99.9%', '99.996%', 'more than 99.9999%', '100%']
    """
    percentage = 100 * fraction
    if 0.0 < percentage < 0.0001:
        return "less than 0.0001%"
    if 99.95 <= percentage < 100.0:
        digits = next((n for n in (2, 3, 4) if round(percentage, n) < 100.0), None)
        return "more than 99.9999%" if digits is None else f"{round(percentage, digits):g}%"
    return f"{float(f'{percentage:.3g}' if percentage >= 1 else f'{percentage:.2g}'):g}%"


def format_percents(*fractions: float) -> list[str]:
    """Return fractions as percentages with the same number of decimal places.

    Examples
    --------
    >>> format_percents(0.25, 0.186, 0.328), format_percents(0.004, 0.0, 0.0217)
    (['25.0%', '18.6%', '32.8%'], ['0.40%', '0.00%', '2.17%'])
    >>> format_percents(0.997, 0.9997), format_percents(1.0), format_percents(1.7)
    (['99.70%', '99.97%'], ['100.0%'], ['170.0%'])
    """
    smallest = min((fraction for fraction in fractions if fraction > 0.0), default=1.0)
    rest = min((1.0 - fraction for fraction in fractions if fraction < 1.0), default=1.0)
    is_shown = (n for n in (1, 2, 3) if smallest >= 10.0 ** (-1 - n) and rest >= 10.0 ** (-2 - n))
    digits = next(is_shown, 4)
    return [f"{format_fixed(100 * fraction, digits, (0.0, 100.0))}%" for fraction in fractions]


def format_fixed(number: float, digits: int, limits: Sequence[float] = ()) -> str:
    """Return a number with fixed decimal places; one that is only almost at a limit is marked.

    Examples
    --------
    >>> format_fixed(99.96, 1, (0, 100)), format_fixed(0.03, 1, (0, 100)), format_fixed(-0.0, 1)
    ('>99.9', '<0.1', '0.0')
    """
    text = f"{round(number, digits) + 0.0:.{digits}f}"
    for limit in limits:
        if float(text) == limit and abs(number - limit) > _ROUNDING:
            sign, step = (">", -1) if number < limit else ("<", 1)
            return f"{sign}{limit + step * 10.0**-digits:.{digits}f}"
    return text


def format_short_percent(fraction: float) -> str:
    """Return a fraction as a short percentage, for plots.

    Examples
    --------
    >>> [format_short_percent(fraction) for fraction in (0.387, 0.031, 0.0004, 0.998)]
    ['39%', '3.1%', '<0.1%', '99.8%']
    """
    if 0.0 < fraction < 0.001:
        return "<0.1%"
    if 0.999 < fraction < 1.0:
        return ">99.9%"
    is_whole = fraction in (0.0, 1.0) or 0.0995 <= fraction <= 0.9905
    return f"{100 * fraction:.{0 if is_whole else 1}f}%"


def format_number(value: float, digits: int = 4) -> str:
    """Return a number with ``digits`` significant digits; integers in full, with separators.

    Examples
    --------
    >>> format_number(165.49065), format_number(0.57561), format_number(12000), format_number(-3.0)
    ('165.5', '0.5756', '12,000', '-3')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.{digits}g}"


def format_quantities(*numbers: float, digits: int = 4) -> list[str]:
    """Return numbers of one unit with the same decimal places; the largest has all ``digits``.

    Examples
    --------
    >>> format_quantities(95.127, 7.25), format_quantities(12345.6, 812.0), format_quantities(3e-9)
    (['95.13', '7.25'], ['12,346', '812'], ['3.000e-09'])
    """
    largest = max(map(abs, numbers), default=0.0)
    if largest == 0.0:
        return ["0"] * len(numbers)
    if not 1e-4 <= largest < 1e9:
        return [f"{number:.{digits - 1}e}" for number in numbers]
    places = max(0, digits - 1 - floor(log10(largest)))
    return [f"{number:,.{places}f}" for number in numbers]


def format_bytes(n_bytes: float) -> str:
    """Return a number of bytes with a decimal unit.

    Examples
    --------
    >>> format_bytes(950), format_bytes(2_500_000_000)
    ('950 bytes', '2.5 GB')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes:g} bytes"


def pluralize(n: int, noun: str) -> str:
    """Return a count with its noun in the singular or plural.

    Examples
    --------
    >>> pluralize(1, "row"), pluralize(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def truncate_list(names: Sequence[Any], max_items: int = 8) -> str:
    """Return names separated by commas, with a count of those beyond ``max_items``.

    Examples
    --------
    >>> truncate_list(["a", "b"]), truncate_list("abcd", 3)
    ('a, b', 'a, b, c and 1 more')
    """
    more = f" and {len(names) - max_items:,} more" if len(names) > max_items else ""
    return ", ".join(str(name) for name in names[:max_items]) + more


def suggest_name(name: Any, names: list) -> str:
    """Return advice to use the most similar of some names, or a list of the first names.

    Examples
    --------
    >>> suggest_name("Aeg", ["height", "age"]), suggest_name("zip", ["height", "age"])
    ("use 'age'", "choose one of 'height', 'age'")
    """
    by_text = {str(other).casefold(): other for other in names}
    similar = get_close_matches(str(name).casefold(), by_text, 1, cutoff=_SIMILAR)
    if similar:
        return f"use {by_text[similar[0]]!r}"
    return f"choose one of {truncate_list([repr(other) for other in names], _MAX_SUGGESTIONS)}"
