"""Convert a fitted estimator to a `ModelRecord`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from everystump._core.kernel_machines.kernels import CallableKernel, Expansion, NamedKernel
from everystump._explanations.access import class_labels
from everystump._pipelines.folding import fold_pipeline
from everystump._tables.frames import Feature
from everystump.estimators._base import LogOddsClassifier, ShapeEstimator, as_class_list
from everystump.estimators.kernel_svc import KernelSVC
from everystump.estimators.loo_search import LooBoundSearch
from everystump.estimators.perceptron import PerceptronSVC
from everystump.estimators.subsample_voting import SubsampleVotingClassifier
from everystump.estimators.weighted_vote import WeightedVoteClassifier
from everystump.export._record import (
    KernelSum,
    ModelRecord,
    Projection,
    TargetFeature,
    Terms,
    Vote,
    nonzero_curves,
    sum_terms,
)


def read_model(model: Any) -> ModelRecord:
    """Return the record of a fitted estimator or pipeline, each of its features with a name."""
    record = _read(fold_pipeline(model))
    features = tuple(
        replace(feature, name=f"x{d}" if feature.name is None else str(feature.name))
        for d, feature in enumerate(record.features)
    )
    names: set[str] = set()
    for feature in features:
        if feature.name in names:
            raise ValueError(
                f"model: two features have the name {feature.name!r}; fit it to a table with "
                f"unique column names."
            )
        names.add(str(feature.name))
        _check_distinct_levels(feature)
    return replace(record, features=features)


def _check_distinct_levels(feature: Feature) -> None:
    """Check that numeric levels stay distinct as floats, which is how exports store them."""
    if feature.levels is None or feature.kind == "text":
        return
    try:
        n_distinct = len(np.unique(feature.levels.astype(np.float64)))
    except OverflowError:  # a number beyond the largest float
        n_distinct = 0
    if n_distinct < feature.n_levels:
        raise ValueError(
            f"model: feature {feature.name!r} has levels that are equal as floats; "
            f"convert its levels to text."
        )


@singledispatch
def _read(model: Any) -> ModelRecord:
    """Return the record of an estimator of this package, with the feature names of training."""
    raise TypeError(
        f"model={model!r} is not an everystump model and cannot be exported; use a converter "
        f"such as skl2onnx for models of other packages."
    )


@_read.register
def _read_shapes(model: ShapeEstimator) -> ModelRecord:
    check_is_fitted(model)
    return _record(model, Terms.from_shapes(as_class_list(model.shapes_)))


@_read.register
def _read_log_odds(model: LogOddsClassifier) -> ModelRecord:
    record = _read_shapes(model)
    softmax = model._has_softmax and record.terms.n_scores > 1
    return replace(record, log_odds=model._log_odds_factor, softmax=softmax)


@_read.register
def _read_kernel(model: KernelSVC) -> ModelRecord:
    check_is_fitted(model, "expansion_")
    return _record(model, _expansion_terms(model.expansion_))


@_read.register
def _read_perceptrons(model: PerceptronSVC) -> ModelRecord:
    check_is_fitted(model, "machine_")
    terms = _read(model.machine_).terms
    if model.directions_ is None:
        return _record(model, terms if model.scale_ is None else _scale(terms, model.scale_))
    projection = Projection(
        np.arange(model.n_features_in_),
        model.centre_,
        model.projections(),
        tuple(nonzero_curves(shapes) for shapes in as_class_list(model.machine_.shapes_)),
    )
    constant = Terms.from_constant(terms.intercepts)
    return _record(model, replace(constant, projections=(projection,)))


def _scale(terms: Terms, scale: np.ndarray) -> Terms:
    """Return kernel sums whose support vectors are scaled features already."""
    return replace(
        terms,
        kernel_sums=tuple(
            replace(
                term, kernel="scaled_perceptron", parameters={**term.parameters, "scale": scale}
            )
            for term in terms.kernel_sums
        ),
    )


@_read.register
def _read_search(model: LooBoundSearch) -> ModelRecord:
    check_is_fitted(model, "best_estimator_")
    # The search has no predict_proba, so its export has no probabilities.
    record = _read(model.best_estimator_)
    return replace(record, estimator=type(model).__name__, log_odds=None, softmax=False)


@_read.register
def _read_subsamples(model: SubsampleVotingClassifier) -> ModelRecord:
    check_is_fitted(model, "weights_")
    if hasattr(model, "shapes_"):
        return _record(model, Terms.from_shapes(as_class_list(model.shapes_)))
    parts = [Terms.from_constant(model.intercept_)]
    if hasattr(model, "expansions_"):
        parts += [_expansion_terms(expansion) for expansion in model.expansions_]
    else:
        parts += _member_terms(model)
    return _record(model, sum_terms(parts))


def _member_terms(model: SubsampleVotingClassifier) -> list[Terms]:
    """Return what each member of an ensemble adds to its scores."""
    n_scores = len(model.intercept_)
    weights = model.weights_
    if weights.ndim == 1:
        weights = np.kron(weights, np.eye(n_scores))
    by_member = np.split(np.atleast_2d(weights), len(model.estimators_), axis=1)
    parts = []
    for member, subset, weight in zip(
        model.estimators_, model.estimators_features_, by_member, strict=True
    ):
        record = _read(member)
        indices = np.arange(len(model.feature_info_)) if subset is None else subset
        # The levels of a member are level indices of the whole table.
        targets = [
            TargetFeature(int(d), feature.levels, model.feature_info_[d].n_levels)
            for d, feature in zip(indices, record.features, strict=True)
        ]
        terms = record.terms.remap(targets)
        if model.outputs == "scores":
            parts.append(terms.mix(weight))
        else:
            added = weight.T if n_scores > 1 else np.array([[-1.0], [1.0]]) @ weight
            parts.append(_vote_terms(terms, added))
    return parts


@_read.register
def _read_vote(model: WeightedVoteClassifier) -> ModelRecord:
    check_is_fitted(model, "weights_")
    voters = [_read(voter) for voter in model.estimators_]
    names = getattr(model, "feature_names_in_", None)
    indices = [_feature_indices(names, voter.features) for voter in voters]
    by_index = [
        dict(zip(index, voter.features, strict=True))
        for index, voter in zip(indices, voters, strict=True)
    ]
    features = tuple(
        _merge_features(d, [features[d] for features in by_index])
        for d in range(model.n_features_in_)
    )
    votes = []
    for voter, index, weight in zip(voters, indices, model.weights_, strict=True):
        pairs = zip(index, voter.features, strict=True)
        targets = [_target(d, feature, features[d]) for d, feature in pairs]
        added = weight * _class_votes(voter.classes, model.classes_.tolist())
        votes.append(_vote_terms(voter.terms.remap(targets), added))
    return ModelRecord(
        type(model).__name__,
        features,
        _plain_labels(model.classes_),
        all(voter.takes_missing for voter in voters),
        None,
        sum_terms(votes),
    )


def _feature_indices(names: Any, features: Sequence[Feature]) -> list[int]:
    """Return the indices of a voter's features in the table of the vote."""
    voter_names = [feature.name for feature in features]
    if names is None or not all(isinstance(name, str) for name in voter_names):
        return list(range(len(features)))
    column_names = [str(name) for name in names]
    return [column_names.index(str(name)) for name in voter_names]


