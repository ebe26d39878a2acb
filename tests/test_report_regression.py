"""The report page of a regressor: predictions, residuals, metrics, units and intervals."""

from base64 import b64decode

import numpy as np
import pytest

pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")

from regression_tables import make_houses
from sklearn.metrics import mean_absolute_error, r2_score
from test_report import needs_node, run_script

from everystump import StumpRegressor, StumpRegressorCV
from everystump._evaluation import metric_rows
from everystump.report import render, summarize
from everystump.report._encoding import encode_numbers

INTERVAL = {"level": 0.9, "half_width": 21.4}
CLASS_WORDS = ("confusion", "classes", "misclassif", "favor", "margin")


@pytest.fixture(scope="module")
def table():
    return make_houses()


@pytest.fixture(scope="module")
def model(table):
    X, y = table
    return StumpRegressor(interactions=[("area", "town")]).fit(X[:200], y[:200])


@pytest.fixture(scope="module")
def log_model(table):
    X, y = table
    return StumpRegressor(loss="poisson").fit(X[:200], y[:200].round())


@pytest.fixture(scope="module")
def summary(model, table):
    X, y = table
    about = {"unit": "k€", "target": "price", "interval": INTERVAL, "baseline": y[:200].mean()}
    return summarize(model, X[200:], y[200:], about=about)


def test_residuals_are_those_of_the_rows(summary, model, table):
    X, y = (part[200:] for part in table)
    predicted = model.predict(X)
    quality = summary["quality"]
    assert quality["predicted"] == encode_numbers(predicted)
    assert quality["actual"] == encode_numbers(y.to_numpy())
    assert quality["n"] == 100
    assert quality["mean"] == pytest.approx((y - predicted).mean())
    assert quality["median"] == pytest.approx(np.median(np.abs(y - predicted)))


def test_many_rows_are_sampled_with_the_largest_errors(table):
    X, y = make_houses(2500)
    y = y.to_numpy(copy=True)
    y[1234] += 1e4
    summary = summarize(StumpRegressor().fit(X[:100], y[:100]), X, y)
    quality = summary["quality"]
    found = np.frombuffer(b64decode(quality["actual"]))
    assert quality["n"] == 2500 and 1000 <= len(found) <= 1010
    assert y[1234] in found
    assert summary["explained"]["largest_errors"][0]["row"] == 1234


def test_largest_errors_are_explained(summary, model, table):
    X, y = (part[200:] for part in table)
    predicted, actual = model.predict(X), y.to_numpy()
    rows = summary["explained"]["largest_errors"]
    order = np.argsort(-np.abs(actual - predicted), kind="stable")[:10]
    assert [row["row"] for row in rows] == order.tolist()
    assert [row["name"] for row in rows] == X.index[order].tolist()
    for row in rows:
        assert row["actual"] == actual[row["row"]]
        assert row["predicted"] == pytest.approx(predicted[row["row"]], rel=1e-12)
        total = model.intercept_ + sum(row["contributions"])
        assert total == pytest.approx(row["predicted"], rel=1e-12)
    shown = {row["row"] for row in summary["what_if"]}
    assert shown >= set(order.tolist())


def test_metrics_are_beside_the_mean_of_the_training_rows(summary, model, table):
    X, y = (part[200:] for part in table)
    metrics, predicted = summary["quality"]["metrics"], model.predict(X)
    assert metrics["figures"]["r2"]["value"] == pytest.approx(r2_score(y, predicted))
    assert metrics["baseline"]["answer"] == pytest.approx(table[1][:200].mean())
    shown = summary["text"]["metrics"]
    assert shown["always"] == "always the mean"
    assert [row["name"] for row in shown["rows"]] == ["R²", "RMSE (k€)", "MAE (k€)"]
    assert shown["rows"][2]["value"] == metric_rows(metrics)[2]["value"]
    assert float(shown["rows"][2]["value"]) == pytest.approx(
        mean_absolute_error(y, predicted), rel=1e-3
    )
    assert all(row["interval"] for row in shown["rows"])
    assert [figure["name"] for figure in shown["key"]] == ["R²", "RMSE (k€)", "MAE (k€)"]
    assert shown["key"][1]["interval"].startswith("95% interval ")
    value, baseline = (shown["rows"][1][key] for key in ("value", "baseline"))
    assert f"(RMSE) is {value} k€; always predicting the mean" in shown["headline"]["text"]
    assert shown["headline"]["text"].endswith(f"would give {baseline} k€.")
    assert not shown["headline"]["is_warning"]


