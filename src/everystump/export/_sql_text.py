"""Literals, identifiers and balanced expressions that SQLite and DuckDB both read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_WHOLE, _POWER = 2**53, 2**56
_SAFE_DECIMALS = 3
# Patterns that no number matches: a sign inside, a second point or exponent, or no final digit.
_NOT_NUMBERS = ("*[0-9.][+-]*", "*[+-][+-]*", "*[eE.]*.*", "*[eE]*[eE]*", "*[eE+-]")
_STARTS = ("[0-9]*", "[.+-][0-9]*", "[+-].[0-9]*")


def number(value: float) -> str:
    """Return a double-precision literal, in parentheses if it is negative.

    Examples
    --------
    >>> number(0.1), number(-2.0), number(1e-7)
    ('0.1e0', '(-2.0e0)', '1e-07')
    """
    text = repr(float(value))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text


def exact(value: float) -> str:
    """Return a literal that every engine reads as exactly this number.

    SQLite rounds some decimals to a neighbor of the nearest number.  Whole numbers and those with
    few decimals are safe; others become a quotient of whole numbers.

    Examples
    --------
    >>> exact(0.25), exact(0.1234)
    ('0.25e0', '(8891907104280307e0/72057594037927936e0)')
    """
    numerator, denominator = float(value).as_integer_ratio()
    is_short = abs(numerator) < _WHOLE and (
        denominator == 1 or _n_decimals(value) <= _SAFE_DECIMALS
    )
    if is_short:
        return number(value)
    factors = []
    while abs(numerator) >= _WHOLE:
        step = min(_WHOLE, numerator & -numerator)
        numerator //= step
        factors.append(f"*{step}e0")
    while denominator > 1:
        step = min(_POWER, denominator)
        denominator //= step
        factors.append(f"/{step}e0")
    return f"({numerator}e0{''.join(factors)})"


def _n_decimals(value: float) -> int:
    """Return the number of digits after the decimal point; 99 for a number with an exponent."""
    text = repr(float(value))
    return 99 if "e" in text else len(text.partition(".")[2])


def string(value: str) -> str:
    """Return a string literal."""
    return _quote(value, "'")


def identifier(name: str) -> str:
    """Return the quoted name of a table or column."""
    return _quote(name, '"')


def _quote(text: str, mark: str) -> str:
    if "\0" in text:
        raise ValueError(
            f"model: {text!r} contains a NUL character, which SQL does not allow; rename it."
        )
    return mark + text.replace(mark, mark * 2) + mark


def as_double(column: str) -> str:
    """Return a column in double precision, NULL for text that is not a number.

    SQLite, whose columns hold values of any type, would read such text as 0; DuckDB would stop
    with an error.
    """
    cast, text = f"CAST({column} AS DOUBLE PRECISION)", f"TRIM(CAST({column} AS VARCHAR))"
    invalid = [f"TRIM({text}, '0123456789.eE+-') <> ''"]
    invalid += [f"{text} GLOB '{pattern}'" for pattern in _NOT_NUMBERS]
    invalid += ["NOT (" + " OR ".join(f"{text} GLOB '{start}'" for start in _STARTS) + ")"]
    return (
        f"CASE WHEN TYPEOF({column}) NOT IN ('blob', 'text', 'VARCHAR') THEN {cast} "
        f"WHEN {' OR '.join(invalid)} THEN NULL ELSE {cast} END"
    )


def label(value: Any) -> str:
    """Return the literal of a class label: a string, a boolean or a number."""
    if isinstance(value, str):
        return string(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return str(value) if isinstance(value, int) else number(value)


def add(terms: Sequence[str]) -> str:
    """Return the sum of terms, nested as little as possible."""
    if len(terms) < 2:
        return terms[0] if terms else "0e0"
    half = len(terms) // 2
    return f"({add(terms[:half])} + {add(terms[half:])})"


def search(column: str, cuts: Sequence[str], results: Sequence[str]) -> str:
    """Return ``results[k]`` for the number k of cuts up to the column, by binary search.

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
