"""Newton directions of a multinomial problem, with the intercepts eliminated.

With ``W`` the curvature of the losses, for each row a matrix ``cost (diag(p) - p p')`` over the
classes, ``r = v(a) - w`` and ``M = sum of W``, the step from optimal intercepts solves

    (I + V'WV - V'W1 M^+ 1'WV) dw = r,      db = -M^+ 1'WV dw,

where ``M^+`` is the pseudoinverse: a common shift of all intercepts changes nothing.  The system is
solved by conjugate gradients, preconditioned by the blocks of the features of each class alone, with
the curvature ``cost p_k (1 - p_k)``.  (In the principal directions of ``M``, mixtures of classes
that on average do not interact, the blocks took as many products.)
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from everystump._core.solvers.multinomial_duality import ClassOperator
from everystump._core.solvers.multinomial_rows import MultinomialRows
from everystump._core.solvers.newton_system import Operator, StoppingRule, conjugate_gradients
from everystump._core.solvers.preconditioner import BlockPreconditioner
from everystump._core.threads import thread_map

_MAX_PRODUCTS = 5000
# Eigenvalues below this, relative to the largest, are 0.
_ZERO = 1e-13


def solve_singular(matrix: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Return the pseudoinverse of a symmetric matrix times a vector."""
    values, basis = eigh(matrix, check_finite=False)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > _ZERO * values[-1])
    return basis @ (inverse * (basis.T @ rhs))


class MultinomialSystem:
    """Newton directions of one problem."""

    def __init__(self, operator: ClassOperator, rows: MultinomialRows) -> None:
        self._operator, self._rows = operator, rows
        self._blocks = BlockPreconditioner(operator.problem)

    def direction(
        self, residual: np.ndarray, curvature: np.ndarray, stop: StoppingRule
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the step ``(dw, db)`` and set it as the rows' direction.

        ``curvature`` is the sum over the rows of their matrices.
        """
        operator, rows, shape = self._operator, self._rows, residual.shape
        fit_intercept = operator.problem.fit_intercept
        no_intercepts = np.zeros(rows.n_classes)

        def product(flat: np.ndarray) -> np.ndarray:
            weights = flat.reshape(shape)
            sums = rows.start_product(operator.matvec(weights))
            db = -solve_singular(curvature, sums) if fit_intercept else no_intercepts
            out = operator.rmatvec(rows.finish_product(db))
            out += weights
            return out.ravel()

        precondition = self._preconditioner(shape)
        flat, _ = conjugate_gradients(product, precondition, residual.ravel(), stop, _MAX_PRODUCTS)
        dw = flat.reshape(shape)
        rows.set_direction(operator.matvec(dw))
        db = no_intercepts
        if fit_intercept:
            db = -solve_singular(curvature, rows.curved_direction())
            rows.shift_direction(db)
        return dw, db

    def _preconditioner(self, shape: tuple[int, ...]) -> Operator:
        tables = self._rows.curvature()
        folded, n_threads = self._rows.packing.fold(tables), self._operator.threads
        solvers = thread_map(
            lambda k: self._blocks.factor(folded[k], tables[k]), range(shape[0]), n_threads
        )

        def solve(flat: np.ndarray) -> np.ndarray:
            parts = zip(solvers, flat.reshape(shape), strict=True)
            return np.concatenate(thread_map(lambda part: part[0](part[1]), parts, n_threads))

        return solve
