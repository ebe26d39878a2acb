"""Heat maps and contributions of interactions on the report page, in a browser."""

import numpy as np
import pytest

pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")
pytest.importorskip(
    "playwright.sync_api", reason="playwright, which runs the browser, is not installed"
)

import test_report_browser as shared
from test_report_browser import assert_scores, browser, page, start_of, wait_for_new_score
from test_report_interactions import fitted, table

from everystump import StumpLogisticRegression, StumpLogisticRegressionCV
from everystump.report import write_report

pytestmark = shared.pytestmark
__all__ = ["browser", "page"]  # fixtures


@pytest.fixture(scope="module", params=["pairs", *shared.slow("triple", "steps", "classes")])
def written(request, tmp_path_factory):
    """A model with interactions, the rows that its page was given, and the page's file."""
    model, X, y = fitted(request.param)
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_report(model, path, X, y)
    return model, X, path


def first_shapes(model):
    return model.shapes_[0] if isinstance(model.shapes_, list) else model.shapes_


def maps(page):
    """Return the cards of interactions by the names of their features."""
    cards = page.locator(".curve:has(svg.map)").all()
    return {card.get_attribute("aria-label"): card for card in cards}


def term_name(model, features):
    return " × ".join(str(model.feature_info_[d].name) for d in features)


def test_there_is_a_map_for_each_interaction(page, written):
    model = written[0]
    surfaces = first_shapes(model).surfaces
    assert sorted(maps(page)) == sorted(term_name(model, surface.features) for surface in surfaces)
    assert page.locator(".curve path.shade").count() > 0
    order = page.locator(".curve").evaluate_all("all => all.map(e => e.ariaLabel)")
    bars = page.locator("#importance a").evaluate_all("all => all.map(e => e.title)")
    assert order == [name for name in bars if name in order]


def numbers_of(chart):
    """Return the point of a probe as text, and the contribution there."""
    values, added = chart.get_attribute("aria-valuetext").rsplit(": ", 1)
    return values, float(added.replace("\u2212", "-"))


def evaluate(model, features, values):
    surfaces = {surface.features: surface for surface in first_shapes(model).surfaces}
    return float(surfaces[features](np.array([values]))[0])


def test_a_map_is_read_by_keyboard_and_pointer(page, written):
    model, X, _ = written
    card = maps(page)["a × b"]
    chart, readout = card.locator("svg.map"), card.locator(".readout")
    chart.focus()
    low, high = X["a"].min(), X["a"].max()
    for key, a in (("Home", low), ("End", high)):
        page.keyboard.press(key)
        values, added = numbers_of(chart)
        b = float(values.split(", ")[1])
        assert added == pytest.approx(evaluate(model, (0, 1), [a, b]), abs=0.05)
    page.keyboard.press("ArrowRight")
    values, added = numbers_of(chart)
    assert values.split(", ")[0] == "missing"
    assert added == pytest.approx(evaluate(model, (0, 1), [np.nan, b]), abs=6e-4)
    for _ in range(20):
        page.keyboard.press("ArrowUp")
    values, added = numbers_of(chart)
    assert float(values.split(", ")[1]) == X["b"].max()
    assert added == pytest.approx(evaluate(model, (0, 1), [np.nan, X["b"].max()]), abs=6e-4)
    assert readout.inner_text() == chart.get_attribute("aria-valuetext")
    page.keyboard.press("Tab")
    assert readout.inner_text() == ""
    chart.hover()
    assert readout.inner_text() == chart.get_attribute("aria-valuetext")


@pytest.mark.parametrize("written", ["pairs", *shared.slow("steps")], indirect=True)
def test_a_category_is_read_by_its_levels(page, written):
    model, _, _ = written
    card = maps(page)["a × word"]
    chart = card.locator("svg.map")
    names = card.locator("text").all_text_contents()
    known = [str(level) for level in model.feature_info_[2].levels]
    height = model.shapes_[2](np.arange(len(known)))
    levels = [known[k] for k in np.argsort(-height)]  # in the order of the curve
    assert [name for name in names if name in levels] == levels
    chart.focus()
    page.keyboard.press("Home")
    for _ in levels:
        page.keyboard.press("ArrowUp")
    seen = []
    for _ in range(len(levels) + 1):
        values, added = numbers_of(chart)
        level = values.split(", ")[1]
        code = known.index(level) if level in known else np.nan
        low = float(chart.evaluate("() => summary.features[0].low"))
        assert added == pytest.approx(evaluate(model, (0, 2), [low, code]), abs=6e-4)
        seen.append(level)
        page.keyboard.press("ArrowDown")
    assert seen == [*levels, "missing"]


@pytest.mark.parametrize("written", ["pairs", *shared.slow("steps")], indirect=True)
def test_shades_have_the_sign_of_the_surface(page, written):
    """The color at the center of each part of a map of two categories is that of its value."""
    model, _, _ = written
    card = maps(page)["word × code"]
    surface = next(s for s in model.shapes_.surfaces if s.features == (2, 3))
    boxes = card.locator("path.shade").evaluate_all(
        "all => all.map(e => [e.classList[1], +e.getAttribute('fill-opacity'),"
        " e.getAttribute('d').split('M').length - 1])"
    )
    largest = max(abs(s.values).max() for s in model.shapes_.surfaces)
    for sign, name in ((1, "line-positive"), (-1, "line-negative")):
        shades = np.round(16 * np.sqrt(np.clip(sign * surface.values, 0, None) / largest))
        found = {opacity: n for kind, opacity, n in boxes if kind == name}
        assert {*found} == {*(shades[shades > 0] / 16)}


