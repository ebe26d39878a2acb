"""Weights of features: the measure `Weighted`, and adaptive weights of the CV estimators."""

import numpy as np
import pytest
from command import run
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

import everystump
from everystump import (
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpRegressor,
    StumpRegressorCV,
    StumpSVC,
    StumpSVCCV,
)
from everystump.bounds import loo_bound
from everystump.measures import ChosenStumps, Weighted
from everystump.report._compared_model import ComparedModel
from everystump.report._settings import describe_settings


@pytest.fixture(scope="module")
def table():
    """A strong feature, a weak one, and four without an effect; few distinct values."""
    rng = np.random.default_rng(0)
    X = rng.integers(12, size=(240, 6)).astype(float)
    return X, 0.1 * (X[:, 0] - 5) ** 2 + 0.1 * X[:, 1] + 0.3 * rng.normal(size=240)


# The measure


def test_equal_weights_multiply_the_cost(table):
    X, y = table
    weighted = StumpRegressor(C=0.5, measure=Weighted("mixed", [3.0] * 6), tol=1e-9).fit(X, y)
    plain = StumpRegressor(C=1.5, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(weighted.predict(X), plain.predict(X), atol=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("measure", ["lebesgue", "mixed", "middle"])
def test_weights_are_lengths_of_features(measure, fit_intercept):
    """Under `lebesgue`, a weight is a factor of the feature; the kernel is that of the others."""
    rng = np.random.default_rng(1)
    X, weights = rng.integers(8, size=(60, 3)).astype(float), np.array([1.0, 2.5, 0.4])
    X[rng.random(X.shape) < 0.1] = np.nan
    y = X[:, 0] > 3
    parameters = {"fit_intercept": fit_intercept, "tol": 1e-9}
    model = StumpSVC(measure=Weighted(measure, weights), **parameters).fit(X, y)
    assert model.certificate_.converged
    parts = [StumpSVC(measure=measure, **parameters).fit(X[:, [d]], y) for d in range(3)]
    assert model.half_mass_ == pytest.approx(
        sum(weight * part.half_mass_ for weight, part in zip(weights, parts, strict=True))
    )
    if measure == "lebesgue":
        known = ~np.isnan(X).any(axis=1)
        rows, signs = X[known], y[known]
        scaled = StumpSVC(measure="lebesgue", **parameters).fit(rows * weights, signs)
        own = StumpSVC(measure=Weighted("lebesgue", weights), **parameters).fit(rows, signs)
        expected = scaled.decision_function(rows * weights)
        np.testing.assert_allclose(own.decision_function(rows), expected, atol=1e-6)


def test_weights_of_a_pair_have_a_geometric_mean(table):
    X, y = table
    parameters = {"interactions": [(0, 1)], "tol": 1e-10}
    plain = StumpRegressor(0.5, interaction_strength=0.6, **parameters).fit(X, y)
    measure = Weighted("mixed", [2.0] * 6)
    double = StumpRegressor(0.25, interaction_strength=0.6, measure=measure, **parameters)
    np.testing.assert_allclose(double.fit(X, y).predict(X), plain.predict(X), atol=1e-6)
    # Only the product of the two weights counts.
    both = X[:, :2]
    masses = [
        StumpRegressor(0.5, measure=Weighted("mixed", weights), **parameters).fit(both, y)
        for weights in ([4.0, 1.0], [1.0, 4.0])
    ]
    kernels = [model._max_kernel - model.half_mass_ for model in masses]
    assert kernels[0] == pytest.approx(kernels[1])


@pytest.mark.parametrize("weights", [[1, -1], [0.0, 1.0], [np.inf, 1], [[1.0, 2.0]], "ab", None])
def test_invalid_weights_are_rejected(weights):
    with pytest.raises(ValueError, match=r"weights=.* must be a list of positive finite numbers"):
        Weighted("mixed", weights)


def test_the_number_of_weights_is_checked(table):
    with pytest.raises(ValueError, match="weights of 2 features, but X has 6"):
        StumpRegressor(measure=Weighted("mixed", [1.0, 2.0])).fit(*table)


def test_chosen_stumps_can_be_weighted(table):
    X, y = table
    stumps = ChosenStumps([[5.5], [3.5], [], [], [], []])
    model = StumpRegressor(measure=Weighted(stumps, [4.0, 1, 1, 1, 1, 1])).fit(X, y)
    assert model.half_mass_ == 5.0
    assert np.ptp(model.shapes_.shapes[2].values) == 0


def test_model_files_have_the_weights(table, tmp_path):
    X, y = table
    model = StumpRegressor(measure=Weighted("rank", [1.0, 2, 1, 1, 1, 1])).fit(X, y)
    everystump.save(model, tmp_path / "model.stump")
    loaded = everystump.load(tmp_path / "model.stump")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert repr(loaded.measure) == "Weighted(Rank(), [1, 2, 1, 1, 1, 1])"
    again = loaded.fit(X, y)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


# Adaptive weights


def expected_weights(model, X, factor=0.3):
    """Return the weights of a fitted additive model: from its curves, in plain NumPy."""
    sizes = np.array([curve(X[:, d]).std() for d, curve in enumerate(model.shapes_.shapes)])
    return np.maximum(sizes / sizes.mean(), factor)


def test_weights_are_the_sizes_of_curves(table):
    X, y = table
    parameters = {"Cs": [0.03, 0.3], "interactions": 0, "tol": 1e-8}
    equal = StumpRegressorCV(feature_weights="equal", **parameters).fit(X, y)
    model = StumpRegressorCV(feature_weights="adaptive", **parameters).fit(X, y)
    assert np.all(equal.feature_weights_ == 1)
    np.testing.assert_allclose(model.feature_weights_, expected_weights(equal, X), rtol=1e-3)
    assert model.feature_weights_[0] == max(model.feature_weights_) > 2
    assert model.feature_weights_.min() == 0.3


@pytest.mark.parametrize("interactions", [0, 2, [(0, 1)], "auto"])
def test_the_model_is_that_of_the_weighted_measure(table, interactions):
    X, y = table
    model = StumpRegressorCV(Cs=[0.1, 1.0], interactions=interactions, tol=1e-8).fit(X, y)
    fixed = StumpRegressor(
        model.C_,
        measure=Weighted(model.measure_, model.feature_weights_),
        interactions=model.interactions_,
        interaction_strength=model.interaction_strength_ or 0.1,
        tol=1e-8,
    ).fit(X, y)
    np.testing.assert_allclose(model.predict(X), fixed.predict(X), atol=1e-4)
    assert model.half_mass_ == fixed.half_mass_


@pytest.mark.parametrize("Cs", [11, [2.0**k for k in range(-9, 7)]])
def test_one_standard_error_is_applied_to_the_path_with_weights(table, Cs):
    """All smaller C are tried: the one below the smallest that is selected is worse."""
    X, y = table
    model = StumpRegressorCV(
        Cs, selection="cv-1se", feature_weights="adaptive", interactions=0
    ).fit(X, y)
    results = model.cv_results_
    mean, best = results["mean_test_score"], np.argmax(results["mean_test_score"])
    error = results["std_test_score"][best] / np.sqrt(results["n_splits"] - 1)
    chosen = np.flatnonzero(results["param_C"] == model.C_)[0]
    assert mean[chosen] >= mean[best] - error
    assert 0 < chosen < best
    assert np.all(mean[:chosen] < mean[best] - error)


def test_folds_have_weights_of_their_own(table):
    """A fold does not know its held-out rows, or its score would be too good."""
    X, y = table
    cv, C = KFold(4, shuffle=True, random_state=1), 0.2
    model = StumpRegressorCV(
        Cs=[C], cv=cv, interactions=0, feature_weights="adaptive", tol=1e-8
    ).fit(X, y)
    scores = []
    for train, test in cv.split(X):
        equal = StumpRegressor(C, tol=1e-8).fit(X[train], y[train])
        weights = expected_weights(equal, X[train])
        fit = StumpRegressor(C, measure=Weighted("mixed", weights), tol=1e-8)
        scores.append(r2_score(y[test], fit.fit(X[train], y[train]).predict(X[test])))
    # Bins and target scales of a fold are those of all rows: scores differ slightly.
    assert model.best_score_ == pytest.approx(np.mean(scores), abs=0.01)


def test_pure_noise_has_unbiased_scores():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(150, 40)), rng.normal(size=150)
    assert StumpRegressorCV(interactions=0).fit(X, y).best_score_ < 0.05


def test_features_without_a_curve_can_interact():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, size=(600, 5))
    y = 2 * X[:, 0] + 3 * np.sign(X[:, 1] * X[:, 2]) + 0.3 * rng.normal(size=600)
    model = StumpRegressorCV().fit(X[:400], y[:400])
    assert model.feature_weights_[1:3].max() < 0.6
    assert max(model.explain_global()["importance"]) == model.explain_global().set_index("feature")[
        "importance"
    ].get("x1 × x2")
    assert model.score(X[400:], y[400:]) > 0.75


