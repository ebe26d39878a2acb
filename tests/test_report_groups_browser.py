"""Groups and mistakes on the report page, and names that try to break it."""

import numpy as np
import pytest

pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")
pytest.importorskip(
    "playwright.sync_api", reason="playwright, which runs the browser, is not installed"
)

import pandas as pd
import test_report_browser as shared
from regression_tables import make_houses
from scipy.stats import t
from test_report_browser import browser, page

from everystump import StumpLogisticRegression, StumpRegressor
from everystump._evaluation.intervals import wilson
from everystump._text import displayable
from everystump.datasets import load_dataset
from everystump.report import summarize, write_report

pytestmark = shared.pytestmark
__all__ = ["browser", "page"]  # fixtures
HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "\"'><img src=x onerror=window.hacked=1>",
    "__proto__",
    "constructor",
    "\u202ertl \u05d0\u05d1\u05d2",
    "\U0001f600 {{script}} $& `${window.hacked = 1}`",
    "very long " * 300,
    "a\nb\tc",
    "&lt;b&gt; \\",
]


def two_classes():
    data = load_dataset("german", as_frame=True)
    X = data.data.copy()
    X.loc[::6, "amount"] = np.nan
    X.loc[::9, "checking"] = None
    y = np.array(["good", "bad"])[data.target]
    return StumpLogisticRegression().fit(X[:600], y[:600]), X[600:], y[600:]


def three_classes():
    data = load_dataset("new_thyroid_3class", as_frame=True)
    y = np.array(["normal", "hyper", "hypo"])[np.unique(data.target, return_inverse=True)[1]]
    return StumpLogisticRegression(C=0.02).fit(data.data[::2], y[::2]), data.data[1::2], y[1::2]


def numbers():
    X, y = make_houses()
    return StumpRegressor().fit(X[:200], y[:200]), X[200:], y[200:]


KINDS = {"two": two_classes, "three": three_classes, "numbers": numbers}
ABOUT = {"rows": "held-out", "interval": {"level": 0.9, "half_width": 21.4}, "unit": "k€"}


@pytest.fixture(scope="module", params=[*KINDS])
def written(request, tmp_path_factory):
    """A model, the rows of its page, the page's file, the outcomes of the rows, and the summary."""
    model, X, y = KINDS[request.param]()
    path = tmp_path_factory.mktemp("page") / "page.html"
    about = ABOUT if request.param == "numbers" else {"rows": "held-out", "positive": "bad"}
    write_report(model, path, X, y, about=about)
    return model, X, path, np.asarray(y), summarize(model, X, y, about=about)


CLASSES = pytest.mark.parametrize("written", ["two", "three"], indirect=True)
NUMBERS = pytest.mark.parametrize("written", ["numbers"], indirect=True)


def members(summary, X, name):
    """Return which rows are in each group of a column, by the names of the groups."""
    d = list(X.columns).index(name)
    group = next(g for g in summary["held_out"]["groups"] if g["feature"] == d)
    column, found = X[name], {}
    if "ranges" in group:
        for low, high in group["ranges"]:
            found[low, high] = ((column >= low) & (column <= high)).to_numpy()
    else:
        levels = summary["document"]["features"][d]["levels"]
        for k in group["levels"]:
            found[levels[k]] = (column == levels[k]).to_numpy()
        if group["n_others"]:
            found["other levels"] = ~np.any([*found.values(), column.isna()], axis=0)
    if group["has_missing"]:
        found["missing"] = column.isna().to_numpy()
    return found


def lines(page):
    """Return the name of each group and the texts of its cells."""
    rows = page.locator("table.groups tbody tr").all()
    return [(row.locator("th").inner_text(), row.locator("td").all_inner_texts()) for row in rows]


def percent(text):
    return float(text.strip("<>%"))


def choose_column(page, name):
    page.locator("#group-column").select_option(label=name)


def assert_share(text, hits, n):
    if n == 0:
        assert text == "–"
    else:
        assert percent(text) == pytest.approx(100 * hits / n, abs=0.51)


def whisker(page, line, measure):
    """Return the interval that a strip shows, as text."""
    cell = page.locator("table.groups tbody tr").nth(line).locator("td").nth(measure)
    return cell.locator(".strip").get_attribute("title").split(";")[0]


