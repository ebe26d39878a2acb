"""A bound on the error on new samples from a validation set."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy.stats import beta

from everystump._tables.labels import class_indices
from everystump._tables.overlap import Overlap
from everystump._text import format_percent, pluralize
from everystump.bounds._bound import Bound, check_eta, check_is_no_regressor, check_option
from everystump.bounds._leave_one_out_bounds import PAPER
from everystump.bounds._nested_overlap import training_overlap_of
from everystump.bounds._protocol import HasTrainingOverlap

_ROUNDING = 1e-9


def validation_bound(
    fitted: Any,
    X: Any,
    y: Any,
    *,
    n_candidates: int = 1,
    eta: float = 0.05,
    method: str = "exact",
) -> Bound:
    """Bound the error on new samples by that on held-out samples, with confidence ``1 - eta``.

    The bound holds for N candidates simultaneously, and so for the one with the smallest error on
    these samples: the bound for each fails with probability ``eta / N``.

    Parameters
    ----------
    fitted : estimator
        A fitted classifier.
    X, y : array-like
        Samples that were not used in training.
    n_candidates : int, default=1
        The number N of models that were compared on these samples.
    eta : float, default=0.05
        The probability that the bound fails; 0.05 is 95% confidence.
    method : {"exact", "paper"}, default="exact"
        "exact" is the one-sided Clopper-Pearson bound: the largest error rate at which
        at most the observed number of errors still has probability ``eta / N``.  "paper" is
        equation 16 of Evgeniou, Pontil & Elisseeff (2004),
        ``VE + sqrt((log N - log(eta / 4)) / V)`` for an error VE on V samples, which is never
        smaller.

    Returns
    -------
    Bound
        The bound; ``observed`` is the error on the held-out samples.

    Notes
    -----
    Estimators of everystump store a hash of each training sample, also inside scikit-learn's
    pipelines, searches, voting classifiers, calibrated classifiers and threshold classifiers.  The
    bound does not hold on samples that were used in training, in any order.

    If features have few distinct values, some samples equal training samples by chance.  Matches
    are accepted up to the number that duplicates in the training data explain.  A few more are
    counted as errors and listed in ``assumptions``; many more are a violation.

    Other estimators have no record of their training samples: that the samples are new is then
    listed in ``assumptions``.  In a `WeightedVoteClassifier` of prefitted classifiers, a
    classifier without a record is a violation.

    Examples
    --------
    >>> from everystump import StumpSVC
    >>> from everystump.bounds import validation_bound
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(3000, random_state=0)
    >>> model = StumpSVC().fit(X[:1000], y[:1000])
    >>> bound = validation_bound(model, X[1000:], y[1000:])
    >>> bound.observed < bound.value < bound.observed + 0.01
    True
    """
    if not isinstance(n_candidates, Integral) or n_candidates < 1:
        raise ValueError(f"n_candidates={n_candidates!r} must be an integer, 1 or more.")
    check_eta(eta)
    check_option("method", method, _METHODS)
    n_wrong = int(np.sum(_errors(fitted, X, y)))
    return fraction_bound(
        fitted, X, y, n_wrong, n_candidates=int(n_candidates), eta=float(eta), method=method
    )


def fraction_bound(
    fitted: Any,
    X: Any,
    y: Any,
    n_wrong: int,
    *,
    n_candidates: int = 1,
    eta: float = 0.05,
    method: str = "exact",
) -> Bound:
    """Bound the fraction of new samples that a model errs on, given the errors on held-out ones.

    ``n_wrong`` is the number of errors, of any kind; the rest is as in `validation_bound`.
    """
    n_rows = len(y)
    overlap = training_overlap_of(fitted, X, y)
    n_suspect = 0 if overlap is None else _count_suspect(overlap, n_rows)
    compute, reference = _METHODS[method]
    value = compute(min(n_wrong + n_suspect, n_rows), n_rows, eta / n_candidates)
    assumptions = (
        "independent samples that were not used in training",
        f"no more than {pluralize(n_candidates, 'model')} compared on them",
        *_model_assumptions(fitted, overlap),
    )
    violations: tuple[str, ...] = ()
    if overlap is not None and overlap.leakage is not None:
        violations = (overlap.leakage,)
    elif overlap is not None and overlap.n_matched:
        assumptions += (_match_assumption(overlap, n_suspect),)
    return Bound.from_value(value, reference, assumptions, violations, n_wrong / n_rows)


def _errors(fitted: Any, X: Any, y: Any) -> np.ndarray:
    """Return which samples are misclassified."""
    check_is_no_regressor(fitted, "validation_bound")
    if not hasattr(fitted, "predict") or not hasattr(fitted, "classes_"):
        raise ValueError(
            f"fitted={fitted!r} is not a fitted classifier; pass one to validation_bound."
        )
    predicted = fitted.predict(X)
    classes = np.asarray(fitted.classes_)
    wrong = classes[class_indices(y, classes, len(predicted))] != predicted
    if len(wrong) == 0:
        raise ValueError("X has no samples; validation_bound needs at least one.")
    return wrong


def _count_suspect(overlap: Overlap, n_rows: int) -> int:
    """Return the number of samples that may be training samples, which count as errors."""
    return int(np.ceil(overlap.excess_rate * n_rows - _ROUNDING))


def _model_assumptions(fitted: Any, overlap: Overlap | None) -> tuple[str, ...]:
    """Return the assumptions about edits and about training samples without a record."""
    assumptions: tuple[str, ...] = ()
    if getattr(fitted, "edits_", ()):
        assumptions += ("the edits of the model do not depend on them",)
    if isinstance(fitted, HasTrainingOverlap):
        return assumptions
    name = type(fitted).__name__
    if overlap is None:
        return (
            *assumptions,
            f"they are new to {name}, which has no record of its training samples",
        )
    return (
        *assumptions,
        f"{name} has no training samples other than those of its nested estimators",
    )


def _match_assumption(overlap: Overlap, n_suspect: int) -> str:
    """Return the assumption about a few samples that equal training samples."""
    return (
        f"of the {format_percent(overlap.match_rate)} of the samples that equal training samples, "
        f"{n_suspect} count as errors and the others match by chance, as "
        f"{format_percent(overlap.duplicate_rate)} of the training samples have duplicates"
    )


def _clopper_pearson(n_wrong: int, n_rows: int, eta: float) -> float:
    """Return the error rate at which ``n_wrong`` or fewer errors have probability ``eta``."""
    if n_wrong == n_rows:
        return 1.0
    return float(beta.isf(eta, n_wrong + 1, n_rows - n_wrong))


def _paper(n_wrong: int, n_rows: int, eta: float) -> float:
    return n_wrong / n_rows + float(np.sqrt(-np.log(eta / 4) / n_rows))


_METHODS = {
    "exact": (_clopper_pearson, "Clopper & Pearson (1934), one-sided"),
    "paper": (_paper, f"{PAPER}, eq. 16"),
}
