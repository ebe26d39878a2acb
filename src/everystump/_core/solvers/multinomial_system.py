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
from scipy.linalg import eigh, helmert

from everystump._core.solvers.multinomial_duality import ClassOperator
from everystump._core.solvers.multinomial_rows import MultinomialRows
from everystump._core.solvers.newton_system import Operator, Stop, StoppingRule, conjugate_gradients
from everystump._core.solvers.preconditioner import BlockPreconditioner
from everystump._core.threads import thread_map

MAX_PRODUCTS = 5000
# Principal directions with less curvature than this, relative to the largest, have none.
_FLAT = 1e-13
# Steps of the intercepts are damped to the logarithm of their length: longer ones are alike.
_MAX_STEP = 1e100


class PrincipalDirections:
    """The principal directions of a matrix of the curvature of the classes.

    The first one is the common shift of all classes, whose curvature is 0.
    """

    def __init__(self, matrix: np.ndarray) -> None:
        shift, *differences = helmert(len(matrix), full=True)
        basis = np.array(differences).T
        values, directions = eigh(basis.T @ matrix @ basis, check_finite=False)
        self.basis = np.column_stack([shift, basis @ directions])
        values = np.append(0.0, values)
        self.is_flat = values <= _FLAT * values[-1]
        self._inverse = np.divide(1.0, values, out=np.zeros_like(values), where=~self.is_flat)

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        """Return the pseudoinverse of the matrix times a vector."""
        return self.basis @ (self._inverse * (self.basis.T @ rhs))


def balancing_step(curvature: np.ndarray, imbalance: np.ndarray) -> np.ndarray:
    """Return Newton's step of the intercepts: the first is 0, as a common shift changes nothing.

    Near certainty, curvatures of different classes differ by many orders of magnitude.  As rows of
    the matrix sum to 0 and only its diagonal is positive, it can be eliminated without subtractions
    (as by Grassmann, Taksar and Heyman), so that even the smallest ones keep their accuracy.
    """
    coupling, rhs = -curvature, imbalance.copy()
    n = len(rhs)
    totals = np.empty(n)
    for k in range(n - 1, 0, -1):
        totals[k] = max(coupling[k, :k].sum(), np.finfo(float).tiny)
        share = coupling[k, :k] / totals[k]
        coupling[:k, :k] += np.outer(coupling[:k, k], share)
        rhs[:k] += share * rhs[k]
    step = np.zeros(n)
    for k in range(1, n):
        with np.errstate(over="ignore"):
            change = (rhs[k] + coupling[k, :k] @ step[:k]) / totals[k]
        step[k] = np.clip(change, -_MAX_STEP, _MAX_STEP)
    return step


class MultinomialMatrix:
    """Newton's matrix at the rows' probabilities, with the intercepts eliminated.

    ``curvature`` is ``M``, the sum over the rows of their matrices.
    """

    def __init__(
        self, operator: ClassOperator, rows: MultinomialRows, curvature: np.ndarray
    ) -> None:
        self._operator, self._rows = operator, rows
        self._directions = PrincipalDirections(curvature)

    def intercepts(self, sums: np.ndarray) -> np.ndarray:
        """Return ``M^+ sums``; zeros if there are no intercepts."""
        fit_intercept = self._operator.problem.fit_intercept
        return self._directions.solve(sums) if fit_intercept else np.zeros(len(sums))

    def product(self, weights: np.ndarray) -> np.ndarray:
        """Return the product with the weights of all classes."""
        sums = self._rows.start_product(self._operator.matvec(weights))
        out = self._operator.rmatvec(self._rows.finish_product(-self.intercepts(sums)))
        out += weights
        return out

    def factor(self, blocks: BlockPreconditioner) -> Operator:
        """Return the preconditioner, which maps the residuals of all classes."""
        basis, n_threads = self._directions.basis, self._operator.threads
        tables = self._rows.curvature_along(basis)
        folded = self._rows.packing.fold(tables)
        # For directions without curvature, the block is the identity.
        curved = np.flatnonzero(~self._directions.is_flat)
        solvers = thread_map(
            lambda k: (k, blocks.factor(folded[k], tables[k])), curved.tolist(), n_threads
        )

        def solve(residual: np.ndarray) -> np.ndarray:
            rotated = basis.T @ residual

            def solve_direction(part: tuple[int, Operator]) -> None:
                k, solver = part
                rotated[k] = solver(rotated[k])

            thread_map(solve_direction, solvers, n_threads)
            return basis @ rotated

        return solve

    def solve(
        self, rhs: np.ndarray, precondition: Operator, stop: Stop, max_products: int = MAX_PRODUCTS
    ) -> tuple[np.ndarray, int]:
        """Return the solution by conjugate gradients, and the number of products."""
        shape = rhs.shape

        def flat(function: Operator) -> Operator:
            return lambda values: function(values.reshape(shape)).ravel()

        found, n_products = conjugate_gradients(
            flat(self.product), flat(precondition), rhs.ravel(), stop, max_products
        )
        return found.reshape(shape), n_products


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
        matrix = MultinomialMatrix(self._operator, self._rows, curvature)
        dw, _ = matrix.solve(residual, matrix.factor(self._blocks), stop)
        self._rows.set_direction(self._operator.matvec(dw))
        if not self._operator.problem.fit_intercept:
            return dw, np.zeros(len(dw))
        db = -matrix.intercepts(self._rows.curved_direction())
        self._rows.shift_direction(db)
        return dw, db
