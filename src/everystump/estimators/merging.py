"""Averages of models that were fitted to different data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from everystump._arguments import as_float_array
from everystump._core.columns import merge_densities
from everystump._core.shapes import ShapeModel, combine
from everystump._core.surfaces import entry_positions
from everystump._tables.frames import Feature
from everystump._tables.levels import merge_levels
from everystump.estimators._base import TabularEstimator, as_class_list, unwrap_binary


def merge(models: Sequence[Any], weights: Any = None) -> Any:
    """Return the weighted average of fitted additive models as one model.

    For data that may not leave the places where they are: each place fits a model, and only models
    are exchanged.  The average of curves is in general less accurate than a model of all data, the
    more so the fewer samples each place has and the more their distributions differ.

    Parameters
    ----------
    models : list of estimators
        Fitted estimators of one class, such as `StumpLogisticRegression` or `StumpRegressor`, with
        the same columns and the same classes or link; a category may have other levels in each.
    weights : array-like of shape (n_models,), default=None
        The weight of each model; by default, the total sample weight of its training data.

    Returns
    -------
    estimator
        Of the same class, with ``shapes_``, ``intercept_``, ``classes_`` or ``link_``,
        ``feature_info_`` and ``density_``.  There is no certificate: the average is not the
        solution of a problem.

    Notes
    -----
    Scores are averaged.  Regressors with a log link predict the exponential of the average score,
    which is the geometric mean of their predictions.

    Examples
    --------
    >>> from everystump import StumpLogisticRegression, merge
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(400, random_state=0)
    >>> parts = [StumpLogisticRegression().fit(X[k::2], y[k::2]) for k in range(2)]
    >>> merge(parts).score(X, y) > 0.95
    True
    """
    models = list(models)
    _check_same_kind(models)
    shares = _shares(models, weights)
    features = tuple(_merge_features(d, models) for d in range(models[0].n_features_in_))
    merged = clone(models[0])
    by_model = [_with_levels(model, features) for model in models]
    merged.shapes_ = unwrap_binary(
        [combine(parts, shares) for parts in zip(*by_model, strict=True)]
    )
    merged.intercept_ = np.array([model.intercept for model in as_class_list(merged.shapes_)])
    for name in models[0]._output_attributes:
        setattr(merged, name, getattr(models[0], name))
    merged.feature_info_ = features
    merged.n_features_in_ = models[0].n_features_in_
    if hasattr(models[0], "feature_names_in_"):
        merged.feature_names_in_ = models[0].feature_names_in_
    merged.density_ = tuple(
        merge_densities(
            [model.density_[d] for model in models],
            [_codes(model.feature_info_[d], feature) for model in models],
        )
        for d, feature in enumerate(features)
    )
    _merge_interactions(merged, models, by_model)
    return merged


def _check_same_kind(models: list[Any]) -> None:
    if not models:
        raise ValueError("models is empty; pass at least one fitted model.")
    first = models[0]
    for k, model in enumerate(models):
        if not isinstance(model, TabularEstimator):
            raise TypeError(
                f"models[{k}] is a {type(model).__name__}; only additive models of everystump can "
                f"be averaged."
            )
        check_is_fitted(model, "shapes_")
        if type(model) is not type(first):
            raise ValueError(
                f"models[{k}] is a {type(model).__name__}, and models[0] a {type(first).__name__}; "
                f"pass models of one class."
            )
        _check_same_output(model, first, k)
        quantiles = [other.get_params(deep=False).get("quantile") for other in (first, model)]
        if quantiles[0] != quantiles[1]:
            raise ValueError(
                f"models[{k}] has quantile={quantiles[1]!r}, and models[0] "
                f"quantile={quantiles[0]!r}; all models need the same."
            )
        names, others = ([f.name for f in m.feature_info_] for m in (first, model))
        if names != others:
            raise ValueError(
                f"models[{k}] has the columns {others}, and models[0] {names}; all models need the "
                f"same columns in the same order."
            )


def _check_same_output(model: Any, first: Any, k: int) -> None:
    """Check that scores mean the same in two models of one class."""
    for name in first._output_attributes:
        what, own, other = name.rstrip("_"), getattr(model, name), getattr(first, name)
        if not np.array_equal(own, other):
            raise ValueError(
                f"models[{k}] has the {what} {np.asarray(own).tolist()!r}, and models[0] "
                f"{np.asarray(other).tolist()!r}; all models need the same {what}."
            )


def _shares(models: list[Any], weights: Any) -> list[float]:
    """Return weights that sum to 1."""
    if weights is None:
        weights = [m.density_[0].counts.sum() + m.density_[0].missing for m in models]
    array = as_float_array(weights, "weights", "numbers, one per model")
    if array.shape != (len(models),) or not np.all((array >= 0) & np.isfinite(array)):
        raise ValueError(
            f"weights={weights!r} must be {len(models)} finite numbers that are not negative."
        )
    if not array.any():
        raise ValueError("weights are all zero; give some model a positive weight.")
    return (array / array.sum()).tolist()


def _merge_features(d: int, models: list[Any]) -> Feature:
    features = [model.feature_info_[d] for model in models]
    if len({feature.levels is None for feature in features}) > 1:
        raise ValueError(
            f"Column {features[0].display_name(d)} is a category in one model and numeric in "
            f"another; train all models with one kind."
        )
    levels = features[0].levels
    for feature in features[1:]:
        levels = None if levels is None else merge_levels(levels, feature.levels)
    return Feature(features[0].name, levels)


def _codes(own: Feature, merged: Feature) -> np.ndarray | None:
    """Return the codes of a feature's levels in the merged feature; None for numbers."""
    if own.levels is None:
        return None
    return np.array([merged.level_index[level] for level in own.levels.tolist()], dtype=int)


def _with_levels(model: Any, features: tuple[Feature, ...]) -> list[ShapeModel]:
    """Return the shape models of all classes over the merged levels."""
    codes = [_codes(own, f) for own, f in zip(model.feature_info_, features, strict=True)]
    n_levels = [feature.n_levels for feature in features]
    return [shapes.with_levels(codes, n_levels) for shapes in as_class_list(model.shapes_)]


def _merge_interactions(merged: Any, models: list[Any], by_model: list[list[ShapeModel]]) -> None:
    """Store the interactions of all models, and the density of the data on their surfaces."""
    if not hasattr(models[0], "interactions_"):
        return
    terms = dict.fromkeys(term for model in models for term in model.interactions_)
    merged.interactions_ = list(terms)
    merged.interaction_strength_ = 0.0
    densities = []
    for surface in as_class_list(merged.shapes_)[0].surfaces:
        total = np.zeros(surface.values.shape)
        for model, shapes in zip(models, by_model, strict=True):
            for own, density in zip(shapes[0].surfaces, model.surface_density_, strict=True):
                if own.features == surface.features:
                    positions = [
                        entry_positions(a, b) for a, b in zip(own.axes, surface.axes, strict=True)
                    ]
                    padded = np.zeros(own.values.shape)
                    padded[tuple(map(slice, density.shape))] = density
                    np.add.at(total, np.ix_(*positions), padded)
        densities.append(total)
    merged.surface_density_ = tuple(densities)
