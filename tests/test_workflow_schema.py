"""Inferred schemas: money, percentages, words among numbers, dates, identifiers."""

import datetime
import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command import input_error, run

import everystump as package
from everystump._text import InvalidInputError
from everystump._workflow.matching import match_features
from everystump._workflow.options import ColumnOptions, Dialect
from everystump._workflow.reading.date_text import date_features, read_dates
from everystump._workflow.reading.files import parse_file, read_file
from everystump._workflow.reading.number_text import read_number
from everystump._workflow.schema.inference import infer_parsers
from everystump._workflow.schema.parsers import parsers_from_dict, parsers_to_dict
from everystump._workflow.schema.training_data import prepare_training_data

N = 120
RNG = np.random.default_rng(0)
AMOUNTS = RNG.integers(1000, 10_000_000, N)
SHARES = RNG.uniform(0, 100, N).round(1)
DAYS = pd.Series(pd.date_range("2010-01-04", periods=N, freq="13D"))
Y = np.where(AMOUNTS > 5_000_000, "yes", "no")


def prepare(cells, *, decimal=None, y=Y, **column_options):
    """Return the training data of a table with one column of cells, by way of a CSV."""
    frame = pd.DataFrame({"x": cells, "other": np.arange(len(cells)) % 7, "y": y[: len(cells)]})
    text = io.StringIO()
    frame.to_csv(text, index=False, sep=";")
    return prepare_training_data(
        read_text(text.getvalue(), decimal), "y", ColumnOptions(**column_options)
    )


def read_text(text, decimal=None):
    return parse_file(Path("t.csv"), text.encode(), Dialect(decimal=decimal), text=["y"])[0]


WRITTEN = {
    "dollars": [f"${x:,}" for x in AMOUNTS],
    "thousands": [f"{x:,}" for x in AMOUNTS],
    "blanks": [f"{x:,}".replace(",", "\u00a0") for x in AMOUNTS],
    "apostrophes": [f"{x:,}".replace(",", "\u2019") for x in AMOUNTS],
    "euros": [f"{x:,}.00".translate(str.maketrans(",.", ".,")) + " €" for x in AMOUNTS],
    "cents": [f"€{x:,}.00" for x in AMOUNTS],
}


@pytest.mark.parametrize("cells", WRITTEN.values(), ids=WRITTEN)
def test_formatted_numbers_are_numeric(cells):
    training = prepare(cells)
    assert training.X["x"].tolist() == AMOUNTS.tolist()
    assert any(
        re.fullmatch(r"Numbers parsed from text: x \('.*' is \d+\)\.", s) for s in training.messages
    )


def test_percentages_keep_their_scale():
    assert prepare([f"{x}%" for x in SHARES]).X["x"].tolist() == SHARES.tolist()
    assert prepare([f"{x} %".replace(".", ",") for x in SHARES]).X["x"].tolist() == SHARES.tolist()


@pytest.mark.parametrize(
    ("cell", "decimal", "value"),
    [
        ("-$5", ".", -5.0),
        ("$-5", ".", -5.0),
        ("($1,234.50)", ".", -1234.5),
        ("\u22125", ".", -5.0),
        ("+1e3", ".", 1000.0),
        (".5", ".", 0.5),
        ("5.", ".", 5.0),
        (",5", ",", 0.5),
        ("1.234.567,8", ",", 1234567.8),
        ("1,5", ".", None),
        ("0,125", ".", None),
        ("12,34", ".", None),
        ("1,234 567", ".", None),
        ("1,2345", ".", None),
        ("$5%", ".", None),
        ("--5", ".", None),
        ("(-5)", ".", None),
        ("(5", ".", None),
        ("1e999", ".", None),
        ("inf", ".", None),
        ("nan", ".", None),
        ("", ".", None),
        (".", ".", None),
        ("$", ".", None),
        ("1_000", ".", None),
        ("٣", ".", None),
    ],
)
def test_what_is_a_number(cell, decimal, value):
    found = read_number(cell, decimal)
    assert (found and found[0]) == value


