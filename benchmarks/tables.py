"""Tables with missing values, categories and text; explanation, export and model files."""

from __future__ import annotations

import io
import pickle
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss, roc_auc_score

import everystump
from benchmarks import peers
from benchmarks.census import census
from benchmarks.data import two_norm
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import AtMost, Faster, Limit, NoTarget
from benchmarks.timing import Timed, alternating_seconds, describe, timed, timed_fit
from everystump import StumpBoostingClassifier, StumpLogisticRegression, StumpSVC
from everystump._core.columns import make_columns
from everystump._tables.frames import read_table
from everystump.export import to_sql

_MODELS = {
    "StumpSVC": StumpSVC(n_jobs=N_JOBS),
    "StumpLogisticRegression": StumpLogisticRegression(n_jobs=N_JOBS),
    "AdaBoost, T=200": StumpBoostingClassifier(n_estimators=200, n_jobs=N_JOBS),
}
_LEVELS = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 3000)
_ADULT_ROWS, _ADULT_TRAIN = 48_842, 32_561


def missing_values_and_categories(settings: Settings) -> Iterator[Row]:
    """Fits with 10% missing values, and with half of the columns categorical, against numbers."""
    data = two_norm(settings.rows(200_000), 1000)
    rng = np.random.default_rng(0)
    missing = np.where(rng.uniform(size=data.X.shape) < 0.1, np.nan, data.X)
    numbers, categories, text = _with_categories(data.X)
    pairs = {
        "10% missing": (missing, data.X),
        "10 of 20 columns as categories of 50 levels": (categories, numbers),
        "the same and 10% missing": (categories.mask(np.isnan(missing)), numbers),
        "the same columns as text": (text, numbers),
    }
    for name, model in _MODELS.items():
        for what, (table, plain) in pairs.items():
            yield _against_numbers(f"{name}, {what}", model, table, plain, data.y, settings)


def _with_categories(X: np.ndarray) -> tuple[Any, Any, Any]:
    """Return a frame with ten columns of 50 levels each: as numbers, categories and text."""
    import pandas as pd

    cuts = np.quantile(X[:, :10], np.linspace(0, 1, 51)[1:-1], axis=0)
    level = np.column_stack([np.searchsorted(cuts[:, d], X[:, d]) for d in range(10)])
    numbers = pd.DataFrame(X, columns=[f"x{d}" for d in range(X.shape[1])])
    text = numbers.copy()
    for d in range(10):
        numbers[f"x{d}"] = level[:, d].astype(np.float64)
        text[f"x{d}"] = pd.Series([f"level {k}" for k in level[:, d].tolist()], dtype="str")
    categories = text.astype({f"x{d}": "category" for d in range(10)})
    return numbers, categories, text


def _against_numbers(
    work: str, model: Any, table: Any, plain: Any, y: np.ndarray, settings: Settings
) -> Row:
    ours, peer = (timed_fit(model, rows, y, settings) for rows in (table, plain))
    target = NoTarget() if work.endswith("text") else AtMost(1.3)
    accuracies = [fit.result.score(rows, y) for fit, rows in ((ours, table), (peer, plain))]
    errors = ", ".join(f"{100 * (1 - accuracy):.2f}%" for accuracy in accuracies)
    quality = f"training errors {errors}"
    return Row(work, ours.seconds, peer.seconds, "the same with numbers", target, quality=quality)


def coding(settings: Settings) -> Iterator[Row]:
    """Encoding 1,000,000 rows of ten text columns against LightGBM's dataset."""
    frame = _text_columns(settings.rows(1_000_000))
    log(f"  encoding {len(frame):,} rows of text ...")

    def encode(table: Any) -> Any:
        X, features = read_table(table, "from_dtype")
        n_levels = [feature.n_levels for feature in features]
        return make_columns(X, max_bins=peers.MAX_BINS, n_levels=n_levels, n_threads=N_JOBS)

    encode(frame[:1000])
    ours = timed(lambda: encode(frame), settings)
    peer = timed(lambda: peers.lightgbm_dataset(frame.astype("category")), settings)
    quality = f"{', '.join(str(size - 1) for size in ours.result.sizes)} levels"
    yield Row(
        f"text of {len(frame):,} x {frame.shape[1]} to codes",
        ours.seconds,
        peer.seconds,
        "astype('category') and lightgbm.Dataset",
        AtMost(2),
        quality=quality,
    )
    ready = frame.astype("category")
    ours = timed(lambda: encode(ready), settings)
    peer = timed(lambda: peers.lightgbm_dataset(ready), settings)
    yield Row(
        f"categories of {len(frame):,} x {frame.shape[1]} to codes",
        ours.seconds,
        peer.seconds,
        "lightgbm.Dataset",
        AtMost(2),
    )


