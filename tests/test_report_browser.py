"""The report page in a browser: it runs the model offline and works with the keyboard."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest

from everystump import StumpBoostingClassifier, StumpLogisticRegression
from everystump._text import format_short_percent
from everystump.datasets import load_dataset
from everystump.estimators._base import as_class_list
from everystump.report import write_report

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright, which runs the browser, is not installed"
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
SLIDERS = "#whatif .field:not(.collapsed) input[type=range]"


def german():
    data = load_dataset("german", as_frame=True)
    X = data.data.astype({"purpose": str})
    X.loc[::7, "amount"] = np.nan
    X.loc[::5, "purpose"] = None
    return StumpLogisticRegression(), X, data.target


def three_classes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a </script> b": rng.normal(size=300), "word": rng.choice(list("xyz"), 300)})
    y = np.array(["no", "yes", "may <b>be"])[np.digitize(X.iloc[:, 0], [-0.5, 0.5])]
    return StumpBoostingClassifier(), X, y


def ten_classes():
    """Return many features as well, so that the page collapses some of them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(600, 40)), columns=[f"x{d}" for d in range(40)])
    y = np.argsort(np.argsort(X["x3"] + 0.3 * rng.normal(size=600))) // 60
    X.loc[::9, "x3"] = np.nan
    return StumpLogisticRegression(tol=0.05), X, y


KINDS = {"two": german, "three": three_classes, "ten": ten_classes}


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"] if os.getuid() == 0 else []
        )
        yield browser
        browser.close()


def slow(*kinds):
    return [pytest.param(kind, marks=pytest.mark.slow) for kind in kinds]


TWO_OR_THREE = pytest.mark.parametrize("written", ["two", "three", *slow("ten")], indirect=True)


@pytest.fixture(scope="module", params=["two", *slow("three", "ten")])
def written(request, tmp_path_factory):
    """A model, the rows that its page was given, and the page's file."""
    model, X, y = KINDS[request.param]()
    half = len(X) // 2
    path = tmp_path_factory.mktemp("page") / "page.html"
    about = {
        "schema": ["“age” is numeric."],
        "bounds": [{"name": "loo_bound", "value": 1.7, "vacuous": True, "assumptions": ["iid"]}],
    }
    write_report(model.fit(X[:half], y[:half]), path, X[half:], y[half:], about=about)
    return model, X[half:], path


@pytest.fixture
def page(browser, written):
    """Yield the opened page; then check that there were no network requests and no errors."""
    opened = browser.new_page(reduced_motion="reduce")
    errors, requests = [], []
    opened.on(
        "console", lambda message: errors.append(message.text) if message.type == "error" else 0
    )
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(written[2].as_uri())
    yield opened
    assert errors == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    opened.close()


def cells(value):
    return None if value is None or value != value else getattr(value, "item", lambda: value)()


def random_rows(X, n, rng):
    """Return rows with resampled values, missing values and unknown levels."""
    rows = pd.DataFrame(
        {
            name: X[name].sample(n, replace=True, random_state=int(rng.integers(1e6))).to_numpy()
            for name in X
        }
    )
    rows = rows.astype(object).where(rng.uniform(size=rows.shape) > 0.1, None)
    for name in rows:
        text = rows[name].map(lambda value: isinstance(value, str))
        if text.any():
            rows.loc[rng.uniform(size=n) < 0.05, name] = "never seen"
        else:
            rows[name] = pd.to_numeric(rows[name]).astype(float)
    return rows


def put_on_cuts(model, rows, rng):
    """Put values on the knots of the curves, next to them, and very far away."""
    for d, name in enumerate(rows):
        knots = as_class_list(model.shapes_)[0][d].knots
        if rows[name].dtype == object or len(knots) == 0:
            continue
        some = rng.choice(knots, 60)
        next_to = np.nextafter(some[:20], rng.choice([-np.inf, np.inf], 20))
        far = [1e300, -1e300, 1e-300, -1e-300, 5e-324, 0.0, -0.0]
        rows.loc[rng.permutation(len(rows))[:87], name] = [*some, *next_to, *far]
    return rows


