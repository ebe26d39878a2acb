"""Lost and silent workers, lost schedulers: a fit continues, or ends in one clear error."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest
import toy_experiment

from everystump._experiments.engine.runner import run_experiment

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from everystump.dask import (  # noqa: E402
    ClusterError,
    DaskStumpBoostingClassifier,
    DaskStumpLogisticRegression,
    DaskStumpSVC,
)
from everystump.dask._cluster import RowCluster  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2000, 4))
Y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.normal(size=2000) > 0).astype(int)
MODELS = [
    DaskStumpLogisticRegression(interactions=2, max_bins=32),
    DaskStumpSVC(max_bins=32),
    DaskStumpBoostingClassifier(n_estimators=15),
]


def arrays():
    return da.from_array(X, chunks=(300, 4)), da.from_array(Y, chunks=300)


@contextlib.contextmanager
def quiet():
    """Workers that end in the middle of something are reported by Dask's loggers."""
    with distributed.utils.silence_logging_cmgr(60):
        yield


@pytest.fixture
def cluster():
    with (
        quiet(),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=60,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(2)
        yield cluster, client


@pytest.fixture
def at_call(monkeypatch):
    """Run a function before a certain call to the cluster; return the number of calls so far."""

    def install(number, action):
        counter, original = [0], RowCluster._run

        def run(self, call):
            counter[0] += 1
            if counter[0] == number:
                action()
            return original(self, call)

        monkeypatch.setattr(RowCluster, "_run", run)
        return counter

    return install


def worker_pids(client):
    return list(client.run(os.getpid).values())


def kill_one(client, which=0):
    os.kill(sorted(worker_pids(client))[which], signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("fraction", [0.3, 0.9])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_lost_worker_is_replaced(cluster, at_call, model, fraction):
    _, client = cluster
    client.wait_for_workers(2, timeout=60)
    n_calls = at_call(-1, None)
    expected = model.fit(*arrays()).decision_function(X)
    certificate = getattr(model, "certificate_", None)
    at_call(max(1, int(fraction * n_calls[0])), lambda: kill_one(client))
    model.fit(*arrays())
    assert model.n_rebuilt_parts_ >= 1
    # The calls so far are repeated: only the order of sums may differ.
    assert model.decision_function(X) == pytest.approx(expected, abs=1e-9)
    if certificate is not None:
        assert model.certificate_.converged
        assert model.certificate_.gap == pytest.approx(certificate.gap, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["finish_product", "directional_slopes"])
def test_a_multinomial_fit_continues(cluster, monkeypatch, method):
    """A worker is lost in the middle of a product, whose first half is repeated, and after it.

    Of all products, only the first half of the last one is logged.
    """
    _, client = cluster
    client.wait_for_workers(2, timeout=60)
    label = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.5])
    data = da.from_array(X, chunks=(300, 4)), da.from_array(label, chunks=300)
    model = DaskStumpLogisticRegression(max_bins=32)
    expected = model.fit(*data).decision_function(X)
    counter, original = [0], RowCluster._run

    def run(self, call):
        counter[0] += call.method == "call" and call.args[1] == method
        if counter[0] == 3:
            counter[0] += 1
            kill_one(client)
        results = original(self, call)
        started = [
            logged
            for logged in self._log
            if logged.method == "call" and logged.args[1] == "start_product"
        ]
        assert len(started) <= 1
        return results

    monkeypatch.setattr(RowCluster, "_run", run)
    model.fit(*data)
    assert counter[0] > 3 and model.n_rebuilt_parts_ >= 1
    assert model.decision_function(X) == pytest.approx(expected, abs=1e-9)
    assert model.multi_class_ == "multinomial" and model.certificate_.converged


@pytest.mark.slow
def test_a_worker_that_is_killed_while_it_reads_is_replaced(cluster):
    _, client = cluster
    client.wait_for_workers(2, timeout=60)
    pid = worker_pids(client)[0]

    def slow(block):
        time.sleep(0.2)
        return block

    data, labels = arrays()
    threading.Timer(0.3, os.kill, (pid, signal.SIGKILL)).start()
    model = DaskStumpLogisticRegression(max_bins=32).fit(data.map_blocks(slow, dtype=float), labels)
    expected = DaskStumpLogisticRegression(max_bins=32).fit(data, labels)
    assert model.decision_function(X) == pytest.approx(expected.decision_function(X), abs=1e-9)


