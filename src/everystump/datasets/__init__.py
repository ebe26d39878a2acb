"""Datasets: Breiman's simulated problems, label noise, and small real tables."""

from everystump.datasets._generators import (
    flip_labels,
    make_ringnorm,
    make_threenorm,
    make_twonorm,
)
from everystump.datasets._loader import DatasetNotFoundError, dataset_names, load_dataset

__all__ = [
    "DatasetNotFoundError",
    "dataset_names",
    "flip_labels",
    "load_dataset",
    "make_ringnorm",
    "make_threenorm",
    "make_twonorm",
]
