"""Peak memory of KernelSVC against its memory_limit, in a separate process.

Run as a module with the parameters of an SVM, this file is that process.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

from sklearn.svm import SVC

from benchmarks.data import three_norm
from benchmarks.memory import peak_bytes, run_in_process
from benchmarks.report import Row
from benchmarks.settings import Settings, log
from benchmarks.targets import AtMost
from benchmarks.timing import timed_fit
from everystump import KernelSVC

C, GAMMA = 0.5, 0.02
# Gigabytes: the default, and less.  A quick run computes a hundredth of the products.
_LIMITS, _QUICK_LIMITS = (2.0, 0.5), (0.1, 0.06)
_GB = 1e9


def within_budget(settings: Settings) -> Iterator[Row]:
    """Peak memory of KernelSVC against its memory_limit, 20,000 rows."""
    n_rows = settings.rows(20_000)
    data = three_norm(n_rows, 1)
    svc = timed_fit(SVC(C=C, gamma=GAMMA), data.X, data.y, settings)
    for fit_intercept in (False, True):
        for limit in _QUICK_LIMITS if settings.quick else _LIMITS:
            log(f"  KernelSVC(fit_intercept={fit_intercept}, memory_limit={limit:g}) ...")
            peak = run_in_process("benchmarks.kernel_memory", n_rows, int(fit_intercept), limit)
            intercept = "with intercept" if fit_intercept else "no intercept"
            name = f"KernelSVC, {intercept}, three-norm {n_rows:,}"
            yield Row(
                f"{name}, peak memory",
                peak["bytes"] / _GB,
                limit,
                f"memory_limit={limit:g}",
                AtMost(1.0),
                unit="GB",
                quality_ok=peak["converged"],
                quality=f"gap {peak['gap']:.1e}",
            )
            yield Row(f"{name}, {limit:g} GB", peak["seconds"], svc.seconds, "SVC, with intercept")


def measure(n_rows: int, fit_intercept: int, memory_limit: float) -> dict[str, Any]:
    """Return the seconds, the additional peak memory and the certificate of a fit."""
    data = three_norm(n_rows, 1)
    parameters = {"C": C, "gamma": GAMMA, "fit_intercept": bool(fit_intercept)}
    KernelSVC(**parameters).fit(data.X[:200], data.y[:200])
    model = KernelSVC(**parameters, memory_limit=memory_limit)
    before, start = peak_bytes(), time.perf_counter()
    certificate = model.fit(data.X, data.y).certificate_
    return {
        "seconds": time.perf_counter() - start,
        "bytes": peak_bytes() - before,
        "gap": certificate.gap,
        "converged": bool(certificate.converged),
    }


if __name__ == "__main__":
    n_rows, fit_intercept, limit = sys.argv[1:]
    print(json.dumps(measure(int(n_rows), int(fit_intercept), float(limit))))
