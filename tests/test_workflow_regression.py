"""Regression with the command: the task, targets, metrics, prediction intervals, predictions."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from command import ADDITIVE, input_error, run
from scipy.stats import beta
from sklearn.metrics import mean_absolute_error, mean_pinball_loss, r2_score

from everystump import StumpRegressor, StumpRegressorCV, load, save
from everystump._workflow.options import LOSSES, ColumnOptions, LossOptions, resolve_task
from everystump._workflow.presets import DEFAULT_PRESETS, PRESETS
from everystump._workflow.schema.target_readers import infer_reader
from everystump.estimators._regression_losses import REGRESSION_LOSSES

N = 200


def houses(n=N, seed=0):
    """Return numbers and text, and a price that depends on both."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"area": rng.uniform(30, 200, n).round(1), "town": rng.choice([*"abc"], n)}
    )
    noise = rng.normal(size=n)
    return frame.assign(
        price=(900 * frame["area"] + 20_000 * (frame["town"] == "a")).round() + 9000 * noise
    )


def fit(tmp_path, frame, *options, target="price"):
    """Fit a model to a table; return its file, that of the table, and what is recorded."""
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    frame.to_csv(data, index=False)
    additive = ("--C", 1, *ADDITIVE)
    done = run("fit", data, "--target", target, "-o", out, "--force", *additive, *options, "--json")
    assert done.exit_code == 0, done.output
    return out, data, json.loads(done.stdout)


def held_out(model_file, data):
    """Return the held-out rows of a table, by the split that the model records."""
    model, frame = load(model_file), pd.read_csv(data)
    test = np.random.RandomState(0).permutation(len(frame))[: model.about_["n_held_out"]]
    return model, frame.iloc[np.sort(test)]


# The task


@pytest.mark.parametrize(
    ("cells", "task"),
    [
        ([0, 1] * 50, "classification"),
        ([1, 2, 3, 4, 5] * 20, "classification"),
        (np.arange(20).tolist() * 5, "classification"),
        (np.arange(21).tolist() * 5, "regression"),
        ((np.arange(100) / 7).tolist(), "regression"),
        ([f"{k / 7:.2f}" for k in range(100)], "regression"),
        ([f"{k},5" for k in range(100)], "regression"),
        ([f"${k},000" for k in range(1, 101)], "regression"),
        ([f"{k}%" for k in range(100)], "regression"),
        ([*map(str, range(100)), "unknown"], "regression"),
        ([1.5, 2.5, 7.25, 9.0], "regression"),
        ([f"{k:03}" for k in range(100)], "classification"),  # codes
        ([f"name {k}" for k in range(100)], "classification"),
        ([True, False] * 50, "classification"),
    ],
)
def test_the_target_decides_the_task(cells, task):
    reader = infer_reader(pd.Series(cells, name="y"), ColumnOptions(), (".", ","))
    assert (type(reader).__name__ == "NumberReader") == (task == "regression")


