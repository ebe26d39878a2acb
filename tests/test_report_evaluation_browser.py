"""The evaluation on the report page: thresholds, costs, classes, coverage, and their speed."""

import numpy as np
import pytest

pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")
pytest.importorskip(
    "playwright.sync_api", reason="playwright, which runs the browser, is not installed"
)

import pandas as pd
import test_report_browser as shared
from regression_tables import make_houses
from sklearn.calibration import calibration_curve
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    confusion_matrix,
    roc_auc_score,
)
from test_report_browser import browser, page

from everystump import (
    StumpBaggingClassifier,
    StumpLogisticRegression,
    StumpRegressor,
    StumpSVC,
)
from everystump._evaluation.intervals import wilson
from everystump.datasets import load_dataset
from everystump.report import write_report

pytestmark = shared.pytestmark
__all__ = ["browser", "page"]  # fixtures
TOLERANCE = 1e-9


def german(estimator):
    data = load_dataset("german", as_frame=True)
    y = np.array(["good", "bad"])[data.target]
    return estimator.fit(data.data[:600], y[:600]), data.data[600:], y[600:]


def thyroid(estimator):
    data = load_dataset("new_thyroid_3class", as_frame=True)
    y = np.array(["normal", "hyper", "hypo"])[np.unique(data.target, return_inverse=True)[1]]
    return estimator.fit(data.data[::2], y[::2]), data.data[1::2], y[1::2]


KINDS = {
    "log-odds": lambda: german(StumpLogisticRegression()),
    "scores": lambda: german(StumpSVC(C=0.1)),
    "votes": lambda: german(StumpBaggingClassifier(25, random_state=0)),
    "classes": lambda: thyroid(StumpLogisticRegression(C=0.1)),
    "class scores": lambda: thyroid(StumpSVC(C=0.05)),
}
TWO = ["log-odds", "scores", *shared.slow("votes")]
SEVERAL = ["classes", *shared.slow("class scores")]


@pytest.fixture(scope="module", params=[*TWO, *SEVERAL])
def written(request, tmp_path_factory):
    """A model, the rows that its page was given, the page's file, and the classes of the rows."""
    model, X, y = KINDS[request.param]()
    path = tmp_path_factory.mktemp("page") / "page.html"
    about = {"rows": "held-out", "positive": "bad"}
    write_report(model, path, X, y, about=about)
    return model, X, path, y


TWO_CLASSES = pytest.mark.parametrize("written", TWO, indirect=True)
SEVERAL_CLASSES = pytest.mark.parametrize("written", SEVERAL, indirect=True)


def keys_of(model, X, k):
    """Return what is compared with the threshold, and the scores, of class k."""
    scores = model.decision_function(X)
    signed = (-scores, scores) if scores.ndim == 1 else scores.T
    scores = signed[k]
    if not hasattr(model, "predict_proba"):
        return scores, scores
    p = model.predict_proba(X)[:, k]
    return p, scores if len(model.classes_) == 2 else p


def shown(page, name):
    """Return a figure with all digits."""
    return float(page.locator(f"#figure-{name}").get_attribute("value"))


def rate(page, name):
    return float(page.locator(f"#rate-{name}").get_attribute("value"))


def matrix(page):
    """Return the confusion matrix at the threshold as true and false, positives and negatives."""
    return {
        cell.get_attribute("data-key"): int(cell.locator("strong").inner_text().replace(",", ""))
        for cell in page.locator("#threshold-matrix td").all()
    }


def as_dict(actual, predicted):
    tn, fp, fn, tp = confusion_matrix(actual, predicted, labels=[False, True]).ravel().tolist()
    return {"tp": tp, "fn": fn, "fp": fp, "tn": tn}


def set_slider(page, value, name="threshold"):
    page.locator(f"#{name}").evaluate(
        "(s, value) => { s.value = value; s.dispatchEvent(new Event('input')); }", str(value)
    )
    return float(page.locator(f"#{name}").input_value())


def choose(page, k):
    page.locator("#decision-class").select_option(str(k))


@TWO_CLASSES
def test_the_first_matrix_is_that_of_the_model(page, written):
    model, X, _, y = written
    assert page.locator("#decision-class option:checked").inner_text() == "bad"
    for k, label in ((0, "bad"), (1, "good")):
        choose(page, k)
        assert matrix(page) == as_dict(y == label, model.predict(X) == label)
        assert rate(page, "accuracy") == np.mean(model.predict(X) == y)


