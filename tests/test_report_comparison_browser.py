"""The comparison page in a browser: it shows what Python computed, offline, for any names."""

import numpy as np
import pytest

pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")
pytest.importorskip(
    "playwright.sync_api", reason="playwright, which runs the browser, is not installed"
)

import pandas as pd
import test_report_browser as shared
from test_report_browser import browser
from test_report_save_browser import rows_of, save

from everystump import StumpLogisticRegression, StumpRegressor
from everystump.report import summarize_comparison, write_comparison

pytestmark = shared.pytestmark
__all__ = ["browser"]  # a fixture
HOSTILE = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>'
PAIR = [("a", "c")]


def table(n=300, seed=0, levels=3):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n)).round(3)
    frame = pd.DataFrame({"a": a, "b": b, "c": [f"level {k}" for k in rng.integers(0, levels, n)]})
    frame.loc[::9, "a"] = np.nan
    score = frame["a"].fillna(0.5) + a * b + (frame["c"] == "level 0") + rng.logistic(size=n)
    return frame, score.to_numpy()


def two_classes():
    X, score = table(levels=20)
    y = np.where(score > 0.5, "yes", "no")
    first = StumpLogisticRegression(C=0.1, interactions=PAIR, interaction_strength=0.5)
    second = StumpLogisticRegression(C=1.0, interactions=PAIR, interaction_strength=1.0)
    return (first.fit(X, y), second.fit(X[["c", "a"]], y)), X, y


def three_classes():
    X, score = table(seed=1)
    y = np.digitize(score, [0, 1])
    models = [StumpLogisticRegression(C=C, interactions=PAIR).fit(X, y) for C in (0.1, 1.0)]
    return models, X, y


def numbers():
    X, score = table(seed=2)
    models = [
        StumpRegressor(C=C, interactions=PAIR, interaction_strength=0.5).fit(X, score)
        for C in (0.01, 1.0)
    ]
    return models, X, score


def hostile():
    X, score = table(seed=3)
    X = X.rename(columns={"a": HOSTILE, "c": f"{HOSTILE}2"})
    X[f"{HOSTILE}2"] = X[f"{HOSTILE}2"].map({f"level {k}": f"{HOSTILE}{k}" for k in range(3)})
    y = np.where(score > 0.5, HOSTILE, "no")
    pair = [(HOSTILE, f"{HOSTILE}2")]
    models = [StumpLogisticRegression(C=C, interactions=pair).fit(X, y) for C in (0.1, 1.0)]
    edited = models[1].flatten_curve("b")
    edited.about_ = {"target": HOSTILE, "model": HOSTILE, "data": HOSTILE}
    return (models[0], edited), X, y


KINDS = {"two": two_classes, "three": three_classes, "numbers": numbers, "hostile": hostile}


@pytest.fixture(scope="module", params=KINDS)
def compared(request, tmp_path_factory):
    """The page of two models, and its summary."""
    models, X, y = KINDS[request.param]()
    names = (HOSTILE, "B") if request.param == "hostile" else ("first", "second")
    path = tmp_path_factory.mktemp("compare") / f"{request.param}.html"
    about = {"rows": "held-out"}
    write_comparison(*models, path, X, y, names=names, about=about)
    return path, summarize_comparison(*models, X, y, names=names, about=about)


def open_page(browser, path, width=1100, **options):
    page = browser.new_page(viewport={"width": width, "height": 900}, **options)
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda message: page.problems.append(message.text))
    page.on(
        "request",
        lambda request: (
            page.problems.append(request.url)
            if "://" in request.url and not request.url.startswith("file://")
            else None
        ),
    )
    page.goto(path.as_uri())
    return page


def test_every_section_is_shown_and_nothing_fails(browser, compared):
    path, summary = compared
    page = open_page(browser, path)
    assert page.problems == [] and page.evaluate("window.hacked") is None
    assert page.title() == summary["title"]
    shown = page.locator("main > section:visible").count()
    assert shown == 6 and page.locator("#links a").count() == 6
    cells = page.locator("#metrics tbody tr").all()
    assert len(cells) == len(summary["metrics"])
    for cell, row in zip(cells, summary["metrics"], strict=True):
        text = cell.inner_text()
        for part in (row["name"], *row["values"], row["difference"]):
            assert part in text
    assert page.locator("#curve-cards article:visible").count() == len(summary["terms"]["features"])
    assert page.locator("#surface-cards .map").count() == 2 * len(summary["terms"]["interactions"])
    assert page.locator("#rows-table tbody tr").count() == len(summary["rows"])
    page.close()


def test_charts_and_tables_are_saved(browser, compared):
    path, _ = compared
    page = open_page(browser, path)
    cards = page.locator("main .card:visible:has(.chart, .pair-levels, table)")
    assert page.locator("main .save").count() >= cards.count() >= 4
    page.locator("#curve-order").select_option("name")  # which draws the cards again
    holder = page.locator("#curve-cards article").first.locator(".save-holder")
    name, content = save(page, holder, "CSV")
    rows = rows_of(content)
    assert name.endswith(".csv") and len(rows[0]) == 3 and len(rows) > 2
    assert save(page, holder, "PNG")[1][:4] == b"\x89PNG"
    assert page.evaluate("window.hacked") is None
    page.close()


