"""Wang et al. (2019) and Sugiyama (2015, chapter 30), in quick forms."""

import csv
import re
from importlib import import_module

import numpy as np
import pytest
from numpy.random import RandomState

from everystump._experiments import sugiyama, wang, wang_claims, wang_figures, wang_tables
from everystump._experiments.experiment import Task
from everystump._experiments.page import write_experiment
from everystump._experiments.runner import run_experiment
from everystump._experiments.statistics import verdict
from everystump.datasets import load_dataset

PNG = b"\x89PNG\r\n\x1a\n"
DATASETS = {2: "fourclass", 3: "ionosphere", 4: "chess", 5: "monk1"}


def numbers():
    """Return the numbers of Wang et al.'s tables, those without their data to be skipped."""
    return [pytest.param(k, marks=needs(name), id=name) for k, name in DATASETS.items()]


def needs(dataset):
    try:
        load_dataset(dataset)
    except ValueError as error:
        return pytest.mark.skip(reason=str(error))
    return ()


def run(name, out, runs=1):
    experiment = import_module(f"everystump._experiments.{name.replace('-', '_')}").EXPERIMENT
    assert experiment.name == name
    return run_experiment(experiment, out, runs=runs, seed=0, jobs=1)


def check_files(finished, out):
    written = {path.name for path in write_experiment(finished, out)}
    name = finished.experiment.name
    assert written == {f"{name}.md", f"{name}.png", f"{name}.csv"}
    image = (out / f"{name}.png").read_bytes()
    assert image.startswith(PNG) and len(image) > 10_000
    page = (out / f"{name}.md").read_text(encoding="utf-8")
    assert f"]({name}.png)" in page and not re.search(r"\bnan\b", page)
    return page


