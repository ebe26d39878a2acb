"""``everystump fit``: from a table to a model."""

from __future__ import annotations

import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from everystump._files import replace_surrogates
from everystump._text import format_percents, pluralize
from everystump._workflow.dialect import Dialect
from everystump._workflow.presets import PRESETS
from everystump.cli.common import (
    AS_JSON,
    DATA,
    FORCE,
    FiniteRange,
    check_out,
    out_option,
    text_options,
)
from everystump.cli.console import (
    echo,
    exit_on_input_error,
    in_a_terminal,
    say,
    two_columns,
    wrapped,
)
from everystump.cli.figures import metrics_text
from everystump.cli.progress import progress_bar

HOLDOUT = 0.25
EXAMPLES = """\b
Examples:
  everystump fit credit.csv --target default -o credit.stump
  everystump fit credit.csv --target default --cv 10 -o credit.stump
  everystump fit credit.csv --target default --model stump-svm -o svm.stump
  everystump fit credit.csv --target default --drop id --C 0.5 -o credit.stump
"""


@click.command(epilog=EXAMPLES, short_help="Train a model on a table, and measure it.")
@DATA
@click.option("--target", required=True, metavar="COL", help="The column to predict.")
@out_option("The model file to write.")
@click.option(
    "--model",
    "family",
    type=click.Choice(list(PRESETS)),
    default="stump-logistic",
    show_default=True,
    help="The kind of model; the first gives probabilities.",
)
@click.option(
    "--C",
    "cost",
    type=FiniteRange(min=0, min_open=True),
    help="Inverse regularization strength, as in SVC.  [default: chosen on a path by 5 folds in "
    "stump-logistic and stump-svm; 0.01 in boost-svm, 1 in perceptron and vote]",
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
@click.option(
    "--refit",
    is_flag=True,
    help="Train again on all rows once the model is measured, with the C that was chosen.",
)
@click.option("--drop", multiple=True, metavar="COL", help="Leave a column out; may be repeated.")
@click.option("--use", multiple=True, metavar="COL", help="Use a column that would be left out.")
@click.option(
    "--categorical",
    multiple=True,
    metavar="COL",
    help="Take a column of numbers or dates for a category.",
)
@click.option(
    "--numeric", multiple=True, metavar="COL", help="Take words in a column for missing values."
)
@click.option("--positive", metavar="LABEL", help="The label that scores and probabilities favor.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Draws the rows to hold out, all folds, and what a model itself draws at random.",
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
    refit: bool,
    drop: tuple[str, ...],
    use: tuple[str, ...],
    categorical: tuple[str, ...],
    numeric: tuple[str, ...],
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
    with exit_on_input_error():
        check_out(out, force, data)
        from everystump._workflow import InvalidInputError
        from everystump._workflow.fitting import fit_model
        from everystump._workflow.guesses import ColumnOptions, prepare_training_data
        from everystump._workflow.plan import Plan
        from everystump._workflow.sources import read_file
        from everystump.modelfile import save

        if cv is not None and holdout is not None:
            raise InvalidInputError("--cv and --holdout are two ways to measure; pass one of them.")
        if cv is not None and refit:
            raise InvalidInputError("--cv learns from all rows already; leave --refit out.")
        share = HOLDOUT if holdout is None else holdout
        plan = Plan(family, cost, share, cv, seed, refit)
        frame, messages = read_file(data, dialect, text=[target])
        column_options = ColumnOptions(drop, use, categorical, positive, numeric)
        task = prepare_training_data(frame, target, column_options, messages)
        guesses = "\n".join(map(wrapped, task.messages)) + "\n"
        if in_a_terminal() and not as_json:  # elsewhere all is printed at the end
            echo(guesses)
            guesses = ""
        watched = sys.stderr is not None and sys.stderr.isatty()
        live = int(watched and cv is None)  # else the bar tells of the fits
        with progress_bar("fits", transient=True) if cv else nullcontext() as progress:
            model = fit_model(
                task,
                plan,
                data=replace_surrogates(data.name),
                dialect=dialect,
                verbose=live,
                progress=progress,
            )
        save(model, out)
    about = {name: value for name, value in model.about_.items() if name != "origin"}
    text = "\n".join(filter(None, [guesses, _text(model, data, out)]))
    say(about | {"out": str(out)}, text, as_json)


def _text(model: Any, data: Path, out: Path) -> str:
    """Return what a person wants to know of a fitted model."""
    about = model.about_
    parts = [
        two_columns(
            [
                ("Model", about["model"]),
                *_direction(model),
                *_training(about),
                *[("Note", note) for note in about["notes"]],
            ]
        ),
        f"{_measured_by(about)}\n\n{metrics_text(about['figures'])}",
        two_columns([*_bounds(about), ("Kept", _kept(about)), ("Written", str(out))]),
        f"Next: {_next(model, data, out)}",
    ]
    return "\n\n".join(parts)


def _direction(model: Any) -> list[tuple[str, str]]:
    classes = model.classes_.tolist()
    return [("Score", f"above zero favors “{classes[1]}”")] if len(classes) == 2 else []


def _training(about: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how C was chosen, and how near the optimum the training came."""
    pairs = []
    if "path" in about:
        path = about["path"]
        scoring = {"neg_log_loss": "log-loss"}.get(path["scoring"], path["scoring"])
        how = f"the best of a path of {len(path['C'])} by {scoring}"
        pairs.append(("C", f"{path['chosen']:.3g}, {how}"))
    proof = about.get("certificate")
    if proof:
        text = f"objective {proof['primal']:.6g}, proven lower bound {proof['dual']:.6g}"
        pairs.append(("Certificate", f"{text} (gap {proof['gap']:.1e})"))
    return pairs


def _measured_by(about: dict[str, Any]) -> str:
    """Return which rows the figures were measured on, and whose figures they are."""
    error = about["error"]
    value, low, high = format_percents(error["value"], error["low"], error["high"])
    text = f"Error {value}, likely {low} to {high} ({error['how']})"
    refit = about.get("refit")
    if not refit:
        return wrapped(f"{text}:")
    whose = f"These are the figures of the model of {pluralize(refit['n_rows'], 'row')} before"
    return wrapped(f"{text}. {whose} the refit:")


def _bounds(about: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the bounds that say something of the model that is kept."""
    pairs = [
        (
            "Bound",
            f"{bound['bounded']} is at most {format_percents(bound['value'])[0]} ({bound['name']})",
        )
        for bound in about["bounds"]
        if bound["holds"] and not bound["vacuous"]
    ]
    if about.get("refit"):
        pairs.append(("No bound", "from held-out rows: none is left that the refit did not see"))
    return pairs + [
        ("No bound", f"from held-out rows: {'; '.join(bound['violations'])}")
        for bound in about["bounds"]
        if bound["name"] == "validation_bound" and not bound["holds"]
    ]


def _kept(about: dict[str, Any]) -> str:
    """Return what the model in the file learned from."""
    n_rows = pluralize(about["n_rows"], "row")
    if about.get("refit"):
        how = "with the same C" if "path" in about else "in the same way"
        return f"a model trained again on all {n_rows} {how}, not measured itself"
    if about["n_held_out"]:
        every = f"{about['n_rows'] + about['n_held_out']:,}"
        return f"the measured model, of {about['n_rows']:,} of {every} rows (all of them: --refit)"
    return f"a model of all {n_rows}; the figures are those of the folds' models"


def _next(model: Any, data: Path, out: Path) -> str:
    """Return what to try next."""
    has_curves = getattr(model, "shapes_", None) is not None
    then = ["-o", f"{out.stem}.html"] if has_curves else []
    what = "report" if has_curves else "predict"
    return shlex.join(["everystump", what, str(out), str(data), *then])
