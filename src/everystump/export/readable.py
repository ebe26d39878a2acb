"""From a fitted estimator to a record of plain parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, singledispatch
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import linear_kernel
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from everystump._core.kernel_machines import Expansion, PairKernel, products
from everystump._pipelines.folding import folded
from everystump._tables import Feature
from everystump.estimators._base import ShapeClassifier, as_class_list
from everystump.estimators.boosting import StumpBoostingClassifier
from everystump.estimators.kernel_svc import KernelSVC
from everystump.estimators.logistic import ProbabilityMixin
from everystump.estimators.loo_search import LooBoundSearch
from everystump.estimators.perceptron import PerceptronSVC
from everystump.estimators.subsample_voting import SubsampleVotingClassifier
from everystump.estimators.weighted_vote import WeightedVoteClassifier
from everystump.export.record import (
    Body,
    KernelSum,
    Model,
    Place,
    Projection,
    Vote,
    curves_of,
    total,
)

_KERNELS = {
    products.gaussian: "gaussian",
    products.laplacian: "laplacian",
    products.middle_stump: "middle",
    products.perceptron: "perceptron",
    products.stump: "stump",
}


def readable(model: Any) -> Model:
    """Return a fitted estimator in plain parts, or say why it has none.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package.

    Returns
    -------
    Model
        Its features, classes and scores.

    Examples
    --------
    >>> from everystump import DecisionStumpClassifier
    >>> stump = DecisionStumpClassifier().fit([[0, 7], [1, 5], [4, 6]], ["a", "a", "b"])
    >>> record = readable(stump)
    >>> record.names, record.classes, record.body.curves[0][0].knots
    (['x0', 'x1'], ['a', 'b'], array([2.5, 2.5]))
    """
    found = _read(folded(model))
    named = tuple(
        replace(feature, name=f"x{d}" if feature.name is None else str(feature.name))
        for d, feature in enumerate(found.features)
    )
    seen: set[str] = set()
    for feature in named:
        if feature.name in seen:
            raise ValueError(
                f"model: two features are called {feature.name!r}; fit it to a table whose columns "
                f"have names of their own."
            )
        seen.add(str(feature.name))
        _refuse_equal_levels(feature)
    return replace(found, features=named)


def _refuse_equal_levels(feature: Feature) -> None:
    """Raise if numbers that are levels are one and the same to other languages."""
    if feature.levels is None or feature.kind == "text":
        return
    try:
        n_distinct = len(np.unique(feature.levels.astype(np.float64)))
    except OverflowError:  # a number beyond the largest float
        n_distinct = 0
    if n_distinct < feature.n_levels:
        raise ValueError(
            f"model: feature {feature.name!r} has levels that no two floats tell apart; "
            f"turn its levels into text."
        )


@singledispatch
def _read(model: Any) -> Model:
    """Return any estimator of this package as a record, in its own features."""
    raise TypeError(
        f"model={model!r} is no classifier of everystump, so that it cannot be exported; use "
        f"skl2onnx or the like for those of other packages."
    )


@_read.register
def _of_shapes(model: ShapeClassifier) -> Model:
    check_is_fitted(model)
    return _record(model, Body.of_shapes(as_class_list(model.shapes_)))


@_read.register
def _of_probabilities(model: ProbabilityMixin) -> Model:
    return replace(_of_shapes(model), log_odds=1.0)


@_read.register
def _of_boosting(model: StumpBoostingClassifier) -> Model:
    return replace(_of_shapes(model), log_odds=2.0)  # its scores are half of them


@_read.register
def _of_kernel(model: KernelSVC) -> Model:
    check_is_fitted(model, "expansion_")
    return _record(model, _expanded(model.expansion_))


@_read.register
def _of_perceptrons(model: PerceptronSVC) -> Model:
    check_is_fitted(model, "machine_")
    machine = _read(model.machine_).body
    if model.directions_ is None:
        return _record(model, machine if model.scale_ is None else _scaled(machine, model.scale_))
    projected = Projection(
        np.arange(model.n_features_in_),
        model.centre_,
        model.projections(),
        tuple(curves_of(shapes) for shapes in as_class_list(model.machine_.shapes_)),
    )
    return _record(model, replace(Body.constant(machine.intercepts), projections=(projected,)))


def _scaled(body: Body, scale: np.ndarray) -> Body:
    """Return sums over the perceptron kernel whose support vectors are of scaled features."""
    return replace(
        body,
        sums=tuple(
            replace(one, kernel="scaled_perceptron", parameters={**one.parameters, "scale": scale})
            for one in body.sums
        ),
    )


@_read.register
def _of_search(model: LooBoundSearch) -> Model:
    check_is_fitted(model, "best_estimator_")
    # What the search itself does not offer, its export does not either.
    return replace(_read(model.best_estimator_), estimator=type(model).__name__, log_odds=None)


@_read.register
def _of_subsamples(model: SubsampleVotingClassifier) -> Model:
    check_is_fitted(model, "weights_")
    if hasattr(model, "shapes_"):
        return _record(model, Body.of_shapes(as_class_list(model.shapes_)))
    parts = [Body.constant(model.intercept_)]
    if hasattr(model, "expansions_"):
        parts += [_expanded(expansion) for expansion in model.expansions_]
    else:
        parts += _machines(model)
    return _record(model, total(parts))


def _machines(model: SubsampleVotingClassifier) -> list[Body]:
    """Return what each machine of a vote adds to it."""
    n_scores = len(model.intercept_)
    weights = model.weights_
    if weights.ndim == 1:
        weights = np.kron(weights, np.eye(n_scores))
    each = np.split(np.atleast_2d(weights), len(model.estimators_), axis=1)
    found = []
    for machine, features, own in zip(
        model.estimators_, model.estimators_features_, each, strict=True
    ):
        inner = _read(machine)
        position = np.arange(len(model.features_)) if features is None else features
        # A machine's levels are the numbers of the levels of the whole table.
        places = [
            Place(int(d), feature.levels, model.features_[d].n_levels)
            for d, feature in zip(position, inner.features, strict=True)
        ]
        body = inner.body.moved(places)
        if model.outputs == "scores":
            found.append(body.mixed(own))
        else:
            said = own.T if n_scores > 1 else np.array([[-1.0], [1.0]]) @ own
            found.append(_voting(body, said))
    return found


@_read.register
def _of_vote(model: WeightedVoteClassifier) -> Model:
    check_is_fitted(model, "weights_")
    inner = [_read(voter) for voter in model.estimators_]
    names = getattr(model, "feature_names_in_", None)
    positions = [_positions(names, voter.features) for voter in inner]
    placed = [
        dict(zip(at, voter.features, strict=True))
        for at, voter in zip(positions, inner, strict=True)
    ]
    features = tuple(_united(d, [own[d] for own in placed]) for d in range(model.n_features_in_))
    votes = []
    for voter, at, weight in zip(inner, positions, model.weights_, strict=True):
        given = zip(at, voter.features, strict=True)
        places = [_place(d, own, features[d]) for d, own in given]
        said = weight * _said(voter.classes, model.classes_.tolist())
        votes.append(_voting(voter.body.moved(places), said))
    n_scores = votes[0].n_scores
    return Model(
        type(model).__name__,
        features,
        _labels(model.classes_),
        all(voter.takes_missing for voter in inner),
        None,
        total([Body.constant(np.zeros(n_scores)), *votes]),
    )


def _positions(names: Any, features: Sequence[Feature]) -> list[int]:
    """Return where the features of a voter stand in the table of the vote."""
    own = [feature.name for feature in features]
    if names is None or not all(isinstance(name, str) for name in own):
        return list(range(len(features)))
    known = [str(name) for name in names]
    return [known.index(str(name)) for name in own]


def _united(d: int, features: Sequence[Feature]) -> Feature:
    """Return one feature that has the levels of all voters' features."""
    name = next((feature.name for feature in features if feature.name is not None), None)
    if all(feature.levels is None for feature in features):
        return Feature(name)
    shown = d if name is None else repr(name)
    if any(feature.levels is None for feature in features) or len({f.kind for f in features}) > 1:
        raise ValueError(
            f"model: feature {shown} is not the same to all voters, numbers to some and levels or "
            f"text to others; fit them all with the same categorical_features."
        )
    every = [np.asarray(feature.levels) for feature in features]
    known = dict.fromkeys(level for levels in every for level in levels.tolist())
    return Feature(name, np.array(list(known), dtype=every[0].dtype))