def test_saved_curves_are_those_of_both_models(browser, tmp_path):
    X, score = table()
    models = [StumpLogisticRegression(C=C).fit(X, score > 0.5) for C in (0.1, 1.0)]
    write_comparison(*models, tmp_path / "page.html", X, score > 0.5)
    page = open_page(browser, tmp_path / "page.html")
    for name in ("a", "c"):
        holder = page.locator(f'#curve-cards article[aria-label="{name}"] .save-holder')
        x, *heights = zip(*rows_of(save(page, holder, "CSV")[1])[1:], strict=True)
        values = pd.Series(x).where(~pd.Series(x).str.contains("missing"))
        rows = pd.DataFrame({column: X[column].iloc[0] for column in X}, index=values.index)
        rows[name] = values.astype(X[name].dtype)
        for model, own in zip(models, heights, strict=True):
            expected = model.explain_local(rows)[name]
            np.testing.assert_allclose(np.array(own, dtype=float), expected, atol=1e-9)
    page.close()


def test_probes_read_both_models(browser, compared):
    page = open_page(browser, compared[0])
    chart = page.locator("#curve-cards svg[role=slider]").first
    chart.focus()
    page.keyboard.press("Home")
    assert chart.get_attribute("aria-valuetext").count(", ") >= 1
    page.keyboard.press("ArrowRight")
    text = chart.get_attribute("aria-valuetext")
    page.keyboard.press("End")
    assert text != chart.get_attribute("aria-valuetext")
    card = page.locator("#surface-cards article").first
    card.locator(".map").first.focus()
    page.keyboard.press("ArrowLeft")
    values = card.locator(".readouts span").all_inner_texts()
    assert len(values) == 3
    page.close()


def test_curves_and_maps_at_the_pointer_equal_those_in_python(browser, tmp_path):
    models, X, y = numbers()
    path = tmp_path / "page.html"
    write_comparison(*models, path, X, y, names=("p", "q"), about={})
    page = open_page(browser, path)
    chart = page.locator("article[aria-label=b] svg.chart")
    chart.focus()
    page.keyboard.press("Home")
    low = float(X["b"].min())
    for name, model in zip("pq", models, strict=True):
        text = chart.get_attribute("aria-valuetext")
        shown = float(text.split(f"{name} ")[1].split(",")[0].replace("−", "-"))
        assert shown == pytest.approx(float(model.shapes_[1](np.array([low]))[0]), abs=0.0051)
    # The cell in the middle of a map: numbers in 48 cells, then missing values; three levels.
    maps = page.locator("article[aria-label='a × c'] .map")
    maps.first.focus()
    low, high = X["a"].min(), X["a"].max()
    point = X.iloc[[0]].assign(a=low + 24.5 * (high - low) / 48, c="level 1")
    for k, model in enumerate(models):
        shown = float(maps.nth(k).get_attribute("aria-valuenow"))
        assert shown == pytest.approx(float(model.explain_local(point)["a × c"].iloc[0]), abs=1e-9)
    page.close()


def test_controls(browser, compared):
    path, summary = compared
    page = open_page(browser, path)

    def names():
        return page.locator("#curve-cards article:visible").evaluate_all(
            "cards => cards.map((card) => card.getAttribute('aria-label'))"
        )

    terms = summary["terms"]["features"]
    by_difference = sorted(terms, key=lambda term: -term["difference"])
    assert names() == [term["names"][0] for term in by_difference]
    page.select_option("#curve-order", "importance")
    size = [max(value or 0.0 for value in term["importance"]) for term in terms]
    assert names() == [terms[k]["names"][0] for k in np.argsort(-np.array(size), kind="stable")]
    page.select_option("#curve-order", "name")
    assert sorted(names()) == sorted(term["names"][0] for term in terms)
    before = page.locator("#curve-cards").inner_html()
    page.check("#own-scale")
    assert page.locator("#curve-cards").inner_html() != before
    if len(summary["labels"]) > 2:
        before = page.locator("#curve-cards").inner_html()
        page.select_option("#curve-class", "2")
        assert page.locator("#curve-cards").inner_html() != before
    more = page.locator(".pair-levels + button")
    if more.count():
        visible = page.locator(".pair-levels li:visible").count()
        more.first.click()
        assert page.locator(".pair-levels li:visible").count() > visible
    assert page.problems == []
    page.close()


@pytest.mark.parametrize("width", [360, 1100])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_its_window(browser, compared, width, scheme):
    page = open_page(browser, compared[0], width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.problems == [] and page.evaluate("window.hacked") is None
    page.close()


def test_a_page_of_models_without_curves(browser, tmp_path):
    from sklearn.linear_model import LogisticRegression

    X, score = table()
    X, y = X[["b"]], score > 0.5
    models = [LogisticRegression(C=C).fit(X, y) for C in (0.1, 1.0)]
    path = tmp_path / "page.html"
    write_comparison(*models, path, X, y, about={"warnings": ["They have seen these rows."]})
    page = open_page(browser, path)
    assert page.problems == [] and page.locator("#curves").is_hidden()
    assert page.locator("#metrics .verdict").inner_text() == "Warning: They have seen these rows."
    assert page.locator("#metrics th", has_text="p-value").count() == 0
    page.close()
