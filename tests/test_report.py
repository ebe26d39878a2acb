"""The report page: its numbers and scores are those of Python, and its text is escaped."""

import base64
import hashlib
import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from test_export_cases import NAMES, WITH_PROBABILITIES, case, scores_of
from test_export_json import as_rows

import everystump as es
from everystump._explanations.access import training_density
from everystump._explanations.importance import sample_densities
from everystump.datasets import load_dataset, make_twonorm
from everystump.estimators._base import as_class_list
from everystump.report import render, summarize, write_report
from everystump.report._encoding import encode_numbers, pack
from everystump.report._sentences import certificate_sentence

pd = pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")

CURVED = [name for name in NAMES if not name.startswith(("Kernel", "Perceptron", "Weighted"))]
SCRIPT = "</script><script>alert(1)</script>"
ABOUT = {
    "data": "loans.csv",
    "target": "paid",
    "n_rows": np.int64(700),
    "n_held_out": 300,
    "schema": ["“age” is numeric."],
    "error": {"value": 0.25, "low": 0.2, "high": 0.31, "how": "300 held-out rows, 95% interval"},
    "certificate": {"primal": 0.57561, "dual": 0.57532, "gap": 0.0005, "converged": True},
    "bounds": [
        {"name": "loo_bound", "value": 1.7, "holds": True, "vacuous": True, "assumptions": ()},
        {"name": "stability_bound", "value": np.inf, "holds": False, "vacuous": True},
    ],
    "path": {"C": np.array([0.1, 1.0]), "mean": [0.7, 0.8], "std": [0.1, 0.1], "chosen": 1.0},
}


def german():
    """Return a model of a table with categories, and rows that it was not trained on."""
    frame = load_dataset("german", as_frame=True)
    y = np.array(["good", "bad"])[frame.target]
    model = es.StumpLogisticRegression().fit(frame.data[:700], y[:700])
    return model, frame.data[700:], y[700:]


def thyroid():
    """Return a model of three classes, and rows that it was not trained on."""
    frame = load_dataset("new_thyroid_3class", as_frame=True)
    y = frame.target.to_numpy()
    model = es.StumpSVC(C=0.1).fit(frame.data[::2], y[::2])
    return model, frame.data[1::2], y[1::2]


BOTH = pytest.mark.parametrize("make", [german, thyroid])


@BOTH
def test_importances_and_order(make):
    model, X, y = make()
    summary = summarize(model, X, y)
    expected = model.explain_global(X)
    for feature in summary["features"]:
        importance = expected[expected["feature"] == feature["name"]]["importance"]
        assert sum(feature["importance"]) == pytest.approx(importance.sum(), rel=1e-12)
    totals = [sum(summary["features"][d]["importance"]) for d in summary["order"]]
    assert totals == sorted(totals, reverse=True)
    assert sorted(summary["order"]) == list(range(X.shape[1]))


@BOTH
def test_confusion_and_margins(make):
    model, X, y = make()
    quality = summarize(model, X, y)["quality"]
    predicted, classes = model.predict(X), model.classes_
    counts = [[int(np.sum((y == a) & (predicted == b))) for b in classes] for a in classes]
    assert quality["confusion"] == counts
    assert quality["n_wrong"] == np.sum(y != predicted)
    margins = quality["margins"]
    assert sum(margins["counts"]) == len(y) == quality["n"]
    assert len(margins["edges"]) == len(margins["counts"]) + 1
    assert any(abs(edge) < 1e-12 for edge in margins["edges"])
    expected = margins_of(model, X, y)
    assert margins["mean"] == pytest.approx(expected.mean())
    below = [
        count
        for count, edge in zip(margins["counts"], margins["edges"][1:], strict=True)
        if edge <= 0
    ]
    assert sum(below) == np.sum(expected < 0)


def margins_of(model, X, y):
    score, label = model.decision_function(X), np.searchsorted(model.classes_, y)
    if score.ndim == 1:
        return np.where(label == 1, score, -score)
    own = score[np.arange(len(y)), label]
    return own - np.where(np.eye(score.shape[1], dtype=bool)[label], -np.inf, score).max(axis=1)


