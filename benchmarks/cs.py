"""A study: how the hinge solver holds from very small to very large C."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.data import NotThereError, correlated, real, two_norm
from benchmarks.report import Grid
from benchmarks.settings import N_JOBS, Settings, say
from benchmarks.timing import timed_fit
from everystump import StumpSVC

EXPONENTS = (-15, -9, -5, 0, 5, 9, 15)
HEADER = ("data", "rows", "features", "C", "seconds", "gap", "passes", "steps", "converged")
_REAL = ("covtype_binary_50k", "magic", "spambase", "heart", "sonar")


def seven_cs(settings: Settings) -> Grid:
    """Seconds, gap and passes from C = 2^-15 to 2^15, hinge loss, tolerance 1e-3."""
    rows = [
        _fit(name, table, exponent, settings)
        for name, table in _tables(settings)
        for exponent in EXPONENTS
    ]
    return Grid("StumpSVC from small to large C, tol=1e-3", HEADER, rows)


def _tables(settings: Settings) -> Iterator[tuple[str, tuple]]:
    for name, make in _sources(settings).items():
        try:
            yield name, make()
        except NotThereError as error:
            say(f"  skipped: {error}")


def _sources(settings: Settings) -> dict[str, Callable[[], tuple]]:
    def noisy(n_rows: int) -> Callable[[], tuple]:
        def make() -> tuple:
            data = two_norm(settings.rows(n_rows), 1)
            return data.X, data.y

        return make

    def stored(name: str) -> Callable[[], tuple]:
        return lambda: real(name, settings)

    return {
        "two-norm 5k": noisy(5_000),
        "two-norm 100k": noisy(100_000),
        "AR(0.99)": lambda: correlated(settings.rows(50_000)),
        **{name: stored(name) for name in _REAL},
    }


def _fit(name: str, table: tuple, exponent: int, settings: Settings) -> tuple:
    X, y = table
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
