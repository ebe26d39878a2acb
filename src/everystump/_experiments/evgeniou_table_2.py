"""Evgeniou et al. (2004), Table II: one SVM, VCC and ACC at their best."""

from __future__ import annotations

from functools import partial

from everystump._experiments import evgeniou, evgeniou_tuned
from everystump._experiments.evgeniou_tuned import Vote, tuned, tuned_in_each
from everystump._experiments.experiment import Claim, Experiment, Record, Report, runs_on
from everystump._experiments.published import number, published
from everystump._experiments.records import chosen, datasets_of
from everystump._experiments.statistics import mean_of, paired

METHODS = {"svm": "SVM", "vcc": "VCC", "acc": "ACC"}
TABLE = "evgeniou_table2"
ALIKE = 2.0  # points
DATASETS = ("breast", "thyroid", "diabetes", "heart")


def report(records: list[Record]) -> Report:
    """Compare with the printed table; the paper concludes that voting gains nothing."""
    cells = [
        evgeniou_tuned.cell(
            records,
            row["dataset"],
            method,
            title,
            number(row[method]),
            number(row[f"{method}_sd"]),
        )
        for row in published(TABLE)
        for method, title in METHODS.items()
    ]
    return Report(cells, [_no_gain(records)], notes=[_chosen_in_each(records)])


def _no_gain(records: list[Record]) -> Claim:
    gains = {}
    for name in datasets_of(records):
        here = chosen(records, dataset=name)
        for method in ("vcc", "acc"):
            test = paired(tuned(here, method), tuned(here, "svm"))
            gains[f"{METHODS[method]} on {name}"] = 100 * test.difference
    listed = ", ".join(f"{where} {gain:+.1f}" for where, gain in gains.items())
    return Claim(
        "With tuned parameters one SVM and the votes have about the same error.",
        max(map(abs, gains.values())) < ALIKE,
        f"error of the vote minus that of one SVM, in points: {listed} (called about the same "
        f"below {ALIKE:g}).",
    )


def _chosen_in_each(records: list[Record]) -> str:
    parts = []
    for name in datasets_of(records):
        here = chosen(records, dataset=name)
        means = [mean_of(tuned_in_each(here, method), scale=100) for method in METHODS]
        parts.append(f"{name} " + ", ".join(f"{m.value:.1f} ± {m.deviation:.1f}" for m in means))
    return (
        "If σ and C are chosen anew in each split by its own validation rows (SVM, VCC, ACC with "
        f"standard deviations): {'; '.join(parts)}."
    )


EXPERIMENT = Experiment(
    name="evgeniou-table-2",
    title="Evgeniou et al. (2004), Table II: error (%) of the best SVM, VCC and ACC of 30 SVMs",
    protocol=evgeniou_tuned.PROTOCOL,
    runs=evgeniou.RUNS,
    tasks=lambda runs: runs_on({name: evgeniou.FILES[name] for name in DATASETS}, runs),
    work=partial(evgeniou_tuned.work, votes=(Vote("", evgeniou.MACHINES, evgeniou.SUBSAMPLE),)),
    report=report,
    edition=2,
)