def test_the_panel_adds_interactions(page, written):
    model, X, _ = written
    row = X.loc[[start_of(page)]].copy()
    field = page.locator("#whatif .field").filter(has=page.locator("label[title=a]"))
    field.locator("input[type=number]").focus()
    page.keyboard.press("Control+A")
    wait_for_new_score(page, lambda: page.keyboard.type("0.875"))
    row["a"] = 0.875
    assert_scores(page, model, row)
    explained = model.explain_local(row)
    shown = page.locator("#whatif .interaction").evaluate_all(
        "all => all.map(e => [e.querySelector('.name').title,"
        " Number(e.querySelector('.number').textContent.replace('\\u2212', '-'))])"
    )
    assert len(shown) == len(first_shapes(model).surfaces)
    if len(model.classes_) == 2:
        for name, contribution in shown:
            assert contribution == pytest.approx(float(explained[name].iloc[0]), abs=6e-4)
    changed = page.locator("#whatif .interaction.changed .name").all_inner_texts()
    assert changed and all("a" in name.split(" × ") for name in changed)


@pytest.mark.parametrize("written", ["triple"], indirect=True)
def test_a_map_of_three_features_follows_the_panel(page, written):
    model, _, _ = written
    card = maps(page)["a × b × word"]
    chart = card.locator("svg.map")
    levels = model.feature_info_[2].levels.tolist()
    for k in (0, 1):
        page.locator("#feature-2").select_option(str(k))
        page.wait_for_function(
            "([card, level]) => document.querySelector(card).innerText.includes(level)",
            arg=[f"#{card.get_attribute('id')}", f"word = {levels[k]}"],
        )
        chart.focus()
        page.keyboard.press("Home")
        values, added = numbers_of(chart)
        low = float(page.evaluate("() => summary.features[0].low"))
        expected = evaluate(model, (0, 1, 2), [low, float(values.split(", ")[1]), k])
        assert added == pytest.approx(expected, abs=6e-4)


@pytest.mark.parametrize("width", [360, 390, 1280])
def test_maps_fit_the_page(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outside = page.locator(".curve:has(svg.map)").evaluate_all(
        "all => all.filter(card => { const box = card.getBoundingClientRect();"
        " return [...card.querySelectorAll('text, path')].some(e => {"
        " const own = e.getBoundingClientRect(); return own.width && (own.left < box.left ||"
        " own.right > box.right || own.bottom > box.bottom); }); }).map(e => e.ariaLabel)"
    )
    assert outside == []


def test_maps_are_printed(page, written):
    page.emulate_media(media="print")
    cards = page.locator(".curve:has(svg.map)")
    assert cards.evaluate_all("all => all.every(e => e.checkVisibility())")
    assert cards.locator("circle.current").locator("visible=true").count() == 0
    assert page.pdf().startswith(b"%PDF")


def test_links_lead_to_maps(page, written):
    link = page.locator("#whatif .interaction .name").first
    name = link.get_attribute("title")
    link.click()
    assert page.locator(".curve:target").get_attribute("aria-label") == name


def test_two_values_are_two_columns_of_a_map(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(1, 3, 400), rng.normal(size=400)]).astype(float)
    y = ((X[:, 0] - 1.5) * X[:, 1] + 0.2 * rng.normal(size=400) > 0).astype(int)
    model = StumpLogisticRegression(interactions=[(0, 1)]).fit(X, y)
    write_report(model, tmp_path / "page.html", X, y)
    opened = browser.new_page()
    opened.goto((tmp_path / "page.html").as_uri())
    chart = opened.locator("svg.map")
    ticks = chart.locator("text").all_text_contents()
    assert {"1", "2"} <= set(ticks) and "1.5" not in ticks
    box = chart.bounding_box()
    for share, value in ((0.2, 1.0), (0.45, 1.0), (0.62, 2.0), (0.9, 2.0)):
        chart.hover(position={"x": share * box["width"], "y": 0.5 * box["height"]})
        text, added = numbers_of(chart)
        first, second = text.replace("\u2212", "-").split(", ")
        assert float(first) == value
        assert added == pytest.approx(evaluate(model, (0, 1), [value, float(second)]), abs=2e-3)
    opened.close()


def test_the_path_of_the_strength_is_drawn(browser, tmp_path):
    frame, score = table(200, 3)
    model = StumpLogisticRegressionCV(
        Cs=[0.3, 1.0],
        interactions=2,
        interaction_strength=[0.1, 1.0],
        interaction_bins=4,
        cv=2,
        scoring="roc_auc",
    ).fit(frame, score > 0)
    write_report(model, tmp_path / "page.html")
    opened = browser.new_page()
    opened.goto((tmp_path / "page.html").as_uri())
    plots = opened.locator("#path svg.chart")
    assert plots.count() == 2
    label = plots.last.get_attribute("aria-label")
    chosen = f"{model.interaction_strength_:g}"
    assert label.startswith("Validation AUC at 3 values of strength")
    assert label.endswith(f"strength = {chosen} was chosen")
    assert "0" in plots.last.locator("text").all_text_contents()
    opened.close()


def test_the_legend_of_a_map_is_its_largest_value(page, written):
    surfaces = first_shapes(written[0]).surfaces
    largest = f"{max(abs(surface.values).max() for surface in surfaces):.3g}"
    scale = page.locator(".curve .shade-scale").first
    assert scale.inner_text().split() == [f"\u2212{largest}", f"+{largest}"]
