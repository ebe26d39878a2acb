"""``everystump bench``: how fast and how good it is here, beside scikit-learn's models."""

from __future__ import annotations

import click

from everystump.cli.common import AS_JSON, percent, say

EXAMPLES = """\b
Examples:
  everystump bench
  everystump bench --rows 100000
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--rows",
    type=click.IntRange(min=500),
    default=20_000,
    show_default=True,
    help="Rows of two-norm data to learn from.",
)
@AS_JSON
def bench(rows: int, as_json: bool) -> None:
    """Time fits on drawn data beside scikit-learn's boosting, in one run on this machine.

    The repository's `make bench` has all peers and all parts.
    """
    from everystump.study.timing import compare

    found = compare(rows)
    lines = [f"Two-norm data, {rows:,} rows, 20 features, 10 % of the labels flipped.", ""]
    lines += [f"{'model':52}{'seconds':>9}{'test error':>12}"]
    lines += [
        f"{one['model']:52}{one['seconds']:>9.3f}{percent(one['error']):>12}" for one in found
    ]
    say({"rows": rows, "models": found}, lines, as_json)
