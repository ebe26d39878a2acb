"""A small problem for the solvers, for which everything can be written out densely."""

import numpy as np
import pytest
from column_examples import paths

from everystump._core.chains import Chains
from everystump._core.columns import make_columns
from everystump._core.losses import Hinge, Logistic, SmoothedHinge, SquaredHinge
from everystump._core.measures import Masses, Mixed
from everystump._core.packing import pack
from everystump._core.solvers import solve
from everystump._core.solvers.problem import Problem, SolverOptions
from everystump._core.solvers.row_blocks import SolverBlocks
from everystump._core.solvers.rows import Rows
from everystump._core.terms import Terms

LOSSES = {"hinge": Hinge, "squared_hinge": SquaredHinge, "logistic": Logistic}
ALL_LOSSES = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
WITH_AND_WITHOUT_INTERCEPT = pytest.mark.parametrize(
    "fit_intercept", [True, False], ids=["fit_intercept", "no intercept"]
)


class Small:
    """A problem of 60 rows: two continuous features and three of few values, which are joined."""

    def __init__(self, loss, *, fit_intercept=True, C=1.0, seed=0, n=60, n_threads=1):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 3, size=(n, 3))])
        self.y = np.where(X[:, 0] + X[:, 2] + rng.normal(size=n) > 0.8, 1.0, -1.0)
        self.weight, self.C, self.fit_intercept, self.loss = (
            rng.uniform(0.5, 2.0, size=n),
            C,
            fit_intercept,
            loss,
        )
        self.columns = make_columns(X, max_bins=1000)
        masses = [Mixed().masses(column, d) for d, column in enumerate(self.columns.columns)]
        masses = [Masses(mass.inside, 0.7) for mass in masses]
        self.terms = Terms(Chains.from_columns(paths(masses), masses, centered=not fit_intercept))
        self.packing = pack(self.columns.codes, self.columns.sizes)
        self.problem = Problem(
            self.terms, self.packing, loss, fit_intercept=fit_intercept, hard=bool(np.isinf(C))
        )
        blocks = SolverBlocks(
            self.packing, np.arange(n), self.y > 0, loss, self.weight, C, n_threads=n_threads
        )
        self.rows = Rows(blocks, C)

    @property
    def votes(self):
        """The dense matrix ``V = gather S``: the votes of all weights on all rows."""
        S = np.column_stack([self.terms.matvec(unit) for unit in np.eye(self.terms.n_weights)])
        return S[self.columns.codes.T + self.terms.chains.starts[:-1]].sum(axis=1)

    def smooth_loss(self):
        """Return the loss of all rows; the hinge is smoothed, there and in the rows."""
        cost = self.C * self.weight
        if self.loss is not Hinge:
            return self.loss(cost)
        self.rows.smooth_at_box_center(0.8, 1.0)
        return SmoothedHinge(cost, cost / 2, 0.8 * self.weight)

    def objective(self, w, b):
        margin = self.y * (self.votes @ w + b)
        return w @ w / 2 + self.loss(self.C * self.weight).total(margin)

    def move_to(self, w, b):
        self.rows.set_margins(self.terms.matvec(w), b)

    def newton(self, w, b, loss):
        """Return Newton's dense matrix, right-hand side, ``e``, ``h`` and ``k`` at a point."""
        V = self.votes
        margin = self.y * (V @ w + b)
        W, a = loss.curvature(margin), loss.slope(margin)
        r, e = V.T @ (self.y * a) - w, float(self.y @ a)
        A, h, k = np.eye(len(w)) + (V.T * W) @ V, V.T @ W, W.sum()
        if not self.fit_intercept:
            return A, r, 0.0, h, k
        return A - np.outer(h, h) / k, r - h * e / k, e, h, k

    def solve(self, *, tol=1e-9, max_iter=1000, start=None, rows=None, kernel_matrix=None):
        options = SolverOptions(tol, max_iter, start=start, kernel_matrix=kernel_matrix)
        return solve(self.problem, rows or self.rows, options)
