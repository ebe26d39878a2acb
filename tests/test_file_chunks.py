"""`FileChunks`: files as chunks, and what is wrong with them in one sentence."""

import gzip
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from everystump import StumpSVC
from everystump._files import find_data_files
from everystump.chunks import FileChunks, default_chunk_size


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(18, 90, n), "pay": rng.normal(size=n).round(1)})
    frame["job"] = np.array(["cook", "smith", "clerk"])[rng.integers(0, 3, n)]
    frame["sick"] = np.where(frame["age"] + 30 * frame["pay"] > 50, "yes", "no")
    frame["weight"] = rng.integers(1, 3, n)
    return frame


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False, row_group_size=70)
    else:
        frame.to_csv(path, index=False)


def chunks_of(path, **options):
    return FileChunks(path, target="sick", **options)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize("form", ["folder", "glob", "list", "nested"])
def test_files_are_read_in_order(tmp_path, suffix, form):
    frame = people()
    for k in range(3):
        write(frame[100 * k : 100 * (k + 1)], tmp_path / f"part{k}.{suffix}")
    (tmp_path / "_SUCCESS").write_text("")
    path = {
        "folder": tmp_path,
        "glob": str(tmp_path / "part*"),
        "list": [tmp_path / f"part{k}.{suffix}" for k in range(3)],
        "nested": [[str(tmp_path / "part0*"), tmp_path / f"part1.{suffix}"], str(tmp_path)],
    }[form]
    chunks = chunks_of(path, sample_weight="weight", chunk_size=60)
    for _ in range(2):
        X, y, weight = (pd.concat(parts) for parts in zip(*chunks, strict=True))
        assert X.columns.tolist() == ["age", "pay", "job"] == chunks.columns
        np.testing.assert_array_equal(X["pay"], frame["pay"])
        assert X["job"].tolist() == frame["job"].tolist()
        assert y.tolist() == frame["sick"].tolist()
        assert weight.tolist() == frame["weight"].tolist()
    assert [len(part) for part, *_ in chunks] == [60, 40] * 3


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_fit_equals_memory(tmp_path, suffix):
    frame = people()
    write(frame, tmp_path / f"all.{suffix}")
    chunks = chunks_of(tmp_path / f"all.{suffix}", sample_weight="weight", chunk_size=130)
    X = frame[["age", "pay", "job"]]
    expected = StumpSVC().fit(X, frame["sick"], frame["weight"])
    found = StumpSVC().fit_chunks(chunks)
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-9)


def test_columns_are_selected_and_types_may_differ(tmp_path):
    frame = people()
    write(frame.astype({"age": float}), tmp_path / "a.parquet")
    write(frame[["sick", "job", "age"]], tmp_path / "b.parquet")
    parts = list(chunks_of(tmp_path, columns=["age", "job"]))
    assert [part.columns.tolist() for part, _ in parts] == [["age", "job"]] * 2
    assert StumpSVC().fit_chunks(parts).n_features_in_ == 2


def test_the_index_of_pandas(tmp_path):
    """A table of selected rows has an index without a name; a named index is a column."""
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [0.0, 0.0, 1.0, 1.0], "y": [0, 1, 0, 1]})
    path = tmp_path / "t.parquet"
    frame[::-1].to_parquet(path)
    ((X, y),) = FileChunks(path, target="y")
    assert list(X.columns) == ["a", "b"] and y.tolist() == [1, 0, 1, 0]
    assert X["a"].tolist() == [4.0, 3.0, 2.0, 1.0]
    frame.set_index("a").to_parquet(path)
    ((X, _),) = FileChunks(path, target="y")
    assert sorted(X.columns) == ["a", "b"]


def test_integers_may_become_fractions_later(tmp_path, monkeypatch):
    monkeypatch.setattr("everystump.chunks._CSV_BLOCK", 200)
    rows = ["a,b,sick"] + ["1,,no"] * 100 + ["2.5,7,yes"] * 100
    (tmp_path / "x.csv").write_text("\n".join(rows) + "\n")
    X, y = (pd.concat(parts) for parts in zip(*chunks_of(tmp_path / "x.csv"), strict=True))
    assert X["a"].tolist() == [1.0] * 100 + [2.5] * 100
    assert X["b"].isna().sum() == 100 and y.tolist() == ["no"] * 100 + ["yes"] * 100
    (tmp_path / "x.csv").write_text("\n".join([*rows, "oops,1,no"]) + "\n")
    match = r"x.csv: column 'a' has an invalid value 'oops' where the first rows have numbers"
    with pytest.raises(ValueError, match=match):
        list(chunks_of(tmp_path / "x.csv"))


