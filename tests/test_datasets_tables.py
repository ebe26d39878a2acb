"""Tables: packaged files, the CSV format, categorical features, frames, the user's folder."""

import gzip
import lzma

import numpy as np
import pytest
from sklearn.utils import Bunch

from everystump.datasets import _packaged, dataset_names, load_dataset
from everystump.datasets._csv import encode_column

# rows, features, rows of each class, missing values, categorical features
PACKAGED = {
    "breast": (699, 9, {"benign": 458, "malignant": 241}, 16, 0),
    "breast_683": (683, 9, {"benign": 444, "malignant": 239}, 0, 0),
    "breast_cancer_ljubljana": (
        277,
        9,
        {"no-recurrence-events": 196, "recurrence-events": 81},
        0,
        8,
    ),
    "breast_cancer_ljubljana_286": (
        286,
        9,
        {"no-recurrence-events": 201, "recurrence-events": 85},
        9,
        8,
    ),
    "chess": (3196, 36, {"nowin": 1527, "won": 1669}, 0, 36),
    "german": (1000, 20, {"1": 700, "2": 300}, 0, 13),
    "german_numeric": (1000, 24, {"1": 700, "2": 300}, 0, 0),
    "heart": (270, 13, {"1": 150, "2": 120}, 0, 0),
    "ionosphere": (351, 34, {"b": 126, "g": 225}, 0, 0),
    "magic": (19020, 10, {"g": 12332, "h": 6688}, 0, 0),
    "monk1": (432, 6, {"0": 216, "1": 216}, 0, 0),
    "monk1_train124": (124, 6, {"0": 62, "1": 62}, 0, 0),
    "new_thyroid_3class": (215, 5, {"1": 150, "2": 35, "3": 30}, 0, 0),
    "pima": (768, 8, {"0": 500, "1": 268}, 0, 0),
    "sonar": (208, 60, {"M": 111, "R": 97}, 0, 0),
    "spambase": (4601, 57, {"0": 2788, "1": 1813}, 0, 0),
    "thyroid": (215, 5, {"0": 150, "1": 65}, 0, 0),
    "votes84": (435, 16, {"democrat": 267, "republican": 168}, 392, 16),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Set EVERYSTUMP_DATA to an empty folder and return it."""
    monkeypatch.setenv("EVERYSTUMP_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Prevent downloads from OpenML."""
    monkeypatch.setattr("sklearn.datasets.fetch_openml", None)


class TestPackaged:
    def test_list_is_complete(self):
        assert sorted(PACKAGED) == sorted(_packaged.PACKAGED)

    @pytest.mark.parametrize("name", PACKAGED)
    def test_shape_classes_missing_values_and_categories(self, name):
        rows, features, counts, missing, categorical = PACKAGED[name]
        table = load_dataset(name)
        assert isinstance(table, Bunch)
        assert table.data.shape == (rows, features)
        assert table.data.dtype == np.float64
        assert len({*table.feature_names}) == features
        sizes = np.bincount(table.target).tolist()
        assert dict(zip(table.target_names.tolist(), sizes, strict=True)) == counts
        assert np.isnan(table.data).sum() == missing
        assert len(table.categories) == categorical

    @pytest.mark.parametrize("name", PACKAGED)
    def test_credit(self, name):
        credits = (_packaged.PACKAGED_FOLDER / "CREDITS.md").read_text(encoding="utf-8")
        assert f"`{name}.csv.xz`" in credits
        assert _packaged.PACKAGED[name].credit in load_dataset(name).DESCR
        assert "UCI Machine Learning Repository" in _packaged.PACKAGED[name].credit

    def test_heart(self):
        heart = load_dataset("heart")
        assert heart.data[0].tolist() == [70, 1, 4, 130, 322, 0, 2, 109, 0, 2.4, 2, 3, 3]
        assert heart.target_names[heart.target[0]] == "2"
        assert heart.feature_names[0] == "age"
        assert "CC BY 4.0" in heart.DESCR

    @pytest.mark.parametrize("name", ["monk1", "monk1_train124"])
    def test_monk_follows_its_rule(self, name):
        X, y = load_dataset(name, return_X_y=True)
        np.testing.assert_array_equal(y, (X[:, 0] == X[:, 1]) | (X[:, 4] == 1))
        assert len(np.unique(X, axis=0)) == len(X)

    @pytest.mark.parametrize(
        ("whole", "part"),
        [
            ("breast", "breast_683"),
            ("breast_cancer_ljubljana_286", "breast_cancer_ljubljana"),
        ],
    )
    def test_versions_without_missing_values(self, whole, part):
        whole, part = load_dataset(whole), load_dataset(part)
        complete = ~np.isnan(whole.data).any(axis=1)
        np.testing.assert_array_equal(whole.data[complete], part.data)
        np.testing.assert_array_equal(whole.target[complete], part.target)

    def test_thyroid_joins_two_of_three_classes(self):
        two, three = load_dataset("thyroid"), load_dataset("new_thyroid_3class")
        np.testing.assert_array_equal(two.data, three.data)
        np.testing.assert_array_equal(two.target, three.target > 0)

    def test_return_X_y(self):  # noqa: N802
        X, y = load_dataset("heart", return_X_y=True)
        heart = load_dataset("heart")
        np.testing.assert_array_equal(X, heart.data)
        np.testing.assert_array_equal(y, heart.target)

    def test_damage_is_detected(self, tmp_path, monkeypatch):
        content = lzma.decompress((_packaged.PACKAGED_FOLDER / "heart.csv.xz").read_bytes())
        altered = lzma.compress(content.replace(b"70,1,4,130", b"70,1,4,131", 1))
        (tmp_path / "heart.csv.xz").write_bytes(altered)
        monkeypatch.setattr(_packaged, "PACKAGED_FOLDER", tmp_path)
        message = r"heart\.csv\.xz is damaged .* reinstall everystump\.$"
        with pytest.raises(ValueError, match=message):
            load_dataset("heart")

    def test_packaged_data_precede_the_folder(self, folder):
        (folder / "heart.csv").write_text("a,target\n1,0\n")
        assert load_dataset("heart").data.shape == (270, 13)

    def test_names(self):
        names = dataset_names()
        assert names == sorted(names)
        others = {"australian", "covtype_binary_50k", "fourclass", "usps_test", "usps_train"}
        assert {*names} == {*PACKAGED} | others


class TestCategories:
    @pytest.mark.parametrize(
        ("cells", "levels"),
        [
            (["b", "a", "c"], ["a", "b", "c"]),
            (["10-14", "0-4", "5-9"], ["0-4", "5-9", "10-14"]),
            (["2.5 m", "-1 m", "10 m", ".5 m"], ["-1 m", ".5 m", "2.5 m", "10 m"]),
            (["10", "9", "x"], ["10", "9", "x"]),
            (["2b", "2a", "1z"], ["1z", "2a", "2b"]),
        ],
    )
    def test_order_of_levels(self, cells, levels):
        column = encode_column([*cells, ""])
        assert column.levels == levels
        assert [levels[int(code)] for code in column.values[:-1]] == cells
        assert np.isnan(column.values[-1])

    def test_numbers_have_no_levels(self):
        column = encode_column(["1", "", "-2.5e3", " 7 ", "inf"])
        assert column.levels == []
        np.testing.assert_array_equal(column.values, [1, np.nan, -2500, 7, np.inf])

    def test_a_column_of_empty_cells_is_missing(self):
        assert np.isnan(encode_column(["", ""]).values).all()

    def test_codes_decode_to_the_cells_of_the_file(self):
        table = load_dataset("votes84")
        content = lzma.decompress((_packaged.PACKAGED_FOLDER / "votes84.csv.xz").read_bytes())
        lines = [line.split(",") for line in content.decode().splitlines()]
        assert [*table.feature_names, "target"] == lines[0]
        levels = [[*table.categories[name], ""] for name in table.feature_names]
        codes = np.where(np.isnan(table.data), -1, table.data).astype(int)
        for line, row, k in zip(lines[1:], codes, table.target, strict=True):
            cells = [levels[d][code] for d, code in enumerate(row)]
            assert line == [*cells, str(table.target_names[k])]

    def test_numeric_tables_have_no_categories(self):
        assert load_dataset("heart").categories == {}


class TestFrames:
    def test_dtypes(self):
        pd = pytest.importorskip("pandas")
        plain = load_dataset("breast_cancer_ljubljana_286")
        framed = load_dataset("breast_cancer_ljubljana_286", as_frame=True)
        assert framed.data.columns.tolist() == plain.feature_names
        assert framed.categories == plain.categories
        for name, values in zip(plain.feature_names, plain.data.T, strict=True):
            column = framed.data[name]
            if name in plain.categories:
                assert isinstance(column.dtype, pd.CategoricalDtype)
                assert column.cat.categories.tolist() == plain.categories[name]
                values = np.where(np.isnan(values), -1, values)
                np.testing.assert_array_equal(column.cat.codes, values)
            else:
                assert column.dtype == np.float64
                np.testing.assert_array_equal(column, values)
        assert isinstance(framed.target, pd.Series)
        assert framed.target.name == "target"
        np.testing.assert_array_equal(framed.target, plain.target)
        assert framed.DESCR == plain.DESCR

    def test_return_X_y(self):  # noqa: N802
        pytest.importorskip("pandas")
        X, y = load_dataset("pima", return_X_y=True, as_frame=True)
        assert X.shape == (768, 8)
        assert X.columns[0] == "pregnant"
        assert y.sum() == 268


class TestUserFolder:
    CONTENT = b"a,b,target\n1,,10\n2.5,-1e3,9\n3,4,10\n"

    @pytest.mark.parametrize(
        ("suffix", "write"),
        [(".csv", bytes), (".csv.gz", gzip.compress), (".csv", lzma.compress)],
        ids=["plain", "gzip", "xz"],
    )
    def test_file_in_the_folder(self, folder, suffix, write):
        (folder / f"mine{suffix}").write_bytes(write(self.CONTENT))
        mine = load_dataset("mine")
        np.testing.assert_array_equal(mine.data, [[1, np.nan], [2.5, -1000], [3, 4]])
        assert mine.feature_names == ["a", "b"]
        assert mine.target_names.tolist() == ["9", "10"]
        assert mine.target.tolist() == [1, 0, 1]
        assert str(folder / f"mine{suffix}") in mine.DESCR

    def test_plain_file_precedes_compressed_file(self, folder):
        (folder / "mine.csv").write_bytes(self.CONTENT)
        (folder / "mine.csv.gz").write_bytes(gzip.compress(b"a,target\n1,0\n"))
        assert load_dataset("mine").data.shape == (3, 2)

    def test_byte_order_mark_line_endings_and_blank_lines(self, folder):
        content = b"\xef\xbb\xbf" + self.CONTENT.replace(b"\n", b"\r\n") + b"\r\n"
        (folder / "mine.csv").write_bytes(content)
        mine = load_dataset("mine")
        assert mine.feature_names == ["a", "b"]
        assert mine.data.shape == (3, 2)

    def test_labels_may_be_text(self, folder):
        (folder / "mine.csv").write_text("a,target\n1,yes\n2,no\n")
        mine = load_dataset("mine")
        assert mine.target_names.tolist() == ["no", "yes"]
        assert mine.target.tolist() == [1, 0]

    def test_unknown_name_lists_the_known_ones(self, folder):
        (folder / "mine.csv").write_bytes(self.CONTENT)
        (folder / "notes.txt").write_text("no data")
        message = (
            r"name='other' is not a known .* one of australian, .*heart, .*mine, .*save other\.csv"
        )
        with pytest.raises(ValueError, match=message) as caught:
            load_dataset("other")
        assert f"EVERYSTUMP_DATA ({folder})." in str(caught.value)
        assert "notes" not in str(caught.value)

    def test_unknown_name_without_a_folder(self, monkeypatch):
        monkeypatch.delenv("EVERYSTUMP_DATA", raising=False)
        with pytest.raises(ValueError, match=r"votes84, or .* EVERYSTUMP_DATA \(not set\)"):
            load_dataset("other")

    def test_a_name_cannot_leave_the_folder(self, folder, monkeypatch):
        (folder / "mine.csv").write_bytes(self.CONTENT)
        (folder / "inner").mkdir()
        monkeypatch.setenv("EVERYSTUMP_DATA", str(folder / "inner"))
        with pytest.raises(ValueError, match="not a known dataset"):
            load_dataset("../mine")

    def test_folder_must_exist(self, tmp_path, monkeypatch):
        monkeypatch.setenv("EVERYSTUMP_DATA", str(tmp_path / "absent"))
        with pytest.raises(ValueError, match=r"EVERYSTUMP_DATA=.*absent.* cannot be read"):
            load_dataset("other")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", r"mine\.csv has the header \[\]"),
            (b"a,b\n1,2\n", r"mine\.csv has the header \['a', 'b'\]: .* last as 'target'"),
            (b"target\n1\n", r"at least one feature"),
            (b"a,b,a,target\n1,2,3,0\n", r"mine\.csv has several columns named 'a'"),
            (b"a,target\n", r"mine\.csv has a header but no rows"),
            (b"a,b,target\n1,2,0\n1,0\n", r"mine\.csv has 2 cells in line 3, but 3 in the header"),
            (b"a,target\n1,\n2,x\n", r"mine\.csv has rows with an empty 'target'"),
            (b"a,target\n\xff,0\n", r"mine\.csv is not UTF-8 text, .* gzip or xz"),
            (gzip.compress(CONTENT, mtime=0)[:-12], r"mine\.csv is not UTF-8 text"),
            (lzma.compress(CONTENT)[:-12], r"mine\.csv is not UTF-8 text"),
        ],
    )
    def test_other_formats_are_rejected_in_one_sentence(self, folder, content, message):
        (folder / "mine.csv").write_bytes(content)
        with pytest.raises(ValueError, match=message) as caught:
            load_dataset("mine")
        assert str(caught.value).endswith(".")
        assert "\n" not in str(caught.value)
