"""The framework of the experiments: statistics, the journal, the runner and the page."""

import csv
import json
import math
import os
import zlib
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from everystump.experiments.experiment import Cell, Claim, Experiment, Picture, Report, Task
from everystump.experiments.journal import Journal
from everystump.experiments.page import Finished, summary, write_experiment, write_index
from everystump.experiments.runner import MissingDataError, run_experiment
from everystump.experiments.statistics import (
    count_verdicts,
    mean_of,
    paired,
    standard_errors,
    verdict,
)
from everystump.files import write_text, write_whole

# Statistics


def test_a_mean_has_the_error_of_the_textbook():
    values = np.random.default_rng(0).normal(size=17)
    mean = mean_of(values, scale=100)
    assert mean.value == pytest.approx(100 * values.sum() / 17)
    assert mean.error == pytest.approx(100 * stats.sem(values))
    assert mean.deviation == pytest.approx(100 * stats.tstd(values))


def test_one_run_has_no_error():
    assert mean_of([0.25], scale=100) == (25.0, None, 0.0)


@pytest.mark.parametrize("runs", [2, 5, 100])
def test_the_paired_test_is_scipys(runs):
    rng = np.random.default_rng(runs)
    first = rng.normal(size=runs)
    second = first + rng.normal(0.3, 0.5, size=runs)
    ours, theirs = paired(first, second), stats.ttest_rel(first, second)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert ours.difference / ours.error == pytest.approx(theirs.statistic, rel=1e-9)


def test_less_and_more_need_a_difference_beyond_chance():
    sure, unsure = paired([1, 2, 3.1], [2, 3.1, 4]), paired([1, 5, 3.0], [2, 3.0, 4])
    assert sure.first_is_less and not sure.first_is_more
    assert not unsure.first_is_less and not unsure.first_is_more
    back = paired([2, 3.1, 4], [1, 2, 3.1])
    assert back.first_is_more and not back.first_is_less


def test_differences_that_do_not_vary():
    assert paired([1, 2, 3], [1, 2, 3]).p_value == 1
    assert paired([1, 2, 3], [2, 3, 4]).first_is_less
    assert paired([1.0], [2.0]).p_value == 1  # one run proves nothing


CELL = Cell("heart", "SVM", ours=20.0, ours_error=0.3, paper=18.0, paper_error=0.4)


def test_standard_errors_by_hand():
    assert standard_errors(CELL) == pytest.approx(2 / 0.5)  # 0.3, 0.4, 0.5
    assert standard_errors(replace(CELL, paper_error=None)) == pytest.approx(2 / 0.3)
    assert standard_errors(replace(CELL, ours=16.0)) == pytest.approx(-4)


@pytest.mark.parametrize(
    "change", [{"ours": None}, {"paper": None}, {"ours_error": None, "paper_error": None}]
)
def test_without_a_number_or_an_error_there_are_no_standard_errors(change):
    assert standard_errors(replace(CELL, **change)) is None


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, "differs"),
        ({"reason": "tested"}, "explained"),
        ({"more_is_better": True}, "better"),
        ({"ours": 19.5}, "agrees"),  # 3 standard errors exactly
        ({"ours": 19.51}, "differs"),
        ({"ours": 16.5}, "agrees"),
        ({"ours": 16.0}, "better"),
        ({"ours": 16.0, "reason": "tested"}, "better"),
        ({"ours": 16.0, "more_is_better": True}, "differs"),
        ({"tolerance": 2.0}, "agrees"),
        ({"tolerance": 1.99}, "differs"),
        ({"ours_error": 0.0, "paper_error": None}, "differs"),
        ({"ours": 18.0, "ours_error": 0.0, "paper_error": None}, "agrees"),
        ({"ours": 18.0, "ours_error": None}, "one run"),
        ({"ours": None, "reason": "lost"}, "no data"),
        ({"paper": None}, "no data"),
    ],
)
def test_every_verdict(change, expected):
    assert verdict(replace(CELL, **change)) == expected


