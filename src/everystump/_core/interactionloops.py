"""The loop over pairs of rows for the kernel matrix of interactions."""

from __future__ import annotations

import numpy as np

from everystump._core.jit import jit


@jit
def add_products(kernels, cells, terms, first, out):
    """Add the kernel of interactions between rows ``first + i`` and ``j <= first + i``.

    ``kernels[f]`` is the kernel between the cells of feature ``f``, and ``cells[f, i]`` the cell of
    row ``i``.  Each row of ``terms`` lists the two or three features of a term.
    """
    n_features = kernels.shape[0]
    values = np.empty((n_features, cells.shape[1]))
    for i in range(out.shape[0]):
        n = first + i + 1
        for f in range(n_features):
            kernel, column, row = kernels[f, cells[f, first + i]], cells[f], values[f]
            for j in range(n):
                row[j] = kernel[column[j]]
        target = out[i]
        for t in range(terms.shape[0]):
            left, right = values[terms[t, 0]], values[terms[t, 1]]
            if terms.shape[1] == 2:
                for j in range(n):
                    target[j] += left[j] * right[j]
            else:
                last = values[terms[t, 2]]
                for j in range(n):
                    target[j] += left[j] * right[j] * last[j]
