"""Data: generators against their closed forms, label noise by count, loading and its errors."""

import gzip

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import ncx2, norm
from sklearn.utils import Bunch

from everystump.datasets import (
    flip_labels,
    load_dataset,
    loader,
    make_ringnorm,
    make_threenorm,
    make_twonorm,
)

GENERATORS = [make_twonorm, make_threenorm, make_ringnorm]
N, D = 20_000, 20
ROOT_D = np.sqrt(D)


def assert_moments(X, mean, covariance):
    """Compare with closed-form moments to within 5 standard errors of an entry."""
    errors = 5 * np.sqrt(np.max(np.diag(covariance)) / len(X))
    np.testing.assert_allclose(X.mean(axis=0), mean, atol=errors)
    # The variance of a product of two coordinates is at most 2 * max variance ** 2 for normals.
    errors *= np.sqrt(2 * np.max(np.diag(covariance)))
    np.testing.assert_allclose(np.cov(X.T), covariance, atol=errors)


def assert_rate(errors, expected):
    """Compare an error rate with its expectation to within 4 standard errors."""
    assert abs(errors.mean() - expected) < 4 * np.sqrt(expected * (1 - expected) / errors.size)


def threenorm_bayes_error():
    """Error of the best rule, exp(2 q) < cosh(2 p), with p along 1 and q along s (even d)."""

    def boundary(p):
        return 0.5 * np.log(np.cosh(2 * p))

    missed, _ = quad(lambda p: norm.pdf(p, loc=2) * ndtr(-boundary(p)), -8, 12)
    false, _ = quad(lambda p: norm.pdf(p) * ndtr(boundary(p) - 2), -10, 10)
    return (missed + false) / 2


def ringnorm_bayes_ball(d, a):
    """Squared radius of the best ball for class -1 around ``4/3 a 1``."""
    return 4 / 9 * d * a**2 + 4 / 3 * d * np.log(4)


@pytest.mark.parametrize("make", GENERATORS)
class TestEveryGenerator:
    def test_shapes_and_labels(self, make):
        X, y = make(random_state=0)
        assert X.shape == (300, 20)
        assert X.dtype == np.float64
        assert y.shape == (300,)
        assert set(y.tolist()) == {-1, 1}

    def test_classes_are_equally_likely(self, make):
        _, y = make(N, 2, random_state=1)
        assert_rate(y > 0, 0.5)

    def test_same_seed_same_sample(self, make):
        first, second = make(random_state=3), make(random_state=3)
        np.testing.assert_array_equal(first[0], second[0])
        np.testing.assert_array_equal(first[1], second[1])
        assert not np.array_equal(first[0], make(random_state=4)[0])

    def test_random_state_instance_moves_on(self, make):
        rng = np.random.RandomState(0)
        assert not np.array_equal(make(random_state=rng)[0], make(random_state=rng)[0])

    @pytest.mark.parametrize("argument", ["n_samples", "n_features"])
    @pytest.mark.parametrize("value", [0, -3, 2.5, True, "7"])
    def test_sizes_must_be_positive_integers(self, make, argument, value):
        with pytest.raises(ValueError, match=rf"{argument}={value!r} .* at least 1"):
            make(**{argument: value})


class TestMoments:
    def test_twonorm(self):
        X, y = make_twonorm(N, random_state=0)
        for label in (-1, 1):
            assert_moments(X[y == label], label * np.full(D, 2 / ROOT_D), np.eye(D))

    def test_threenorm(self):
        X, y = make_threenorm(N, random_state=0)
        a = 2 / ROOT_D
        assert_moments(X[y > 0], np.zeros(D), np.eye(D) + a**2)
        assert_moments(X[y < 0], a * np.resize([1.0, -1.0], D), np.eye(D))

    @pytest.mark.parametrize("a", [None, 0.0, 2 / ROOT_D])
    def test_ringnorm(self, a):
        X, y = make_ringnorm(N, a=a, random_state=0)
        assert_moments(X[y > 0], np.zeros(D), 4 * np.eye(D))
        assert_moments(X[y < 0], np.full(D, 1 / ROOT_D if a is None else a), np.eye(D))

    @pytest.mark.parametrize("a", [np.nan, np.inf, "wide"])
    def test_ringnorm_mean_must_be_finite(self, a):
        with pytest.raises(ValueError, match=r"a=.* finite number or None"):
            make_ringnorm(a=a)


