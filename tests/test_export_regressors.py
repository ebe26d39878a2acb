"""JSON, SQL and ONNX of regressors predict as Python does."""

import json

import numpy as np
import pandas as pd
import pytest
from test_export_cases import (
    COLUMNS,
    FLAG,
    REGRESSOR_NAMES,
    assert_close,
    call,
    case,
    fit,
    numbers,
)
from test_export_json import as_rows, validator  # noqa: F401 - a fixture
from test_export_sql import in_both_engines, in_duckdb, in_sqlite, with_key

import everystump as es
from everystump.export import score_json, to_json, to_onnx, to_sql

JSON_TOLERANCE, TOLERANCE = 1e-12, 1e-9
LOG_LINK = "StumpRegressor, poisson"


def predictions_in_onnx(model, rows):
    pytest.importorskip("onnx", reason="ONNX files are written by the package onnx")
    pytest.importorskip("onnxruntime", reason="ONNX files are run by onnxruntime")
    from test_export_onnx import run, session_of

    return run(session_of(model), rows)


def predictions(model, rows):
    return call(model.predict, rows)


@pytest.mark.parametrize("name", REGRESSOR_NAMES)
def test_cases_differ_in_predictions(name):
    """A constant model would test nothing."""
    found = predictions(*case(name))
    n_different = {"DecisionStumpRegressor": 1, "StumpBoostingRegressor": 4}.get(name, 30)
    assert len(np.unique(np.round(found, 6))) > n_different
    log_link = case(name).model.link_ == "log"
    assert log_link == ("poisson" in name or "gamma" in name)


@pytest.mark.parametrize("name", REGRESSOR_NAMES)
def test_json(name):
    model, rows = case(name)
    found = score_json(to_json(model), as_rows(rows))
    expected = predictions(model, rows)
    assert_close(found.prediction, expected, JSON_TOLERANCE)
    score = np.log(expected) if model.link_ == "log" else expected
    assert_close(found.score, score, JSON_TOLERANCE)
    assert found.label is None and found.probability is None


@pytest.mark.parametrize("name", REGRESSOR_NAMES)
def test_documents_follow_the_schema(name, validator):  # noqa: F811
    document = json.loads(to_json(case(name).model))
    validator.validate(document)
    assert (document["version"], document["classes"], document["log_odds"]) == (3, [], None)
    assert document["link"] == case(name).model.link_
    for wrong in (
        {"version": 1},
        {"version": 2},
        {"link": "exp"},
        {"classes": ["a", "b"]},
        {"log_odds": 1.0},
        {"scores": document["scores"] * 2},
    ):
        assert not validator.is_valid(document | wrong)
    assert not validator.is_valid({k: v for k, v in document.items() if k != "link"})


def test_documents_of_classifiers_have_no_link(validator):  # noqa: F811
    document = json.loads(to_json(case("StumpSVC").model))
    assert validator.is_valid(document) and "link" not in document
    assert not validator.is_valid(document | {"link": "identity"})
    assert not validator.is_valid(document | {"classes": []})


@pytest.mark.parametrize(("name", "run"), [*in_both_engines(REGRESSOR_NAMES)])
def test_sql(name, run):
    model, rows = case(name)
    found = run(to_sql(model, "da ta", keep=["Key"]), with_key(rows))
    assert found.titles == ["Key", "score", "prediction"]
    expected = predictions(model, rows)
    assert_close(found.numbers("prediction")[:, 0], expected, TOLERANCE)
    score = np.log(expected) if model.link_ == "log" else expected
    assert_close(found.numbers("score")[:, 0], score, TOLERANCE)


def test_sql_needs_math_functions_for_a_log_link_only():
    assert "EXP(" not in to_sql(case("StumpRegressor").model)
    assert to_sql(case(LOG_LINK).model).count("EXP(") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"probability": True}, r"StumpRegressor are not log-odds; use probability=False\."),
        ({"keep": ["Prediction"]}, "keep contains 'Prediction', which is already a column"),
        ({"keep": ["score"]}, "keep contains 'score'"),
    ],
)
def test_invalid_arguments_of_sql(arguments, message):
    with pytest.raises(ValueError, match=message):
        to_sql(case("StumpRegressor").model, **arguments)


