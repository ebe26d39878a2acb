"""Help texts that list options under headings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

Headings = Mapping[str, Sequence[str]]
CSV_FORMAT: Headings = {"CSV format": ("delimiter", "decimal", "encoding", "missing")}
OTHER: Headings = {"Other": ("force", "as_json")}


class GroupedCommand(click.Command):
    """A command whose help lists its options under headings.

    Parameters
    ----------
    headings : mapping of str to sequence of str
        The names of the parameters under each heading; others come under the last one.
    """

    def __init__(self, *args: Any, headings: Headings, **options: Any) -> None:
        super().__init__(*args, **options)
        self.headings = headings

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings."""
        records = {
            parameter.name: record
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option)
            and (record := parameter.get_help_record(ctx)) is not None
        }
        groups = {
            heading: [records.pop(name) for name in names if name in records]
            for heading, names in self.headings.items()
        }
        groups[list(groups)[-1]] += records.values()
        for heading, rows in groups.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
