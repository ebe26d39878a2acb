"""``everystump fit``: train and evaluate a model on a table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from everystump._files import replace_surrogates
from everystump._text import InvalidInputError
from everystump._workflow.options import (
    CLASSIFICATION,
    LOSSES,
    REGRESSION,
    ColumnOptions,
    Dialect,
    InteractionOptions,
    LossOptions,
    resolve_task,
)
from everystump._workflow.presets import DEFAULT_INTERACTIONS, PRESETS
from everystump.cli.common import DATA, FiniteRange, check_out, file_options, out_option
from everystump.cli.config import (
    CONFIG,
    SAVE_CONFIG,
    check_config,
    is_from_command_line,
    write_config,
)
from everystump.cli.console import (
    echo,
    echo_stderr,
    exit_on_input_error,
    in_a_terminal,
    print_result,
    wrap,
)
from everystump.cli.fit_options import (
    ColumnTexts,
    TrainingTexts,
    column_options,
    training_options,
)
from everystump.cli.fit_summary import next_command, summary
from everystump.cli.help import CSV_FORMAT, OTHER, GroupedCommand
from everystump.cli.progress import progress_bar

HOLDOUT = 0.25
EXAMPLES = """\b
Examples:
  everystump fit credit.csv --target default -o credit.stump
  everystump fit credit.csv --target default --cv 10 -o credit.stump
  everystump fit credit.csv --target default --model stump-svm -o svm.stump
  everystump fit credit.csv --target default --drop id --C 0.5 -o credit.stump
  everystump fit credit.csv --target default --interactions auto -o credit.stump
  everystump fit houses.csv --target price -o houses.stump
  everystump fit houses.csv --target price --quantile 0.9 -o high.stump
  everystump fit houses.csv --target price --bands -o houses.stump
  everystump fit credit.csv --target default -o credit.stump --save-config run.toml
  everystump fit --config run.toml --seed 1 -o other.stump
