"""Newton directions of a multinomial problem, with the intercepts eliminated.

With ``W`` the curvature of the losses, for each row a matrix ``cost (diag(p) - p p')`` over the
classes, ``r = v(a) - w`` and ``M = sum of W``, the step from optimal intercepts solves

    (I + V'WV - V'W1 M^+ 1'WV) dw = r,      db = -M^+ 1'WV dw,

where ``M^+`` is the pseudoinverse: a common shift of all intercepts changes nothing.  The system is
solved by conjugate gradients.  They are preconditioned in the principal directions ``Q`` of ``M``,
mixtures of classes that on average do not interact: for each of them, by the blocks of the features
with the curvature ``cost (sum_k p_k Q_k^2 - (sum_k p_k Q_k)^2)`` of the rows.  (With the blocks of
the classes themselves, digits took as many products, and modeldata's hpc_data two to three times as
many.)
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
# Principal directions with less curvature than this, relative to the largest, have none.
_FLAT = 1e-13


class PrincipalDirections:
    """The principal directions of a matrix of the curvature of the classes."""

    def __init__(self, matrix: np.ndarray) -> None:
        values, self.basis = eigh(matrix, check_finite=False)
        self.is_flat = values <= _FLAT * values[-1]
        self._inverse = np.divide(1.0, values, out=np.zeros_like(values), where=~self.is_flat)

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        """Return the pseudoinverse of the matrix times a vector."""
        return self.basis @ (self._inverse * (self.basis.T @ rhs))


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
        directions = PrincipalDirections(curvature)
        fit_intercept = operator.problem.fit_intercept
        no_intercepts = np.zeros(rows.n_classes)

        def product(flat: np.ndarray) -> np.ndarray:
            weights = flat.reshape(shape)
            sums = rows.start_product(operator.matvec(weights))
            db = -directions.solve(sums) if fit_intercept else no_intercepts
            out = operator.rmatvec(rows.finish_product(db))
            out += weights
            return out.ravel()

        precondition = self._preconditioner(directions, shape)
        flat, _ = conjugate_gradients(product, precondition, residual.ravel(), stop, _MAX_PRODUCTS)
        dw = flat.reshape(shape)
        rows.set_direction(operator.matvec(dw))
        db = no_intercepts
        if fit_intercept:
            db = -directions.solve(rows.curved_direction())
            rows.shift_direction(db)
        return dw, db

    def _preconditioner(self, directions: PrincipalDirections, shape: tuple[int, ...]) -> Operator:
        basis, n_threads = directions.basis, self._operator.threads
        tables = self._rows.curvature(basis)
        folded = self._rows.packing.fold(tables)
        curved = np.flatnonzero(~directions.is_flat)  # for the others, the block is the identity
        solvers = thread_map(
            lambda k: (k, self._blocks.factor(folded[k], tables[k])), curved.tolist(), n_threads
        )

        def solve(flat: np.ndarray) -> np.ndarray:
            rotated = basis.T @ flat.reshape(shape)

            def solve_direction(part: tuple[int, Operator]) -> None:
                k, solver = part
                rotated[k] = solver(rotated[k])

            thread_map(solve_direction, solvers, n_threads)
            return (basis @ rotated).ravel()

        return solve
