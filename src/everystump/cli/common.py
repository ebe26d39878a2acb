"""What the commands share: arguments, options, and how files are read and written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from everystump.study.dialect import Dialect

MODEL = click.argument("model", metavar="MODEL", type=click.Path(path_type=Path))
DATA = click.argument("data", metavar="DATA", type=click.Path(path_type=Path))
FORCE = click.option("--force", is_flag=True, help="Replace the output file if it is there.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")
_TEXT_OPTIONS = (
    click.option("--delimiter", help="What separates cells.  [default: found in the file]"),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="What begins the fraction of a number.  [default: found in the file]",
    ),
    click.option(
        "--encoding", default="utf-8", show_default=True, help="How the text of a CSV is encoded."
    ),
    click.option(
        "--missing",
        multiple=True,
        metavar="TEXT",
        help="What stands for a missing value; may be repeated.  [default: ?, NA, None, null, ...]",
    ),
)


def text_options(command: Callable) -> Callable:
    """Add the options that tell how a text file is written; the command gets a `Dialect`."""

    @wraps(command)
    def packed(
        delimiter: str | None,
        decimal: str | None,
        encoding: str,
        missing: tuple[str, ...],
        **given: Any,
    ) -> Any:
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
    from everystump.files import check_place
    from everystump.study import RefusedError

    if out == Path():
        raise RefusedError("--out is empty; name a file to write.")
    if out.exists() and any(one and one.exists() and out.samefile(one) for one in inputs):
        raise RefusedError(f"{out} is an input as well; name another file to write.")
    if out.exists() and not force and not out.is_dir():
        raise RefusedError(f"{out} is there already; pass --force to replace it.")
    check_place(out)


def load_model(path: Path) -> Any:
    """Return the model in a file."""
    from everystump.modelfile import load

    return load(path)


def read_data(path: Path, dialect: Dialect, model: Any) -> Any:
    """Return a table for a model, which knows what stood for missing values in its own."""
    from everystump.study.sources import read_file

    learned = tuple(getattr(model, "about_", {}).get("missing", ()))
    return read_file(path, replace(dialect, missing=dialect.missing or learned))[0]