def test_missing_paths(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"path='.*absent.csv' does not exist"):
        chunks_of(tmp_path / "absent.csv")
    with pytest.raises(FileNotFoundError, match="there is no Parquet or CSV file"):
        chunks_of(str(tmp_path / "*.parquet"))
    with pytest.raises(FileNotFoundError, match="there is no Parquet or CSV file"):
        chunks_of(tmp_path)
    with pytest.raises(ValueError, match="has no files"):
        chunks_of([])
    with pytest.raises(TypeError, match="is of type int"):
        chunks_of(7)
    write(people(), tmp_path / "a.csv")
    write(people(), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"contains a.csv and b.parquet; pass a pattern"):
        chunks_of(tmp_path)
    assert find_data_files([tmp_path / "b.parquet", tmp_path / "a.csv"])[0].name == "b.parquet"


def test_missing_columns(tmp_path):
    frame = people()
    write(frame, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a.parquet has no column 'ill'"):
        FileChunks(tmp_path, target="ill")
    with pytest.raises(ValueError, match=r"a.parquet has no column 'size'"):
        chunks_of(tmp_path, columns=["age", "size"])
    with pytest.raises(ValueError, match=r"a.parquet has no column 'w'"):
        chunks_of(tmp_path, sample_weight="w")
    with pytest.raises(ValueError, match="columns contains 'sick', the target"):
        chunks_of(tmp_path, columns=["age", "sick"])
    with pytest.raises(ValueError, match="chunk_size=0 must be a positive"):
        chunks_of(tmp_path, chunk_size=0)
    write(frame.drop(columns="job"), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b.parquet has no column 'job'"):
        chunks_of(tmp_path)
    write(frame.assign(extra=1), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b.parquet has a column 'extra' that .*a.parquet does"):
        chunks_of(tmp_path)
    write(frame[["sick"]], tmp_path / "b.parquet")
    with pytest.raises(ValueError, match="has no columns besides sick"):
        chunks_of(tmp_path / "b.parquet")
    (tmp_path / "c.csv").write_text("a,a,sick\n1,2,no\n")
    with pytest.raises(ValueError, match=r"c.csv: two columns are named 'a'"):
        chunks_of(tmp_path / "c.csv")


def test_truncated_and_damaged_files_are_named(tmp_path):
    frame = people(5000)
    write(frame, tmp_path / "a.parquet")
    content = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"b.parquet is not a readable Parquet file"):
        chunks_of(tmp_path)
    damaged = bytearray(content)
    damaged[100:3000] = bytes(2900)
    (tmp_path / "b.parquet").write_bytes(bytes(damaged))
    with pytest.raises(ValueError, match=r"b.parquet is not a readable Parquet file"):
        list(chunks_of(tmp_path))
    write(frame, tmp_path / "c.csv")
    packed = gzip.compress((tmp_path / "c.csv").read_bytes())
    (tmp_path / "c.csv.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(ValueError, match=r"c.csv.gz is not a readable CSV file"):
        list(chunks_of(tmp_path / "c.csv.gz"))
    with (tmp_path / "c.csv").open("a") as file:
        file.write("1,2\n")
    with pytest.raises(ValueError, match=r"c.csv is not a readable CSV file .*Expected 5 columns"):
        list(chunks_of(tmp_path / "c.csv"))
    (tmp_path / "d.csv").write_text("")
    with pytest.raises(ValueError, match=r"d.csv is not a readable CSV file"):
        chunks_of(tmp_path / "d.csv")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_missing_labels_are_errors(tmp_path, suffix):
    frame = people()
    frame.loc[7, "sick"] = None
    write(frame, tmp_path / f"a.{suffix}")
    with pytest.raises(ValueError, match="the label of row 7 is missing"):
        StumpSVC().fit_chunks(chunks_of(tmp_path))


def test_the_next_chunk_is_read_ahead_and_threads_end(tmp_path):
    write(people(), tmp_path / "a.parquet")
    chunks = chunks_of(tmp_path, chunk_size=10)
    iterator = iter(chunks)
    next(iterator)
    names = [thread.name for thread in threading.enumerate()]
    assert any("prefetch" in name for name in names)
    iterator.close()
    assert not any("prefetch" in thread.name for thread in threading.enumerate())


def test_default_chunk_size():
    assert default_chunk_size(2) == 131_072
    assert default_chunk_size(2000) == 1000
    assert default_chunk_size(10**9) == 1


WITHOUT_PYARROW = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "pyarrow":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
from everystump.chunks import FileChunks
try:
    FileChunks("a.csv", target="y")
except ImportError as error:
    print(error)
"""


def test_without_pyarrow():
    run = subprocess.run([sys.executable, "-c", WITHOUT_PYARROW], capture_output=True, text=True)
    assert run.stdout.strip() == "FileChunks needs pyarrow: pip install 'everystump[parquet]'."
