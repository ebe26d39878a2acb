"""Bands on the report page in a browser: ribbons, error bars, dotted heat maps, legends."""

import numpy as np
import pytest

pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")
pytest.importorskip(
    "playwright.sync_api", reason="playwright, which runs the browser, is not installed"
)

import test_report_browser as shared
from test_report_bands import MODELS, Z, fit_with_bands
from test_report_browser import browser, page
from test_report_interactions import table

from everystump.estimators._base import as_class_list
from everystump.report import write_report

pytestmark = shared.pytestmark
__all__ = ["browser", "page"]  # fixtures


@pytest.fixture(scope="module", params=["pairs", "number", *shared.slow("classes")])
def written(request, tmp_path_factory):
    """A model with bands, the rows that its page was given, and the page's file."""
    model, _, _ = fit_with_bands(*MODELS[request.param])
    X, _ = table(50, 1)
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_report(model, path, X)
    return model, X, path


def errors_of(model):
    return as_class_list(model.standard_errors_)[0]


def shapes_of(model):
    return as_class_list(model.shapes_)[0]


def read(chart):
    """Return the contribution and half the width of the band at the probe of a chart."""
    text = chart.get_attribute("aria-valuetext").rsplit(": ", 1)[1].replace("\u2212", "-")
    return tuple(map(float, text.split(" \u00b1 ")))


def test_every_line_has_a_ribbon_inside_its_chart(page):
    cards = page.locator(".curve:has(path.line)").all()
    assert cards
    for card in cards:
        ribbons = card.locator("path.ribbon")
        assert ribbons.count() == 2  # above zero and below
        numbers = ribbons.first.evaluate("e => e.getAttribute('d').match(/-?[\\d.]+/g).map(Number)")
        x, y = np.reshape(numbers, (-1, 2)).T
        box = card.locator("svg.chart").first.evaluate("e => e.viewBox.baseVal.height")
        assert y.min() >= 0 and y.max() <= box
        assert x[0] == x[-1]  # from left to right and back


def test_the_probe_reads_the_band(page, written):
    model, _, _ = written
    card = page.locator("#curve-0")
    chart = card.locator("svg.chart").first
    chart.focus()
    page.keyboard.press("Home")
    low = float(chart.get_attribute("aria-valuenow"))
    expected = shapes_of(model)[0](np.array([low]))[0], Z * errors_of(model)[0](np.array([low]))[0]
    assert read(chart) == pytest.approx(expected, abs=6e-3)
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    expected = shapes_of(model)[0].missing, Z * errors_of(model)[0].missing
    assert read(chart) == pytest.approx(expected, abs=6e-3)
    assert card.locator(".missing-band").count() == 1


def test_levels_have_error_bars(page, written):
    model, _, _ = written
    d = 2  # word
    items = page.locator(f"#curve-{d} .levels > li").all()
    levels = [str(level) for level in model.feature_info_[d].levels]
    for item in items:
        name = item.locator(".name").inner_text()
        k = levels.index(name) if name in levels else None
        error = errors_of(model)[d].missing if k is None else errors_of(model)[d].levels[k]
        value, half = item.locator(".number").get_attribute("title").split(" \u00b1 ")
        assert float(half) == pytest.approx(Z * error, abs=6e-3)
        bar, whisker = (item.locator(f".{kind}").bounding_box() for kind in ("bar", "whisker"))
        middle = whisker["x"] + whisker["width"] / 2
        end = bar["x"] if value.startswith("\u2212") else bar["x"] + bar["width"]
        assert middle == pytest.approx(end, abs=2)


