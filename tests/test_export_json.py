"""JSON documents: what they say is what Python says, and what they are is what the schema says."""

import json
from importlib.resources import files

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
from everystump.export import score_json, to_json

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
    clear = distinct_labels(model, rows)
    assert np.array_equal(np.array(found.label)[clear], ask(model.predict, rows)[clear])
    assert clear.sum() > 20


@pytest.mark.parametrize("name", WITH_CHANCES)
def test_probabilities(name):
    model, rows = case(name)
    found = score_json(to_json(model), as_rows(rows))
    assert np.abs(found.probability - model.predict_proba(rows)).max() < TOLERANCE


@pytest.mark.parametrize("name", NAMES)
def test_documents_follow_the_schema(name):
    jsonschema = pytest.importorskip("jsonschema", reason="the schema is checked by jsonschema")
    schema = json.loads(files("everystump.export").joinpath("model.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    document = json.loads(to_json(case(name).model))
    validator.validate(document)
    document["scores"][0]["intercept"] = "0"
    assert not validator.is_valid(document)


def test_numbers_come_back_bit_by_bit():
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


def test_what_the_features_are():
    document = json.loads(to_json(case("StumpSVC").model))
    kinds = {feature["name"]: feature for feature in document["features"]}
    assert kinds["select"] == {"name": "select", "kind": "number"}
    assert kinds["code;--"] == {"name": "code;--", "kind": "category", "levels": [3, 7, 10]}
    assert kinds["O'Brien's"]["levels"] == ["O'Brien", "a", 'say "no"', "ü→"]
    assert document["classes"] == ["it's", "no"]


def test_levels_that_are_truth_values_are_numbers():
    X = np.array([[True], [False], [True], [False]])
    model = es.StumpSVC(categorical_features=[0]).fit(X, [1, 0, 1, 0])
    document = to_json(model)
    assert json.loads(document)["features"][0]["levels"] == [0, 1]
    found = score_json(document, [[True], [0], [1.0], [2], [None]])
    wanted = model.decision_function(np.array([[1.0], [0.0], [1.0], [2.0], [np.nan]]))
    assert_close(found.score, wanted, TOLERANCE)


def test_rows_in_the_order_of_the_features():
    model, rows = case("StumpSVC")
    by_name = score_json(to_json(model), as_rows(rows))
    in_order = score_json(json.loads(to_json(model)), [list(row.values()) for row in as_rows(rows)])
    assert np.array_equal(by_name.score, in_order.score)


def test_what_is_left_out_or_infinite_is_missing():
    model = case("StumpSVC").model
    found = score_json(to_json(model), [{}, {"select": np.inf}, {"select": None}]).score
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("name", TAKES_NUMBERS)
def test_rows_that_lack_a_value_have_no_score_where_none_may_be_missing(name):
    model, rows = case(name)
    rows = rows.copy()
    rows.iloc[3, 2] = np.nan
    found = score_json(to_json(model), as_rows(rows))
    assert np.flatnonzero(np.isnan(found.score)).tolist() == [3]
    assert [k for k, label in enumerate(found.label) if label is None] == [3]


@pytest.mark.parametrize("document", ["[]", '{"format": "everystump-model", "version": 2}'])
def test_other_documents_are_refused(document):
    with pytest.raises(ValueError, match="this scorer reads"):
        score_json(document, [])
