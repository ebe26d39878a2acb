"""Numbers as people write them: ``$12,345``, ``35.8%``, ``1.234,5``, ``(17)``, ``12:30``."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np

LARGEST_EXACT = 2**53  # beyond it, not every integer is a float
_DIGITS = len(str(LARGEST_EXACT))
_CURRENCIES = "$\u00a2-\u00a5\u0e3f\u20a0-\u20cf"
_SPACES = " \u00a0\u2009\u202f"
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_CODE = re.compile(r"[+-]?0\d+", re.ASCII)
_CLOCK = re.compile(
    r"(\d{1,3}):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?(?:\s?([AaPp])\.?[Mm]\.?)?", re.ASCII
)


@cache
def _pattern(decimal: str) -> re.Pattern:
    """Return the pattern of a number with a decimal separator.

    Thousands may be separated by the other of point and comma, an apostrophe or a space, but not
    by different ones in the same number.
    """
    other = "," if decimal == "." else "."
    return re.compile(
        rf"(?P<open>\()?(?P<minus>[-+\u2212]?)[{_SPACES}]?(?P<before>[{_CURRENCIES}]?)[{_SPACES}]?"
        rf"(?P<late>[-\u2212]?)"
        rf"(?P<whole>[1-9]\d{{0,2}}(?P<by>[{_SPACES}'\u2019{re.escape(other)}])\d{{3}}"
        rf"(?:(?P=by)\d{{3}})*|\d+|(?={re.escape(decimal)}\d))"
        rf"(?P<part>{re.escape(decimal)}\d*)?(?P<power>[eE][-+]?\d{{1,3}})?"
        rf"[{_SPACES}]?(?P<after>[%{_CURRENCIES}]?)(?P<close>\))?",
        re.ASCII,
    )


def as_number(text: str) -> float | str:
    """Return a text as a float, or unchanged if it is not one."""
    try:
        return float(text)
    except ValueError:
        return text


def read_number(cell: str, decimal: str) -> tuple[float, str] | None:
    """Return a cell as a number, and its currency or percent sign; None if it is not a number.

    Examples
    --------
    >>> read_number("$12,345", "."), read_number("35.8 %", "."), read_number("1.234,5 €", ",")
    ((12345.0, '$'), (35.8, '%'), (1234.5, '€'))
    >>> read_number("(1,000)", "."), read_number("1,5", "."), read_number("0,125", ".")
    ((-1000.0, ''), None, None)
    """
    found = _pattern(decimal).fullmatch(cell)
    if found is None:
        return None
    opened, minus, before, late, whole, by, part, power, after, closed = found.groups()
    n_minuses = (opened is not None) + (minus not in ("", "+")) + (late != "")
    if (opened is None) != (closed is None) or (before and after) or n_minuses > 1:
        return None
    if by is not None:
        whole = whole.replace(by, "")
    if part is not None:
        whole += "." + part[1:]
    value = float(whole + (power or ""))
    return ((-value if n_minuses else value), before or after) if value < math.inf else None


def read_numbers(
    cells: Sequence[str], decimal: str, sign: str | None = None
) -> tuple[np.ndarray, str]:
    """Return cells as numbers, NaN where a cell is not one, and their currency or percent sign.

    A column has one sign: if ``sign`` is not given, it is the most frequent one, and cells with
    another sign are not numbers.
    """
    read = [read_number(cell.strip(), decimal) for cell in cells]
    if sign is None:
        counts = Counter(pair[1] for pair in read if pair is not None and pair[1])
        sign = counts.most_common(1)[0][0] if counts else ""
    values = [np.nan if pair is None or pair[1] not in ("", sign) else pair[0] for pair in read]
    return np.array(values, dtype=np.float64), sign


def read_clock(cell: str) -> float | None:
    """Return a time of day, or a duration, in hours; None if a cell is neither.

    Examples
    --------
    >>> read_clock("12:30"), read_clock("1:15:36 pm"), read_clock("12:00 AM"), read_clock("1:75")
    (12.5, 13.26, 0.0, None)
    """
    found = _CLOCK.fullmatch(cell.strip())
    if found is None:
        return None
    hours, half = int(found[1]), (found[4] or "").lower()
    if half:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + (12 if half == "p" else 0)
    return hours + int(found[2]) / 60 + float(found[3] or 0) / 3600


def is_code(cell: str) -> bool:
    """Whether a cell is an integer with a leading zero, as in codes such as zip codes.

    Examples
    --------
    >>> is_code("007"), is_code("-05"), is_code("0"), is_code("0.5")
    (True, True, False, False)
    """
    return _CODE.fullmatch(cell.strip()) is not None


def is_integer(cell: str) -> bool:
    """Whether a cell is an integer without separators.

    Examples
    --------
    >>> is_integer("-7"), is_integer("007"), is_integer("7.0")
    (True, True, False)
    """
    return _INTEGER.fullmatch(cell.strip()) is not None


def exceed_float_precision(cells: Sequence[str]) -> bool:
    """Whether most cells are integers, some of them too large to be distinct as floats.

    Examples
    --------
    >>> exceed_float_precision(["9007199254740993", "7"]), exceed_float_precision(["1e30", "7"])
    (True, False)
    """
    if not any(len(cell) >= _DIGITS for cell in cells):
        return False
    integers = [int(cell) for cell in cells if _INTEGER.fullmatch(cell)]
    return 2 * len(integers) > len(cells) and max(map(abs, integers)) > LARGEST_EXACT
