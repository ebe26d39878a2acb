"""Give a table as pandas objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump.datasets.csvtable import LABEL_COLUMN, Table


def as_pandas(table: Table) -> tuple[Any, Any]:
    r"""Return the features as a DataFrame and the classes as a Series.

    Text becomes an unordered pandas Categorical with the levels of the table, missing where a
    cell is empty.

    Examples
    --------
    >>> from everystump.datasets.csvtable import parse_table
    >>> from everystump.datasets.frames import as_pandas
    >>> X, y = as_pandas(parse_table(b"age,size,target\n30,xl,no\n41,m,yes\n", "example.csv"))
    >>> X
        age size
    0  30.0   xl
    1  41.0    m
    >>> y.tolist()
    [0, 1]
    """
    import pandas as pd

    columns = {}
    for name, values in zip(table.feature_names, table.data.T, strict=True):
        columns[name] = values
        if levels := table.categories.get(name):
            codes = np.where(np.isnan(values), -1, values).astype(np.intp)
            columns[name] = pd.Categorical.from_codes(codes, categories=levels)
    return pd.DataFrame(columns), pd.Series(table.target, name=LABEL_COLUMN)
