"""The journal of finished tasks, and the lock of its folder."""

import json
import math
import os
import subprocess
import sys
import zlib
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import search

import everystump
from everystump._experiments.engine.journal import Journal, exclusive_lock
from everystump._text import InvalidInputError

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


def takes_more(journal):
    """Return whether a repaired journal accepts a result and keeps the others."""
    before = dict(journal.results)
    journal.add("next", {"n": 4})
    again = Journal(journal.path, HEAD)
    return again.results == before | {"next": {"n": 4}} and again.n_damaged == 0


def test_results_are_read_back(full):
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


def test_opening_creates_no_file(tmp_path):
    Journal(tmp_path / "none.jsonl", HEAD)
    assert not list(tmp_path.iterdir())


def test_opening_does_not_modify_an_intact_journal(full):
    before = full.read_bytes(), full.stat().st_mtime_ns
    Journal(full, HEAD)
    assert (full.read_bytes(), full.stat().st_mtime_ns) == before


def test_result_is_on_disk_when_add_returns(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_size))
    journal = Journal(tmp_path / "journal.jsonl", HEAD)
    journal.add("a", {"n": 1})
    assert synced == [journal.path.stat().st_size]


def test_truncated_journal_keeps_every_complete_line(full, tmp_path):
    content = full.read_bytes()
    ends = list(accumulate(len(line) for line in content.split(b"\n")[:-1]))
    ends = [end + k + 1 for k, end in enumerate(ends)]
    for cut in range(len(content) + 1):
        journal = opened(tmp_path / "cut.jsonl", content[:cut])
        kept = sum(end <= cut for end in ends[1:])
        assert journal.results == dict(list(RESULTS.items())[:kept]), cut
        assert journal.n_damaged == (0 if cut in (0, *ends) else 1), cut
        assert takes_more(journal), cut


@pytest.mark.parametrize("mask", [0x01, 0x20, 0x80])
def test_changed_byte_drops_one_line(full, tmp_path, mask):
    lines = full.read_bytes().splitlines(keepends=True)
    for k, key in enumerate(RESULTS, start=1):
        for at in range(len(lines[k]) - 1):
            bad = bytearray(lines[k])
            bad[at] ^= mask
            content = b"".join([*lines[:k], bytes(bad), *lines[k + 1 :]])
            journal = opened(tmp_path / "bad.jsonl", content)
            assert journal.results == {name: RESULTS[name] for name in RESULTS if name != key}
            assert journal.n_damaged == 1
    assert takes_more(journal)


def test_lost_line_ending_drops_two_lines(full, tmp_path):
    lines = full.read_bytes().splitlines(keepends=True)
    content = b"".join([lines[0], lines[1][:-1], *lines[2:]])
    journal = opened(tmp_path / "bad.jsonl", content)
    assert journal.results == {"c": RESULTS["c"]}
    assert takes_more(journal)


@search(50)
@given(st.data())
def test_damage_never_changes_a_result(tmp_path_factory, data):
    """Whatever bytes change, a line is either unchanged or dropped."""
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
    assert takes_more(damaged)


def test_journal_without_its_head_is_dropped(full, tmp_path):
    lines = full.read_bytes().splitlines(keepends=True)
    for content in (b"".join(lines[1:]), b"x" + b"".join(lines)):
        journal = opened(tmp_path / "bad.jsonl", content)
        assert journal.results == {}
        assert journal.n_damaged == content.count(b"\n")
        assert takes_more(journal)


@pytest.mark.parametrize(
    ("name", "other"), [("seed", 1), ("edition", 2), ("everystump", "9.9"), ("experiment", "tiny")]
)
def test_journal_of_another_run_is_rejected_and_not_modified(full, name, other):
    before = full.read_bytes()
    with pytest.raises(ValueError, match="was started with") as raised:
        Journal(full, HEAD | {name: other})
    message = str(raised.value)
    assert str(full) in message and f"{name} {HEAD[name]}" in message
    assert f"{name} {other}" in message and "\n" not in message
    assert full.read_bytes() == before


def test_nan_is_rejected(tmp_path):
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


def check_locked(path):
    entered = False
    with (
        pytest.raises(InvalidInputError, match="Another process is using") as raised,
        exclusive_lock(path),
    ):
        entered = True
    assert not entered
    message = str(raised.value)
    assert str(path.parent) in message and "\n" not in message and message.endswith(".")


@pytest.mark.parametrize("end", ["ends", "is killed"])
def test_second_process_fails_until_the_first(held, end):
    path, holder = held
    check_locked(path)
    check_locked(path)  # a failed attempt does not hold the lock
    if end == "ends":
        holder.communicate(timeout=60)
        assert holder.returncode == 0
    else:
        holder.kill()
        assert holder.wait(timeout=60) != 0
    with exclusive_lock(path):
        check_locked(path)
    with exclusive_lock(path):
        pass


def test_lock_is_released_by_an_error(tmp_path):
    with pytest.raises(RuntimeError), exclusive_lock(tmp_path / "toy.lock"):
        raise RuntimeError("broken")
    with exclusive_lock(tmp_path / "toy.lock"):
        pass
