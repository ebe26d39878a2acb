"""Every table and figure of the papers, made again: one file each.

The papers are Lin & Li (2005), Evgeniou, Pontil & Elisseeff (2004), Wang et al. (2019) and
Sugiyama (2015, chapter 30).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from everystump._text import InvalidInputError

if TYPE_CHECKING:
    from everystump._experiments.experiment import Experiment

NAMES = (
    "lin-li-table-1",
    "lin-li-table-2",
    "lin-li-figure-2",
    "evgeniou-figure-1",
    "evgeniou-figure-2",
    "evgeniou-figure-3",
    "evgeniou-figure-4",
    "evgeniou-figure-5",
    "evgeniou-figure-6",
    "evgeniou-figure-7",
    "evgeniou-table-2",
    "evgeniou-table-3",
    "wang-table-2",
    "wang-table-3",
    "wang-table-4",
    "wang-table-5",
    "wang-figure-2",
    "wang-figure-3",
    "wang-figure-4",
    "wang-figure-5",
    "sugiyama-figure-30-4",
    "sugiyama-figure-30-7",
    "sugiyama-figure-30-11",
    "sugiyama-figure-30-12-13",
)

__all__ = ["NAMES", "InvalidInputError", "load_experiment"]


def load_experiment(name: str) -> Experiment:
    """Return an experiment by its name.

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
        If there is no such experiment; the sentence lists those that there are.

    Examples
    --------
    >>> from everystump._experiments import load_experiment
    >>> load_experiment("lin-li-table-1").runs
    100
    """
    if name not in NAMES:
        raise InvalidInputError(
            f"{name!r} is not an experiment: choose all or one of {', '.join(NAMES)}."
        )
    module = import_module(f"everystump._experiments.{name.replace('-', '_')}")
    experiment: Experiment = module.EXPERIMENT
    return experiment
