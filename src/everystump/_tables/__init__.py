"""Users' tables: frames, arrays and lists become one matrix of numbers and a record of features.

Each column is read on its own, so that a frame of mixed columns is never copied to objects.  In
the matrix a category is the number of its level in ``Feature.levels``, -1 for an unknown one, and
a missing value is NaN: what every room above this one works on.
"""

from everystump._core.sparse import SparseTable
from everystump._tables.rounding import warn_if_rounded
from everystump._tables.table import (
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
from everystump._tables.target import read_labels

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
