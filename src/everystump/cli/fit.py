"""``everystump fit``: from a table to a model."""

from __future__ import annotations

import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from everystump.cli.common import AS_JSON, DATA, FORCE, check_out, out_option, text_options
from everystump.cli.progress import progress_bar
from everystump.cli.speech import listed, percent, refusing, say
from everystump.study.dialect import Dialect
from everystump.study.families import FAMILIES

EXAMPLES = """\b
Examples:
  everystump fit credit.csv --target default -o credit.stump
  everystump fit credit.csv.gz --target default --model stump-svm --cv 10 -o credit.stump
  everystump fit credit.csv --target default --drop id --categorical zip --C 0.5 -o credit.stump
"""


@click.command(epilog=EXAMPLES, short_help="Train a model on a table, and measure it.")
@DATA
@click.option("--target", required=True, metavar="COL", help="The column to predict.")
@out_option("The model file to write.")
@click.option(
    "--model",
    "family",
    type=click.Choice(list(FAMILIES)),
    default="stump-logistic",
    show_default=True,
    help="The kind of model; the first gives probabilities.",
)
@click.option(
    "--C",
    "cost",
    type=click.FloatRange(min=0, min_open=True),
    help="What a unit of loss costs.  [default: chosen on a path by 5 folds in stump-logistic and "
    "stump-svm, 0.1 in vote, 1 in others]",
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
@click.option("--positive", metavar="LABEL", help="The label that probabilities are of.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Draws the rows to hold out.",
)
@text_options
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
    dialect: Dialect,
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
        from everystump.study.plan import Plan
        from everystump.study.sources import read_file

        frame, told = read_file(data, dialect)
        task = make_task(frame, target, Wishes(drop, use, categorical, positive))
        task.told[:0] = told
        if not as_json:
            click.echo("\n".join(task.told) + "\n")
        asked = Plan(family, cost, holdout, cv, seed)
        live = int(sys.stderr.isatty())
        with progress_bar(f"{cv} folds") if cv else nullcontext() as progress:
            model = fit_model(task, asked, verbose=live, progress=progress)
        model.about_ |= {"data": data.name, "missing": list(dialect.missing)}
        save(model, out)
    about = {**model.about_, "out": str(out)}
    say(about, _text(about, data, out), as_json)


def _text(about: dict[str, Any], data: Path, out: Path) -> str:
    """Return what a person wants to know of a fitted model."""
    error = about["error"]
    limits = f"{percent(error['low'])} to {percent(error['high'])}"
    pairs = [
        ("Model", about["model"]),
        ("Error", f"{percent(error['value'])}, likely {limits} ({error['how']})"),
    ]
    if "path" in about:
        path = about["path"]
        pairs.append(("C", f"{path['chosen']:.3g}, the best of a path of {len(path['C'])}"))
    proof = about.get("certificate")
    if proof:
        text = f"the objective is {proof['primal']:.6g}, and none can be below {proof['dual']:.6g}"
        pairs.append(("Certificate", f"{text} (gap {proof['gap']:.1e})"))
    pairs += [
        ("Bound", f"{bound['bounded']} is at most {percent(bound['value'])} ({bound['name']})")
        for bound in about["bounds"]
        if bound["holds"] and not bound["vacuous"]
    ]
    pairs.append(("Written", str(out)))
    page = shlex.join(["everystump", "report", str(out), str(data), "-o", f"{out.stem}.html"])
    return listed([*pairs, ("Next", page)])
