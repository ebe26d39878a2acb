"""Evgeniou et al. (2004), Figure 7: learned weights make a vote less sensitive to the width σ."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import RandomState

from everystump._experiments import evgeniou
from everystump._experiments.experiment import Claim, Experiment, Picture, Record, Report, runs_on
from everystump._experiments.records import chosen, column, datasets_of
from everystump._experiments.statistics import mean_of, paired

C = 0.5
LINES = {
    "svm": ("one SVM", "-"),
    "vcc": ("30 SVMs, 1/30 each", ":"),
    "acc": ("30 SVMs, weights learned", "--"),
}
PROTOCOL = f"""{evgeniou.PROTOCOL.strip()}

For each σ: one SVM on all training rows; 30 SVMs on a random 40 % each, averaged (VCC); the same 30
with the coefficients of a linear SVM on their outputs on the training rows (ACC). All with b ≠ 0.
Neither C is printed: the machines have 0.5, as in Figures 1–5, the linear SVM has 1.
"""


def work(seed: int, dataset: str, run: int) -> dict[str, Any]:
    """Return the test errors of the three along σ."""
    rng = RandomState(seed)
    given = evgeniou.split(dataset, rng)
    draws = evgeniou.draw_seed(rng)
    result: dict[str, list[float]] = {name: [] for name in LINES}
    for log_sigma in evgeniou.LOG_SIGMAS[dataset]:
        base = evgeniou.machine(log_sigma, C, bias=True)
        one = base.fit(given.X, given.y)
        result["svm"].append(given.error(one))
        vcc, acc = evgeniou.errors_of_both(
            base, given, draws, n_machines=evgeniou.MACHINES, subsample=evgeniou.SUBSAMPLE
        )
        result["vcc"].append(vcc)
        result["acc"].append(acc)
    return result


def report(records: list[Record]) -> Report:
    """Draw the two panels and test whether the adaptive vote is the flattest."""
    picture = Picture("", "Test error against ln σ", lambda: _draw(records))
    claims = [
        _flatter(chosen(records, dataset=name), name, other)
        for name in datasets_of(records)
        for other in ("svm", "vcc")
    ]
    return Report(claims=claims, pictures=[picture], curves=_curves(records))


def _flatter(records: list[Record], dataset: str, other: str) -> Claim:
    """Compare the range of the error along σ, split by split."""
    adaptive, rival = np.ptp(column(records, "acc"), axis=1), np.ptp(column(records, other), axis=1)
    test = paired(adaptive, rival)
    return Claim(
        f"On {dataset} the vote with learned weights is less sensitive to σ than "
        f"{LINES[other][0]}.",
        test.first_is_less,
        f"its error moves by {100 * adaptive.mean():.1f} points along σ, the other's by "
        f"{100 * rival.mean():.1f}: {test.words(scale=100)}.",
    )


def _curves(records: list[Record]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for dataset in datasets_of(records):
        for k, log_sigma in enumerate(evgeniou.LOG_SIGMAS[dataset]):
            row: dict[str, Any] = {"dataset": dataset, "log_sigma": float(log_sigma)}
            for name in LINES:
                mean = mean_of(column(records, name, dataset=dataset)[:, k], scale=100)
                row |= {name: mean.value, f"{name}_deviation": mean.deviation}
            rows.append(row)
    return rows


def _draw(records: list[Record]) -> Any:
    from matplotlib.figure import Figure

    names = datasets_of(records)
    figure = Figure(figsize=(4.8 * len(names), 4), layout="constrained")
    axes = figure.subplots(1, len(names), squeeze=False)[0]
    for axis, dataset in zip(axes, names, strict=True):
        for name, (label, style) in LINES.items():
            error = 100 * column(records, name, dataset=dataset).mean(axis=0)
            axis.plot(evgeniou.LOG_SIGMAS[dataset], error, style, color="black", label=label)
        axis.set(title=dataset, xlabel="ln σ", ylabel="error (%)")
        axis.set_ylim(bottom=0)
    axes[0].legend(frameon=False)
    return figure


EXPERIMENT = Experiment(
    name="evgeniou-figure-7",
    title="Evgeniou et al. (2004), Figure 7: sensitivity to σ of one SVM, VCC and ACC",
    protocol=PROTOCOL,
    runs=evgeniou.RUNS,
    tasks=lambda runs: runs_on(
        {name: evgeniou.FILES[name] for name in ("heart", "diabetes")}, runs
    ),
    work=work,
    report=report,
    edition=2,
)
