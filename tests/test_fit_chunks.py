"""Fits to data in chunks: equal to those in memory if columns have few distinct values."""

import errno
import gc
import os
import warnings
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from everystump import (
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpSVC,
    StumpSVCCV,
)
from everystump._core.chunk_columns import ColumnPlan
from everystump._core.columns import Column, Columns
from everystump._core.design import Design
from everystump._core.sketches import ColumnSketch, merge_all
from everystump._scratch import ScratchSpace
from everystump.datasets import make_twonorm
from everystump.measures import Mixed


def table(n=400, n_classes=2, seed=0):
    """Numbers with few distinct values and missing ones, a category, labels and weights."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"x{d}": rng.normal(size=n).round(1) for d in range(3)})
    score = X["x0"] + X["x1"] ** 2 + rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    X.loc[rng.random(n) < 0.1, "x2"] = np.nan
    X["kind"] = np.array(["red", "green", None, "blue"], dtype=object)[rng.integers(0, 4, n)]
    return X, y, rng.integers(0, 3, n).astype(float)


def split(X, y, weight=None, ends=(50, 51, 51, 200)):
    """Return chunks of different sizes; one has a single row, and one has none."""
    parts = np.split(np.arange(len(y)), ends)
    if weight is None:
        return [(X.iloc[p], y[p]) for p in parts]
    return [(X.iloc[p], y[p], weight[p]) for p in parts]


def assert_same(first, second, X):
    """The same bins and, as the same problem is solved, the same numbers."""
    np.testing.assert_array_equal(first.classes_, second.classes_)
    for one, other in zip(first.feature_info_, second.feature_info_, strict=True):
        assert one.name == other.name
        assert (one.levels is None) == (other.levels is None)
        if one.levels is not None:
            assert one.levels.tolist() == other.levels.tolist()
    np.testing.assert_allclose(
        first.decision_function(X), second.decision_function(X), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(first.dual_coef_, second.dual_coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(first.feature_names_in_, second.feature_names_in_)
    one, other = (
        model.training_overlap(X.iloc[:9], first.classes_[[0] * 9]) for model in (first, second)
    )
    assert one == other


MODELS = {
    "hinge": StumpSVC(),
    "squared hinge": StumpSVC(loss="squared_hinge"),
    "logistic": StumpLogisticRegression(),
    "no intercept": StumpLogisticRegression(fit_intercept=False),
    "balanced": StumpLogisticRegression(class_weight="balanced"),
    "rank": StumpSVC(measure="rank"),
    "monotonic": StumpSVC(monotonic_cst={"x0": "increasing"}),
    "interactions": StumpLogisticRegression(interactions=2),
    "listed interactions": StumpSVC(interactions=[("x0", "kind")]),
    "svm path": StumpSVCCV(cv=3, Cs=3, interactions=0),
    "logistic path": StumpLogisticRegressionCV(cv=3, Cs=3, interactions=1),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_chunks_equal_memory(name, weighted):
    X, y, weight = table()
    weight = weight if weighted else None
    model = MODELS[name]
    expected = type(model)(**model.get_params()).fit(X, y, weight)
    found = type(model)(**model.get_params()).fit_chunks(split(X, y, weight))
    assert_same(found, expected, X)
    assert found.training_overlap(X, y).same_table


@pytest.mark.parametrize("n_classes", [3, 5])
def test_several_classes(n_classes):
    X, y, weight = table(n_classes=n_classes)
    labels = np.array(["a", "b", "c", "d", "e"])[y]
    chunks = split(X, labels, weight)
    for model in (
        StumpSVC(),
        StumpLogisticRegression(interactions=2),
        StumpLogisticRegression(multi_class="ovr"),
    ):
        found, expected = clone(model).fit_chunks(chunks), clone(model).fit(X, labels, weight)
        assert_same(found, expected, X)


def test_chunks_of_one_class_and_of_one_category():
    X, y, _ = table()
    X["kind"] = np.where(np.isin(y, 1), "late", X["kind"].to_numpy())
    order = np.argsort(y, kind="stable")
    X, y = X.iloc[order], y[order]
    chunks = split(X, y, ends=(100, 150, 300))
    assert len(np.unique(chunks[0][1])) == 1
    assert "late" not in chunks[0][0]["kind"].tolist()
    assert_same(StumpSVC().fit_chunks(chunks), StumpSVC().fit(X, y), X)


def test_a_category_without_values_in_a_chunk():
    X, y, _ = table()
    X.loc[:99, "kind"] = None
    X.loc[:99, "x1"] = np.nan
    chunks = split(X, y, ends=(100,))
    assert_same(StumpSVC().fit_chunks(chunks), StumpSVC().fit(X, y), X)


def test_weights_in_one_chunk_only():
    X, y, weight = table()
    weight[:50] = 1.0
    chunks = split(X, y, weight)
    chunks[0] = chunks[0][:2]
    assert_same(StumpSVC().fit_chunks(chunks), StumpSVC().fit(X, y, weight), X)


@pytest.mark.parametrize("kind", ["array", "list", "polars", "pyarrow", "arrow dtypes"])
def test_kinds_of_tables(kind):
    X, y, _ = table()
    convert = {
        "array": lambda part: part[["x0", "x1", "x2"]].to_numpy(),
        "list": lambda part: part[["x0", "x1", "x2"]].to_numpy().tolist(),
        "polars": pl.from_pandas,
        "pyarrow": pa.Table.from_pandas,
        "arrow dtypes": lambda part: part.convert_dtypes(dtype_backend="pyarrow"),
    }[kind]
    chunks = [(convert(part), labels) for part, labels in split(X, y, ends=(90, 200))]
    whole = convert(X)
    found, expected = StumpSVC().fit_chunks(chunks), StumpSVC().fit(whole, y)
    np.testing.assert_allclose(
        found.decision_function(whole), expected.decision_function(whole), atol=1e-9
    )


def columns_of_bins(X, cuts):
    """Return the binned columns of a whole table, computed by NumPy from the edges of the bins."""
    codes = np.array([np.searchsorted(c, x, "right") for c, x in zip(cuts, X.T, strict=True)])
    columns = []
    for x, code, own in zip(X.T, codes, cuts, strict=True):
        counts = np.bincount(code).astype(float)
        means = np.bincount(code, x) / counts
        columns.append(Column(means, own, counts, x.min(), x.max(), False, 0.0, False))
    return Columns(tuple(columns), codes.astype(np.uint8))


def test_many_distinct_values():
    """The decisions are those of a fit to all rows in the same bins, and near those of `fit`."""
    X, y = make_twonorm(60_000, 3, random_state=0)
    chunks = [(X[p], y[p]) for p in np.array_split(np.arange(len(X)), 4)]
    model = StumpLogisticRegression(max_bins=32, tol=1e-9)
    found = model.fit_chunks(chunks).decision_function(X[:2000])
    expected = StumpLogisticRegression(max_bins=32, tol=1e-9).fit(X, y)
    near = expected.decision_function(X[:2000])
    assert 0 < np.abs(found - near).max() < 0.1 * np.std(near)
    merged = [
        merge_all([ColumnSketch.from_values(part[:, d]) for part, _ in chunks]) for d in range(3)
    ]
    assert all(0 < sketch.rank_error < 0.01 for sketch in merged)
    cuts = [ColumnPlan.from_sketch(sketch, 32).cuts for sketch in merged]
    design = Design.from_columns(
        columns_of_bins(X, cuts),
        measure=Mixed(),
        fit_intercept=True,
        feature_range=None,
        sample_weight=None,
    )
    expected._fit_design(expected._check_training_data(X, y, None), design)
    same = expected.decision_function(X[:2000])
    np.testing.assert_allclose(found, same, atol=1e-6)


def test_labels_of_different_kinds():
    X, y, _ = table()
    chunks = [(X[:200], y[:200]), (X[200:], np.array(["no", "yes"])[y[200:]])]
    with pytest.raises(ValueError, match="labels are numbers in chunk 0 and text in chunk 1"):
        StumpSVC().fit_chunks(chunks)


def test_columns_that_differ():
    X, y, _ = table()
    first = (X[:200], y[:200])
    for other, match in [
        (X.rename(columns={"x1": "z"}), r"between chunk 0 and chunk 2 \(chunk 2 has no 'x1'\)"),
        (X.assign(new=1), r"\(chunk 0 has no 'new'\)"),
        (X[["x1", "x0", "x2", "kind"]], "chunk 2 has them in another order than chunk 0"),
        (X.assign(x0="text"), "column 'x0' has numbers in chunk 0 and categories in chunk 2"),
    ]:
        with pytest.raises(ValueError, match=match):
            # Chunks without rows count, too.
            StumpSVC().fit_chunks([first, (X[:0], y[:0]), (other[200:], y[200:])])
    numbers = X[["x0", "x1"]].to_numpy()
    with pytest.raises(ValueError, match="chunk 1 has 1 columns and chunk 0 has 2"):
        StumpSVC().fit_chunks([(numbers[:200], y[:200]), (numbers[200:, :1], y[200:])])
    with pytest.raises(ValueError, match="chunk 0 has column names and chunk 1 has none"):
        StumpSVC().fit_chunks([first, (X[200:].to_numpy(), y[200:])])


def test_a_generator_is_rejected():
    X, y, _ = table()
    with pytest.raises(ValueError, match="can be iterated twice, such as a list, not a generator"):
        StumpSVC().fit_chunks(chunk for chunk in split(X, y))


def test_a_second_pass_with_other_rows():
    X, y, _ = table()

    class Growing:
        passes = 0

        def __iter__(self):
            self.passes += 1
            yield from split(X, y)[: 3 + self.passes]

    with pytest.raises(ValueError, match="second pass did not yield the 200 rows"):
        StumpSVC().fit_chunks(Growing())

    class Relabeled:
        passes = 0

        def __iter__(self):
            self.passes += 1
            yield X, y + (y == 1) * (self.passes - 1)

    with pytest.raises(ValueError, match="the label 2 is in the second pass"):
        StumpSVC().fit_chunks(Relabeled())


@pytest.mark.parametrize(
    ("chunks", "error", "match"),
    [
        ([], ValueError, "no rows of positive weight"),
        ([([[0.0], [1.0]], [0, 1], [0, 0])], ValueError, "no rows of positive weight"),
        ([([[0.0], [1.0]], [1, 1])], ValueError, "only one class, 1"),
        ([([[0.0], [1.0]], [0, 1, 1])], ValueError, r"Chunk 0: y: a chunk of 2 rows has labels"),
        ([([[0.0], [np.inf]], [0, 1])], ValueError, "Chunk 0: X contains infinity in column 0"),
        ([([[0.0]], [0]), ([[1.0]], [np.nan])], ValueError, "Chunk 1: y: the label of row 0"),
        ([([[0.0], [1.0]], [0, 1], [1, -1])], ValueError, "weights must not be negative"),
        ([([[0.0], [1.0]], [0.5, 0.7])], ValueError, "Unknown label type"),
        ([[[0.0], [1.0]]], TypeError, "contains a list; each chunk must be a tuple"),
        ([([[0.0], [1.0]],)], TypeError, "contains a tuple; each chunk must be a tuple"),
    ],
)
def test_invalid_chunks(chunks, error, match):
    with pytest.raises(error, match=match):
        StumpSVC().fit_chunks(chunks)


def test_a_hard_margin_and_too_many_bins_are_rejected():
    X, y, _ = table()
    with pytest.raises(ValueError, match="a hard margin, C=inf"):
        StumpSVC(C=np.inf).fit_chunks(split(X, y))
    with pytest.raises(ValueError, match="max_bins=5000 is too large"):
        StumpSVC(max_bins=5000).fit_chunks(split(X, y))


def test_custom_scorers_are_rejected():
    X, y, _ = table()
    model = StumpSVCCV(scoring=lambda model, X, y: 0.0, cv=3, Cs=3)
    with pytest.raises(ValueError, match="needs the samples, which fit_chunks does not keep"):
        model.fit_chunks(split(X, y))
    with pytest.raises(ValueError, match="scoring='f1' needs the samples"):
        StumpSVCCV(scoring="f1", cv=3, Cs=3).fit_chunks(split(X, y))


@pytest.fixture
def mapped(monkeypatch):
    """The arrays in files, as far as they are still used."""
    arrays, empty = weakref.WeakSet(), ScratchSpace.empty

    def watched(self, shape, dtype):
        array = empty(self, shape, dtype)
        assert isinstance(array, np.memmap)
        arrays.add(array._mmap)
        return array

    monkeypatch.setattr(ScratchSpace, "empty", watched)
    return arrays


def test_large_codes_are_in_files_without_a_name(tmp_path, mapped):
    X, y, weight = table()
    found = StumpSVC().fit_chunks(split(X, y, weight), memory_limit=0, scratch_dir=tmp_path)
    gc.collect()
    assert not mapped and not list(tmp_path.iterdir())
    assert_same(found, StumpSVC().fit(X, y, weight), X)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_scratch_files_end_with_errors(tmp_path, mapped, error):
    X, y, _ = table()

    class Failing(list):
        passes = 0

        def __iter__(self):
            self.passes += 1
            for k, chunk in enumerate(super().__iter__()):
                if k == 2 and self.passes == 2:
                    assert mapped and not list(tmp_path.iterdir())
                    raise error
                yield chunk

    with pytest.raises(error):
        StumpSVC().fit_chunks(Failing(split(X, y)), memory_limit=0, scratch_dir=tmp_path)
    gc.collect()
    assert not mapped and not list(tmp_path.iterdir())


def test_a_full_scratch_disk(tmp_path, monkeypatch):
    X, y, _ = table()

    def no_space(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", no_space, raising=False)
    with pytest.raises(OSError, match=r"has no space for 1.6 kB of encoded rows"):
        StumpSVC().fit_chunks(split(X, y), memory_limit=0, scratch_dir=tmp_path)
    assert not list(tmp_path.iterdir())


def test_models_of_chunks_are_like_others(tmp_path):
    """They can be saved, explained and edited, and recognize their training rows."""
    import everystump

    X, y, _ = table()
    model = StumpLogisticRegression().fit_chunks(split(X, y))
    everystump.save(model, tmp_path / "model.stump")
    loaded = everystump.load(tmp_path / "model.stump")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.training_overlap(X, y).same_table
    assert not loaded.training_overlap(X + {"x0": 1, "x1": 0, "x2": 0, "kind": ""}, y).same_rows
    assert loaded.explain_global().shape[0] == 4


def test_warnings_of_a_fit():
    X, y, _ = table()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        StumpLogisticRegression(max_iter=1, tol=1e-9).fit_chunks(split(X, y))
    assert any("max_iter" in str(warning.message) for warning in caught)


def test_chunks_must_be_iterable():
    with pytest.raises(TypeError, match="chunks=3 must be a list of tuples"):
        StumpSVC().fit_chunks(3)


def test_a_bound_needs_the_samples():
    X, y, _ = table()
    model = StumpSVCCV([0.1, 1.0], selection="loo-bound", interactions=0)
    with pytest.raises(ValueError, match='selection="loo-bound" needs the samples'):
        model.fit_chunks(split(X, y))
