"""The kernel matrix of the rows of a table, for problems with few rows and many features."""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

import numpy as np

from everystump._core.chains import Chains
from everystump._core.packing import Packing

# Estimated seconds (only ratios matter) per: kernel value and feature; entry of a matrix that is
# multiplied; entry and row of a matrix that is factored; code; bin; call.
_KERNEL_VALUE, _ENTRY, _FACTOR, _CODE, _BIN, _CALL = 5e-11, 5e-9, 2e-11, 1.5e-9, 1.5e-8, 5e-5
_MAX_ROWS = 4000
# A problem with more bins per row than this, and with C times a kernel value above this, takes many
# products: its features can separate the rows, and the solution almost does.
_MANY_BINS, _LARGE_KERNEL = 12, 10.0


class Effort(NamedTuple):
    """A rough estimate of the work of a solver.

    The number of Newton steps, as if all rows were active in each, and of products with Newton's
    matrices, in ordinary and in hard problems.
    """

    steps: int
    products: int
    max_products: int


class TableKernelMatrix:
    """The kernel matrix of the rows of a table, computed when it is first needed.

    It is shared by all problems on the table: all classes, folds and values of C.

    Parameters
    ----------
    chains : Chains
        The chains of all features.
    packing : Packing
        Codes of all rows.
    """

    def __init__(self, chains: Chains, packing: Packing) -> None:
        self._chains, self._packing = chains, packing
        self._lock = Lock()
        self._matrix: np.ndarray | None = None

    def is_faster(self, n_rows: int, C: float, effort: Effort) -> bool:
        """Whether a problem of ``n_rows`` rows is likely to be solved faster with the matrix."""
        if n_rows > _MAX_ROWS:
            return False
        n_bins = len(self._chains.jumps)
        large = C * self._chains.diameter**2 > 4 * _LARGE_KERNEL
        hard = large and n_bins > _MANY_BINS * n_rows
        n_products = effort.max_products if hard else effort.products
        matrix = _KERNEL_VALUE * n_rows**2 * self._chains.n_features
        step = _ENTRY * n_rows**2 + _FACTOR * n_rows**3 + 4 * _CALL
        product = _CODE * n_rows * len(self._packing.codes) + _BIN * n_bins + _CALL
        with_matrix = (0.0 if self._matrix is not None else matrix) + effort.steps * step
        return with_matrix < (n_products + 2 * effort.steps) * product

    def of(self, index: np.ndarray, n_threads: int) -> np.ndarray:
        """Return the matrix of some rows."""
        codes = self._packing.codes
        if len(index) < codes.shape[1] / 2:
            return self._compute(codes[:, index], n_threads)
        with self._lock:
            if self._matrix is None:
                self._matrix = self._compute(codes, n_threads)
        return self._matrix[np.ix_(index, index)]

    def _compute(self, codes: np.ndarray, n_threads: int) -> np.ndarray:
        return self._chains.kernel_matrix(self._packing.flat_bins(codes), n_threads)
