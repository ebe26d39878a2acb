"""Signs of life of a cluster."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from distributed import Client

# Seconds between two looks at a cluster that does not answer.
_POLL = 0.5


class ClusterError(RuntimeError):
    """The cluster cannot continue a fit."""


class ClusterWatch:
    """Tells whether the scheduler and the workers of a cluster still answer.

    Parameters
    ----------
    client : Client
        The client of the cluster.
    timeout : float
        Seconds without a sign of life after which a worker or the scheduler counts as lost.
    """

    def __init__(self, client: Client, timeout: float) -> None:
        self._client, self._timeout = client, timeout
        # The last heartbeat of each worker, and when it was noticed here.
        self._heartbeats: dict[str, tuple[Any, float]] = {}

    def workers(self) -> dict[str, Any]:
        """Return the workers of the cluster; raise if its scheduler does not answer."""
        start = time.monotonic()
        while time.monotonic() - start < self._timeout and self._client.status != "closed":
            scheduler = self._client.scheduler
            if self._client.status == "running" and scheduler is not None:
                # Unlike client.scheduler_info, this raises if the scheduler does not answer.
                with suppress(OSError, TimeoutError):
                    return self._client.sync(
                        scheduler.identity,
                        n_workers=-1,
                        callback_timeout=self._timeout,
                    )["workers"]
            time.sleep(_POLL)
        raise ClusterError(
            "The connection to the Dask scheduler was lost, so the fit cannot continue; reconnect "
            "the client and fit again."
        )

    def check(self, names: Sequence[str] | None) -> dict[str, Any]:
        """Return the workers; raise if one of some workers, None for all, has stopped answering."""
        workers, now = self.workers(), time.monotonic()
        for name in workers if names is None else names:
            if name not in workers:
                continue
            heartbeat = workers[name].get("last_seen")
            known, since = self._heartbeats.get(name, (None, now))
            if heartbeat != known:
                known, since = heartbeat, now
            self._heartbeats[name] = known, since
            if now - since > self._timeout:
                raise ClusterError(
                    f"The worker {name} has not answered for {now - since:.0f} s "
                    f"(timeout={self._timeout:g}); restart it, or raise timeout."
                )
        return workers

    def wait_for_workers(self, lost: str | None = None) -> list[str]:
        """Return the workers except a lost one; wait for some if there are none."""
        start = time.monotonic()
        while time.monotonic() - start < self._timeout:
            workers = [worker for worker in self.workers() if worker != lost]
            if workers:
                return workers
            time.sleep(_POLL)
        raise ClusterError(
            f"The cluster has had no workers for {self._timeout:g} s, so the fit cannot continue; "
            f"start some and fit again."
        )