@BOTH
def test_uncertain_rows_and_errors(make):
    model, X, y = make()
    explained = summarize(model, X, y)["explained"]
    score = model.decision_function(X)
    lead = np.abs(score) if score.ndim == 1 else -np.diff(-np.sort(-score, axis=1))[:, 0]
    found = [row["row"] for row in explained["least_certain"]]
    assert found == np.argsort(lead, kind="stable")[:10].tolist()
    margins, wrong = margins_of(model, X, y), np.flatnonzero(model.predict(X) != y)
    largest = wrong[np.argsort(margins[wrong], kind="stable")][:10]
    assert [row["row"] for row in explained["largest_errors"]] == largest.tolist()
    for row in explained["least_certain"] + explained["largest_errors"]:
        assert model.classes_[row["actual"]] == y[row["row"]]
        assert model.classes_[row["predicted"]] == model.predict(X.iloc[[row["row"]]])[0]
        assert row["other"] != row["predicted"]
        adds = sum(row["contributions"])
        if score.ndim == 1:
            expected = score[row["row"]] - model.shapes_.intercept
            assert adds == pytest.approx(expected, abs=1e-9)
            assert row["score"] == pytest.approx(score[row["row"]])
            assert row["lead"] == pytest.approx(abs(score[row["row"]]))
        else:
            intercepts = [shapes.intercept for shapes in model.shapes_]
            expected = intercepts[row["predicted"]] - intercepts[row["other"]] + adds
            assert row["lead"] == pytest.approx(expected, abs=1e-9)
            assert row["lead"] >= 0


def test_densities_and_ranges():
    model, X, _ = german()
    summary = summarize(model)
    for feature, density in zip(summary["features"], training_density(model), strict=True):
        total = density.counts.sum() + density.missing
        if feature["kind"] == "category":
            assert np.allclose(feature["shares"], density.counts / total)
            continue
        assert sum(feature["density"]["share"]) == pytest.approx(1 - density.missing / total)
        assert feature["low"] == density.values.min() and feature["high"] == density.values.max()
        assert feature["low"] <= feature["typical"] <= feature["high"]
    by_name = {feature["name"]: feature for feature in summary["features"]}
    assert by_name["duration"]["is_integer"]
    del model.density_
    assert summarize(model)["measured_on"] is None
    assert summarize(model, X)["measured_on"] == "300 rows"


def test_share_of_missing_values():
    frame = load_dataset("votes84", as_frame=True)
    model = es.StumpSVC().fit(frame.data, frame.target)
    for feature in summarize(model)["features"]:
        share = frame.data[feature["name"]].isna().mean()
        assert feature["share_missing"] == pytest.approx(share)
        assert sum(feature["shares"]) == pytest.approx(1 - share)


def test_what_if_rows_have_the_values_of_the_table():
    model, X, y = german()
    rows = summarize(model, X, y)["what_if"]
    assert len(rows) == 200
    for row in rows[::17]:
        assert row["values"] == X.iloc[row["row"]].tolist()
    X = X[:5].copy()
    X["purpose"] = "a moon"
    d = list(X.columns).index("purpose")
    assert summarize(model, X)["what_if"][0]["values"][d] == "a moon"


def test_made_up_what_if_rows_if_none_are_given():
    model, _, _ = german()
    summary = summarize(model)
    assert summary["quality"] is None and summary["explained"] is None
    assert len(summary["what_if"]) == 3
    values = [row["values"] for row in summary["what_if"]]
    frame = pd.DataFrame(values, columns=[f["name"] for f in summary["features"]])
    typical, bad, good = model.decision_function(frame)
    assert bad < typical < good


