"""Metrics against scikit-learn's and closed forms, intervals, and baselines."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_iris
from sklearn.metrics import (
    balanced_accuracy_score,
    log_loss,
    precision_score,
    recall_score,
    roc_auc_score,
)

from everystump import StumpLogisticRegression, StumpSVC
from everystump._evaluation import (
    LabeledPredictions,
    baseline_warning,
    evaluate,
    metric_rows,
    positive_index,
)
from everystump._evaluation.intervals import (
    area_influences,
    delong,
    mean_interval,
    mean_of_proportions,
    wilson,
)
from everystump.datasets import make_twonorm


def outcome(actual, predicted, scores=None, probabilities=None):
    actual, predicted = np.array(actual), np.array(predicted)
    scores = predicted - 0.5 if scores is None else np.asarray(scores, dtype=float)
    return LabeledPredictions(actual, predicted, scores, probabilities, (slice(0, len(actual)),))


@pytest.fixture(scope="module")
def two():
    X, y = make_twonorm(400, random_state=0)
    model = StumpLogisticRegression().fit(X[:100, :3], y[:100])
    return model, X[100:, :3], y[100:]


def values(found):
    return {name: one["value"] for name, one in found["figures"].items()}


def test_binary_metrics_equal_scikit_learns(two):
    model, X, y = two
    predicted, probabilities = model.predict(X), model.predict_proba(X)
    found = values(evaluate(LabeledPredictions.from_model(model, X, y), [-1, 1], 1, [0.5, 0.5]))
    assert found == pytest.approx(
        {
            "accuracy": model.score(X, y),
            "balanced_accuracy": balanced_accuracy_score(y, predicted),
            "auc": roc_auc_score(y, probabilities[:, 1]),
            "log_loss": log_loss(y, probabilities),
            "precision": precision_score(y, predicted),
            "recall": recall_score(y, predicted),
        }
    )


def test_multiclass_metrics_equal_scikit_learns():
    X, y = load_iris(return_X_y=True)
    model = StumpLogisticRegression().fit(X[::2, :2], y[::2])
    predicted, probabilities = model.predict(X[1::2, :2]), model.predict_proba(X[1::2, :2])
    found = evaluate(LabeledPredictions.from_model(model, X[1::2, :2], y[1::2]), [0, 1, 2])
    assert values(found) == pytest.approx(
        {
            "accuracy": np.mean(predicted == y[1::2]),
            "balanced_accuracy": balanced_accuracy_score(y[1::2], predicted),
            "auc": roc_auc_score(y[1::2], probabilities, multi_class="ovr"),
            "log_loss": log_loss(y[1::2], probabilities),
            "precision": precision_score(y[1::2], predicted, average="macro"),
        }
    )
    assert [one["recall"]["value"] for one in found["classes"]] == pytest.approx(
        recall_score(y[1::2], predicted, average=None)
    )
    titles = [row["name"] for row in metric_rows(found)]
    assert titles[2:] == ["AUC, macro", "log loss", "precision, macro"]
    assert metric_rows(found)[-1]["baseline"] == "–"  # as for two classes


def test_the_baseline_predicts_the_majority_class_of_the_training_rows():
    actual = [0] * 6 + [1] * 4
    probabilities = np.tile([0.5, 0.5], (10, 1))
    found = evaluate(
        outcome(actual, [1] * 10, [0.0] * 10, probabilities), ["no", "yes"], 1, [0.2, 0.8]
    )
    assert found["baseline"] == {"answer": "yes", "from": "training rows"}
    beside = {name: one["baseline"] for name, one in found["figures"].items()}
    entropy = -(0.6 * np.log(0.2) + 0.4 * np.log(0.8))
    assert beside == pytest.approx(
        {"accuracy": 0.4, "balanced_accuracy": 0.5, "auc": 0.5, "log_loss": entropy}
        | {"precision": 0.4, "recall": 1.0}
    )


def test_a_constant_prediction_is_reported():
    found = evaluate(outcome([0] * 97 + [1] * 3, [0] * 100), ["No", "Yes"], 1)
    assert found["better"] is False
    assert baseline_warning(found) == "The predictions are no better than always predicting “No”."
    precision = found["figures"]["precision"]
    assert precision["value"] is None and precision["interval"] is None
    assert metric_rows(found)[3]["name"] == "precision of “Yes”"
    assert metric_rows(found)[3]["value"] == "–"


def test_a_good_ranking_with_a_useless_threshold_is_reported():
    rng = np.random.default_rng(0)
    score = np.r_[rng.normal(-4, 0.6, size=80), rng.normal(-3, 0.6, size=40)]
    found = evaluate(outcome([0] * 80 + [1] * 40, [0] * 120, score), ["No", "Yes"], 1)
    assert found["figures"]["auc"]["low"] > 0.5
    assert "although the scores do rank the rows (AUC 0." in baseline_warning(found)
    few = evaluate(outcome([0] * 80 + [1] * 9, [0] * 89, score[:89]), ["No", "Yes"], 1)
    assert baseline_warning(few).endswith(
        "predicting “No”."
    )  # without an interval, the scores are not mentioned


def test_a_small_improvement_is_not_significant():
    actual = [0] * 60 + [1] * 40
    found = evaluate(outcome(actual, [0] * 60 + [1] * 3 + [0] * 37), ["no", "yes"], 1)
    assert found["better"] is None and "not significantly better" in baseline_warning(found)
    found = evaluate(outcome(actual, [0] * 60 + [1] * 5 + [0] * 35), ["no", "yes"], 1)
    assert found["better"] is True and baseline_warning(found) is None


def test_one_class_has_no_auc():
    found = evaluate(outcome([1] * 5, [1, 1, 0, 1, 1]), ["no", "yes"], 1)
    assert "auc" not in found["figures"]
    assert found["figures"]["balanced_accuracy"]["value"] == pytest.approx(0.8)


def test_a_model_without_probabilities_has_no_log_loss():
    X, y = make_twonorm(100, random_state=0)
    model = StumpSVC().fit(X, y)
    assert (
        "log_loss"
        not in evaluate(LabeledPredictions.from_model(model, X, y), [-1, 1], 1)["figures"]
    )


def test_scores_of_different_folds_are_not_compared():
    one = outcome([0, 1, 0, 1], [0, 0, 0, 0], [-4, -3, -4, -3])
    other = outcome([0, 1, 0, 1], [1, 1, 1, 1], [3, 4, 3, 4])
    joined = evaluate(LabeledPredictions.concatenate([one, other]), ["no", "yes"], 1)
    assert joined["approximate"] and not evaluate(one, ["no", "yes"], 1)["approximate"]
    found = joined["figures"]
    assert found["auc"]["value"] == 1.0 and found["auc"]["interval"] is None
    assert found["accuracy"]["value"] == 0.5


def test_metrics_do_not_depend_on_the_order_of_classes(two):
    model, X, y = two
    there = evaluate(
        LabeledPredictions.from_model(model, X, y), [-1, 1], positive_index([-1, 1], -1)
    )
    flipped = LabeledPredictions.from_model(model, X, y)
    flipped = LabeledPredictions(
        1 - flipped.actual,
        1 - flipped.predicted,
        -flipped.scores,
        flipped.probabilities[:, ::-1],
        flipped.folds,
    )
    back = evaluate(flipped, [1, -1], positive_index([1, -1], -1))
    assert values(there) == pytest.approx(values(back))


def test_intervals_have_their_nominal_coverage():
    """Coverage of 95% intervals in 400 draws; 2.5% of slack is more than two deviations."""
    rng = np.random.default_rng(0)
    label = np.arange(120) < 40
    area = 0.760250  # of two normal classes at a distance of 1
    areas = [delong(label, label + rng.normal(size=120)) for _ in range(400)]
    assert np.mean([low <= area <= high for low, high in areas]) > 0.925
    hits = rng.binomial([20, 80], [0.7, 0.95], size=(400, 2)).tolist()
    means = [mean_of_proportions(pair, [20, 80]) for pair in hits]
    assert np.mean([low <= 0.825 <= high for low, high in means]) > 0.925
    losses = [mean_interval(rng.exponential(size=200)) for _ in range(400)]
    assert np.mean([low <= 1.0 <= high for low, high in losses]) > 0.925


def test_the_interval_of_a_mean_of_one_vs_rest_areas_has_its_nominal_coverage():
    """Three classes whose own score is higher by 1: each one-vs-rest area is that of two."""
    rng = np.random.default_rng(0)
    actual = np.repeat([0, 1, 2], [30, 50, 80])
    own = np.eye(3)[actual]
    found = [delong(actual, own + rng.normal(size=own.shape)) for _ in range(400)]
    assert np.mean([low <= 0.760250 <= high for low, high in found]) > 0.925


def test_the_influences_of_several_classes_average_to_scikit_learns_area():
    rng = np.random.default_rng(2)
    actual = rng.integers(0, 4, 200)
    scores = np.eye(4)[actual] + rng.normal(size=(200, 4)).round(1)
    weight = rng.integers(1, 4, 200)
    areas = [roc_auc_score(actual == k, scores[:, k], sample_weight=weight) for k in range(4)]
    influence = area_influences(actual, scores, weight.astype(float))
    assert np.average(influence, weights=weight) == pytest.approx(np.mean(areas), abs=1e-12)


def test_all_key_figures_of_several_classes_have_intervals():
    rng = np.random.default_rng(3)
    actual = rng.integers(0, 3, 300)
    odds = np.exp(np.eye(3)[actual] + rng.normal(size=(300, 3)))
    p = odds / odds.sum(axis=1, keepdims=True)
    rows = LabeledPredictions(actual, p.argmax(axis=1), p, p, (slice(0, 300),))
    figures = evaluate(rows, ["a", "b", "c"])["figures"]
    for name in ("accuracy", "balanced_accuracy", "auc", "log_loss"):
        found = figures[name]
        assert 0.0 < found["low"] < found["value"] < found["high"]
    assert figures["log_loss"]["interval"] == "normal approximation"


@pytest.mark.parametrize(("k", "n"), [(0, 1), (0, 10), (1, 7), (5, 5), (152, 20_000)])
def test_wilsons_interval_equals_scipys(k, n):
    limits = binomtest(k, n).proportion_ci(method="wilson")
    assert wilson(k, n) == pytest.approx((limits.low, limits.high), abs=1e-12)


def test_invalid_intervals_are_omitted():
    assert wilson(0, 0) is None
    few = np.arange(100) < 19
    assert delong(few, np.random.default_rng(0).normal(size=100)) is None
    apart = np.arange(100) < 50
    assert delong(apart, apart.astype(float)) is None


def test_delongs_area_equals_scikit_learns_with_ties():
    rng = np.random.default_rng(1)
    label, score = rng.random(90) < 0.4, rng.integers(0, 5, 90)
    low, high = delong(label, score)
    assert low < roc_auc_score(label, score) < high


def test_probabilities_worse_than_the_class_frequencies_are_reported():
    figures = {"log_loss": {"value": 3.784, "baseline": 0.693}}
    assert baseline_warning({"better": True, "figures": figures}) == (
        "The probabilities are worse than the class frequencies: the log loss is 3.784 instead "
        "of 0.693."
    )
    figures["log_loss"]["value"] = 0.69304  # rounded to the same number in the table
    assert baseline_warning({"better": True, "figures": figures}) is None


# Sample weights


@pytest.mark.parametrize("n_classes", [2, 3])
def test_integer_weights_count_copies(n_classes):
    """All values are those of the copies; intervals are wider, by the effective number of rows."""
    rng = np.random.default_rng(5)
    actual = rng.integers(0, n_classes, 150)
    scores = np.eye(n_classes)[actual] + rng.normal(size=(150, n_classes))
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    ranking = scores[:, 1] - scores[:, 0] if n_classes == 2 else scores
    weight = rng.integers(1, 5, 150)

    def found(index, weight):
        own = ranking[index]
        rows = LabeledPredictions(
            actual[index],
            scores[index].argmax(axis=1),
            own,
            p[index],
            (slice(0, len(own)),),
            weight,
        )
        positive = 1 if n_classes == 2 else None
        return evaluate(rows, list("abc")[:n_classes], positive)

    weighted = found(np.arange(150), weight.astype(float))
    copies = found(np.repeat(np.arange(150), weight), None)
    once = found(np.arange(150), np.full(150, 2.5))
    plain = found(np.arange(150), None)
    assert weighted["weighted"] and not copies["weighted"]
    for name, figure in weighted["figures"].items():
        other = copies["figures"][name]
        assert figure["value"] == pytest.approx(other["value"], abs=1e-12), name
        if other["baseline"] is not None:
            assert figure["baseline"] == pytest.approx(other["baseline"], abs=1e-12), name
        if figure["low"] is not None:
            assert figure["high"] - figure["low"] > other["high"] - other["low"], name
        # Equal weights are no weights.
        for key in ("value", "low", "high", "baseline"):
            assert once["figures"][name][key] == pytest.approx(plain["figures"][name][key])


def test_intervals_of_weighted_metrics_cover():
    """Weights depend on the difficulty of a row, so that they change the accuracy."""
    rng, n, n_trials = np.random.default_rng(6), 300, 400
    covered = dict.fromkeys(("accuracy", "auc"), 0)
    population = _weighted_rows(rng, 400_000)
    true = evaluate(population, ["no", "yes"], 1)["figures"]
    for _ in range(n_trials):
        figures = evaluate(_weighted_rows(rng, n), ["no", "yes"], 1)["figures"]
        for name in covered:
            covered[name] += figures[name]["low"] <= true[name]["value"] <= figures[name]["high"]
    for name, count in covered.items():
        assert 0.92 <= count / n_trials <= 0.98, name


def _weighted_rows(rng, n):
    actual = (rng.random(n) < 0.4).astype(int)
    is_hard = rng.random(n) < 0.5
    score = 2 * actual - 1 + np.where(is_hard, 2.0, 0.7) * rng.normal(size=n)
    weight = np.where(is_hard, 3.0, 1.0)
    return LabeledPredictions(actual, (score > 0).astype(int), score, None, (slice(0, n),), weight)
