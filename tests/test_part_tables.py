"""Tables in parts: bins from counts in common cells, however the rows are divided."""

import numpy as np
import pandas as pd
import pytest

from everystump._core import common_cells
from everystump._core.binning import n_numeric_bins
from everystump._core.columns import make_columns
from everystump._core.measures import ChosenStumps, Mixed
from everystump._tables.headers import Chunk
from everystump._tables.part_plan import PartPlanner, merge_headers
from everystump._tables.part_table import PartTable


class Parts:
    """Parts of a table in this process; ``calls`` counts the calls of each method."""

    def __init__(self, chunks, assignment):
        self.parts = [
            PartTable([chunks[k] for k in own], [f"chunk {k}" for k in own], "from_dtype", 1)
            for own in assignment
        ]
        headers = self.collect("read_header")
        self.header = merge_headers(headers)
        n_rows = np.zeros(len(chunks), dtype=int)
        for own, part in zip(assignment, headers, strict=True):
            n_rows[own] = part.n_rows
        starts = np.cumsum(n_rows) - n_rows
        for own, part in zip(assignment, self.parts, strict=True):
            part.set_header(starts[own].tolist(), self.header)
        self.calls = []

    def collect(self, method, *args):
        getattr(self, "calls", []).append(method)
        return [getattr(part, method)(*args) for part in self.parts]

    change_table = collect


def encode(chunks, assignment, max_bins=256, measure=None):
    """Return the columns, the codes in the order of the chunks, and the parts."""
    parts = Parts(chunks, assignment)
    planner = PartPlanner(parts, parts.header, max_bins, measure or Mixed(), 1)
    columns, tables = planner.find_columns()
    sizes = {k: len(chunks[k].y) for own in assignment for k in own}
    codes = {}
    for own, part in zip(assignment, parts.parts, strict=True):
        ends = np.cumsum([sizes[k] for k in own])[:-1]
        codes |= dict(zip(own, np.split(part.encode(tables).codes, ends, axis=1), strict=True))
    return columns, np.concatenate([codes[k] for k in sorted(codes)], axis=1), parts


def divide(X, ends, weight=None):
    """Return chunks of a matrix; labels alternate."""
    y = np.arange(len(X)) % 2
    rows = np.split(np.arange(len(X)), ends)
    return [Chunk(X[r], y[r], None if weight is None else weight[r]) for r in rows]