"""
HEADINGS = {
    "Task": ("target", "positive", "task", "out"),
    "Model": (
        "preset",
        "C",
        "interactions",
        "strength",
        "loss",
        "quantile",
        "epsilon",
        "monotonic",
        "bands",
    ),
    "Weights": ("class_weight", "sample_weight"),
    "Evaluation": ("holdout", "cv", "refit", "metric", "seed"),
    "Columns": ("drop", "use", "categorical", "numeric"),
    **CSV_FORMAT,
    "Runs": ("config", "save_config", "stream"),
    **OTHER,
}


@click.command(
    cls=GroupedCommand,
    headings=HEADINGS,
    epilog=EXAMPLES,
    short_help="Train and evaluate a model on a table.",
)
@DATA
@click.option("--target", required=True, metavar="COL", help="Column to predict.")
@out_option("Model file to write.")
@click.option(
    "--model",
    "preset",
    type=click.Choice(list(PRESETS)),
    help="Type of model.  [default: stump-logistic, which predicts probabilities, or "
    "stump-regression]",
)
@click.option(
    "--task",
    type=click.Choice(["auto", CLASSIFICATION, REGRESSION]),
    default="auto",
    show_default=True,
    help="Predict a class or a number; auto predicts a number if the target has many distinct "
    "ones.",
)
@click.option(
    "--loss",
    type=click.Choice(LOSSES),
    help="Loss of a regression.  [default: squared, to predict the mean]",
)
@click.option(
    "--quantile",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    help="Quantile to predict with --loss quantile, such as 0.9.  [default: 0.5, the median]",
)
@click.option(
    "--epsilon",
    type=FiniteRange(min=0),
    help="Width of --loss epsilon_insensitive, below which an error costs nothing, or of huber, up "
    "to which it is squared, in units of the target's scale.  [default: 0.1 or 0.5]",
)
@click.option(
    "--C",
    "C",
    type=FiniteRange(min=0, min_open=True),
    help="Inverse regularization strength, as in SVC.  [default: chosen by 5-fold cross-validation "
    "for stump-logistic, stump-svm and stump-regression; 0.01 for boost-svm, 1 for perceptron and "
    "vote]",
)
@click.option(
    "--interactions",
    metavar="N|auto|PAIRS",
    help="Interactions of features, for the models above that choose C: the best N pairs, auto for "
    "all pairs or the best of many, of which fewer are kept if these are better, or pairs of "
    "columns such as age:income,age:job.  "
    f"[default: {DEFAULT_INTERACTIONS}]",
)
@click.option(
    "--interaction-strength",
    "strength",
    type=FiniteRange(min=0, max=1e13, min_open=True),
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
    "--refit/--no-refit",
    help="After the evaluation, retrain on all rows with the chosen C, measure, feature "
    "weights and interactions.",
)
@click.option(
    "--bands/--no-bands",
    help="Compute standard errors of the curves from the training rows, to be drawn as 95% bands.",
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
@column_options
@training_options
@CONFIG
@SAVE_CONFIG
@file_options
def fit(
    data: Path,
    target: str,
    out: Path,
    preset: str | None,
    task: str,
    loss: str | None,
    quantile: float | None,
    epsilon: float | None,
    C: float | None,
    interactions: str | None,
    strength: float | None,
    holdout: float | None,
    cv: int | None,
    refit: bool,
    bands: bool,
    positive: str | None,
    seed: int,
    stream: bool | None,
    columns: ColumnTexts,
    training: TrainingTexts,
    save_config: Path | None,
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
        check_config(save_config, force, data, out)
        from everystump._workflow.plan import Plan
        from everystump._workflow.streaming import find_stream
        from everystump._workflow.training_options import TrainingOptions
        from everystump.modelfile import save

        holdout, cv = _evaluation(holdout, cv, refit)
        terms = _interaction_options(interactions, strength)
        losses = LossOptions.parse(loss, quantile, epsilon)
        trained = TrainingOptions.parse(training.class_weight, training.monotonic, training.metric)
        chosen = _task(task, preset, losses, positive, trained.tasks)
        plan = Plan(preset, C, holdout or HOLDOUT, cv, seed, refit, terms, losses, trained, bands)
        (plan if chosen is None else plan.for_task(chosen)).check_model()
        options = ColumnOptions(
            positive=positive,
            task=chosen,
            sample_weight=training.sample_weight,
            **columns._asdict(),
        )
        options.check(target)
        files = find_stream(data, stream, plan)
        if files is None:
            model, schema = _fit_file(data, target, options, plan, dialect, as_json)
        else:
            model, schema = _fit_stream(files, data, target, options, plan, dialect)
        save(model, out)
        if save_config is not None:
            write_config(save_config, _resolved(plan, model.about_["task"], files is not None))
    # What was read in chunks may be too large for other commands.
    _print_model(model, out, schema, next_command(model, None if files else data, out), as_json)


def _print_model(model: Any, out: Path, schema: str, command: str, as_json: bool) -> None:
    about = {name: value for name, value in model.about_.items() if name != "origin"}
    text = "\n".join(filter(None, [schema, summary(model, out, command)]))
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


def _evaluation(
    holdout: float | None, cv: int | None, refit: bool
) -> tuple[float | None, int | None]:
    """Return the fraction to hold out and the number of folds, at most one of them."""
    if cv is not None and holdout is not None:
        given = [is_from_command_line(name) for name in ("holdout", "cv")]
        if all(given) or not any(given):
            raise InvalidInputError("--cv and --holdout cannot be combined; pass one of them.")
        holdout, cv = (holdout, None) if given[0] else (None, cv)
    if cv is not None and refit:
        raise InvalidInputError("--cv already trains on all rows; omit --refit.")
    return holdout, cv


def _resolved(plan: Any, task: str, is_streamed: bool) -> dict[str, Any]:
    """Return the values of options that depend on memory or on defaults.

    The task and the model stay as the user wrote them: an inferred task is described in the model.
    """
    plan = plan.for_task(task)
    resolved = {"stream": is_streamed, "cv": plan.cv}
    if plan.interactions is None:
        resolved["interactions"] = plan.chosen_interactions.which
    return resolved | {"holdout": plan.holdout if plan.cv is None else None}


def _task(
    requested: str,
    preset: str | None,
    losses: LossOptions,
    positive: str | None,
    others: dict[str, str],
) -> str | None:
    """Return the task that the options ask for, None if the target decides.

    ``others`` are further options and the task that they are for.
    """
    implied = dict(others)
    if preset is not None:
        implied[f"--model {preset}"] = PRESETS[preset].task
    if losses.quantile is not None:
        implied[f"--quantile {losses.quantile:g}"] = REGRESSION
    elif losses.loss is not None:
        implied[f"--loss {losses.loss}"] = REGRESSION
    if positive is not None:
        implied[f"--positive {positive}"] = CLASSIFICATION
    return resolve_task(None if requested == "auto" else requested, implied)


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
