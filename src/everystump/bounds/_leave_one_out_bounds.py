"""Bounds on the leave-one-out errors of kernel machines and of ensembles of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump._text import format_percent
from everystump.bounds._bound import (
    Bound,
    UnsupportedModelError,
    check_delta,
    check_is_no_regressor,
    check_sample_weight,
)
from everystump.bounds._protocol import KernelEnsemble, SupportsKernelEnsembles

PAPER = "Evgeniou, Pontil & Elisseeff (2004)"
# A row whose margin is this close to the threshold is counted.
_ROUNDING = 1e-9
LOO_THEOREM = "Theorem 3.1, eq. 8"
MACHINE_ASSUMPTIONS = (
    "no intercept: with one, the bound is not proven",
    "kernels and costs that do not depend on the training samples",
    "machines close enough to their optimum for the duality gaps to make no difference",
)
# A margin of 1 up to the duality gap of a fit.
_MARGIN = 0.99


def read_ensembles(fitted: Any, X: Any, y: Any, bound: str) -> list[KernelEnsemble]:
    """Return a fitted machine or ensemble; raise an error that lists the supported models.

    There is one for two classes, and for machines of several classes; else there is one for each
    class against the rest.
    """
    check_is_no_regressor(fitted, bound)
    if not isinstance(fitted, SupportsKernelEnsembles):
        raise UnsupportedModelError(
            f"fitted={fitted!r} is not a kernel machine; {bound} is for a fitted KernelSVC or "
            f"StumpSVC, or a SubsampleVotingClassifier of them."
        )
    ensembles = fitted.kernel_ensembles(X, y)
    if ensembles[0].combines_signs:
        raise UnsupportedModelError(
            f'outputs="votes" combines signs, but {bound} is for scores; use outputs="scores".'
        )
    return ensembles


def read_ensemble(fitted: Any, X: Any, y: Any, bound: str) -> KernelEnsemble:
    """Return a fitted machine or ensemble for two classes."""
    ensembles = read_ensembles(fitted, X, y, bound)
    n_classes = max(len(ensembles), ensembles[0].n_classes)
    if n_classes > 2:
        raise UnsupportedModelError(
            f"fitted has {n_classes} classes, but {bound} is for two; fit one class against the "
            f"rest."
        )
    return ensembles[0]


def bound_left_out_error(
    ensembles: list[KernelEnsemble], theorem: str, sample_weight: Any
) -> Bound:
    """Bound a leave-one-out error by the rows that may be misclassified when left out.

    By Lemma 3.1, leaving a row out lowers its margin by at most
    ``sum of c_t a_i^t K^t(x_i, x_i)``.  With several classes, a row counts as correct if
    it is correct in every one-vs-rest problem; see `KernelMachine` for machines of all classes.
    """
    wrong = _possible_errors(ensembles)
    weight = None if sample_weight is None else check_sample_weight(sample_weight, len(wrong))
    value = float(np.average(wrong, weights=weight))
    assumptions = left_out_assumptions(ensembles)
    violations = left_out_violations(ensembles, value, weight)
    reference = f"{PAPER}, {theorem}"
    if ensembles[0].n_classes > 2:
        reference += "; for several classes, see the user guide"
    return Bound.from_value(value, reference, assumptions, violations)


def left_out_assumptions(ensembles: list[KernelEnsemble]) -> tuple[str, ...]:
    """Return the assumptions of a bound on a leave-one-out error."""
    several = any(len(e.machines) > 1 or e.subsample is not None for e in ensembles)
    fixed = ("fixed weights of the machines",) if several else ()
    return (*fixed, *MACHINE_ASSUMPTIONS)


def _possible_errors(ensembles: list[KernelEnsemble], within_gaps: bool = False) -> np.ndarray:
    """Return which rows may be misclassified when left out."""
    name = "influence_within_gaps" if within_gaps else "influence"
    return np.any([getattr(e, name) - e.margin > -_ROUNDING for e in ensembles], axis=0)


def left_out_violations(
    ensembles: list[KernelEnsemble], value: float, weight: np.ndarray | None = None
) -> tuple[str, ...]:
    """Return the violated assumptions of a bound on a leave-one-out error."""
    violations = tuple(dict.fromkeys(text for e in ensembles for text in e.violations))
    proven = float(np.average(_possible_errors(ensembles, within_gaps=True), weights=weight))
    if proven > value * (1 + _ROUNDING):
        violations += (f"the duality gaps prove only {format_percent(proven)}; lower tol",)
    return violations


def loo_bound(fitted: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Bound:
    """Bound the leave-one-out error by the samples with ``a_i K(x_i, x_i) > y_i f(x_i)``.

    Parameters
    ----------
    fitted : KernelSVC, StumpSVC or StumpLogisticRegression
        A kernel machine.  With several classes, a sample counts if it does in any one-vs-rest
        problem; in a multinomial model, if
        ``sqrt(2) |a_i| K(x_i, x_i)`` exceeds the difference between the score of its class and the
        largest other one.
    X, y : array-like
        The training data.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of the samples in the error; None means equal weights.

    Returns
    -------
    Bound
        The bound on the leave-one-out error.

    Examples
    --------
    >>> from everystump import KernelSVC
    >>> from everystump.bounds import loo_bound, loo_error
    >>> from everystump.datasets import make_threenorm
    >>> X, y = make_threenorm(200, random_state=0)
    >>> model = KernelSVC(C=0.5, gamma=0.02, fit_intercept=False).fit(X, y)
    >>> loo_error(model, X, y) <= loo_bound(model, X, y).value
    True
    """
    ensembles = read_ensembles(fitted, X, y, "loo_bound")
    if ensembles[0].subsample is not None:
        raise UnsupportedModelError(
            f"loo_bound is for a single machine, a fitted KernelSVC or StumpSVC; use det_loo_bound "
            f"for {type(fitted).__name__}."
        )
    return bound_left_out_error(ensembles, LOO_THEOREM, sample_weight)


def det_loo_bound(fitted: Any, X: Any, y: Any) -> Bound:
    """Bound the det-leave-one-out error of an ensemble by the influence of each sample on itself.

    The bound is the fraction of samples with ``sum of c_t a_i^t K^t(x_i, x_i) > y_i F(x_i)``.

    Parameters
    ----------
    fitted : SubsampleVotingClassifier, KernelSVC or StumpSVC
        An ensemble of kernel machines with fixed weights, or a single machine.
    X, y : array-like
        The training data.

    Returns
    -------
    Bound
        The bound on the det-leave-one-out error.

    Examples
    --------
    >>> from everystump import KernelSVC, SubsampleVotingClassifier
    >>> from everystump.bounds import det_loo_bound, det_loo_error
    >>> from everystump.datasets import make_threenorm
    >>> X, y = make_threenorm(200, random_state=0)
    >>> machine = KernelSVC(C=0.5, gamma=0.02, fit_intercept=False)
    >>> model = SubsampleVotingClassifier(machine, random_state=0).fit(X, y)
    >>> det_loo_error(model, X, y) <= det_loo_bound(model, X, y).value
    True
    """
    ensembles = read_ensembles(fitted, X, y, "det_loo_bound")
    return bound_left_out_error(ensembles, "Theorem 3.3, eq. 10", None)


def ensemble_margin_bound(fitted: Any, X: Any, y: Any, *, delta: float | None = None) -> Bound:
    """Bound the det-leave-one-out error by the fraction of small margins plus a norm term.

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
    smallest = float(values.min(initial=1.0))
    value = smallest if delta is None else _value_at(delta, ensemble, deltas, values)
    assumptions = ("two classes", *left_out_assumptions([ensemble]))
    reference = f"{PAPER}, Corollary 3.1, eq. 11"
    return Bound.from_value(value, reference, assumptions, left_out_violations([ensemble], value))


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
    # Among rows with equal margins, the last one has the sums over all of them.
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


