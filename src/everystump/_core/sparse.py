"""Sparse tables that are read like arrays, a few columns or rows at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np


@dataclass(frozen=True, eq=False)
class SparseTable:
    """A SciPy sparse matrix that returns dense columns and dense blocks of rows.

    ``table[2:5]`` are rows and ``table[:, 3]`` is a column, both dense; ``table[index]`` is the
    sparse table of some rows.  Only the requested part is ever dense.

    Attributes
    ----------
    matrix : sparse matrix or array of shape (n_rows, n_features)
        In CSR or CSC format.  Cells that are not stored are 0; NaN is a missing value.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> table = SparseTable(csr_array([[0.0, 2.0], [3.0, 0.0], [0.0, 5.0]]))
    >>> table[:, 1], table[1:]
    (array([2., 0., 5.]), array([[3., 0.],
           [0., 5.]]))
    """

    ndim: ClassVar[int] = 2
    matrix: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return self.matrix.shape

    @property
    def dtype(self) -> np.dtype:
        """The type of the numbers."""
        return self.matrix.dtype

    @property
    def size(self) -> int:
        """The number of cells, zeros included."""
        return self.shape[0] * self.shape[1]

    @cached_property
    def csr(self) -> Any:
        """The matrix in CSR format, each cell stored once."""
        return _canonical(self.matrix.tocsr())

    @cached_property
    def csc(self) -> Any:
        """The matrix in CSC format, each cell stored once."""
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
            return self.csr[index].toarray()
        if np.ndim(index) == 0:
            return self.csr[[index]].toarray()[0]
        return SparseTable(self.csr[index])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        dense = self.matrix.toarray()
        return dense if dtype is None else dense.astype(dtype, copy=False)

    def read(self, first: int, out: np.ndarray) -> None:
        """Write the columns from ``first`` on into the rows of ``out``."""
        columns = self.csc
        out[:] = 0.0
        for k, column in enumerate(out):
            start, end = columns.indptr[first + k], columns.indptr[first + k + 1]
            column[columns.indices[start:end]] = columns.data[start:end]

    def first_invalid(self, allow_nan: bool) -> tuple[int, int] | None:
        """Return row and feature of the first infinity, or NaN if not allowed; None if valid."""
        rows = self.csr
        invalid = np.isinf(rows.data) if allow_nan else ~np.isfinite(rows.data)
        if not invalid.any():
            return None
        k = int(np.argmax(invalid))
        return int(np.searchsorted(rows.indptr, k, side="right")) - 1, int(rows.indices[k])


def _canonical(matrix: Any) -> Any:
    """Return a matrix that stores each cell once; the user's own matrix is not changed."""
    if matrix.has_canonical_format:
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    return matrix