def test_columns_of_sql_that_classifiers_reserve():
    """A regression has no label, so that a column of the table may have this name."""
    model, rows = case("StumpRegressor")
    found = in_sqlite(to_sql(model, "da ta", keep=["Key", FLAG]), with_key(rows))
    assert found.titles == ["Key", FLAG, "score", "prediction"]


@pytest.mark.parametrize("name", REGRESSOR_NAMES)
def test_onnx(name):
    model, rows = case(name)
    found = predictions_in_onnx(model, rows)
    assert list(found) == ["variable"]
    assert found["variable"].dtype == np.float64 and found["variable"].shape == (len(rows), 1)
    assert_close(found["variable"][:, 0], predictions(model, rows), TOLERANCE)


def test_onnx_of_no_rows_and_one():
    model, rows = case("StumpRegressor, interactions, poisson")
    assert predictions_in_onnx(model, rows[:0])["variable"].shape == (0, 1)
    found = predictions_in_onnx(model, rows[7:8])["variable"]
    assert_close(found[:, 0], predictions(model, rows[7:8]), TOLERANCE)


def test_onnx_inputs_that_are_named_as_the_output():
    frame = pd.DataFrame({"variable": [0.0, 1.0, 2.0, 3.0], "label": ["a", "b", "a", "b"]})
    model = es.StumpRegressor().fit(frame, [1.0, 2.0, 4.0, 3.0])
    found = predictions_in_onnx(model, frame)["variable"]
    assert_close(found[:, 0], model.predict(frame), TOLERANCE)
    from test_export_onnx import session_of

    names = [one.name for one in session_of(model).get_inputs()]
    assert names == ["input_variable", "label"]


@pytest.mark.parametrize("scale", [1e-9, 1e12])
@pytest.mark.parametrize("loss", ["squared", "gamma"])
def test_targets_of_any_scale(scale, loss):
    train = pd.DataFrame(numbers(160, np.random.default_rng(2)))
    y = scale * np.exp(train[COLUMNS["number"]])
    model = fit(es.StumpRegressor(loss=loss), train, y)
    expected, query = model.predict(train) / scale, to_sql(model, "da ta", keep=["Key"])
    found = {
        "JSON": score_json(to_json(model), train).prediction,
        "SQLite": in_sqlite(query, with_key(train)).numbers("prediction")[:, 0],
        "DuckDB": in_duckdb(query, with_key(train)).numbers("prediction")[:, 0],
        "ONNX": predictions_in_onnx(model, train)["variable"][:, 0],
    }
    for values in found.values():
        assert_close(values / scale, expected, TOLERANCE)


@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_a_constant_model(loss):
    model = es.StumpRegressor(loss=loss).fit([[1.0], [1.0]], [3.0, 5.0])
    rows = pd.DataFrame({"x0": [1.0, np.nan]})
    assert_close(score_json(to_json(model), rows).prediction, [4.0, 4.0], TOLERANCE)
    assert_close(predictions_in_onnx(model, rows)["variable"][:, 0], [4.0, 4.0], TOLERANCE)
    found = in_sqlite(to_sql(model, "da ta", keep=["Key"]), with_key(rows))
    assert_close(found.numbers("prediction")[:, 0], [4.0, 4.0], TOLERANCE)


def test_edited_models():
    model, rows = case(LOG_LINK)
    edited = model.remove_feature(COLUMNS["number"])
    found = score_json(to_json(edited), as_rows(rows)).prediction
    assert_close(found, edited.predict(rows), JSON_TOLERANCE)
    assert np.abs(found - model.predict(rows)).max() > 0.1


def test_bytes_of_onnx_do_not_depend_on_the_run():
    pytest.importorskip("onnx", reason="ONNX files are written by the package onnx")
    assert to_onnx(case(LOG_LINK).model) == to_onnx(case(LOG_LINK).model)
