"""Figures 2 to 5 of Wang et al. (2019): accuracy and time against the training fraction."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy import stats
from sklearn.model_selection import train_test_split

from everystump._experiments.engine import Entry
from everystump._experiments.engine.experiment import Claim, Experiment, Plot, Record, Report, Task
from everystump._experiments.engine.statistics import (
    SIGNIFICANCE_LEVEL,
    mean_over_runs,
    paired_t_test,
)
from everystump._experiments.wang import claims, methods, plots
from everystump._experiments.wang.methods import METHODS

PERCENTAGES = tuple(range(10, 100, 10))
ROUNDS = 200
# The paper calls its methods close; they differ by up to 4.5 points (Table II).
CLOSE = 5.0

PROTOCOL = f"""
10, 20, …, 90% of the samples of each class, drawn at random, for training, the rest for testing;
200 weak learners; 5 runs, each with its own splits. Error bars are standard errors over the runs.
{methods.METHODS_TEXT.strip()}
C = 1 as in Tables II to V. Times are for one fit with one thread, the shortest of 3. The paper
reports no numbers for these curves; we plot ours and test the paper's conclusions.
"""


def run_task(seed: int, dataset: str, run: int) -> dict[str, Any]:
    """Return accuracies and times of both methods for each training fraction."""
    X, y = methods.load_data(dataset)
    rng = RandomState(seed)
    result: dict[str, Any] = {}
    for name in METHODS:
        result |= {name: [], f"{name}_seconds": []}
    for percentage in PERCENTAGES:
        train, test = train_test_split(
            np.arange(len(y)), train_size=percentage / 100, stratify=y, random_state=rng
        )
        for name, model in methods.make_models(ROUNDS).items():
            result[f"{name}_seconds"].append(methods.fit_seconds(model, X[train], y[train]))
            result[name].append(float(model.score(X[test], y[test])))
    return result


def report(records: list[Record], dataset: str) -> Report:
    """Plot the curves and test the paper's conclusions."""
    accuracy, seconds = methods.accuracies_and_seconds(records)
    return Report(
        claims=[
            *(_accuracy_grows(name, accuracy[name]) for name in METHODS),
            _time_grows(seconds),
            _close(accuracy),
            claims.similar_times(seconds),
        ],
        plot=Plot(
            f"Accuracy and time against the training fraction on {dataset}",
            partial(plots.against_fraction, PERCENTAGES, accuracy, seconds),
        ),
        data=[_row(i, accuracy, seconds) for i in range(len(PERCENTAGES))],
    )


def _row(i: int, accuracy: dict[str, np.ndarray], seconds: dict[str, np.ndarray]) -> dict[str, Any]:
    row: dict[str, Any] = {"percent": PERCENTAGES[i]}
    for name in METHODS:
        mean = mean_over_runs(accuracy[name][:, i])
        row[f"{name}_accuracy"] = mean.value
        row[f"{name}_accuracy_standard_error"] = mean.error
        row[f"{name}_seconds"] = float(np.median(seconds[name][:, i]))
    return row


def _trend(values: np.ndarray) -> tuple[float, float]:
    """Return Spearman's correlation with the fraction over all runs, and its p-value."""
    if np.ptp(values) == 0:
        return 0.0, 1.0
    found = stats.spearmanr(np.tile(PERCENTAGES, len(values)), values.ravel())
    return float(found.statistic), float(found.pvalue)


def _accuracy_grows(name: str, accuracy: np.ndarray) -> Claim:
    trend, p_value = _trend(accuracy)
    ends = paired_t_test(accuracy[:, -1], accuracy[:, 0])
    return Claim(
        f"The accuracy of {METHODS[name]} increases with the number of training samples.",
        trend > 0 and p_value < SIGNIFICANCE_LEVEL,
        f"Spearman's correlation with the training fraction is {trend:.2f} "
        f"(p = {p_value:.2g}); from {PERCENTAGES[0]}% to {PERCENTAGES[-1]}% the mean changes by "
        f"{ends.format()}.",
    )


def _time_grows(seconds: dict[str, np.ndarray]) -> Claim:
    trends = {name: _trend(seconds[name]) for name in METHODS}
    return Claim(
        "Training times increase with the number of training samples.",
        all(trend > 0 and p_value < SIGNIFICANCE_LEVEL for trend, p_value in trends.values()),
        "; ".join(
            f"{METHODS[name]}: Spearman's correlation {trend:.2f} (p = {p_value:.2g}), "
            f"{_first_and_last_ms(seconds[name])}"
            for name, (trend, p_value) in trends.items()
        )
        + ".",
    )


def _first_and_last_ms(seconds: np.ndarray) -> str:
    first, last = 1000 * np.median(seconds, axis=0)[[0, -1]]
    return f"from {first:.1f} to {last:.1f} ms"


def _close(accuracy: dict[str, np.ndarray]) -> Claim:
    gap = (accuracy["adaboost_svm"] - accuracy["adaboost"]).mean(axis=0)
    widest = int(np.argmax(np.abs(gap)))
    return Claim(
        "The accuracies of AdaBoost and AdaBoost+SVM are close.",
        bool(abs(gap[widest]) < CLOSE),
        f"the accuracy of AdaBoost+SVM differs by {gap.mean():+.2f} points on average and by at "
        f"most {gap[widest]:+.2f}, at {PERCENTAGES[widest]}% (close: below {CLOSE:g} points, "
        "since the paper calls 4.5 close).",
    )


def make_experiment(entry: Entry, *, dataset: str) -> Experiment:
    """Return the experiment of the figure of one dataset."""
    tasks = partial(Task.per_dataset, {dataset: (dataset,)})
    return Experiment(entry, PROTOCOL, tasks, run_task, partial(report, dataset=dataset))
