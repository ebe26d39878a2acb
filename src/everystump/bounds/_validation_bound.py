"""The error on new rows by a validation set."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.stats import beta

from everystump._tables.labels import class_indices
from everystump._tables.overlap import Overlap
from everystump._text import format_percent, pluralize
from everystump.bounds._bound import Bound
from everystump.bounds._nested_overlap import training_overlap_of
from everystump.bounds._protocol import HasTrainingOverlap
from everystump.bounds._reading import PAPER

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
    """Bound the error on new rows by that on held-out rows, with confidence ``1 - eta``.

    The bound is for all of N candidates at once, so also for the one that was chosen by its error
    on these rows: each of them may fail with probability ``eta / N``.

    Parameters
    ----------
    fitted : estimator
        Any classifier.
    X, y : array-like
        Rows that had no part in training.
    n_candidates : int, default=1
        How many models these rows were to choose from, N.
    eta : float, default=0.05
        The probability that the bound fails; 0.05 is a confidence of 95%.
    method : {"exact", "paper"}, default="exact"
        "exact" is the one-sided Clopper-Pearson bound: the largest error at which so few wrong rows
        still have the probability ``eta / N``.  "paper" is equation 16 of Evgeniou, Pontil &
        Elisseeff (2004), ``VE + sqrt((log N - log(eta / 4)) / V)`` for an error VE on V rows, which
        is never the smaller one.

    Returns
    -------
    Bound
        The bound; ``observed`` is the error on the held-out rows.

    Notes
    -----
    Estimators of everystump remember a hash of each row that they learned from, also within
    scikit-learn's pipelines, searches, votes, calibration and thresholds, so that the bound does
    not hold on rows that had a part in training, in whatever order they come.

    Rows that equal training rows by chance are to be expected where features have few values: as
    many are let pass as equal rows of the training table explain, a few more count as wrong, and
    ``assumptions`` says so; many more are a violation.

    Of other estimators nothing is known: that the rows are fresh is for the user to know, and
    ``assumptions`` says so.  A `WeightedVoteClassifier` of voters that were fitted before is not
    taken on trust: one voter without a record is a violation.

    Examples
    --------
    >>> from everystump import StumpSVC
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(3000, random_state=0)
    >>> model = StumpSVC().fit(X[:1000], y[:1000])
    >>> bound = validation_bound(model, X[1000:], y[1000:])
    >>> bound.observed < bound.value < bound.observed + 0.01
    True
    """
    if not isinstance(n_candidates, Integral) or n_candidates < 1:
        raise ValueError(f"n_candidates={n_candidates!r} must be a whole number, 1 or more.")
    if not isinstance(eta, Real) or not 0 < eta < 1:
        raise ValueError(f"eta={eta!r} must be a number between 0 and 1.")
    if method not in _METHODS:
        raise ValueError(f"method={method!r} must be one of {list(_METHODS)}.")
    if not hasattr(fitted, "predict") or not hasattr(fitted, "classes_"):
        raise ValueError(
            f"fitted={fitted!r} is no fitted classifier; validation_bound is for any that is."
        )
    predicted = fitted.predict(X)
    classes = np.asarray(fitted.classes_)
    wrong = classes[class_indices(y, classes, len(predicted))] != predicted
    if len(wrong) == 0:
        raise ValueError("X has no rows; validation_bound needs one at least.")
    overlap = training_overlap_of(fitted, X, y)
    suspect = 0 if overlap is None else _count_suspect(overlap, len(wrong))
    n_wrong = min(int(np.sum(wrong)) + suspect, len(wrong))
    value_of, reference = _METHODS[method]
    value = value_of(n_wrong, len(wrong), float(eta) / int(n_candidates))
    assumptions: tuple[str, ...] = (
        "rows drawn independently that had no part in training",
        f"no more than {pluralize(n_candidates, 'model')} compared on them",
    )
    if getattr(fitted, "edits_", ()):
        assumptions += ("the edits of the model were not made by looking at them",)
    violations: tuple[str, ...] = ()
    if not isinstance(fitted, HasTrainingOverlap):
        assumptions += (_of_no_record(fitted, overlap),)
    if overlap is not None and overlap.doubt is not None:
        violations = (overlap.doubt,)
    elif overlap is not None and overlap.n_matched:
        assumptions += (_of_known_rows(overlap, suspect),)
    return Bound.of(value, reference, assumptions, violations, float(np.mean(wrong)))


def _count_suspect(overlap: Overlap, n_rows: int) -> int:
    """Return how many rows the model may have learned from; they are to count as wrong."""
    return int(np.ceil(overlap.excess * n_rows - _ROUNDING))


def _of_no_record(fitted: Any, overlap: Overlap | None) -> str:
    """Return what is assumed of an estimator that keeps no record of its training rows."""
    name = type(fitted).__name__
    if overlap is None:
        return f"they are new to {name}, which keeps no record of its training rows"
    return f"{name} learned from no other rows than the estimators inside it, which know theirs"


def _of_known_rows(overlap: Overlap, suspect: int) -> str:
    """Return what is assumed of a few rows that equal training rows."""
    return (
        f"of the {format_percent(overlap.share)} of the rows, which equal training rows, "
        f"{suspect} count as wrong and the others do so by chance, as "
        f"{format_percent(overlap.chance)} of the training rows equal each other"
    )


def _exact(n_wrong: int, n_rows: int, eta: float) -> float:
    """Return the error at which ``n_wrong`` rows or fewer are wrong with probability ``eta``."""
    if n_wrong == n_rows:
        return 1.0
    return float(beta.isf(eta, n_wrong + 1, n_rows - n_wrong))


def _of_the_paper(n_wrong: int, n_rows: int, eta: float) -> float:
    return n_wrong / n_rows + float(np.sqrt(-np.log(eta / 4) / n_rows))


_METHODS = {
    "exact": (_exact, "Clopper & Pearson (1934), one-sided"),
    "paper": (_of_the_paper, f"{PAPER}, eq. 16"),
}
