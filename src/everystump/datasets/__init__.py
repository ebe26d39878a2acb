"""Data: Breiman's artificial problems, label noise, and tables with their credits."""

from everystump.datasets.generators import (
    flip_labels,
    make_ringnorm,
    make_threenorm,
    make_twonorm,
)
from everystump.datasets.loader import DatasetNotFoundError, dataset_names, load_dataset

__all__ = [
    "DatasetNotFoundError",
    "dataset_names",
    "flip_labels",
    "load_dataset",
    "make_ringnorm",
    "make_threenorm",
    "make_twonorm",
]
