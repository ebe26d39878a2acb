"""64-bit hashes of rows, which recognize rows without storing them.

Each value is mixed with a key of its column and added to the hash of its row.  Zeros add nothing,
so that sparse and dense tables have equal hashes.  Values are rounded to single precision and then
to 17 binary digits, about 5 decimal digits.  So tables of single and double precision have equal
hashes, and a number that was written to a file with fewer digits changes its hash only if the lost
digits affect its rounding: with 7 digits about 1 in 100, with 6 about 1 in 10.  The remaining
digits go into a separate checksum, so that whole tables can be compared bit by bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from everystump._core.jit import jit
from everystump._core.splitmix import GOLDEN_GAMMA, mix_bits
from everystump._core.threads import thread_map

_BLOCK_CELLS = 1 << 16
_MANY_CELLS = 1 << 20

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S29, _S32 = np.uint64(29), np.uint64(32)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
# The bits of a number: all but its sign, infinity, NaN, and the masks that round it.
_SIZE, _INFINITY = np.uint64(0x7FFFFFFFFFFFFFFF), np.uint64(0x7FF0000000000000)
_NAN = np.uint64(0x7FF8000000000000)
_HALF_SINGLE, _SINGLE = np.uint64(1 << 28), np.uint64(2**64 - (1 << 29))
_HALF, _COARSE, _FINE = np.uint64(1 << 35), np.uint64(2**64 - (1 << 36)), np.uint64((1 << 36) - 1)


@dataclass(frozen=True, eq=False)
class RowHashes:
    """Hashes of labeled rows."""

    rows: np.ndarray  # uint64, (n_rows,): equal for equal labels and equal rounded values
    fine: np.ndarray  # uint64, (n_rows,): a checksum of the remaining digits

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, index: np.ndarray | None) -> RowHashes:
        """Return the hashes of some rows; None for all of them."""
        return self if index is None else RowHashes(self.rows[index], self.fine[index])

    def ordered_checksum(self) -> int:
        """Return a checksum of the whole table: all digits of its rows, in order."""
        return int(_sum_in_order(self.rows, self.fine))

    def unordered_checksum(self) -> int:
        """Return a checksum of the rows in any order, with rounded values."""
        return int(np.sum(self.rows, dtype=np.uint64))


def hash_rows(X: Any, label: np.ndarray, n_threads: int = 1) -> RowHashes:
    """Return the hashes of the rows of an array or sparse matrix, with their class indices.

    Examples
    --------
    >>> X = np.array([[0.1, 2.0], [0.3, 4.0], [0.1, 2.0]])
    >>> first, second, third = hash_rows(X, np.array([0, 1, 0])).rows.tolist()
    >>> first == third, first == second
    (True, False)
    """
    n_rows, n_features = X.shape
    keys = _keys(2 * n_features).reshape(2, -1)
    rough, fine = np.zeros((2, n_rows), dtype=np.uint64)
    if sparse.issparse(X):
        table = X.tocsr()
        cells = table.data.astype(np.float64).view(np.uint64)
        _add_sparse(cells, table.indices, table.indptr, keys, rough, fine)
    else:
        step = max(1, _BLOCK_CELLS // max(1, n_features))

        def work(first: int) -> None:
            part = slice(first, first + step)
            cells = np.ascontiguousarray(X[part], dtype=np.float64).view(np.uint64)
            _add(cells, keys, rough[part], fine[part])

        thread_map(work, range(0, n_rows, step), n_threads if X.size >= _MANY_CELLS else 1)
    _add_labels(label, rough)
    return RowHashes(rough, fine)


def hash_numbers(values: np.ndarray) -> int:
    """Return a checksum of some numbers in order, with all digits."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    return int(_sum_in_order(bits, bits))


@jit
def _keys(n):
    """Return the first ``n`` numbers of SplitMix64's sequence."""
    out = np.empty(n, dtype=np.uint64)
    key = _ZERO
    for k in range(n):
        key += GOLDEN_GAMMA
        out[k] = mix_bits(key)
    return out


@jit
def _sum_in_order(rows, fine):
    """Return a sum over rows that depends on their order."""
    total, position = _ZERO, _ZERO
    for i in range(len(rows)):
        position += GOLDEN_GAMMA
        total += mix_bits(rows[i] ^ mix_bits(fine[i] + position))
    return total


@jit
def _add_labels(label, rough):
    """Mix the class index of each row into its hash."""
    for i in range(len(rough)):
        rough[i] = mix_bits(rough[i] + mix_bits(np.uint64(label[i]) * GOLDEN_GAMMA + _ONE))


@jit
def _cell_terms(bits, key, fine_key):
    """Return the terms of a value in the hash of its row and in the checksum of further digits."""
    if bits & _SIZE == _ZERO:
        return _ZERO, _ZERO
    if bits & _SIZE > _INFINITY:
        bits = _NAN
    rounded = (((bits + _HALF_SINGLE) & _SINGLE) + _HALF) & _COARSE
    mixed = (rounded ^ key) * _FIRST
    mixed = (mixed ^ (mixed >> _S32)) * _SECOND
    return mixed ^ (mixed >> _S29), (bits & _FINE) * fine_key


@jit
def _add(cells, keys, rough, fine):
    """Add the values of a dense block to the hashes of its rows."""
    for i in range(cells.shape[0]):
        high, low = _ZERO, _ZERO
        for d in range(cells.shape[1]):
            term, fine_term = _cell_terms(cells[i, d], keys[0, d], keys[1, d])
            high += term
            low += fine_term
        rough[i] = high
        fine[i] = low


@jit
def _add_sparse(cells, indices, indptr, keys, rough, fine):
    """Add the values of a sparse table in CSR format to the hashes of its rows."""
    for i in range(len(rough)):
        for k in range(indptr[i], indptr[i + 1]):
            d = indices[k]
            term, fine_term = _cell_terms(cells[k], keys[0, d], keys[1, d])
            rough[i] += term
            fine[i] += fine_term
