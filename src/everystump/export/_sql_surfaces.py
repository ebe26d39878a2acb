"""Surfaces in SQL.

The position of a row along an axis is an index and a fraction, two columns.  The values of all
surfaces are in one table of text, each entry with the values along the last axis of a surface, for
all scores, as integers of equal width; with one number per entry, engines would take minutes.
Another table lists the corners of the cells of each surface.  Rows are joined to both and grouped,
so that a row finds its cell of a surface once for all scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from everystump._core.multilinear import Grid
from everystump.export import _sql_text as sql
from everystump.export._grids import SharedGrids
from everystump.export._record import Surfaces

# Values are stored as multiples of 1 / _UNITS of the largest one, plus _ZERO.
_N_DIGITS, _ZERO, _UNITS = 15, 5 * 10**14, 5 * 10**14 - 1
# Numbers are written exactly if rounding them would move a position by more than this.
_NOTABLE = 1e-12


class Table(NamedTuple):
    """A table of values, such as support vectors and weights, or levels and contributions."""

    name: str
    columns: list[str]
    rows: list[list[str]]


class SqlSurfaces:
    """Turns surfaces into columns ``z0``, ``z1``, ..., one for each score that has any.

    ``level_index`` returns the index of the level of a category as an expression.
    """

    def __init__(
        self, cell_table: str, corner_table: str, level_index: Callable[[int], str]
    ) -> None:
        self._cell_table, self._corner_table = cell_table, corner_table
        self._level_index = level_index
        self._shared = SharedGrids()
        # The values of each score that has any, by the axes of the surface.
        self._tables: dict[tuple[int, ...], dict[int, np.ndarray]] = {}
        self._n_scores = 0

    def column(self, surfaces: Surfaces) -> str:
        """Return the column of the sum of some surfaces."""
        tables = self._shared.tables(s for s in surfaces.values() if s.values.any())
        if not tables:
            return "0e0"
        k, self._n_scores = self._n_scores, self._n_scores + 1
        for table in tables:
            self._tables.setdefault(table.grids, {})[k] = table.values
        return f"r.z{k}"

    def positions(self) -> list[list[str]]:
        """Return the columns to add in two stages, none without surfaces.

        First the number of the row and its index along each axis, then the fraction of the way to
        the next index along each interpolated axis.
        """
        if not self._tables:
            return []
        grids = list(enumerate(self._shared.grids))
        indices = [f"{self._index(grid)} AS i{g}" for g, grid in grids]
        fractions = [
            f"{_fraction(f'r.x{grid.feature}', f'r.i{g}', grid)} AS f{g}"
            for g, grid in grids
            if grid.is_linear
        ]
        return [["ROW_NUMBER() OVER () AS n", *indices], fractions]

    def _index(self, grid: Grid) -> str:
        column = f"r.x{grid.feature}"
        if grid.n_levels < 0:
            found = sql.search(column, _cuts(grid), [str(k) for k in range(len(grid.width))])
        else:
            found = self._level_index(grid.feature)  # NULL for unknown levels, which add nothing
        return f"CASE WHEN {column} IS NULL THEN {grid.size - 2} ELSE {found} END"

    def tables(self) -> list[Table]:
        """Return the tables of cells and corners, none without surfaces."""
        if not self._tables:
            return []
        columns = ["scale", "first", "last"]
        for j in range(self._n_leading()):
            columns += [f"axis{j}", f"step{j}", f"start{j}", f"slope{j}"]
        cells, corners, n_keys = [], [], 0
        for grids, by_score in self._tables.items():
            none = np.zeros_like(next(iter(by_score.values())))
            values = np.stack([by_score.get(k, none) for k in range(self._n_scores)], axis=-1)
            entries = values.reshape(-1, values.shape[-2] * self._n_scores)
            scale = float(np.abs(entries).max())
            cells += [
                [str(n_keys + k), sql.string(_digits(entry, scale))]
                for k, entry in enumerate(entries)
                if entry.any()
            ]
            factor, sizes = sql.number(scale / _UNITS), values.shape[1:-1]
            corners += [[factor, *corner] for corner in self._corners(grids, sizes, n_keys)]
            n_keys += len(entries)
        return [
            Table(self._cell_table, ["key", "entries"], cells),
            Table(self._corner_table, columns, corners),
        ]

    def _n_leading(self) -> int:
        return max(len(grids) for grids in self._tables) - 1

    def _corners(
        self, grids: tuple[int, ...], sizes: tuple[int, ...], first_key: int
    ) -> list[list[str]]:
        """Return the corners of a cell: where entries are, and their weights by the fractions.

        ``sizes`` are those of all axes but the first.  The weight of an entry is the product of
        ``start + slope * fraction`` over all axes but the last.
        """
        *leading, last = grids
        steps = np.cumprod([1, *sizes[-2::-1]])[::-1].tolist()
        corners = []
        for corner in product(*(_ends(self._shared.grids[g].is_linear) for g in leading)):
            first = first_key + sum(end.far * step for end, step in zip(corner, steps, strict=True))
            row = [str(first), str(last)]
            for g, step, end in zip(leading, steps, corner, strict=True):
                row += [str(g), str(step), *end.weight]
            for _ in range(len(leading), self._n_leading()):  # an axis again, without effect
                row += [str(leading[0]), "0", "1e0", "0e0"]
            corners.append(row)
        return corners

    def joined(self, source: str) -> str:
        """Return the query that adds the sums to the columns of a source."""
        sums = [f"COALESCE(SUM({self._value(k)}), 0e0) AS z{k}" for k in range(self._n_scores)]
        steps = [f"s.step{j} * {self._at(f's.axis{j}')}" for j in range(self._n_leading())]
        key = " + ".join(["s.first", *steps])
        size = _N_DIGITS * self._n_scores
        # The values of all scores at an index along the last axis and at the next one.
        values = f"SUBSTR(c.entries, 1 + {size} * {self._at('s.last')}, {2 * size})"
        # The last part gives every row a group; it also makes engines compute these columns once.
        return (
            f"SELECT\n  r.*,\n  {', '.join(f'z.z{k}' for k in range(len(sums)))}\n"
            f"FROM {source} AS r JOIN (\n"
            f"SELECT v.n, {', '.join(sums)} FROM (\n"
            f"SELECT r.n, {self._weight()} AS weight, {self._fraction_at('s.last')} AS fraction, "
            f"{values} AS digits\n"
            f"FROM {source} AS r CROSS JOIN {self._corner_table} AS s "
            f"JOIN {self._cell_table} AS c ON c.key = {key}\n"
            f"UNION ALL SELECT r.n, 0e0, 0e0, NULL FROM {source} AS r\n"
            f") AS v GROUP BY v.n\n"
            f") AS z ON z.n = r.n"
        )

    def _weight(self) -> str:
        """Return the weight of a corner ``s``, and the unit of its entries."""
        weights = [
            f"(s.start{j} + s.slope{j} * {self._fraction_at(f's.axis{j}')})"
            for j in range(self._n_leading())
        ]
        return " * ".join([*weights, "s.scale"])

    def _value(self, k: int) -> str:
        """Return the contribution of a corner to a score."""
        value, after = (
            f"CAST(SUBSTR(v.digits, {1 + _N_DIGITS * entry}, {_N_DIGITS}) AS DOUBLE PRECISION)"
            for entry in (k, self._n_scores + k)
        )
        if any(grid.is_linear for grid in self._shared.grids):
            value = f"((1e0 - v.fraction) * {value} + v.fraction * {after})"
        return f"v.weight * ({value} - {_ZERO}e0)"

    def _at(self, axis: str) -> str:
        """Return the index along an axis that is given by its number."""
        return self._search(axis, [f"r.i{g}" for g in range(len(self._shared.grids))])

    def _fraction_at(self, axis: str) -> str:
        """Return the fraction along an axis that is given by its number."""
        grids = enumerate(self._shared.grids)
        return self._search(axis, [f"r.f{g}" if grid.is_linear else "0e0" for g, grid in grids])

    def _search(self, axis: str, results: Sequence[str]) -> str:
        return sql.search(axis, [str(g) for g in range(1, len(results))], results)


class _End(NamedTuple):
    """One end of a cell along an axis: how far it is, and start and slope of its weight."""

    far: int
    weight: tuple[str, str]


def _ends(is_linear: bool) -> list[_End]:
    if not is_linear:
        return [_End(0, ("1e0", "0e0"))]
    return [_End(0, ("1e0", "(-1e0)")), _End(1, ("0e0", "1e0"))]


def _digits(values: np.ndarray, scale: float) -> str:
    """Return values as integers of equal width, one after another."""
    units = np.rint(values / scale * _UNITS).astype(np.int64) + _ZERO
    return "".join(f"{unit:0{_N_DIGITS}d}" for unit in units.tolist())


def _is_sensitive(numbers: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Whether rounding numbers changes positions: at jumps, and where the width is tiny."""
    return ~(np.spacing(np.abs(numbers)) <= _NOTABLE * width)


