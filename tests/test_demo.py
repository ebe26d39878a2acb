"""The demonstration as a user runs it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import everystump
from everystump._files import write_atomic
from everystump.demo import main

PNG = b"\x89PNG\r\n\x1a\n"


def demo(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "everystump.demo", *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(Path(everystump.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_demo_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONWARNINGS", "error::RuntimeWarning")
    out = tmp_path / "demo"
    run = demo("--out", str(out), cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    check_demo(run.stdout, out)


def test_the_demo_runs_in_this_process(tmp_path, monkeypatch, capsys):
    """Without its warm-up, and with a smaller grid for the Gaussian SVM: a third of the time."""
    small = GridSearchCV(SVC(), {"C": [0.1, 1.0]})
    monkeypatch.setattr("everystump.demo._gaussian_svm", lambda: small)
    announced = []
    monkeypatch.setattr(
        "everystump.demo._warm_up", lambda data: announced.append(capsys.readouterr().out)
    )
    out = tmp_path / "demo"
    monkeypatch.setattr(sys, "argv", ["everystump.demo", "--out", str(out)])
    main()
    printed = capsys.readouterr()
    assert announced == ["Loading compiled code: "] and printed.err == ""
    check_demo(printed.out, out)


def check_demo(printed, out):
    """Check what the demo printed, and the files that it wrote."""
    lines = printed.splitlines()
    assert re.fullmatch(r"heart: \d+ training rows, \d+ held-out rows, 13 features", lines[2])
    rows = [line for line in lines if re.search(r"\d+\.\d \+- +\d\.\d% +\d+\.\d\d s$", line)]
    names = ["StumpLogisticRegressionCV", "StumpSVCCV", "AdaBoost", "Gaussian SVM"]
    assert [row.startswith(name) for row, name in zip(rows, names, strict=True)] == [True] * 4
    errors = [float(re.search(r"(\d+\.\d) \+-", row)[1]) for row in rows]
    assert 5 < errors[0] < 30
    proof = re.search(r"objective (\S+), .* lower bound (\S+) \(relative gap (\S+)\)", printed)
    primal, dual, gap = map(float, proof.groups())
    assert dual <= primal and gap <= 1e-3
    names = ["heart.html", "heart.png", "heart.sql", "heart.stump", "heart.csv"]
    assert {path.name for path in out.iterdir()} == set(names)
    assert [line.split()[-1] for line in lines[-5:]] == [str(out / name) for name in names]
    assert (out / "heart.png").read_bytes().startswith(PNG)
    assert (out / "heart.html").read_text().startswith("<!")
    assert everystump.load(out / "heart.stump").certificate_.gap == pytest.approx(gap, rel=0.1)
    assert [path.name for path in out.parent.iterdir()] == ["demo"]


def test_an_invalid_output_folder_is_reported_in_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "demo"):
        monkeypatch.setattr(sys, "argv", ["everystump.demo", "--out", str(folder)])
        with pytest.raises(SystemExit, match=r"^--out .*\.$"):  # printed to standard error
            main()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_failed_write_leaves_nothing_behind(tmp_path):
    out = tmp_path / "page"
    out.write_text("old")

    def fail(path):
        path.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomic(out, fail)
    assert [path.name for path in tmp_path.iterdir()] == ["page"]
    assert out.read_text() == "old"
    write_atomic(out, lambda path: path.write_text("new"))
    assert out.read_text() == "new"
