"""The commands fit, predict, explain, export, bound and bench, from a file to a model."""

import gzip
import io
import json
import re
from decimal import Decimal
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from command import ADDITIVE, input_error, run

import everystump as package
from everystump import export
from everystump._workflow.options import ColumnOptions
from everystump._workflow.presets import PRESETS
from everystump._workflow.schema.training_data import prepare_training_data
from everystump.cli.main import everystump


def test_fit_prints_the_schema_and_the_evaluation(credit, tmp_path):
    done = run("fit", credit, "--target", "default", "-o", tmp_path / "m.stump")
    assert done.exit_code == 0, done.output
    for words in (
        "400 rows, 20 features.",
        "Dropped (constant): bank.",
        "Dropped (row numbers): number.",
        "Missing values: purpose, amount.",
        "Classes: 0, 1 (positive class: 1).",
        "Score above zero favors “1”",
        "; 100 held-out rows):",
        "the best of ",
        "Certificate objective ",
        "validation_bound",
    ):
        assert words in " ".join(done.output.split())


def test_the_stored_error_is_that_of_the_held_out_rows(credit, credit_model):
    loaded = package.load(credit_model)
    done = json.loads(run("bound", credit_model, credit, "--json").stdout)
    assert done["error"] == loaded.about_["error"]["value"]
    low, high = loaded.about_["error"]["low"], loaded.about_["error"]["high"]
    assert low < done["error"] < high
    (bound,) = [one for one in done["bounds"] if one["name"] == "validation_bound"]
    assert bound["holds"] and bound["value"] > done["error"]


CLASSIFIERS = [name for name, preset in PRESETS.items() if preset.task == "classification"]


@pytest.mark.parametrize("preset", [name for name in CLASSIFIERS if name != "perceptron"])
def test_every_preset(preset, credit, tmp_path):
    out = tmp_path / "m.stump"
    done = run("fit", credit, "--target", "default", "--model", preset, "-o", out, "--json")
    about = json.loads(done.stdout)
    assert about["model"].startswith(preset) and 0 < about["error"]["value"] < 0.45
    assert package.load(out).about_["target"] == "default"


def test_perceptrons_accept_numbers_only(credit, tmp_path):
    args = ("--target", "default", "--model", "perceptron", "-o", tmp_path / "m.stump")
    assert "accepts numbers only" in input_error("fit", credit, *args)
    assert not (tmp_path / "m.stump").exists()


@pytest.fixture(scope="module")
def cross_validated(credit, tmp_path_factory):
    """The file of a model evaluated by 3 folds, and the output of its fit."""
    out = tmp_path_factory.mktemp("cross-validated") / "m.stump"
    args = ("--target", "default", "--C", 1, *ADDITIVE, "--cv", 3, "-o", out)
    return out, run("fit", credit, *args)


def test_cross_validation_trains_on_all_rows(cross_validated):
    out, done = cross_validated
    about = package.load(out).about_
    assert about["n_rows"] == 400 and about["n_held_out"] == 0
    assert about["error"]["how"] == "3 folds, approximate 95% interval"
    assert about["error"]["approximate"] and about["figures"]["approximate"]
    assert "approx. interval" in done.stdout and " 95% interval  " not in done.stdout


def test_predictions(credit, credit_model, tmp_path):
    out = tmp_path / "predictions.csv"
    done = run("predict", credit_model, credit, "--keep", "number", "-o", out)
    assert done.exit_code == 0, done.output
    predicted, loaded = pd.read_csv(out), package.load(credit_model)
    rows = pd.read_csv(credit)[list(loaded.feature_names_in_)]
    assert predicted["number"].tolist() == list(range(400))
    np.testing.assert_array_equal(predicted["prediction"], loaded.predict(rows))
    np.testing.assert_allclose(predicted["score"], loaded.decision_function(rows), rtol=1e-12)
    np.testing.assert_allclose(
        predicted["probability 1"], loaded.predict_proba(rows)[:, 1], rtol=1e-12
    )
    assert run("predict", credit_model, credit, "--keep", "number").stdout == out.read_text()