def test_sentences_of_about():
    model, X, y = german()
    text = summarize(model, X, y, about=ABOUT)["text"]
    assert text["certificate"] == (
        "No ensemble of stumps can have an objective below 0.57532 (proven lower bound); this one "
        "has 0.57561, so it is within 0.05% of the optimum."
    )
    assert "trained on 700 rows of loans.csv; 300 more rows were held out" in text["description"][0]
    expected = "(300 held-out rows); the 95% interval of the error on new rows is 20.0% to 31.0%."
    assert expected in " ".join(text["description"])
    assert "rows in this report" in " ".join(text["description"])
    text = summarize(model, X, y, about=ABOUT | {"rows": "held-out"})["text"]
    assert "rows in this report" not in " ".join(text["description"])
    warned = ABOUT | {"rows": "training", "leakage_warning": "they may be known."}
    text = summarize(model, X, y, about=warned)["text"]
    assert "Of the 300 training rows in this report" in " ".join(text["description"])
    assert "Warning: they may be known." in text["description"]
    assert text["gap"] == "0.05%"
    assert "is vacuous" in text["bounds"][0] and "no value" in text["bounds"][1]
    path = summarize(model, about=ABOUT)["about"]["path"]
    assert path == {"C": [0.1, 1.0], "mean": [0.7, 0.8], "std": [0.1, 0.1], "chosen": 1.0}


def test_keys_of_earlier_releases_are_read():
    model, _, _ = german()
    about = summarize(model, about={"guesses": ["a"], "doubt": "known."})["about"]
    assert about["schema"] == ["a"] and about["leakage_warning"] == "known."
    assert not {"guesses", "doubt"} & {*about}


def test_about_from_the_model():
    X, y = make_twonorm(120, random_state=0)
    model = es.StumpSVCCV(Cs=[0.1, 1.0], cv=2).fit(X, y)
    about = summarize(model)["about"]
    assert about["path"]["chosen"] == model.C_ and about["path"]["C"] == [0.1, 1.0]
    assert about["certificate"]["gap"] == model.certificate_.gap
    assert summarize(thyroid()[0])["about"]["certificate"]["gap"] == max(
        certificate.gap for certificate in thyroid()[0].certificate_
    )
    model.about_ = {"target": "norm", "data": "simulated"}
    given_about = summarize(model, about={"data": "mine"})["about"]
    assert (given_about["target"], given_about["data"]) == ("norm", "mine")


def test_edits_are_at_the_top():
    model, X, y = german()
    edited = model.flatten_curve("age")
    page = render(summarize(edited, X, y))
    assert "edited by hand" in page and edited.edits_[-1] in page
    assert page.index("edited by hand") < page.index("<main")
    assert "edited by hand" not in render(summarize(model, X, y))


def malicious_page():
    """Return a page whose names, levels, labels and notes try to run scripts."""
    level = "<!-- <img src=x onerror=alert(2)> {{script}} $& 'ü"
    frame = pd.DataFrame({SCRIPT: [level, "b", level, "b"], "__proto__": [0.0, 1.0, 2.0, 3.0]})
    model = es.StumpSVC().fit(frame, [SCRIPT, SCRIPT, "\ud800 & co", "\ud800 & co"])
    about = {"target": SCRIPT, "data": level, "schema": [SCRIPT], "versions": {SCRIPT: SCRIPT}}
    labels = np.array([SCRIPT, SCRIPT, "\ud800 & co", SCRIPT], dtype=object)
    return render(summarize(model, frame, labels, about=about)), level


def test_text_of_the_data_is_escaped():
    page, level = malicious_page()
    page.encode("utf-8")
    assert "<script>alert" not in page and "<img" not in page
    assert page.count("<script") == 2 and page.count("</script") == 2
    assert "<!--" not in page.replace("<!doctype html>", "")
    data = data_of(page)
    assert data["document"]["features"][0]["name"] == SCRIPT
    assert level in data["document"]["features"][0]["levels"]


def test_no_network_requests():
    page = render(summarize(*german(), about=ABOUT))
    assert "http://" not in page and "https://" not in page
    assert "default-src 'none'" in page
    assert not re.search(r"\bsrc=|@import|url\(|fetch\(|XMLHttpRequest", page)
    assert re.findall(r'href="([^"]*)"', page) == ["data:,", "#main"]


