"""Kernels and kernel matrices that a user brings along."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from everystump._core.kernel_machines import CallableKernel
from everystump._tables.training_table import TrainingTable

_ROUNDING = 1e-8
_FEW = 1000
_SOME = 200


def check_kernel_matrix(table: TrainingTable, *, bias: bool) -> np.ndarray:
    """Return the products of the rows that count, or say what kernel matrix they cannot be."""
    n_rows, n_columns = table.n_input_rows, table.X.shape[1]
    if n_rows != n_columns:
        raise ValueError(
            f'kernel="precomputed" needs the products of all rows with each other, but X has '
            f"{n_rows} rows and {n_columns} columns; pass a square matrix."
        )
    products = np.asarray(table.X, dtype=np.float64)[:, table.kept]
    _refuse_improper(products, table.kept, 'kernel="precomputed"', bias)
    return products


def check_kernel_function(kernel: Callable, X: np.ndarray, *, bias: bool) -> None:
    """Look at the products of the first rows, and say if no kernel can have made them."""
    some = np.arange(min(_SOME, len(X)))
    products = CallableKernel(kernel).matrix(X[some], X[some])
    _refuse_improper(products, some, f"kernel={kernel!r}", bias)


def _refuse_improper(products: np.ndarray, number: np.ndarray, name: str, bias: bool) -> None:
    """Raise unless a matrix is symmetric and positive semi-definite.

    With a bias only weights that sum to 0 matter, so that it needs to be so for those alone.
    """
    size = float(np.abs(products).max()) or 1.0
    apart = np.abs(products - products.T)
    if apart.max() > _ROUNDING * size:
        i, j = np.unravel_index(apart.argmax(), apart.shape)
        raise ValueError(
            f"{name} needs symmetric products, but those of rows {number[i]} and {number[j]} are "
            f"{products[i, j]:g} and, the other way round, {products[j, i]:g}; take the mean of "
            f"both if they should be equal."
        )
    smallest = _smallest_eigenvalue(_centred(products) if bias else products)
    if smallest < -_ROUNDING * size * len(products):
        what = "centered kernel matrix" if bias else "kernel matrix"
        raise ValueError(
            f"{name}: the smallest of the {len(products)} eigenvalues of the {what} is "
            f"{smallest:.4g}, so that it is no kernel's; use a positive semi-definite one, for "
            f"example with {-smallest:.4g} added to the diagonal, or with a large enough constant "
            f"if it is a negative distance."
        )


def _centred(products: np.ndarray) -> np.ndarray:
    mean = products.mean(axis=0)
    return products - mean - mean[:, None] + mean.mean()


def _smallest_eigenvalue(matrix: np.ndarray) -> float:
    """Return the smallest eigenvalue."""
    if len(matrix) <= _FEW:
        return float(eigvalsh(matrix, subset_by_index=[0, 0])[0])
    try:
        found = eigsh(matrix, k=1, which="SA", tol=1e-3, maxiter=300, return_eigenvectors=False)
    except ArpackNoConvergence:
        return float(eigvalsh(matrix, subset_by_index=[0, 0])[0])
    return float(found[0])
