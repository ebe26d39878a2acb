"""Model files of models on mixed tables: missing values, categories, edits, constraints."""

import warnings

import numpy as np
import pytest
from test_export_cases import CODES, COLUMNS, NAMES, TEXT, call, case, labels, table

import everystump as es


def save_and_load(model, path):
    es.save(model, path)
    return es.load(path)


@pytest.mark.parametrize("name", NAMES)
def test_every_case_is_restored(name, tmp_path):
    model, rows = case(name)
    again = save_and_load(model, tmp_path / "model.stump")
    np.testing.assert_array_equal(
        call(again.decision_function, rows), call(model.decision_function, rows)
    )
    assert repr(again) == repr(model)


def test_features_and_densities_are_restored(tmp_path):
    model, rows = case("StumpSVC")
    again = save_and_load(model, tmp_path / "model.stump")
    for before, after in zip(model.feature_info_, again.feature_info_, strict=True):
        assert before.name == after.name
        assert np.array_equal(before.levels, after.levels)
    assert again.explain_global().equals(model.explain_global())
    assert again.explain_local(rows).equals(model.explain_local(rows))


def test_an_edited_model_stays_edited(tmp_path):
    model = case("StumpSVC").model
    edited = model.set_curve(TEXT, 1.5, levels=["a"]).remove_feature(COLUMNS["number"])
    again = save_and_load(edited, tmp_path / "model.stump")
    assert again.edits_ == edited.edits_ and again.certificate_ is None
    with pytest.raises(ValueError, match="was edited"):
        _ = again.dual_coef_
    rows = case("StumpSVC").rows
    np.testing.assert_array_equal(again.decision_function(rows), edited.decision_function(rows))
    train = table(220, 0, missing=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert again.fit(train, labels(train, 2)).edits_ == ()


@pytest.mark.parametrize("name", ["SubsampleVoting, shapes", "BoostedStumpSVC", "StumpSVCCV"])
def test_edited_models_can_be_saved(name, tmp_path):
    model, rows = case(name)
    edited = model.set_curve(COLUMNS["number"], 2, missing=True)
    again = save_and_load(edited, tmp_path / "model.stump")
    assert again.edits_ == edited.edits_
    np.testing.assert_array_equal(again.decision_function(rows), edited.decision_function(rows))


def test_a_monotonic_model_is_restored(tmp_path):
    train = table(220, 0, missing=True)
    model = es.StumpSVC(monotonic_cst={COLUMNS["number"]: 1}, categorical_features=CODES)
    model.fit(train, labels(train, 2))
    again = save_and_load(model, tmp_path / "model.stump")
    assert again.monotonic_cst == model.monotonic_cst
    np.testing.assert_array_equal(again.decision_function(train), model.decision_function(train))
