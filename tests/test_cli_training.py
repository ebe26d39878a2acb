"""Options of `fit` for the training: class and sample weights, monotonic curves, the metric."""

import json

import numpy as np
import pandas as pd
import pytest
from command import ADDITIVE, input_error, run
from sklearn.base import clone
from sklearn.metrics import (
    accuracy_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    recall_score,
    roc_auc_score,
)

import everystump
from everystump._text import InvalidInputError
from everystump._workflow.matching import match_labeled_rows
from everystump._workflow.metrics import METRICS, find_metric
from everystump._workflow.training_options import TrainingOptions

FIXED = ("--C", 1, *ADDITIVE)


def table(n=240, seed=0):
    """Return rows with two numbers, a word and a label that is rarely yes."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n)).round(3)
    y = np.where(a + 0.5 * b + rng.logistic(size=n) > 1.2, "yes", "no")
    return pd.DataFrame({"a": a, "b": b, "c": rng.choice(["u", "v"], n), "y": y})


def fit(folder, frame, *options, name="m.stump"):
    """Fit a model to a table; return it."""
    data, out = folder / "t.csv", folder / name
    frame.to_csv(data, index=False)
    done = run("fit", data, "--target", "y", "-o", out, "--force", *options)
    assert done.exit_code == 0, done.output
    return everystump.load(out)


def fit_error(folder, frame, *options):
    """Return the message of a failed fit, which leaves no file."""
    data, out = folder / "t.csv", folder / "m.stump"
    frame.to_csv(data, index=False)
    message = input_error("fit", data, "--target", "y", "-o", out, *options)
    assert not out.exists()
    return message


def held_out(model, frame):
    """Return the held-out rows of a model."""
    rows = match_labeled_rows(model, frame)
    assert rows.is_held_out
    return rows


# Class weights


@pytest.mark.parametrize("labels", [("no", "yes"), ("good", "bad"), (0, 1), (2, 1)])
@pytest.mark.parametrize("model", ["stump-logistic", "stump-svm", "vote", "boost", "perceptron"])
def test_class_weights_are_those_of_the_estimator(tmp_path, labels, model):
    """Also if the classes are not sorted, and the model is fitted to their indices."""
    frame = table().drop(columns="c")
    frame["y"] = np.where(frame["y"] == "yes", labels[1], labels[0])
    options = () if model == "boost" else ("--C", 1)
    options += ADDITIVE if model.startswith("stump") else ()
    positive = ("--positive", labels[1])
    weights = f"{labels[1]}=4,{labels[0]}=0.5"
    found = fit(tmp_path, frame, "--model", model, *options, *positive, "--class-weight", weights)
    estimator = everystump.load(tmp_path / "m.stump")
    params = estimator.get_params()
    key = "estimator__class_weight" if model == "vote" else "class_weight"
    assert params[key] == {labels[1]: 4.0, labels[0]: 0.5}
    # In the oracle, the labels are booleans, which are sorted.
    rows = held_out(found, frame)
    train = frame.drop(index=rows.X.index)
    oracle = clone(estimator).set_params(**{key: {True: 4.0, False: 0.5}})
    oracle.fit(train[["a", "b"]], train["y"] == labels[1])
    np.testing.assert_allclose(
        oracle.decision_function(rows.X), found.decision_function(rows.X), atol=1e-9
    )
    plain = clone(estimator).set_params(**{key: None}).fit(train[["a", "b"]], train["y"])
    assert np.ptp(plain.decision_function(rows.X) - oracle.decision_function(rows.X)) > 0.01


def test_balanced_weights_find_more_of_the_rare_class(tmp_path):
    frame = table(400)
    plain = fit(tmp_path, frame, *FIXED)
    balanced = fit(tmp_path, frame, *FIXED, "--class-weight", "balanced")
    assert balanced.class_weight == "balanced"
    recall = [model.about_["figures"]["figures"]["recall"]["value"] for model in (plain, balanced)]
    assert recall[0] < recall[1]
    assert any("weighted by --class-weight" in note for note in balanced.about_["notes"])


def test_class_weights_in_chunks(tmp_path):
    frame = table()
    options = (*FIXED, "--positive", "no", "--class-weight", "no=3")
    whole = fit(tmp_path, frame, *options)
    stream = fit(tmp_path, frame, *options, "--stream")
    assert stream.class_weight == whole.class_weight == {"no": 3.0}
    X = frame[["a", "b", "c"]]
    np.testing.assert_allclose(stream.decision_function(X), whole.decision_function(X), atol=1e-6)


# Monotonic curves


def test_monotonic_curves(tmp_path):
    frame = table()
    model = fit(tmp_path, frame, *FIXED, "--monotonic", "a=decreasing", "--monotonic", "b=1")
    assert model.monotonic_cst == {"a": "decreasing", "b": "increasing"}
    grid = np.linspace(-3, 3, 200)
    for d, sign in ((0, -1), (1, 1)):
        assert np.all(sign * np.diff(model.shapes_[d](grid)) >= -1e-12)
    assert np.ptp(model.shapes_[1](grid)) > 0.1


def test_monotonic_curves_of_several_classes(tmp_path):
    frame = table()
    frame["y"] = np.digitize(frame["a"], [-0.5, 0.5])
    model = fit(tmp_path, frame, *FIXED, "--monotonic", "b=increasing")
    assert model.multi_class_ == "ovr"
    assert np.all(np.diff(model.shapes_[0][1](np.linspace(-3, 3, 99))) >= -1e-12)


def test_monotonic_features_do_not_interact(tmp_path):
    frame = table()
    message = fit_error(
        tmp_path, frame, "--monotonic", "a=increasing", "--interactions", "a:b", "--C", 1
    )
    assert message.startswith("--monotonic: 'a' is also listed in --interactions")


# Sample weights


def weighted(n=240):
    """Return a table with integer weights, some of them 0, and the same with copies of rows."""
    frame = table(n)
    frame.insert(0, "w", np.random.default_rng(1).integers(0, 4, n))
    return frame


def test_sample_weights_count_copies_of_rows(tmp_path):
    frame = weighted()
    model = fit(tmp_path, frame, *FIXED, "--sample-weight", "w")
    assert "w" not in model.feature_names_in_ and model.about_["sample_weight"] == "w"
    rows = held_out(model, frame)
    assert (frame.loc[rows.X.index, "w"] > 0).all()
    train = frame.drop(index=rows.X.index)
    copies = train.loc[train.index.repeat(train["w"])]
    copy = everystump.StumpLogisticRegression(C=1.0).fit(copies[["a", "b", "c"]], copies["y"])
    once = everystump.StumpLogisticRegression(C=1.0).fit(train[["a", "b", "c"]], train["y"])
    scores = [fitted.decision_function(rows.X) for fitted in (model, copy, once)]
    np.testing.assert_allclose(scores[0], scores[1], atol=0.02)  # both within the tolerance
    assert np.abs(scores[0] - scores[2]).max() > 0.2
    # All metrics are those of the copies, by scikit-learn.
    test = frame.loc[rows.X.index]
    test = test.loc[test.index.repeat(test["w"])]
    X, y = test[["a", "b", "c"]], test["y"]
    p, found = model.predict_proba(X)[:, 1], model.about_["figures"]["figures"]
    expected = {
        "accuracy": accuracy_score(y, model.predict(X)),
        "auc": roc_auc_score(y == "yes", p),
        "log_loss": log_loss(y == "yes", p),
        "recall": recall_score(y, model.predict(X), pos_label="yes"),
    }
    for name, value in expected.items():
        assert found[name]["value"] == pytest.approx(value, abs=1e-12), name
    assert model.about_["error"]["value"] == pytest.approx(1 - expected["accuracy"])
    assert "weighted by w" in model.about_["error"]["how"]


def test_sample_weights_of_a_regression(tmp_path):
    frame = weighted()
    frame["y"] = (frame["a"] + 0.1 * np.random.default_rng(2).normal(size=len(frame))).round(4)
    model = fit(tmp_path, frame, *FIXED, "--sample-weight", "w")
    rows = held_out(model, frame)
    test = frame.loc[rows.X.index]
    test = test.loc[test.index.repeat(test["w"])]
    predicted, found = model.predict(test[["a", "b", "c"]]), model.about_["figures"]["figures"]
    assert found["r2"]["value"] == pytest.approx(r2_score(test["y"], predicted), abs=1e-12)
    assert found["mae"]["value"] == pytest.approx(mean_absolute_error(test["y"], predicted))
    train = frame.drop(index=rows.X.index)
    baseline = np.average(train["y"], weights=train["w"])
    assert model.about_["baseline"] == pytest.approx(baseline)


def test_sample_weights_in_chunks(tmp_path):
    frame = weighted()
    options = (*FIXED, "--sample-weight", "w")
    whole = fit(tmp_path, frame, *options)
    stream = fit(tmp_path, frame, *options, "--stream")
    assert held_out(stream, frame).X.index.equals(held_out(whole, frame).X.index)
    X = frame[["a", "b", "c"]]
    np.testing.assert_allclose(stream.decision_function(X), whole.decision_function(X), atol=1e-6)
    accuracy = [m.about_["figures"]["figures"]["accuracy"] for m in (whole, stream)]
    assert accuracy[0] == pytest.approx(accuracy[1])


def test_what_is_said_about_sample_weights(tmp_path):
    frame = weighted()
    frame["w"] = (frame["w"] + 0.5).where(frame["w"] > 0)  # decimal commas, missing values
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    frame.to_csv(data, index=False, sep=";", decimal=",")
    done = run("fit", data, "--target", "y", "--sample-weight", "w", *FIXED, "-o", out)
    n_dropped = int(frame["w"].isna().sum())
    assert f"Sample weights: w, from 1.5 to 3.5; dropped {n_dropped} rows" in done.stdout, (
        done.output
    )
    assert "held-out rows weighted by w)" in done.stdout
    assert "the error on new rows (unweighted) is at most" in done.stdout
    for command in (("bound", out, data), ("report", out, data, "-o", tmp_path / "p.html")):
        done = run(*command)
        assert done.exit_code == 0, done.output
        assert "trained with sample weights (w); here, every row counts once" in done.stderr
    folds = run(
        "fit",
        data,
        "--target",
        "y",
        "--sample-weight",
        "w",
        *FIXED,
        "-o",
        out,
        "--force",
        "--cv",
        3,
    )
    assert "3 folds weighted by w" in folds.stdout


# The metric that chooses C


def test_names_of_metrics():
    from sklearn.metrics import get_scorer_names

    assert set(METRICS) <= set(get_scorer_names())
    several = {metric.several for metric in METRICS.values()} - {None}
    assert several <= set(get_scorer_names())
    for text, name in (
        ("Balanced-Accuracy", "balanced_accuracy"),
        ("neg_log_loss", "neg_log_loss"),
        ("log loss", "neg_log_loss"),
        ("R2", "r2"),
        ("RMSE", "neg_root_mean_squared_error"),
    ):
        assert find_metric(text).scoring == name
    with pytest.raises(InvalidInputError, match="use 'accuracy'"):
        find_metric("acuracy")


@pytest.mark.parametrize(
    ("metric", "scoring", "model"),
    [
        ("auc", "roc_auc", "stump-logistic"),
        ("f1", "f1", "stump-svm"),
        ("brier", "neg_brier_score", "stump-logistic"),
        ("balanced accuracy", "balanced_accuracy", "stump-svm"),
    ],
)
@pytest.mark.parametrize("positive", ["yes", "no"])
def test_the_metric_chooses_the_cost(tmp_path, metric, scoring, model, positive):
    """The scores of the path are those of scikit-learn's scorer for the positive class."""
    frame = table(120)
    options = ("--model", model, "--metric", metric, "--positive", positive, *ADDITIVE)
    found = fit(tmp_path, frame, *options)
    path = found.about_["path"]
    assert path["scoring"] == scoring and path["chosen"] == path["C"][int(np.argmax(path["mean"]))]
    rows = held_out(found, frame)
    train = frame.drop(index=rows.X.index)
    name = {"stump-logistic": "StumpLogisticRegressionCV", "stump-svm": "StumpSVCCV"}[model]
    oracle = getattr(everystump, name)(scoring=scoring, interactions=0, random_state=0)
    oracle.fit(train[["a", "b", "c"]], (train["y"] == positive).astype(int))
    np.testing.assert_allclose(oracle.cv_results_["mean_test_score"], path["mean"], atol=1e-12)


