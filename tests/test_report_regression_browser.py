"""The report page of a regressor in a browser: it predicts, draws residuals, and shows units."""

import numpy as np
import pytest

pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")
pytest.importorskip(
    "playwright.sync_api", reason="playwright, which runs the browser, is not installed"
)

import test_report_browser as shared
from regression_tables import make_houses
from test_report_browser import SLIDERS, browser, cells, page, put_on_cuts, random_rows, start_of

from everystump import StumpRegressor, StumpRegressorCV
from everystump.report import write_report

pytestmark = shared.pytestmark
__all__ = ["browser", "page"]  # fixtures
INTERVAL = {"level": 0.9, "half_width": 21.4}
ABOUT = {"unit": "k€", "target": "price", "rows": "held-out", "interval": INTERVAL}
WORDS = ("confusion", "classes", "misclassif", "favors", "margin", "score")


def identity():
    X, y = make_houses()
    return StumpRegressorCV(interactions=[("area", "town")], interaction_strength=0.5, cv=2), X, y


def log():
    X, y = make_houses()
    return StumpRegressor(loss="gamma"), X, y


def large():
    X, y = make_houses()
    return StumpRegressor(), X, 1e7 * y


KINDS = {"identity": identity, "log": log, "large": large}


@pytest.fixture(scope="module", params=["identity", *shared.slow("log", "large")])
def written(request, tmp_path_factory):
    """A model, the rows that its page was given, and the page's file."""
    model, X, y = KINDS[request.param]()
    path = tmp_path_factory.mktemp("page") / "page.html"
    model.fit(X[:200], y[:200])
    write_report(model, path, X[200:], y[200:], about=ABOUT)
    return model, X[200:], path, y[200:]


BOTH = pytest.mark.parametrize("written", ["identity", *shared.slow("log", "large")], indirect=True)


def tolerance(model):
    return 1e-9 * max(1.0, model.target_scale_)


@BOTH
def test_the_page_predicts_as_python_does(page, written):
    model, X, *_ = written
    rng = np.random.default_rng(1)
    rows = random_rows(X, 300, rng)
    rows = put_on_cuts(model, rows, rng)
    found = page.evaluate(
        "rows => rows.map(row => window.everystump.predict(row))",
        [{str(k): cells(v) for k, v in row.items()} for row in rows.to_dict("records")],
    )
    expected = model.predict(rows)
    assert np.abs(np.array(found, dtype=float) - expected).max() <= tolerance(model)
    assert np.ptp(expected) > 50


def shown(page):
    """Return the prediction of the panel, in full digits."""
    return float(page.locator("#whatif .prediction").get_attribute("value"))


@BOTH
def test_the_panel_follows_a_slider(page, written):
    model, X, *_ = written
    row = X.loc[[start_of(page)]].copy()
    assert abs(shown(page) - model.predict(row)[0]) <= tolerance(model)
    before = shown(page)
    slider = page.locator(SLIDERS).first
    slider.focus()
    page.keyboard.press("Home")
    page.wait_for_function(
        "old => document.querySelector('#whatif .prediction').value !== old", arg=str(before)
    )
    field = page.locator(".field:has(:focus)")
    name = field.locator(".name").get_attribute("title")
    row[name] = float(field.locator("input[type=number]").input_value())
    assert abs(shown(page) - model.predict(row)[0]) <= tolerance(model)
    assert "from your changes" in page.locator("#whatif .outcome").inner_text()


def number(text):
    return float(text.replace("\u2212", "-").replace(",", "").replace("total", ""))


@BOTH
def test_intercept_and_contributions_add_up(page, written):
    model = written[0]
    texts = page.locator("#whatif .fields .field > .number, #whatif .intercept .number")
    parts = [number(text) for text in texts.all_inner_texts()]
    total = np.log(shown(page)) if model.link_ == "log" else shown(page)
    assert sum(parts) == pytest.approx(total, abs=0.01 * max(map(abs, parts)))
    assert len(parts) == 1 + len(model.shapes_.terms)


