"""Targets for our result relative to a peer's; smaller results are better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Target(Protocol):
    """A limit on our result, which may depend on the peer's."""

    def format_ratio(self, ours: float, peer: float) -> str:
        """Return the ratio as text, in the terms of the target."""

    def met(self, ours: float, peer: float) -> bool:
        """Whether the target is met."""


@dataclass(frozen=True)
class Faster:
    """At least ``times`` times faster than the peer."""

    times: float

    def format_ratio(self, ours: float, peer: float) -> str:
        if peer >= ours:
            return f"{peer / ours:.3g}x faster"
        return f"{ours / peer:.3g}x slower"

    def met(self, ours: float, peer: float) -> bool:
        return peer >= self.times * ours

    def __str__(self) -> str:
        return f">= {self.times:g}x faster"


@dataclass(frozen=True)
class NoTarget(Faster):
    """The ratio is only reported."""

    times: float = 0.0

    def __str__(self) -> str:
        return "-"


@dataclass(frozen=True)
class AtMost:
    """At most ``times`` times the peer's result."""

    times: float

    def format_ratio(self, ours: float, peer: float) -> str:
        return f"{ours / peer:.3g}x"

    def met(self, ours: float, peer: float) -> bool:
        return ours <= self.times * peer

    def __str__(self) -> str:
        return f"<= {self.times:g}x"


@dataclass(frozen=True)
class Limit:
    """At most a fixed amount, independent of the peer's result."""

    amount: float
    unit: str

    def format_ratio(self, ours: float, peer: float) -> str:
        return f"{ours / peer:.3g}x"

    def met(self, ours: float, peer: float) -> bool:
        return ours <= self.amount

    def __str__(self) -> str:
        return f"<= {self.amount:g} {self.unit}"
