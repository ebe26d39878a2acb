"""Results of a study, in a CSV file to which each is added as soon as it is known.

A run that was interrupted resumes with the results of the file, and results of peers need not be
computed again for each version of everystump.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import astuple, fields
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

# Table, split and method.
Key: TypeAlias = tuple[str, int, str]
R = TypeVar("R")


class StudyCache(Generic[R]):
    """Known results by table, split and method; without a file they last as long as the run.

    ``result`` is the dataclass of results, whose fields are numbers.
    """

    def __init__(self, file: Path | None, result: type[R]) -> None:
        self.file, self._make = file, result
        self._header = ("table", "split", "method", *(field.name for field in fields(result)))
        self.results: dict[Key, R] = {}
        if file is not None and file.exists():
            self._read(file)
        elif file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._append(self._header)

    def __contains__(self, key: Key) -> bool:
        return key in self.results

    def get(self, key: Key, compute: Callable[[], R]) -> R:
        """Return a known result, or compute it and add it to the file."""
        if key not in self.results:
            self.results[key] = compute()
            self._append((*key, *astuple(self.results[key])))
        return self.results[key]

    def _read(self, file: Path) -> None:
        with file.open(newline="") as lines:
            rows = [row for row in csv.reader(lines) if len(row) == len(self._header)]
        if not rows or tuple(rows[0]) != self._header:
            raise ValueError(f"{file} is not a file of results: pass another name to create one.")
        for table, split, method, *values in rows[1:]:
            self.results[table, int(split), method] = self._make(*map(float, values))

    def _append(self, row: tuple) -> None:
        if self.file is not None:
            with self.file.open("a", newline="") as lines:
                csv.writer(lines).writerow(row)
