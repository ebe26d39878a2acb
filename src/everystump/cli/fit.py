"""``everystump fit``: train and evaluate a model on a table."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from everystump._files import replace_surrogates
from everystump._text import InvalidInputError, format_percents, pluralize
from everystump._workflow.options import ColumnOptions, Dialect, InteractionOptions
from everystump._workflow.presets import DEFAULT_INTERACTIONS, PRESETS
from everystump.cli.common import DATA, FiniteRange, check_out, file_options, out_option
from everystump.cli.console import (
    echo,
    echo_stderr,
    exit_on_input_error,
    in_a_terminal,
    metrics_text,
    print_result,
    two_columns,
    wrap,
)
from everystump.cli.progress import progress_bar

HOLDOUT = 0.25
EXAMPLES = """\b
Examples:
  everystump fit credit.csv --target default -o credit.stump
  everystump fit credit.csv --target default --cv 10 -o credit.stump
  everystump fit credit.csv --target default --model stump-svm -o svm.stump
  everystump fit credit.csv --target default --drop id --C 0.5 -o credit.stump
  everystump fit credit.csv --target default --interactions auto -o credit.stump
"""


@click.command(epilog=EXAMPLES, short_help="Train and evaluate a model on a table.")
@DATA
@click.option("--target", required=True, metavar="COL", help="Column to predict.")
@out_option("Model file to write.")
@click.option(
    "--model",
    "preset",
    type=click.Choice(list(PRESETS)),
    default="stump-logistic",
    show_default=True,
    help="Type of model; the default predicts probabilities.",
)
@click.option(
    "--C",
    "C",
    type=FiniteRange(min=0, min_open=True),
    help="Inverse regularization strength, as in SVC.  [default: chosen by 5-fold cross-validation "
    "for stump-logistic and stump-svm; 0.01 for boost-svm, 1 for perceptron and vote]",
)
@click.option(
    "--interactions",
    metavar="N|auto|PAIRS",
    help="Interactions of features, for stump-logistic and stump-svm: the best N pairs, auto for "
    "all pairs or the best of many, or pairs of columns such as age:income,age:job.  "
    f"[default: {DEFAULT_INTERACTIONS}]",
)
@click.option(
    "--interaction-strength",
    "strength",
    type=FiniteRange(min=0, min_open=True),
    help="Strength of the interactions.  [default: chosen by cross-validation, after C]",
)
@click.option(
    "--holdout",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    help=f"Fraction of the rows to hold out for evaluation.  [default: {HOLDOUT}]",
)
@click.option(
    "--cv",
    type=click.IntRange(min=2),
    metavar="FOLDS",
    help="Evaluate by cross-validation instead, and train on all rows.",
)
@click.option(
    "--refit",
    is_flag=True,
    help="After the evaluation, retrain on all rows with the chosen C.",
)
@click.option("--drop", multiple=True, metavar="COL", help="Drop a column; may be repeated.")
@click.option("--use", multiple=True, metavar="COL", help="Keep a column that would be dropped.")
@click.option(
    "--categorical",
    multiple=True,
    metavar="COL",
    help="Treat a column of numbers or dates as categorical.",
)
@click.option(
    "--numeric",
    multiple=True,
    metavar="COL",
    help="Treat a column as numeric, and words in it as missing values.",
)
@click.option("--positive", metavar="LABEL", help="Positive class of a two-class target.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Random seed of the held-out rows, the folds and the model.",
)
@click.option(
    "--stream/--no-stream",
    default=None,
    help="Read DATA in chunks, or all at once.  [default: in chunks if it is large]",
)
@file_options
def fit(
    data: Path,
    target: str,
    out: Path,
    preset: str,
    C: float | None,
    interactions: str | None,
    strength: float | None,
    holdout: float | None,
    cv: int | None,
    refit: bool,
    drop: tuple[str, ...],
    use: tuple[str, ...],
    categorical: tuple[str, ...],
    numeric: tuple[str, ...],
    positive: str | None,
    seed: int,
    stream: bool | None,
    dialect: Dialect,
    force: bool,
    as_json: bool,
) -> None:
    """Train a model on a table, evaluate it on held-out rows, and save it.

    DATA is a CSV file with a header line, or a Parquet file, plain or compressed; or a folder or a
    quoted pattern of such files.  The inferred schema is printed; options override it.
    """
    with exit_on_input_error():
        check_out(out, force, data)
        from everystump._workflow.plan import Plan
        from everystump._workflow.streaming import find_stream
        from everystump.modelfile import save

        if cv is not None and holdout is not None:
            raise InvalidInputError("--cv and --holdout cannot be combined; pass one of them.")
        if cv is not None and refit:
            raise InvalidInputError("--cv already trains on all rows; omit --refit.")
        terms = _interaction_options(interactions, strength)
        plan = Plan(preset, C, holdout or HOLDOUT, cv, seed, refit, terms)
        options = ColumnOptions(drop, use, categorical, positive, numeric)
        files = find_stream(data, stream, plan)
        if files is None:
            model, schema = _fit_file(data, target, options, plan, dialect, as_json)
        else:
            model, schema = _fit_stream(files, data, target, options, plan, dialect)
        save(model, out)
    about = {name: value for name, value in model.about_.items() if name != "origin"}
    # What was read in chunks may be too large for other commands.
    command = _next_command(model, None if files else data, out)
    text = "\n".join(filter(None, [schema, _summary(model, out, command)]))
    print_result(about | {"out": str(out)}, text, as_json)


def _fit_file(
    data: Path,
    target: str,
    options: ColumnOptions,
    plan: Any,
    dialect: Dialect,
    as_json: bool,
) -> tuple[Any, str]:
    """Return a model of a file that is read as a whole, and the text of its schema to print."""
    from everystump._workflow.fitting import fit_model
    from everystump._workflow.reading.files import read_file
    from everystump._workflow.schema.training_data import prepare_training_data

    frame, notes = read_file(data, dialect, text=[target])
    training_data = prepare_training_data(frame, target, options, notes)
    schema = _schema_text(training_data.messages)
    if in_a_terminal() and not as_json:  # otherwise everything is printed at the end
        echo(schema)
        schema = ""
    with progress_bar("fits", transient=True) if plan.cv else nullcontext() as progress:
        model = fit_model(
            training_data,
            plan,
            source=replace_surrogates(data.name),
            dialect=dialect,
            verbose=int(_is_watched() and plan.cv is None),  # otherwise the bar shows the progress
            progress=progress,
        )
    return model, schema


def _fit_stream(
    files: Any, data: Path, target: str, options: ColumnOptions, plan: Any, dialect: Dialect
) -> tuple[Any, str]:
    """Return a model of files that are read in chunks, and the text of its schema to print."""
    from everystump._workflow.streaming import fit_stream

    source = replace_surrogates(data.name)
    if _is_watched():
        echo_stderr(f"Reading {source} in chunks ...")
    verbose = int(_is_watched())
    model = fit_stream(
        files, target, options, plan, source=source, dialect=dialect, verbose=verbose
    )
    return model, _schema_text(model.about_["schema"])


def _is_watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _schema_text(messages: Sequence[str]) -> str:
    return "\n".join(map(wrap, messages)) + "\n"


def _interaction_options(text: str | None, strength: float | None) -> InteractionOptions | None:
    """Return the interactions of the options, None if there are none."""
    if text is None and strength is None:
        return None
    text = str(DEFAULT_INTERACTIONS) if text is None else text
    options = InteractionOptions.parse(text, strength)
    if options.is_none and strength is not None:
        raise InvalidInputError(
            f"--interaction-strength {strength:g} has no effect without interactions; pass "
            f"--interactions auto, or omit it."
        )
    return options


def _summary(model: Any, out: Path, next_command: str) -> str:
    """Return the summary of a fitted model."""
    about = model.about_
    parts = [
        two_columns(
            [
                ("Model", about["model"]),
                *_score(model),
                *_optimization(about),
                *[("Note", note) for note in about["notes"]],
            ]
        ),
        f"{_error(about)}\n\n{metrics_text(about['figures'])}",
        two_columns([*_bounds(about), ("Saved", _saved_model(about)), ("File", str(out))]),
        f"Next: {next_command}",
    ]
    return "\n\n".join(parts)


def _score(model: Any) -> list[tuple[str, str]]:
    classes = model.classes_.tolist()
    return [("Score", f"above zero favors “{classes[1]}”")] if len(classes) == 2 else []


def _optimization(about: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how C was chosen, and the optimality certificate."""
    pairs = []
    if "path" in about:
        path = about["path"]
        how = f"the best of {len(path['C'])} values by cross-validated {_score_name(path)}"
        pairs.append(("C", f"{path['chosen']:.3g}, {how}{_refined(about)}"))
    if "interactions" in about:
        pairs.append(("Interactions", _interactions(about["interactions"])))
    certificate = about.get("certificate")
    if certificate:
        primal, dual, gap = (certificate[key] for key in ("primal", "dual", "gap"))
        text = f"objective {primal:.6g}, proven lower bound {dual:.6g} (relative gap {gap:.1e})"
        if "class" in certificate:
            text += f", for class “{certificate['class']}”, which has the largest gap"
        pairs.append(("Certificate", text))
    return pairs


