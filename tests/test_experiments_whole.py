"""A quick form of every experiment, from its tasks to its files.

Data that are not packaged are replaced by small made-up tables of the same form.
"""

import csv
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.utils import Bunch

from everystump._experiments import (
    NAMES,
    evgeniou,
    evgeniou_bounds,
    evgeniou_table_2,
    evgeniou_table_3,
    evgeniou_tuned,
    lin_li,
    lin_li_figure_2,
    lin_li_table_1,
    lin_li_table_2,
    load_experiment,
    runner,
    sugiyama,
    wang,
    wang_figures,
    wang_tables,
)
from everystump._experiments.experiment import Task
from everystump._experiments.page import write_experiment
from everystump._experiments.published import number, published
from everystump.datasets import load_dataset

RUNS = 2
LOG_SIGMAS = (0.5, 1.5)
WITHOUT_PICTURES = {"lin-li-table-1", "lin-li-table-2", "evgeniou-table-2", "evgeniou-table-3"}


def made_up(name):
    """Return a table of the form of one that is not packaged."""
    rng = np.random.default_rng(0)
    if name == "fourclass":
        X = rng.uniform(-1, 1, (120, 2))
        signs = np.where(X[:, 0] * X[:, 1] > 0.1, 1, 0)
        return Bunch(data=X, target=signs, target_names=np.array(["-1", "1"]))
    digits = rng.integers(0, 10, {"usps_train": 90, "usps_test": 60}[name])
    X = np.clip(digits[:, None] / 5 - 1 + rng.normal(0, 0.5, (len(digits), 256)), -1, 1)
    return Bunch(data=X, target=digits, target_names=np.array(list("0123456789")))


def load(name, *, return_X_y=False):
    if name not in ("fourclass", "usps_train", "usps_test"):
        return load_dataset(name, return_X_y=return_X_y)
    table = made_up(name)
    return (table.data, table.target) if return_X_y else table


@pytest.fixture
def quick(monkeypatch):
    """Cut the papers' constants, and have data without files."""
    kept = (evgeniou.data_of, wang.data, lin_li.real_data)
    for module in (runner, evgeniou, wang, lin_li):
        monkeypatch.setattr(module, "load_dataset", load)
    for cached in kept:
        cached.cache_clear()
    few = {
        lin_li: {
            "DATASETS": {name: lin_li.DATASETS[name] for name in ("twonorm-n", "heart")},
            "TRAINING_ROWS": 60,
            "TEST_ROWS": 200,
            "FOLDS": 2,
            "STUMP_GRID": 2.0 ** np.array([-9, -5]),
        },
        lin_li_table_2: {"GAUSSIAN_GRID": {"C": [1.0, 8.0], "gamma": [0.125]}},
        lin_li_figure_2: {"ROUNDS": 10, "GRID": 21},
        evgeniou: {"MACHINES": 3, "USPS_TEST_ROWS": 80},
        evgeniou_tuned: {"COSTS": (1.0,)},
        wang: {"TIMES": 1},
        wang_tables: {"ROUNDS": (100, 200), "FOLDS": 2},
        wang_figures: {"ROUNDS": 10, "PERCENTS": (10, 50, 90)},
        sugiyama: {"STUMPS": 20, "TEST_ROWS": 300},
    }
    for module, constants in few.items():
        for name, value in constants.items():
            assert hasattr(module, name)
            monkeypatch.setattr(module, name, value)
    monkeypatch.setitem(evgeniou.vote.__kwdefaults__, "n_machines", 3)
    monkeypatch.setitem(evgeniou.TRAINING_ROWS, "usps", 50)
    for name in evgeniou.LOG_SIGMAS:
        monkeypatch.setitem(evgeniou.LOG_SIGMAS, name, np.array(LOG_SIGMAS))
    yield
    for cached in kept:
        cached.cache_clear()


def quick_form(name):
    """Return an experiment with fewer of what it took from the constants when it was made."""
    experiment = load_experiment(name)
    if name == "evgeniou-table-2":
        votes = (evgeniou_tuned.Vote("", 3, 0.4),)
    elif name == "evgeniou-table-3":
        votes = tuple(vote._replace(n_machines=3) for vote in evgeniou_table_3.VOTES)
    elif name.startswith("evgeniou-figure") and not name.endswith("7"):
        _, claims = experiment.report.args
        report = partial(evgeniou_bounds.report, np.array(LOG_SIGMAS), claims)
        return replace(experiment, report=report)
    else:
        return experiment
    return replace(experiment, work=partial(evgeniou_tuned.work, votes=votes))