def test_formatted_numbers_are_parsed_back():
    """Against Python's own formatting."""
    rng = np.random.default_rng(1)
    for value in (rng.normal(size=300) * 10.0 ** rng.integers(-3, 9, size=300)).round(4).tolist():
        text = f"{value:,.4f}"
        swapped = text.translate(str.maketrans(",.", ".,"))
        assert read_number(text, ".") == read_number(swapped, ",") == (float(f"{value:.4f}"), "")
        assert read_number(f"{text}%", ".") == (float(f"{value:.4f}"), "%")


def test_the_column_decides_what_commas_mean():
    half = ["1,5", "2,25"] * 60
    assert set(prepare(half).X["x"]) == {1.5, 2.25}
    assert set(prepare(["1,234", "5,678"] * 60).X["x"]) == {1234.0, 5678.0}
    assert set(prepare(["1,234", "0,678"] * 60).X["x"]) == {1.234, 0.678}
    assert set(prepare(["1,234", "5,678"] * 60, decimal=",").X["x"]) == {1.234, 5.678}
    assert set(prepare(half, decimal=".").X["x"]) == {"1,5", "2,25"}  # as the option sets it


def test_cells_of_another_currency_are_words():
    cells = [f"${x}" for x in range(100)] + ["€5"] * 20
    training = prepare(cells)
    assert training.X["x"].isna().sum() == 20
    assert any(
        "Words treated as missing values: x ('€5' in 20 rows)" in one for one in training.messages
    )
    assert prepare(["$5", "€5"] * 60).X["x"].dtype.kind == "O"


def test_a_few_words_among_numbers():
    cells = np.where(np.arange(N) % 10 == 0, "unknown", AMOUNTS.astype(str))
    training = prepare(cells)
    assert training.X["x"].isna().sum() == 12 and training.X["x"][1] == AMOUNTS[1]
    assert prepare(cells, categorical=["x"]).X["x"].dtype.kind == "O"
    many = np.where(np.arange(N) % 3 == 0, [f"w{k}" for k in range(N)], AMOUNTS.astype(str))
    assert "x" in prepare(many).dropped
    forced = prepare(many, numeric=["x"])
    assert forced.X["x"].isna().sum() == 40
    assert any("'w0', 'w3', 'w6' and 37 more in 40 rows" in one for one in forced.messages)
    with pytest.raises(InvalidInputError, match="--numeric x: the column has no numbers"):
        prepare(["a", "b"] * 60, numeric=["x"])


def test_codes_and_levels_stay_categories():
    codes = [f"{k % 30:03d}" if k % 9 else "2A" for k in range(N)]
    assert set(prepare(codes).X["x"]) == set(codes)
    levels = ["0", "1", "2", "3+"] * 30
    assert set(prepare(levels).X["x"]) == set(levels)
    mixed = [str(k % 40) if k % 2 else f"w{k % 22}" for k in range(N)]
    assert any("Mostly numbers, but with many words: x" in s for s in prepare(mixed).messages)


DATES = {
    "iso": "%Y-%m-%d",
    "slashes": "%Y/%m/%d",
    "points": "%d.%m.%Y",
    "month first": "%m/%d/%Y",
    "day first": "%d/%m/%Y",
    "day first, short": "%d-%m-%y",
    "names": "%b %d, %Y",
    "long names": "%B %d %Y",
    "names, day first": "%d-%b-%y",
    "with midnight": "%Y-%m-%d 00:00:00",
    "with a zone": "%Y-%m-%dT00:00:00+02:00",
    "basic": "%Y%m%dT000000",
}


