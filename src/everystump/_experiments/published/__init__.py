"""The tables printed in the papers, one CSV file each."""

from __future__ import annotations

import csv
from importlib.resources import files


def load_published(table: str) -> list[dict[str, str]]:
    """Return the rows of a printed table, each a dict by column; empty where nothing is printed.

    Examples
    --------
    >>> from everystump._experiments.published import load_published
    >>> load_published("lin_li_table1")[0]["svm_stump"]
    '2.86'
    """
    text = (files(__name__) / f"{table}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def parse_number(text: str) -> float | None:
    """Return a printed number, None where the paper has none."""
    return float(text) if text else None