def test_the_probability_is_that_of_the_positive_label(credit, credit_model, tmp_path):
    out = tmp_path / "other.stump"
    run("fit", credit, "--target", "default", "--C", 0.1, "--positive", 0, "-o", out)
    first = pd.read_csv(io.StringIO(run("predict", credit_model, credit).stdout))
    second = pd.read_csv(io.StringIO(run("predict", out, credit).stdout))
    np.testing.assert_allclose(second["score"], -first["score"], rtol=1e-6)
    np.testing.assert_allclose(second["probability 0"], 1 - first["probability 1"], rtol=1e-6)


def test_explanations(credit, credit_model, tmp_path):
    table = json.loads(run("explain", credit_model, "--json").stdout)["rows"]
    importance = [row["importance"] for row in table]
    assert importance == sorted(importance, reverse=True) and len(table) == 20
    row = json.loads(run("explain", credit_model, credit, "--row", 5, "--json").stdout)["rows"]
    parts = {one["feature"]: one["contribution"] for one in row}
    score = parts.pop("(score)")
    assert sum(parts.values()) == pytest.approx(score, abs=1e-12)
    run("explain", credit_model, credit, "-o", tmp_path / "parts.csv")
    whole = pd.read_csv(tmp_path / "parts.csv")
    assert whole.loc[5, "score"] == pytest.approx(score)


@pytest.mark.parametrize("language", ["sql", "json", "onnx"])
def test_export(language, credit_model, tmp_path):
    if language == "onnx":
        pytest.importorskip("onnx", reason="ONNX needs onnx")
    out, python = tmp_path / "model", tmp_path / "python"
    assert run("export", credit_model, "--to", language, "-o", out).exit_code == 0
    export.write(package.load(credit_model), python, to=language)
    assert out.read_bytes() == python.read_bytes()


def test_the_extension_implies_the_export_format(credit_model, tmp_path):
    assert run("export", credit_model, "-o", tmp_path / "model.SQL").exit_code == 0
    assert (tmp_path / "model.SQL").read_text() == export.to_sql(package.load(credit_model))
    assert "contradicts the extension of --out" in input_error(
        "export", credit_model, "--to", "onnx", "-o", tmp_path / "other.sql"
    )
    assert "does not end in .onnx, .sql or .json; pass --to" in input_error(
        "export", credit_model, "-o", tmp_path / "model.txt"
    )


def test_bench():
    found = json.loads(run("bench", "--rows", 500, "--json").stdout)["models"]
    assert len(found) == 5 and all(0 < one["error"] < 0.2 for one in found)


def test_other_input_errors(credit, credit_model, tmp_path):
    out = tmp_path / "m.stump"
    assert "use 'default'." in input_error("fit", credit, "--target", "defualt", "-o", out)
    assert "does not exist" in input_error("fit", tmp_path / "no.csv", "--target", "y", "-o", out)
    assert "--force" in input_error("fit", credit, "--target", "default", "-o", credit_model)
    assert "folder that does not exist" in input_error(
        "fit", credit, "--target", "default", "-o", tmp_path / "no" / "m.stump"
    )
    assert "--positive 'maybe'" in input_error(
        "fit", credit, "--target", "default", "--positive", "maybe", "-o", out
    )
    pd.read_csv(credit).drop(columns="age").to_csv(tmp_path / "less.csv", index=False)
    assert "The data lack column 'age', which the model needs" in input_error(
        "predict", credit_model, tmp_path / "less.csv"
    )
    assert "is not an everystump model" in input_error("predict", credit, credit)
    assert "no column 'agge'; use 'age'" in input_error(
        "predict", credit_model, credit, "--keep", "agge"
    )
    assert "--row 400" in input_error("explain", credit_model, credit, "--row", 400)
    assert not out.exists()


def test_options_override_the_schema(credit):
    frame = pd.read_csv(credit)
    column_options = ColumnOptions(
        drop=("age",), use=("number",), categorical=("dependents",), positive="0"
    )
    training = prepare_training_data(frame, "default", column_options)
    assert "age" not in training.X and "number" in training.X and training.target.positive == 0
    assert str(training.X["dependents"].dtype) == "category"
    assert training.dropped == {"age": "requested", "bank": "constant"}


DOCS = Path(__file__).parents[1] / "docs" / "tool.md"


