"""What the user specifies about a file and its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Dialect:
    """How a text file is written; options that are not set are detected.

    Attributes
    ----------
    delimiter : str or None
        Separator of cells.
    decimal : str or None
        Decimal separator, a point or a comma.
    encoding : str or None
        Text encoding; UTF-8 by default.
    missing : tuple of str
        Cells that are missing values, in addition to empty ones; common spellings by default.
    usual_decimal : str or None
        Decimal separator of similar files, for a file in which it is ambiguous.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    usual_decimal: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the options that are set as plain data."""
        return {name: value for name, value in asdict(self).items() if value}

    def with_defaults(self, stored: dict[str, Any]) -> Dialect:
        """Return a copy in which options that are not set have stored values."""
        both = {**stored, **self.as_dict()}
        return Dialect(**{**both, "missing": tuple(both.get("missing", ()))})


@dataclass(frozen=True)
class ColumnOptions:
    """Choices of the user that override the inferred schema.

    Attributes
    ----------
    drop, use : sequence of str
        Columns to drop, and columns to keep that would be dropped automatically.
    categorical, numeric : sequence of str
        Columns to treat as categorical or as numeric.
    positive : str or None
        Label of the positive class.
    """

    drop: Sequence[str] = ()
    use: Sequence[str] = ()
    categorical: Sequence[str] = ()
    positive: str | None = None
    numeric: Sequence[str] = ()
