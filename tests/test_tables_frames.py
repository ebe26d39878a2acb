"""Users' tables: dataframes of all column types against each other and lists; invalid input."""

import datetime
import tracemalloc
import warnings
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from bad_tables import assert_invalid
from hypothesis import given
from hypothesis import strategies as st
from oracles import search
from scipy import sparse
from sklearn.base import clone

from everystump import (
    KernelSVC,
    PerceptronSVC,
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpSVC,
    WeightedVoteClassifier,
)
from everystump._tables.frames import read_rows, read_table

WORDS = ("ash", "beech", "cedar", "oak tree", "élan")


def words(rng, n):
    return [WORDS[k] for k in rng.integers(0, len(WORDS), n)]


def single(rng, n):
    """Return numbers that 32 bits hold, with some ties."""
    return np.round(rng.normal(size=n), 1).astype(np.float32).tolist()


@dataclass(frozen=True)
class Kind:
    """A kind of column: its cells, and what they are in either frame."""

    cells: object
    pandas: object
    polars: object
    is_category: bool = False
    missing: bool = True


def whole(rng, n):
    return rng.integers(-3, 9, n).tolist()


def flags(rng, n):
    return (rng.random(n) < 0.4).tolist()


def levels(dtype):
    """Return what makes a pandas category of these levels, one of them unused."""
    return lambda cells: pd.Categorical(cells, categories=dtype)


def arrow(values):
    """Return the dtype of a pandas column that pyarrow backs."""
    return pd.ArrowDtype(values)


ArrowColumn = pd.arrays.ArrowExtensionArray
KINDS = {
    "float64": Kind(lambda rng, n: rng.normal(size=n).tolist(), "float64", pl.Float64),
    "float32": Kind(single, "float32", pl.Float32),
    "int64": Kind(whole, "int64", pl.Int64, missing=False),
    "int8": Kind(whole, "int8", pl.Int8, missing=False),
    "uint16": Kind(
        lambda rng, n: rng.integers(0, 9, n).tolist(), "uint16", pl.UInt16, missing=False
    ),
    "bool": Kind(flags, "bool", pl.Boolean, missing=False),
    "Int64": Kind(whole, "Int64", pl.Int64),
    "Float64": Kind(lambda rng, n: rng.normal(size=n).tolist(), "Float64", pl.Float64),
    "boolean": Kind(flags, "boolean", pl.Boolean),
    "objects of numbers": Kind(whole, "object", pl.Int32),
    "objects of flags": Kind(flags, "object", pl.Boolean),
    "str": Kind(words, "str", pl.String, is_category=True),
    "string": Kind(words, "string", pl.Categorical, is_category=True),
    "objects of text": Kind(words, "object", pl.String, is_category=True),
    "category of text": Kind(words, levels(WORDS), pl.Enum(WORDS), is_category=True),
    "category of words": Kind(words, levels((*WORDS, "yew")), pl.Categorical, is_category=True),
    "category of whole numbers": Kind(
        lambda rng, n: rng.integers(0, 5, n).tolist(), levels(range(7)), pl.Int64, is_category=True
    ),
    "arrow int64": Kind(whole, arrow(pa.int64()), pl.Int64),
    "arrow float": Kind(single, arrow(pa.float32()), pl.Float32),
    "arrow double": Kind(
        lambda rng, n: rng.normal(size=n).tolist(), arrow(pa.float64()), pl.Float64
    ),
    "arrow decimal": Kind(
        lambda rng, n: [Decimal(int(k)) / 4 for k in rng.integers(-9, 9, n)],
        arrow(pa.decimal128(9, 2)),
        pl.Decimal(9, 2),
    ),
    "arrow bool": Kind(flags, arrow(pa.bool_()), pl.Boolean),
    "arrow text": Kind(words, arrow(pa.string()), pl.String, is_category=True),
    "arrow views": Kind(words, arrow(pa.string_view()), pl.String, is_category=True),
    "arrow levels": Kind(
        words, arrow(pa.dictionary(pa.int8(), pa.string())), pl.Categorical, is_category=True
    ),
}