def radius_margin_bound(fitted: Any, X: Any, y: Any) -> Bound:
    """Bound the leave-one-out error by ``d^2 / rho^2`` divided by the number of samples.

    ``d`` is the radius of the support vectors around 0, ``rho`` the margin, both in the feature
    space of the kernel.  For an ensemble it is the mean of ``d^2 / rho^2`` over the machines, plus
    the fraction of samples with ``y F(x) < 1``.  In expectation over training sets of n samples,
    ``n / (n + 1)`` of it bounds the error on new samples (Theorem 3.2).  As fits are not exact,
    margins of 0.99 count as 1.

    Parameters
    ----------
    fitted : KernelSVC, StumpSVC or SubsampleVotingClassifier
        A machine that separates its training samples, or an ensemble of such machines.
    X, y : array-like
        The training data.

    Returns
    -------
    Bound
        The bound.  It holds for machines with the hinge loss and margins of at least 1.

    Examples
    --------
    >>> from everystump import KernelSVC
    >>> from everystump.bounds import radius_margin_bound
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(200, random_state=0)
    >>> model = KernelSVC(C=1e4, gamma=0.01, fit_intercept=False).fit(X, y)
    >>> radius_margin_bound(model, X, y).holds
    True
    """
    ensemble = read_ensemble(fitted, X, y, "radius_margin_bound")
    ratios = [machine.squared_radius * machine.squared_norm for machine in ensemble.machines]
    value = float(ensemble.weights @ ratios) / ensemble.n_rows
    reference = f"{PAPER}, eq. 9 and Theorem 3.2"
    if ensemble.subsample is not None:
        value += float(np.mean(ensemble.margin < _MARGIN))
        reference = f"{PAPER}, Corollary 3.2, eq. 13"
    assumptions = (
        "two classes",
        "the hinge loss, and machines that separate their samples with margins of at least 1",
        *MACHINE_ASSUMPTIONS,
    )
    violations = left_out_violations([ensemble], value)
    if not all(machine.has_hinge_loss for machine in ensemble.machines):
        violations += ("a machine has a loss other than the hinge",)
    if min(machine.margin.min() for machine in ensemble.machines) < _MARGIN:
        violations += ("a machine does not separate its samples with margins of at least 1",)
    return Bound.from_value(value, reference, assumptions, violations)
