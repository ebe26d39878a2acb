"""Experiments that reproduce the tables and figures of four papers.

`engine` runs experiments and writes their pages; each of the other packages describes the
experiments of one paper.  A paper's package lists its experiments without importing their code,
so that listing the names is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from everystump._experiments import evgeniou, lin_li, sugiyama, wang
from everystump._text import InvalidInputError

if TYPE_CHECKING:
    from everystump._experiments.engine.experiment import Experiment

ENTRIES = {
    entry.name: entry for paper in (lin_li, evgeniou, wang, sugiyama) for entry in paper.EXPERIMENTS
}
NAMES = tuple(ENTRIES)

__all__ = ["ENTRIES", "NAMES", "load_experiment"]


def load_experiment(name: str) -> Experiment:
    """Return an experiment by name.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Returns
    -------
    Experiment
        Its protocol, tasks and report.

    Raises
    ------
    InvalidInputError
        If there is no experiment of this name; the message lists the names.

    Examples
    --------
    >>> from everystump._experiments import load_experiment
    >>> load_experiment("lin-li-table-1").entry.runs
    100
    """
    if name not in ENTRIES:
        raise InvalidInputError(
            f"{name!r} is not an experiment: choose all or one of {', '.join(NAMES)}."
        )
    entry = ENTRIES[name]
    module = import_module(f"everystump._experiments.{entry.module}")
    experiment: Experiment = module.make_experiment(entry, **entry.parameters)
    return experiment
