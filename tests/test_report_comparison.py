"""The comparison of two models: what is compared, on which rows, and what the page holds."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from command import input_error, run
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import everystump
from everystump import (
    StumpBaggingClassifier,
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpRegressor,
    StumpSVC,
)
from everystump.report import summarize_comparison, write_comparison
from everystump.report.comparison import render_comparison


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n)).round(3)
    frame = pd.DataFrame({"a": a, "b": b, "c": rng.choice(["u", "v", "w"], n)})
    frame.loc[::9, "a"] = np.nan
    score = frame["a"].fillna(0.5) + a * b + (frame["c"] == "u") + rng.logistic(size=n)
    return frame.assign(y=np.where(score > 0.5, "yes", "no"))


TRAIN, TEST = table(), table(300, 1)
X, Y = TRAIN.drop(columns="y"), TRAIN["y"]
NEW_X, NEW_Y = TEST.drop(columns="y"), TEST["y"].to_numpy()
PAIR = [("a", "b")]


@pytest.fixture(scope="module")
def models():
    first = StumpLogisticRegression(C=0.1).fit(X, Y)
    second = StumpLogisticRegression(C=1.0, interactions=PAIR, interaction_strength=1.0).fit(X, Y)
    return first, second


def test_figures_are_scikit_learns(models):
    summary = summarize_comparison(*models, NEW_X, NEW_Y, names=("old", "new"))
    figures = summary["comparison"]["figures"]
    p = [model.predict_proba(NEW_X)[:, 1] for model in models]
    expected = {
        "accuracy": [accuracy_score(NEW_Y, model.predict(NEW_X)) for model in models],
        "auc": [roc_auc_score(NEW_Y == "yes", q) for q in p],
        "log_loss": [log_loss(NEW_Y == "yes", q) for q in p],
    }
    for name, values in expected.items():
        assert figures[name]["values"] == pytest.approx(values, abs=1e-12)
        assert figures[name]["difference"] == pytest.approx(values[1] - values[0], abs=1e-12)
        assert figures[name]["p"] is not None
    assert summary["warnings"] == [] and summary["measured_on"] == "300 rows"
    winners = {figure["better"] for figure in figures.values()} - {None}
    expected = [f"{('old', 'new')[k]} is significantly better" for k in winners]
    assert all(text in summary["verdict"] for text in expected or ["No metric differs"])


def test_terms_and_rows(models):
    summary = summarize_comparison(*models, NEW_X, NEW_Y)
    terms = summary["terms"]
    assert [term["names"] for term in terms["features"]] == [["a"], ["b"], ["c"]]
    assert terms["interactions"] == []  # only one model has any
    # The difference of a term is that of its contributions.
    parts = [model.explain_local(NEW_X)["b"].to_numpy() for model in models]
    (own,) = [term for term in terms["features"] if term["names"] == ["b"]]
    assert own["difference"] == pytest.approx(np.std(parts[1] - parts[0]))
    assert own["importance"] == pytest.approx([np.std(part) for part in parts])
    both = summarize_comparison(models[1], models[1], NEW_X, NEW_Y)
    assert [term["names"] for term in both["terms"]["interactions"]] == [["a", "b"]]
    assert both["rows"] == [] and both["settings"]["different"] == []
    # Rows with different predictions come first, and their reasons are the largest differences.
    predicted = [model.predict(NEW_X) for model in models]
    differs = np.flatnonzero(predicted[0] != predicted[1])
    shown = [row["name"] for row in summary["rows"]]
    assert set(shown[: len(differs)]) <= set(differs.tolist()) and len(shown) == 20
    row = summary["rows"][0]
    assert [summary["labels"][k] for k in row["predicted"]] == [
        own[row["name"]] for own in predicted
    ]
    local = [model.explain_local(NEW_X.iloc[[row["name"]]]).iloc[0] for model in models]
    for reason in row["reasons"]:
        name = " × ".join(reason["names"])
        values = [part.get(name, 0.0) for part in local]
        assert reason["contributions"] == pytest.approx(values, abs=1e-9)
    sizes = [abs(np.subtract(*reason["contributions"])) for reason in row["reasons"]]
    assert sizes == sorted(sizes, reverse=True) and len(sizes) == 3
    # What is equal in both models, such as the intercept here, is no reason.
    flat = summarize_comparison(models[0], models[0].flatten_curve("b"), NEW_X, NEW_Y)
    reasons = [reason["names"] for row in flat["rows"] for reason in row["reasons"]]
    assert reasons == [["b"]] * len(flat["rows"]) and len(reasons) == 20


def test_settings_name_what_differs(models):
    edited = models[1].remove_feature("c").flatten_curve("b")
    summary = summarize_comparison(models[0], edited, NEW_X, NEW_Y)
    different = {own["name"]: own["values"] for own in summary["settings"]["different"]}
    assert different["C"] == ["0.1", "1"] and different["interactions"][0] == "none"
    assert different["interactions only here"] == ["none", "a × b"]
    assert different["edits"] == ["none", "c was removed; b was flattened"]
    assert summary["edits"] == [[], ["c was removed", "b was flattened"]]
    assert "features only here" not in different
    fewer = StumpLogisticRegression(C=0.1).fit(X[["a", "b"]], Y)
    summary = summarize_comparison(models[0], fewer, NEW_X, NEW_Y)
    different = {own["name"]: own["values"] for own in summary["settings"]["different"]}
    assert different["features only here"] == ["c", "none"] and different["features"] == ["3", "2"]


@pytest.mark.parametrize("measure", ["auto", "uniform"])
def test_settings_of_chosen_parameters(measure):
    model = StumpLogisticRegressionCV(Cs=[0.1, 1.0], measure=measure, interactions=0).fit(X, Y)
    model.about_ = {
        "path": {"chosen": model.C_, "scoring": model.scoring_},
        "measure": {"chosen": model.measure_},
        "feature_weights": dict(zip("abc", model.feature_weights_.tolist(), strict=False)),
    }
    edited = model.flatten_curve("b")
    edited.about_ = model.about_
    settings = summarize_comparison(model, edited, NEW_X, NEW_Y)["settings"]
    assert {own["name"] for own in settings["different"]} == {"edits"}
    same = {own["name"]: own["value"] for own in settings["same"]}
    assert same["C"] == f"{model.C_:.4g}" and same["C chosen by"] == "log loss"
    assert same["measure"] == model.measure_
    del model.about_["measure"]  # as of a model whose measures were not compared
    settings = summarize_comparison(model, edited, NEW_X, NEW_Y)["settings"]
    same = {own["name"] for own in settings["same"]}
    assert ("measure" in same) == (measure == "uniform" or model.measure_ == "mixed")


def test_settings_of_other_kinds_of_models():
    """Only parameters that both have are listed, with those of the loss if it has any."""
    models = StumpLogisticRegression().fit(X, Y), StumpBaggingClassifier(n_estimators=5).fit(X, Y)
    different = summarize_comparison(*models, NEW_X, NEW_Y)["settings"]["different"]
    names = {own["name"] for own in different}
    assert "n estimators" not in names and "fit intercept" not in names and "features" not in names
    bags = models[1], StumpBaggingClassifier(n_estimators=5, features="random").fit(X, Y)
    different = summarize_comparison(*bags, NEW_X, NEW_Y)["settings"]["different"]
    assert {"name": "features (parameter)", "values": ["best", "random"]} in different


def test_models_of_other_quantities_have_no_winner():
    target, new_target = (own["a"].fillna(0.0) + own["b"] for own in (X, NEW_X))
    mean, median, high = (
        StumpRegressor(loss=loss, quantile=q).fit(X, target)
        for loss, q in (("squared", 0.1), ("quantile", 0.5), ("quantile", 0.9))
    )
    summary = summarize_comparison(mean, high, NEW_X, new_target)
    assert summary["verdict"] == (
        "A predicts the mean and B the 0.9 quantile, so these metrics do not tell which of them is "
        "better."
    )
    assert all(own["better"] is None for own in summary["comparison"]["figures"].values())
    different = {own["name"]: own["values"] for own in summary["settings"]["different"]}
    assert different["quantile"] == ["–", "0.9"] and "epsilon" not in different
    assert "predicts" not in summarize_comparison(mean, median, NEW_X, new_target)["verdict"]


def test_settings_say_how_several_classes_were_fitted():
    classes = np.digitize(X["a"], [-0.5, 0.5])
    models = [
        StumpLogisticRegression(C=0.1, monotonic_cst=own).fit(X, classes)
        for own in (None, {"b": "increasing"})
    ]
    summary = summarize_comparison(*models, NEW_X, np.digitize(NEW_X["a"], [-0.5, 0.5]))
    different = {own["name"]: own["values"] for own in summary["settings"]["different"]}
    assert different["several classes"] == ["multinomial", "ovr"]


def test_scores_of_different_scales_are_standardized(models):
    svm = StumpSVC(C=1.0).fit(X, Y)
    summary = summarize_comparison(models[0], svm, NEW_X, NEW_Y)
    terms = summary["terms"]
    assert not terms["same_scale"]
    for model, scale in zip((models[0], svm), terms["scales"], strict=True):
        deviation = np.std(model.decision_function(NEW_X))
        assert scale == pytest.approx(1 / deviation)
    assert summary["scatter"]["name"] == "standardized score of “yes”"
    assert summary["comparison"]["figures"]["log_loss"]["values"][1] is None


def test_training_rows_are_recognized(models):
    summary = summarize_comparison(*models, X, Y.to_numpy(), names=("old", "new"))
    assert len(summary["warnings"]) == 2
    assert summary["warnings"][0].startswith("old was trained on these rows")
    assert summary["verdict"] == ""
    assert all(figure["p"] is None for figure in summary["comparison"]["figures"].values())
    mixed = pd.concat([X.iloc[:100], NEW_X]), np.concatenate([Y[:100], NEW_Y])
    fresh = StumpSVC().fit(*[table(200, 5).drop(columns="y"), table(200, 5)["y"]])
    summary = summarize_comparison(models[0], fresh, *mixed, names=("old", "new"))
    (warning,) = summary["warnings"]
    assert warning.startswith("old: ") and "training rows" in warning


def test_models_of_other_packages_and_pipelines(models):
    numbers = ["a", "b"]
    boosting = HistGradientBoostingClassifier(max_iter=10).fit(X[numbers], Y)
    summary = summarize_comparison(models[0], boosting, NEW_X, NEW_Y)
    assert summary["terms"] is None and summary["documents"] is None
    assert "reasons" not in summary["rows"][0] and render_comparison(summary)
    pipeline = make_pipeline(StandardScaler(), StumpLogisticRegression(C=0.1))
    pipeline.fit(X[numbers].fillna(0), Y)
    other = NEW_X[numbers].fillna(0)
    summary = summarize_comparison(models[0], pipeline, NEW_X, NEW_Y, X_second=other)
    assert summary["terms"]["same_scale"] and summary["comparison"]["n_rows"] == 300


def test_regressors():
    rng = np.random.default_rng(3)
    y, new = (100 * frame["b"] + rng.normal(size=len(frame)) for frame in (TRAIN, TEST))
    first = StumpRegressor(C=0.001).fit(X, y)
    second = StumpRegressor(C=1.0, loss="huber").fit(X, y)
    summary = summarize_comparison(first, second, NEW_X, new.to_numpy())
    figures = summary["comparison"]["figures"]
    assert set(figures) == {"r2", "rmse", "mae"} and figures["rmse"]["better"] == 1
    errors = [np.abs(model.predict(NEW_X) - new) for model in (first, second)]
    closer = summary["comparison"]["closer"]
    assert closer["second"] == int(np.sum(errors[1] < errors[0]))
    assert summary["is_regression"] and summary["labels"] == []
    gap = np.abs(second.predict(NEW_X) - first.predict(NEW_X))
    assert summary["rows"][0]["name"] == int(np.argmax(gap))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: StumpRegressor().fit(X, X["b"]), "a predicts classes and b numbers; compare"),
        (lambda: StumpSVC().fit(X, Y == "yes"), "a has the classes 'no', 'yes' and b False, True"),
        (lambda: _about("z"), "a predicts 'y' and b 'z'; compare models of the same target."),
    ],
)
def test_models_that_cannot_be_compared(other, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        summarize_comparison(_about("y"), other(), NEW_X, NEW_Y, names=("a", "b"))


def _about(target):
    model = StumpSVC().fit(X, Y)
    model.about_ = {"target": target}
    return model


def test_the_page_is_written_completely_or_not_at_all(models, tmp_path):
    path = tmp_path / "page.html"
    write_comparison(*models, path, NEW_X, NEW_Y, names=("<i>", "</script>"))
    text = path.read_text()
    assert "<i>" not in text and text.count("</script>") == 2
    path.write_text("old")
    with pytest.raises(ValueError, match="compare models"):
        write_comparison(models[0], StumpRegressor().fit(X, X["b"]), path, NEW_X, NEW_Y)
    assert path.read_text() == "old"


# The command


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    TRAIN.to_csv(folder / "t.csv", index=False)
    TEST.to_csv(folder / "new.csv", index=False)
    options = {
        "a": ("--C", 0.1, "--interactions", 0),
        "b": ("--C", 1, "--interactions", "a:b", "--interaction-strength", 1),
        "other-seed": ("--C", 0.1, "--interactions", 0, "--seed", 1),
        "cv": ("--C", 0.1, "--interactions", 0, "--cv", 2),
        "no": ("--C", 0.1, "--interactions", 0, "--positive", "no"),
        "c": ("--C", 0.1, "--interactions", 0, "--drop", "c"),
    }
    for name, own in options.items():
        out = folder / f"{name}.stump"
        done = run("fit", folder / "t.csv", "--target", "y", *own, "-o", out)
        assert done.exit_code == 0, done.output
    return folder


def compare(files, first, second, data="t.csv", *options):
    return run(
        "compare", files / f"{first}.stump", files / f"{second}.stump", files / data, *options
    )


def test_held_out_rows_are_those_of_both(files):
    done = compare(files, "a", "b", "t.csv", "--json")
    record = json.loads(done.stdout)
    assert done.exit_code == 0 and done.stderr == ""
    assert record["rows_compared"] == "held-out" and record["comparison"]["n_rows"] == 100
    stored = everystump.load(files / "a.stump").about_["figures"]["figures"]
    for name in ("accuracy", "auc", "log_loss", "recall"):
        figure = record["comparison"]["figures"][name]
        assert figure["values"][0] == pytest.approx(stored[name]["value"], abs=1e-12)
    assert record["names"] == ["a", "b"] and "documents" not in record
    # With another seed, the rows that both held out.
    record = json.loads(compare(files, "a", "other-seed", "t.csv", "--json").stdout)
    rows = [match(files, name) for name in ("a", "other-seed")]
    assert record["comparison"]["n_rows"] == len(rows[0] & rows[1]) < 60


def match(files, name):
    from everystump._workflow.matching import match_labeled_rows

    model = everystump.load(files / f"{name}.stump")
    return set(match_labeled_rows(model, pd.read_csv(files / "t.csv")).X.index)


def test_text(files, tmp_path):
    page = tmp_path / "page.html"
    done = compare(files, "a", "b", "new.csv", "-o", page)
    assert done.exit_code == 0 and done.stderr == "" and page.exists()
    for text in ("On 300 rows:", "McNemar, mid-p", "DeLong", "what differs", "Wrote "):
        assert text in done.stdout
    assert "Different predictions for" in done.stdout
    done = compare(files, "a", "c", "new.csv")
    assert "features only here   c" in done.stdout


def test_training_rows_of_one_model(files):
    done = compare(files, "a", "cv")
    assert done.exit_code == 0
    assert "cv was trained on these rows, so its metrics are too good" in done.stderr
    assert "McNemar" not in done.stdout and "On 100 held-out rows:" in done.stdout


def test_standard_input(files):
    from click.testing import CliRunner

    from everystump.cli.main import everystump as command

    arguments = ["compare", str(files / "a.stump"), str(files / "b.stump"), "-"]
    done = CliRunner().invoke(command, arguments, input=(files / "new.csv").read_bytes())
    assert done.stdout == compare(files, "a", "b", "new.csv").stdout


def test_input_errors(files, tmp_path):
    a, out = files / "a.stump", tmp_path / "p.html"
    message = input_error("compare", a, files / "no.stump", files / "t.csv", "-o", out)
    assert message == (
        "The positive class of a is 'yes' and that of no 'no'; fit them with the same positive "
        "class."
    )
    pd.read_csv(files / "t.csv").drop(columns="y").to_csv(tmp_path / "u.csv", index=False)
    message = input_error("compare", a, files / "b.stump", tmp_path / "u.csv", "-o", out)
    assert "has none in column 'y'; add them." in message
    assert "is also an input" in input_error("compare", a, a, files / "t.csv", "-o", a)
    assert "does not exist" in input_error("compare", a, a, tmp_path / "no.csv")
    assert not out.exists()


def test_no_common_rows(files, tmp_path):
    """Each of two models with few held-out rows holds out others."""
    for seed in (0, 1):
        options = ("--C", 1, "--interactions", 0, "--holdout", 0.02, "--seed", seed)
        out = tmp_path / f"{seed}.stump"
        assert run("fit", files / "t.csv", "--target", "y", *options, "-o", out).exit_code == 0
    message = input_error("compare", tmp_path / "0.stump", tmp_path / "1.stump", files / "t.csv")
    assert message.startswith("No row was held out by both 0 and 1; fit them with the same --seed")
