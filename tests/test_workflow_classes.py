"""Classes of a table: rare ones, many of them, and values that are not classes."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from command import ADDITIVE, input_error, run

from everystump import load


def table_of(labels, tmp_path):
    """Write a table with these labels; return the arguments that fit it."""
    x = np.random.default_rng(0).normal(size=(len(labels), 2))
    frame = pd.DataFrame(x, columns=["a", "b"]).assign(y=labels)
    frame.to_csv(tmp_path / "t.csv", index=False)
    return "fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m.stump", "--json"


def test_rare_classes_get_fewer_folds_and_a_note(tmp_path):
    fit = table_of([*"no" * 30, *["rare"] * 5], tmp_path)
    about = json.loads(run(*fit, *ADDITIVE).stdout)
    assert about["notes"] == ["Class rare has only 4 rows: C is chosen by 4 folds instead of 5."]
    assert (about["n_rows"], about["n_held_out"]) == (48, 17)
    assert about["positive"] is None and len(about["class_counts"]) == 3
    about = json.loads(run(*fit, "--force", "--cv", 6, "--C", 1, *ADDITIVE).stdout)
    assert about["notes"] == ["Evaluated by 5 folds instead of 6: y = rare has only 5 rows."]
    assert about["error"]["how"] == "5 folds, approximate 95% interval"
    text = " ".join(run(*fit[:-1], *ADDITIVE, "--force").stdout.split())
    assert "Note Class rare has only 4 rows" in text


@pytest.mark.parametrize(
    ("preset", "measure"),
    [
        ("stump-logistic", []),
        pytest.param("stump-svm", ["--cv", 3], marks=pytest.mark.slow),
        pytest.param("boost", [], marks=pytest.mark.slow),
        ("boost-svm", ["--cv", 3]),
        pytest.param("bag", ["--cv", 3], marks=pytest.mark.slow),
    ],
)
def test_the_only_row_of_a_class_is_used_for_training(preset, measure, tmp_path):
    fit = table_of([*"no" * 20, "single"], tmp_path)
    about = json.loads(run(*fit, "--model", preset, *measure).stdout)
    assert any(re.search(r"single .*(one|single) row", note) for note in about["notes"])
    assert "single" in load(tmp_path / "m.stump").classes_
    assert about["figures"]["n_rows"] == (40 if measure else 10)


BOOST = pytest.param(("--model", "boost"), marks=pytest.mark.slow)
MANY_CLASSES = pytest.mark.parametrize("model", [("--C", 1, *ADDITIVE), BOOST])


@MANY_CLASSES
def test_many_classes(model, tmp_path):
    labels = [f"L{k:02}" for k in range(26)] * 6
    about = json.loads(run(*table_of(labels, tmp_path), *model).stdout)
    assert len(load(tmp_path / "m.stump").classes_) == 26
    assert any("L00, L01" in sentence and "and 6 more" in sentence for sentence in about["schema"])


@MANY_CLASSES
def test_fewer_held_out_rows_than_classes(model, tmp_path):
    """26 classes, 13 rows to hold out: each class keeps a training row."""
    labels = [f"L{k:02}" for k in range(26)] * 5
    done = run(*table_of(labels, tmp_path), *model, "--holdout", 0.1)
    about = json.loads(done.stdout)
    assert about["n_held_out"] == 13 and min(about["class_counts"]) >= 1
    assert len(about["class_counts"]) == 26


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (np.arange(300) / 7, "'y' has 300 distinct values in 300 rows, too many for classes"),
        (np.arange(300), "or predict numbers with --task regression"),
        (np.arange(3000) % 1001, "'y' has 1,001 distinct values in 3,000 rows"),
        ([f"name {k}" for k in range(100)], "fewer classes, or name another --target"),
    ],
)
def test_quantities_and_names_are_not_classes(labels, why, tmp_path):
    assert why in input_error(*table_of(labels, tmp_path), "--task", "classification")


def test_numbers_are_classes_on_request(tmp_path):
    labels = [f"{k % 30},5" for k in range(300)]
    fit = table_of(labels, tmp_path)
    about = json.loads(run(*fit, "--task", "classification", "--C", 1, *ADDITIVE).stdout)
    assert about["task"] == "classification" and len(about["class_counts"]) == 30


def test_the_class_of_the_certificate_is_named(tmp_path):
    *fit, as_json = table_of([*"xyz" * 20], tmp_path)
    assert as_json == "--json"
    done = run(*fit, "--model", "stump-svm")
    label = load(tmp_path / "m.stump").about_["certificate"]["class"]
    assert f"), for class “{label}”, which has the largest gap\n" in done.stdout


def test_votes_need_rows_of_every_class(tmp_path):
    fit = table_of([*"xy" * 3], tmp_path)
    why = input_error(*fit, "--model", "vote", "--cv", 2)
    assert "--model vote trains each member on 40% of the rows, too few for y = x" in why
    assert run(*fit, "--cv", 2).exit_code == 0


def test_boosting_that_stops_early_is_reported_once(tmp_path):
    """Equal rows of both classes: after few stumps no other is better than chance."""
    frame = pd.DataFrame({"a": [0, 0, 0, 1, 1, 1] * 20, "y": [0, 0, 1, 0, 1, 1] * 20})
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = ("fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m.stump")
    done = run(*fit, "--model", "boost")
    assert done.stderr == ""
    n_stumps = len(load(tmp_path / "m.stump").estimator_weights_)
    assert n_stumps < 300
    assert f"LogitBoost, {n_stumps} stump" in done.stdout
    assert done.stdout.count(f"stopped after {n_stumps} of n_estimators=300 rounds") == 1


def test_perceptrons_scale_their_features(tmp_path):
    """Without scaling, a large uninformative feature would dominate."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=200), "b": 1000 * rng.normal(size=200)})
    frame.assign(y=frame["a"] > 0).to_csv(tmp_path / "t.csv", index=False)
    fit = ("fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m.stump", "--json")
    assert json.loads(run(*fit, "--model", "perceptron").stdout)["error"]["value"] < 0.1


def test_equal_fits_make_equal_files(tmp_path):
    fit = table_of([*"no" * 20], tmp_path)[:4]
    for name in ("a", "b"):
        run(*fit, "-o", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
