"""Columns of numbers in an ONNX graph, and the search for the bins of their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from everystump.export._onnx_graph import Graph


class Matrix(NamedTuple):
    """Columns of numbers in the graph."""

    values: str  # (n_rows, n_columns), 0 where missing
    present: str | None  # which of them are not missing; None if all are
    n_columns: int


def bins_of(graph: Graph, values: str, columns: np.ndarray, cuts: Sequence[np.ndarray]) -> str:
    """Return the number of cuts up to the value of each column, by one tree per column."""
    trees = [_search_tree(column_cuts) for column_cuts in cuts]
    sizes = [len(tree.cut) for tree in trees]
    tree_ids = np.repeat(np.arange(len(trees)), sizes)
    node_ids = np.concatenate([np.arange(size) for size in sizes])
    cut, below, above, leaf_bin = (np.concatenate(part) for part in zip(*trees, strict=True))
    is_leaf = leaf_bin >= 0
    return graph.ml_op(
        "TreeEnsembleRegressor",
        values,
        n_targets=len(trees),
        nodes_treeids=tree_ids.tolist(),
        nodes_nodeids=node_ids.tolist(),
        nodes_featureids=columns[tree_ids].tolist(),
        nodes_modes=np.where(is_leaf, "LEAF", "BRANCH_LT").tolist(),
        nodes_values_as_tensor=graph.tensor(cut),
        nodes_truenodeids=below.tolist(),
        nodes_falsenodeids=above.tolist(),
        target_treeids=tree_ids[is_leaf].tolist(),
        target_nodeids=node_ids[is_leaf].tolist(),
        target_ids=tree_ids[is_leaf].tolist(),
        target_weights_as_tensor=graph.tensor(leaf_bin[is_leaf].astype(np.float64)),
    )


class _SearchTree(NamedTuple):
    """Nodes of a binary search: the cut, the children below and above it, or the bin of a leaf."""

    cut: np.ndarray
    below: np.ndarray
    above: np.ndarray
    leaf_bin: np.ndarray


def _search_tree(cuts: np.ndarray) -> _SearchTree:
    """Return the tree whose leaves hold the number of cuts up to a value; -1 in other nodes."""
    nodes: list[tuple[float, int, int, int]] = []

    def grow(first: int, last: int) -> int:
        node = len(nodes)
        nodes.append((0.0, 0, 0, first))
        if first < last:
            half = (first + last) // 2
            children = grow(first, half), grow(half + 1, last)
            nodes[node] = (float(cuts[half]), *children, -1)
        return node

    grow(0, len(cuts))
    return _SearchTree(*(np.array(part) for part in zip(*nodes, strict=True)))


def concatenate_tables(parts: Sequence[np.ndarray], missing: Sequence[float]) -> np.ndarray:
    """Return tables one after another, each followed by its value for missing values."""
    pairs = zip(parts, missing, strict=True)
    return np.concatenate([np.append(part, last) for part, last in pairs])
