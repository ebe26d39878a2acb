"""Paired tests of two models, against plain implementations, SciPy and simulations."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest, kstest, ttest_rel
from sklearn.metrics import log_loss, mean_absolute_error, r2_score, roc_auc_score

from everystump._evaluation import LabeledPredictions, compare_classifiers, compare_regressors
from everystump._evaluation.comparison_text import comparison_rows, verdict
from everystump._evaluation.intervals import area_influences
from everystump._evaluation.paired_tests import (
    PairedTest,
    compare_areas,
    compare_class_means,
    compare_means,
    compare_proportions,
    compare_r2,
    compare_root_means,
    mcnemar,
)

RNG = np.random.default_rng


# McNemar's test


@pytest.mark.parametrize(
    ("b", "c"), [(0, 0), (0, 1), (3, 3), (1, 9), (12, 5), (40, 71), (300, 310)]
)
def test_mcnemar_is_a_binomial_test(b, c):
    mid_p, exact = mcnemar(b, c)
    expected = binomtest(b, b + c).pvalue if b + c else 1.0
    assert exact == pytest.approx(expected, abs=1e-12)
    # Outcomes as likely as the observed one count one half.
    outcomes = np.arange(b + c + 1)
    likelihood = binom.pmf(outcomes, b + c, 0.5)
    own = likelihood[b]
    is_equal = np.isclose(likelihood, own, rtol=1e-9)
    less = likelihood[(likelihood < own) & ~is_equal].sum()
    assert mid_p == pytest.approx(less + likelihood[is_equal].sum() / 2 if b != c else 1.0)


def test_mcnemar_is_symmetric():
    assert mcnemar(4, 11) == mcnemar(11, 4)


def paired_outcomes(rng, n, p_first, p_second, p_both):
    """Return whether two models are right, with given probabilities."""
    cells = [p_both, p_first - p_both, p_second - p_both]
    drawn = rng.choice(4, size=n, p=[*cells, 1 - sum(cells)])
    return (drawn == 0) | (drawn == 1), (drawn == 0) | (drawn == 2)


@pytest.mark.parametrize(("p_first", "p_second"), [(0.8, 0.8), (0.8, 0.9), (0.95, 0.92)])
def test_intervals_of_paired_proportions_cover(p_first, p_second):
    rng, n_covered, n_rejected, p_both = RNG(0), 0, 0, min(p_first, p_second) - 0.05
    for _ in range(1500):
        test = compare_proportions(*paired_outcomes(rng, 80, p_first, p_second, p_both))
        n_covered += test.low <= p_second - p_first <= test.high
        n_rejected += test.p <= 0.05
    assert 0.94 <= n_covered / 1500 <= 0.985
    if p_first == p_second:
        assert n_rejected / 1500 < 0.06


# Areas under ROC curves


def plain_delong(actual, first, second):
    """Return difference and variance of two areas by loops over all pairs of rows."""

    def kernel(x, y):
        return 1.0 if x > y else 0.5 if x == y else 0.0

    positive, negative = np.flatnonzero(actual == 1), np.flatnonzero(actual == 0)
    of_positive, of_negative, areas = [], [], []
    for score in (first, second):
        of_positive.append(
            [np.mean([kernel(score[i], score[j]) for j in negative]) for i in positive]
        )
        of_negative.append(
            [np.mean([kernel(score[i], score[j]) for i in positive]) for j in negative]
        )
        areas.append(np.mean(of_positive[-1]))
    covariance = np.cov(of_positive) / len(positive) + np.cov(of_negative) / len(negative)
    contrast = np.array([-1.0, 1.0])
    return areas[1] - areas[0], contrast @ covariance @ contrast


@pytest.mark.parametrize("digits", [0, 1, 8])
def test_delong_equals_a_plain_implementation(digits):
    """Also with many ties."""
    rng = RNG(1)
    actual = (np.arange(75) % 3 == 0).astype(int)
    first, second = (actual + rng.normal(size=(2, 75))).round(digits)
    test = compare_areas(actual, first, second)
    difference, variance = plain_delong(actual, first, second)
    areas = [roc_auc_score(actual, score) for score in (first, second)]
    assert difference == pytest.approx(areas[1] - areas[0], abs=1e-12)
    assert (test.low + test.high) / 2 == pytest.approx(difference, abs=1e-12)
    assert (test.high - test.low) / (2 * 1.959963984540054) == pytest.approx(np.sqrt(variance))
    assert area_influences(actual, first).mean() == pytest.approx(areas[0], abs=1e-12)


def test_p_values_of_delong_are_uniform_without_a_difference():
    """Both scores have the same area and are correlated."""
    rng, p = RNG(2), []
    actual = np.repeat([0, 1], [150, 100])
    for _ in range(1200):
        common, *own = rng.normal(size=(3, 250))
        p.append(compare_areas(actual, *(actual + common + noise for noise in own)).p)
    assert 0.035 < np.mean(np.array(p) <= 0.05) < 0.068
    assert kstest(p, "uniform").pvalue > 0.01


def test_delong_finds_differences():
    rng, n_found = RNG(3), 0
    actual = np.repeat([0, 1], 150)
    for _ in range(100):
        noise = rng.normal(size=300)
        n_found += compare_areas(actual, actual + 2 * rng.normal(size=300), actual + noise).p < 0.05
    assert n_found > 75


def test_mean_areas_of_several_classes():
    """Their difference is scikit-learn's, and p-values are uniform without a difference."""
    rng, p = RNG(4), []
    actual = np.repeat([0, 1, 2], [60, 80, 100])
    label = np.eye(3)[actual]
    for k in range(800):
        common, *own = rng.normal(size=(3, 240, 3))
        both = [1.2 * label + common + noise for noise in own]
        test = compare_areas(actual, *both)
        p.append(test.p)
        if k == 0:
            areas = [
                np.mean([roc_auc_score(actual == c, scores[:, c]) for c in range(3)])
                for scores in both
            ]
            assert (test.low + test.high) / 2 == pytest.approx(areas[1] - areas[0], abs=1e-12)
    assert 0.03 < np.mean(np.array(p) <= 0.05) < 0.072
    assert kstest(p, "uniform").pvalue > 0.01


