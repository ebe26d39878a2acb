"""Random parts of a training table, and a machine trained on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from queue import SimpleQueue
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from everystump._arguments import as_float_array
from everystump._core.kernel_machines import Expansion, LazyKernelMatrix
from everystump._core.shapes import ShapeModel
from everystump._sklearn_compat import set_random_states
from everystump._tables import Feature
from everystump._tables.monotonic import check_monotonic_cst
from everystump._tables.validation import TrainingTable
from everystump._tables.weighted_rows import WeightedRows, fit_weighted
from everystump.estimators._base import as_class_list
from everystump.estimators.kernel_svc import KernelSVC

_MOST_DRAWS = 1000
_FEW_ROWS = 3000
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Share:
    """What one machine gets: its template and an unfitted copy, rows, features (None is all).

    ``weight`` holds the weights of its rows, None if all count once.
    """

    template: BaseEstimator
    machine: BaseEstimator
    rows: np.ndarray
    features: np.ndarray | None
    weight: np.ndarray | None = None

    def table(self, whole: TrainingTable) -> TrainingTable:
        """Return the machine's part of the whole table."""
        return replace(whole.alone(self.rows, self.features), sample_weight=self.weight)


def member_data(
    table: TrainingTable, share: Share
) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray | None]:
    """Return an unfitted machine, its rows, labels and weights: all that a far worker needs."""
    part = share.table(table)
    share.machine.set_params(**_by_number(share.machine, part.features))
    return share.machine, part.X, part.classes[part.label], share.weight


def _by_number(machine: Any, features: Sequence[Feature]) -> dict[str, Any]:
    """Return what a machine is told of its features by name; its rows are numbers by now."""
    told: dict[str, Any] = {}
    is_category = [feature.levels is not None for feature in features]
    if any(is_category):
        told["categorical_features"] = is_category
    constraint = getattr(machine, "monotonic_cst", None)
    if constraint is not None:
        directions = check_monotonic_cst(constraint, features)
        told["monotonic_cst"] = None if directions is None else directions.tolist()
    return told


def check_templates(templates: list, feature_subsets: Any) -> None:
    """Raise unless the machines of a vote are classifiers that can share a table."""
    if not templates:
        raise ValueError("estimator=[] holds no machine; pass one or a list of classifiers.")
    for template in templates:
        if not (hasattr(template, "fit") and hasattr(template, "predict")):
            raise ValueError(
                f"estimator holds {template!r}, which is no classifier; pass one or a list of "
                f"classifiers such as KernelSVC()."
            )
    pairwise = any(get_tags(template).input_tags.pairwise for template in templates)
    if pairwise and feature_subsets is not None:
        raise ValueError(
            f"feature_subsets={feature_subsets!r} cannot be taken from precomputed products; leave "
            f"it None."
        )
    told = [t.categorical_features for t in templates if hasattr(t, "categorical_features")]
    if len({repr(one) for one in told}) > 1:
        raise ValueError(
            f"estimator: categorical_features is {told[0]!r} in one machine and {told[-1]!r} in "
            f"another, and all see one table; give them the same."
        )


def check_weights(weights: Any, n_estimators: int, combine: str) -> np.ndarray:
    """Return the weights of the machines in a vote."""
    if weights is None:
        return np.full(n_estimators, 1.0 / n_estimators)
    wanted = f"one weight for each of the n_estimators={n_estimators} machines"
    given = as_float_array(weights, "weights", wanted)
    if combine == "svm":
        raise ValueError('weights are learned with combine="svm"; leave weights=None.')
    if given.shape != (n_estimators,):
        raise ValueError(f"weights has shape {given.shape}; pass {wanted}.")
    if not np.all(given >= 0):
        raise ValueError(
            f"weights holds {given.min():g}; the weights of a vote must be numbers, none negative."
        )
    if not np.isclose(given.sum(), 1.0, rtol=0, atol=1e-8):
        raise ValueError(
            f"weights sums to {given.sum():g} and must sum to 1; divide it by its sum."
        )
    return given


