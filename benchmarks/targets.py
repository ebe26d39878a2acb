"""What a ratio has to reach, each kind of target in its own words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Target(Protocol):
    """A limit for an amount of ours against a peer's; less is better."""

    def ratio(self, ours: float, peer: float) -> str:
        """Say the ratio in the words of the target."""

    def met(self, ours: float, peer: float) -> bool:
        """Whether the target is reached."""


@dataclass(frozen=True)
class Faster:
    """At least so many times faster than the peer."""

    times: float

    def ratio(self, ours: float, peer: float) -> str:
        """Say how many times faster, or slower."""
        if peer >= ours:
            return f"{peer / ours:.3g}x faster"
        return f"{ours / peer:.3g}x slower"

    def met(self, ours: float, peer: float) -> bool:
        """Whether we are fast enough."""
        return peer >= self.times * ours

    def __str__(self) -> str:
        return f">= {self.times:g}x faster"


@dataclass(frozen=True)
class AtMost:
    """At most so many times what the peer takes."""

    times: float

    def ratio(self, ours: float, peer: float) -> str:
        """Say what we take as a multiple of the peer."""
        return f"{ours / peer:.3g}x"

    def met(self, ours: float, peer: float) -> bool:
        """Whether we take little enough."""
        return ours <= self.times * peer

    def __str__(self) -> str:
        return f"<= {self.times:g}x"


@dataclass(frozen=True)
class Amount:
    """At most a fixed amount; or, if ``times`` is given, so many times what the peer takes."""

    limit: float
    unit: str
    times: float | None = None

    def ratio(self, ours: float, peer: float) -> str:
        """Say what we take as a multiple of the peer."""
        return f"{ours / peer:.3g}x"

    def met(self, ours: float, peer: float) -> bool:
        """Whether we take little enough in one way or the other."""
        return ours <= self.limit or (self.times is not None and ours <= self.times * peer)

    def __str__(self) -> str:
        or_times = "" if self.times is None else f" or <= {self.times:g}x"
        return f"<= {self.limit:g} {self.unit}{or_times}"


@dataclass(frozen=True)
class Told:
    """No target: the ratio is only told."""

    def ratio(self, ours: float, peer: float) -> str:
        """Say how many times faster, or slower."""
        return Faster(1).ratio(ours, peer)

    def met(self, ours: float, peer: float) -> bool:
        """Whether the target is reached; there is none to miss."""
        return True

    def __str__(self) -> str:
        return "-"
