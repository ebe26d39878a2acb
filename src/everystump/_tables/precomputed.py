"""Validation of kernel functions and precomputed kernel matrices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from everystump._core.kernel_machines.kernels import CallableKernel
from everystump._tables.training_table import ClassTable

_ROUNDING = 1e-8
# Up to this many rows, a dense eigenvalue solver is fast.
_MAX_DENSE = 1000
# A kernel function is checked on this many rows.
_N_CHECKED = 200


def check_kernel_matrix(table: ClassTable, *, free_intercept: bool) -> np.ndarray:
    """Return the kernel matrix of the rows with positive weights."""
    n_rows, n_columns = table.n_input_rows, table.X.shape[1]
    if n_rows != n_columns:
        raise ValueError(
            f'kernel="precomputed" needs a square kernel matrix of all training rows, but X has '
            f"{n_rows} rows and {n_columns} columns; pass a square matrix."
        )
    products = np.asarray(table.X, dtype=np.float64)[:, table.input_index]
    _check_semidefinite(products, table.input_index, 'kernel="precomputed"', free_intercept)
    return products


def check_kernel_function(kernel: Callable, X: np.ndarray, *, free_intercept: bool) -> None:
    """Check the kernel matrix of the first rows."""
    rows = np.arange(min(_N_CHECKED, len(X)))
    products = CallableKernel(kernel).matrix(X[rows], X[rows])
    _check_semidefinite(products, rows, f"kernel={kernel!r}", free_intercept)


def _check_semidefinite(
    products: np.ndarray, rows: np.ndarray, name: str, free_intercept: bool
) -> None:
    """Check that a kernel matrix is symmetric and positive semi-definite.

    With a free intercept, only coefficients that sum to 0 matter, so the centered matrix is
    checked.
    """
    size = float(np.abs(products).max()) or 1.0
    asymmetry = np.abs(products - products.T)
    if asymmetry.max() > _ROUNDING * size:
        i, j = np.unravel_index(asymmetry.argmax(), asymmetry.shape)
        raise ValueError(
            f"{name} needs a symmetric kernel matrix, but the entries of rows {rows[i]} and "
            f"{rows[j]} are {products[i, j]:g} and {products[j, i]:g}; take the mean of both if "
            f"they should be equal."
        )
    smallest = _smallest_eigenvalue(_center(products) if free_intercept else products)
    if smallest < -_ROUNDING * size * len(products):
        matrix = "centered kernel matrix" if free_intercept else "kernel matrix"
        raise ValueError(
            f"{name}: the smallest of the {len(products)} eigenvalues of the {matrix} is "
            f"{smallest:.4g}; use a positive semi-definite kernel, for example with "
            f"{-smallest:.4g} added to the diagonal, or with a large enough constant added if it "
            f"is a negative distance."
        )


def _center(products: np.ndarray) -> np.ndarray:
    mean = products.mean(axis=0)
    return products - mean - mean[:, None] + mean.mean()


def _smallest_eigenvalue(matrix: np.ndarray) -> float:
    if len(matrix) <= _MAX_DENSE:
        return float(eigvalsh(matrix, subset_by_index=[0, 0])[0])
    try:
        eigenvalues = eigsh(
            matrix, k=1, which="SA", tol=1e-3, maxiter=300, return_eigenvectors=False
        )
    except ArpackNoConvergence:
        return float(eigvalsh(matrix, subset_by_index=[0, 0])[0])
    return float(eigenvalues[0])
