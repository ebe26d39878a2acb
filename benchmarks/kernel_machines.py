"""Votes of kernel machines on three-norm data: their fit, their bounds, their left-out rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

import everystump.bounds as theory
from benchmarks.data import Sample, three_norm
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings, say
from benchmarks.targets import AtMost, Faster, Told
from benchmarks.timing import timed, timed_fit
from everystump import KernelSVC, SubsampleVotingClassifier
from everystump.bounds._det_loo_error import det_loo_margins

GAMMA = 0.02
N_MACHINES = 30
_EVERY = 20  # of so many rows, one is left out by refitting
# Machines with a gap this small are the same whoever trains them, up to this in their scores.
_FINE, _SAME = 1e-10, 1e-5


def bounds(settings: Settings) -> Iterator[Row]:
    """All bounds of a vote of 30 machines against its fit, 2,000 rows."""
    data = three_norm(settings.rows(2000), 1)
    for gamma in (GAMMA, "scale"):
        fit = timed_fit(_vote(gamma=gamma), data.X, data.y, settings)
        found = timed(lambda model=fit.result: _all_bounds(model, data), settings)
        yield Row(
            f"all bounds, gamma={gamma}, three-norm {len(data.X):,}, T = {N_MACHINES}",
            found.seconds,
            fit.seconds,
            "its own fit",
            AtMost(0.05),
            quality=", ".join(f"{name} {value:.3g}" for name, value in found.result.items()),
        )


def _all_bounds(model: Any, data: Sample) -> dict[str, float]:
    table = model, data.X, data.y
    return {
        "det-loo": theory.det_loo_bound(*table).value,
        "margins": theory.ensemble_margin_bound(*table).value,
        "radius": theory.radius_margin_bound(*table).value,
        "beta": theory.uniform_stability(*table),
        "stability": theory.stability_bound(*table, error="loo-bound").value,
        "empirical": theory.stability_bound(*table, error="empirical").value,
    }


def det_loo(settings: Settings) -> Iterator[Row]:
    """The exact det-leave-one-out error against refitting, 500 rows, 30 machines."""
    data = three_norm(settings.rows(500), 1)
    for name, parameters, target in (
        ("no bias", {}, Faster(10)),
        (f"no bias, tol={_FINE:g}", {"tol": _FINE}, Faster(10)),
        ("with bias", {"fit_intercept": True}, Told()),
    ):
        model = timed_fit(_vote(**parameters), data.X, data.y, settings).result
        table = model, data.X, data.y
        ours = timed(lambda table=table: theory.det_loo_error(*table), settings)
        refits = _Refits.measure(*table)
        off = float(np.abs(refits.margin - det_loo_margins(*table, None)[::_EVERY]).max())
        work = f"det-loo error, {name}, three-norm {len(data.X)}, T = {N_MACHINES}"
        measured = f"from {len(refits.margin)} of {len(data.X)} rows"
        yield Row(
            work,
            ours.seconds,
            refits.seconds,
            f"refitting all machines, extrapolated {measured}",
            target,
            good=parameters.get("tol") != _FINE or off <= _SAME,
            quality=f"error {ours.result:.3g}; left-out scores differ by at most {off:.1e}",
        )
        yield Row(work, ours.seconds, refits.concerned, "refitting those that have the row")


class _Refits(NamedTuple):
    """Seconds to refit the machines without each row, all or only those that have it; margins."""

    seconds: float
    concerned: float
    margin: np.ndarray

    @classmethod
    def measure(cls, model: Any, X: np.ndarray, y: np.ndarray) -> _Refits:
        """Leave out some of the rows, by two processes, and extrapolate the seconds to all."""
        rows = np.arange(0, len(X), _EVERY)
        say(f"  refitting {N_MACHINES} machines without each of {len(rows)} rows ...")
        with Parallel(n_jobs=N_JOBS) as parallel:
            parallel(delayed(_refit_without)(model, X, y, row) for row in rows[:N_JOBS])
            start = time.perf_counter()
            found = parallel(delayed(_refit_without)(model, X, y, row) for row in rows)
            seconds = (time.perf_counter() - start) * len(X) / len(rows)
        scores, spent = (np.array(part) for part in zip(*found, strict=True))
        sign = np.where(y[rows] == model.classes_[1], 1.0, -1.0)
        return cls(seconds, seconds * spent[:, 1].sum() / spent.sum(), sign * scores)


def _refit_without(model: Any, X: np.ndarray, y: np.ndarray, row: int) -> tuple:
    """Return the row's score by machines refitted without it, and what those took.

    The seconds are of the machines that did not have the row and of those that had it.
    """
    score, spent = 0.0, np.zeros(2)
    parts = zip(model.estimators_, model.weights_, model.estimators_samples_, strict=True)
    for machine, weight, rows in parts:
        rest = rows[rows != row]
        start = time.perf_counter()
        refitted = clone(machine).fit(X[rest], y[rest])
        score += weight * refitted.decision_function(X[[row]])[0]
        spent[int(len(rest) < len(rows))] += time.perf_counter() - start
    return score, spent


def vote(settings: Settings) -> Iterator[Row]:
    """SubsampleVotingClassifier against the fits of its machines in turn, 5,000 rows."""
    data = three_norm(settings.rows(5000), 1000)
    for name, model, target in (
        ("no bias", _vote(), AtMost(0.6)),
        ("with bias", _vote(fit_intercept=True), AtMost(0.6)),
        ("no bias, half of the features", _vote().set_params(feature_subsets=0.5), Told()),
        ("no bias, stump kernel", _vote(kernel="stump"), Told()),
        ("with bias, stump kernel", _vote(kernel="stump", fit_intercept=True), Told()),
    ):
        ours = timed_fit(model, data.X, data.y, settings)
        say("  its machines in turn ...")
        peer = timed(lambda fitted=ours.result: _in_turn(fitted, data), settings)
        off = np.abs(ours.result.decision_function(data.X_test) - _mean_score(peer.result, data))
        yield Row(
            f"vote, {name}, three-norm {len(data.X):,}, T = {N_MACHINES}",
            ours.seconds,
            peer.seconds,
            "its machines' fits in turn",
            target,
            quality=f"test error {data.error(ours.result):.3g}%; votes differ by at most "
            f"{off.max():.1e}",
        )


def _in_turn(model: Any, data: Sample) -> list[tuple]:
    """Fit each machine of a vote on a table of its own; return them with their features."""
    everything = slice(None)
    parts = [
        (machine, rows, everything if features is None else features)
        for machine, rows, features in zip(
            model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True
        )
    ]
    return [
        (clone(machine).fit(data.X[rows][:, features], data.y[rows]), features)
        for machine, rows, features in parts
    ]


def _mean_score(machines: list[tuple], data: Sample) -> np.ndarray:
    scores = [machine.decision_function(data.X_test[:, features]) for machine, features in machines]
    return np.mean(scores, axis=0)


def _vote(**parameters: Any) -> SubsampleVotingClassifier:
    machine = KernelSVC(**{"C": 0.5, "gamma": GAMMA, "fit_intercept": False, **parameters})
    return SubsampleVotingClassifier(
        machine, n_estimators=N_MACHINES, random_state=0, n_jobs=N_JOBS
    )
