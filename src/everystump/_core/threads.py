"""The number of threads, and the one thread pool of the process."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, TypeVar

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")

# Threads start when they are first needed, and idle ones cost almost nothing.
_MIN_POOL_SIZE = 8
_thread = threading.local()


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads for a value of ``n_jobs``.

    None takes the number from ``joblib.parallel_config``.  Outside of such a context it means all
    cores available to this process, as in LightGBM and HistGradientBoosting, or the value of
    ``OMP_NUM_THREADS`` if that is smaller: joblib sets it to keep its worker processes from
    competing.  Negative numbers count back from all cores; -1 is all of them.
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


def thread_map(work: Callable[[T], R], items: Iterable[T], n_threads: int) -> list[R]:
    """Return ``[work(item) for item in items]``, computed by threads of this process.

    The calling thread works too, so calls may be nested.  Threads take the next item as soon as
    they are free; after an exception no further items are started.
    """
    items = list(items)
    n_threads = min(n_threads, len(items))
    if n_threads <= 1:
        return [work(item) for item in items]
    results: list = [None] * len(items)
    waiting = deque(range(len(items)))

    def run() -> None:
        while True:
            try:
                i = waiting.popleft()
            except IndexError:
                return
            try:
                results[i] = work(items[i])
            except BaseException:
                waiting.clear()
                raise

    others = [_pool().submit(run) for _ in range(n_threads - 1)]
    run()
    for other in others:
        if not other.cancel():
            other.result()
    return results


def thread_buffer(size: int) -> np.ndarray:
    """Return uninitialized floats that this thread reuses, valid until its next call.

    The first access to new memory is slow: for temporary arrays it may take longer than the
    computation, above all on Dask workers, which return freed memory at once.

    Examples
    --------
    >>> thread_buffer(3).shape
    (3,)
    """
    buffer = getattr(_thread, "buffer", None)
    if buffer is None or len(buffer) < size:
        buffer = _thread.buffer = np.empty(size)
    return buffer[:size]


def prefetch(items: Iterator[T]) -> Iterator[T]:
    """Yield items; a thread computes the next one while the current one is used.

    Examples
    --------
    >>> list(prefetch(iter("abc")))
    ['a', 'b', 'c']
    """
    end = object()
    with ThreadPoolExecutor(1, thread_name_prefix="everystump-prefetch") as pool:
        following: Future = pool.submit(next, items, end)
        while (item := following.result()) is not end:
            following = pool.submit(next, items, end)
            yield item
            del item


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    size = max(joblib.cpu_count(), _MIN_POOL_SIZE)
    return ThreadPoolExecutor(size, thread_name_prefix="everystump")


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def shares_memory() -> bool:
    """Whether joblib's workers are threads, as they are unless the user chose another backend."""
    return bool(getattr(get_active_backend(prefer="threads")[0], "supports_sharedmem", False))


def parallel_map(
    work: Callable[[T], R], items: Iterable[T], n_jobs: int | None, verbose: int = 0
) -> list[R]:
    """Return ``[work(item) for item in items]``, computed by joblib's workers.

    These are threads, one per core if ``n_jobs`` is None, unless ``joblib.parallel_config`` sets
    something else.  ``verbose`` is passed to joblib.
    """
    outermost = not getattr(get_active_backend(prefer="threads")[0], "nesting_level", 0)
    if n_jobs is None and outermost and shares_memory() and joblib.effective_n_jobs(None) == 1:
        n_jobs = count_threads(None)
    parallel = joblib.Parallel(n_jobs=n_jobs, prefer="threads", verbose=verbose, batch_size=1)
    return list(parallel(joblib.delayed(work)(item) for item in items))


def yields_results() -> bool:
    """Whether joblib's backend returns results one by one; Ray's, for example, returns all."""
    return bool(getattr(get_active_backend()[0], "supports_return_generator", False))


def process_map(
    work: Callable[[T], R],
    items: Iterable[T],
    n_jobs: int | None,
    done: Callable[[R], None] = lambda result: None,
) -> list[R]:
    """Return ``[work(item) for item in items]``, computed by joblib's processes, 1 by default.

    For work that holds the GIL most of the time.  ``done`` is called with each result in order,
    as soon as it is available if the backend supports that.
    """
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator" if yields_results() else "list")
    results = []
    for result in parallel(joblib.delayed(work)(item) for item in items):
        done(result)
        results.append(result)
    return results


class _OneBlasThread(AbstractContextManager):
    """Limit BLAS to one thread as long as any thread of the process is in this context."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
                self._limit.__enter__()
            self._depth += 1

    def __exit__(self, *exc: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._limit.__exit__(*exc)


# Matrices are small here, and BLAS threads would compete with the thread pool.
one_blas_thread = _OneBlasThread()


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