def _merge_features(d: int, features: Sequence[Feature]) -> Feature:
    """Return one feature with the levels of all voters' features."""
    name = next((feature.name for feature in features if feature.name is not None), None)
    if all(feature.levels is None for feature in features):
        return Feature(name)
    title = d if name is None else repr(name)
    if any(feature.levels is None for feature in features) or len({f.kind for f in features}) > 1:
        raise ValueError(
            f"model: feature {title} is not the same for all members: numbers for some, levels or "
            f"text for others; fit all of them with the same categorical_features."
        )
    all_levels = [np.asarray(feature.levels) for feature in features]
    merged = dict.fromkeys(level for levels in all_levels for level in levels.tolist())
    return Feature(name, np.array(list(merged), dtype=all_levels[0].dtype))


def _target(d: int, feature: Feature, merged: Feature) -> TargetFeature:
    if feature.levels is None or merged.levels is None:
        return TargetFeature(d)
    index = {level: k for k, level in enumerate(merged.levels.tolist())}
    levels = np.array([index[level] for level in feature.levels.tolist()])
    return TargetFeature(d, levels, merged.n_levels)


def _class_votes(labels: list, classes: list) -> np.ndarray:
    """Return what predicting each class of a voter adds to each score of the vote."""
    votes = np.array([[float(label == other) for other in classes] for label in labels])
    return votes[:, 1:] - votes[:, :1] if len(classes) == 2 else votes


def _vote_terms(voter: Terms, added: np.ndarray) -> Terms:
    return replace(Terms.from_constant(np.zeros(added.shape[1])), votes=(Vote(voter, added),))


def _record(model: Any, terms: Terms) -> ModelRecord:
    features = getattr(model, "feature_info_", None) or (Feature(),) * model.n_features_in_
    takes_missing = bool(get_tags(model).input_tags.allow_nan)
    return ModelRecord(
        type(model).__name__,
        tuple(features),
        _plain_labels(class_labels(model)),
        takes_missing,
        None,
        terms,
        getattr(model, "link_", None),
    )


def _plain_labels(classes: np.ndarray) -> list:
    """Return labels as plain numbers, booleans or text, the only ones that can be exported."""
    array = np.asarray(classes)
    labels = [v.item() if isinstance(v, np.generic) else v for v in array.tolist()]
    other = [label for label in labels if not isinstance(label, str | bool | int | float)]
    if other or array.dtype.kind not in "biufUO":
        kind = type(other[0]).__name__ if other else str(array.dtype)
        raise ValueError(
            f"model: its label {str(array[0])!r} is of type {kind}, neither a number nor text; "
            f"convert the labels to text and fit again."
        )
    return labels


def _expansion_terms(expansion: Expansion) -> Terms:
    """Return a kernel expansion without the rows whose coefficients are zero."""
    name, parameters = _kernel_of(expansion.kernel)
    terms = Terms.from_constant(expansion.intercept)
    is_support = expansion.coef.any(axis=1)
    if not is_support.any():
        return terms
    rows, weights = np.asarray(expansion.support_vectors)[is_support], expansion.coef[is_support]
    if expansion.kernel.is_linear:  # its support vectors add up to one per score
        rows, weights = expansion.linear_coef.T, np.eye(terms.n_scores)
    features = np.arange(rows.shape[1])
    return replace(terms, kernel_sums=(KernelSum(name, parameters, features, rows, weights),))


def _kernel_of(kernel: Any) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of a named kernel."""
    if isinstance(kernel, NamedKernel):
        return kernel.name, kernel.parameters
    value = kernel.function if isinstance(kernel, CallableKernel) else "precomputed"
    raise ValueError(
        f"kernel={value!r} cannot be exported because it exists only in Python; fit with a named "
        f"kernel such as 'gaussian'."
    )
