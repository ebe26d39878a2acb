"""The measure of the CV estimators: "mixed", or "uniform" if its score is better."""

import numpy as np
import pytest
from command import run

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
from everystump.datasets import load_dataset, make_ringnorm
from everystump.measures import Rank, Weighted
from everystump.report._compared_model import ComparedModel
from everystump.report._settings import describe_settings

EQUAL = {"interactions": 0, "feature_weights": "equal"}


@pytest.fixture(scope="module")
def ring():
    """Two classes that differ in the variances of the features: distances matter."""
    return make_ringnorm(400, 6, random_state=0)


@pytest.fixture(scope="module")
def product():
    """A product of two features, half of whose values are in a spike."""
    rng = np.random.default_rng(2)
    spike = rng.normal(0, 0.05, size=(600, 2))
    X = np.where(rng.random((600, 2)) < 0.5, spike, rng.uniform(-2, 2, size=(600, 2)))
    X = np.concatenate([X, rng.integers(2, size=(600, 1))], axis=1)
    return X, rng.random(600) < 1 / (1 + np.exp(-4 * X[:, 0] * X[:, 1]))


@pytest.fixture(scope="module")
def product_model(product):
    return StumpLogisticRegressionCV(tol=1e-6, n_jobs=1).fit(*product)


def compared_scores(model):
    """Return the scores of the measures, of shape (n_folds, 2)."""
    results = model.measure_cv_results_
    return np.array([results[f"split{k}_test_score"] for k in range(results["n_splits"])])


def is_better(scores):
    """The rule: half a standard error, and 0.25% of the distance from the best score, here 0."""
    gains = scores[:, 1] - scores[:, 0]
    error = gains.std(ddof=1) / np.sqrt(len(gains))
    return gains.mean() > max(0.5 * error, 2.5e-3 * -scores[:, 0].mean())


def test_scores_are_those_of_both_measures_at_the_same_cost(ring):
    X, y = ring
    model = StumpLogisticRegressionCV(tol=1e-6, **EQUAL).fit(X, y)
    first = StumpLogisticRegressionCV(measure="mixed", tol=1e-6, **EQUAL).fit(X, y)
    for k, measure in enumerate(("mixed", "uniform")):
        alone = StumpLogisticRegressionCV(Cs=[first.C_], measure=measure, tol=1e-6, **EQUAL)
        results = alone.fit(X, y).cv_results_
        own = [results[f"split{fold}_test_score"][0] for fold in range(5)]
        # Fits of folds have a larger tolerance, and start from elsewhere.
        np.testing.assert_allclose(compared_scores(model)[:, k], own, rtol=1e-3)
        assert model.measure_cv_results_["param_measure"][k] == measure


@pytest.mark.parametrize("cv_class", [StumpLogisticRegressionCV, StumpRegressorCV])
@pytest.mark.parametrize("power", [1, 9])
@pytest.mark.parametrize("seed", range(4))
def test_uniform_is_chosen_by_the_rule(cv_class, power, seed):
    """Long tails, as of a ninth power, favor "mixed"."""
    X, label = make_ringnorm(300, 4, random_state=seed)
    is_regression = cv_class is StumpRegressorCV
    y = (X**2).sum(axis=1) if is_regression else label
    parameters = {**EQUAL, "n_jobs": 1}
    if is_regression:
        parameters["scoring"] = "neg_mean_squared_error"
    model = cv_class(**parameters).fit(X**power, y)
    chosen = "uniform" if is_better(compared_scores(model)) else "mixed"
    assert model.measure_ == model.measure_cv_results_["chosen"] == chosen
    if power == 9:
        assert chosen == "mixed"
    elif not is_regression:
        assert chosen == "uniform"
    alone = cv_class(**{**parameters, "measure": chosen}).fit(X**power, y)
    assert alone.measure_ == chosen and not hasattr(alone, "measure_cv_results_")
    if chosen == "mixed":
        assert model.C_ == alone.C_ and model.best_score_ == alone.best_score_
        np.testing.assert_array_equal(model.intercept_, alone.intercept_)
    else:  # from the C of the other measure, a path may end at another one
        assert model.best_score_ >= compared_scores(model)[:, 1].mean()


@pytest.mark.parametrize(
    ("cv_class", "fixed_class"),
    [
        (StumpLogisticRegressionCV, StumpLogisticRegression),
        (StumpSVCCV, StumpSVC),
        (StumpRegressorCV, StumpRegressor),
    ],
)
def test_the_model_is_that_of_the_measure(ring, cv_class, fixed_class):
    X, label = ring
    y = (X**2).sum(axis=1) if cv_class is StumpRegressorCV else label
    model = cv_class(interactions=0, feature_weights="adaptive", tol=1e-8).fit(X, y)
    measure = Weighted(model.measure_, model.feature_weights_)
    fixed = fixed_class(model.C_, measure=measure, tol=1e-8).fit(X, y)
    for own, other in zip(model.shapes_.shapes, fixed.shapes_.shapes, strict=True):
        np.testing.assert_allclose(own.values, other.values, atol=1e-3 * np.abs(own.values).max())
    assert model.half_mass_ == pytest.approx(fixed.half_mass_)
    if cv_class is StumpLogisticRegressionCV:
        assert model.measure_ == "uniform"


def test_measures_are_compared_again_with_interactions(product, product_model):
    """Without interactions "mixed" is kept, with them "uniform" replaces it."""
    X, y = product
    additive = StumpLogisticRegressionCV(interactions=0, n_jobs=1).fit(X, y)
    assert additive.measure_ == "mixed" and product_model.measure_ == "uniform"
    assert product_model.interactions_
    scores = compared_scores(product_model)
    assert is_better(scores)
    tried = product_model.interaction_cv_results_["mean_test_score"].tolist()
    if hasattr(product_model, "number_cv_results_"):
        tried += product_model.number_cv_results_["mean_test_score"].tolist()
    assert scores[:, 0].mean() in tried
    assert product_model.best_score_ >= scores[:, 1].mean()


