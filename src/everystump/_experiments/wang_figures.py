"""Figures 2 to 5 of Wang et al. (2019): accuracy and time against the share of training rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy import stats
from sklearn.model_selection import train_test_split

from everystump._experiments import wang, wang_claims, wang_pictures
from everystump._experiments.experiment import Claim, Experiment, Picture, Record, Report, runs_on
from everystump._experiments.records import column
from everystump._experiments.statistics import LEVEL, mean_of, paired

PERCENTS = tuple(range(10, 100, 10))
ROUNDS = 200

PROTOCOL = f"""
10, 20, …, 90 % of the samples of each class, drawn at random, to learn from, the rest to test on;
200 weak learners; 5 runs, each with draws of its own. Errors are standard errors over the runs.
{wang.METHODS_TEXT.strip()}
C = 1 as in Tables II to V. Times are of one fit in one thread, the shortest of 3. The paper prints
no numbers of these curves; we draw ours and test what it says of them.
"""


def work(seed: int, dataset: str, run: int) -> dict[str, Any]:
    """Return accuracy and seconds of both methods at each share of training rows."""
    X, y = wang.data(dataset)
    rng = RandomState(seed)
    result: dict[str, Any] = {}
    for name in wang.METHODS:
        result |= {name: [], f"{name}_seconds": []}
    for percent in PERCENTS:
        learn, test = train_test_split(
            np.arange(len(y)), train_size=percent / 100, stratify=y, random_state=rng
        )
        for name, model in wang.models(ROUNDS).items():
            result[f"{name}_seconds"].append(wang.seconds_of_fit(model, X[learn], y[learn]))
            result[name].append(float(model.score(X[test], y[test])))
    return result


def report(records: list[Record], dataset: str) -> Report:
    """Draw the curves and test what the paper says of them."""
    accuracy = {name: 100 * column(records, name) for name in wang.METHODS}
    seconds = {name: column(records, f"{name}_seconds") for name in wang.METHODS}
    draw = partial(wang_pictures.against_share, PERCENTS, accuracy, seconds)
    return Report(
        claims=[
            *(_more_rows_help(name, accuracy[name]) for name in wang.METHODS),
            _time_grows(seconds),
            _close(accuracy),
            wang_claims.little_gap(seconds),
        ],
        pictures=[Picture("", f"Accuracy and time against the training share on {dataset}", draw)],
        curves=[_row(i, accuracy, seconds) for i in range(len(PERCENTS))],
    )


def _row(i: int, accuracy: dict[str, np.ndarray], seconds: dict[str, np.ndarray]) -> dict[str, Any]:
    row: dict[str, Any] = {"percent": PERCENTS[i]}
    for name in wang.METHODS:
        mean = mean_of(accuracy[name][:, i])
        row[f"{name}_accuracy"] = mean.value
        row[f"{name}_accuracy_standard_error"] = mean.error
        row[f"{name}_seconds"] = float(np.median(seconds[name][:, i]))
    return row


def _trend(values: np.ndarray) -> tuple[float, float]:
    """Return Spearman's correlation with the share over all runs, and its two-sided p-value."""
    if np.ptp(values) == 0:
        return 0.0, 1.0
    found = stats.spearmanr(np.tile(PERCENTS, len(values)), values.ravel())
    return float(found.statistic), float(found.pvalue)


def _more_rows_help(name: str, accuracy: np.ndarray) -> Claim:
    trend, p_value = _trend(accuracy)
    ends = paired(accuracy[:, -1], accuracy[:, 0])
    return Claim(
        f"The accuracy of {wang.METHODS[name]} increases with the number of training samples.",
        trend > 0 and p_value < LEVEL,
        f"Spearman's correlation with the share is {trend:.2f} "
        f"(p = {p_value:.2g}); from {PERCENTS[0]} to {PERCENTS[-1]} % the mean changes by "
        f"{ends.words()}.",
    )


def _time_grows(seconds: dict[str, np.ndarray]) -> Claim:
    trends = {name: _trend(seconds[name]) for name in wang.METHODS}
    return Claim(
        "Time costs increase with the number of training samples.",
        all(trend > 0 and p_value < LEVEL for trend, p_value in trends.values()),
        "; ".join(
            f"{wang.METHODS[name]}: Spearman's correlation {trend:.2f} (p = {p_value:.2g}), "
            f"{_ends_in_ms(seconds[name])}"
            for name, (trend, p_value) in trends.items()
        )
        + ".",
    )


def _ends_in_ms(seconds: np.ndarray) -> str:
    first, last = 1000 * np.median(seconds, axis=0)[[0, -1]]
    return f"from {first:.1f} to {last:.1f} ms"


def _close(accuracy: dict[str, np.ndarray]) -> Claim:
    gap = (accuracy["adaboost_svm"] - accuracy["adaboost"]).mean(axis=0)
    widest = int(np.argmax(np.abs(gap)))
    return Claim(
        "The accuracies of AdaBoost and AdaBoost+SVM are close.",
        bool(abs(gap[widest]) < wang.CLOSE),
        f"AdaBoost+SVM is {gap.mean():+.2f} points apart on the average, and at most "
        f"{gap[widest]:+.2f}, at {PERCENTS[widest]} % (called close below {wang.CLOSE:g} points: "
        "the paper says so of 4.5).",
    )


def figure(number: int, dataset: str) -> Experiment:
    """Return the experiment of a figure, by its number and its data."""
    return Experiment(
        name=f"wang-figure-{number}",
        title=f"{wang.PAPER}, Fig. {number}: accuracy (%) and time against the percent of labelled "
        f"samples on {dataset}",
        protocol=PROTOCOL,
        runs=wang.RUNS,
        tasks=lambda runs: runs_on({dataset: (dataset,)}, runs),
        work=work,
        report=lambda records: report(records, dataset),
    )
