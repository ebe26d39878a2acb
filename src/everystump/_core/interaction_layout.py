"""The arrangement of terms in groups and blocks; see `everystump._core.interactions`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from everystump._core.cells import CellColumn, make_cells
from everystump._core.codes import Codes
from everystump._core.columns import Columns
from everystump._core.interactions import (
    Block,
    Factor,
    Group,
    Interactions,
    PackedCells,
    Term,
    multiply_rows,
    row_stride,
)
from everystump._core.measures import Measure
from everystump._core.packing import keep_columns, pack
from everystump._core.threads import thread_map

# The maximum number of cells of a joint column, by the order of the terms: the table of a block,
# with one axis per joint column, should stay in the cache.
_MAX_JOINT_CELLS = {2: 128, 3: 16}
# Features have fewer cells in terms of three features, whose tables have one more axis.
_CELLS_OF_TRIPLES = 12


class PackedInteractions(NamedTuple):
    """Interactions, and the codes of all rows in their joint columns."""

    interactions: Interactions
    codes: np.ndarray  # uint8, (n_joint, n_rows)


def make_interactions(
    columns: Columns,
    terms: Sequence[Term],
    *,
    measure: Measure,
    max_cells: int,
    strength: float,
    n_threads: int = 1,
    join: bool = True,
) -> PackedInteractions:
    """Return the interactions of some terms, each a tuple of features in ascending order.

    Without ``join``, the codes of a row do not depend on other rows.
    """
    features: dict[Term, tuple[PackedCells, ...]] = {}
    codes: list[np.ndarray] = []
    for order in sorted({len(term) for term in terms}):
        own = [term for term in terms if len(term) == order]
        limit = max_cells if order == 2 else min(max_cells, _CELLS_OF_TRIPLES)
        packed = _pack_features(columns, own, measure, limit, len(codes), n_threads, join)
        codes += list(packed.codes)
        features |= {term: tuple(packed.features[d] for d in term) for term in own}
    interactions = Interactions(tuple(terms), strength, features, _make_groups(features))
    n_rows = columns.codes.shape[1]
    stacked = np.stack(codes) if codes else np.empty((0, n_rows), dtype=np.uint8)
    return PackedInteractions(interactions, stacked)


class _PackedFeatures(NamedTuple):
    """The cells of some features, and the codes of all rows in their joint columns."""

    features: dict[int, PackedCells]
    codes: np.ndarray


def _pack_features(
    columns: Columns,
    terms: Sequence[Term],
    measure: Measure,
    max_cells: int,
    first_joint: int,
    n_threads: int,
    join: bool,
) -> _PackedFeatures:
    """Return the cells of all features of terms of one order, merged into joint columns."""
    used = sorted({d for term in terms for d in term})

    def encode(d: int) -> tuple[CellColumn, np.ndarray]:
        cells = make_cells(columns.columns[d], d, measure, max_cells)
        return cells, cells.cell_of_bin.astype(np.uint8)[columns.codes[d]]

    encoded = thread_map(encode, used, n_threads)
    sizes = np.array([cells.n_cells for cells, _ in encoded])
    stacked, max_joint = np.stack([codes for _, codes in encoded]), _MAX_JOINT_CELLS[len(terms[0])]
    packing = pack(stacked, sizes, max_joint) if join else keep_columns(stacked, sizes)
    features = {
        d: PackedCells(d, cells, first_joint + location.joint, location.bins)
        for d, (cells, _), location in zip(used, encoded, packing.locations, strict=True)
    }
    return _PackedFeatures(features, packing.codes.bins.astype(np.uint8, copy=False))


# The features of a term in each of its joint columns.
_Parts = dict[int, tuple[PackedCells, ...]]


def _make_groups(features: dict[Term, tuple[PackedCells, ...]]) -> tuple[Group, ...]:
    """Return the groups of all terms."""
    groups: dict[tuple[int, ...], dict[int, list[_Parts]]] = {}
    for cells in features.values():
        parts: _Parts = {}
        for feature in cells:
            parts[feature.joint] = (*parts.get(feature.joint, ()), feature)
        *head, last = sorted(parts)
        groups.setdefault(tuple(head), {}).setdefault(last, []).append(parts)
    found: list[Group] = []
    for head_joints, blocks in sorted(groups.items()):
        previous = found[-1] if found else None
        found.append(_make_group(head_joints, blocks, previous))
    return tuple(found)


def _make_group(
    joints: tuple[int, ...], by_last: dict[int, list[_Parts]], previous: Group | None
) -> Group:
    """Return one group, whose weights and table follow those of the previous group."""
    all_parts = [parts for terms in by_last.values() for parts in terms]
    head = tuple(_make_factor(joint, all_parts) for joint in joints)
    n_directions = int(np.prod([factor.matrix.shape[1] for factor in head]))
    start = previous.blocks[-1].weights.stop if previous else 0
    column, blocks = 0, []
    for joint, terms in sorted(by_last.items()):
        last = _make_factor(joint, terms)
        size, width = last.matrix.shape
        names = tuple(tuple(_names(parts[j]) for j in (*joints, joint)) for parts in terms)
        mask = _make_mask((*head, last), names)
        stop = start + n_directions * width
        columns = slice(column, column + size)
        blocks.append(Block(last, names, mask, columns, slice(start, stop)))
        start, column = stop, column + size
    stride = row_stride(column) if head else column
    first = previous.table.stop if previous else 0
    n_rows = int(np.prod([len(factor.matrix) for factor in head]))
    return Group(head, tuple(blocks), slice(first, first + n_rows * stride), stride)


def _names(features: tuple[PackedCells, ...]) -> Term:
    return tuple(feature.feature for feature in features)


def _make_factor(joint: int, terms: Sequence[_Parts]) -> Factor:
    """Return the votes of all features that some terms have in a joint column."""
    parts = {_names(term[joint]): term[joint] for term in terms}
    names = tuple(sorted(parts))
    matrices = [_votes(parts[name]) for name in names]
    widths = [matrix.shape[1] for matrix in matrices]
    orders = np.repeat([len(name) for name in names], widths)
    starts = np.concatenate([[0], np.cumsum(widths)])
    return Factor(joint, names, np.concatenate(matrices, axis=1), orders, starts)


def _votes(features: tuple[PackedCells, ...]) -> np.ndarray:
    """Return the products of the votes of some features at the cells of their joint column."""
    votes = [feature.cells.votes[feature.joint_cells] for feature in features]
    return reduce(multiply_rows, votes)


def _make_mask(
    factors: tuple[Factor, ...], terms: tuple[tuple[Term, ...], ...]
) -> np.ndarray | None:
    """Return which weights of a block belong to its terms; None if all do."""
    shape = [factor.matrix.shape[1] for factor in factors]
    mask = np.zeros(shape, dtype=bool)
    for parts in terms:
        spans = tuple(factor.span(part) for factor, part in zip(factors, parts, strict=True))
        mask[spans] = True
    return None if mask.all() else mask.reshape(-1, shape[-1])


def add_interactions(codes: Codes, packed: PackedInteractions) -> Codes:
    """Return the codes of the same rows with interactions."""
    groups, first = packed.interactions.groups, codes.starts[-1]
    heads, strides = np.zeros((2, len(groups), 2), dtype=np.int64)
    for g, group in enumerate(groups):
        n_head = len(group.head)
        heads[g, :n_head] = [factor.joint for factor in group.head]
        strides[g, :n_head] = [np.prod(group.shape[k + 1 :]) for k in range(n_head)]
    blocks = [(group, block) for group in groups for block in group.blocks]
    offsets = [first + group.table.start + block.columns.start for group, block in blocks]
    n_blocks = np.cumsum([len(group.blocks) for group in groups], dtype=np.int64)
    return codes._replace(
        cells=packed.codes,
        heads=heads,
        strides=strides.astype(np.uint32),
        group_starts=np.concatenate([[0], n_blocks]),
        lasts=np.array([block.last.joint for _, block in blocks], dtype=np.int64),
        offsets=np.array(offsets, dtype=np.int64),
        ends=np.array([first + packed.interactions.n_entries]),
    )
