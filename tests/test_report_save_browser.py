"""Charts and tables of the report page as files, and names that try to break it, in a browser."""

import csv
import io
import struct
from xml.dom import minidom

import numpy as np
import pytest
from scipy.special import expit

pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")
pytest.importorskip(
    "playwright.sync_api", reason="playwright, which runs the browser, is not installed"
)

import test_report_browser as shared
from curve_tables import HOSTILE_LEVELS, HOSTILE_NAMES, curve_table
from test_report_browser import browser, page

from everystump import StumpLogisticRegression
from everystump._text import displayable
from everystump.report import write_report

pytestmark = shared.pytestmark
__all__ = ["browser", "page"]  # fixtures


def plain():
    X, score = curve_table(600)
    model = StumpLogisticRegression(interactions=[("price", "day")], tol=0.01)
    return model, X, np.where(score > 0.5, "yes", "no")


def hostile():
    """Return a model whose names, levels and classes try to run scripts or to break files."""
    rng = np.random.default_rng(0)
    X, score = curve_table(400)
    X = X[["age", "price", "heavy", "flag", "member", "day", "returns"]]
    X = X.assign(level=rng.choice(HOSTILE_LEVELS, len(X)))
    X.columns = [*HOSTILE_NAMES, "level"]
    pairs = [(HOSTILE_NAMES[0], "level"), (HOSTILE_NAMES[1], HOSTILE_NAMES[2])]
    model = StumpLogisticRegression(interactions=pairs, tol=0.01)
    y = np.where(score + (X["level"] == HOSTILE_LEVELS[0]) > 0.5, HOSTILE_LEVELS[0], "constructor")
    return model, X, y


KINDS = {"plain": plain, "hostile": hostile}
PLAIN = pytest.mark.parametrize("written", ["plain"], indirect=True)
HOSTILE = pytest.mark.parametrize("written", ["hostile"], indirect=True)


@pytest.fixture(scope="module", params=["plain", "hostile"])
def written(request, tmp_path_factory):
    """A model, the rows that its page was given, and the page's file."""
    model, X, y = KINDS[request.param]()
    half = len(X) // 2
    path = tmp_path_factory.mktemp("page") / "page.html"
    about = {"path": {"C": [0.1, 1.0], "mean": [0.7, 0.8], "std": [0.1, 0.1], "chosen": 1.0}}
    write_report(model.fit(X[:half], y[:half]), path, X[half:], y[half:], about=about)
    return model, X[half:], path


def save(page, holder, kind):
    """Save a file by a menu; return its name and content."""
    holder.locator("button.save").click()
    with page.expect_download() as download:
        holder.get_by_role("menuitem", name=kind).click()
    with open(download.value.path(), "rb") as file:
        return download.value.suggested_filename, file.read()


def holder_of(page, name):
    card = page.locator(".curve").filter(has=page.locator(f'h3[title="{name}"]'))
    return card.locator(".save-holder")


def kinds_of(page, holder):
    holder.locator("button.save").click()
    kinds = holder.get_by_role("menuitem").all_inner_texts()
    page.keyboard.press("Escape")
    return kinds


def check_picture(kind, content):
    """Check that a file is a picture that needs nothing of the page."""
    if kind.startswith("PNG"):
        assert content[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", content[16:24])
        assert width >= 1200 and height >= 200
        return
    root = minidom.parseString(content).documentElement
    assert root.tagName == "svg" and root.getElementsByTagName("text")
    for tag in ("script", "style", "foreignObject", "image", "a"):
        assert root.getElementsByTagName(tag) == []
    text = content.decode()
    assert not any(part in text for part in ("var(--", "class=", "onerror=", "currentcolor"))


@HOSTILE
def test_every_chart_and_table_is_saved(page, written):
    """Even those of hostile names; nothing leaves the page, as its fixture checks."""
    holders = page.locator(".save-holder")
    cards = page.locator(".card:has(.chart, .importances, .levels, table)").count()
    assert holders.count() >= cards > 8
    n_charts = 0
    for holder in holders.all():
        if not holder.is_visible():
            continue
        for kind in kinds_of(page, holder):
            name, content = save(page, holder, kind)
            assert name.endswith(f".{kind[:3].lower()}") and len(content) > 30
            assert 5 <= len(name) <= 70 and not set(name) & set("<>/\\\"':|?*\0 ")
            if kind.startswith("CSV"):
                assert len(list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))) > 1
            else:
                n_charts += 1
                check_picture(kind, content)
    assert n_charts >= 2 * page.locator("svg.chart:visible").count()


def rows_of(content):
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))


@PLAIN
def test_curves_are_saved_with_all_digits(page, written):
    model, _, _ = written
    head, *rows = rows_of(save(page, holder_of(page, "age"), "CSV table")[1])
    assert head == ["age", "contribution to the score", "odds ratio", "probability"]
    x, added, ratio, probability = np.array(rows, dtype=float).T
    assert np.array_equal(x, np.unique(model.shapes_[0].knots))
    assert np.abs(added - model.shapes_[0](x)).max() < 1e-12
    assert np.abs(ratio - np.exp(added)).max() < 1e-12
    assert np.abs(probability - expit(model.shapes_.intercept + added)).max() < 1e-12
    names = [str(feature.name) for feature in model.feature_info_]
    d = names.index("product")
    head, *rows = rows_of(save(page, holder_of(page, "product"), "CSV table")[1])
    levels = model.feature_info_[d].levels
    assert [row[0] for row in rows] == [str(level) for level in levels]
    expected = model.shapes_[d](np.arange(len(levels)))
    assert np.abs(np.array([row[2] for row in rows], float) - expected).max() < 1e-12
    assert sum(float(row[1]) for row in rows) == pytest.approx(1.0, abs=1e-5)