def fit_member(task: tuple[Any, np.ndarray, np.ndarray, np.ndarray | None]) -> Any:
    """Return a machine fitted to a table of its own."""
    return fit_weighted(*task)


class ThreadTrainer:
    """Trains machines by threads, which take turns at some buffers for a kernel matrix.

    Fresh memory is slow to come by, in threads above all: buffers for few rows are made here.
    Machines of one kernel take their products from one matrix of all rows, if that pays.
    """

    def __init__(self, table: TrainingTable, shares: list[Share], n_threads: int) -> None:
        self._table = table
        r = max(len(share.rows) for share in shares)
        self._buffers: SimpleQueue[np.ndarray] = SimpleQueue()
        for _ in range(min(n_threads, len(shares))):
            self._buffers.put(np.empty(r * r if r <= _FEW_ROWS else 0))
        self._common = _common_grams(table, shares, n_threads)

    def fit(self, share: Share) -> Any:
        """Return a fitted machine."""
        if not isinstance(share.machine, KernelSVC):
            return fit_member(member_data(self._table, share))
        part, n = share.table(self._table), len(share.rows)
        common = self._common.get(id(share.template))
        buffer = self._buffers.get()
        try:
            square = buffer[: n * n].reshape(n, n) if len(buffer) >= n * n else None
            gram = None if common is None else common.subset(share.rows, square)
            used = share.machine._fit_part(part, gram, square).buffer
            if square is None and used is not None:
                buffer = used.reshape(-1)
        finally:
            self._buffers.put(buffer)
        return share.machine


def _common_grams(
    table: TrainingTable, shares: list[Share], n_threads: int
) -> dict[int, LazyKernelMatrix]:
    """Return the kernel matrices of all rows, by the templates of machines that are to use them."""
    found: dict[int, LazyKernelMatrix] = {}
    groups: dict[int, list[Share]] = {}
    for share in shares:
        if isinstance(share.template, KernelSVC) and share.features is None:
            groups.setdefault(id(share.template), []).append(share)
    for key, group in groups.items():
        template, r = group[0].template, min(len(share.rows) for share in group)
        gram = template._common_gram(table, r, len(group), n_threads)
        if gram is not None:
            _ = gram.full  # now, by all threads
            found[key] = gram
    return found


@dataclass(frozen=True)
class Stack:
    """Machines of one kernel, whose outputs take one pass over the support vectors of all.

    Attributes
    ----------
    machines : tuple of int
        Their numbers.
    expansion : Expansion
        The outputs of the first, of the second, and so on.
    """

    machines: tuple[int, ...]
    expansion: Expansion

    def vote(self, coef: np.ndarray) -> Expansion:
        """Return the machines' part of a vote, given the weights of all machines' outputs."""
        n_outputs = len(self.expansion.intercept) // len(self.machines)
        own = np.add.outer(np.array(self.machines) * n_outputs, np.arange(n_outputs)).ravel()
        weights = coef[:, own].T
        return replace(
            self.expansion,
            coef=self.expansion.coef @ weights,
            intercept=self.expansion.intercept @ weights,
        )


def make_stacks(machines: list, shares: list[Share], X: np.ndarray) -> list[Stack]:
    """Stack the machines that have one kernel."""
    groups: dict[int, list[int]] = {}
    for t, (machine, share) in enumerate(zip(machines, shares, strict=True)):
        expansion = getattr(machine, "expansion_", None)
        if expansion is not None and expansion.kernel.data_independent and share.features is None:
            groups.setdefault(id(share.template), []).append(t)
    return [_stack(group, machines, shares, X) for group in groups.values()]


def _stack(group: list[int], machines: list, shares: list[Share], X: np.ndarray) -> Stack:
    support = [shares[t].rows[machines[t].support_] for t in group]
    union = np.unique(np.concatenate(support))
    parts = [machines[t].expansion_ for t in group]
    coef = np.zeros((len(union), len(group), len(parts[0].intercept)))
    for k, (rows, part) in enumerate(zip(support, parts, strict=True)):
        coef[np.searchsorted(union, rows), k] = part.coef
    intercept = np.concatenate([part.intercept for part in parts])
    kept = np.asarray(X[union], dtype=np.float64)
    flat = coef.reshape(len(union), -1)
    return Stack(tuple(group), Expansion(parts[0].kernel, kept, flat, intercept))


