"""The numbers that the papers print, from CSV files beside this one."""

from __future__ import annotations

import csv
from importlib.resources import files

_FOLDER = files("everystump._experiments") / "papers"


def published(table: str) -> list[dict[str, str]]:
    """Return the rows of a printed table, each a dict by column; an empty text is no number.

    Examples
    --------
    >>> from everystump._experiments.published import published
    >>> published("lin_li_table1")[0]["svm_stump"]
    '2.86'
    """
    text = (_FOLDER / f"{table}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def number(text: str) -> float | None:
    """Return a printed number, None where the paper has none."""
    return float(text) if text else None