class TestBayesErrors:
    @pytest.mark.parametrize("d", [1, 2, 20])
    def test_twonorm(self, d):
        X, y = make_twonorm(N, d, random_state=0)
        assert norm.cdf(-2) == pytest.approx(0.023, abs=5e-4)
        assert_rate((X.sum(axis=1) > 0) != (y > 0), norm.cdf(-2))

    @pytest.mark.parametrize("d", [2, 20])
    def test_threenorm(self, d):
        X, y = make_threenorm(N, d, random_state=0)
        p = X.sum(axis=1) / np.sqrt(d)
        q = X @ np.resize([1.0, -1.0], d) / np.sqrt(d)
        expected = threenorm_bayes_error()
        assert expected == pytest.approx(0.105, abs=5e-4)
        assert_rate((np.cosh(2 * p) > np.exp(2 * q)) != (y > 0), expected)

    def test_ringnorm(self):
        X, y = make_ringnorm(N, random_state=0)
        a = 1 / ROOT_D
        radius = ringnorm_bayes_ball(D, a)
        outside = ((X - 4 / 3 * a) ** 2).sum(axis=1) > radius
        missed = ncx2.cdf(radius / 4, D, 4 / 9 * D * a**2)
        false = ncx2.sf(radius, D, D * a**2 / 9)
        assert_rate(outside != (y > 0), (missed + false) / 2)


