"""Files as users have them: how they are written, and what is wrong with them."""

import gzip
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from tool import refused, run

import everystump as package
from everystump.study import RefusedError
from everystump.study.dialect import Dialect
from everystump.study.sources import read_file


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("packed", [False, True])
def test_delimiters_and_compression(delimiter, packed, tmp_path):
    frame = pd.DataFrame({"a": np.arange(60) % 7, "b": ["x", "y"] * 30, "y": [0, 1] * 30})
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    text = frame.to_csv(index=False, sep=delimiter).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    done = run("fit", path, "--target", "y", "--C", 1, "-o", tmp_path / "m.stump")
    assert done.exit_code == 0 and "60 rows, 2 features." in done.output


BAD = {
    "empty": (b"", r"is empty"),
    "names only": (b"a,b,y\n", r"has names but no rows"),
    "short line": (b"a,b,y\n1,2,0\n3,4\n5,6,1\n", r"line 3: 2 cells where the first line has 3"),
    "long line": (b"a,b,y\n1,2,0\n3,4,1,9\n", r"line 3: 4 cells where the first line has 3"),
    "no delimiter": (b"a b y\n1 2 0\n", r"line 1: no comma.* separates 'a b y'; pass --delim"),
    "encoding": (b"a,y\n1,0\n\xff\xfe,1\n", r"line 3: the text is not utf-8; pass --encoding"),
    "one class": (b"a,y\n1,0\n2,0\n", r"'y' is 0 in every row"),
    "no target": (b"a,z\n1,0\n2,1\n", r"There is no column 'y'"),
    "too many classes": (
        b"a,y\n" + b"".join(b"%d,%d\n" % (k, k) for k in range(40)),
        r"40 different values, too many to be classes",
    ),
    "quoted short line": (
        b'a,b,y\n1,"x",0\n3,4\n5,6,1\n',
        r"line 3: 2 cells where the first line has 3",
    ),
    "quoted long lines": (b'a,b,y\n1,"x",0,7\n2,"y",1,7\n', r"line 2: 4 cells where the first"),
    "no labels": (b"a,y\n1,\n2,\n", r"'y' is missing in every row"),
    "too few rows": (b"a,y\n1,0\n2,1\n3,1\n4,0\n", r"too few to hold out"),
    "a class of one row": (b"a,y\n1,0\n2,1\n3,1\n", r"label 0 is in one row only; leave that"),
    "nothing left": (b"a,y\n1,0\n1,1\n1,0\n1,1\n", r"No column is left"),
    "a quote that stays open": (
        b'a,b,y\n1,"x,0\n2,y,1\n3,z,0\n',
        r"line 2: 2 cells .* \(a quote that opens there closes in line 4\)",
    ),
    "blank lines first": (b"\n\na,y\n1,0\n2\n", r"line 5: 1 cell where the first line has 2"),
    "utf-16": ("a,y\n1,0\n".encode("utf-16"), r"line 1: the text is not utf-8; .* utf-16"),
    "a spreadsheet": (b"PK\x03\x04" + bytes(99), r"is no text; save the table as CSV"),
    "a pickle": (b"\x80\x05\x95" + bytes(99), r"is no text; save the table as CSV"),
    "zeros": (b"a,y\n1,0\n\0,1\n", r"line 3: this is no text"),
    "infinity": (b"a,y\n1,0\n-inf,1\n", r"'a' is infinite in row 2 of 2"),
    "labels that look missing": (b"a,y\n1,ok\n2,NA\n", r"'y' is 'ok' or missing .* --missing"),
    "two of a name": (b"a,a,y\n1,2,0\n", r"line 1: two columns are named 'a'"),
}


