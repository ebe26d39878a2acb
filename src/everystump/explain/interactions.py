"""How much each interaction would improve an additive model."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn.base import clone
from sklearn.utils.multiclass import type_of_target

from everystump._explanations.terms import term_names
from everystump._selection.grid import MAX_STRENGTH
from everystump._tables.labels import read_labels
from everystump.estimators import StumpLogisticRegression
from everystump.estimators._stump_ensemble import BaseStumpEnsemble


def measure_interactions(
    X: Any,
    y: Any,
    *,
    estimator: Any = None,
    interaction_strength: float = 0.1,
    interaction_bins: int = 32,
    max_interaction_order: int = 2,
    sample_weight: Any = None,
) -> Any:
    """Measure how much each interaction of features would improve an additive model.

    An additive model is fitted to the data.  For each pair of features, the *Newton decrement* is
    then about how much the objective of the model would decrease if a function of these two
    features were added to it.  The result does not depend on the type of model that uses it: its
    ``features`` can be passed to the estimators of this package (``interactions``) as well as to
    other libraries.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,)
        Class labels, or for a regressor the numbers to predict.
    estimator : StumpSVC, StumpLogisticRegression, StumpRegressor or a CV version, default=None
        The additive model; it is cloned, and its own `interactions` and `feature_weights` are
        ignored, as is the choice of ``measure="auto"``, which is "mixed" here.
        ``StumpLogisticRegression()`` by default; pass ``StumpRegressor()`` for a regression.
    interaction_strength : float, default=0.1
        Strength of the interactions, as in `StumpSVC`.  With a smaller strength, smoother
        interactions count for more.
    interaction_bins : int, default=32
        Maximum number of bins per feature, as in `StumpSVC`.
    max_interaction_order : {2, 3}, default=2
        If 3, interactions of three features are measured, too.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    pandas.DataFrame
        One row per interaction, largest decrement first: its name (``interaction``), the numbers
        of its features (``features``, a tuple), and its ``decrement``, summed over the classes if
        there are more than two.  Constant features and features with monotonic constraints do not
        interact.  Of more than 2,000 pairs, the best 2,000 of a first, rough ranking are listed,
        measured on a random subsample if samples, pairs and classes are very many.

    Notes
    -----
    All pairs are measured if there are at most 2,000.  Otherwise they are ranked by a coarser
    measure first, and the best 2,000 are included.

    Examples
    --------
    >>> import numpy as np
    >>> from everystump import StumpLogisticRegression
    >>> from everystump.explain import measure_interactions
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(500, 4))
    >>> y = X[:, 0] + X[:, 1] * X[:, 2] > 0
    >>> table = measure_interactions(X, y)
    >>> table.columns.tolist(), len(table)
    (['interaction', 'features', 'decrement'], 6)
    >>> table["interaction"][0], table["features"][0]
    ('x1 × x2', (1, 2))
    >>> best = table["features"].head(1).tolist()
    >>> StumpLogisticRegression(interactions=best).fit(X, y).interactions_
    [(1, 2)]

    >>> from everystump import StumpRegressor
    >>> table = measure_interactions(X, X[:, 0] * X[:, 3], estimator=StumpRegressor())
    >>> table["interaction"][0]
    'x0 × x3'
    """
    import pandas as pd

    if not isinstance(interaction_strength, Real) or not 0 < interaction_strength <= MAX_STRENGTH:
        raise ValueError(
            f"interaction_strength={interaction_strength!r} must be a positive number of at most "
            f"{MAX_STRENGTH:g}."
        )
    if estimator is None and type_of_target(read_labels(y)).startswith("continuous"):
        raise ValueError(
            "y has numbers that are not class labels, and estimator=None is a classifier; pass "
            "estimator=StumpRegressor()."
        )
    model = StumpLogisticRegression() if estimator is None else estimator
    if not isinstance(model, BaseStumpEnsemble):
        raise ValueError(
            f"estimator={model!r} cannot measure interactions; pass a StumpLogisticRegression, "
            f"StumpSVC or StumpRegressor, or a CV version of them."
        )
    model = clone(model).set_params(
        interactions="auto",
        interaction_strength=interaction_strength,
        interaction_bins=interaction_bins,
        max_interaction_order=max_interaction_order,
    )
    model._validate_params()
    decrements = model._measure_interactions(X, y, sample_weight, float(interaction_strength))
    terms = sorted(decrements, key=lambda term: -decrements[term])
    return pd.DataFrame(
        {
            "interaction": term_names(model.feature_info_, terms),
            "features": terms,
            "decrement": [decrements[term] for term in terms],
        }
    )
