"""``everystump bound``: what theory says of a model's error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from everystump._text import format_percents, pluralize
from everystump._workflow.dialect import Dialect
from everystump.cli.common import AS_JSON, DATA, MODEL, load_model, read_data, text_options
from everystump.cli.console import exit_on_input_error, say, wrapped
from everystump.cli.figures import metrics_text
from everystump.cli.progress import print_notes

EXAMPLES = """\b
Examples:
  everystump bound credit.stump fresh.csv   # labelled rows, not trained on
  everystump bound credit.stump credit.csv  # the held-out rows of its table
"""


@click.command(epilog=EXAMPLES, short_help="Bound the error by fresh rows.")
@MODEL
@DATA
@text_options
@AS_JSON
def bound(model: Path, data: Path, dialect: Dialect, as_json: bool) -> None:
    """Bound the error of a model by labelled rows that had no part in its training.

    Of the table that it was made from, those that were held out are taken.
    """
    with exit_on_input_error():
        from everystump._workflow import InvalidInputError
        from everystump._workflow.evidence import evaluate_bounds
        from everystump._workflow.matching import match_labeled_rows
        from everystump._workflow.measuring import model_metrics

        fitted = load_model(model)
        frame, notes = read_data(data, dialect, fitted)
        trial = match_labeled_rows(fitted, frame)
        if trial.y is None:
            target = getattr(fitted, "about_", {}).get("target")
            raise InvalidInputError(
                f"The data lack the labels, column {target!r}; a bound needs them."
            )
        figures = model_metrics(fitted, trial.X, trial.y, fresh=trial.fresh and not trial.doubt)
        error = figures["n_wrong"] / figures["n_rows"]
        found = evaluate_bounds(fitted, trial.X, trial.y, fresh=trial.fresh)
    print_notes(notes, trial.doubt)
    rows = pluralize(len(trial.y), f"{trial.kind} row".strip())
    parts = [
        f"Error on {rows}: {format_percents(error)[0]}.",
        metrics_text(figures),
        *map(_line, found),
    ]
    record = {"error": error, "rows": len(trial.y), "kind": trial.kind or "given"}
    record |= {"violations": [trial.doubt] if trial.doubt else []}
    record |= {"figures": figures, "bounds": found}
    say(record, "\n\n".join(parts), as_json)


def _line(bound: dict[str, Any]) -> str:
    """Return what a bound says, and what it assumes."""
    value = format_percents(bound["value"])[0] + (" (vacuous)" if bound["vacuous"] else "")
    name, what, reference = (bound[key] for key in ("name", "bounded", "reference"))
    says = f"{name}: {what} is at most {value}"
    if not bound["holds"]:
        says = f"{name}, an estimate as assumptions are violated: {what} would be at most {value}"
    lines = [wrapped(f"{says}. {reference}")]
    more = [f"violated: {text}" for text in bound["violations"]]
    more += [f"assumes {text}" for text in bound["assumptions"]]
    return "\n".join(lines + [f"    {wrapped(text, 4)}" for text in more])
