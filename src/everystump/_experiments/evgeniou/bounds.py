"""Evgeniou et al. (2004), Figures 1-6: leave-one-out bounds, test errors, validation errors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.random import RandomState

from everystump._experiments.engine import Entry
from everystump._experiments.engine.experiment import Claim, Experiment, Plot, Record, Report
from everystump._experiments.engine.records import column
from everystump._experiments.engine.statistics import mean_over_runs, paired_t_test
from everystump._experiments.evgeniou import protocol
from everystump.bounds import det_loo_bound, loo_bound

LARGE_C = 10.0  # above it, the paper reports that the bounds fail
GOOD_ESTIMATE = 3.0  # points
PANELS = {
    "vote_0": "Bagging, b = 0",
    "one_0": "One SVM, b = 0",
    "vote_b": "Bagging, b ≠ 0",
    "one_b": "One SVM, b ≠ 0",
}
LINES = {"test": "-", "bound": "--", "validation": ":"}
STEPS = """
In each split, for each σ (eight values, half a unit of ln σ apart; the paper does not list its
values) and for b = 0 and b ≠ 0: one SVM on all training samples with the bound of Theorem 3.1; 30
SVMs on a random 40% each, averaged with weights 1/30, with the bound of Theorem 3.3; their errors
on the test samples. For the validation error, the same model is trained on a random 70% of the
training samples and evaluated on the other 30%. With b ≠ 0 the theorems do not apply; the paper
evaluates their formulas nevertheless, and so do we. Lines are means over the splits, and the error
bar is one standard deviation of the test error. C is 0.5 in Figures 1–5; for Figure 6, the caption
says 50 and the text 100, and we use 50.
"""


def run_task(seed: int, dataset: str, run: int, C: float) -> dict[str, Any]:
    """Return test error, bound and validation error of each panel, each a list over σ."""
    rng = RandomState(seed)
    split = protocol.draw_split(dataset, rng)
    smaller = protocol.hold_out(split, rng)
    vote_seed = protocol.draw_seed(rng)
    result: dict[str, Any] = {f"{panel}_{line}": [] for panel in PANELS for line in LINES}
    for log_sigma in protocol.LOG_SIGMAS[dataset]:
        for suffix, fit_intercept in (("0", False), ("b", True)):
            svm = protocol.make_svm(log_sigma, C, fit_intercept=fit_intercept)
            for panel, model, bound in (
                (f"one_{suffix}", svm, loo_bound),
                (f"vote_{suffix}", protocol.make_vote(svm, vote_seed), det_loo_bound),
            ):
                result[f"{panel}_validation"].append(smaller.error(model.fit(smaller.X, smaller.y)))
                result[f"{panel}_test"].append(split.error(model.fit(split.X, split.y)))
                result[f"{panel}_bound"].append(float(bound(model, split.X, split.y).value))
    return result


def report(records: list[Record], dataset: str, C: float) -> Report:
    """Plot the four panels and test the paper's conclusions."""
    log_sigmas = protocol.LOG_SIGMAS[dataset]
    about_bounds = _bounds_fail if C > LARGE_C else _tighter_for_bagging
    return Report(
        claims=[about_bounds(records, suffix) for suffix in ("0", "b")] + [_validation(records)],
        plot=Plot(
            "Test error, bound and validation error against ln σ",
            partial(_plot, log_sigmas, records),
        ),
        data=protocol.rows_over_sigma(
            records, dataset, (f"{panel}_{line}" for panel in PANELS for line in LINES)
        ),
    )


def _distance(records: list[Record], panel: str) -> np.ndarray:
    """Return the distance between bound and test error, averaged over σ, for each split."""
    return np.abs(column(records, f"{panel}_bound") - column(records, f"{panel}_test")).mean(axis=1)


def _intercept_phrase(suffix: str) -> str:
    return f"With b {'=' if suffix == '0' else '≠'} 0"


def _tighter_for_bagging(records: list[Record], suffix: str) -> Claim:
    vote, one = _distance(records, f"vote_{suffix}"), _distance(records, f"one_{suffix}")
    test = paired_t_test(vote, one)
    return Claim(
        f"{_intercept_phrase(suffix)}, the bound is tighter for bagging than for one SVM.",
        test.first_is_lower,
        f"its mean distance from the test error is {100 * vote.mean():.1f} points, and "
        f"{100 * one.mean():.1f} for one SVM: {test.format(scale=100)}.",
    )


def _bounds_fail(records: list[Record], suffix: str) -> Claim:
    panels = [f"vote_{suffix}", f"one_{suffix}"]
    distance = [100 * _distance(records, panel).mean() for panel in panels]
    error = [100 * column(records, f"{panel}_test").mean() for panel in panels]
    return Claim(
        f"{_intercept_phrase(suffix)} and a large C, the bounds fail.",
        all(d > e for d, e in zip(distance, error, strict=True)),
        f"bagging: {distance[0]:.1f} points from a test error of {error[0]:.1f}%; one SVM: "
        f"{distance[1]:.1f} points from {error[1]:.1f}% (a bound fails if its distance exceeds "
        "the error itself).",
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
        f"the means over the splits differ by {distance.mean():.1f} points on average over σ and "
        f"panels, and by at most {distance.max():.1f} (very good: below {GOOD_ESTIMATE:g} on "
        "average).",
    )


def _plot(log_sigmas: np.ndarray, records: list[Record]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6.5), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    for ax, (panel, title) in zip(axes.flat, PANELS.items(), strict=True):
        for line, style in LINES.items():
            values = 100 * column(records, f"{panel}_{line}")
            ax.plot(log_sigmas, values.mean(axis=0), style, color="black", label=line)
        middle = len(log_sigmas) // 2
        test = mean_over_runs(column(records, f"{panel}_test")[:, middle], scale=100)
        ax.errorbar(log_sigmas[middle], test.value, test.deviation, color="black", capsize=3)
        ax.set_title(title, fontsize=11)
    for ax in axes[1]:
        ax.set_xlabel("ln σ")
    for ax in axes[:, 0]:
        ax.set_ylabel("error (%)")
    axes[0, 0].set_ylim(bottom=0)
    axes[0, 0].legend(frameon=False)
    return figure


def make_experiment(entry: Entry, *, dataset: str, C: float) -> Experiment:
    """Return the experiment with the four panels on one dataset for one C."""
    text = protocol.PROTOCOL.strip()
    if dataset == "usps":
        text = f"{text}\n{protocol.USPS_PROTOCOL.strip()}"
    return Experiment(
        entry,
        f"{text}\n\n{STEPS.strip()}",
        protocol.make_tasks(dataset),
        partial(run_task, C=C),
        partial(report, dataset=dataset, C=C),
    )
