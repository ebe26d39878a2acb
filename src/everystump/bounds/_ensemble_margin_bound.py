"""The det-leave-one-out error by margins of the vote (Evgeniou et al., Corollary 3.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump.bounds._bound import Bound
from everystump.bounds._kernel_ensemble import KernelEnsemble
from everystump.bounds._reading import (
    PAPER,
    assumptions_of,
    read_ensemble,
    violations_of,
)
from everystump.bounds._soft_margin import check_delta


def ensemble_margin_bound(fitted: Any, X: Any, y: Any, *, delta: float | None = None) -> Bound:
    """Bound the det-leave-one-out error by the rows of small margin and the rest's weights.

    ``Err_delta + sum of c_t d_t^2 sum of a_i^t / (n_rows delta)``, the second sum and the radius
    ``d_t`` over the rows whose margin ``y F(x)`` is at least ``delta``.

    Parameters
    ----------
    fitted : SubsampleVotingClassifier, KernelSVC or StumpSVC
        A vote of kernel machines with fixed weights, or one machine.
    X, y : array-like
        The table that it was fitted to.
    delta : float, optional
        A positive margin; by default the one that makes the bound least, which it may be, as the
        bound holds for all at once.

    Returns
    -------
    Bound
        The bound.

    Examples
    --------
    >>> from everystump import KernelSVC
    >>> from everystump.bounds import loo_bound
    >>> from everystump.datasets import make_threenorm
    >>> X, y = make_threenorm(200, random_state=0)
    >>> model = KernelSVC(C=0.1, gamma=0.02, fit_intercept=False).fit(X, y)
    >>> loo_bound(model, X, y).value <= ensemble_margin_bound(model, X, y).value
    True
    """
    vote = read_ensemble(fitted, X, y, "ensemble_margin_bound")
    deltas, values = _of_all_margins(vote)
    # Between two margins the bound falls, so one of the margins is best.
    least = float(values.min(initial=1.0))
    value = least if delta is None else _at(delta, vote, deltas, values)
    assumptions = ("two classes", *assumptions_of([vote]))
    reference = f"{PAPER}, Corollary 3.1, eq. 11"
    return Bound.of(value, reference, assumptions, violations_of([vote], value))


def _of_all_margins(vote: KernelEnsemble) -> tuple[np.ndarray, np.ndarray]:
    """Return the positive margins, descending, and the bound with each of them as delta."""
    order = np.argsort(-vote.margin, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    spread = np.zeros(vote.n_rows)
    for c, machine in zip(vote.weights, vote.machines, strict=True):
        a, product = np.zeros(vote.n_rows), np.zeros(vote.n_rows)
        a[place[machine.rows]] = np.maximum(machine.a, 0.0)
        product[place[machine.rows]] = machine.diagonal
        radius = np.maximum.accumulate(np.where(a > 0, product, 0.0))
        spread += c * radius * np.cumsum(a)
    margin = vote.margin[order]
    # Rows of equal margin come together: the last of them has seen them all.
    last = np.flatnonzero(np.append(margin[1:] != margin[:-1], True) & (margin > 0))
    below = 1.0 - (last + 1.0) / vote.n_rows
    return margin[last], below + spread[last] / (vote.n_rows * margin[last])


def _at(delta: float, vote: KernelEnsemble, deltas: np.ndarray, values: np.ndarray) -> float:
    check_delta(delta)
    if delta == 0.0:
        raise ValueError("delta=0 is no margin to divide by; pass a positive number or None.")
    above = int(np.sum(deltas >= delta))
    if above == 0:
        return 1.0
    # The same rows as at the next margin above, divided by another delta.
    nearest = deltas[above - 1]
    below = float(np.mean(vote.margin < delta))
    return below + (float(values[above - 1]) - below) * float(nearest) / delta
