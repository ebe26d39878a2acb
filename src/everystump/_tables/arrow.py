"""Columns and tables of Apache Arrow: pandas columns that pyarrow backs, and its own tables."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_arrow_column(column: Any) -> bool:
    """Tell whether a column is one of pandas that pyarrow backs."""
    return hasattr(column.dtype, "pyarrow_dtype")


def is_arrow_table(X: Any) -> bool:
    """Tell whether ``X`` is a table or batch of pyarrow itself."""
    return hasattr(X, "to_pandas") and hasattr(X, "schema") and hasattr(X, "num_rows")


def as_pandas(X: Any) -> Any:
    """Return a table of pyarrow as a frame of pandas over the same memory."""
    import pandas as pd

    return X.to_pandas(types_mapper=pd.ArrowDtype)


def dictionary_encode(column: Any) -> tuple[np.ndarray, list, bool]:
    """Return a column as positions in a list of values, -1 where it is null.

    The values may repeat or be missing themselves, as Arrow allows; the last entry tells whether
    their order means anything.
    """
    import pyarrow as pa

    cells = pa.array(column.array)
    if not pa.types.is_dictionary(cells.type):
        if pa.types.is_float16(cells.type):
            cells = cells.cast(pa.float32())  # which pyarrow can tell apart
        elif pa.types.is_string_view(cells.type):
            cells = cells.cast(pa.large_string())
        cells = cells.dictionary_encode()
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.unify_dictionaries().combine_chunks()
    if isinstance(cells, pa.ChunkedArray):  # without rows there is nothing to combine
        return np.empty(0, dtype=np.int64), [], False
    positions = cells.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return positions, cells.dictionary.to_pylist(), bool(cells.type.ordered)
