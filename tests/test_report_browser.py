"""The report page in a real browser: it runs the model, asks nobody, and obeys the keyboard."""

import math
import os
import shutil

import numpy as np
import pandas as pd
import pytest

from everystump import StumpBoostingClassifier, StumpLogisticRegression
from everystump.datasets import load_dataset
from everystump.report import write_report

playwright = pytest.importorskip(
    "playwright.sync_api", reason="the page is tried in a browser by playwright, not installed here"
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium here to open the page in"
)


def german():
    data = load_dataset("german", as_frame=True)
    X = data.data.astype({"purpose": str})
    X.loc[::7, "amount"] = np.nan
    X.loc[::5, "purpose"] = None
    return X, data.target


def three_classes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a </script> b": rng.normal(size=300), "word": rng.choice(list("xyz"), 300)})
    return X, np.array(["no", "yes", "may <b>be"])[np.digitize(X.iloc[:, 0], [-0.5, 0.5])]


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"] if os.getuid() == 0 else []
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module", params=["two classes", "three classes"])
def written(request, tmp_path_factory):
    X, y = german() if request.param == "two classes" else three_classes()
    kind = StumpLogisticRegression if request.param == "two classes" else StumpBoostingClassifier
    model = kind().fit(X[: len(X) // 2], y[: len(X) // 2])
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_report(model, path, X[len(X) // 2 :], y[len(X) // 2 :])
    return model, X, path


@pytest.fixture
def page(browser, written):
    """The opened page; at the end nothing was asked of anybody and nothing complained."""
    opened = browser.new_page()
    complaints, requests = [], []
    opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else 0)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(written[2].as_uri())
    yield opened
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    opened.close()


def cells(value):
    return None if value is None or value != value else getattr(value, "item", lambda: value)()


def random_rows(X, n, rng):
    """Return rows with values of any columns, holes, and levels that nobody has seen."""
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
            rows[name] = pd.to_numeric(rows[name])
    return rows


def test_the_page_scores_as_python_does(page, written):
    model, X, _ = written
    rows = random_rows(X, 200, np.random.default_rng(1))
    said = page.evaluate(
        "rows => rows.map(row => [].concat(window.everystump.score(row)))",
        [{str(k): cells(v) for k, v in row.items()} for row in rows.to_dict("records")],
    )
    expected = model.decision_function(rows).reshape(len(rows), -1)
    assert np.abs(np.array(said, dtype=float) - expected).max() <= 1e-9
    assert np.ptp(expected) > 0.5


def test_a_slider_moves_the_score(page):
    before = page.inner_text("#whatif-panel")
    slider = page.locator("#whatif-panel input[type=range]").first
    high = float(slider.get_attribute("max"))
    slider.evaluate("(s, v) => { s.value = v; s.dispatchEvent(new Event('input')); }", high)
    page.wait_for_timeout(100)
    assert page.inner_text("#whatif-panel") != before


def test_the_keyboard_moves_a_slider(page):
    slider = page.locator("#whatif-panel input[type=range]").first
    slider.focus()
    before = float(slider.input_value())
    page.keyboard.press(
        "ArrowRight" if before < float(slider.get_attribute("max")) else "ArrowLeft"
    )
    assert not math.isclose(float(slider.input_value()), before)


def test_another_row_to_start_from(page):
    starts = page.locator("#whatif-panel select").first
    values = starts.locator("option").evaluate_all("options => options.map(o => o.value)")
    before = page.inner_text("#whatif-panel")
    changed = []
    for value in values[1:6]:
        starts.select_option(value)
        page.wait_for_timeout(50)
        changed.append(page.inner_text("#whatif-panel") != before)
    assert any(changed) and len(values) > 50


@pytest.mark.parametrize("width", [360, 800, 1200])
def test_no_sideways_scrolling(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_text_of_the_data_is_text(page, written):
    assert page.evaluate("document.scripts.length") == page.evaluate(
        "Array.from(document.scripts).filter(s => !s.src).length"
    )
    assert page.locator("b", has_text="be").count() == 0