@pytest.mark.parametrize("form", DATES.values(), ids=DATES)
def test_dates_are_the_same_numbers_however_they_are_written(form):
    training = prepare(DAYS.dt.strftime(form))
    assert training.X.columns.tolist() == ["x_year", "x_month", "x_weekday", "other"]
    assert training.X["x_month"].tolist() == DAYS.dt.month.tolist()
    assert training.X["x_weekday"].tolist() == [day.isoweekday() for day in DAYS]
    assert training.X["x_year"].is_monotonic_increasing
    assert training.X["x_year"].astype(int).tolist() == DAYS.dt.year.tolist()
    assert "Dates converted to numbers: x (x_year, x_month, x_weekday)." in training.messages


def test_dates_agree_with_pythons_calendar():
    rng = np.random.default_rng(0)
    days = [datetime.date.fromordinal(int(k)) for k in rng.integers(700_000, 750_000, 300)]
    for form in ("%Y-%m-%d", "%d/%m/%Y", "%b %d, %Y"):
        read = read_dates([day.strftime(form) for day in days], day_first=True)
        assert read.astype("M8[D]").tolist() == days
    assert np.isnat(read_dates(["2011-02-29", "31/4/2011", "2011-13-01"], day_first=True)).all()
    year = date_features(pd.Series(pd.to_datetime(["2012-07-02 00:00", "2011-12-31 12:00"])))[
        "year"
    ]
    np.testing.assert_allclose(year, [2012 + 183 / 366, 2011 + 364.5 / 365], rtol=1e-15)


def test_a_date_is_parsed_alike_alone_and_among_others():
    """Dates that are written alike are read at once, and others one by one."""
    cells = [
        *("2012-01-31", "2012-1-5", "2012/01/31", "31.1.2012", "1/2/2012", "1/2/12", "1-2-70"),
        *("2012-01-31 12:30", "2012-01-31T12:30:59", "2012-01-31 12:30:59.75", "20120131T123059"),
        *("2012-01-31T12:30:00Z", "1/2/2012 1:05 PM", "Jan 5, 2012", "5-Jan-12", "May 2012"),
        *("2012-02-30", "13/13/2012", "2012-01", "1234-05-06", "9999-12-31", "0000-01-01"),
        *("2012-01-31x", " 2012-01-31 ", "2012-01-31 25:00", "1/31/2012 12:30", "", "no", "2012"),
    ]
    for first in cells:
        for day_first in (False, True):
            together = read_dates([first, *cells], day_first=day_first)[1:]
            alone = [read_dates([cell], day_first=day_first)[0] for cell in cells]
            np.testing.assert_array_equal(together, np.array(alone))
    assert (
        np.isnat(read_dates(["2012-01-31", "2012-01-31x", "no", "2012"], day_first=True)).sum() == 3
    )


def test_uninformative_date_features_are_omitted():
    def parts(days):
        return [name for name in prepare(days.astype(str)).X.columns if name != "other"]

    assert parts(pd.Series(pd.date_range("2012-01-01", periods=N))) == ["x_year", "x_weekday"]
    first = pd.Series(pd.date_range("2001-01-01", periods=N, freq="MS"))
    assert parts(first) == ["x_year", "x_month"]
    hours = pd.Series(pd.date_range("2012-01-02", periods=N, freq="h")).dt.strftime(
        "%Y-%m-%d %H:%M"
    )
    assert parts(hours) == ["x_year", "x_weekday", "x_hour"]
    same = prepare(pd.Series(["2012-01-01"] * N))
    assert same.dropped["x"] == "constant"


def test_ambiguous_dates():
    days = pd.Series(pd.to_datetime([f"2012-{1 + k % 12}-{1 + k % 11}" for k in range(N)]))
    output = " ".join(prepare(days.dt.strftime("%d/%m/%Y")).messages)
    assert "assuming month before day" in output
    assert "assuming" not in " ".join(prepare(DAYS.dt.strftime("%d/%m/%Y")).messages)


def test_times_are_hours():
    clock = [f"{k % 24}:{k % 60:02d}" for k in range(N)]
    training = prepare(clock)
    assert training.X["x"].tolist() == [k % 24 + k % 60 / 60 for k in range(N)]
    assert "Times converted to hours: x." in training.messages


