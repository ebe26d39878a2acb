"""The record that every bound returns."""

from __future__ import annotations

from dataclasses import dataclass


class UnsupportedModelError(ValueError):
    """A bound does not apply to the given model."""


@dataclass(frozen=True)
class Bound:
    """An upper bound on an error, and the assumptions that it rests on.

    Attributes
    ----------
    value : float
        The upper bound.
    assumptions : tuple of str
        The assumptions of the theorem.
    holds : bool
        Whether no assumption is known to be violated; if False, ``value`` is an estimate, not a
        bound.
    vacuous : bool
        Whether ``value`` is 1 or more, which is true of any error.
    reference : str
        The source of the theorem.
    observed : float or None
        The bounded quantity on the given samples, if it was computed.
    violations : tuple of str
        The assumptions that are violated, or cannot be verified.
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
        """Return a bound that holds if no assumption is violated."""
        return cls(value, assumptions, not violations, value >= 1, reference, observed, violations)
