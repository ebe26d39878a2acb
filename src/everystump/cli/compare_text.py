"""The comparison of two models in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from everystump._text import format_percents, format_quantities, pluralize
from everystump.cli.console import table, wrap

_MAX_ROWS = 5
_MAX_VALUE = 60  # characters


def comparison_text(summary: Mapping[str, Any], *, with_details: bool = True) -> str:
    """Return the metrics of two models side by side; with details, also settings and rows."""
    parts = [f"On {summary['measured_on']}:", figures_table(summary)]
    if summary["verdict"]:
        parts.append(wrap(summary["verdict"]))
    agreement = summary["comparison"].get("agreement")
    if agreement:
        parts.append(wrap(_agreement(summary, agreement)))
    if with_details:
        parts += [_settings(summary), _rows(summary)]
    return "\n\n".join(filter(None, parts))


def figures_table(summary: Mapping[str, Any]) -> str:
    """Return the metrics of both models, the differences and their tests."""
    rows, names = summary["metrics"], summary["names"]
    titles = ["", *names, "difference"]
    cells = [[row["name"], *row["values"], row["difference"]] for row in rows]
    if any(row["p"] for row in rows):
        titles += ["95% interval", "p", ""]
        for line, row in zip(cells, rows, strict=True):
            line += [row["interval"], row["p"], row["test"]]
    return table(titles, cells, right=range(1, min(len(titles), 6)))


def _agreement(summary: Mapping[str, Any], agreement: Mapping[str, Any]) -> str:
    first, second = summary["names"]
    n_rows = summary["comparison"]["n_rows"]
    n_other = n_rows - agreement["same"]
    return (
        f"Different predictions for {pluralize(n_other, 'row')} "
        f"({format_percents(n_other / n_rows)[0]}); only {first} is right on "
        f"{agreement['first']:,}, only {second} on {agreement['second']:,}, both on "
        f"{agreement['both']:,}, neither on {agreement['neither']:,}."
    )


def _settings(summary: Mapping[str, Any]) -> str:
    """Return the settings that differ."""
    different = summary["settings"]["different"]
    if not different:
        return "The models have the same settings."
    rows = [[record["name"], *map(_short, record["values"])] for record in different]
    return table(["what differs", *summary["names"]], rows)


def _rows(summary: Mapping[str, Any]) -> str:
    """Return the rows with the largest differences."""
    rows = summary["rows"][:_MAX_ROWS]
    if not rows:
        return ""
    labels = summary["labels"]
    lines = [[str(row["name"]), *_outcome(row, labels)] for row in rows]
    right = () if labels else range(1, 4)
    return table(["largest differences: row", "actual", *summary["names"]], lines, right=right)


def _outcome(row: Mapping[str, Any], labels: Sequence[str]) -> list[str]:
    """Return the actual value of a row and both predictions, with probabilities if known."""
    values = [row["actual"], *row["predicted"]]
    if not labels:
        return format_quantities(*values)
    actual, *predicted = (labels[value] for value in values)
    if "probability" not in row:
        return [actual, *predicted]
    percents = [format_percents(p)[0] for p in row["probability"]]
    return [actual, *(f"{text} ({p})" for text, p in zip(predicted, percents, strict=True))]


def _short(text: str) -> str:
    return text if len(text) <= _MAX_VALUE else f"{text[: _MAX_VALUE - 1]}…"
