"""Consistency checks of curves and surfaces in a model file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from everystump._core.shapes import Shape, ShapeModel
from everystump._core.surfaces import Axis, Surface
from everystump._tables.frames import Feature
from everystump.modelfile.conditions import are_all, is_array, is_int, is_number, require
from everystump.modelfile.container import MAX_BYTES


def check_shape(shape: Shape) -> None:
    """Check the knots and values of a curve."""
    knots, values, missing = shape.knots, shape.values, shape.missing
    require(
        all(isinstance(x, np.ndarray) and x.dtype == np.float64 for x in (knots, values)),
        "the knots and values of a Shape must be arrays of 64-bit floats.",
    )
    require(
        knots.ndim == 1 and knots.shape == values.shape and len(knots),
        "a Shape must have one value for each of its knots.",
    )
    is_ascending = not np.any(np.isnan(knots)) and np.all(knots[1:] >= knots[:-1])
    require(is_ascending, "the knots of a Shape must be in ascending order.")
    require(np.all(np.isfinite(values)), "the values of a Shape must be finite.")
    require(
        missing is None or is_number(missing),
        "the value of a Shape where the feature is missing must be a finite number or None.",
    )
    require(
        type(shape.is_category) is bool and not (shape.is_category and len(knots) % 2),
        "a Shape must be either categorical or numeric.",
    )


def check_axis(axis: Axis) -> None:
    """Check the knots of an axis of a surface."""
    knots = axis.knots
    require(
        is_array(knots, 1, "f") and knots.dtype == np.float64 and np.all(np.isfinite(knots)),
        "the knots of an Axis must be an array of finite 64-bit floats.",
    )
    require(
        type(axis.is_category) is bool and type(axis.has_missing) is bool,
        "is_category and has_missing of an Axis must be booleans.",
    )
    if axis.is_category:
        require(
            np.array_equal(knots, np.arange(len(knots))),
            "the knots of an Axis of levels must be 0, 1, 2 and so on.",
        )
    else:
        require(
            len(knots) and np.all(knots[1:] >= knots[:-1]),
            "the knots of an Axis must be in ascending order.",
        )


def check_surface(surface: Surface) -> None:
    """Check the features and values of a surface."""
    features, values = surface.features, surface.values
    require(
        isinstance(features, tuple)
        and all(is_int(d, 0) for d in features)
        and are_all(surface.axes, tuple, Axis),
        "a Surface must have a tuple of feature numbers and a tuple of Axes.",
    )
    require(
        is_array(values, len(features), "f") and values.dtype == np.float64,
        "the values of a Surface must be an array of 64-bit floats.",
    )
    require(np.all(np.isfinite(values)), "the values of a Surface must be finite.")


def check_shape_model(model: ShapeModel) -> None:
    """Check that a model consists of curves, surfaces and an intercept."""
    require(
        are_all(model.shapes, tuple, Shape) and is_number(model.intercept),
        "a ShapeModel must be a tuple of Shapes and a finite intercept.",
    )
    require(
        are_all(model.surfaces, tuple, Surface),
        "the surfaces of a ShapeModel must be a tuple of Surfaces.",
    )
    n_values = sum(surface.values.size for surface in model.surfaces)
    require(
        8 * n_values <= MAX_BYTES,
        f"the surfaces of a ShapeModel have {n_values:,} values, more than a model file can have.",
    )


def count_scores(classes: Sequence[Any] | np.ndarray) -> int:
    """Return the number of scores: one for a regressor or two classes, else one per class."""
    return 1 if len(classes) <= 2 else len(classes)


def check_curves(attributes: dict[str, Any]) -> None:
    """Check that there is one shape model per score, and in each one curve per feature."""
    shapes, n_scores = attributes["shapes_"], count_scores(attributes.get("classes_", ()))
    models = [shapes] if n_scores == 1 else shapes
    features: Any = attributes.get("feature_info_")
    require(
        are_all(models, list, ShapeModel) and len(models) == n_scores,
        f"shapes_ must have one ShapeModel for each of the {n_scores} scores.",
    )
    require(features is not None, "an estimator with shapes_ must have feature_info_.")
    for model in models:
        require(
            len(model) == len(features) and all(map(_is_curve_of, model.shapes, features)),
            "shapes_ must have one curve for each feature and its levels.",
        )
        require(
            all(
                _is_axis_of(axis, features[d])
                for surface in model.surfaces
                for d, axis in zip(surface.features, surface.axes, strict=True)
            ),
            "the axes of the surfaces in shapes_ must match their features and levels.",
        )


def check_interactions(attributes: dict[str, Any]) -> None:
    """Check the attributes that belong to the curves and surfaces in ``shapes_``."""
    terms, strength = attributes.get("interactions_", []), attributes.get("interaction_strength_")
    n_features = attributes["n_features_in_"]
    require(
        are_all(terms, list, tuple)
        and all(is_int(d, 0, n_features - 1) for term in terms for d in term),
        "interactions_ must be a list of tuples of feature numbers.",
    )
    require(
        strength is None or (is_number(strength) and strength >= 0.0),
        "interaction_strength_ must be a finite number that is not negative.",
    )
    weights = attributes.get("surface_density_", ())
    shapes = attributes["shapes_"]
    surfaces = (shapes[0] if isinstance(shapes, list) else shapes).surfaces
    require(
        isinstance(weights, tuple)
        and len(weights) in {0, len(surfaces)}
        and all(
            np.shape(weight) == surface.values.shape and _are_weights(weight)
            for weight, surface in zip(weights, surfaces, strict=False)
        ),
        "surface_density_ must have one weight for each value of each surface.",
    )
    _check_standard_errors(attributes)


def _check_standard_errors(attributes: dict[str, Any]) -> None:
    """Check that standard errors, if there are any, have the knots and grids of ``shapes_``."""
    if "standard_errors_" not in attributes:
        return
    pair = attributes["shapes_"], attributes["standard_errors_"]
    models, errors = (part if isinstance(part, list) else [part] for part in pair)
    require(
        are_all(errors, list, ShapeModel)
        and len(errors) == len(models)
        and all(map(_has_same_grids, errors, models)),
        "standard_errors_ must have the knots and the grids of shapes_.",
    )


def _has_same_grids(one: ShapeModel, other: ShapeModel) -> bool:
    return (
        one.terms == other.terms
        and all(
            np.array_equal(a.knots, b.knots)
            and (a.missing is None, a.is_category) == (b.missing is None, b.is_category)
            for a, b in zip(one, other, strict=True)
        )
        and all(
            all(map(Axis.same_as, a.axes, b.axes))
            for a, b in zip(one.surfaces, other.surfaces, strict=True)
        )
    )


def _are_weights(weights: Any) -> bool:
    return isinstance(weights, np.ndarray) and weights.dtype.kind == "f" and np.min(weights) >= 0.0


def _is_curve_of(shape: Shape, feature: Feature) -> bool:
    """Whether a curve is over the levels of a categorical feature, or over a numeric one."""
    if feature.levels is None:
        return not shape.is_category
    if feature.n_levels == 0:  # a category that is missing in all training rows adds nothing
        return not np.any(shape.values)
    return shape.is_category and len(shape.levels) == feature.n_levels


def _is_axis_of(axis: Axis, feature: Feature) -> bool:
    """Whether an axis is over the levels of a categorical feature, or over a numeric one."""
    if feature.levels is None or feature.n_levels == 0:
        return not axis.is_category
    return axis.is_category and len(axis.knots) == feature.n_levels
