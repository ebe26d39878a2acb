"""``everystump fit``: from a table to a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from everystump.cli.common import (
    AS_JSON,
    DATA,
    DELIMITER,
    ENCODING,
    FORCE,
    check_out,
    out_option,
    percent,
    read_data,
    refusing,
    say,
)
from everystump.study.families import FAMILIES

EXAMPLES = """\b
Examples:
  everystump fit credit.csv --target default -o credit.stump
  everystump fit credit.csv.gz --target default --model stump-svm --cv 10 -o credit.stump
  everystump fit credit.csv --target default --drop id --categorical zip --C 0.5 -o credit.stump
"""


@click.command(epilog=EXAMPLES)
@DATA
@click.option("--target", required=True, metavar="COL", help="The column to predict.")
@out_option("The model file to write.")
@click.option(
    "--model",
    "family",
    type=click.Choice(list(FAMILIES)),
    default="stump-logistic",
    show_default=True,
    help="The kind of model.",
)
@click.option(
    "--C",
    "cost",
    type=click.FloatRange(min=0, min_open=True),
    help="What a unit of loss costs.  [default: chosen on a path, 5 folds]",
)
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.25,
    show_default=True,
    help="Share of the rows to measure the error on.",
)
@click.option(
    "--cv",
    type=click.IntRange(min=2),
    metavar="FOLDS",
    help="Measure the error by cross-validation instead, and learn from all rows.",
)
@click.option("--drop", multiple=True, metavar="COL", help="Leave a column out; may be repeated.")
@click.option("--use", multiple=True, metavar="COL", help="Use a column that would be left out.")
@click.option(
    "--categorical", multiple=True, metavar="COL", help="Take a column of numbers for a category."
)
@click.option("--positive", metavar="LABEL", help="The label that scores and probabilities are of.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Draws the rows to hold out.",
)
@DELIMITER
@ENCODING
@FORCE
@AS_JSON
def fit(
    data: Path,
    target: str,
    out: Path,
    family: str,
    cost: float | None,
    holdout: float,
    cv: int | None,
    drop: tuple[str, ...],
    use: tuple[str, ...],
    categorical: tuple[str, ...],
    positive: str | None,
    seed: int,
    delimiter: str | None,
    encoding: str,
    force: bool,
    as_json: bool,
) -> None:
    """Train a model on a table, measure its error on rows that it has not seen, and keep it.

    DATA is a CSV (with a line of names) or Parquet file, plain or .gz.  What is guessed of its
    columns is printed, and every guess can be overruled.
    """
    with refusing():
        check_out(out, force, data)
        from everystump.modelfile import save
        from everystump.study.fitting import fit_model
        from everystump.study.guesses import Wishes, make_task

        frame = read_data(data, delimiter, encoding)
        task = make_task(frame, target, Wishes(drop, use, categorical, positive))
        if not as_json:
            click.echo("\n".join(task.told))
        live = int(sys.stderr.isatty())
        model = fit_model(task, family, C=cost, holdout=holdout, cv=cv, seed=seed, verbose=live)
        model.about_["data"] = data.name
        save(model, out)
    say({**model.about_, "out": str(out)}, _lines(model.about_, out), as_json)


def _lines(about: dict[str, Any], out: Path) -> list[str]:
    """Return what a person wants to know of a fitted model."""
    error = about["error"]
    lines = [
        "",
        about["model"],
        f"Error: {percent(error['value'])}, between {percent(error['low'])} and "
        f"{percent(error['high'])} ({error['how']}).",
    ]
    if "path" in about:
        lines.append(f"C = {about['path']['chosen']:.3g}, the best of a path.")
    proof = about.get("certificate")
    if proof:
        lines.append(
            f"Certificate: the objective is {proof['primal']:.6g}, and none can be below "
            f"{proof['dual']:.6g} (gap {proof['gap']:.1e})."
        )
    for bound in about["bounds"]:
        if bound["holds"] and not bound["vacuous"]:
            lines.append(f"Bound on the error: {percent(bound['value'])} ({bound['name']}).")
    return [*lines, f"Model: {out}"]
