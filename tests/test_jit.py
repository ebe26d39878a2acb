"""How loops are compiled."""

import numba
import pytest

from everystump._core import jit


@pytest.mark.parametrize("compiler", [jit.jit, jit.jit_reassociated])
def test_without_a_folder_for_the_cache_loops_are_compiled_all_the_same(monkeypatch, compiler):
    """Numba refuses to cache where it can write nowhere; then each process compiles for itself."""
    whole = numba.njit

    def refuse_to_cache(*args, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return whole(*args, **options)

    monkeypatch.setattr(jit, "njit", refuse_to_cache)
    assert compiler(lambda x: x + 1)(1) == 2