def test_names_of_date_features_are_unique_and_can_be_dropped():
    frame = pd.DataFrame({"x": DAYS, "x_month": AMOUNTS, "y": Y})
    training = prepare_training_data(frame, "y", ColumnOptions(drop=["x_weekday"]))
    assert training.X.columns.tolist() == ["x_year", "x_month_", "x_month"]
    assert prepare_training_data(frame, "y", ColumnOptions(drop=["x"])).X.columns.tolist() == [
        "x_month"
    ]


def test_dates_in_parquet_and_in_csv_are_equal(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    frame = pd.DataFrame({"when": DAYS, "day": DAYS.dt.date, "money": AMOUNTS / 100, "y": Y})
    frame.loc[3, "when"] = None
    frame["zone"] = DAYS.dt.tz_localize("Asia/Tokyo")
    written = frame.assign(
        when=DAYS.dt.strftime("%d.%m.%Y").mask(frame["when"].isna()),
        day=DAYS.dt.strftime("%b %d %Y"),
        money=[f"${x:,.2f}" for x in frame["money"]],
        zone=DAYS.dt.strftime("%m/%d/%y"),
    )
    parquet, text, out = (tmp_path / name for name in ("t.parquet", "t.csv", "m.stump"))
    frame.to_parquet(parquet)
    written.to_csv(text, index=False)
    predicted = []
    for learned, other in ((parquet, text), (text, parquet)):
        done = run("fit", learned, "--target", "y", "--C", 1, "-o", out, "--force")
        assert done.exit_code == 0, done.output
        one, two = (run("predict", out, path) for path in (learned, other))
        if learned == parquet:  # its amounts are plain numbers
            assert "'money' is '$" in two.stderr and two.exit_code == 2
            continue
        assert one.stdout == two.stdout != "" and one.stderr == two.stderr == ""
        for path in (learned, other):
            assert "30 held-out rows" in run("bound", out, path).stdout
        predicted.append(one.stdout)
    assert len(predicted) == 1


def test_new_files_are_parsed_as_in_training(tmp_path):
    data, new, out = tmp_path / "t.csv", tmp_path / "new.csv", tmp_path / "m.stump"
    age = np.where(np.arange(N) % 10 == 0, "unknown", (np.arange(N) % 60).astype(str))
    frame = pd.DataFrame(
        {
            "when": DAYS.dt.strftime("%d/%m/%Y"),
            "age": age,
            "money": [f"${x:,}" for x in AMOUNTS],
            "y": Y,
        }
    )
    frame.to_csv(data, index=False)
    run("fit", data, "--target", "y", "--C", 1, "-o", out)
    model = package.load(out)
    assert model.feature_names_in_.tolist() == [
        *("when_year", "when_month", "when_weekday"),
        *("age", "money"),
    ]
    lines = "when,age,money\n03/02/2012,unknown,$1,234\n".replace("$1,234", '"$1,234"')
    for text in (
        lines,
        "when;age;money\n2012-02-03;;1234\n",
        "when;age;money\n3 Feb 2012;?;1234\n",
    ):
        new.write_text(text)
        row = match_features(model, read_file(new, text=["when", "age", "money"])[0]).iloc[0]
        assert row["when_month"] == 2 and np.isnan(row["age"]) and row["money"] == 1234
        assert run("predict", out, new).exit_code == run("explain", out, new).exit_code == 0
    for text, expected in (
        (
            "when,age,money\nsoon,1,2\n",
            "'when' is 'soon' in row 0 .*, where the model expects a date",
        ),
        (
            "when,age,money\n,none,2\n",
            "'age' is 'none' in row 0 .*, where the model expects a number",
        ),
        (
            "when,age,money\n,1,€2\n",
            "'money' is '€2' in row 0 .* expects a number",
        ),
        ("age,money\n1,2\n", "The data lack column 'when'"),
    ):
        new.write_text(text)
        assert re.search(expected, input_error("predict", out, new))
    new.write_text("when_year,when_month,when_weekday,age,money\n2012.1,2,5,30,1234\n")
    assert run("predict", out, new).exit_code == 0


def test_decimal_commas_are_stored_with_the_model(tmp_path):
    data, new, out = tmp_path / "t.csv", tmp_path / "new.csv", tmp_path / "m.stump"
    frame = pd.DataFrame({"a": RNG.normal(size=N).round(3), "b": RNG.normal(size=N).round(3)})
    frame.assign(y=np.where(frame["a"] > 0, "yes", "no")).to_csv(
        data, index=False, sep=";", decimal=","
    )
    run("fit", data, "--target", "y", "--C", 1, "-o", out)
    new.write_text("a;b\n1,234;2,345\n")
    predicted = json.loads(run("predict", out, new, "--json").stdout)["rows"][0]["score"]
    rows = pd.DataFrame({"a": [1.234], "b": [2.345]})
    assert predicted == pytest.approx(package.load(out).decision_function(rows)[0], rel=1e-12)


def test_parsers_are_plain_data():
    frame = pd.DataFrame({"x": DAYS.dt.strftime("%m/%d/%Y"), "m": [f"${x:,}" for x in AMOUNTS]})
    frame["t"] = "12:30"
    found = infer_parsers(frame, (".", ","), unchanged=(), numeric=())
    assert sorted(found) == ["m", "t", "x"]
    assert parsers_from_dict(json.loads(json.dumps(parsers_to_dict(found)))) == found


def test_identifiers_and_free_text_are_dropped():
    words = [f"word {k % 70}" for k in range(N)]
    assert "identifiers, names or notes" in prepare(words).dropped["x"]
    assert set(prepare(words, use=["x"]).X["x"]) == set(words)
    assert "x" in prepare([f"word {k % 50}" for k in range(N)]).X
    assert "x" in prepare([f"word {k}" for k in range(20)]).X  # too few rows to be identifiers
    ids = RNG.permutation(N) * 17
    for name, left_out in (
        ("id", True),
        ("ID", True),
        ("customer_id", True),
        ("CustomerId", True),
        ("order key", True),
        ("rownames", True),
        ("row.names", True),
        ("Index", True),
        ("price_index", False),
        ("paid", False),
        ("ids", False),
        ("Hidalgo", False),
        ("population", False),
    ):
        training = prepare_training_data(
            pd.DataFrame({name: ids, "o": ids % 7, "y": Y}), "y", ColumnOptions()
        )
        assert (name in training.dropped) == left_out, name
    fractions = pd.DataFrame({"id": ids / 7, "y": Y})
    assert "id" in prepare_training_data(fractions, "y", ColumnOptions()).X


def test_an_empty_column_cannot_be_used():
    for option in ("use", "categorical"):
        with pytest.raises(InvalidInputError, match="'x' cannot be used: it has no values"):
            prepare([None] * N, **{option: ["x"]})


def test_integers_beyond_float_precision_stay_distinct(tmp_path):
    big = 2**60 + np.arange(N) % 5
    text = "big,gap,o,y\n" + "".join(
        f"{b},{b if k % 3 else ''},{k % 7},{'yes' if b % 2 else 'no'}\n" for k, b in enumerate(big)
    )
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    data.write_text(text)
    output = run("fit", data, "--target", "y", "--C", 10, "-o", out).stdout
    assert "integers beyond 2^53 are not exact as floats: big, gap." in output
    assert "Categorical: " not in output
    model = package.load(out)
    assert model.feature_info_[0].levels.tolist() == [str(2**60 + k) for k in range(5)]
    predicted = pd.read_csv(io.StringIO(run("predict", out, data).stdout))["prediction"]
    assert predicted.tolist() == ["yes" if b % 2 else "no" for b in big]
    training = prepare_training_data(
        read_file(data, text=["y"])[0], "y", ColumnOptions(numeric=["big"])
    )
    assert "Integers beyond 2^53, rounded to floats: big." in training.messages
    assert training.X["big"].nunique() == 1 and "big" not in training.dropped
    huge = read_text(text.replace("1152921504606846976", "1e300"))
    assert huge["o"].dtype.kind == "i"


def test_integers_beyond_float_precision_in_parquet(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    big = pd.Series(2**60 + np.arange(N) % 5)
    frame = pd.DataFrame({"big": big, "gap": big.astype("Int64").mask(big == 2**60), "y": Y})
    frame.to_parquet(tmp_path / "t.parquet")
    read = read_file(tmp_path / "t.parquet")[0]
    assert read["big"].tolist() == big.astype(str).tolist()
    assert read["gap"].isna().sum() == 24 and read["gap"].nunique() == 4


@pytest.mark.parametrize("name", ["number", "Unnamed: 0"])
def test_row_numbers_are_detected_despite_missing_labels(name):
    frame = pd.DataFrame({name: np.arange(1, N + 1), "x": AMOUNTS, "y": Y})
    frame.loc[50, "y"] = None
    training = prepare_training_data(frame, "y", ColumnOptions())
    assert training.dropped == {name: "row numbers"} and list(training.X) == ["x"]


def test_row_numbers_in_an_unnamed_column_may_have_gaps():
    frame = pd.DataFrame({"Unnamed: 0": 2 * np.arange(N), "time": 2 * np.arange(N), "y": Y})
    assert list(prepare_training_data(frame, "y", ColumnOptions()).dropped) == ["Unnamed: 0"]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Return a table of numbers, dates and percents, and a model of it."""
    folder = tmp_path_factory.mktemp("mixed")
    frame = pd.DataFrame({"n": AMOUNTS, "when": DAYS.dt.strftime("%Y-%m-%d"), "share": SHARES})
    frame["share"] = frame["share"].astype(str) + "%"
    data, out = folder / "t.csv", folder / "m.stump"
    frame.assign(y=Y).to_csv(data, index=False)
    assert run("fit", data, "--target", "y", "--C", 1, "-o", out).exit_code == 0
    return frame, out


@pytest.mark.parametrize(("name", "word"), [("n", "none yet"), ("when", "hello")])
def test_a_few_new_words_at_prediction_are_missing(mixed, tmp_path, name, word):
    frame, out = mixed
    new, empty = tmp_path / "new.csv", tmp_path / "empty.csv"
    frame.astype(object).assign(**{name: [word, *frame[name][1:]]}).to_csv(new, index=False)
    frame.astype(object).assign(**{name: ["", *frame[name][1:]]}).to_csv(empty, index=False)
    done, same = run("predict", out, new), run("predict", out, empty)
    assert done.exit_code == 0 and done.stdout == same.stdout
    assert f"{name}: '{word}' in 1 row treated as missing." in " ".join(done.stderr.split())
    assert same.stderr == ""
    words = [f"{word} {k}" for k in range(N)]
    frame.assign(**{name: words}).to_csv(new, index=False)
    assert ("--decimal" in input_error("predict", out, new)) == (name == "n")


def test_na_with_periods_is_missing(mixed, tmp_path):
    frame, out = mixed
    frame.head(2).astype(object).assign(n=["n.a.", 5]).to_csv(tmp_path / "t.csv", index=False)
    assert run("predict", out, tmp_path / "t.csv").exit_code == 0


def test_percentages_without_a_sign_are_reported(mixed, tmp_path):
    frame, out = mixed
    new = tmp_path / "new.csv"
    for cells in (SHARES / 100, [0.35, *frame["share"][1:]]):
        frame.assign(share=cells).to_csv(new, index=False)
        assert "share: numbers without a percent sign" in run("predict", out, new).stderr
    frame.to_csv(new, index=False)
    assert run("predict", out, new).stderr == ""
    some = prepare([0.35, *frame["share"][1:]])
    assert any(one.startswith("Percentages, some of them without") for one in some.messages)
    assert not any(one.startswith("Percentages") for one in prepare(frame["share"]).messages)
