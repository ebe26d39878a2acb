"""Ratios and tables of studies, as text and as JSON."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from benchmarks.settings import N_JOBS, Settings
from benchmarks.targets import NoTarget, Target

HEADER = ("task", "ours", "peer", "against", "ratio", "target", "reached", "quality")
_PACKAGES = ("everystump", "numpy", "numba", "scikit-learn", "lightgbm", "xgboost")


@dataclass(frozen=True)
class Row:
    """One ratio.

    Attributes
    ----------
    work : str
        The task that was measured.
    ours, peer : float
        Time or memory, in ``unit``.
    against : str
        The peer.
    target : Target
        The target.
    quality_ok : bool
        Whether the quality of the result is sufficient.
    quality : str
        Objective, test error or AUC, ours first.
    """

    work: str
    ours: float
    peer: float
    against: str
    target: Target = field(default_factory=NoTarget)
    unit: str = "s"
    quality_ok: bool = True
    quality: str = ""

    @property
    def reached(self) -> str:
        """Whether the target is met, and if not, why."""
        if isinstance(self.target, NoTarget):
            return "-"
        missed = [] if self.target.met(self.ours, self.peer) else [_MEASURED[self.unit]]
        missed += [] if self.quality_ok else ["quality"]
        return f"no ({', '.join(missed)})" if missed else "yes"

    def cells(self) -> list[str]:
        """Return the row as text, in the order of ``HEADER``."""
        return [
            self.work,
            f"{self.ours:.3g} {self.unit}",
            f"{self.peer:.3g} {self.unit}",
            self.against,
            self.target.format_ratio(self.ours, self.peer),
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
class Skipped:
    """A row that could not be measured, and the reason."""

    work: str
    status: str
    reason: str

    def cells(self) -> list[str]:
        """Return the row as text, in the order of ``HEADER``."""
        return [self.work, "-", "-", "-", "-", "-", self.status, self.reason]

    def record(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return {"work": self.work, "reached": self.status, "quality": self.reason}


@dataclass(frozen=True)
class StudyTable:
    """The table of a study; ``skipped`` lists the datasets that were not available."""

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
        notes = "".join(f"\n- skipped: {reason}" for reason in self.skipped)
        return f"{self.title}\n\n{format_table(self.header, cells)}\n{notes}"


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an aligned Markdown table.

    Examples
    --------
    >>> print(format_table(["a", "b"], [["1", "one"]]))
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


def environment(settings: Settings) -> dict[str, Any]:
    """Return the platform and versions of the run."""
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