def is_picture(path):
    from matplotlib.image import imread

    height, width, _ = imread(path).shape
    return height > 100 and width > 100 and path.stat().st_size > 10_000


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_runs_and_writes_its_files(name, tmp_path):
    experiment = quick_form(name)
    finished = runner.run_experiment(experiment, tmp_path, runs=RUNS, seed=0, jobs=1)
    assert finished.missing == {} and finished.seconds > 0
    files = {path.name for path in write_experiment(finished, tmp_path)}
    pictures = set() if name in WITHOUT_PICTURES else {f"{name}.png"}
    assert files == {f"{name}.csv", f"{name}.md"} | pictures
    assert {path.name for path in tmp_path.iterdir()} == files | {"journals"}
    assert all(is_picture(tmp_path / picture) for picture in pictures)
    page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    assert experiment.protocol.strip() in page
    assert f"everystump reproduce {name} --runs {RUNS} --seed 0" in page
    assert not re.search(r"\b(nan|inf)\b", page)
    assert all(claim.text in page and claim.evidence in page for claim in finished.report.claims)
    assert finished.report.claims
    with (tmp_path / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    paper = name.rpartition("-figure-")[0] or name
    CHECKS.get(name, CHECKS.get(paper))(name, rows)


# What the tables have


def has_the_papers_errors(name, rows):
    """Check that a table's cells have the paper's numbers, in its order."""
    columns = {"lin-li-table-1": lin_li_table_1, "lin-li-table-2": lin_li_table_2}[name].COLUMNS
    ours = [(row["row"], number(row["paper"]), number(row["paper_standard_error"])) for row in rows]
    assert ours == [
        (row["dataset"], number(row[key]), number(row[f"{key}_se"]))
        for row in published(name.replace("lin-li-table-", "lin_li_table"))
        for key in columns
    ]
    assert {row["row"] for row in rows if row["ours"]} == set(lin_li.DATASETS)
    assert all(float(row["ours"]) < 55 for row in rows if row["ours"])
    lost = {row["verdict"] for row in rows if row["row"] not in lin_li.DATASETS}
    assert lost == {"no data"}


def has_evgenious_deviations(name, rows):
    printed = {row["dataset"]: row for row in published("evgeniou_table2")}
    for row in rows:
        method = row["column"].lower()
        assert float(row["paper"]) == float(printed[row["row"]][method])
        deviation = float(printed[row["row"]][f"{method}_sd"])
        assert float(row["paper_standard_error"]) == pytest.approx(deviation / 50**0.5)
    assert {row["row"] for row in rows if row["ours"]} == set(evgeniou_table_2.DATASETS)


def has_all_but_the_faces(name, rows):
    printed = {row["dataset"]: row for row in published("evgeniou_table3")}
    titles = evgeniou_table_3.METHODS | evgeniou_table_3.ONLY_FACES
    keys = {title: key for key, title in titles.items()}
    assert all(
        number(row["paper"]) == number(printed[row["row"]][keys[row["column"]]]) for row in rows
    )
    assert {row["row"] for row in rows if row["ours"]} == {"diabetes", "thyroid"}
    faces = [row for row in rows if row["row"] == "faces"]
    assert len(faces) == 7
    assert {row["verdict"] for row in faces} == {"no data"}
    assert all("not to be had" in row["reason"] for row in faces)


def has_wangs_numbers(name, rows):
    dataset = {"2": "fourclass", "3": "ionosphere", "4": "chess", "5": "monk1"}[name[-1]]
    printed = [row for row in published("wang_tables") if row["dataset"] == dataset][:2]
    assert [(row["row"], row["column"], float(row["paper"])) for row in rows] == [
        (f"T = {row['learners']}", title, float(row[f"{method}_acc"]))
        for row in printed
        for method, title in wang.METHODS.items()
    ]
    assert all(40 < float(row["ours"]) <= 100 for row in rows)
    assert not any(row["paper_standard_error"] for row in rows)


# What the figures have


def has_a_row_for_each_run(name, rows):
    assert [row["run"] for row in rows] == [str(run) for run in range(RUNS)]
    work = load_experiment(name).work
    methods = [column for column in rows[0] if column != "run"]
    more = {"methods": methods} if name.startswith("sugiyama") else {}
    again = work(Task("1", {}).seed(0), run=1, **more)
    for method in methods:
        assert float(rows[1][method]) == pytest.approx(again[method], rel=1e-9)


def has_a_row_for_each_width(name, rows):
    datasets = ["heart", "diabetes"] if name == "evgeniou-figure-7" else [None]
    assert [(row.get("dataset"), float(row["log_sigma"])) for row in rows] == [
        (dataset, sigma) for dataset in datasets for sigma in LOG_SIGMAS
    ]


def has_a_row_for_each_share(name, rows):
    assert [row["percent"] for row in rows] == ["10", "50", "90"]
    assert all(30 < float(row[f"{method}_accuracy"]) <= 100 for row in rows for method in METHODS)


METHODS = tuple(wang.METHODS)
CHECKS = {
    "lin-li-table-1": has_the_papers_errors,
    "lin-li-table-2": has_the_papers_errors,
    "evgeniou-table-2": has_evgenious_deviations,
    "evgeniou-table-3": has_all_but_the_faces,
    **{f"wang-table-{k}": has_wangs_numbers for k in (2, 3, 4, 5)},
    "lin-li": has_a_row_for_each_run,
    "evgeniou": has_a_row_for_each_width,
    "wang": has_a_row_for_each_share,
    "sugiyama": has_a_row_for_each_run,
    "sugiyama-figure-30-12-13": lambda name, rows: None,
}


def test_every_experiments_files_are_looked_into():
    assert all(name in CHECKS or name.rpartition("-figure-")[0] in CHECKS for name in NAMES)
