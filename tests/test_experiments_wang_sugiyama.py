"""Smaller runs of the experiments of Wang et al. (2019) and Sugiyama (2015, chapter 30)."""

import csv
import re

import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.model_selection import StratifiedKFold

from everystump._experiments import load_experiment
from everystump._experiments.engine.experiment import Task
from everystump._experiments.engine.pages import write_experiment
from everystump._experiments.engine.runner import run_experiment
from everystump._experiments.engine.statistics import verdict
from everystump._experiments.sugiyama import simulation
from everystump._experiments.wang import DATASETS, claims, figures, methods, tables
from everystump.datasets import load_dataset

PNG = b"\x89PNG\r\n\x1a\n"


def numbers():
    """Return the numbers of the tables of Wang et al.; skip those without data."""
    return [
        pytest.param(k, marks=[*needs(name), *[pytest.mark.slow] * (name != "monk1")], id=name)
        for k, name in DATASETS.items()
    ]


def needs(dataset):
    try:
        load_dataset(dataset)
    except ValueError as error:
        return [pytest.mark.skip(reason=str(error))]
    return []


def run(name, out, runs=1):
    return run_experiment(load_experiment(name), out, runs=runs, seed=0, jobs=1)


def check_files(result, out):
    written = {path.name for path in write_experiment(result, out)}
    name = result.experiment.name
    assert written == {f"{name}.md", f"{name}.png", f"{name}.csv"}
    image = (out / f"{name}.png").read_bytes()
    assert image.startswith(PNG) and len(image) > 10_000
    page = (out / f"{name}.md").read_text(encoding="utf-8")
    assert f"]({name}.png)" in page and not re.search(r"\bnan\b", page)
    return page


