"""A study of the accuracy of models that are fitted apart and averaged, without communication."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from benchmarks.data import available_tables, load_table
from benchmarks.report import StudyTable
from benchmarks.settings import N_JOBS, Settings, log
from everystump import StumpLogisticRegressionCV, merge

TABLES = ("covtype_binary_50k", "magic", "spambase", "chess", "german_numeric", "pima")
N_PARTS = (2, 5, 10, 20)
CRITERIA = ("error %", "AUC", "log loss")
MODELS = ("all rows", "merged", "one part")
_MIN_ROWS = 50  # per part


def merged_models(settings: Settings) -> StudyTable:
    """Test error, AUC and log loss of `merge`, one fit to all rows, and one to a part of them."""
    rows, skipped = [], []
    makers = {name: partial(load_table, name, settings) for name in TABLES}
    for name, X, y in available_tables(makers, skipped):
        log(f"  parts of {name}, {len(X):,} rows ...")
        found = [list(_parts_of_split(X, y, *split)) for split in _splits(X, y, settings)]
        for (k, size), losses in zip(_sizes(found[0]), _means(found), strict=True):
            rows.append((name, k, size, *map(float, losses.T.ravel())))
    title = "Models fitted to disjoint parts of the training rows, and their average, on test rows"
    header = ["data", "parts", "rows per part"]
    header += [f"{criterion}, {model}" for criterion in CRITERIA for model in MODELS]
    return StudyTable(title, header, rows, skipped)


def _splits(X: np.ndarray, y: np.ndarray, settings: Settings) -> Iterator[tuple]:
    n_splits = 1 if settings.quick else 5
    yield from StratifiedShuffleSplit(n_splits, test_size=0.3, random_state=0).split(X, y)


def _sizes(found: list[tuple]) -> list[tuple[int, int]]:
    return [(k, size) for k, size, _ in found]


def _means(found: list[list[tuple]]) -> np.ndarray:
    """Return the mean losses over splits, of shape (n_sizes, n_models, n_criteria)."""
    return np.mean([[losses for _, _, losses in split] for split in found], axis=0)


def _parts_of_split(
    X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield the number of parts, their rows, and losses of shape (n_models, n_criteria)."""
    whole = _losses(_fit(X, y, train), X[test], y[test])
    for k in N_PARTS:
        if len(train) < _MIN_ROWS * k:
            break
        folds = StratifiedKFold(k, shuffle=True, random_state=0).split(X[train], y[train])
        models = [_fit(X, y, train[part]) for _, part in folds]
        apart = np.mean([_losses(model, X[test], y[test]) for model in models], axis=0)
        merged = _losses(merge(models), X[test], y[test])
        yield k, len(train) // k, np.array([whole, merged, apart])


def _fit(X: np.ndarray, y: np.ndarray, rows: np.ndarray) -> StumpLogisticRegressionCV:
    """Return an additive model; C is chosen on these rows alone."""
    fixed = {"interactions": 0, "measure": "mixed", "feature_weights": "equal"}
    model = StumpLogisticRegressionCV(**fixed, n_jobs=N_JOBS)
    return model.fit(X[rows], y[rows])


def _losses(model: StumpLogisticRegressionCV, X: np.ndarray, y: np.ndarray) -> tuple:
    p = model.predict_proba(X)[:, 1]
    error = 100.0 * np.mean(model.predict(X) != y)
    return float(error), float(roc_auc_score(y, p)), float(log_loss(y, p))
