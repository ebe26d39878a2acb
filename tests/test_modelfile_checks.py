"""Files whose parts contradict each other raise an error, though each part is readable."""

import json
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from stored_models import fitted, table
from test_modelfile_damaged import (
    contents,
    error_message,
    holds,
    npy,
    replace_array,
    rewrite,
    shape_of,
)

import everystump
from everystump.modelfile import ModelFileError, container, load, save


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.stump"


def part(node, *names):
    """Return a nested part of a model's JSON."""
    for name in names:
        node = node["holds" if name in node.get("holds", {}) else "with"][name]
    return node


def parameter(**entries):
    return lambda index: index["model"]["with"].update(entries)


def held(**entries):
    return lambda index: holds(index).update(entries)


def recorded(**entries):
    return lambda index: holds(index)["_training_record"]["with"].update(entries)


def cut(name):
    return lambda index: holds(index)[name]["items"].pop()


def number(text):
    return {"type": "float", "value": text}


CONTRADICTORY = {
    "n_jobs": ("StumpSVC", parameter(n_jobs="rm -rf"), "'n_jobs' parameter"),
    "C": ("KernelSVC", parameter(C=-1.0), "'C' parameter"),
    "n_jobs inside": (
        "LooBoundSearch",
        lambda i: holds(i)["candidates_"][0]["with"].update(tol="x"),
        "'tol' parameter",
    ),
    "missing text": ("StumpSVC", lambda i: shape_of(i)["with"].update(missing="abc"), "missing"),
    "missing NaN": (
        "StumpSVC",
        lambda i: shape_of(i)["with"].update(missing=number("nan")),
        "is missing must be a finite number",
    ),
    "category": (
        "StumpSVC",
        lambda i: shape_of(i)["with"].update(is_category=1),
        "either categorical or numeric",
    ),
    "category, numbers": (
        "StumpSVC",
        lambda i: shape_of(i)["with"].update(is_category=True),
        "one curve for each feature and its levels",
    ),
    "intercept": (
        "StumpSVC",
        lambda i: holds(i)["shapes_"]["with"].update(intercept=number("nan")),
        "a finite intercept",
    ),
    "fewer features": (
        "StumpSVC",
        cut("feature_info_"),
        "feature_info_ must have one entry for each of",
    ),
    "features of text": ("StumpSVC", held(feature_info_="abcd"), "must be a tuple of Features"),
    "no features": ("StumpSVC", lambda i: holds(i).pop("feature_info_"), "must have feature_info_"),
    "99 features": ("StumpSVC", held(n_features_in_=99), "each of the 99 features"),
    "a feature of text": (
        "StumpSVC",
        held(n_features_in_="4"),
        "n_features_in_ must be a positive integer",
    ),
    "99 features, kernel": ("KernelSVC", held(n_features_in_=99), "each of the 99 features"),
    "99 features, vote": ("WeightedVoteClassifier", held(n_features_in_=99), "to its 99 features"),
    "99 features, search": ("LooBoundSearch", held(n_features_in_=99), "fitted to its 99 features"),
    "fewer curves": (
        "StumpSVC",
        lambda i: holds(i)["shapes_"]["with"]["shapes"]["items"].pop(),
        "one curve for each feature",
    ),
    "one class": ("StumpSVC", held(classes_=[1]), "an array of two or more distinct labels"),
    "directions": ("PerceptronSVC, axes", held(directions_=[[1.0]]), "one number for each feature"),
    "no center": ("PerceptronSVC, axes", lambda i: holds(i).pop("centre_"), "centre_"),
    "no scale": ("PerceptronSVC, axes", held(scale_=None), "one factor for each feature if scale"),
    "a scale too many": ("PerceptronSVC, axes", parameter(scale=False), "be None otherwise"),
    "votes": ("WeightedVoteClassifier", held(weights_=[1.0]), "one weight for each of estimators_"),
    "no members": (
        "WeightedVoteClassifier",
        lambda i: holds(i)["estimators_"].clear(),
        "must be fitted to its 4 features",
    ),
    "members": ("SubsampleVotingClassifier", held(estimators_features_=[None]), "one member and"),
    "subset": (
        "SubsampleVotingClassifier",
        held(estimators_features_=[[9], None, None]),
        "must name features",
    ),
    "no classes": ("StumpSVC", lambda i: holds(i).pop("classes_"), "with shapes_ needs classes_"),
    "a link of classes": ("StumpSVC", held(link_="log"), "with classes_ must not have link_"),
    "no link": ("StumpRegressor", lambda i: holds(i).pop("link_"), "with shapes_ needs link_"),
    "another link": ("StumpRegressor", held(link_="exp"), "one of 'identity', 'log'"),
    "links": ("StumpRegressor", held(link_=["log"]), "link_ must be one of"),
    "a class of numbers": (
        "StumpRegressor",
        held(classes_={"type": "objects", "shape": [2], "items": [0, 1]}),
        "with link_ must not have classes_",
    ),
    "scale": ("StumpRegressor", held(target_scale_=0.0), "target_scale_ must be a positive"),
    "scale of text": (
        "StumpRegressor",
        held(target_scale_="1"),
        "target_scale_ must be a positive",
    ),
    "scale NaN": (
        "StumpRegressor",
        held(target_scale_=number("nan")),
        "target_scale_ must be a positive",
    ),
    "a list of one model": (
        "StumpRegressor",
        lambda i: holds(i).update(shapes_=[holds(i)["shapes_"]]),
        "one ShapeModel for each of the 1 scores",
    ),
    "a loss": ("StumpRegressor", parameter(loss="rm -rf"), "'loss' parameter"),
    "a quantile": ("StumpRegressor", parameter(quantile=2.0), "'quantile' parameter"),
    "fewer curves of a regressor": (
        "StumpRegressor",
        lambda i: holds(i)["shapes_"]["with"]["shapes"]["items"].pop(),
        "one curve for each feature",
    ),
    "record of text": ("StumpSVC", held(_training_record="x"), "must be a TrainingRecord or None"),
    "record, no rows": (
        "StumpSVC",
        recorded(n_input_rows=0),
        "n_input_rows of a TrainingRecord must be",
    ),
    "record, other rows": ("StumpSVC", recorded(n_input_rows=9), "one hash for each row"),
    "record, half a row": ("StumpSVC", recorded(n_input_rows=120.5), "n_input_rows of a TrainingR"),
    "record, whole": ("StumpSVC", recorded(complete=1), "complete a boolean"),
    "record, twins": (
        "StumpSVC",
        recorded(n_duplicates=-1),
        "n_duplicates of a TrainingRecord must be",
    ),
    "record, checksum": (
        "StumpSVC",
        recorded(table_checksum="x"),
        "checksums of a TrainingRecord must be",
    ),
    "record, a list": ("StumpSVC", recorded(hashes=[1, 2]), "hashes of a TrainingRecord must be"),
}