def check_errors_of_each_run(result, out, names):
    with (out / f"{result.experiment.name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["run", *names]
    assert [row["run"] for row in rows] == [str(run) for run in range(result.runs)]
    assert all(0 <= float(row[method]) < 0.6 for row in rows for method in names)
    first = simulation.run_task(Task("0", {}).seed(0), 0, names)
    for method in names:
        assert float(rows[0][method]) == pytest.approx(first[method], rel=1e-9)


def claim(result, words):
    (found,) = [claim for claim in result.report.claims if words in claim.text]
    return found


@pytest.fixture(autouse=True)
def timed_once(monkeypatch):
    monkeypatch.setattr(methods, "N_TIMINGS", 1)


@pytest.fixture
def few(monkeypatch):
    """Use fewer stumps and folds than the paper."""
    monkeypatch.setattr(tables, "ROUNDS", (100, 200))
    monkeypatch.setattr(tables, "N_FOLDS", 4)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("number", numbers())
def test_tables_of_wang_are_near_the_printed_ones(number, tmp_path):
    result = run(f"wang-table-{number}", tmp_path)
    cells = result.report.cells
    assert [cell.row for cell in cells] == ["T = 100"] * 2 + ["T = 200"] * 2
    # Four folds instead of ten leave fewer training samples.
    assert all(abs(cell.ours - cell.paper) < 3 for cell in cells)
    assert all(verdict(cell) != "no data" for cell in cells)
    assert claim(result, "Theorem 4").holds
    assert ("hard margin grows" in claim(result, "Theorem 4").evidence) == (number == 3)
    page = check_files(result, tmp_path)
    assert "| 100 | " in page and "MATLAB R2017a" in page


@pytest.mark.usefixtures("few")
def test_both_methods_are_equal_on_monk1_as_printed(tmp_path):
    result = run("wang-table-5", tmp_path)
    assert claim(result, "exactly equal").holds
    assert {round(cell.ours, 1) for cell in result.report.cells} == {75.0}


def test_stages_of_one_fit_equal_separate_fits(monkeypatch):
    monkeypatch.setattr(tables, "ROUNDS", (20, 50))
    monkeypatch.setattr(tables, "N_FOLDS", 3)
    found = tables.run_task(7, "ionosphere", run=0)
    X, y = methods.load_data("ionosphere")
    cv = StratifiedKFold(3, shuffle=True, random_state=RandomState(7))
    for fold, (train, test) in enumerate(cv.split(X, y)):
        for i, rounds in enumerate((20, 50)):
            for name, model in methods.make_models(rounds).items():
                accuracy = model.fit(X[train], y[train]).score(X[test], y[test])
                assert found[name][fold][i] == pytest.approx(accuracy), (name, rounds)


def test_task_is_reproducible(monkeypatch):
    monkeypatch.setattr(tables, "ROUNDS", (20, 50))
    monkeypatch.setattr(tables, "N_FOLDS", 3)
    monkeypatch.setattr(figures, "PERCENTAGES", (10, 90))
    for run_task in (tables.run_task, figures.run_task):
        first, second = (run_task(3, "monk1", run=0) for _ in range(2))
        same = {key for key in first if not key.endswith("seconds")}
        assert len(same) >= 2
        assert {key: first[key] for key in same} == {key: second[key] for key in same}


def test_shrinking_margin_is_detected():
    growing, shrinking = ({"hard_margins": m, "objectives": []} for m in ([1, 2, 2], [1, 2, 1.9]))
    assert claims.margin_grows([growing]).holds
    assert not claims.margin_grows([growing, shrinking]).holds
    falling, rising = ({"hard_margins": [], "objectives": [o]} for o in ([3, 2, 2], [3, 2, 2.5]))
    assert claims.margin_grows([falling]).holds
    assert not claims.margin_grows([falling, rising]).holds


def test_overfitting_and_the_worse_method_are_detected():
    noise = RandomState(0).normal(0, 0.1, (2, 10, 2))
    printed = [{"learners": t, "adaboost_acc": "90", "adaboost_s": "1"} for t in ("100", "200")]
    rising, falling = noise + np.array([90, 91]), noise + np.array([91, 90])
    assert claims.no_overfitting("adaboost", rising, printed).holds
    assert not claims.no_overfitting("adaboost", falling, printed).holds
    better = {"adaboost": noise + 90, "adaboost_svm": rising + 1}
    worse = {"adaboost": rising + 1, "adaboost_svm": noise + 90}
    assert claims.which_is_better("chess", better).holds
    assert not claims.which_is_better("chess", worse).holds
    assert claims.which_is_better("ionosphere", worse).holds
    assert not claims.which_is_better("monk1", worse).holds


@pytest.mark.slow
@pytest.mark.parametrize("number", numbers())
def test_figures_of_wang_are_plotted(number, tmp_path):
    result = run(f"wang-figure-{number}", tmp_path, runs=2)
    rows = result.report.data
    assert [row["percent"] for row in rows] == list(range(10, 100, 10))
    assert all(55 < row[f"{name}_accuracy"] <= 100 for row in rows for name in methods.METHODS)
    assert all(row[f"{name}_seconds"] > 0 for row in rows for name in methods.METHODS)
    if number in (2, 3):
        assert rows[-1]["adaboost_svm_accuracy"] > rows[0]["adaboost_svm_accuracy"] + 3
    check_files(result, tmp_path)


@pytest.fixture
def fewer_stumps(monkeypatch):
    monkeypatch.setattr(simulation, "N_STUMPS", 300)


@pytest.mark.slow
@pytest.mark.usefixtures("fewer_stumps")
def test_boosting_is_better_than_bagging_and_bagging_than_a_stump(tmp_path):
    result = run("sugiyama-figure-30-11", tmp_path, runs=40)
    assert claim(result, "strong classifier").holds
    assert claim(result, "stronger classifier than bagging").holds
    check_files(result, tmp_path)
    check_errors_of_each_run(result, tmp_path, ["stump", "bagging", "boosting"])
    result = run("sugiyama-figure-30-7", tmp_path, runs=5)
    assert claim(result, "bagging improves").holds
    check_files(result, tmp_path)
    check_errors_of_each_run(result, tmp_path, ["stump", "bagging"])


def test_error_of_a_stump_is_at_least_a_quarter(tmp_path):
    result = run("sugiyama-figure-30-4", tmp_path, runs=20)
    assert claim(result, "poorly").holds
    assert "a straight line" in claim(result, "poorly").evidence
    check_files(result, tmp_path)
    check_errors_of_each_run(result, tmp_path, ["stump", "line"])
    errors = [simulation.run_task(seed, seed, ["stump"])["stump"] for seed in range(20)]
    # Four standard deviations of an error on 10,000 rows.
    assert min(errors) > simulation.MIN_STUMP_ERROR - 4 * np.sqrt(0.25 * 0.75 / 10_000)


@pytest.mark.usefixtures("fewer_stumps")
def test_plotted_weights_are_those_of_the_book():
    plotted = simulation.run_task(Task("0", {}).seed(0), 0, ["boosting"])["shown"]
    X, y = np.array(plotted["rows"]), np.array(plotted["labels"])
    boosting = plotted["boosting"]
    grid = np.array([(a, b) for b in simulation.AXIS for a in simulation.AXIS])
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


def test_run_0_has_the_same_samples_in_all_figures():
    seed = Task("0", {}).seed(0)
    one, two = (simulation.run_task(seed, 0, names)["shown"] for names in (["stump"], []))
    assert one["rows"] == two["rows"] and one["labels"] == two["labels"]


def test_losses_are_plotted(tmp_path):
    result = run("sugiyama-figure-30-12-13", tmp_path)
    assert [claim.holds for claim in result.report.claims] == [True] * 3
    at_zero = next(row for row in result.report.data if abs(row["margin"]) < 1e-12)
    assert at_zero["exponential"] == pytest.approx(1)
    assert at_zero["mada"] == pytest.approx(0.5)
    assert at_zero["logistic"] == pytest.approx(np.log(2))
    check_files(result, tmp_path)
