"""One place for the decision how loops are compiled.

No GIL, so that threads can share the work; cached between processes wherever there is a folder to
keep the cache in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

_OPTIONS: dict[str, Any] = {"nogil": True, "boundscheck": False, "error_model": "numpy"}


def kernel(function: Callable) -> Any:
    """Compile a loop."""
    return _compile(function, _OPTIONS)


def jit_reassociated(function: Callable) -> Any:
    """Compile a loop whose sums may be taken in any order, which lets them use wide registers."""
    return _compile(function, {**_OPTIONS, "fastmath": {"reassoc", "nsz"}})


def jit_fused(function: Callable) -> Any:
    """Compile a loop in which a product and a sum may be one operation, rounded once."""
    return _compile(function, {**_OPTIONS, "fastmath": {"contract"}})


def _compile(function: Callable, options: dict[str, Any]) -> Any:
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written: compile anew in every process
        return njit(**options)(function)
