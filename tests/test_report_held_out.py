"""The rows that the page stores: outcomes, groups, identical rows, and the size of pages."""

import base64
import json

import numpy as np
import pytest
from test_report import data_of, german, needs_node, run_script, thyroid

import everystump as es
from everystump.datasets import load_dataset
from everystump.report import _held_out as held_out
from everystump.report import render, summarize
from everystump.report._class_rows import _matrix_or_pairs
from everystump.report._compact import encode_indices, encode_nibbles, round_numbers
from everystump.report._encoding import encode_numbers
from everystump.report._groups import group_columns

pd = pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")


def floats(text):
    values, _, lengths = text.partition("|")
    found = np.frombuffer(base64.b64decode(values), "<f8")
    return (
        np.repeat(found, np.frombuffer(base64.b64decode(lengths), np.uint8)) if lengths else found
    )


def nibbles(text, n):
    data = np.frombuffer(base64.b64decode(text), np.uint8)
    return np.column_stack([data >> 4, data & 15]).ravel()[:n]


def order_of(n):
    return np.random.default_rng(held_out._SEED).permutation(n)


def test_outcomes_of_two_classes_are_scores():
    model, X, y = german()
    stored, order = summarize(model, X, y)["held_out"], order_of(len(X))
    assert stored["n"] == stored["n_stored"] == stored["n_grouped"] == len(X)
    assert np.array_equal(floats(stored["scores"][0]), model.decision_function(X)[order])
    assert stored["probabilities"] is None  # the page computes them from log-odds
    actual = np.frombuffer(base64.b64decode(stored["actual"]), np.uint8)
    assert np.array_equal(model.classes_[actual], y[order])


def test_outcomes_of_several_classes_are_probabilities_or_scores():
    model, X, y = thyroid()
    stored, order = summarize(model, X, y)["held_out"], order_of(len(X))
    found = np.column_stack([floats(text) for text in stored["scores"]])
    assert np.array_equal(found, model.decision_function(X)[order])
    assert stored["probabilities"] is None
    logistic = es.StumpLogisticRegression().fit(X, y)
    stored = summarize(logistic, X, y)["held_out"]
    found = np.column_stack([floats(text) for text in stored["probabilities"]])
    assert np.array_equal(found, logistic.predict_proba(X)[order])
    assert stored["scores"] is None
    predicted = np.frombuffer(base64.b64decode(stored["predicted"]), np.uint8)
    assert np.array_equal(logistic.classes_[predicted], logistic.predict(X)[order])


def test_probabilities_that_are_not_from_log_odds_are_stored():
    _, X, y = german()
    bag = es.StumpBaggingClassifier(30, random_state=0).fit(X, y)
    stored = summarize(bag, X, y)["held_out"]
    order = order_of(len(X))
    assert np.array_equal(floats(stored["probabilities"][0]), bag.predict_proba(X)[order, 1])
    assert np.array_equal(floats(stored["scores"][0]), bag.decision_function(X)[order])


def test_outcomes_of_a_regressor():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    model = es.StumpRegressor().fit(X, y)
    stored, order = summarize(model, X, y)["held_out"], order_of(50)
    assert np.array_equal(floats(stored["actual"]), y[order])
    assert np.array_equal(floats(stored["predicted"]), model.predict(X)[order])


def test_rows_without_labels_are_not_stored():
    model, X, _ = german()
    assert "held_out" not in summarize(model, X) and "held_out" not in summarize(model)


def test_too_many_rows_are_sampled(monkeypatch):
    model, X, y = german()
    monkeypatch.setattr(held_out, "_NUMBERS", (100, 100))
    monkeypatch.setattr(held_out, "_CELLS", (600, 600))
    stored, order = summarize(model, X, y)["held_out"], order_of(len(X))
    assert (stored["n"], stored["n_stored"], stored["n_grouped"]) == (300, 100, 60)
    assert np.array_equal(floats(stored["scores"][0]), model.decision_function(X)[order[:100]])
    assert len(stored["groups"]) == 10 and stored["n_columns"] == 20
    assert len(nibbles(stored["groups"][0]["codes"], 99)) == 60
    several = summarize(*thyroid())["held_out"]
    assert several["n_stored"] == 33  # three numbers per row