def test_verdicts_are_counted():
    cells = [CELL, replace(CELL, ours=18.0), replace(CELL, ours=18.1), replace(CELL, ours=None)]
    assert count_verdicts(cells) == {
        "agrees": 2,
        "better": 0,
        "explained": 0,
        "differs": 1,
        "no data": 1,
        "one run": 0,
    }


# Whole numbers, whose sums and differences are exact.
NUMBERS = st.integers(-1000, 1000).map(float)
ERRORS = st.none() | st.integers(0, 50).map(float)
CELLS = st.builds(
    Cell,
    row=st.just("row"),
    column=st.just("column"),
    ours=st.none() | NUMBERS,
    ours_error=ERRORS,
    paper=st.none() | NUMBERS,
    paper_error=ERRORS,
    tolerance=st.integers(0, 50).map(float),
    more_is_better=st.booleans(),
    reason=st.sampled_from(["", "tested"]),
)


def moved(cell, move, **change):
    """Return a cell with both numbers moved."""
    ours, paper = (None if number is None else move(number) for number in (cell.ours, cell.paper))
    return replace(cell, ours=ours, paper=paper, **change)


@given(CELLS, st.integers(-(10**6), 10**6))
def test_a_verdict_does_not_depend_on_the_origin(cell, shift):
    assert verdict(moved(cell, lambda number: number + shift)) == verdict(cell)


@given(CELLS)
def test_errors_and_accuracies_are_judged_alike(cell):
    mirrored = moved(cell, lambda n: -n, more_is_better=not cell.more_is_better)
    assert verdict(mirrored) == verdict(cell)


@given(CELLS)
def test_good_and_bad_change_places_with_the_numbers(cell):
    """If ours is beyond chance better than the paper's, theirs is worse than ours, and so on."""
    assume(None not in (cell.ours_error, cell.paper_error))
    swapped = replace(
        cell,
        ours=cell.paper,
        paper=cell.ours,
        ours_error=cell.paper_error,
        paper_error=cell.ours_error,
    )
    opposite = {"better": "explained" if cell.reason else "differs"}
    opposite |= {"explained": "better", "differs": "better"}
    assert verdict(swapped) == opposite.get(verdict(cell), verdict(cell))


@given(CELLS, st.floats(0, 1000))
def test_what_agrees_agrees_with_more_tolerance_too(cell, more):
    if verdict(cell) == "agrees":
        assert verdict(replace(cell, tolerance=cell.tolerance + more)) == "agrees"


# Files that are whole or not there


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    out = tmp_path / "page.md"
    write_text(out, "old")

    def fail(path):
        path.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(out, fail)
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
    return again.results == before | {"next": {"n": 4}} and again.damaged == 0


def test_a_journal_gives_back_what_it_got(full):
    again = Journal(full, HEAD)
    assert again.results == RESULTS
    assert again.damaged == 0


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
        assert journal.damaged == (0 if cut in (0, *ends) else 1), cut
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
            assert journal.damaged == 1
    assert goes_on(journal)


def test_a_lost_end_of_line_costs_the_two_lines_that_it_parted(full, tmp_path):
    lines = full.read_bytes().splitlines(keepends=True)
    content = b"".join([lines[0], lines[1][:-1], *lines[2:]])
    journal = opened(tmp_path / "bad.jsonl", content)
    assert journal.results == {"c": RESULTS["c"]}
    assert goes_on(journal)


@settings(deadline=None, max_examples=50)
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
        assert journal.damaged == content.count(b"\n")
        assert goes_on(journal)


@pytest.mark.parametrize(
    ("name", "other"), [("seed", 1), ("edition", 2), ("everystump", "9.9"), ("experiment", "tiny")]
)
def test_a_journal_of_another_kind_is_refused_and_left_alone(full, name, other):
    before = full.read_bytes()
    with pytest.raises(ValueError, match="was begun with") as refused:
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


# Tasks and the runner


def test_a_tasks_seed_comes_from_its_key_and_the_seed_only():
    task = Task("heart/3", {"dataset": "heart", "run": 3}, ("heart",))
    assert task.seed(0) == Task("heart/3", {}).seed(0) == task.seed(0)
    assert task.seed(0) != task.seed(1)
    seeds = {Task(f"{name}/{run}", {}).seed(7) for name in "abcde" for run in range(200)}
    assert len(seeds) == 1000
    assert all(0 <= seed < 2**32 for seed in seeds)


