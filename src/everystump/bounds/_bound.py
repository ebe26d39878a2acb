"""The record that every bound returns."""

from __future__ import annotations

from dataclasses import dataclass


class UnsupportedModelError(ValueError):
    """A bound was asked of a model that it is not for."""


@dataclass(frozen=True)
class Bound:
    """A bound on an error, and how far to trust it.

    Attributes
    ----------
    value : float
        The error is at most this.
    assumptions : tuple of str
        What the theorem asks for.
    holds : bool
        Whether that is so here, as far as can be told; if not, ``value`` is an estimate.
    vacuous : bool
        Whether ``value`` says no more than that an error is at most 1.
    reference : str
        Where the theorem stands.
    observed : float or None
        The quantity itself on the rows that were given, if any were.
    violations : tuple of str
        Why ``holds`` is False: what the theorem asks for and is not so, or is in doubt.
    """

    value: float
    assumptions: tuple[str, ...]
    holds: bool
    vacuous: bool
    reference: str
    observed: float | None = None
    violations: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        value: float,
        reference: str,
        assumptions: tuple[str, ...],
        violations: tuple[str, ...] = (),
        observed: float | None = None,
    ) -> Bound:
        """Return a bound that holds if nothing is violated."""
        return cls(value, assumptions, not violations, value >= 1, reference, observed, violations)
