"""``everystump export``: a model as ONNX, SQL or JSON."""

from __future__ import annotations

from pathlib import Path

import click

from everystump.cli.common import AS_JSON, FORCE, MODEL, check_out, load_model, out_option
from everystump.cli.console import exit_on_input_error, print_result

EXAMPLES = """\b
Examples:
  everystump export credit.stump --to sql -o credit.sql
  everystump export credit.stump --to onnx -o credit.onnx
"""


@click.command(epilog=EXAMPLES, short_help="Export a model to ONNX, SQL or JSON.")
@MODEL
@click.option("--to", type=click.Choice(["onnx", "sql", "json"]), required=True, help="Format.")
@out_option("File to write.")
@FORCE
@AS_JSON
def export(model: Path, to: str, out: Path, force: bool, as_json: bool) -> None:
    """Export a model to ONNX, to a single SQL query, or to JSON."""
    with exit_on_input_error():
        check_out(out, force, model)
        from everystump._text import InvalidInputError
        from everystump._workflow.errors import input_errors
        from everystump.export import write

        try:
            with input_errors():
                write(load_model(model), out, to=to)
        except ImportError as error:
            raise InvalidInputError(str(error)) from None
    print_result({"to": to, "out": str(out)}, f"Wrote {out}", as_json)