@CLASSES
def test_groups_of_classes(page, written):
    model, X, _, y, summary = written
    predicted, p = model.predict(X), model.predict_proba(X)
    label = "bad" if len(model.classes_) == 2 else model.classes_[0]
    own, k = y == label, list(model.classes_).index(label)
    for name in [*X.columns[:4], *(["amount"] if "amount" in X else [])]:
        choose_column(page, name)
        found = lines(page)
        groups = members(summary, X, name)
        assert found[0][0] == "all rows" and len(found) == len(groups) + 1
        everything = [("all rows", np.ones(len(X), dtype=bool)), *groups.items()]
        for line, ((text, cells), (group, rows)) in enumerate(zip(found, everything, strict=True)):
            assert isinstance(group, tuple) or text == str(group)
            assert int(cells[0]) == rows.sum()
            wrong = np.sum(predicted[rows] != y[rows])
            assert_share(cells[1], wrong, rows.sum())
            hits = predicted == label
            assert_share(cells[2], np.sum(hits & own & rows), np.sum(own & rows))
            assert_share(cells[3], np.sum(hits & ~own & rows), np.sum(~own & rows))
            assert_share(cells[4], np.sum(own & rows), rows.sum())
            if line == 0:
                continue
            low, high = whisker(page, line, 1).removeprefix("95% interval ").split(" to ")
            expected = [100 * end for end in wilson(int(wrong), int(rows.sum()))]
            assert [percent(low), percent(high)] == pytest.approx(expected, abs=0.51)
            strip = page.locator("table.groups tbody tr").nth(line).locator(".strip").last
            mean = strip.get_attribute("title").rsplit(" ", 1)[1]
            assert percent(mean) == pytest.approx(100 * p[rows, k].mean(), abs=0.51)


@pytest.mark.parametrize("written", ["two"], indirect=True)
def test_groups_follow_the_threshold(page, written):
    model, X, _, y, summary = written
    page.locator("#threshold-number").fill("0.2")
    page.wait_for_function(
        "() => document.getElementById('groups-lead').textContent.includes('threshold 0.2 ')"
    )
    choose_column(page, "housing")
    predicted = model.predict_proba(X)[:, 0] >= 0.2
    for (_, cells), rows in zip(
        lines(page)[1:], members(summary, X, "housing").values(), strict=True
    ):
        assert_share(cells[1], np.sum(predicted[rows] != (y[rows] == "bad")), rows.sum())
        assert_share(cells[2], np.sum(predicted & (y == "bad") & rows), np.sum((y == "bad") & rows))


@pytest.mark.parametrize("written", ["three"], indirect=True)
def test_the_class_of_groups(page, written):
    _, X, _, y, summary = written
    page.locator("#group-class").select_option(label="normal")
    name = X.columns[0]
    choose_column(page, name)
    assert "those of “normal”" in page.locator("#groups-lead").inner_text()
    for (_, cells), rows in zip(lines(page)[1:], members(summary, X, name).values(), strict=True):
        assert_share(cells[4], np.sum((y == "normal") & rows), rows.sum())


@NUMBERS
def test_groups_of_numbers(page, written):
    model, X, _, y, summary = written
    residuals = y - model.predict(X)
    for name in X.columns:
        choose_column(page, name)
        groups = members(summary, X, name)
        found = lines(page)
        assert len(found) == len(groups) + 1
        for line, ((_, cells), rows) in enumerate(
            zip(found[1:], groups.values(), strict=True), start=1
        ):
            own = residuals[rows]
            size = float(cells[1])
            assert size == pytest.approx(np.abs(own).mean(), abs=0.06)
            mean = float(cells[2].replace("\u2212", "-"))
            assert mean == pytest.approx(own.mean(), abs=0.06)
            assert_share(cells[3], np.sum(np.abs(own) <= 21.4), len(own))
            shown = whisker(page, line, 2).removeprefix("95% interval ").replace("\u2212", "-")
            error = own.std(ddof=1) / np.sqrt(len(own))
            expected = t.interval(0.95, len(own) - 1, own.mean(), error)
            assert [float(end) for end in shown.split(" to ")] == pytest.approx(expected, abs=0.06)


