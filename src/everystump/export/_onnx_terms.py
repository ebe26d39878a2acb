"""The terms of a model as ONNX nodes over a matrix of numbers and codes of levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from everystump._core.curves import Pieces
from everystump._core.kernel_machines.registry import kernel_constant
from everystump._core.shapes import Shape
from everystump._tables.frames import Feature
from everystump.export._onnx_graph import Graph
from everystump.export._onnx_search import Matrix, bins_of, concatenate_tables
from everystump.export._onnx_surfaces import OnnxSurfaces
from everystump.export._record import Curves, KernelSum, Projection, Terms, Vote


@dataclass(frozen=True, eq=False)
class OnnxTerms:
    """Turns terms into nodes, over a matrix of numbers and, for text, codes of levels.

    ``column`` and ``codes`` are dicts by feature.  The code after that of the last level stands
    for unknown levels, and the next one for missing values.
    """

    graph: Graph
    features: Sequence[Feature]
    matrix: Matrix
    column: dict[int, int]
    codes: dict[int, str]

    def scores(self, terms: Terms) -> str:
        """Return the scores of a model or of a voter, (n_rows, n_scores)."""
        graph = self.graph
        parts = [graph.constant(terms.intercepts[None])]
        if any(terms.curves):
            parts.append(graph.concat([self._curves(curves) for curves in terms.curves]))
        if any(terms.surfaces):
            surfaces = OnnxSurfaces(graph, self.features, self.matrix, self.column, self.codes)
            parts.append(surfaces.scores(terms.surfaces, self._zeros()))
        parts += [self._projection(projection) for projection in terms.projections]
        parts += [self._kernel_sum(kernel_sum) for kernel_sum in terms.kernel_sums]
        parts += [self._vote(vote) for vote in terms.votes]
        # A constant score also needs one value per row.
        return graph.add([*parts, self._zeros()] if len(parts) == 1 else parts)

    def _zeros(self) -> str:
        """Return a column of zeros."""
        graph, zero = self.graph, self.graph.constant(np.zeros((1, 1)))
        if self.matrix.n_columns:
            first = graph.take(self.matrix.values, np.array([0]), self.matrix.n_columns)
            return graph.op("Mul", first, zero)
        return graph.op("Mul", graph.cast(next(iter(self.codes.values())), np.float64), zero)

    def _curves(self, curves: Curves) -> str:
        """Return the sum of the curves of one score, (n_rows, 1)."""
        graph = self.graph
        parts = [self._zeros()] if not curves else []
        lines = [
            (self.column[d], self._as_line(d, shape))
            for d, shape in curves.items()
            if d in self.column
        ]
        if lines:
            parts.append(_lines(graph, self.matrix, lines))
        for d, shape in curves.items():
            if d in self.codes:
                values = graph.constant(np.append(shape.levels, [0.0, shape.at_missing()]))
                parts.append(graph.op("Gather", values, self.codes[d]))
        return graph.add(parts)

    def _as_line(self, d: int, shape: Shape) -> Shape:
        """Return the curve of a numeric category as one that jumps at each level and back."""
        levels = self.features[d].levels
        if levels is None:
            return shape
        at = levels.astype(np.float64)
        order = np.argsort(at)
        cuts = np.column_stack([at[order], np.nextafter(at[order], np.inf)]).ravel()
        values = np.column_stack([shape.levels[order], np.zeros(len(at))]).ravel()
        return Shape.steps(cuts, np.append(0.0, values), shape.missing)

    def _columns(self, features: np.ndarray) -> np.ndarray:
        return np.array([self.column[int(d)] for d in features])

    def _projection(self, projection: Projection) -> str:
        graph, n_directions = self.graph, len(projection.directions)
        rows = graph.take(
            self.matrix.values, self._columns(projection.features), self.matrix.n_columns
        )
        centered = graph.op("Sub", rows, graph.constant(projection.center[None]))
        projected = graph.op("MatMul", centered, graph.constant(projection.directions.T.copy()))
        matrix = Matrix(projected, None, n_directions)
        return graph.concat(
            [
                _lines(graph, matrix, list(curves.items())) if curves else self._zeros()
                for curves in projection.curves
            ]
        )

    def _kernel_sum(self, kernel_sum: KernelSum) -> str:
        graph, columns = self.graph, self._columns(kernel_sum.features)
        if "cuts" in kernel_sum.parameters:
            bins = bins_of(graph, self.matrix.values, columns, kernel_sum.parameters["cuts"])
            x = graph.cast(bins, np.float64)
        else:
            x = graph.take(self.matrix.values, columns, self.matrix.n_columns)
        if "scale" in kernel_sum.parameters:
            x = graph.op("Mul", x, graph.constant(kernel_sum.parameters["scale"][None]))
        kernel = _kernel(graph, kernel_sum, x)
        return graph.op("MatMul", kernel, graph.constant(kernel_sum.weights))

    def _vote(self, vote: Vote) -> str:
        graph = self.graph
        predicted = class_index(graph, self.scores(vote.voter), vote.voter.n_scores)
        return graph.op("Gather", graph.constant(vote.weights), predicted, axis=0)


def class_index(graph: Graph, scores: str, n_scores: int) -> str:
    """Return the index of the class that the scores of each row predict, (n_rows,)."""
    if n_scores > 1:
        return graph.op("ArgMax", scores, axis=1, keepdims=0)
    is_positive = graph.op("Greater", scores, graph.constant(np.zeros((1, 1))))
    index = graph.cast(is_positive, np.int64)
    return graph.op("Squeeze", index, graph.constant(np.array([1])))


def _lines(graph: Graph, matrix: Matrix, lines: list[tuple[int, Shape]]) -> str:
    """Return the sum of the curves of some columns, (n_rows, 1).

    The pieces of all curves are in one table, where each curve has one more for missing values; the
    piece of a value is found by binary search, with memory in proportion to the rows.
    """
    columns = np.array([column for column, _ in lines])
    pieces = [shape.pieces() for _, shape in lines]
    bins = bins_of(graph, matrix.values, columns, [piece.cuts for piece in pieces])
    sizes = [len(piece.level) + 1 for piece in pieces]
    first = np.cumsum([0, *sizes[:-1]]).astype(np.int64)
    index = graph.op("Add", graph.cast(bins, np.int64), graph.constant(first[None]))
    if matrix.present is not None:
        missing = graph.constant((first + sizes - 1)[None])
        present = graph.take(matrix.present, columns, matrix.n_columns)
        index = graph.op("Where", present, index, missing)
    at_missing = [shape.at_missing() for _, shape in lines]
    level = concatenate_tables([piece.level for piece in pieces], at_missing)
    value = graph.op("Gather", graph.constant(level), index)
    if any(piece.slope.any() for piece in pieces):
        x = graph.take(matrix.values, columns, matrix.n_columns)
        value = graph.op("Add", value, _rise(graph, x, index, pieces))
    return graph.op("ReduceSum", value, graph.constant(np.array([1])), keepdims=1)


def _rise(graph: Graph, x: str, index: str, pieces: list[Pieces]) -> str:
    """Return ``slope * (x - anchor)`` for the piece of each value."""
    none = [0.0] * len(pieces)
    slopes = graph.constant(concatenate_tables([piece.slope for piece in pieces], none))
    anchors = graph.constant(concatenate_tables([piece.anchor for piece in pieces], none))
    slope = graph.op("Gather", slopes, index)
    distance = graph.op("Sub", x, graph.op("Gather", anchors, index))
    zero = graph.constant(0.0)
    # On a flat piece the distance may overflow.
    return graph.op("Where", graph.op("Equal", slope, zero), zero, graph.op("Mul", slope, distance))


def _kernel(graph: Graph, kernel_sum: KernelSum, x: str) -> str:
    """Return the kernel of the rows and the support vectors, (n_rows, n_support)."""
    spec = kernel_sum.spec
    if spec.is_linear:
        return graph.op("MatMul", x, graph.constant(kernel_sum.rows.T.copy()))
    distance = _distance(graph, kernel_sum, x)
    if spec.distance == "euclidean":
        distance = graph.op("Sqrt", distance)
    if spec.takes_gamma:
        factor = graph.constant(-float(kernel_sum.parameters["gamma"]))
        return graph.op("Exp", graph.op("Mul", distance, factor))
    return graph.op("Sub", graph.constant(kernel_constant(kernel_sum.parameters)), distance)


def _distance(graph: Graph, kernel_sum: KernelSum, x: str) -> str:
    """Return the sums of absolute or squared differences, added feature by feature."""
    terms = []
    for d, column in enumerate(kernel_sum.support_points().T):
        values = graph.op("Gather", x, graph.constant(np.array([d])), axis=1)
        difference = graph.op("Sub", values, graph.constant(column[None].copy()))
        if kernel_sum.spec.distance == "manhattan":
            terms.append(graph.op("Abs", difference))
        else:
            terms.append(graph.op("Mul", difference, difference))
    return graph.add(terms)