def test_the_task_is_stated_and_can_be_overruled(tmp_path):
    frame = houses().assign(stars=np.arange(N) % 5)
    about = fit(tmp_path, frame)[2]
    assert about["task"] == "regression"
    task = "Task: regression, since price has 200 distinct numbers; pass --task classification to"
    assert any(sentence.startswith(task) for sentence in about["schema"])
    about = fit(tmp_path, frame, target="stars")[2]
    assert about["task"] == "classification"
    task = "Task: classification, since stars has only 5 distinct numbers; pass --task regression"
    assert any(sentence.startswith(task) for sentence in about["schema"])
    out, _, about = fit(tmp_path, frame, "--task", "regression", target="stars")
    assert about["task"] == "regression" and isinstance(load(out), StumpRegressor)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--loss", "huber", "--model", "boost"), "--loss huber is for regression, but --model bo"),
        (("--task", "regression", "--positive", "x"), "--positive x is for classification, but --"),
        (("--task", "classification", "--quantile", 0.9), "--quantile 0.9 is for regression, but"),
        (("--loss", "huber", "--quantile", 0.9), "--quantile 0.9 needs --loss quantile, not huber"),
        (("--positive", "x"), "too many for classes"),
        (("--model", "stump-svm"), "or predict numbers with --task regression"),
        (("--loss", "gamma"), "--loss gamma needs positive numbers, but 'price' has -"),
        (("--loss", "poisson"), "--loss poisson needs numbers that are not negative, but 'price'"),
        (
            ("--metric", "mean_poisson_deviance"),
            "--metric mean_poisson_deviance needs positive predictions; use --loss poisson or",
        ),
        (("--stream", "--cv", 3), "--cv needs all rows in memory"),
        (("--stream", "--bands"), "--bands needs all rows in memory; omit it"),
        (("--epsilon", 0.2), "--epsilon 0.2 needs --loss epsilon_insensitive or huber."),
        (("--loss", "gamma", "--epsilon", 1), "or huber, not gamma."),
        (("--model", "boost", "--epsilon", 1, "--loss", "huber"), "--loss huber is for regression"),
        (("--loss", "huber", "--epsilon", 0), "--epsilon 0: --loss huber would be 0 for every"),
    ],
)
def test_options_that_do_not_fit_together(options, why, tmp_path):
    data = tmp_path / "t.csv"
    frame = houses()
    frame.assign(price=frame["price"] - 1e5).to_csv(data, index=False)
    args = ("fit", data, "--target", "price", "-o", tmp_path / "m.stump")
    assert why in input_error(*args, *options)


def test_targets_with_zeros_have_no_gamma_deviance(tmp_path):
    data = tmp_path / "t.csv"
    frame = houses()
    frame.assign(price=frame["price"] - frame["price"].min()).to_csv(data, index=False)
    args = ("fit", data, "--target", "price", "-o", tmp_path / "m.stump")
    message = input_error(*args, "--loss", "poisson", "--metric", "mean_gamma_deviance")
    assert "mean_gamma_deviance needs positive numbers, but 'price' has 0; use --metric" in message
    assert input_error(*args, "--loss", "gamma").endswith("has 0; use --loss poisson.")


def test_text_is_no_target_of_a_regression(tmp_path):
    data = tmp_path / "t.csv"
    houses().to_csv(data, index=False)
    args = ("fit", data, "-o", tmp_path / "m.stump", "--loss", "squared", "--target")
    message = input_error(*args, "town")
    assert "'town' has no numbers, which a regression needs" in message
    assert "pass another --target, or no option that asks for a regression (--task, " in message
    houses().assign(price=3.5).to_csv(data, index=False)
    assert "'price' is 3.5 in every row; name a --target that varies" in input_error(*args, "price")


def test_dates_are_no_targets(tmp_path):
    data = tmp_path / "t.csv"
    days = pd.date_range("2020-01-01", periods=N).astype(str)
    houses().assign(sold=days).to_csv(data, index=False)
    args = ("fit", data, "-o", tmp_path / "m.stump", "--target", "sold")
    for options in ((), ("--task", "regression"), ("--task", "classification")):
        why = input_error(*args, *options)
        assert why.startswith(
            "'sold' contains dates, such as '2020-01-01', which no model predicts"
        )
    houses().assign(sold=days.str[:4] + "-0" + (1 + np.arange(N) % 3).astype(str)).to_csv(
        data, index=False
    )
    assert run(*args, "--C", 1, *ADDITIVE).exit_code == 0  # a few months can be classes


def test_tasks_of_options():
    assert resolve_task(None, {}) is None
    assert LossOptions.parse(None, 0.9) == LossOptions("quantile", 0.9)
    assert tuple(REGRESSION_LOSSES) == LOSSES
    assert {PRESETS[name].task: name for name in DEFAULT_PRESETS.values()} == DEFAULT_PRESETS


# Targets


