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
