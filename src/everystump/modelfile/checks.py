"""Consistency checks of the objects in a model file.

Compiled loops check nothing, and the methods of a fitted estimator rely on its attributes, so
objects with inconsistent parts are rejected, wherever they come from.
"""

from __future__ import annotations

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
from everystump._core.surfaces import Axis, Surface
from everystump._core.targets import INVERSE_LINKS
from everystump._tables.frames import Feature
from everystump._tables.overlap import TrainingRecord
from everystump.estimators._base import TableEstimator
from everystump.estimators.kernel_svc import KernelSVC
from everystump.estimators.loo_search import LooBoundSearch
from everystump.estimators.perceptron import PerceptronSVC
from everystump.estimators.subsample_voting import SubsampleVotingClassifier
from everystump.estimators.weighted_vote import WeightedVoteClassifier
from everystump.modelfile.conditions import are_all, is_array, is_int, is_number, require
from everystump.modelfile.container import ModelFileError
from everystump.modelfile.shape_checks import (
    check_axis,
    check_curves,
    check_interactions,
    check_shape,
    check_shape_model,
    check_surface,
    count_scores,
)


def check(value: Any) -> None:
    """Check that the parts of an object are consistent."""
    for cls, check_parts in _CHECKS.items():
        if isinstance(value, cls):
            check_parts(value)


def _check_feature(feature: Feature) -> None:
    require(
        feature.levels is None or is_array(feature.levels, 1),
        "the levels of a Feature must be a one-dimensional array or None.",
    )


def _check_training_record(record: TrainingRecord) -> None:
    hashes, kept, n_duplicates = record.hashes, record.kept, record.n_duplicates
    require(
        is_array(hashes, 1, "u") and hashes.dtype == np.uint64 and len(hashes),
        "the hashes of a TrainingRecord must be a non-empty array of unsigned 64-bit integers.",
    )
    require(
        is_int(record.n_input_rows, 1) and type(record.complete) is bool,
        "n_input_rows of a TrainingRecord must be a positive integer, and complete a boolean.",
    )
    require(
        kept is None or (is_array(kept, 1, "i") and _are_row_numbers(kept, record.n_input_rows)),
        "kept of a TrainingRecord must be row numbers in ascending order, or None.",
    )
    require(
        len(hashes) == record.n_rows if record.complete else len(hashes) <= record.n_rows,
        "a TrainingRecord must have one hash for each row, or fewer if it holds a sample.",
    )
    require(
        n_duplicates is None or is_int(n_duplicates, 0, record.n_rows),
        "n_duplicates of a TrainingRecord must be a number of its rows, or None.",
    )
    require(
        all(type(part) is int for part in (record.rows_checksum, record.weights_checksum))
        and (record.table_checksum is None or type(record.table_checksum) is int),
        "the checksums of a TrainingRecord must be integers.",
    )


def _are_row_numbers(rows: np.ndarray, n: int) -> bool:
    """Whether numbers of rows out of ``n`` ascend; there must be some."""
    return bool(len(rows) and rows[0] >= 0 and rows[-1] < n and np.all(rows[1:] > rows[:-1]))


def _check_named_kernel(kernel: NamedKernel) -> None:
    name, parameters = kernel.name, kernel.parameters
    require(
        isinstance(name, str) and name in KERNELS and isinstance(parameters, dict),
        "a NamedKernel must have the name of a kernel and a dict of parameters.",
    )
    cuts = parameters.get("cuts")
    require(
        type(kernel.data_independent) is bool
        and set(parameters) == {KERNELS[name].parameter} - {None}
        and all(is_number(parameters[name]) for name in parameters.keys() - {"cuts"})
        and (cuts is None or (isinstance(cuts, list) and all(is_array(c, 1) for c in cuts))),
        "the parameters of a NamedKernel must be those of its kernel, as finite numbers or cuts.",
    )


def _check_callable_kernel(kernel: CallableKernel) -> None:
    require(callable(kernel.function), "the function of a CallableKernel must be callable.")


def _check_expansion(expansion: Expansion) -> None:
    vectors, coef, intercept = expansion.support_vectors, expansion.coef, expansion.intercept
    ndim = 1 if isinstance(expansion.kernel, PrecomputedKernel) else 2
    are_arrays = is_array(vectors, ndim) and is_array(coef, 2) and is_array(intercept, 1)
    require(
        are_arrays
        and coef.shape == (len(vectors), len(intercept))
        and np.all(np.isfinite(intercept)),
        "an Expansion must have one weight for each support vector and intercept.",
    )


def _check_estimator(model: Any) -> None:
    """Check the parameters of an estimator and the attributes that all estimators may have."""
    try:
        model._validate_params()
    except ValueError as error:
        raise ModelFileError(str(error)) from error
    attributes = vars(model)
    record = attributes.get("_training_record")
    require(
        record is None or isinstance(record, TrainingRecord),
        "_training_record must be a TrainingRecord or None.",
    )
    if "n_features_in_" in attributes:
        _check_features(attributes)
    _check_output(attributes, model._output_attributes)
    if "shapes_" in attributes:
        check_curves(attributes)
        check_interactions(attributes)


