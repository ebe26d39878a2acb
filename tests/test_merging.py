"""Averages of models that were fitted to different data."""

import numpy as np
import pandas as pd
import pytest

import everystump
from everystump import (
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpRegressor,
    StumpRegressorCV,
    StumpSVC,
    StumpSVCCV,
    merge,
)
from everystump.datasets import load_dataset

GERMAN = load_dataset("german", as_frame=True)


def parts(model, n=3, data=GERMAN):
    return [model().fit(data.data[k::n], data.target[k::n]) for k in range(n)]


@pytest.mark.parametrize(
    "model",
    [
        StumpLogisticRegression,
        lambda: StumpSVC(interactions=[("age", "duration"), ("age", "purpose")]),
        lambda: StumpBoostingClassifier(n_estimators=20),
        lambda: StumpSVCCV(Cs=[0.1], interactions=0),
    ],
)
def test_scores_are_averaged(model, tmp_path):
    models = parts(model)
    merged, X = merge(models), GERMAN.data
    sizes = [len(X[k::3]) for k in range(3)]
    expected = np.average([m.decision_function(X) for m in models], axis=0, weights=sizes)
    assert merged.decision_function(X) == pytest.approx(expected, abs=1e-12)
    equal = merge(models, weights=[1, 1, 2]).decision_function(X)
    expected = np.average([m.decision_function(X) for m in models], axis=0, weights=[1, 1, 2])
    assert equal == pytest.approx(expected, abs=1e-12)
    terms = merged.explain_local(X).drop(columns="score")
    assert terms.to_numpy().sum(axis=1) == pytest.approx(merged.decision_function(X))
    everystump.save(merged, tmp_path / "m.stump")
    loaded = everystump.load(tmp_path / "m.stump")
    np.testing.assert_array_equal(loaded.decision_function(X), merged.decision_function(X))


def test_levels_and_densities_are_united():
    data = pd.DataFrame({"c": ["a", "b"] * 20 + ["b", "z"] * 10, "x": np.arange(60.0)})
    y = np.arange(60) % 3 == 0
    first = StumpSVC().fit(data[:40], y[:40])
    second = StumpSVC().fit(data[40:], y[40:])
    merged = merge([first, second])
    assert merged.feature_info_[0].levels.tolist() == ["a", "b", "z"]
    assert merged.density_[0].counts.tolist() == [20, 30, 10]
    assert merged.density_[1].counts.sum() == 60
    # A level that a model has not seen contributes nothing to it.
    row = pd.DataFrame({"c": ["z"], "x": [3.0]})
    expected = (40 * first.decision_function(row) + 20 * second.decision_function(row)) / 60
    assert merged.decision_function(row) == pytest.approx(expected)


def test_models_that_do_not_match_are_rejected():
    first, *_ = models = parts(StumpLogisticRegression)
    with pytest.raises(ValueError, match="models is empty"):
        merge([])
    with pytest.raises(ValueError, match=r"models\[1\] is a StumpSVC, and models\[0\] a StumpLog"):
        merge([first, StumpSVC().fit(GERMAN.data, GERMAN.target)])
    with pytest.raises(TypeError, match=r"models\[0\] is a int"):
        merge([1])
    with pytest.raises(ValueError, match=r"models\[1\] has the columns"):
        other = StumpLogisticRegression().fit(GERMAN.data[["age", "purpose"]], GERMAN.target)
        merge([first, other])
    with pytest.raises(ValueError, match=r"models\[1\] has the classes"):
        merge([first, StumpLogisticRegression().fit(GERMAN.data, GERMAN.data["purpose"])])
    with pytest.raises(ValueError, match="weights are all zero"):
        merge(models, weights=[0, 0, 0])
    with pytest.raises(ValueError, match="must be 3 finite numbers"):
        merge(models, weights=[1, 2])


@pytest.mark.parametrize(
    ("model", "link"),
    [
        (StumpRegressor, np.positive),
        (lambda: StumpRegressor(loss="poisson", interactions=[("age", "duration")]), np.log),
        (lambda: StumpRegressorCV(Cs=[0.1], interactions=0, loss="absolute"), np.positive),
    ],
)
def test_scores_of_regressors_are_averaged(model, link, tmp_path):
    """With a log link, the average of scores is the logarithm of the geometric mean."""
    X, y = GERMAN.data.drop(columns="amount"), GERMAN.data["amount"]
    models = [model().fit(X[k::3], y[k::3]) for k in range(3)]
    merged = merge(models, weights=[1, 2, 1])
    expected = np.average([link(m.predict(X)) for m in models], axis=0, weights=[1, 2, 1])
    assert link(merged.predict(X)) == pytest.approx(expected, rel=1e-12)
    assert merged.link_ == models[0].link_ and not hasattr(merged, "certificate_")
    everystump.save(merged, tmp_path / "m.stump")
    loaded = everystump.load(tmp_path / "m.stump")
    np.testing.assert_array_equal(loaded.predict(X), merged.predict(X))


def test_regressors_with_other_links_are_rejected():
    X, y = np.arange(40.0)[:, None], np.arange(1.0, 41.0)
    models = [StumpRegressor(loss=loss).fit(X, y) for loss in ("squared", "gamma", "quantile")]
    message = (
        r"models\[1\] has the link 'log', and models\[0\] 'identity'; all models need the same"
    )
    with pytest.raises(ValueError, match=message):
        merge(models)
    assert merge(models[::2]).link_ == "identity"
    high = StumpRegressor(loss="quantile", quantile=0.9).fit(X, y)
    with pytest.raises(
        ValueError, match=r"models\[1\] has quantile=0.9, and models\[0\] quantile="
    ):
        merge([models[2], high])
    with pytest.raises(ValueError, match=r"models\[1\] is a StumpSVC, and models\[0\] a StumpReg"):
        merge([models[0], StumpSVC().fit(X, y > 20)])