def check_errors_of_each_run(finished, out, methods):
    with (out / f"{finished.experiment.name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["run", *methods]
    assert [row["run"] for row in rows] == [str(run) for run in range(finished.runs)]
    assert all(0 <= float(row[method]) < 0.6 for row in rows for method in methods)
    first = sugiyama.work(Task("0", {}).seed(0), 0, methods)
    for method in methods:
        assert float(rows[0][method]) == pytest.approx(first[method], rel=1e-9)


def claim(finished, words):
    (found,) = [claim for claim in finished.report.claims if words in claim.text]
    return found


@pytest.fixture(autouse=True)
def timed_once(monkeypatch):
    monkeypatch.setattr(wang, "TIMES", 1)


@pytest.fixture
def few(monkeypatch):
    """Fewer stumps and folds than the paper's."""
    monkeypatch.setattr(wang_tables, "ROUNDS", (100, 200))
    monkeypatch.setattr(wang_tables, "FOLDS", 4)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("number", numbers())
def test_wangs_tables_are_near_the_printed_ones(number, tmp_path):
    finished = run(f"wang-table-{number}", tmp_path)
    cells = finished.report.cells
    assert [cell.row for cell in cells] == ["T = 100"] * 2 + ["T = 200"] * 2
    # Four folds in place of ten leave fewer rows to learn from.
    assert all(abs(cell.ours - cell.paper) < 3 for cell in cells)
    assert all(verdict(cell) != "no data" for cell in cells)
    assert claim(finished, "Theorem 4").holds
    assert ("hard margin grows" in claim(finished, "Theorem 4").evidence) == (number == 3)
    page = check_files(finished, tmp_path)
    assert "| 100 | " in page and "MATLAB R2017a" in page


@pytest.mark.usefixtures("few")
def test_both_methods_are_equal_on_monk1_as_printed(tmp_path):
    finished = run("wang-table-5", tmp_path)
    assert claim(finished, "exactly equal").holds
    assert {round(cell.ours, 1) for cell in finished.report.cells} == {75.0}


def test_stages_of_one_fit_are_fits_of_their_own(monkeypatch):
    monkeypatch.setattr(wang_tables, "ROUNDS", (20, 50))
    monkeypatch.setattr(wang_tables, "FOLDS", 3)
    result = wang_tables.work(7, "ionosphere", run=0)
    X, y = wang.data("ionosphere")
    cv = wang_tables.StratifiedKFold(3, shuffle=True, random_state=RandomState(7))
    for fold, (learn, test) in enumerate(cv.split(X, y)):
        for i, rounds in enumerate((20, 50)):
            for name, model in wang.models(rounds).items():
                accuracy = model.fit(X[learn], y[learn]).score(X[test], y[test])
                assert result[name][fold][i] == pytest.approx(accuracy), (name, rounds)


def test_a_task_gives_the_same_numbers_again(monkeypatch):
    monkeypatch.setattr(wang_tables, "ROUNDS", (20, 50))
    monkeypatch.setattr(wang_tables, "FOLDS", 3)
    for work in (wang_tables.work, wang_figures.work):
        first, second = (work(3, "monk1", run=0) for _ in range(2))
        same = {key for key in first if not key.endswith("seconds")}
        assert len(same) >= 2
        assert {key: first[key] for key in same} == {key: second[key] for key in same}


def test_a_shrinking_margin_would_be_seen():
    growing, shrinking = ({"hard_margins": m, "objectives": []} for m in ([1, 2, 2], [1, 2, 1.9]))
    assert wang_claims.margin_grows([growing]).holds
    assert not wang_claims.margin_grows([growing, shrinking]).holds
    falling, rising = ({"hard_margins": [], "objectives": [o]} for o in ([3, 2, 2], [3, 2, 2.5]))
    assert wang_claims.margin_grows([falling]).holds
    assert not wang_claims.margin_grows([falling, rising]).holds


def test_overfitting_and_the_worse_method_would_be_seen():
    noise = RandomState(0).normal(0, 0.1, (2, 10, 2))
    printed = [{"learners": t, "adaboost_acc": "90", "adaboost_s": "1"} for t in ("100", "200")]
    rising, falling = noise + np.array([90, 91]), noise + np.array([91, 90])
    assert wang_claims.keeps_its_accuracy("adaboost", rising, printed).holds
    assert not wang_claims.keeps_its_accuracy("adaboost", falling, printed).holds
    better = {"adaboost": noise + 90, "adaboost_svm": rising + 1}
    worse = {"adaboost": rising + 1, "adaboost_svm": noise + 90}
    assert wang_claims.which_is_better("chess", better).holds
    assert not wang_claims.which_is_better("chess", worse).holds
    assert wang_claims.which_is_better("ionosphere", worse).holds
    assert not wang_claims.which_is_better("monk1", worse).holds


@pytest.mark.parametrize("number", numbers())
def test_wangs_figures_are_drawn(number, tmp_path):
    finished = run(f"wang-figure-{number}", tmp_path, runs=2)
    rows = finished.report.curves
    assert [row["percent"] for row in rows] == list(range(10, 100, 10))
    assert all(55 < row[f"{name}_accuracy"] <= 100 for row in rows for name in wang.METHODS)
    assert all(row[f"{name}_seconds"] > 0 for row in rows for name in wang.METHODS)
    if number in (2, 3):
        assert rows[-1]["adaboost_svm_accuracy"] > rows[0]["adaboost_svm_accuracy"] + 3
    check_files(finished, tmp_path)


@pytest.fixture
def fewer_stumps(monkeypatch):
    monkeypatch.setattr(sugiyama, "STUMPS", 300)


@pytest.mark.usefixtures("fewer_stumps")
def test_boosting_is_better_than_bagging_and_bagging_than_a_stump(tmp_path):
    finished = run("sugiyama-figure-30-11", tmp_path, runs=40)
    assert claim(finished, "strong classifier").holds
    assert claim(finished, "stronger than bagging").holds
    check_files(finished, tmp_path)
    check_errors_of_each_run(finished, tmp_path, ["stump", "bagging", "boosting"])
    finished = run("sugiyama-figure-30-7", tmp_path, runs=5)
    assert claim(finished, "bagging improves").holds
    check_files(finished, tmp_path)
    check_errors_of_each_run(finished, tmp_path, ["stump", "bagging"])


def test_a_stump_errs_a_quarter_at_least(tmp_path):
    finished = run("sugiyama-figure-30-4", tmp_path, runs=20)
    assert claim(finished, "poorly").holds
    assert "a straight line" in claim(finished, "poorly").evidence
    check_files(finished, tmp_path)
    check_errors_of_each_run(finished, tmp_path, ["stump", "line"])
    errors = [sugiyama.work(seed, seed, ["stump"])["stump"] for seed in range(20)]
    # Four standard deviations of an error on 10,000 rows.
    assert min(errors) > sugiyama.LEAST_STUMP_ERROR - 4 * np.sqrt(0.25 * 0.75 / 10_000)


@pytest.mark.usefixtures("fewer_stumps")
def test_the_weights_shown_are_those_of_the_books_matlab():
    shown = sugiyama.work(Task("0", {}).seed(0), 0, ["boosting"])["shown"]
    X, y = np.array(shown["rows"]), np.array(shown["labels"])
    boosting = shown["boosting"]
    grid = np.array([(a, b) for b in sugiyama.SIDE for a in sugiyama.SIDE])
    nearest = [int(np.argmin(np.abs(grid - row).sum(axis=1))) for row in X]
    weights = np.array(boosting["weights"])
    assert weights[0] == pytest.approx(np.full(50, 1 / 50))
    for w, following, theta in zip(weights, weights[1:], boosting["thetas"], strict=False):
        # Up to a common factor a weight changes by exp(theta) if wrong, else by exp(-theta).
        change = following / w
        wrong = change > 1.001 * change.min()
        assert theta == pytest.approx(np.log(change.max() / change.min()) / 2)
        assert w[wrong].sum() == pytest.approx(1 / (1 + np.exp(2 * theta)))
    assert boosting["training_error"] == 0
    votes = np.array(boosting["vote"])[nearest]
    assert np.mean(votes == y) > 0.85


def test_run_0_shows_the_same_rows_in_all_figures():
    seed = Task("0", {}).seed(0)
    one, two = (sugiyama.work(seed, 0, methods)["shown"] for methods in (["stump"], []))
    assert one["rows"] == two["rows"] and one["labels"] == two["labels"]


def test_the_losses_are_drawn(tmp_path):
    finished = run("sugiyama-figure-30-12-13", tmp_path)
    assert [claim.holds for claim in finished.report.claims] == [True] * 3
    at_zero = next(row for row in finished.report.curves if abs(row["margin"]) < 1e-12)
    assert at_zero["exponential"] == pytest.approx(1)
    assert at_zero["mada"] == pytest.approx(0.5)
    assert at_zero["logistic"] == pytest.approx(np.log(2))
    check_files(finished, tmp_path)