@pytest.mark.parametrize("written", ["pairs"], indirect=True)
def test_maps_are_dotted_where_the_band_contains_zero(page, written):
    model, _, _ = written
    (surface,), (errors,) = shapes_of(model).surfaces, errors_of(model).surfaces
    chart = page.locator("svg.map")
    dots = chart.locator(".dots").evaluate(
        """dots => {
          const points = dots.getAttribute('d').match(/M[^M]+/g)
            .map((piece) => piece.match(/-?[\\d.]+/g).slice(0, 2).map(Number));
          const drawing = drawSurface(summary, summary.terms.at(-1),
            summary.document.scores[0].surfaces[0], 1, ['positive', 'negative']);
          return points.map(([x, y]) =>
            [drawing.scales[0].valueAt(x), drawing.scales[1].valueAt(y)]);
        }"""
    )
    points = np.array([[np.nan if v is None else v for v in point] for point in dots], dtype=float)
    assert len(points) > 20
    assert np.all(np.abs(surface(points)) < Z * errors(points) + 1e-3)
    chart.focus()
    page.keyboard.press("Home")
    value, half = read(chart)
    text = chart.get_attribute("aria-valuetext").replace("\u2212", "-")
    at = [float(x) for x in text.split(":")[0].split(", ")]
    assert value == pytest.approx(float(surface(np.array([at]))[0]), abs=0.02)
    assert half == pytest.approx(Z * float(errors(np.array([at]))[0]), abs=0.02)
    assert page.get_by_text("0 is within the 95% band").count() == 1


def test_the_panel_shows_bands(page):
    assert "Lines over the bars are 95% bands" in page.locator("#whatif-lead").inner_text()
    fields = page.locator("#whatif .field:has(.whisker)")
    assert fields.count() >= 5
    for title in fields.locator(".number").evaluate_all("all => all.map(e => e.title)"):
        assert " \u00b1 " in title


def test_an_error_bar_has_a_cap_unless_it_is_cut_off(page, written):
    """All have one scale, so that whole error bars with equal bands are equally long."""
    whiskers = page.locator("#whatif .field:has(.whisker)").evaluate_all(
        """all => all.map(e => ({ left: parseFloat(e.querySelector(".whisker").style.left),
          width: parseFloat(e.querySelector(".whisker").style.width),
          title: e.querySelector(".number").title, css: e.querySelector(".whisker").className,
          caps: ["::before", "::after"].map(part =>
            getComputedStyle(e.querySelector(".whisker"), part).content !== "none") }))"""
    )
    scales = []
    for bar in whiskers:
        is_cut = ["cut-low" in bar["css"], "cut-high" in bar["css"]]
        assert bar["caps"] == [not cut for cut in is_cut]
        half = float(bar["title"].split(" \u00b1 ")[1])
        if not any(is_cut) and half > 0.05:
            scales.append(bar["width"] / half)
        assert bar["left"] >= 0 and bar["left"] + bar["width"] <= 100 + 1e-9
    assert len(scales) >= 3 and np.ptp(scales) < 0.05 * np.mean(scales)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_legend_is_visible(browser, written, scheme):
    opened = browser.new_page(color_scheme=scheme, viewport={"width": 360, "height": 800})
    opened.goto(written[2].as_uri())
    key = opened.locator("#curves-controls .key").first
    assert key.inner_text() == "95% band"
    box = key.locator(".swatch").bounding_box()
    assert box["width"] > 15 and box["x"] + box["width"] < 360
    assert opened.evaluate("document.documentElement.scrollWidth") <= 360
    color = "e => getComputedStyle(e).fill"
    ribbon = opened.locator("path.ribbon").first.evaluate(color)
    assert ribbon == opened.locator("path.line").first.evaluate("e => getComputedStyle(e).stroke")
    opened.close()


def test_bands_follow_the_class(page, written):
    model, _, _ = written
    select = page.locator("#curve-class")
    if select.count() == 0:
        return
    select.select_option("2")
    shape = as_class_list(model.standard_errors_)[2][0]
    chart = page.locator("#curve-0 svg.chart").first
    chart.focus()
    page.keyboard.press("Home")
    low = float(chart.get_attribute("aria-valuenow"))
    assert read(chart)[1] == pytest.approx(Z * shape(np.array([low]))[0], abs=6e-3)
