"""Interactions: from the weights of products of stumps to the tables that they sum to.

Let ``A_d`` hold the centered stumps of feature ``d`` at its cells, rotated to principal directions
(`everystump._core.cells`).  The products of one stump of each feature of a term ``t = (d, e, ...)``
form the kernel ``strength^(|t| - 1) K_d K_e ...``, and the table of the term is ::

    V[a, b, ...] = s sum over i, j, ... of A_d[a, i] A_e[b, j] ... G[i, j, ...]

with ``s = strength^((|t| - 1) / 2)`` and ``|G|^2`` as the norm.  Features of few cells are merged
into joint columns, so that a single table serves all terms with features in the same joint columns:
a *block*.  Blocks with the same joint columns except for the last one form a *group*, in which the
rows' positions in the first columns are computed once.  The table of a group has one row per
combination of cells of its *head* (the joint columns in common) and one range of columns per block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np

from everystump._core import chainloops, interactionloops
from everystump._core.cells import CellColumn
from everystump._core.threads import thread_map
from everystump._terms import Term

# Table rows start in different sets of the L1 cache: their length is an odd multiple of this.
_CACHE_LINE = 8
# The number of rows of a kernel matrix that a thread computes at a time.
_ROWS_AT_ONCE = 64


class PackedCells(NamedTuple):
    """The cells of a feature, its joint column, and the feature's cell at each joint cell."""

    feature: int
    cells: CellColumn
    joint: int
    joint_cells: np.ndarray


class Factor(NamedTuple):
    """The votes of some features at the cells of one joint column.

    Each part has the votes of one or several features, the latter multiplied.
    """

    joint: int
    parts: tuple[Term, ...]
    matrix: np.ndarray  # (n_joint_cells, n_directions of all parts)
    orders: np.ndarray  # (n_directions,): the number of features of each direction
    starts: np.ndarray  # (n_parts + 1,): where each part begins

    def span(self, part: Term) -> slice:
        """Return the directions of a part."""
        k = self.parts.index(part)
        return slice(self.starts[k], self.starts[k + 1])


class Block(NamedTuple):
    """The last joint column of a block, and where its weights and its table are."""

    last: Factor
    terms: tuple[tuple[Term, ...], ...]  # the parts of each term, one per joint column
    mask: np.ndarray | None  # (n_head_directions, n_directions): which weights are free; None: all
    columns: slice  # of the table of the group
    weights: slice  # of the flat weights


class Group(NamedTuple):
    """Blocks with a common head of zero, one or two joint columns."""

    head: tuple[Factor, ...]
    blocks: tuple[Block, ...]
    table: slice  # of the flat table
    stride: int  # the length of a row of the table

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the table: the cells of the head, and the columns of all blocks."""
        return (*(len(factor.matrix) for factor in self.head), self.stride)


class _Matrices(NamedTuple):
    """The matrices of a group's head and of its blocks, scaled by the strength."""

    head: tuple[np.ndarray, ...]
    last: tuple[np.ndarray, ...]


