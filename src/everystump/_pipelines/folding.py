"""Folds the steps of a fitted pipeline into the curves and surfaces of its last step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape, ShapeModel, combine_shapes
from everystump._pipelines.columns import ColumnMapping, Mappings, apply_step, unsupported_error
from everystump._pipelines.surfaces import fold_surfaces, fold_weights
from everystump._tables.frames import Feature
from everystump.estimators._base import TableEstimator, as_class_list, unwrap_binary
from everystump.estimators._editing import copy_without_solution

_ZERO = Shape(np.zeros(1), np.zeros(1))
# Attributes that stay valid; all others describe the columns that the last step was trained on.
_VALID = {
    "C_",
    "certificate_",
    "classes_",
    "cv_results_",
    "exact_",
    "interaction_cv_results_",
    "interaction_strength_",
    "intercept_",
    "link_",
    "multi_class_",
    "n_iter_",
    "number_cv_results_",
    "refined_cv_results_",
    "target_scale_",
    "weights_cv_results_",
}
_REPLACED = {
    "density_",
    "feature_info_",
    "interactions_",
    "n_features_in_",
    "shapes_",
    "standard_errors_",
    "surface_density_",
}


def fold_pipeline(model: Any) -> Any:
    """Return a pipeline that ends in an additive model as one model of its input columns.

    Any other model is returned unchanged.  Jumps stay exactly where they are, for every 64-bit
    float; curves that are linear between knots agree up to rounding.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted.  The steps before the last one may be StandardScaler, MinMaxScaler (without clip),
        MaxAbsScaler, RobustScaler, SimpleImputer (of NaN, without indicators), ColumnTransformers
        and pipelines of these, feature selection, and "passthrough".

    Returns
    -------
    estimator
        Of the class of the last step, with its classes or link, certificate and curves.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from everystump import DecisionStumpClassifier
    >>> pipeline = make_pipeline(StandardScaler(), DecisionStumpClassifier())
    >>> pipeline = pipeline.fit([[0.0], [10.0], [40.0], [50.0]], [0, 0, 1, 1])
    >>> fold_pipeline(pipeline).curve("x0")
       value  contribution
    0   25.0          -1.0
    1   25.0           1.0
    """
    _check_targets_unchanged(model)
    if not _is_pipeline(model):
        return model
    last = model.steps[-1][1]
    _check_targets_unchanged(last)
    if not isinstance(last, TableEstimator):
        raise ValueError(
            f"model: the last step of the pipeline, {type(last).__name__}, is not an everystump "
            f"estimator; save the pipeline with skops or joblib."
        )
    check_is_fitted(last, last._fitted_attribute)
    n, names = _input_columns(model, last)
    unchanged = [ColumnMapping(d) for d in range(n)]
    mappings = unchanged
    for name, step in model.steps[:-1]:
        mappings = apply_step(step, mappings, name)
    if mappings == unchanged and _has_names(last, names):
        return last
    if len(mappings) != last.n_features_in_:
        raise unsupported_error(
            "the steps", f"return {len(mappings)} columns, not {last.n_features_in_}"
        )
    # Columns that a ColumnTransformer drops may hold any values, so they become categories without
    # levels.
    drops_any = names is not None and any(
        type(step).__name__ == "ColumnTransformer" for _, step in model.steps[:-1]
    )
    return _with_input_curves(last, _Inputs(n, names, mappings, drops_any))


@dataclass(frozen=True)
class _Inputs:
    """The input columns of a pipeline, and how they become the columns of the last step."""

    n: int
    names: Any
    mappings: Mappings
    drops_any: bool  # whether dropped columns may hold values other than numbers

    def outputs(self, d: int) -> list[int]:
        """Return the columns of the last step that an input column becomes."""
        return [k for k, mapping in enumerate(self.mappings) if mapping.source == d]

    def feature(self, d: int, features: Sequence[Feature]) -> Feature:
        """Return the feature of an input column."""
        outputs, no_levels = self.outputs(d), np.empty(0, dtype=object) if self.drops_any else None
        return Feature(
            None if self.names is None else self.names[d],
            features[outputs[0]].levels if outputs else no_levels,
        )

    def curve(self, d: int, model: ShapeModel, features: Sequence[Feature]) -> Shape:
        """Return the curve of an input column."""
        curves = [self.mappings[k].curve(model[k], features[k]) for k in self.outputs(d)]
        if not curves:
            return Shape.category(np.empty(0)) if self.drops_any else _ZERO
        return curves[0] if len(curves) == 1 else combine_shapes(curves, [1.0] * len(curves))

    def density(self, d: int, densities: Sequence[RowDensity]) -> RowDensity:
        """Return the distribution of the training samples; all missing in a dropped column."""
        outputs = self.outputs(d)
        if outputs:
            return self.mappings[outputs[0]].density(densities[outputs[0]])
        total = float(densities[0].counts.sum() + densities[0].missing)
        return RowDensity(np.empty(0), np.empty(0), total)


def _is_pipeline(model: Any) -> bool:
    if not hasattr(model, "steps"):
        return False
    from sklearn.pipeline import Pipeline

    return type(model) is Pipeline


def _check_targets_unchanged(model: Any) -> None:
    """Check that a model does not transform the targets of a regressor."""
    if not hasattr(model, "regressor"):
        return
    from sklearn.compose import TransformedTargetRegressor

    if isinstance(model, TransformedTargetRegressor):
        raise ValueError(
            "model: TransformedTargetRegressor changes predictions, which curves cannot express; "
            "pass its regressor_ and transform the predictions elsewhere, or fit a StumpRegressor "
            'with loss="poisson" or "gamma", which have a log link, to the original targets.'
        )


def _input_columns(pipeline: Any, last: Any) -> tuple[int, Any]:
    """Return the number of input columns, and their names if they have any."""
    steps = [step for _, step in pipeline.steps if not isinstance(step, str) and step is not None]
    first = next((step for step in steps if hasattr(step, "n_features_in_")), last)
    return first.n_features_in_, getattr(first, "feature_names_in_", None)


def _has_names(last: Any, names: Any) -> bool:
    """Whether the last step was fitted to columns with these names."""
    last_names = getattr(last, "feature_names_in_", None)
    if last_names is None or names is None:
        return last_names is names
    return list(last_names) == list(names)


def _with_input_curves(last: Any, inputs: _Inputs) -> Any:
    """Return a copy of a model with curves over the input columns."""
    if getattr(last, "shapes_", None) is None:
        raise unsupported_error(
            "the steps", f"can be folded into curves only, and {type(last).__name__} has none"
        )
    for mapping, feature in zip(inputs.mappings, last.feature_info_, strict=True):
        if feature.levels is not None and mapping.functions:
            raise unsupported_error(
                "the steps", f"change column {mapping.source}, whose values are levels"
            )
    columns, features = range(inputs.n), last.feature_info_
    names = set() if inputs.names is None else {"feature_names_in_"}
    folded = copy_without_solution(last, _VALID | _REPLACED | names)

    def fold(models: Any) -> list[ShapeModel]:
        return [
            ShapeModel(
                tuple(inputs.curve(d, model, features) for d in columns),
                model.intercept,
                fold_surfaces(model, inputs.mappings, features),
            )
            for model in as_class_list(models)
        ]

    models = fold(last.shapes_)
    folded.shapes_ = unwrap_binary(models)
    errors = getattr(last, "standard_errors_", None)
    if errors is not None and all(len(inputs.outputs(d)) <= 1 for d in columns):
        folded.standard_errors_ = unwrap_binary(fold(errors))  # sums of curves would have others
    folded.feature_info_ = tuple(inputs.feature(d, features) for d in columns)
    folded.n_features_in_ = inputs.n
    if inputs.names is not None:
        folded.feature_names_in_ = inputs.names
    if hasattr(last, "density_"):
        folded.density_ = tuple(inputs.density(d, last.density_) for d in columns)
    if getattr(last, "interactions_", None):
        sources = [[inputs.mappings[d].source for d in term] for term in last.interactions_]
        folded.interactions_ = sorted({tuple(sorted(term)) for term in sources})
        own = as_class_list(last.shapes_)[0]
        folded.surface_density_ = fold_weights(
            own, last.surface_density_, models[0].surfaces, inputs.mappings, features
        )
    return folded
