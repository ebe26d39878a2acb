"""Read the records of finished tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from everystump._experiments.experiment import Cell, Record
from everystump._experiments.published import number, published
from everystump._experiments.statistics import mean_of, paired

NO_DATA = "the data are not here"


def chosen(records: Sequence[Record], **where: Any) -> list[Record]:
    """Return the records that have the given arguments."""
    return [r for r in records if all(r[name] == value for name, value in where.items())]


def column(records: Sequence[Record], name: str, **where: Any) -> np.ndarray:
    """Return one result of each record that has the given arguments, run by run."""
    return np.array([record[name] for record in chosen(records, **where)])


def datasets_of(records: Sequence[Record]) -> list[str]:
    """Return the names of the data sets in the order of their first record."""
    return list(dict.fromkeys(record["dataset"] for record in records))


class Wins(NamedTuple):
    """On how many data sets a method errs less than another, and more, beyond chance."""

    less: int
    more: int
    of: int


def compare_on_sets(records: Sequence[Record], first: str, second: str) -> Wins:
    """Compare two methods' errors by a paired test on each data set."""
    names = datasets_of(records)
    tests = [
        paired(column(records, first, dataset=name), column(records, second, dataset=name))
        for name in names
    ]
    less, more = sum(t.first_is_less for t in tests), sum(t.first_is_more for t in tests)
    return Wins(less, more, len(names))


def error_cells(records: Sequence[Record], table: str, columns: Mapping[str, str]) -> list[Cell]:
    """Put error rates beside a printed table of errors in percent with standard errors.

    Parameters
    ----------
    records : sequence of Record
        With the error rates under the names of the printed table's columns.
    table : str
        Name of the printed table; the column ``X_se`` has the standard error of ``X``.
    columns : mapping
        Column of the printed table -> its title.
    """
    cells = []
    for printed in published(table):
        name = printed["dataset"]
        for key, title in columns.items():
            paper, paper_error = number(printed[key]), number(printed[f"{key}_se"])
            errors = column(records, key, dataset=name)
            if errors.size == 0:
                cell = Cell(name, title, None, None, paper, paper_error, reason=NO_DATA)
            else:
                ours = mean_of(errors, scale=100)
                cell = Cell(name, title, ours.value, ours.error, paper, paper_error)
            cells.append(cell)
    return cells