def test_metrics_of_several_classes_and_numbers(tmp_path):
    frame = table(150)
    frame["y"] = np.digitize(frame["a"], [-0.5, 0.5])
    model = fit(tmp_path, frame, "--metric", "auc", *ADDITIVE)
    assert model.about_["path"]["scoring"] == "roc_auc_ovr"
    out = tmp_path / "n.stump"
    command = ("fit", tmp_path / "t.csv", "--target", "a", "--metric", "mae", *ADDITIVE, "-o", out)
    done = run(*command, "--json")
    assert json.loads(done.stdout)["path"]["scoring"] == "neg_mean_absolute_error"
    text = run(*command, "--force").stdout
    assert "by cross-validated mean absolute error" in text


# Errors


BEFORE_READING = [
    (("--class-weight", "yes"), "--class-weight 'yes' must be like balanced, or yes=5,no=1."),
    (("--class-weight", ""), "--class-weight '' must be like"),
    (("--class-weight", "yes=-1"), "the weight of 'yes' is -1; pass a positive number."),
    (("--class-weight", "yes=1,yes=2"), "--class-weight: 'yes' is listed twice"),
    (("--class-weight", "yes=2", "--loss", "huber"), "--loss huber is for regression"),
    (("--monotonic", "a"), "--monotonic 'a' must be like age=increasing,income=decreasing."),
    (("--monotonic", "a=up"), "--monotonic 'a=up' must be like"),
    (("--monotonic", "a=1", "--monotonic", "a=-1"), "--monotonic: 'a' is listed twice"),
    (("--monotonic", "a=1", "--model", "boost"), "boost has no monotonic constraints; omit the"),
    (("--sample-weight", "y"), "--sample-weight y is also the --target"),
    (("--sample-weight", "w", "--drop", "w"), "--sample-weight w is also in --drop; omit one"),
    (("--metric", "acc"), "--metric acc: there is no such metric; use"),
    (("--metric", "auc", "--C", "1", *ADDITIVE), "--metric roc_auc has no effect, because C and"),
    (("--metric", "auc", "--model", "bag"), "bag chooses nothing by cross-validation; omit it, or"),
    (("--metric", "mae", "--model", "boost"), "--metric mean_absolute_error is for regression"),
    (("--metric", "log_loss", "--model", "stump-svm"), "needs probabilities, which stump-svm does"),
]


