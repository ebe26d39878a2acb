"""Run experiments, keep their finished tasks, and write their results.

This module imports nothing, so that the experiments can be listed at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """Name and title of an experiment, and how to make it.

    Attributes
    ----------
    name : str
        Name on the command line.
    title : str
        Paper, number and content of the table or figure.
    module : str
        Module below `everystump._experiments`, imported when the experiment is loaded.
    parameters : mapping
        Keyword arguments of the module's ``make_experiment``, besides name and title.
    """

    name: str
    title: str
    module: str
    parameters: Mapping[str, Any] = MappingProxyType({})