@TWO_OR_THREE
def test_the_page_scores_as_python_does(page, written):
    model, X, _ = written
    rng = np.random.default_rng(1)
    rows = put_on_cuts(model, random_rows(X, 300, rng), rng)
    scores = page.evaluate(
        "rows => rows.map(row => [].concat(window.everystump.score(row)))",
        [{str(k): cells(v) for k, v in row.items()} for row in rows.to_dict("records")],
    )
    expected = model.decision_function(rows).reshape(len(rows), -1)
    assert np.abs(np.array(scores, dtype=float) - expected).max() <= 1e-9
    assert np.ptp(expected) > 0.5


def shown_scores(page):
    """Return the scores of the panel, in full digits."""
    return np.array(
        page.locator("#whatif .score").evaluate_all("all => all.map(s => Number(s.value))")
    )


def start_of(page):
    """Return the index of the row that the panel starts from."""
    return int(page.locator("#start-row option:checked").inner_text().split()[1].strip(","))


def assert_scores(page, model, row):
    """Check that the panel shows the scores of Python."""
    assert np.abs(shown_scores(page) - model.decision_function(row).ravel()).max() <= 1e-9


def wait_for_new_score(page, act):
    """Do something, and wait until the panel shows the new score."""
    old = page.locator("#whatif .score").first.get_attribute("value")
    act()
    page.wait_for_function("old => document.querySelector('#whatif .score').value !== old", arg=old)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


@TWO_OR_THREE
def test_arrow_keys_move_a_slider_and_the_score(page, written):
    model, X, _ = written
    row = X.loc[[start_of(page)]].copy()
    assert_scores(page, model, row)
    slider = page.locator(SLIDERS).first
    slider.focus()
    key = "ArrowLeft" if slider.input_value() == slider.get_attribute("max") else "ArrowRight"
    wait_for_new_score(page, lambda: [page.keyboard.press(key) for _ in range(40)])
    field = page.locator(".field:has(:focus)")
    name = field.locator(".name").get_attribute("title")
    row[name] = float(field.locator("input[type=number]").input_value())
    assert not row.equals(X.loc[[start_of(page)]])
    assert_scores(page, model, row)


def test_a_value_is_set_missing_by_the_keyboard(page, written):
    model, X, _ = written
    row = X.loc[[start_of(page)]].copy()
    page.locator("#whatif .field:not(.is-missing) input[type=checkbox]").first.focus()
    wait_for_new_score(page, lambda: page.keyboard.press("Space"))
    row[page.locator(".field:has(:focus) .name").get_attribute("title")] = None
    assert_scores(page, model, row)


def test_a_row_is_chosen_by_the_keyboard(page, written):
    model, X, _ = written
    page.locator("#start-row").focus()
    before = start_of(page)
    page.keyboard.press("ArrowDown")
    assert start_of(page) != before
    assert_scores(page, model, X.loc[[start_of(page)]])
    assert page.locator("#start-row option").count() > 50


def test_an_explained_row_opens_in_the_panel(page, written):
    model, X, _ = written
    button = page.locator("table.explained tr:not(.collapsed) button").last
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.id === 'start-row'")
    assert start_of(page) == int(button.inner_text().split()[1])
    assert_scores(page, model, X.loc[[start_of(page)]])


TABBABLE = """() => {
  const radios = (e) => e.type !== "radio" || e.checked;
  window.reached = [...document.querySelectorAll("a, button, select, input, summary, [tabindex]")]
    .filter((e) => e.checkVisibility() && !e.hidden && e.tabIndex >= 0 && radios(e));
  return window.reached.length;
}"""
FOCUSED = """() => [window.reached.indexOf(document.activeElement),
  getComputedStyle(document.activeElement).outlineStyle]"""


