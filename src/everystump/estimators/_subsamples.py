"""Random subsamples of the training data, and the estimators that are fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from queue import SimpleQueue
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from everystump._arguments import as_float_array
from everystump._core.kernel_machines.kernel_matrix import LazyKernelMatrix
from everystump._core.kernel_machines.kernels import Expansion
from everystump._core.shapes import ShapeModel
from everystump._sklearn_compat import is_regressor
from everystump._tables.frames import Feature
from everystump._tables.monotonic import check_monotonic_cst
from everystump._tables.training_table import ClassTable
from everystump._tables.weighted_rows import WeightedRows, fit_weighted
from everystump.estimators._base import as_class_list
from everystump.estimators.kernel_svc import KernelSVC

_MAX_DRAWS = 1000
# Buffers for kernel matrices of up to this many samples are allocated in advance.
_FEW_SAMPLES = 3000
_ROUNDING = 1e-9


@dataclass(frozen=True)
class MemberTask:
    """One member of a vote: an unfitted estimator with its samples and features.

    ``template`` is the estimator that the user passed.  ``features`` is None for all features, and
    ``weight`` is None if all samples count once.
    """

    template: BaseEstimator
    estimator: BaseEstimator
    rows: np.ndarray
    features: np.ndarray | None
    weight: np.ndarray | None = None

    def subset(self, table: ClassTable) -> ClassTable:
        """Return the samples and features of this member as a table."""
        return replace(table.subset(self.rows, self.features), sample_weight=self.weight)


def member_data(
    table: ClassTable, task: MemberTask
) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the arguments of `fit_member`, which are all that a remote worker needs."""
    part = task.subset(table)
    task.estimator.set_params(**_positional_params(task.estimator, part.features))
    return task.estimator, part.X, part.classes[part.label], task.weight


def fit_member(data: tuple[Any, np.ndarray, np.ndarray, np.ndarray | None]) -> Any:
    """Return an estimator fitted to its own data."""
    return fit_weighted(*data)


def _positional_params(estimator: Any, features: Sequence[Feature]) -> dict[str, Any]:
    """Return parameters that refer to features by position, since a member's data are arrays."""
    params: dict[str, Any] = {}
    is_category = [feature.levels is not None for feature in features]
    if any(is_category):
        params["categorical_features"] = is_category
    constraint = getattr(estimator, "monotonic_cst", None)
    if constraint is not None:
        signs = check_monotonic_cst(constraint, features)
        params["monotonic_cst"] = None if signs is None else signs.tolist()
    return params


def check_templates(templates: list, feature_subsets: Any) -> None:
    """Check that the estimators of a vote are classifiers that can share the training data."""
    if not templates:
        raise ValueError("estimator=[] is empty; pass a classifier or a list of classifiers.")
    for template in templates:
        if not (hasattr(template, "fit") and hasattr(template, "predict")):
            raise ValueError(
                f"estimator contains {template!r}, which is not a classifier; pass a classifier "
                f"such as KernelSVC(), or a list of classifiers."
            )
        if is_regressor(template):
            raise ValueError(
                f"estimator contains {template!r}, which is a regressor; pass classifiers, or use "
                f"BaggingRegressor of scikit-learn."
            )
    pairwise = any(get_tags(template).input_tags.pairwise for template in templates)
    if pairwise and feature_subsets is not None:
        raise ValueError(
            f"feature_subsets={feature_subsets!r} cannot be used with a precomputed kernel; use "
            f"feature_subsets=None."
        )
    values = [t.categorical_features for t in templates if hasattr(t, "categorical_features")]
    if len({repr(value) for value in values}) > 1:
        raise ValueError(
            f"estimator: categorical_features is {values[0]!r} in one estimator and {values[-1]!r} "
            f"in another; use the same value, since all share the training data."
        )


