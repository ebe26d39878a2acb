"""Compilation of loops with Numba.

Compiled loops release the GIL, so that threads can share the work, and are cached between
processes if there is a writable cache directory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

_OPTIONS: dict[str, Any] = {"nogil": True, "boundscheck": False, "error_model": "numpy"}


def jit(function: Callable) -> Any:
    """Compile a loop."""
    return _compile(function, _OPTIONS)


def jit_reassociated(function: Callable) -> Any:
    """Compile a loop whose sums may be reordered, so that they can be vectorized."""
    return _compile(function, {**_OPTIONS, "fastmath": {"reassoc", "nsz"}})


def jit_fused(function: Callable) -> Any:
    """Compile a loop in which a product and a sum may be fused into one operation."""
    return _compile(function, {**_OPTIONS, "fastmath": {"contract"}})


def _compile(function: Callable, options: dict[str, Any]) -> Any:
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no writable cache directory: compile in every process
        return njit(**options)(function)
