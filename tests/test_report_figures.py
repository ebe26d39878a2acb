"""The page of a model that the command made: whose figures it shows, and on which rows."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from everystump import DecisionStumpClassifier
from everystump._evaluation import metric_rows
from everystump._workflow.fitting import fit_model
from everystump._workflow.matching import match_labeled_rows
from everystump._workflow.options import ColumnOptions
from everystump._workflow.plan import Plan
from everystump._workflow.schema.training_data import prepare_training_data
from everystump.datasets import load_dataset, make_twonorm
from everystump.modelfile import load, save
from everystump.report import summarize
from everystump.report.plain import as_plain


def tool_model(refit=False, **plan):
    """Return a model as the command makes it, with the rows that were held out."""
    data = load_dataset("german", as_frame=True)
    frame = data.data.iloc[:200, :6].assign(risk=np.where(data.target[:200] == 1, "bad", "good"))
    task = prepare_training_data(frame, "risk", ColumnOptions(positive="bad"))
    model = fit_model(task, Plan(C=0.1, refit=refit, **plan))
    return model, match_labeled_rows(model, frame)


def test_figures_of_the_page_are_those_of_the_fit():
    model, trial = tool_model()
    assert trial.kind == "held-out"
    summary = summarize(model, trial.X, trial.y, about={"rows": trial.kind})
    assert summary["quality"]["figures"] == as_plain(model.about_["figures"])
    told = summary["words"]["figures"]
    assert told["title"] == "Measured on 50 held-out rows"
    assert told["rows"] == metric_rows(model.about_["figures"])
    assert summarize(model)["words"]["figures"] == told
    assert "recall of “bad”" in [row["name"] for row in told["rows"]]


def test_intervals_of_folds_are_called_approximate():
    model, _ = tool_model(cv=3)
    words = summarize(model)["words"]
    assert words["figures"]["interval"] == "approx. interval"
    assert words["tiles"]["range"].startswith("likely about ")
    assert any("(3 folds, approximate 95% interval)" in text for text in words["trained"])
    words = summarize(tool_model()[0])["words"]
    assert words["figures"]["interval"] == "95% interval"
    assert not words["tiles"]["range"].startswith("likely about ")


def test_importances_are_those_of_held_out_rows():
    model, trial = tool_model()
    wanted = model.explain_global(trial.X).set_index("feature")["importance"]
    for summary in (summarize(model), summarize(model, trial.X, about={"rows": "held-out"})):
        assert summary["measured_on"] == "50 held-out rows"
        for feature in summary["features"]:
            assert feature["importance"] == pytest.approx([wanted[feature["name"]]])
    edited = model.flatten_curve("duration")
    assert summarize(edited)["measured_on"] == "training rows"


def test_figures_of_training_rows_are_not_shown_where_there_are_better_ones():
    model, trial = tool_model()
    given = {"rows": "training"}
    words = summarize(model, trial.X, trial.y, about=given)["words"]
    assert words["figures"]["title"] == "Measured on 50 held-out rows"
    del model.about_["figures"]
    words = summarize(model, trial.X, trial.y, about=given)["words"]
    assert words["figures"]["title"] == "Measured on 50 training rows, which flatters the model"
    assert not any(row["interval"] for row in words["figures"]["rows"])


def test_a_refitted_model_does_not_boast_of_the_figures_of_another():
    model, trial = tool_model(refit=True)
    assert trial.kind == "training" and len(trial.y) == 200
    about = model.about_
    assert about["refit"] == {"n_rows": 150, "n_held_out": 50}
    assert (about["n_rows"], about["n_held_out"], sum(about["class_counts"])) == (200, 0, 200)
    assert "importances" not in about
    assert not [one for one in about["bounds"] if one["name"] == "validation_bound"]
    first, _ = tool_model()
    assert about["figures"] == first.about_["figures"]
    assert about["certificate"]["primal"] != first.about_["certificate"]["primal"]
    words = summarize(model)["words"]
    assert words["figures"]["title"].endswith("with the first model, of 150 rows")
    assert "trained on all rows after a first model, of 150 rows" in " ".join(words["trained"])


def test_figures_by_folds():
    model, _ = tool_model(cv=3)
    words = summarize(model)["words"]
    assert words["figures"]["title"] == "Measured by cross-validation on 200 rows"
    assert model.about_["figures"]["figures"]["auc"]["interval"] is None


@pytest.mark.parametrize("steps", [(), (StandardScaler(),)])
def test_training_rows_given_in_python_are_called_so(steps):
    X, y = make_twonorm(200, random_state=0)
    model = make_pipeline(*steps, DecisionStumpClassifier()).fit(X[:100], y[:100])
    for given in (slice(0, 100), slice(0, 30)):
        words = summarize(model, X[given], y[given])["words"]
        n = given.stop
        assert (
            words["figures"]["title"] == f"Measured on {n} training rows, which flatters the model"
        )
        assert not any(row["interval"] for row in words["figures"]["rows"])
    partly = summarize(model, X[60:160], y[60:160])["words"]
    assert partly["figures"]["title"] == "Measured on 100 given rows, which may flatter the model"
    assert not any(row["interval"] for row in partly["figures"]["rows"])
    assert any("about 40% of these rows equal rows" in text for text in partly["trained"])
    fresh = summarize(model, X[100:], y[100:])["words"]
    assert fresh["figures"]["title"] == "Measured on 100 given rows"
    assert any(row["interval"] for row in fresh["figures"]["rows"])


def test_what_the_caller_says_of_rows_goes_first():
    X, y = make_twonorm(50, random_state=0)
    model = DecisionStumpClassifier().fit(X, y)
    words = summarize(model, X, y, about={"rows": "held-out"})["words"]
    assert words["figures"]["title"] == "Measured on 50 held-out rows"


def test_a_saved_pipeline_is_named_as_a_cause_of_no_record(tmp_path):
    X, y = make_twonorm(50, random_state=0)
    save(make_pipeline(StandardScaler(), DecisionStumpClassifier()).fit(X, y), tmp_path / "a.stump")
    doubt = load(tmp_path / "a.stump").training_overlap(X, y).doubt
    assert "those saved from pipelines that change columns" in doubt