def _refined(about: dict[str, Any]) -> str:
    """Return the C that was chosen with interactions, if it is another one."""
    refined = about.get("interactions", {}).get("refined_C")
    is_other = refined not in (None, about["path"]["chosen"])
    return f"; {refined:.3g} with interactions" if is_other else ""


def _score_name(path: dict[str, Any]) -> str:
    return {"neg_log_loss": "log loss"}.get(path["scoring"], path["scoring"])


def _interactions(record: dict[str, Any]) -> str:
    """Return how many interactions a model has, and how their strength was chosen."""
    path = record.get("path")
    by = ""
    if path:
        cross_validated = path["n_folds"] > 1
        score = _score_name(path)
        by = f"cross-validated {score}" if cross_validated else f"{score} on a validation split"
    if not record["features"]:
        if not path:
            return "none: fewer than two features can interact"
        n_tried = pluralize(len(path["strength"]) - 1, "strength")
        return f"none: they do not clearly improve the {by} ({n_tried} tried)"
    n_features = [len(features) for features in record["features"]]
    counts = [(n_features.count(2), "pair"), (n_features.count(3), "triple")]
    what = " and ".join(pluralize(n, noun) for n, noun in counts if n)
    if not path:
        return f"{what} of features, strength {record['strength']:.3g}"
    how = f"the best of {len(path['strength']) - 1} strengths by {by}"
    chosen, final = path.get("chosen", record["strength"]), record["strength"]
    text = f"{what} of features, strength {chosen:.3g}, {how}"
    return text if final == chosen else f"{text}; {final:.3g} at the refined C"