def toy_work(seed, run, *, calls, stop=None):
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
    return Report(curves=records)


@pytest.fixture
def toy(tmp_path):
    """Return a function that makes a small experiment, and the folder of its calls."""
    calls = tmp_path / "calls"
    calls.mkdir()

    def make(stop=None, **change):
        work = partial(toy_work, calls=str(calls), stop=stop)
        experiment = Experiment("toy", "Toy", "Drawn.", 4, toy_tasks, work, toy_report)
        return replace(experiment, **change)

    return make, calls


def called(calls):
    """Return how often each run was called."""
    runs = [path.name.split("-")[0] for path in calls.iterdir()]
    return {int(run): runs.count(run) for run in sorted(runs)}


def records_of(experiment, out, *, runs=4, seed=0, jobs=1, **more):
    return run_experiment(experiment, out, runs=runs, seed=seed, jobs=jobs, **more).report.curves


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
    (journal,) = (tmp_path / "journals").iterdir()
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:2], b"0" + lines[2][1:], *lines[3:]]))
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


def test_tasks_without_their_data_are_left_out_and_told(toy, tmp_path):
    make, calls = toy
    needs = {0: ("heart",), 1: ("not_there",), 2: (), 3: ("heart", "not_there")}

    def tasks(runs):
        return [replace(task, needs=needs[k]) for k, task in enumerate(toy_tasks(runs))]

    told = []
    finished = run_experiment(make(tasks=tasks), tmp_path, runs=4, seed=0, jobs=1, warn=told.append)
    assert [record["run"] for record in finished.report.curves] == [0, 2]
    assert called(calls) == {0: 1, 2: 1}
    assert list(finished.missing) == ["not_there"]
    assert len(told) == 1 and "not_there" in told[0]


def test_nothing_is_done_or_written_without_any_data(toy, tmp_path):
    make, calls = toy

    def tasks(runs):
        return [replace(task, needs=("not_there",)) for task in toy_tasks(runs)]

    with pytest.raises(MissingDataError, match="not_there"):
        records_of(make(tasks=tasks), tmp_path)
    assert called(calls) == {}
    assert list(tmp_path.iterdir()) == [calls]


# The page


def draw():
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1, 1))
    figure.subplots().plot([0, 1])
    return figure


TABLE = [
    Cell("heart", "A", 20.0, 0.3, 18.0, 0.4, reason="tested"),
    Cell("heart", "B", 18.12, 0.3, 18.0, 0.4),
    Cell("sonar", "A", 9.0, 0.5, 18.0, None),
    Cell("sonar", "B", None, None, 18.0, 0.4, reason="lost"),
    Cell("votes", "A", 5.0, 0.25),
]
CLAIMS = [Claim("A wins.", True, "by far."), Claim("B wins.", False, "it loses.")]


def finished(name="toy", missing=None, **report):
    experiment = Experiment(
        name, f"Title of {name}", "\nThe protocol.\n", 4, toy_tasks, toy_work, toy_report
    )
    return Finished(experiment, Report(**report), 4, 7, 90.0, missing or {})


def test_the_csv_has_both_numbers_the_difference_and_the_verdict(tmp_path):
    write_experiment(finished(cells=TABLE), tmp_path)
    with (tmp_path / "toy.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "row",
        "column",
        "paper",
        "paper_standard_error",
        "ours",
        "ours_standard_error",
        "difference_in_standard_errors",
        "verdict",
        "reason",
    ]
    assert [(row["row"], row["column"]) for row in rows] == [(c.row, c.column) for c in TABLE]
    first, _, _, lost, new = (list(row.values())[2:] for row in rows)
    assert [float(text) for text in first[:5]] == pytest.approx([18.0, 0.4, 20.0, 0.3, 4.0])
    assert first[5:] == ["explained", "tested"]
    assert lost == ["18.0", "0.4", "", "", "", "no data", "lost"]
    assert new == ["", "", "5.0", "0.25", "", "no data", ""]


