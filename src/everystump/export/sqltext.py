"""Numbers, names and texts as SQLite and DuckDB both read them, and balanced expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_WHOLE, _POWER = 2**53, 2**56
_SAFE_DECIMALS = 3
# What a text that is a number cannot have: a sign within, a second point or exponent, an open end.
_ODD = ("*[0-9.][+-]*", "*[+-][+-]*", "*[eE.]*.*", "*[eE]*[eE]*", "*[eE+-]")
_STARTS = ("[0-9]*", "[.+-][0-9]*", "[+-].[0-9]*")


def number(value: float) -> str:
    """Return a number as a literal of double precision, in brackets if it is negative.

    Examples
    --------
    >>> number(0.1), number(-2.0), number(1e-7)
    ('0.1e0', '(-2.0e0)', '1e-07')
    """
    text = repr(float(value))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text


def exact(value: float) -> str:
    """Return a number as a literal that no reader of decimals can miss by a bit.

    SQLite rounds some decimals to a neighbour of the nearest number.  Whole numbers and few
    decimals are safe; others become a quotient of whole numbers.

    Examples
    --------
    >>> exact(0.25), exact(0.1234)
    ('0.25e0', '(8891907104280307e0/72057594037927936e0)')
    """
    top, bottom = float(value).as_integer_ratio()
    short = abs(top) < _WHOLE and (bottom == 1 or _decimals(value) <= _SAFE_DECIMALS)
    if short:
        return number(value)
    factors = []
    while abs(top) >= _WHOLE:
        step = min(_WHOLE, top & -top)
        top //= step
        factors.append(f"*{step}e0")
    while bottom > 1:
        step = min(_POWER, bottom)
        bottom //= step
        factors.append(f"/{step}e0")
    return f"({top}e0{''.join(factors)})"


def _decimals(value: float) -> int:
    """Return how many digits after the point a number has; many if it needs an exponent."""
    text = repr(float(value))
    return 99 if "e" in text else len(text.partition(".")[2])


def text(value: str) -> str:
    """Return text in quotes.

    Examples
    --------
    >>> print(text("O'Brien"))
    'O''Brien'
    """
    if "\0" in value:
        raise ValueError(f"model: {value!r} holds a zero character, which SQL cannot; rename it.")
    return "'" + value.replace("'", "''") + "'"


def name(value: str) -> str:
    """Return a name in double quotes.

    Examples
    --------
    >>> print(name('5" pipes'))
    "5"" pipes"
    """
    if "\0" in value:
        raise ValueError(f"model: {value!r} holds a zero character, which SQL cannot; rename it.")
    return '"' + value.replace('"', '""') + '"'


def as_double(column: str) -> str:
    """Return a column as numbers of double precision, NULL for text that is none.

    SQLite, whose columns hold what they are given, takes such text for 0; DuckDB ends in an error.
    """
    cast, said = f"CAST({column} AS DOUBLE PRECISION)", f"TRIM(CAST({column} AS VARCHAR))"
    odd = [f"TRIM({said}, '0123456789.eE+-') <> ''"]
    odd += [f"{said} GLOB '{pattern}'" for pattern in _ODD]
    odd += ["NOT (" + " OR ".join(f"{said} GLOB '{start}'" for start in _STARTS) + ")"]
    return (
        f"CASE WHEN TYPEOF({column}) NOT IN ('blob', 'text', 'VARCHAR') THEN {cast} "
        f"WHEN {' OR '.join(odd)} THEN NULL ELSE {cast} END"
    )


def label(value: Any) -> str:
    """Return a class label: text, a truth value or a number."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return str(value) if isinstance(value, int) else number(value)


def plus(terms: Sequence[str]) -> str:
    """Return the sum of terms, as flat as brackets can make it.

    Examples
    --------
    >>> plus(["a", "b", "c"]), plus([])
    ('(a + (b + c))', '0e0')
    """
    if len(terms) < 2:
        return terms[0] if terms else "0e0"
    half = len(terms) // 2
    return f"({plus(terms[:half])} + {plus(terms[half:])})"


def search(column: str, cuts: Sequence[str], results: Sequence[str]) -> str:
    """Return the result whose number is that of the cuts up to the column, by halving.

    Examples
    --------
    >>> print(search("x", ["1e0", "2e0"], ["a", "b", "c"]))
    CASE WHEN x < 2e0 THEN CASE WHEN x < 1e0 THEN a ELSE b END ELSE c END
    """
    if len(set(results)) == 1:
        return results[0]
    half = len(cuts) // 2
    below = search(column, cuts[:half], results[: half + 1])
    above = search(column, cuts[half + 1 :], results[half + 1 :])
    return f"CASE WHEN {column} < {cuts[half]} THEN {below} ELSE {above} END"