def _literals(numbers: np.ndarray, is_exact: np.ndarray) -> list[str]:
    pairs = zip(numbers.tolist(), is_exact.tolist(), strict=True)
    return [sql.exact(value) if exact else sql.number(value) for value, exact in pairs]


def _cuts(grid: Grid) -> list[str]:
    """Return where the index changes."""
    return _literals(grid.cuts, _is_sensitive(grid.cuts, grid.width[:-1]))


def _fraction(column: str, index: str, grid: Grid) -> str:
    """Return ``(x - anchor) / width``, and 0 where the surface is not interpolated."""
    is_linear = grid.width > 0.0
    anchors = _literals(grid.anchor, _is_sensitive(grid.anchor, grid.width) & is_linear)
    widths = _literals(grid.width, np.zeros(len(is_linear), dtype=bool))
    cuts = [str(k) for k in range(1, len(anchors) + 1)]
    anchor, width = (
        # The last index is that of missing values.
        sql.search(index, cuts, [*_known(texts, is_linear), "NULL"])
        for texts in (anchors, widths)
    )
    inside = f"({column} - {anchor}) / {width}"
    return f"COALESCE(CASE WHEN {column} < {anchors[0]} THEN 0e0 ELSE {inside} END, 0e0)"


def _known(texts: Sequence[str], is_known: np.ndarray) -> list[str]:
    return [text if known else "NULL" for text, known in zip(texts, is_known, strict=True)]