def test_groups_are_sorted(page, written):
    _, X, *_ = written
    choose_column(page, X.columns[1])
    natural = lines(page)[1:]
    page.locator("#group-order").select_option(label="most rows first")
    counts = [int(cells[0]) for _, cells in lines(page)[1:]]
    assert counts == sorted(counts, reverse=True)
    page.locator("#group-order").select_option(index=1)  # the largest error first
    errors = [percent(cells[1]) for _, cells in lines(page)[1:]]
    assert errors == sorted(errors, reverse=True)
    page.locator("#group-order").select_option(index=0)
    assert lines(page)[1:] == natural


def test_the_reference_is_the_value_of_all_rows(page):
    for k in range(1, page.locator("table.groups thead th").count() - 1):
        column = page.locator(f"table.groups tbody td:nth-of-type({k + 1})")
        places = column.locator(".reference").evaluate_all("all => all.map(r => r.style.left)")
        assert len(set(places)) == 1
        if places:
            assert column.first.locator(".dot").evaluate("d => d.style.left") == places[0]


def test_a_group_that_fails_stands_out(browser, tmp_path):
    rng = np.random.default_rng(0)
    n = 4000
    X = pd.DataFrame(
        {"x": rng.normal(size=n), "z": rng.normal(size=n), "site": rng.choice(list("ABC"), n)}
    )
    y = np.where((X["x"] > 0) ^ ((X["site"] == "B") & (rng.uniform(size=n) < 0.4)), "yes", "no")
    model = StumpLogisticRegression(C=0.1).fit(X[:2000], y[:2000])
    write_report(model, tmp_path / "page.html", X[2000:], y[2000:], about={"rows": "held-out"})
    opened = browser.new_page()
    opened.goto((tmp_path / "page.html").as_uri())
    first = opened.locator("#group-outliers li").first
    assert first.inner_text().startswith("site: B – error ")
    first.locator("button").click()
    assert opened.locator("#group-column option:checked").inner_text() == "site"
    assert opened.evaluate("() => document.activeElement.id") == "group-column"
    opened.close()


def test_identical_rows_are_counted(browser, tmp_path):
    X = pd.DataFrame({"a": [0.0, 1.0] * 30, "b": ["x", "y"] * 30})
    y = np.array(["no", "yes"] * 30)
    model = StumpLogisticRegression().fit(X, y)
    y[[0, 2, 4, 6]] = "yes"
    write_report(model, tmp_path / "page.html", X, y, about={"rows": "held-out"})
    opened = browser.new_page()
    opened.goto((tmp_path / "page.html").as_uri())
    table = opened.locator("#explained table").first
    assert table.locator("tbody tr").count() == 1
    assert table.locator(".identical").inner_text() == "and 3 identical rows"
    assert table.locator(".identical").get_attribute("title") == "identical: 2, 4, 6"
    lead = opened.locator("#explained-signs").inner_text()
    assert abs(model.shapes_.intercept) < 1e-6
    assert "without any feature, the score is the intercept, 0.000, a probability of 50%" in lead
    assert "57% of these rows are “yes”" in lead
    opened.close()


def hostile_table(n_classes):
    rng = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame({name: rng.normal(size=n) for name in HOSTILE})
    X["levels"] = rng.choice(np.array([*HOSTILE, ""], dtype=object), n)
    cuts = np.quantile(X.iloc[:, 0], np.arange(1, n_classes) / n_classes)
    y = np.array(HOSTILE[:n_classes], dtype=object)[np.searchsorted(cuts, X.iloc[:, 0])]
    X.loc[::11, HOSTILE[1]] = np.nan
    return X, y