@pytest.mark.parametrize("name", sorted(everystump.commands))
def test_every_command_and_option_has_help_and_is_documented(name):
    command, text = everystump.commands[name], DOCS.read_text()
    section = text.split(f"## {name}\n")[1].split("\n## ")[0]
    assert command.help and f"everystump {name}" in section
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
            assert f"`{max(parameter.opts, key=len)}" in section, parameter.name


def sorted_table(path, seed=0):
    """Write a file sorted by its labels, as database exports often are."""
    y = np.repeat([0, 1], 100)
    a = np.random.default_rng(seed).normal(size=(200, 2)).round(3) + y[:, None]
    pd.DataFrame({"a": a[:, 0], "b": a[:, 1], "y": y}).to_csv(path, index=False)


@pytest.mark.parametrize(
    "preset",
    [
        "boost",
        "boost-svm",
        *(pytest.param(p, marks=pytest.mark.slow) for p in ("bag", "stump-logistic")),
    ],
)
def test_training_rows_give_no_validation_bound(preset, tmp_path):
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    sorted_table(data)
    args = ("--target", "y", "--model", preset, "-o", out, "--force", "--json")
    output = json.loads(run("fit", data, *args).stdout)["bounds"]
    assert [one["name"] for one in output].count("validation_bound") == 1
    output = json.loads(run("fit", data, *args, "--cv", 3).stdout)["bounds"]
    assert all(one["name"] != "validation_bound" for one in output)
    found = json.loads(run("bound", out, data, "--json").stdout)["bounds"]
    assert all(one["name"] != "validation_bound" for one in found)


def test_the_training_table_is_recognized_by_its_rows(tmp_path):
    data, fresh, out = tmp_path / "t.csv", tmp_path / "fresh.csv", tmp_path / "m.stump"
    sorted_table(data)
    sorted_table(fresh, seed=1)
    run("fit", data, "--target", "y", "--C", 1, "-o", out)
    assert "Error on 50 held-out rows" in run("bound", out, data).output
    assert "Error on 200 rows" in run("bound", out, fresh).output
    pd.read_csv(data).sample(frac=1, random_state=0).to_csv(fresh, index=False)
    done = run("bound", out, fresh)
    assert "about 75% of these rows equal" in done.stderr
    assert "validation_bound (assumptions violated: an estimate, not a bound):" in done.stdout
    assert "is at most" not in done.stdout
    (bound,) = json.loads(run("bound", out, fresh, "--json").stdout)["bounds"]
    assert bound["holds"] is False
    assert bound["violations"][0].startswith("about 75% of these rows equal")


def test_a_leave_one_out_bound_is_printed_once(tmp_path):
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    sorted_table(data)
    args = ("--target", "y", "--model", "stump-svm", "--C", 1, "--cv", 2, "-o", out)
    run("fit", data, *args, *ADDITIVE)
    names = [one["name"] for one in json.loads(run("bound", out, data, "--json").stdout)["bounds"]]
    assert names == ["loo_bound"]


