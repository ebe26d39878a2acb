"""Votes of kernel SVMs on three-norm data: fit, bounds, and det-leave-one-out error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from benchmarks.data import error_percent, three_norm
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import AtMost, Faster, NoTarget
from benchmarks.timing import timed, timed_fit
from everystump import KernelSVC, SubsampleVotingClassifier, bounds
from everystump._experiments.engine.splits import Split
from everystump.bounds._leave_one_out_errors import det_loo_margins

GAMMA = 0.02
N_SVMS = 30
_STRIDE = 20  # every 20th row is left out by refitting
# SVMs solved to this tolerance agree up to this difference of their scores.
_SMALL_TOL, _MAX_DIFFERENCE = 1e-10, 1e-5


def all_bounds(settings: Settings) -> Iterator[Row]:
    """All bounds of a vote of 30 SVMs against its fit, 2,000 rows."""
    data = three_norm(settings.rows(2000), 1)
    for gamma in (GAMMA, "scale"):
        fit = timed_fit(_vote(gamma=gamma), data.X, data.y, settings)
        found = timed(lambda model=fit.result: _all_bounds(model, data), settings)
        yield Row(
            f"all bounds, gamma={gamma}, three-norm {len(data.X):,}, T = {N_SVMS}",
            found.seconds,
            fit.seconds,
            "its own fit",
            AtMost(0.05),
            quality=", ".join(f"{name} {value:.3g}" for name, value in found.result.items()),
        )


def _all_bounds(model: Any, data: Split) -> dict[str, float]:
    fitted = model, data.X, data.y
    return {
        "det-loo": bounds.det_loo_bound(*fitted).value,
        "margins": bounds.ensemble_margin_bound(*fitted).value,
        "radius": bounds.radius_margin_bound(*fitted).value,
        "beta": bounds.uniform_stability(*fitted),
        "stability": bounds.stability_bound(*fitted, error="loo-bound").value,
        "empirical": bounds.stability_bound(*fitted, error="empirical").value,
    }


def det_loo(settings: Settings) -> Iterator[Row]:
    """The exact det-leave-one-out error against refitting, 500 rows, 30 SVMs."""
    data = three_norm(settings.rows(500), 1)
    for name, parameters, target in (
        ("no intercept", {}, Faster(10)),
        (f"no intercept, tol={_SMALL_TOL:g}", {"tol": _SMALL_TOL}, Faster(10)),
        ("with intercept", {"fit_intercept": True}, NoTarget()),
    ):
        model = timed_fit(_vote(**parameters), data.X, data.y, settings).result
        fitted = model, data.X, data.y
        ours = timed(lambda fitted=fitted: bounds.det_loo_error(*fitted), settings)
        refits = _Refits.measure(*fitted)
        difference = float(np.abs(refits.margin - det_loo_margins(*fitted, None)[::_STRIDE]).max())
        work = f"det-loo error, {name}, three-norm {len(data.X)}, T = {N_SVMS}"
        measured = f"from {len(refits.margin)} of {len(data.X)} rows"
        yield Row(
            work,
            ours.seconds,
            refits.seconds,
            f"refitting all SVMs, extrapolated {measured}",
            target,
            quality_ok=parameters.get("tol") != _SMALL_TOL or difference <= _MAX_DIFFERENCE,
            quality=f"error {ours.result:.3g}; left-out scores differ by at most {difference:.1e}",
        )
        yield Row(
            work, ours.seconds, refits.with_row_seconds, "refitting the SVMs that have the row"
        )


class _Refits(NamedTuple):
    """Seconds of refitting without each row: all SVMs, or only those that have it; margins."""

    seconds: float
    with_row_seconds: float
    margin: np.ndarray

    @classmethod
    def measure(cls, model: Any, X: np.ndarray, y: np.ndarray) -> _Refits:
        """Leave out some of the rows, in two processes, and extrapolate the seconds to all."""
        rows = np.arange(0, len(X), _STRIDE)
        log(f"  refitting {N_SVMS} SVMs without each of {len(rows)} rows ...")
        with Parallel(n_jobs=N_JOBS) as parallel:
            parallel(delayed(_refit_without)(model, X, y, row) for row in rows[:N_JOBS])
            start = time.perf_counter()
            found = parallel(delayed(_refit_without)(model, X, y, row) for row in rows)
            seconds = (time.perf_counter() - start) * len(X) / len(rows)
        scores, spent = (np.array(part) for part in zip(*found, strict=True))
        sign = np.where(y[rows] == model.classes_[1], 1.0, -1.0)
        return cls(seconds, seconds * spent[:, 1].sum() / spent.sum(), sign * scores)


def _refit_without(model: Any, X: np.ndarray, y: np.ndarray, row: int) -> tuple:
    """Return the row's score by SVMs refitted without it, and the seconds of the refits.

    The seconds are for the SVMs that did not have the row, and for those that had it.
    """
    score, spent = 0.0, np.zeros(2)
    parts = zip(model.estimators_, model.weights_, model.estimators_samples_, strict=True)
    for svm, weight, rows in parts:
        rest = rows[rows != row]
        start = time.perf_counter()
        refitted = clone(svm).fit(X[rest], y[rest])
        score += weight * refitted.decision_function(X[[row]])[0]
        spent[int(len(rest) < len(rows))] += time.perf_counter() - start
    return score, spent


def vote(settings: Settings) -> Iterator[Row]:
    """SubsampleVotingClassifier against fitting its SVMs one by one, 5,000 rows."""
    data = three_norm(settings.rows(5000), 1000)
    for name, model, target in (
        ("no intercept", _vote(), AtMost(0.6)),
        ("with intercept", _vote(fit_intercept=True), AtMost(0.6)),
        ("no intercept, half of the features", _vote().set_params(feature_subsets=0.5), NoTarget()),
        ("no intercept, stump kernel", _vote(kernel="stump"), NoTarget()),
        ("with intercept, stump kernel", _vote(kernel="stump", fit_intercept=True), NoTarget()),
    ):
        ours = timed_fit(model, data.X, data.y, settings)
        log("  its SVMs one by one ...")
        peer = timed(lambda fitted=ours.result: _one_by_one(fitted, data), settings)
        differences = np.abs(
            ours.result.decision_function(data.X_test) - _mean_score(peer.result, data)
        )
        yield Row(
            f"vote, {name}, three-norm {len(data.X):,}, T = {N_SVMS}",
            ours.seconds,
            peer.seconds,
            "its SVMs, fitted one by one",
            target,
            quality=f"test error {error_percent(data, ours.result):.3g}%; votes differ by at most "
            f"{differences.max():.1e}",
        )


def _one_by_one(model: Any, data: Split) -> list[tuple]:
    """Fit each SVM of a vote separately; return the SVMs with their features."""
    parts = zip(
        model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True
    )
    svms = []
    for svm, rows, subset in parts:
        features = slice(None) if subset is None else subset
        svms.append((clone(svm).fit(data.X[rows][:, features], data.y[rows]), features))
    return svms


def _mean_score(svms: list[tuple], data: Split) -> np.ndarray:
    scores = [svm.decision_function(data.X_test[:, features]) for svm, features in svms]
    return np.mean(scores, axis=0)


def _vote(**parameters: Any) -> SubsampleVotingClassifier:
    svm = KernelSVC(**{"C": 0.5, "gamma": GAMMA, "fit_intercept": False, **parameters})
    return SubsampleVotingClassifier(svm, n_estimators=N_SVMS, random_state=0, n_jobs=N_JOBS)