def test_constant_targets_have_equal_weights():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = StumpRegressorCV(interactions=0).fit(X, np.full(30, 4.0))
    np.testing.assert_array_equal(model.feature_weights_, [1.0, 1.0])
    np.testing.assert_allclose(model.predict(X), 4.0)


@pytest.mark.parametrize(
    ("cv_class", "fixed_class"),
    [(StumpSVCCV, StumpSVC), (StumpLogisticRegressionCV, StumpLogisticRegression)],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers(table, cv_class, fixed_class, n_classes):
    X, y = table
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    parameters = {"Cs": [0.1, 1.0], "interactions": 0, "tol": 1e-6}
    equal = cv_class(feature_weights="equal", **parameters).fit(X, labels)
    assert np.all(equal.feature_weights_ == 1)
    model = cv_class(feature_weights="adaptive", **parameters).fit(X, labels)
    assert model.feature_weights_.max() > 2
    measure = Weighted(model.measure_, model.feature_weights_)
    fixed = fixed_class(model.C_, measure=measure, tol=1e-6).fit(X, labels)
    scores = fixed.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-2)


@pytest.mark.parametrize("cv_class", [StumpRegressorCV, StumpLogisticRegressionCV])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_useful", [1, 8])
def test_auto_uses_weights_where_they_help(cv_class, seed, n_useful):
    """They help if one of eight features matters; if all matter alike, only by chance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 8))
    y = X[:, :n_useful].sum(axis=1) + rng.normal(size=150)
    if cv_class is not StumpRegressorCV:
        y = y > 0
    models = {
        how: cv_class(interactions=0, feature_weights=how).fit(X, y)
        for how in ("equal", "adaptive", "auto")
    }
    equal, adaptive = ([*_fold_scores(models[how])] for how in ("equal", "adaptive"))
    gains = np.subtract(adaptive, equal)
    helps = gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains))
    expected, auto = models["adaptive" if helps else "equal"], models["auto"]
    assert auto.C_ == expected.C_ and auto.best_score_ == expected.best_score_
    np.testing.assert_array_equal(auto.feature_weights_, expected.feature_weights_)
    np.testing.assert_array_equal(auto.intercept_, expected.intercept_)
    tried = models["adaptive"].cv_results_["mean_test_score"]
    np.testing.assert_array_equal(auto.weights_cv_results_["mean_test_score"], tried)
    np.testing.assert_array_equal(auto.weights_cv_results_["equal_test_scores"], equal)
    if n_useful == 1:
        assert helps
    elif seed in (1, 2):
        assert not helps


def _fold_scores(model):
    """Yield the scores of the chosen C."""
    results = model.cv_results_
    chosen = int(np.flatnonzero(results["param_C"] == results["chosen"])[0])
    for k in range(results["n_splits"]):
        yield results[f"split{k}_test_score"][chosen]


@pytest.mark.parametrize("interactions", [0, [(0, 1)]])
def test_weights_of_many_samples_are_chosen_on_a_single_split(table, monkeypatch, interactions):
    X, y = table
    monkeypatch.setattr("everystump.estimators._path._MAX_ROWS_OF_FOLDS", len(y) - 1)
    model = StumpRegressorCV(interactions=interactions, tol=1e-8).fit(X, y)
    assert np.any(model.feature_weights_ != 1)
    assert model.cv_results_["n_splits"] == model.weights_cv_results_["n_splits"] == 1
    equal = StumpRegressorCV(feature_weights="equal", interactions=interactions).fit(X, y)
    assert equal.cv_results_["n_splits"] == 5
    # The split's own weights are those of its training samples, those of the model of all.
    additive = StumpRegressor(float(equal.cv_results_["chosen"]), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.feature_weights_, expected_weights(additive, X), rtol=0.02)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("selection", ["cv", "cv-1se"])
def test_a_single_split_compares_weights_at_the_same_cost(monkeypatch, selection, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 5))
    y = X.sum(axis=1) + rng.normal(size=400)
    monkeypatch.setattr("everystump.estimators._path._MAX_ROWS_OF_FOLDS", 100)
    parameters = {"interactions": 0, "selection": selection}
    equal = StumpRegressorCV(feature_weights="equal", **parameters).fit(X, y)
    auto = StumpRegressorCV(**parameters).fit(X, y)
    results = auto.weights_cv_results_
    at = list(results["param_C"]).index(equal.C_)
    (score,) = results["equal_test_scores"]
    gain = results["split0_test_score"][at] - score
    is_used = np.any(auto.feature_weights_ != 1)
    assert is_used == (gain > 1e-4 * (1 - score))
    if not is_used:
        assert auto.C_ == equal.C_
        assert auto.cv_results_["n_splits"] == 5
    elif selection == "cv-1se":  # a single split has no standard error
        assert auto.C_ == equal.C_
        assert list(results["param_C"]) == [equal.C_]


def test_adaptive_weights_can_be_chosen_by_a_bound(table):
    X, y = table
    labels = y > np.median(y)
    parameters = {"Cs": [0.1, 1.0], "interactions": 0, "selection": "loo-bound"}
    model = StumpSVCCV(feature_weights="adaptive", **parameters).fit(X, labels)
    assert model.feature_weights_.max() > 2
    fixed = StumpSVC(model.C_, measure=Weighted(model.measure_, model.feature_weights_)).fit(
        X, labels
    )
    bound = loo_bound(fixed, X, labels)
    assert 1 - model.best_score_ == pytest.approx(bound.value, abs=0.01)


def test_auto_does_not_try_weights_for_a_bound(table):
    X, y = table
    bound = StumpSVCCV(interactions=0, selection="loo-bound").fit(X, y > np.median(y))
    assert np.all(bound.feature_weights_ == 1)


def test_bands_are_those_of_the_weighted_measure(table):
    X, y = table
    model = StumpRegressorCV(Cs=[0.3], interactions=0).fit(X, y).compute_bands(X, y)
    fixed = StumpRegressor(model.C_, measure=Weighted(model.measure_, model.feature_weights_)).fit(
        X, y
    )
    fixed.compute_bands(X, y)
    for own, other in zip(
        model.standard_errors_.shapes, fixed.standard_errors_.shapes, strict=True
    ):
        np.testing.assert_allclose(own.values, other.values, rtol=1e-6)


def test_weights_survive_a_model_file(table, tmp_path):
    X, y = table
    model = StumpRegressorCV(interactions=0).fit(X, y)
    everystump.save(model, tmp_path / "model.stump")
    loaded = everystump.load(tmp_path / "model.stump")
    np.testing.assert_array_equal(loaded.feature_weights_, model.feature_weights_)
    loaded.compute_bands(X, y)


def test_an_unknown_choice_is_rejected(table):
    with pytest.raises(ValueError, match="'feature_weights' parameter of StumpRegressorCV must be"):
        StumpRegressorCV(feature_weights="large").fit(*table)


@pytest.mark.parametrize("options", [("--refit",), ("--stream",)])
def test_the_command_fits_again_with_the_chosen_weights(table, tmp_path, options):
    X, y = table
    rows = np.column_stack([X, y.round(6)])
    np.savetxt(
        tmp_path / "data.csv", rows, delimiter=",", header="a,b,c,d,e,f,y", comments="", fmt="%.8g"
    )
    path = tmp_path / "model.stump"
    arguments = ["--target", "y", "--interactions", "0", *options, "-o", str(path)]
    result = run("fit", str(tmp_path / "data.csv"), *arguments)
    assert result.exit_code == 0, result.output
    model = everystump.load(path)
    assert isinstance(model, StumpRegressor)
    weights = model.measure.weights
    assert weights.max() > 2
    assert model.about_["feature_weights"] == dict(zip("abcdef", weights.tolist(), strict=True))
    text = " ".join(result.stdout.split())
    low, high = f"{weights.min():.2g}", f"{weights.max():.2g}"
    assert f"Feature weights {low} to {high} (“a”): features with" in text


def test_constant_features_do_not_change_weights(table):
    X, y = table
    parameters = {"Cs": [0.3], "interactions": 0, "feature_weights": "adaptive"}
    model = StumpRegressorCV(**parameters).fit(X, y)
    wider = StumpRegressorCV(**parameters).fit(np.column_stack([X, np.ones((len(y), 5))]), y)
    np.testing.assert_allclose(wider.feature_weights_[: X.shape[1]], model.feature_weights_)


def test_bounds_name_the_weights(table):
    X, y = table
    labels = y > np.median(y)
    for how, expected in (("equal", False), ("adaptive", True)):
        model = StumpSVCCV(Cs=[0.3], interactions=0, feature_weights=how).fit(X, labels)
        bound = loo_bound(model, X, labels)
        assert not bound.holds
        assert any("feature_weights" in text for text in bound.violations) is expected


def test_weights_are_used_if_almost_everything_is_explained():
    """A gain of 6e-5 of R² is large if 3e-4 remain, as it is for the squared error."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1500, 10))
    y = 2 * X[:, 0] + 0.02 * rng.normal(size=1500)
    models = [
        StumpRegressorCV(interactions=0, scoring=scoring).fit(X, y)
        for scoring in ("r2", "neg_mean_squared_error")
    ]
    for model in models:
        assert np.argmax(model.feature_weights_) == 0 and model.feature_weights_[0] > 5
    equal = StumpRegressorCV(interactions=0, feature_weights="equal").fit(X, y)
    grid = rng.uniform(-1, 1, size=(1000, 10))
    errors = [np.std(model.predict(grid) - 2 * grid[:, 0]) for model in (models[0], equal)]
    assert errors[0] < 0.8 * errors[1]


def test_models_with_and_without_weights_differ(table):
    X, y = table
    fitted = [
        StumpRegressorCV(interactions=0, feature_weights=how).fit(X, y) for how in ("auto", "equal")
    ]
    models = [ComparedModel(name, model, X) for name, model in zip("ab", fitted, strict=True)]
    settings = describe_settings(models)["different"]
    (values,) = (row["values"] for row in settings if row["name"] == "feature weights")
    low, high = fitted[0].feature_weights_.min(), fitted[0].feature_weights_.max()
    assert values == [f"{low:.2g} to {high:.2g}", "equal"]


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_the_second_path_does_not_slide_along_a_plateau(seed):
    """Where curves are useless, tiny values of C are alike: the climb ends near the first C."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(450, 20))
    y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(450) < 0.05)
    equal, adaptive, auto = (
        StumpLogisticRegressionCV(interactions=0, feature_weights=how).fit(X, y)
        for how in ("equal", "adaptive", "auto")
    )
    assert adaptive.C_ > equal.C_ / 3
    assert auto.C_ == equal.C_ and np.all(auto.feature_weights_ == 1)