def check_weights(weights: Any, n_estimators: int, combine: str) -> np.ndarray:
    """Return the weights of the members of a vote."""
    if weights is None:
        return np.full(n_estimators, 1.0 / n_estimators)
    expected = f"one weight for each of the n_estimators={n_estimators} estimators"
    array = as_float_array(weights, "weights", expected)
    if combine == "svm":
        raise ValueError('weights are learned with combine="svm"; use weights=None.')
    if array.shape != (n_estimators,):
        raise ValueError(f"weights has shape {array.shape}; pass {expected}.")
    if not np.all(array >= 0):
        raise ValueError(f"weights contains {array.min():g}; weights must be non-negative numbers.")
    if not np.isclose(array.sum(), 1.0, rtol=0, atol=1e-8):
        raise ValueError(
            f"weights sums to {array.sum():g} and must sum to 1; divide it by its sum."
        )
    return array


class ThreadTrainer:
    """Fits members in threads, which share buffers for kernel matrices.

    Allocating memory is slow, especially in threads, so buffers for small matrices are allocated in
    advance.  Members with the same kernel share the kernel matrix of all samples where that saves
    time.
    """

    def __init__(self, table: ClassTable, tasks: list[MemberTask], n_threads: int) -> None:
        self._table = table
        r = max(len(task.rows) for task in tasks)
        self._buffers: SimpleQueue[np.ndarray] = SimpleQueue()
        for _ in range(min(n_threads, len(tasks))):
            self._buffers.put(np.empty(r * r if r <= _FEW_SAMPLES else 0))
        self._shared = _shared_grams(table, tasks, n_threads)

    def fit(self, task: MemberTask) -> Any:
        """Return a fitted member."""
        if not isinstance(task.estimator, KernelSVC):
            return fit_member(member_data(self._table, task))
        part, n = task.subset(self._table), len(task.rows)
        shared = self._shared.get(id(task.template))
        buffer = self._buffers.get()
        try:
            square = buffer[: n * n].reshape(n, n) if len(buffer) >= n * n else None
            gram = None if shared is None else shared.subset(task.rows, square)
            used = task.estimator._fit_subsample(part, gram, square).buffer
            if square is None and used is not None:
                buffer = used.reshape(-1)
        finally:
            self._buffers.put(buffer)
        return task.estimator


def _shared_grams(
    table: ClassTable, tasks: list[MemberTask], n_threads: int
) -> dict[int, LazyKernelMatrix]:
    """Return the kernel matrices of all samples that members share, by the id of the template."""
    grams: dict[int, LazyKernelMatrix] = {}
    groups: dict[int, list[MemberTask]] = {}
    for task in tasks:
        if isinstance(task.template, KernelSVC) and task.features is None:
            groups.setdefault(id(task.template), []).append(task)
    for key, group in groups.items():
        template, r = group[0].template, min(len(task.rows) for task in group)
        gram = template._shared_gram(table, r, len(group), n_threads)
        if gram is not None:
            _ = gram.full  # computed here, by all threads
            grams[key] = gram
    return grams


@dataclass(frozen=True)
class Stack:
    """Members that share a kernel, evaluated together on the union of their support vectors.

    Attributes
    ----------
    machines : tuple of int
        Indices of the members.
    expansion : Expansion
        Their outputs, one member after another.
    """

    machines: tuple[int, ...]
    expansion: Expansion

    def vote(self, coef: np.ndarray) -> Expansion:
        """Return the members' part of the vote, given the weights of the outputs of all members."""
        n_outputs = len(self.expansion.intercept) // len(self.machines)
        columns = np.add.outer(np.array(self.machines) * n_outputs, np.arange(n_outputs))
        weights = coef[:, columns.ravel()].T
        return replace(
            self.expansion,
            coef=self.expansion.coef @ weights,
            intercept=self.expansion.intercept @ weights,
        )


def make_stacks(members: list, tasks: list[MemberTask], X: np.ndarray) -> list[Stack]:
    """Stack the members that share a kernel."""
    groups: dict[int, list[int]] = {}
    for t, (member, task) in enumerate(zip(members, tasks, strict=True)):
        expansion = getattr(member, "expansion_", None)
        if expansion is not None and expansion.kernel.data_independent and task.features is None:
            groups.setdefault(id(task.template), []).append(t)
    return [_stack(group, members, tasks, X) for group in groups.values()]