def test_training_rows_are_reported(tmp_path):
    data, more, out = tmp_path / "t.csv", tmp_path / "more.csv", tmp_path / "m.stump"
    sorted_table(data)
    sorted_table(more, seed=1)
    run("fit", data, "--target", "y", "--C", 1, "-o", out)
    assert json.loads(run("bound", out, more, "--json").stdout)["violations"] == []
    pd.concat([pd.read_csv(data), pd.read_csv(more)]).to_csv(more, index=False)
    done = run("bound", out, more)
    share = 150 / 400  # training rows among all rows
    found = float(re.search(r"about ([\d.]+)% of these rows equal", done.stderr)[1]) / 100
    assert found == pytest.approx(share, abs=0.01)
    assert "training rows" in run("report", out, more, "-o", tmp_path / "page.html").stderr


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """A table of three classes, with a feature that has the name of an output column."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("three")
    frame = pd.DataFrame({"score": rng.normal(size=300), "word": rng.choice(list("uvw"), 300)})
    frame.assign(y=np.digitize(frame["score"], [-0.5, 0.5])).to_csv(folder / "t.csv", index=False)
    options = ("--target", "y", "--C", 1, *ADDITIVE)
    done = run("fit", folder / "t.csv", *options, "-o", folder / "m.stump")
    assert done.exit_code == 0 and "Classes: 0, 1, 2.\n" in done.stdout
    assert "above zero" not in done.stdout
    return folder / "t.csv", folder / "m.stump"


def test_three_classes(three, tmp_path):
    data, model = three
    predicted = pd.read_csv(io.StringIO(run("predict", model, data, "--keep", "score").stdout))
    assert predicted.columns.tolist() == [
        "score",
        "prediction",
        *(f"{what} {k}" for what in ("score", "probability") for k in range(3)),
    ]
    probabilities = predicted.filter(like="probability ").to_numpy()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), predicted["prediction"])
    rows = json.loads(run("explain", model, data, "--row", 7, "--json").stdout)["rows"]
    assert [row["feature"] for row in rows] == ["score", "word", "(intercept)", "(score)"]
    for label in "012":
        adds = [row[label] for row in rows]
        assert sum(adds[:-1]) == pytest.approx(adds[-1], abs=1e-12)
        assert adds[-1] == pytest.approx(predicted[f"score {label}"][7])
    run("explain", model, data, "-o", tmp_path / "parts.csv")
    parts = pd.read_csv(tmp_path / "parts.csv")
    np.testing.assert_allclose(parts["(score) 2"], predicted["score 2"])
    assert "importance" in run("explain", model).stdout
    assert "omit the option" in input_error(
        "fit", data, "--target", "y", "--positive", 1, "-o", tmp_path / "m.stump"
    )


def test_options_that_do_not_apply_to_a_preset(credit, tmp_path):
    args = ("fit", credit, "--target", "default", "-o", tmp_path / "m.stump")
    for preset in ("boost", "bag"):
        assert f"--C 2: {preset} has no C" in input_error(*args, "--model", preset, "--C", 2)
    assert run(*args, "--C", 1, *ADDITIVE).exit_code == 0
    assert "pass one of them" in input_error(
        "explain", tmp_path / "m.stump", credit, "--row", 1, "-o", tmp_path / "parts.csv"
    )
    assert "is a folder" in input_error("export", tmp_path / "m.stump", "--to", "sql", "-o", "")


def test_unknown_labels(credit, credit_model, tmp_path):
    pd.read_csv(credit).assign(default=7).to_csv(tmp_path / "new.csv", index=False)
    for args in (
        ("bound", credit_model, tmp_path / "new.csv"),
        ("report", credit_model, tmp_path / "new.csv", "-o", tmp_path / "page.html"),
    ):
        assert (
            "'default' is '7' in some rows, which is not one of the model's classes"
            in input_error(*args)
        )


def test_json_output(credit, credit_model, tmp_path):
    for args in (("predict", credit_model, credit), ("explain", credit_model, credit, "--row", 0)):
        rows = json.loads(run(*args, "--json").stdout)["rows"]  # without NaN, which is not JSON
        assert len(rows) > 20
    for args in (
        ("predict", credit_model, credit),
        ("explain", credit_model, credit),
        ("report", credit_model, credit),
        ("export", credit_model, "--to", "json"),
    ):
        out = tmp_path / args[0]
        assert json.loads(run(*args, "-o", out, "--json").stdout)["out"] == str(out)


def test_an_input_is_never_overwritten(credit, credit_model):
    before = credit.read_bytes()
    for command in (
        ("fit", credit, "--target", "default", "-o", credit, "--force"),
        ("predict", credit_model, credit, "-o", credit, "--force"),
        ("export", credit_model, "--to", "sql", "-o", credit_model, "--force"),
    ):
        assert "is also an input" in input_error(*command)
    assert credit.read_bytes() == before


def test_numbers_in_a_column_that_was_text(tmp_path):
    data, new, out = tmp_path / "t.csv", tmp_path / "new.csv", tmp_path / "m.stump"
    level = ["1", "2", "A"] * 20
    frame = pd.DataFrame({"level": level, "x": np.arange(60.0), "y": [0, 1, 1] * 20})
    frame.to_csv(data, index=False)
    run("fit", data, "--target", "y", "--C", 1, "-o", out)
    frame[frame["level"] != "A"].to_csv(new, index=False)
    part = run("predict", out, new).stdout.splitlines()[1:]
    whole = run("predict", out, data).stdout.splitlines()[1:]
    assert part == [row for row, k in zip(whole, level, strict=True) if k != "A"]


def test_a_damaged_archive_and_a_model_without_curves(credit, tmp_path):
    packed = bytearray(gzip.compress(credit.read_bytes()))
    packed[200:260] = bytes(60)
    (tmp_path / "t.csv.gz").write_bytes(packed)
    out = tmp_path / "m.stump"
    assert "cannot be read" in input_error("fit", tmp_path / "t.csv.gz", "--target", "y", "-o", out)
    numbers = pd.read_csv(credit)[["duration", "age", "default"]]
    numbers.to_csv(tmp_path / "numbers.csv", index=False)
    args = ("--target", "default", "--model", "perceptron", "-o", out)
    assert run("fit", tmp_path / "numbers.csv", *args).exit_code == 0
    assert "has no curves to show; fit with another --model" in input_error("explain", out)
    assert "has no curves to show" in input_error("report", out, "-o", tmp_path / "page.html")


def test_every_command_shows_examples_of_itself():
    for name, command in everystump.commands.items():
        assert f"everystump {name}" in command.epilog


def test_the_interval_of_cross_validation_covers_the_error(tmp_path):
    x = np.arange(200)
    pd.DataFrame({"x": x, "y": x >= 100}).to_csv(tmp_path / "t.csv", index=False)
    args = ("--target", "y", "--C", 1, "--cv", 2, "--use", "x", "--json")
    about = json.loads(run("fit", tmp_path / "t.csv", *args, "-o", tmp_path / "m").stdout)
    error = about["error"]
    assert error["value"] <= 0.01 and error["low"] <= error["value"] and error["high"] > 0.01
    assert "origin" not in about


def test_training_rows_are_not_reported_as_held_out(credit, cross_validated, tmp_path):
    (out, _), page = cross_validated, tmp_path / "page.html"
    run("report", out, credit, "-o", page)
    assert "Of the 400 training rows" in page.read_text() and "held-out rows" not in page_text(page)
    assert "In cross-validation, models trained the same way misclassify" in page_text(page)
    assert "Error on 400 training rows" in run("bound", out, credit).stdout
    half = tmp_path / "half.csv"
    pd.read_csv(credit).iloc[::2].to_csv(half, index=False)
    run("report", out, half, "-o", page, "--force")
    assert "Warning: about 100% of these rows" in page.read_text()


def page_text(page):
    """Return the sentences of a page."""
    text = page.read_text()
    return text[text.index("<main") : text.index("<script")]


def test_training_rows_are_recognized_in_another_format(credit, tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    out, other = tmp_path / "m.stump", tmp_path / "t.parquet"
    run("fit", credit, "--target", "default", "--C", 1, *ADDITIVE, "-o", out)
    frame = pd.read_csv(credit)
    frame.astype({"age": "Int64", "duration": "float32"}).to_parquet(other)
    assert "Error on 100 held-out rows" in run("bound", out, other).stdout
    part = frame[frame["amount"].notna()].astype({"amount": "int64"})
    part.to_csv(tmp_path / "part.csv", index=False)
    assert re.search(r"about 7[\d.]+% of these", run("bound", out, tmp_path / "part.csv").stderr)


def test_boolean_labels_with_missing_values(tmp_path):
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    frame = pd.DataFrame({"a": np.arange(80) % 7, "y": [True, False, None, False] * 20})
    frame.to_csv(data, index=False)
    output = run("fit", data, "--target", "y", "--C", 1, "-o", out).stdout
    assert "Dropped 20 rows with a missing 'y'." in output
    assert "Error on 15 held-out rows" in run("bound", out, data).stdout
    assert package.load(out).classes_.tolist() == ["False", "True"]


def test_the_dialect_of_a_file_is_stored(tmp_path):
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    rows = "\n".join(f"{k % 7};{'é' if k % 2 else 'è'};{k % 2}" for k in range(80))
    data.write_bytes(f"a;word;y\n{rows}\n".encode("latin-1"))
    args = ("--target", "y", "--C", 1, "--encoding", "latin-1", "-o", out)
    output = run("fit", data, *args).stdout
    command = output.splitlines()[-1].split()[2:]
    command[-1] = str(tmp_path / "page.html")
    done = run(*command)
    assert done.exit_code == 0 and "separated by semicolons" in done.stderr
    kept = run("predict", out, data, "--keep", "word").stdout.splitlines()[1:3]
    assert [line.split(",")[0] for line in kept] == ["è", "é"]
    assert "not utf-8" in input_error("predict", out, data, "--encoding", "utf-8")


def test_text_instead_of_numbers_is_reported_with_its_row(credit, credit_model, tmp_path):
    frame = pd.read_csv(credit).astype({"age": object})
    frame["age"] = [f"oops {k}" if k >= 17 else age for k, age in enumerate(frame["age"])]
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "'age' is 'oops 17' in row 17 (counting from 0)" in input_error(
        "predict", credit_model, tmp_path / "t.csv"
    )


def test_unsupported_columns_are_dropped(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    frame = pd.DataFrame(
        {
            "a": np.arange(60) % 7,
            "list": [[1, 2]] * 60,
            "price": [Decimal("1.50"), Decimal("2.25")] * 30,
            **{f"same{k}": 1 for k in range(30)},
            "y": [0, 1] * 30,
        }
    )
    data, out = tmp_path / "t.parquet", tmp_path / "m.stump"
    frame.to_parquet(data)
    output = run("fit", data, "--target", "y", "--C", 1, "-o", out).stdout
    assert "60 rows, 2 features." in output and "Categorical" not in output
    assert "Dropped (neither numbers nor text): list." in output
    assert "Dropped (constant): same0, same1" in output and "and 22 more." in output
    assert "convert it to numbers" in input_error(
        "fit", data, "--target", "y", "--use", "list", "-o", out, "--force"
    )


def test_contradictory_options(credit, tmp_path):
    args = ("fit", credit, "--target", "default", "-o", tmp_path / "m.stump")
    assert "choose one" in input_error(*args, "--drop", "age", "--use", "age")
    assert "cannot be combined" in input_error(*args, "--cv", 3, "--holdout", 0.2)
    assert "use 'default'" in input_error(*args[:3], "DEFAULT", *args[4:])


@pytest.mark.parametrize("wrong", [TypeError, KeyError, AttributeError])
@pytest.mark.parametrize(
    "target", ["_workflow.fitting.certificate_and_path", "bounds.validation_bound"]
)
def test_a_bug_is_not_reported_as_invalid_input(wrong, target, credit, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise wrong("a bug")

    monkeypatch.setattr(f"everystump.{target}", fail)
    args = ("--target", "default", "--C", 1, *ADDITIVE, "-o", tmp_path / "m.stump")
    done = run("fit", credit, *args)
    assert isinstance(done.exception, wrong) and done.stderr == ""


def test_the_certificate_names_the_set_it_optimizes_over(credit, tmp_path):
    for preset, over in (("stump-svm", "ensemble of"), ("boost-svm", "weighting of its")):
        out, page = tmp_path / f"{preset}.stump", tmp_path / f"{preset}.html"
        options = ADDITIVE if preset == "stump-svm" else ()
        run("fit", credit, "--target", "default", "--model", preset, "--C", 1, *options, "-o", out)
        run("report", out, "-o", page)
        assert f"No {over} stumps can have an objective below" in page.read_text()


def test_a_numeric_model_reports_missing_values(credit, tmp_path):
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    frame = pd.read_csv(credit)[["duration", "age", "default"]]
    frame.to_csv(data, index=False)
    args = ("fit", data, "--target", "default", "--model", "perceptron", "-o", out)
    assert "'age' holds categories, but --model perceptron" in input_error(
        *args, "--categorical", "age"
    )
    assert run(*args).exit_code == 0
    assert "Error on 100 held-out rows" in run("bound", out, data).stdout
    frame.assign(age=frame["age"].mask(frame.index == 7)).to_csv(data, index=False)
    assert "'age' is missing in row 7" in input_error("predict", out, data)
