"""Reading files: formats, dialects, and errors in them."""

import bz2
import gzip
import io
import json
import lzma
import re

import numpy as np
import pandas as pd
import pytest
from command import ADDITIVE, fitted, input_error, run, some_rows

import everystump as package
from everystump._text import InvalidInputError
from everystump._workflow.options import Dialect
from everystump._workflow.reading.files import read_file


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("packed", [False, True])
def test_delimiters_and_compression(delimiter, packed, tmp_path):
    frame = pd.DataFrame({"a": np.arange(60) % 7, "b": ["x", "y"] * 30, "y": [0, 1] * 30})
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    text = frame.to_csv(index=False, sep=delimiter).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    done = run("fit", path, "--target", "y", "--C", 1, "-o", tmp_path / "m.stump")
    assert done.exit_code == 0 and "60 rows, 2 features." in done.output


RANDOM_BYTES = np.random.default_rng(0).bytes(3000)
BAD = {
    "empty": (b"", r"is empty"),
    "names only": (b"a,b,y\n", r"has a header but no rows"),
    "short line": (b"a,b,y\n1,2,0\n3,4\n5,6,1\n", r"line 3: 2 cells, but the header has 3"),
    "long line": (b"a,b,y\n1,2,0\n3,4,1,9\n", r"line 3: 4 cells, but the header has 3"),
    "no delimiter": (b"a b y\n1 2 0\n", r"line 1: no comma.* in 'a b y'; pass --delim"),
    "encoding": (b"a,y\n1,0\n\xff\xfe,1\n", r"line 3: the text is not utf-8; pass --encoding"),
    "one class": (b"a,y\n1,0\n2,0\n", r"'y' is 0 in every row"),
    "no target": (b"a,z\n1,0\n2,1\n", r"There is no column 'y'"),
    "too many classes": (
        b"a,y\n" + b"".join(b"%d,n%d\n" % (k, k) for k in range(40)),
        r"40 distinct values in 40 rows, too many for classes",
    ),
    "quoted short line": (
        b'a,b,y\n1,"x",0\n3,4\n5,6,1\n',
        r"line 3: 2 cells, but the header has 3",
    ),
    "quoted long lines": (b'a,b,y\n1,"x",0,7\n2,"y",1,7\n', r"line 2: 4 cells, but the header"),
    "no labels": (b"a,y\n1,\n2,\n", r"'y' is missing in every row"),
    "too few rows": (b"a,y\n1,0\n2,1\n", r"2 rows of 2 classes are too few to hold out"),
    "a row of each class": (
        b"a,y\n1,0\n2,1\n3,1\n",
        r"one per class, .* choose C by cross",
    ),
    "nothing left": (b"a,y\n1,0\n1,1\n1,0\n1,1\n", r"No column is left"),
    "a quote that stays open": (
        b'a,b,y\n1,"x,0\n2,y,1\n3,z,0\n',
        r"line 2: 2 cells, .* \(a quote opened there is never closed\)",
    ),
    "blank lines first": (b"\n\na,y\n1,0\n2\n", r"line 5: 1 cell, but the header has 2"),
    "utf-16": ("a,y\n1,0\n".encode("utf-16"), r"line 1: the text is not utf-8; .* utf-16"),
    "a damaged archive": (b"PK\x03\x04" + bytes(99), r"cannot be read \(File is not a zip file\)"),
    "a pickle": (b"\x80\x05\x95" + bytes(99), r"is a pickle; save the table as CSV or Parquet"),
    "an old workbook": (b"\xd0\xcf\x11\xe0" + bytes(99), r"is an Excel workbook; save the table"),
    "a tar archive": (b"a" * 257 + b"ustar\x0000" + bytes(99), r"is a tar archive; save the"),
    "compressed twice": (gzip.compress(gzip.compress(b"a,y\n1,0\n")), r"is compressed twice"),
    "a damaged bz2": (bz2.compress(b"a,y\n1,0\n")[:-8], r"cannot be read .*; check the file"),
    "a damaged xz": (lzma.compress(b"a,y\n1,0\n")[:-8], r"cannot be read .*; check the file"),
    "utf-16 without a mark": ("a,y\n1,0\n".encode("utf-16-be"), r"pass --encoding utf-16-be"),
    "bytes": (RANDOM_BYTES, r"t.csv is not a text file; pass a CSV or Parquet file\.$"),
    "zeros": (b"a,y\n1,0\n\0,1\n", r"line 3: .* contains a null character; fix the file"),
    "infinity": (b"a,y\n1,0\n-inf,1\n", r"'a' is infinite in row 1 \(counting from 0\)"),
    "labels that look missing": (b"a,y\n1,ok\n2,NA\n", r"'y' is 'ok' or missing .* --missing"),
    "no names, and values that are equal": (b"1.5,1.5,0\n2,3,1\n", r"line 1: .*; add a header"),
    "two of a name": (b"a,a,y\n1,2,0\n", r"line 1: two columns are named 'a'"),
}