def test_formatted_and_missing_targets(tmp_path):
    frame = houses()
    text = frame["price"].map(lambda price: f"${price:,.0f}")
    text[[3, 4]] = None
    text[7] = "on request"
    out, data, about = fit(tmp_path, frame.assign(price=text))
    assert about["n_rows"] + about["n_held_out"] == N - 3 and about["unit"] == "$"
    assert "Dropped 2 rows with a missing 'price'." in about["schema"]
    sentence = "Dropped 1 row in which 'price' is not a number: 'on request'."
    assert sentence in about["schema"]
    assert any("Numbers parsed from text: price ('$" in sentence for sentence in about["schema"])
    assert about["figures"]["figures"]["r2"]["value"] > 0.9
    done = json.loads(run("bound", out, data, "--json").stdout)
    assert (done["kind"], done["figures"]["figures"]) == ("held-out", about["figures"]["figures"])
    assert run("predict", out, data).exit_code == 0


def test_infinite_targets(tmp_path):
    frame = houses()
    frame.loc[5, "price"] = np.inf
    frame.to_parquet(tmp_path / "t.parquet")
    args = ("--target", "price", "-o", tmp_path / "m.stump")
    assert "infinite in row 5" in input_error("fit", tmp_path / "t.parquet", *args)


@pytest.mark.parametrize("scale", [1e-9, 1e12])
def test_units_of_targets(scale, tmp_path):
    frame = houses()
    plain = fit(tmp_path, frame)[2]
    scaled = fit(tmp_path, frame.assign(price=scale * frame["price"]))[2]
    width = [about["interval"]["half_width"] for about in (plain, scaled)]
    assert width[1] == pytest.approx(scale * width[0], rel=1e-6)
    r2 = [about["figures"]["figures"]["r2"]["value"] for about in (plain, scaled)]
    assert r2[1] == pytest.approx(r2[0], rel=1e-6)


# Evaluation


def test_metrics_are_those_of_the_held_out_rows(tmp_path):
    out, data, about = fit(tmp_path, houses())
    model, rows = held_out(out, data)
    predicted = model.predict(rows[["area", "town"]])
    figures = about["figures"]["figures"]
    assert figures["r2"]["value"] == pytest.approx(r2_score(rows["price"], predicted))
    assert figures["mae"]["value"] == pytest.approx(mean_absolute_error(rows["price"], predicted))
    train = pd.read_csv(data).drop(rows.index)
    assert about["baseline"] == about["figures"]["baseline"]["answer"]
    assert about["baseline"] == pytest.approx(train["price"].mean())
    text = run("fit", data, "--target", "price", "-o", out, "--force", *ADDITIVE).stdout
    assert "always the mean" in text and "by cross-validated R²" in text
    assert isinstance(load(out), StumpRegressorCV)


def test_no_better_than_the_mean(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=N), "price": rng.normal(size=N)})
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    frame.to_csv(data, index=False)
    done = run("fit", data, "--target", "price", "-o", out, *ADDITIVE)
    assert "than always predicting the mean." in done.stdout


@pytest.mark.parametrize("loss", LOSSES)
def test_losses(loss, tmp_path):
    out, _, about = fit(tmp_path, houses(), "--loss", loss)
    assert about["figures"]["figures"]["r2"]["value"] > 0.8 and load(out).loss == loss
    median = loss in ("huber", "absolute", "quantile", "epsilon_insensitive")
    assert about["figures"]["baseline"]["name"] == ("the median" if median else "the mean")
    assert about["interval"]["n_rows"] == about["n_held_out"]


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "huber"])
def test_epsilon(loss, tmp_path):
    out, data, about = fit(tmp_path, houses(), "--loss", loss, "--epsilon", 0.3)
    model, test = held_out(out, data)
    assert model.epsilon == 0.3 and about["task"] == "regression"
    frame = pd.read_csv(data).drop(index=test.index)
    expected = StumpRegressor(C=1, loss=loss, epsilon=0.3)
    expected.fit(frame[["area", "town"]].astype({"town": "category"}), frame["price"])
    other = StumpRegressor(C=1, loss=loss).fit(
        frame[["area", "town"]].astype({"town": "category"}), frame["price"]
    )
    values = [m.curve("area")["contribution"].to_numpy() for m in (model, expected, other)]
    np.testing.assert_allclose(values[0], values[1], atol=1e-6 * np.ptp(values[1]))
    assert np.abs(values[0] - values[2]).max() > 1e-3 * np.ptp(values[1])


