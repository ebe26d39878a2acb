"""SQL: SQLite and DuckDB score rows as Python does."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from test_export_cases import (
    NAMES,
    WITH_PROBABILITIES,
    WITHOUT_MISSING,
    assert_close,
    call,
    case,
    is_clear,
    scores_of,
)

import everystump as es
from everystump.export import to_sql
from everystump.export._sql_text import exact

TOLERANCE = 1e-9


class Result:
    """The result of a query by column, rows in the order of their keys."""

    def __init__(self, titles, rows):
        rows = sorted(rows, key=lambda row: row[0])
        self.columns = dict(zip(titles, zip(*rows, strict=True), strict=True))
        self.titles = list(self.columns)

    def numbers(self, start):
        """Return the columns whose titles have a prefix, (n_rows, n_columns)."""
        chosen = [column for title, column in self.columns.items() if title.startswith(start)]
        return np.array(chosen, dtype=float).T


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def with_key(rows):
    return rows.assign(Key=np.arange(len(rows)))


def in_sqlite(query, rows, table="da ta"):
    """Run a query over a table; missing values are NULL."""
    base = sqlite3.connect(":memory:")
    names = ", ".join(quoted(name) for name in rows)
    base.execute(f'CREATE TABLE "{table}" ({names})')
    plain = rows.astype(object).where(rows.notna(), None)
    slots = ", ".join("?" * rows.shape[1])
    base.executemany(f'INSERT INTO "{table}" VALUES ({slots})', plain.to_numpy().tolist())
    found = base.execute(query)
    return Result([column[0] for column in found.description], found.fetchall())


def in_duckdb(query, rows, table="da ta"):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    base = duckdb.connect()
    base.execute("SET threads = 1")
    base.register(table, rows)
    found = base.execute(query)
    return Result([column[0] for column in found.description], found.fetchall())


ENGINES = pytest.mark.parametrize("run", [in_sqlite, in_duckdb])


def in_both_engines(names):
    """Return models in both engines; in DuckDB, long queries and votes are slow."""
    for name in names:
        long = "3 classes" in name or name.startswith(("Perceptron", "Subsample", "Weighted"))
        yield pytest.param(name, in_sqlite)
        yield pytest.param(name, in_duckdb, marks=[pytest.mark.slow] * long)


@pytest.mark.parametrize(("name", "run"), [*in_both_engines(NAMES)])
def test_scores_and_labels(name, run):
    model, rows = case(name)
    found = run(to_sql(model, "da ta", keep=["Key"]), with_key(rows))
    assert_close(found.numbers("score"), scores_of(model, rows), TOLERANCE)
    clear = is_clear(model, rows)
    expected = call(model.predict, rows)
    assert np.array_equal(np.array(found.columns["label"])[clear], expected[clear])
    assert found.columns["Key"] == tuple(range(len(rows)))


@pytest.mark.parametrize(("name", "run"), [*in_both_engines(WITH_PROBABILITIES)])
def test_probabilities(name, run):
    model, rows = case(name)
    found = run(to_sql(model, "da ta", keep=["Key"], probability=True), with_key(rows))
    expected = model.predict_proba(rows)
    expected = expected[:, 1:] if expected.shape[1] == 2 else expected
    assert np.abs(found.numbers("probability") - expected).max() < TOLERANCE


@pytest.mark.parametrize(("name", "run"), [*in_both_engines(WITHOUT_MISSING)])
def test_missing_values_leave_no_score_if_the_model_takes_none(name, run):
    model, rows = case(name)
    rows = with_key(rows)
    rows.iloc[3, 2] = np.nan
    found = run(to_sql(model, "da ta", keep=["Key"]), rows)
    for title in ("score", "label"):
        column = found.columns[title]
        assert [k for k, value in enumerate(column) if value is None] == [3]


@ENGINES
@pytest.mark.parametrize("kind", ["text", "numbers"])
def test_categories_of_many_levels_are_joined(kind, run):
    """Unknown and missing levels too, whatever the order of the levels."""
    rng = np.random.default_rng(0)
    texts = np.array([f"{chr(c)}'{c}" for c in [*range(65, 180), *range(0x2600, 0x2700)]])
    levels = texts if kind == "text" else rng.normal(size=300)
    frame = pd.DataFrame({"c": rng.choice(levels, 900), "x": rng.normal(size=900)})
    y = rng.integers(0, 3, 900)
    model = es.StumpLogisticRegression(categorical_features=["c"]).fit(frame, y)
    query = to_sql(model, "da ta", keep=["Key"])
    assert query.count("LEFT JOIN") == 3 and "WHEN r.x0 =" not in query
    rows = frame.head(200).astype({"c": object})
    rows.loc[3, "c"], rows.loc[4, "c"] = "unknown" if kind == "text" else 7.5, None
    rows = rows if kind == "text" else rows.astype(float)
    found = run(query, with_key(rows))
    assert_close(found.numbers("score"), scores_of(model, rows), TOLERANCE)


def test_column_types_of_duckdb():
    """NaN is missing as NULL is, booleans are numbers, and enumerations are text."""
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    model, rows = case("StumpSVC")
    base = duckdb.connect()
    names = ", ".join(quoted(name) for name in rows)
    base.execute(
        f"""CREATE TABLE data AS SELECT * FROM (VALUES (
            'NaN'::DOUBLE, 1::DECIMAL(9, 3), 2::FLOAT, NULL, 1::BIGINT,
            'a'::ENUM ('a', 'b'), true, 3::TINYINT
        )) AS t({names})"""
    )
    row = dict(zip(rows, [np.nan, 1.0, 2.0, np.nan, 1.0, "a", True, 3.0], strict=True))
    expected = model.decision_function(type(rows)([row]))
    ((score, _),) = base.execute(to_sql(model)).fetchall()
    assert abs(score - expected[0]) < TOLERANCE


def test_levels_are_case_sensitive():
    """The collation of a column has no effect on the model."""
    X = np.array([["a"], ["A"], ["b"], ["a"]], dtype=object)
    model = es.StumpSVC().fit(X, [0, 1, 1, 0])
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE data (x0 TEXT COLLATE NOCASE)")
    base.executemany("INSERT INTO data VALUES (?)", X.tolist())
    found = [score for score, _ in base.execute(to_sql(model))]
    assert_close(found, model.decision_function(X), TOLERANCE)
    assert found[0] != found[1]


def test_a_missing_column_is_an_error():
    """SQLite reads an unqualified unknown name as a string."""
    model = es.DecisionStumpClassifier().fit([[0.0], [1.0]], [0, 1])
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE data (other)")
    with pytest.raises(sqlite3.OperationalError, match="x0"):
        base.execute(to_sql(model))


def test_many_features_do_not_make_a_deep_expression():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(40, 1100)).astype(float)
    model = es.StumpSVC(C=0.01).fit(X, X[:, 0].astype(int))
    pandas = pytest.importorskip("pandas")
    rows = with_key(pandas.DataFrame(X, columns=[f"x{d}" for d in range(1100)]))
    found = in_sqlite(to_sql(model, "da ta", keep=["Key"]), rows)
    assert_close(found.numbers("score")[:, 0], model.decision_function(X), TOLERANCE)


def test_a_constant_model():
    model = es.DecisionStumpClassifier().fit([[1.0], [1.0], [1.0]], ["a", "b", "b"])
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE data (x0)")
    base.execute("INSERT INTO data VALUES (7)")
    assert base.execute(to_sql(model)).fetchall() == [(1.0, "b")]


def test_probabilities_of_extreme_scores():
    X = np.array([[0.0], [1.0], [2.0]])
    model = es.StumpBoostingClassifier(n_estimators=3).fit(X, [0, 1, 2])
    for shapes in model.shapes_:
        object.__setattr__(shapes, "intercept", shapes.intercept - 500.0)
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE data (x0)")
    base.executemany("INSERT INTO data VALUES (?)", X.tolist())
    found = np.array(base.execute(to_sql(model, probability=True)).fetchall(), dtype=float)
    assert np.abs(found[:, 4:] - model.predict_proba(X)).max() < TOLERANCE


def doubles():
    rng = np.random.default_rng(0)
    anywhere = rng.integers(0, 2**64, size=3000, dtype=np.uint64).view(np.float64)
    usual = rng.normal(size=3000) * 10.0 ** rng.integers(-6, 9, size=3000)
    ends = [5e-324, 1.7976931348623157e308, -0.0, 2.0**60, 0.1, 123456789012345680.0]
    return [float(v) for v in [*anywhere, *usual, *ends] if np.isfinite(v)]


def test_exact_literals_are_read_exactly():
    base = sqlite3.connect(":memory:")
    for value in doubles():
        (found,) = base.execute(f"SELECT {exact(value)}").fetchone()
        assert found == value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"keep": ["LABEL"]}, "keep contains 'LABEL'"),
        ({"keep": ["score"]}, "keep contains 'score'"),
        ({"keep": "id"}, r"keep='id' must be a list of column names; pass \['id'\]"),
        ({"keep": 3}, "keep=3 must be a list of column names"),
        ({"keep": ["id", 3]}, r"keep=\['id', 3\] must be a list of column names"),
        ({"keep": [""]}, "must be a list of column names"),
        ({"keep": ["id", "ID"]}, "contains 'ID' twice, because SQL ignores case"),
        ({"keep": ["i\0d"]}, r"^keep: the name 'i\\x00d' contains a NUL character"),
        ({"table": "a\0b"}, r"^table: the name 'a\\x00b' contains a NUL character"),
        ({"table": ""}, "table='' must be the name of a table, or the names of a schema"),
        ({"table": None}, "table=None must be the name of a table"),
        ({"table": []}, r"table=\[\] must be the name of a table"),
        ({"table": ["a", ""]}, "must be the name of a table"),
        ({"table": ("a", "b", "c")}, r"table=\('a', 'b', 'c'\) must be the name of a table"),
        (
            {"probability": True},
            "the scores of StumpSVC are not log-odds; use StumpLogisticRegression",
        ),
        ({"probability": "yes"}, "probability='yes' must be True or False"),
    ],
)
def test_invalid_arguments(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        to_sql(case("StumpSVC").model, **arguments)
    assert "\n" not in str(caught.value)


@ENGINES
@pytest.mark.parametrize("table", ["stage0", "STAGE_1", "support0", "Support_0", "r"])
def test_table_names_that_resemble_generated_ones(table, run):
    model, rows = case("KernelSVC, gaussian")
    query = to_sql(model, table, keep=["Key"])
    found = run(query, with_key(rows), table)
    assert_close(found.numbers("score"), scores_of(model, rows), TOLERANCE)


NOT_NUMBERS = ["", " ", "n/a", "abc", "12abc", "1-2", "2020-01-05", "1.2.3", "1,5", "-", ".", "e5"]
NOT_NUMBERS += [".e5", "1e", "-+5", "0x10", "12 34", "true", "nan", "inf", "1e5.5", "1e2e3"]
TEXTS = ["12", " 12 ", "-1.5e3", "1E+05", "1e-5", "+3", "-.5", "5.", ".5", "0", "007"]


@ENGINES
def test_text_that_is_not_a_number_is_missing(run):
    """CSV files that are read without types leave such columns behind."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((80, 1)) < 0.2, np.nan, rng.normal(size=(80, 1)) * 20)
    model = es.StumpSVC().fit(X, (np.nan_to_num(X[:, 0], nan=7.0) > 0).astype(int))
    assert model.shapes_[0].missing != model.shapes_[0](np.zeros(1))[0]
    pandas = pytest.importorskip("pandas")
    rows = with_key(pandas.DataFrame({"x0": TEXTS + NOT_NUMBERS}))
    found = run(to_sql(model, "da ta", keep=["Key"]), rows)
    numbers = [float(text) for text in TEXTS] + [np.nan] * len(NOT_NUMBERS)
    expected = model.decision_function(np.array(numbers)[:, None])
    assert_close(found.numbers("score")[:, 0], expected, TOLERANCE)


def test_bytes_that_are_not_a_number_are_missing():
    model = es.DecisionStumpClassifier().fit([[-2.0], [-1.0], [1.0]], [0, 0, 1])
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE data (x0)")
    base.executemany("INSERT INTO data VALUES (?)", [(b"ab",), (None,)])
    first, second = base.execute(to_sql(model)).fetchall()
    assert first == second


def test_names_that_differ_by_case_alone():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"Age": [0.0, 1.0], "age": [1.0, 0.0]})
    with pytest.raises(ValueError, match="'Age' and 'age' are the same column in SQL"):
        to_sql(es.StumpSVC().fit(frame, [0, 1]))


def test_titles_of_several_classes():
    X = [[0.0], [1.0], [2.0]]
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE data (x0)")
    for classes, titles in [
        (["a", "b", "c"], ["score_a", "score_b", "score_c", "label"]),
        (["a", "A", "c"], ["score_0", "score_1", "score_2", "label"]),
    ]:
        found = base.execute(to_sql(es.StumpSVC().fit(X, classes)))
        assert [column[0] for column in found.description] == titles
