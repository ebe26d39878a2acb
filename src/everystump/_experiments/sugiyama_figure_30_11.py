"""Sugiyama (2015), Fig. 30.11: AdaBoost for decision stumps."""

from __future__ import annotations

from functools import partial
from typing import Any

from everystump._experiments import sugiyama
from everystump._experiments.experiment import Claim, Picture, Record, Report
from everystump._experiments.records import column
from everystump._experiments.statistics import paired
from everystump._experiments.sugiyama_pictures import seven_panels


def report(records: list[Record]) -> Report:
    """Draw the ensemble of run 0 and test whether boosting gives a strong classifier."""
    shown = sugiyama.shown_in(records)
    draw = partial(seven_panels, shown, "boosting", _titles(shown), weighted=True)
    caption = "(a)-(f) the first stumps, a mark's area being its weight; (g) the weighted vote"
    return Report(
        claims=[
            _better_than(
                records, "stump", "Ensemble learning by boosting gives a strong classifier."
            ),
            _better_than(records, "bagging", "It is stronger than bagging's."),
        ],
        curves=sugiyama.rows_of(records),
        pictures=[Picture("", caption, draw)],
        notes=[
            "The second claim is ours: the book does not compare its ensembles.",
            f"The vote of (g) errs on {100 * shown['boosting']['training_error']:g} % of the rows "
            "that it learned from: around single rows it has notches that are narrower than the "
            "step 0.12 of the book's grid, and so are not seen.",
        ],
    )


def _titles(shown: dict[str, Any]) -> list[str]:
    thetas = shown["boosting"]["thetas"]
    singles = [f"round {j + 1}, θ = {theta:.2f}" for j, theta in enumerate(thetas)]
    return [*singles, f"weighted vote of b = {sugiyama.STUMPS} stumps"]


def _better_than(records: list[Record], other: str, text: str) -> Claim:
    test = paired(column(records, "boosting"), column(records, other))
    return Claim(
        text,
        test.first_is_less,
        f"{sugiyama.in_percent(records, 'boosting')}, {sugiyama.in_percent(records, other)}: "
        f"{test.words(scale=100)}.",
    )


EXPERIMENT = sugiyama.experiment(
    "30.11", "AdaBoost for decision stumps", ("stump", "bagging", "boosting"), report
)