@pytest.mark.parametrize(("content", "match"), BAD.values(), ids=BAD)
def test_bad_files(content, match, tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "m.stump"
    path.write_bytes(content)
    assert re.search(match, input_error("fit", path, "--target", "y", "-o", out))
    assert not out.exists()


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_ends_of_lines(end, tmp_path):
    path = tmp_path / "t.csv"
    rows = "\n".join(f"{k % 7},{k % 2}" for k in range(60))
    path.write_bytes(f"\n\na,y\n{rows}\n".replace("\n", end).encode())
    done = run("fit", path, "--target", "y", "--C", 1, "-o", tmp_path / "m")
    assert "60 rows, 1 feature." in done.output


def read(tmp_path, text, **options):
    (tmp_path / "t.csv").write_text(text)
    return read_file(tmp_path / "t.csv", Dialect(**options))


@pytest.mark.parametrize("decimal", [None, ","])
def test_decimal_commas(decimal, tmp_path):
    text = "a;b;c;y\n1,5;x;3;0\n-2;y;,25;1\n1,5e3;1,2,3;;0\n"
    frame, notes = read(tmp_path, text, decimal=decimal)
    assert frame["a"].tolist() == [1.5, -2.0, 1500.0] and frame["c"].tolist()[:2] == [3.0, 0.25]
    assert frame["b"].tolist() == ["x", "y", "1,2,3"]
    assert any("decimal commas" in one for one in notes) == (decimal is None)
    assert "Columns are separated by semicolons." in notes


def test_text_with_commas_has_no_decimal_commas(tmp_path):
    text = "a;b\n1,5;1\nx;2\n"
    assert read(tmp_path, text)[0]["a"].tolist() == ["1,5", "x"]
    assert read(tmp_path, "a;b\n1,5;1\n", decimal=".")[0]["a"].tolist() == ["1,5"]


def test_markers_of_missing_values(tmp_path):
    text = "a,b\n?,NA\n1,-9\n,None\n"
    frame, _ = read(tmp_path, text)
    assert frame["a"].isna().tolist() == [True, False, True]
    assert frame["b"].isna().tolist() == [True, False, True]
    frame, _ = read(tmp_path, text, missing=("-9",))
    assert frame["a"].tolist()[:2] == ["?", "1"] and pd.isna(frame["a"][2])
    assert frame["b"].tolist()[::2] == ["NA", "None"] and pd.isna(frame["b"][1])


def test_markers_of_missing_values_are_stored_with_the_model(tmp_path):
    data, new, out = tmp_path / "t.csv", tmp_path / "new.csv", tmp_path / "m.stump"
    rng = np.random.default_rng(0)
    a = rng.normal(size=200).round(2).astype(str)
    a[::4] = "unk."
    pd.DataFrame({"a": a, "b": rng.normal(size=200), "y": rng.integers(2, size=200)}).to_csv(
        data, index=False
    )
    output = run("fit", data, "--target", "y", "--C", 1, "-o", out).stdout
    assert "Words treated as missing values: a ('unk.' in 50 rows)" in output
    args = ("--missing", "unk.", "-o", out, "--force")
    output = run("fit", data, "--target", "y", "--C", 1, *args).stdout
    assert "Missing values: a." in output and "Words treated" not in output
    pd.DataFrame({"a": ["unk.", "0.5"], "b": [0.0, 0.0]}).to_csv(new, index=False)
    predicted = pd.read_csv(io.StringIO(run("predict", out, new).stdout))["score"]
    rows = pd.DataFrame({"a": [np.nan, 0.5], "b": [0.0, 0.0]})
    np.testing.assert_allclose(predicted, package.load(out).decision_function(rows), rtol=1e-12)


def test_a_single_column(tmp_path):
    frame, _ = read(tmp_path, "a\n1\n\n3\n")
    assert frame["a"].tolist()[::2] == [1.0, 3.0] and np.isnan(frame["a"][1])
    frame, _ = read(tmp_path, '"a b"\n1\n')
    assert frame.columns.tolist() == ["a b"]


def test_a_wrong_delimiter_is_reported_with_its_line(tmp_path):
    with pytest.raises(InvalidInputError, match=r"line 1: no ';' in 'a,b'; pass --delimiter ','"):
        read(tmp_path, "a,b\n1,2\n", delimiter=";")
    with pytest.raises(InvalidInputError, match="cannot be read with --delimiter"):
        read(tmp_path, "a::b\n1::2\n", delimiter="::")
    assert read(tmp_path, "a b\n1 2\n", delimiter=" ")[0].shape == (1, 2)


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    frame = pd.DataFrame(
        {
            "n": np.arange(60) % 7,
            "word": pd.Categorical(["x", "y", None] * 20),
            "flag": [True, False] * 30,
            "gap": pd.array([1, None] * 30, dtype="Int64"),
            "y": ["no", "yes"] * 30,
        },
        index=np.arange(60)[::-1],
    )
    plain, packed, out = (tmp_path / name for name in ("t.parquet", "other.gz", "m.stump"))
    frame.to_parquet(plain)
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, packed):
        expected = frame.reset_index(drop=True).astype({"gap": float})
        pd.testing.assert_frame_equal(read_file(path)[0], expected)
    output = run("fit", plain, "--target", "y", "--C", 1, "-o", out)
    assert output.exit_code == 0 and "Categorical: word." in output.stdout
    predicted = pd.read_csv(io.StringIO(run("predict", out, plain).stdout))
    assert predicted["prediction"].tolist() == frame["y"].tolist()
    plain.write_bytes(plain.read_bytes()[:-50])
    assert "is not a readable Parquet file" in input_error("predict", out, plain)


