"""The steps of a fit on a Dask cluster, their seconds, and the bytes that are exchanged."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

READING, BINNING, SOLVER = "reading", "binning", "solver"
_BINNING = ("sample_values", "count", "set_design")


@dataclass
class Steps:
    """The steps of a fit: names and seconds, and what to do when one starts."""

    on_start: Callable[[int], None] = lambda step: None
    clock: Callable[[], float] = time.perf_counter
    names: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def current(self) -> tuple[str, int]:
        """The name and the number of the step that has not ended yet."""
        if len(self.names) == len(self.seconds):
            return "between steps", len(self.names)
        return self.names[-1], len(self.names) - 1

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Record a step."""
        self.names.append(name)
        self.on_start(len(self.names) - 1)
        start = self.clock()
        yield
        self.seconds.append(self.clock() - start)

    def select(self, prefix: str) -> list[float]:
        """Return the seconds of the steps whose names start with ``prefix``; raise if none does."""
        pairs = zip(self.names, self.seconds, strict=True)
        found = [seconds for name, seconds in pairs if name.startswith(prefix)]
        if not found:
            raise LookupError(f"No step of the fit is named {prefix!r}, only {set(self.names)}.")
        return found


@contextmanager
def observe_steps(steps: Steps) -> Iterator[None]:
    """Record the steps of fits: reading the partitions, and calls to all parts."""
    from everystump.dask._cluster import RowCluster

    start, run = RowCluster.start, RowCluster._run

    def observed_start(self: Any, *args: Any) -> Any:
        with steps.step(READING):
            return start(self, *args)

    def observed_run(self: Any, call: Any) -> Any:
        with steps.step(_name([*self._waiting, call])):
            return run(self, call)

    with _replaced(start=observed_start, _run=observed_run):
        yield


def _name(calls: Sequence[Any]) -> str:
    """Return the name of a step: its phase, and the last of the calls that are sent together."""
    last = calls[-1]
    name = last.args[1] if last.method == "call" else last.method
    if any(call.method in _BINNING for call in calls):
        return f"{BINNING}: {name}"
    return f"{SOLVER if last.method == 'call' else READING}: {name}"


@dataclass
class Traffic:
    """The bytes of calls to all workers."""

    sizes: list[int] = field(default_factory=list)

    @property
    def n_calls(self) -> int:
        """The number of calls."""
        return len(self.sizes)

    @property
    def n_bytes(self) -> int:
        """The bytes of all calls."""
        return sum(self.sizes)

    @property
    def largest(self) -> int:
        """The bytes of the largest call."""
        return max(self.sizes)


@contextmanager
def count_traffic() -> Iterator[Traffic]:
    """Count the bytes of the arguments and results of messages to problems on all workers."""
    from everystump.dask._cluster import RowCluster

    traffic, run = Traffic(), RowCluster._run

    def counted_run(self: Any, call: Any) -> list[Any]:
        sent = len(pickle.dumps([*self._waiting, call])) * self.n_parts
        results = run(self, call)
        if call.method == "call":
            traffic.sizes.append(sent + sum(len(pickle.dumps(result)) for result in results))
        return results

    with _replaced(_run=counted_run):
        yield traffic


@contextmanager
def _replaced(**methods: Callable) -> Iterator[None]:
    """Replace methods of `RowCluster`."""
    from everystump.dask._cluster import RowCluster

    originals = {name: getattr(RowCluster, name) for name in methods}
    for name, method in methods.items():
        setattr(RowCluster, name, method)
    try:
        yield
    finally:
        for name, method in originals.items():
            setattr(RowCluster, name, method)
