"""The det-leave-one-out error itself (Evgeniou et al., eq. 7)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from everystump._core.progress import progress_counter
from everystump._core.threads import one_blas_thread, process_map
from everystump._tables.labels import classifier_scores
from everystump.bounds._checks import check_delta
from everystump.bounds._protocol import EnsembleMember, SubsampleEnsemble, SupportsKernelMachines
from everystump.bounds._refitting import check_two_classes, refit_margin, training_margins
from everystump.bounds._soft_margin import soft_margin_loss

# Margins of combined signs below this are ties.
_TIE = 1e-12


def det_loo_error(
    fitted: Any,
    X: Any,
    y: Any,
    *,
    delta: float = 0.0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> float:
    """Compute the fraction of samples that an ensemble misclassifies when they are left out.

    The machines keep their subsamples, from which the sample is removed.  Machines whose subsamples
    do not contain it do not change.

    Parameters
    ----------
    fitted : SubsampleVotingClassifier
        An ensemble of any machines for two classes, with fixed weights.
    X, y : array-like
        The training data.
    delta, n_jobs, verbose
        As in `loo_error`.

    Returns
    -------
    float
        The det-leave-one-out error.

    Examples
    --------
    >>> from everystump import KernelSVC, SubsampleVotingClassifier
    >>> from everystump.bounds import det_loo_error
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(100, random_state=0)
    >>> machine = KernelSVC(C=0.5, gamma=0.02, fit_intercept=False)
    >>> model = SubsampleVotingClassifier(machine, random_state=0).fit(X, y)
    >>> 0.0 <= det_loo_error(model, X, y) < 0.2
    True
    """
    check_delta(delta)
    margin = det_loo_margins(fitted, X, y, n_jobs, verbose=verbose)
    return float(soft_margin_loss(margin, delta).mean())


def det_loo_margins(
    fitted: Any,
    X: Any,
    y: Any,
    n_jobs: int | None,
    name: str = "det_loo_error",
    verbose: int = 0,
) -> np.ndarray:
    """Return ``y_i F^i(x_i)`` of each row, where ``F^i`` is trained without row i."""
    if not isinstance(fitted, SubsampleEnsemble) or not fitted.has_fixed_weights:
        raise ValueError(
            f"fitted={fitted!r} is not an ensemble with fixed weights; {name} is for a fitted "
            f'SubsampleVotingClassifier with combine="mean", loo_error for any classifier.'
        )
    y = check_two_classes(X, y)
    members = fitted.ensemble_members(X, y)
    margin = training_margins(fitted, X, y)
    work = partial(_margin_changes, combines_signs=fitted.combines_signs)
    with one_blas_thread, progress_counter(verbose, f"{name}: machines,", len(members)) as tick:
        changes = process_map(work, members, n_jobs, lambda change: tick())
    for member, change in zip(members, changes, strict=True):
        margin[member.rows] += member.weight * change
    return np.where(np.abs(margin) < _TIE, 0.0, margin) if fitted.combines_signs else margin


def _margin_changes(member: EnsembleMember, combines_signs: bool) -> np.ndarray:
    """Return the change of the margin of each of a machine's rows when it is left out."""
    machine, _, _, X, y = member
    sign = np.where(y == machine.classes_[1], 1.0, -1.0)
    before = sign * classifier_scores(machine, X)
    after = before.copy()
    for row, margin in _left_out_margins(machine, X, y, sign):
        after[row] = margin
    if combines_signs:
        before, after = (sign * np.where(sign * m > 0, 1.0, -1.0) for m in (before, after))
    return after - before


def _left_out_margins(
    machine: Any, X: np.ndarray, y: np.ndarray, sign: np.ndarray
) -> Iterator[tuple[int, float]]:
    """Yield the rows that may make a difference, and their margins when left out."""
    if isinstance(machine, SupportsKernelMachines):
        (fast,) = machine.kernel_machines(lambda: X, sign[None])
        if fast.leave_one_out is not None:
            yield from ((row, margins[row]) for row, margins in fast.leave_out())
            return
    yield from ((row, refit_margin(machine, X, y, row)) for row in range(len(y)))