def _check_output(attributes: dict[str, Any], own: tuple[str, ...]) -> None:
    """Check what turns scores into predictions: the classes, or the link of a regressor."""
    for name, check_value in _OUTPUTS.items():
        if name in attributes:
            require(name in own, f"an estimator with {own[0]} must not have {name}.")
            check_value(attributes)
    for name in own:
        require(
            name in attributes or "shapes_" not in attributes,
            f"an estimator with shapes_ needs {name}.",
        )


def _check_classes(attributes: dict[str, Any]) -> None:
    classes = attributes["classes_"]
    require(
        is_array(classes, 1) and 1 < len(classes) == len(set(classes.tolist())),
        "classes_ must be an array of two or more distinct labels.",
    )


def _check_multi_class(attributes: dict[str, Any]) -> None:
    require(
        attributes["multi_class_"] in ("multinomial", "ovr"),
        "multi_class_ must be 'multinomial' or 'ovr'.",
    )


def _check_link(attributes: dict[str, Any]) -> None:
    link, scale = attributes["link_"], attributes.get("target_scale_", 1.0)
    require(
        isinstance(link, str) and link in INVERSE_LINKS,
        f"link_ must be one of {', '.join(map(repr, INVERSE_LINKS))}.",
    )
    require(is_number(scale) and scale > 0.0, "target_scale_ must be a positive finite number.")


def _check_features(attributes: dict[str, Any]) -> None:
    n_features, features = attributes["n_features_in_"], attributes.get("feature_info_")
    require(is_int(n_features, 1), "n_features_in_ must be a positive integer.")
    require(
        features is None or are_all(features, tuple, Feature),
        "feature_info_ must be a tuple of Features.",
    )
    for name in ("feature_info_", "feature_names_in_", "density_"):
        part = attributes.get(name)
        require(
            part is None or (isinstance(part, tuple | np.ndarray) and len(part) == n_features),
            f"{name} must have one entry for each of the {n_features} features.",
        )


def _check_kernel_svc(model: KernelSVC) -> None:
    expansion = vars(model).get("expansion_")
    if expansion is not None:
        require(isinstance(expansion, Expansion), "expansion_ must be an Expansion.")
        n, vectors = model.n_features_in_, expansion.support_vectors
        inside = (
            vectors.shape[1] == n if vectors.ndim == 2 else np.all((vectors >= 0) & (vectors < n))
        )
        require(
            inside and len(expansion.intercept) == count_scores(model.classes_),
            "expansion_ must match the features and classes of its estimator.",
        )


def _check_perceptron_svc(model: PerceptronSVC) -> None:
    if "machine_" not in vars(model):
        return
    n, directions = model.n_features_in_, model.directions_
    scale: Any = model.scale_
    width = n if directions is None else model.n_directions
    require(
        np.shape(model.centre_) == (n,)
        and (directions is None or np.shape(directions) == (width, n)),
        "centre_ and directions_ must have one number for each feature.",
    )
    require(
        is_array(scale, 1) and scale.shape == (n,) and np.all(scale > 0)
        if model.scale
        else scale is None,
        "scale_ must have one factor for each feature if scale is True, and be None otherwise.",
    )
    _check_members(model, "machine_", [model.machine_], width)


def _check_weighted_vote(model: WeightedVoteClassifier) -> None:
    if "classes_" in vars(model):
        _check_members(model, "estimators_", model.estimators_, model.n_features_in_)
        require(
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
    require(
        isinstance(members, list)
        and len(members) == len(subsets) == model.n_estimators
        and np.shape(model.intercept_) == (count_scores(model.classes_),)
        and np.shape(model.weights_)
        in {(len(members),), (n_scores * len(members),), (n_scores, n_scores * len(members))},
        "estimators_ must have one member and one weight for each of n_estimators.",
    )
    n_features = model.n_features_in_
    for member, subset in zip(members, subsets, strict=True):
        index = np.arange(n_features) if subset is None else np.asarray(subset)
        require(
            np.all((index >= 0) & (index < n_features)), "estimators_features_ must name features."
        )
        _check_members(model, "estimators_", [member], len(index))


def _check_members(model: Any, name: str, members: Any, n_features: int) -> None:
    """Check that the members of an ensemble are estimators fitted to a number of features."""
    require(
        are_all(members, list, BaseEstimator)
        and members
        and all(
            hasattr(member, getattr(member, "_fitted_attribute", "n_features_in_"))
            and member.n_features_in_ == n_features
            for member in members
        ),
        f"{name} of a {type(model).__name__} must be fitted to its {n_features} features.",
    )


_OUTPUTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "classes_": _check_classes,
    "link_": _check_link,
    "multi_class_": _check_multi_class,
}
_CHECKS: dict[type, Callable[[Any], None]] = {
    Axis: check_axis,
    Shape: check_shape,
    ShapeModel: check_shape_model,
    Surface: check_surface,
    Feature: _check_feature,
    TrainingRecord: _check_training_record,
    CallableKernel: _check_callable_kernel,
    NamedKernel: _check_named_kernel,
    Expansion: _check_expansion,
    TableEstimator: _check_estimator,
    KernelSVC: _check_kernel_svc,
    PerceptronSVC: _check_perceptron_svc,
    WeightedVoteClassifier: _check_weighted_vote,
    LooBoundSearch: _check_loo_search,
    SubsampleVotingClassifier: _check_subsample_voting,
}
