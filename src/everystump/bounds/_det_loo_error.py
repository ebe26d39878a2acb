"""The true det-leave-one-out error (Evgeniou et al., eq. 7)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from everystump._core.progress import progress_counter
from everystump._core.threads import one_blas_thread, process_map
from everystump._tables.labels import classifier_scores
from everystump.bounds._protocol import EnsembleMember, SubsampleEnsemble, SupportsKernelMachines
from everystump.bounds._refitting import check_two_classes, margins_of, refit_margin
from everystump.bounds._soft_margin import check_delta, soft_margin_loss

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
    """Return the share of rows that a vote gets wrong when no machine has seen them.

    The machines keep the rows that they drew; the row in question is taken out of them.  A machine
    that never had it stays as it is.

    Parameters
    ----------
    fitted : SubsampleVotingClassifier
        A vote of any machines for two classes, with fixed weights.
    X, y : array-like
        The table that it was fitted to.
    delta : float, default=0.0
        Margins from 0 to this count in part; see `soft_margin_loss`.
    n_jobs : int, optional
        Processes; one by default, or what ``joblib.parallel_config`` says.
    verbose : int, default=0
        1 shows live progress.

    Returns
    -------
    float
        The det-leave-one-out error.

    Examples
    --------
    >>> from everystump import KernelSVC, SubsampleVotingClassifier
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
    """Return ``y_i F^i(x_i)`` of each row for the vote whose machines have not seen it."""
    if not isinstance(fitted, SubsampleEnsemble) or not fitted.has_fixed_weights:
        raise ValueError(
            f"fitted={fitted!r} is no vote with fixed weights; {name} is for a fitted "
            f'SubsampleVotingClassifier with combine="mean", and loo_error for any classifier.'
        )
    y = check_two_classes(X, y)
    parts = fitted.ensemble_members(X, y)
    margin = margins_of(fitted, X, y)
    work = partial(_changes, votes=fitted.combines_signs)
    with one_blas_thread, progress_counter(verbose, f"{name}: machines,", len(parts)) as tick:
        changes = process_map(work, parts, n_jobs, lambda change: tick())
    for part, change in zip(parts, changes, strict=True):
        margin[part.rows] += part.weight * change
    # A tie of signs is one whatever rounding makes of it.
    return np.where(np.abs(margin) < _TIE, 0.0, margin) if fitted.combines_signs else margin


def _changes(part: EnsembleMember, votes: bool) -> np.ndarray:
    """Return by how much each own row's margin changes when the machine has not seen it."""
    machine, _, _, X, y = part
    sign = np.where(y == machine.classes_[1], 1.0, -1.0)
    before = sign * classifier_scores(machine, X)
    after = before.copy()
    for row, margin in _left_out(machine, X, y, sign):
        after[row] = margin
    if votes:
        before, after = (sign * np.where(sign * m > 0, 1.0, -1.0) for m in (before, after))
    return after - before


def _left_out(machine: Any, X: np.ndarray, y: np.ndarray, sign: np.ndarray) -> Any:
    """Yield the rows that can change and their margins without them."""
    if isinstance(machine, SupportsKernelMachines):
        (quick,) = machine.kernel_machines(lambda: X, sign[None])
        if quick.leave_one_out is not None:
            yield from ((row, margins[row]) for row, margins in quick.leave_out())
            return
    yield from ((row, refit_margin(machine, X, y, row)) for row in range(len(y)))
