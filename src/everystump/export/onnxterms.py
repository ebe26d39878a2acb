"""The terms of a model as ONNX nodes over a matrix of numbers and the numbers of levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from everystump._core.shapes import Pieces, Shape, linear_pieces
from everystump._tables import Feature
from everystump.export.onnxgraph import Graph
from everystump.export.record import (
    Body,
    Curves,
    KernelSum,
    Projection,
    Vote,
)


class Matrix(NamedTuple):
    """Columns of numbers in the graph.

    Attributes
    ----------
    values : str
        The numbers, (n_rows, n_columns), 0 where missing.
    there : str or None
        Which of them are not missing; None if all are.
    n_columns : int
        How many columns there are.
    """

    values: str
    there: str | None
    n_columns: int


class Terms:
    """Makes nodes of terms.

    Parameters
    ----------
    graph : Graph
        Where nodes go.
    features : sequence of Feature
        All features of the model.
    matrix : Matrix
        Those that are given as numbers.
    column : dict of int
        The column of each of them, by feature.
    codes : dict of str
        The numbers of levels, (n_rows, 1), of those that are given as text, by feature; one more
        than the last stands for an unknown level, two more for a missing value.
    """

    def __init__(
        self,
        graph: Graph,
        features: Sequence[Feature],
        matrix: Matrix,
        column: dict[int, int],
        codes: dict[int, str],
    ) -> None:
        self._graph = graph
        self._features = features
        self._matrix = matrix
        self._column = column
        self._codes = codes

    def scores(self, body: Body) -> str:
        """Return the scores of a model or of a voter, (n_rows, n_scores)."""
        graph = self._graph
        parts = [graph.constant(body.intercepts[None])]
        if any(body.curves):
            parts.append(graph.side_by_side([self._curves(curves) for curves in body.curves]))
        parts += [self._projected(projection) for projection in body.projections]
        parts += [self._summed(kernel_sum) for kernel_sum in body.sums]
        parts += [self._voted(vote) for vote in body.votes]
        # Even a constant has as many rows as there are.
        return graph.total([*parts, self._nothing()] if len(parts) == 1 else parts)

    def _nothing(self) -> str:
        """Return a column of zeros."""
        graph = self._graph
        if self._matrix.n_columns:
            values, zero = self._matrix.values, graph.constant(np.zeros((1, 1)))
            some = graph.take(values, np.array([0]), self._matrix.n_columns)
            return graph.op("Mul", some, zero)
        code = graph.cast(next(iter(self._codes.values())), np.float64)
        return graph.op("Mul", code, graph.constant(np.zeros((1, 1))))

    def _curves(self, curves: Curves) -> str:
        """Return what the curves of one score add, (n_rows, 1)."""
        graph = self._graph
        parts = [self._nothing()] if not curves else []
        given = {d: shape for d, shape in curves.items() if d in self._column}
        if given:
            lines = [(self._column[d], self._as_line(d, shape)) for d, shape in given.items()]
            parts.append(_lines(graph, self._matrix, lines))
        for d, shape in curves.items():
            if d in self._codes:
                values = graph.constant(np.append(shape.levels, [0.0, shape.at_missing()]))
                parts.append(graph.op("Gather", values, self._codes[d]))
        return graph.total(parts)

    def _as_line(self, d: int, shape: Shape) -> Shape:
        """Return the curve of a category of numbers as one that jumps at its levels and back."""
        levels = self._features[d].levels
        if levels is None:
            return shape
        at = levels.astype(np.float64)
        order = np.argsort(at)
        cuts = np.column_stack([at[order], np.nextafter(at[order], np.inf)]).ravel()
        values = np.column_stack([shape.levels[order], np.zeros(len(at))]).ravel()
        return Shape.steps(cuts, np.append(0.0, values), shape.missing)

    def _columns(self, features: np.ndarray) -> np.ndarray:
        return np.array([self._column[int(d)] for d in features])

    def _projected(self, projection: Projection) -> str:
        graph, n_directions = self._graph, len(projection.directions)
        rows = graph.take(
            self._matrix.values, self._columns(projection.features), self._matrix.n_columns
        )
        centered = graph.op("Sub", rows, graph.constant(projection.centre[None]))
        places = graph.op("MatMul", centered, graph.constant(projection.directions.T.copy()))
        matrix = Matrix(places, None, n_directions)
        return graph.side_by_side(
            [
                _lines(graph, matrix, list(curves.items())) if curves else self._nothing()
                for curves in projection.curves
            ]
        )

    def _summed(self, kernel_sum: KernelSum) -> str:
        graph, columns = self._graph, self._columns(kernel_sum.features)
        rows = kernel_sum.rows
        if kernel_sum.kernel == "middle":
            cuts = kernel_sum.parameters["cuts"]
            x = graph.cast(_places(graph, self._matrix.values, columns, cuts), np.float64)
            found = zip(cuts, rows.T, strict=True)
            rows = np.column_stack([np.searchsorted(c, v, side="right") for c, v in found])
        else:
            x = graph.take(self._matrix.values, columns, self._matrix.n_columns)
        if "scale" in kernel_sum.parameters:
            x = graph.op("Mul", x, graph.constant(kernel_sum.parameters["scale"][None]))
        products = _products(graph, kernel_sum, x, rows.astype(np.float64))
        return graph.op("MatMul", products, graph.constant(kernel_sum.weights))

    def _voted(self, vote: Vote) -> str:
        graph = self._graph
        said = winner(graph, self.scores(vote.voter), vote.voter.n_scores)
        return graph.op("Gather", graph.constant(vote.weights), said, axis=0)


def winner(graph: Graph, scores: str, n_scores: int) -> str:
    """Return the number of the class that the scores of each row name, (n_rows,)."""
    if n_scores > 1:
        return graph.op("ArgMax", scores, axis=1, keepdims=0)
    positive = graph.op("Greater", scores, graph.constant(np.zeros((1, 1))))
    number = graph.cast(positive, np.int64)
    return graph.op("Squeeze", number, graph.constant(np.array([1])))


def _lines(graph: Graph, matrix: Matrix, lines: list[tuple[int, Shape]]) -> str:
    """Return the sum of the curves of some columns, (n_rows, 1).

    The pieces of all curves stand in one table, those of a curve with one more for what is
    missing; the number of a value's piece is found by halving, in memory of the size of the rows.
    """
    columns = np.array([column for column, _ in lines])
    pieces = [linear_pieces(shape) for _, shape in lines]
    number = _places(graph, matrix.values, columns, [piece.cuts for piece in pieces])
    sizes = [len(piece.level) + 1 for piece in pieces]
    first = np.cumsum([0, *sizes[:-1]]).astype(np.int64)
    place = graph.op("Add", graph.cast(number, np.int64), graph.constant(first[None]))
    if matrix.there is not None:
        missing = graph.constant((first + sizes - 1)[None])
        there = graph.take(matrix.there, columns, matrix.n_columns)
        place = graph.op("Where", there, place, missing)
    at_missing = [shape.at_missing() for _, shape in lines]
    level = _table([piece.level for piece in pieces], at_missing)
    value = graph.op("Gather", graph.constant(level), place)
    if any(piece.slope.any() for piece in pieces):
        x = graph.take(matrix.values, columns, matrix.n_columns)
        value = graph.op("Add", value, _rises(graph, x, place, pieces))
    return graph.op("ReduceSum", value, graph.constant(np.array([1])), keepdims=1)


def _rises(graph: Graph, x: str, place: str, pieces: list[Pieces]) -> str:
    """Return by how much each value's piece rises from its anchor."""
    none = [0.0] * len(pieces)
    slopes = graph.constant(_table([piece.slope for piece in pieces], none))
    anchors = graph.constant(_table([piece.anchor for piece in pieces], none))
    slope = graph.op("Gather", slopes, place)
    along = graph.op("Sub", x, graph.op("Gather", anchors, place))
    zero = graph.constant(0.0)
    # A flat piece may be too long for its length to be a number.
    return graph.op("Where", graph.op("Equal", slope, zero), zero, graph.op("Mul", slope, along))