def test_the_model_with_interactions_is_that_of_the_measure(product, product_model):
    X, y = product
    fixed = StumpLogisticRegression(
        product_model.C_,
        measure=Weighted(product_model.measure_, product_model.feature_weights_),
        interactions=product_model.interactions_,
        interaction_strength=product_model.interaction_strength_,
        tol=1e-6,
    ).fit(X, y)
    assert fixed.certificate_.primal == pytest.approx(product_model.certificate_.primal, rel=1e-5)
    np.testing.assert_allclose(
        product_model.decision_function(X), fixed.decision_function(X), atol=0.02
    )


@pytest.mark.parametrize("measure", ["mixed", "lebesgue", Rank()])
def test_a_given_measure_is_kept(ring, measure):
    model = StumpLogisticRegressionCV(Cs=[0.1, 1.0], measure=measure, **EQUAL).fit(*ring)
    assert model.measure_ is measure and not hasattr(model, "measure_cv_results_")


def test_features_of_two_values_have_one_measure():
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(100, 4)).astype(float)
    model = StumpLogisticRegressionCV(Cs=[0.1, 1.0]).fit(X, X[:, 0] + rng.random(100) > 0.8)
    assert model.measure_ == "mixed" and not hasattr(model, "measure_cv_results_")


def test_a_bound_keeps_the_default_measure(ring):
    model = StumpSVCCV(Cs=[0.1, 1.0], selection="loo-bound", interactions=0).fit(*ring)
    assert model.measure_ == "mixed" and not hasattr(model, "measure_cv_results_")


def test_listed_costs_are_all_tried_with_the_chosen_measure(ring):
    model = StumpLogisticRegressionCV(Cs=[0.03, 0.3, 3.0], **EQUAL).fit(*ring)
    assert model.measure_ == "uniform"
    assert model.cv_results_["param_C"].tolist() == [0.03, 0.3, 3.0]


def test_a_scorer_gets_models_of_both_measures(ring):
    X, y = ring
    seen = set()

    def score(model, X, y):
        seen.add(repr(model.measure))
        return float(np.mean(model.predict(X) == y))

    StumpSVCCV(Cs=[0.1, 1.0], scoring=score, **EQUAL).fit(X, y)
    assert seen == {"Mixed()", "Uniform()"}


def test_an_unknown_measure_is_rejected(ring):
    with pytest.raises(ValueError, match="measure='atuo' is unknown; use 'auto', 'lebesgue'"):
        StumpSVCCV(measure="atuo").fit(*ring)
    with pytest.raises(ValueError, match="measure='auto' is unknown; use 'lebesgue'"):
        StumpSVC(measure="auto").fit(*ring)


def test_bounds_name_the_choice(ring):
    X, y = ring
    for measure, expected in (("auto", True), ("uniform", False)):
        model = StumpSVCCV(Cs=[0.1], measure=measure, **EQUAL).fit(X, y)
        bound = loo_bound(model, X, y)
        assert not bound.holds
        assert any(text.startswith("measure: it was") for text in bound.violations) is expected


def test_the_measure_survives_a_model_file(product, product_model, tmp_path):
    X, y = product
    everystump.save(product_model, tmp_path / "model.stump")
    loaded = everystump.load(tmp_path / "model.stump")
    assert loaded.measure == "auto" and loaded.measure_ == "uniform"
    np.testing.assert_array_equal(loaded.decision_function(X), product_model.decision_function(X))
    loaded.compute_bands(X, y)
    edited = loaded.flatten_curve("x2", low=0.5)
    assert edited.measure == "auto"


@pytest.mark.parametrize("options", [(), ("--refit",), ("--stream",)])
def test_the_command_states_the_measure(ring, tmp_path, options):
    X, y = ring
    rows = np.column_stack([X, y])
    header = ",".join("abcdef") + ",y"
    np.savetxt(tmp_path / "t.csv", rows, delimiter=",", header=header, comments="", fmt="%.8g")
    out = tmp_path / "m.stump"
    arguments = ["--target", "y", "--interactions", "0", *options, "-o", out]
    done = run("fit", tmp_path / "t.csv", *arguments)
    assert done.exit_code == 0, done.output
    model = everystump.load(out)
    assert model.about_["measure"] == "uniform"
    text = " ".join(done.stdout.split())
    assert "Measure uniform, which has a better score than mixed" in text
    if options:
        fitted = getattr(model.measure, "measure", model.measure)  # with or without weights
        assert fitted == "uniform" or type(fitted).__name__ == "Uniform"
    if options == ("--refit",):
        assert "with the same C" in text and "measure" in text.split("with the same C")[1][:40]


def test_the_comparison_of_models_states_the_measure(ring):
    X, y = ring
    models = [
        ComparedModel(
            measure, StumpLogisticRegressionCV(Cs=[0.3, 1.0], measure=measure, **EQUAL).fit(X, y), X
        )
        for measure in ("auto", "mixed")
    ]
    settings = describe_settings(models)
    assert {"name": "measure", "values": ["uniform", "mixed"]} in settings["different"]


def test_measures_are_compared_on_a_real_table():
    X, y = load_dataset("heart", return_X_y=True)
    model = StumpLogisticRegressionCV(**EQUAL).fit(X, y)
    assert (model.measure_ == "uniform") == is_better(compared_scores(model))
