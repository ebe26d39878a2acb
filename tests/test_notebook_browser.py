"""Several models and report pages in one notebook, in a browser."""

import numpy as np
import pytest

pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")
pytest.importorskip(
    "playwright.sync_api", reason="playwright, which runs the browser, is not installed"
)

import test_report_browser as shared
from curve_tables import SCRIPT, curve_table
from test_report_browser import browser

import everystump as es

pytestmark = shared.pytestmark
__all__ = ["browser"]  # fixture


@pytest.fixture(scope="module")
def models():
    X, score = curve_table(500)
    X = X.rename(columns={"heavy": SCRIPT})
    first = es.StumpLogisticRegression(tol=0.05).fit(X, score > 0.5)
    second = es.StumpRegressor(tol=0.05).fit(X, score)
    return X, score, first, second


@pytest.fixture(scope="module")
def path(models, tmp_path_factory):
    """The file of a page like that of a notebook, with two estimators and two reports."""
    X, score, first, second = models
    outputs = [
        first._repr_html_(),
        second._repr_html_(),
        es.show(first, X, score > 0.5)._repr_html_(),
        es.show(second)._repr_html_(),
    ]
    path = tmp_path_factory.mktemp("notebook") / "notebook.html"
    body = "".join(f"<div class=output>{output}</div>" for output in outputs)
    path.write_text(f"<!doctype html><meta charset=utf-8><body>{body}", encoding="utf-8")
    return path


@pytest.fixture
def notebook(browser, path):
    opened = browser.new_page(reduced_motion="reduce")
    errors = []
    opened.on(
        "console", lambda message: errors.append(message.text) if message.type == "error" else 0
    )
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto(path.as_uri())
    yield opened
    assert errors == []
    assert opened.evaluate("window.hacked") is None
    opened.close()


def frames(notebook):
    pages = [frame for frame in notebook.frames if frame is not notebook.main_frame]
    for page in pages:
        page.wait_for_selector("#links a")
    return pages


def test_pages_are_apart_from_each_other_and_from_the_notebook(notebook, models):
    X, _, first, second = models
    one, two = frames(notebook)
    assert one.evaluate("origin") == two.evaluate("origin") == "null"  # a sandbox
    row = dict(X.iloc[0].items())
    row = {k: v.item() if hasattr(v, "item") else v for k, v in row.items()}
    scores = [page.evaluate("row => window.everystump.score(row)", row) for page in (one, two)]
    expected = [first.decision_function(X[:1])[0], second.predict(X[:1])[0]]
    assert scores == pytest.approx(expected, abs=1e-9)
    assert notebook.evaluate("typeof window.everystump") == "undefined"


def test_curves_of_estimators_are_drawn(notebook):
    drawn = notebook.locator(".everystump-curves")
    assert drawn.count() == 2
    for k in range(2):
        assert drawn.nth(k).locator("figure > svg").count() == 8
        box = drawn.nth(k).bounding_box()
        assert box["height"] > 100 and box["width"] > 400
    assert notebook.locator("script", has_text="hacked").count() == 0


def test_links_scroll_inside_the_frame(notebook):
    page, _ = frames(notebook)
    page.locator("#links a", has_text="Curves").click()
    page.wait_for_function(
        "() => document.getElementById('curves').getBoundingClientRect().top < 200"
    )
    assert page.url == "about:srcdoc" and page.evaluate("scrollY") > 300
    link = page.locator("#importance a").nth(2)
    name = link.inner_text()
    link.click()
    assert page.locator(".curve.target").get_attribute("aria-label") == name
    assert page.url == "about:srcdoc"


def test_files_are_saved_from_a_frame(notebook):
    page, _ = frames(notebook)
    holder = page.locator("#curve-cards .save-holder").first
    for kind in ("SVG image", "PNG image", "CSV table"):
        holder.locator("button.save").click()
        with notebook.expect_download() as download:
            holder.get_by_role("menuitem", name=kind).click()
        assert download.value.suggested_filename.endswith(kind[:3].lower())


def test_the_panel_works_in_a_frame(notebook, models):
    _, second = frames(notebook)
    before = second.locator("#whatif .prediction").get_attribute("value")
    field = second.locator("#whatif .field").filter(has=second.locator('.name[title="flag"]'))
    field.locator("label:not(:has(:checked)):not(.missing-box)").click()
    second.wait_for_function(
        "old => document.querySelector('#whatif .prediction').value !== old", arg=before
    )
    assert np.isfinite(float(second.locator("#whatif .prediction").get_attribute("value")))
