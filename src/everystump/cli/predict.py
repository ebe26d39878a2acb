"""``everystump predict``: the predicted classes of new rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from everystump._workflow.dialect import Dialect
from everystump.cli.common import (
    AS_JSON,
    DATA,
    FORCE,
    MODEL,
    check_out,
    load_model,
    out_option,
    parse_data,
    text_options,
)
from everystump.cli.console import echo, exit_on_input_error, say
from everystump.cli.progress import print_notes

EXAMPLES = """\b
Examples:
  everystump predict credit.stump new.csv -o predictions.csv
  everystump predict credit.stump new.csv --keep id | head
"""


@click.command(epilog=EXAMPLES, short_help="Predict the class of new rows.")
@MODEL
@DATA
@out_option("The CSV to write.  [default: standard output]", required=False)
@click.option("--keep", multiple=True, metavar="COL", help="Pass a column on; may be repeated.")
@text_options
@FORCE
@AS_JSON
def predict(
    model: Path,
    data: Path,
    out: Path | None,
    keep: tuple[str, ...],
    dialect: Dialect,
    force: bool,
    as_json: bool,
) -> None:
    """Write the predicted class, the score and, if the model has them, probabilities of rows."""
    with exit_on_input_error():
        if out is not None:
            check_out(out, force, model, data)
        from everystump._files import write_text
        from everystump._workflow.contents import read_decompressed
        from everystump._workflow.guesses import check_columns
        from everystump._workflow.matching import match_features, unknown_levels
        from everystump._workflow.predictions import predictions

        fitted = load_model(model)
        content = read_decompressed(data)  # once, for it may be a pipe
        frame, notes = parse_data(data, content, dialect, fitted)
        check_columns(frame.columns, keep)
        kept = frame[[]]
        if keep:  # as they are written
            written = replace(dialect, missing=("",))
            kept = parse_data(data, content, written, fitted, text=keep)[0][
                list(dict.fromkeys(keep))
            ]
        X = match_features(fitted, frame)
        predicted = predictions(fitted, X, kept)
        notes += unknown_levels(fitted, X)
        if out is not None:
            write_text(out, predicted.to_csv(index=False))
    print_notes(notes)
    if out is not None:
        say({"out": str(out), "rows": len(predicted)}, f"{len(predicted):,} rows: {out}", as_json)
    elif as_json:
        say({"rows": predicted.to_dict("records")}, "", as_json)
    else:
        echo(predicted.to_csv(index=False).removesuffix("\n"))