def _text_columns(n_rows: int) -> Any:
    import pandas as pd

    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            f"c{d}": pd.Series(
                np.array([f"level {k} of column {d}" for k in range(n)], dtype=object)[
                    rng.integers(n, size=n_rows)
                ],
                dtype="str",
            )
            for d, n in enumerate(_LEVELS)
        }
    )


def like_adult(settings: Settings) -> Iterator[Row]:
    """A raw frame like "adult" against EBM and HistGradientBoosting without interactions."""
    X, y = census(settings.rows(_ADULT_ROWS))
    n = settings.rows(_ADULT_TRAIN)
    ready = X.astype({name: "category" for name in X.columns if X[name].dtype != np.float64})
    trees = HistGradientBoostingClassifier(
        interaction_cst="no_interactions", max_iter=500, early_stopping=True, random_state=0
    )
    fits = {
        "one C": timed_fit(StumpLogisticRegression(n_jobs=N_JOBS), X[:n], y[:n], settings),
        "C chosen": timed_fit(
            everystump.StumpLogisticRegressionCV(interactions=0, n_jobs=N_JOBS),
            X[:n],
            y[:n],
            settings,
        ),
        "EBM, no interactions": timed_fit(peers.ebm(), X[:n], y[:n], settings),
        "HistGradientBoosting, no interactions": timed_fit(trees, ready[:n], y[:n], settings),
    }
    rows = {name: ready if name.startswith("Hist") else X for name in fits}
    scores = {name: _scores(fit, rows[name][n:], y[n:]) for name, fit in fits.items()}
    for peer in (name for name in fits if name.endswith("interactions")):
        for ours in ("one C", "C chosen"):
            yield Row(
                f"StumpLogisticRegression, {ours}, {n:,} rows like adult",
                fits[ours].seconds,
                fits[peer].seconds,
                peer,
                Faster(1),
                quality=f"{scores[ours]}; peer {scores[peer]}",
            )


def _scores(fit: Timed, X: Any, y: np.ndarray) -> str:
    probability = fit.result.predict_proba(X)[:, 1]
    error = 100 * np.mean((probability > 0.5) != y)
    auc, loss = roc_auc_score(y, probability), log_loss(y, probability)
    return f"error {error:.2f}%, AUC {auc:.4f}, log loss {loss:.4f}"


def after_the_fit(settings: Settings) -> Iterator[Row]:
    """Explaining 100,000 rows, exporting 50 features to SQL, loading a model file."""
    data = two_norm(settings.rows(20_000), settings.rows(100_000))
    model = StumpSVC(n_jobs=N_JOBS).fit(data.X, data.y)
    yield _explain(model, data.X_test, settings)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(settings.rows(20_000), 50))
    wide = StumpLogisticRegression(n_jobs=N_JOBS).fit(X, X.sum(axis=1) > 0)
    yield _sql(wide, lambda: clone(wide).fit(X, X.sum(axis=1) > 0), settings)
    for fitted in (model, wide):
        yield _load(fitted, settings)


def _explain(model: Any, rows: np.ndarray, settings: Settings) -> Row:
    log(f"  explanations of {len(rows):,} rows ...")
    ours, peer = alternating_seconds(
        [lambda: model.explain_local(rows), lambda: model.decision_function(rows)], settings
    )
    parts = model.explain_local(rows)
    difference = np.abs(
        parts.drop(columns="score").sum(axis=1) - model.decision_function(rows)
    ).max()
    return Row(
        f"explain_local of {len(rows):,} rows",
        ours,
        peer,
        "decision_function",
        AtMost(2),
        quality_ok=bool(difference <= 1e-12),
        quality=f"sums to the score within {difference:.1e}",
    )


def _sql(model: Any, fit: Callable[[], Any], settings: Settings) -> Row:
    log("  SQL of 50 features ...")
    ours = timed(lambda: to_sql(model), settings)
    peer = timed(fit, settings)
    return Row(
        f"to_sql of {model.n_features_in_} features",
        ours.seconds,
        peer.seconds,
        "the fit",
        Limit(1, "s"),
        quality=f"{len(ours.result) / 1e6:.2f} MB of SQL",
    )


def _load(model: Any, settings: Settings) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.stump"
        everystump.save(model, path)
        pickled = pickle.dumps(model)
        ours, peer = alternating_seconds(
            [lambda: everystump.load(path), lambda: pickle.load(io.BytesIO(pickled))], settings
        )
        size = path.stat().st_size
    return Row(
        f"load {describe(model)}, {model.n_features_in_} features",
        1e3 * ours,
        1e3 * peer,
        "pickle, which executes code",
        Limit(50, "ms"),
        "ms",
        quality=f"{size / 1e3:.0f} kB, {len(pickled) / 1e3:.0f} kB pickled",
    )
