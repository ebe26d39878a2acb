"""Metrics, importances and explanations that the commands print."""

import json

import numpy as np
import pandas as pd
import pytest
from command import ADDITIVE, input_error, run

import everystump as package
from everystump.datasets import make_twonorm


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Write two classes; the positive one is first in alphabetical order, and rare."""
    X, y = make_twonorm(240, random_state=0)
    selected = (y < 0) | (np.arange(240) % 3 == 0)
    frame = pd.DataFrame(X[selected, :3], columns=["a", "b", "c"])
    frame["word"] = np.where(X[selected, 3] > 0, "high", "low")
    frame["state"] = np.where(y[selected] > 0, "ill", "well")
    path = tmp_path_factory.mktemp("figures") / "table.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def model(table):
    out = table.with_name("m.stump")
    assert run("fit", table, "--target", "state", "--C", 0.1, "-o", out).exit_code == 0
    return out


def test_fit_prints_every_metric_with_a_baseline(table, tmp_path):
    args = ("fit", table, "--target", "state", "--C", 0.1, "--force", "-o", tmp_path / "m")
    lines = run(*args).stdout.splitlines()
    head = next(k for k, line in enumerate(lines) if "always “well”" in line)
    names = [line.split("  ")[0] for line in lines[head + 2 : head + 8]]
    assert names[:4] == ["accuracy", "balanced accuracy", "AUC", "log loss"]
    assert names[4:] == ["precision of “ill”", "recall of “ill”"]
    assert any(line.startswith("Saved") and "--refit" in line for line in lines)
    about = json.loads(run(*args, "--json").stdout)
    figures = about["figures"]["figures"]
    assert set(figures) == {
        *("accuracy", "balanced_accuracy", "auc", "log_loss", "precision", "recall")
    }
    assert figures["accuracy"]["value"] == pytest.approx(1 - about["error"]["value"])
    assert about["figures"]["baseline"] == {"answer": "well", "from": "training rows"}


def test_a_model_that_does_not_beat_the_baseline_is_reported(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=400), "y": ["Yes"] * 8 + ["No"] * 392})
    frame.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "m"
    done = run("fit", tmp_path / "t.csv", "--target", "y", "--C", 0.01, "-o", out)
    assert "no better than always predicting “No”." in done.stdout
    assert "no better than always predicting “No”." in run("bound", out, tmp_path / "t.csv").stdout


def test_bound_and_report_agree_with_fit(table, model, tmp_path):
    about = package.load(model).about_
    for command in ("bound", "report"):
        more = ("-o", tmp_path / "page.html") if command == "report" else ()
        output = json.loads(run(command, model, table, "--json", *more).stdout)
        assert output["figures"]["figures"] == about["figures"]["figures"]
    rows = pd.read_csv(table)
    rows.iloc[::-1].to_csv(tmp_path / "known.csv", index=False)
    output = json.loads(run("bound", model, tmp_path / "known.csv", "--json").stdout)
    assert output["violations"] and output["figures"]["figures"]["accuracy"]["interval"] is None
    assert "95% interval" not in run("bound", model, tmp_path / "known.csv").stdout


def test_refit_trains_on_all_rows_and_reports_the_first_models_metrics(table, model, tmp_path):
    out = tmp_path / "again.stump"
    done = run("fit", table, "--target", "state", "--C", 0.1, "--refit", "-o", out)
    n_rows, first = len(pd.read_csv(table)), package.load(model).about_
    assert f"the model trained on {first['n_rows']} rows, before the refit" in done.stdout
    assert f"retrained on all {n_rows} rows" in done.stdout and "Bound " not in done.stdout
    assert f"Error on {n_rows} training rows" in run("bound", out, table).stdout
    again = package.load(out)
    assert again.about_["figures"] == first["figures"]
    X, y = pd.read_csv(table).drop(columns="state"), pd.read_csv(table)["state"]
    fresh = package.StumpLogisticRegression(0.1).fit(X, y)
    np.testing.assert_allclose(again.decision_function(X), -fresh.decision_function(X), atol=1e-3)
    output = run("report", out, table, "-o", tmp_path / "page.html").stdout
    title = f"First model, trained on {first['n_rows']} rows, evaluated on"
    assert title in " ".join(output.split())
    assert f"{100 * first['figures']['figures']['accuracy']['value']:.1f}%" in output
    assert "omit --refit" in input_error(
        "fit", table, "--target", "state", "--cv", 3, "--refit", "-o", out, "--force"
    )


def test_refit_keeps_the_chosen_c(table, tmp_path):
    args = ("fit", table, "--target", "state", "--json", "-o")
    first = json.loads(run(*args, tmp_path / "a").stdout)
    again = json.loads(run(*args, tmp_path / "b", "--refit").stdout)
    assert again["path"] == first["path"]
    assert first["path"]["chosen"] == package.load(tmp_path / "b").C


def test_the_explanation_of_a_row(table, model):
    loaded, rows = package.load(model), pd.read_csv(table).drop(columns="state")
    for row in (0, 3):
        text = run("explain", model, table, "--row", row).stdout
        score = loaded.decision_function(rows.iloc[[row]])[0]
        output = json.loads(run("explain", model, table, "--row", row, "--json").stdout)
        assert output["prediction"] == ("ill" if score > 0 else "well")
        assert f"Predicted class: “{output['prediction']}”, probability" in text
        assert f"score {score:+.3f}" in text and "(blue) favor “ill”" in text
        assert "(intercept, baseline)" in text
        assert output["score"] == pytest.approx(score)
        parts = {one["feature"]: one["contribution"] for one in output["rows"]}
        assert parts["(score)"] == pytest.approx(score)
        assert f"{parts['a']:+.3f}" in text


def test_importances_are_those_of_the_held_out_rows(table, model):
    loaded = package.load(model)
    output = json.loads(run("explain", model, "--json").stdout)
    n_held_out = loaded.about_["n_held_out"]
    assert output["measured_on"] == f"{n_held_out} held-out rows"
    training = loaded.explain_global().set_index("feature")["importance"]
    assert any(abs(one["importance"] - training[one["feature"]]) > 1e-3 for one in output["rows"])
    values = sorted(loaded.about_["importances"]["values"][0], reverse=True)
    assert [one["importance"] for one in output["rows"]] == pytest.approx(values)


@pytest.mark.parametrize(
    "preset", ["stump-logistic", pytest.param("stump-svm", marks=pytest.mark.slow)]
)
def test_the_seed_determines_the_folds_that_choose_c(table, tmp_path, preset):
    """With --cv the model is trained on all rows, so that only folds can differ."""
    means = []
    for seed in (0, 1):
        args = ("--cv", 2, "--seed", seed, "--model", preset, "-o", tmp_path / str(seed), "--json")
        about = json.loads(run("fit", table, "--target", "state", *args, *ADDITIVE).stdout)
        means.append(about["path"]["mean"][:5])
        assert package.load(tmp_path / str(seed)).random_state == seed
    assert means[0] != means[1]
