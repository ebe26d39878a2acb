"""Exports as files: by suffix or by name, whole or not at all."""

from pathlib import Path

import pytest

import everystump as es
from everystump import export

MODEL = es.DecisionStumpClassifier().fit([[0.0], [1.0]], ["no", "ÿes"])


@pytest.mark.parametrize(
    ("name", "to", "wanted"),
    [
        ("model.json", None, export.to_json),
        ("MODEL.SQL", None, export.to_sql),
        ("model.txt", "sql", export.to_sql),
        ("model.sql", "json", export.to_json),
    ],
)
def test_the_suffix_decides_unless_a_language_is_named(tmp_path, name, to, wanted):
    export.write(MODEL, tmp_path / name, to)
    assert (tmp_path / name).read_text(encoding="utf-8") == wanted(MODEL)


def test_onnx(tmp_path):
    pytest.importorskip("onnx", reason="ONNX files are written by the package onnx")
    export.write(MODEL, str(tmp_path / "model.onnx"))
    assert (tmp_path / "model.onnx").read_bytes() == export.to_onnx(MODEL)


@pytest.mark.parametrize(
    ("name", "to", "message"),
    [
        ("model.pkl", None, r"path='.*model.pkl' names no language"),
        ("model", None, r"path='.*model' names no language"),
        ("model.json", "pmml", "to='pmml' names no language"),
    ],
)
def test_other_languages_are_refused_and_nothing_is_written(tmp_path, name, to, message):
    with pytest.raises(ValueError, match=message):
        export.write(MODEL, tmp_path / name, to)
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_cannot_be_exported_leaves_the_file_that_is_there(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("old")
    with pytest.raises(TypeError, match="no classifier of everystump"):
        export.write(object(), path)
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]
    assert path.read_text() == "old"


def test_the_public_names():
    assert export.__all__ == ["score_json", "to_json", "to_onnx", "to_sql", "write"]


def test_the_schema_is_shipped():
    assert (Path(export.__file__).parent / "model.schema.json").is_file()
