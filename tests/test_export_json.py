"""JSON documents follow the schema and score rows as Python does."""

import json
from datetime import date
from decimal import Decimal
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from test_export_cases import (
    NAMES,
    TEXT,
    WITH_PROBABILITIES,
    WITHOUT_MISSING,
    assert_close,
    call,
    case,
    is_clear,
    scores_of,
)

import everystump as es
from everystump.export import score_json, to_json, to_onnx, to_sql

TOLERANCE = 1e-12


def as_rows(frame):
    """Return a frame as dicts of plain values, None where a value is missing."""
    plain = frame.astype(object).where(frame.notna(), None)
    return plain.to_dict("records")


@pytest.mark.parametrize("name", NAMES)
def test_scores_and_labels(name):
    model, rows = case(name)
    found = score_json(to_json(model), as_rows(rows))
    assert_close(found.score.reshape(len(rows), -1), scores_of(model, rows), TOLERANCE)
    clear = is_clear(model, rows)
    assert np.array_equal(np.array(found.label)[clear], call(model.predict, rows)[clear])
    assert clear.sum() > 20


@pytest.mark.parametrize("name", WITH_PROBABILITIES)
def test_probabilities(name):
    model, rows = case(name)
    found = score_json(to_json(model), as_rows(rows))
    assert np.abs(found.probability - model.predict_proba(rows)).max() < TOLERANCE


@pytest.fixture(scope="module")
def validator():
    """Return what checks documents against the schema, after a check of the schema."""
    jsonschema = pytest.importorskip("jsonschema", reason="the schema is checked by jsonschema")
    schema = json.loads(files("everystump.export").joinpath("model.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", NAMES)
def test_documents_follow_the_schema(name, validator):
    document = json.loads(to_json(case(name).model))
    validator.validate(document)
    document["scores"][0]["intercept"] = "0"
    assert not validator.is_valid(document)


def test_numbers_are_read_back_exactly():
    model = case("StumpSVC, 3 classes").model
    document = json.loads(to_json(model), parse_constant=pytest.fail)
    for score, shapes in zip(document["scores"], model.shapes_, strict=True):
        assert score["intercept"] == shapes.intercept
        lines = [curve for curve in score["curves"] if "knots" in curve]
        assert len(lines) >= 4
        for curve in lines:
            shape = shapes[curve["feature"]]
            assert curve["knots"] == shape.knots.tolist()
            assert curve["values"] == shape.values.tolist()
            assert curve["missing"] == shape.missing


def test_features_of_a_document():
    document = json.loads(to_json(case("StumpSVC").model))
    kinds = {feature["name"]: feature for feature in document["features"]}
    assert kinds["select"] == {"name": "select", "kind": "number"}
    assert kinds["code;--"] == {"name": "code;--", "kind": "category", "levels": [3, 7, 10]}
    assert kinds["O'Brien's"]["levels"] == ["O'Brien", "a", 'say "no"', "ü→"]
    assert document["classes"] == ["it's", "no"]


def test_boolean_levels_are_numbers():
    X = np.array([[True], [False], [True], [False]])
    model = es.StumpSVC(categorical_features=[0]).fit(X, [1, 0, 1, 0])
    document = to_json(model)
    assert json.loads(document)["features"][0]["levels"] == [0, 1]
    found = score_json(document, [[True], [0], [1.0], [2], [None]])
    expected = model.decision_function(np.array([[1.0], [0.0], [1.0], [2.0], [np.nan]]))
    assert_close(found.score, expected, TOLERANCE)


def test_rows_in_the_order_of_the_features():
    model, rows = case("StumpSVC")
    by_name = score_json(to_json(model), as_rows(rows))
    in_order = score_json(json.loads(to_json(model)), [list(row.values()) for row in as_rows(rows)])
    assert np.array_equal(by_name.score, in_order.score)


@pytest.mark.parametrize("missing", [None, np.nan, np.inf, -np.inf, pd.NA, pd.NaT, Decimal("NaN")])
def test_values_that_count_as_missing(missing):
    model, rows = case("StumpSVC")
    (row,) = as_rows(rows[:1])
    found = score_json(to_json(model), [row | {"select": None}, row | {"select": missing}]).score
    assert found[0] == found[1] != score_json(to_json(model), [row]).score[0]


def test_documents_in_any_form():
    model, rows = case("StumpSVC")
    text = to_json(model)
    for document in (text, text.encode(), bytearray(text.encode()), json.loads(text)):
        found = score_json(document, as_rows(rows)).score
        assert_close(found, model.decision_function(rows), TOLERANCE)


@pytest.mark.parametrize("name", ["StumpSVC", "StumpSVC, 3 classes", "KernelSVC, gaussian"])
def test_frames_are_read_by_column_names(name):
    model, rows = case(name)
    expected = scores_of(model, rows)
    turned = rows[rows.columns[::-1]].assign(key=np.arange(len(rows)))
    polars = pytest.importorskip("polars", reason="polars frames are tested too")
    other = polars.DataFrame(as_rows(turned), infer_schema_length=None)
    for frame in (rows, turned, turned.convert_dtypes(), other):
        found = score_json(to_json(model), frame).score
        assert_close(found.reshape(len(rows), -1), expected, TOLERANCE)


def test_levels_of_frames():
    model, rows = case("StumpSVC")
    expected = model.decision_function(rows)
    coded = rows.assign(**{TEXT: rows[TEXT].astype("category")})
    assert_close(score_json(to_json(model), coded).score, expected, TOLERANCE)


def test_arrays_and_rows_of_other_libraries():
    model, rows = case("KernelSVC, gaussian")
    expected = model.decision_function(rows)
    exact = [[Decimal(repr(float(cell))) for cell in row] for row in rows.to_numpy()]
    series = [row for _, row in rows.iterrows()]
    for data in (rows.to_numpy(), rows.to_numpy().tolist(), exact, series, iter(exact)):
        assert_close(score_json(to_json(model), data).score, expected, TOLERANCE)


def test_no_rows():
    assert score_json(to_json(case("StumpSVC").model), []).score.shape == (0,)


NUMBERS = [[0.0, 1.0], [1.0, 1.0]]
WORDS = np.array([["a"], ["b"]], dtype=object)


@pytest.mark.parametrize(
    ("X", "rows", "message"),
    [
        (NUMBERS, [{"x0": 1}], r"rows\[0\] lacks 'x1'; add it, as None"),
        (NUMBERS, [{"x0": 1, "x1": 2}, {"x0": 1, "x1": 2, "y": 3}], r"rows\[1\] has the key 'y'"),
        (NUMBERS, [[1.0, 2.0], [1.0]], r"rows\[1\] has 1 values, but the document has 2 features"),
        (NUMBERS, np.zeros((3, 4)), r"rows\[0\] has 4 values"),
        (NUMBERS, np.zeros(2), r"rows\[0\]=0.0 is not a row; pass a list of rows"),
        (NUMBERS, ["ab"], r"rows\[0\]='ab' is not a row"),
        (NUMBERS, [{1, 2}], r"rows\[0\]=.* is not a row"),
        (NUMBERS, {"x0": 1, "x1": 2}, "rows is of type dict; pass a list of rows"),
        (NUMBERS, 3, "rows is of type int; pass a list of rows"),
        (NUMBERS, sparse.csr_array(np.eye(2)), r"rows is sparse.*; pass rows.toarray\(\)"),
        (NUMBERS, pd.DataFrame({"x0": [1.0]}), "rows has no column 'x1', which is a feature"),
        (NUMBERS, pd.DataFrame([[1, 2, 3]], columns=["x0", "x1", "x1"]), "two columns named 'x1'"),
        (NUMBERS, [["3.5", 1]], r"rows\[0\] has '3.5' for 'x0', which must be a number"),
        (NUMBERS, [[date(2020, 1, 1), 1]], "for 'x0', which must be a number"),
        (NUMBERS, [[np.timedelta64(1, "D"), 1]], "for 'x0', which must be a number"),
        (NUMBERS, [[[1], 1]], r"rows\[0\] has \[1\] for 'x0', which must be a number"),
        (WORDS, [[3]], r"rows\[0\] has 3 for 'x0', which must be text"),
    ],
)
def test_invalid_rows(X, rows, message):
    model = es.StumpSVC().fit(X, [0, 1])
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        score_json(to_json(model), rows)
    assert "\n" not in str(caught.value)


def test_lazy_frames():
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"rows is a lazy frame.*; pass rows.collect\(\)"):
        score_json(
            to_json(es.StumpSVC().fit(NUMBERS, [0, 1])), polars.LazyFrame({"x0": [1], "x1": [2]})
        )


