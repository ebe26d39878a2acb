"""The rows of a page, whatever the model predicts: their names, values and contributions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from everystump._core.shapes import ShapeModel
from everystump._tables.frames import is_frame
from everystump._terms import Term
from everystump.report._encoding import to_plain

MAX_EXPLAINED = 10
_MAX_WHAT_IF = 200
_MAX_CELLS = 6_000  # of all rows of the what-if panel
_MAX_NAMES = 20  # of rows that are identical to an explained one


def row_name(table: Any, i: int) -> Any:
    """Return the index label of a row in a pandas frame, else its number."""
    return to_plain(table.index[i]) if hasattr(table, "iloc") else i


@dataclass(frozen=True, eq=False)
class TableRows(ABC):
    """Rows of a table, which subclasses predict."""

    table: Any  # the rows as the caller passed them
    columns: list  # the names of the table's columns, in the order of the features
    X: np.ndarray  # the same as numbers, with indices of levels

    @abstractmethod
    def outcome(self, i: int) -> dict[str, Any]:
        """Return what is ``predicted`` for a row, and what is ``actual``, None if unknown."""

    @property
    @abstractmethod
    def n_outcomes(self) -> int:
        """How many numbers `outcomes` has per row."""

    @abstractmethod
    def outcomes(self, chosen: np.ndarray) -> dict[str, Any]:
        """Return encoded predicted and actual outcomes of some rows; empty if unknown."""

    @abstractmethod
    def quality(self) -> dict[str, Any] | None:
        """Return how predicted and actual outcomes differ, None if these are unknown."""

    @abstractmethod
    def metrics(
        self, model: Any, y: Any, about: Mapping[str, Any], *, unseen: bool
    ) -> dict[str, Any]:
        """Return the metrics, without intervals if rows may be training rows."""

    @abstractmethod
    def explained(
        self, models: Sequence[ShapeModel], terms: Sequence[Term]
    ) -> dict[str, list[dict[str, Any]]]:
        """Return lists of notable rows with their contributions; empty if there are none."""

    def describe(self, i: int) -> dict[str, Any]:
        """Return the number, name and outcome of a row."""
        return {"row": i, "name": row_name(self.table, i), **self.outcome(i)}

    def distinct(self, ordered: np.ndarray, actual: np.ndarray | None) -> list[np.ndarray]:
        """Return the first rows of an order, each with the rows that are identical to it.

        Rows are identical if the model sees the same values, and if they have the same outcome.
        """
        found: list[np.ndarray] = []
        waiting = np.ones(len(self.X), dtype=bool)
        while len(found) < MAX_EXPLAINED and len(ordered := ordered[waiting[ordered]]):
            i = ordered[0]
            x = self.X[i]
            same = ((x == self.X) | (np.isnan(self.X) & np.isnan(x))).all(axis=1)
            same &= True if actual is None else actual == actual[i]
            waiting &= ~same
            found.append(np.append(i, np.setdiff1d(np.flatnonzero(same), i)))
        return found

    def describe_first(self, identical: np.ndarray) -> dict[str, Any]:
        """Return the number, name and outcome of a row, and the rows identical to it."""
        others = [row_name(self.table, i) for i in identical[1 : _MAX_NAMES + 1].tolist()]
        return {
            **self.describe(int(identical[0])),
            "n_identical": len(identical),
            "identical": others,
        }

    def contributions(
        self, chosen: np.ndarray, models: Sequence[ShapeModel], terms: Sequence[Term]
    ) -> list[np.ndarray]:
        """Return the contributions of some terms to each score of some rows."""
        columns = [models[0].terms.index(term) for term in terms]
        return [model.contributions(self.X[chosen])[:, columns] for model in models]

    def what_if(
        self, features: Sequence[Mapping[str, Any]], first: Sequence[int]
    ) -> list[dict[str, Any]]:
        """Return rows for the what-if panel: those of ``first``, and others evenly spaced."""
        n_max = min(_MAX_WHAT_IF, max(2 * MAX_EXPLAINED, _MAX_CELLS // len(features)))
        spaced = np.linspace(0, len(self.X) - 1, min(n_max, len(self.X))).round().astype(int)
        indices = list(dict.fromkeys([*first, *spaced.tolist()]))[:n_max]
        return [
            {
                **self.describe(i),
                "values": [self._value(i, d, feature) for d, feature in enumerate(features)],
            }
            for i in sorted(indices)
        ]

    def _value(self, i: int, d: int, feature: Mapping[str, Any]) -> Any:
        """Return a cell for the scorer of the page: None if missing; unknown levels unchanged."""
        x = self.X[i, d]
        if np.isnan(x):
            return None
        if feature["kind"] == "number":
            return float(x)
        if x >= 0:
            return feature["levels"][int(x)]
        level = to_plain(self._cell(i, d))
        return int(level) if isinstance(level, bool) else level

    def _cell(self, i: int, d: int) -> Any:
        """Return a cell of the original table."""
        if not is_frame(self.table):
            return np.asarray(self.table, dtype=object)[i, d]
        column = self.table[self.columns[d]]
        return column.iloc[i] if hasattr(column, "iloc") else column[i]