@dataclass(frozen=True)
class Case:
    """A table described by a few values that Hypothesis draws."""

    kinds: tuple
    n: int
    missing: float
    seed: int

    def columns(self):
        """Return the cells of each column, None where one is missing."""
        rng = np.random.default_rng(self.seed)
        columns = []
        for kind in self.kinds:
            cells = KINDS[kind].cells(rng, self.n)
            if KINDS[kind].missing:
                is_missing = rng.random(self.n) < self.missing
                cells = [
                    None if hide else cell for cell, hide in zip(cells, is_missing, strict=True)
                ]
            columns.append(cells)
        return columns

    def labels(self):
        y = np.random.default_rng(self.seed + 1).random(self.n) < 0.5
        y[:2] = False, True
        return y

    @property
    def names(self):
        return [f"{kind} {d}" for d, kind in enumerate(self.kinds)]

    @property
    def categories(self):
        return [d for d, kind in enumerate(self.kinds) if KINDS[kind].is_category]

    def pandas(self):
        columns = {}
        for name, kind, cells in zip(self.names, self.kinds, self.columns(), strict=True):
            dtype = KINDS[kind].pandas
            columns[name] = dtype(cells) if callable(dtype) else pd.Series(cells, dtype=dtype)
        return pd.DataFrame(columns)

    def polars(self):
        each = zip(self.names, self.kinds, self.columns(), strict=True)
        return pl.DataFrame(
            [pl.Series(name, cells, dtype=KINDS[kind].polars) for name, kind, cells in each]
        )

    def rows(self):
        return [list(row) for row in zip(*self.columns(), strict=True)]

    def model(self, **parameters):
        return StumpLogisticRegression(tol=1e-9, n_jobs=1, **parameters)


CASES = st.builds(
    Case,
    kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=5).map(tuple),
    n=st.integers(6, 30),
    missing=st.sampled_from([0.0, 0.2, 0.8]),
    seed=st.integers(0, 2**20),
)
EVERY_KIND = [Case((kind,), 25, missing, 3) for kind in KINDS for missing in (0.0, 0.3)]
ALL_AT_ONCE = Case(tuple(KINDS), 30, 0.2, 0)


def assert_pandas_is_polars(case):
    """The same levels in the same order make the same problem, to the last bit or nearly."""
    y, frame, other = case.labels(), case.pandas(), case.polars()
    model = case.model().fit(frame, y)
    named = [case.names[d] for d in case.categories]
    scores = model.decision_function(frame)
    np.testing.assert_array_equal(model.decision_function(other), scores)
    from_polars = case.model(categorical_features=named).fit(other, y)
    np.testing.assert_allclose(from_polars.decision_function(other), scores, atol=5e-5)
    np.testing.assert_array_equal(
        from_polars.decision_function(frame), from_polars.decision_function(other)
    )


@pytest.mark.parametrize("case", EVERY_KIND, ids=str)
def test_each_column_type_is_read_alike_from_pandas_and_polars(case):
    assert_pandas_is_polars(case)


@search(40)
@given(case=CASES)
def test_pandas_and_polars_give_the_same_scores(case):
    assert_pandas_is_polars(case)


@search(40)
@given(case=CASES)
def test_a_frame_and_a_list_of_its_rows_give_the_same_model(case):
    frame, y, rows = case.pandas(), case.labels(), case.rows()
    model = case.model().fit(frame, y)
    scores = model.decision_function(frame)
    for table in (rows, np.array(rows, dtype=object)):
        plain = case.model(categorical_features=case.categories).fit(table, y)
        np.testing.assert_allclose(plain.decision_function(table), scores, atol=5e-5)
        assert [f.n_levels for f in plain.feature_info_] == [
            f.n_levels for f in model.feature_info_
        ]
        assert not hasattr(plain, "feature_names_in_")


@search(25)
@given(case=CASES)
def test_text_in_lists_is_a_category(case):
    """Text is a category in lists too, if a column has any; numbers there are numbers."""
    texts = [d for d in case.categories if case.kinds[d] != "category of whole numbers"]
    have_values = all(any(cell is not None for cell in case.columns()[d]) for d in texts)
    rows, y = case.rows(), case.labels()
    if texts and have_values:
        found = case.model().fit(rows, y)
        chosen = case.model(categorical_features=texts).fit(rows, y)
        np.testing.assert_array_equal(found.decision_function(rows), chosen.decision_function(rows))


@search(40)
@given(case=CASES, polars=st.booleans())
def test_columns_are_matched_by_name(case, polars):
    frame = case.polars() if polars else case.pandas()
    model = case.model().fit(frame, case.labels())
    order = np.random.default_rng(case.seed).permutation(len(case.names))
    turned = frame[[case.names[d] for d in order]]
    np.testing.assert_array_equal(model.decision_function(turned), model.decision_function(frame))


