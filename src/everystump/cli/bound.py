"""``everystump bound``: bounds on the error of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from everystump._text import format_percents, pluralize
from everystump._workflow.options import Dialect
from everystump.cli.common import AS_JSON, DATA, MODEL, load_model, text_options
from everystump.cli.console import (
    exit_on_input_error,
    metrics_text,
    print_notes,
    print_result,
    wrap,
)
from everystump.cli.help import CSV_FORMAT, OTHER, GroupedCommand

EXAMPLES = """\b
Examples:
  everystump bound credit.stump new.csv     # labeled rows, not used for training
  everystump bound credit.stump credit.csv  # the held-out rows of this table
"""
HEADINGS = {**CSV_FORMAT, **OTHER}


@click.command(
    cls=GroupedCommand,
    headings=HEADINGS,
    epilog=EXAMPLES,
    short_help="Bound the error on new rows.",
)
@MODEL
@DATA
@text_options
@AS_JSON
def bound(model: Path, data: Path, dialect: Dialect, as_json: bool) -> None:
    """Bound the error of a model, given labeled rows that were not used for training.

    For a regression, bound the fraction of new rows outside their prediction interval.

    If DATA is the table that the model was fitted to, its held-out rows are used.
    """
    with exit_on_input_error():
        from everystump._text import InvalidInputError
        from everystump._workflow.matching import read_labeled_rows

        fitted = load_model(model)
        rows, notes = read_labeled_rows(data, dialect, fitted)
        if rows.target is None:
            target = getattr(fitted, "about_", {}).get("target")
            raise InvalidInputError(
                f"A bound needs labels, but the data have none in column {target!r}; add them."
            )
        metrics = rows.target.metrics(fitted, rows.X, unseen=rows.is_unseen)
        n_rows = pluralize(len(rows.target), f"{rows.kind} row".strip())
        observed, sentence = rows.target.summary(fitted, rows.X, metrics, n_rows)
        bounds = rows.target.bounds(
            fitted, rows.X, unseen=not rows.is_training, held_out=rows.is_held_out
        )
    print_notes(*notes, rows.leakage_warning)
    parts = [wrap(sentence), metrics_text(metrics)]
    record = observed | {"rows": len(rows.target), "kind": rows.kind or "given"}
    record |= {"violations": [rows.leakage_warning] if rows.leakage_warning else []}
    record |= {"figures": metrics, "bounds": bounds}
    print_result(record, "\n\n".join([*parts, *map(_bound_text, bounds)]), as_json)


def _bound_text(bound: dict[str, Any]) -> str:
    """Return the value of a bound, its reference and its assumptions."""
    value = format_percents(bound["value"])[0] + (" (vacuous)" if bound["vacuous"] else "")
    name, what, reference = (bound[key] for key in ("name", "bounded", "reference"))
    sentence = f"{name}: {what} is at most {value}"
    if not bound["holds"]:
        status = "assumptions violated: an estimate, not a bound"
        sentence = f"{name} ({status}): {what} would be at most {value}"
    more = [f"violated: {text}" for text in bound["violations"]]
    more += [f"assumes {text}" for text in bound["assumptions"]]
    return "\n".join([wrap(f"{sentence}. {reference}"), *(f"    {wrap(text, 4)}" for text in more)])
