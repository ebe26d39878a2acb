"""The error on new rows by a validation set (Evgeniou et al., eq. 16)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from everystump.bounds.bound import Bound
from everystump.bounds.reading import PAPER
from everystump.labels import class_numbers
from everystump.wording import counted


def validation_bound(
    fitted: Any, X: Any, y: Any, *, n_candidates: int = 1, eta: float = 0.05
) -> Bound:
    """Bound the error on new rows by that on held-out rows, with probability ``1 - eta``.

    ``VE + sqrt((log N - log(eta / 4)) / V)`` on V rows, for all of N candidates at once, so also
    for the one that was chosen by its error on these rows.

    Parameters
    ----------
    fitted : estimator
        Any classifier.
    X, y : array-like
        Rows that had no part in training.
    n_candidates : int, default=1
        How many machines these rows were to choose from.
    eta : float, default=0.05
        The chance that the bound fails.

    Returns
    -------
    Bound
        The bound; ``observed`` is the error on the held-out rows.

    Examples
    --------
    >>> from everystump import StumpSVC
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(3000, random_state=0)
    >>> model = StumpSVC().fit(X[:1000], y[:1000])
    >>> bound = validation_bound(model, X[1000:], y[1000:])
    >>> bound.observed < bound.value < bound.observed + 0.05
    True
    """
    if not isinstance(n_candidates, Integral) or n_candidates < 1:
        raise ValueError(f"n_candidates={n_candidates!r} must be a whole number, 1 or more.")
    if not isinstance(eta, Real) or not 0 < eta < 1:
        raise ValueError(f"eta={eta!r} must be a number between 0 and 1.")
    if not hasattr(fitted, "predict") or not hasattr(fitted, "classes_"):
        raise ValueError(
            f"fitted={fitted!r} is no fitted classifier; validation_bound is for any that is."
        )
    predicted = fitted.predict(X)
    classes = np.asarray(fitted.classes_)
    wrong = classes[class_numbers(y, classes, len(predicted))] != predicted
    observed = float(np.mean(wrong))
    value = observed + float(np.sqrt((np.log(n_candidates) - np.log(eta / 4)) / len(predicted)))
    assumptions = (
        "rows drawn independently that had no part in training",
        f"no more than {counted(n_candidates, 'machine')} compared on them",
    )
    if getattr(fitted, "edits_", ()):
        assumptions += ("the edits of the model were not made by looking at them",)
    # Our own machines know their table; of others nothing is known.
    was_fitted_to = getattr(fitted, "_was_fitted_to", None)
    holds = was_fitted_to is None or not was_fitted_to(X, y)
    return Bound(value, assumptions, holds, value >= 1, f"{PAPER}, eq. 16", observed)
