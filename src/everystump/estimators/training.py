"""A fitted estimator and the table that it was fitted to."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from everystump.labels import class_numbers, one_against_the_rest
from everystump.machines import Combination, Machine

_ENOUGH_ROWS = 20_000


def training_signs(fitted: Any, y: Any, n_rows: int) -> np.ndarray:
    """Return the labels of the training rows as 1 and -1: (n_problems, n_rows).

    Two classes are one problem; of several, each against the rest is one.
    """
    label = class_numbers(y, fitted.classes_, n_rows)
    return np.where(one_against_the_rest(label, len(fitted.classes_)), 1.0, -1.0)


def fingerprint(rows: np.ndarray, signs: np.ndarray) -> int:
    """Return a number that tells training tables apart; of large ones some rows suffice."""
    some = slice(None, None, 1 + len(rows) // _ENOUGH_ROWS)
    numbers = np.asarray(rows[some], dtype=np.float64), signs
    parts = (np.ascontiguousarray(part).data for part in numbers)
    return reduce(lambda number, part: zlib.crc32(part, number), parts, 0)


def read_machines(machine: Any, rows: Callable[[], np.ndarray], signs: np.ndarray) -> list[Machine]:
    """Return a machine of a vote as the bounds read it, one for each problem."""
    read = getattr(machine, "_as_machines", None)
    if read is None:
        raise ValueError(
            f"estimator={machine!r} is no kernel machine, and the bounds are for votes of "
            f"KernelSVC or StumpSVC; validation_bound is for any classifier."
        )
    return read(rows, signs)


def one_by_one(machines: list[Machine]) -> list[Combination]:
    """Return each machine as a vote of one."""
    return [Combination((machine,), np.ones(1), machine.margin) for machine in machines]
