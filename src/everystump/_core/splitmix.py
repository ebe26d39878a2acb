"""Hashes of 64 bits: the output function of SplitMix64 (Steele, Lea & Flood, 2014)."""

from __future__ import annotations

import numpy as np

from everystump._core.jit import jit

GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
"""The increment of SplitMix64's sequence, an odd number near 2^64 divided by the golden ratio."""
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31 = (np.uint64(k) for k in (27, 30, 31))


@jit
def mix_bits(x):
    """Return a hash of a number, of which each bit depends on all bits of the number."""
    x = (x ^ (x >> _S30)) * _FIRST
    x = (x ^ (x >> _S27)) * _SECOND
    return x ^ (x >> _S31)
