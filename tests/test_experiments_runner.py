"""Tasks, and the runner that runs and resumes them."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from everystump._experiments.engine import Entry
from everystump._experiments.engine.experiment import Experiment, Report, Task
from everystump._experiments.engine.runner import MissingDataError, run_experiment
from everystump._text import InvalidInputError
from everystump.datasets import DatasetNotFoundError


def test_seed_of_a_task_depends_only_on_its_key_and_the_seed():
    task = Task("heart/3", {"dataset": "heart", "run": 3}, ("heart",))
    assert task.seed(0) == Task("heart/3", {}).seed(0) == task.seed(0)
    assert task.seed(0) != task.seed(1)
    seeds = {Task(f"{name}/{run}", {}).seed(7) for name in "abcde" for run in range(200)}
    assert len(seeds) == 1000
    assert all(0 <= seed < 2**32 for seed in seeds)


def toy_task(seed, run, *, calls, stop=None):
    """Create a file for each call; ``stop`` is a run and the error to raise in it."""
    Path(calls, f"{run}-{len(list(Path(calls).glob(f'{run}-*')))}").touch()
    if stop and run == stop[0]:
        raise stop[1]
    value = float(np.random.default_rng(seed).normal())
    return {"value": value, "fit_seconds": float(np.random.default_rng().random())}


def toy_tasks(runs):
    return [Task(f"run/{run}", {"run": run}) for run in range(runs)]


def toy_report(records):
    """Return the records as the data of the report."""
    return Report(data=records)


@pytest.fixture
def toy(tmp_path):
    """Return a function that makes a small experiment, and the folder of its calls."""
    calls = tmp_path / "calls"
    calls.mkdir()

    def make(stop=None, *, tasks=toy_tasks, edition=1):
        entry = Entry("toy", "Toy", "", runs=4, edition=edition)
        run_task = partial(toy_task, calls=str(calls), stop=stop)
        return Experiment(entry, "The protocol.", tasks, run_task, toy_report)

    return make, calls


def called(calls):
    """Return the number of calls of each run."""
    runs = [path.name.split("-")[0] for path in calls.iterdir()]
    return {int(run): runs.count(run) for run in sorted(runs)}


def records_of(experiment, out, *, runs=4, seed=0, jobs=1, **more):
    return run_experiment(experiment, out, runs=runs, seed=seed, jobs=jobs, **more).report.data


def without_times(records):
    return [{k: v for k, v in record.items() if not k.endswith("seconds")} for record in records]


def test_results_do_not_depend_on_the_number_of_jobs(toy, tmp_path):
    make, _ = toy
    one = records_of(make(), tmp_path / "one", runs=6)
    two = records_of(make(), tmp_path / "two", runs=6, jobs=2)
    assert without_times(one) == without_times(two)
    assert [record["run"] for record in two] == list(range(6))
    assert len({record["value"] for record in one}) == 6
    other = records_of(make(), tmp_path / "other", runs=6, seed=1)
    assert not {r["value"] for r in one} & {r["value"] for r in other}


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError("broken")])
@pytest.mark.parametrize("stop", [0, 2, 3])
def test_interrupted_run_resumes(toy, tmp_path, error, stop):
    make, calls = toy
    with pytest.raises(error if isinstance(error, type) else RuntimeError):
        records_of(make(stop=(stop, error)), tmp_path)
    assert called(calls) == dict.fromkeys(range(stop + 1), 1)
    records = records_of(make(), tmp_path)
    assert called(calls) == {run: 2 if run == stop else 1 for run in range(4)}
    assert without_times(records) == without_times(records_of(make(), tmp_path / "fresh"))


def test_finished_run_is_not_repeated(toy, tmp_path):
    make, calls = toy
    first = records_of(make(), tmp_path)
    assert records_of(make(), tmp_path) == first  # including the times
    assert called(calls) == dict.fromkeys(range(4), 1)


def test_more_runs_reuse_earlier_ones_and_fewer_run_nothing(toy, tmp_path):
    make, calls = toy
    few = records_of(make(), tmp_path, runs=2)
    more = records_of(make(), tmp_path, runs=5)
    assert more[:2] == few
    assert records_of(make(), tmp_path, runs=3) == more[:3]
    assert called(calls) == dict.fromkeys(range(5), 1)


def test_damaged_line_is_run_again_and_reported(toy, tmp_path):
    make, calls = toy
    first = records_of(make(), tmp_path)
    (journal,) = (tmp_path / "journals").glob("*.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:2], bytes([lines[2][0] ^ 1]) + lines[2][1:], *lines[3:]]))
    messages = []
    again = records_of(make(), tmp_path, warn=messages.append)
    assert without_times(again) == without_times(first)
    assert called(calls) == {0: 1, 1: 2, 2: 1, 3: 1}
    assert len(messages) == 1 and str(journal) in messages[0]


def test_another_seed_or_edition_is_rejected(toy, tmp_path):
    make, calls = toy
    records_of(make(), tmp_path)
    for experiment, seed in ((make(), 1), (make(edition=2), 0)):
        with pytest.raises(ValueError, match="choose another --out"):
            records_of(experiment, tmp_path, seed=seed)
    assert called(calls) == dict.fromkeys(range(4), 1)


def test_progress_counts_finished_tasks(toy, tmp_path):
    make, _ = toy
    records_of(make(), tmp_path, runs=2)
    calls = []
    records_of(make(), tmp_path, runs=4, progress=lambda *counts: calls.append(counts))
    assert calls == [(2, 4), (3, 4), (4, 4)]


# The known dataset fourclass is neither packaged nor available at OpenML.
ABSENT = "fourclass"


@pytest.fixture
def no_folder(monkeypatch):
    """Unset the user's data folder."""
    monkeypatch.delenv("EVERYSTUMP_DATA", raising=False)