@pytest.mark.parametrize("names", [[7, 3, 5], [(1, "a"), (2, "a"), (1, "b")], [2, "b", "c"]])
def test_column_names_other_than_strings(names):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)))
    y = (frame[0] + 3 * frame[1] > 0).to_numpy()
    frame.columns = pd.Index(names, tupleize_cols=False)
    model = StumpSVC().fit(frame, y) if names[1] != "b" else None
    if model is None:  # scikit-learn's sentence
        with pytest.raises(TypeError, match="names"):
            StumpSVC().fit(frame, y)
        return
    scores = model.decision_function(frame)
    np.testing.assert_array_equal(model.decision_function(frame.iloc[:, [2, 0, 1]]), scores)
    other = frame.set_axis(pd.Index([7, 3, 6], tupleize_cols=False), axis=1)
    with pytest.raises(ValueError, match=r"X has the columns .*, but the training table had .*"):
        model.predict(other)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_vote_matches_columns_by_name(make):
    rng = np.random.default_rng(0)
    frame = make({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    y = (np.asarray(frame["a"]) > 0).astype(int)
    members = [("one", StumpSVC()), ("two", StumpBoostingClassifier())]
    model = WeightedVoteClassifier(members, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame[["b", "a"]]), model.predict(frame))
    with pytest.raises(ValueError, match="names should match"):
        model.predict(frame[["a"]])


@pytest.mark.parametrize("order", [1, -1])
def test_text_among_numbers_raises(order):
    cells = [1.0, 2.0, "7", 4.0, 5.0, 6.0][::order]
    with pytest.raises((ValueError, TypeError), match="in column 'a'"):
        StumpSVC().fit(pd.DataFrame({"a": cells}), Y)
    model = StumpSVC().fit(pd.DataFrame({"a": np.arange(6.0)}), Y)
    with pytest.raises((ValueError, TypeError), match="in column 'a'"):
        model.predict(pd.DataFrame({"a": cells}))
    with pytest.raises(ValueError, match="'5' in column 'a'"):
        model.predict(pd.DataFrame({"a": pd.Categorical(["5", "3"])}))


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, lambda d: np.column_stack([*d.values()])]
)
def test_an_infinite_level_raises(make):
    table = {"a": np.array([0.0, 1.0, np.inf] * 2), "b": np.arange(6.0)}
    with pytest.raises(ValueError, match="infinity in column"):
        StumpSVC(categorical_features=[0]).fit(make(table), Y)
    model = StumpSVC(categorical_features=[0]).fit(make({**table, "a": table["b"]}), Y)
    with pytest.raises(ValueError, match="infinity in column"):
        model.predict(make(table))


def test_masked_values_are_missing():
    X = np.ma.masked_greater(np.arange(12.0).reshape(6, 2), 8)
    model = StumpSVC().fit(X, Y)
    np.testing.assert_array_equal(
        model.decision_function(X), StumpSVC().fit(X.filled(np.nan), Y).decision_function(X)
    )
    assert model.density_[0].missing == 1 and model.density_[1].missing == 2


@search(25)
@given(case=CASES, polars=st.booleans())
def test_scores_of_single_rows_of_frames(case, polars):
    frame = case.polars() if polars else case.pandas()
    model = case.model().fit(frame, case.labels())
    one_by_one = [model.decision_function(frame[k : k + 1])[0] for k in range(case.n)]
    np.testing.assert_array_equal(one_by_one, model.decision_function(frame))


@search(25)
@given(case=CASES)
def test_scores_of_single_rows_of_lists(case):
    """A single row may consist of None only."""
    rows = case.rows()
    model = case.model(categorical_features=case.categories).fit(rows, case.labels())
    one_by_one = [model.decision_function([row])[0] for row in rows]
    np.testing.assert_array_equal(one_by_one, model.decision_function(rows))


@pytest.mark.parametrize("frame", [ALL_AT_ONCE.pandas(), ALL_AT_ONCE.polars()], ids=["pd", "pl"])
@pytest.mark.parametrize("model", [StumpSVC(), StumpBoostingClassifier(n_estimators=9)], ids=str)
def test_fitted_attributes_of_a_frame(frame, model):
    before = frame.clone() if isinstance(frame, pl.DataFrame) else frame.copy()
    model = clone(model).fit(frame, ALL_AT_ONCE.labels())
    assert model.n_features_in_ == len(KINDS)
    assert model.feature_names_in_.tolist() == ALL_AT_ONCE.names
    assert [feature.name for feature in model.feature_info_] == ALL_AT_ONCE.names
    by_dtype = ALL_AT_ONCE.categories
    if isinstance(frame, pl.DataFrame):  # its category of whole numbers are whole numbers
        by_dtype = [d for d in by_dtype if ALL_AT_ONCE.kinds[d] != "category of whole numbers"]
    levels = [d for d, feature in enumerate(model.feature_info_) if feature.levels is not None]
    assert levels == by_dtype
    for d in levels:
        present = {cell for cell in ALL_AT_ONCE.columns()[d] if cell is not None}
        assert model.feature_info_[d].levels.tolist() == sorted(present)
    model.predict(frame)
    assert frame.equals(before)


