"""``everystump export``: a model as ONNX, SQL or JSON."""

from __future__ import annotations

from pathlib import Path

import click

from everystump._text import InvalidInputError
from everystump.cli.common import AS_JSON, FORCE, MODEL, check_out, load_model, out_option
from everystump.cli.console import exit_on_input_error, print_result

EXAMPLES = """\b
Examples:
  everystump export credit.stump -o credit.sql
  everystump export credit.stump -o credit.onnx
  everystump export credit.stump --to sql -o query.txt
"""
_FORMATS = ("onnx", "sql", "json")


@click.command(epilog=EXAMPLES, short_help="Export a model to ONNX, SQL or JSON.")
@MODEL
@click.option(
    "--to", type=click.Choice(_FORMATS), help="Format.  [default: the extension of the output file]"
)
@out_option("File to write.")
@FORCE
@AS_JSON
def export(model: Path, to: str | None, out: Path, force: bool, as_json: bool) -> None:
    """Export a model to ONNX, to a single SQL query, or to JSON."""
    with exit_on_input_error():
        form = _export_format(to, out)
        check_out(out, force, model)
        from everystump._workflow.errors import input_errors
        from everystump.export import write

        try:
            with input_errors():
                write(load_model(model), out, to=form)
        except ImportError as error:
            raise InvalidInputError(str(error)) from None
    print_result({"to": form, "out": str(out)}, f"Wrote {out}", as_json)


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
