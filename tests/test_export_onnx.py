"""ONNX: onnxruntime says what Python says."""

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
from everystump.export import to_onnx

onnx = pytest.importorskip("onnx", reason="ONNX files are written by the package onnx")
runtime = pytest.importorskip("onnxruntime", reason="ONNX files are run by onnxruntime")

TOLERANCE = 1e-9


def session_of(model):
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    return runtime.InferenceSession(to_onnx(model), options, providers=["CPUExecutionProvider"])


def run(session, rows):
    """Return what a session says of the rows of a frame, by output."""
    inputs = {one.name: one.type for one in session.get_inputs()}
    if list(inputs) == ["X"]:
        given = {"X": rows.astype(np.float64).to_numpy()}
    else:
        columns = zip(inputs.items(), rows, strict=True)
        given = {name: as_column(rows[column], kind) for (name, kind), column in columns}
    outputs = [one.name for one in session.get_outputs()]
    return dict(zip(outputs, session.run(outputs, given), strict=True))


def as_column(column, kind):
    if kind == "tensor(string)":
        return column.astype(object).where(column.notna(), "").to_numpy()[:, None]
    return column.astype(np.float64).to_numpy()[:, None]


@pytest.mark.parametrize("name", NAMES)
def test_scores_and_labels(name):
    model, rows = case(name)
    found = run(session_of(model), rows)
    assert found["score"].dtype == np.float64
    assert_close(found["score"], ask(model.decision_function, rows), TOLERANCE)
    clear = distinct_labels(model, rows)
    assert np.array_equal(found["label"][clear], ask(model.predict, rows)[clear])


@pytest.mark.parametrize("name", WITH_CHANCES)
def test_probabilities(name):
    model, rows = case(name)
    found = run(session_of(model), rows)
    assert np.abs(found["probability"] - model.predict_proba(rows)).max() < 1e-7
