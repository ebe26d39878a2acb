"""The command `export`: its options for SQL, and what it says about them for other formats."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from command import fitted, input_error, run, some_rows

import everystump
from everystump import export


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fitted(tmp_path_factory.mktemp("export"), some_rows(80, key=np.arange(80) % 7))


def test_sql_with_a_table_a_key_and_probabilities(model, tmp_path):
    data, path = model
    out = tmp_path / "m.sql"
    options = ("--table", "main.my rows", "--keep", "key", "--keep", "key", "--probability")
    done = run("export", path, *options, "-o", out)
    assert done.exit_code == 0, done.output
    frame, fit = pd.read_csv(data), everystump.load(path)
    with sqlite3.connect(":memory:") as database:
        database.create_function("EXP", 1, np.exp)
        frame.drop(columns="y").to_sql("my rows", database, index=False)
        found = pd.read_sql(out.read_text(), database)
    assert found.columns.tolist() == ["key", "score", "label", "probability"]
    np.testing.assert_array_equal(found["key"], frame["key"])
    X = frame[["a", "key"]]
    np.testing.assert_allclose(found["probability"], fit.predict_proba(X)[:, 1], atol=1e-9)
    expected = export.to_sql(fit, ["main", "my rows"], keep=["key"], probability=True)
    assert out.read_text() == expected


@pytest.mark.parametrize("suffix", ["json", "onnx"])
def test_other_formats_have_probabilities_anyway(model, tmp_path, suffix):
    pytest.importorskip("onnx" if suffix == "onnx" else "json")
    for options in ((), ("--probability",)):
        out = tmp_path / f"m{len(options)}.{suffix}"
        assert run("export", model[1], *options, "-o", out).exit_code == 0
    assert (tmp_path / f"m0.{suffix}").read_bytes() == (tmp_path / f"m1.{suffix}").read_bytes()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("m.onnx", ("--table", "t"), "--table t: ONNX has no tables; omit the option, or export"),
        ("m.json", ("--keep", "id"), "--keep id: JSON has no tables; omit the option, or export"),
        ("m.sql", ("--table", "a.b.c"), "--table a.b.c: name a table, such as customers, or"),
        ("m.sql", ("--table", "a."), "--table a.: name a table"),
        ("m.sql", ("--table", ""), "--table : name a table"),
        ("m.sql", ("--keep", "score"), "--keep contains 'score', which is already a column"),
        (
            "m.sql",
            ("--keep", "id", "--keep", "ID"),
            "contains 'ID' twice, because SQL ignores case",
        ),
        ("m.sql", ("--keep", ""), "--keep=[''] must be a list of column names"),
    ],
)
def test_invalid_options_write_nothing(model, tmp_path, name, options, message):
    assert message in input_error("export", model[1], *options, "-o", tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_probabilities_of_models_without_any(tmp_path):
    frame = some_rows(80)
    _, svm = fitted(tmp_path, frame, "--model", "stump-svm")
    for name in ("e.sql", "e.json", "e.onnx"):
        message = input_error("export", svm, "--probability", "-o", tmp_path / name)
        assert message.startswith("--probability: the scores of StumpSVC are not log-odds; omit it")


def test_probabilities_of_votes_are_not_exported(tmp_path):
    some_rows(80).to_csv(tmp_path / "t.csv", index=False)
    bag = tmp_path / "m.stump"
    assert (
        run("fit", tmp_path / "t.csv", "--target", "y", "--model", "bag", "-o", bag).exit_code == 0
    )
    assert hasattr(everystump.load(bag), "predict_proba")
    for name in ("e.sql", "e.json"):
        message = input_error("export", bag, "--probability", "-o", tmp_path / name)
        assert message.startswith("--probability: the scores of StumpBaggingClassifier are not")


def test_options_of_write(tmp_path):
    model = everystump.StumpSVC().fit([[0.0], [1.0]], [0, 1])
    path = tmp_path / "m.json"
    for options in ({"table": "t"}, {"keep": ["id"]}):
        with pytest.raises(ValueError, match="is for SQL, not for json; pass None, or to='sql'"):
            export.write(model, path, **options)
    with pytest.raises(ValueError, match="the scores of StumpSVC are not log-odds"):
        export.write(model, path, probability=True)
    export.write(model, tmp_path / "m.sql", table="t", keep=["id"])
    assert (tmp_path / "m.sql").read_text() == export.to_sql(model, "t", keep=["id"])
