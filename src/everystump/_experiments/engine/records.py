"""Read the records of finished tasks, and compare them with printed tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from everystump._experiments.engine.experiment import Cell, Record
from everystump._experiments.engine.statistics import mean_over_runs, paired_t_test
from everystump._experiments.published import load_published, parse_number

NO_DATA = "the data are not available"


def select(records: Sequence[Record], **arguments: Any) -> list[Record]:
    """Return the records with these arguments."""
    return [r for r in records if all(r[name] == value for name, value in arguments.items())]


def column(records: Sequence[Record], name: str, **arguments: Any) -> np.ndarray:
    """Return one result of each record with these arguments, run by run."""
    return np.array([record[name] for record in select(records, **arguments)])


def dataset_names(records: Sequence[Record]) -> list[str]:
    """Return the names of the datasets, ordered by first record."""
    return list(dict.fromkeys(record["dataset"] for record in records))


class Comparison(NamedTuple):
    """Number of datasets on which a method's error is significantly lower, and higher."""

    lower: int
    higher: int
    n_datasets: int


def compare_per_dataset(records: Sequence[Record], first: str, second: str) -> Comparison:
    """Compare the errors of two methods by a paired test on each dataset."""
    names = dataset_names(records)
    tests = [
        paired_t_test(column(records, first, dataset=name), column(records, second, dataset=name))
        for name in names
    ]
    lower, higher = sum(t.first_is_lower for t in tests), sum(t.first_is_higher for t in tests)
    return Comparison(lower, higher, len(names))


def error_cells(records: Sequence[Record], table: str, columns: Mapping[str, str]) -> list[Cell]:
    """Compare error rates with a printed table of errors in percent with standard errors.

    Parameters
    ----------
    records : sequence of Record
        Error rates under the names of the printed table's columns.
    table : str
        Name of the printed table; its column ``X_se`` is the standard error of ``X``.
    columns : mapping
        Column of the printed table -> its title.
    """
    cells = []
    for printed in load_published(table):
        name = printed["dataset"]
        for key, title in columns.items():
            paper, paper_error = parse_number(printed[key]), parse_number(printed[f"{key}_se"])
            errors = column(records, key, dataset=name)
            if errors.size == 0:
                cell = Cell(name, title, None, None, paper, paper_error, reason=NO_DATA)
            else:
                ours = mean_over_runs(errors, scale=100)
                cell = Cell(name, title, ours.value, ours.error, paper, paper_error)
            cells.append(cell)
    return cells