def test_the_matrix_follows_the_threshold(page, written):
    model, X, _, y = written
    for k, label in enumerate(model.classes_):
        choose(page, k)
        keys, _ = keys_of(model, X, k)
        low, high = min(0, keys.min()), max(1, keys.max())
        for share in (0.03, 0.2, 0.5123, 0.8, 0.97):
            threshold = set_slider(page, low + share * (high - low))
            predicted = keys > threshold
            found = matrix(page)
            assert found == as_dict(y == label, predicted)
            assert float(page.locator("#threshold-number").input_value()) == pytest.approx(
                threshold, rel=1e-5
            )
            if found["tp"] + found["fp"]:
                assert rate(page, "precision") == np.mean(y[predicted] == label)
            assert rate(page, "recall") == np.mean(predicted[y == label])
            assert rate(page, "alarms") == np.mean(predicted[y != label])
            interval = page.locator("#rates .tile").nth(1).locator(".tile-more").inner_text()
            low_end = 100 * wilson(found["tp"], found["tp"] + found["fn"])[0]
            assert float(interval.split()[1].strip("%<>")) == pytest.approx(low_end, abs=0.11)


def test_the_figures_of_curves(page, written):
    model, X, _, y = written
    for k, label in enumerate(model.classes_):
        choose(page, k)
        keys, scores = keys_of(model, X, k)
        is_class = y == label
        assert shown(page, "auc") == pytest.approx(roc_auc_score(is_class, scores), abs=TOLERANCE)
        assert shown(page, "ap") == pytest.approx(
            average_precision_score(is_class, scores), abs=TOLERANCE
        )
        if not hasattr(model, "predict_proba"):
            assert page.locator("#calibration").count() == 0
            continue
        assert shown(page, "brier") == pytest.approx(
            brier_score_loss(is_class, keys), abs=TOLERANCE
        )
        for value, strategy in (("width", "uniform"), ("count", "quantile")):
            page.locator("#calibration-bins").select_option(value)
            bins = page.locator("#calibration .bin")
            observed, predicted = calibration_curve(is_class, keys, n_bins=10, strategy=strategy)
            assert bins.count() == len(observed)
            heights = bins.locator("circle").evaluate_all(
                "all => all.map(c => +c.attributes.cy.value)"
            )
            positions = bins.locator("circle").evaluate_all(
                "all => all.map(c => +c.attributes.cx.value)"
            )
            if len(set(observed)) > 2:
                assert np.corrcoef(heights, observed)[0, 1] < -1 + 1e-9
            assert np.corrcoef(positions, predicted)[0, 1] > 1 - 1e-9
            assert bins.locator("line").count() == len(observed)


def test_the_area_is_that_at_the_top_of_the_page(page, written):
    if len(written[0].classes_) > 2:
        return
    tile = page.locator("#tiles .tile", has_text="AUC").locator("strong").inner_text()
    assert page.locator("#figure-auc").inner_text() == tile


def test_the_number_sets_the_threshold(page, written):
    model, X, _, y = written
    keys, _ = keys_of(model, X, 0)
    choose(page, 0)
    number = page.locator("#threshold-number")
    number.fill("0.25")
    assert matrix(page) == as_dict(y == model.classes_[0], keys > 0.25)
    assert float(page.locator("#threshold").input_value()) == pytest.approx(0.25)
    number.fill("")  # an incomplete number changes nothing
    assert matrix(page) == as_dict(y == model.classes_[0], keys > 0.25)


def test_the_arrow_keys_move_the_threshold(page, written):
    page.locator("#threshold").focus()
    before = float(page.locator("#threshold").input_value())
    page.keyboard.press("ArrowRight")
    assert float(page.locator("#threshold").input_value()) > before
    page.keyboard.press("Home")
    found = matrix(page)
    page.keyboard.press("End")
    assert matrix(page)["tp"] < found["tp"]


def cost_of(found, costs):
    return costs[0] * found["fp"] + costs[1] * found["fn"]


@pytest.mark.parametrize("costs", [(1, 1), (1, 7.5), (20, 1)])
def test_the_cheapest_threshold_is_marked_and_used(page, written, costs):
    model, X, _, y = written
    for k, label in enumerate(model.classes_[:2]):
        choose(page, k)
        page.locator("#cost-alarm").fill(str(costs[0]))
        page.locator("#cost-miss").fill(str(costs[1]))
        keys, _ = keys_of(model, X, k)
        lowest = min(
            cost_of(as_dict(y == label, keys >= cut), costs) for cut in [np.inf, *np.unique(keys)]
        )
        if page.locator("#use-cheapest").is_visible():
            before = cost_of(matrix(page), costs)
            assert before >= lowest
            page.locator("#use-cheapest").click()
        assert cost_of(matrix(page), costs) == pytest.approx(lowest)
        assert page.locator("#use-cheapest").is_hidden()
        marks = page.locator(".cheapest").evaluate_all(
            "all => all.map(m => m.getAttribute('transform'))"
        )
        current = page.locator("#decision-cards circle.current").evaluate_all(
            "all => all.map(m => m.getAttribute('transform'))"
        )
        assert marks == current and len(marks) == 3
        advice = page.locator("#cheapest").inner_text()
        per_rows = float(advice.split("costs ")[1].split(" per 1,000 rows")[0])
        assert per_rows == pytest.approx(1000 * lowest / len(y), rel=5e-3)


