"""``everystump report``: an interactive page."""

from __future__ import annotations

from pathlib import Path

import click

from everystump._workflow.dialect import Dialect
from everystump.cli.common import (
    AS_JSON,
    FORCE,
    MODEL,
    check_curves,
    check_out,
    load_model,
    out_option,
    read_data,
    text_options,
)
from everystump.cli.console import exit_on_input_error, say, wrapped
from everystump.cli.figures import metrics_text
from everystump.cli.progress import print_notes

_LARGE = 3.0  # megabytes
EXAMPLES = """\b
Examples:
  everystump report credit.stump -o credit.html
  everystump report credit.stump fresh.csv -o credit.html
"""


@click.command(epilog=EXAMPLES, short_help="Write an interactive HTML page.")
@MODEL
@click.argument("data", metavar="[DATA]", required=False, type=click.Path(path_type=Path))
@out_option("The page to write.")
@text_options
@FORCE
@AS_JSON
def report(
    model: Path, data: Path | None, out: Path, dialect: Dialect, force: bool, as_json: bool
) -> None:
    """Write a model as one page of HTML that opens offline.

    DATA are labelled rows to judge the model by: of the table that it was trained on, those that
    were held out are taken.
    """
    with exit_on_input_error():
        check_out(out, force, model, data)
        from everystump._workflow.matching import Trial, match_labeled_rows
        from everystump._workflow.measuring import model_metrics
        from everystump.report import write_report
        from everystump.report.words import select_metrics

        fitted = load_model(model)
        check_curves(fitted)
        trial, notes = Trial(None, None), list[str]()
        if data is not None:
            frame, notes = read_data(data, dialect, fitted)
            trial = match_labeled_rows(fitted, frame)
        about = {"rows": trial.kind, "doubt": trial.doubt}
        write_report(fitted, out, trial.X, trial.y, about=about)
        figures = None
        if trial.y is not None:
            fresh = trial.fresh and not trial.doubt
            figures = model_metrics(fitted, trial.X, trial.y, fresh=fresh)
        # The same table as on the page.
        shown, title = select_metrics({**getattr(fitted, "about_", {}), **about}, figures)
        size = out.stat().st_size / 1e6
        if size > _LARGE:
            notes.append(f"the page has {size:.0f} MB, for the model has many features or classes.")
    print_notes(notes, trial.doubt)
    n_rows = 0 if trial.X is None else len(trial.X)
    text = f"Page: {out}"
    if shown is not None:
        text = f"{wrapped(title)}:\n\n{metrics_text(shown)}\n\n{text}"
    record = {"out": str(out), "rows": n_rows, "measured": title or None, "figures": shown}
    say(record, text, as_json)