def test_few_rows_of_a_class_have_no_test():
    actual = np.repeat([0, 1], [50, 19])
    noise = RNG(0).normal(size=(2, 69))
    assert compare_areas(actual, *noise).p is None
    assert compare_class_means(actual, *(noise > 0)).p is None


def test_equal_scores_do_not_differ():
    actual, score = np.repeat([0, 1], 30), RNG(0).normal(size=60)
    assert compare_areas(actual, score, 2 * score + 1) == (None, None, 1.0, "DeLong")
    assert compare_class_means(actual, score > 0, score > 0)[:3] == (None, None, 1.0)


# Means of losses


def test_means_are_compared_by_scipys_paired_t_test():
    first, second = RNG(5).gamma(1.0, size=(2, 60))
    test, expected = compare_means(first, second), ttest_rel(second, first)
    assert test.p == pytest.approx(expected.pvalue, rel=1e-10)
    limits = expected.confidence_interval(0.95)
    assert (test.low, test.high) == pytest.approx((limits.low, limits.high))
    assert compare_means(first[:29], second[:29]).p is None


@pytest.mark.parametrize("compare", ["rmse", "r2"])
def test_intervals_of_errors_cover(compare):
    rng, n_covered, n_trials = RNG(6), 0, 1200
    sizes = np.array([1.0, 1.15])  # of the errors, whose variance is known
    for _ in range(n_trials):
        y, common = 2 * rng.normal(size=200), rng.normal(size=200)
        errors = [size * (0.8 * common + 0.6 * rng.normal(size=200)) for size in sizes]
        squares = [error**2 for error in errors]
        if compare == "rmse":
            test, true = compare_root_means(*squares), sizes[1] - sizes[0]
        else:
            test = compare_r2((y - y.mean()) ** 2, *squares)
            true = (sizes[0] ** 2 - sizes[1] ** 2) / 4
        n_covered += test.low <= true <= test.high
    assert 0.92 <= n_covered / n_trials <= 0.975


def test_balanced_accuracy_is_compared_by_class():
    rng, n_covered, p = RNG(7), 0, []
    actual = np.repeat([0, 1], [160, 40])
    for _ in range(1200):
        parts = [paired_outcomes(rng, n, 0.8, 0.8, 0.7) for n in (160, 40)]
        first, second = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        test = compare_class_means(actual, first, second)
        p.append(test.p)
        n_covered += test.low <= 0.0 <= test.high
    assert 0.92 <= n_covered / 1200 <= 0.98 and np.mean(np.array(p) <= 0.05) < 0.08


# Records


def predictions(actual, scores):
    p = 1 / (1 + np.exp(-scores))
    both = np.column_stack([1 - p, p])
    return LabeledPredictions(actual, (scores > 0).astype(int), scores, both, (slice(0, len(p)),))


def test_figures_of_classifiers_are_scikit_learns():
    rng = RNG(8)
    actual = (rng.random(120) < 0.3).astype(int)
    first, second = (predictions(actual, 2 * actual - 1 + rng.normal(size=120) * s) for s in (2, 1))
    found = compare_classifiers(first, second, ["no", "yes"], 1)
    p = [rows.probabilities[:, 1] for rows in (first, second)]
    for name, values in {
        "auc": [roc_auc_score(actual, q) for q in p],
        "log_loss": [log_loss(actual, q) for q in p],
        "accuracy": [np.mean((q > 0.5) == actual) for q in p],
    }.items():
        figure = found["figures"][name]
        assert figure["values"] == pytest.approx(values, abs=1e-12)
        assert figure["difference"] == pytest.approx(values[1] - values[0], abs=1e-12)
        assert figure["low"] < figure["difference"] < figure["high"] and figure["better"] == 1
    assert first.log_losses.mean() == pytest.approx(log_loss(actual, p[0]), abs=1e-12)
    agreement = found["agreement"]
    cells = [agreement[key] for key in ("both", "first", "second", "neither")]
    assert sum(cells) == 120 and agreement["same"] == cells[0] + cells[3]
    assert agreement["exact_p"] == binomtest(cells[1], cells[1] + cells[2]).pvalue
    assert found["figures"]["precision"]["p"] is None
    assert "B is significantly better: accuracy (p" in verdict(found, "AB")


