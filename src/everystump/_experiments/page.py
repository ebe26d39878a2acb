"""Write what experiments found: a CSV and a Markdown file each, pictures, and one page of all."""

from __future__ import annotations

import csv
import io
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from everystump._experiments.experiment import Cell, Claim, Experiment, Picture, Report
from everystump._experiments.statistics import (
    FEWEST_RUNS,
    VERDICTS,
    count_verdicts,
    standard_errors,
    verdict,
)
from everystump._files import write_atomic, write_text

MARKS = {"agrees": "=", "better": "better", "explained": "explained", "differs": "**differs**"}
LEGEND = (
    "Each cell: the paper's number, → ours, in brackets the difference in combined standard "
    "errors; `=` agrees with the paper."
)
LIBRARIES = ("everystump", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class Finished:
    """An experiment that was run, its report, and what it took."""

    experiment: Experiment
    report: Report
    runs: int
    seed: int
    seconds: float
    missing: dict[str, str]

    @property
    def tested(self) -> bool:
        """Whether there were runs enough to test a claim."""
        return self.runs >= min(FEWEST_RUNS, self.experiment.runs)


def write_experiment(finished: Finished, out: Path) -> list[Path]:
    """Write ``NAME.csv``, ``NAME.md`` and the pictures into a folder; return the files."""
    name, report = finished.experiment.name, finished.report
    written = []
    for picture in report.pictures:
        path = out / picture_file(name, picture)
        write_atomic(path, partial(picture.draw().savefig, dpi=110, format="png"))
        written.append(path)
    table = [_csv_row(cell) for cell in report.cells] or list(report.curves)
    if table:
        written.append(out / f"{name}.csv")
        write_text(written[-1], _as_csv(table))
    written.append(out / f"{name}.md")
    write_text(written[-1], whole_report(finished))
    return written


def write_index(
    all_finished: Sequence[Finished], skipped: dict[str, str], out: Path, command: str
) -> Path:
    """Write one page with the overview and every report, made by a command; return its path."""
    lines = [
        "# Results",
        "",
        f"Made by `{command}`, seed {all_finished[0].seed}, with "
        + ", ".join(f"{library} {version(library)}" for library in LIBRARIES)
        + f" and Python {platform.python_version()}.",
        "",
        "A number *agrees* with the paper's if it is within 3 combined standard errors of it, or "
        "within what the experiment says; *better* is beyond that to the good side; *explained* "
        "is a difference whose reason was tested; a claim *holds* if our own numbers bear it out.",
        "",
        f"| experiment | runs | {' | '.join(VERDICTS)} | claims that hold | work of one core |",
        "|---" * (len(VERDICTS) + 4) + "|",
        *(_overview(finished) for finished in all_finished),
        "",
        *(f"Not run: `{name}`. {reason}\n" for name, reason in skipped.items()),
        *(_section(finished) for finished in all_finished),
    ]
    write_text(out / "README.md", "\n".join(lines))
    return out / "README.md"


def _overview(finished: Finished) -> str:
    name = finished.experiment.name
    counts = count_verdicts(finished.report.cells).values()
    entries = [
        f"[{name}]({name}.md)",
        str(finished.runs),
        *(str(count or "") for count in counts),
        _held(finished),
        f"{finished.seconds / 60:.1f} min",
    ]
    return f"| {' | '.join(entries)} |"


def whole_report(finished: Finished) -> str:
    """Return a page of its own for an experiment, with the protocol."""
    experiment = finished.experiment
    command = f"everystump reproduce {experiment.name}"
    return (
        f"# {experiment.title}\n\n`{command} --runs {finished.runs} --seed {finished.seed}`\n\n"
        f"{experiment.protocol.strip()}\n\n{findings(finished)}"
    )


def _section(finished: Finished) -> str:
    """Return an experiment's part of the page of all."""
    name = finished.experiment.name
    return (
        f"## {finished.experiment.title}\n\n[How it is done, and what the paper leaves open]"
        f"({name}.md). {finished.runs} runs.\n\n{findings(finished)}"
    )


def findings(finished: Finished) -> str:
    """Return tables, pictures, claims and notes as Markdown."""
    experiment, report = finished.experiment, finished.report
    lines: list[str] = []
    if report.cells:
        lines += [*_as_table(report.cells), "", f"{LEGEND} In all: {verdicts(report.cells)}", ""]
        lines += _reasons(report.cells)
    for picture in report.pictures:
        lines += [f"![{picture.caption}]({picture_file(experiment.name, picture)})", ""]
    lines += [_claim_line(claim, tested=finished.tested) for claim in report.claims]
    lines += ["", *(f"{note}\n" for note in report.notes)]
    lines += [
        f"Data are missing. {reason}\n" for reason in dict.fromkeys(finished.missing.values())
    ]
    return "\n".join(lines).rstrip() + "\n"


def verdicts(cells: Sequence[Cell]) -> str:
    """Return the verdicts' counts in words."""
    counts = {name: count for name, count in count_verdicts(cells).items() if count}
    return ", ".join(f"{name}: {count}" for name, count in counts.items()) + "."


def summary(finished: Finished) -> str:
    """Return in a line how the cells and claims of a report came out."""
    report = finished.report
    parts = [f"Cells: {verdicts(report.cells)}"] if report.cells else []
    if report.claims:
        parts.append(f"Claims that hold: {_held(finished)}.")
    return " ".join(parts) or "Drawn."


def _held(finished: Finished) -> str:
    claims = finished.report.claims
    if not claims:
        return ""
    if not finished.tested:
        return "too few runs to test"
    return f"{sum(claim.holds for claim in claims)} of {len(claims)}"


def picture_file(name: str, picture: Picture) -> str:
    """Return the file name of a picture."""
    return f"{name}{picture.suffix}.png"


def _claim_line(claim: Claim, *, tested: bool) -> str:
    outcome = ("Holds" if claim.holds else "Not shown") if tested else "Too few runs to test"
    return f"- Claim: {claim.text} **{outcome}**: {claim.evidence}"


def _reasons(cells: Sequence[Cell]) -> list[str]:
    """Return why numbers differ or are absent, one line for each reason."""
    places: dict[str, list[str]] = {}
    for cell in cells:
        if cell.reason and verdict(cell) in {"explained", "differs", "no data"}:
            places.setdefault(cell.reason, []).append(f"{cell.row} {cell.column}")
    return [f"- {'; '.join(where)}: {reason}" for reason, where in places.items()] + [""]


def _as_table(cells: Sequence[Cell]) -> list[str]:
    """Lay cells out as the paper does: its rows and columns."""
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    at = {(cell.row, cell.column): cell for cell in cells}
    lines = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for row in rows:
        entries = [_entry(at[row, column]) if (row, column) in at else "" for column in columns]
        lines.append(f"| {row} | {' | '.join(entries)} |")
    return lines


def _entry(cell: Cell) -> str:
    paper = "–" if cell.paper is None else _with_error(cell.paper, cell.paper_error)
    if cell.ours is None:
        return f"{paper} → no data"
    entry = f"{paper} → {_with_error(cell.ours, cell.ours_error)}"
    distance = standard_errors(cell)
    if distance is not None:
        entry += f" ({distance:+.1f})"
    return f"{entry} {MARKS.get(verdict(cell), '')}".rstrip()


def _with_error(value: float, error: float | None) -> str:
    text = f"{value:.3g}" if abs(value) >= 1000 else f"{value:.2f}"
    return text if error is None else f"{text} ± {error:.2f}"


def _csv_row(cell: Cell) -> dict[str, Any]:
    return {
        "row": cell.row,
        "column": cell.column,
        "paper": cell.paper,
        "paper_standard_error": cell.paper_error,
        "ours": cell.ours,
        "ours_standard_error": cell.ours_error,
        "difference_in_standard_errors": standard_errors(cell),
        "verdict": verdict(cell),
        "reason": cell.reason,
    }


def _rounded(value: Any) -> Any:
    return f"{value:.10g}" if isinstance(value, float) else value


def _as_csv(rows: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _rounded(value) for name, value in row.items()} for row in rows)
    return text.getvalue()