def test_groups_follow_the_values_of_the_table():
    model, X, y = german()
    summary = summarize(model, X, y)
    stored, order = summary["held_out"], order_of(len(X))
    assert [group["feature"] for group in stored["groups"]] == [
        t for t in summary["order"] if t < X.shape[1]
    ]
    for group in stored["groups"]:
        column = X.iloc[order, group["feature"]]
        codes = nibbles(group["codes"], len(X))
        if "ranges" in group:
            for k, (low, high) in enumerate(group["ranges"]):
                assert np.array_equal(codes == k, (column >= low) & (column <= high))
                assert np.any(codes == k)
            assert sum(np.sum(codes == k) for k in range(len(group["ranges"]))) == len(X)
            continue
        levels = summary["document"]["features"][group["feature"]]["levels"]
        names = [levels[k] for k in group["levels"]]
        for k, name in enumerate(names):
            assert np.array_equal(codes == k, column == name)
        others = ~column.isin(names)
        assert np.array_equal(codes == len(names), others)
        assert group["n_others"] == column[others].nunique()


def grouped(values, kind="number", levels=()):
    X = np.array(values, dtype=float)[:, None]
    (group,), n_rows = group_columns(X, [{"kind": kind, "levels": levels}], [0], 10**6)
    return group, nibbles(group["codes"], n_rows).tolist()


def test_groups_of_numbers():
    group, codes = grouped([3, np.nan, 1, 3, 1])
    assert group["ranges"] == [[1, 1], [3, 3]] and group["has_missing"]
    assert codes == [1, 2, 0, 1, 0]
    group, codes = grouped([np.nan, np.nan])
    assert group["ranges"] == [] and codes == [0, 0]
    group, codes = grouped(np.arange(1000.0))
    assert len(group["ranges"]) == 8 and group["ranges"][0] == [0, 124]
    assert np.bincount(codes).tolist() == [125] * 8
    skewed = np.append(np.zeros(900), np.arange(1, 101))  # a quantile that is most of the rows
    group, codes = grouped(skewed)
    assert group["ranges"][0] == [0, 0] and np.bincount(codes)[0] == 900
    assert not group["has_missing"]


def test_groups_of_levels():
    group, codes = grouped([0] * 20 + [1] * 3 + [2] * 3 + [-1, np.nan], "category", list("abc"))
    assert group == {
        "feature": 0,
        "levels": [0],
        "n_others": 3,
        "has_missing": True,
        "codes": group["codes"],
    }
    assert codes == [0] * 20 + [1] * 7 + [2]
    group, codes = grouped([0, 1], "category", list("ab"))  # two levels are groups of their own
    assert group["levels"] == [0, 1] and codes == [0, 1] and group["n_others"] == 0
    many = np.repeat(np.arange(40), 20)
    group, codes = grouped(many, "category", list(range(40)))
    assert len(group["levels"]) == 14 and group["n_others"] == 26 and max(codes) == 14


def test_identical_rows_are_one_mistake():
    X = pd.DataFrame({"a": [0.0, 1.0, np.nan] * 20, "b": ["x", "y", None] * 20})
    y = np.array(["no", "yes", "yes"] * 20)
    model = es.StumpLogisticRegression().fit(X, y)
    wrong = y.copy()
    wrong[[0, 3, 6, 2]] = ["yes", "yes", "yes", "no"]
    explained = summarize(model, X, wrong)["explained"]
    errors = {row["row"]: row for row in explained["largest_errors"]}
    assert {i: row["n_identical"] for i, row in errors.items()} == {0: 3, 2: 1}
    assert errors[0]["identical"] == [3, 6] and errors[2]["identical"] == []
    counts = [row["n_identical"] for row in explained["least_certain"]]
    assert sum(counts) == 60 and len(counts) == 5  # three values, two of them with both classes


def test_identical_rows_of_a_regressor():
    X = np.repeat(np.arange(12.0), 5)[:, None]
    y = X[:, 0].copy()
    y[:5] = 100.0
    found = summarize(es.StumpRegressor().fit(X, X[:, 0]), X, y)["explained"]["largest_errors"]
    assert found[0]["row"] == 0 and found[0]["n_identical"] == 5
    assert found[0]["identical"] == [1, 2, 3, 4] and len(found) == 10


