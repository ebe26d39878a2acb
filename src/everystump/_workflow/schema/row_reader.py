"""The rows of a file that a model is fitted to or evaluated on: their targets and sample weights.

A reader gets the rows of a file in one part or in several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from everystump._text import InvalidInputError, pluralize
from everystump._workflow.options import ColumnOptions
from everystump._workflow.schema.columns import NUMBERS, TEXT, column_kind
from everystump._workflow.schema.parsers import number_reader, parse_cells
from everystump._workflow.schema.target_readers import TargetReader, infer_reader
from everystump._workflow.targets.target import Target


@dataclass(eq=False)
class WeightReader:
    """Reads sample weights; rows without a positive weight are dropped.

    Attributes
    ----------
    name : str
        Name of the column.
    decimal : str
        Decimal separator of numbers in text.
    n_dropped : int
        Number of rows without a positive weight so far.
    """

    name: str
    decimal: str = "."
    n_dropped: int = 0
    parts: list[np.ndarray] = field(default_factory=list)

    def read(self, column: Any) -> np.ndarray:
        """Return the weights of some rows, 0 where they are missing; raise if one is invalid."""
        if column_kind(column) == TEXT:
            column = column.astype(object)  # a category, too
            numbers = parse_cells(column, number_reader(self.decimal, None))
        elif column_kind(column) == NUMBERS:
            numbers = column
        else:
            numbers = column.isna().map({True: np.nan, False: -1.0})
        weights = numbers.astype(np.float64).to_numpy(np.float64, na_value=np.nan)
        is_missing = column.isna().to_numpy()
        is_invalid = ~is_missing & ~((weights >= 0) & (weights < np.inf))
        if is_invalid.any():
            row = int(np.flatnonzero(is_invalid)[0])
            cell = column.iloc[row]
            raise InvalidInputError(
                f"--sample-weight {self.name}: {getattr(cell, 'item', lambda: cell)()!r} in row "
                f"{column.index[row]} (counting from 0) is not a weight; pass numbers that are not "
                f"negative, 0 to drop a row."
            )
        return np.nan_to_num(weights)

    def finish(self) -> np.ndarray:
        """Return the weights of the rows that are used."""
        return np.concatenate(self.parts)

    def describe(self) -> str:
        """Return a sentence about the weights."""
        weights = self.finish()
        text = f"Sample weights: {self.name}, from {weights.min():.4g} to {weights.max():.4g}"
        dropped = f"; dropped {pluralize(self.n_dropped, 'row')} without a positive weight"
        return f"{text}{dropped if self.n_dropped else ''}."


@dataclass(eq=False)
class RowReader:
    """Reads the targets of rows and, if there are any, their weights."""

    target: TargetReader
    weights: WeightReader | None = None

    @classmethod
    def infer(
        cls, frame: Any, target: str, options: ColumnOptions, decimals: Sequence[str]
    ) -> Self:
        """Return the reader of a table, given its first rows."""
        weight = options.sample_weight
        return cls(
            infer_reader(frame[target], options, decimals),
            None if weight is None else WeightReader(weight, decimals[0]),
        )

    def is_used(self, frame: Any) -> np.ndarray:
        """Return which rows of a part have a target and a positive weight."""
        return self.target.is_labeled(frame[self.target.name]) & (self._weights(frame) > 0)

    def add(self, frame: Any) -> np.ndarray:
        """Read a part; return which of its rows have a target and a positive weight.

        Rows of a part without the column of weights have weight 1.
        """
        weights = self._weights(frame)
        is_used = weights > 0
        n_dropped = int(np.sum(~is_used))
        is_used[is_used] = self.target.add(frame[self.target.name][is_used])
        if self.weights is not None:
            self.weights.n_dropped += n_dropped
            self.weights.parts.append(weights[is_used])
        return is_used

    def _weights(self, frame: Any) -> np.ndarray:
        if self.weights is None or self.weights.name not in frame.columns:
            return np.ones(len(frame))
        return self.weights.read(frame[self.weights.name])

    def finish(self) -> Target:
        """Return the targets of all parts; raise if there are none."""
        if self.weights is None:
            return self.target.finish()
        if self.weights.n_dropped and not any(map(len, self.weights.parts)):
            raise InvalidInputError(
                f"--sample-weight {self.weights.name}: no row has a target and a positive weight; "
                f"name another column."
            )
        return self.target.finish().with_weight(self.weights.name, self.weights.finish())

    def describe_dropped(self) -> list[str]:
        """Return sentences about rows without a target."""
        return self.target.describe_dropped()

    def describe(self, target: Target) -> list[str]:
        """Return sentences about the weights, the targets and the task."""
        weights = [] if self.weights is None else [self.weights.describe()]
        return [*weights, *self.target.describe(target)]

    @property
    def parsing(self) -> dict[str, Any]:
        """How targets and weights of later files are found, as plain data."""
        weights = {} if self.weights is None else {"sample_weight": self.weights.name}
        return self.target.parsing | weights
