"""Sugiyama (2015), Fig. 30.7: bagging of decision stumps."""

from __future__ import annotations

from functools import partial

from everystump._experiments import sugiyama
from everystump._experiments.experiment import Claim, Picture, Record, Report
from everystump._experiments.records import column
from everystump._experiments.statistics import paired
from everystump._experiments.sugiyama_pictures import seven_panels

TITLES = (
    *(f"bootstrap sample {j + 1}" for j in range(sugiyama.SHOWN)),
    f"average of b = {sugiyama.STUMPS} stumps",
)


def report(records: list[Record]) -> Report:
    """Draw the ensemble of run 0 and test whether bagging improves a stump."""
    test = paired(column(records, "bagging"), column(records, "stump"))
    improves = Claim(
        "Ensemble learning by bagging improves the performance of a decision stump significantly.",
        test.first_is_less,
        f"{sugiyama.in_percent(records, 'bagging')}, {sugiyama.in_percent(records, 'stump')}: "
        f"{test.words(scale=100)}.",
    )
    draw = partial(seven_panels, sugiyama.shown_in(records), "bagging", TITLES, weighted=False)
    caption = (
        "(a)-(f) the first stumps of the ensemble, each of a bootstrap sample; (g) their average"
    )
    return Report(
        claims=[improves], pictures=[Picture("", caption, draw)], curves=sugiyama.rows_of(records)
    )


EXPERIMENT = sugiyama.experiment(
    "30.7", "bagging for decision stumps", ("stump", "bagging"), report
)
