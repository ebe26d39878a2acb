"""The positive class is the second one, in the model and in everything derived from it."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from command import run
from sklearn.base import clone

from everystump import (
    KernelSVC,
    LooBoundSearch,
    StumpSVC,
    SubsampleVotingClassifier,
    WeightedVoteClassifier,
    bounds,
    load,
    save,
)
from everystump._tables.labels import class_indices
from everystump._workflow.fitting import fit_model
from everystump._workflow.options import ColumnOptions
from everystump._workflow.plan import Plan
from everystump._workflow.presets import PRESETS
from everystump._workflow.schema.training_data import prepare_training_data
from everystump._workflow.targets.classes import fit_with_class_order
from everystump.datasets import make_twonorm
from everystump.export import to_json, to_onnx, to_sql


@pytest.fixture(scope="module")
def frame():
    X, y = make_twonorm(80, random_state=0)
    table = pd.DataFrame(X[:, :3], columns=list("abc"))
    return table.assign(state=np.where(y > 0, "ill", "well"))


def fitted(frame, preset="stump-logistic", positive="ill"):
    has_C = PRESETS[preset].has_C
    training = prepare_training_data(frame, "state", ColumnOptions(positive=positive))
    return fit_model(training, Plan(preset, 0.1 if has_C else None))


@pytest.mark.parametrize(
    "preset", [name for name, preset in PRESETS.items() if preset.task == "classification"]
)
def test_scores_of_either_positive_class_are_opposite(frame, preset):
    """Up to the tolerance of training, ties of stumps, and rows that a vote draws by the labels."""
    X = frame[["a", "b", "c"]]
    ill, well = fitted(frame, preset, "ill"), fitted(frame, preset, "well")
    assert ill.classes_.tolist() == ["well", "ill"]
    assert well.classes_.tolist() == ["ill", "well"]
    score = ill.decision_function(X)
    assert set(ill.predict(X)[score > 0]) == {"ill"}
    share = 0.3 if preset == "vote" else 0.1
    np.testing.assert_allclose(score, -well.decision_function(X), atol=share * np.abs(score).max())
    assert np.mean(ill.predict(X) == frame["state"]) > 0.7
    if hasattr(ill, "predict_proba"):
        assert np.array_equal(ill.predict_proba(X)[:, 1] > 0.5, score > 0)


def test_files_and_exports_keep_the_order(frame, tmp_path):
    model, X = fitted(frame), frame[["a", "b", "c"]]
    score = model.decision_function(X)
    save(model, tmp_path / "m.stump")
    again = load(tmp_path / "m.stump")
    assert again.classes_.tolist() == ["well", "ill"]
    np.testing.assert_array_equal(again.decision_function(X), score)
    assert json.loads(to_json(again))["classes"] == ["well", "ill"]
    base = sqlite3.connect(":memory:")
    frame.to_sql("rows", base, index=False)
    predicted = pd.read_sql(to_sql(again, "rows", probability=True), base)
    np.testing.assert_allclose(predicted["score"], score)
    np.testing.assert_allclose(predicted["probability"], model.predict_proba(X)[:, 1])
    assert predicted["label"].tolist() == model.predict(X).tolist()
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(to_onnx(again))
    assert session.run(None, {"X": X.to_numpy()})[0].tolist() == model.predict(X).tolist()


def test_members_of_a_vote_have_the_labels(frame):
    vote = fitted(frame, "vote")
    assert {tuple(member.classes_) for member in vote.estimators_} == {("well", "ill")}
    assert fitted(frame, "perceptron").machine_.classes_.tolist() == ["well", "ill"]


def test_candidates_of_a_search_have_the_labels(frame):
    X, y = frame[["a", "b", "c"]][:20], frame["state"].to_numpy()[:20]
    estimator = KernelSVC("stump", fit_intercept=False)
    search = LooBoundSearch(estimator, {"C": [0.1, 1.0]})
    fit_with_class_order(search, X, y, np.array(["well", "ill"]))
    for one in (search, *search.candidates_):
        assert one.classes_.tolist() == ["well", "ill"]
    assert np.mean(search.predict(X) == y) > 0.7


def test_members_of_a_weighted_vote_have_the_labels(frame):
    X, y = frame[["a", "b", "c"]], frame["state"].to_numpy()
    members = [("one", StumpSVC(0.1)), ("other", StumpSVC(1.0))]
    vote = WeightedVoteClassifier(members, random_state=0)
    fit_with_class_order(vote, X, y, np.array(["well", "ill"]))
    assert {tuple(member.classes_) for member in vote.estimators_} == {("well", "ill")}
    assert np.mean(vote.predict(X) == y) > 0.7


def test_bounds_and_refits_do_not_depend_on_the_order(frame):
    X, y = frame[["a", "b", "c"]][:20], frame["state"].to_numpy()[:20]
    plain = KernelSVC("stump", C=0.5, fit_intercept=False).fit(X, y)
    other = fit_with_class_order(
        KernelSVC("stump", C=0.5, fit_intercept=False), X, y, np.array(["well", "ill"])
    )
    for name in ("loo_bound", "det_loo_bound"):
        one, two = (getattr(bounds, name)(model, X, y) for model in (plain, other))
        assert one.value == pytest.approx(two.value) and one.holds == two.holds
    assert bounds.loo_error(plain, X, y) == bounds.loo_error(other, X, y)
    vote = SubsampleVotingClassifier(plain, n_estimators=3, random_state=0)
    sorted_so = np.where(y == "ill", "2: ill", "1: well")  # rows are drawn class by class
    one = bounds.det_loo_error(clone(vote).fit(X, sorted_so), X, sorted_so)
    other = fit_with_class_order(vote, X, y, np.array(["well", "ill"]))
    assert bounds.det_loo_error(other, X, y) == one


def test_class_indices_in_any_order():
    rng = np.random.default_rng(0)
    for _ in range(20):
        classes = rng.permutation(np.array(["a", "c", "b", "z"], dtype=object))
        y = rng.choice(classes, 30)
        assert classes[class_indices(y, classes, 30)].tolist() == y.tolist()


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (("no", "yes"), "yes"),
        (("bad", "good"), "bad"),  # the rarer
        (("True", "False"), "True"),
        ((0, 1), 1),
        ((-1, 1), 1),
        ((1, 2), 2),  # the rarer; 1 is positive only next to 0 or -1
        (("absent", "present"), "present"),  # the rarer
    ],
)
def test_the_positive_label_is_inferred(tmp_path, labels, positive):
    X, _ = make_twonorm(40, random_state=0)
    is_rare = np.arange(40) % 3 == 0
    if positive == labels[0]:
        labels = labels[::-1]
    frame = pd.DataFrame({"a": X[:, 0], "y": [labels[int(k)] for k in is_rare]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "m.stump"
    done = run("fit", tmp_path / "t.csv", "--target", "y", "--C", 1, "-o", out)
    assert f"(positive class: {positive})" in done.stdout, done.output
    assert f"above zero favors “{positive}”" in done.stdout
    assert f"recall of “{positive}”" in done.stdout
    model = load(out)
    assert model.classes_.tolist()[1] == positive
    predicted = run("predict", out, tmp_path / "t.csv").stdout.splitlines()[0]
    assert predicted == f"prediction,score,probability {positive}"
