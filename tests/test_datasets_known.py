"""Known datasets that are not packaged: fingerprints, the user's folder, OpenML."""

import gzip
import os
import re
from itertools import permutations
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.utils import Bunch

from everystump.datasets import load_dataset
from everystump.datasets._catalog import KNOWN, KnownDataset, OpenML, recognize
from everystump.datasets._csv import parse_table
from everystump.datasets._fingerprint import fingerprint

TABLE = b"a,b,target\n1,2.5,no\n1,2.5,yes\n-0.0,,no\n10,3,yes\n0,7,maybe\n"
# Its rows as they are returned: sorted by the features, then by the class.
SORTED = [[0, 7], [0, np.nan], [1, 2.5], [1, 2.5], [10, 3]]
SORTED_LABELS = ["maybe", "no", "no", "yes", "yes"]
SHAPES = {
    "australian": (690, 14, [383, 307]),
    "covtype_binary_50k": (50_000, 54, [25_508, 24_492]),
    "fourclass": (862, 2, [555, 307]),
    "usps_test": (2007, 256, [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]),
    "usps_train": (7291, 256, [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]),
}


def table_of(content):
    return parse_table(content, "table.csv")


def checksum(content):
    return fingerprint(table_of(content)).sha256


def known(content, openml=None):
    """Return the catalog entry of a table."""
    table = table_of(content)
    found = fingerprint(table)
    labels = table.target_names[np.argsort(found.ranks)].tolist()
    return KnownDataset(
        found.sha256, tuple(labels), "Somebody, 1999.", "https://example.org/small", openml
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Set EVERYSTUMP_DATA to an empty folder and return it."""
    monkeypatch.setenv("EVERYSTUMP_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def small(monkeypatch):
    """Add a small table to the catalog, the rows 1 to 5 of OpenML's dataset 7."""
    monkeypatch.setitem(KNOWN, "small", known(TABLE, OpenML(7, slice(1, 6))))


@pytest.fixture
def openml(monkeypatch):
    """Replace fetch_openml; `answer` is what it returns or raises."""

    class Server:
        answer = AssertionError("unexpected call of OpenML")
        calls = ()

        def fetch(self, **arguments):
            self.calls = [*self.calls, arguments]
            if isinstance(self.answer, BaseException):
                raise self.answer
            return self.answer

    server = Server()
    monkeypatch.setattr("sklearn.datasets.fetch_openml", server.fetch)
    return server


def openml_table(last=7.0):
    """Return TABLE after an unrelated row; the first feature is nominal with unsorted levels."""
    nan = np.nan
    codes = [[1, 9.0], [0, 2.5], [0, 2.5], [2, nan], [1, 3.0], [2, last]]
    return Bunch(
        data=np.array(codes),
        target=np.array(["2", "1", "2", "1", "2", "3"], dtype=object),
        feature_names=["x", "y"],
        categories={"x": ["1", "10", "0"]},
    )


class TestFingerprint:
    @pytest.mark.parametrize(
        "same",
        [
            gzip.compress(TABLE),
            TABLE.replace(b"\n", b"\r\n"),
            TABLE.replace(b"a,b,target", b"x,y,target"),
            TABLE.replace(b"2.5", b"+25e-1").replace(b"-0.0", b"0"),
            TABLE.replace(b"no", b"zzz").replace(b"yes", b"1"),
            b"\n".join([TABLE.split(b"\n")[0], *reversed(TABLE.split(b"\n")[1:])]),
        ],
        ids=["compression", "line endings", "names", "numbers", "labels", "order of rows"],
    )
    def test_same_table(self, same):
        assert checksum(same) == checksum(TABLE)

    @pytest.mark.parametrize(
        "other",
        [
            TABLE.replace(b"2.5", b"2.500001", 1),
            TABLE.replace(b"-0.0,,", b"-0.0,0,"),
            TABLE.replace(b"maybe", b"no"),
            TABLE.replace(b"10,3,yes", b"10,3,no"),
            TABLE.replace(b"10,3,yes", b"3,10,yes"),
            TABLE + b"0,7,maybe\n",
            TABLE.replace(b"10,3,yes\n", b""),
            re.sub(rb"(?m)^[^,]*,", b"", TABLE),
        ],
        ids=["value", "missing", "classes", "label", "columns", "twice", "row", "shape"],
    )
    def test_other_table(self, other):
        assert checksum(other) != checksum(TABLE)

    def test_levels_count(self):
        red = b"a,target\nred,0\nwhite,1\n"
        assert checksum(red) != checksum(red.replace(b"white", b"yellow"))
        assert checksum(red) != checksum(b"a,target\n0,0\n1,1\n")

    def test_rows_that_differ_only_in_their_label(self):
        """Neither their order nor the names of their classes change the fingerprint."""
        first = b"a,target\n1,x\n1,y\n2,y\n"
        assert checksum(first) == checksum(b"a,target\n1,p\n1,a\n2,p\n")
        assert checksum(first) == checksum(b"a,target\n2,a\n1,p\n1,a\n")

    def test_labels_are_replaced_by_the_known_ones(self):
        renamed = table_of(b"a,b,target\n0,7,0\n1,2.5,1\n10,3,1\n1,2.5,2\n0,,2\n")
        found = recognize(known(TABLE), renamed)
        assert found.target_names.tolist() == ["maybe", "no", "yes"]
        assert found.target_names[found.target].tolist() == SORTED_LABELS

    def test_rows_are_sorted(self):
        head, *rows = TABLE.splitlines(keepends=True)
        for order in permutations(rows):
            found = recognize(known(TABLE), table_of(head + b"".join(order)))
            np.testing.assert_array_equal(found.data, SORTED)
            assert found.target_names[found.target].tolist() == SORTED_LABELS


@pytest.mark.usefixtures("small", "openml")
class TestFolder:
    def test_known_file(self, folder):
        (folder / "small.csv.gz").write_bytes(gzip.compress(TABLE))
        small = load_dataset("small")
        np.testing.assert_array_equal(small.data, SORTED)
        assert small.target_names[small.target].tolist() == SORTED_LABELS
        assert small.target_names.tolist() == ["maybe", "no", "yes"]
        assert small.DESCR.endswith(f"Somebody, 1999. Read from {folder / 'small.csv.gz'}.")

    def test_another_table_is_rejected(self, folder):
        path = folder / "small.csv"
        path.write_bytes(TABLE.replace(b"2.5", b"2.6", 1))
        expected = (
            f"{path} is damaged or is not the known dataset 'small': "
            "get it again from https://example.org/small, or rename the file."
        )
        with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
            load_dataset("small")
        path.rename(folder / "other.csv")
        assert load_dataset("other").data.shape == (5, 2)

    @pytest.mark.parametrize("name", SHAPES)
    def test_known_files_in_the_users_folder(self, name):
        folder = os.environ.get("EVERYSTUMP_DATA", "")
        if not any(os.path.exists(f"{folder}/{name}{end}") for end in (".csv", ".csv.gz")):
            pytest.skip(f"EVERYSTUMP_DATA has no {name}")
        rows, features, counts = SHAPES[name]
        table = load_dataset(name)
        assert table.data.shape == (rows, features)
        assert np.isfinite(table.data).all()
        assert table.categories == {}
        assert np.bincount(table.target).tolist() == counts
        assert KNOWN[name].credit in table.DESCR


@pytest.mark.usefixtures("small")
class TestOpenML:
    def test_download(self, folder, openml):
        openml.answer = openml_table()
        small = load_dataset("small")
        assert openml.calls == [
            {"data_id": 7, "as_frame": False, "parser": "liac-arff", "n_retries": 1}
        ]
        np.testing.assert_array_equal(small.data, SORTED)
        assert small.target_names[small.target].tolist() == SORTED_LABELS
        assert small.feature_names == ["x", "y"]
        assert small.DESCR.endswith("Somebody, 1999. From OpenML (7).")
        assert [*folder.iterdir()] == []

    def test_text_and_missing_categories(self, monkeypatch, openml):
        content = b"a,target\nred,1\n,2\nblue,1\n"
        monkeypatch.setitem(KNOWN, "small", known(content, OpenML(8)))
        openml.answer = Bunch(
            data=np.array([[0], [np.nan], [1]]),
            target=np.array([1.0, 2.0, 1.0]),
            feature_names=["color"],
            categories={"color": ["red", "blue"]},
        )
        small = load_dataset("small")
        np.testing.assert_array_equal(small.data, [[0], [1], [np.nan]])
        assert small.target_names[small.target].tolist() == ["1", "1", "2"]
        assert small.categories == {"color": ["blue", "red"]}
        assert small.target_names.tolist() == ["1", "2"]

    def test_folder_precedes_openml(self, folder, openml):
        (folder / "small.csv").write_bytes(TABLE)
        load_dataset("small")
        assert openml.calls == ()

    @pytest.mark.parametrize("name", ["other", "fourclass", "covtype_binary_50k", "heart"])
    def test_no_network_for_other_names(self, folder, openml, name):
        if name == "heart":
            load_dataset(name)
        else:
            with pytest.raises(ValueError, match=rf"^name='{name}' is not .*EVERYSTUMP_DATA"):
                load_dataset(name)
        assert openml.calls == ()

    @pytest.mark.parametrize("value", ["", "folder"])
    @pytest.mark.parametrize(
        "error",
        [
            URLError("Name or service\nnot known"),
            TimeoutError("timed out"),
            PermissionError("cache is read-only"),
            ValueError("md5 checksum does not match"),
        ],
    )
    def test_failure_is_one_sentence(self, tmp_path, monkeypatch, openml, error, value):
        value = value and str(tmp_path)
        monkeypatch.setenv("EVERYSTUMP_DATA", value)
        openml.answer = error
        start = (
            rf"^name='small' could not be downloaded from OpenML \(7\), {type(error).__name__}: "
        )
        with pytest.raises(ValueError, match=start) as caught:
            load_dataset("small")
        message = str(caught.value)
        assert "get it from https://example.org/small and save it as small.csv" in message
        assert message.endswith(f"EVERYSTUMP_DATA ({value or 'not set'}).")
        assert "\n" not in message

    def test_another_table_is_rejected(self, folder, openml):
        openml.answer = openml_table(last=8.0)
        message = r"^name='small' at OpenML \(7\) is not the known dataset: get it from .*\.$"
        with pytest.raises(ValueError, match=message):
            load_dataset("small")

    def test_usps_is_one_dataset_at_openml(self):
        train, test = KNOWN["usps_train"].openml, KNOWN["usps_test"].openml
        assert train.data_id == test.data_id
        rows = np.arange(9298)
        np.testing.assert_array_equal(np.r_[rows[train.rows], rows[test.rows]], rows)
        assert rows[train.rows].size == SHAPES["usps_train"][0]
