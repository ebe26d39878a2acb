"""A sparse table of numbers, read as if it were an array, some columns or rows at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class SparseTable:
    """A sparse matrix of scipy that gives dense columns and dense blocks of rows.

    ``table[2:5]`` are rows and ``table[:, 3]`` is a column, both dense; ``table[index]`` is the
    sparse table of some rows.  No more than what is asked for is ever dense.

    Attributes
    ----------
    matrix : sparse matrix or array of shape (n_rows, n_features)
        In the format CSR or CSC.  What it does not list is 0; NaN is a missing value.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> table = SparseTable(csr_array([[0.0, 2.0], [3.0, 0.0], [0.0, 5.0]]))
    >>> table[:, 1], table[1:]
    (array([2., 0., 5.]), array([[3., 0.],
           [0., 5.]]))
    """

    matrix: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return self.matrix.shape

    @property
    def ndim(self) -> int:
        """Always 2."""
        return 2

    @property
    def dtype(self) -> np.dtype:
        """The type of the numbers."""
        return self.matrix.dtype

    @property
    def size(self) -> int:
        """How many cells there are, zeros included."""
        return self.shape[0] * self.shape[1]

    @cached_property
    def by_rows(self) -> Any:
        """The matrix in the format CSR, each cell listed once."""
        return _canonical(self.matrix.tocsr())

    @cached_property
    def csc(self) -> Any:
        """The matrix in the format CSC, each cell listed once."""
        return _canonical(self.matrix.tocsc())

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            rows, d = index
            out = np.empty((1, len(self)), dtype=self.dtype)
            self.read(int(d), out)
            return out[0, rows]
        if isinstance(index, slice):
            return self.by_rows[index].toarray()
        if np.ndim(index) == 0:
            return self.by_rows[[index]].toarray()[0]
        return SparseTable(self.by_rows[index])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        dense = self.matrix.toarray()
        return dense if dtype is None else dense.astype(dtype, copy=False)

    def read(self, first: int, out: np.ndarray) -> None:
        """Write the columns from ``first`` on, one per row of ``out``."""
        columns = self.csc
        out[:] = 0.0
        for k, column in enumerate(out):
            start, end = columns.indptr[first + k], columns.indptr[first + k + 1]
            column[columns.indices[start:end]] = columns.data[start:end]

    def first_invalid(self, allow_nan: bool) -> tuple[int, int] | None:
        """Return row and feature of the first infinite cell, or NaN where none is allowed."""
        rows = self.by_rows
        bad = np.isinf(rows.data) if allow_nan else ~np.isfinite(rows.data)
        if not bad.any():
            return None
        k = int(np.argmax(bad))
        return int(np.searchsorted(rows.indptr, k, side="right")) - 1, int(rows.indices[k])


def _canonical(matrix: Any) -> Any:
    """Return a matrix that lists each cell once, the user's own left as it is."""
    if matrix.has_canonical_format:
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    return matrix
