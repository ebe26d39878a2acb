"""``everystump fit``: from a table to a model."""

from __future__ import annotations

import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from everystump.cli.common import (
    AS_JSON,
    DATA,
    FORCE,
    FiniteRange,
    check_out,
    out_option,
    text_options,
)
from everystump.cli.progress import progress_bar
from everystump.cli.speech import echo, in_a_terminal, in_two_columns, refusing, say
from everystump.files import as_unicode
from everystump.study.dialect import Dialect
from everystump.study.families import FAMILIES
from everystump.wording import percent

HOLDOUT = 0.25
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
    type=FiniteRange(min=0, min_open=True),
    help="What a unit of loss costs.  [default: chosen on a path by 5 folds in stump-logistic and "
    "stump-svm, 0.1 in vote, 1 in others]",
)
@click.option(
    "--holdout",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    help=f"Share of the rows to measure the error on.  [default: {HOLDOUT}]",
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
    type=click.IntRange(0, 2**32 - 1),
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
    holdout: float | None,
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

    DATA is a CSV (with a line of names) or Parquet file, plain or compressed.  What is guessed of
    its columns is printed, and every guess can be overruled.
    """
    with refusing():
        check_out(out, force, data)
        from everystump.modelfile import save
        from everystump.study import RefusedError
        from everystump.study.fitting import fit_model
        from everystump.study.guesses import Wishes, make_task
        from everystump.study.plan import Plan
        from everystump.study.sources import read_file

        if cv is not None and holdout is not None:
            raise RefusedError("--cv and --holdout are two ways to measure; pass one of them.")
        plan = Plan(family, cost, HOLDOUT if holdout is None else holdout, cv, seed)
        frame, told = read_file(data, dialect, text=[target])
        task = make_task(frame, target, Wishes(drop, use, categorical, positive), told)
        guesses = "\n".join(task.told) + "\n"
        if in_a_terminal() and not as_json:  # elsewhere all is told at the end
            echo(guesses)
            guesses = ""
        watched = sys.stderr is not None and sys.stderr.isatty()
        live = int(watched and cv is None)  # else the bar tells of the fits
        with progress_bar("fits", fleeting=True) if cv else nullcontext() as progress:
            model = fit_model(
                task,
                plan,
                data=as_unicode(data.name),
                dialect=dialect,
                verbose=live,
                progress=progress,
            )
        save(model, out)
    about = {name: told for name, told in model.about_.items() if name != "origin"}
    text = "\n".join(filter(None, [guesses, _text(model, data, out)]))
    say(about | {"out": str(out)}, text, as_json)


def _text(model: Any, data: Path, out: Path) -> str:
    """Return what a person wants to know of a fitted model."""
    about = model.about_
    error = about["error"]
    limits = f"{percent(error['low'])} to {percent(error['high'])}"
    classes = model.classes_.tolist()
    pairs = [
        ("Model", about["model"]),
        *([("Score", f"above zero speaks for {classes[1]}")] if len(classes) == 2 else []),
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
    return in_two_columns([*pairs, ("Next", _next(model, data, out))])


def _next(model: Any, data: Path, out: Path) -> str:
    """Return what to try next."""
    has_curves = getattr(model, "shapes_", None) is not None
    then = ["-o", f"{out.stem}.html"] if has_curves else []
    what = "report" if has_curves else "predict"
    return shlex.join(["everystump", what, str(out), str(data), *then])