def distributions(n, rng):
    return {
        "normal": rng.normal(size=n),
        "lognormal": np.exp(4 * rng.normal(size=n)),
        "ties": np.where(rng.random(n) < 0.7, rng.integers(0, 5, n), rng.normal(size=n)),
        "integers": rng.integers(0, 50_000, n).astype(float),
        "huge": rng.normal(size=n) * 1e300,
        "tiny": rng.normal(size=n) * 1e-310,
        "sorted": np.sort(rng.normal(size=n)),
        "far": 1e6 + rng.normal(size=n),
        "spike": np.where(rng.random(n) < 0.999, 0.0, rng.normal(size=n)),
        "missing": np.where(rng.random(n) < 0.97, np.nan, rng.normal(size=n)),
        "none": np.full(n, np.nan),
        "constant": np.ones(n),
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_bins", [2, 16, 256, 1024])
def test_bins_have_about_equal_weights(weighted, max_bins):
    """A bin weighs at most its share, a value, and half a bin at each of its edges."""
    rng = np.random.default_rng(0)
    n = 100_000
    data = distributions(n, rng)
    X = np.column_stack(list(data.values()))
    weight = rng.exponential(size=n) if weighted else None
    w = np.ones(n) if weight is None else weight
    columns, codes, parts = encode(divide(X, [100, 60_000], weight), [[0, 2], [1]], max_bins)
    for name, x, column, code in zip(data, X.T, columns, codes, strict=True):
        present = ~np.isnan(x)
        np.testing.assert_array_equal(
            code[present], np.searchsorted(column.cuts, x[present], "right"), err_msg=name
        )
        assert np.all(code[~present] == len(column.values))
        assert column.missing == pytest.approx(w[~present].sum())
        if not present.any():
            continue
        assert (column.low, column.high) == (x[present].min(), x[present].max())
        counts = np.bincount(code[present], w[present], len(column.values))
        np.testing.assert_allclose(column.counts, counts, rtol=1e-9)
        if column.exact:
            np.testing.assert_array_equal(column.values, np.unique(x[present]))
            continue
        if name != "huge":  # where sums overflow
            means = np.bincount(code[present], w[present] * x[present]) / counts
            np.testing.assert_allclose(column.values, means, rtol=1e-9, atol=1e-12)
        n_bins = n_numeric_bins(max_bins, column.missing)
        ties = np.bincount(np.unique(x[present], return_inverse=True)[1], w[present])
        light = counts[counts > ties.max()] if name in ("ties", "spike") else counts
        share = (w[present].sum() - ties[ties > w[present].sum() / n_bins].sum()) / n_bins
        assert np.all(light <= 2.5 * share + ties.max()), name
        assert len(counts) >= 0.6 * min(n_bins, len(ties)), name
    assert len(parts.calls) <= 12


@pytest.mark.parametrize("weighted", [False, True])
def test_bins_do_not_depend_on_the_division(weighted):
    rng = np.random.default_rng(1)
    n = 60_000
    X = np.column_stack(list(distributions(n, rng).values()))
    # Sums of these weights have no rounding.
    weight = rng.integers(0, 5, n).astype(float) if weighted else None
    chunks = divide(X, [1, 1, 30_000, 30_002, 50_000], weight)
    found = []
    for assignment in ([[0, 1, 2, 3, 4, 5]], [[5, 1], [0, 2], [4, 3]], [[k] for k in range(6)]):
        columns, _, parts = encode(chunks, assignment, 64)
        codes = [part._header.n_rows for part in parts.parts]
        assert set(codes) == {n if weight is None else int((weight > 0).sum())}
        found.append(columns)
    for columns in found[1:]:
        for one, other in zip(found[0], columns, strict=True):
            np.testing.assert_array_equal(one.cuts, other.cuts)
            np.testing.assert_array_equal(one.counts, other.counts)
            np.testing.assert_allclose(one.values, other.values, rtol=1e-12, atol=1e-320)


@pytest.mark.parametrize("max_bins", [2, 32, 256])
def test_few_rows_have_the_bins_of_a_table_in_memory(max_bins):
    rng = np.random.default_rng(2)
    n = common_cells.MAX_SAMPLE
    X = np.column_stack(list(distributions(n, rng).values()))
    columns, codes, _ = encode(divide(X, [5000]), [[0], [1]], max_bins)
    expected = make_columns(X, max_bins=max_bins)
    np.testing.assert_array_equal(codes, expected.codes)
    for one, other in zip(columns, expected.columns, strict=True):
        np.testing.assert_array_equal(one.cuts, other.cuts)
        # Tiny numbers have few digits.
        np.testing.assert_allclose(one.values, other.values, rtol=1e-12, atol=1e-320)


@pytest.mark.parametrize("ratio", [0.9, 0.97, 1.0])
def test_rare_values_are_exact(ratio):
    """A sample of the rows does not show all of the distinct values."""
    rng = np.random.default_rng(3)
    frequency = ratio ** np.arange(255)
    x = rng.choice(rng.normal(size=255), size=150_000, p=frequency / frequency.sum())
    values, index, counts = np.unique(x, return_inverse=True, return_counts=True)
    for weight in (None, 1.0 / counts[index] ** 2):
        columns, codes, _ = encode(divide(x[:, None], [70_000], weight), [[0], [1]])
        assert columns[0].exact
        np.testing.assert_array_equal(columns[0].values, values)
        np.testing.assert_array_equal(codes[0], index)


def test_cells_of_heavy_rows_are_divided():
    """Nearly all of the weight is in few rows: a sample of the rows shows none of them."""
    rng = np.random.default_rng(4)
    x, weight = rng.normal(size=200_000), np.ones(200_000)
    heavy = (x > 1.0) & (x < 1.001)
    weight[heavy] = 1e6
    columns, _, _ = encode(divide(x[:, None], [70_000], weight), [[0], [1]], 32)
    cuts = columns[0].cuts
    assert np.sum((cuts > 0.999) & (cuts < 1.002)) >= 28


def test_the_error_of_ranks_is_bounded():
    """At most half a bin, and reported."""
    rng = np.random.default_rng(5)
    x = rng.standard_t(2, size=300_000)
    parts = Parts(divide(x[:, None], [100_000]), [[0], [1]])
    planner = PartPlanner(parts, parts.header, 256, Mixed(), 1)
    (cells,) = planner._count(planner._first_edges()).values()
    assert 0 < cells.rank_error <= 1 / 512
    entries = cells.entries
    thresholds = np.concatenate([entries.values, np.quantile(x, np.linspace(0, 1, 999))])
    ranks = np.searchsorted(np.sort(x), thresholds) / len(x)
    below = np.append(0.0, np.cumsum(entries.counts)) / len(x)
    found = below[np.searchsorted(entries.values, thresholds)]
    assert np.abs(ranks - found).max() <= cells.rank_error


def test_frames_with_categories_and_thresholds():
    rng = np.random.default_rng(6)
    n = 30_000
    frame = pd.DataFrame(
        {"a": rng.normal(size=n), "b": rng.choice(["x", "y", None], n), "c": rng.normal(size=n)}
    )
    frame.loc[:99, "b"] = "rare"
    weight = rng.integers(0, 2, n).astype(float)
    y = np.arange(n) % 3
    ends = [100, 100, 20_000]
    rows = np.split(np.arange(n), ends)
    chunks = [Chunk(frame.iloc[r], y[r], weight[r]) for r in rows]
    measure = ChosenStumps([[0.5, -1.0], [], [0.0]], [[], [0, 1], []])
    parts = Parts(chunks, [[0, 1], [2, 3]])
    columns, tables = PartPlanner(parts, parts.header, 16, measure, 1).find_columns()
    encoded = [part.encode(tables) for part in parts.parts]
    codes = np.concatenate([part.codes for part in encoded], axis=1)
    used = weight > 0
    np.testing.assert_array_equal(codes[0], np.digitize(frame["a"][used], [-1.0, 0.5]))
    np.testing.assert_array_equal(columns[0].cuts, [-1.0, 0.5])
    levels = parts.header.features[1].levels.tolist()
    assert levels == ["rare", "x", "y"] and columns[1].is_category
    expected = frame["b"][used].map({"rare": 1, "x": 2, "y": 3}).fillna(4)
    np.testing.assert_array_equal(codes[1], expected)
    np.testing.assert_array_equal(np.concatenate([part.label for part in encoded]), y[used])
    np.testing.assert_array_equal(np.concatenate([part.weight for part in encoded]), weight[used])
    assert columns[1].missing == np.sum(frame["b"][used].isna())
