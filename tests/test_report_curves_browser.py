"""Units, axes, two values and many levels of curves on the report page, in a browser."""

import numpy as np
import pytest
from scipy.special import expit, softmax

pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")
pytest.importorskip(
    "playwright.sync_api", reason="playwright, which runs the browser, is not installed"
)

import test_report_browser as shared
from curve_tables import BANDS, DAYS, curve_table
from test_report_browser import browser, page

from everystump import StumpBoostingClassifier, StumpLogisticRegression, StumpRegressor, StumpSVC
from everystump.report import write_report

pytestmark = shared.pytestmark
__all__ = ["browser", "page"]  # fixtures

PAIRS = [("price", "day"), ("product", "price"), ("day", "band"), ("heavy", "age")]


def two(X, score):
    model = StumpLogisticRegression(interactions=PAIRS, interaction_strength=0.3, tol=0.01)
    return model.fit(X, np.where(score > 0.5, "yes", "no"))


def three(X, score):
    y = np.array(["low", "middle", "high"])[np.digitize(score, [0, 1.5])]
    return StumpLogisticRegression(tol=0.01, multi_class="multinomial").fit(X, y)


def svm(X, score):
    return StumpSVC(tol=0.05).fit(X, score > 0.5)


def boosting(X, score):
    return StumpBoostingClassifier(n_estimators=60).fit(X, score > 0.5)


def number(X, score):
    return StumpRegressor(tol=0.01).fit(X, 100 * score)


def count(X, score):
    return StumpRegressor(loss="poisson", tol=0.05).fit(X, np.exp(np.clip(score, None, 3)).round())


KINDS = {"two": two, "three": three, "svm": svm, "boosting": boosting, "number": number}
KINDS |= {"count": count}
ONLY_TWO = pytest.mark.parametrize("written", ["two"], indirect=True)
EACH = pytest.mark.parametrize("written", KINDS, indirect=True)


@pytest.fixture(scope="module", params=["two"])
def written(request, tmp_path_factory):
    """A model, the rows that its page was given, and the page's file."""
    X, score = curve_table()
    half = 700
    model = KINDS[request.param](X[:half], score[:half])
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_report(model, path, X[half:], about={"unit": "points"})
    return model, X[half:], path


def card_of(page, name):
    return page.locator(f'.curve[aria-label="{name}"]')


def feature_index(model, name):
    return [str(feature.name) for feature in model.feature_info_].index(name)


def field_of(page, name):
    return page.locator("#whatif .field").filter(has=page.locator(f'.name[title="{name}"]:not(a)'))


def choose_unit(page, name):
    page.locator("#curves-controls .segments label", has_text=name).click()


def shown_number(text):
    """Return the number of a text such as "12: 34%", as a fraction if it is a percentage."""
    text = text.rsplit(": ", 1)[-1].replace("\u2212", "-").replace(",", "").split(" ")[0]
    return float(text.rstrip("%")) / 100 if text.endswith("%") else float(text)


def probed(page, name, keys=("Home",)):
    """Return a value of a curve, and its height as the probe shows it."""
    chart = card_of(page, name).locator("svg.chart")
    chart.focus()
    for key in keys:
        page.keyboard.press(key)
    text = chart.get_attribute("aria-valuetext")
    return float(chart.get_attribute("aria-valuenow")), shown_number(text)


HEIGHTS = {
    ("two", "log-odds"): lambda b, f: f[0],
    ("two", "odds ratio"): lambda b, f: np.exp(f[0]),
    ("two", "probability"): lambda b, f: expit(b[0] + f[0]),
    ("three", "score"): lambda b, f: f[0],
    ("three", "probability"): lambda b, f: softmax(b + f)[0],
    ("svm", "score"): lambda b, f: f[0],
    ("boosting", "score"): lambda b, f: f[0],
    ("boosting", "odds ratio"): lambda b, f: np.exp(2 * f[0]),
    ("boosting", "probability"): lambda b, f: expit(2 * (b[0] + f[0])),
    ("number", "contribution"): lambda b, f: f[0],
    ("number", "prediction"): lambda b, f: b[0] + f[0],
    ("count", "logarithm"): lambda b, f: f[0],
    ("count", "factor"): lambda b, f: np.exp(f[0]),
    ("count", "prediction"): lambda b, f: np.exp(b[0] + f[0]),
}
AXES = {
    "boosting": {"score": "score (log-odds ÷ 2)"},
    "count": {"logarithm": "added to the logarithm"},
}
AXES |= {"number": {unit: f"{unit} (points)" for unit in ("contribution", "prediction")}}
AXES["count"]["prediction"] = "prediction (points)"