def test_quantiles(tmp_path):
    out, data, about = fit(tmp_path, houses(), "--quantile", 0.9)
    model, rows = held_out(out, data)
    predicted = model.predict(rows[["area", "town"]])
    figures = about["figures"]["figures"]
    loss = mean_pinball_loss(rows["price"], predicted, alpha=0.9)
    assert figures["pinball_loss"]["value"] == pytest.approx(loss)
    assert figures["rows_below"]["value"] == np.mean(rows["price"] <= predicted)
    assert about["figures"]["better"] and about["interval"] is None
    assert pd.read_csv(io.StringIO(run("predict", out, data).stdout)).columns == ["prediction"]
    done = run("bound", out, data)
    assert done.stdout.startswith("No bound: the model has no prediction intervals")


def test_cross_validation_and_refit(tmp_path):
    frame = houses()
    out, data, about = fit(tmp_path, frame, "--cv", 4)
    assert about["evaluated"] == "4 folds, approximate 95% interval"
    assert (about["n_rows"], about["figures"]["n_rows"], about["bounds"]) == (N, N, [])
    assert "interval" not in about
    out, data, about = fit(tmp_path, frame, "--refit")
    assert about["n_rows"] == N and about["refit"] == {"n_rows": 150, "n_held_out": 50}
    assert "interval" not in about and about["figures"]["n_rows"] == 50
    text = run("fit", data, "--target", "price", "-o", out, "--force", *ADDITIVE, "--refit").stdout
    assert "No interval  the refitted model was trained on all rows" in text
    assert "before the refit" in text
    assert "low" not in run("predict", out, data).stdout.splitlines()[0]
    done = json.loads(run("bound", out, data, "--json").stdout)
    assert (done["kind"], done["outside"], done["bounds"]) == ("training", None, [])


def test_few_rows(tmp_path):
    frame = houses(30)
    out, data, about = fit(tmp_path, frame)
    assert about["interval"] is None and about["n_held_out"] == 8
    done = run("fit", data, "--target", "price", "--C", 1, *ADDITIVE, "-o", out, "--force")
    assert "No interval  8 held-out rows are too few" in done.stdout
    about = fit(tmp_path, frame.iloc[:3])[2]
    assert about["task"] == "regression" and "r2" not in about["figures"]["figures"]
    about = fit(tmp_path, frame.iloc[:3], "--cv", 5)[2]
    assert about["notes"] == ["Evaluated by 3 folds instead of 5: one per row."]


# Prediction intervals


def test_intervals_are_split_conformal(tmp_path):
    out, data, about = fit(tmp_path, houses())
    model, rows = held_out(out, data)
    residuals = np.sort(np.abs(rows["price"] - model.predict(rows[["area", "town"]])))
    interval = about["interval"]
    assert interval["level"] == 0.9 and interval["n_rows"] == 50
    assert interval["half_width"] == pytest.approx(residuals[45])  # ceil(51 * 0.9) = 46
    table = pd.read_csv(io.StringIO(run("predict", out, data, "--keep", "price").stdout))
    assert table.columns.tolist() == ["price", "prediction", "low", "high"]
    np.testing.assert_allclose(table["high"] - table["low"], 2 * interval["half_width"])
    text = run("fit", data, "--target", "price", "-o", out, "--force", *ADDITIVE).stdout
    assert "contains the target of 90% of new rows on average" in text


