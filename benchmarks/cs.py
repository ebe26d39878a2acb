"""A study of the hinge-loss solver from very small to very large C."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.data import available_tables, correlated, load_table, two_norm
from benchmarks.report import StudyTable
from benchmarks.settings import N_JOBS, Settings
from benchmarks.timing import timed_fit
from everystump import StumpSVC

EXPONENTS = (-15, -9, -5, 0, 5, 9, 15)
HEADER = ("data", "rows", "features", "C", "seconds", "gap", "passes", "steps", "converged")
_REAL = ("covtype_binary_50k", "magic", "spambase", "heart", "sonar")


def seven_cs(settings: Settings) -> StudyTable:
    """Seconds, gap and passes from C = 2^-15 to 2^15, hinge loss, tolerance 1e-3."""
    skipped: list[str] = []
    rows = [
        _fit(name, X, y, exponent, settings)
        for name, X, y in available_tables(_makers(settings), skipped)
        for exponent in EXPONENTS
    ]
    return StudyTable("StumpSVC from small to large C, tol=1e-3", HEADER, rows, skipped)


def _makers(settings: Settings) -> dict[str, Callable[[], tuple]]:
    def noisy(n_rows: int) -> tuple:
        data = two_norm(settings.rows(n_rows), 1)
        return data.X, data.y

    return {
        "two-norm 5k": partial(noisy, 5_000),
        "two-norm 100k": partial(noisy, 100_000),
        "AR(0.99)": lambda: correlated(settings.rows(50_000)),
        **{name: partial(load_table, name, settings) for name in _REAL},
    }


def _fit(name: str, X: np.ndarray, y: np.ndarray, exponent: int, settings: Settings) -> tuple:
    fit = timed_fit(StumpSVC(C=2.0**exponent, tol=1e-3, n_jobs=N_JOBS), X, y, settings)
    certificate = fit.result.certificate_
    return (
        name,
        *X.shape,
        f"2^{exponent}",
        fit.seconds,
        float(certificate.gap),
        round(certificate.passes),
        int(fit.result.n_iter_),
        bool(certificate.converged),
    )