def _error(about: dict[str, Any]) -> str:
    """Return the error, how it was estimated, and for which model."""
    error = about["error"]
    value, low, high = format_percents(error["value"], error["low"], error["high"])
    rows, _, interval = error["how"].rpartition(", ")
    text = f"Error {value} ({interval} {low} to {high}; {rows})"
    refit = about.get("refit")
    if not refit:
        return wrap(f"{text}:")
    first = f"the model trained on {pluralize(refit['n_rows'], 'row')}, before the refit"
    return wrap(f"{text}. The metrics are those of {first}:")


def _bounds(about: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the bounds that apply to the saved model and are not vacuous."""
    pairs = [
        (
            "Bound",
            f"{bound['bounded']} is at most {format_percents(bound['value'])[0]} ({bound['name']})",
        )
        for bound in about["bounds"]
        if bound["holds"] and not bound["vacuous"]
    ]
    if about.get("refit"):
        pairs.append(("No bound", "from held-out rows: the refitted model was trained on all rows"))
    return pairs + [
        ("No bound", f"from held-out rows: {'; '.join(bound['violations'])}")
        for bound in about["bounds"]
        if bound["name"] == "validation_bound" and not bound["holds"]
    ]


def _saved_model(about: dict[str, Any]) -> str:
    """Return which rows the saved model was trained on."""
    n_rows = pluralize(about["n_rows"], "row")
    if about.get("refit"):
        how = "with the same C" if "path" in about else "with the same settings"
        if about.get("interactions", {}).get("features"):
            how += " and interactions"
        return f"a model retrained on all {n_rows} {how}, not evaluated itself"
    if about["n_held_out"]:
        total = f"{about['n_rows'] + about['n_held_out']:,}"
        of = f"{about['n_rows']:,} of {total} rows"
        return f"the evaluated model, trained on {of} (pass --refit to train on all)"
    return f"a model trained on all {n_rows}; the metrics come from cross-validation"


def _next_command(model: Any, data: Path | None, out: Path) -> str:
    """Return a command to try next."""
    has_curves = getattr(model, "shapes_", None) is not None
    page = ["-o", f"{out.stem}.html"] if has_curves else []
    command = "report" if has_curves else "predict"
    table = [] if data is None else [str(data)]
    return shlex.join(["everystump", command, str(out), *table, *page])
