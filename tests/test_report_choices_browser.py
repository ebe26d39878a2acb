"""Switches, sliders and searches for the values of features on the report page, in a browser."""

import numpy as np
import pytest

pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")
pytest.importorskip(
    "playwright.sync_api", reason="playwright, which runs the browser, is not installed"
)

from curve_tables import curve_table
from test_report_browser import assert_scores, browser, page, start_of, wait_for_new_score
from test_report_curves_browser import (
    ONLY_TWO,
    card_of,
    feature_index,
    field_of,
    pytestmark,
    shown_number,
    written,
)

from everystump import StumpLogisticRegression, StumpLogisticRegressionCV
from everystump.datasets import make_ringnorm
from everystump.report import write_report

__all__ = ["browser", "page", "pytestmark", "written"]  # fixtures, and the reason to skip


@ONLY_TWO
def test_two_values_are_a_switch(page, written):
    model, X, _ = written
    row = X.loc[[start_of(page)]].copy()
    for name in ("flag", "member"):
        field = field_of(page, name)
        assert field.locator("select, input[type=range]").count() == 0
        radios = field.locator("input[type=radio]")
        assert radios.count() == 2
        other = field.locator("label:not(:has(:checked)):not(.missing-box)")
        text = other.inner_text()
        wait_for_new_score(page, other.click)
        row[name] = int(text) if name == "flag" else text
        assert_scores(page, model, row)
        line = card_of(page, name).locator("li.current .name")
        assert line.inner_text() == text
    radios.first.focus()
    chosen = field.locator("input:checked").get_attribute("id")
    key = "ArrowRight" if chosen.endswith("-0") else "ArrowLeft"
    field.locator("input:checked").focus()
    wait_for_new_score(page, lambda: page.keyboard.press(key))
    row["member"] = field.locator("label:has(:checked)").first.inner_text()
    assert_scores(page, model, row)
    box = field.locator(".missing-box input")
    wait_for_new_score(page, box.check)
    assert field.locator("input[type=radio]:checked").count() == 0
    row["member"] = None
    assert_scores(page, model, row)


@ONLY_TWO
def test_a_slider_follows_the_axis(page, written):
    slider = field_of(page, "price").locator("input[type=range]")
    number = field_of(page, "price").locator("input[type=number]")
    slider.focus()
    page.keyboard.press("Home")
    low = float(number.input_value())
    page.keyboard.press("End")
    high = float(number.input_value())
    ends = page.evaluate("summary.features.find(({ name }) => name === 'price')")
    assert (low, high) == pytest.approx((ends["low"], ends["high"]), rel=0.01)
    slider.fill("0.5")
    assert float(number.input_value()) == pytest.approx(np.sqrt(low * high), rel=0.02)
    assert float(slider.get_attribute("aria-valuetext")) == float(number.input_value())


@ONLY_TWO
def test_a_level_is_found_by_typing(page, written):
    model, X, _ = written
    row = X.loc[[start_of(page)]].copy()
    box = field_of(page, "product").locator("input[role=combobox]")
    options = field_of(page, "product").locator("[role=option]")
    box.focus()
    page.keyboard.type("PRODUCT 12")
    assert box.get_attribute("aria-expanded") == "true"
    names = options.locator(".name").all_inner_texts()
    assert names[0] == "product 12" and len(names) <= 11
    assert all("product 12" in name for name in names)
    page.keyboard.press("ArrowDown")
    active = box.get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    page.keyboard.press("ArrowUp")
    wait_for_new_score(page, lambda: page.keyboard.press("Enter"))
    row["product"] = "product 12"
    assert box.input_value() == "product 12" and options.locator("visible=true").count() == 0
    assert_scores(page, model, row)
    assert card_of(page, "product").locator("li.current .name").inner_text() == "product 12"
    box.fill("product 1")
    page.keyboard.press("Escape")
    assert box.input_value() == "product 12"
    box.fill("never seen")
    assert options.last.inner_text().split("\n")[-1] == "another level"
    wait_for_new_score(page, options.last.click)
    row["product"] = "never seen"
    assert_scores(page, model, row)
    box.fill("product 3")
    wait_for_new_score(page, options.first.click)
    row["product"] = "product 3"
    assert_scores(page, model, row)
    box.fill("product 99")
    page.locator("#start-row").focus()
    assert box.input_value() == "product 3"  # nothing was chosen


