"""Evgeniou et al. (2004), Figures 1-6: leave-one-out bounds beside test and validation errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.random import RandomState

from everystump._experiments import evgeniou
from everystump._experiments.experiment import Claim, Experiment, Picture, Record, Report, runs_on
from everystump._experiments.records import column
from everystump._experiments.statistics import mean_of, paired
from everystump.bounds import det_loo_bound, loo_bound

SMALL_C, LARGE_C = 0.5, 50.0
GOOD_ESTIMATE = 3.0  # points
PANELS = {
    "vote_0": "Bagging, b = 0",
    "one_0": "One SVM, b = 0",
    "vote_b": "Bagging, b ≠ 0",
    "one_b": "One SVM, b ≠ 0",
}
LINES = {"test": "-", "bound": "--", "validation": ":"}
STEPS = """
In each split, for each σ (eight of them, half a unit of ln σ apart; the paper's own are not
printed) and for b = 0 and b ≠ 0: one SVM on all training rows with the bound of Theorem 3.1; 30
SVMs on a random 40 % each, averaged with weights 1/30, with the bound of Theorem 3.3; their errors
on the test rows. The validation error is that of the same machine trained on a random 70 % of the
training rows, on the other 30 %. With b ≠ 0 the theorems do not apply; the paper computes their
formulas all the same, and so do we. Lines are means over the splits, the bar is one standard
deviation of the test error. C is 0.5 in Figures 1–5; for Figure 6 the caption has 50 and the text
100, and we take the caption's.
"""
Test: TypeAlias = Callable[[list[Record]], Claim]


def work(seed: int, dataset: str, run: int, C: float) -> dict[str, Any]:
    """Return test error, bound and validation error for each panel, a list along σ each."""
    rng = RandomState(seed)
    whole = evgeniou.split(dataset, rng)
    smaller = evgeniou.hold_out(whole, rng)
    draws = evgeniou.draw_seed(rng)
    result: dict[str, Any] = {f"{panel}_{line}": [] for panel in PANELS for line in LINES}
    for log_sigma in evgeniou.LOG_SIGMAS[dataset]:
        for suffix, bias in (("0", False), ("b", True)):
            base = evgeniou.machine(log_sigma, C, bias=bias)
            for panel, model, bound in (
                (f"one_{suffix}", base, loo_bound),
                (f"vote_{suffix}", evgeniou.vote(base, draws), det_loo_bound),
            ):
                result[f"{panel}_validation"].append(smaller.error(model.fit(smaller.X, smaller.y)))
                result[f"{panel}_test"].append(whole.error(model.fit(whole.X, whole.y)))
                result[f"{panel}_bound"].append(float(bound(model, whole.X, whole.y).value))
    return result


def report(log_sigmas: np.ndarray, claims: Sequence[Test], records: list[Record]) -> Report:
    """Draw the four panels and test what the paper reads from them."""
    caption = "Test error, bound and validation error against ln σ"
    return Report(
        claims=[test(records) for test in claims],
        pictures=[Picture("", caption, partial(_draw, log_sigmas, records))],
        curves=_curves(log_sigmas, records),
    )


def _slack(records: list[Record], panel: str) -> np.ndarray:
    """Return how far the bound is from the test error, a mean over σ for each split."""
    return np.abs(column(records, f"{panel}_bound") - column(records, f"{panel}_test")).mean(axis=1)


def _tighter(suffix: str, records: list[Record]) -> Claim:
    vote, one = _slack(records, f"vote_{suffix}"), _slack(records, f"one_{suffix}")
    test = paired(vote, one)
    return Claim(
        f"With b {'=' if suffix == '0' else '≠'} 0 the bound is tighter for bagging than for one "
        "SVM.",
        test.first_is_less,
        f"its mean distance from the test error is {100 * vote.mean():.1f} points, and "
        f"{100 * one.mean():.1f} for one SVM: {test.words(scale=100)}.",
    )


def _validation(records: list[Record]) -> Claim:
    distance = 100 * np.abs(
        [
            (column(records, f"{panel}_validation") - column(records, f"{panel}_test")).mean(axis=0)
            for panel in PANELS
        ]
    )
    return Claim(
        "The validation error is a very good estimate of the test error.",
        bool(distance.mean() < GOOD_ESTIMATE),
        f"means over the splits are {distance.mean():.1f} points apart on average over σ and "
        f"panels, {distance.max():.1f} at most (called very good below {GOOD_ESTIMATE:g} on "
        "average).",
    )


def _too_wide(suffix: str, records: list[Record]) -> Claim:
    panels = [f"vote_{suffix}", f"one_{suffix}"]
    slack = [100 * _slack(records, panel).mean() for panel in panels]
    wrong = [100 * column(records, f"{panel}_test").mean() for panel in panels]
    return Claim(
        f"With b {'=' if suffix == '0' else '≠'} 0 and a large C the bounds do not work.",
        all(s > w for s, w in zip(slack, wrong, strict=True)),
        f"bagging: {slack[0]:.1f} points from a test error of {wrong[0]:.1f} %; one SVM: "
        f"{slack[1]:.1f} points from {wrong[1]:.1f} % (a bound farther away than the error itself "
        "is said not to work).",
    )


BOUNDS_ARE_TIGHT: tuple[Test, ...] = (partial(_tighter, "0"), partial(_tighter, "b"), _validation)
BOUNDS_FAIL: tuple[Test, ...] = (partial(_too_wide, "0"), partial(_too_wide, "b"), _validation)


def _curves(log_sigmas: np.ndarray, records: list[Record]) -> list[dict[str, Any]]:
    rows = [{"log_sigma": float(value)} for value in log_sigmas]
    for name in (f"{panel}_{line}" for panel in PANELS for line in LINES):
        for row, values in zip(rows, column(records, name).T, strict=True):
            mean = mean_of(values, scale=100)
            row |= {name: mean.value, f"{name}_deviation": mean.deviation}
    return rows


def _draw(log_sigmas: np.ndarray, records: list[Record]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6.5), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    for axis, (panel, title) in zip(axes.flat, PANELS.items(), strict=True):
        for line, style in LINES.items():
            values = 100 * column(records, f"{panel}_{line}")
            axis.plot(log_sigmas, values.mean(axis=0), style, color="black", label=line)
        test = 100 * column(records, f"{panel}_test")
        middle = len(log_sigmas) // 2
        deviation = mean_of(test[:, middle]).deviation
        axis.errorbar(
            log_sigmas[middle], test[:, middle].mean(), deviation, color="black", capsize=3
        )
        axis.set_title(title, fontsize=11)
    for axis in axes[1]:
        axis.set_xlabel("ln σ")
    for axis in axes[:, 0]:
        axis.set_ylabel("error (%)")
    axes[0, 0].set_ylim(bottom=0)
    axes[0, 0].legend(frameon=False)
    return figure


def figure(
    number: int, dataset: str, C: float = SMALL_C, claims: Sequence[Test] = BOUNDS_ARE_TIGHT
) -> Experiment:
    """Return Figure ``number``: the four panels on one data set at one C, and what to test."""
    protocol = evgeniou.PROTOCOL.strip()
    if dataset == "usps":
        protocol = f"{protocol}\n{evgeniou.USPS_PROTOCOL.strip()}"
    return Experiment(
        name=f"evgeniou-figure-{number}",
        title=f"Evgeniou et al. (2004), Figure {number}: bounds on {dataset}, C = {C:g}",
        protocol=f"{protocol}\n\n{STEPS.strip()}",
        runs=evgeniou.RUNS,
        tasks=lambda runs: runs_on({dataset: evgeniou.FILES[dataset]}, runs),
        work=partial(work, C=C),
        report=partial(report, evgeniou.LOG_SIGMAS[dataset], claims),
        edition=2,
    )
