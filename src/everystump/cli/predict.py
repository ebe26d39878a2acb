"""``everystump predict``: predictions for new rows."""

from __future__ import annotations

from pathlib import Path

import click

from everystump._workflow.options import Dialect
from everystump.cli.common import DATA, MODEL, check_out, file_options, load_model, out_option
from everystump.cli.console import echo, exit_on_input_error, print_notes, print_result

EXAMPLES = """\b
Examples:
  everystump predict credit.stump new.csv -o predictions.csv
  everystump predict credit.stump new.csv --keep id | head
"""


@click.command(epilog=EXAMPLES, short_help="Predict the class of new rows.")
@MODEL
@DATA
@out_option("CSV file to write.  [default: standard output]", required=False)
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
    """Predict the class, the score and, if available, the probabilities of rows."""
    with exit_on_input_error():
        check_out(out, force, model, data)
        from everystump._files import write_text
        from everystump._workflow.predictions import predict_file

        predicted, notes = predict_file(load_model(model), data, dialect, keep)
        if out is not None:
            write_text(out, predicted.to_csv(index=False))
    print_notes(*notes)
    if out is not None:
        text = f"Wrote {len(predicted):,} rows to {out}"
        print_result({"out": str(out), "rows": len(predicted)}, text, as_json)
    elif as_json:
        print_result({"rows": predicted.to_dict("records")}, "", as_json)
    else:
        echo(predicted.to_csv(index=False).removesuffix("\n"))
