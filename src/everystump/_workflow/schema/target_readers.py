"""The target column of a file: whether it holds classes or numbers, and what these are.

Numbers are classes if they have few distinct values, and otherwise targets of a regression.  A
reader gets the cells of a column in one part or in several.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from everystump._text import (
    InvalidInputError,
    format_number,
    format_quantities,
    pluralize,
    truncate_list,
)
from everystump._workflow.options import CLASSIFICATION, REGRESSION, ColumnOptions
from everystump._workflow.reading.frames import unique_cells
from everystump._workflow.schema.columns import NUMBERS, column_kind
from everystump._workflow.schema.inference import (
    describe_parsers,
    force_number_parser,
    infer_number_parser,
)
from everystump._workflow.schema.labels import (
    FEW_CLASSES,
    are_dates,
    as_labels,
    check_classes,
    dates_error,
    find_label,
    ordered_classes,
    positive_label,
)
from everystump._workflow.schema.parsers import NumberParser, parsers_to_dict
from everystump._workflow.targets.classes import ClassTarget
from everystump._workflow.targets.numbers import NumberTarget
from everystump._workflow.targets.target import Target

_MAX_CLASSES_SHOWN = 20
_REMEDY = "if NA, None or similar are labels, list the actual missing values with --missing"


@dataclass(eq=False)
class TargetReader(ABC):
    """Reads the target column, in one part or in several.

    Attributes
    ----------
    name : str
        Name of the column.
    n_missing : int
        Number of rows without a target so far.
    """

    name: str
    n_missing: int = field(default=0, kw_only=True)

    @abstractmethod
    def is_labeled(self, column: Any) -> np.ndarray:
        """Return which cells of a part are targets."""

    @abstractmethod
    def add(self, column: Any) -> np.ndarray:
        """Read a part; return which of its rows have a target."""

    @abstractmethod
    def finish(self) -> Target:
        """Return the targets of all parts; raise if there are none."""

    @abstractmethod
    def describe(self, target: Any) -> list[str]:
        """Return sentences about the targets and the task."""

    def describe_dropped(self) -> list[str]:
        """Return sentences about rows without a target."""
        if not self.n_missing:
            return []
        return [f"Dropped {pluralize(self.n_missing, 'row')} with a missing {self.name!r}."]

    @property
    def parsing(self) -> dict[str, Any]:
        """How targets of later files are parsed, as plain data."""
        return {}


@dataclass(eq=False)
class ClassReader(TargetReader):
    """Reads classes: codes of their text, until all are known."""

    requested: str | None = None  # the positive class
    why: str | None = None  # why numbers are classes
    codes: list[np.ndarray] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)

    def is_labeled(self, column: Any) -> np.ndarray:
        """Return which cells are not missing."""
        return column.notna().to_numpy()

    def add(self, column: Any) -> np.ndarray:
        """Read the labels of some rows."""
        import pandas as pd

        is_labeled = self.is_labeled(column)
        codes, texts = pd.factorize(column[is_labeled].astype(str))
        own = [self.index.setdefault(text, len(self.index)) for text in texts.tolist()]
        self.codes.append(np.array([*own, -1], dtype=np.int32)[codes])
        self.n_missing += int((~is_labeled).sum())
        return is_labeled

    def finish(self) -> ClassTarget:
        """Return the class of each row; raise unless there are two or more, but not too many."""
        import pandas as pd

        if not self.index:
            raise no_targets_error(self.name)
        labels, of_text = np.unique(as_labels(pd.Series(list(self.index))), return_inverse=True)
        if len(labels) == 1 and self.n_missing:
            raise InvalidInputError(
                f"{self.name!r} is {labels.tolist()[0]!r} or missing in every row; {_REMEDY}."
            )
        codes = of_text.astype(np.min_scalar_type(-len(labels)))[np.concatenate(self.codes)]
        check_classes(self.name, labels.tolist(), len(codes))
        counts = np.bincount(codes, minlength=len(labels))
        positive = positive_label(labels, counts, self.name, self.requested)
        classes = ordered_classes(labels, positive)
        if len(classes) == 2 and classes[0] != labels[0]:
            codes = 1 - codes
        return ClassTarget(self.name, codes, classes, positive)

    def describe(self, target: Any) -> list[str]:
        """Return a sentence about the classes, and one about the task if they are numbers."""
        classes = np.sort(target.classes).tolist()
        which = f" (positive class: {target.positive})" if len(classes) == 2 else ""
        classes_text = f"Classes: {truncate_list(classes, _MAX_CLASSES_SHOWN)}{which}."
        return [classes_text] if self.why is None else [classes_text, self.why]


@dataclass(eq=False)
class KnownClassReader(ClassReader):
    """Reads the classes of a fitted model."""

    classes: np.ndarray = field(default_factory=lambda: np.empty(0))

    def finish(self) -> ClassTarget:
        """Return the class of each row; raise if one is unknown."""
        labels = self.classes.tolist()
        matches = {text: find_label(text, labels) for text in self.index}
        unknown = next((text for text, match in matches.items() if match is None), None)
        if unknown is not None:
            raise InvalidInputError(
                f"{self.name!r} is {unknown!r} in some rows, which is not one of the model's "
                f"classes ({truncate_list([repr(label) for label in labels])}); fix or drop these "
                f"rows."
            )
        of_text = np.array([labels.index(match) for match in matches.values()], dtype=np.intp)
        return ClassTarget(self.name, of_text[np.concatenate(self.codes)], self.classes, None)


@dataclass(eq=False)
class NumberReader(TargetReader):
    """Reads numbers, parsed as in the features."""

    parser: NumberParser = field(default_factory=NumberParser)
    why: str = ""  # why the task is regression
    notes: Sequence[str] = ()  # on how numbers are written
    parts: list[np.ndarray] = field(default_factory=list)
    words: dict[str, None] = field(default_factory=dict)
    n_words: int = 0

    def is_labeled(self, column: Any) -> np.ndarray:
        """Return which cells are numbers."""
        return ~np.isnan(self._numbers(column))

    def add(self, column: Any) -> np.ndarray:
        """Read the numbers of some rows."""
        numbers = self._numbers(column)
        is_number, is_missing = ~np.isnan(numbers), column.isna().to_numpy()
        if not np.isfinite(numbers[is_number]).all():
            row = column.index[np.isinf(numbers)][0]
            raise InvalidInputError(
                f"{self.name!r} is infinite in row {row} (counting from 0); drop the row, or see "
                f"--missing."
            )
        is_word = ~is_number & ~is_missing
        self.parts.append(numbers[is_number])
        self.n_missing += int(is_missing.sum())
        self.n_words += int(is_word.sum())
        if is_word.any():
            self.words |= dict.fromkeys(unique_cells(column[is_word]))
        return is_number

    def _numbers(self, column: Any) -> np.ndarray:
        """Return the numbers of a column, NaN where there is none."""
        import pandas as pd

        if self.parser.decimal == "." and column_kind(column) != NUMBERS:  # a quick way
            numbers = pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)
            if np.isfinite(numbers[column.notna().to_numpy()]).all():
                return numbers
        values = self.parser.features(column)[column.name]
        return values.astype(np.float64).to_numpy(np.float64, na_value=np.nan)

    def finish(self) -> NumberTarget:
        """Return the number of each row."""
        if not sum(map(len, self.parts)):
            raise no_targets_error(self.name)
        return NumberTarget(self.name, np.concatenate(self.parts), self.parser.sign)

    def describe_dropped(self) -> list[str]:
        """Return sentences about rows without a target, and about words instead of numbers."""
        found = super().describe_dropped()
        if self.n_words:
            words = truncate_list([repr(word) for word in self.words], 3)
            rows = pluralize(self.n_words, "row")
            found.append(f"Dropped {rows} in which {self.name!r} is not a number: {words}.")
        return found

    def describe(self, target: Any) -> list[str]:
        """Return sentences about the task and the numbers."""
        y = target.numbers
        limits = float(y.min()), float(y.max())
        low, high, mean = format_quantities(*limits, float(y.mean()))
        if np.all(y % 1 == 0):
            low, high = map(format_number, limits)
        task = f"Task: regression{self.why}."
        return [*self.notes, task, f"Target: {self.name}, from {low} to {high}, mean {mean}."]

    @property
    def parsing(self) -> dict[str, Any]:
        """How targets of later files are parsed, as plain data."""
        return {"target": parsers_to_dict({self.name: self.parser})[self.name]}


def no_targets_error(name: str) -> InvalidInputError:
    """Return the error for a column without targets."""
    return InvalidInputError(f"{name!r} is missing in every row; {_REMEDY}.")


def infer_reader(column: Any, options: ColumnOptions, decimals: Sequence[str]) -> TargetReader:
    """Return the reader of a target column: as requested, otherwise what the column holds.

    Parameters
    ----------
    column : pandas.Series
        The column, or its first part.
    options : ColumnOptions
        The task and the positive class, if they are requested.
    decimals : sequence of str
        Possible decimal separators, the most likely one first.

    Examples
    --------
    >>> import pandas as pd
    >>> prices = pd.Series([f"${k},000" for k in range(1, 31)], name="price")
    >>> reader = infer_reader(prices, ColumnOptions(), (".", ","))
    >>> int(reader.add(prices).sum()), reader.finish().y[:2].tolist()
    (30, [1000.0, 2000.0])
    """
    name = str(column.name)
    if options.task == CLASSIFICATION:
        return ClassReader(name, options.positive)
    present = column.dropna()
    if len(present) == 0:
        return ClassReader(name, options.positive)
    if options.task == REGRESSION:
        parser = force_number_parser(present, decimals)
        if parser is None:
            texts = unique_cells(present)
            if are_dates(texts):
                raise dates_error(name, texts[0])
            raise InvalidInputError(
                f"{name!r} has no numbers, which a regression needs, but values such as "
                f"{present.tolist()[0]!r}; pass another --target, or no option that asks for a "
                f"regression (--task, --model, --loss, --quantile, --metric)."
            )
        return _number_reader(column, parser, "")
    parser = infer_number_parser(present, decimals)
    if parser is None:
        return ClassReader(name, options.positive)
    reader = NumberReader(name, parser=parser)
    reader.add(present)
    n_distinct, n_rows = len(np.unique(reader.finish().y)), len(reader.finish())
    if not are_quantities(n_distinct, n_rows):
        why = (
            f"Task: classification, since {name} has only {n_distinct} distinct numbers; pass "
            f"--task regression to predict a number."
        )
        return ClassReader(name, options.positive, why if n_distinct > 2 else None)
    why = (
        f", since {name} has {n_distinct:,} distinct numbers; pass --task classification to treat "
        f"them as classes"
    )
    return _number_reader(column, parser, why)


def are_quantities(n_distinct: int, n_rows: int) -> bool:
    """Whether numbers are quantities rather than classes, by the number of distinct ones.

    These are more than 20 distinct numbers, or more than 2 of which most occur once.

    Examples
    --------
    >>> are_quantities(5, 1000), are_quantities(21, 1000), are_quantities(15, 16)
    (False, True, True)
    """
    return n_distinct > FEW_CLASSES or (n_distinct > 2 and n_rows < 2 * n_distinct)


def _number_reader(column: Any, parser: NumberParser, why: str) -> NumberReader:
    """Return the reader of numbers, with notes on how they are written."""
    name = str(column.name)
    reader = NumberReader(name, parser=parser, why=why)
    if column_kind(column) == NUMBERS:
        return reader
    cells = column[reader.is_labeled(column)].to_frame()
    reader.notes = describe_parsers(cells, {name: replace(parser, missing=())})
    return reader
