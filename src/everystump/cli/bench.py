"""``everystump bench``: how fast and how good it is here, beside scikit-learn's models."""

from __future__ import annotations

import click

from everystump._text import format_percent
from everystump.cli.common import AS_JSON
from everystump.cli.console import say, table
from everystump.cli.progress import progress_bar

EXAMPLES = """\b
Examples:
  everystump bench
  everystump bench --rows 100000
"""


@click.command(epilog=EXAMPLES, short_help="Time a few fits on this machine.")
@click.option(
    "--rows",
    type=click.IntRange(min=500),
    default=20_000,
    show_default=True,
    help="Rows of two-norm data to learn from.",
)
@AS_JSON
def bench(rows: int, as_json: bool) -> None:
    """Time fits on synthetic data beside scikit-learn's boosting, in one run on this machine.

    The repository's `make bench` has all peers and all parts.
    """
    from everystump._workflow.timing import compare

    with progress_bar("models", transient=True) as progress:
        found = compare(rows, progress)
    title = f"Two-norm data, {rows:,} rows, 20 features, 10 % of the labels flipped.\n\n"
    lines = [(one["model"], one["seconds"], format_percent(one["error"])) for one in found]
    text = title + table(("model", "seconds", "test error"), lines)
    say({"rows": rows, "models": found}, text, as_json)