def test_documents_that_are_not_json():
    with pytest.raises(
        ValueError, match=r"^document is not valid JSON \(.*\); pass the output of everystump"
    ):
        score_json("model.json", [])


def test_labels_that_are_neither_numbers_nor_text():
    days = np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]")
    for labels, kind in ((days, "date"), (days.astype("M8[ns]"), r"datetime64\[ns\]")):
        model = es.StumpSVC().fit([[0.0], [1.0]], labels)
        for export in (to_json, to_sql, to_onnx):
            if export is to_onnx:
                pytest.importorskip("onnx", reason="ONNX files are written by the package onnx")
            with pytest.raises(ValueError, match=f"^model: its label '2020.*of type {kind}, n"):
                export(model)


@pytest.mark.parametrize("name", WITHOUT_MISSING)
def test_missing_values_leave_no_score_if_the_model_takes_none(name):
    model, rows = case(name)
    rows = rows.copy()
    rows.iloc[3, 2] = np.nan
    found = score_json(to_json(model), as_rows(rows))
    assert np.flatnonzero(np.isnan(found.score)).tolist() == [3]
    assert [k for k, label in enumerate(found.label) if label is None] == [3]


@pytest.mark.parametrize("document", ["[]", '{"format": "everystump-model", "version": 4}'])
def test_other_formats_and_versions_raise(document):
    with pytest.raises(ValueError, match="score_json reads"):
        score_json(document, [])