@pytest.mark.parametrize(("content", "match"), BAD.values(), ids=BAD)
def test_bad_files(content, match, tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "m.stump"
    path.write_bytes(content)
    assert re.search(match, refused("fit", path, "--target", "y", "-o", out))
    assert not out.exists()


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_ends_of_lines(end, tmp_path):
    path = tmp_path / "t.csv"
    rows = "\n".join(f"{k % 7},{k % 2}" for k in range(60))
    path.write_bytes(f"\n\na,y\n{rows}\n".replace("\n", end).encode())
    done = run("fit", path, "--target", "y", "--C", 1, "-o", tmp_path / "m")
    assert "60 rows, 1 feature." in done.output


def read(tmp_path, text, **said):
    (tmp_path / "t.csv").write_text(text)
    return read_file(tmp_path / "t.csv", Dialect(**said))


@pytest.mark.parametrize("told", [None, ","])
def test_decimal_commas(told, tmp_path):
    text = "a;b;c;y\n1,5;x;3;0\n-2;y;,25;1\n1,5e3;1,2,3;;0\n"
    frame, guessed = read(tmp_path, text, decimal=told)
    assert frame["a"].tolist() == [1.5, -2.0, 1500.0] and frame["c"].tolist()[:2] == [3.0, 0.25]
    assert frame["b"].tolist() == ["x", "y", "1,2,3"]
    assert any("decimal commas" in one for one in guessed) == (told is None)
    assert "Cells are separated by semicolons." in guessed


def test_no_decimal_commas_where_there_are_none(tmp_path):
    text = "a;b\n1,5;1\nx;2\n"
    assert read(tmp_path, text)[0]["a"].tolist() == ["1,5", "x"]
    assert read(tmp_path, "a;b\n1,5;1\n", decimal=".")[0]["a"].tolist() == ["1,5"]


def test_what_stands_for_missing(tmp_path):
    text = "a,b\n?,NA\n1,-9\n,None\n"
    frame, _ = read(tmp_path, text)
    assert frame["a"].isna().tolist() == [True, False, True]
    assert frame["b"].isna().tolist() == [True, False, True]
    frame, _ = read(tmp_path, text, missing=("-9",))
    assert frame["a"].tolist()[:2] == ["?", "1"] and pd.isna(frame["a"][2])
    assert frame["b"].tolist()[::2] == ["NA", "None"] and pd.isna(frame["b"][1])


def test_a_model_knows_what_stood_for_missing(tmp_path):
    data, new, out = tmp_path / "t.csv", tmp_path / "new.csv", tmp_path / "m.stump"
    rng = np.random.default_rng(0)
    a = rng.normal(size=200).round(2).astype(str)
    a[::4] = "n.a."
    pd.DataFrame({"a": a, "b": rng.normal(size=200), "y": rng.integers(2, size=200)}).to_csv(
        data, index=False
    )
    told = run("fit", data, "--target", "y", "--C", 1, "-o", out).stdout
    assert "a is numbers but for n.a., and so is a category" in told
    assert "pass --missing 'n.a.'" in told
    given = ("--missing", "n.a.", "-o", out, "--force")
    told = run("fit", data, "--target", "y", "--C", 1, *given).stdout
    assert "With missing values: a." in told and "a is numbers but" not in told
    pd.DataFrame({"a": ["n.a.", "0.5"], "b": [0.0, 0.0]}).to_csv(new, index=False)
    said = pd.read_csv(io.StringIO(run("predict", out, new).stdout))["score"]
    rows = pd.DataFrame({"a": [np.nan, 0.5], "b": [0.0, 0.0]})
    np.testing.assert_allclose(said, package.load(out).decision_function(rows), rtol=1e-12)


def test_a_single_column(tmp_path):
    frame, _ = read(tmp_path, "a\n1\n\n3\n")
    assert frame["a"].tolist()[::2] == [1.0, 3.0] and np.isnan(frame["a"][1])
    frame, _ = read(tmp_path, '"a b"\n1\n')
    assert frame.columns.tolist() == ["a b"]


def test_a_wrong_delimiter_is_told_by_its_line(tmp_path):
    with pytest.raises(RefusedError, match=r"line 1: no ';' separates 'a,b'; pass --delimiter ','"):
        read(tmp_path, "a,b\n1,2\n", delimiter=";")
    with pytest.raises(RefusedError, match="cannot be read with --delimiter"):
        read(tmp_path, "a::b\n1::2\n", delimiter="::")
    assert read(tmp_path, "a b\n1 2\n", delimiter=" ")[0].shape == (1, 2)


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    frame = pd.DataFrame(
        {
            "n": np.arange(60) % 7,
            "word": pd.Categorical(["x", "y", None] * 20),
            "flag": [True, False] * 30,
            "hole": pd.array([1, None] * 30, dtype="Int64"),
            "y": ["no", "yes"] * 30,
        },
        index=np.arange(60)[::-1],
    )
    plain, packed, out = (tmp_path / name for name in ("t.parquet", "other.gz", "m.stump"))
    frame.to_parquet(plain)
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, packed):
        pd.testing.assert_frame_equal(read_file(path)[0], frame.reset_index(drop=True))
    told = run("fit", plain, "--target", "y", "--C", 1, "-o", out)
    assert told.exit_code == 0 and "Categories: word." in told.stdout
    said = pd.read_csv(io.StringIO(run("predict", out, plain).stdout))
    assert said["prediction"].tolist() == frame["y"].tolist()
    plain.write_bytes(plain.read_bytes()[:-50])
    assert "is no Parquet file that can be read" in refused("predict", out, plain)