@pytest.mark.parametrize(
    ("n_columns", "options"),
    [
        (1000, ADDITIVE),
        pytest.param(1000, (), marks=pytest.mark.slow),
        pytest.param(10_000, ADDITIVE, marks=pytest.mark.slow),
    ],
)
def test_thousands_of_columns(tmp_path, n_columns, options):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(60, n_columns))
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(n_columns)])
    frame.assign(y=(X[:, 7] > 4).astype(int)).to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "m.stump"
    output = run("fit", tmp_path / "t.csv", "--target", "y", "--C", 1, *options, "-o", out)
    assert output.exit_code == 0 and f"60 rows, {n_columns:,} features." in output.stdout
    assert "There is no column 'yy'; use 'y'." in input_error(
        "fit", tmp_path / "t.csv", "--target", "yy", "-o", out, "--force"
    )


def test_ambiguous_commas_are_unchanged(tmp_path):
    frame, notes = read(tmp_path, "a;b\n1,234;x\n12,001;y\n")
    assert frame["a"].tolist() == ["1,234", "12,001"] and notes == [
        "Columns are separated by semicolons."
    ]
    assert read(tmp_path, "a;b\n1,234;x\n12,001;y\n", decimal=",")[0]["a"].tolist() == [
        1.234,
        12.001,
    ]


def test_a_header_of_numbers_is_reported(tmp_path):
    assert "first line contains numbers" in read(tmp_path, "1.5,2,0\n3,4,1\n")[1][0]
    assert read(tmp_path, "0,1,2\n3,4,1\n")[1] == read(tmp_path, "a,1,2\n3,4,1\n")[1] == []


def test_unnamed_columns_get_a_name(tmp_path):
    big = 2**60 + 1
    frame, _ = read(tmp_path, f",a,\n1,2,{big}\n3,4,7\n")
    assert frame.columns.tolist() == ["Unnamed: 0", "a", "Unnamed: 2"]
    assert frame["Unnamed: 2"].tolist() == [str(big), "7"]  # the column is found by its name


def test_spaces_before_quotes(tmp_path):
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


def test_unknown_categories_are_reported(tmp_path):
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    frame = pd.DataFrame({"word": ["x", "z"] * 30, "a": np.arange(60) % 7, "y": [0, 1] * 30})
    frame.to_csv(data, index=False)
    run("fit", data, "--target", "y", "--C", 1, "-o", out)
    frame.assign(word=["x", "new"] * 30).to_csv(data, index=False)
    assert "word: 30 rows with an unknown category" in run("predict", out, data).stderr