def test_security_policy_allows_only_its_own_script_and_style():
    page, _ = malicious_page()
    for tag in ("script", "style"):
        text = re.search(f"<{tag}>(.*?)</{tag}>", page, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in page
    assert "unsafe" not in page.split("<style>")[0]


@pytest.mark.parametrize("measure", ["uniform", "middle"])
@pytest.mark.parametrize("n_classes", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_size_of_a_large_model(tmp_path, measure, n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 50)), rng.integers(0, n_classes, 1000)
    model = es.StumpSVC(measure=measure, tol=0.5).fit(X, y)
    knots = {len(np.unique(shape.knots)) for shape in as_class_list(model.shapes_)[0]}
    assert min(knots) >= 255
    write_report(model, tmp_path / "page.html", X, y)
    assert (tmp_path / "page.html").stat().st_size < 3_000_000


def test_shared_arrays_are_stored_once():
    X, y = np.random.default_rng(0).normal(size=(400, 3)), np.arange(400) % 5
    document = summarize(es.StumpSVC(tol=0.5).fit(X, y))["document"]
    packed = pack(document)
    assert len(packed["arrays"]) == 3 + 5 * 3
    for d in range(3):
        assert len({score["curves"][d]["knots"] for score in packed["scores"]}) == 1
    assert "arrays" not in document and len(document["scores"][0]["curves"][0]["knots"]) > 200


@pytest.mark.parametrize(
    "numbers", [[], [1.0], [0.0, -0.0, -0.0], [5e-324, 1e308, 1e308, 0.1], [2.5] * 255, [2.5] * 256]
)
def test_encoded_numbers_are_exact(numbers):
    values, _, lengths = encode_numbers(numbers).partition("|")
    found = np.frombuffer(base64.b64decode(values), "<f8")
    if lengths:
        found = np.repeat(found, np.frombuffer(base64.b64decode(lengths), np.uint8))
    assert found.tobytes() == np.array(numbers, dtype="<f8").tobytes()


def test_a_failed_report_keeps_the_existing_file(tmp_path):
    model, X, y = german()
    path = tmp_path / "page.html"
    path.write_text("as it was")
    with pytest.raises(ValueError, match="classes"):
        write_report(model, path, X, ["nonsense"] * len(X))
    assert path.read_text() == "as it was"
    write_report(model, path, X, y)
    assert path.read_text(encoding="utf-8") == render(summarize(model, X, y))
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


def test_invalid_input(tmp_path):
    X, y = make_twonorm(60, random_state=0)
    with pytest.raises(ValueError, match=r"KernelSVC has no curves.*StumpSVC\.$"):
        write_report(es.KernelSVC().fit(X, y), tmp_path / "page.html")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="y was passed without X"):
        summarize(es.StumpSVC().fit(X, y), y=y)
    with pytest.raises(TypeError, match="pass a dict"):
        summarize(es.StumpSVC().fit(X, y), about="all of it")
    with pytest.raises(ValueError, match="fitted"):
        summarize(es.StumpSVC())


def test_polars_pandas_and_arrays_give_the_same_page():
    pl = pytest.importorskip("polars", reason="compares frames of pandas and polars")
    model, X, y = german()
    X = X.assign(purpose=["a moon", *X["purpose"].astype(str)[1:]])
    same = pl.DataFrame({name: X[name].tolist() for name in X})
    X = X.reset_index(drop=True)  # polars has no index
    assert render(summarize(model, same, y)) == render(summarize(model, X, y))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    model = es.StumpSVC().fit(X, X[:, 0] > 0)
    assert summarize(model, X)["what_if"] == summarize(model, X.tolist())["what_if"]
    assert sample_densities(X)[0].counts.sum() == 40


# The scorer in the page, run by node.

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="the page's script is run by node")


def data_of(page):
    """Return the data that a page holds."""
    return json.loads(re.search(r'type="application/json">(.*?)</script>', page, re.S)[1])


SCORED = "rows.map((row) => ({ score: model.score(row), ...model.explain(row) }))"


