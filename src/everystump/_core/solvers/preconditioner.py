"""The diagonal blocks of Newton's matrix, one for each feature or joint column.

The block of a single feature is ``I + S'(D - dd'/k)S`` with ``D`` the curvature by bin: a chain,
solved in two sweeps.  The members of a joint column share their rows' codes, so their common block
is known exactly too; it is small and dense.  The weights of interactions are in principal
directions, in which the diagonal alone is a good approximation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, qr

from everystump._core import chainloops
from everystump._core.solvers.problem import Problem

Operator = Callable[[np.ndarray], np.ndarray]


class _JointBlock(NamedTuple):
    """The bins of a joint column, the weights of its members, and their votes at these bins."""

    bins: slice
    entries: np.ndarray
    votes: np.ndarray

    def factor(self, joint: np.ndarray, scale: np.ndarray | None) -> Operator | None:
        """Return the solver of the block, or None if it has no curvature or is nearly singular.

        In that case the chains of the members are the preconditioner: less effective, but valid.
        """
        weight = joint[self.bins]
        if not weight.any():
            return None
        votes = self.votes if scale is None else self.votes * scale[self.entries]
        centered = votes - (weight @ votes) / weight.sum()
        root = np.sqrt(weight)[:, None] * centered
        if root.shape[1] > root.shape[0]:
            return _solver_of_few_rows(root)
        block = root.T @ root
        block[np.diag_indices_from(block)] += 1.0
        try:
            inverse = np.linalg.inv(block)
        except LinAlgError:
            return None
        return lambda residual: inverse @ residual


def _solver_of_few_rows(root: np.ndarray) -> Operator | None:
    """Return the solver of ``I + root' root``, where ``root`` has fewer rows than columns.

    Outside the span of the rows the matrix is the identity.  With an orthogonal basis of the span,
    rounding errors do not grow with the size of the matrix, as they do in Woodbury's formula.
    """
    basis, triangle = qr(root.T, mode="economic", check_finite=False)
    inner = triangle @ triangle.T
    inner[np.diag_indices_from(inner)] += 1.0
    try:
        factor = cho_factor(inner, check_finite=False)
    except LinAlgError:
        return None

    def solve(residual: np.ndarray) -> np.ndarray:
        inside = basis.T @ residual
        return residual + basis @ (cho_solve(factor, inside, check_finite=False) - inside)

    return solve


class BlockPreconditioner:
    """The diagonal blocks of Newton's matrix, one for each feature or joint column."""

    def __init__(self, problem: Problem) -> None:
        self._terms, self._packing = problem.terms, problem.packing

    @cached_property
    def _joint(self) -> list[_JointBlock]:
        packing, blocks = self._packing, []
        for g, members in enumerate(packing.members):
            if len(members) > 1:
                block = _JointBlock(
                    slice(packing.starts[g], packing.starts[g + 1]),
                    *self._terms.chains.votes(members, packing.bins[g]),
                )
                if block.votes.any():  # constant columns have no votes and need no block
                    blocks.append(block)
        return blocks

    @cached_property
    def cost(self) -> float:
        """An estimate of the seconds to factor it; only ratios matter."""
        sizes = np.diff(self._terms.chains.starts).astype(np.float64)
        sizes[sizes == 1] = 0.0  # a constant needs no block
        n_bins = np.diff(self._packing.starts)
        joint = [
            (sizes[list(group)].sum(), n)
            for group, n in zip(self._packing.members, n_bins, strict=True)
            if len(group) > 1
        ]
        return 1e-10 * float(sum(n_weights * min(n_weights, n) ** 2 for n_weights, n in joint))

    def factor(
        self, diagonal: np.ndarray, joint: np.ndarray, scale: np.ndarray | None = None
    ) -> Operator:
        """Return the solver for curvature ``diagonal`` by bin and ``joint`` by joint bin.

        ``scale`` holds factors of the jumps.
        """
        n = self._terms.n_bins
        chains = self._terms.chains if scale is None else self._terms.chains.scaled(scale[:n])
        tree = chains.starts, chains.parents, chains.jumps
        schur, damp = np.empty(n), np.empty(n)
        chainloops.factor(*tree, diagonal[:n], schur, damp)
        total = float(joint[: self._packing.starts[1]].sum())
        divisor = self._terms.interaction_diagonal(diagonal[n:], total)
        solvers = [(block.entries, block.factor(joint, scale)) for block in self._joint]
        blocks = [(entries, solver) for entries, solver in solvers if solver is not None]

        def solve(residual: np.ndarray) -> np.ndarray:
            out = np.empty_like(residual)
            chainloops.solve(*tree, schur, damp, residual[:n], out[:n])
            np.divide(residual[n:], divisor, out=out[n:])
            for entries, solve_block in blocks:
                out[entries] = solve_block(residual[entries])
            return out

        return solve
