"""The documents: links are valid, examples run, and the benchmarks exist."""

import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from command import run

from everystump.datasets import load_dataset

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks" / "README.md"
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    BENCHMARKS,
    *sorted((ROOT / "docs").rglob("*.md")),
]
CODE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def anchors(text):
    """Return the anchors of the headings, as GitHub forms them."""
    headings = re.findall(r"^#+ (.*)$", CODE.sub("", text), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


def test_links_are_valid():
    broken = []
    for document in DOCUMENTS:
        for link in re.findall(r"\]\(([^)\s]+)\)", CODE.sub("", document.read_text("utf-8"))):
            if re.match(r"\w+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = (document.parent / name) if name else document
            if not target.exists():
                broken.append(f"{document.name}: {link}")
            elif anchor and anchor not in anchors(target.read_text("utf-8")):
                broken.append(f"{document.name}: {link} has no such heading")
    assert not broken


def test_described_benchmarks_exist():
    listed = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--list"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    names = {line.split()[0] for line in listed.stdout.splitlines()}
    described = re.findall(r"\*\*`([\w-]+)`\*\*", BENCHMARKS.read_text("utf-8"))
    assert described
    assert set(described) <= names


def test_the_readme_shows_what_fit_prints(tmp_path, monkeypatch):
    """All but the digits of the objective, which may differ between processors."""
    heart = load_dataset("heart", as_frame=True)
    (tmp_path / "everystump-demo").mkdir()
    heart.data.assign(disease=np.where(heart.target == 1, "yes", "no")).to_csv(
        tmp_path / "everystump-demo" / "heart.csv", index=False
    )
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text("utf-8")
    (block,) = (code for _, code in CODE.findall(text) if "everystump fit " in code)
    command, _, rest = block.partition("\n")
    shown = rest.partition("\n\n$ ")[0]
    done = run(*shlex.split(command)[2:])
    assert done.exit_code == 0, done.output
    printed, shown = (
        re.sub(r"^(Certificate ).*$", r"\1", own.strip(), flags=re.MULTILINE).splitlines()
        for own in (done.stdout, shown)
    )
    assert [line.rstrip() for line in printed] == [line.rstrip() for line in shown]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README.md", "docs/guide.md"])
def test_python_examples_run(name, tmp_path, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    pyplot.switch_backend("agg")
    text = (ROOT / name).read_text("utf-8")
    namespace = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # examples may warn; they must not fail
        for language, code in CODE.findall(text):
            if language == "python":
                exec(compile(code, name, "exec"), namespace)
    pyplot.close("all")
    assert namespace