@ONLY_TWO
def test_levels_of_a_curve_are_found_by_typing(page, written):
    model, _, _ = written
    d = feature_index(model, "product")
    levels = [str(level) for level in model.feature_info_[d].levels]
    card = card_of(page, "product")
    assert card.locator("li").count() <= 10
    card.locator("input[type=search]").fill("14")
    matches = [level for level in levels if "14" in level]
    lines = card.locator("li")
    assert lines.count() == min(10, len(matches))
    assert (
        card.locator("[role=status]")
        .inner_text()
        .startswith(f"10 of {len(matches)}" if len(matches) > 10 else f"{len(matches)} levels")
    )
    for line in lines.all():
        code = levels.index(line.locator(".name").inner_text())
        shown = shown_number(line.locator(".number").inner_text())
        assert shown == pytest.approx(float(model.shapes_[d](np.array([code]))[0]), abs=6e-4)
    card.locator("input[type=search]").fill("no such level")
    assert lines.count() == 0
    card.locator("input[type=search]").fill("")
    assert "mean of 143 others" in card.inner_text()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A model of a category with 42,000 levels, and its page."""
    rng = np.random.default_rng(0)
    n, n_levels = 60_000, 42_000
    code = np.concatenate([np.arange(n_levels), rng.integers(0, 500, n - n_levels)])
    frame, _ = curve_table(n)
    X = frame[["price", "flag"]].assign(item=[f"item {k:05d}" for k in code])
    score = np.log(X["price"] / 20) + X["flag"] + np.where(code % 2, 1, -1)
    model = StumpLogisticRegression(interactions=[("item", "price")], tol=0.1)
    path = tmp_path_factory.mktemp("page") / "many.html"
    model.fit(X, score + rng.logistic(size=n) > 0)
    write_report(model, path, X[:1000], (score + rng.logistic(size=n) > 0)[:1000])
    return model, X, path


def test_a_category_with_42000_levels(browser, many):
    model, X, path = many
    assert path.stat().st_size < 3_000_000
    opened = browser.new_page()
    opened.goto(path.as_uri())
    assert opened.evaluate("document.querySelectorAll('*').length") < 3_000
    box = opened.locator("#whatif input[role=combobox]")
    box.fill("item 41")
    options = opened.locator("#whatif [role=option]")
    assert options.count() == 11
    box.fill("item 41999")
    page_row = X.loc[[0]].copy()
    wait_for_new_score(opened, lambda: opened.keyboard.press("Enter"))
    page_row["item"] = "item 41999"
    assert_scores(opened, model, page_row)
    opened.emulate_media(media="print")
    assert opened.evaluate("document.querySelectorAll('.levels li').length") < 40
    opened.close()


@pytest.mark.parametrize("measure", ["auto", "mixed"])
def test_the_chosen_measure_is_stated(browser, tmp_path, measure):
    X, y = make_ringnorm(300, 4, random_state=0)
    model = StumpLogisticRegressionCV([0.1, 1.0], measure=measure, interactions=0).fit(X, y)
    write_report(model, tmp_path / "page.html")
    opened = browser.new_page()
    opened.goto((tmp_path / "page.html").as_uri())
    sentence = "The measure of the model is “uniform”, which scored better than “mixed”."
    text = opened.locator("#path").text_content()
    assert "C is the inverse regularization strength" in text
    assert (sentence in text) == (measure == "auto")
    opened.close()