def needing(*needs):
    """Return tasks that need the given datasets in turn."""
    return lambda runs: [
        replace(task, datasets=needs[k % len(needs)]) for k, task in enumerate(toy_tasks(runs))
    ]


@pytest.mark.usefixtures("no_folder")
def test_tasks_without_data_are_skipped_and_reported(toy, tmp_path):
    make, calls = toy
    tasks = needing(("heart",), (ABSENT,), (), ("heart", ABSENT))
    messages = []
    finished = run_experiment(
        make(tasks=tasks), tmp_path, runs=4, seed=0, jobs=1, warn=messages.append
    )
    assert [record["run"] for record in finished.report.data] == [0, 2]
    assert called(calls) == {0: 1, 2: 1}
    assert list(finished.missing) == [ABSENT]
    assert len(messages) == 1 and ABSENT in messages[0] and finished.missing[ABSENT] in messages[0]


def files_in(folder):
    """Return the files of a folder except the locks."""
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]


@pytest.mark.usefixtures("no_folder")
def test_finished_tasks_do_not_need_their_data(toy, tmp_path):
    make, calls = toy
    first = records_of(make(), tmp_path, runs=2)
    messages = []
    again = records_of(make(tasks=needing((ABSENT,))), tmp_path, runs=2, warn=messages.append)
    assert again == first and messages == []
    more = run_experiment(
        make(tasks=needing((ABSENT,))), tmp_path, runs=3, seed=0, jobs=1, warn=messages.append
    )
    assert more.report.data == first and list(more.missing) == [ABSENT]
    assert len(messages) == 1
    assert called(calls) == {0: 1, 1: 1}


@pytest.mark.usefixtures("no_folder")
def test_nothing_is_run_or_written_without_any_data(toy, tmp_path):
    make, calls = toy
    with pytest.raises(MissingDataError, match=ABSENT):
        records_of(make(tasks=needing((ABSENT,))), tmp_path)
    assert called(calls) == {}
    assert files_in(tmp_path) == []


def check_data_rejected(make, calls, out, match):
    """Check that damaged data end the run, even if other tasks have valid data."""
    before = files_in(out)
    with pytest.raises(InvalidInputError, match=match) as raised:
        records_of(make(tasks=needing(("heart",), (ABSENT,))), out)
    assert not isinstance(raised.value, MissingDataError)
    assert "--out" not in str(raised.value)
    assert called(calls) == {}
    assert files_in(out) == before


def test_damaged_data_file_is_rejected(toy, tmp_path, monkeypatch):
    (tmp_path / f"{ABSENT}.csv").write_text("a,target\n1,0\n2,1\n")
    monkeypatch.setenv("EVERYSTUMP_DATA", str(tmp_path))
    check_data_rejected(*toy, tmp_path, "damaged or is not the known")


def test_missing_data_folder_is_rejected(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("EVERYSTUMP_DATA", str(tmp_path / "nowhere"))
    check_data_rejected(*toy, tmp_path, "EVERYSTUMP_DATA=.*nowhere.* cannot be read")


def test_unknown_dataset_is_not_reported_as_missing(toy, tmp_path):
    make, _ = toy
    with pytest.raises(InvalidInputError, match="'not_there' is not a known dataset") as raised:
        records_of(make(tasks=needing(("not_there",))), tmp_path)
    assert not isinstance(raised.value, MissingDataError)


def test_errors_of_tasks_are_raised(toy, tmp_path):
    make, _ = toy
    for error in (ValueError("broken"), DatasetNotFoundError("broken")):
        with pytest.raises(ValueError, match="broken") as raised:
            records_of(make(stop=(1, error)), tmp_path)
        assert raised.value is error


def test_concurrent_runs_in_one_folder(toy, tmp_path):
    """The second fails without effect on the first."""
    pytest.importorskip("fcntl")
    make, calls = toy
    errors = []

    def try_another(done, total):
        if done == 2:
            with pytest.raises(InvalidInputError, match="Another process is using") as raised:
                records_of(make(), tmp_path, runs=9)
            errors.append(str(raised.value))

    first = records_of(make(), tmp_path, progress=try_another)
    assert len(errors) == 1
    assert called(calls) == dict.fromkeys(range(4), 1)
    assert records_of(make(), tmp_path) == first