@pytest.mark.parametrize("kind", CONTRADICTORY)
def test_inconsistent_parts(kind, path):
    name, edit, message = CONTRADICTORY[kind]
    save(fitted(name), path)
    # A note refers to all arrays, so that the error is not about unused ones.
    index = json.loads(contents(path)["model.json"])
    rewrite(path, held(note_=[{"type": "array", "file": file} for file in index["arrays"]]))
    assert repr(load(path)) == repr(fitted(name))
    rewrite(path, edit)
    assert message in error_message(path)


ONE_CLASS, THREE_CLASSES = np.array([1]), np.array([-1, 0, 1])


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (ONE_CLASS, "an array of two or more distinct labels"),
        (np.array([1, 1]), "an array of two or more distinct labels"),
        (np.array([[0, 1]]), "an array of two or more distinct labels"),
        (THREE_CLASSES, "one ShapeModel for each of the 3 scores"),
    ],
)
def test_classes_that_do_not_match(classes, message, path):
    save(fitted("StumpSVC"), path)
    file = holds(json.loads(contents(path)["model.json"]))["classes_"]["file"]
    replace_array(path, file, npy(classes))
    assert message in error_message(path)


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f8"])
@pytest.mark.parametrize("name", ["knots", "values"])
def test_curves_of_other_floats(name, dtype, path):
    save(fitted("StumpSVC"), path)
    file = shape_of(json.loads(contents(path)["model.json"]))["with"][name]["file"]
    array = getattr(fitted("StumpSVC").shapes_[0], name)
    replace_array(path, file, npy(array))
    load(path)
    replace_array(path, file, npy(array.astype(dtype)))
    assert "must be arrays of 64-bit floats" in error_message(path)


HASHES = "a non-empty array of unsigned 64-bit integers"
KEPT = "row numbers in ascending order"


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("hashes", np.zeros(0, dtype=np.uint64), HASHES),
        ("hashes", np.zeros(80), HASHES),
        ("hashes", np.zeros(80, dtype=np.int64), HASHES),
        ("hashes", np.zeros((80, 1), dtype=np.uint64), HASHES),
        ("hashes", np.zeros(79, dtype=np.uint64), "one hash for each row"),
        ("kept", np.zeros(0, dtype=np.int64), KEPT),
        ("kept", np.arange(80.0), KEPT),
        ("kept", np.arange(80)[::-1].copy(), KEPT),
        ("kept", np.arange(80) - 1, KEPT),
        ("kept", np.arange(80) + 30, KEPT),
        ("kept", np.arange(80).reshape(80, 1), KEPT),
    ],
)
def test_invalid_training_records(name, array, message, path):
    X, y = table(2)
    X, y = np.r_[X, X][:100], np.r_[y, y][:100]
    save(everystump.StumpSVC().fit(X, y, np.repeat([1.0, 0.0], [80, 20])), path)
    index = json.loads(contents(path)["model.json"])
    assert load(path).training_overlap(X, y).same_table
    replace_array(path, part(index["model"], "_training_record", name)["file"], npy(array))
    assert message in error_message(path)


