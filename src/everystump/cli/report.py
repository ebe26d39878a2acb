"""``everystump report``: an interactive HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from everystump._workflow.options import Dialect
from everystump.cli.common import (
    MODEL,
    OPTIONAL_DATA,
    check_out,
    file_options,
    load_curves,
    out_option,
)
from everystump.cli.console import (
    exit_on_input_error,
    metrics_text,
    print_notes,
    print_result,
    wrap,
)
from everystump.cli.help import CSV_FORMAT, OTHER, GroupedCommand

_LARGE = 3.0  # megabytes
EXAMPLES = """\b
Examples:
  everystump report credit.stump -o credit.html
  everystump report credit.stump new.csv -o credit.html
"""
HEADINGS = {"Output": ("out",), **CSV_FORMAT, **OTHER}


@click.command(
    cls=GroupedCommand,
    headings=HEADINGS,
    epilog=EXAMPLES,
    short_help="Write an interactive HTML page.",
)
@MODEL
@OPTIONAL_DATA
@out_option("HTML file to write.")
@file_options
def report(
    model: Path, data: Path | None, out: Path, dialect: Dialect, force: bool, as_json: bool
) -> None:
    """Write a model as a single HTML page that works offline.

    The model is evaluated on the labeled rows of DATA.  If DATA is the table that the model was
    fitted to, its held-out rows are used.
    """
    with exit_on_input_error():
        check_out(out, force, model, data)
        from everystump._workflow.matching import EvaluationRows, read_labeled_rows
        from everystump.report import write_report
        from everystump.report._sentences import select_metrics

        fitted = load_curves(model)
        rows, notes = EvaluationRows(None, None), list[str]()
        if data is not None:
            rows, notes = read_labeled_rows(data, dialect, fitted)
            if rows.target is None:
                notes.append(
                    f"{data} does not have the target, so the model is not evaluated on it."
                )
        about = {"rows": rows.kind, "leakage_warning": rows.leakage_warning}
        write_report(fitted, out, rows.X, rows.y, about=about)
        evaluated = None
        if rows.target is not None:
            evaluated = rows.target.metrics(fitted, rows.X, unseen=rows.is_unseen)
        # The same table as on the page.
        metrics, title = select_metrics({**getattr(fitted, "about_", {}), **about}, evaluated)
        size = out.stat().st_size / 1e6
        if size > _LARGE:
            notes.append(f"The page takes {size:.0f} MB because it has many features or classes.")
    print_notes(*notes, rows.leakage_warning)
    n_rows = 0 if rows.X is None else len(rows.X)
    text = f"Wrote {out}"
    if metrics is not None:
        text = f"{wrap(title)}:\n\n{metrics_text(metrics)}\n\n{text}"
    record = {"out": str(out), "rows": n_rows, "measured": title or None, "figures": metrics}
    print_result(record, text, as_json)
