"""Pipelines that end in an additive model of this package, as one such model.

`folded` reads the steps of a fitted pipeline: those that shift, stretch, fill, choose or pass on
columns become part of the model's curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape, ShapeModel, combine
from everystump._pipelines.columns import Route
from everystump._pipelines.steps import Routes, cannot, through
from everystump._tables import Feature
from everystump.estimators._base import ScoreClassifier, as_class_list, per_class

_FLAT = Shape(np.zeros(1), np.zeros(1))
# What stays true of the model; the rest speaks of the columns that it was trained on.
_KEPT = {
    "C_",
    "_edits",
    "_removed_attributes",
    "certificate_",
    "classes_",
    "cv_results_",
    "exact_",
    "intercept_",
    "n_iter_",
}


def folded(model: Any) -> Any:
    """Return a pipeline that ends in an additive model as one such model of the user's columns.

    Any other model is returned as it is.  Jumps are where they were, for every float of 64 bits;
    curves that run straight agree up to rounding.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted.  The steps before its last one may be StandardScaler, MinMaxScaler (without clip),
        MaxAbsScaler, RobustScaler, SimpleImputer (of NaN, without indicators), ColumnTransformers
        and pipelines of these, feature selection, and "passthrough".

    Returns
    -------
    estimator
        Of the class of the last step, with its classes, certificate and curves.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from everystump import DecisionStumpClassifier
    >>> pipeline = make_pipeline(StandardScaler(), DecisionStumpClassifier())
    >>> pipeline = pipeline.fit([[0.0], [10.0], [40.0], [50.0]], [0, 0, 1, 1])
    >>> folded(pipeline).curve("x0")
       value  contribution
    0   25.0          -1.0
    1   25.0           1.0
    """
    if not _is_pipeline(model):
        return model
    last = model.steps[-1][1]
    if not isinstance(last, ScoreClassifier):
        raise ValueError(
            f"model: the last step of the pipeline, {type(last).__name__}, is no classifier of "
            f"everystump; keep the pipeline with skops or joblib."
        )
    check_is_fitted(last, last._fitted_attribute)
    n, names = _columns_of(model, last)
    routes = [Route(d) for d in range(n)]
    for name, step in model.steps[:-1]:
        routes = through(step, routes, name)
    if routes == [Route(d) for d in range(n)] and _has_names(last, names):
        return last
    if len(routes) != last.n_features_in_:
        raise cannot("the steps", f"give {len(routes)} columns, not {last.n_features_in_}")
    # What a ColumnTransformer leaves out of a frame may be anything: a category without levels.
    anything = names is not None and any(
        type(step).__name__ == "ColumnTransformer" for _, step in model.steps[:-1]
    )
    return _over_columns_before(last, _Before(n, names, routes, anything))


@dataclass(frozen=True)
class _Before:
    """The user's columns.

    Attributes
    ----------
    n : int
        How many there are.
    names : ndarray or None
        Their names.
    routes : list of Route
        How they become the columns of the last step.
    anything : bool
        Whether columns that become none of them may hold more than numbers.
    """

    n: int
    names: Any
    routes: Routes
    anything: bool

    def made_of(self, d: int) -> list[int]:
        """Return the columns of the last step that are made of a user's column."""
        return [k for k, route in enumerate(self.routes) if route.source == d]

    def feature(self, d: int, features: Sequence[Feature]) -> Feature:
        """Return what a user's column is."""
        own, nothing = self.made_of(d), np.empty(0, dtype=object) if self.anything else None
        return Feature(
            None if self.names is None else self.names[d],
            features[own[0]].levels if own else nothing,
        )

    def curve(self, d: int, model: ShapeModel, features: Sequence[Feature]) -> Shape:
        """Return what a user's column adds to a score."""
        own = self.made_of(d)
        curves = [self.routes[k].curve(model[k], features[k]) for k in own]
        if not curves:
            return Shape.category(np.empty(0)) if self.anything else _FLAT
        if len(curves) == 1:
            return curves[0]
        return combine([ShapeModel((curve,), 0.0) for curve in curves], [1.0] * len(curves))[0]

    def density(self, d: int, densities: Sequence[RowDensity]) -> RowDensity:
        """Return where the training rows lie in a user's column; all missing if nobody knows."""
        own = self.made_of(d)
        if own:
            return self.routes[own[0]].density(densities[own[0]])
        total = float(densities[0].counts.sum() + densities[0].missing)
        return RowDensity(np.empty(0), np.empty(0), total)


def _is_pipeline(model: Any) -> bool:
    if not hasattr(model, "steps"):
        return False
    from sklearn.pipeline import Pipeline

    return type(model) is Pipeline


def _columns_of(pipeline: Any, last: Any) -> tuple[int, Any]:
    """Return how many columns the user's table has, and their names if it has any."""
    steps = [step for _, step in pipeline.steps if not isinstance(step, str) and step is not None]
    knows = next((step for step in steps if hasattr(step, "n_features_in_")), last)
    return knows.n_features_in_, getattr(knows, "feature_names_in_", None)


def _has_names(last: Any, names: Any) -> bool:
    own = getattr(last, "feature_names_in_", None)
    return (own is None) == (names is None) and (own is None or list(own) == list(names))


def _over_columns_before(last: Any, before: _Before) -> Any:
    """Return a copy of a model whose curves are over the user's columns."""
    if getattr(last, "shapes_", None) is None:
        raise cannot(
            "the steps", f"can become part of curves only, and {type(last).__name__} has none"
        )
    for route, feature in zip(before.routes, last.feature_info_, strict=True):
        if feature.levels is not None and route.maps:
            raise cannot("the steps", f"change column {route.source}, whose values are levels")
    columns, features = range(before.n), last.feature_info_
    whole = copy(last)
    lost = set(vars(last)) - _KEPT - {*last.get_params(deep=False), last._fitted_attribute}
    for name in lost:
        del whole.__dict__[name]
    whole.shapes_ = per_class(
        [
            ShapeModel(tuple(before.curve(d, model, features) for d in columns), model.intercept)
            for model in as_class_list(last.shapes_)
        ]
    )
    whole.feature_info_ = tuple(before.feature(d, features) for d in columns)
    whole.n_features_in_ = before.n
    if before.names is not None:
        whole.feature_names_in_ = before.names
    if hasattr(last, "density_"):
        whole.density_ = tuple(before.density(d, last.density_) for d in columns)
    whole._removed_attributes = (
        *vars(last).get("_removed_attributes", ()),
        *sorted(lost - set(vars(whole))),
    )
    return whole
