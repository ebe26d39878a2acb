"""Sugiyama (2015), Fig. 30.4: one decision stump."""

from __future__ import annotations

from functools import partial

from everystump._experiments import sugiyama
from everystump._experiments.experiment import Claim, Picture, Record, Report
from everystump._experiments.records import column
from everystump._experiments.statistics import paired
from everystump._experiments.sugiyama_pictures import one_panel


def report(records: list[Record]) -> Report:
    """Draw the stump of run 0 and test whether stumps perform poorly."""
    shown = sugiyama.shown_in(records)
    test = paired(column(records, "stump"), column(records, "line"))
    poor = Claim(
        "Decision stump classification performs poorly.",
        test.first_is_more,
        f"{sugiyama.in_percent(records, 'stump')}, {sugiyama.in_percent(records, 'line')}: "
        f"{test.words(scale=100)}. No stump errs below {100 * sugiyama.LEAST_STUMP_ERROR:g} % on "
        "this law, whose classes a line separates.",
    )
    draw = partial(one_panel, shown, shown["stump"]["vote"])
    return Report(
        claims=[poor],
        pictures=[Picture("", "One decision stump", draw)],
        curves=sugiyama.rows_of(records),
    )


EXPERIMENT = sugiyama.experiment("30.4", "decision stump classification", ("stump", "line"), report)
