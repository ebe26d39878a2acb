"""Measure time: a warm-up first, and the best of a few repeats if a run is short."""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from benchmarks.settings import Settings, log

LONG = 2.0
_WARM_UP_ROWS = 500


@dataclass(frozen=True)
class Timed:
    """The result of a function, and the seconds of its fastest call."""

    seconds: float
    result: Any


def timed(work: Callable[[], Any], settings: Settings) -> Timed:
    """Call ``work`` once, or up to ``settings.repeats`` times if it takes less than two seconds."""
    best, result = np.inf, None
    for _ in range(settings.repeats):
        gc.collect()
        start = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
        best = min(best, seconds)
        if seconds >= LONG:
            break
    return Timed(best, result)


def timed_fit(model: Any, X: np.ndarray, y: np.ndarray, settings: Settings) -> Timed:
    """Time a fit of ``model`` from the raw array; ``result`` is the fitted model.

    A fit on a few rows comes first: it compiles code or loads compiled code, and starts workers.
    """
    log(f"  {describe(model)} on {len(X):,} x {X.shape[1]} ...")
    few = slice(None, None, max(1, len(X) // _WARM_UP_ROWS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clone(model).fit(X[few], y[few])
    with warnings.catch_warnings():
        # Where it matters, the table shows whether a fit converged.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = timed(lambda: clone(model).fit(X, y), settings)
    log(f"    {fit.seconds:.3g} s")
    return fit


def seconds_per_call(work: Callable[[], Any], settings: Settings) -> float:
    """Return the seconds per call of ``work``, which is too short to be timed alone."""
    calls, best = 200, np.inf
    work()
    for _ in range(settings.repeats):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def alternating_seconds(works: Sequence[Callable[[], Any]], settings: Settings) -> list[float]:
    """Return the shortest time of each function; calls alternate, so disturbances affect all."""
    seconds = np.full((30 * settings.repeats, len(works)), np.inf)
    for turn in seconds:
        for k, work in enumerate(works):
            start = time.perf_counter()
            work()
            turn[k] = time.perf_counter() - start
    return seconds.min(axis=0).tolist()


def describe(model: Any) -> str:
    """Return the model's name, and its C if it has one."""
    C = getattr(model, "C", None)
    return type(model).__name__ + ("" if C is None else f"(C={C:.3g})")