@pytest.mark.parametrize("model", [StumpSVC(), StumpBoostingClassifier(n_estimators=9)], ids=str)
def test_numeric_frames_and_arrays_give_the_same_scores(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.random(60) < 0.5
    X[::7, 1] = np.nan
    plain = clone(model).fit(X, y).decision_function(X)
    for frame in (pd.DataFrame(X, columns=list("abc")), pl.DataFrame(X, schema=list("abc"))):
        named = clone(model).fit(frame, y).decision_function(frame)
        np.testing.assert_array_equal(named, plain)
    for table in (X.tolist(), X.astype(object), pd.DataFrame(X)):
        np.testing.assert_array_equal(clone(model).fit(table, y).decision_function(table), plain)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("dtype", ["text", "numbers"])
def test_an_empty_column_at_prediction_is_missing(make, dtype):
    cells = ["x", "y", None, "x"] if dtype == "text" else [1.0, 2.0, None, 1.0]
    model = StumpSVC(C=0.1).fit(make({"a": cells, "b": [1, 2, 3, 4]}), [0, 1, 1, 0])
    expected = model.decision_function(make({"a": cells, "b": [3] * 4}))[2]
    assert model.decision_function(make({"a": [None], "b": [3]})) == pytest.approx(expected)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_category_that_is_missing_in_training_accepts_any_level(make):
    """Every level is then unknown, and adds nothing."""
    nothing = {
        pd.DataFrame: pd.Series([None] * 4, dtype="str"),
        pl.DataFrame: pl.Series([None] * 4, dtype=pl.String),
    }
    model = StumpSVC().fit(make({"a": nothing[make], "b": [1, 2, 3, 4]}), [0, 1, 1, 0])
    new = make({"a": ["x", "y"], "b": [1, 3]})
    expected = model.shapes_.intercept + model.shapes_[1](np.array([1.0, 3.0]))
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-12)


def test_unused_levels_are_dropped():
    unused = pd.Categorical([None] * 4, categories=["x", "y"])
    frame = pd.DataFrame({"a": unused, "b": [1, 2, 3, 4]})
    model = StumpSVC().fit(frame, [0, 1, 1, 0])
    assert np.all(np.isfinite(model.decision_function(frame)))


