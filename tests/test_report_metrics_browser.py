"""The metrics that the page computes are those of scikit-learn."""

import warnings

import numpy as np
import pytest

pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")
pytest.importorskip(
    "playwright.sync_api", reason="playwright, which runs the browser, is not installed"
)

import test_report_browser as shared
from scipy.special import expit
from scipy.stats import norm, t
from sklearn.calibration import calibration_curve
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    confusion_matrix,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)
from test_report_browser import browser

from everystump import DecisionStumpClassifier
from everystump._evaluation.intervals import wilson
from everystump.report import write_report

pytestmark = shared.pytestmark
__all__ = ["browser"]  # a fixture
TOLERANCE = 1e-9


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """A page of a small model, for the functions of its script."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_report(DecisionStumpClassifier().fit([[0], [1], [4], [5]], [0, 0, 1, 1]), path)
    opened = browser.new_page()
    opened.goto(path.as_uri())
    yield opened
    opened.close()


def random_case(n, seed, decimals=None):
    rng = np.random.default_rng(seed)
    scores = 2 * rng.normal(size=n)
    scores = scores if decimals is None else np.round(scores, decimals)
    return scores, (rng.uniform(size=n) < expit(scores - 0.5)).astype(int)


CASES = {
    "distinct": random_case(500, 0),
    "ties": random_case(400, 1, decimals=1),
    "few values": random_case(300, 2, decimals=0),
    "constant": (np.full(20, 0.3), np.arange(20) % 2),
    "zeros": (np.array([0.0, -0.0, 0.0, 1.0]), np.array([0, 1, 1, 0])),
    "two rows": (np.array([0.2, -0.1]), np.array([1, 0])),
    "two equal rows": (np.array([0.2, 0.2]), np.array([1, 0])),
    "saturated": (np.array([800.0, 700.0, 40.0, 38.0, -39.0, -800.0]), np.arange(6) % 2),
    "separated": (np.arange(-5.0, 5.0), (np.arange(10) >= 5).astype(int)),
    "many": random_case(100_000, 3),
    "many ties": random_case(100_000, 4, decimals=2),
}
ALL = pytest.mark.parametrize("name", CASES)
CURVES = """([scores, labels]) => {
  const isPositive = Uint8Array.from(labels);
  const ranked = rankScores(Float64Array.from(scores), isPositive);
  const counts = countByThreshold(ranked);
  return { auc: rocArea(counts), ap: averagePrecision(counts),
    thresholds: [...counts.thresholds], tps: [...counts.tps], fps: [...counts.fps],
    at: [-1, -0.1, 0, 0.3, 1].map((cut) => [true, false].map((isStrict) => {
      const { tn, fp, fn, tp } = confusionAt(ranked, cut, isStrict);
      return [[tn, fp], [fn, tp]];
    })) };
}"""


def run(page, script, *arguments):
    plain = [getattr(argument, "tolist", lambda a=argument: a)() for argument in arguments]
    return page.evaluate(script, plain)


@ALL
def test_curves_and_areas(page, name):
    scores, y = CASES[name]
    found = run(page, CURVES, scores, y)
    assert found["auc"] == pytest.approx(roc_auc_score(y, scores), abs=TOLERANCE)
    assert found["ap"] == pytest.approx(average_precision_score(y, scores), abs=TOLERANCE)
    fpr, tpr, thresholds = roc_curve(y, scores, drop_intermediate=False)
    assert np.array_equal(found["thresholds"], thresholds[1:])
    tps, fps = np.array(found["tps"]), np.array(found["fps"])
    assert np.abs(tps / y.sum() - tpr[1:]).max() <= TOLERANCE
    assert np.abs(fps / (1 - y).sum() - fpr[1:]).max() <= TOLERANCE
    precision, recall, _ = precision_recall_curve(y, scores)
    assert np.abs((tps / (tps + fps))[::-1] - precision[:-1]).max() <= TOLERANCE
    assert np.abs((tps / y.sum())[::-1] - recall[:-1]).max() <= TOLERANCE


@ALL
def test_confusion_matrices(page, name):
    scores, y = CASES[name]
    found = run(page, CURVES, scores, y)["at"]
    for cut, matrices in zip([-1, -0.1, 0, 0.3, 1], found, strict=True):
        for matrix, predicted in zip(matrices, (scores > cut, scores >= cut), strict=True):
            assert matrix == confusion_matrix(y, predicted, labels=[0, 1]).tolist()


PROBABILITIES = """([scores, labels]) => {
  const isPositive = Uint8Array.from(labels);
  const p = Float64Array.from(scores, sigmoid);
  const bins = (n, hasEqualCounts) => calibrationBins(p, isPositive, n, hasEqualCounts)
    .map(({ n, hits, predicted, observed, interval }) => [n, hits, predicted, observed, interval]);
  return { p: [...p], brier: brierScore(p, isPositive),
    uniform: bins(10, false), quantile: bins(10, true), three: bins(3, true) };
}"""


@ALL
def test_brier_score_and_calibration(page, name):
    scores, y = CASES[name]
    found = run(page, PROBABILITIES, scores, y)
    p = np.exp(-np.logaddexp(0.0, -scores))
    assert np.abs(np.array(found["p"]) - p).max() <= 1e-15
    assert found["brier"] == pytest.approx(brier_score_loss(y, p), abs=TOLERANCE)
    for key, n_bins, strategy in (
        ("uniform", 10, "uniform"),
        ("quantile", 10, "quantile"),
        ("three", 3, "quantile"),
    ):
        observed, predicted = calibration_curve(y, p, n_bins=n_bins, strategy=strategy)
        bins = found[key]
        assert [row[3] for row in bins] == pytest.approx(observed.tolist(), abs=TOLERANCE)
        assert [row[2] for row in bins] == pytest.approx(predicted.tolist(), abs=TOLERANCE)
        assert sum(row[0] for row in bins) == len(y)
        for n, hits, *_, interval in bins:
            assert interval == pytest.approx(wilson(hits, n), abs=1e-12)


def test_bins_have_the_edges_of_numpy(page):
    """Probabilities on the edges 0.1, 0.2, ... of bins, which are rounded differently as k / 10."""
    p = np.concatenate([np.linspace(0, 1, 11), np.arange(11) / 10])
    y = np.arange(len(p)) % 2
    bins = page.evaluate(
        "([p, y]) => calibrationBins(Float64Array.from(p), Uint8Array.from(y))"
        ".map(({ predicted, observed }) => [predicted, observed])",
        [p.tolist(), y.tolist()],
    )
    observed, predicted = calibration_curve(y, p, n_bins=10)
    assert np.abs(np.array(bins) - np.column_stack([predicted, observed])).max() <= TOLERANCE


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_missing(page, label):
    """There is no AUC, and without rows of the class no recall."""
    scores, y = np.array([0.3, -0.2, 0.3]), np.full(3, label)
    found = run(page, CURVES, scores, y)
    assert found["auc"] is None
    assert found["ap"] == (1 if label else None)
    assert found["at"][2][0] == confusion_matrix(y, scores > 0, labels=[0, 1]).tolist()
    bins = run(page, PROBABILITIES, scores, y)["uniform"]
    p = expit(scores)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is one class only
        observed, _ = calibration_curve(y, p, n_bins=10, pos_label=1)
    assert [row[3] for row in bins] == observed.tolist()


def brute_force_cost(scores, y, costs):
    """Return the lowest cost of predicting the k highest distinct scores as positive."""
    cuts = [np.inf, *np.unique(scores)]
    return min(
        costs[0] * np.sum((scores >= cut) & (y == 0)) + costs[1] * np.sum((scores < cut) & (y == 1))
        for cut in cuts
    )


@pytest.mark.parametrize("name", ["distinct", "ties", "constant", "two rows", "separated"])
@pytest.mark.parametrize("costs", [(1, 1), (1, 5), (0.3, 0), (0, 1), (0, 0)])
def test_the_cheapest_threshold(page, name, costs):
    scores, y = CASES[name]
    found = page.evaluate(
        """([scores, y, costs]) => {
          const counts = countByThreshold(rankScores(Float64Array.from(scores),
            Uint8Array.from(y)));
          return cheapestChoice(counts, costs);
        }""",
        [scores.tolist(), y.tolist(), costs],
    )
    assert found["cost"] == pytest.approx(brute_force_cost(scores, y, costs), rel=1e-12)
    predicted = np.isin(scores, np.unique(scores)[::-1][: found["k"]])
    (_, fp), (fn, _) = confusion_matrix(y, predicted, labels=[0, 1])
    assert costs[0] * fp + costs[1] * fn == pytest.approx(found["cost"])


def test_the_cheapest_threshold_separates_probabilities_not_scores(page):
    """Log-odds of 38, 40 and 50 are all a probability of 1, so that all rows or none are above."""
    cheapest = """scores => {
      const rows = { scores: [Float64Array.from(scores)], actual: [0, 1, 1], probabilities: null };
      const found = makeDecision(rows, 1, { labels: ["no", "yes"], document: { log_odds: 1 } });
      const { threshold, cost } = found.cheapest([1, 1]);
      return [threshold, cost, costOf(found.confusion(threshold), [1, 1])];
    }"""
    assert page.evaluate(cheapest, [38, 40, 50]) == [0.5, 1, 1]
    assert page.evaluate(cheapest, [-1, 1, 2])[1:] == [0, 0]


def test_small_groups_of_residuals_stand_out_by_students_t(page):
    """Ten rows five standard errors above the mean: 3.9 are enough for a normal number, 6.6 for t.

    The mean absolute residual is 2, its standard error 0.2, and that of all rows is 1.
    """
    outlier = """n => numberMeasures({ about: {}, formats: {} }, { residuals: [] }).outlier(
      { n, size: 2 * n, squares: 4 * n + 0.04 * n * (n - 1) }, { n: 1000, size: 1000 }, 0.9999)"""
    assert page.evaluate(outlier, 10) is None
    assert page.evaluate(outlier, 100) == 2


def test_intervals_and_quantiles(page):
    for hits, n in ((0, 10), (10, 10), (3, 7), (50_000, 100_000)):
        assert page.evaluate("([h, n]) => wilson(h, n)", [hits, n]) == pytest.approx(
            wilson(hits, n), abs=1e-12
        )
    assert page.evaluate("() => wilson(0, 0)") is None
    for degrees in (1, 2, 3, 4, 29, 30, 31, 50, 400, 401, 10_000):
        assert page.evaluate("d => studentQuantile(d)", degrees) == pytest.approx(
            t.ppf(0.975, degrees), rel=1e-11
        )
        assert page.evaluate("d => studentQuantile(d, 0.9999)", degrees) == pytest.approx(
            t.isf(0.00005, degrees), rel=1e-8
        )
    for p in (0.2, 0.95, 0.9998, 1 - 2e-6, 1 - 2e-8):
        assert page.evaluate("p => normalQuantile(p)", p) == pytest.approx(
            norm.isf((1 - p) / 2), rel=1e-7
        )
    x = np.random.default_rng(0).normal(3, 2, size=12)
    found = page.evaluate(
        "([s, q, n]) => meanInterval(s, q, n)", [x.sum(), float((x**2).sum()), len(x)]
    )
    expected = t.interval(0.95, 11, x.mean(), x.std(ddof=1) / np.sqrt(12))
    assert found["interval"] == pytest.approx(expected, rel=1e-11)
    for q in (0.0, 0.1, 0.55, 0.9, 1.0):
        quantile = page.evaluate("([x, q]) => quantileOf(x, q)", [np.sort(x).tolist(), q])
        assert quantile == np.quantile(x, q)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.301, 0.319, 0.31), (0.0, 1.0, 0.5), (0.47001, 0.47002, 0.470015), (0.5, 0.5, 0.5)],
)
def test_short_numbers_between_others(page, low, high, expected):
    assert page.evaluate("([a, b]) => shortestBetween(a, b)", [low, high]) == expected


def test_numbers_beyond_all_scores(page):
    assert page.evaluate("() => shortestBetween(2.25, Infinity)") > 2.25
    assert page.evaluate("() => shortestBetween(-Infinity, -3.5)") < -3.5


def test_percentages_are_round_only_if_exact(page):
    shares = [0.0, 1e-9, 0.003, 0.0004, 0.5, 0.997, 0.9996, 0.99999, 1.0]
    tenths = page.evaluate("shares => shares.map(formatTenths)", shares)
    assert tenths == [
        *("0.0%", "<0.1%", "0.3%", "<0.1%", "50.0%"),
        *("99.7%", ">99.9%", ">99.9%", "100.0%"),
    ]
    whole = page.evaluate("shares => shares.map(formatPercent)", shares)
    assert [text for text in whole if text in ("0%", "100%")] == ["0%", "100%"]
    areas = page.evaluate("areas => areas.map(formatArea)", [0.0, 1e-6, 0.9997, 1.0])
    assert areas == ["0.000", "<0.001", ">0.999", "1.000"]
