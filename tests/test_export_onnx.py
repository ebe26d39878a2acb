"""ONNX: onnxruntime scores rows as Python does."""

import sys

import numpy as np
import pytest
from test_export_cases import (
    NAMES,
    WITH_PROBABILITIES,
    WITHOUT_MISSING,
    assert_close,
    call,
    case,
    is_clear,
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
    """Return the outputs of a session for the rows of a frame, by name."""
    inputs = {one.name: one.type for one in session.get_inputs()}
    if list(inputs) == ["X"]:
        values = {"X": rows.astype(np.float64).to_numpy()}
    else:
        columns = zip(inputs.items(), rows, strict=True)
        values = {name: as_column(rows[column], kind) for (name, kind), column in columns}
    outputs = [one.name for one in session.get_outputs()]
    return dict(zip(outputs, session.run(outputs, values), strict=True))


def as_column(column, kind):
    if kind == "tensor(string)":
        return column.astype(object).where(column.notna(), "").to_numpy()[:, None]
    return column.astype(np.float64).to_numpy()[:, None]


@pytest.mark.parametrize("name", NAMES)
def test_scores_and_labels(name):
    model, rows = case(name)
    found = run(session_of(model), rows)
    assert found["score"].dtype == np.float64
    assert_close(found["score"], call(model.decision_function, rows), TOLERANCE)
    clear = is_clear(model, rows)
    assert np.array_equal(found["label"][clear], call(model.predict, rows)[clear])


@pytest.mark.parametrize("name", WITH_PROBABILITIES)
def test_probabilities(name):
    model, rows = case(name)
    found = run(session_of(model), rows)
    assert np.abs(found["probability"] - model.predict_proba(rows)).max() < 1e-7


@pytest.mark.parametrize("name", ["StumpSVC", "StumpSVC, arrays", "KernelSVC, middle"])
def test_one_row_and_many(name):
    model, rows = case(name)
    session = session_of(model)
    whole = run(session, rows)["score"]
    assert run(session, rows.iloc[:0])["score"].shape == (0,)
    assert_close(run(session, rows.iloc[7:8])["score"], whole[7:8], TOLERANCE)
    many = rows.iloc[np.tile(np.arange(len(rows)), 200)]
    assert_close(run(session, many)["score"], np.tile(whole, 200), TOLERANCE)


@pytest.mark.parametrize("name", WITHOUT_MISSING)
def test_missing_values_leave_no_score_if_the_model_takes_none(name):
    model, rows = case(name)
    rows = rows.copy()
    rows.iloc[3, 2] = np.nan
    found = run(session_of(model), rows)["score"]
    assert np.flatnonzero(np.isnan(found)).tolist() == [3]


def test_empty_text_is_missing_unless_it_is_a_level():
    y = [0, 1, 1, 0, 1, 0]
    without = np.array([["a"], ["b"], [None], ["a"], ["b"], ["a"]], dtype=object)
    with_it = np.array([["a"], ["b"], [""], ["a"], ["b"], ["a"]], dtype=object)
    for X in (without, with_it):
        model = es.StumpSVC().fit(X, y)
        found = session_of(model).run(["score"], {"x0": np.array([[""], ["b"]], dtype=object)})[0]
        assert_close(found, model.decision_function(X[[2, 1]]), TOLERANCE)


def test_inputs_are_named_after_features_and_outputs_keep_their_names():
    session = session_of(case("StumpLogisticRegression").model)
    inputs = {one.name: one.type for one in session.get_inputs()}
    assert inputs["O'Brien's"] == "tensor(string)"
    assert inputs["select"] == inputs["code;--"] == "tensor(double)"
    assert "input_label" in inputs
    assert [one.name for one in session.get_outputs()] == ["label", "score", "probability"]


def test_operator_sets():
    model = onnx.load_from_string(to_onnx(case("StumpSVC").model))
    assert {one.domain: one.version for one in model.opset_import} == {"": 13, "ai.onnx.ml": 3}


@pytest.mark.parametrize("classes", [[False, True], [1.0, 4.0], [3, 8], ["n", "ÿ"], [1, 2, 3]])
def test_labels_of_all_types(classes):
    X = np.arange(float(len(classes)))[:, None]
    found = session_of(es.StumpSVC(C=100.0).fit(X, classes)).run(["label"], {"X": X})[0]
    assert found.tolist() == classes


def test_a_constant_model():
    model = es.DecisionStumpClassifier().fit([[1.0], [1.0], [1.0]], ["a", "b", "b"])
    found = session_of(model).run(["label", "score"], {"X": np.array([[1.0], [np.nan]])})
    assert found[0].tolist() == ["b", "b"]
    assert found[1].tolist() == [1.0, 1.0]


def test_error_if_onnx_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'everystump\[onnx\]'") as raised:
        to_onnx(case("StumpSVC").model)
    assert "\n" not in str(raised.value)
