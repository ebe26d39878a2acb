"""``everystump export``: a model in another language."""

from __future__ import annotations

from pathlib import Path

import click

from everystump.cli.common import AS_JSON, FORCE, MODEL, check_out, load_model, out_option
from everystump.cli.console import exit_on_input_error, say

EXAMPLES = """\b
Examples:
  everystump export credit.stump --to sql -o credit.sql
  everystump export credit.stump --to onnx -o credit.onnx
"""


@click.command(epilog=EXAMPLES, short_help="Write a model as ONNX, SQL or JSON.")
@MODEL
@click.option(
    "--to", type=click.Choice(["onnx", "sql", "json"]), required=True, help="The language."
)
@out_option("The file to write.")
@FORCE
@AS_JSON
def export(model: Path, to: str, out: Path, force: bool, as_json: bool) -> None:
    """Write a model as ONNX, as one SQL query, or as JSON."""
    with exit_on_input_error():
        check_out(out, force, model)
        from everystump._workflow import InvalidInputError, asking
        from everystump.export import write

        try:
            with asking():
                write(load_model(model), out, to=to)
        except ImportError as error:
            raise InvalidInputError(str(error)) from None
    say({"to": to, "out": str(out)}, f"{to}: {out}", as_json)