def _table(parts: list[np.ndarray], missing: list[float]) -> np.ndarray:
    both = zip(parts, missing, strict=True)
    return np.concatenate([np.append(part, last) for part, last in both])


def _places(graph: Graph, values: str, columns: np.ndarray, cuts: Sequence[np.ndarray]) -> str:
    """Return how many cuts lie up to the value of each column, as a tree for each column."""
    nodes = [_tree(own) for own in cuts]
    sizes = [len(tree.cut) for tree in nodes]
    tree_of = np.repeat(np.arange(len(nodes)), sizes)
    node_of = np.concatenate([np.arange(size) for size in sizes])
    below, above = (np.concatenate([tree[k] for tree in nodes]) for k in (1, 2))
    leaf = np.concatenate([tree.place for tree in nodes])
    is_leaf = leaf >= 0
    return graph.ml_op(
        "TreeEnsembleRegressor",
        values,
        n_targets=len(nodes),
        nodes_treeids=tree_of.tolist(),
        nodes_nodeids=node_of.tolist(),
        nodes_featureids=columns[tree_of].tolist(),
        nodes_modes=np.where(is_leaf, "LEAF", "BRANCH_LT").tolist(),
        nodes_values_as_tensor=graph.tensor(np.concatenate([tree.cut for tree in nodes])),
        nodes_truenodeids=below.tolist(),
        nodes_falsenodeids=above.tolist(),
        target_treeids=tree_of[is_leaf].tolist(),
        target_nodeids=node_of[is_leaf].tolist(),
        target_ids=tree_of[is_leaf].tolist(),
        target_weights_as_tensor=graph.tensor(leaf[is_leaf].astype(np.float64)),
    )


