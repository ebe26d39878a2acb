"""The terms of a model as SQL expressions over the columns of a row ``r``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from everystump._core.curves import Pieces
from everystump._core.kernel_machines.registry import kernel_constant
from everystump._core.shapes import Shape
from everystump._tables.frames import Feature
from everystump.export import _sql_text as sql
from everystump.export._record import (
    Curves,
    KernelSum,
    ModelRecord,
    Projection,
    Terms,
    Vote,
    is_text,
)
from everystump.export._sql_surfaces import SqlSurfaces, Table

# Pieces share one anchor unless that shifts levels by more than this factor and so loses digits.
_MAX_SHIFT = 1e3
_NOTABLE = 1e-12
# Up to this many levels are compared one by one; more are joined as a table.
_MAX_CASES = 64


class Expressions(NamedTuple):
    """One expression per score, and how many stages must be computed before them."""

    scores: list[str]
    stage: int = 0


class Lookup(NamedTuple):
    """A join for the levels of a category: the column of a row, and the table of its levels."""

    column: str
    table: Table


class SqlTerms:
    """Turns terms into expressions; collects the columns and tables that they refer to."""

    def __init__(self, record: ModelRecord, prefix: Callable[[str], str]) -> None:
        self._features = record.features
        self._support_prefix, self._level_prefix = prefix("support"), prefix("levels")
        self._n_columns = 0
        self.stages: list[list[str]] = []  # columns that refer only to the stages before
        self.tables: list[Table] = []  # support vectors of kernel sums
        self.lookups: list[Lookup] = []  # levels to join first; the k-th adds a column ``uk``
        self.surfaces = SqlSurfaces(prefix("cells"), prefix("corners"), self._level_index)

    def scores(self, terms: Terms) -> Expressions:
        """Return the scores of a model or of a voter."""
        parts = [Expressions([sql.add(self._curves(curves)) for curves in terms.curves])]
        if any(terms.surfaces):
            parts.append(Expressions([self.surfaces.column(each) for each in terms.surfaces]))
        parts += [self._projection(projection) for projection in terms.projections]
        parts += [self._kernel_sum(kernel_sum) for kernel_sum in terms.kernel_sums]
        parts += [self._vote(vote) for vote in terms.votes]
        totals = [
            sql.add([sql.number(b), *(part.scores[k] for part in parts)])
            for k, b in enumerate(terms.intercepts.tolist())
        ]
        return Expressions(totals, max(part.stage for part in parts))

    def _add_column(self, expression: str, stage: int) -> str:
        """Add a column to a stage; return the reference to it."""
        while len(self.stages) <= stage:
            self.stages.append([])
        name = f"t{self._n_columns}"
        self._n_columns += 1
        self.stages[stage].append(f"{expression} AS {name}")
        return f"r.{name}"

    def _curves(self, curves: Curves) -> list[str]:
        return [
            self._category(f"r.x{d}", self._features[d], shape)
            if shape.is_category
            else _line(f"r.x{d}", shape)
            for d, shape in sorted(curves.items())
        ]

    def _category(self, column: str, feature: Feature, shape: Shape) -> str:
        """Return the curve of a category; unknown levels add nothing."""
        pairs = [
            [level, sql.number(value)]
            for level, value in zip(_levels(feature), shape.levels.tolist(), strict=True)
            if value != 0.0
        ]
        if len(pairs) <= _MAX_CASES:
            found = f"{_cases(column, pairs)} ELSE 0e0"
        else:
            found = f" ELSE COALESCE({self._look_up(column, pairs)}, 0e0)"
        return f"CASE WHEN {column} IS NULL THEN {sql.number(shape.at_missing())}{found} END"

    def _level_index(self, d: int) -> str:
        """Return the index of the level of a category, NULL if it is unknown."""
        pairs = [[level, str(k)] for k, level in enumerate(_levels(self._features[d]))]
        if len(pairs) > _MAX_CASES:
            return self._look_up(f"r.x{d}", pairs)
        return f"CASE{_cases(f'r.x{d}', pairs)} END" if pairs else "NULL"

    def _look_up(self, column: str, pairs: list[list[str]]) -> str:
        """Return what a joined table has for the level in a column, NULL if it has nothing."""
        k = len(self.lookups)
        table = Table(f"{self._level_prefix}{k}", ["level", "value"], pairs)
        self.lookups.append(Lookup(column, table))
        return f"r.u{k}"

    def _projection(self, projection: Projection) -> Expressions:
        columns = {}
        for j in sorted({j for curves in projection.curves for j in curves}):
            direction, center = projection.directions[j].tolist(), projection.center.tolist()
            products = [
                f"{sql.number(w)} * (r.x{d} - {sql.number(c)})"
                for d, c, w in zip(projection.features, center, direction, strict=True)
                if w != 0.0
            ]
            columns[j] = self._add_column(sql.add(products), 0)
        scores = [
            sql.add([_line(columns[j], shape) for j, shape in sorted(curves.items())])
            for curves in projection.curves
        ]
        return Expressions(scores, 1)

    def _kernel_sum(self, kernel_sum: KernelSum) -> Expressions:
        if kernel_sum.spec.is_linear:
            return Expressions(_linear(kernel_sum))
        x, stage = [f"r.x{d}" for d in kernel_sum.features], 0
        if "cuts" in kernel_sum.parameters:
            cuts = kernel_sum.parameters["cuts"]
            bins = [_bin(column, edges) for column, edges in zip(x, cuts, strict=True)]
            x, stage = [self._add_column(expression, 0) for expression in bins], 1
        if "scale" in kernel_sum.parameters:
            pairs = zip(x, kernel_sum.parameters["scale"].tolist(), strict=True)
            x = [f"{sql.number(factor)} * {column}" for column, factor in pairs]
        name = f"{self._support_prefix}{len(self.tables)}"
        self.tables.append(_support_table(name, kernel_sum))
        kernel = _kernel(kernel_sum, x)
        return Expressions(
            [
                f"(SELECT SUM(s.w{k} * {kernel}) FROM {name} AS s)"
                for k in range(kernel_sum.weights.shape[1])
            ],
            stage,
        )

    def _vote(self, vote: Vote) -> Expressions:
        voter = self.scores(vote.voter)
        scores = [self._add_column(score, voter.stage) for score in voter.scores]
        added = [[sql.number(weight) for weight in column] for column in vote.weights.T.tolist()]
        return Expressions([by_class(scores, column) for column in added], voter.stage + 1)


def _levels(feature: Feature) -> list[str]:
    """Return the levels of a category as literals."""
    literal = sql.string if is_text(feature) else sql.exact
    return [literal(level) for level in ([] if feature.levels is None else feature.levels.tolist())]


def _cases(column: str, pairs: Sequence[Sequence[str]]) -> str:
    return "".join(f" WHEN {column} = {level} THEN {value}" for level, value in pairs)


def by_class(scores: Sequence[str], results: Sequence[str]) -> str:
    """Return the result of the class that scores predict, NULL if they are NULL."""
    if len(scores) == 1:
        conditions = [f"{scores[0]} <= 0e0"]
    else:
        conditions = [
            " AND ".join(f"{score} >= {later}" for later in scores[k + 1 :])
            for k, score in enumerate(scores[:-1])
        ]
    pairs = zip(conditions, results, strict=False)
    cases = [f"WHEN {condition} THEN {result}" for condition, result in pairs]
    return f"CASE WHEN {scores[0]} IS NULL THEN NULL {' '.join(cases)} ELSE {results[-1]} END"


def _line(column: str, shape: Shape) -> str:
    """Return the curve of a number: missing values first, then ``level + slope * (x - anchor)``.

    Level and slope are searched separately.  A single search for both would be shorter, but
    SQLite compares every numeric literal in an expression with all those before it.
    """
    pieces = _around_one_anchor(shape.pieces())
    cuts = _cuts(pieces)
    found = sql.search(column, cuts, [sql.number(v) for v in pieces.level])
    if pieces.slope.any():
        slope = sql.search(column, cuts, [sql.number(v) for v in pieces.slope])
        anchor = sql.search(column, cuts, [sql.exact(v) for v in pieces.anchor])
        found = f"{found} + {slope} * ({column} - {anchor})"
    return f"CASE WHEN {column} IS NULL THEN {sql.number(shape.at_missing())} ELSE {found} END"


def _around_one_anchor(pieces: Pieces) -> Pieces:
    """Return pieces that share one anchor, unless that would lose digits."""
    with np.errstate(over="ignore", invalid="ignore"):
        center = np.median(pieces.anchor)
        shift = pieces.slope * (center - pieces.anchor)
    if not np.abs(shift).max() <= _MAX_SHIFT * max(1.0, np.abs(pieces.level).max()):
        return pieces
    anchor = np.full_like(pieces.anchor, center)
    return pieces._replace(level=pieces.level + shift, anchor=anchor)


def _cuts(pieces: Pieces) -> list[str]:
    """Return where pieces meet; as exact literals where rounding would change scores."""
    slope, level, anchor = pieces.slope, pieces.level, pieces.anchor
    literals = []
    for k, cut in enumerate(pieces.cuts.tolist()):
        with np.errstate(over="ignore", invalid="ignore"):
            before, after = (
                level[j] + (slope[j] * (cut - anchor[j]) if slope[j] else 0.0) for j in (k, k + 1)
            )
            change = np.abs(after - before) + np.abs(slope[k : k + 2]).max() * np.spacing(abs(cut))
        literals.append(sql.exact(cut) if not change <= _NOTABLE else sql.number(cut))
    return literals


def _linear(kernel_sum: KernelSum) -> list[str]:
    """Return the inner products with the weighted sum of the support vectors."""
    return [
        sql.add(
            [f"{sql.number(w)} * r.x{d}" for d, w in zip(kernel_sum.features, row, strict=True)]
        )
        for row in (kernel_sum.weights.T @ kernel_sum.rows).tolist()
    ]


def _bin(column: str, cuts: np.ndarray) -> str:
    """Return the number of cuts up to a value."""
    numbers = [sql.number(k) for k in range(len(cuts) + 1)]
    return sql.search(column, [sql.exact(cut) for cut in cuts.tolist()], numbers)


def _support_table(name: str, kernel_sum: KernelSum) -> Table:
    weights, points = kernel_sum.weights, kernel_sum.support_points()
    columns = [f"w{k}" for k in range(weights.shape[1])] + [f"v{d}" for d in range(points.shape[1])]
    cells = np.column_stack([weights, points]).tolist()
    return Table(name, columns, [[sql.number(cell) for cell in row] for row in cells])


def _kernel(kernel_sum: KernelSum, x: Sequence[str]) -> str:
    """Return the kernel of a row and a support vector ``s``."""
    differences = [f"({column} - s.v{d})" for d, column in enumerate(x)]
    spec = kernel_sum.spec
    absolute = spec.distance == "manhattan"
    distance = sql.add([f"ABS{d}" if absolute else f"{d} * {d}" for d in differences])
    if spec.distance == "euclidean":
        distance = f"SQRT({distance})"
    if spec.takes_gamma:
        return f"EXP({sql.number(-kernel_sum.parameters['gamma'])} * {distance})"
    return f"({sql.number(kernel_constant(kernel_sum.parameters))} - {distance})"
