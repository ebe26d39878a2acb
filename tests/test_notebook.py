"""Estimators and report pages in notebooks: the HTML that Jupyter displays."""

import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import everystump as es
from everystump._explanations.thumbnails import curves_html
from everystump.datasets import make_twonorm
from everystump.report import render, summarize

SCRIPT = "</script><script>alert(1)</script>"
VOID = {"path", "rect", "br", "meta", "link", "img", "input"}


def additive(n_classes=2, **parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10))
    X[:, 1] = rng.integers(0, 2, 200)
    y = np.digitize(X[:, 0] + X[:, 1] - X[:, 2] ** 2, np.linspace(-1, 1, n_classes - 1))
    return es.StumpLogisticRegression(tol=0.05, **parameters).fit(X, y), X, y


class Nesting(HTMLParser):
    """Checks that elements are closed in the order in which they are opened."""

    def __init__(self):
        super().__init__()
        self.open, self.tags = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag in VOID or self.open.pop() == tag


def tags_of(text):
    parser = Nesting()
    parser.feed(text)
    assert parser.open == []
    return parser.tags


def test_a_fitted_estimator_shows_its_diagram_and_curves():
    model, _, _ = additive()
    html = model._repr_mimebundle_()["text/html"]
    for text in (html, model._repr_html_()):
        assert "sk-top-container" in text and text.endswith(curves_html(model))
    unfitted = es.StumpLogisticRegression()._repr_html_()
    assert "sk-top-container" in unfitted and "everystump-curves" not in unfitted
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()


def test_curves_are_small_and_contain_nothing_that_could_clash():
    for n_classes in (2, 3, 10):
        html = curves_html(additive(n_classes)[0])
        assert len(html) < 40_000
        tags = tags_of(html)
        assert tags.count("figure") == 8
        assert not {"script", "style", "iframe", "a", "link"} & set(tags)
        assert " id=" not in html and "http" not in html and "url(" not in html


def test_the_most_important_curves_come_first():
    model, _, _ = additive()
    names = re.findall(r'aria-label="Curve of (\w+)"', curves_html(model))
    expected = model.explain_global()["feature"].tolist()
    assert names == [str(name) for name in expected[:8]]
    assert "the 8 most important of 10 features" in curves_html(model)


def test_a_drawn_curve_has_the_heights_of_the_model():
    """The vertical coordinate is an affine function of the contribution."""
    model, _, _ = additive()
    html = curves_html(model)
    figure = re.search(r'aria-label="Curve of x0".*?</figure>', html, re.S)[0]
    path = re.search(r'<path d="M([^"H]*)" fill="none" stroke="#', figure)[1]
    points = np.array([[float(v) for v in point.split()] for point in path.split("L")])
    density = model.density_[0]
    cumulative = np.cumsum(density.counts) / density.counts.sum()
    low, high = density.values[np.searchsorted(cumulative, [0.005, 0.995])]
    x = low + (points[:, 0] - 34) / 132 * (high - low)
    heights = model.shapes_[0](x)
    fit = np.polyfit(heights, points[:, 1], 1)
    # Coordinates are rounded to a tenth of a pixel, in both directions.
    assert np.abs(np.polyval(fit, heights) - points[:, 1]).max() < 1.0
    assert fit[0] < 0 and np.ptp(heights) > 0.5


def test_two_values_are_two_bars():
    html = curves_html(additive()[0])
    figure = re.search(r'aria-label="Curve of x1".*?</figure>', html, re.S)[0]
    assert figure.count("<rect") == 2 and ">0</text>" in figure and ">1</text>" in figure


@pytest.mark.parametrize(
    "estimator",
    [
        es.StumpSVC(tol=0.05),
        es.StumpBoostingClassifier(n_estimators=5),
        es.StumpBaggingClassifier(n_estimators=5),
        es.DecisionStumpClassifier(),
        es.StumpRegressor(tol=0.05),
        es.StumpBoostingRegressor(n_estimators=5),
        es.BoostedStumpSVC(n_estimators=5),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_all_estimators_with_curves_show_them(estimator):
    X, y = make_twonorm(80, random_state=0)
    html = estimator.fit(X, y)._repr_html_()
    assert "everystump-curves" in html
    tags_of(curves_html(estimator))


def test_estimators_without_curves_show_their_diagram():
    X, y = make_twonorm(40, random_state=0)
    for estimator in (es.KernelSVC(), es.PerceptronSVC()):
        assert "everystump-curves" not in estimator.fit(X, y)._repr_html_()
    pipeline = make_pipeline(StandardScaler(), es.StumpSVC()).fit(X, y)
    assert "sk-top-container" in pipeline._repr_html_()


def test_edited_and_constant_models_are_shown():
    model, _, _ = additive()
    assert model.flatten_curve("x0")._repr_html_() != model._repr_html_()
    for d in range(10):
        model = model.remove_feature(f"x{d}")
    assert "<figure" not in curves_html(model)
    del model.density_
    assert "everystump-curves" in model._repr_html_()


def test_levels_and_interactions_that_are_left_out_are_counted():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.choice(list("abcdefg"), 200), rng.choice(list("uvw"), 200)])
    y = (X[:, 0] < "d") ^ (X[:, 1] == "u") ^ (rng.random(200) < 0.1)
    model = es.StumpLogisticRegression(interactions=1, interaction_strength=1.0)
    html = curves_html(model.fit(X.astype(object), y))
    assert html.count(" levels)") == html.count(" (6 of 7 levels)") == 1
    assert "without 1 interaction. " in html


def test_hostile_names_and_levels_are_escaped():
    pd = pytest.importorskip("pandas", reason="names are those of a frame")
    names = [SCRIPT, "control \x00 \x0b", '" onload="x', "\u202eright to left", "very long" * 100]
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 5)), columns=names)
    X["level"] = rng.choice([SCRIPT, "<b>b</b>", "\U0001f986"], 60)
    model = es.StumpSVC().fit(X, np.where(X.iloc[:, 0] > 0, SCRIPT, "\ud800 no").astype(object))
    html = curves_html(model)
    html.encode("utf-8")
    assert "<script" not in html and "<b>" not in html and 'onload="' not in html
    tags_of(html)
    shown = es.show(model)._repr_html_()
    assert shown.count("<") == 2 and tags_of(shown) == ["iframe"]


def test_show_returns_a_page_in_a_frame():
    model, X, y = additive()
    page = es.show(model, X, y, about={"target": "it"}, height=321)
    html = page._repr_html_()
    source = unescape(re.search(r'srcdoc="(.*)"></iframe>$', html, re.S)[1])
    assert source == page.html == render(summarize(model, X, y, about={"target": "it"}))
    assert "height:321px" in html
    assert re.search(r'sandbox="([^"]*)"', html)[1] == "allow-scripts allow-downloads"
    assert repr(page) == (
        "<Model report: predicting it: a page for a notebook; write_report(model, path) writes a "
        "file>"
    )


def test_show_accepts_what_reports_accept():
    X, y = make_twonorm(60, random_state=0)
    pipeline = make_pipeline(StandardScaler(), es.StumpSVC()).fit(X, y)
    assert "<iframe" in es.show(pipeline)._repr_html_()
    with pytest.raises(ValueError, match=r"KernelSVC has no curves"):
        es.show(es.KernelSVC().fit(X, y))
    for height in (0, -3, True, 1.5, "tall"):
        with pytest.raises(ValueError, match="must be a positive number of pixels, such as 800"):
            es.show(pipeline, height=height)
