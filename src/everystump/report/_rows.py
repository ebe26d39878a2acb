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
_MAX_CELLS = 20_000  # of all rows of the what-if panel


@dataclass(frozen=True, eq=False)
class TableRows(ABC):
    """Rows of a table, which subclasses predict."""

    table: Any  # the rows as the caller passed them
    columns: list  # the names of the table's columns, in the order of the features
    X: np.ndarray  # the same as numbers, with indices of levels

    @abstractmethod
    def outcome(self, i: int) -> dict[str, Any]:
        """Return what is ``predicted`` for a row, and what is ``actual``, None if unknown."""

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

    def name(self, i: int) -> Any:
        """Return the index label of a row in a pandas frame, else its number."""
        return to_plain(self.table.index[i]) if hasattr(self.table, "iloc") else i

    def describe(self, i: int) -> dict[str, Any]:
        """Return the number, name and outcome of a row."""
        return {"row": i, "name": self.name(i), **self.outcome(i)}

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
