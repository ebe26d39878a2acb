"""SQL: SQLite and DuckDB say what Python says."""

import sqlite3

import numpy as np
import pytest
from test_export_cases import (
    NAMES,
    TAKES_NUMBERS,
    WITH_CHANCES,
    ask,
    assert_close,
    case,
    distinct_labels,
    scores_of,
)

import everystump as es
from everystump.export import to_sql

TOLERANCE = 1e-9


class Answer:
    """The rows of an answer in the order of their keys, by column."""

    def __init__(self, titles, rows):
        rows = sorted(rows, key=lambda row: row[0])
        self.columns = dict(zip(titles, zip(*rows, strict=True), strict=True))
        self.titles = list(self.columns)

    def numbers(self, start):
        """Return the columns whose titles start so, (n_rows, n_columns)."""
        chosen = [column for title, column in self.columns.items() if title.startswith(start)]
        return np.array(chosen, dtype=float).T


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def with_key(rows):
    return rows.assign(Key=np.arange(len(rows)))


def in_sqlite(query, rows):
    """Run a query over a table ``da ta``; cells without a value are NULL."""
    base = sqlite3.connect(":memory:")
    names = ", ".join(quoted(name) for name in rows)
    base.execute(f'CREATE TABLE "da ta" ({names})')
    plain = rows.astype(object).where(rows.notna(), None)
    slots = ", ".join("?" * rows.shape[1])
    base.executemany(f'INSERT INTO "da ta" VALUES ({slots})', plain.to_numpy().tolist())
    found = base.execute(query)
    return Answer([column[0] for column in found.description], found.fetchall())


def in_duckdb(query, rows):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    base = duckdb.connect()
    base.execute("SET threads = 1")
    base.register("da ta", rows)
    found = base.execute(query)
    return Answer([column[0] for column in found.description], found.fetchall())


ENGINES = pytest.mark.parametrize("run", [in_sqlite, in_duckdb])


@ENGINES
@pytest.mark.parametrize("name", NAMES)
def test_scores_and_labels(name, run):
    model, rows = case(name)
    found = run(to_sql(model, "da ta", keep=["Key"]), with_key(rows))
    assert_close(found.numbers("score"), scores_of(model, rows), TOLERANCE)
    clear = distinct_labels(model, rows)
    wanted = ask(model.predict, rows)
    assert np.array_equal(np.array(found.columns["label"])[clear], wanted[clear])
    assert found.columns["Key"] == tuple(range(len(rows)))


@ENGINES
@pytest.mark.parametrize("name", WITH_CHANCES)
def test_probabilities(name, run):
    model, rows = case(name)
    found = run(to_sql(model, "da ta", keep=["Key"], probability=True), with_key(rows))
    wanted = model.predict_proba(rows)
    wanted = wanted[:, 1:] if wanted.shape[1] == 2 else wanted
    assert np.abs(found.numbers("probability") - wanted).max() < TOLERANCE