def test_intervals_of_a_log_link_are_not_negative(tmp_path):
    frame = houses()
    frame["price"] = np.random.default_rng(1).poisson(frame["area"] / 40)
    out, data, about = fit(tmp_path, frame, "--loss", "poisson")
    table = pd.read_csv(io.StringIO(run("predict", out, data).stdout))
    assert table["low"].min() == 0.0 and table["prediction"].min() > 0
    plain = table["prediction"] - about["interval"]["half_width"]
    np.testing.assert_allclose(table["low"], np.maximum(plain, 0.0))


def test_edited_models_have_no_intervals(tmp_path):
    out, data, _ = fit(tmp_path, houses())
    save(load(out).remove_feature("town"), out)
    assert run("predict", out, data).stdout.splitlines()[0] == "prediction"


def test_bound_on_held_out_rows(tmp_path):
    """The fraction outside is at most the beta quantile of the rank of the half width."""
    out, data, about = fit(tmp_path, houses())
    done = json.loads(run("bound", out, data, "--json").stdout)
    (bound,) = done["bounds"]
    assert done["kind"] == "held-out" and bound == about["bounds"][0]
    assert bound["holds"] and bound["value"] == pytest.approx(1 - beta.ppf(0.05, 46, 5))
    assert done["outside"] == 4 / 50


def test_bound_on_new_rows(tmp_path):
    out, _, about = fit(tmp_path, houses())
    new = tmp_path / "new.csv"
    rows = houses(1000, seed=1)
    rows.to_csv(new, index=False)
    done = json.loads(run("bound", out, new, "--json").stdout)
    distance = np.abs(rows["price"] - load(out).predict(rows[["area", "town"]]))
    n_outside = int(np.sum(distance > about["interval"]["half_width"]))
    assert done["outside"] == n_outside / 1000
    (bound,) = done["bounds"]
    assert bound["holds"] and "Clopper" in bound["reference"]
    assert bound["value"] == pytest.approx(beta.ppf(0.95, n_outside + 1, 1000 - n_outside))


def test_bound_does_not_hold_on_training_rows(tmp_path):
    frame = houses()
    out, data, _ = fit(tmp_path, frame)
    frame.iloc[:-1].to_csv(data, index=False)  # no longer the training table
    done = json.loads(run("bound", out, data, "--json").stdout)
    assert done["kind"] == "given" and not done["bounds"][0]["holds"]
    assert done["violations"]


@pytest.mark.slow
def test_coverage_of_intervals(tmp_path):
    """The mean coverage of fits to different rows is the level, and the bound fails rarely."""
    new = houses(4000, seed=1000)
    new.to_csv(tmp_path / "new.csv", index=False)
    outside, bounded = [], []
    for seed in range(20):
        out, _, about = fit(tmp_path, houses(seed=seed))
        done = json.loads(run("bound", out, tmp_path / "new.csv", "--json").stdout)
        outside.append(done["outside"])
        bounded.append(about["bounds"][0]["value"])
    # k / (n + 1) = 46 / 51 of new rows are inside on average; the standard deviation of the
    # coverage of one fit is 0.041, of the mean of 20 it is 0.009.
    assert 1 - np.mean(outside) == pytest.approx(46 / 51, abs=0.03)
    assert np.sum(np.array(outside) > bounded) <= 4  # binomial, 5%: more with probability 0.003


# Explanations, files


@pytest.mark.parametrize(
    ("loss", "total", "summed"),
    [
        ("squared", "(prediction)", "the prediction over 50 held-out"),
        ("gamma", "(log prediction)", "the logarithm of the prediction over 50 held-out"),
    ],
)
def test_explain(loss, total, summed, tmp_path):
    frame = houses()
    out, data, _ = fit(tmp_path, frame, "--loss", loss)
    assert f"deviation of the contribution to {summed}" in run("explain", out).stdout
    done = json.loads(run("explain", out, data, "--row", 3, "--json").stdout)
    parts = {row["feature"]: row["contribution"] for row in done["rows"]}
    predicted = load(out).predict(frame[["area", "town"]])[3]
    score = np.log(predicted) if loss == "gamma" else predicted
    assert parts.pop(total) == pytest.approx(score) and sum(parts.values()) == pytest.approx(score)
    assert done["prediction"] == pytest.approx(predicted)
    assert done["low"] < done["prediction"] < done["high"] and done["level"] == 0.9
    text = run("explain", out, data, "--row", 3).stdout
    assert "Predicted value of price: " in text and "(90% interval " in text


