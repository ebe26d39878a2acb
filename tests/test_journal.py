"""Files that are whole, the journal of finished work, and the runner that goes on from it."""

import json
import math
import os
import subprocess
import sys
import tempfile
import zlib
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import search

import everystump
from everystump._experiments.engine import Entry
from everystump._experiments.engine.experiment import Experiment, Report, Task
from everystump._experiments.engine.journal import Journal, exclusive_lock
from everystump._experiments.engine.runner import MissingDataError, run_experiment
from everystump._files import write_atomic, write_text
from everystump._text import InvalidInputError
from everystump.datasets import DatasetNotFoundError

# Files that are whole or not there


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    out = tmp_path / "page.md"
    write_text(out, "old")

    def fail(path):
        path.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomic(out, fail)
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


class Steps:
    """Record the steps by which a file is written, of which one may be told to fail."""

    def __init__(self, monkeypatch):
        self.seen, self.failing, self._handle = [], "", None
        self._make = tempfile.mkstemp
        monkeypatch.setattr(tempfile, "mkstemp", self._made)
        for name in ("fsync", "close", "chmod", "replace"):
            monkeypatch.setattr(os, name, partial(self._step, name, getattr(os, name)))

    def _made(self, **where):
        self._handle, name = self._make(**where)
        return self._handle, name

    def write(self, path):
        path.write_bytes(b"new")
        self._step("write", lambda path: None, path)

    def _step(self, name, call, target, *more):
        if isinstance(target, int) and target != self._handle:
            return call(target, *more)  # the handle of another file
        self.seen.append((name, os.fstat(target).st_size) if name == "fsync" else name)
        if name == "close":
            self._handle = None
            call(target)
        if name == self.failing:
            raise OSError(f"{name} failed")
        return None if name == "close" else call(target, *more)


def test_the_bytes_are_on_the_disk_and_the_file_closed_before_it_is_moved(tmp_path, monkeypatch):
    steps = Steps(monkeypatch)
    write_atomic(tmp_path / "page.md", steps.write)
    assert steps.seen == ["write", ("fsync", 3), "close", "chmod", "replace"]
    assert (tmp_path / "page.md").read_bytes() == b"new"


@pytest.mark.parametrize("failing", ["write", "fsync", "close", "chmod", "replace"])
def test_an_error_in_any_step_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, failing):
    out = tmp_path / "page.md"
    write_text(out, "old")
    with monkeypatch.context() as patched:
        steps = Steps(patched)
        steps.failing = failing
        with pytest.raises(OSError, match=f"{failing} failed"):
            write_atomic(out, steps.write)
    assert "close" in steps.seen
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


# The journal

HEAD = {"experiment": "toy", "edition": 1, "seed": 0, "everystump": "0.1.0"}
RESULTS = {"a": {"error": 0.1 + 0.2}, "b/1": {"text": "ü\r\n", "list": [1, 2.5]}, "c": {"n": 3}}


@pytest.fixture
def full(tmp_path):
    """Return a journal of three results."""
    journal = Journal(tmp_path / "full.jsonl", HEAD)
    for key, result in RESULTS.items():
        journal.add(key, result)
    return journal.path


def opened(path, content):
    path.write_bytes(content)
    return Journal(path, HEAD)


def goes_on(journal):
    """Tell whether a journal that was mended takes a result and keeps all."""
    before = dict(journal.results)
    journal.add("next", {"n": 4})
    again = Journal(journal.path, HEAD)
    return again.results == before | {"next": {"n": 4}} and again.n_damaged == 0


def test_a_journal_gives_back_what_it_got(full):
    again = Journal(full, HEAD)
    assert again.results == RESULTS
    assert again.n_damaged == 0


def test_each_line_is_a_checksum_and_json(full):
    lines = full.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert len(lines) == 4
    for line in lines:
        checksum, text = line.split(" ", 1)
        assert int(checksum, 16) == zlib.crc32(text.encode())
        assert isinstance(json.loads(text), dict)


def test_opening_makes_no_file(tmp_path):
    Journal(tmp_path / "none.jsonl", HEAD)
    assert not list(tmp_path.iterdir())


def test_opening_a_whole_journal_does_not_touch_it(full):
    before = full.read_bytes(), full.stat().st_mtime_ns
    Journal(full, HEAD)
    assert (full.read_bytes(), full.stat().st_mtime_ns) == before


def test_a_result_is_on_the_disk_when_add_returns(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_size))
    journal = Journal(tmp_path / "journal.jsonl", HEAD)
    journal.add("a", {"n": 1})
    assert synced == [journal.path.stat().st_size]


