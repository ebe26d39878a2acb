"""What must hold of the objects in a model file, whoever wrote it.

Compiled loops check nothing, and the methods of a fitted estimator trust what a fit has left.  So
parts that contradict each other are refused before anyone works with them.  Whether the numbers are
those of a training, nobody can tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from everystump._core.kernel_machines.expansion import Expansion
from everystump._core.kernel_machines.kernel import PrecomputedKernel
from everystump._core.shapes import Shape, ShapeModel
from everystump._tables import Feature
from everystump._tables.overlap import TrainingRecord
from everystump.estimators.kernel_svc import KernelSVC
from everystump.estimators.loo_search import LooBoundSearch
from everystump.estimators.perceptron import PerceptronSVC
from everystump.estimators.subsample_voting import SubsampleVotingClassifier
from everystump.estimators.weighted_vote import WeightedVoteClassifier
from everystump.modelfile.errors import ModelFileError


def check(value: Any) -> None:
    """Raise if an object is none that the rest of the package could have made."""
    for cls, check_one in _CHECKS.items():
        if isinstance(value, cls):
            check_one(value)


def _require(holds: Any, sentence: str) -> None:
    if not holds:
        raise ModelFileError(sentence)


def _is_array(value: Any, ndim: int) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == ndim


def _is_number(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _check_shape(shape: Shape) -> None:
    """Raise unless a curve is one that compiled loops can follow."""
    knots, values = shape.knots, shape.values
    arrays = isinstance(knots, np.ndarray) and isinstance(values, np.ndarray)
    _require(
        arrays and knots.dtype == values.dtype == np.float64,
        "the knots and values of a Shape must be arrays of floats of 64 bits.",
    )
    _require(
        knots.ndim == 1 and knots.shape == values.shape and len(knots),
        "a Shape must have one value for each of its knots.",
    )
    _require(
        not np.any(np.isnan(knots)) and not np.any(knots[1:] < knots[:-1]),
        "the knots of a Shape must ascend.",
    )
    _require(np.all(np.isfinite(values)), "the values of a Shape must be finite.")
    _require(
        shape.missing is None or _is_number(shape.missing),
        "what a Shape adds where a value is missing must be a finite number or None.",
    )
    _require(
        type(shape.is_category) is bool and not (shape.is_category and len(knots) % 2),
        "a Shape must be the curve of a category or of numbers.",
    )


def _check_shape_model(model: ShapeModel) -> None:
    _require(
        isinstance(model.shapes, tuple)
        and all(isinstance(shape, Shape) for shape in model.shapes)
        and _is_number(model.intercept),
        "a ShapeModel must be a tuple of Shapes and a finite intercept.",
    )


def _check_feature(feature: Feature) -> None:
    _require(
        feature.levels is None or _is_array(feature.levels, 1),
        "the levels of a Feature must be an array of one dimension or None.",
    )


def _check_training_record(record: TrainingRecord) -> None:
    """Raise unless a record is one that rows can be compared with."""
    hashes, kept, n_input_rows, n_duplicates = (
        record.hashes,
        record.kept,
        record.n_input_rows,
        record.n_duplicates,
    )
    _require(
        _is_array(hashes, 1) and hashes.dtype == np.uint64 and len(hashes),
        "the hashes of a TrainingRecord must be an array of whole numbers of 64 bits, one or more.",
    )
    _require(
        type(n_input_rows) is int and n_input_rows >= 1 and type(record.complete) is bool,
        "n_input_rows of a TrainingRecord must be a positive integer, and complete a boolean.",
    )
    _require(
        kept is None
        or (_is_array(kept, 1) and kept.dtype.kind == "i" and _ascends(kept, n_input_rows)),
        "kept of a TrainingRecord must be numbers of its rows in ascending order, or None.",
    )
    _require(
        len(hashes) == record.n_rows if record.complete else len(hashes) <= record.n_rows,
        "a TrainingRecord must have one hash for each row, or fewer if it holds a sample.",
    )
    _require(
        n_duplicates is None or (type(n_duplicates) is int and 0 <= n_duplicates <= record.n_rows),
        "n_duplicates of a TrainingRecord must be a number of its rows, or None.",
    )
    _require(
        all(type(part) is int for part in (record.rows_checksum, record.weights_checksum))
        and (record.table_checksum is None or type(record.table_checksum) is int),
        "the checksums of a TrainingRecord must be whole numbers.",
    )


def _ascends(rows: np.ndarray, n: int) -> bool:
    """Tell whether numbers of rows out of ``n`` ascend; there must be some."""
    return bool(len(rows) and rows[0] >= 0 and rows[-1] < n and np.all(rows[1:] > rows[:-1]))


def _check_expansion(expansion: Expansion) -> None:
    kept, coef, intercept = expansion.kept, expansion.coef, expansion.intercept
    ndim = 1 if isinstance(expansion.kernel, PrecomputedKernel) else 2
    whole = _is_array(kept, ndim) and _is_array(coef, 2) and _is_array(intercept, 1)
    _require(
        whole and coef.shape == (len(kept), len(intercept)) and np.all(np.isfinite(intercept)),
        "an Expansion must have one weight for each support vector and intercept.",
    )


def _check_estimator(model: BaseEstimator) -> None:
    """Raise if parameters are none that a fit would take, or fitted parts do not fit together."""
    try:
        model._validate_params()
    except ValueError as error:
        raise ModelFileError(str(error)) from error
    held = {name: part for name, part in vars(model).items() if name.endswith("_")}
    record = vars(model).get("_training_record")
    _require(
        record is None or isinstance(record, TrainingRecord),
        "_training_record must be a TrainingRecord or None.",
    )
    if "n_features_in_" in held:
        _check_features(held, held["n_features_in_"])
    if "classes_" in held:
        _check_classes(held["classes_"])
        if "shapes_" in held:
            _check_curves(held)


def _check_features(held: dict[str, Any], n: Any) -> None:
    _require(type(n) is int and n > 0, "n_features_in_ must be a whole number above 0.")
    features = held.get("feature_info_")
    _require(
        features is None
        or (isinstance(features, tuple) and all(isinstance(f, Feature) for f in features)),
        "feature_info_ must be a tuple of Features.",
    )
    for name in ("feature_info_", "feature_names_in_", "density_"):
        part = held.get(name)
        _require(
            part is None or (isinstance(part, tuple | np.ndarray) and len(part) == n),
            f"{name} must have one entry for each of the {n} features.",
        )


def _check_classes(classes: Any) -> None:
    _require(
        _is_array(classes, 1) and len(classes) > 1 and len(set(classes.tolist())) == len(classes),
        "classes_ must be an array of two or more labels.",
    )


def _n_scores(classes: np.ndarray) -> int:
    return 1 if len(classes) == 2 else len(classes)


def _check_curves(held: dict[str, Any]) -> None:
    """Raise unless there is one shape model a score, and in each one curve a feature."""
    given = held["shapes_"]
    models = [given] if isinstance(given, ShapeModel) else given
    n_scores, features = _n_scores(held["classes_"]), held.get("feature_info_")
    _require(
        isinstance(models, list) and all(isinstance(model, ShapeModel) for model in models),
        "shapes_ must be a ShapeModel or a list of them.",
    )
    _require(
        len(models) == n_scores and isinstance(given, ShapeModel) == (n_scores == 1),
        f"shapes_ must have one ShapeModel for each of the {n_scores} scores.",
    )
    if features is None:
        raise ModelFileError("an estimator with shapes_ must have feature_info_.")
    for model in models:
        fit = len(model) == len(features) and all(map(_is_over, model.shapes, features))
        _require(fit, "shapes_ must have one curve for each feature and its levels.")


def _is_over(shape: Shape, feature: Feature) -> bool:
    """Tell whether a curve is one over the levels of a feature, or over its numbers."""
    if feature.levels is None:
        return not shape.is_category
    if feature.n_levels == 0:  # a category that training saw no value of adds nothing
        return not np.any(shape.values)
    return shape.is_category and len(shape.levels) == feature.n_levels


def _check_kernel_machine(model: KernelSVC) -> None:
    expansion = vars(model).get("expansion_")
    if expansion is not None:
        _require(isinstance(expansion, Expansion), "expansion_ must be an Expansion.")
        n, kept = model.n_features_in_, expansion.kept
        inside = kept.shape[1] == n if kept.ndim == 2 else np.all((kept >= 0) & (kept < n))
        _require(
            inside and len(expansion.intercept) == _n_scores(model.classes_),
            "expansion_ must be one over the features and classes of its estimator.",
        )


def _check_perceptrons(model: PerceptronSVC) -> None:
    if "machine_" not in vars(model):
        return
    n, directions = model.n_features_in_, model.directions_
    width = n if directions is None else model.n_directions
    whole = directions is None or np.shape(directions) == (width, n)
    _require(
        whole and np.shape(model.centre_) == (n,),
        "centre_ and directions_ must have one number for each feature.",
    )
    scale = model.scale_
    _require(
        (scale is None) != model.scale
        and (scale is None or (_is_array(scale, 1) and scale.shape == (n,) and np.all(scale > 0))),
        "scale_ must have one factor for each feature if scale is True, and be None otherwise.",
    )
    _check_parts(model, "machine_", [model.machine_], width)


def _check_vote(model: WeightedVoteClassifier) -> None:
    if "classes_" in vars(model):
        _check_parts(model, "estimators_", model.estimators_, model.n_features_in_)
        _require(
            np.shape(model.weights_) == (len(model.estimators_),),
            "weights_ must have one weight for each of estimators_.",
        )


def _check_search(model: LooBoundSearch) -> None:
    if "classes_" in vars(model):
        _check_parts(model, "best_estimator_", [model.best_estimator_], model.n_features_in_)


def _check_subsamples(model: SubsampleVotingClassifier) -> None:
    held = vars(model)
    edited = "shapes_" in held and "estimators_" not in held  # its curves are all it has
    if "weights_" not in held or edited:
        return
    n, given, subsets = model.n_features_in_, model.estimators_, model.estimators_features_
    n_scores = _n_scores(model.classes_)
    _require(
        isinstance(given, list)
        and isinstance(subsets, list)
        and len(given) == len(subsets) == model.n_estimators
        and np.shape(model.intercept_) == (n_scores,)
        and np.shape(model.weights_)
        in {(len(given),), (n_scores * len(given),), (n_scores, n_scores * len(given))},
        "estimators_ must have one machine and one weight for each of n_estimators.",
    )
    for machine, subset in zip(given, subsets, strict=True):
        own = np.arange(n) if subset is None else np.asarray(subset)
        _require(np.all((own >= 0) & (own < n)), "estimators_features_ must name features.")
        _check_parts(model, "estimators_", [machine], len(own))


def _check_parts(model: Any, name: str, parts: Any, n_features: int) -> None:
    """Raise unless fitted parts of a model are fitted estimators of its features."""
    _require(
        isinstance(parts, list)
        and parts
        and all(
            isinstance(part, BaseEstimator)
            and hasattr(part, getattr(part, "_fitted_attribute", "n_features_in_"))
            and part.n_features_in_ == n_features
            for part in parts
        ),
        f"{name} of a {type(model).__name__} must be fitted to its {n_features} features.",
    )


_CHECKS: dict[type, Callable[[Any], None]] = {
    Shape: _check_shape,
    ShapeModel: _check_shape_model,
    Feature: _check_feature,
    TrainingRecord: _check_training_record,
    Expansion: _check_expansion,
    BaseEstimator: _check_estimator,
    KernelSVC: _check_kernel_machine,
    PerceptronSVC: _check_perceptrons,
    WeightedVoteClassifier: _check_vote,
    LooBoundSearch: _check_search,
    SubsampleVotingClassifier: _check_subsamples,
}
