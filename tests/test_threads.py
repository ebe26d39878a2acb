"""The number of threads, and the thread pool."""

import os
import threading
import time

import joblib
import pytest
from threadpoolctl import threadpool_info

from everystump._core.threads import count_threads, one_blas_thread, thread_map


def test_none_is_all_cores(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert count_threads(None) == joblib.cpu_count()


@pytest.mark.parametrize(("n_jobs", "expected"), [(1, 1), (3, 3), (-1, 8), (-2, 7)])
def test_a_joblib_context_determines_none(monkeypatch, n_jobs, expected):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with joblib.parallel_config(n_jobs=n_jobs):
        assert count_threads(None) == expected
        assert count_threads(5) == 5
    with joblib.parallel_config(backend="threading"):
        assert count_threads(None) == 8


@pytest.mark.parametrize(
    ("setting", "expected"), [("1", 1), ("3", 3), ("999", 8), ("0", 8), ("", 8), ("2,4", 8)]
)
def test_omp_num_threads_is_a_limit(monkeypatch, setting, expected):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 8)
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    assert count_threads(None) == expected


@pytest.mark.parametrize(("n_jobs", "expected"), [(1, 1), (40, 40), (-1, 8), (-2, 7), (-99, 1)])
def test_given_numbers(monkeypatch, n_jobs, expected):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 8)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert count_threads(n_jobs) == expected


def test_zero_jobs_raise():
    with pytest.raises(ValueError, match="n_jobs=0 has no meaning; pass a positive number"):
        count_threads(0)


@pytest.mark.parametrize("n_threads", [1, 2, 7])
@pytest.mark.parametrize("n_items", [0, 1, 2, 50])
def test_results_keep_their_order(n_threads, n_items):
    def work(i):
        time.sleep(0.001 * (i % 3))
        return i * i

    assert thread_map(work, iter(range(n_items)), n_threads) == [i * i for i in range(n_items)]


def test_threads_work_concurrently():
    """Three items that wait for each other can finish only in three threads."""
    barrier = threading.Barrier(3, timeout=10)
    names = thread_map(lambda _: (barrier.wait(), threading.current_thread().name)[1], range(3), 3)
    assert len(set(names)) == 3


def test_a_single_thread_is_the_callers():
    here = threading.current_thread()
    assert thread_map(lambda _: threading.current_thread(), range(3), 1) == [here] * 3


@pytest.mark.parametrize("bad", [0, 5, 19])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_exceptions_reach_the_caller(bad, n_threads):
    def work(i):
        time.sleep(0.001)
        if i == bad:
            raise KeyError(i)

    with pytest.raises(KeyError, match=str(bad)):
        thread_map(work, range(20), n_threads)
    assert thread_map(abs, [-1, -2, -3], n_threads) == [1, 2, 3]


def test_blas_is_limited_to_one_thread():
    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    with one_blas_thread:
        assert set(threads()) == {1}
    assert threads() == before


def test_nested_calls():
    def outer(i):
        return sum(thread_map(lambda j: i * j, range(4), 3))

    assert thread_map(outer, range(6), 3) == [6 * i for i in range(6)]


def test_calls_with_other_numbers_of_threads_share_one_pool():
    """No thread ends or starts because the next call uses another number."""

    def workers(n):
        barrier = threading.Barrier(n, timeout=10)
        found = thread_map(lambda _: (barrier.wait(), threading.current_thread())[1], range(n), n)
        return set(found) - {threading.current_thread()}

    most = workers(6)
    assert len(most) == 5
    for n in (2, 4, 3, 6, 2):
        assert len(workers(n)) == n - 1
        assert all(thread.is_alive() for thread in most)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_its_own_threads():
    thread_map(abs, range(10), 2)
    child = os.fork()
    if child == 0:
        threading.Timer(10, os._exit, [3]).start()
        barrier = threading.Barrier(2, timeout=5)
        os._exit(0 if thread_map(lambda i: barrier.wait() >= 0 and i, range(2), 2) == [0, 1] else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_blas_is_restored_when_the_last_fit_ends():
    """Overlapping limits in several threads restore the initial number of threads."""
    before = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    def hold(seconds):
        with one_blas_thread:
            time.sleep(seconds)

    holders = [threading.Thread(target=hold, args=(0.02 * k,)) for k in range(1, 4)]
    for holder in holders:
        holder.start()
    for holder in holders:
        holder.join()
    after = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert after == before
