"""Consistency checks of the objects in a model file.

Compiled loops check nothing, and the methods of a fitted estimator rely on its attributes, so
objects with inconsistent parts are rejected, wherever they come from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from everystump._core.kernel_machines.kernels import (
    CallableKernel,
    Expansion,
    NamedKernel,
    PrecomputedKernel,
)
from everystump._core.kernel_machines.registry import KERNELS
from everystump._core.shapes import Shape, ShapeModel
from everystump._tables.frames import Feature
from everystump._tables.overlap import TrainingRecord
from everystump.estimators.kernel_svc import KernelSVC
from everystump.estimators.loo_search import LooBoundSearch
from everystump.estimators.perceptron import PerceptronSVC
from everystump.estimators.subsample_voting import SubsampleVotingClassifier
from everystump.estimators.weighted_vote import WeightedVoteClassifier
from everystump.modelfile.container import ModelFileError


def check(value: Any) -> None:
    """Check that the parts of an object are consistent."""
    for cls, check_parts in _CHECKS.items():
        if isinstance(value, cls):
            check_parts(value)


def _require(condition: Any, message: str) -> None:
    if not condition:
        raise ModelFileError(message)


def _is_array(value: Any, ndim: int, kinds: str = "biufUO") -> bool:
    return isinstance(value, np.ndarray) and value.ndim == ndim and value.dtype.kind in kinds


def _is_number(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _is_int(value: Any, low: int, high: float = math.inf) -> bool:
    return type(value) is int and low <= value <= high


def _are_all(values: Any, container: Any, cls: type) -> bool:
    return isinstance(values, container) and all(isinstance(value, cls) for value in values)


def _check_shape(shape: Shape) -> None:
    knots, values, missing = shape.knots, shape.values, shape.missing
    _require(
        all(isinstance(x, np.ndarray) and x.dtype == np.float64 for x in (knots, values)),
        "the knots and values of a Shape must be arrays of 64-bit floats.",
    )
    _require(
        knots.ndim == 1 and knots.shape == values.shape and len(knots),
        "a Shape must have one value for each of its knots.",
    )
    is_ascending = not np.any(np.isnan(knots)) and np.all(knots[1:] >= knots[:-1])
    _require(is_ascending, "the knots of a Shape must be in ascending order.")
    _require(np.all(np.isfinite(values)), "the values of a Shape must be finite.")
    _require(
        missing is None or _is_number(missing),
        "the value of a Shape where the feature is missing must be a finite number or None.",
    )
    _require(
        type(shape.is_category) is bool and not (shape.is_category and len(knots) % 2),
        "a Shape must be either categorical or numeric.",
    )


def _check_shape_model(model: ShapeModel) -> None:
    _require(
        _are_all(model.shapes, tuple, Shape) and _is_number(model.intercept),
        "a ShapeModel must be a tuple of Shapes and a finite intercept.",
    )


def _check_feature(feature: Feature) -> None:
    _require(
        feature.levels is None or _is_array(feature.levels, 1),
        "the levels of a Feature must be a one-dimensional array or None.",
    )


def _check_training_record(record: TrainingRecord) -> None:
    hashes, kept, n_duplicates = record.hashes, record.kept, record.n_duplicates
    _require(
        _is_array(hashes, 1, "u") and hashes.dtype == np.uint64 and len(hashes),
        "the hashes of a TrainingRecord must be a non-empty array of unsigned 64-bit integers.",
    )
    _require(
        _is_int(record.n_input_rows, 1) and type(record.complete) is bool,
        "n_input_rows of a TrainingRecord must be a positive integer, and complete a boolean.",
    )
    _require(
        kept is None or (_is_array(kept, 1, "i") and _are_row_numbers(kept, record.n_input_rows)),
        "kept of a TrainingRecord must be row numbers in ascending order, or None.",
    )
    _require(
        len(hashes) == record.n_rows if record.complete else len(hashes) <= record.n_rows,
        "a TrainingRecord must have one hash for each row, or fewer if it holds a sample.",
    )
    _require(
        n_duplicates is None or _is_int(n_duplicates, 0, record.n_rows),
        "n_duplicates of a TrainingRecord must be a number of its rows, or None.",
    )
    _require(
        all(type(part) is int for part in (record.rows_checksum, record.weights_checksum))
        and (record.table_checksum is None or type(record.table_checksum) is int),
        "the checksums of a TrainingRecord must be integers.",
    )


def _are_row_numbers(rows: np.ndarray, n: int) -> bool:
    """Whether numbers of rows out of ``n`` ascend; there must be some."""
    return bool(len(rows) and rows[0] >= 0 and rows[-1] < n and np.all(rows[1:] > rows[:-1]))


def _check_named_kernel(kernel: NamedKernel) -> None:
    name, parameters = kernel.name, kernel.parameters
    _require(
        isinstance(name, str) and name in KERNELS and isinstance(parameters, dict),
        "a NamedKernel must have the name of a kernel and a dict of parameters.",
    )
    cuts = parameters.get("cuts")
    _require(
        type(kernel.data_independent) is bool
        and set(parameters) == {KERNELS[name].parameter} - {None}
        and all(_is_number(parameters[name]) for name in parameters.keys() - {"cuts"})
        and (cuts is None or (isinstance(cuts, list) and all(_is_array(c, 1) for c in cuts))),
        "the parameters of a NamedKernel must be those of its kernel, as finite numbers or cuts.",
    )


def _check_callable_kernel(kernel: CallableKernel) -> None:
    _require(callable(kernel.function), "the function of a CallableKernel must be callable.")


def _check_expansion(expansion: Expansion) -> None:
    vectors, coef, intercept = expansion.support_vectors, expansion.coef, expansion.intercept
    ndim = 1 if isinstance(expansion.kernel, PrecomputedKernel) else 2
    are_arrays = _is_array(vectors, ndim) and _is_array(coef, 2) and _is_array(intercept, 1)
    _require(
        are_arrays
        and coef.shape == (len(vectors), len(intercept))
        and np.all(np.isfinite(intercept)),
        "an Expansion must have one weight for each support vector and intercept.",
    )


def _check_estimator(model: BaseEstimator) -> None:
    """Check the parameters of an estimator and the attributes that all estimators may have."""
    try:
        model._validate_params()
    except ValueError as error:
        raise ModelFileError(str(error)) from error
    attributes = vars(model)
    record = attributes.get("_training_record")
    _require(
        record is None or isinstance(record, TrainingRecord),
        "_training_record must be a TrainingRecord or None.",
    )
    if "n_features_in_" in attributes:
        _check_features(attributes)
    if "classes_" in attributes:
        classes = attributes["classes_"]
        _require(
            _is_array(classes, 1) and 1 < len(classes) == len(set(classes.tolist())),
            "classes_ must be an array of two or more distinct labels.",
        )
        if "shapes_" in attributes:
            _check_curves(attributes)


def _check_features(attributes: dict[str, Any]) -> None:
    n_features, features = attributes["n_features_in_"], attributes.get("feature_info_")
    _require(_is_int(n_features, 1), "n_features_in_ must be a positive integer.")
    _require(
        features is None or _are_all(features, tuple, Feature),
        "feature_info_ must be a tuple of Features.",
    )
    for name in ("feature_info_", "feature_names_in_", "density_"):
        part = attributes.get(name)
        _require(
            part is None or (isinstance(part, tuple | np.ndarray) and len(part) == n_features),
            f"{name} must have one entry for each of the {n_features} features.",
        )


def _n_scores(classes: np.ndarray) -> int:
    return 1 if len(classes) == 2 else len(classes)


def _check_curves(attributes: dict[str, Any]) -> None:
    """Check that there is one shape model per score, and in each one curve per feature."""
    shapes, n_scores = attributes["shapes_"], _n_scores(attributes["classes_"])
    models = [shapes] if isinstance(shapes, ShapeModel) and n_scores == 1 else shapes
    features: Any = attributes.get("feature_info_")
    _require(
        _are_all(models, list, ShapeModel) and len(models) == n_scores,
        f"shapes_ must have one ShapeModel for each of the {n_scores} scores.",
    )
    _require(features is not None, "an estimator with shapes_ must have feature_info_.")
    for model in models:
        _require(
            len(model) == len(features) and all(map(_is_curve_of, model.shapes, features)),
            "shapes_ must have one curve for each feature and its levels.",
        )


def _is_curve_of(shape: Shape, feature: Feature) -> bool:
    """Whether a curve is over the levels of a categorical feature, or over a numeric one."""
    if feature.levels is None:
        return not shape.is_category
    if feature.n_levels == 0:  # a category that is missing in all training rows adds nothing
        return not np.any(shape.values)
    return shape.is_category and len(shape.levels) == feature.n_levels


def _check_kernel_svc(model: KernelSVC) -> None:
    expansion = vars(model).get("expansion_")
    if expansion is not None:
        _require(isinstance(expansion, Expansion), "expansion_ must be an Expansion.")
        n, vectors = model.n_features_in_, expansion.support_vectors
        inside = (
            vectors.shape[1] == n if vectors.ndim == 2 else np.all((vectors >= 0) & (vectors < n))
        )
        _require(
            inside and len(expansion.intercept) == _n_scores(model.classes_),
            "expansion_ must match the features and classes of its estimator.",
        )


def _check_perceptron_svc(model: PerceptronSVC) -> None:
    if "machine_" not in vars(model):
        return
    n, directions = model.n_features_in_, model.directions_
    scale: Any = model.scale_
    width = n if directions is None else model.n_directions
    _require(
        np.shape(model.centre_) == (n,)
        and (directions is None or np.shape(directions) == (width, n)),
        "centre_ and directions_ must have one number for each feature.",
    )
    _require(
        _is_array(scale, 1) and scale.shape == (n,) and np.all(scale > 0)
        if model.scale
        else scale is None,
        "scale_ must have one factor for each feature if scale is True, and be None otherwise.",
    )
    _check_members(model, "machine_", [model.machine_], width)


def _check_weighted_vote(model: WeightedVoteClassifier) -> None:
    if "classes_" in vars(model):
        _check_members(model, "estimators_", model.estimators_, model.n_features_in_)
        _require(
            np.shape(model.weights_) == (len(model.estimators_),),
            "weights_ must have one weight for each of estimators_.",
        )


def _check_loo_search(model: LooBoundSearch) -> None:
    if "classes_" in vars(model):
        _check_members(model, "best_estimator_", [model.best_estimator_], model.n_features_in_)


def _check_subsample_voting(model: SubsampleVotingClassifier) -> None:
    attributes = vars(model)
    is_edited = "shapes_" in attributes and "estimators_" not in attributes
    if "weights_" not in attributes or is_edited:
        return
    members, subsets, n_scores = (
        model.estimators_,
        model.estimators_features_,
        len(model.intercept_),
    )
    _require(
        isinstance(members, list)
        and len(members) == len(subsets) == model.n_estimators
        and np.shape(model.intercept_) == (_n_scores(model.classes_),)
        and np.shape(model.weights_)
        in {(len(members),), (n_scores * len(members),), (n_scores, n_scores * len(members))},
        "estimators_ must have one member and one weight for each of n_estimators.",
    )
    n_features = model.n_features_in_
    for member, subset in zip(members, subsets, strict=True):
        index = np.arange(n_features) if subset is None else np.asarray(subset)
        _require(
            np.all((index >= 0) & (index < n_features)), "estimators_features_ must name features."
        )
        _check_members(model, "estimators_", [member], len(index))


def _check_members(model: Any, name: str, members: Any, n_features: int) -> None:
    """Check that the members of an ensemble are estimators fitted to a number of features."""
    _require(
        _are_all(members, list, BaseEstimator)
        and members
        and all(
            hasattr(member, getattr(member, "_fitted_attribute", "n_features_in_"))
            and member.n_features_in_ == n_features
            for member in members
        ),
        f"{name} of a {type(model).__name__} must be fitted to its {n_features} features.",
    )


_CHECKS: dict[type, Callable[[Any], None]] = {
    Shape: _check_shape,
    ShapeModel: _check_shape_model,
    Feature: _check_feature,
    TrainingRecord: _check_training_record,
    CallableKernel: _check_callable_kernel,
    NamedKernel: _check_named_kernel,
    Expansion: _check_expansion,
    BaseEstimator: _check_estimator,
    KernelSVC: _check_kernel_svc,
    PerceptronSVC: _check_perceptron_svc,
    WeightedVoteClassifier: _check_weighted_vote,
    LooBoundSearch: _check_loo_search,
    SubsampleVotingClassifier: _check_subsample_voting,
}
