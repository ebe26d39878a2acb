"""The engine of the experiments: statistics, verdicts and pages."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from everystump._experiments.engine import Entry
from everystump._experiments.engine.experiment import Cell, Claim, Experiment, Plot, Report
from everystump._experiments.engine.pages import (
    ExperimentResult,
    summary,
    write_experiment,
    write_index,
)
from everystump._experiments.engine.statistics import (
    count_verdicts,
    mean_over_runs,
    paired_t_test,
    standard_errors,
    verdict,
)

# Statistics


def test_mean_has_the_textbook_standard_error():
    values = np.random.default_rng(0).normal(size=17)
    mean = mean_over_runs(values, scale=100)
    assert mean.value == pytest.approx(100 * values.sum() / 17)
    assert mean.error == pytest.approx(100 * stats.sem(values))
    assert mean.deviation == pytest.approx(100 * stats.tstd(values))


def test_fewer_than_three_runs_have_no_standard_error():
    assert mean_over_runs([0.25], scale=100) == (25.0, None, 0.0)
    two = mean_over_runs([0.25, 0.75])
    assert two.value == 0.5 and two.error is None and two.deviation == pytest.approx(0.5 / 2**0.5)
    assert mean_over_runs([0.25, 0.5, 0.75]).error == pytest.approx(0.25 / 3**0.5)


@pytest.mark.parametrize("runs", [3, 5, 100])
def test_paired_test_equals_scipy(runs):
    rng = np.random.default_rng(runs)
    first = rng.normal(size=runs)
    second = first + rng.normal(0.3, 0.5, size=runs)
    ours, theirs = paired_t_test(first, second), stats.ttest_rel(first, second)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert ours.difference / ours.error == pytest.approx(theirs.statistic, rel=1e-9)


@pytest.mark.parametrize(("first", "second"), [([1.0], [9.0]), ([1.0, 2.0], [9.0, 10.1])])
def test_fewer_than_three_runs_are_never_significant(first, second):
    test, back = paired_t_test(first, second), paired_t_test(second, first)
    assert np.isnan(test.p_value)
    assert test.difference == pytest.approx(np.mean(first) - np.mean(second))
    assert not test.first_is_lower and not test.first_is_higher
    assert not back.first_is_lower and not back.first_is_higher
    assert test.format() == f"{test.difference:+.2f} points (too few runs for a test)"


def test_lower_and_higher_need_significance():
    clear, unclear = (
        paired_t_test([1, 2, 3.1], [2, 3.1, 4]),
        paired_t_test([1, 5, 3.0], [2, 3.0, 4]),
    )
    assert clear.first_is_lower and not clear.first_is_higher
    assert not unclear.first_is_lower and not unclear.first_is_higher
    back = paired_t_test([2, 3.1, 4], [1, 2, 3.1])
    assert back.first_is_higher and not back.first_is_lower


def test_constant_differences():
    assert paired_t_test([1, 2, 3], [1, 2, 3]).p_value == 1
    assert paired_t_test([1, 2, 3], [2, 3, 4]).first_is_lower
    assert np.isnan(paired_t_test([1, 2], [2, 3]).p_value)


CELL = Cell("heart", "SVM", ours=20.0, ours_error=0.3, paper=18.0, paper_error=0.4)


def test_standard_errors_by_hand():
    assert standard_errors(CELL) == pytest.approx(2 / 0.5)  # 0.3, 0.4, 0.5
    assert standard_errors(replace(CELL, ours=16.0)) == pytest.approx(-4)


@pytest.mark.parametrize(
    "change",
    [
        {"ours": None},
        {"paper": None},
        {"ours_error": None},
        {"paper_error": None},
        {"ours_error": None, "paper_error": None},
        {"ours_error": 0.0, "paper_error": 0.0},
    ],
)
def test_difference_in_standard_errors_needs_both_numbers_and_errors(change):
    assert standard_errors(replace(CELL, **change)) is None


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, "differs"),
        ({"reason": "tested"}, "explained"),
        ({"higher_is_better": True}, "better"),
        ({"ours": 19.5}, "agrees"),  # 3 standard errors exactly
        ({"ours": 19.51}, "differs"),
        ({"ours": 16.5}, "agrees"),
        ({"ours": 16.0}, "better"),
        ({"ours": 16.0, "reason": "tested"}, "better"),
        ({"ours": 16.0, "higher_is_better": True}, "differs"),
        ({"tolerance": 2.0}, "agrees"),
        ({"tolerance": 1.99}, "differs"),
        ({"ours_error": 0.0, "paper_error": None}, "differs"),
        ({"ours": 18.0, "ours_error": 0.0, "paper_error": None}, "agrees"),
        ({"ours": 18.0, "ours_error": None}, "too few runs"),
        ({"ours": None, "reason": "lost"}, "no data"),
        ({"paper": None}, "no data"),
    ],
)
def test_every_verdict(change, expected):
    assert verdict(replace(CELL, **change)) == expected


@pytest.mark.parametrize("error", [0.0, 0.3, 5.0])
@pytest.mark.parametrize(
    ("ours", "higher_is_better", "reason", "expected"),
    [
        (19.0, False, "", "agrees"),
        (17.0, False, "", "agrees"),
        (19.1, False, "", "differs"),
        (19.1, False, "tested", "explained"),
        (16.9, False, "tested", "better"),
        (19.1, True, "", "better"),
        (16.9, True, "", "differs"),
    ],
)
def test_only_the_tolerance_counts_where_the_paper_has_no_error(
    ours, higher_is_better, reason, expected, error
):
    """Our own standard error, however large, does not bound theirs."""
    cell = Cell("row", "column", ours, error, 18.0, None, 1.0, higher_is_better, reason)
    assert verdict(cell) == expected


def test_verdicts_are_counted():
    cells = [CELL, replace(CELL, ours=18.0), replace(CELL, ours=18.1), replace(CELL, ours=None)]
    assert count_verdicts(cells) == {
        "agrees": 2,
        "better": 0,
        "explained": 0,
        "differs": 1,
        "no data": 1,
        "too few runs": 0,
    }


# Integers, so that sums and differences are exact.
NUMBERS = st.integers(-1000, 1000).map(float)
KNOWN_ERRORS = st.integers(0, 50).map(float)
ERRORS = st.none() | KNOWN_ERRORS
CELLS = st.builds(
    Cell,
    row=st.just("row"),
    column=st.just("column"),
    ours=st.none() | NUMBERS,
    ours_error=ERRORS,
    paper=st.none() | NUMBERS,
    paper_error=ERRORS,
    tolerance=st.integers(0, 50).map(float),
    higher_is_better=st.booleans(),
    reason=st.sampled_from(["", "tested"]),
)


def transform(cell, function, **change):
    """Return a cell with both numbers transformed."""
    ours, paper = (None if n is None else function(n) for n in (cell.ours, cell.paper))
    return replace(cell, ours=ours, paper=paper, **change)


@given(CELLS, st.integers(-(10**6), 10**6))
def test_verdict_is_invariant_to_shifts(cell, shift):
    assert verdict(transform(cell, lambda number: number + shift)) == verdict(cell)


@given(CELLS)
def test_errors_and_accuracies_are_treated_alike(cell):
    mirrored = transform(cell, lambda n: -n, higher_is_better=not cell.higher_is_better)
    assert verdict(mirrored) == verdict(cell)


@given(CELLS, KNOWN_ERRORS, KNOWN_ERRORS)
def test_swapping_the_numbers_swaps_better_and_worse(cell, ours_error, paper_error):
    """If ours is significantly better than the paper's, the paper's is worse than ours."""
    cell = replace(cell, ours_error=ours_error, paper_error=paper_error)
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
def test_agreement_persists_with_more_tolerance(cell, more):
    if verdict(cell) == "agrees":
        assert verdict(replace(cell, tolerance=cell.tolerance + more)) == "agrees"


# Pages


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


def make_result(name="toy", missing=None, **report):
    entry = Entry(name, f"Title of {name}", "", runs=4)
    experiment = Experiment(entry, "\nThe protocol.\n", lambda runs: [], dict, lambda _: Report())
    return ExperimentResult(experiment, Report(**report), 4, 7, 90.0, missing or {})


def test_csv_has_both_numbers_the_difference_and_the_verdict(tmp_path):
    write_experiment(make_result(cells=TABLE), tmp_path)
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
    assert lost == ["18", "0.4", "", "", "", "no data", "lost"]
    assert new == ["", "", "5", "0.25", "", "no data", ""]


def test_table_has_the_layout_of_the_paper(tmp_path):
    write_experiment(make_result(cells=TABLE), tmp_path)
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
        ["sonar", "18.00 → 9.00 ± 0.50 better", "18.00 ± 0.40 → no data"],
        ["votes", "– → 5.00 ± 0.25", ""],
    ]


def test_page_has_command_protocol_and_reasons(tmp_path):
    page = make_result(
        cells=TABLE,
        claims=CLAIMS,
        notes=["A note."],
        missing=dict.fromkeys(("a", "b"), "It is not here."),
    )
    write_experiment(page, tmp_path)
    text = (tmp_path / "toy.md").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[0] == "# Title of toy"
    assert "`everystump reproduce toy --runs 4 --seed 7`" in lines
    assert "The protocol." in lines and "A note." in lines
    assert "- heart A: tested" in lines and "- sonar B: lost" in lines
    assert lines.count("Some data are missing. It is not here.") == 1
    assert "- Claim: A wins. **Supported**: by far." in lines
    assert "- Claim: B wins. **Not supported**: it loses." in lines


def test_cells_that_share_a_reason_share_a_line(tmp_path):
    cells = [Cell(row, "A", None, paper=1.0, reason="lost") for row in ("x", "y")]
    write_experiment(make_result(cells=[*cells, replace(TABLE[1], reason="unneeded")]), tmp_path)
    text = (tmp_path / "toy.md").read_text(encoding="utf-8")
    assert "- x A; y A: lost" in text.splitlines()
    assert "unneeded" not in text


def test_plot_is_written_and_linked(tmp_path):
    from matplotlib.image import imread

    page = make_result(plot=Plot("A caption", draw), data=[{"x": 1, "y": 2.5}])
    written = write_experiment(page, tmp_path)
    assert {path.name for path in written} == {"toy.png", "toy.csv", "toy.md"}
    assert set(written) == set(tmp_path.iterdir())
    assert imread(tmp_path / "toy.png").ndim == 3
    assert (tmp_path / "toy.csv").read_bytes() == b"x,y\n1,2.5\n"
    assert "![A caption](toy.png)" in (tmp_path / "toy.md").read_text(encoding="utf-8")


def test_failed_plot_leaves_the_old_file(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    page = make_result(plot=Plot("A caption", draw))
    write_experiment(page, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(self, path, **_):
        Path(path).write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match="No space"):
        write_experiment(page, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_summary_counts_cells_and_claims():
    assert summary(make_result(cells=TABLE, claims=CLAIMS)) == (
        "Cells: agrees: 1, better: 1, explained: 1, no data: 2. Claims supported: 1 of 2."
    )
    assert summary(make_result()) == "Plot only."


def test_too_few_runs_are_reported_instead_of_claims(tmp_path):
    few = replace(make_result(claims=CLAIMS), runs=2)
    assert summary(few) == "Claims supported: too few runs to test."
    write_experiment(few, tmp_path)
    page = (tmp_path / "toy.md").read_text(encoding="utf-8")
    assert page.count("**Too few runs to test**") == 2
    assert "**Supported**" not in page and "**Not supported**" not in page
    index = write_index([few], {}, tmp_path, "everystump reproduce all").read_text("utf-8")
    assert "| too few runs to test |" in index


def test_one_run_is_enough_for_a_deterministic_experiment(tmp_path):
    once = make_result(claims=CLAIMS)
    entry = once.experiment.entry._replace(runs=1)
    once = replace(once, runs=1, experiment=replace(once.experiment, entry=entry))
    assert summary(once) == "Claims supported: 1 of 2."


def test_index_has_all_reports_and_skipped_experiments(tmp_path):
    pages = [
        make_result("first", cells=TABLE, claims=CLAIMS),
        make_result("second", data=[{"x": 1}]),
    ]
    command = "everystump reproduce all --runs 4"
    path = write_index(pages, {"third": "No data."}, tmp_path, command)
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
    assert lines[2].startswith(f"Generated by `{command}`, seed 7, with everystump ")
