"""The command `edit`: curves that are changed by hand, in a new model file."""

import json

import numpy as np
import pandas as pd
import pytest
from command import input_error, run

import everystump
from everystump._workflow.editing import Edit


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A table with names that contain colons, and a model with interactions."""
    folder, rng = tmp_path_factory.mktemp("edit"), np.random.default_rng(0)
    a, b = rng.normal(size=(2, 240)).round(3)
    frame = pd.DataFrame(
        {"a": a, "b:c": b, "d": rng.integers(0, 9, 240), "w": rng.choice(["u", "v"], 240)}
    )
    frame["y"] = np.where(a + b + rng.logistic(size=240) > 0, "yes", "no")
    data, out = folder / "t.csv", folder / "m.stump"
    frame.to_csv(data, index=False)
    options = ("--interactions", "4", "--interaction-strength", 0.5, "--C", 0.5)
    done = run("fit", data, "--target", "y", *options, "-o", out)
    assert done.exit_code == 0, done.output
    return data, out


def edited(model, folder, *options):
    out = folder / "e.stump"
    done = run("edit", model[1], *options, "-o", out, "--force")
    assert done.exit_code == 0, done.output
    return everystump.load(out), done.stdout


def test_edits_are_those_of_the_methods_in_the_given_order(model, tmp_path):
    options = (
        "--cap",
        "a:-0.2..",
        "--flatten",
        "a:-1..0.5",
        "--freeze",
        "d:2..7",
        "--cap",
        "a:..0.3",
    )
    found, text = edited(model, tmp_path, *options, "--flatten", "w")
    fitted = everystump.load(model[1])
    expected = (
        fitted.cap_curve("a", lowest=-0.2)
        .flatten_curve("a", low=-1, high=0.5)
        .freeze_curve("d", low=2, high=7)
        .cap_curve("a", highest=0.3)
        .flatten_curve("w")
    )
    assert found.edits_ == expected.edits_ and len(found.edits_) == 5
    X = pd.read_csv(model[0])[["a", "b:c", "d", "w"]]
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))
    assert all(edit in text for edit in found.edits_)


def test_interactions_are_removed_by_the_names_of_their_columns(model, tmp_path):
    fitted = everystump.load(model[1])
    terms = [tuple(fitted.feature_names_in_[d] for d in term) for term in fitted.interactions_]
    first, second = terms[0]
    for text in (f"{first}:{second}", f"{second}:{first}", f"{first} × {second}"):
        found, _ = edited(model, tmp_path, "--remove", text)
        assert found.interactions_ == fitted.interactions_[1:]
        assert len(found.about_["interactions"]["features"]) == len(terms) - 1
    found, _ = edited(model, tmp_path, "--remove", "b:c")  # a column with a colon
    assert found.edits_[0].startswith("b:c was removed with")
    found, _ = edited(model, tmp_path, "--flatten", f"{first}:{second}")
    assert found.edits_ == (f"{first} × {second} was flattened",)


def test_the_model_file_keeps_what_is_still_true(model, tmp_path):
    fitted = everystump.load(model[1])
    found, _ = edited(model, tmp_path, "--remove", "a")
    for key in ("target", "positive", "class_counts", "origin", "n_rows", "schema"):
        assert found.about_[key] == fitted.about_[key]
    for key in ("error", "figures", "bounds", "certificate", "importances"):
        assert key in fitted.about_ and key not in found.about_
    held_out = run("bound", tmp_path / "e.stump", model[0]).stdout
    assert held_out.startswith("Error on 60 held-out rows")
    page = tmp_path / "p.html"
    assert run("report", tmp_path / "e.stump", "-o", page).exit_code == 0
    assert "edited by hand" in page.read_text()
    again = run("edit", tmp_path / "e.stump", "--cap", "d:..1", "-o", tmp_path / "f.stump")
    assert again.exit_code == 0 and len(everystump.load(tmp_path / "f.stump").edits_) == 2


def test_intervals_of_a_regression_are_dropped(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    frame.assign(y=frame["a"] + 0.1 * rng.normal(size=200)).to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "m.stump"
    options = ("--target", "y", "--C", 1, "--interactions", 0, "-o", out)
    assert run("fit", tmp_path / "t.csv", *options).exit_code == 0
    assert run("predict", out, tmp_path / "t.csv").stdout.startswith("prediction,low,high")
    assert run("edit", out, "--remove", "a", "-o", tmp_path / "e.stump").exit_code == 0
    assert run("predict", tmp_path / "e.stump", tmp_path / "t.csv").stdout.startswith(
        "prediction\n"
    )


def test_a_regression_says_that_edits_leave_no_intervals(tmp_path):
    x = np.linspace(0.0, 1.0, 200)
    pd.DataFrame({"x": x, "y": 1e5 * x}).to_csv(tmp_path / "t.csv", index=False)
    out, edit = tmp_path / "m.stump", tmp_path / "e.stump"
    options = ("--target", "y", "--C", 1, "--interactions", 0, "-o", out)
    assert run("fit", tmp_path / "t.csv", *options).exit_code == 0
    done = run("edit", out, "--cap", "x:-5000..5000", "-o", edit)
    assert "-5,000 to +5,000" in done.stdout and "e+" not in done.stdout
    bound = run("bound", edit, tmp_path / "t.csv").stdout
    assert "no prediction intervals (it was edited)" in bound
    flat = run("edit", out, "--flatten", "x", "-o", edit, "--force").stdout
    assert flat.splitlines()[2].endswith("  0")  # not what is left by rounding


def test_the_evaluation_before_and_after(model, tmp_path):
    data, path = model
    _, text = edited(model, tmp_path, data, "--remove", "a")
    assert "On 60 held-out rows:" in text and "before   after" in text
    out = tmp_path / "e.stump"
    done = run("edit", path, data, "--remove", "a", "-o", out, "--force", "--json")
    record = json.loads(done.stdout)
    accuracy = record["evaluation"]["comparison"]["figures"]["accuracy"]
    stored = everystump.load(path).about_["figures"]["figures"]["accuracy"]["value"]
    assert accuracy["values"][0] == stored and accuracy["p"] is not None
    assert record["edits"] == list(everystump.load(out).edits_)
    assert record["changes"][0]["after"] == [0.0, 0.0] and record["changes"][0]["before"][0] < 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "No edit: pass --flatten, --remove, --cap or --freeze"),
        (("--flatten", "aa"), "the model has no feature or interaction 'aa'; use 'a'."),
        (("--flatten", "a:1.."), None),
        (("--flatten", "a:.."), "add a range of numbers, such as age:30..40; one of its ends may"),
        (("--flatten", "a:1e400.."), "--flatten a:1e400..: 1e400 is too large; omit this end."),
        (("--flatten", "a:2..1"), "the range starts at 2 and ends at 1; swap them."),
        (("--cap", "a"), "--cap a: add a range of numbers, such as age:-0.5..0.5"),
        (("--cap", "a:nan..1"), "--cap a:nan..1: add a range of numbers, such as"),
        (("--freeze", "w:1..2"), "--freeze w:1..2: 'w' is a category, whose levels have no order"),
        (("--flatten", "w:1..2"), "have no order; pass --flatten w, --cap or --remove."),
        (("--remove", "a:1..2"), "a feature is removed as a whole; omit the range"),
        (("--remove", "a:zz"), "no feature or interaction 'a:zz'"),
        (("--remove", "a:w:d:b:c"), "no feature or interaction"),
        (("--flatten", "a:100..200"), "--flatten a:100..200: 'a' has no training samples"),
        (("--flatten", " "), "--flatten: name a column, such as age:30..40."),
    ],
)
def test_invalid_edits_write_nothing(model, tmp_path, options, message):
    out = tmp_path / "e.stump"
    if message is None:
        assert run("edit", model[1], *options, "-o", out).exit_code == 0
        return
    assert message in input_error("edit", model[1], *options, "-o", out)
    assert not out.exists()


def test_interactions_have_no_range(model, tmp_path):
    fitted = everystump.load(model[1])
    pair = ":".join(fitted.feature_names_in_[d] for d in fitted.interactions_[0])
    for options in (("--cap", f"{pair}:0..1"), ("--flatten", f"{pair}:0..1")):
        message = input_error("edit", model[1], *options, "-o", tmp_path / "e.stump")
        assert "an interaction is flattened or removed as a whole" in message


def test_syntax_is_checked_before_the_model_is_read(tmp_path):
    message = input_error("edit", tmp_path / "no.stump", "--cap", "a", "-o", tmp_path / "e")
    assert "add a range" in message


def test_models_without_curves(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    frame.assign(y=(frame["a"] > 0).astype(int)).to_csv(tmp_path / "t.csv", index=False)
    options = ("--target", "y", "--model", "perceptron", "-o", tmp_path / "m.stump")
    assert run("fit", tmp_path / "t.csv", *options).exit_code == 0
    message = input_error("edit", tmp_path / "m.stump", "--remove", "a", "-o", tmp_path / "e")
    assert message.startswith("PerceptronSVC has no curves")


def test_a_name_that_looks_like_a_range():
    edit = Edit("flatten", "x:1..2")
    edit.check()
    model = everystump.StumpSVC().fit(
        pd.DataFrame({"x:1..2": [0.0, 1.0, 2.0, 3.0], "x": [0.0, 1.0, 0.0, 1.0]}), [0, 0, 1, 1]
    )
    assert edit.apply(model)[0].edits_ == ("x:1..2 was flattened",)
