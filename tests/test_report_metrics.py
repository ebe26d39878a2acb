"""The metrics of the page of a model that the command fitted: whose they are, on which rows."""

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
from everystump.report._encoding import to_plain


def tool_model(refit=False, **plan):
    """Return a model as the command makes it, with the rows that were held out."""
    data = load_dataset("german", as_frame=True)
    frame = data.data.iloc[:200, :6].assign(risk=np.where(data.target[:200] == 1, "bad", "good"))
    task = prepare_training_data(frame, "risk", ColumnOptions(positive="bad"))
    model = fit_model(task, Plan(C=0.1, refit=refit, **plan))
    return model, match_labeled_rows(model, frame)


def test_metrics_of_the_page_are_those_of_the_fit():
    model, trial = tool_model()
    assert trial.kind == "held-out"
    summary = summarize(model, trial.X, trial.y, about={"rows": trial.kind})
    assert summary["quality"]["metrics"] == to_plain(model.about_["figures"])
    metrics = summary["text"]["metrics"]
    assert metrics["title"] == "Evaluated on 50 held-out rows"
    assert metrics["rows"] == metric_rows(model.about_["figures"])
    assert summarize(model)["text"]["metrics"] == metrics
    assert "recall of “bad”" in [row["name"] for row in metrics["rows"]]


def test_intervals_of_folds_are_approximate():
    model, _ = tool_model(cv=3)
    text = summarize(model)["text"]
    assert text["metrics"]["interval"] == "approx. interval"
    assert text["metrics"]["key"][0]["interval"].startswith("approx. interval ")
    sentence = "(3 folds); the approximate 95% interval of the error"
    assert any(sentence in line for line in text["description"])
    text = summarize(tool_model()[0])["text"]
    assert text["metrics"]["interval"] == "95% interval"
    assert text["metrics"]["key"][0]["interval"].startswith("95% interval ")


def test_importances_on_held_out_rows():
    model, trial = tool_model()
    expected = model.explain_global(trial.X).set_index("feature")["importance"]
    for summary in (summarize(model), summarize(model, trial.X, about={"rows": "held-out"})):
        assert summary["measured_on"] == "50 held-out rows"
        for feature in summary["features"]:
            assert feature["importance"] == pytest.approx([expected[feature["name"]]])
    edited = model.flatten_curve("duration")
    assert summarize(edited)["measured_on"] == "training rows"


def test_metrics_of_the_fit_are_preferred_to_those_of_training_rows():
    model, trial = tool_model()
    about = {"rows": "training"}
    text = summarize(model, trial.X, trial.y, about=about)["text"]
    assert text["metrics"]["title"] == "Evaluated on 50 held-out rows"
    del model.about_["figures"]
    text = summarize(model, trial.X, trial.y, about=about)["text"]
    assert text["metrics"]["title"] == "Evaluated on 50 training rows (optimistic)"
    assert not any(row["interval"] for row in text["metrics"]["rows"])


def test_metrics_of_a_refitted_model_are_those_of_the_first_model():
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
    text = summarize(model)["text"]
    assert text["metrics"]["title"].startswith("First model, trained on 150 rows, evaluated on 50")
    assert "trained on all rows after a first model, trained on 150 rows" in " ".join(
        text["description"]
    )


def test_metrics_by_cross_validation():
    model, _ = tool_model(cv=3)
    text = summarize(model)["text"]
    assert text["metrics"]["title"] == "Evaluated by cross-validation on 200 rows"
    assert model.about_["figures"]["figures"]["auc"]["interval"] is None


@pytest.mark.parametrize("steps", [(), (StandardScaler(),)])
def test_training_rows_are_recognized(steps):
    X, y = make_twonorm(200, random_state=0)
    model = make_pipeline(*steps, DecisionStumpClassifier()).fit(X[:100], y[:100])
    for part in (slice(0, 100), slice(0, 30)):
        text = summarize(model, X[part], y[part])["text"]
        n = part.stop
        assert text["metrics"]["title"] == f"Evaluated on {n} training rows (optimistic)"
        assert not any(row["interval"] for row in text["metrics"]["rows"])
    partly = summarize(model, X[60:160], y[60:160])["text"]
    assert partly["metrics"]["title"] == "Evaluated on 100 rows (possibly optimistic)"
    assert not any(row["interval"] for row in partly["metrics"]["rows"])
    assert any(
        "about 40% of these rows equal training rows" in text for text in partly["description"]
    )
    fresh = summarize(model, X[100:], y[100:])["text"]
    assert fresh["metrics"]["title"] == "Evaluated on 100 rows"
    assert any(row["interval"] for row in fresh["metrics"]["rows"])


def test_the_given_kind_of_rows_takes_precedence():
    X, y = make_twonorm(50, random_state=0)
    model = DecisionStumpClassifier().fit(X, y)
    text = summarize(model, X, y, about={"rows": "held-out"})["text"]
    assert text["metrics"]["title"] == "Evaluated on 50 held-out rows"


def test_saved_pipelines_have_no_training_record(tmp_path):
    X, y = make_twonorm(50, random_state=0)
    save(make_pipeline(StandardScaler(), DecisionStumpClassifier()).fit(X, y), tmp_path / "a.stump")
    leakage = load(tmp_path / "a.stump").training_overlap(X, y).leakage
    assert "from pipelines that change columns" in leakage
