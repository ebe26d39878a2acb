"""Random parts of a training table, and a machine trained on each."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble._base import _set_random_states

from everystump.arguments import as_numbers
from everystump.estimators.kernel_svc import KernelSVC
from everystump.estimators.table import Table
from everystump.machines import Gram
from everystump.threads import shares_memory

_MOST_DRAWS = 1000


@dataclass(frozen=True)
class Share:
    """What one machine gets: its template and an unfitted copy, rows, features (None is all)."""

    template: BaseEstimator
    machine: BaseEstimator
    rows: np.ndarray
    features: np.ndarray | None


class Trainer(Protocol):
    """Trains machines."""

    def fit(self, share: Share) -> Any:
        """Return a fitted machine."""

    def scores(self, shares: list[Share], machines: list) -> list[np.ndarray]:
        """Return the scores of fitted machines on all rows, or nothing if that takes long."""


class SeparateTrainer:
    """Trains each machine on a table of its own."""

    def __init__(self, table: Table) -> None:
        self._X, self._y = table.X, table.classes[table.label]

    def fit(self, share: Share) -> Any:
        """Return a fitted machine."""
        X = pick(self._X[share.rows], share.features)
        return share.machine.fit(X, self._y[share.rows])

    def scores(self, shares: list[Share], machines: list) -> list[np.ndarray]:
        """Return nothing: each machine would have to look at every row."""
        return []


class SharingTrainer:
    """Trains kernel machines on parts of one kernel matrix."""

    def __init__(self, table: Table, gram: Gram) -> None:
        self._table, self._gram = table, gram
        gram.compute()
        # Fresh memory is slow to come by, so that each thread keeps its own.
        self._rooms = threading.local()

    def fit(self, share: Share) -> Any:
        """Return a fitted machine."""
        n = len(share.rows)
        if not hasattr(self._rooms, "room"):
            self._rooms.room = np.empty((n, n))
        part = self._gram.part(share.rows, self._rooms.room)
        share.machine._fit_part(self._table, share.rows, part)
        return share.machine

    def scores(self, shares: list[Share], machines: list) -> list[np.ndarray]:
        """Return the matrix times the machines' coefficients."""
        n_outputs = len(machines[0].intercept_)
        coef = np.zeros((len(machines), n_outputs, len(self._table.label)))
        for t, (share, machine) in enumerate(zip(shares, machines, strict=True)):
            coef[t][:, share.rows[machine.support_]] = machine.expansion_.coef.T
        scores = self._gram.square @ coef.reshape(-1, coef.shape[2]).T
        each = np.split(scores, len(machines), axis=1)
        return [score + machine.intercept_ for score, machine in zip(each, machines, strict=True)]


def make_trainer(table: Table, shares: list[Share], *, n_threads: int) -> Trainer:
    """Return what trains machines of one template, on one kernel matrix where that pays."""
    template, r = shares[0].template, len(shares[0].rows)
    whole = all(share.features is None or share.features is share.rows for share in shares)
    pays = len(shares) * r**2 >= len(table.label) ** 2
    if not (isinstance(template, KernelSVC) and whole and pays and shares_memory()):
        return SeparateTrainer(table)
    template._validate_params()
    rows = template._training_rows(table)
    gram = template._gram(table, rows, n_threads)
    if not gram.kernel.fixed or gram.width < len(rows):
        return SeparateTrainer(table)
    return SharingTrainer(table, gram)


def pick(X: np.ndarray, features: np.ndarray | None) -> np.ndarray:
    """Return some columns of a table, all of them for None."""
    return X if features is None else X[:, features]


def seeded(template: BaseEstimator, rng: np.random.RandomState) -> BaseEstimator:
    """Return an unfitted copy with random states of its own, if it has any."""
    machine = clone(template)
    _set_random_states(machine, rng)
    return machine


def count_rows(subsample: float, n_rows: int, n_classes: int) -> int:
    """Return ``r``, the number of rows that each machine gets."""
    whole = isinstance(subsample, Integral)
    r = int(subsample) if whole else int(subsample * n_rows)
    if r > n_rows:
        raise ValueError(
            f"subsample={subsample} is more than the {n_rows} rows of X; pass at most that many, "
            f"or a share of them such as 0.4."
        )
    if r < n_classes:
        least = n_classes if whole else f"{n_classes / n_rows:.2g}"
        raise ValueError(
            f"subsample={subsample} leaves each machine {r} of the {n_rows} rows of X, too few for "
            f"{n_classes} classes; raise it to {least} at least."
        )
    return r


def draw_rows(label: np.ndarray, r: int, rng: np.random.RandomState) -> np.ndarray:
    """Draw ``r`` rows without replacement, again until all classes are among them."""
    n_classes = label.max() + 1
    for _ in range(_MOST_DRAWS):
        rows = np.sort(rng.permutation(len(label))[:r])
        if len(np.unique(label[rows])) == n_classes:
            return rows
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
    return _as_numbers_of_features(wanted[t % len(wanted)], n_features, names)


def _as_numbers_of_features(subset: Any, n_features: int, names: Any) -> np.ndarray:
    """Return numbers of features that may be given by name."""
    by_name = {} if names is None else {name: d for d, name in enumerate(names)}
    wanted = f"numbers below {n_features} or names of features of X"
    given = [by_name.get(item, item) for item in subset] if np.ndim(subset) == 1 else []
    index = as_numbers(given, "feature_subsets", f"lists of {wanted}")
    whole = np.all((index == np.floor(index)) & (index >= 0) & (index < n_features))
    if len(index) == 0 or not whole or len(np.unique(index)) < len(index):
        raise ValueError(f"feature_subsets holds {subset!r}, which is no list of {wanted}.")
    return index.astype(int)