def run_script(page, rows, expression=SCORED):
    """Run the script of a page; return its scores of rows, or another expression."""
    script = re.search(r"<script>(.*?)</script>", page, re.S)[1]
    data = re.search(r'type="application/json">(.*?)</script>', page, re.S)[1]
    harness = (
        "const { script, data, rows } = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
        "const window = {}, document = { getElementById: () => ({ textContent: data }) };"
        "new Function('window', 'document', script)(window, document);"
        f"const model = window.everystump; console.log(JSON.stringify({expression}));"
    )
    inputs = json.dumps({"script": script, "data": data, "rows": rows})
    done = subprocess.run(
        [NODE, "-e", harness], input=inputs, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_node
@pytest.mark.parametrize("name", CURVED)
def test_the_page_scores_as_python_does(name):
    model, rows = case(name)
    if not hasattr(model, "shapes_"):
        with pytest.raises(ValueError, match="has no curves"):
            summarize(model)
        return
    found = run_script(render(summarize(model)), as_rows(rows))
    score = np.array([np.atleast_1d(one["score"]) for one in found])
    expected = scores_of(model, rows)
    assert np.abs(score - expected).max() < 1e-9
    intercepts = [shapes.intercept for shapes in as_class_list(model.shapes_)]
    for one in found:
        added = np.sum(one["contributions"], axis=1)
        assert np.allclose(added + intercepts, one["score"], atol=1e-9)
    if name in WITH_PROBABILITIES:
        probability = np.array([one["probability"] for one in found])
        assert np.abs(probability - model.predict_proba(rows)).max() < 1e-9


def step_model():
    """Return a model of ten classes with step functions, and rows on its cuts and far away."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 3)), rng.integers(0, 10, 500)
    model = es.StumpSVC(measure="middle", tol=0.05).fit(X, y)
    cuts = np.column_stack([as_class_list(model.shapes_)[0][d].knots[:200] for d in range(3)])
    far = np.array([[1e300, -1e300, 5e-324], [0.0, -0.0, -1e-300], [1e308, 1e16, -1e308]])
    rows = np.vstack([cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf), far])
    return model, rows


@needs_node
def test_the_page_scores_values_on_cuts_and_far_away():
    model, rows = step_model()
    names = [feature["name"] for feature in summarize(model)["features"]]
    found = run_script(
        render(summarize(model)), [dict(zip(names, row, strict=True)) for row in rows.tolist()]
    )
    score = np.array([one["score"] for one in found])
    assert np.abs(score - model.decision_function(rows)).max() < 1e-9
    assert score.shape == (603, 10)
    with pytest.raises(ValueError, match="infinity"):
        model.decision_function([[np.inf, 0.0, 0.0]])


@needs_node
def test_the_page_holds_the_exported_document():
    for model in (step_model()[0], german()[0], thyroid()[0]):
        summary = summarize(model)
        assert run_script(render(summary), [], "model.document") == summary["document"]


@needs_node
def test_the_page_scores_its_own_rows():
    for model, X, y in (german(), thyroid()):
        page = render(summarize(model, X, y))
        data = data_of(page)
        names = [feature["name"] for feature in data["document"]["features"]]
        what_if = data["what_if"]
        rows = [dict(zip(names, row["values"], strict=True)) for row in what_if]
        found = run_script(page, rows)
        expected = model.decision_function(X)[[row["row"] for row in what_if]]
        assert np.abs(np.array([one["score"] for one in found]) - expected).max() < 1e-9
        assert [one["predicted"] for one in found] == [row["predicted"] for row in what_if]


@needs_node
def test_the_page_scores_unusual_names():
    page, level = malicious_page()
    found = run_script(page, [{SCRIPT: level, "__proto__": 0.5}, {SCRIPT: None, "__proto__": None}])
    assert all(np.isfinite(one["score"]) for one in found)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        (
            "300 held-out rows, 95% interval",
            "It misclassifies 25.0% of the rows it was not trained on (300 held-out rows); the 95% "
            "interval of the error on new rows is 20.0% to 31.0%.",
        ),
        (
            "300 held-out rows",
            "It misclassifies 25.0% of the rows it was not trained on (300 held-out rows); the 95% "
            "interval of the error on new rows is 20.0% to 31.0%.",
        ),
    ],
)
def test_the_interval_of_the_error_is_named_once(how, expected):
    model, X, y = german()
    about = {**ABOUT, "error": {"value": 0.25, "low": 0.2, "high": 0.31, "how": how}}
    assert expected in summarize(model, X, y, about=about)["text"]["description"]


def test_a_certificate_shows_its_gap():
    sentence = certificate_sentence({"primal": 20.30507, "dual": 20.30363, "gap": 7.1e-5})
    assert "below 20.3036 (proven" in sentence and "has 20.3051, so" in sentence