@EACH
def test_units_of_curves_are_those_of_python(page, written, request):
    """The heights of numbers, levels and two values, from the curves and intercepts of Python."""
    model, X, _ = written
    kind = request.node.callspec.params["written"]
    models = model.shapes_ if isinstance(model.shapes_, list) else [model.shapes_]
    b = np.array([shapes.intercept for shapes in models])
    units = [unit for own, unit in HEIGHTS if own == kind]
    close = {"abs": 0.051 if kind == "number" else 0.0051, "rel": 2e-3}  # the digits that are shown
    switch = page.locator("#curves-controls .segments")
    assert switch.locator("label").all_inner_texts() == (units if len(units) > 1 else [])
    for unit in units:
        if len(units) > 1:
            choose_unit(page, unit)
        height = HEIGHTS[kind, unit]
        axis = card_of(page, "age").locator("svg.chart text").all_text_contents()
        assert AXES.get(kind, {}).get(unit, unit) in axis
        for keys in (("Home",), ("End",), ("PageDown", "ArrowLeft")):
            x, shown = probed(page, "age", keys)
            f = np.array([shapes[0](np.array([x]))[0] for shapes in models])
            assert shown == pytest.approx(height(b, f), **close)
        for name, column in (("flag", X["flag"]), ("member", X["member"])):
            d = feature_index(model, name)
            lines = card_of(page, name).locator(".levels li")
            assert lines.count() == 2
            for line in lines.all():
                text = line.locator(".name").inner_text()
                code = int(text) if name == "flag" else sorted(set(column)).index(text)
                f = np.array([shapes[d](np.array([float(code)]))[0] for shapes in models])
                shown = shown_number(line.locator(".number").inner_text())
                assert shown == pytest.approx(height(b, f), **close)


@ONLY_TWO
def test_the_meaning_of_a_unit_is_stated(page, written):
    meaning = page.locator("#unit-meaning")
    assert meaning.is_hidden()
    choose_unit(page, "odds ratio")
    assert "e to the power of its contribution" in meaning.inner_text()
    choose_unit(page, "probability")
    base = expit(written[0].shapes_.intercept)
    assert "whose other contributions are all zero" in meaning.inner_text()
    assert shown_number(meaning.inner_text().split("it is ")[1].split()[0].rstrip(".")) == (
        pytest.approx(base, abs=0.006)
    )
    choose_unit(page, "log-odds")
    assert meaning.is_hidden()


@ONLY_TWO
def test_a_unit_is_chosen_by_the_keyboard(page):
    page.locator("#curve-unit-0").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#curve-unit-1").is_checked()
    assert page.evaluate("document.activeElement.id") == "curve-unit-1"
    assert "odds ratio" in card_of(page, "age").locator("text").all_text_contents()


@ONLY_TWO
def test_ratios_are_on_a_logarithmic_axis_with_1_in_the_middle(page):
    choose_unit(page, "odds ratio")
    ticks = card_of(page, "age").locator("svg.chart text.tick[text-anchor=end]")
    found = ticks.evaluate_all("all => all.map(e => [e.textContent, +e.getAttribute('y')])")
    ratios = {float(text): y for text, y in found if text[:1].isdigit()}
    assert 1.0 in ratios and len(ratios) >= 3
    xs, ys = np.log(list(ratios)), np.array(list(ratios.values()))
    slope = np.polyfit(xs, ys, 1)[0]
    assert slope < 0 and np.abs(ys - np.polyval(np.polyfit(xs, ys, 1), xs)).max() < 1.5


