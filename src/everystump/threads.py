"""One place for the decision how many threads work, and one pool that all of them share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

import joblib

T = TypeVar("T")
R = TypeVar("R")


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` stands for.

    None is all cores this process may use, less if ``OMP_NUM_THREADS`` says so, which is how
    joblib tells its workers to leave room for each other.  Negative numbers count back from all
    cores, -1 being all of them.
    """
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        cores = joblib.cpu_count()
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; pass a positive number, -1 or None.")
    return n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)


def share(work: Callable[[T], R], items: Iterable[T], n_threads: int) -> list[R]:
    """Return ``[work(item) for item in items]``, the items dealt out to threads in turn."""
    items = list(items)
    n_threads = min(n_threads, len(items))
    if n_threads <= 1:
        return [work(item) for item in items]

    def deal(first: int) -> list[R]:
        return [work(item) for item in items[first::n_threads]]

    others = [_pool(n_threads).submit(deal, first) for first in range(1, n_threads)]
    results: list = [None] * len(items)
    results[0::n_threads] = deal(0)
    for first, other in enumerate(others, start=1):
        results[first::n_threads] = other.result()
    return results


@lru_cache(maxsize=1)
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix="everystump")


# A forked child has none of its parent's threads: it must start its own pool.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
