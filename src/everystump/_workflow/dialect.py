"""How a text file is written, as far as the user says it himself."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

DECIMALS = "decimals"
"""What frames from files say, in their ``attrs``, of what may begin fractions, likeliest first."""


@dataclass(frozen=True)
class Dialect:
    """How cells of a text file are to be read; what is not given is found in the file.

    Attributes
    ----------
    delimiter : str or None
        What separates cells.
    decimal : str or None
        What begins the fraction of a number.
    encoding : str or None
        How the text is encoded; UTF-8 by default.
    missing : tuple of str
        What stands for a missing value beside the empty cell; by default the usual ways to say so.
    usual_decimal : str or None
        What begins fractions in files of this kind, if neither the user nor the file tells.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    usual_decimal: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return what was given, as plain data."""
        return {name: value for name, value in asdict(self).items() if value}

    def after(self, earlier: dict[str, Any]) -> Dialect:
        """Return the same with what was given earlier, where nothing is given now."""
        both = {**earlier, **self.as_dict()}
        return Dialect(**{**both, "missing": tuple(both.get("missing", ()))})