class TestFlipLabels:
    @pytest.mark.parametrize("fraction", [0, 0.1, 0.123, 0.5, 1.0])
    @pytest.mark.parametrize(
        "classes", [(-1, 1), (False, True), ("benign", "malignant"), (0.5, 2.5)]
    )
    def test_exact_count_of_swaps(self, fraction, classes):
        y = np.resize(np.array(classes), 77)
        noisy = flip_labels(y, fraction, random_state=0)
        assert (noisy != y).sum() == round(fraction * 77)
        assert noisy.dtype == y.dtype
        assert set(noisy.tolist()) == set(classes)

    def test_the_argument_is_left_alone(self):
        y = np.array([0, 1] * 10)
        flip_labels(y, 1.0)
        np.testing.assert_array_equal(y, [0, 1] * 10)

    def test_same_seed_same_choice(self):
        y = [0, 1] * 50
        first = flip_labels(y, 0.2, random_state=5)
        np.testing.assert_array_equal(first, flip_labels(y, 0.2, random_state=5))
        assert not np.array_equal(first, flip_labels(y, 0.2, random_state=6))

    def test_every_row_can_be_chosen(self):
        y = np.array([0, 1] * 5)
        swapped = [flip_labels(y, 0.3, random_state=seed) != y for seed in range(100)]
        assert np.any(swapped, axis=0).all()

    @pytest.mark.parametrize("fraction", [-0.1, 1.1, np.nan, "0.1"])
    def test_fraction_must_be_a_share(self, fraction):
        with pytest.raises(ValueError, match=r"fraction=.* between 0 and 1"):
            flip_labels([0, 1], fraction)

    @pytest.mark.parametrize(("y", "count"), [([1, 1], 1), ([0, 1, 2], 3), ([], 0)])
    def test_labels_must_have_two_classes(self, y, count):
        with pytest.raises(ValueError, match=rf"y has {count} distinct labels"):
            flip_labels(y, 0.1)

    def test_labels_must_be_a_vector(self):
        with pytest.raises(ValueError, match=r"y has shape \(2, 1\)"):
            flip_labels([[0], [1]], 0.1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty folder that EVERYSTUMP_DATA names."""
    monkeypatch.setenv("EVERYSTUMP_DATA", str(tmp_path))
    return tmp_path


class TestPackaged:
    def test_heart(self):
        heart = load_dataset("heart")
        assert isinstance(heart, Bunch)
        assert heart.data.shape == (270, 13)
        assert heart.data.dtype == np.float64
        assert np.isfinite(heart.data).all()
        assert heart.data[0].tolist() == [70, 1, 4, 130, 322, 0, 2, 109, 0, 2.4, 2, 3, 3]
        assert heart.target_names[heart.target[0]] == "2"
        assert np.bincount(heart.target).tolist() == [150, 120]
        assert heart.feature_names[0] == "age"
        assert len(heart.feature_names) == 13
        assert "CC BY 4.0" in heart.DESCR

    def test_return_X_y(self):  # noqa: N802
        X, y = load_dataset("heart", return_X_y=True)
        heart = load_dataset("heart")
        np.testing.assert_array_equal(X, heart.data)
        np.testing.assert_array_equal(y, heart.target)

    @pytest.mark.parametrize("name", sorted(loader.PACKAGED))
    def test_every_packaged_file_is_whole_and_credited(self, name):
        load_dataset(name)
        credits = (loader.PACKAGED_FOLDER / "CREDITS.md").read_text(encoding="utf-8")
        assert f"`{loader.PACKAGED[name].file}`" in credits

    def test_damage_is_detected(self, tmp_path, monkeypatch):
        content = (loader.PACKAGED_FOLDER / "heart.csv").read_bytes()
        (tmp_path / "heart.csv").write_bytes(content.replace(b"70,1,4,130", b"70,1,4,131", 1))
        monkeypatch.setattr(loader, "PACKAGED_FOLDER", tmp_path)
        with pytest.raises(ValueError, match=r"heart\.csv is damaged .* install everystump again"):
            load_dataset("heart")

    def test_the_folder_does_not_hide_a_packaged_name(self, folder):
        (folder / "heart.csv").write_text("a,target\n1,0\n")
        assert load_dataset("heart").data.shape == (270, 13)


class TestUserFolder:
    CONTENT = b"a,b,target\n1,,10\n2.5,-1e3,9\n3,4,10\n"

    @pytest.mark.parametrize(
        ("suffix", "write"), [(".csv", bytes), (".csv.gz", gzip.compress)], ids=["plain", "gzip"]
    )
    def test_file_in_the_folder(self, folder, suffix, write):
        (folder / f"mine{suffix}").write_bytes(write(self.CONTENT))
        mine = load_dataset("mine")
        np.testing.assert_array_equal(mine.data, [[1, np.nan], [2.5, -1000], [3, 4]])
        assert mine.feature_names == ["a", "b"]
        assert mine.target_names.tolist() == ["9", "10"]
        assert mine.target.tolist() == [1, 0, 1]
        assert str(folder / f"mine{suffix}") in mine.DESCR

    def test_plain_file_hides_compressed_file(self, folder):
        (folder / "mine.csv").write_bytes(self.CONTENT)
        (folder / "mine.csv.gz").write_bytes(gzip.compress(b"a,target\n1,0\n"))
        assert load_dataset("mine").data.shape == (3, 2)

    def test_byte_order_mark_line_ends_and_blank_lines(self, folder):
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

    def test_unknown_name_lists_what_is_there(self, folder):
        (folder / "mine.csv").write_bytes(self.CONTENT)
        (folder / "notes.txt").write_text("no data")
        message = r"name='other' is no known .* one of heart, mine, or put other\.csv or "
        with pytest.raises(ValueError, match=message) as caught:
            load_dataset("other")
        assert "EVERYSTUMP_DATA" in str(caught.value)
        assert str(folder) in str(caught.value)

    def test_unknown_name_without_a_folder(self, monkeypatch):
        monkeypatch.delenv("EVERYSTUMP_DATA", raising=False)
        with pytest.raises(ValueError, match=r"one of heart, or .* EVERYSTUMP_DATA .*\(not set\)"):
            load_dataset("other")

    def test_a_name_cannot_leave_the_folder(self, folder, monkeypatch):
        (folder / "mine.csv").write_bytes(self.CONTENT)
        (folder / "inner").mkdir()
        monkeypatch.setenv("EVERYSTUMP_DATA", str(folder / "inner"))
        with pytest.raises(ValueError, match="no known data set"):
            load_dataset("../mine")

    def test_folder_must_exist(self, tmp_path, monkeypatch):
        monkeypatch.setenv("EVERYSTUMP_DATA", str(tmp_path / "absent"))
        with pytest.raises(ValueError, match=r"EVERYSTUMP_DATA=.*absent.* is no folder"):
            load_dataset("other")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", r"mine\.csv has the header \[\]"),
            (b"a,b\n1,2\n", r"mine\.csv has the header \['a', 'b'\]: .* last as 'target'"),
            (b"target\n1\n", r"at least one feature"),
            (b"a,target\n", r"mine\.csv has a header but no rows"),
            (b"a,b,target\n1,2,0\n1,0\n", r"mine\.csv has 2 cells in line 3: give it 3"),
            (b"a,b,target\n1,red,0\n", r"mine\.csv has text such as 'red' in column 'b'"),
            (b"a,target\n1,\n2,x\n", r"mine\.csv has rows without a label"),
            (b"a,target\n\xff,0\n", r"mine\.csv is neither UTF-8 text nor gzip"),
            (gzip.compress(CONTENT)[:-12], r"mine\.csv is neither UTF-8 text nor gzip"),
        ],
    )
    def test_other_formats_are_refused_in_one_sentence(self, folder, content, message):
        (folder / "mine.csv").write_bytes(content)
        with pytest.raises(ValueError, match=message) as caught:
            load_dataset("mine")
        assert str(caught.value).endswith(".")
        assert "\n" not in str(caught.value)