def _stack(group: list[int], members: list, tasks: list[MemberTask], X: np.ndarray) -> Stack:
    support = [tasks[t].rows[members[t].support_] for t in group]
    union = np.unique(np.concatenate(support))
    parts = [members[t].expansion_ for t in group]
    coef = np.zeros((len(union), len(group), len(parts[0].intercept)))
    for k, (rows, part) in enumerate(zip(support, parts, strict=True)):
        coef[np.searchsorted(union, rows), k] = part.coef
    intercept = np.concatenate([part.intercept for part in parts])
    support_vectors = np.asarray(X[union], dtype=np.float64)
    flat = coef.reshape(len(union), -1)
    return Stack(tuple(group), Expansion(parts[0].kernel, support_vectors, flat, intercept))


def aligned_shapes(member: Any, n_levels: list[int]) -> list[ShapeModel]:
    """Return the shape models of a member over the levels of all samples."""
    models = as_class_list(member.shapes_)
    if not any(n_levels):
        return models
    own_levels = [feature.levels for feature in member.feature_info_]
    return [model.with_levels(own_levels, n_levels) for model in models]


def subsample_size(subsample: float, n_samples: int, n_classes: int) -> int:
    """Return the number of samples of each member."""
    is_count = isinstance(subsample, Integral)
    r = int(subsample) if is_count else int(subsample * n_samples + _ROUNDING)
    if r > n_samples:
        raise ValueError(
            f"subsample={subsample} is more than the {n_samples} samples of X; pass at most that "
            f"many, or a fraction such as 0.4."
        )
    if r < n_classes:
        fraction = min(1.0, np.ceil(1000 * n_classes / n_samples) / 1000)
        least = str(n_classes) if is_count else str(fraction)
        raise ValueError(
            f"subsample={subsample} gives each estimator {r} of the {n_samples} samples of X, too "
            f"few for {n_classes} classes; raise it to at least {least}."
        )
    return r


def draw_rows(
    rows: WeightedRows, label: np.ndarray, r: int, rng: np.random.RandomState
) -> np.ndarray:
    """Draw ``r`` samples without replacement, repeatedly until all classes are present."""
    n_classes = label.max() + 1
    for _ in range(_MAX_DRAWS):
        drawn = rows.sample(r, rng)
        if len(np.unique(label[drawn])) == n_classes:
            return drawn
    rarest = np.bincount(label).min()
    raise ValueError(
        f"subsample: none of {_MAX_DRAWS} draws of {r} samples contained all {n_classes} classes; "
        f"the rarest has {rarest} of the {len(label)} samples; raise subsample."
    )


def draw_features(
    feature_subsets: Any, t: int, n_features: int, names: Any, rng: np.random.RandomState
) -> np.ndarray | None:
    """Return the features of member ``t``; None for all of them."""
    if feature_subsets is None:
        return None
    if isinstance(feature_subsets, Real):
        factor = 1 if isinstance(feature_subsets, Integral) else n_features
        size = int(float(feature_subsets) * factor) or 1
        if size > n_features:
            raise ValueError(
                f"feature_subsets={feature_subsets} is more than the {n_features} features of X; "
                f"pass at most that many, or a fraction such as 0.5."
            )
        return np.sort(rng.permutation(n_features)[:size])
    if len(feature_subsets) == 0:
        raise ValueError("feature_subsets=[] is empty; pass lists of features or None.")
    return _feature_indices(feature_subsets[t % len(feature_subsets)], n_features, names)


def _feature_indices(subset: Any, n_features: int, names: Any) -> np.ndarray:
    """Return the indices of features that are items by name or by index."""
    by_name = {} if names is None else {name: d for d, name in enumerate(names)}
    expected = f"indices below {n_features} or names of features of X"
    items = [by_name.get(item, item) for item in subset] if np.ndim(subset) == 1 else []
    index = as_float_array(items, "feature_subsets", f"lists of {expected}")
    is_valid = np.all((index == np.floor(index)) & (index >= 0) & (index < n_features))
    if len(index) == 0 or not is_valid or len(np.unique(index)) < len(index):
        raise ValueError(
            f"feature_subsets contains {subset!r}, which is not a list of distinct {expected}."
        )
    return index.astype(int)
