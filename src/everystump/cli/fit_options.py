"""Options of ``everystump fit`` that the command receives as records."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import click

_TRAINING_OPTIONS = (
    click.option(
        "--class-weight",
        metavar="balanced|LABEL=W,...",
        help="Weights of the classes, which multiply C: balanced, or such as yes=5,no=1.",
    ),
    click.option(
        "--sample-weight",
        metavar="COL",
        help="Column with the weight of each row, in training and in the metrics.",
    ),
    click.option(
        "--monotonic",
        multiple=True,
        metavar="COL=DIRECTION,...",
        help="Curves that may only rise or fall, such as age=increasing,income=decreasing; may be "
        "repeated.",
    ),
    click.option(
        "--metric",
        metavar="NAME",
        help="Metric that chooses C, the measure, feature weights and interactions: accuracy, "
        "balanced_accuracy, auc, log_loss, f1, r2, mae, rmse and others, named as in "
        "scikit-learn.  [default: that of the model]",
    ),
)
_COLUMN_OPTIONS = (
    click.option("--drop", multiple=True, metavar="COL", help="Drop a column; may be repeated."),
    click.option(
        "--use", multiple=True, metavar="COL", help="Keep a column that would be dropped."
    ),
    click.option(
        "--categorical",
        multiple=True,
        metavar="COL",
        help="Treat a column of numbers or dates as categorical.",
    ),
    click.option(
        "--numeric",
        multiple=True,
        metavar="COL",
        help="Treat a column as numeric, and words in it as missing values.",
    ),
)


class TrainingTexts(NamedTuple):
    """What the user wrote about weights, monotonic curves and the metric."""

    class_weight: str | None
    sample_weight: str | None
    monotonic: tuple[str, ...]
    metric: str | None


class ColumnTexts(NamedTuple):
    """The columns that the user named."""

    drop: tuple[str, ...]
    use: tuple[str, ...]
    categorical: tuple[str, ...]
    numeric: tuple[str, ...]


def _as_record(name: str, record: Any, options: tuple[Callable, ...]) -> Callable:
    """Return a decorator that adds options; the command receives them as one record."""

    def decorate(command: Callable) -> Callable:
        @wraps(command)
        def with_record(**values: Any) -> Any:
            own = {key: values.pop(key) for key in record._fields}
            return command(**{name: record(**own)}, **values)

        for option in reversed(options):
            with_record = option(with_record)
        return with_record

    return decorate


training_options = _as_record("training", TrainingTexts, _TRAINING_OPTIONS)
"""Add options of the training; the command receives `TrainingTexts`."""
column_options = _as_record("columns", ColumnTexts, _COLUMN_OPTIONS)
"""Add options that name columns; the command receives `ColumnTexts`."""
