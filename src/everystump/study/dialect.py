"""How a text file is written, as far as the user says it himself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dialect:
    """How cells of a text file are to be read.

    Attributes
    ----------
    delimiter : str or None
        What separates cells; found in the first lines by default.
    decimal : str or None
        What begins the fraction of a number; a point by default, or a comma if numbers have one.
    encoding : str
        How the text is encoded.
    missing : tuple of str
        What stands for a missing value beside the empty cell; by default the usual ways to say so.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()
