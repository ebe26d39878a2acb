"""One place for the decision how many threads work, and one pool that all of them share."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, TypeVar

import joblib
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` stands for.

    None is what ``joblib.parallel_config`` says.  Outside of such a context it is all cores that
    this process may use, as in LightGBM and HistGradientBoosting, fewer if ``OMP_NUM_THREADS``
    says so, which is how joblib keeps its worker processes from competing.  Negative numbers
    count back from all cores, -1 being all of them.
    """
    if n_jobs is None:
        n_jobs = get_active_backend()[1]
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        cores = joblib.cpu_count()
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; pass a positive number, -1 or None.")
    return n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)


def share(work: Callable[[T], R], items: Iterable[T], n_threads: int) -> list[R]:
    """Return ``[work(item) for item in items]``; threads take the next item when they are free."""
    items = list(items)
    n_threads = min(n_threads, len(items))
    if n_threads <= 1:
        return [work(item) for item in items]
    results: list = [None] * len(items)
    waiting = deque(range(len(items)))

    def take_turns() -> None:
        while True:
            try:
                i = waiting.popleft()
            except IndexError:
                return
            try:
                results[i] = work(items[i])
            except BaseException:
                waiting.clear()  # nobody needs the rest
                raise

    pool = _workers.at_least(n_threads - 1)
    others = [pool.submit(take_turns) for _ in range(n_threads - 1)]
    take_turns()
    for other in others:
        if not other.cancel():
            other.result()
    return results


def shares_memory() -> bool:
    """Tell whether joblib's workers see our arrays: threads, unless a user chose other workers."""
    return bool(getattr(get_active_backend(prefer="threads")[0], "supports_sharedmem", False))


def spread(
    work: Callable[[T], R], items: Iterable[T], n_jobs: int | None, verbose: int = 0
) -> list[R]:
    """Return ``[work(item) for item in items]`` by joblib's workers.

    They are threads, all cores of them if ``n_jobs`` is None, unless ``joblib.parallel_config``
    says otherwise.  ``verbose`` is joblib's.
    """
    outermost = not getattr(get_active_backend(prefer="threads")[0], "nesting_level", 0)
    if n_jobs is None and outermost and shares_memory() and joblib.effective_n_jobs(None) == 1:
        n_jobs = count_threads(None)
    parallel = joblib.Parallel(n_jobs=n_jobs, prefer="threads", verbose=verbose, batch_size=1)
    return list(parallel(joblib.delayed(work)(item) for item in items))


def process_map(
    work: Callable[[T], R],
    items: Iterable[T],
    n_jobs: int | None,
    done: Callable[[R], None] = lambda result: None,
) -> list[R]:
    """Return ``[work(item) for item in items]`` by joblib's processes, one of them by default.

    For work in many small steps of Python, at which threads only wait for each other.  ``done`` is
    called with each result, as soon as it and all before it are there if the workers can do that.
    """
    one_by_one = getattr(get_active_backend()[0], "supports_return_generator", False)
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator" if one_by_one else "list")
    results = []
    for result in parallel(joblib.delayed(work)(item) for item in items):
        done(result)
        results.append(result)
    return results


class _OneBlasThread(AbstractContextManager):
    """Keep BLAS to one thread while any fit of the process is under way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
                self._limit.__enter__()
            self._inside += 1

    def __exit__(self, *exc: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.__exit__(*exc)


# Our matrices are small, and BLAS's own threads would fight with ours.
one_blas_thread = _OneBlasThread()


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


class _Workers:
    """The one pool of threads of this process, replaced only when a call asks for more of them.

    Threads start when they are first needed and then wait for the next call, whatever number of
    threads it asks for.
    """

    _lock: threading.Lock
    _size: int
    _pool: ThreadPoolExecutor | None

    def __init__(self) -> None:
        self.forget()

    def at_least(self, n_threads: int) -> ThreadPoolExecutor:
        """Return a pool that has so many threads, or more."""
        with self._lock:
            if self._pool is None or n_threads > self._size:
                # Calls under way keep the old pool, whose threads end with the last of them.
                self._size = max(n_threads, joblib.cpu_count())
                self._pool = ThreadPoolExecutor(self._size, thread_name_prefix="everystump")
            return self._pool

    def forget(self) -> None:
        """Start anew: a forked child has none of its parent's threads."""
        self._lock = threading.Lock()
        self._size = 0
        self._pool = None


_workers = _Workers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.forget)
