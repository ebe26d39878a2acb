"""Users' tables and labels: reading, validating and encoding them.

A table becomes one matrix of floats and a record of its features.  Each column is read by itself,
so that a mixed dataframe is never copied to objects.  In the matrix a category is the index of its
level in ``Feature.levels``, -1 for an unknown level, and a missing value is NaN.
"""

from everystump._core.sparse import SparseTable
from everystump._tables.frames import (
    Feature,
    as_supported_table,
    check_2d,
    check_column_names,
    check_dense_2d,
    drop_unused_levels,
    is_frame,
    read_rows,
    read_table,
    reorder_columns,
)
from everystump._tables.labels import read_labels
from everystump._tables.rounding import warn_if_rounded

__all__ = [
    "Feature",
    "SparseTable",
    "as_supported_table",
    "check_2d",
    "check_column_names",
    "check_dense_2d",
    "drop_unused_levels",
    "is_frame",
    "read_labels",
    "read_rows",
    "read_table",
    "reorder_columns",
    "warn_if_rounded",
]
