"""Holding out a fraction of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from everystump._text import pluralize


def split_holdout(
    labels: np.ndarray, fraction: float, random_state: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted indices of training rows and of held-out rows.

    The split is stratified if there are enough rows; the only row of a class is a training row.

    Examples
    --------
    >>> train, test = split_holdout(np.array(["a", "a", "a", "b", "b", "b", "c"]), 0.5, 0)
    >>> train.tolist(), test.tolist()
    ([2, 3, 5, 6], [0, 1, 4])
    """
    _, label, counts = np.unique(labels, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(counts[label] > 1)
    try:
        _, test = train_test_split(
            rows, test_size=fraction, stratify=label[rows], random_state=random_state
        )
    except ValueError:
        test = _split_few(label, rows, fraction, random_state)
    return np.setdiff1d(np.arange(len(labels)), test), np.sort(test)


def _split_few(
    label: np.ndarray, rows: np.ndarray, fraction: float, random_state: Any
) -> np.ndarray:
    """Return rows to hold out where stratification fails; a row of each class is kept."""
    shuffled = check_random_state(random_state).permutation(rows)
    _, first = np.unique(label[shuffled], return_index=True)
    n_test = round(fraction * len(rows))
    if not 0 < n_test <= len(shuffled) - len(first):
        raise ValueError(
            f"{pluralize(len(label), 'row')} of {int(label.max()) + 1} classes are too few to "
            f"hold out a fraction of {fraction:g} and to train on every class"
        )
    return np.delete(shuffled, first)[:n_test]
