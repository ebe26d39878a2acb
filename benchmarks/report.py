"""Rows of ratios and tables of studies, as text and as JSON."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from benchmarks.settings import N_JOBS, Settings
from benchmarks.targets import Target, Told

HEADER = ("work", "ours", "peer", "against", "ratio", "target", "reached", "quality")
_PACKAGES = ("everystump", "numpy", "numba", "scikit-learn", "lightgbm", "xgboost")


@dataclass(frozen=True)
class Row:
    """One ratio.

    Attributes
    ----------
    work : str
        What was done.
    ours, peer : float
        What it took, in ``unit``; less is better.
    against : str
        Who or what the peer is.
    target : Target
        What to reach.
    good : bool
        Whether the result is as good as it has to be.
    quality : str
        How good it is: objective, test error, AUC, ours first.
    """

    work: str
    ours: float
    peer: float
    against: str
    target: Target = field(default_factory=Told)
    unit: str = "s"
    good: bool = True
    quality: str = ""

    @property
    def reached(self) -> str:
        """Whether the target is reached, and if not, what misses it."""
        if isinstance(self.target, Told):
            return "-"
        missed = [] if self.target.met(self.ours, self.peer) else [_MEASURED[self.unit]]
        missed += [] if self.good else ["quality"]
        return f"no ({', '.join(missed)})" if missed else "yes"

    def cells(self) -> list[str]:
        """Return the row as text, in the order of ``HEADER``."""
        return [
            self.work,
            f"{self.ours:.3g} {self.unit}",
            f"{self.peer:.3g} {self.unit}",
            self.against,
            self.target.ratio(self.ours, self.peer),
            str(self.target),
            self.reached,
            self.quality,
        ]

    def record(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return {
            "work": self.work,
            "ours": float(self.ours),
            "peer": float(self.peer),
            "unit": self.unit,
            "against": self.against,
            "ratio": float(self.ours / self.peer),
            "target": str(self.target),
            "reached": self.reached,
            "quality": self.quality,
        }


_MEASURED = {"s": "time", "ms": "time", "MB": "memory", "GB": "memory"}


@dataclass(frozen=True)
class Absent:
    """A row that could not be measured, and why."""

    work: str
    status: str
    why: str

    def cells(self) -> list[str]:
        """Return the row as text, in the order of ``HEADER``."""
        return [self.work, "-", "-", "-", "-", "-", self.status, self.why]

    def record(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return {"work": self.work, "reached": self.status, "quality": self.why}


@dataclass(frozen=True)
class Grid:
    """The table of a study; ``skipped`` says which data were not there."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    skipped: Sequence[str] = ()

    def record(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {
            "title": self.title,
            "rows": [dict(zip(self.header, row, strict=True)) for row in self.rows],
            "skipped": [*self.skipped],
        }

    def text(self) -> str:
        """Return the table as text."""
        cells = [[_cell(value) for value in row] for row in self.rows]
        notes = "".join(f"\n- skipped: {why}" for why in self.skipped)
        return f"{self.title}\n\n{table(self.header, cells)}\n{notes}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an aligned Markdown table.

    Examples
    --------
    >>> print(table(["a", "b"], [["1", "one"]]))
    | a | b   |
    |---|-----|
    | 1 | one |
    """
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in [header, *rows]
    ]
    return "\n".join([lines[0], rule, *lines[1:]])


def machine(settings: Settings) -> dict[str, Any]:
    """Return where and with what the run was made."""
    return {
        "quick": settings.quick,
        "n_jobs": N_JOBS,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": {name: _version(name) for name in (*_PACKAGES, "interpret-core")},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cell(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)