def test_tab_reaches_all_controls_in_order(page):
    page.set_viewport_size({"width": 1280, "height": 900})
    n = page.evaluate(TABBABLE)
    focused = []
    for _ in range(n):
        page.keyboard.press("Tab")
        focused.append(page.evaluate(FOCUSED))
    assert [index for index, _ in focused] == list(range(n))
    assert {outline for _, outline in focused} == {"solid"}
    assert page.evaluate("() => window.reached.some(e => e.closest('#whatif .field'))")


def test_a_focused_field_is_not_behind_the_outcome(page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.evaluate(TABBABLE)
    last = page.locator("#whatif .field:not(.collapsed, .intercept) :is(input, select)").last
    last.focus()
    for _ in range(12):
        page.keyboard.press("Shift+Tab")
        focused, outcome = page.evaluate(
            "() => [document.activeElement, document.querySelector('.outcome')]"
            ".map(e => { const b = e.getBoundingClientRect(); return [b.top, b.bottom]; })"
        )
        if page.evaluate("() => document.activeElement.closest('.field') !== null"):
            assert focused[0] >= outcome[1] - 1
            assert 0 <= outcome[0] <= outcome[1] <= 800


def test_inputs_have_names_and_headings_are_nested(page):
    unnamed = page.locator("input, select").evaluate_all(
        "all => all.filter(e => !e.labels.length && !e.ariaLabel).map(e => e.outerHTML)"
    )
    assert unnamed == []
    levels = page.locator("h1, h2, h3, h4").evaluate_all("all => all.map(h => +h.tagName[1])")
    assert levels[0] == 1 and max(np.diff(levels)) == 1
    charts = page.locator("svg.chart").evaluate_all("all => all.map(e => e.ariaLabel)")
    assert charts and all(charts)
    ids = page.locator("[id]").evaluate_all("all => all.map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_the_outcome_is_announced_once(page):
    page.evaluate(
        "() => { window.announced = []; const announcer = document.querySelector('.announcer');"
        "new MutationObserver(() => window.announced.push(announcer.textContent))"
        ".observe(announcer, { childList: true }); }"
    )
    slider = page.locator(SLIDERS).first
    slider.focus()
    for key in ("Home", "End") * 5:
        page.keyboard.press(key)
    page.wait_for_function("() => window.announced.length > 0")
    predicted = page.locator(".predicted").inner_text()
    assert [text.startswith(predicted) for text in page.evaluate("() => window.announced")] == [
        True
    ]
    live = page.locator("#whatif :is([aria-live], [role=status], output)")
    assert (
        live.locator("visible=true").count() <= 2
    )  # the outcome and the number of matching features


def probed(page, curve):
    """Return the value and the contribution at the probe of a curve."""
    value, added = curve.get_attribute("aria-valuetext").split(": ")
    return value, float(added.replace("\u2212", "-"))


def test_a_curve_is_probed_by_keyboard_and_pointer(page, written):
    model, _, _ = written
    card = page.locator(".curve:has(svg.chart)").first
    curve, readout = card.locator("svg.chart"), card.locator(".readout")
    shape = as_class_list(model.shapes_)[0][int(card.get_attribute("id").split("-")[1])]
    curve.focus()
    for key, name in (("Home", "aria-valuemin"), ("End", "aria-valuemax")):
        page.keyboard.press(key)
        _, added = probed(page, curve)
        end = float(curve.get_attribute(name))
        assert added == pytest.approx(float(shape(np.array([end]))[0]), abs=6e-4)
    page.keyboard.press("ArrowLeft")
    left = float(curve.get_attribute("aria-valuenow"))
    assert left < end
    assert probed(page, curve)[1] == pytest.approx(float(shape(np.array([left]))[0]), abs=6e-4)
    assert readout.inner_text() == curve.get_attribute("aria-valuetext")
    page.keyboard.press("Tab")
    assert readout.inner_text() == ""
    curve.hover()
    assert readout.inner_text() == curve.get_attribute("aria-valuetext")
    middle = float(curve.get_attribute("aria-valuenow"))
    assert probed(page, curve)[1] == pytest.approx(float(shape(np.array([middle]))[0]), abs=6e-4)


def test_the_probe_reaches_the_missing_value(page, written):
    model, X, _ = written
    cards = page.locator(".curve:has(path.missing)").all()
    assert len(cards) == X.select_dtypes("number").isna().any().sum()
    for card in cards:
        shape = as_class_list(model.shapes_)[0][int(card.get_attribute("id").split("-")[1])]
        card.locator("svg.chart").evaluate("curve => curve.focus()")
        page.keyboard.press("End")
        page.keyboard.press("ArrowRight")
        value, added = probed(page, card.locator("svg.chart"))
        assert value == "missing" and added == pytest.approx(shape.missing, abs=6e-4)


def test_features_are_found(page, written):
    _, X, _ = written
    if X.shape[1] <= 12:
        assert page.locator("#find-field").is_hidden()
        return
    assert page.locator("#whatif .field.collapsed").count() == X.shape[1] - 12
    query = X.columns[-1]
    page.locator("#find-field").fill(query.upper())
    found = page.locator("#whatif .field:not(.collapsed, .intercept) .name").all_inner_texts()
    assert found == [name for name in found if query in name] and query in found
    page.locator("#find-field").fill("")
    page.locator("#whatif button.more").click()
    assert page.locator("#whatif .field.collapsed").count() == 0


def test_features_are_sorted(page):
    fields = "#whatif .field:not(.intercept)"
    page.locator("#field-order").evaluate(
        "s => { s.value = 'largest contribution first'; s.dispatchEvent(new Event('change')); }"
    )
    contributions = page.locator(f"{fields} > .number").evaluate_all(
        "all => all.map(e => Math.abs(Number(e.textContent.replace('\\u2212', '-'))))"
    )
    assert contributions == sorted(contributions, reverse=True)
    page.locator("#field-order").evaluate(
        "s => { s.value = 'by name'; s.dispatchEvent(new Event('change')); }"
    )
    names = page.locator(f"{fields} .name").evaluate_all("all => all.map(e => e.title)")
    assert names == sorted(names, key=str.lower)


def test_a_link_leads_to_a_collapsed_curve(page):
    collapsed = page.locator(".curve.collapsed")
    n_curves = page.locator(".curve").count()
    assert collapsed.count() == (n_curves - 24 if n_curves > 36 else 0)
    page.locator("#importance details summary").evaluate_all("all => all.map(s => s.click())")
    link = page.locator("#importance a").last
    link.click()
    assert page.locator(".curve:target").get_attribute("aria-label") == link.inner_text()
    assert page.locator(".curve:target").is_visible()


BACK_AND_TEXT = """() => { const s = getComputedStyle(document.body);
  return [s.backgroundColor, s.color].map((c) => c.match(/[\\d.]+/g).slice(0, 3).map(Number)); }"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colors(browser, written, scheme):
    opened = browser.new_page(color_scheme=scheme)
    opened.goto(written[2].as_uri())
    back, text = opened.evaluate(BACK_AND_TEXT)
    light, dark = (back, text) if scheme == "light" else (text, back)
    assert min(light) > 220 and max(dark) < 60
    opened.emulate_media(media="print")
    back, text = opened.evaluate(BACK_AND_TEXT)
    assert min(back) == 255 and max(text) == 0
    opened.close()


def hidden_parts(page):
    """Return how many collapsed parts, curves and levels are not visible."""
    return page.locator(
        "details > :not(summary), .curve, .levels li:not(:has(button)), tr"
    ).evaluate_all("all => all.filter(e => !e.checkVisibility()).length")


def test_print_shows_collapsed_parts(page):
    assert hidden_parts(page) > 0
    page.emulate_media(media="print")
    assert hidden_parts(page) == 0
    assert (
        page.locator(":is(nav, #whatif, button.more, .controls)").locator("visible=true").count()
        == 0
    )
    page.emulate_media(media="screen")
    page.evaluate(
        "() => addEventListener('beforeprint', () => {"
        "window.closed = document.querySelectorAll('details:not([open])').length; })"
    )
    n_closed = page.locator("details:not([open])").count()
    assert page.pdf().startswith(b"%PDF")
    assert page.evaluate("() => window.closed") == 0
    assert page.locator("details:not([open])").count() == n_closed > 0


@pytest.mark.parametrize("width", [360, 800, 1200])
def test_no_horizontal_scrolling(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_outcome_stays_visible_on_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.locator("#whatif .field:not(.collapsed)").last.scroll_into_view_if_needed()
    box = page.locator("#whatif .predicted").bounding_box()
    assert box["y"] >= 0 and box["y"] + box["height"] <= 800


def test_text_of_the_data_is_escaped(page):
    assert page.evaluate("document.scripts.length") == 2
    assert page.locator("b", has_text="be").count() == 0


def test_percentages_are_formatted_as_in_python(page):
    shares = [0.0, 0.0004, 0.00099, 0.001, 0.031, 0.0994, 0.0996, 0.387, 0.9996, 1.0]
    found = page.evaluate("shares => shares.map(formatPercent)", shares)
    assert [text.replace("\u00a0", " ") for text in found] == [
        format_short_percent(s) for s in shares
    ]


def test_an_incomplete_number_changes_nothing(page):
    number = page.locator("#whatif .field:not(.is-missing) input[type=number]").first
    before = page.locator("#whatif .outcome data").all_inner_texts()
    number.click()
    page.keyboard.press("Control+A")
    page.keyboard.type("-")
    assert not page.locator("#whatif .field:has(:focus) input[type=checkbox]").is_checked()
    assert page.locator("#whatif .outcome data").all_inner_texts() == before


def color_of(locator):
    return locator.evaluate("e => getComputedStyle(e).color")


@TWO_OR_THREE
def test_evidence_has_one_sign_and_one_color_in_every_panel(page, written):
    """The evidence of an explained row is the contribution in the what-if panel."""
    model = written[0]
    line = page.locator("#explained tbody tr:not(.collapsed)").first
    line.locator("button").click()
    if len(model.classes_) > 2:
        return
    chips = line.locator(".chip")
    for k in range(chips.count()):
        name = chips.nth(k).get_attribute("title")
        number = chips.nth(k).locator(".number")
        field = page.locator("#whatif .field:not(.intercept)").filter(
            has=page.locator(f'label[title="{name}"]')
        )
        assert field.locator("> .number").text_content() == number.inner_text()
        bar = field.locator(".bar").evaluate("e => getComputedStyle(e).backgroundColor")
        assert bar == color_of(number)
        assert ("positive" in field.locator(".bar").get_attribute("class")) == (
            number.inner_text()[0] == "+"
        )


@TWO_OR_THREE
def test_metrics_are_beside_those_of_a_constant_prediction(page, written):
    model, X, _ = written
    tiles = page.locator("#tiles .tile")
    assert tiles.count() == 4
    assert tiles.locator("span", has_text="baseline").count() == 4
    page.locator("#metrics summary").click()
    table = page.locator("#metrics table")
    titles = table.locator("thead th").all_inner_texts()
    assert titles[0] == "model" and titles[-1].startswith("baseline (always “")
    names = table.locator("tbody th").all_inner_texts()
    assert names[:2] == ["accuracy", "balanced accuracy"]
    if len(model.classes_) == 2:
        assert names[-1] == f"recall of “{model.classes_[1]}”"
    assert f"Evaluated on {len(X)} rows" in page.locator("#metrics-title").inner_text()
