"""`everystump fit` and `predict` in chunks: the same models and predictions as in memory."""

import errno
import gzip
import json
import os
import tempfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from command import input_error, run

import everystump
from everystump._workflow import matching, predictions, spool, streaming
from everystump._workflow.options import Dialect
from everystump._workflow.reading import stream
from everystump._workflow.reading.files import read_file
from everystump._workflow.reading.stream import FileStream, ReadOptions


def people(n=1200, seed=0):
    """Numbers, dates, text with separators, booleans, amounts, and a constant column."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(18, 60, n), "pay": rng.normal(size=n).round(1)})
    frame["job"] = np.array(["cook, chef", "smith", None], dtype=object)[rng.integers(0, 3, n)]
    frame["member"] = rng.random(n) < 0.5
    frame["when"] = pd.date_range("2020-01-01", periods=n).strftime("%d.%m.%Y")
    frame["price"] = [f"${1 + k // 10},{k % 10}00" for k in rng.integers(0, 50, n)]
    frame["planet"] = "earth"
    frame["sick"] = np.where(
        frame["age"] + 30 * frame["pay"] + rng.normal(size=n) > 35, "yes", "no"
    )
    frame.loc[5, "pay"] = None
    frame.loc[7, "sick"] = None
    return frame


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch, tmp_path):
    monkeypatch.setattr(stream, "BLOCK", 1 << 13)
    monkeypatch.setattr(stream, "default_chunk_size", lambda n_columns: 200)
    monkeypatch.setattr(predictions, "BLOCK", 1 << 13)
    monkeypatch.setattr(spool, "_SCHEMA_ROWS", 400)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    yield
    assert not list(scratch.iterdir())  # after success and after errors


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False, row_group_size=300)
    else:
        frame.to_csv(path, index=False)
    return path


def fit(data, out, *options):
    done = run("fit", data, "--target", "sick", "-o", out, "--force", *options)
    assert done.exit_code == 0, done.output
    return everystump.load(out), done.output


def assert_same_models(first, second):
    """Equal up to the tolerance of the solver: C is the same, and so are the bins."""
    assert first.classes_.tolist() == second.classes_.tolist()
    assert first.feature_names_in_.tolist() == second.feature_names_in_.tolist()
    assert first.about_["n_rows"] == second.about_["n_rows"]
    assert first.about_["class_counts"] == second.about_["class_counts"]
    one, other = (model.about_["figures"] for model in (first, second))
    assert one["n_wrong"] == other["n_wrong"] and one["n_rows"] == other["n_rows"]
    assert np.isclose(first.about_["error"]["value"], second.about_["error"]["value"])
    one, other = (model.about_["certificate"]["primal"] for model in (first, second))
    assert np.isclose(one, other, rtol=1e-3)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet"])
def test_stream_equals_memory(tmp_path, name):
    data = write(people(), tmp_path / name)
    options = ("--interactions", 0)
    memory, _ = fit(data, tmp_path / "memory.stump", *options, "--no-stream")
    streamed, output = fit(data, tmp_path / "stream.stump", *options, "--stream")
    assert_same_models(streamed, memory)
    assert streamed.C == memory.C_ == streamed.about_["path"]["chosen"]
    assert "1,199 rows; schema of the first" in output
    assert "Dropped 1 row with a missing 'sick'" in output and "Read in chunks" in output
    assert "Dropped (constant): planet." in output
    assert [bound["name"] for bound in streamed.about_["bounds"]] == ["validation_bound"]
    X = memory.about_["origin"]
    assert streamed.about_["origin"] == X
    done = run("bound", tmp_path / "stream.stump", data)
    assert "Error on 300 held-out rows" in done.output
    done = run("report", tmp_path / "stream.stump", "-o", tmp_path / "page.html")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("options", [("--C", 0.5), ("--refit",), ("--positive", "no")])
def test_options(tmp_path, options):
    data = write(people(), tmp_path / "a.csv")
    common = ("--interactions", 0, "--categorical", "age", "--drop", "when", *options)
    memory, _ = fit(data, tmp_path / "memory.stump", *common, "--no-stream")
    streamed, _ = fit(data, tmp_path / "stream.stump", *common, "--stream")
    assert_same_models(streamed, memory)
    levels = next(info.levels for info in streamed.feature_info_ if info.name == "age")
    assert levels.tolist() == list(range(18, 60))
    assert ("refit" in streamed.about_) == ("--refit" in options)


def test_interactions(tmp_path):
    frame = people().drop(columns=["when", "price", "member", "job"])
    data = write(frame, tmp_path / "a.csv")
    options = ("--interactions", "age:pay", "--interaction-strength", 0.5, "--C", 1)
    memory, _ = fit(data, tmp_path / "memory.stump", *options, "--no-stream")
    streamed, _ = fit(data, tmp_path / "stream.stump", *options, "--stream")
    assert_same_models(streamed, memory)
    assert streamed.about_["interactions"] == memory.about_["interactions"]


def test_folders_and_patterns(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    frame = people()
    for k in range(4):
        write(frame[300 * k : 300 * (k + 1)], folder / f"{k}.parquet")
    whole = write(frame, tmp_path / "a.parquet")
    memory, _ = fit(whole, tmp_path / "memory.stump", "--interactions", 0)
    for data in (folder, folder / "*.parquet"):
        streamed, output = fit(data, tmp_path / "stream.stump", "--interactions", 0)
        assert_same_models(streamed, memory)
        assert "Next: everystump report" in output and str(folder) not in output.split("Next")[1]
    for k, data in enumerate((folder, whole)):
        done = run("predict", tmp_path / "memory.stump", data, "-o", tmp_path / f"{k}.csv")
        assert done.exit_code == 0, done.output
    assert (tmp_path / "0.csv").read_bytes() == (tmp_path / "1.csv").read_bytes()


def test_large_files_are_streamed_by_themselves(tmp_path, monkeypatch):
    data = write(people(), tmp_path / "a.csv")
    size = data.stat().st_size
    for memory, is_streamed in ((8 * size - 8, True), (8 * size, False)):
        monkeypatch.setattr(stream, "available_memory", lambda memory=memory: memory)
        _, output = fit(data, tmp_path / "m.stump", "--interactions", 0, "--C", 1)
        assert ("Read in chunks" in output) == is_streamed
    monkeypatch.setattr(stream, "available_memory", lambda: 0)
    _, output = fit(data, tmp_path / "m.stump", "--model", "boost")
    assert "Read in chunks" not in output
    _, output = fit(data, tmp_path / "m.stump", "--interactions", 0, "--C", 1, "--no-stream")
    assert "Read in chunks" not in output


def test_limits_of_held_out_and_selection_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "MAX_HELD_OUT_ROWS", 100)
    monkeypatch.setattr(streaming, "MAX_SELECTION_ROWS", 300)
    data = write(people(), tmp_path / "a.csv")
    model, output = fit(data, tmp_path / "m.stump", "--interactions", 0, "--stream")
    assert model.about_["n_held_out"] == 100 and model.about_["n_rows"] == 1099
    assert "C: chosen on a random sample of 300 training rows." in output
    assert "Error on 100 held-out rows" in run("bound", tmp_path / "m.stump", data).output


def test_labels_of_all_rows_count(tmp_path):
    """Rows sorted by class, a class that is text only later, and integers that are equal."""
    frame = people().sort_values("sick")
    write(frame, tmp_path / "sorted.csv")
    model, _ = fit(tmp_path / "sorted.csv", tmp_path / "m.stump", "--interactions", 0, "--stream")
    assert model.classes_.tolist() == ["no", "yes"]
    frame = people().dropna(subset="sick")
    codes = (frame["sick"] == "yes").astype(int).astype(str)
    codes[codes.index > 800] += ".0"
    write(frame.assign(sick=codes), tmp_path / "codes.csv")
    model, _ = fit(tmp_path / "codes.csv", tmp_path / "m.stump", "--interactions", 0, "--stream")
    assert model.classes_.tolist() == [0, 1]
    one = frame.assign(sick="no")
    message = stream_error(write(one, tmp_path / "one.csv"), tmp_path)
    assert "'sick' is 'no' in every row" in message
    none = frame.assign(sick=None)
    assert "missing in every row" in stream_error(write(none, tmp_path / "none.csv"), tmp_path)


def stream_error(data, tmp_path, *options):
    out = tmp_path / "error.stump"
    message = input_error("fit", data, "--target", "sick", "-o", out, "--stream", *options)
    assert not out.exists()
    return message


def test_later_rows_that_contradict_the_schema(tmp_path):
    frame = people()
    changed = frame.astype({"pay": object})
    changed.loc[900:, "pay"] = [f"w{k}" for k in range(300)]
    message = stream_error(write(changed, tmp_path / "a.csv"), tmp_path)
    assert "a.csv: 'pay' is 'w0' in row 900 (counting from 0), where the model expects" in message
    changed = frame.copy()
    changed.loc[1000:, "planet"] = "mars"
    message = stream_error(write(changed, tmp_path / "a.csv"), tmp_path)
    assert "a.csv: 'planet' has one value in the first rows, but is 'mars' in row 1000" in message
    model, _ = fit(tmp_path / "a.csv", tmp_path / "m", "--stream", "--use", "planet", "--C", 1)
    assert "planet" in model.feature_names_in_
    lines = (tmp_path / "a.csv").read_text().splitlines()
    lines[1100] = "1,2"
    (tmp_path / "a.csv").write_text("\n".join(lines))
    message = stream_error(tmp_path / "a.csv", tmp_path)
    assert "a.csv, line 1101: 2 cells, but the header has 8" in message
    changed = frame.astype({"pay": object})
    changed.loc[900, "pay"] = "unknown"
    _, output = fit(
        write(changed, tmp_path / "b.csv"),
        tmp_path / "m",
        "--stream",
        "--C",
        1,
        "--interactions",
        0,
    )
    assert "pay: 'unknown' in 1 row treated as missing." in output
    changed = frame.copy()
    changed.loc[1000, "pay"] = np.inf
    message = stream_error(write(changed, tmp_path / "a.csv"), tmp_path)
    assert "'pay' is infinite in row 1000" in message


def test_invalid_files(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    frame = people()
    write(frame[:600], folder / "a.parquet")
    write(frame[600:].drop(columns="pay"), folder / "b.parquet")
    assert "b.parquet: The data lack column 'pay'" in stream_error(folder, tmp_path)
    write(frame[600:].drop(columns="sick"), folder / "b.parquet")
    assert "b.parquet: There is no column 'sick'" in stream_error(folder, tmp_path)
    content = (folder / "a.parquet").read_bytes()
    (folder / "b.parquet").write_bytes(content[:1000])
    assert "b.parquet is not a readable Parquet file" in stream_error(folder, tmp_path)
    data = write(frame, tmp_path / "a.csv")
    packed = gzip.compress(data.read_bytes())
    (tmp_path / "a.csv.gz").write_bytes(packed[: len(packed) // 2])
    assert "a.csv.gz cannot be read" in stream_error(tmp_path / "a.csv.gz", tmp_path)
    assert "does not exist" in stream_error(tmp_path / "absent.csv", tmp_path)
    assert "there is no Parquet or CSV file" in stream_error(tmp_path / "*.pq", tmp_path)
    assert "--cv needs all rows in memory" in stream_error(data, tmp_path, "--cv", 3)
    assert "boost needs all rows in memory" in stream_error(data, tmp_path, "--model", "boost")
    empty = tmp_path / "empty.csv"
    empty.write_text("a,sick\n")
    assert "empty.csv has no rows" in stream_error(empty, tmp_path)


@pytest.mark.parametrize(
    ("suffix", "unreadable"),
    [("csv", "is empty; a table needs a header"), ("parquet", "is not a readable Parquet file")],
)
def test_parts_without_rows_are_skipped(tmp_path, suffix, unreadable):
    folder = tmp_path / "parts"
    folder.mkdir()
    frame = people()
    for k, (first, last) in enumerate([(0, 0), (0, 500), (500, 500), (500, 1200)]):
        write(frame[first:last], folder / f"{k}.{suffix}")
    options = ("--interactions", 0, "--C", 1)
    memory, _ = fit(write(frame, tmp_path / f"a.{suffix}"), tmp_path / "m.stump", *options)
    streamed, _ = fit(folder, tmp_path / "s.stump", *options)
    assert_same_models(streamed, memory)
    predicted = run("predict", tmp_path / "s.stump", folder)
    assert predicted.exit_code == 0 and predicted.stdout.count("\n") == 1201
    (folder / f"empty.{suffix}").write_text("")
    assert f"empty.{suffix} {unreadable}" in stream_error(folder, tmp_path)
    for name in (1, 3, "empty"):
        (folder / f"{name}.{suffix}").unlink()
    message = stream_error(folder, tmp_path)
    assert f"0.{suffix}, " in message and f"2.{suffix} have no rows; add some." in message


def test_text_in_one_part_of_a_numeric_column(tmp_path, monkeypatch):
    """As in one file: few words are missing values, and many make it a category."""
    monkeypatch.setattr(spool, "_SCHEMA_ROWS", 1200)
    folder = tmp_path / "parts"
    folder.mkdir()
    frame = people().astype({"pay": object, "age": object, "member": object})
    frame.loc[500, "pay"] = "oops"
    frame.loc[400:, "member"] = None
    frame.loc[800:, "age"] = "old"
    for k in range(3):
        write(frame[400 * k : 400 * (k + 1)], folder / f"{k}.csv")
    options = ("--interactions", 0, "--C", 1)
    memory, expected = fit(write(frame, tmp_path / "a.csv"), tmp_path / "m.stump", *options)
    streamed, output = fit(folder, tmp_path / "s.stump", *options)
    assert_same_models(streamed, memory)
    inferred = slice(1, 6)  # after the number of rows
    assert output.splitlines()[inferred] == expected.splitlines()[inferred]
    assert "age ('old' in 400 rows), pay ('oops' in 1 row)" in output


def test_a_full_disk(tmp_path, monkeypatch):
    data = write(people(), tmp_path / "a.csv")

    class FullFile:
        def __init__(self, *_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pa, "OSFile", FullFile)
    message = stream_error(data, tmp_path)
    assert "has no space for more than 0 bytes of parsed rows (No space left on device)" in message


def test_interrupts_leave_nothing(tmp_path, monkeypatch):
    data = write(people(), tmp_path / "a.csv")

    def interrupt(*_):
        assert list((tmp_path / "scratch").iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(streaming._StreamFit, "_choose", interrupt)
    done = run("fit", data, "--target", "sick", "-o", tmp_path / "m.stump", "--stream")
    assert done.exit_code != 0 and not (tmp_path / "m.stump").exists()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_predictions_are_the_same(tmp_path, monkeypatch, suffix):
    frame = people()
    fit(write(frame, tmp_path / "a.csv"), tmp_path / "m.stump", "--interactions", 0, "--C", 1)
    new = people(seed=1).assign(id=[f"{k:05d}" for k in range(1200)])
    new["visits"] = pd.array([None, *range(1199)], dtype="Int64")
    new.loc[1000, "job"] = "pilot"
    data = write(new, tmp_path / f"new.{suffix}")
    outputs = []
    for block in (1 << 13, 1 << 30):
        monkeypatch.setattr(predictions, "BLOCK", block)
        out = tmp_path / f"{block}.csv"
        keep = ("--keep", "id", "--keep", "price", "--keep", "visits")
        done = run("predict", tmp_path / "m.stump", data, "-o", out, *keep)
        assert done.exit_code == 0, done.output
        outputs.append((out.read_bytes(), done.output.replace(out.name, "")))
    assert outputs[0] == outputs[1]
    assert "job: 1 row with an unknown category" in outputs[0][1]
    monkeypatch.setattr(predictions, "BLOCK", 1 << 13)
    done = run("predict", tmp_path / "m.stump", data, "--json")
    assert len(json.loads(done.stdout)["rows"]) == 1200


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("command", [("bound",), ("report",), ("explain",), ("explain", "--row")])
def test_other_commands_read_large_files_in_chunks(tmp_path, monkeypatch, command, parts):
    """The same results as in memory, from one file and from several ones."""
    frame = people()
    data = write(frame, tmp_path / "a.csv")
    fit(data, tmp_path / "m.stump", "--interactions", 0, "--C", 1)
    folder = tmp_path / "parts"
    folder.mkdir()
    for k, start in enumerate(range(0, 1200, 1200 // parts)):
        write(frame[start : start + 1200 // parts], folder / f"{k}.csv")
    results = []
    for k, path in enumerate((data, folder)):
        out = tmp_path / f"{k}.out"
        options = () if command == ("bound",) else ("-o", out)
        options = ("--row", 1199) if "--row" in command else options
        done = run(command[0], tmp_path / "m.stump", path, *options, "--json")
        assert done.exit_code == 0, done.output
        record = json.loads(done.stdout)
        assert record.pop("out", str(out)) == str(out)
        results.append((record, out.read_bytes() if command == ("explain",) else b""))
    assert results[0] == results[1]
    if command == ("bound",):
        assert results[0][0]["kind"] == "held-out" and results[0][0]["rows"] == 300


def test_files_that_are_too_large_to_evaluate(tmp_path, monkeypatch):
    data = write(people(), tmp_path / "a.csv")
    fit(data, tmp_path / "m.stump", "--interactions", 0, "--C", 1)
    monkeypatch.setattr(stream, "available_memory", lambda: 0)
    message = input_error("explain", tmp_path / "m.stump", data, "--row", 1200)
    assert "--row 1200: the data have 1,200 rows; choose one from 0 to 1199" in message
    monkeypatch.setattr(matching, "available_memory", lambda: 8 * 20_000)
    page = tmp_path / "page.html"
    for command in (("bound",), ("report", "-o", page)):
        message = input_error(command[0], tmp_path / "m.stump", data, *command[1:])
        assert "a.csv take more than 20 kB, an eighth of the available memory" in message
    assert not page.exists()
    unlabeled = write(people().assign(sick=None), tmp_path / "b.csv")
    message = input_error("bound", tmp_path / "m.stump", unlabeled)
    assert "'sick' is missing in every row" in message
    write(people().drop(columns="sick"), tmp_path / "b.csv")
    monkeypatch.setattr(matching, "available_memory", lambda: 10**9)
    assert run("report", tmp_path / "m.stump", tmp_path / "b.csv", "-o", page).exit_code == 0


def test_failed_predictions_leave_nothing(tmp_path):
    frame = people()
    fit(write(frame, tmp_path / "a.csv"), tmp_path / "m.stump", "--interactions", 0, "--C", 1)
    changed = frame.astype({"pay": object})
    changed.loc[900:, "pay"] = [f"w{k}" for k in range(300)]
    before = sorted(tmp_path.iterdir())
    data = write(changed, tmp_path / "a.csv")
    message = input_error("predict", tmp_path / "m.stump", data, "-o", tmp_path / "p.csv")
    assert "a.csv: 'pay' is 'w0' in row 900" in message
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("a;b;c\n" + '1,5;x;"two\nlines"\n2;"y ""q"" y";z\n' * 300, Dialect()),
        ("\n\na|b\n" + "1|x\r\n2|y\r\n" * 300, Dialect()),
        ("a,b\n" + "é,1\n" * 400, Dialect(encoding="utf-16")),
        ("a,b\n" + "é,1\n" * 400 + "ö,2", Dialect(encoding="latin-1")),
        ("a,b\n" + " x , 1\n-9,  -9\n" * 300, Dialect(missing=("-9",))),
    ],
)
@pytest.mark.parametrize("with_types", [False, True])
def test_frames_of_blocks_are_those_of_the_file(tmp_path, monkeypatch, text, dialect, with_types):
    monkeypatch.setattr(stream, "BLOCK", 257)
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(dialect.encoding or "utf-8"))
    whole, _ = read_file(path, dialect)
    kinds = {name: "number" if whole[name].dtype.kind in "if" else "text" for name in whole}
    options = ReadOptions(dialect, [k for k in kinds if kinds[k] == "text"])
    if with_types:
        options = ReadOptions(dialect, options.text, types=kinds)
    frames = [frame for _, frame in FileStream.find(path).read(options)]
    assert len(frames) > 3
    joined = pd.concat(frames)
    assert joined.index.tolist() == list(range(len(whole)))
    for name in whole:
        assert (joined[name].isna() == whole[name].isna()).all()
        assert joined[name].dropna().tolist() == whole[name].dropna().tolist()