def test_ten_thousand_columns(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(60, 10_000))
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(10_000)])
    frame.assign(y=(X[:, 7] > 4).astype(int)).to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "m.stump"
    told = run("fit", tmp_path / "t.csv", "--target", "y", "--C", 1, "-o", out)
    assert told.exit_code == 0 and "60 rows, 10,000 features." in told.stdout
    assert "There is no column 'yy'; use 'y'." in refused(
        "fit", tmp_path / "t.csv", "--target", "yy", "-o", out, "--force"
    )


def test_commas_that_may_be_thousands_are_left_as_they_are(tmp_path):
    frame, told = read(tmp_path, "a;b\n1,234;x\n12,001;y\n")
    assert frame["a"].tolist() == ["1,234", "12,001"] and told == [
        "Cells are separated by semicolons."
    ]
    assert read(tmp_path, "a;b\n1,234;x\n12,001;y\n", decimal=",")[0]["a"].tolist() == [
        1.234,
        12.001,
    ]


def test_blanks_before_quotes(tmp_path):
    frame, _ = read(tmp_path, 'a, "b", c\n1, "x,0", 0\n2, "y", 1\n')
    assert frame.columns.tolist() == ["a", "b", "c"] and frame["b"].tolist() == ["x,0", "y"]


def test_cells_that_were_text_stay_text(tmp_path):
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    code, flag = ["01", "02", "1", "A1"] * 30, ["true", "false", "maybe"] * 40
    frame = pd.DataFrame(
        {"code": code, "flag": flag, "y": np.where(np.array(code) == "01", "01", "2")}
    )
    frame.to_csv(data, index=False)
    run("fit", data, "--target", "y", "--C", 10, "-o", out)
    whole = run("predict", out, data).stdout.splitlines()[1:]
    few = frame[(frame["code"] != "A1") & (frame["flag"] != "maybe")]
    few.to_csv(tmp_path / "few.csv", index=False)
    done = run("predict", out, tmp_path / "few.csv")
    assert done.stdout.splitlines()[1:] == [whole[k] for k in few.index] and done.stderr == ""
    error = json.loads(run("bound", out, tmp_path / "few.csv", "--json").stdout)["error"]
    assert error == 0.0


def test_levels_that_the_model_does_not_know_are_told_of(tmp_path):
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    frame = pd.DataFrame({"word": ["x", "z"] * 30, "a": np.arange(60) % 7, "y": [0, 1] * 30})
    frame.to_csv(data, index=False)
    run("fit", data, "--target", "y", "--C", 1, "-o", out)
    frame.assign(word=["x", "new"] * 30).to_csv(data, index=False)
    assert (
        "word: 30 rows with a level that the model does not know"
        in run("predict", out, data).stderr
    )


def test_labels_are_written_as_in_the_file(tmp_path):
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    for labels in (("true", "false"), ("007", "8"), ("100000000000000000000", "1"), ("yes ", "no")):
        pd.DataFrame({"a": [0, 1] * 40, "y": labels * 40}).to_csv(data, index=False)
        told = run("fit", data, "--target", "y", "--C", 1, "-o", out, "--force").stdout
        wanted = {label.strip() for label in labels}
        assert "Classes: " in told and all(label in told for label in wanted)
        said = pd.read_csv(io.StringIO(run("predict", out, data).stdout), dtype=str)["prediction"]
        assert set(said) == wanted
        assert "Error on 20 held-out rows: 0 %." in run("bound", out, data).stdout


def test_cells_over_several_lines_are_told_of(tmp_path):
    text = 'a,b\n1,"x\ny"\n2,z\n3,"u\nv\nw"\n'
    frame, told = read(tmp_path, text)
    assert len(frame) == 3
    assert told == ["Quoted cells go over several lines in 2 rows, the first from line 2 to 3."]


def test_a_category_that_could_be_numbers_is_told_of(tmp_path):
    data = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    rows = "\n".join(f"{k},5;{rng.uniform():.4f};{k % 2}" for k in range(80))
    data.write_text(f"a;b;y\n{rows}\n")
    told = run("fit", data, "--target", "y", "--C", 1, "-o", tmp_path / "m.stump").stdout
    assert "b is a category, but numbers with decimal points; see --decimal." in told


def test_numbers_first_and_text_much_later(tmp_path):
    rows = [f"{k % 5},{k % 2}" for k in range(300_000)] + ["zz,1"] * 9
    (tmp_path / "t.csv").write_text("c,y\n" + "\n".join(rows) + "\n")
    frame, _ = read_file(tmp_path / "t.csv")
    assert set(frame["c"]) == {"0", "1", "2", "3", "4", "zz"}


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (("--seed", 2**40), "seed"),
        (("--holdout", "nan"), "nan is no number of the range"),
        (("--C", "inf"), "inf is no number of the range"),
        (("--cv", 1), "cv"),
    ],
)
def test_options_out_of_range(given, match, tmp_path):
    done = run("fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m", *given)
    assert done.exit_code == 2 and match in done.stderr
