"""Run experiments, keep their finished tasks, and write their results.

This module imports only the standard library, so that experiments are listed quickly.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """One experiment in the list of a paper.

    Attributes
    ----------
    name : str
        Name on the command line.
    title : str
        Paper, number and content of the table or figure.
    module : str
        Module below `everystump._experiments`, imported when the experiment is loaded.
    runs : int
        The paper's number of runs.
    edition : int
        Incremented when the same seed gives different numbers than before.
    parameters : mapping
        Keyword arguments of the module's ``make_experiment``, besides the entry.
    """

    name: str
    title: str
    module: str
    runs: int
    edition: int = 1
    parameters: Mapping[str, Any] = MappingProxyType({})