def test_an_invalid_cost_changes_nothing(page):
    text = page.locator("#cheapest").inner_text()
    page.locator("#cost-miss").fill("-3")
    page.locator("#cost-miss").fill("")
    assert page.locator("#cheapest").inner_text() == text


def test_costs_are_kept_for_another_class(page):
    page.locator("#cost-miss").fill("4")
    choose(page, 1)
    assert page.locator("#cost-miss").input_value() == "4"


@TWO_CLASSES
def test_each_class_has_one_color(page, written):
    colors = page.evaluate(
        "() => ['--line', '--negative'].map(n => "
        "getComputedStyle(document.documentElement).getPropertyValue(n).trim())"
    )
    rgb = [f"rgb({', '.join(str(int(c[i : i + 2], 16)) for i in (1, 3, 5))})" for c in colors]
    for k, own in ((1, 0), (0, 1)):  # the second class is blue, the first orange
        choose(page, k)
        fills = page.locator("#score-histogram rect").evaluate_all(
            "all => all.map(r => [getComputedStyle(r).fill, r.textContent])"
        )
        labels = ["good", "bad"]  # blue, orange
        assert {(fill, text.split(",")[0]) for fill, text in fills} == set(
            zip(rgb, labels, strict=True)
        )
        stroke = page.locator("#roc path.line").evaluate("p => getComputedStyle(p).stroke")
        assert stroke == rgb[own]


def test_histograms_count_all_rows(page, written):
    model, _, _, y = written
    choose(page, 0)
    titles = page.locator("#score-histogram rect title").evaluate_all(
        "all => all.map(t => t.textContent)"
    )
    counts = [(title.split(",")[0], int(title.rsplit(": ")[-1])) for title in titles]
    own = sum(n for name, n in counts if name == model.classes_[0])
    assert own == np.sum(y == model.classes_[0])
    assert sum(n for _, n in counts) == len(y)


@SEVERAL_CLASSES
def test_several_classes(page, written):
    model, X, _, y = written
    predicted = model.predict(X)
    cells = page.locator("#confusion td").all_inner_texts()
    expected = confusion_matrix(y, predicted, labels=model.classes_).ravel()
    assert [int(text.split("\n")[0]) if text else 0 for text in cells] == expected.tolist()
    assert (expected == 0).any()  # and shown as empty cells
    lines = page.locator("#by-class tbody tr")
    for k, label in enumerate(model.classes_):
        texts = lines.nth(k).locator("td").all_inner_texts()
        assert int(texts[0]) == np.sum(y == label)
        recall = 100 * np.mean(predicted[y == label] == label)
        assert float(texts[1].split("%")[0].strip("<>")) == pytest.approx(recall, abs=0.051)
        area = roc_auc_score(y == label, keys_of(model, X, k)[0])
        assert float(texts[3].strip("<>")) == pytest.approx(area, abs=1e-3)
        lines.nth(k).locator("button").click()
        assert page.locator("#decision-class").input_value() == str(k)
        assert shown(page, "auc") == pytest.approx(area, abs=TOLERANCE)
        assert page.evaluate("() => document.activeElement.id") == "decision-class"
    has_probabilities = hasattr(model, "predict_proba")
    assert page.locator("#margins svg").count() == (0 if has_probabilities else 1)


@SEVERAL_CLASSES
def test_the_most_probable_classes_of_mistakes(page, written):
    model, X, _, _ = written
    if not hasattr(model, "predict_proba"):
        assert page.locator(".explained .top").count() == 0
        return
    line = page.locator("#explained tbody tr").first
    row = X.loc[[int(line.locator("button").inner_text().split()[1])]]
    p = model.predict_proba(row)[0]
    names = line.locator(".top > :first-child").all_inner_texts()
    assert names == model.classes_[np.argsort(-p)].tolist()
    assert line.locator(".top strong").inner_text() == line.locator("td").nth(2).inner_text()


def test_sections_are_in_the_order_of_questions(page, written):
    expected = ["Overview", "What-if analysis", "Importance", "Curves", "Evaluation", "Mistakes"]
    expected.append("Groups")
    if hasattr(written[0], "certificate_"):
        expected.append("How we know")
    assert page.locator("#links a").all_inner_texts() == expected


def numbers():
    X, y = make_houses()
    return StumpRegressor().fit(X[:200], y[:200]), X[200:], y[200:]


