"""``everystump bench``: training times and test errors next to scikit-learn's."""

from __future__ import annotations

import click

from everystump._text import format_percent
from everystump.cli.common import AS_JSON
from everystump.cli.console import print_result, table
from everystump.cli.progress import progress_bar

EXAMPLES = """\b
Examples:
  everystump bench
  everystump bench --rows 100000
"""


@click.command(epilog=EXAMPLES, short_help="Time a few models on this machine.")
@click.option(
    "--rows",
    type=click.IntRange(min=500),
    default=20_000,
    show_default=True,
    help="Number of training rows of two-norm data.",
)
@AS_JSON
def bench(rows: int, as_json: bool) -> None:
    """Compare training times and test errors with scikit-learn's boosting on synthetic data.

    The repository's `make bench` runs the full benchmarks.
    """
    from everystump._workflow.benchmark import compare_models

    with progress_bar("models", transient=True) as progress:
        results = compare_models(rows, progress)
    title = f"Two-norm data, {rows:,} rows, 20 features, 10% of the labels flipped.\n\n"
    lines = [(row["model"], row["seconds"], format_percent(row["error"])) for row in results]
    text = title + table(("model", "seconds", "test error"), lines)
    print_result({"rows": rows, "models": results}, text, as_json)
