"""The det-leave-one-out error by the margins of an ensemble (Evgeniou et al., Corollary 3.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump.bounds._bound import Bound
from everystump.bounds._checks import check_delta
from everystump.bounds._kernel_ensemble import KernelEnsemble
from everystump.bounds._reading import (
    PAPER,
    left_out_assumptions,
    left_out_violations,
    read_ensemble,
)


def ensemble_margin_bound(fitted: Any, X: Any, y: Any, *, delta: float | None = None) -> Bound:
    """Bound the det-leave-one-out error by the fraction of small margins and a norm of the rest.

    The bound is ``Err_delta + sum of c_t d_t^2 sum of a_i^t / (n_samples delta)``.  The second sum
    and the radius ``d_t`` are over the samples whose margin ``y F(x)`` is at least ``delta``.

    Parameters
    ----------
    fitted : SubsampleVotingClassifier, KernelSVC or StumpSVC
        As in `det_loo_bound`.
    X, y : array-like
        The training data.
    delta : float, default=None
        A positive margin.  None minimizes the bound, which is valid because it holds for all
        margins simultaneously.

    Returns
    -------
    Bound
        The bound on the det-leave-one-out error.

    Examples
    --------
    >>> from everystump import KernelSVC
    >>> from everystump.bounds import ensemble_margin_bound, loo_bound
    >>> from everystump.datasets import make_threenorm
    >>> X, y = make_threenorm(200, random_state=0)
    >>> model = KernelSVC(C=0.1, gamma=0.02, fit_intercept=False).fit(X, y)
    >>> loo_bound(model, X, y).value <= ensemble_margin_bound(model, X, y).value
    True
    """
    ensemble = read_ensemble(fitted, X, y, "ensemble_margin_bound")
    deltas, values = _all_margins(ensemble)
    # The bound decreases between two margins, so its minimum is at a margin.
    least = float(values.min(initial=1.0))
    value = least if delta is None else _value_at(delta, ensemble, deltas, values)
    assumptions = ("two classes", *left_out_assumptions([ensemble]))
    reference = f"{PAPER}, Corollary 3.1, eq. 11"
    return Bound.of(value, reference, assumptions, left_out_violations([ensemble], value))


def _all_margins(ensemble: KernelEnsemble) -> tuple[np.ndarray, np.ndarray]:
    """Return the positive margins in descending order, and the bound with each as delta."""
    order = np.argsort(-ensemble.margin, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    total = np.zeros(ensemble.n_rows)
    for c, machine in zip(ensemble.weights, ensemble.machines, strict=True):
        a, diagonal = np.zeros(ensemble.n_rows), np.zeros(ensemble.n_rows)
        a[rank[machine.rows]] = np.maximum(machine.a, 0.0)
        diagonal[rank[machine.rows]] = machine.diagonal
        squared_radius = np.maximum.accumulate(np.where(a > 0, diagonal, 0.0))
        total += c * squared_radius * np.cumsum(a)
    margin = ensemble.margin[order]
    # Of rows with equal margins, the last one has the sums over all of them.
    last = np.flatnonzero(np.append(margin[1:] != margin[:-1], True) & (margin > 0))
    below = 1.0 - (last + 1.0) / ensemble.n_rows
    return margin[last], below + total[last] / (ensemble.n_rows * margin[last])


def _value_at(
    delta: float, ensemble: KernelEnsemble, deltas: np.ndarray, values: np.ndarray
) -> float:
    check_delta(delta, positive=True)
    above = int(np.sum(deltas >= delta))
    if above == 0:
        return 1.0
    # The same rows as at the next margin above, divided by another delta.
    nearest = deltas[above - 1]
    below = float(np.mean(ensemble.margin < delta))
    return below + (float(values[above - 1]) - below) * float(nearest) / delta