@pytest.mark.parametrize("interval", [None, {"level": 0.9, "half_width": 21.4}])
def test_coverage_of_a_regressor(browser, tmp_path, interval):
    model, X, y = numbers()
    path = tmp_path / "page.html"
    write_report(model, path, X, y, about={"rows": "held-out", "interval": interval})
    opened = browser.new_page()
    opened.goto(path.as_uri())
    sizes = np.abs(y - model.predict(X)).to_numpy()
    start = 21.4 if interval else np.quantile(sizes, 0.9)
    assert float(opened.locator("#half-width").input_value()) == pytest.approx(start, rel=1e-6)
    for width in (5.0, 12.0, 40.0):
        set_slider(opened, width, "half-width")
        assert shown(opened, "coverage") == np.mean(sizes <= width)
    opened.locator("#half-width-number").fill("7")
    assert shown(opened, "coverage") == np.mean(sizes <= 7)
    titles = opened.locator("#coverage .bin title").evaluate_all(
        "all => all.map(t => t.textContent)"
    )
    order = np.argsort(model.predict(X), kind="stable")
    parts = order[:33], order[33:67], order[67:]
    shares = [f"{100 * np.mean(sizes[part] <= 7):.0f}%" for part in parts]
    assert [title.split(": ")[1].split()[0] for title in titles] == shares
    counts = opened.locator("#residual-histogram rect title").evaluate_all(
        "all => all.map(t => +t.textContent.split(': ')[1])"
    )
    assert sum(counts) == len(y)
    opened.close()


def test_training_rows_have_no_intervals(browser, tmp_path):
    data = load_dataset("german", as_frame=True)
    model = StumpLogisticRegression().fit(data.data, data.target)
    write_report(model, tmp_path / "page.html", data.data, data.target)
    opened = browser.new_page()
    opened.goto((tmp_path / "page.html").as_uri())
    assert "trained on these rows" in opened.locator("#quality-lead").inner_text()
    assert "95%" not in opened.locator("#rates").inner_text()
    assert opened.locator("#calibration .bin line").count() == 0
    assert opened.locator("#groups .interval-line").count() == 0
    opened.close()


def test_all_of_100_000_rows_are_evaluated(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(102_000, 6)), columns=list("abcdef"))
    y = (X["a"] + np.sin(3 * X["b"]) + rng.logistic(size=len(X)) > 0).astype(int).to_numpy()
    model = StumpLogisticRegression(C=0.01).fit(X[:2000], y[:2000])
    path = tmp_path / "page.html"
    write_report(model, path, X[2000:], y[2000:], about={"rows": "held-out"})
    assert path.stat().st_size < 3_000_000
    opened = browser.new_page()
    opened.goto(path.as_uri())
    assert "from all 100,000 held-out rows" in opened.locator("#quality-lead").inner_text()
    assert shown(opened, "auc") == pytest.approx(
        roc_auc_score(y[2000:], model.decision_function(X[2000:])), abs=TOLERANCE
    )
    assert "The line is drawn through" in opened.locator("#roc").inner_text()
    opened.close()


def test_a_sample_of_more_rows_is_said_to_be_one(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(130_000, 2))
    y = (X[:, 0] + rng.logistic(size=len(X)) > 0).astype(int)
    model = StumpLogisticRegression(C=0.01).fit(X[:1000], y[:1000])
    write_report(model, tmp_path / "page.html", X, y, about={"rows": "held-out"})
    opened = browser.new_page()
    opened.goto((tmp_path / "page.html").as_uri())
    lead = opened.locator("#quality-lead").inner_text()
    assert "a random sample of 100,000 of the 130,000 held-out rows" in lead
    exact = roc_auc_score(y, model.decision_function(X))
    assert shown(opened, "auc") == pytest.approx(exact, abs=0.01)
    opened.close()


@pytest.mark.parametrize("case", ["two rows", "one class", "constant"])
def test_small_tables(browser, tmp_path, case):
    X = np.arange(40.0)[:, None]
    y = np.array(["no"] * 20 + ["yes"] * 20)
    model = StumpLogisticRegression().fit(X, y)
    rows, labels = {
        "two rows": (X[[0, 39]] + 0.1, ["no", "yes"]),
        "one class": (X[:7] + 0.1, ["no"] * 7),
        "constant": (np.full((6, 1), 3.3), ["no", "yes"] * 3),
    }[case]
    write_report(model, tmp_path / "page.html", rows, labels, about={"rows": "held-out"})
    opened = browser.new_page()
    errors = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto((tmp_path / "page.html").as_uri())
    for k in (0, 1):
        choose(opened, k)
        set_slider(opened, 0.3)
        found = matrix(opened)
        p = model.predict_proba(rows)[:, k]
        assert found == as_dict(np.array(labels) == model.classes_[k], p > 0.3)
    if case == "one class":
        assert "there is no ROC curve" in opened.locator("#roc").inner_text()
        assert opened.locator("#figure-ap").count() == 0
    assert opened.locator("#groups table tbody tr").count() >= 2
    assert errors == []
    opened.close()