def test_training_rows_have_no_tests():
    actual = np.repeat([0, 1], 40)
    rows = [predictions(actual, actual + noise) for noise in RNG(9).normal(size=(2, 80))]
    found = compare_classifiers(*rows, ["no", "yes"], 1, unseen=False)
    for figure in found["figures"].values():
        assert figure["p"] is figure["low"] is figure["better"] is None
        assert figure["intervals"] == [None, None]
    assert found["agreement"]["exact_p"] is None and verdict(found, "AB") == ""


def test_a_model_without_probabilities_is_compared_by_the_other_metrics():
    actual = np.repeat([0, 1], 40)
    with_p, other = (predictions(actual, actual + noise) for noise in RNG(9).normal(size=(2, 80)))
    without = LabeledPredictions(actual, other.predicted, other.scores, None, (slice(0, 80),))
    for rows in ((with_p, without), (without, with_p)):
        figure = compare_classifiers(*rows, ["no", "yes"], 1)["figures"]["log_loss"]
        assert None in figure["values"] and figure["difference"] is figure["p"] is None


def test_figures_of_regressors_are_scikit_learns():
    rng = RNG(10)
    y = 100 * rng.normal(size=90)
    first, second = y + 40 * rng.normal(size=90), y + 20 * rng.normal(size=90)
    found = compare_regressors(y, first, second, quantile=0.5)
    r2, mae = found["figures"]["r2"], found["figures"]["mae"]
    assert r2["values"] == pytest.approx([r2_score(y, first), r2_score(y, second)])
    assert mae["values"] == pytest.approx([mean_absolute_error(y, p) for p in (first, second)])
    assert mae["better"] == r2["better"] == found["figures"]["rmse"]["better"] == 1
    assert mae["difference"] < 0 < r2["difference"]


@pytest.mark.parametrize("n", [1, 40])
def test_regressors_on_equal_targets_are_compared_without_r2(n):
    y, noise = np.full(n, 2.0), RNG(11).normal(size=(2, n))
    found = compare_regressors(y, y + 2 * noise[0], y + noise[1])
    assert found["n_rows"] == n and set(found["figures"]) == {"rmse", "mae"}
    assert compare_r2(np.zeros(n), *noise**2) == PairedTest()


def test_texts():
    figure = {"values": [0.995, 0.9975], "intervals": [[0.99, 0.999], None], "difference": 0.0025}
    figure |= {"low": -0.001, "high": 0.006, "p": 0.2, "test": "McNemar", "better": None}
    money = {**figure, "values": [1200.0, 1180.0], "intervals": [None, None], "difference": -20.0}
    money |= {"low": -31.5, "high": -8.5, "p": 0.0123, "better": 1}
    rows = comparison_rows({"figures": {"recall": figure, "mae": money}, "positive": "yes"})
    assert rows[0]["name"] == "recall of “yes”"
    assert rows[0]["values"] == ["99.50%", "99.75%"]
    assert rows[0]["intervals"] == ["99.00 to 99.90%", ""]
    assert (rows[0]["difference"], rows[0]["interval"]) == ("+0.25 pts", "−0.10 to +0.60")
    assert rows[1]["difference"].startswith("−20") and rows[1]["p"] == "0.012"
    same = figure | {"difference": 0.0, "values": [0.5, 0.5], "low": None, "high": None}
    (row,) = comparison_rows({"figures": {"accuracy": same}})
    assert (row["difference"], row["interval"]) == ("0.0 pts", "")
    found = {"figures": {"accuracy": same, "mae": money | {"better": 0}}, "n_rows": 9}
    assert verdict(found, ["x", "y"]) == "x is significantly better: MAE (p = 0.012)."
    assert verdict({**found, "figures": {"accuracy": same}}, "AB").startswith("No metric differs")


@pytest.mark.parametrize(
    ("name", "values", "shown"),
    [
        ("accuracy", [0.9996, 0.95], [">99.9%", "95.0%"]),
        ("accuracy", [0.99996, 1.0], [">99.99%", "100.00%"]),
        ("recall", [0.0003, 0.0], ["<0.1%", "0.0%"]),
        ("auc", [0.9998, 1.0], [">0.999", "1.000"]),
        ("r2", [0.9998, 0.9], [">0.999", "0.900"]),
    ],
)
def test_only_perfect_models_are_shown_as_perfect(name, values, shown):
    figure = {"values": values, "intervals": [None, None], "difference": values[1] - values[0]}
    figure |= {"low": None, "high": None, "p": None, "test": "", "better": None}
    (row,) = comparison_rows({"figures": {name: figure}})
    assert row["values"] == shown