def set_number(page, name, value):
    """Type a value into the what-if panel; return the coordinate of the dot on the curve."""
    field = page.locator("#whatif .field").filter(has=page.locator(f'label[title="{name}"]'))
    field.locator("input[type=number]").fill(str(value))
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    return float(card_of(page, name).locator("circle.current").get_attribute("cx"))


def axis_of(page, name):
    return card_of(page, name).locator("select.quiet").input_value()


@ONLY_TWO
def test_axes_are_chosen_by_the_distribution(page):
    kinds = {name: axis_of(page, name) for name in ("age", "price", "returns", "heavy")}
    assert kinds == {"age": "linear", "price": "log", "returns": "log", "heavy": "quantile"}
    assert card_of(page, "flag").locator("select").count() == 0


def fraction_between(page, name, values):
    """Return how far the second of three values is from the first to the third."""
    low, middle, high = (set_number(page, name, value) for value in values)
    return (middle - low) / (high - low)


@ONLY_TWO
def test_positions_on_axes(page, written):
    X, _ = curve_table()
    X = X[:700]
    values = (2.0, 20.0, 500.0)
    expected = np.log(10) / np.log(250)
    assert fraction_between(page, "price", values) == pytest.approx(expected, abs=1e-3)
    # Almost logarithmic far from zero, and zero itself has a place.
    values = (30.0, 100.0, 400.0)
    expected = np.log(100 / 30) / np.log(400 / 30)
    assert fraction_between(page, "returns", values) == pytest.approx(expected, abs=0.02)
    assert set_number(page, "returns", 0) < set_number(page, "returns", 1)
    low, middle, high = np.quantile(X["heavy"], [0.1, 0.6, 0.9])
    found = fraction_between(page, "heavy", (low, middle, high))
    assert found == pytest.approx(5 / 8, abs=0.03)  # of the rows, up to the steps of the axis
    card_of(page, "price").locator("select.quiet").select_option("linear")
    found = fraction_between(page, "price", (2.0, 20.0, 500.0))
    assert found == pytest.approx(18 / 498, abs=1e-3)
    assert axis_of(page, "returns") == "log"


@ONLY_TWO
def test_all_axes_are_chosen_at_once(page):
    for kind in ("quantile", "log", "linear", "automatic"):
        page.locator("#curve-axis").select_option(kind)
        kinds = {axis_of(page, name) for name in ("age", "price", "returns", "heavy")}
        assert kinds == ({"linear", "log", "quantile"} if kind == "automatic" else {kind})


@ONLY_TWO
def test_curves_on_other_axes_pass_through_the_values_of_python(page, written):
    """The dot of the what-if row and the end of the probe are on the drawn line."""
    model, _, _ = written
    shape = model.shapes_[feature_index(model, "price")]
    for kind in ("log", "quantile"):
        page.locator("#curve-axis").select_option(kind)
        chart = card_of(page, "price").locator("svg.chart")
        points = chart.locator("path.line").first.get_attribute("d")
        line = np.array([[float(v) for v in p.split()] for p in points[1:].split("L")])
        for x in (1.0, 7.5, 60.0, 400.0):
            cx = set_number(page, "price", x)
            cy = float(chart.locator("circle.current").get_attribute("cy"))
            assert np.interp(cx, line[:, 0], line[:, 1]) == pytest.approx(cy, abs=2.5)
        _, shown = probed(page, "price", ("End",))
        assert shown == pytest.approx(float(shape(np.array([1e9]))[0]), abs=6e-4)


@ONLY_TWO
def test_arrow_keys_follow_the_axis(page):
    low, _ = probed(page, "price", ("Home",))
    first, _ = probed(page, "price", ("ArrowRight",))
    last, _ = probed(page, "price", ("End",))
    before, _ = probed(page, "price", ("ArrowLeft",))
    assert (last - before) > 20 * (first - low) > 0


