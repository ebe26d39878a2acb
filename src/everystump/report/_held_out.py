"""The rows from which the page computes its curves, matrices and groups, in a compact form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from everystump.report._compact import estimate_bytes
from everystump.report._groups import group_columns
from everystump.report._rows import TableRows

_MAX_BYTES = 2_100_000  # of the page, without texts, scripts and rows of the what-if panel
_NUMBER_BYTES = 32 / 3  # in base64
_CELL_BYTES = 2 / 3
# Limits of the numbers of all stored rows, which take at most 1.1 MB, and of their groups.
_NUMBERS = (10_000, 100_000)
_CELLS = (40_000, 600_000)
_SHARES = (0.75, 0.25)  # of the space that the curves leave
_SEED = 0


def store_rows(
    rows: TableRows, document: Mapping[str, Any], order: Sequence[int]
) -> dict[str, Any]:
    """Return the outcomes of labeled rows, and the groups that they belong to.

    The rows are in random order, so that the first ones are a random sample.  If there are too
    many for a page of 3 MB, it gets such a sample; the more curves a model has, the fewer rows.

    Parameters
    ----------
    rows : TableRows
        Rows whose actual outcomes are known.
    document : dict
        The document of `everystump.export.to_json`.
    order : sequence of int
        Terms, the most important one first; terms after the features are ignored.

    Returns
    -------
    dict
        ``n``: the number of all rows; ``n_stored``: of stored ones; ``n_grouped``: of those, the
        first ones, with groups; ``groups``: see `everystump.report._groups.group_columns`;
        ``n_columns``: the number of features; and the outcomes, see `TableRows.outcomes`.
    """
    n, features = len(rows.X), document["features"]
    left = _MAX_BYTES - estimate_bytes(document)
    n_numbers = int(np.clip(_SHARES[0] * left / _NUMBER_BYTES, *_NUMBERS))
    n_cells = int(np.clip(_SHARES[1] * left / _CELL_BYTES, *_CELLS))
    chosen = np.random.default_rng(_SEED).permutation(n)[: max(2, n_numbers // rows.n_outcomes)]
    columns = [t for t in order if t < len(features)]
    groups, n_grouped = group_columns(rows.X[chosen], features, columns, n_cells)
    return {
        "n": n,
        "n_stored": len(chosen),
        "n_grouped": n_grouped,
        "n_columns": len(features),
        "groups": groups,
        **rows.outcomes(chosen),
    }
