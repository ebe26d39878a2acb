"""What Wang et al. (2019) conclude from Tables II to V and Figs 2 to 5, put to the test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from everystump._experiments import wang
from everystump._experiments.experiment import Claim, Record
from everystump._experiments.statistics import Paired, paired

# Relative errors of solutions that are compared.
MARGIN_SLACK, OBJECTIVE_SLACK = 1e-5, 2e-3
ONE_POINT = 1.0
# In the paper's tables the times differ by 1 % at most.
HARDLY = 1.1
SENTENCES: dict[str, tuple[str, Callable[[Paired], bool]]] = {
    "fourclass": ("a little higher than", lambda test: test.first_is_more),
    "chess": ("a little higher than", lambda test: test.first_is_more),
    "ionosphere": ("a little lower than", lambda test: test.first_is_less),
    "monk1": ("exactly equal to", lambda test: test.difference == 0 and test.error == 0),
}


def which_is_better(dataset: str, found: dict[str, np.ndarray]) -> Claim:
    """Test what the paper says of the accuracies of its methods, over all folds.

    ``found`` has accuracies of shape (n_runs, n_folds, n_rounds).
    """
    words, holds = SENTENCES[dataset]
    test = paired(*(found[name].mean(axis=2).ravel() for name in ("adaboost_svm", "adaboost")))
    return Claim(
        f"On {dataset} the accuracies of AdaBoost+SVM are {words} those of AdaBoost.",
        holds(test),
        f"the mean over all T differs by {test.words()} in {found['adaboost'][..., 0].size} folds.",
    )


def keeps_its_accuracy(name: str, accuracy: np.ndarray, printed: list[dict[str, str]]) -> Claim:
    """Test whether the most stumps are no worse than the fewest."""
    test = paired(accuracy[..., -1].ravel(), accuracy[..., 0].ravel())
    few, many = printed[0], printed[-1]
    in_print = float(many[f"{name}_acc"]) - float(few[f"{name}_acc"])
    return Claim(
        f"{wang.METHODS[name]} does not overfit as T grows.",
        test.difference - 2 * test.error > -ONE_POINT and not test.first_is_less,
        f"from T = {few['learners']} to T = {many['learners']} its accuracy changes by "
        f"{test.words()}, and by {in_print:+.2f} in print (holds if a fall of {ONE_POINT:g} point "
        "is two standard errors away).",
    )


def margin_grows(records: Sequence[Record]) -> Claim:
    """Test Theorem 4 on the hard margin, or by the same proof on the objective of the soft one."""
    text = "The margin of the support vector machine does not shrink as T grows (Theorem 4)."
    margins = [record["hard_margins"] for record in records if len(record["hard_margins"]) > 1]
    if margins:
        holds = all(_never_falls(margin, MARGIN_SLACK) for margin in margins)
        first, last = np.mean([(margin[0], margin[-1]) for margin in margins], axis=0)
        evidence = (
            f"the hard margin grows from {first:.3f} to {last:.3f} on the average of "
            f"{len(margins)} folds, {'without' if holds else 'with'} a step back."
        )
        return Claim(text, holds, evidence)
    objectives = [-np.array(fold) for record in records for fold in record["objectives"]]
    holds = all(_never_falls(objective, OBJECTIVE_SLACK) for objective in objectives)
    first, last = -np.mean([(o[0], o[-1]) for o in objectives], axis=0)
    evidence = (
        "the stumps do not separate the classes, so there is no hard margin; by the same proof "
        f"the minimum of Eq. 21 cannot grow, and it goes from {first:.1f} to {last:.1f} "
        f"{'without' if holds else 'with'} a step back in {len(objectives)} folds."
    )
    return Claim(text, holds, evidence)


def _never_falls(values: Any, slack: float) -> bool:
    values = np.asarray(values)
    return bool(np.all(np.diff(values) >= -slack * np.abs(values[:-1])))


def little_gap(seconds: dict[str, np.ndarray]) -> Claim:
    """Compare the times of the methods; ``seconds`` has arrays that end in one axis of cases."""
    boosted, machine = (np.median(seconds[name], axis=0) for name in wang.METHODS)
    ratio, added = machine.sum() / boosted.sum(), 1000 * (machine - boosted)
    return Claim(
        "The time costs of AdaBoost and AdaBoost+SVM have little gap.",
        bool(ratio < HARDLY),
        f"AdaBoost+SVM takes {ratio:.2f} times as long; the machine adds {added.min():.0f} to "
        f"{added.max():.0f} ms to AdaBoost's {1000 * boosted.min():.0f} to "
        f"{1000 * boosted.max():.0f} ms (called little below {HARDLY:g} times; the paper has "
        "1.01, since its AdaBoost takes so much longer).",
    )


def beside_printed_times(seconds: dict[str, np.ndarray], printed: list[dict[str, str]]) -> str:
    """Return the times of one fit beside the printed ones, as a table in Markdown."""
    ours = {name: np.median(seconds[name], axis=0) for name in wang.METHODS}
    paper = {name: np.array([float(row[f"{name}_s"]) for row in printed]) for name in wang.METHODS}
    factor = np.concatenate([paper[name] / ours[name] for name in wang.METHODS])
    head = [f"{title}, {whose}" for title in wang.METHODS.values() for whose in ("paper", "ours")]
    lines = [
        f"Seconds of training: the paper's were taken with MATLAB R2017a on a 3.6 GHz Intel "
        f"i7-7700, and it does not say how many folds they cover; ours are of one fit, the median "
        f"over the runs. Theirs are {factor.min():.0f} to {factor.max():.0f} times ours, a tenth "
        "of that if they cover all ten folds.",
        "",
        f"| T | {' | '.join(head)} |",
        "|---" * (len(head) + 1) + "|",
    ]
    for i, row in enumerate(printed):
        entries = [f"{paper[name][i]:.2f} | {ours[name][i]:.3f}" for name in wang.METHODS]
        lines.append(f"| {row['learners']} | {' | '.join(entries)} |")
    return "\n".join(lines)
