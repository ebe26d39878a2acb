"""A study of the calibration of predicted probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import train_test_split

from benchmarks import peers
from benchmarks.census import census
from benchmarks.data import load_table
from benchmarks.report import StudyTable
from benchmarks.settings import N_JOBS, Settings, log
from everystump import StumpLogisticRegressionCV, StumpSVCCV

HEADER = ("data", "model", "calibration error", "log loss", "Brier score")
_BINS = 15
_PLOT = "calibration.png"


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