@dataclass(frozen=True, eq=False)
class Interactions:
    """The operator from the weights of all terms to their tables.

    Attributes
    ----------
    terms : tuple of tuple of int
        The features of each term, in ascending order.
    strength : float
        Kernel weight of a pair; a term of k features has ``strength ** (k - 1)``.
    features : dict of Term to tuple of PackedCells
        The features of each term with their cells.
    groups : tuple of Group
        The layout of weights and tables.
    """

    terms: tuple[Term, ...]
    strength: float
    features: dict[Term, tuple[PackedCells, ...]]
    groups: tuple[Group, ...]

    @cached_property
    def n_weights(self) -> int:
        """The number of weights."""
        return self.groups[-1].blocks[-1].weights.stop if self.groups else 0

    @cached_property
    def n_entries(self) -> int:
        """The length of a flat table."""
        return self.groups[-1].table.stop if self.groups else 0

    @property
    def n_blocks(self) -> int:
        """The number of blocks: how many table entries are added up for a row."""
        return sum(len(group.blocks) for group in self.groups)

    def convert(self, weights: np.ndarray, source: Interactions) -> np.ndarray:
        """Return the weights with the tables that ``weights`` of other interactions have.

        These may be of another strength; the tables of terms that they do not include are 0.
        """
        if self.groups is not source.groups:
            weights = self._rearrange(weights, source)
        return weights * np.sqrt(source.strength / self.strength) ** self._exponents

    def _rearrange(self, weights: np.ndarray, source: Interactions) -> np.ndarray:
        """Return the weights of other interactions, with 0 for terms that they do not include."""
        out = np.zeros(self.n_weights)
        for term in set(self.terms).intersection(source.terms):
            own = self.term_weights(term, out)
            by_feature = source._weights_by_feature(term, weights)
            own[...] = by_feature.transpose(self._stored_order(term)).reshape(own.shape)
        return out

    @cached_property
    def _exponents(self) -> np.ndarray:
        """The exponent of the strength in the kernel of each weight."""
        exponents = np.empty(self.n_weights)
        for group in self.groups:
            for block in group.blocks:
                orders = [factor.orders for factor in (*group.head, block.last)]
                exponents[block.weights] = reduce(np.add.outer, orders).ravel() - 1.0
        return exponents

    def with_strength(self, strength: float) -> Interactions:
        """Return the same interactions with another strength."""
        return replace(self, strength=strength)

    @cached_property
    def _matrices(self) -> list[_Matrices]:
        root = np.sqrt(self.strength)
        return [
            _Matrices(
                tuple(factor.matrix * root**factor.orders for factor in group.head),
                tuple(
                    block.last.matrix * root ** (block.last.orders - 1) for block in group.blocks
                ),
            )
            for group in self.groups
        ]

    @cached_property
    def _squares(self) -> list[_Matrices]:
        return [
            _Matrices(tuple(m * m for m in head), tuple(m * m for m in last))
            for head, last in self._matrices
        ]

    def matvec(self, weights: np.ndarray, out: np.ndarray) -> None:
        """Write the tables of the weights."""
        for group, matrices in zip(self.groups, self._matrices, strict=True):
            _expand(group, matrices, weights, out)

    def rmatvec(self, sums: np.ndarray, out: np.ndarray) -> None:
        """Write the transpose of `matvec` applied to sums by table entry."""
        for group, matrices in zip(self.groups, self._matrices, strict=True):
            _fold(group, matrices, sums, out)

    def hessian_diagonal(self, curvature: np.ndarray) -> np.ndarray:
        """Return the diagonal of ``S' diag(curvature) S``, with `matvec` as ``S``."""
        out = np.empty(self.n_weights)
        for group, matrices in zip(self.groups, self._squares, strict=True):
            _fold(group, matrices, curvature, out)
        return out

    def diagonal_table(self) -> np.ndarray:
        """Return the table whose scores are the kernel of each row with itself."""
        out = np.empty(self.n_entries)
        ones = np.ones(self.n_weights)
        for group, matrices in zip(self.groups, self._squares, strict=True):
            for block in group.blocks:
                if block.mask is not None:
                    ones[block.weights] = block.mask.ravel()
            _expand(group, matrices, ones, out)
        return out

    @cached_property
    def block_norms(self) -> np.ndarray:
        """For each block, the largest norm of a row's votes."""
        norms = []
        for head, last in self._squares:
            norm = reduce(lambda total, m: total * m.sum(axis=1).max(), head, 1.0)
            norms += [np.sqrt(norm * m.sum(axis=1).max()) for m in last]
        return np.array(norms)

    @property
    def max_kernel(self) -> float:
        """The largest kernel of a row with itself, also of combinations without training rows."""
        total = 0.0
        for term, features in self.features.items():
            largest = [float(np.diag(feature.cells.kernel).max()) for feature in features]
            total += self.strength ** (len(term) - 1) * float(np.prod(largest))
        return total

    def magnitude(self, weights: np.ndarray) -> float:
        """Return an upper bound on the sum of the absolute values of a row's table entries."""
        blocks = [block for group in self.groups for block in group.blocks]
        sizes = np.array([np.linalg.norm(weights[block.weights]) for block in blocks])
        return float(self.block_norms @ sizes)

    @property
    def longest_sum(self) -> int:
        """The largest number of additions in an entry of a table."""
        sizes = [
            sum(max(m.shape) for m in head) + max(max(m.shape) for m in last)
            for head, last in self._matrices
        ]
        return max(sizes, default=0)

    def kernel_parts(self, codes: np.ndarray, n_threads: int = 1) -> dict[int, np.ndarray]:
        """Return the kernel matrices of rows for a strength of 1, by the exponent of the strength.

        ``codes`` are the joint cells of the rows, with one row per joint column.
        """
        orders = sorted({len(term) for term in self.terms})
        return {order - 1: self._kernel_matrix(order, codes, n_threads) for order in orders}

    def _kernel_matrix(self, order: int, codes: np.ndarray, n_threads: int) -> np.ndarray:
        """Return the sum of the products of kernels of all terms of one order."""
        own = [features for term, features in self.features.items() if len(term) == order]
        features = list({id(f.cells): f for fs in own for f in fs}.values())
        slots = {id(feature.cells): k for k, feature in enumerate(features)}
        cells = np.array([f.joint_cells[codes[f.joint]] for f in features], dtype=np.uint8)
        longest = max(feature.cells.n_cells for feature in features)
        kernels = np.zeros((len(features), longest, longest))
        for kernel, feature in zip(kernels, features, strict=True):
            size = feature.cells.n_cells
            kernel[:size, :size] = feature.cells.kernel
        terms = np.array([[slots[id(f.cells)] for f in fs] for fs in own])
        n_rows = codes.shape[1]
        out = np.zeros((n_rows, n_rows))
        parts = [slice(lo, lo + _ROWS_AT_ONCE) for lo in range(0, n_rows, _ROWS_AT_ONCE)]

        def work(part: slice) -> None:
            interactionloops.add_products(kernels, cells, terms, part.start, out[part])

        thread_map(work, parts, n_threads)
        chainloops.mirror(out)
        return out

    def term_table(self, term: Term, weights: np.ndarray) -> np.ndarray:
        """Return the table of one term over the cells of its features."""
        table = self._weights_by_feature(term, weights)
        for k, feature in enumerate(self.features[term]):
            table = np.moveaxis(np.tensordot(feature.cells.votes, table, axes=(1, k)), 0, k)
        return self.strength ** ((len(term) - 1) / 2) * table

    def _weights_by_feature(self, term: Term, weights: np.ndarray) -> np.ndarray:
        """Return the weights of one term, one array axis per feature."""
        order, features = self._stored_order(term), self.features[term]
        sizes = [len(features[k].cells.variances) for k in order]
        return self.term_weights(term, weights).reshape(sizes).transpose(np.argsort(order))

    def term_sums(self, term: Term, table: np.ndarray) -> np.ndarray:
        """Return sums over the cells of the features of a term, given sums by table entry."""
        group, block, parts = self._locations[term]
        sums = table[group.table].reshape(group.shape)[..., block.columns]
        features = {feature.feature: feature for feature in self.features[term]}
        order = self._stored_order(term)
        sizes = [features[term[k]].cells.n_cells for k in order]
        for k, part in enumerate(parts):
            indicators = reduce(
                multiply_rows,
                [np.eye(features[d].cells.n_cells)[features[d].joint_cells] for d in part],
            )
            sums = np.moveaxis(np.tensordot(indicators, sums, axes=(0, k)), 0, k)
        return sums.reshape(sizes).transpose(np.argsort(order))

    def term_weights(self, term: Term, weights: np.ndarray) -> np.ndarray:
        """Return the weights of one term, one array axis per joint column."""
        group, block, parts = self._locations[term]
        shape = [len(factor.matrix.T) for factor in group.head]
        own = weights[block.weights].reshape(*shape, -1)
        factors = (*group.head, block.last)
        spans = tuple(factor.span(part) for factor, part in zip(factors, parts, strict=True))
        return own[spans]

    def _stored_order(self, term: Term) -> list[int]:
        """Return the positions of the features of a term in the order in which they are stored."""
        parts = self._locations[term][2]
        return [term.index(d) for part in parts for d in part]

    @cached_property
    def _locations(self) -> dict[Term, tuple[Group, Block, tuple[Term, ...]]]:
        """The group, the block and the parts of each term."""
        found = {}
        for group in self.groups:
            for block in group.blocks:
                for parts in block.terms:
                    term = tuple(sorted(d for part in parts for d in part))
                    found[term] = group, block, parts
        return found


