"""Tables II to V of Wang et al. (2019): accuracy and time against the number of stumps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.random import RandomState
from sklearn.model_selection import StratifiedKFold

from everystump._core.solvers.certificate import InseparableError
from everystump._experiments.engine import Entry
from everystump._experiments.engine.experiment import Cell, Experiment, Plot, Record, Report, Task
from everystump._experiments.engine.statistics import mean_over_runs
from everystump._experiments.published import load_published
from everystump._experiments.wang import claims, methods, plots
from everystump._experiments.wang.methods import METHODS
from everystump._experiments.wang.notes import NOTES, PROTOCOL, REASONS
from everystump.estimators.boosted_svc import BoostedStumpSVC

ROUNDS = tuple(range(100, 1001, 100))
N_FOLDS = 10
TOLERANCE = 1.0
# Theorem 4 compares margins of consecutive numbers of stumps, which may hardly differ.
MARGIN_TOL = 1e-6


def run_task(seed: int, dataset: str, run: int) -> dict[str, Any]:
    """Return the accuracies of one cross-validation, and times and margins of its first fold.

    Accuracies and minima of Eq. 21 are lists, one per fold, of one number per T.
    """
    X, y = methods.load_data(dataset)
    cv = StratifiedKFold(N_FOLDS, shuffle=True, random_state=RandomState(seed))
    folds = list(cv.split(X, y))
    result: dict[str, Any] = {name: [] for name in (*METHODS, "objectives")}
    for train, test in folds:
        boosted = methods.adaboost(max(ROUNDS)).fit(X[train], y[train])
        svm = methods.adaboost_svm(max(ROUNDS), stages=ROUNDS).fit(X[train], y[train])
        for name, model in (("adaboost", boosted), ("adaboost_svm", svm)):
            accuracies = staged_accuracies(model, X[test], y[test])
            result[name].append([at_round(accuracies, rounds) for rounds in ROUNDS])
        result["objectives"].append(_of_stages(svm, lambda stage: stage.certificate.primal))
    train = folds[0][0]
    result["hard_margins"] = _hard_margins(X[train], y[train])
    return result | _seconds(X[train], y[train])


def _seconds(X: np.ndarray, y: np.ndarray) -> dict[str, list[float]]:
    """Return the training times of both methods for each T."""
    seconds: dict[str, list[float]] = {f"{name}_seconds": [] for name in METHODS}
    for rounds in ROUNDS:
        for name, model in methods.make_models(rounds).items():
            seconds[f"{name}_seconds"].append(methods.fit_seconds(model, X, y))
    return seconds


def staged_accuracies(model: Any, X: np.ndarray, y: np.ndarray) -> dict[int, float]:
    """Return the accuracy after each round of AdaBoost, or at each stage of AdaBoost+SVM."""
    accuracies = [float(np.mean(labels == y)) for labels in model.staged_predict(X)]
    stages = [stage.n_estimators for stage in getattr(model, "stages_", ())]
    return dict(zip(stages or range(1, len(accuracies) + 1), accuracies, strict=True))


def at_round(accuracies: dict[int, float], rounds: int) -> float:
    """Return the accuracy for one T; boosting that stopped earlier keeps its last stumps."""
    return accuracies[min(rounds, max(accuracies))]


def _hard_margins(X: np.ndarray, y: np.ndarray) -> list[float]:
    """Return the margin of Eq. 19 for each T that separates the classes, in ascending T."""
    svm = methods.adaboost_svm(max(ROUNDS), C=np.inf, stages=ROUNDS, tol=MARGIN_TOL)
    try:
        svm.fit(X, y)
    except InseparableError:
        return []
    return _of_stages(svm, lambda stage: stage.margin)


def _of_stages(svm: BoostedStumpSVC, read: Callable[[Any], float]) -> list[float]:
    return [float(read(stage)) for stage in svm.stages_]


def report(records: list[Record], dataset: str) -> Report:
    """Compare with a printed table and test the paper's conclusions."""
    accuracy, seconds = methods.accuracies_and_seconds(records)
    printed = [
        row
        for row in load_published("wang_tables")
        if row["dataset"] == dataset and int(row["learners"]) in ROUNDS
    ]
    return Report(
        _cells(dataset, accuracy, printed),
        [
            claims.which_is_better(dataset, accuracy),
            *(claims.no_overfitting(name, accuracy[name], printed) for name in METHODS),
            claims.margin_grows(records),
            claims.similar_times(seconds),
        ],
        Plot(
            f"Accuracy and time against the number of stumps on {dataset}",
            partial(plots.against_rounds, ROUNDS, accuracy, seconds, printed),
        ),
        notes=[claims.time_table(seconds, printed)],
    )


def _cells(
    dataset: str, accuracy: dict[str, np.ndarray], printed: Sequence[dict[str, str]]
) -> list[Cell]:
    cells = []
    for i, row in enumerate(printed):
        for name, title in METHODS.items():
            ours = mean_over_runs(accuracy[name][:, :, i].mean(axis=1))
            cells.append(
                Cell(
                    f"T = {row['learners']}",
                    title,
                    ours.value,
                    ours.error,
                    float(row[f"{name}_acc"]),
                    tolerance=TOLERANCE,
                    higher_is_better=True,
                    reason=REASONS.get((dataset, name), ""),
                )
            )
    return cells


def make_experiment(entry: Entry, *, dataset: str) -> Experiment:
    """Return the experiment of the table of one dataset."""
    return Experiment(
        entry,
        f"{PROTOCOL.strip()}\n\n{NOTES[dataset].strip()}",
        partial(Task.per_dataset, {dataset: (dataset,)}),
        run_task,
        partial(report, dataset=dataset),
    )