def test_contributions_separate_thousands_as_predictions_do(browser, tmp_path):
    X, y = make_houses(100)
    model = StumpRegressor().fit(X, 1000 * y)
    write_report(model, tmp_path / "page.html", X, 1000 * y)
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    intercept = page.locator("#whatif .intercept .number").inner_text()
    assert intercept == f"{model.intercept_[0]:+,.0f}"
    assert "," in page.locator("#importance .number").first.inner_text()
    page.close()


@pytest.mark.parametrize("written", ["identity"], indirect=True)
def test_the_prediction_has_its_unit_and_interval(page, written):
    predicted = page.locator("#whatif .predicted").inner_text().replace("\u00a0", " ")
    assert predicted == f"{shown(page):.1f} k€"
    outcome = page.locator("#whatif .outcome p").first.inner_text()
    assert "± 21.4 (90% interval: " in outcome
    low, high = outcome.split("interval: ")[1].strip(")").split(" to ")
    assert number(high) - number(low) == pytest.approx(42.8, abs=0.11)


@BOTH
def test_points_are_the_held_out_rows(page, written):
    model, X, _, y = written
    for part in ("predictions", "residuals"):
        assert page.locator(f"#{part} circle.point").count() == len(X)
    titles = page.locator("#residuals circle.point title").evaluate_all(
        "all => all.map(e => e.textContent)"
    )
    residuals = [number(title.split("residual ")[1]) for title in titles]
    expected = (y - model.predict(X)).to_numpy()
    assert residuals == pytest.approx(expected, abs=0.02 * np.abs(expected).max())
    heights = page.locator("#residuals circle.point").evaluate_all(
        "all => all.map(e => +e.cy.baseVal.value)"
    )
    assert np.corrcoef(heights, expected)[0, 1] < -0.999
    assert page.locator("#predictions line.limit").count() == 2


@BOTH
def test_the_largest_error_opens_in_the_panel(page, written):
    model, X, _, y = written
    residual = (y - model.predict(X)).abs()
    line = page.locator("table.explained tbody tr").first
    assert line.locator("button").inner_text() == f"row {residual.idxmax()}"
    assert abs(number(line.locator("td.number").nth(2).inner_text())) == pytest.approx(
        residual.max(), rel=1e-2
    )
    line.locator("button").click()
    assert start_of(page) == residual.idxmax()
    for chip in line.locator(".chip").all():
        name, text = chip.get_attribute("title"), chip.locator(".number").inner_text()
        field = page.locator("#whatif .field").filter(has=page.locator(f'[title="{name}"]'))
        assert field.locator("> .number").inner_text() == text


@BOTH
def test_nothing_is_said_about_classes(page, written):
    text = page.locator("body").inner_text().lower()
    assert [word for word in WORDS if word in text] == []
    for missing in ("#confusion", "#margins", "#curve-class"):
        assert page.locator(missing).count() == 0
    assert page.locator("#explained-title").inner_text() == "Largest errors"


@BOTH
def test_curves_name_what_they_add_to(page, written):
    names = {"identity": "contribution (k€)", "log": "added to the logarithm"}
    texts = page.locator(".curve:has(path.line) svg.chart > text").all_text_contents()
    assert names[written[0].link_] in texts
    what = {"identity": "the prediction", "log": "the logarithm of the prediction"}
    lead = page.locator("#curves-lead").inner_text()
    assert lead.startswith(f"The contribution of each value to {what[written[0].link_]}:")


@pytest.mark.parametrize("width", [360, 1200])
@BOTH
def test_no_horizontal_scrolling(page, written, width):
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    overflowing = page.locator(".field > .number, .importances .number").evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
    )
    assert overflowing == []


def test_accessible_names(page):
    charts = page.locator("svg.chart").evaluate_all("all => all.map(e => e.ariaLabel)")
    assert charts and all(charts)
    levels = page.locator("h1, h2, h3, h4").evaluate_all("all => all.map(h => +h.tagName[1])")
    assert levels[0] == 1 and max(np.diff(levels)) == 1
