"""Evgeniou et al. (2004), Table II: one SVM, VCC and ACC with tuned parameters."""

from __future__ import annotations

from functools import partial

from everystump._experiments.engine import Entry
from everystump._experiments.engine.experiment import Claim, Experiment, Record, Report
from everystump._experiments.engine.records import dataset_names, select
from everystump._experiments.engine.statistics import mean_over_runs
from everystump._experiments.evgeniou import protocol, tuning
from everystump._experiments.published import load_published, parse_number

METHODS = {"svm": "SVM", "vcc": "VCC", "acc": "ACC"}
DATASETS = ("breast", "thyroid", "diabetes", "heart")
SIMILAR = 2.0  # points


def report(records: list[Record]) -> Report:
    """Compare with the printed table, and test that voting gains nothing."""
    cells = [
        tuning.make_cell(
            records,
            row["dataset"],
            method,
            title,
            parse_number(row[method]),
            parse_number(row[f"{method}_sd"]),
        )
        for row in load_published("evgeniou_table2")
        for method, title in METHODS.items()
    ]
    return Report(cells, [_no_gain(records)], notes=[_tuned_per_split(records)])


def _no_gain(records: list[Record]) -> Claim:
    gains = {}
    for name in dataset_names(records):
        for method in ("vcc", "acc"):
            test = tuning.compare_with_svm(select(records, dataset=name), method)
            gains[f"{METHODS[method]} on {name}"] = 100 * test.difference
    differences = ", ".join(f"{case} {gain:+.1f}" for case, gain in gains.items())
    return Claim(
        "With tuned parameters, one SVM and the votes have about the same error.",
        max(map(abs, gains.values())) < SIMILAR,
        f"error of the vote minus error of one SVM, in points: {differences} (about the same: "
        f"below {SIMILAR:g}).",
    )


def _tuned_per_split(records: list[Record]) -> str:
    parts = []
    for name in dataset_names(records):
        selected = select(records, dataset=name)
        means = [
            mean_over_runs(tuning.errors_tuned_per_split(selected, method), scale=100)
            for method in METHODS
        ]
        parts.append(f"{name} " + ", ".join(f"{m.value:.1f} ± {m.deviation:.1f}" for m in means))
    return (
        "If σ and C are chosen in each split by its own validation samples (SVM, VCC, ACC with "
        f"standard deviations): {'; '.join(parts)}."
    )


def make_experiment(entry: Entry) -> Experiment:
    """Return the experiment."""
    votes = (tuning.Vote("", protocol.N_SVMS, protocol.SUBSAMPLE),)
    run_task = partial(tuning.run_task, votes=votes)
    return Experiment(entry, tuning.PROTOCOL, protocol.make_tasks(*DATASETS), run_task, report)
