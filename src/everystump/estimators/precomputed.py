"""Kernel matrices that a user brings along."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from everystump.estimators.table import Table

_ROUNDING = 1e-8
_FEW = 1000


def check_products(table: Table, *, bias: bool) -> np.ndarray:
    """Return the products of the rows that count, or say what kernel matrix they cannot be.

    With a bias only weights that sum to 0 matter, so a matrix needs to be positive definite on
    those alone.
    """
    n_rows, n_columns = table.n_given, table.X.shape[1]
    if n_rows != n_columns:
        raise ValueError(
            f'kernel="precomputed" needs the products of all rows with each other, but X has '
            f"{n_rows} rows and {n_columns} columns; pass a square matrix."
        )
    products = np.asarray(table.X, dtype=np.float64)[:, table.kept]
    size = float(np.abs(products).max()) or 1.0
    apart = np.abs(products - products.T)
    if apart.max() > _ROUNDING * size:
        i, j = np.unravel_index(apart.argmax(), apart.shape)
        raise ValueError(
            f'kernel="precomputed" needs a symmetric matrix, but X[{table.kept[i]}, '
            f"{table.kept[j]}]={products[i, j]:g} and X[{table.kept[j]}, {table.kept[i]}]="
            f"{products[j, i]:g}; pass (X + X.T) / 2 if they should be equal."
        )
    smallest = _smallest_eigenvalue(_centred(products) if bias else products)
    if smallest < -_ROUNDING * size * len(products):
        what = "centred kernel matrix" if bias else "kernel matrix"
        raise ValueError(
            f'kernel="precomputed": the smallest of the {len(products)} eigenvalues of the {what} '
            f"is {smallest:.4g}, so that it is no kernel's; pass a positive semi-definite matrix, "
            f"for example X + {-smallest:.4g} * identity."
        )
    return products


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
