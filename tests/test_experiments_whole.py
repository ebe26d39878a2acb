"""A small version of every experiment, from its tasks to its files.

Datasets that are not packaged are replaced by small simulated ones of the same form.
"""

import csv
import re

import numpy as np
import pytest
from sklearn.utils import Bunch

from everystump._experiments import NAMES, load_experiment
from everystump._experiments.engine import runner
from everystump._experiments.engine.experiment import Task
from everystump._experiments.engine.pages import write_experiment
from everystump._experiments.evgeniou import protocol as evgeniou
from everystump._experiments.evgeniou import table_2 as evgeniou_table_2
from everystump._experiments.evgeniou import table_3 as evgeniou_table_3
from everystump._experiments.evgeniou import tuning
from everystump._experiments.lin_li import figure_2, table_1, table_2
from everystump._experiments.lin_li import protocol as lin_li
from everystump._experiments.published import load_published, parse_number
from everystump._experiments.sugiyama import simulation
from everystump._experiments.wang import figures, methods, tables
from everystump.datasets import load_dataset

RUNS = 2
LOG_SIGMAS = (0.5, 1.5)
WITHOUT_PLOTS = {"lin-li-table-1", "lin-li-table-2", "evgeniou-table-2", "evgeniou-table-3"}


def simulated(name):
    """Return a simulated dataset of the same form as one that is not packaged."""
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
    table = simulated(name)
    return (table.data, table.target) if return_X_y else table


@pytest.fixture
def quick(monkeypatch):
    """Use smaller constants than the papers, and simulated data instead of files."""
    cached = (evgeniou.load_data, methods.load_data, lin_li.load_real)
    for module in (runner, evgeniou, methods, lin_li):
        monkeypatch.setattr(module, "load_dataset", load)
    for function in cached:
        function.cache_clear()
    smaller = {
        lin_li: {
            "DATASETS": {name: lin_li.DATASETS[name] for name in ("twonorm-n", "heart")},
            "N_TRAIN": 60,
            "N_TEST": 200,
            "N_FOLDS": 2,
            "STUMP_GRID": 2.0 ** np.array([-9, -5]),
        },
        table_2: {"GAUSSIAN_GRID": {"C": [1.0, 8.0], "gamma": [0.125]}},
        figure_2: {"ROUNDS": 10, "RESOLUTION": 21},
        evgeniou: {"N_SVMS": 3, "N_TEST_USPS": 80},
        evgeniou_table_3: {"N_SVMS": 3},
        tuning: {"CS": (1.0,)},
        methods: {"N_TIMINGS": 1},
        tables: {"ROUNDS": (100, 200), "N_FOLDS": 2},
        figures: {"ROUNDS": 10, "PERCENTAGES": (10, 50, 90)},
        simulation: {"N_STUMPS": 20, "N_TEST": 300},
    }
    for module, constants in smaller.items():
        for name, value in constants.items():
            assert hasattr(module, name)
            monkeypatch.setattr(module, name, value)
    monkeypatch.setitem(evgeniou.N_TRAIN, "usps", 50)
    for name in evgeniou.LOG_SIGMAS:
        monkeypatch.setitem(evgeniou.LOG_SIGMAS, name, np.array(LOG_SIGMAS))
    yield
    for function in cached:
        function.cache_clear()


def is_plot(path):
    from matplotlib.image import imread

    height, width, _ = imread(path).shape
    return height > 100 and width > 100 and path.stat().st_size > 10_000


