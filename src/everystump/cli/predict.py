"""``everystump predict``: predictions for new rows."""

from __future__ import annotations

from pathlib import Path

import click

from everystump._workflow.options import Dialect
from everystump.cli.common import DATA, MODEL, check_out, file_options, load_model, out_option
from everystump.cli.console import echo, exit_on_input_error, print_notes, print_result
from everystump.cli.help import CSV_FORMAT, OTHER, GroupedCommand

EXAMPLES = """\b
Examples:
  everystump predict credit.stump new.csv -o predictions.csv
  everystump predict credit.stump new.csv --keep id | head
  zcat new.csv.gz | everystump predict credit.stump - -o - | gzip > predictions.csv.gz
"""
HEADINGS = {"Output": ("out", "keep"), **CSV_FORMAT, **OTHER}


@click.command(
    cls=GroupedCommand,
    headings=HEADINGS,
    epilog=EXAMPLES,
    short_help="Predict the class or the number of new rows.",
)
@MODEL
@DATA
@out_option("CSV file to write; - is standard output.  [default: -]", required=False)
@click.option("--keep", multiple=True, metavar="COL", help="Copy a column; may be repeated.")
@file_options
def predict(
    model: Path,
    data: Path,
    out: Path | None,
    keep: tuple[str, ...],
    dialect: Dialect,
    force: bool,
    as_json: bool,
) -> None:
    """Predict the class, the score and, if available, the probabilities of rows.

    For a regression, predict the number and, if available, the limits of its prediction interval.

    DATA is a CSV or Parquet file, or a folder or a quoted pattern of such files; - is standard
    input.  Rows are read, predicted and written in chunks.
    """
    with exit_on_input_error():
        out = None if str(out) == "-" else out
        check_out(out, force, model, data)
        from everystump._workflow.predictions import (
            csv_texts,
            join_tables,
            predict_files,
            write_tables,
        )

        notes: list[str] = []
        tables = predict_files(load_model(model), data, dialect, keep, notes)
        if out is not None:
            n_rows = write_tables(tables, out)
        elif as_json:
            predicted = join_tables(tables)
        else:
            for text in csv_texts(tables):
                echo(text)
    print_notes(*notes)
    if out is not None:
        text = f"Wrote {n_rows:,} rows to {out}"
        print_result({"out": str(out), "rows": n_rows}, text, as_json)
    elif as_json:
        print_result({"rows": predicted.to_dict("records")}, "", as_json)