def test_many_classes_have_pairs_instead_of_a_matrix():
    confusion = np.diag(np.full(50, 3))
    confusion[4, 7], confusion[1, 2] = 5, 2
    assert _matrix_or_pairs(confusion) == {"confused": [[4, 7, 5, 8], [1, 2, 2, 5]]}
    assert _matrix_or_pairs(confusion[:40, :40])["confusion"] == confusion[:40, :40].tolist()


def test_a_page_of_20_classes_and_50_features_is_below_3_mb():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 50)), rng.integers(0, 20, 4000)
    model = es.StumpSVC(tol=0.5).fit(X[:2000], y[:2000])
    assert min(len(shape.knots) for shape in model.shapes_[0]) >= 255
    summary = summarize(model, X[2000:], y[2000:])
    page = render(summary)
    assert len(page.encode()) < 3_000_000
    stored = summary["held_out"]
    assert stored["n_stored"] >= 1000 and stored["n_grouped"] >= 1000


@pytest.mark.slow
def test_a_page_of_100_000_rows_and_45_pairs_is_below_3_mb():
    data = load_dataset("magic", as_frame=True)
    model = es.StumpLogisticRegression(interactions=45, C=0.1).fit(data.data, data.target)
    assert len(model.interactions_) == 45
    page = render(summarize(model, data.data, data.target))
    assert len(page.encode()) < 1_500_000
    many = pd.concat([data.data] * 6)[:100_000]
    summary = summarize(model, many, np.tile(data.target, 6)[:100_000])
    assert summary["held_out"]["n_stored"] == 100_000
    assert len(render(summary).encode()) < 3_000_000


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_rounded_numbers(scale):
    rng = np.random.default_rng(0)
    numbers = scale * np.array([*rng.normal(size=50), 0.0, 0.0, 0.0, -1e-9, 7.5, -7.5])
    first, _, rest = round_numbers(numbers).partition("~")
    largest = floats(first)[0]
    assert largest == np.abs(numbers).max()
    values, _, lengths = rest.partition("|")
    used = np.frombuffer(base64.b64decode(values), np.uint8).reshape(-1, 5)
    sign = np.where(used[:, 4:] > 127, 255, 0).astype(np.uint8)
    multiples = np.hstack([used, sign, sign, sign]).copy().view("<i8")[:, 0]
    repeated = np.repeat(multiples, np.frombuffer(base64.b64decode(lengths), np.uint8))
    found = largest * (repeated / (2**39 - 1))
    assert np.abs(found - numbers).max() <= 1e-12 * largest
    assert np.all(found[numbers == 0.0] == 0.0)


@needs_node
def test_a_page_with_rounded_values_scores_as_python_does(monkeypatch):
    monkeypatch.setattr("everystump.report._compact._MAX_EXACT", 100)
    model, X, y = german()
    summary = summarize(model, X, y)
    page = render(summary)
    assert any("~" in text for text in data_of(page)["document"]["arrays"])
    rows = json.loads(X.to_json(orient="records"))
    found = run_script(page, rows, "rows.map((row) => model.score(row))")
    assert np.abs(np.array(found) - model.decision_function(X)).max() < 1e-11


def test_encoded_indices_and_nibbles():
    assert base64.b64decode(encode_indices(np.array([0, 299]), 300)) == b"\x00\x00\x2b\x01"
    codes = np.array([15, 0, 7])
    assert nibbles(encode_nibbles(codes), 3).tolist() == codes.tolist()
    assert floats(encode_numbers(np.array([1.5, 1.5]))).tolist() == [1.5, 1.5]


def test_percentages_are_round_only_if_exact():
    frame = pd.DataFrame({"a": [0.0, 1.0] * 2000})
    y = np.array(["no", "yes"] * 2000)
    model = es.StumpLogisticRegression().fit(frame, y)
    y[0] = "yes"
    metrics = summarize(model, frame, y, about={"rows": "held-out"})["text"]["metrics"]
    assert metrics["headline"]["text"].startswith("99.98% of the rows are classified correctly")
    values = {row["name"]: row["value"] for row in metrics["rows"]}
    assert values["accuracy"] == ">99.9%" and values["precision of “yes”"] == "100.0%"
    assert values["AUC"] == ">0.999"
    assert not any("100.0%" in row["interval"] for row in metrics["rows"][:2])
