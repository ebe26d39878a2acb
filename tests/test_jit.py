"""How loops are compiled."""

import numba
import pytest

from everystump._core import jit


@pytest.mark.parametrize("compiler", [jit.jit, jit.jit_reassociated])
def test_loops_are_compiled_without_a_cache_directory(monkeypatch, compiler):
    """Without a writable directory, Numba cannot cache: each process compiles."""
    whole = numba.njit

    def fail_to_cache(*args, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return whole(*args, **options)

    monkeypatch.setattr(jit, "njit", fail_to_cache)
    assert compiler(lambda x: x + 1)(1) == 2