def test_a_journal_cut_at_any_byte_keeps_every_line_before_the_cut(full, tmp_path):
    content = full.read_bytes()
    ends = list(accumulate(len(line) for line in content.split(b"\n")[:-1]))
    ends = [end + k + 1 for k, end in enumerate(ends)]
    for cut in range(len(content) + 1):
        journal = opened(tmp_path / "cut.jsonl", content[:cut])
        kept = sum(end <= cut for end in ends[1:])
        assert journal.results == dict(list(RESULTS.items())[:kept]), cut
        assert journal.n_damaged == (0 if cut in (0, *ends) else 1), cut
        assert goes_on(journal), cut


@pytest.mark.parametrize("mask", [0x01, 0x20, 0x80])
def test_one_changed_byte_costs_one_line(full, tmp_path, mask):
    lines = full.read_bytes().splitlines(keepends=True)
    for k, key in enumerate(RESULTS, start=1):
        for at in range(len(lines[k]) - 1):
            bad = bytearray(lines[k])
            bad[at] ^= mask
            content = b"".join([*lines[:k], bytes(bad), *lines[k + 1 :]])
            journal = opened(tmp_path / "bad.jsonl", content)
            assert journal.results == {name: RESULTS[name] for name in RESULTS if name != key}
            assert journal.n_damaged == 1
    assert goes_on(journal)


def test_a_lost_end_of_line_costs_the_two_lines_that_it_parted(full, tmp_path):
    lines = full.read_bytes().splitlines(keepends=True)
    content = b"".join([lines[0], lines[1][:-1], *lines[2:]])
    journal = opened(tmp_path / "bad.jsonl", content)
    assert journal.results == {"c": RESULTS["c"]}
    assert goes_on(journal)


@search(50)
@given(st.data())
def test_damage_never_changes_a_result(tmp_path_factory, data):
    """Whatever becomes of some bytes, a line is either as it was or dropped."""
    folder = tmp_path_factory.mktemp("damage")
    journal = Journal(folder / "journal.jsonl", HEAD)
    for key, result in RESULTS.items():
        journal.add(key, result)
    content = journal.path.read_bytes()
    at = data.draw(st.integers(0, len(content)))
    gone = data.draw(st.integers(0, 20))
    new = data.draw(st.binary(max_size=20))
    damaged = opened(folder / "journal.jsonl", content[:at] + new + content[at + gone :])
    assert all(RESULTS[key] == result for key, result in damaged.results.items())
    assert goes_on(damaged)


def test_without_its_head_a_journal_is_worth_nothing(full, tmp_path):
    lines = full.read_bytes().splitlines(keepends=True)
    for content in (b"".join(lines[1:]), b"x" + b"".join(lines)):
        journal = opened(tmp_path / "bad.jsonl", content)
        assert journal.results == {}
        assert journal.n_damaged == content.count(b"\n")
        assert goes_on(journal)


@pytest.mark.parametrize(
    ("name", "other"), [("seed", 1), ("edition", 2), ("everystump", "9.9"), ("experiment", "tiny")]
)
def test_a_journal_of_another_kind_is_refused_and_left_alone(full, name, other):
    before = full.read_bytes()
    with pytest.raises(ValueError, match="was started with") as refused:
        Journal(full, HEAD | {name: other})
    sentence = str(refused.value)
    assert str(full) in sentence and f"{name} {HEAD[name]}" in sentence
    assert f"{name} {other}" in sentence and "\n" not in sentence
    assert full.read_bytes() == before


