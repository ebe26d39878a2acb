"""Labels are encoded as class indices, however many there are."""

from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest

from everystump import StumpBoostingRegressor, StumpRegressor, StumpSVC
from everystump._tables import labels
from everystump._tables.labels import encode_labels

N = labels._MANY_ROWS + 1


def many(values, dtype=None):
    """Return more labels than are sorted, all of ``values`` among them."""
    values = np.array(values, dtype=dtype)
    few = np.random.default_rng(0).integers(len(values), size=N - len(values))
    return np.concatenate([values[few], values])


@pytest.mark.parametrize(
    "y",
    [
        pytest.param(many([1, 0]), id="two"),
        pytest.param(many([True, False]), id="booleans"),
        pytest.param(many([-3, 7, 2], np.int8), id="int8"),
        pytest.param(many([-128, 127], np.int8), id="the whole range of int8"),
        pytest.param(many([2**64 - 1, 2**64 - 5], np.uint64), id="large uint64"),
        pytest.param(many([-(2**63), -(2**63) + 9]), id="small int64"),
        pytest.param(many([-(2**63), 2**63 - 1]), id="too far apart to look up"),
        pytest.param(many(np.arange(300)), id="many classes"),
        pytest.param(many([2.0, -1.0]), id="floats"),
        pytest.param(many(["yes", "no", "maybe"]), id="text"),
        pytest.param(many(["yes", "no"], object), id="objects"),
        pytest.param(many([7, 7]), id="one class"),
    ],
)
def test_many_labels_are_encoded_as_by_sorting(y):
    classes, label = encode_labels(y)
    expected, number = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(label, number)
    assert classes.dtype == expected.dtype


@pytest.mark.parametrize(("n_classes", "dtype"), [(2, np.int8), (128, np.int8), (129, np.int16)])
def test_class_indices_take_few_bytes(n_classes, dtype):
    for y in (np.arange(n_classes), many(np.arange(n_classes)), many(np.arange(n_classes) + 0.0)):
        assert encode_labels(y)[1].dtype == dtype


def test_many_continuous_labels_raise():
    y = np.zeros(N)
    y[-1] = 0.5
    with pytest.raises(ValueError, match="continuous"):
        StumpSVC().fit(np.zeros((N, 1)), y)


def test_many_invalid_labels_raise():
    with pytest.raises(ValueError, match="Unknown label type"):
        StumpSVC().fit(np.zeros((N, 1)), np.full(N, 1, dtype=object))


DAYS = pd.date_range("2020-01-01", periods=12)
DATES = {
    "numpy": DAYS.to_numpy(),
    "series": pd.Series(DAYS),
    "zone": pd.Series(DAYS.tz_localize("UTC")),
    "duration": (DAYS - DAYS[0]).to_numpy(),
    "missing": np.array(["2020-01-01"] * 11 + ["NaT"], dtype="M8[D]"),
    "objects": [date(2020, 1, 1) + timedelta(k) for k in range(12)],
    "after missing": [None, *(date(2020, 1, 1) + timedelta(k) for k in range(11))],
}


@pytest.mark.parametrize("y", DATES.values(), ids=DATES)
@pytest.mark.parametrize("model", [StumpRegressor(), StumpBoostingRegressor()])
def test_dates_are_not_targets_of_a_regression(model, y):
    why = "a regression needs numbers; convert them, such as to days since"
    with pytest.raises(ValueError, match=rf"^y contains dates or times \(.*\), and {why}.*\.$"):
        model.fit(np.arange(12.0)[:, None], y)