def aligned_shapes(machine: Any, n_levels: list[int]) -> list[ShapeModel]:
    """Return the curves of a machine over the levels of all rows, which it may not have seen."""
    models = as_class_list(machine.shapes_)
    if not any(n_levels):
        return models
    known = [feature.levels for feature in machine.feature_info_]
    return [
        replace(
            model,
            shapes=tuple(
                shape.with_levels(levels, n) if n else shape
                for shape, levels, n in zip(model, known, n_levels, strict=True)
            ),
        )
        for model in models
    ]


def pick(X: np.ndarray, features: np.ndarray | None) -> np.ndarray:
    """Return some columns of a table, all of them for None."""
    return X if features is None else X[:, features]


def seeded(template: BaseEstimator, rng: np.random.RandomState) -> BaseEstimator:
    """Return an unfitted copy with random states of its own, if it has any."""
    machine = clone(template)
    set_random_states(machine, rng)
    return machine


def subsample_size(subsample: float, n_rows: int, n_classes: int) -> int:
    """Return ``r``, the number of rows that each machine gets."""
    whole = isinstance(subsample, Integral)
    r = int(subsample) if whole else int(subsample * n_rows + _ROUNDING)
    if r > n_rows:
        raise ValueError(
            f"subsample={subsample} is more than the {n_rows} rows of X; pass at most that many, "
            f"or a share of them such as 0.4."
        )
    if r < n_classes:
        share = min(1.0, np.ceil(1000 * n_classes / n_rows) / 1000)
        least = str(n_classes) if whole else str(share)
        raise ValueError(
            f"subsample={subsample} leaves each machine {r} of the {n_rows} rows of X, too few for "
            f"{n_classes} classes; raise it to {least} at least."
        )
    return r


def draw_rows(
    rows: WeightedRows, label: np.ndarray, r: int, rng: np.random.RandomState
) -> np.ndarray:
    """Draw ``r`` rows without replacement, again until all classes are among them."""
    n_classes = label.max() + 1
    for _ in range(_MOST_DRAWS):
        drawn = rows.draw(r, rng)
        if len(np.unique(label[drawn])) == n_classes:
            return drawn
    rarest = np.bincount(label).min()
    raise ValueError(
        f"subsample: none of {_MOST_DRAWS} draws of {r} rows held all {n_classes} classes, the "
        f"rarest of which has {rarest} of the {len(label)} rows; raise subsample."
    )


def draw_features(
    wanted: Any, t: int, n_features: int, names: Any, rng: np.random.RandomState
) -> np.ndarray | None:
    """Return the features of machine ``t``; None if it gets all of them."""
    if wanted is None:
        return None
    if isinstance(wanted, Real):
        whole = isinstance(wanted, Integral)
        many = int(float(wanted) * (1 if whole else n_features)) or 1
        if many > n_features:
            raise ValueError(
                f"feature_subsets={wanted} is more than the {n_features} features of X; pass at "
                f"most that many, or a share of them such as 0.5."
            )
        return np.sort(rng.permutation(n_features)[:many])
    if len(wanted) == 0:
        raise ValueError("feature_subsets=[] holds no features; pass lists of them or None.")
    return _as_numbers_of_features(wanted[t % len(wanted)], n_features, names)


def _as_numbers_of_features(subset: Any, n_features: int, names: Any) -> np.ndarray:
    """Return numbers of features that may be given by name."""
    by_name = {} if names is None else {name: d for d, name in enumerate(names)}
    wanted = f"numbers below {n_features} or names of features of X"
    given = [by_name.get(item, item) for item in subset] if np.ndim(subset) == 1 else []
    index = as_float_array(given, "feature_subsets", f"lists of {wanted}")
    whole = np.all((index == np.floor(index)) & (index >= 0) & (index < n_features))
    if len(index) == 0 or not whole or len(np.unique(index)) < len(index):
        raise ValueError(f"feature_subsets holds {subset!r}, which is no list of {wanted}.")
    return index.astype(int)