def test_large_integers_are_distinct_levels():
    """Numbers of 64 bits hold more levels than floats do."""
    keys = [2**60 + k for k in range(4)] * 2
    y = [0, 1, 1, 0] * 2
    for table in (
        pd.DataFrame({"key": keys}),
        pl.DataFrame({"key": keys}),
        [[key] for key in keys],
    ):
        model = StumpSVC(categorical_features=[0]).fit(table, y)
        assert model.feature_info_[0].n_levels == 4
        assert model.predict(table).tolist() == y


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_reading_a_frame_takes_little_memory(make):
    """All cells as objects would be some 40 bytes each; the matrix itself has 8."""
    n = 50_000
    columns = {f"x{d}": np.random.default_rng(d).normal(size=n) for d in range(12)}
    frame = make({**columns, "word": ["a", "b"] * (n // 2)})
    tracemalloc.start()
    numbers, features = read_table(frame, "from_dtype")
    at_fit = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    read_rows(frame, features)
    at_prediction = tracemalloc.get_traced_memory()[1] - numbers.nbytes
    tracemalloc.stop()
    assert max(at_fit, at_prediction) < 2 * numbers.nbytes


# Bad input


GOOD = {"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "c": ["x", "y", "x", "y", "z", "z"]}
Y = [0, 1, 0, 1, 0, 1]
DAYS = [datetime.date(2020, 1, k) for k in range(1, 7)]
BOTH = pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])


def changed(**columns):
    return {**GOOD, **columns}


INVALID_COLUMNS = {
    "no name": ({"a": GOOD["a"], "": GOOD["a"]}, {}, r"X: the column at position 1 has no name"),
    "infinity": (
        changed(a=[1.0, 2.0, np.inf, 4.0, 5.0, 6.0]),
        {},
        r"X contains infinity in row 2, feature 'a'; StumpSVC .* a large number or NaN",
    ),
    "dates": (changed(a=DAYS), {}, r"column 'a'"),
    "times": (
        changed(a=[datetime.datetime(2020, 1, k) for k in range(1, 7)]),
        {},
        r"X: column 'a' contains dates or times \(.*\); convert it to numbers .* or to text",
    ),
    "spans of time": (
        changed(a=[datetime.timedelta(k) for k in range(6)]),
        {},
        r"X: column 'a' contains dates or times",
    ),
    "dates as levels": (
        changed(a=DAYS),
        {"categorical_features": ["a", "c"]},
        r"X.* column 'a'",
    ),
    "lists": (
        changed(a=[[1]] * 6),
        {},
        r"X has \[1\] in column 'a', .* string or a real|column 'a' is of type List.* neither",
    ),
    "records": (
        changed(a=[{"k": 1}] * 6),
        {},
        r"X has \{'k': 1\} in column 'a'|column 'a' is of type Struct.* neither numbers nor",
    ),
    "lists as levels": (
        changed(a=[[1]] * 6),
        {"categorical_features": ["a", "c"]},
        r"X.* column 'a'",
    ),
    "an absent name": (
        GOOD,
        {"categorical_features": ["c", "z"]},
        r"categorical_features contains 'z', which is not a column of X; the columns are \['a'",
    ),
    "an absent number": (
        GOOD,
        {"categorical_features": [1, 2]},
        r"categorical_features contains 2, which is not a column of X",
    ),
    "a fraction": (GOOD, {"categorical_features": [1.0]}, r"categorical_features contains 1\.0"),
    "a short mask": (
        GOOD,
        {"categorical_features": [True]},
        r"categorical_features is a mask of length 1, but X has 2 columns; pass one entry per",
    ),
    "a number": (GOOD, {"categorical_features": 1}, r"'categorical_features' .* Got 1 instead"),
    "a name": (GOOD, {"categorical_features": "c"}, r"'categorical_features' .* Got 'c' instead"),
    "text that is not named": (
        GOOD,
        {"categorical_features": ["a"]},
        r"categorical_features does not include column 'c', which contains text; include it",
    ),
    "text without categories": (
        GOOD,
        {"categorical_features": None},
        r"categorical_features does not include column 'c', which contains text",
    ),
}


@BOTH
@pytest.mark.parametrize(
    ("columns", "params", "match"), INVALID_COLUMNS.values(), ids=INVALID_COLUMNS
)
def test_invalid_columns(make, columns, params, match):
    model = StumpSVC(**params)
    assert_invalid(lambda: model.fit(make(columns), Y), match)
    assert not hasattr(model, "shapes_")


@pytest.mark.parametrize("dtype", [pl.Categorical, "category"], ids=str)
@pytest.mark.parametrize("chosen", [None, ["a"]])
def test_text_columns_must_be_listed_as_categories(dtype, chosen):
    frame = pd.DataFrame(GOOD) if dtype == "category" else pl.DataFrame(GOOD)
    if dtype == "category":
        frame = frame.astype({"c": "category"})
    else:
        frame = frame.cast({"c": pl.Categorical})
    assert_invalid(
        lambda: StumpSVC(categorical_features=chosen).fit(frame, Y),
        r"categorical_features does not include column 'c'",
    )


INVALID_PANDAS_FRAMES = {
    "equal names": (
        pd.DataFrame(np.ones((6, 2)), columns=["a", "a"]),
        r"X has two columns named 'a'; rename one of them, or pass an array",
    ),
    "no name": (pd.DataFrame({"a": Y, None: Y}), r"X: the column at position 1 has no name"),
    "names and numbers": (pd.DataFrame({"a": Y, 0: Y}), r"Feature names .* \['int', 'str'\]"),
    "text first": (
        pd.DataFrame(changed(a=["x", 1, 2, 3, 4, 5])),
        r"X has 1 in column 'a', .* all of one kind; convert the column to text or to numbers",
    ),
    "text later": (
        pd.DataFrame(changed(a=[1, "x", 2, 3, 4, 5])),
        r"X has 'x' in column 'a', which also contains numbers; pass only numbers or only text",
    ),
    "days as objects": (
        pd.DataFrame(changed(a=np.array(DAYS, dtype=object))),
        r"X has datetime\.date\(2020, 1, 1\) in column 'a'",
    ),
    "levels of dates": (
        pd.DataFrame(changed(a=pd.Categorical(pd.to_datetime(DAYS)))),
        r"X: column 'a' contains dates or times \(category\); convert it to numbers",
    ),
    "levels of times": (
        pd.DataFrame(changed(a=pd.Categorical(pd.to_timedelta(range(6), unit="D")))),
        r"X: column 'a' contains dates or times \(category\); convert it to numbers",
    ),
    "arrow days": (
        pd.DataFrame(changed(a=pd.array([datetime.date(2020, 1, 1)] * 6, arrow(pa.date32())))),
        r"X: column 'a' contains dates or times \(date32",
    ),
    "arrow levels of days": (
        pd.DataFrame(changed(a=ArrowColumn(pa.array(DAYS).dictionary_encode()))),
        r"X has datetime.date\(2020, 1, 1\) in column 'a'",
    ),
    "arrow lists": (
        pd.DataFrame(changed(a=pd.array([[1]] * 6, arrow(pa.large_list(pa.int64()))))),
        r"X: column 'a' is of type large_list.* neither numbers nor text",
    ),
    "beyond the largest float": (
        pd.DataFrame(changed(a=pd.Series([10**400, None, 2, 3, 4, 5], dtype=object))),
        r"X has a number beyond the largest float \(1\.8e308\) in column 'a'; scale the column",
    ),
    "complex numbers": (pd.DataFrame(changed(a=[1j, 2, 3, 4, 5, 6])), r"(?i)column 'a'|complex"),
}


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(("X", "match"), INVALID_PANDAS_FRAMES.values(), ids=INVALID_PANDAS_FRAMES)
def test_invalid_pandas_frames(X, match):
    assert_invalid(lambda: StumpSVC().fit(X, Y), match)


INVALID_ARRAYS = {
    "text first": (
        [["x"], [1], [2], [3], [4], [5]],
        {},
        r"X has 1 in column 0, .* all of one kind",
    ),
    "text later": ([[1], ["x"], [2], [3], [4], [5]], {}, r"X has 'x' in column 0"),
    "records": (np.array([[{}]] * 6), {}, r"X has \{\} in column 0"),
    "ragged rows": ([[1, 2], [3], [4], [5], [6], [7]], {}, r"X|inhomogeneous|2D"),
    "days": (np.array(DAYS, dtype="datetime64[D]")[:, None], {}, r"dates or times"),
    "beyond the largest float": (
        [[10**400], [1], [2], [3], [4], [5]],
        {},
        r"X has a number beyond the largest float \(1\.8e308\) in column 0; scale the column",
    ),
    "sparse levels": (
        sparse.csr_array(np.eye(6)),
        {"categorical_features": [0]},
        r"(?i)sparse .*dense",
    ),
    "text that is not named": (
        np.array([["x"], ["y"]] * 3),
        {"categorical_features": []},
        r"categorical_features does not include column 0, which contains text",
    ),
    "a name without names": (
        np.ones((6, 1)),
        {"categorical_features": ["a"]},
        r"categorical_features contains 'a', which is not a column of X; X has 1 columns",
    ),
}


@pytest.mark.parametrize(("X", "params", "match"), INVALID_ARRAYS.values(), ids=INVALID_ARRAYS)
def test_invalid_arrays(X, params, match):
    assert_invalid(lambda: StumpSVC(**params).fit(X, Y), match)


AT_PREDICTION = {
    "a column less": ({"a": GOOD["a"]}, r"names should match .*\n.*missing:\n- c"),
    "a column more": (changed(z=Y), r"names should match .*\n.*unseen at fit time:\n- z"),
    "another name": ({"a": GOOD["a"], "k": GOOD["c"]}, r"unseen at fit time:\n- k"),
    "numbers for text": (
        changed(c=Y),
        r"X: the levels of column 'c' were text in training, and now it has 0(\.0)?; pass text",
    ),
    "text for numbers": (
        changed(a=GOOD["c"]),
        r"X has 'x' in column 'a', where the model expects num",
    ),
    "digits for numbers": (changed(a=list("123456")), r"X has '1' in column 'a'"),
    "infinity": (changed(a=[1.0, 2.0, 3.0, 4.0, 5.0, -np.inf]), r"infinity in row 5, feature 'a'"),
    "dates": (
        changed(a=[datetime.datetime(2020, 1, 1)] * 6),
        r"column 'a' contains dates or times",
    ),
    "no name": ({**GOOD, "": Y}, r"X: the column at position 2 has no name"),
}


@BOTH
@pytest.mark.parametrize(("columns", "match"), AT_PREDICTION.values(), ids=AT_PREDICTION)
def test_invalid_columns_at_prediction(make, columns, match):
    model = StumpSVC().fit(make(GOOD), Y)
    assert_invalid(lambda: model.predict(make(columns)), match)


@pytest.mark.filterwarnings("ignore::polars.exceptions.PerformanceWarning")
def test_a_lazy_frame_raises():
    lazy = pl.DataFrame(GOOD).lazy()
    assert_invalid(lambda: StumpSVC().fit(lazy, Y), r"X.*collect")
    model = StumpSVC().fit(pl.DataFrame(GOOD), Y)
    assert_invalid(lambda: model.predict(lazy), r"X.*collect")


def test_duplicate_names_at_prediction():
    model = StumpSVC().fit(pd.DataFrame(GOOD), Y)
    twice = pd.DataFrame([[1.0, "x", 2.0]], columns=["a", "c", "a"])
    assert_invalid(lambda: model.predict(twice), r"X has two columns named 'a'")


def test_levels_of_numbers_and_text_at_prediction():
    X = np.array([[0.0], [1.0]] * 3)
    model = StumpSVC(categorical_features=[0]).fit(X, Y)
    assert_invalid(
        lambda: model.predict([["0"], ["1"]]),
        r"X: the levels of column 0 were numbers in training, and now it has '0'; pass numbers",
    )
    assert_invalid(lambda: model.predict(sparse.csr_array(X)), r"(?i)sparse .*dense")
    assert_invalid(lambda: model.predict(X[:, [0, 0]]), r"X has 2 features, .* expecting 1")
    assert_invalid(lambda: model.predict(X[:, 0]), r"Expected 2D array")


def test_a_table_without_names_at_prediction():
    model = StumpSVC().fit(pd.DataFrame(GOOD), Y)
    rows = [list(row) for row in zip(*GOOD.values(), strict=True)]
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        scores = model.decision_function(rows)
    np.testing.assert_array_equal(scores, model.decision_function(pd.DataFrame(GOOD)))


@pytest.mark.parametrize("model", [KernelSVC(), PerceptronSVC()], ids=["kernel", "perceptron"])
@BOTH
def test_estimators_of_numbers_suggest_a_remedy(model, make):
    name, model = type(model).__name__, clone(model)
    assert_invalid(
        lambda: model.fit(make(GOOD), Y),
        rf"X has 'x' in column 'c', which is not a number, and {name} .* OneHotEncoder",
    )
    incomplete = make({"a": [1.0, None, 3.0, 4.0, 5.0, 6.0]})
    missing = rf"X contains NaN in row 1, feature 'a'; {name} .* SimpleImputer, or use StumpSVC"
    assert_invalid(lambda: model.fit(incomplete, Y), missing)
    model.fit(make({"a": GOOD["a"]}), Y)
    assert_invalid(lambda: model.predict(incomplete), missing)
    assert_invalid(lambda: model.predict(make({"a": GOOD["c"]})), r"X has 'x' in column 'a'")


def test_pyarrow_tables():
    columns = {"a": [1.0, None, 3.0, 4.0, 5.0, 6.0], "c": GOOD["c"]}
    table, frame = pa.table(columns), pd.DataFrame(columns)
    model = StumpSVC().fit(table, Y)
    assert model.feature_names_in_.tolist() == ["a", "c"]
    np.testing.assert_array_equal(model.decision_function(table), model.decision_function(frame))
    turned = table.select(["c", "a"])
    np.testing.assert_array_equal(model.decision_function(turned), model.decision_function(frame))


def test_chunked_arrow_dictionaries_with_unused_levels():
    """Pieces of a column may number their levels each in its own way, and name unused ones."""
    one = pa.DictionaryArray.from_arrays([0, 1, None], ["b", "a", "unused"])
    other = pa.DictionaryArray.from_arrays([1, 0, 1], ["c", "b"])
    column = ArrowColumn(pa.chunked_array([one, other]))
    frame, plain = pd.DataFrame({"a": column}), pd.DataFrame({"a": ["b", "a", None, "b", "c", "b"]})
    model = StumpSVC().fit(frame, Y)
    assert model.feature_info_[0].levels.tolist() == ["a", "b", "c"]
    expected = StumpSVC().fit(plain, Y).decision_function(plain)
    np.testing.assert_allclose(model.decision_function(frame), expected, atol=1e-9)
    none = frame.iloc[:0]
    with pytest.raises(ValueError, match="0 sample"):
        model.decision_function(none)


def test_a_signaling_nan_is_a_missing_value():
    cells = [
        Decimal("sNaN"),
        Decimal("1"),
        Decimal("2.5"),
        Decimal("3"),
        Decimal("4"),
        Decimal("5"),
    ]
    plain = [[None], [1.0], [2.5], [3.0], [4.0], [5.0]]
    expected = StumpSVC().fit(plain, Y).decision_function(plain)
    for X in ([[cell] for cell in cells], pd.DataFrame({"a": pd.Series(cells, dtype=object)})):
        np.testing.assert_array_equal(StumpSVC().fit(X, Y).decision_function(X), expected)


@pytest.mark.parametrize("missing", [{}, {"na_object": None}, {"na_object": np.nan}], ids=str)
def test_numpy_variable_width_strings(missing):
    kind = np.dtypes.StringDType(**missing)
    cells = [*GOOD["c"][:5], missing.get("na_object", GOOD["c"][5])]
    X, plain = np.array(cells, dtype=kind)[:, None], [[cell] for cell in cells]
    y = np.array(["no", "yes"], dtype=kind)[Y]
    model, expected = StumpSVC().fit(X, y), StumpSVC().fit(plain, np.array(["no", "yes"])[Y])
    np.testing.assert_array_equal(model.predict(X), expected.predict(plain))
    assert model.classes_.tolist() == ["no", "yes"]


LABELS_MISSING = {
    "None among text": ["a", "b", None, "a", "b", "a"],
    "None among numbers": [0, 1, None, 0, 1, 0],
    "NaN among objects": np.array(["a", "b", np.nan, "a", "b", "a"], dtype=object),
    "signaling NaN": [0, 1, Decimal("sNaN"), 0, 1, 0],
    "pandas": pd.Series([0, 1, None, 0, 1, 0], dtype="Int64"),
    "arrow": pd.Series(["a", "b", None, "a", "b", "a"], dtype=arrow(pa.string())),
    "polars": pl.Series(["a", "b", None, "a", "b", "a"]),
    "strings of numpy": np.array(
        ["a", "b", None, "a", "b", "a"], np.dtypes.StringDType(na_object=None)
    ),
}


@pytest.mark.parametrize("y", LABELS_MISSING.values(), ids=LABELS_MISSING)
def test_missing_labels(y):
    sentence = (
        r"^y: the label of row 2 is missing .*; drop these rows, or assign them a separate class"
    )
    X = np.arange(6.0)[:, None]
    vote = WeightedVoteClassifier([("one", StumpSVC())])
    for model in (StumpSVC(), KernelSVC(), vote):
        assert_invalid(lambda model=model: model.fit(X, y), sentence)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (pd.array([3, 5] * 3, arrow(pa.int16())), np.array([3, 5], dtype=np.int16)),
        (pd.array([False, True] * 3, arrow(pa.bool_())), np.array([False, True])),
        (pd.array(["a", "b"] * 3, arrow(pa.string())), np.array(["a", "b"])),
        (
            pd.array(["a", "b"] * 3, arrow(pa.dictionary(pa.int8(), pa.string()))),
            np.array(["a", "b"]),
        ),
        (pd.array([3, 5] * 3, "Int64"), np.array([3, 5])),
        (pd.Categorical([3, 5] * 3), np.array([3, 5])),
    ],
    ids=lambda value: str(value.dtype),
)
def test_labels_keep_their_type(y, classes):
    model = StumpSVC().fit(np.arange(6.0)[:, None], pd.Series(y))
    assert model.classes_.dtype == classes.dtype
    np.testing.assert_array_equal(model.classes_, classes)


