"""Sugiyama (2015), Figs. 30.4, 30.7 and 30.11: one stump, bagging and AdaBoost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from everystump._experiments.engine import Entry
from everystump._experiments.engine.experiment import Claim, Experiment, Plot, Record, Report, Task
from everystump._experiments.engine.records import column
from everystump._experiments.engine.statistics import PairedTest, mean_over_runs, paired_t_test
from everystump._experiments.sugiyama import plots, simulation

COMPARED = {
    "stump": ("stump", "line"),
    "bagging": ("stump", "bagging"),
    "boosting": ("stump", "bagging", "boosting"),
}
"""The methods of each figure."""


def report_stump(records: list[Record]) -> Report:
    """Plot the stump of run 0 and test whether stumps perform poorly."""
    test, evidence = _compare(records, "stump", "line")
    poor = Claim(
        "Decision stump classification performs poorly.",
        test.first_is_higher,
        f"{evidence} No stump has an error below {100 * simulation.MIN_STUMP_ERROR:g}% on this "
        "distribution, whose classes are linearly separable.",
    )
    plotted = simulation.plotted_run(records)
    draw = partial(plots.one_panel, plotted, plotted["stump"]["vote"])
    return _report(records, "stump", [poor], Plot("One decision stump", draw))


def report_bagging(records: list[Record]) -> Report:
    """Plot the ensemble of run 0 and test whether bagging improves a stump."""
    test, evidence = _compare(records, "bagging", "stump")
    improves = Claim(
        "Ensemble learning by bagging improves the performance of a decision stump significantly.",
        test.first_is_lower,
        evidence,
    )
    titles = [f"bootstrap sample {j + 1}" for j in range(simulation.N_PLOTTED)]
    titles.append(f"average of b = {simulation.N_STUMPS} stumps")
    plotted = simulation.plotted_run(records)
    draw = partial(plots.seven_panels, plotted, "bagging", titles, weighted=False)
    caption = "(a)-(f) the first stumps, each from a bootstrap sample; (g) the average of all"
    return _report(records, "bagging", [improves], Plot(caption, draw))


def report_boosting(records: list[Record]) -> Report:
    """Plot the ensemble of run 0 and test whether boosting gives a strong classifier."""
    plotted = simulation.plotted_run(records)
    boosting = plotted["boosting"]
    titles = [f"round {j + 1}, θ = {theta:.2f}" for j, theta in enumerate(boosting["thetas"])]
    titles.append(f"weighted vote of b = {simulation.N_STUMPS} stumps")
    draw = partial(plots.seven_panels, plotted, "boosting", titles, weighted=True)
    caption = "(a)-(f) the first stumps, marker area = sample weight; (g) the weighted vote"
    claims = []
    for other, text in (
        ("stump", "Ensemble learning by boosting gives a strong classifier."),
        ("bagging", "Boosting gives a stronger classifier than bagging."),
    ):
        test, evidence = _compare(records, "boosting", other)
        claims.append(Claim(text, test.first_is_lower, evidence))
    notes = [
        "The second claim is ours: the book does not compare its ensembles.",
        f"The training error of the vote in (g) is {100 * boosting['training_error']:g}%: around "
        "single samples it has regions that are narrower than the grid step of 0.12 and therefore "
        "not visible.",
    ]
    return _report(records, "boosting", claims, Plot(caption, draw), notes)


REPORTS: dict[str, Callable[[list[Record]], Report]] = {
    "stump": report_stump,
    "bagging": report_bagging,
    "boosting": report_boosting,
}


def _compare(records: list[Record], first: str, second: str) -> tuple[PairedTest, str]:
    """Compare the errors of two methods; return the test and both errors as text."""
    test = paired_t_test(column(records, first), column(records, second))
    means = [mean_over_runs(column(records, name), scale=100) for name in (first, second)]
    errors = [
        f"{simulation.METHODS[name]} {mean.format()}%"
        for name, mean in zip((first, second), means, strict=True)
    ]
    return test, f"errors: {', '.join(errors)}: {test.format(scale=100)}."


def _report(
    records: list[Record],
    method: str,
    claims: Sequence[Claim],
    plot: Plot,
    notes: Sequence[str] = (),
) -> Report:
    columns = ("run", *COMPARED[method])
    data: list[dict[str, Any]] = [{name: r[name] for name in columns} for r in records]
    return Report(claims=claims, plot=plot, notes=notes, data=data)


def make_experiment(entry: Entry, *, method: str) -> Experiment:
    """Return the experiment of the figure that shows one method."""
    tasks = partial(Task.per_run, methods=COMPARED[method])
    return Experiment(entry, simulation.PROTOCOL, tasks, simulation.run_task, REPORTS[method])
