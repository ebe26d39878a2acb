"""``everystump compare``: two models on the same rows."""

from __future__ import annotations

import os
from pathlib import Path

import click

from everystump._files import replace_surrogates
from everystump._workflow.options import Dialect
from everystump.cli.common import DATA, PATH, check_out, file_options, load_model, out_option
from everystump.cli.console import exit_on_input_error, print_notes, print_result
from everystump.cli.help import CSV_FORMAT, OTHER, GroupedCommand

EXAMPLES = """\b
Examples:
  everystump compare credit.stump other.stump credit.csv
  everystump compare credit.stump other.stump new.csv -o comparison.html
"""
HEADINGS = {"Output": ("out",), **CSV_FORMAT, **OTHER}
# What the page needs beyond the result of the command.
_PAGE_ONLY = ("documents", "terms", "scatter", "title", "measured_on")


@click.command(
    cls=GroupedCommand,
    headings=HEADINGS,
    epilog=EXAMPLES,
    short_help="Compare two models on the same rows.",
)
@click.argument("first", metavar="MODEL_A", type=PATH)
@click.argument("second", metavar="MODEL_B", type=PATH)
@DATA
@out_option("HTML page to write.", required=False)
@file_options
def compare(
    first: Path,
    second: Path,
    data: Path,
    out: Path | None,
    dialect: Dialect,
    force: bool,
    as_json: bool,
) -> None:
    """Compare two models of the same target: metrics with paired tests, curves, and rows.

    The models are evaluated on the labeled rows of DATA.  If DATA is the table that they were
    fitted to, the rows that both held out are used.
    """
    with exit_on_input_error():
        check_out(out, force, first, second, data)
        from everystump._workflow.comparing import compare_models

        models, names = [load_model(path) for path in (first, second)], model_names(first, second)
        summary, rows, notes = compare_models(data, dialect, models, names)
        if out is not None:
            from everystump._files import write_text
            from everystump.report.comparison import render_comparison

            write_text(out, render_comparison(summary))
    print_notes(*notes, *rows.warnings)
    from everystump.cli.compare_text import comparison_text

    written = "" if out is None else f"\n\nWrote {out}"
    record = {key: value for key, value in summary.items() if key not in _PAGE_ONLY}
    record |= {"rows_compared": rows.kind or "given", "out": None if out is None else str(out)}
    print_result(record, comparison_text(summary) + written, as_json)


def model_names(first: Path, second: Path) -> list[str]:
    """Return the shortest names that tell two files apart.

    Examples
    --------
    >>> model_names(Path("a.stump"), Path("runs/b.stump"))
    ['a', 'b']
    >>> model_names(Path("old/m.stump"), Path("new/m.stump"))
    ['old/m', 'new/m']
    """
    paths = [replace_surrogates(os.path.splitext(path)[0]) for path in (first, second)]
    parts = [Path(path).parts for path in paths]
    for n in range(1, max(map(len, parts)) + 1):
        names = ["/".join(own[-n:]) for own in parts]
        if names[0] != names[1]:
            return names
    return ["A", "B"]