# One of each kind; the others are slow.
FIRST = {
    "lin-li-table-1",
    "lin-li-table-2",
    "lin-li-figure-2",
    "evgeniou-table-2",
    "evgeniou-figure-1",
    "evgeniou-figure-7",
    "wang-table-5",
    "wang-figure-5",
    "sugiyama-figure-30-7",
    "sugiyama-figure-30-12-13",
}
EXPERIMENTS = [pytest.param(name, marks=[pytest.mark.slow] * (name not in FIRST)) for name in NAMES]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiment_runs_and_writes_its_files(name, tmp_path):
    experiment = load_experiment(name)
    result = runner.run_experiment(experiment, tmp_path, runs=RUNS, seed=0, jobs=1)
    assert result.missing == {} and result.seconds > 0
    files = {path.name for path in write_experiment(result, tmp_path)}
    plots = set() if name in WITHOUT_PLOTS else {f"{name}.png"}
    assert files == {f"{name}.csv", f"{name}.md"} | plots
    assert {path.name for path in tmp_path.iterdir()} == files | {"journals"}
    assert all(is_plot(tmp_path / plot) for plot in plots)
    page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    assert experiment.protocol.strip() in page
    assert f"everystump reproduce {name} --runs {RUNS} --seed 0" in page
    assert not re.search(r"\b(nan|inf)\b", page)
    assert all(claim.text in page and claim.evidence in page for claim in result.report.claims)
    assert result.report.claims
    with (tmp_path / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    paper = name.rpartition("-figure-")[0] or name
    CHECKS.get(name, CHECKS.get(paper))(name, rows)


# The contents of the tables


def check_errors_of_lin_and_li(name, rows):
    """Check that the cells of a table have the paper's numbers, in the same order."""
    columns = {"lin-li-table-1": table_1, "lin-li-table-2": table_2}[name].COLUMNS
    ours = [
        (row["row"], parse_number(row["paper"]), parse_number(row["paper_standard_error"]))
        for row in rows
    ]
    assert ours == [
        (row["dataset"], parse_number(row[key]), parse_number(row[f"{key}_se"]))
        for row in load_published(name.replace("lin-li-table-", "lin_li_table"))
        for key in columns
    ]
    assert {row["row"] for row in rows if row["ours"]} == set(lin_li.DATASETS)
    assert all(float(row["ours"]) < 55 for row in rows if row["ours"])
    absent = {row["verdict"] for row in rows if row["row"] not in lin_li.DATASETS}
    assert absent == {"no data"}


def check_deviations_of_evgeniou(name, rows):
    printed = {row["dataset"]: row for row in load_published("evgeniou_table2")}
    for row in rows:
        method = row["column"].lower()
        assert float(row["paper"]) == float(printed[row["row"]][method])
        deviation = float(printed[row["row"]][f"{method}_sd"])
        assert float(row["paper_standard_error"]) == pytest.approx(deviation / 50**0.5)
    assert {row["row"] for row in rows if row["ours"]} == set(evgeniou_table_2.DATASETS)


def check_all_but_the_faces(name, rows):
    printed = {row["dataset"]: row for row in load_published("evgeniou_table3")}
    titles = evgeniou_table_3.METHODS | evgeniou_table_3.FACES_ONLY
    keys = {title: key for key, title in titles.items()}
    assert all(
        parse_number(row["paper"]) == parse_number(printed[row["row"]][keys[row["column"]]])
        for row in rows
    )
    assert {row["row"] for row in rows if row["ours"]} == {"diabetes", "thyroid"}
    faces = [row for row in rows if row["row"] == "faces"]
    assert len(faces) == 7
    assert {row["verdict"] for row in faces} == {"no data"}
    assert all("not available" in row["reason"] for row in faces)


def check_numbers_of_wang(name, rows):
    dataset = {"2": "fourclass", "3": "ionosphere", "4": "chess", "5": "monk1"}[name[-1]]
    printed = [row for row in load_published("wang_tables") if row["dataset"] == dataset][:2]
    assert [(row["row"], row["column"], float(row["paper"])) for row in rows] == [
        (f"T = {row['learners']}", title, float(row[f"{method}_acc"]))
        for row in printed
        for method, title in methods.METHODS.items()
    ]
    assert all(40 < float(row["ours"]) <= 100 for row in rows)
    assert not any(row["paper_standard_error"] for row in rows)


# The contents of the figures


def check_one_row_per_run(name, rows):
    assert [row["run"] for row in rows] == [str(run) for run in range(RUNS)]
    run_task = load_experiment(name).run_task
    columns = [column for column in rows[0] if column != "run"]
    more = {"methods": columns} if name.startswith("sugiyama") else {}
    again = run_task(Task("1", {}).seed(0), run=1, **more)
    for method in columns:
        assert float(rows[1][method]) == pytest.approx(again[method], rel=1e-9)


def check_one_row_per_sigma(name, rows):
    datasets = ["heart", "diabetes"] if name == "evgeniou-figure-7" else [None]
    assert [(row.get("dataset"), float(row["log_sigma"])) for row in rows] == [
        (dataset, sigma) for dataset in datasets for sigma in LOG_SIGMAS
    ]


def check_one_row_per_percentage(name, rows):
    assert [row["percent"] for row in rows] == ["10", "50", "90"]
    assert all(
        30 < float(row[f"{method}_accuracy"]) <= 100 for row in rows for method in methods.METHODS
    )


CHECKS = {
    "lin-li-table-1": check_errors_of_lin_and_li,
    "lin-li-table-2": check_errors_of_lin_and_li,
    "evgeniou-table-2": check_deviations_of_evgeniou,
    "evgeniou-table-3": check_all_but_the_faces,
    **{f"wang-table-{k}": check_numbers_of_wang for k in (2, 3, 4, 5)},
    "lin-li": check_one_row_per_run,
    "evgeniou": check_one_row_per_sigma,
    "wang": check_one_row_per_percentage,
    "sugiyama": check_one_row_per_run,
    "sugiyama-figure-30-12-13": lambda name, rows: None,
}


def test_files_of_every_experiment_are_checked():
    assert all(name in CHECKS or name.rpartition("-figure-")[0] in CHECKS for name in NAMES)