def test_the_table_is_laid_out_as_in_the_paper(tmp_path):
    write_experiment(finished(cells=TABLE), tmp_path)
    text = (tmp_path / "toy.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]
    table = [[entry.strip() for entry in row] for row in rows]
    assert table == [
        ["", "A", "B"],
        ["---", "---", "---"],
        [
            "heart",
            "18.00 ± 0.40 → 20.00 ± 0.30 (+4.0) explained",
            "18.00 ± 0.40 → 18.12 ± 0.30 (+0.2) =",
        ],
        ["sonar", "18.00 → 9.00 ± 0.50 (-18.0) better", "18.00 ± 0.40 → no data"],
        ["votes", "– → 5.00 ± 0.25", ""],
    ]


def test_the_page_says_how_it_was_made_and_why_numbers_differ(tmp_path):
    page = finished(
        cells=TABLE, claims=CLAIMS, notes=["A note."], missing={"usps": "It is not here."}
    )
    write_experiment(page, tmp_path)
    text = (tmp_path / "toy.md").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[0] == "# Title of toy"
    assert "`everystump reproduce toy --runs 4 --seed 7`" in lines
    assert "The protocol." in lines and "A note." in lines
    assert "- heart A: tested" in lines and "- sonar B: lost" in lines
    assert "usps is missing. It is not here." in lines
    assert "- Claim: A wins. **Holds**: by far." in lines
    assert "- Claim: B wins. **Not shown**: it loses." in lines


def test_cells_that_share_a_reason_share_a_line(tmp_path):
    cells = [Cell(row, "A", None, paper=1.0, reason="lost") for row in ("x", "y")]
    write_experiment(finished(cells=[*cells, replace(TABLE[1], reason="unneeded")]), tmp_path)
    text = (tmp_path / "toy.md").read_text(encoding="utf-8")
    assert "- x A, y A: lost" in text.splitlines()
    assert "unneeded" not in text


def test_a_picture_is_written_whole_and_shown(tmp_path):
    from matplotlib.image import imread

    page = finished(pictures=[Picture("-left", "What one sees", draw)], curves=[{"x": 1, "y": 2.5}])
    written = write_experiment(page, tmp_path)
    assert {path.name for path in written} == {"toy-left.png", "toy.csv", "toy.md"}
    assert set(written) == set(tmp_path.iterdir())
    assert imread(tmp_path / "toy-left.png").ndim == 3
    assert (tmp_path / "toy.csv").read_bytes() == b"x,y\n1,2.5\n"
    assert "![What one sees](toy-left.png)" in (tmp_path / "toy.md").read_text(encoding="utf-8")


def test_a_picture_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    page = finished(pictures=[Picture("", "What one sees", draw)])
    write_experiment(page, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(self, path, **_):
        Path(path).write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match="No space"):
        write_experiment(page, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_summary_counts_cells_and_claims():
    report = Report(cells=TABLE, claims=CLAIMS)
    assert summary(report) == (
        "Cells: agrees: 1, better: 1, explained: 1, no data: 2. Claims that hold: 1 of 2."
    )
    assert summary(Report()) == "Drawn."


def test_the_index_has_every_report_and_what_was_not_run(tmp_path):
    pages = [finished("first", cells=TABLE, claims=CLAIMS), finished("second", curves=[{"x": 1}])]
    path = write_index(pages, {"third": "No data."}, tmp_path)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert path == tmp_path / "README.md"
    rows = [[e.strip() for e in line.split("|")[1:-1]] for line in lines if line.startswith("| [")]
    assert rows == [
        ["[first](first.md)", "4", "1", "1", "1", "", "2", "", "1 of 2", "1.5 min"],
        ["[second](second.md)", "4", "", "", "", "", "", "", "", "1.5 min"],
    ]
    assert "Not run: `third`. No data." in lines
    assert [line for line in lines if line.startswith("#")] == [
        "# Results",
        "## Title of first",
        "## Title of second",
    ]
    assert "seed 7" in "\n".join(lines)