def test_a_result_that_is_no_number_is_refused(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl", HEAD)
    journal.add("a", {"n": 1})
    with pytest.raises(ValueError, match="JSON"):
        journal.add("b", {"n": math.nan})
    assert Journal(journal.path, HEAD).results == {"a": {"n": 1}}


# One process at a time

HOLDER = """
import sys
from pathlib import Path
from everystump._experiments.engine.journal import exclusive_lock
with exclusive_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def held(tmp_path):
    """Return a lock file and another process that holds it."""
    pytest.importorskip("fcntl")
    path = tmp_path / "toy.lock"
    sources = str(Path(everystump.__file__).parents[1])
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": sources},
    )
    with holder:
        assert holder.stdout.readline() == "held\n"
        yield path, holder
        holder.kill()


def check_refused(path):
    entered = False
    with (
        pytest.raises(InvalidInputError, match="Another process is using") as refused,
        exclusive_lock(path),
    ):
        entered = True
    assert not entered
    sentence = str(refused.value)
    assert str(path.parent) in sentence and "\n" not in sentence and sentence.endswith(".")


@pytest.mark.parametrize("end", ["ends", "is killed"])
def test_a_second_process_is_refused_until_the_first(held, end):
    path, holder = held
    check_refused(path)
    check_refused(path)  # to be refused is not to hold
    if end == "ends":
        holder.communicate(timeout=60)
        assert holder.returncode == 0
    else:
        holder.kill()
        assert holder.wait(timeout=60) != 0
    with exclusive_lock(path):
        check_refused(path)
    with exclusive_lock(path):
        pass


def test_a_lock_is_freed_by_an_error(tmp_path):
    with pytest.raises(RuntimeError), exclusive_lock(tmp_path / "toy.lock"):
        raise RuntimeError("broken")
    with exclusive_lock(tmp_path / "toy.lock"):
        pass


# Tasks and the runner


def test_a_tasks_seed_comes_from_its_key_and_the_seed_only():
    task = Task("heart/3", {"dataset": "heart", "run": 3}, ("heart",))
    assert task.seed(0) == Task("heart/3", {}).seed(0) == task.seed(0)
    assert task.seed(0) != task.seed(1)
    seeds = {Task(f"{name}/{run}", {}).seed(7) for name in "abcde" for run in range(200)}
    assert len(seeds) == 1000
    assert all(0 <= seed < 2**32 for seed in seeds)


def toy_task(seed, run, *, calls, stop=None):
    """Leave a file for each call; ``stop`` is a run and what happens at it."""
    Path(calls, f"{run}-{len(list(Path(calls).glob(f'{run}-*')))}").touch()
    if stop and run == stop[0]:
        raise stop[1]
    value = float(np.random.default_rng(seed).normal())
    return {"value": value, "fit_seconds": float(np.random.default_rng().random())}


def toy_tasks(runs):
    return [Task(f"run/{run}", {"run": run}) for run in range(runs)]


def toy_report(records):
    """Put the records themselves where a test can see them."""
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
    """Return how often each run was called."""
    runs = [path.name.split("-")[0] for path in calls.iterdir()]
    return {int(run): runs.count(run) for run in sorted(runs)}


def records_of(experiment, out, *, runs=4, seed=0, jobs=1, **more):
    return run_experiment(experiment, out, runs=runs, seed=seed, jobs=jobs, **more).report.data


def without_times(records):
    return [{k: v for k, v in record.items() if not k.endswith("seconds")} for record in records]


def test_the_number_of_jobs_changes_no_number(toy, tmp_path):
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
def test_an_interrupted_run_goes_on_where_it_stopped(toy, tmp_path, error, stop):
    make, calls = toy
    with pytest.raises(error if isinstance(error, type) else RuntimeError):
        records_of(make(stop=(stop, error)), tmp_path)
    assert called(calls) == dict.fromkeys(range(stop + 1), 1)
    records = records_of(make(), tmp_path)
    assert called(calls) == {run: 2 if run == stop else 1 for run in range(4)}
    assert without_times(records) == without_times(records_of(make(), tmp_path / "fresh"))


def test_a_finished_run_is_not_done_again(toy, tmp_path):
    make, calls = toy
    first = records_of(make(), tmp_path)
    assert records_of(make(), tmp_path) == first  # the times too
    assert called(calls) == dict.fromkeys(range(4), 1)


def test_more_runs_reuse_the_earlier_ones_and_fewer_do_nothing(toy, tmp_path):
    make, calls = toy
    few = records_of(make(), tmp_path, runs=2)
    more = records_of(make(), tmp_path, runs=5)
    assert more[:2] == few
    assert records_of(make(), tmp_path, runs=3) == more[:3]
    assert called(calls) == dict.fromkeys(range(5), 1)


def test_a_damaged_line_is_done_again_and_told(toy, tmp_path):
    make, calls = toy
    first = records_of(make(), tmp_path)
    (journal,) = (tmp_path / "journals").glob("*.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:2], bytes([lines[2][0] ^ 1]) + lines[2][1:], *lines[3:]]))
    told = []
    again = records_of(make(), tmp_path, warn=told.append)
    assert without_times(again) == without_times(first)
    assert called(calls) == {0: 1, 1: 2, 2: 1, 3: 1}
    assert len(told) == 1 and str(journal) in told[0]


def test_another_seed_or_edition_is_refused(toy, tmp_path):
    make, calls = toy
    records_of(make(), tmp_path)
    for experiment, seed in ((make(), 1), (make(edition=2), 0)):
        with pytest.raises(ValueError, match="choose another --out"):
            records_of(experiment, tmp_path, seed=seed)
    assert called(calls) == dict.fromkeys(range(4), 1)


def test_progress_counts_what_the_journal_has(toy, tmp_path):
    make, _ = toy
    records_of(make(), tmp_path, runs=2)
    seen = []
    records_of(make(), tmp_path, runs=4, progress=lambda *counts: seen.append(counts))
    assert seen == [(2, 4), (3, 4), (4, 4)]


# Of the known data sets, fourclass is neither packaged nor to be downloaded.
ABSENT = "fourclass"


@pytest.fixture
def no_folder(monkeypatch):
    """Be a user who has no data of his own."""
    monkeypatch.delenv("EVERYSTUMP_DATA", raising=False)


def needing(*needs):
    """Return tasks that need some data sets each, over and over."""
    return lambda runs: [
        replace(task, datasets=needs[k % len(needs)]) for k, task in enumerate(toy_tasks(runs))
    ]


@pytest.mark.usefixtures("no_folder")
def test_tasks_without_their_data_are_left_out_and_told(toy, tmp_path):
    make, calls = toy
    tasks = needing(("heart",), (ABSENT,), (), ("heart", ABSENT))
    told = []
    finished = run_experiment(make(tasks=tasks), tmp_path, runs=4, seed=0, jobs=1, warn=told.append)
    assert [record["run"] for record in finished.report.data] == [0, 2]
    assert called(calls) == {0: 1, 2: 1}
    assert list(finished.missing) == [ABSENT]
    assert len(told) == 1 and ABSENT in told[0] and finished.missing[ABSENT] in told[0]


def files_in(folder):
    """Return the files of a folder but the locks."""
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]


@pytest.mark.usefixtures("no_folder")
def test_what_is_done_needs_its_data_no_more(toy, tmp_path):
    make, calls = toy
    first = records_of(make(), tmp_path, runs=2)
    told = []
    again = records_of(make(tasks=needing((ABSENT,))), tmp_path, runs=2, warn=told.append)
    assert again == first and told == []
    more = run_experiment(
        make(tasks=needing((ABSENT,))), tmp_path, runs=3, seed=0, jobs=1, warn=told.append
    )
    assert more.report.data == first and list(more.missing) == [ABSENT]
    assert len(told) == 1
    assert called(calls) == {0: 1, 1: 1}


@pytest.mark.usefixtures("no_folder")
def test_nothing_is_done_or_written_without_any_data(toy, tmp_path):
    make, calls = toy
    with pytest.raises(MissingDataError, match=ABSENT):
        records_of(make(tasks=needing((ABSENT,))), tmp_path)
    assert called(calls) == {}
    assert files_in(tmp_path) == []


def check_data_refused(make, calls, out, match):
    """Check that wrong data end the run, though other tasks have theirs, and are not `missing`."""
    before = files_in(out)
    with pytest.raises(InvalidInputError, match=match) as refused:
        records_of(make(tasks=needing(("heart",), (ABSENT,))), out)
    assert not isinstance(refused.value, MissingDataError)
    assert "--out" not in str(refused.value)
    assert called(calls) == {}
    assert files_in(out) == before


def test_a_damaged_data_file_is_refused(toy, tmp_path, monkeypatch):
    (tmp_path / f"{ABSENT}.csv").write_text("a,target\n1,0\n2,1\n")
    monkeypatch.setenv("EVERYSTUMP_DATA", str(tmp_path))
    check_data_refused(*toy, tmp_path, "damaged or is not the known")


def test_a_folder_of_data_that_does_not_exist_is_refused(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("EVERYSTUMP_DATA", str(tmp_path / "nowhere"))
    check_data_refused(*toy, tmp_path, "EVERYSTUMP_DATA=.*nowhere.* cannot be read")


def test_an_unknown_data_set_is_not_missing(toy, tmp_path):
    make, _ = toy
    with pytest.raises(InvalidInputError, match="'not_there' is not a known data set") as refused:
        records_of(make(tasks=needing(("not_there",))), tmp_path)
    assert not isinstance(refused.value, MissingDataError)


def test_an_error_in_the_work_is_no_refusal(toy, tmp_path):
    """A user cannot mend it."""
    make, _ = toy
    for error in (ValueError("broken"), DatasetNotFoundError("broken")):
        with pytest.raises(ValueError, match="broken") as raised:
            records_of(make(stop=(1, error)), tmp_path)
        assert raised.value is error


def test_two_runs_at_once_in_one_folder(toy, tmp_path):
    """The second is refused and harms nothing, and the first ends as if alone."""
    pytest.importorskip("fcntl")
    make, calls = toy
    refused = []

    def try_another(done, total):
        if done == 2:
            with pytest.raises(InvalidInputError, match="Another process is using") as error:
                records_of(make(), tmp_path, runs=9)
            refused.append(str(error.value))

    first = records_of(make(), tmp_path, progress=try_another)
    assert len(refused) == 1
    assert called(calls) == dict.fromkeys(range(4), 1)
    assert records_of(make(), tmp_path) == first