@PLAIN
def test_maps_are_saved_with_all_digits(page, written):
    model, _, _ = written
    (surface,) = model.shapes_.surfaces
    head, *rows = rows_of(save(page, holder_of(page, "price × day"), "CSV table")[1])
    assert head == ["price", "day", "contribution to the score"]
    days = [str(level) for level in model.feature_info_[surface.features[1]].levels]
    points = np.array([[float(price), days.index(day)] for price, day, _ in rows])
    found = np.array([row[2] for row in rows], dtype=float)
    assert len(rows) == surface.values.size
    assert np.abs(found - surface(points)).max() < 1e-12


@PLAIN
def test_the_panel_and_the_importances_are_saved(page, written):
    model, X, _ = written
    row = X.loc[[shared.start_of(page)]]
    _, *rows = rows_of(save(page, page.locator("#whatif .save-holder"), "CSV table")[1])
    found = {name: float(added) for name, _, added in rows}
    explained = model.explain_local(row).iloc[0]
    assert found.pop("intercept (baseline)") == pytest.approx(explained["intercept"], abs=1e-12)
    assert found.pop("score") == pytest.approx(explained["score"], abs=1e-9)
    assert found == pytest.approx(explained.drop(["intercept", "score"]).to_dict(), abs=1e-9)
    _, *rows = rows_of(save(page, page.locator("#importance .save-holder"), "CSV table")[1])
    expected = model.explain_global(X).set_index("feature")["importance"]
    assert {name: float(size) for name, size in rows} == pytest.approx(expected.to_dict())


@PLAIN
def test_tables_are_saved_as_they_are(page):
    card = page.locator(".card:has(table.explained)").first
    title = page.locator("#explained h3.has-save").first
    _, content = save(page, title.locator(".save-holder"), "CSV table")
    rows = rows_of(content)
    assert rows[0] == card.locator("thead th").all_inner_texts()
    assert len(rows) == 1 + card.locator("tbody tr").count()  # collapsed ones as well
    score = card.locator("tbody tr").first.locator("td.number").last.inner_text()
    assert score.replace("\u2212", "-") in rows[1]


@HOSTILE
def test_formulas_are_quoted_and_texts_kept(page, written):
    _, content = save(page, holder_of(page, "level"), "CSV table")
    found = {row[0] for row in rows_of(content)[1:]}
    shown = [displayable(text) for text in HOSTILE_LEVELS]
    expected = {f"'{text}" if text[0] in "=+" else text for text in shown}
    assert found == expected
    texts = ["=1+1", "@x", "-cmd", "+1.5", "-2e-3", "-7%", "-", "a,b", 'say "hi"', "two\nlines"]
    csv_text = page.evaluate("texts => toCsv([texts])", texts)
    cells = rows_of(csv_text.encode("utf-8"))[0]
    quoted = ["'=1+1", "'@x", "'-cmd", "+1.5", "-2e-3", "-7%", "'-"]
    assert cells == [*quoted, "a,b", 'say "hi"', "two\nlines"]


@HOSTILE
def test_hostile_names_run_nothing_and_break_nothing(page, written):
    model, X, _ = written
    assert page.evaluate("[window.hacked, document.scripts.length, document.images.length]") == [
        None,
        2,
        0,
    ]
    n_used = page.locator(".curve").count()
    assert n_used >= 8
    titles = page.locator(".curve h3 > span:first-child").all_text_contents()
    for name in HOSTILE_NAMES[:-1]:
        assert displayable(name) in titles
    for unit in ("odds ratio", "probability"):
        page.locator("#curves-controls .segments label", has_text=unit).click()
    page.locator("#curve-axis").select_option("quantile")
    assert page.locator(".curve").count() == n_used
    for width in (360, 1200):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    shared.assert_scores(page, model, X.loc[[shared.start_of(page)]])


@PLAIN
def test_the_menu_works_by_the_keyboard(page):
    holder = page.locator("#curve-cards .save-holder").first
    button = holder.locator("button.save")
    assert button.get_attribute("aria-label").startswith("Save ")
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    focused = "document.activeElement.textContent"
    assert page.evaluate(focused) == "SVG image"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "CSV table"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "SVG image"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.className") == "save"
    assert holder.locator("[role=menu]").count() == 0
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename.endswith(".csv")
    page.keyboard.press("Enter")
    page.locator("#start-row").focus()
    assert page.locator("[role=menu]").count() == 0


@PLAIN
def test_pictures_are_light_in_dark_mode(browser, written):
    opened = browser.new_page(color_scheme="dark")
    opened.goto(written[2].as_uri())
    _, content = save(opened, holder_of(opened, "age"), "SVG image")
    assert minidom.parseString(content).documentElement.firstChild.getAttribute("fill") == (
        "rgb(255, 255, 255)"
    )
    back = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back != "rgb(255, 255, 255)"
    assert opened.evaluate("document.documentElement.className") == ""
    opened.close()


@PLAIN
def test_a_picture_is_what_the_page_shows(page, browser):
    """The texts of a saved picture are those of its card, without its controls."""
    for name in ("age", "band", "price × day"):
        _, content = save(page, holder_of(page, name), "SVG image")
        document = minidom.parseString(content)
        texts = document.getElementsByTagName("text")
        found = [text.firstChild.data for text in texts if text.firstChild]
        assert found[0] == name
        card = page.locator(".curve").filter(has=page.locator(f'h3[title="{name}"]'))
        numbers = card.locator(".levels .number, text.tick:visible").all_text_contents()
        assert set(filter(None, numbers)) <= set(found)
        assert not {"linear axis", "SVG image"} & set(found)