class _Tree(NamedTuple):
    """Nodes of a tree that halves: cut, child below it and from it on, or the place of a leaf."""

    cut: np.ndarray
    below: np.ndarray
    above: np.ndarray
    place: np.ndarray


def _tree(cuts: np.ndarray) -> _Tree:
    """Return the tree whose leaves tell how many cuts lie up to a value."""
    rows: list[tuple[float, int, int, int]] = []

    def grow(first: int, last: int) -> int:
        node = len(rows)
        rows.append((0.0, 0, 0, first))
        if first < last:
            half = (first + last) // 2
            children = grow(first, half), grow(half + 1, last)
            rows[node] = (float(cuts[half]), *children, -1)
        return node

    grow(0, len(cuts))
    cut, below, above, place = (np.array(part) for part in zip(*rows, strict=True))
    return _Tree(cut, below, above, place)


def _products(graph: Graph, kernel_sum: KernelSum, x: str, rows: np.ndarray) -> str:
    """Return the kernel of the rows and the support vectors, (n_rows, n_support)."""
    name, given = kernel_sum.kernel, kernel_sum.parameters
    if name == "linear":
        return graph.op("MatMul", x, graph.constant(rows.T.copy()))
    apart = _apart(graph, x, rows, squared=name == "gaussian" or "perceptron" in name)
    if "gamma" in given:
        return graph.op("Exp", graph.op("Mul", apart, graph.constant(-float(given["gamma"]))))
    if "perceptron" in name:
        apart = graph.op("Sqrt", apart)
    if name == "middle":
        constant = sum(len(own) for own in given["cuts"]) / 2
    else:
        constant = float(given["constant"])
    return graph.op("Sub", graph.constant(constant), apart)


def _apart(graph: Graph, x: str, rows: np.ndarray, *, squared: bool) -> str:
    """Return the distances between rows and support vectors, one feature after another."""
    terms = []
    for d, column in enumerate(rows.T):
        own = graph.op("Gather", x, graph.constant(np.array([d])), axis=1)
        difference = graph.op("Sub", own, graph.constant(column[None].copy()))
        square = graph.op("Mul", difference, difference) if squared else None
        terms.append(square or graph.op("Abs", difference))
    return graph.total(terms)
