"""What the commands share: arguments, options, and how files are read and written."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from everystump._files import check_output_path, replace_surrogates
from everystump._text import InvalidInputError
from everystump._workflow.dialect import Dialect

MODEL = click.argument("model", metavar="MODEL", type=click.Path(path_type=Path))
DATA = click.argument("data", metavar="DATA", type=click.Path(path_type=Path))
FORCE = click.option("--force", is_flag=True, help="Replace the output file if it exists.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")
_TEXT_OPTIONS = (
    click.option("--delimiter", help="What separates cells.  [default: found in the file]"),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="What begins the fraction of a number.  [default: found in the file]",
    ),
    click.option("--encoding", help="How the text of a CSV is encoded.  [default: utf-8]"),
    click.option(
        "--missing",
        multiple=True,
        metavar="TEXT",
        help="What stands for a missing value; may be repeated.  [default: ?, NA, None, null, ...]",
    ),
)


class FiniteRange(click.FloatRange):
    """A range of numbers, of which NaN and infinity are none."""

    def convert(self, value: Any, parameter: Any, context: Any) -> float:
        """Return the number, or say that it is none of the range."""
        number = super().convert(value, parameter, context)
        if not math.isfinite(number):
            self.fail(f"{value} is not a number of the range.", parameter, context)
        return number


def text_options(command: Callable) -> Callable:
    """Add the options that tell how a text file is written; the command gets a `Dialect`."""

    @wraps(command)
    def packed(
        delimiter: str | None,
        decimal: str | None,
        encoding: str | None,
        missing: tuple[str, ...],
        **given: Any,
    ) -> Any:
        for text in filter(None, (delimiter, encoding, *missing)):
            if replace_surrogates(text) != text:
                raise click.UsageError(f"{replace_surrogates(text)!r} is not UTF-8")
        return command(dialect=Dialect(delimiter, decimal, encoding, missing), **given)

    for option in reversed(_TEXT_OPTIONS):
        packed = option(packed)
    return packed


def out_option(help: str, *, required: bool = True) -> Callable:
    """Return the option that names the output file."""
    kind = click.Path(path_type=Path)
    return click.option("-o", "--out", type=kind, required=required, metavar="OUT", help=help)


def check_out(out: Path, force: bool, *inputs: Path | None) -> None:
    """Raise before any work if the output cannot be written, or is one of the inputs."""
    if str(out) == "-":
        raise InvalidInputError("--out -: name a file; predict prints its rows without --out.")
    if out.exists() and any(one and one.exists() and out.samefile(one) for one in inputs):
        raise InvalidInputError(f"--out {out} is an input as well; name another file to write.")
    if out.is_file() and not force:
        raise InvalidInputError(f"--out {out} already exists; pass --force to replace it.")
    try:
        check_output_path(out)
    except (OSError, ValueError) as error:
        raise InvalidInputError(str(error).replace(f"path={str(out)!r}", f"--out {out}")) from None


def load_model(path: Path) -> Any:
    """Return the model in a file."""
    from everystump.modelfile import ModelFileError, load

    try:
        return load(path)
    except (ModelFileError, OSError) as error:
        raise InvalidInputError(str(error).replace(f"path={str(path)!r}", str(path))) from None


def read_data(path: Path, dialect: Dialect, model: Any) -> tuple[Any, list[str]]:
    """Return a table for a model, which remembers the options of its own, and what is guessed."""
    from everystump._workflow.contents import read_decompressed

    return parse_data(path, read_decompressed(path), dialect, model)


def parse_data(
    path: Path, content: bytes, dialect: Dialect, model: Any, text: Collection[str] | None = None
) -> tuple[Any, list[str]]:
    """Do the same with the content of a file that has been read already.

    ``text`` names the columns that stay text, by default those that the model knows as such.
    """
    from everystump._workflow.matching import reading_notes, text_columns
    from everystump._workflow.sources import parse_file

    origin = getattr(model, "about_", {}).get("origin", {})
    known = dialect.after(origin.get("dialect", {}))
    known = replace(known, usual_decimal=origin.get("decimal"))
    text = text_columns(model) if text is None else text
    frame, notes = parse_file(path, content, known, text=text)
    return frame, notes + reading_notes(model, frame)


def check_curves(model: Any) -> None:
    """Raise if a model has no curves, which some commands show."""
    if getattr(model, "shapes_", None) is None:
        raise InvalidInputError(
            f"{type(model).__name__} has no curves to show; fit with another --model."
        )
