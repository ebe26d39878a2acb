"""A study of our models and common alternatives on the same real data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks import peers
from benchmarks.data import available_tables, load_table
from benchmarks.report import StudyTable
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.timing import timed_fit
from everystump import StumpLogisticRegression, StumpLogisticRegressionCV, StumpSVC

HEADER = ("data", "model", "seconds", "test error %", "AUC", "log loss")
_TABLES = ("magic", "spambase")


def ours_and_peers(settings: Settings) -> StudyTable:
    """Seconds, test error, AUC and log loss of our models and of peers on magic and spambase.

    Models have their default settings and are trained on two thirds of the rows.
    """
    rows: list[tuple] = []
    skipped: list[str] = []
    makers = {name: lambda name=name: load_table(name, settings) for name in _TABLES}
    for name, X, y in available_tables(makers, skipped):
        X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
        for title, model in _models().items():
            log(f"  {title} on {name} ...")
            fit = timed_fit(model, X, y, settings)
            rows.append((name, title, fit.seconds, *_scores(fit.result, X_test, y_test)))
    title = "Trained on two thirds of the rows, tested on the others"
    return StudyTable(title, HEADER, rows, skipped)


def _models() -> dict[str, Any]:
    return {
        "StumpLogisticRegression": StumpLogisticRegression(n_jobs=N_JOBS),
        "StumpLogisticRegressionCV": StumpLogisticRegressionCV(interactions=0, n_jobs=N_JOBS),
        "StumpSVC": StumpSVC(n_jobs=N_JOBS),
        "AdaBoostClassifier, 100 stumps": peers.adaboost(100),
        "EBM, no interactions": peers.ebm(),
        "LightGBM, 100 trees": peers.lightgbm_trees(),
        "SVC (LIBSVM), Gaussian, scaled": make_pipeline(StandardScaler(), SVC()),
    }


def _scores(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    error = 100 * (1 - model.score(X, y))
    if not hasattr(model, "predict_proba"):
        return error, roc_auc_score(y, model.decision_function(X)), np.nan
    probability = model.predict_proba(X)
    return error, roc_auc_score(y, probability[:, 1]), log_loss(y, probability)
