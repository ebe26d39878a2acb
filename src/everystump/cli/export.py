"""``everystump export``: a model as ONNX, SQL or JSON."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from everystump._text import InvalidInputError
from everystump.cli.common import AS_JSON, FORCE, MODEL, check_out, load_model, out_option
from everystump.cli.console import exit_on_input_error, print_result
from everystump.cli.help import OTHER, GroupedCommand

EXAMPLES = """\b
Examples:
  everystump export credit.stump -o credit.sql
  everystump export credit.stump -o credit.sql --table customers --keep id --probability
  everystump export credit.stump -o credit.onnx
  everystump export credit.stump --to sql -o query.txt
"""
_FORMATS = ("onnx", "sql", "json")
HEADINGS = {"Output": ("to", "out", "probability"), "SQL": ("table", "keep"), **OTHER}


@click.command(
    cls=GroupedCommand,
    headings=HEADINGS,
    epilog=EXAMPLES,
    short_help="Export a model to ONNX, SQL or JSON.",
)
@MODEL
@click.option(
    "--to", type=click.Choice(_FORMATS), help="Format.  [default: the extension of the output file]"
)
@out_option("File to write.")
@click.option(
    "--table",
    metavar="NAME",
    help="Table to select from, or schema.table.  [default: data]",
)
@click.option(
    "--keep", multiple=True, metavar="COL", help="Select a column, such as a key; may be repeated."
)
@click.option(
    "--probability",
    is_flag=True,
    help="Include probabilities; ONNX and JSON have them if the model predicts any.",
)
@FORCE
@AS_JSON
def export(
    model: Path,
    to: str | None,
    out: Path,
    table: str | None,
    keep: tuple[str, ...],
    probability: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Export a model to ONNX, to a single SQL query, or to JSON."""
    with exit_on_input_error():
        form = _export_format(to, out)
        options = _sql_options(form, table, keep)
        check_out(out, force, model)
        from everystump.export import write

        fitted = load_model(model)
        try:
            write(fitted, out, to=form, probability=probability, **options)
        except ImportError as error:
            raise InvalidInputError(str(error)) from None
        except ValueError as error:
            raise InvalidInputError(_as_options(" ".join(str(error).split()))) from error
    print_result({"to": form, "out": str(out)}, f"Wrote {out}", as_json)


def _as_options(message: str) -> str:
    """Return an error message of Python with options instead of arguments."""
    if message.startswith("probability=True"):
        reason = message.removeprefix("probability=True: ").partition(";")[0]
        return f"--probability: {reason}; omit it, or export another model, such as stump-logistic."
    return re.sub(r"^(table|keep)\b", r"--\1", message)


def _sql_options(form: str, table: str | None, keep: tuple[str, ...]) -> dict[str, Any]:
    """Return the arguments of an export to SQL; raise if another format gets any."""
    given = [] if table is None else [f"--table {table}"]
    given += [f"--keep {name}" for name in keep]
    if form != "sql" and given:
        raise InvalidInputError(
            f"{given[0]}: {form.upper()} has no tables; omit the option, or export to SQL."
        )
    options: dict[str, Any] = {"keep": list(dict.fromkeys(keep))} if keep else {}
    if table is None:
        return options
    names = table.split(".")
    if len(names) > 2 or not all(names):
        raise InvalidInputError(
            f"--table {table}: name a table, such as customers, or a schema and a table, such as "
            f"main.customers."
        )
    return options | {"table": names}


def _export_format(to: str | None, out: Path) -> str:
    """Return the format, from the extension of the output file if it is not specified."""
    extension = out.suffix.lower().removeprefix(".")
    implied = extension if extension in _FORMATS else None
    if to is None and implied is None:
        raise InvalidInputError(
            f"--out {out} does not end in .onnx, .sql or .json; pass --to, or another file name."
        )
    if to is not None and implied not in (None, to):
        raise InvalidInputError(
            f"--to {to} contradicts the extension of --out {out}; change one of them, or omit --to."
        )
    return to or extension
