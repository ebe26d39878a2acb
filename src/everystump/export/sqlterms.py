"""The terms of a model as SQL expressions over the columns of a row ``r``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from everystump._core.shapes import Pieces, Shape, linear_pieces
from everystump._tables import Feature
from everystump.export import sqltext
from everystump.export.record import (
    Body,
    Curves,
    KernelSum,
    Model,
    Projection,
    Vote,
    holds_text,
)

# By how much the value at a piece's start may differ from its level, so that digits are kept.
_MOST_SHIFT = 1e3
_NOTABLE = 1e-12
# So many levels are asked for one after another; more are joined as a table.
_MOST_CASES = 64

_APART = {
    "gaussian": "({x} - {y}) * ({x} - {y})",
    "perceptron": "({x} - {y}) * ({x} - {y})",
    "scaled_perceptron": "({x} - {y}) * ({x} - {y})",
    "laplacian": "ABS({x} - {y})",
    "middle": "ABS({x} - {y})",
    "stump": "ABS({x} - {y})",
}


class Found(NamedTuple):
    """Expressions, one for each score, and how many stages must have run before them."""

    scores: list[str]
    height: int = 0


class Table(NamedTuple):
    """Support vectors and their weights, or levels and what they add, as a table of values."""

    name: str
    columns: list[str]
    rows: list[list[str]]


class Lookup(NamedTuple):
    """What the levels of a category add: the column of a row, and the table to find it in."""

    column: str
    table: Table


class Terms:
    """Makes expressions; collects the columns and tables that they refer to.

    Parameters
    ----------
    model : Model
        Whose terms they are.
    support, levels : str
        How the names of tables of support vectors and of levels start.

    Attributes
    ----------
    stages : list of list of str
        Columns to compute: those of each stage refer to the stages before it only.
    tables : list of Table
        What kernel sums run over.
    lookups : list of Lookup
        Levels to join to the rows before the first stage, each as a column ``u`` of its number.
    """

    def __init__(self, model: Model, support: str, levels: str) -> None:
        self._features = model.features
        self._support, self._levels = support, levels
        self._n_columns = 0
        self.stages: list[list[str]] = []
        self.tables: list[Table] = []
        self.lookups: list[Lookup] = []

    def scores(self, body: Body) -> Found:
        """Return the scores of a model or of a voter."""
        own = [self._curves(curves) for curves in body.curves]
        parts = [Found([sqltext.plus(terms) for terms in own])]
        parts += [self._projected(projection) for projection in body.projections]
        parts += [self._summed(kernel_sum) for kernel_sum in body.sums]
        parts += [self._voted(vote) for vote in body.votes]
        totals = [
            sqltext.plus([sqltext.number(b), *(part.scores[k] for part in parts)])
            for k, b in enumerate(body.intercepts.tolist())
        ]
        return Found(totals, max(part.height for part in parts))

    def _column(self, expression: str, height: int) -> str:
        """Let a column be computed after the stages below; return how to refer to it."""
        while len(self.stages) <= height:
            self.stages.append([])
        name = f"t{self._n_columns}"
        self._n_columns += 1
        self.stages[height].append(f"{expression} AS {name}")
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
        names = [] if feature.levels is None else feature.levels.tolist()
        as_literal = sqltext.text if holds_text(feature) else sqltext.exact
        pairs = [
            [as_literal(level), sqltext.number(value)]
            for level, value in zip(names, shape.levels.tolist(), strict=True)
            if value != 0.0
        ]
        if len(pairs) <= _MOST_CASES:
            cases = "".join(f" WHEN {column} = {level} THEN {value}" for level, value in pairs)
            found = f"{cases} ELSE 0e0"
        else:
            k = len(self.lookups)
            table = Table(f"{self._levels}{k}", ["level", "value"], pairs)
            self.lookups.append(Lookup(column, table))
            found = f" ELSE COALESCE(r.u{k}, 0e0)"
        return f"CASE WHEN {column} IS NULL THEN {sqltext.number(shape.at_missing())}{found} END"

    def _projected(self, projection: Projection) -> Found:
        place = {}
        for j in sorted({j for curves in projection.curves for j in curves}):
            direction, centre = projection.directions[j].tolist(), projection.centre.tolist()
            terms = [
                f"{sqltext.number(w)} * (r.x{d} - {sqltext.number(c)})"
                for d, c, w in zip(projection.features, centre, direction, strict=True)
                if w != 0.0
            ]
            place[j] = self._column(sqltext.plus(terms), 0)
        scores = [
            sqltext.plus([_line(place[j], shape) for j, shape in sorted(curves.items())])
            for curves in projection.curves
        ]
        return Found(scores, 1)

    def _summed(self, kernel_sum: KernelSum) -> Found:
        if kernel_sum.kernel == "linear":
            return Found(_linear(kernel_sum))
        x, rows, height = [f"r.x{d}" for d in kernel_sum.features], kernel_sum.rows, 0
        if kernel_sum.kernel == "middle":
            cuts = kernel_sum.parameters["cuts"]
            x, height = [self._column(*pair) for pair in _places(x, cuts)], 1
            found = zip(cuts, rows.T, strict=True)
            rows = np.column_stack([np.searchsorted(c, v, side="right") for c, v in found])
        if "scale" in kernel_sum.parameters:
            scaled = zip(x, kernel_sum.parameters["scale"].tolist(), strict=True)
            x = [f"{sqltext.number(factor)} * {column}" for column, factor in scaled]
        name = f"{self._support}{len(self.tables)}"
        self.tables.append(_table(name, rows, kernel_sum.weights))
        product = _product(kernel_sum, x)
        return Found(
            [
                f"(SELECT SUM(s.w{k} * {product}) FROM {name} AS s)"
                for k in range(kernel_sum.weights.shape[1])
            ],
            height,
        )

    def _voted(self, vote: Vote) -> Found:
        voter = self.scores(vote.voter)
        scores = [self._column(score, voter.height) for score in voter.scores]
        added = [[sqltext.number(weight) for weight in said] for said in vote.weights.T.tolist()]
        return Found([winner(scores, said) for said in added], voter.height + 1)


def winner(scores: Sequence[str], results: Sequence[str]) -> str:
    """Return the result of the class that scores name, NULL if they are NULL.

    Examples
    --------
    >>> print(winner(["a", "b", "c"], ["1", "2", "3"]))
    CASE WHEN a IS NULL THEN NULL WHEN a >= b AND a >= c THEN 1 WHEN b >= c THEN 2 ELSE 3 END
    """
    if len(scores) == 1:
        asked = [f"{scores[0]} <= 0e0"]
    else:
        asked = [
            " AND ".join(f"{score} >= {later}" for later in scores[k + 1 :])
            for k, score in enumerate(scores[:-1])
        ]
    cases = [f"WHEN {one} THEN {result}" for one, result in zip(asked, results, strict=False)]
    return f"CASE WHEN {scores[0]} IS NULL THEN NULL {' '.join(cases)} ELSE {results[-1]} END"


def _line(column: str, shape: Shape) -> str:
    """Return a curve of numbers: what is missing first, then ``level + slope * (x - anchor)``.

    Level and slope are searched for each by itself.  One search for all three would be shorter,
    but SQLite compares every number that is reckoned with to all those before it.
    """
    pieces = _around_one_anchor(linear_pieces(shape))
    cuts = _cuts(pieces)
    found = sqltext.search(column, cuts, [sqltext.number(v) for v in pieces.level])
    if pieces.slope.any():
        slope = sqltext.search(column, cuts, [sqltext.number(v) for v in pieces.slope])
        anchor = sqltext.search(column, cuts, [sqltext.exact(v) for v in pieces.anchor])
        found = f"{found} + {slope} * ({column} - {anchor})"
    return f"CASE WHEN {column} IS NULL THEN {sqltext.number(shape.at_missing())} ELSE {found} END"


def _around_one_anchor(pieces: Pieces) -> Pieces:
    """Return pieces that all start from one anchor, if that costs no digits."""
    with np.errstate(over="ignore", invalid="ignore"):
        centre = np.median(pieces.anchor)
        shift = pieces.slope * (centre - pieces.anchor)
    if not np.abs(shift).max() <= _MOST_SHIFT * max(1.0, np.abs(pieces.level).max()):
        return pieces
    anchor = np.full_like(pieces.anchor, centre)
    return pieces._replace(level=pieces.level + shift, anchor=anchor)


def _cuts(pieces: Pieces) -> list[str]:
    """Return where pieces meet; to the last bit where the next number would get another score."""
    slope, level, anchor = pieces.slope, pieces.level, pieces.anchor
    found = []
    for k, cut in enumerate(pieces.cuts.tolist()):
        with np.errstate(over="ignore", invalid="ignore"):
            before, after = (
                level[j] + (slope[j] * (cut - anchor[j]) if slope[j] else 0.0) for j in (k, k + 1)
            )
            moved = np.abs(after - before) + np.abs(slope[k : k + 2]).max() * np.spacing(abs(cut))
        found.append(sqltext.exact(cut) if not moved <= _NOTABLE else sqltext.number(cut))
    return found


def _linear(kernel_sum: KernelSum) -> list[str]:
    """Return the inner products with the support vectors, which are summed here."""
    return [
        sqltext.plus(
            [f"{sqltext.number(w)} * r.x{d}" for d, w in zip(kernel_sum.features, row, strict=True)]
        )
        for row in (kernel_sum.weights.T @ kernel_sum.rows).tolist()
    ]


def _places(x: Sequence[str], cuts: Sequence[np.ndarray]) -> list[tuple[str, int]]:
    """Return how many cuts lie up to each value, and that the first stage can tell."""
    found = []
    for column, own in zip(x, cuts, strict=True):
        places = [sqltext.number(k) for k in range(len(own) + 1)]
        exact = [sqltext.exact(one) for one in own.tolist()]
        found.append((sqltext.search(column, exact, places), 0))
    return found


def _table(name: str, rows: np.ndarray, weights: np.ndarray) -> Table:
    columns = [f"w{k}" for k in range(weights.shape[1])] + [f"v{d}" for d in range(rows.shape[1])]
    cells = np.column_stack([weights, rows]).tolist()
    return Table(name, columns, [[sqltext.number(cell) for cell in row] for row in cells])


def _product(kernel_sum: KernelSum, x: Sequence[str]) -> str:
    """Return the kernel of a row and a support vector."""
    apart = _APART[kernel_sum.kernel]
    terms = [apart.format(x=column, y=f"s.v{d}") for d, column in enumerate(x)]
    distance = sqltext.plus(terms)
    if "gamma" in kernel_sum.parameters:
        return f"EXP({sqltext.number(-kernel_sum.parameters['gamma'])} * {distance})"
    if kernel_sum.kernel == "middle":
        constant = sum(len(own) for own in kernel_sum.parameters["cuts"]) / 2
    else:
        constant = kernel_sum.parameters["constant"]
    distance = f"SQRT({distance})" if "perceptron" in kernel_sum.kernel else distance
    return f"({sqltext.number(constant)} - {distance})"