def test_training_rows_have_no_intervals(model, table):
    X, y = (part[:200] for part in table)
    summary = summarize(model, X, y)
    assert summary["about"]["rows"] == "training"
    assert summary["text"]["metrics"]["title"].endswith("(optimistic)")
    assert not any(row["interval"] for row in summary["text"]["metrics"]["rows"])
    assert not any(figure["interval"] for figure in summary["text"]["metrics"]["key"])


def test_sentences(summary, log_model, table):
    text = " ".join(summary["text"]["description"])
    assert "predicts “price” from 3 features" in text
    assert "within 21.4 k€ of the prediction" in text
    assert "is the sum of an intercept and the contributions of all features and interac" in text
    assert (
        "No ensemble of stumps and products of stumps can have an objective below"
        in (summary["text"]["certificate"])
    )
    alone = summarize(log_model)
    text = " ".join(alone["text"]["description"])
    assert "The model predicts a number from 3 features." in text
    assert "The logarithm of the prediction is the sum" in text
    assert [row["title"] for row in alone["what_if"]][1:] == [
        "every feature lowers the prediction",
        "every feature raises the prediction",
    ]


def test_extreme_rows_are_the_lowest_and_highest_predictions(log_model, table):
    pd = pytest.importorskip("pandas")
    found = summarize(log_model)["what_if"]
    rows = pd.DataFrame([row["values"] for row in found], columns=table[0].columns)
    typical, low, high = log_model.predict(rows)
    predicted = log_model.predict(table[0].dropna())
    assert low <= predicted.min() and predicted.max() <= high and low < typical < high


def test_nothing_is_said_about_classes(summary, log_model):
    for found in (summary, summarize(log_model)):
        page = render(found)
        body = page[page.index("<body>") : page.index('<script id="data"')].lower()
        text = f"{body} {found['text']}".lower()
        assert [word for word in CLASS_WORDS if word in text] == []


def test_stored_metrics_are_shown_without_rows(model, summary):
    about = {"figures": summary["quality"]["metrics"], "n_held_out": 100, "unit": "k€"}
    text = summarize(model, about=about)["text"]
    assert text["metrics"]["title"] == "Evaluated on 100 held-out rows"
    assert text["metrics"]["key"] == summary["text"]["metrics"]["key"]
    refit = about | {"refit": {"n_rows": 200, "n_held_out": 100}}
    text = " ".join(summarize(model, about=refit)["text"]["description"])
    assert "after a first model, trained on 200 rows" in text


def test_an_edited_model_has_no_intervals(model, table):
    edited = model.flatten_curve("area")
    assert "interval" not in summarize(edited, about={"interval": INTERVAL})["about"]


def test_rows_without_targets_have_no_errors(model, table):
    summary = summarize(model, table[0][200:])
    assert summary["quality"] is summary["explained"] is None
    assert all(row["actual"] is None for row in summary["what_if"])


def test_exact_predictions_have_no_errors():
    X = np.arange(4.0)[:, None]
    model = StumpRegressor(loss="absolute", C=100).fit(X, np.ones(4))
    assert summarize(model, X, np.ones(4))["explained"] == {"largest_errors": []}


def test_quantiles_are_compared_with_the_quantile(table):
    X, y = table
    model = StumpRegressor(loss="quantile", quantile=0.9).fit(X[:200], y[:200])
    metrics = summarize(model, X[200:], y[200:])["text"]["metrics"]
    assert metrics["always"] == "always the 0.9 quantile"
    assert "pinball loss" in [row["name"] for row in metrics["rows"]]


def test_path_of_a_regressor(table):
    X, y = table
    model = StumpRegressorCV(Cs=[0.01, 0.1], cv=2, interactions=0).fit(X, y)
    summary = summarize(model)
    path = summary["about"]["path"]
    assert path["scoring"] == "r2" and path["chosen"] == model.C_
    assert summary["text"]["scores"] == {"C": "R²", "strength": "score"}


@needs_node
@pytest.mark.parametrize("kind", ["identity", "log"])
def test_the_scorer_predicts_as_python_does(kind, model, log_model, table):
    chosen = {"identity": model, "log": log_model}[kind]
    X, _ = table
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    found = run_script(render(summarize(chosen)), rows, "rows.map((row) => model.predict(row))")
    assert np.abs(np.array(found) - chosen.predict(X)).max() <= 1e-9