@pytest.mark.parametrize("n_classes", [2, 4, 9])
def test_hostile_names_execute_nothing(browser, tmp_path, n_classes):
    X, y = hostile_table(n_classes)
    model = StumpLogisticRegression(tol=0.05).fit(X[:200], y[:200])
    path = tmp_path / "page.html"
    write_report(model, path, X[200:], y[200:], about={"rows": "held-out", "unit": HOSTILE[0]})
    opened = browser.new_page(reduced_motion="reduce")
    errors = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    opened.goto(path.as_uri())
    for k in range(n_classes):
        opened.locator("#decision-class").select_option(str(k))
        opened.locator("#threshold-number").fill("0.3")
    for k in range(opened.locator("#group-column option").count()):
        opened.locator("#group-column").select_option(str(k))
    assert opened.evaluate("() => window.hacked") is None
    assert opened.locator("img").count() == 0 and opened.evaluate("document.scripts.length") == 2
    levels = opened.locator("#group-column option").all_text_contents()
    assert sorted(levels) == sorted(displayable(str(name)) for name in X.columns)
    assert opened.evaluate("() => ({}).wrong") is None  # nothing was added to Object.prototype
    for width in (360, 1200):
        opened.set_viewport_size({"width": width, "height": 800})
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
    assert errors == []
    opened.close()


def test_long_names_are_broken_and_controls_of_direction_shown(browser, tmp_path):
    """A right-to-left override would reverse the numbers after the name of a level."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=300), "l": rng.choice(["x", "y\u202ez"], 300)})
    y = np.where(X["a"] + (X["l"] == "x") > 0, "ab" * 35, "no\u2067")
    model = StumpLogisticRegression().fit(X[:150], y[:150])
    write_report(model, tmp_path / "page.html", X[150:], y[150:], about={"rows": "held-out"})
    opened = browser.new_page(viewport={"width": 360, "height": 800})
    opened.goto((tmp_path / "page.html").as_uri())
    assert opened.evaluate("document.documentElement.scrollWidth") <= 360
    text = opened.locator("main").inner_text()
    assert "y<U+202E>z" in text and "no<U+2067>" in text
    assert not set("\u202e\u2067") & set(text)
    axis = opened.locator("#score-histogram svg text").last.or_(opened.locator("#costs svg text"))
    for label in axis.all():
        assert label.evaluate("e => e.getBBox().x") >= 0
    opened.close()


def test_a_hostile_regression(browser, tmp_path):
    X, _ = hostile_table(2)
    y = X.iloc[:, 0].to_numpy()
    model = StumpRegressor().fit(X[:200], y[:200])
    path = tmp_path / "page.html"
    about = {"rows": "held-out", "unit": HOSTILE[0], "target": HOSTILE[1]}
    write_report(model, path, X[200:], y[200:], about=about)
    opened = browser.new_page()
    errors = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto(path.as_uri())
    for k in range(opened.locator("#group-column option").count()):
        opened.locator("#group-column").select_option(str(k))
    assert opened.evaluate("() => window.hacked") is None and errors == []
    opened.set_viewport_size({"width": 360, "height": 800})
    assert opened.evaluate("document.documentElement.scrollWidth") <= 360
    opened.close()


def test_twenty_classes(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1200, 3)), columns=list("abc"))
    y = np.array([f"class {k}" for k in range(20)])[(np.argsort(np.argsort(X["a"])) // 60)]
    model = StumpLogisticRegression(tol=0.05).fit(X[:600], y[:600])
    write_report(model, tmp_path / "page.html", X[600:], y[600:], about={"rows": "held-out"})
    opened = browser.new_page()
    opened.goto((tmp_path / "page.html").as_uri())
    shown = "#whatif .classes li:not(.collapsed)"
    assert opened.locator(shown).count() == 3
    order = opened.locator(shown).evaluate_all(
        "all => all.map(e => [+e.style.order, e.querySelector('label').textContent])"
    )
    start = int(opened.locator("#start-row option:checked").inner_text().split()[1].strip(","))
    p = model.predict_proba(X.loc[[start]])[0]
    assert [name for _, name in sorted(order)] == model.classes_[np.argsort(-p)[:3]].tolist()
    opened.locator("#whatif button.link").first.click()
    assert opened.locator("#whatif .classes li").locator("visible=true").count() == 20
    empty = opened.locator("#confusion td").evaluate_all(
        "all => all.filter(c => c.textContent === '').length"
    )
    assert empty > 200 and "0" not in opened.locator("#confusion td").all_inner_texts()
    assert opened.locator("#by-class tr.collapsed").count() == 8
    opened.locator("#find-class").fill("CLASS 19")
    assert opened.locator("#by-class tbody tr:not(.collapsed)").count() == 1
    opened.close()