@pytest.mark.parametrize(("options", "message"), BEFORE_READING)
def test_options_are_checked_before_the_file_is_read(tmp_path, options, message):
    out = tmp_path / "m.stump"
    found = input_error("fit", tmp_path / "no.csv", "--target", "y", "-o", out, *options)
    assert message in found and not out.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--class-weight", "maybe=2"), "'maybe' is not a class of 'y'; choose one of 'no', 'yes'"),
        (("--class-weight", "yes=2,YES=3"), "--class-weight: 'yes' is listed twice"),
        (("--monotonic", "aa=1"), "--monotonic: 'aa' is not a feature; use 'a'."),
        (("--monotonic", "c=1"), "--monotonic: 'c' is categorical, and its levels have no order"),
        (("--monotonic", "k=1"), "--monotonic: column 'k' was dropped (constant); pass --use k"),
        (("--sample-weight", "v"), "There is no column 'v'"),
        (("--sample-weight", "c"), "--sample-weight c: 'u' in row"),
        (("--sample-weight", "b"), "(counting from 0) is not a weight; pass numbers that are not"),
        (("--sample-weight", "z"), "--sample-weight z: no row has a target and a positive weight"),
    ],
)
@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_options_that_do_not_fit_the_table(tmp_path, options, message, stream):
    frame = table().assign(k=1, z=0)
    frame.loc[0, "c"] = "u"
    assert message in fit_error(tmp_path, frame, *FIXED, *options, *stream)


def test_metrics_of_several_classes_need_probabilities(tmp_path):
    frame = table()
    frame["y"] = np.digitize(frame["a"], [-0.5, 0.5])
    message = fit_error(tmp_path, frame, "--model", "stump-svm", "--metric", "auc")
    assert message.startswith("--metric roc_auc of 3 classes needs probabilities")


def test_names_may_contain_commas_and_equal_signs():
    options = TrainingOptions.parse("a,b=2, c=d=1e1", ["x=y, z=increasing"], None)
    assert options.class_weight == {"a,b": 2.0, "c=d": 10.0}
    assert options.monotonic == {"x=y, z": "increasing"}