@pytest.mark.parametrize("cls", ["StumpSVC", "StumpBoostingClassifier", "StumpLogisticRegression"])
@pytest.mark.parametrize("categories", [[], ["clerk", "maid"]])
def test_a_category_that_is_missing_in_training(cls, categories, path):
    a = np.linspace(-1, 1, 20)
    job = pd.Categorical([None] * 20, categories=categories)
    X, y = pd.DataFrame({"a": a, "job": job}), (a > 0).astype(int)
    model = getattr(everystump, cls)().fit(X, y)
    save(model, path)
    again = load(path)
    for rows in (X, X.assign(job="clerk")):
        np.testing.assert_array_equal(again.decision_function(rows), model.decision_function(rows))
    np.testing.assert_array_equal(again.predict(X), y)


def test_values_that_are_not_finite(path):
    save(fitted("StumpSVC"), path)
    file = shape_of(json.loads(contents(path)["model.json"]))["with"]["values"]["file"]
    array = fitted("StumpSVC").shapes_[0].values.copy()
    array[3] = np.inf
    replace_array(path, file, npy(array))
    assert "the values of a Shape must be finite" in error_message(path)


def test_an_expansion_over_other_features(path):
    save(fitted("KernelSVC"), path)
    index = json.loads(contents(path)["model.json"])
    file = part(index["model"], "expansion_", "support_vectors")["file"]
    replace_array(path, file, npy(np.zeros((68, 3))))
    assert "match the features and classes" in error_message(path)
    replace_array(path, file, npy(np.zeros((67, 4))))
    assert "one weight for each support vector" in error_message(path)


def test_a_model_with_invalid_parameters_is_not_saved(path):
    model = fitted("DecisionStumpClassifier").__class__(criterion="error")
    model = model.fit([[0.0], [1.0]], [0, 1])
    model.n_jobs = "many"
    with pytest.raises(ModelFileError, match="'n_jobs' parameter"):
        save(model, path)
    assert not path.exists()


def test_json_of_very_many_values(path):
    save(fitted("StumpSVC"), path)
    rewrite(path, parameter(tol="here"))
    text = contents(path)["model.json"].replace(b'"here"', b"[" + b"[]," * 5_000_000 + b"0]")
    container.write_archive(path, contents(path) | {"model.json": text})
    tracemalloc.start()
    assert "values, but a model file is limited to 1,000,000" in error_message(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * len(text)


HEADERS = {
    "as NumPy writes it": ("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", True),
    "other quotes": ('{"descr": "<f8", "fortran_order": False, "shape": (3,), }', False),
    "no last comma": ("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", False),
    "other order": ("{'shape': (3,), 'descr': '<f8', 'fortran_order': False, }", False),
    "more": ("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'x': 1, }", False),
    "a long": ("{'descr': '<f8', 'fortran_order': False, 'shape': (3L,), }", False),
    "zeros": ("{'descr': '<f8', 'fortran_order': False, 'shape': (03,), }", False),
    "a sum": ("{'descr': '<f8', 'fortran_order': False, 'shape': (1+2,), }", False),
    "another name": ("{'descr': 'float64', 'fortran_order': False, 'shape': (3,), }", False),
    "an old name": ("{'descr': '<a8', 'fortran_order': False, 'shape': (3,), }", False),
    "a long float": ("{'descr': '<f16', 'fortran_order': False, 'shape': (3,), }", False),
}


@pytest.mark.filterwarnings("ignore:Reading:UserWarning", "ignore:Data type:DeprecationWarning")
@pytest.mark.parametrize("kind", HEADERS)
def test_headers_of_arrays(kind):
    text, fine = HEADERS[kind]
    padded = text.encode().ljust(117) + b"\n"
    itemsize = 16 if "f16" in text else 8
    content = b"\x93NUMPY\x01\0" + len(padded).to_bytes(2, "little") + padded + bytes(3 * itemsize)
    if fine:
        assert container.read_array(content).tolist() == [0.0, 0.0, 0.0]
        return
    with pytest.raises((TypeError, ValueError)):
        container.read_array(content)


def test_loading_does_not_change_the_warning_filters(path, monkeypatch):
    """Reading changes no filter, which all threads share."""
    save(fitted("StumpSVC"), path)
    container._read_header.cache_clear()

    def forbidden(*args, **kwargs):
        raise AssertionError("filters of warnings are shared by all threads")

    with monkeypatch.context() as patch:
        patch.setattr(warnings, "catch_warnings", forbidden)
        patch.setattr(warnings, "simplefilter", forbidden)
        again = load(path)
    assert repr(again) == "StumpSVC()"
