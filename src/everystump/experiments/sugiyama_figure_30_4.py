"""Sugiyama (2015), Fig. 30.4: one decision stump."""

from __future__ import annotations

from functools import partial

from everystump.experiments import sugiyama
from everystump.experiments.experiment import Claim, Picture, Record, Report
from everystump.experiments.records import column
from everystump.experiments.sugiyama_pictures import one_panel


def report(records: list[Record]) -> Report:
    """Draw the stump of run 0 and test whether stumps perform poorly."""
    shown = sugiyama.shown_in(records)
    errors = column(records, "stump")
    poor = Claim(
        "Decision stump classification performs poorly.",
        bool(errors.mean() > sugiyama.POOR),
        f"{sugiyama.in_percent(records, 'stump')}; the best stump of all on this law errs "
        f"{100 * sugiyama.LEAST_STUMP_ERROR:g} %, on classes that a line separates "
        f"(called poor above {100 * sugiyama.POOR:g} %).",
    )
    draw = partial(one_panel, shown, shown["stump"]["vote"])
    return Report(
        claims=[poor],
        pictures=[Picture("", "One decision stump", draw)],
        curves=sugiyama.rows_of(records),
    )


EXPERIMENT = sugiyama.experiment("30.4", "decision stump classification", ("stump",), report)
