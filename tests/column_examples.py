"""Columns: numbers, numbers with missing values, and categories."""

import numpy as np

from everystump._core.columns import Column


def numbers(n_values, missing=0.0, counts=None):
    values = np.arange(float(n_values))
    counts = np.ones(n_values) if counts is None else np.asarray(counts, dtype=float)
    return Column(
        values, (values[1:] + values[:-1]) / 2, counts, 0.0, n_values - 1.0, True, missing
    )


def category(n_levels, missing=0.0):
    values = np.arange(float(n_levels))
    counts = np.ones(n_levels)
    return Column(
        values, values[1:] - 0.5, counts, 0.0, n_levels - 1.0, True, missing, is_category=True
    )


def paths(masses):
    """Return columns of numbers with as many gaps as there are masses."""
    return [numbers(len(mass.inside) + 1) for mass in masses]