LARGE = [2**53 + k for k in range(6)]
ROUNDED = {
    "array": (np.array(LARGE)[:, None], "0"),
    "lists": ([[k] for k in LARGE], "0"),
    "objects": (np.array(LARGE, dtype=object)[:, None], "0"),
    "below": (-np.array(LARGE)[:, None], "0"),
    "largest of all": (np.array([2**64 - 1, 0, 1, 2, 3, 4], dtype=np.uint64)[:, None], "0"),
    "second column": (np.array([range(6), LARGE]).T, "1"),
    "pandas": (pd.DataFrame({"a": range(6), "id": LARGE}), "'id'"),
    "pandas, mixed": (pd.DataFrame({"c": GOOD["c"], "id": LARGE}), "'id'"),
    "pandas, missing": (pd.DataFrame({"id": pd.array([*LARGE[:5], None], "Int64")}), "'id'"),
    "arrow": (pd.DataFrame({"id": pd.array([*LARGE[:5], None], arrow(pa.int64()))}), "'id'"),
    "polars": (pl.DataFrame({"id": [*LARGE[:5], None]}), "'id'"),
}


@pytest.mark.parametrize(("X", "column"), ROUNDED.values(), ids=ROUNDED)
def test_integers_that_floats_cannot_distinguish_warn(X, column):
    sentence = rf"^X: column {column} has integers beyond 2\*\*53, such as -?\d+, .*; subtract"
    with pytest.warns(UserWarning, match=sentence) as caught:
        model = StumpSVC().fit(X, Y)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X)


