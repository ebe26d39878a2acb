"""Compilation of loops with Numba.

Compiled loops release the GIL, so that threads can share the work, and are cached between
processes if there is a writable cache directory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit


def _compile(fastmath: Any, function: Callable) -> Any:
    options = {"nogil": True, "boundscheck": False, "error_model": "numpy", "fastmath": fastmath}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no writable cache directory: compile in every process
        return njit(**options)(function)


jit = partial(_compile, False)
# For loops whose sums may be reordered, so that they can be vectorized.
jit_reassociated = partial(_compile, {"reassoc", "nsz"})
# For loops in which a product and a sum may be fused into one operation.
jit_fused = partial(_compile, {"contract"})
