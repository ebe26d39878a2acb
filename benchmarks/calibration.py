"""Studies of the calibration of predicted probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import train_test_split

from benchmarks import peers
from benchmarks.census import census
from benchmarks.data import load_table
from benchmarks.interactions_tables import METHODS, MIXED, predict_split
from benchmarks.report import StudyTable
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.table_study import TEST_SIZE, Criterion, Method, TableStudy
from benchmarks.two_class_tables import Table, load_tables
from everystump import StumpLogisticRegressionCV, StumpSVCCV

HEADER = ("data", "model", "calibration error", "log loss", "Brier score")
_BINS = 15
_PLOT = "calibration.png"
_N_SPLITS = 2


def curves(settings: Settings) -> StudyTable:
    """Calibration of StumpLogisticRegression, EBM and a calibrated StumpSVC on test rows.

    The calibration error is the mean distance between predicted and observed frequencies of class
    1 over 15 groups of rows of about equal size.  The curves are plotted to ``calibration.png``.
    """
    import matplotlib.pyplot as plt

    tables = {"magic": load_table("magic", settings), "like adult": census(settings.rows(48_842))}
    figure, axes = plt.subplots(1, len(tables), figsize=(9.6, 4.6), layout="constrained")
    rows = []
    for axis, (name, (X, y)) in zip(axes, tables.items(), strict=True):
        y = (y == np.unique(y)[1]).astype(int)
        X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
        for title, model in _models().items():
            log(f"  {title} on {name} ...")
            probability = model.fit(X, y).predict_proba(X_test)[:, 1]
            CalibrationDisplay.from_predictions(
                y_test, probability, n_bins=_BINS, strategy="quantile", name=title, ax=axis, ms=4
            )
            rows.append((name, title, *_scores(y_test, probability)))
        axis.set(title=name, xlabel="predicted probability", ylabel="observed frequency of class 1")
    figure.savefig(_PLOT, dpi=110)
    plt.close(figure)
    return StudyTable(f"Calibration on test rows; {Path(_PLOT).absolute()}", HEADER, rows, [])


def _models() -> dict[str, Any]:
    return {
        "StumpLogisticRegressionCV": StumpLogisticRegressionCV(interactions=0, n_jobs=N_JOBS),
        "EBM, no interactions": peers.ebm(),
        "CalibratedClassifierCV(StumpSVCCV)": CalibratedClassifierCV(
            StumpSVCCV(interactions=0, n_jobs=N_JOBS)
        ),
    }


def _scores(y: np.ndarray, probability: np.ndarray) -> tuple[float, float, float]:
    groups = np.array_split(np.argsort(probability, kind="stable"), _BINS)
    distances = [abs(y[group].mean() - probability[group].mean()) for group in groups]
    fractions = [len(group) / len(y) for group in groups]
    return (
        float(np.dot(fractions, distances)),
        log_loss(y, probability),
        brier_score_loss(y, probability),
    )


@dataclass(frozen=True)
class Reliability:
    """How reliable the probabilities of one method are on the test rows of one split."""

    calibration_error: float
    brier: float
    log_loss: float


def tables(settings: Settings) -> StudyTable:
    """Calibration error, Brier score and log loss on all two-class tables, next to trees.

    The calibration error is that of `curves`.  Tables with few test rows have few in each of its
    groups, so that part of it is noise, the same for all models.
    """
    return _STUDY.run(settings)


def _measure(table: Table, split: int, method: Method) -> Reliability:
    y, probability, _ = predict_split(table, split, method)
    error, loss, brier = _scores(y, probability)
    log(f"  {table.name}, split {split}, {method.name}: {error:.4f}")
    return Reliability(error, brier, loss)


_STUDY = TableStudy(
    title=f"Reliability of probabilities on {TEST_SIZE:.0%} of the rows, means over {_N_SPLITS} "
    "stratified splits",
    methods=[method for method in METHODS if method.name not in (MIXED, "EBM")],
    chosen="with pairs",
    unranked=("additive",),
    criteria=(
        Criterion("calibration error", lambda result: result.calibration_error),
        Criterion("Brier score", lambda result: result.brier),
        Criterion("log loss", lambda result: result.log_loss),
    ),
    result=Reliability,
    load=load_tables,
    measure=_measure,
    n_splits=_N_SPLITS,
)