def _place(d: int, own: Feature, whole: Feature) -> Place:
    if own.levels is None or whole.levels is None:
        return Place(d)
    number = {level: k for k, level in enumerate(whole.levels.tolist())}
    return Place(d, np.array([number[level] for level in own.levels.tolist()]), whole.n_levels)


def _said(own: list, classes: list) -> np.ndarray:
    """Return what naming each class of a voter adds to each score of the vote."""
    named = np.array([[float(label == known) for known in classes] for label in own])
    return named[:, 1:] - named[:, :1] if len(classes) == 2 else named


def _voting(voter: Body, said: np.ndarray) -> Body:
    return replace(Body.constant(np.zeros(said.shape[1])), votes=(Vote(voter, said),))


def _record(model: Any, body: Body) -> Model:
    features = getattr(model, "features_", None) or (Feature(),) * model.n_features_in_
    takes_missing = bool(get_tags(model).input_tags.allow_nan)
    name = type(model).__name__
    return Model(name, tuple(features), _labels(model.classes_), takes_missing, None, body)


def _labels(classes: np.ndarray) -> list:
    """Return labels as plain numbers, truth values or text; other languages know no others."""
    known = np.asarray(classes)
    labels = [v.item() if isinstance(v, np.generic) else v for v in known.tolist()]
    odd = [label for label in labels if not isinstance(label, str | bool | int | float)]
    if odd or known.dtype.kind not in "biufUO":
        kind = type(odd[0]).__name__ if odd else str(known.dtype)
        raise ValueError(
            f"model: its label {str(known[0])!r} is of the type {kind}, neither a number nor text; "
            f"turn the labels into text and fit again."
        )
    return labels


def _expanded(expansion: Expansion) -> Body:
    """Return a kernel expansion without the rows that weigh nothing."""
    name, parameters = _kernel_of(expansion.kernel)
    body = Body.constant(expansion.intercept)
    voting = expansion.coef.any(axis=1)
    if not voting.any():
        return body
    rows, weights = np.asarray(expansion.kept)[voting], expansion.coef[voting]
    if name == "linear":  # its rows add up to one for each score
        rows, weights = expansion.weights.T, np.eye(body.n_scores)
    features = np.arange(rows.shape[1])
    return replace(body, sums=(KernelSum(name, parameters, features, rows, weights),))


def _kernel_of(kernel: Any) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of a kernel, or say that it has none."""
    function = kernel.function if isinstance(kernel, PairKernel) else None
    if function is linear_kernel:
        return "linear", {}
    if isinstance(function, partial) and function.func in _KERNELS:
        return _KERNELS[function.func], dict(function.keywords)
    given = "precomputed" if function is None else function
    raise ValueError(
        f"kernel={given!r} cannot be exported, for only Python knows its products; fit with a "
        f"named kernel such as 'gaussian'."
    )