@ONLY_TWO
def test_ordered_levels_are_in_their_order(page):
    names = card_of(page, "band").locator(".name").all_inner_texts()
    assert names == ["0-9", "10-19", "20-29", "100+"]
    names = card_of(page, "day").locator(".name").all_inner_texts()
    assert names == ["Mon", "Wed", "Fri", "Sun"]
    texts = card_of(page, "band × day").or_(card_of(page, "day × band")).locator("text")
    found = [text for text in texts.all_text_contents() if text in [*BANDS, *DAYS]]
    assert [name for name in found if name in BANDS] == ["0-9", "10-19", "20-29", "100+"]
    assert [name for name in found if name in DAYS] == ["Mon", "Wed", "Fri", "Sun"]


def cross_hair(card):
    """Return the coordinates of the cross-hair of a map, and of its dot."""
    path = card.locator("path.cross-hair").get_attribute("d")
    vertical, horizontal = path[1:].split("M")
    dot = card.locator("circle.current")
    center = tuple(float(dot.get_attribute(name)) for name in ("cx", "cy"))
    return (float(vertical.split()[0]), float(horizontal.split()[1].split("H")[0])), center


@ONLY_TWO
def test_a_cross_hair_follows_the_what_if_values(page, written):
    card = card_of(page, "price × day")
    places = []
    for value in (2.0, 20.0, 500.0):
        set_number(page, "price", value)
        lines, center = cross_hair(card)
        assert lines == center
        places.append(center[0])
    # The map has the axis of the curve.
    expected = np.log(10) / np.log(250)
    assert (places[1] - places[0]) / (places[2] - places[0]) == pytest.approx(expected, abs=1e-3)
    days = {}
    for day in DAYS:
        field_of(page, "day").locator("select").select_option(label=day)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        days[day] = cross_hair(card)[0][1]
    assert sorted(days, key=days.get) == ["Mon", "Wed", "Fri", "Sun"]


@ONLY_TWO
def test_maps_show_the_rows_and_the_levels_that_share_a_cell(page, written):
    model, _, _ = written
    card = card_of(page, "product × price").or_(card_of(page, "price × product"))
    names = card.locator("text").all_text_contents()
    assert sum("others" in name for name in names) == 1
    chart = card.locator("svg.map")
    chart.focus()
    for _ in range(60):
        page.keyboard.press("ArrowDown")
    values, added = chart.get_attribute("aria-valuetext").rsplit(": ", 1)
    price, name = values.split(", ", 1)
    assert name.endswith("others") and int(name.split()[0]) > 100
    # A rare level has the value of its cell.
    surface = next(
        s
        for s in model.shapes_.surfaces
        if s.features == tuple(sorted(feature_index(model, n) for n in ("product", "price")))
    )
    d = feature_index(model, "product")
    rare = [str(level) for level in model.feature_info_[d].levels].index("product 140")
    expected = float(surface(np.array([[float(price), rare]]))[0])
    assert shown_number(f": {added}") == pytest.approx(expected, abs=0.02)
    dots = [card_of(page, "price × day"), card_of(page, "age × heavy")]
    for other in dots:
        assert other.locator("path.rows").get_attribute("d").count("M") > 20


@ONLY_TWO
def test_maps_are_read_in_units(page, written):
    model, _, _ = written
    card = card_of(page, "price × day")
    chart = card.locator("svg.map")
    shown = {}
    for unit in ("log-odds", "odds ratio", "probability"):
        choose_unit(page, unit)
        chart.focus()
        page.keyboard.press("Home")
        shown[unit] = shown_number(chart.get_attribute("aria-valuetext"))
    contribution = shown["log-odds"]
    assert abs(contribution) > 0.05
    assert shown["odds ratio"] == pytest.approx(np.exp(contribution), abs=0.006)
    expected = expit(model.shapes_.intercept + contribution)
    assert shown["probability"] == pytest.approx(expected, abs=0.006)
    legend = card.locator(".shade-scale").inner_text()
    assert legend.count("%") == 2


@ONLY_TWO
@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_overflows_in_any_unit_or_axis(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    for unit in ("odds ratio", "probability"):
        choose_unit(page, unit)
        page.locator("#curve-axis").select_option("quantile")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
