"""The record that every bound returns."""

from __future__ import annotations

from dataclasses import dataclass


class UnsuitedError(ValueError):
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
        Whether that is so here; if not, ``value`` is proven for nothing.
    vacuous : bool
        Whether ``value`` says no more than that an error is at most 1.
    reference : str
        Where the theorem stands.
    observed : float or None
        The quantity itself on the rows that were given, if any were.
    """

    value: float
    assumptions: tuple[str, ...]
    holds: bool
    vacuous: bool
    reference: str
    observed: float | None = None
