"""``everystump report``: a page that one can read and play with."""

from __future__ import annotations

from pathlib import Path

import click

from everystump.cli.common import (
    DELIMITER,
    ENCODING,
    FORCE,
    MODEL,
    check_out,
    features_of,
    labels_of,
    load_model,
    out_option,
    read_data,
    refusing,
)

EXAMPLES = """\b
Examples:
  everystump report credit.stump -o credit.html
  everystump report credit.stump fresh.csv -o credit.html
"""


@click.command(epilog=EXAMPLES)
@MODEL
@click.argument("data", metavar="[DATA]", required=False, type=click.Path(path_type=Path))
@out_option("The page to write.")
@DELIMITER
@ENCODING
@FORCE
def report(
    model: Path, data: Path | None, out: Path, delimiter: str | None, encoding: str, force: bool
) -> None:
    """Write a model as one page of HTML that opens offline.

    DATA are labelled rows to judge the model by: of the table that it was trained on, those that
    were held out are taken.
    """
    with refusing():
        check_out(out, force, model, data)
        from everystump.report import write_report
        from everystump.study.saying import held_out_of

        fitted = load_model(model)
        X = y = None
        if data is not None:
            frame = read_data(data, delimiter, encoding)
            frame, _ = held_out_of(fitted, frame, features_of(fitted, frame))
            X, y = features_of(fitted, frame), labels_of(fitted, frame)
        write_report(fitted, out, X, y, about=getattr(fitted, "about_", None))
    click.echo(f"Page: {out}")
