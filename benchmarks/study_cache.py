"""Results of a study, in a CSV file to which each is added as soon as it is known.

A run that was interrupted resumes with the results of the file, and results of peers need not be
computed again for each version of everystump.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True)
class Result:
    """Results of one method on the test rows of one split, and the processor time of its fit."""

    auc: float
    error: float
    log_loss: float
    fit_seconds: float


# Table, split and method.
Key: TypeAlias = tuple[str, int, str]
_HEADER = ("table", "split", "method", *(field.name for field in fields(Result)))


class StudyCache:
    """Known results by table, split and method; without a file they last as long as the run."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.results: dict[Key, Result] = {}
        if file is not None and file.exists():
            self._read(file)
        elif file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._append(_HEADER)

    def __contains__(self, key: Key) -> bool:
        return key in self.results

    def get(self, key: Key, compute: Callable[[], Result]) -> Result:
        """Return a known result, or compute it and add it to the file."""
        if key not in self.results:
            self.results[key] = compute()
            self._append((*key, *astuple(self.results[key])))
        return self.results[key]

    def _read(self, file: Path) -> None:
        with file.open(newline="") as lines:
            rows = [row for row in csv.reader(lines) if len(row) == len(_HEADER)]
        if not rows or tuple(rows[0]) != _HEADER:
            raise ValueError(f"{file} is not a file of results: pass another name to create one.")
        for table, split, method, *values in rows[1:]:
            self.results[table, int(split), method] = Result(*map(float, values))

    def _append(self, row: tuple) -> None:
        if self.file is not None:
            with self.file.open("a", newline="") as lines:
                csv.writer(lines).writerow(row)