@pytest.mark.parametrize(
    "X",
    [
        np.array([2**53 + 2 * k for k in range(6)])[:, None],
        np.array([2.0**60 + 1e5 * k for k in range(6)])[:, None],
        pd.DataFrame({"id": pd.Categorical(LARGE)}),
        np.array([-(2**63), *range(5)])[:, None],
    ],
    ids=["even", "floats", "levels", "power"],
)
def test_integers_that_floats_represent_do_not_warn(X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        StumpSVC().fit(X, Y)
    assert not caught


def test_a_single_row_raises_without_a_warning_about_names():
    X = pd.DataFrame({"a": Y, "b": Y})
    model = StumpSVC().fit(X, Y)
    for row in (X.iloc[0], X.to_numpy()[0], X.to_numpy()[0].tolist()):
        assert_invalid(lambda row=row: model.explain_local(row), r"Expected 2D.*X\.iloc\[\[0\]\]")


@pytest.mark.parametrize("wrap", [np.array, pd.Series, list])
def test_a_missing_float_label_is_reported(wrap):
    y = wrap([0.0, 1.0, np.nan, 1.0, 0.0, 1.0])
    assert_invalid(lambda: StumpSVC().fit(pd.DataFrame(GOOD), y), r"the label of row 2 is missing")


def test_long_arguments_are_truncated_in_errors():
    X = np.arange(400.0)[:, None]
    with pytest.raises(ValueError, match=r"weight=\['a', .*\.\.\. must be numbers") as caught:
        StumpSVC().fit(X, X[:, 0] > 9, sample_weight=["a"] * 400)
    assert len(str(caught.value)) < 200