NO_INTERACTIONS = Interactions((), 1.0, {}, ())


def multiply_rows(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the Kronecker product of each row of one matrix with that row of the other."""
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def row_stride(n_columns: int) -> int:
    """Return the length of a table row of ``n_columns`` entries, filled up."""
    lines = -(-n_columns // _CACHE_LINE)
    return _CACHE_LINE * (lines + (lines + 1) % 2)


def _expand(group: Group, matrices: _Matrices, weights: np.ndarray, out: np.ndarray) -> None:
    """Write the table of a group."""
    widths = [m.shape[1] for m in matrices.head]
    table = np.zeros((int(np.prod(widths)), group.stride))
    for block, last in zip(group.blocks, matrices.last, strict=True):
        own = weights[block.weights].reshape(len(table), -1)
        np.matmul(own, last.T, out=table[:, block.columns])
    target = out[group.table].reshape(group.shape)
    if len(widths) == 0:
        target[:] = table[0]
    elif len(widths) == 1:
        np.matmul(matrices.head[0], table, out=target)
    else:
        first, second = matrices.head
        half = first @ table.reshape(widths[0], -1)
        np.matmul(second, half.reshape(len(first), widths[1], -1), out=target)


def _fold(group: Group, matrices: _Matrices, sums: np.ndarray, out: np.ndarray) -> None:
    """Write the weights that are the transpose of `_expand` applied to sums by table entry."""
    table = sums[group.table].reshape(group.shape)
    if len(matrices.head) == 2:
        table = np.matmul(matrices.head[1].T, table)
    if matrices.head:
        first = matrices.head[0]
        table = first.T @ table.reshape(len(first), -1)
    table = table.reshape(-1, group.stride)
    for block, last in zip(group.blocks, matrices.last, strict=True):
        own = table[:, block.columns] @ last
        if block.mask is not None:
            own *= block.mask
        out[block.weights] = own.ravel()