def test_labels_are_written_as_in_the_file(tmp_path):
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    for labels in (("true", "false"), ("007", "8"), ("100000000000000000000", "1"), ("yes ", "no")):
        pd.DataFrame({"a": [0, 1] * 40, "y": labels * 40}).to_csv(data, index=False)
        output = run("fit", data, "--target", "y", "--C", 1, "-o", out, "--force").stdout
        expected = {label.strip() for label in labels}
        assert "Classes: " in output and all(label in output for label in expected)
        predicted = pd.read_csv(io.StringIO(run("predict", out, data).stdout), dtype=str)[
            "prediction"
        ]
        assert set(predicted) == expected
        assert "Error on 20 held-out rows: 0.0%." in run("bound", out, data).stdout


def test_cells_that_span_lines_are_reported(tmp_path):
    text = 'a,b\n1,"x\ny"\n2,z\n3,"u\nv\nw"\n'
    frame, notes = read(tmp_path, text)
    assert len(frame) == 3
    assert notes == ["Quoted cells span several lines in 2 rows, first in lines 2 to 3."]


def test_decimal_commas_beside_points(tmp_path):
    data = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    rows = "\n".join(f"{k},5;{rng.uniform():.4f};{k % 2}" for k in range(80))
    data.write_text(f"a;b;y\n{rows}\n")
    output = run("fit", data, "--target", "y", "--C", 1, "-o", tmp_path / "m.stump").stdout
    assert "Numbers parsed from text: a ('10,5' is 10.5)." in output


def test_numbers_first_and_text_much_later(tmp_path):
    rows = [f"{k % 5},{k % 2}" for k in range(300_000)] + ["zz,1"] * 9
    (tmp_path / "t.csv").write_text("c,y\n" + "\n".join(rows) + "\n")
    frame, _ = read_file(tmp_path / "t.csv")
    assert set(frame["c"]) == {"0", "1", "2", "3", "4", "zz"}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (("--seed", 2**40), "seed"),
        (("--holdout", "nan"), "nan is not a finite number"),
        (("--C", "inf"), "inf is not a finite number"),
        (("--cv", 1), "cv"),
    ],
)
def test_options_out_of_range(options, match, tmp_path):
    done = run("fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m", *options)
    assert done.exit_code == 2 and match in done.stderr


def test_booleans_with_missing_values(tmp_path):
    flags = [True, None, False] * 40
    data, out = fitted(tmp_path, some_rows(120, flag=flags))
    assert "Error on 30 held-out rows" in run("bound", out, data).stdout
    assert "flag" in run("explain", out, data, "--row", 1).stdout
    whole = tmp_path / "whole.csv"
    some_rows(120, flag=[True, False] * 60).to_csv(whole, index=False)
    assert run("predict", out, whole).exit_code == 0


def test_a_table_of_few_distinct_rows_is_not_mistaken_for_the_training_table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(2, size=(400, 3)), columns=list("abc"))
    frame["y"] = (frame.sum(axis=1) + rng.integers(2, size=400) > 1).astype(int)
    data, out = fitted(tmp_path, frame)
    assert "Error on 100 held-out rows" in run("bound", out, data).stdout
    frame.sample(frac=1, random_state=1).to_csv(data, index=False)
    done = run("bound", out, data)
    assert "Error on 400 rows" in done.stdout and "match by chance" in done.stdout


@pytest.mark.parametrize(
    "preset",
    [
        "stump-svm",
        *(pytest.param(p, marks=pytest.mark.slow) for p in ("vote", "perceptron", "bag")),
    ],
)
def test_a_table_of_all_training_rows_in_another_order(preset, tmp_path):
    frame = some_rows(160, b=np.arange(160) % 9)
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    frame.to_csv(data, index=False)
    options = ("--C", 1, *ADDITIVE) if preset == "stump-svm" else ()
    run("fit", data, "--target", "y", "--model", preset, "--cv", 3, *options, "-o", out)
    assert "Error on 160 training rows" in run("bound", out, data).stdout
    frame.sample(frac=1, random_state=1).to_csv(data, index=False)
    assert "Error on 160 training rows" in run("bound", out, data).stdout


