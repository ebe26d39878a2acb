"""Evgeniou et al. (2004), Tables II and III: σ and C chosen by a validation set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState

from everystump._experiments.engine.experiment import Cell, Record
from everystump._experiments.engine.records import NO_DATA, column, select
from everystump._experiments.engine.splits import Split
from everystump._experiments.engine.statistics import PairedTest, mean_over_runs, paired_t_test
from everystump._experiments.evgeniou import RUNS, protocol

CS = (0.1, 1.0, 10.0, 100.0)
ONE_POINT = 1.0
PROTOCOL = f"""{protocol.PROTOCOL.strip()}

We select the pair of σ and C with the smallest mean validation error over the splits, separately
for each method: in each split, SVMs with every pair are trained on a random 70% of the training
samples and evaluated on the other 30%. The test error is that of the SVMs trained on all training
samples. All SVMs have b ≠ 0. A number agrees if it is within one of the paper's standard deviations
or within one point.

Choices that the paper leaves open: whether one pair is selected **for all splits or in each
split**. The paper refers to the best SVMs, and its figures average validation errors over the
splits before drawing conclusions, so we select one pair for all splits; validation samples of one
split are test samples of others, which favors all methods equally. The page of Table II also lists
the errors for the other choice. **The grids**: ln σ = −0.5, 0, …, 3 covers the range of Figures
1–4, from an SVM that memorizes each sample to one that predicts only the larger class; C = 0.1, 1,
10, 100 ranges from below the C of those figures to what the paper calls large. **C of ACC's linear
SVM** is 1, the default of LIBSVM.
"""


class Vote(NamedTuple):
    """Suffix of the names of a VCC and an ACC, their number of SVMs, and the subsample."""

    suffix: str
    n_svms: int
    subsample: float


def run_task(seed: int, dataset: str, run: int, votes: Sequence[Vote]) -> dict[str, Any]:
    """Return validation and test errors of every method for every pair of σ and C."""
    rng = RandomState(seed)
    split = protocol.draw_split(dataset, rng)
    parts = {"validation": protocol.hold_out(split, rng), "test": split}
    vote_seed = protocol.draw_seed(rng)
    result: dict[str, Any] = {}
    for log_sigma, C in product(protocol.LOG_SIGMAS[dataset], CS):
        for part, samples in parts.items():
            for method, error in _errors(log_sigma, C, samples, vote_seed, votes).items():
                result.setdefault(f"{method}_{part}", []).append(error)
    return result


def _errors(
    log_sigma: float, C: float, split: Split, seed: int, votes: Sequence[Vote]
) -> dict[str, float]:
    svm = protocol.make_svm(log_sigma, C, fit_intercept=True)
    errors = {"svm": split.error(svm.fit(split.X, split.y))}
    for vote in votes:
        errors[f"vcc{vote.suffix}"], errors[f"acc{vote.suffix}"] = protocol.vote_errors(
            svm, split, seed, n_svms=vote.n_svms, subsample=vote.subsample
        )
    return errors


def tuned_errors(records: Sequence[Record], method: str) -> np.ndarray:
    """Return a method's test error in each split, σ and C chosen once for all splits."""
    best = int(column(records, f"{method}_validation").mean(axis=0).argmin())
    return column(records, f"{method}_test")[:, best]


def errors_tuned_per_split(records: Sequence[Record], method: str) -> np.ndarray:
    """Return a method's test error in each split, σ and C chosen in each split."""
    best = column(records, f"{method}_validation").argmin(axis=1)
    return np.take_along_axis(column(records, f"{method}_test"), best[:, None], axis=1)[:, 0]


def compare_with_svm(records: Sequence[Record], method: str) -> PairedTest:
    """Compare the tuned test errors of a method and of one SVM."""
    return paired_t_test(tuned_errors(records, method), tuned_errors(records, "svm"))


def make_cell(
    records: Sequence[Record],
    dataset: str,
    method: str,
    title: str,
    paper: float | None,
    deviation: float | None,
) -> Cell:
    """Compare a method's error with the printed one, which may have a standard deviation."""
    error = None if deviation is None else deviation / math.sqrt(RUNS)
    selected = select(records, dataset=dataset)
    if not selected:
        return Cell(dataset, title, None, None, paper, error, reason=NO_DATA)
    ours = mean_over_runs(tuned_errors(selected, method), scale=100)
    tolerance = max(ONE_POINT, deviation or 0.0)
    return Cell(dataset, title, ours.value, ours.error, paper, error, tolerance)