def test_waiting_that_dask_cancels_is_repeated(cluster, monkeypatch):
    """Dask raises an UnboundLocalError if a worker is lost at the wrong moment."""
    result, n_calls = distributed.Future.result, [0]

    def canceled(self, timeout=None):
        n_calls[0] += 1
        if n_calls[0] in (1, 3):
            raise UnboundLocalError("cannot access local variable 'result'")
        return result(self, timeout)

    monkeypatch.setattr(distributed.Future, "result", canceled)
    assert DaskStumpLogisticRegression(max_bins=32).fit(*arrays()).certificate_.converged
    assert n_calls[0] > 3

    def fail(block):
        raise UnboundLocalError("a mistake in the data.")

    data, labels = da.from_array(X, chunks=(2000, 4)), da.from_array(Y, chunks=2000)
    match = "Partition 0 cannot be read .UnboundLocalError: a mistake in the data.; check its file"
    with pytest.raises(ValueError, match=match):
        DaskStumpSVC().fit(data.map_blocks(fail, dtype=float, meta=np.empty((0, 4))), labels)


def test_a_silent_worker_ends_the_fit(cluster, at_call):
    _, client = cluster
    client.wait_for_workers(2, timeout=60)
    pid = worker_pids(client)[0]
    at_call(6, lambda: os.kill(pid, signal.SIGSTOP))
    model = DaskStumpLogisticRegression(timeout=4.0)
    try:
        with pytest.raises(ClusterError, match=r"has not answered for .* restart it"):
            model.fit(*arrays())
    finally:
        os.kill(pid, signal.SIGCONT)
    assert not hasattr(model, "shapes_")


def test_experiments_run_on_a_cluster(cluster, tmp_path):
    """Its workers are not stopped with the process that waits for them, as local ones are."""
    experiment = toy_experiment.load_experiment("toy")
    options = {"runs": 4, "seed": 0, "jobs": 2}
    expected = run_experiment(experiment, tmp_path / "local", **options)
    with joblib.parallel_config(backend="dask"):
        found = run_experiment(experiment, tmp_path / "cluster", **options)
    assert found.report.data == expected.report.data


def start(*arguments):
    """Start a Dask process on the loopback interface."""
    command = [sys.executable, "-m", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def processes(tmp_path):
    """A scheduler and a worker without a nanny, as separate processes, and a client."""
    file = tmp_path / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    scheduler = start("distributed.cli.dask_scheduler", *options, "--scheduler-file", str(file))
    worker = start(
        "distributed.cli.dask_worker",
        *("--scheduler-file", str(file), "--host", "127.0.0.1", "--no-nanny", "--no-dashboard"),
        *("--nthreads", "1", "--local-directory", str(tmp_path)),
    )
    try:
        for _ in range(300):
            if file.exists():
                break
            time.sleep(0.1)
        with quiet(), distributed.Client(scheduler_file=str(file), set_as_default=False) as client:
            client.wait_for_workers(1, timeout=60)
            DaskStumpSVC(client=client).fit(*arrays())  # the first fit loads compiled code
            yield scheduler, worker, client
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_cluster_without_workers_ends_the_fit(processes, at_call):
    _, worker, client = processes
    at_call(5, worker.kill)
    model = DaskStumpSVC(client=client, timeout=4.0)
    with pytest.raises(ClusterError, match="no workers for 4 s"):
        model.fit(*arrays())
    assert not hasattr(model, "shapes_")


@pytest.mark.slow
def test_a_lost_scheduler_ends_the_fit(processes, at_call):
    scheduler, _, client = processes
    at_call(5, scheduler.kill)
    model = DaskStumpSVC(client=client, timeout=4.0)
    start = time.monotonic()
    with pytest.raises(ClusterError, match="connection to the Dask scheduler was lost"):
        model.fit(*arrays())
    assert time.monotonic() - start < 60
    assert not hasattr(model, "shapes_")