def test_rows_in_single_precision_are_recognized(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    frame = some_rows(200, word=["u ", "v"] * 100).astype({"a": np.float32})
    _, out = fitted(tmp_path, frame)
    frame.to_parquet(tmp_path / "t.parquet")
    assert "Error on 50 held-out rows" in run("bound", out, tmp_path / "t.parquet").stdout


@pytest.mark.parametrize(
    ("labels", "others"),
    [
        (["1.0", "1.5", "2.0"], ["1", "1.50", "2"]),
        (["true", "false"], ["True", "False"]),
        (["+1", "-1"], ["1", "-1.0"]),
        ([0, 1], ["0.0", "1.0"]),
    ],
)
def test_labels_written_in_other_ways(labels, others, tmp_path):
    k = np.arange(120) % len(labels)
    data, out = fitted(tmp_path, pd.DataFrame({"a": k, "y": np.array(labels)[k]}))
    pd.DataFrame({"a": k, "y": np.array(others)[k]}).to_csv(data, index=False)
    assert "Error on 30 held-out rows: 0.0%" in run("bound", out, data).stdout


def test_spaces_after_cells(tmp_path):
    text = "a ,b ,y\n1 ,True ,NA \n2 ,False ,no\n ? ,True,yes\n"
    frame, _ = read(tmp_path, text)
    assert frame.columns.tolist() == ["a", "b", "y"] and frame["b"].dtype == bool
    assert frame["a"].isna().tolist() == [False, False, True]
    assert frame["y"].isna().tolist() == [True, False, False]


def test_kept_columns_stay_as_they_are_written(tmp_path):
    data, out = fitted(tmp_path, some_rows(80))
    data.write_text("a,id,price,code\n0.5,00000,1.50,7\n0.25,00001,2.00,\n-1,00002,NA,8\n")
    done = run(
        "predict", out, data, "--keep", "id", "--keep", "price", "--keep", "code", "--keep", "a"
    )
    cells = [line.split(",")[:4] for line in done.stdout.splitlines()[1:]]
    assert cells == [
        ["00000", "1.50", "7", "0.5"],
        ["00001", "2.00", "", "0.25"],
        ["00002", "NA", "8", "-1"],
    ]


def test_empty_labels(tmp_path):
    data, out = fitted(tmp_path, some_rows(80))
    data.write_text("a,y\n0.5,\n0.25,\n")
    assert "A bound needs labels" in input_error("bound", out, data)
    assert run("report", out, data, "-o", tmp_path / "page.html").exit_code == 0


def test_markers_of_missing_values_in_parquet(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    frame = some_rows(80, b=[-999, 3] * 40, c=["none", "x"] * 40)
    path = tmp_path / "t.parquet"
    frame.assign(k=pd.array([1, None] * 40, dtype="Int64")).to_parquet(path)
    read, _ = read_file(path, Dialect(missing=("-999", "none")))
    assert read[["b", "c", "k"]].isna().sum().tolist() == [40, 40, 40]
    assert read["k"].dtype == np.float64


def test_numbers_with_points_beside_text_with_commas(tmp_path):
    text = "num;c\n0.5;1,5\n0.25;2,5\n"
    frame, notes = read(tmp_path, text)
    assert frame["num"].tolist() == [0.5, 0.25] and frame["c"].tolist() == ["1,5", "2,5"]
    assert notes == ["Columns are separated by semicolons."]
    frame, _ = read_file(tmp_path / "t.csv", Dialect(), text=["num"])
    assert frame["num"].tolist() == ["0.5", "0.25"] and frame["c"].tolist() == [1.5, 2.5]


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf", b"\xef\xbb\xbf\n\n", b"\n \n"])
def test_files_of_white_space_are_empty(content, tmp_path):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InvalidInputError, match="is empty"):
        read_file(tmp_path / "t.csv")


def test_categorical_columns_are_not_dropped(tmp_path):
    _, out = fitted(tmp_path, some_rows(80, number=np.arange(80)), "--categorical", "number")
    assert package.load(out).feature_names_in_.tolist() == ["a", "number"]


def test_notes_are_printed_after_all_checks(tmp_path):
    data, out = fitted(tmp_path, some_rows(80))
    data.write_text("b;y\n1,5;no\n2,5;yes\n")
    expected = "The data lack column 'a', which the model needs; add or rename columns."
    assert input_error("bound", out, data) == expected


def test_boolean_labels_in_parquet(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    path, out = tmp_path / "t.parquet", tmp_path / "m.stump"
    for labels in ([True, False, None], pd.array([True, False, None], dtype="boolean")):
        y = pd.Series(labels).repeat(40).reset_index(drop=True)
        pd.DataFrame({"a": np.arange(120) % 7, "y": y}).to_parquet(path)
        output = run("fit", path, "--target", "y", "--C", 1, "-o", out, "--force").stdout
        assert "Classes: False, True" in output
        assert "Error on 20 held-out rows" in run("bound", out, path).stdout
