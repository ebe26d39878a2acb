"""Tests of the conclusions of Wang et al. (2019) from Tables II to V and Figs. 2 to 5."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from everystump._experiments.engine.experiment import Claim, Record
from everystump._experiments.engine.statistics import PairedTest, paired_t_test
from everystump._experiments.wang.methods import METHODS

# Relative accuracy of the solutions that are compared.
MARGIN_TOLERANCE, OBJECTIVE_TOLERANCE = 1e-5, 2e-3
ONE_POINT = 1.0
# In the paper's tables the times differ by at most 1%.
MAX_TIME_RATIO = 1.1
CONCLUSIONS: dict[str, tuple[str, Callable[[PairedTest], bool]]] = {
    "fourclass": ("a little higher than", lambda test: test.first_is_higher),
    "chess": ("a little higher than", lambda test: test.first_is_higher),
    "ionosphere": ("a little lower than", lambda test: test.first_is_lower),
    "monk1": ("exactly equal to", lambda test: test.difference == 0 and test.error == 0),
}


def which_is_better(dataset: str, accuracy: dict[str, np.ndarray]) -> Claim:
    """Test the paper's comparison of its methods over all folds.

    ``accuracy`` has arrays of shape (n_runs, n_folds, n_rounds).
    """
    comparison, holds = CONCLUSIONS[dataset]
    test = paired_t_test(
        *(accuracy[name].mean(axis=2).ravel() for name in ("adaboost_svm", "adaboost"))
    )
    return Claim(
        f"On {dataset}, the accuracies of AdaBoost+SVM are {comparison} those of AdaBoost.",
        holds(test),
        f"the mean over all T differs by {test.format()} in {accuracy['adaboost'][..., 0].size} "
        "folds.",
    )


def no_overfitting(name: str, accuracy: np.ndarray, printed: list[dict[str, str]]) -> Claim:
    """Test whether the accuracy with the most stumps is no lower than with the fewest."""
    test = paired_t_test(accuracy[..., -1].ravel(), accuracy[..., 0].ravel())
    few, many = printed[0], printed[-1]
    in_print = float(many[f"{name}_acc"]) - float(few[f"{name}_acc"])
    return Claim(
        f"{METHODS[name]} does not overfit as T grows.",
        test.difference - 2 * test.error > -ONE_POINT and not test.first_is_lower,
        f"from T = {few['learners']} to T = {many['learners']} its accuracy changes by "
        f"{test.format()}, and in the paper by {in_print:+.2f} (supported if a decrease of "
        f"{ONE_POINT:g} point is more than two standard errors away).",
    )


def margin_grows(records: Sequence[Record]) -> Claim:
    """Test Theorem 4 on the hard margin, or its proof on the soft-margin objective."""
    text = "The margin of the support vector machine does not shrink as T grows (Theorem 4)."
    margins = [record["hard_margins"] for record in records if len(record["hard_margins"]) > 1]
    if margins:
        holds = all(_non_decreasing(margin, MARGIN_TOLERANCE) for margin in margins)
        first, last = np.mean([(margin[0], margin[-1]) for margin in margins], axis=0)
        return Claim(
            text,
            holds,
            f"the hard margin grows from {first:.3f} to {last:.3f} on average over "
            f"{len(margins)} folds, {'without' if holds else 'with'} a decrease.",
        )
    objectives = [np.array(fold) for record in records for fold in record["objectives"]]
    holds = all(_non_decreasing(-values, OBJECTIVE_TOLERANCE) for values in objectives)
    first, last = np.mean([(values[0], values[-1]) for values in objectives], axis=0)
    return Claim(
        text,
        holds,
        "the stumps do not separate the classes, so there is no hard margin; by the same proof "
        f"the minimum of Eq. 21 cannot grow: it changes from {first:.1f} to {last:.1f} on average "
        f"over {len(objectives)} folds, {'without' if holds else 'with'} an increase.",
    )


def _non_decreasing(values: Any, tolerance: float) -> bool:
    values = np.asarray(values)
    return bool(np.all(np.diff(values) >= -tolerance * np.abs(values[:-1])))


def similar_times(seconds: dict[str, np.ndarray]) -> Claim:
    """Compare the median times of the methods; ``seconds`` has runs along the first axis."""
    boosted, svm = (np.median(seconds[name], axis=0) for name in METHODS)
    ratio, added = svm.sum() / boosted.sum(), np.round(1000 * (svm - boosted)) + 0.0
    return Claim(
        "The training times of AdaBoost and AdaBoost+SVM differ little.",
        bool(ratio < MAX_TIME_RATIO),
        f"AdaBoost+SVM takes {ratio:.2f} times as long; the SVM adds {added.min():.0f} to "
        f"{added.max():.0f} ms to AdaBoost's {1000 * boosted.min():.0f} to "
        f"{1000 * boosted.max():.0f} ms (little: a ratio below {MAX_TIME_RATIO:g}; in the "
        "paper it is 1.01, because its AdaBoost is much slower).",
    )


def time_table(seconds: dict[str, np.ndarray], printed: list[dict[str, str]]) -> str:
    """Return the times of one fit and the printed ones, as a table in Markdown."""
    ours = {name: np.median(seconds[name], axis=0) for name in METHODS}
    paper = {name: np.array([float(row[f"{name}_s"]) for row in printed]) for name in METHODS}
    factor = np.concatenate([paper[name] / ours[name] for name in METHODS])
    head = [f"{title}, {whose}" for title in METHODS.values() for whose in ("paper", "ours")]
    lines = [
        "Training time in seconds: the paper used MATLAB R2017a on a 3.6 GHz Intel i7-7700, and "
        "does not say how many folds its times cover; ours are for one fit, the median over the "
        f"runs. The paper's are {factor.min():.0f} to {factor.max():.0f} times ours, or a tenth "
        "of that if they cover all ten folds.",
        "",
        f"| T | {' | '.join(head)} |",
        "|---" * (len(head) + 1) + "|",
    ]
    for i, row in enumerate(printed):
        entries = [f"{paper[name][i]:.2f} | {ours[name][i]:.3f}" for name in METHODS]
        lines.append(f"| {row['learners']} | {' | '.join(entries)} |")
    return "\n".join(lines)
