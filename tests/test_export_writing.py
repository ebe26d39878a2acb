"""`export.write`: the format by suffix or argument, files written completely or not at all."""

from pathlib import Path

import pytest

import everystump as es
from everystump import export

MODEL = es.DecisionStumpClassifier().fit([[0.0], [1.0]], ["no", "ÿes"])


@pytest.mark.parametrize(
    ("name", "to", "expected"),
    [
        ("model.json", None, export.to_json),
        ("MODEL.SQL", None, export.to_sql),
        ("model.txt", "sql", export.to_sql),
        ("model.sql", "json", export.to_json),
    ],
)
def test_format_by_suffix_or_argument(tmp_path, name, to, expected):
    export.write(MODEL, tmp_path / name, to)
    assert (tmp_path / name).read_text(encoding="utf-8") == expected(MODEL)


def test_onnx(tmp_path):
    pytest.importorskip("onnx", reason="ONNX files are written by the package onnx")
    export.write(MODEL, str(tmp_path / "model.onnx"))
    assert (tmp_path / "model.onnx").read_bytes() == export.to_onnx(MODEL)


@pytest.mark.parametrize(
    ("name", "to", "message"),
    [
        ("model.pkl", None, r"path='.*model.pkl' does not name an export format"),
        ("model", None, r"path='.*model' does not name an export format"),
        ("model.json", "pmml", "to='pmml' does not name an export format"),
    ],
)
def test_unknown_formats_raise_and_nothing_is_written(tmp_path, name, to, message):
    with pytest.raises(ValueError, match=message):
        export.write(MODEL, tmp_path / name, to)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_export_keeps_the_existing_file(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("old")
    with pytest.raises(TypeError, match="is not an everystump model"):
        export.write(object(), path)
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]
    assert path.read_text() == "old"


def test_public_names():
    assert export.__all__ == ["score_json", "to_json", "to_onnx", "to_sql", "write"]


def test_the_schema_is_part_of_the_package():
    assert (Path(export.__file__).parent / "model.schema.json").is_file()