@pytest.mark.parametrize(("scale", "shown"), [(1e-12, r"\+1\.174e-07\n"), (1.0, r"\+117,424\n")])
def test_explanations_have_digits(scale, shown, tmp_path):
    frame = houses()
    out, data, _ = fit(tmp_path, frame.assign(price=scale * frame["price"]))
    text = run("explain", out, data).stdout
    assert re.search(shown, text) and " +0.000" not in text
    assert " 0.000" not in run("explain", out).stdout


def test_files_without_and_with_the_target(tmp_path):
    frame = houses()
    out, data, _ = fit(tmp_path, frame)
    with_target = run("predict", out, data).stdout
    frame[["area", "town"]].to_csv(tmp_path / "new.csv", index=False)
    assert run("predict", out, tmp_path / "new.csv").stdout == with_target
    assert "A bound needs labels" in input_error("bound", out, tmp_path / "new.csv")
    frame.assign(price="secret").to_csv(tmp_path / "other.csv", index=False)
    assert run("predict", out, tmp_path / "other.csv").stdout == with_target
    assert "'price' is 'secret' in row 0" in input_error("bound", out, tmp_path / "other.csv")


def test_report_and_export(tmp_path):
    out, data, about = fit(tmp_path, houses())
    done = json.loads(run("report", out, data, "-o", tmp_path / "m.html", "--json").stdout)
    assert done["figures"]["figures"] == about["figures"]["figures"] and done["rows"] == 50
    for suffix in ("sql", "json"):
        assert run("export", out, "-o", tmp_path / f"m.{suffix}").exit_code == 0


# Files in chunks


def stream(tmp_path, frame, *options):
    folder = tmp_path / "parts"
    folder.mkdir(exist_ok=True)
    for k, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame.iloc[part].to_csv(folder / f"{k}.csv", index=False)
    out = tmp_path / "s.stump"
    args = ("--target", "price", "-o", out, "--force", "--json", *ADDITIVE)
    done = run("fit", folder, *args, *options)
    assert done.exit_code == 0, done.output
    return out, folder, json.loads(done.stdout)


def test_stream(tmp_path):
    """In chunks, the split, the metrics and the intervals are those of the table as a whole."""
    pytest.importorskip("pyarrow")
    frame = houses(600)
    frame["price"] = frame["price"].map(lambda price: f"${price:,.0f}")
    frame.loc[5, "price"] = None
    _, data, whole = fit(tmp_path, frame)
    out, folder, about = stream(tmp_path, frame, "--C", 1)
    assert (about["n_rows"], about["n_held_out"]) == (whole["n_rows"], whole["n_held_out"])
    assert about["interval"]["half_width"] == pytest.approx(whole["interval"]["half_width"], 1e-2)
    assert about["baseline"] == pytest.approx(whole["baseline"])
    assert "Dropped 1 row with a missing 'price'." in about["schema"]
    assert json.loads(run("bound", out, data, "--json").stdout)["kind"] == "held-out"
    lines = run("predict", out, folder).stdout.splitlines()
    assert lines[0] == "prediction,low,high" and len(lines) == 601


@pytest.mark.slow
def test_stream_with_a_choice_and_refit(tmp_path):
    pytest.importorskip("pyarrow")
    out, _, about = stream(tmp_path, houses(600), "--refit", "--loss", "absolute")
    assert about["path"]["scoring"] == "neg_mean_absolute_error" and about["n_rows"] == 600
    assert "interval" not in about and load(out).loss == "absolute"
