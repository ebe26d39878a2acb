"""Arguments and options that commands share, and checks of files."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from everystump._files import check_output_path, replace_surrogates
from everystump._text import InvalidInputError
from everystump._workflow.options import Dialect

PATH = click.Path(path_type=Path)
MODEL = click.argument("model", metavar="MODEL", type=PATH)
DATA = click.argument("data", metavar="DATA", type=PATH)
OPTIONAL_DATA = click.argument("data", metavar="[DATA]", required=False, type=PATH)
FORCE = click.option("--force", is_flag=True, help="Overwrite the output file if it exists.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_TEXT_OPTIONS = (
    click.option("--delimiter", help="Column separator of a CSV.  [default: detected]"),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="Decimal separator of numbers in a CSV.  [default: detected]",
    ),
    click.option("--encoding", help="Text encoding of a CSV.  [default: utf-8]"),
    click.option(
        "--missing",
        multiple=True,
        metavar="TEXT",
        help="Text that marks a missing value; may be repeated.  [default: ?, NA, None, ...]",
    ),
)


class FiniteRange(click.FloatRange):
    """A range of numbers without NaN and infinity."""

    def convert(self, value: Any, parameter: Any, context: Any) -> float:
        """Return the number, or fail if it is out of range."""
        number = super().convert(value, parameter, context)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", parameter, context)
        return number


def text_options(command: Callable) -> Callable:
    """Add the options for reading a CSV; the command receives a `Dialect`."""

    @wraps(command)
    def with_dialect(
        delimiter: str | None,
        decimal: str | None,
        encoding: str | None,
        missing: tuple[str, ...],
        **others: Any,
    ) -> Any:
        for text in filter(None, (delimiter, encoding, *missing)):
            if replace_surrogates(text) != text:
                raise click.UsageError(f"{replace_surrogates(text)!r} is not UTF-8")
        return command(dialect=Dialect(delimiter, decimal, encoding, missing), **others)

    for option in reversed(_TEXT_OPTIONS):
        with_dialect = option(with_dialect)
    return with_dialect


def file_options(command: Callable) -> Callable:
    """Add the options for reading a CSV, ``--force`` and ``--json``."""
    return text_options(FORCE(AS_JSON(command)))


def out_option(help: str, *, required: bool = True) -> Callable:
    """Return the option for the output file."""
    return click.option("-o", "--out", type=PATH, required=required, metavar="OUT", help=help)


def check_out(out: Path | None, force: bool, *inputs: Path | None, option: str = "--out") -> None:
    """Raise before any work if an output file cannot be written, or is one of the inputs."""
    if out is None:
        return
    if str(out) == "-":
        raise InvalidInputError(f"{option} -: name a file; only predict writes to standard output.")
    if out.exists() and any(path and path.exists() and out.samefile(path) for path in inputs):
        raise InvalidInputError(f"{option} {out} is also an input; name another file.")
    if out.is_file() and not force:
        raise InvalidInputError(f"{option} {out} already exists; pass --force to overwrite it.")
    try:
        check_output_path(out)
    except (OSError, ValueError) as error:
        text = str(error).replace(f"path={str(out)!r}", f"{option} {out}")
        raise InvalidInputError(text) from None


def load_model(path: Path) -> Any:
    """Return the model in a file."""
    from everystump.modelfile import ModelFileError, load

    try:
        return load(path)
    except (ModelFileError, OSError) as error:
        raise InvalidInputError(str(error).replace(f"path={str(path)!r}", str(path))) from None


def load_curves(path: Path) -> Any:
    """Return the model in a file, or raise if it has no curves."""
    model = load_model(path)
    if getattr(model, "shapes_", None) is None:
        raise InvalidInputError(
            f"{type(model).__name__} has no curves to show; fit with another --model."
        )
    return model
