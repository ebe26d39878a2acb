"""The parts of a training table on the workers of a cluster, which survive the loss of workers.

Each part is an actor (`WorkerRows`) that holds the rows of some chunks.  A call goes to all parts
at once, and their results are added up in the order of the parts; only tables and sums travel.
Calls without a result wait until the next one that has one, and are sent with it.  Calls that
change parts are logged: if a worker is lost, its part is built again on another one from its
chunks, the logged calls are repeated, and the fit continues as if nothing had happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from distributed import Client, Future, KilledWorker, wait
from distributed.protocol.pickle import dumps, loads

from everystump._core.blocks import combine
from everystump.dask._watch import ClusterError, ClusterWatch
from everystump.dask._worker import Failed, WorkerRows

# Seconds between two looks at a worker that has not answered yet.
_POLL = 0.5
# Seconds for moving the result of a task here; a lost one has no result until it is computed again.
_TRANSFER = 10.0
# A part that is lost so many times is given up.
_MAX_LOSSES = 20


class _WorkerLostError(Exception):
    """The worker of a part is gone."""


class _Call(NamedTuple):
    """A call of a method of all parts."""

    method: str
    args: tuple
    is_logged: bool = True  # whether it changes the parts
    is_problem: bool = False  # whether it concerns a problem, not the table
    is_transient: bool = False  # whether the next such call replaces its effect


@dataclass(eq=False)
class _Part:
    """Some chunks, the worker that holds their rows, and the actor there."""

    chunks: list[int]
    worker: str
    actor: Any = None
    future: Any = None
    n_losses: int = 0
    # Arguments of calls that differ between the parts.
    own_args: dict[str, tuple] = field(default_factory=dict)


class RowCluster:
    """Runs methods of `WorkerRows` on all parts of a table; a context that ends with its actors.

    Parameters
    ----------
    client : Client
        The client of the cluster.
    chunks : list of Delayed
        The chunks of the table.
    timeout : float
        Seconds without a sign of life after which a worker or the scheduler counts as lost.
    """

    def __init__(self, client: Client, chunks: Sequence[Any], timeout: float) -> None:
        self._client, self._chunks, self._watch = client, chunks, ClusterWatch(client, timeout)
        self._parts: list[_Part] = []
        self._log: list[_Call] = []
        self._waiting: list[_Call] = []
        self._categorical_features: Any = None
        self.n_rebuilt = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        for part in self._parts:
            part.actor = None
            if part.future is not None and self._client.status == "running":
                part.future.release()
        self._parts = []

    @property
    def n_parts(self) -> int:
        """The number of parts."""
        return len(self._parts)

    def await_workers(self) -> None:
        """Wait until the cluster has workers; an adaptive one starts some for a task."""
        if not self._client.nthreads():
            task = self._client.submit(int, pure=False)
            self._watch.wait_for_workers()
            task.release()

    def start(self, assignment: dict[str, list[int]], categorical_features: Any) -> None:
        """Build a part on each worker from its chunks."""
        self._categorical_features = categorical_features
        self._parts = [_Part(chunks, worker) for worker, chunks in assignment.items()]
        for part in self._parts:
            self._create(part)
        for part in self._parts:
            self._retry(part, self._await_actor)

    def keep(self, mask: Sequence[bool]) -> None:
        """Remove all other parts."""
        self._parts = [part for part, kept in zip(self._parts, mask, strict=True) if kept]

    def collect(self, method: str, *args: Any) -> list[Any]:
        """Return the results of a method that changes nothing, one per part."""
        return self._run(_Call(method, args, is_logged=False))

    def read(self, method: str, *args: Any) -> Any:
        """Return the sum of the results of a method that changes nothing."""
        return combine(self.collect(method, *args))

    def change(self, method: str, *args: Any, is_transient: bool = False) -> Any:
        """Return the sum of the results of a method that changes problems.

        The effect of ``is_transient`` calls lasts only until the next of them.
        """
        call = _Call(method, args, is_problem=True, is_transient=is_transient)
        return combine(self._run(call))

    def update(self, method: str, *args: Any) -> None:
        """Call a method that changes problems and returns nothing, before the next one."""
        self._waiting.append(_Call(method, args, is_problem=True))

    def change_table(self, method: str, *args: Any) -> list[Any]:
        """Return the results of a method that changes the table, one per part."""
        return self._run(_Call(method, args))

    def update_table(self, method: str, *args: Any, own: Sequence[tuple] = ()) -> None:
        """Call a method that changes the table, with arguments of its own first for each part."""
        for part, first in zip(self._parts, own, strict=False):
            part.own_args[method] = first
        self._waiting.append(_Call(method, args))

    def close_problems(self) -> None:
        """Remove all problems from the parts and from the log."""
        self._log, self._waiting = (
            [call for call in calls if not call.is_problem] for calls in (self._log, self._waiting)
        )
        self._waiting.append(_Call("close_problems", (), is_logged=False))

    def _run(self, call: _Call) -> list[Any]:
        """Run the waiting calls and this one; return its results."""
        calls, self._waiting = [*self._waiting, call], []
        pending = [self._send(part, calls) for part in self._parts]
        results = []
        for part, future in zip(self._parts, pending, strict=True):
            try:
                results.append(self._result(part, future))
            except _WorkerLostError:
                results.append(self._retry(part, lambda part: self._repeat(part, calls), lost=True))
        if call.is_transient:
            self._log = [earlier for earlier in self._log if not earlier.is_transient]
        self._log += [call for call in calls if call.is_logged]
        return results

    def _send(self, part: _Part, calls: Sequence[_Call]) -> Any:
        """Start some calls; return None if the worker is already gone."""
        messages = [
            (call.method, (*part.own_args.get(call.method, ()), *call.args)) for call in calls
        ]
        try:
            # Dask would serialize each array by itself, which takes longer.
            return part.actor.run(dumps(messages))
        except (OSError, ValueError, RuntimeError):
            return None

    def _repeat(self, part: _Part, calls: Sequence[_Call]) -> Any:
        """Repeat all logged calls and the current ones on a new actor."""
        self._await_actor(part)
        return self._result(part, self._send(part, [*self._log, *calls]))

    def _retry(self, part: _Part, work: Any, lost: bool = False) -> Any:
        """Return ``work(part)``; build the part again whenever its worker is lost."""
        while True:
            if lost:
                part.n_losses += 1
                self.n_rebuilt += 1
                if part.n_losses > _MAX_LOSSES:
                    raise ClusterError(
                        f"A part of the data was lost with its worker {_MAX_LOSSES} times; give "
                        f"the workers more memory, or split the data into smaller partitions."
                    )
                part.worker = self._another_worker(part.worker)
                self._create(part)
            try:
                return work(part)
            except _WorkerLostError:
                lost = True

    def _create(self, part: _Part) -> None:
        """Start to build the actor of a part on its worker, which preferably reads its chunks."""
        chunks = self._client.compute(
            [self._chunks[k] for k in part.chunks], workers=[part.worker], allow_other_workers=True
        )
        part.actor = None
        part.future = self._client.submit(
            WorkerRows,
            [f"partition {k}" for k in part.chunks],
            self._categorical_features,
            *chunks,
            actor=True,
            workers=[part.worker],
            allow_other_workers=False,
            pure=False,
        )

    def _await_actor(self, part: _Part) -> None:
        if part.actor is None:
            try:
                part.actor = self._wait(part, part.future)
            except _WorkerLostError:
                raise
            except Exception as error:
                raise self._reading_error(part.future, error) from error

    def _reading_error(self, future: Future, error: Exception) -> Exception:
        """Return the error for a partition that cannot be read, if it is one."""
        if isinstance(error, KilledWorker):
            return ClusterError(
                f"Several workers were lost while they read a partition ({error}); give the "
                f"workers more memory, or split the data into smaller partitions."
            )
        scheduler: Any = self._client.scheduler
        cause = self._client.sync(scheduler.get_error_cause, keys=[future.key])
        if not isinstance(cause, tuple):
            return error
        # Tasks of collections have keys (name, number, ...), other ones are named.
        what = " ".join(str(error).split()).rstrip(".")
        return ValueError(
            f"Partition {cause[1]} cannot be read ({type(error).__name__}: {what}); check its "
            f"file, or the function that makes it."
        )

    def _result(self, part: _Part, future: Any) -> Any:
        """Return the result of a call."""
        if future is None:
            raise _WorkerLostError
        result = loads(self._wait(part, future))
        if isinstance(result, Failed):
            raise result.error
        return result

    def _wait(self, part: _Part, future: Any) -> Any:
        """Return the result of a task or call; raise if its worker or the cluster is lost."""
        while True:
            try:
                return _poll(future)
            except Exception as error:
                is_late = isinstance(error, TimeoutError)
                workers = self._watch.check([part.worker]) if is_late else self._watch.workers()
                if part.worker not in workers:
                    raise _WorkerLostError from error
                if getattr(future, "status", "") == "error":  # of a task that failed
                    raise
                if is_late:
                    continue
                if isinstance(error, OSError) or "Actor" in str(error):
                    raise _WorkerLostError from error
                raise

    def _another_worker(self, lost: str) -> str:
        """Return a worker with few parts; wait for one if the cluster has none left."""
        workers = self._watch.wait_for_workers(lost)
        held = [part.worker for part in self._parts]
        return min(workers, key=held.count)


def _poll(future: Any) -> Any:
    """Return the result of a task or call; raise TimeoutError if there is none after a while."""
    if not isinstance(future, Future):
        return future.result(timeout=_POLL)
    wait(future, timeout=_POLL)
    try:
        return future.result(timeout=_TRANSFER)
    except UnboundLocalError:
        # Dask raises it, by mistake, if waiting is canceled because a worker was lost.
        if future.status == "error":
            raise
        raise TimeoutError from None
