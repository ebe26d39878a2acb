"""``everystump predict``: what a model says of new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from everystump.cli.common import (
    DATA,
    DELIMITER,
    ENCODING,
    FORCE,
    MODEL,
    check_out,
    features_of,
    load_model,
    out_option,
    read_data,
    refusing,
)

EXAMPLES = """\b
Examples:
  everystump predict credit.stump new.csv -o said.csv
  everystump predict credit.stump new.csv --keep id | head
"""


@click.command(epilog=EXAMPLES)
@MODEL
@DATA
@out_option("The CSV to write.  [default: standard output]", required=False)
@click.option("--keep", multiple=True, metavar="COL", help="Pass a column on; may be repeated.")
@DELIMITER
@ENCODING
@FORCE
def predict(
    model: Path,
    data: Path,
    out: Path | None,
    keep: tuple[str, ...],
    delimiter: str | None,
    encoding: str,
    force: bool,
) -> None:
    """Write the predicted class, the score and, if the model has them, probabilities of rows."""
    with refusing():
        if out is not None:
            check_out(out, force, model, data)
        from everystump.files import write_text
        from everystump.study.saying import predictions

        fitted = load_model(model)
        frame = read_data(data, delimiter, encoding)
        said: Any = predictions(fitted, features_of(fitted, frame), frame, keep)
        text = said.to_csv(index=False)
        if out is not None:
            write_text(out, text)
    click.echo(text, nl=False) if out is None else click.echo(
        f"{len(said):,} rows: {out}", err=True
    )
