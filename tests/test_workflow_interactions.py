"""Interactions through the command: fitting, messages, and everything that reads the model."""

import json
import re
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from command import input_error, run
from sklearn.datasets import load_iris

import everystump
from everystump._workflow.options import InteractionOptions
from everystump._workflow.plan import Plan
from everystump.cli.fit_summary import _interactions as summarize
from everystump.datasets import load_dataset


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A file whose label depends on the product of age and income, and on the job."""
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame(
        {
            "age": rng.uniform(18, 80, n).round(1),
            "income": rng.normal(50, 10, n).round(1),
            "job": rng.choice(["baker", "clerk", "cook"], n),
            "id": np.arange(n),
        }
    )
    frame.loc[::13, "income"] = np.nan
    product = (frame.age - 50) * (frame.income.fillna(50) - 50) / 100 + (frame.job == "cook")
    frame["state"] = np.where(product + 0.5 * rng.normal(size=n) > 0.3, "good", "bad")
    path = tmp_path_factory.mktemp("table") / "t.csv"
    frame.to_csv(path, index=False)
    return path


def fit(table, out, *options):
    """Fit with --json and --C 1; return the results."""
    arguments = ["fit", table, "--target", "state", "--C", 1, "-o", out, "--json"]
    done = run(*arguments, *options)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def model(table, tmp_path_factory):
    """The file of a model with all pairs, of a given strength."""
    out = tmp_path_factory.mktemp("model") / "m.stump"
    fit(table, out, "--interactions", "auto", "--interaction-strength", 0.5)
    return out


def test_by_default_all_pairs_are_tried(table, tmp_path):
    about = fit(table, tmp_path / "m.stump")
    again = fit(table, tmp_path / "n.stump", "--interactions", "auto")
    assert about["interactions"] == again["interactions"]
    assert everystump.load(tmp_path / "m.stump").interactions_ == [(0, 1), (0, 2), (1, 2)]


def test_zero_makes_models_additive(table, tmp_path):
    about = fit(table, tmp_path / "m.stump", "--interactions", 0)
    assert "interactions" not in about
    model = everystump.load(tmp_path / "m.stump")
    assert type(model) is everystump.StumpLogisticRegression and model.interactions_ == []


def test_zero_makes_models_additive_also_if_c_is_chosen(table, tmp_path):
    done = run("fit", table, "--target", "state", "--interactions", 0, "-o", tmp_path / "m.stump")
    assert done.exit_code == 0 and "nteraction" not in done.stdout
    assert everystump.load(tmp_path / "m.stump").interactions_ == []


def test_the_strength_is_chosen_and_reported(table, tmp_path):
    out = tmp_path / "m.stump"
    arguments = ["fit", table, "--target", "state", "--interactions", 2, "-o", out]
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    model = everystump.load(out)
    assert isinstance(model, everystump.StumpLogisticRegressionCV)
    assert len(model.interactions_) == 2 and (0, 1) in model.interactions_
    record = model.about_["interactions"]
    strengths = model.interaction_cv_results_["param_interaction_strength"]
    assert record["path"]["strength"] == strengths.tolist()
    assert record["strength"] == model.interaction_strength_ > 0
    assert record["refined_C"] == model.C_
    assert record["path"]["chosen"] == model.interaction_cv_results_["chosen"] > 0
    assert ["age", "income"] in record["features"]
    line = next(line for line in done.stdout.splitlines() if line.startswith("Interactions"))
    expected = (
        f"2 pairs of features, strength {record['path']['chosen']:.3g}, the best of "
        f"{len(strengths) - 1} strengths by cross-validated log loss"
    )
    if model.cv_results_["chosen"] != model.C_:
        expected += f"; {model.interaction_strength_:.3g} at the refined C"
    assert line.split(maxsplit=1)[1] == expected
    assert "infinite ensemble of stumps with 2 interactions, logistic loss" in done.stdout
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("C "))
    how = f"the best of {len(model.cv_results_['param_C'])} values by cross-validated log loss"
    if model.about_["path"]["is_continued"]:
        how = "chosen by cross-validated log loss"
    assert line.split(maxsplit=1)[1].startswith(f"{model.cv_results_['chosen']:.3g}, {how}")


def test_few_interactions_are_reported(tmp_path):
    monk = load_dataset("monk1_train124", as_frame=True)
    monk.data.assign(label=monk.target).to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "m.stump"
    done = run("fit", tmp_path / "t.csv", "--target", "label", "--cv", 5, "-o", out)
    assert done.exit_code == 0, done.output
    record = everystump.load(out).about_["interactions"]
    assert record["features"] == [["a", "b"]] and record["chosen_from"] == 15
    text = " ".join(done.stdout.split())
    assert (
        "Interactions 1 pair of features, chosen from 15 by cross-validated log loss; strength "
        f"{record['strength']:.3g}"
    ) in text


def test_a_given_c_still_leaves_the_strength_to_choose(table, tmp_path):
    about = fit(table, tmp_path / "m.stump", "--interactions", "income:age")
    assert about["interactions"]["features"] == [["age", "income"]]
    assert "path" in about["interactions"] and "path" not in about
    model = everystump.load(tmp_path / "m.stump")
    assert model.C_ == 1.0 and model.interactions_ == [(0, 1)]


def test_a_given_strength_and_three_columns(table, tmp_path):
    out, options = tmp_path / "m.stump", ("--interactions", "age:income:job,age:job")
    about = fit(table, out, *options, "--interaction-strength", 0.3, "--model", "stump-svm")
    assert about["interactions"] == {
        "features": [["age", "job"], ["age", "income", "job"]],
        "strength": 0.3,
    }
    assert type(everystump.load(out)) is everystump.StumpSVC


def test_interactions_that_do_not_help_are_reported(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    frame["y"] = np.where(rng.random(300) < 1 / (1 + np.exp(-3 * frame.a)), "yes", "no")
    frame.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "m.stump"
    done = run(
        *("fit", tmp_path / "t.csv", "--target", "y", "--C", 1, "--interactions", "a:b"),
        *("--refit", "-o", out),
    )
    assert done.exit_code == 0, done.output
    model = everystump.load(out)
    assert model.interactions_ == []
    n_tried = len(model.about_["interactions"]["path"]["strength"]) - 1
    assert f"none: they do not clearly improve the cross-validated log loss ({n_tried} " in (
        done.stdout
    )
    assert type(model) is everystump.StumpLogisticRegression  # refitted with the same C
    assert model.about_["refit"]["n_rows"] == 225


def test_a_single_feature_cannot_interact(table, tmp_path):
    done = run(
        *("fit", table, "--target", "state", "--C", 1, "--interactions", "auto"),
        *("--drop", "income", "--drop", "job", "-o", tmp_path / "m.stump"),
    )
    assert "none: fewer than two features can interact" in done.stdout


def test_a_refit_keeps_interactions_and_strength(table, tmp_path):
    first = fit(table, tmp_path / "a.stump", "--interactions", 1)
    again = fit(table, tmp_path / "b.stump", "--interactions", 1, "--refit")
    assert again["interactions"] == first["interactions"]
    model = everystump.load(tmp_path / "b.stump")
    assert model.interaction_strength_ == first["interactions"]["strength"]
    assert model.interactions_ == everystump.load(tmp_path / "a.stump").interactions_
    assert again["n_rows"] == 400 and again["figures"] == first["figures"]


def test_evaluation_by_folds(table, tmp_path):
    options = ("--interactions", "age:income", "--interaction-strength", 0.5, "--cv", 3)
    with_pair = fit(table, tmp_path / "a.stump", *options)
    additive = fit(table, tmp_path / "b.stump", "--interactions", 0, "--cv", 3)
    assert with_pair["error"]["value"] < additive["error"]["value"] - 0.05


@pytest.mark.parametrize(
    ("n_folds", "by"),
    [(5, "cross-validated log loss"), (1, "log loss on a validation split")],
)
def test_the_summary_says_how_the_strength_was_chosen(n_folds, by):
    path = {"strength": [0.0, 0.5, 2.0], "scoring": "neg_log_loss", "n_folds": n_folds}
    chosen = {"features": [["a", "b"], ["a", "b", "c"]], "strength": 0.5, "path": path}
    assert summarize(chosen) == (
        f"1 pair and 1 triple of features, strength 0.5, the best of 2 strengths by {by}"
    )
    additive = {"features": [], "strength": 0.0, "path": path}
    assert summarize(additive) == f"none: they do not clearly improve the {by} (2 strengths tried)"


# Everything that reads the model


def test_the_other_commands_read_the_model(table, model, tmp_path):
    fitted = everystump.load(model)
    assert len(fitted.interactions_) == 3
    frame = pd.read_csv(table)
    scores = fitted.decision_function(frame[["age", "income", "job"]])
    assert run("predict", model, table, "-o", tmp_path / "p.csv").exit_code == 0
    np.testing.assert_allclose(pd.read_csv(tmp_path / "p.csv")["score"], scores, rtol=1e-12)
    terms = json.loads(run("explain", model, "--json").stdout)
    assert "age × income" in json.dumps(terms, ensure_ascii=False)
    assert run("explain", model, table, "-o", tmp_path / "e.csv").exit_code == 0
    contributions = pd.read_csv(tmp_path / "e.csv")
    assert {"age × income", "age × job", "income × job"} <= set(contributions.columns)
    bound = run("bound", model, table, "--json")
    assert bound.exit_code == 0 and json.loads(bound.stdout)
    assert run("report", model, table, "-o", tmp_path / "r.html").exit_code == 0
    assert "interaction" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_explain_prints_the_largest_terms_and_the_sum_of_the_others(table, model):
    text = run("explain", model, table, "--row", 3, "--top", 2).stdout
    lines = [line.split("  ") for line in text.splitlines()]
    printed = [(line[0], float(number)) for line in lines if (number := _contribution(line))]
    names, values = zip(*printed, strict=True)
    everything = json.loads(run("explain", model, table, "--row", 3, "--json").stdout)["rows"]
    largest = tuple(row["feature"] for row in everything[:2])
    assert names == (*largest, "(4 other terms)", "(intercept, baseline)", "(score)")
    assert sum(values[:-1]) == pytest.approx(values[-1], abs=0.003)
    assert "4 smaller terms: --top 6 shows them." in text
    for enough in (5, 6):  # a single other term takes no more room than its summary
        text = run("explain", model, table, "--row", 3, "--top", enough).stdout
        assert "other" not in text and "--top" not in text
    importances = run("explain", model, "--top", 1).stdout
    assert "5 smaller terms: --top 6 shows them." in importances and "other" not in importances


def test_explain_counts_terms_of_several_classes_once(tmp_path):
    table, model = tmp_path / "iris.csv", tmp_path / "iris.stump"
    load_iris(as_frame=True).frame.to_csv(table, index=False)
    run("fit", table, "--target", "target", "--interactions", 0, "-o", model)
    text = run("explain", model, "--top", 2).stdout
    assert sum("(cm)" in line for line in text.splitlines()) == 2 * 3
    assert "2 smaller terms: --top 4 shows them." in text


def _contribution(cells):
    """The number with a sign among the cells of a line, if there is any."""
    return next((x.strip() for x in cells[1:] if re.fullmatch(r"\s*[+-][\d.]+\s*", x)), None)


def test_exports_of_the_command(table, model, tmp_path):
    for extension in ("json", "sql", "onnx"):
        done = run("export", model, "-o", tmp_path / f"m.{extension}")
        assert done.exit_code == 0, done.output
    document = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert json.dumps(document).count('"surfaces"') >= 1
    frame = pd.read_csv(table)
    expected = everystump.load(model).decision_function(frame[["age", "income", "job"]])
    with closing(sqlite3.connect(":memory:")) as connection:
        frame.to_sql("data", connection, index=False)
        query = (tmp_path / "m.sql").read_text(encoding="utf-8")
        rows = pd.read_sql_query(query, connection)
    np.testing.assert_allclose(rows["score"], expected, atol=1e-9)


# Mistakes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--interactions", "all"], "--interactions 'all' must be 0, a number of pairs, auto, or"),
        (["--interactions", "-1"], "--interactions '-1' must be 0, a number of pairs, auto, or"),
        (["--interactions", "1.5"], "--interactions '1.5' must be 0, a number of pairs, auto, or"),
        (["--interactions", ""], "--interactions '' must be 0, a number of pairs, auto, or"),
        (["--interactions", "age:"], "--interactions 'age:' must be 0, a number of pairs"),
        (["--interactions", "age:job,"], "--interactions 'age:job,' must be 0, a number of pairs"),
        (["--interactions", "age:age"], "age:age contains a column twice; list different columns"),
        (["--interactions", "age:job,job:age"], "job:age is listed twice; remove one of them"),
        (["--interactions", "age:job:income:id"], "has 4 columns; an interaction has two or three"),
        (["--interactions", "age:jbo"], "'jbo' is not a feature; use 'job'"),
        (["--interactions", "age:state"], "'state' is not a feature"),
        (
            ["--interactions", "age:job", "--drop", "job"],
            "column 'job' was dropped (requested); do not drop it, or remove it from the option.",
        ),
        (["--interactions", "age:id"], "column 'id' was dropped (row numbers); pass --use id"),
        (["--interactions", "auto", "--model", "boost"], "boost has no interactions; omit the opt"),
        (
            ["--interactions", "0", "--interaction-strength", "1"],
            "has no effect without interactions; pass --interactio",
        ),
    ],
)
def test_mistakes_get_one_clear_sentence(table, tmp_path, options, message):
    assert message in input_error(
        "fit", table, "--target", "state", "-o", tmp_path / "m.stump", *options
    )


def test_names_that_cannot_be_listed(table, tmp_path):
    frame = pd.read_csv(table).rename(columns={"age": "age:years"})
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = ("--interactions", "age:income", "-o", tmp_path / "m.stump")
    error = input_error("fit", tmp_path / "t.csv", "--target", "state", *options)
    assert "'age' is not a feature; " in error
    assert "(rename columns with a colon or a comma to list them)" in error


def test_too_few_rows_to_choose_a_strength(tmp_path):
    pd.DataFrame({"a": [1, 2], "b": [2, 1], "y": ["u", "v"]}).to_csv(tmp_path / "t.csv")
    error = input_error(
        *("fit", tmp_path / "t.csv", "--target", "y", "--C", 1, "--interactions", "a:b"),
        *("--cv", 2, "-o", tmp_path / "m.stump"),
    )
    assert "too few to choose interaction strength by cross-validation" in error


def test_the_default_applies_only_to_models_with_interactions():
    assert Plan().chosen_interactions == InteractionOptions("auto")
    assert Plan("boost").chosen_interactions.is_none
    assert Plan(interactions=InteractionOptions(0)).chosen_interactions.is_none


def test_a_report_of_unlabeled_rows_says_that_they_are_not_evaluated(table, tmp_path):
    fit(table, tmp_path / "m.stump", "--interactions", "0")
    pd.read_csv(table).drop(columns="state").to_csv(tmp_path / "new.csv", index=False)
    done = run("report", tmp_path / "m.stump", tmp_path / "new.csv", "-o", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    assert "new.csv does not have the target, so the model is not evaluated on it." in " ".join(
        done.stderr.split()
    )
