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
from everystump._core.design import Design
from everystump._core.measures import as_measure
from everystump.bounds import loo_bound
from everystump.datasets import load_dataset, make_ringnorm
from everystump.estimators._c_path import compare_measures
from everystump.estimators._fold_path import Fit, FoldPath
from everystump.estimators._interactions import InteractionChoice
from everystump.measures import Rank, Uniform, Weighted
from everystump.report._compared_model import ComparedModel
from everystump.report._settings import describe_settings

STRENGTH = "interaction_strength"
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


def compared_scores(model, *, interactions=False):
    """Return the scores of the measures, of shape (n_folds, 2)."""
    results = model.interaction_measure_cv_results_ if interactions else model.measure_cv_results_
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
    if chosen == "mixed":
        alone = cv_class(**{**parameters, "measure": chosen}).fit(X**power, y)
        assert model.C_ == alone.C_ and model.best_score_ == alone.best_score_
        np.testing.assert_array_equal(model.intercept_, alone.intercept_)
    else:
        tried = model.cv_results_["mean_test_score"]
        assert compared_scores(model)[:, 1].mean() in tried
        assert model.best_score_ == tried.max()


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
    scoring = "neg_log_loss" if cv_class is StumpLogisticRegressionCV else None
    if cv_class is StumpSVCCV:
        scoring = "roc_auc"  # the accuracies of both measures are about the same
    model = cv_class(interactions=0, feature_weights="adaptive", scoring=scoring, tol=1e-8)
    model.fit(X, y)
    if cv_class is not StumpRegressorCV:
        assert model.measure_ == "uniform"
    measure = Weighted(model.measure_, model.feature_weights_)
    fixed = fixed_class(model.C_, measure=measure, tol=1e-8).fit(X, y)
    primals = [own.certificate_.primal for own in (model, fixed)]
    assert primals[0] == pytest.approx(primals[1], rel=2e-8)  # the gaps of both
    assert model.half_mass_ == pytest.approx(fixed.half_mass_)


def test_measures_are_compared_again_with_interactions(product_model):
    """Without interactions "mixed" is kept, with them "uniform" replaces it."""
    assert product_model.measure_cv_results_["chosen"] == "mixed"
    assert product_model.measure_ == "uniform" and product_model.interactions_
    results = product_model.interaction_measure_cv_results_
    assert results["param_measure"].tolist() == ["mixed", "uniform"]
    scores = compared_scores(product_model, interactions=True)
    assert is_better(scores) and not is_better(compared_scores(product_model))
    path = product_model.number_cv_results_
    (k,) = np.flatnonzero(path["param_interaction_strength"] == results["params"][0][STRENGTH])
    assert path["mean_test_score"][k] == scores[:, 0].mean()
    assert product_model.best_score_ >= scores[:, 1].mean()


def check_is_fixed_model(model, X, y, **parameters):
    """Check that a fit of the chosen parameters has the same objective, within its tolerance."""
    fixed = StumpLogisticRegression(
        model.C_,
        measure=Weighted(model.measure_, model.feature_weights_),
        interactions=model.interactions_,
        interaction_strength=model.interaction_strength_ or 1.0,
        tol=1e-9,
        **parameters,
    ).fit(X, y)
    best = fixed.certificate_
    assert best.converged
    assert best.dual * (1 - 1e-9) <= model.certificate_.primal
    assert model.certificate_.dual <= best.primal * (1 + 1e-9)
    assert model.certificate_.primal == pytest.approx(best.primal, rel=2 * model.tol)


@pytest.mark.parametrize("how", ["equal", "adaptive"])
def test_the_model_with_interactions_is_that_of_the_measure(product, how):
    """Also if features have weights, which remain when the measure is exchanged."""
    X, y = product
    model = StumpLogisticRegressionCV(feature_weights=how, tol=1e-6, n_jobs=1).fit(X, y)
    results = model.interaction_measure_cv_results_
    assert results["chosen"] != results["param_measure"][0]
    assert (np.ptp(model.feature_weights_) > 0.5) == (how == "adaptive")
    check_is_fixed_model(model, X, y)


@pytest.mark.parametrize("strength", [None, [1.0, 3.0]])
def test_the_score_is_that_of_the_measure(product, strength):
    """If C is not refined, the best score is that of the better measure."""
    X, y = product
    model = StumpLogisticRegressionCV(
        [0.3, 1.0, 3.0],
        interactions=[(0, 1)],
        interaction_strength=strength,
        feature_weights="equal",
        n_jobs=1,
    ).fit(X, y)
    results = model.interaction_measure_cv_results_
    assert results["param_measure"].tolist() == ["mixed", "uniform"]
    assert results["chosen"] == model.measure_ == "uniform"
    assert model.best_score_ == results["mean_test_score"][1]
    assert model.interaction_strength_ == results["params"][0][STRENGTH]
    check_is_fixed_model(model, X, y)


def test_folds_share_the_designs_of_measures(product, monkeypatch):
    calls, add = [], Design.with_interactions
    monkeypatch.setattr(
        Design, "with_interactions", lambda *a, **k: calls.append(1) or add(*a, **k)
    )
    for measure, n_calls in (("mixed", 1), ("auto", 2)):  # one of each measure
        calls.clear()
        StumpLogisticRegressionCV(
            [1.0],
            measure=measure,
            interactions=[(0, 1)],
            interaction_strength=[3.0],
            feature_weights="equal",
            n_jobs=1,
        ).fit(*product)
        assert len(calls) == n_calls


def test_interactions_keep_the_weights_of_features():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(2, size=80)
    weights = [0.5, 1.0, 2.0]
    parameters = {"interactions": [(0, 1), (0, 2)], "tol": 1e-9}
    designs = [
        StumpLogisticRegression(measure=Weighted(base, weights), **parameters)._prepare(X, y, None)
        for base in ("mixed", "uniform")
    ]
    choice = InteractionChoice(parameters["interactions"], 2, 32, frozenset(), 1)
    mixed, uniform = (
        choice._add(design, parameters["interactions"], 0.3, 1) for _, design in designs
    )
    exchanged = choice.exchange_measure(mixed, as_measure("uniform"), 1)
    assert exchanged.half_mass == uniform.half_mass
    np.testing.assert_allclose(exchanged.kernel_diagonal(), uniform.kernel_diagonal(), rtol=1e-12)
    assert not np.allclose(exchanged.kernel_diagonal(), mixed.kernel_diagonal(), rtol=1e-3)


# The rule


def paths_of(scores):
    """Return a path with one fit for each fold."""
    return [FoldPath(None, None, None, fits={1.0: Fit(score, 0.0, 0.0, 0.0)}) for score in scores]


@pytest.mark.parametrize(
    ("first", "gains", "expected"),
    [
        (-0.5, [0.004, 0.004, 0.004], True),
        (-0.5, [0.0013, 0.0013, 0.0013], True),
        (-0.5, [0.0012, 0.0012, 0.0012], False),  # 0.25% is 0.00125
        (0.5, [0.0013, 0.0013, 0.0013], True),
        (0.5, [0.0012, 0.0012, 0.0012], False),
        (0.9, [0.0003, 0.0003, 0.0003], True),
        (-0.5, [0.02, -0.01, 0.0], False),  # 0.38 standard errors
        (-0.5, [0.02, -0.01, 0.002], False),  # 0.45
        (-0.5, [0.02, -0.01, 0.004], True),  # 0.54
        (-0.5, [0.003], True),  # a single split has no standard error
        (-0.5, [-0.003], False),
    ],
)
def test_the_rule(first, gains, expected):
    scores = np.full(len(gains), first)
    results = compare_measures(("a", "b"), 1.0, paths_of(scores), paths_of(scores + gains))
    assert results["chosen"] == ("b" if expected else "a")
    np.testing.assert_allclose(results["mean_test_score"], [first, first + np.mean(gains)])


@pytest.mark.parametrize("n_rows", [30_000, 30_001])
def test_many_samples_are_compared_on_a_single_split_with_interactions(n_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 2))
    y = rng.random(n_rows) < 1 / (1 + np.exp(-2 * X[:, 0] * X[:, 1]))
    model = StumpLogisticRegressionCV(
        [0.01], interactions=[(0, 1)], interaction_strength=[1.0], tol=0.01
    ).fit(X, y)
    assert model.measure_cv_results_["n_splits"] == 5
    n_splits = 5 if n_rows == 30_000 else 1
    assert model.interaction_measure_cv_results_["n_splits"] == n_splits


@pytest.mark.parametrize("seed", range(3))
def test_the_default_can_be_chosen_again_with_interactions(seed):
    """Three curves favor "uniform", the interaction of two features with spikes "mixed"."""
    rng = np.random.default_rng(seed)
    is_spike, spike = rng.random((400, 2)) < 0.6, rng.normal(0, 0.02, size=(400, 2))
    signs = np.where(is_spike, spike, rng.uniform(-2, 2, size=(400, 2)))
    curved = rng.normal(size=(400, 3))
    X = np.concatenate([signs, curved], axis=1)
    score = 3 * np.sign(signs).prod(axis=1) + 1.5 * (curved**2 - 1).sum(axis=1)
    y = rng.random(400) < 1 / (1 + np.exp(-score))
    model = StumpLogisticRegressionCV(interactions=[(0, 1)], n_jobs=1).fit(X, y)
    assert model.measure_cv_results_["chosen"] == "uniform" and model.measure_ == "mixed"
    assert model.interactions_ == [(0, 1)]
    check_is_fixed_model(model, X, y)


def test_several_classes_and_weights(ring):
    X, y = ring
    labels, weight = 2 * y + (X[:, 0] > 0), np.linspace(0.5, 2.0, len(y))
    model = StumpLogisticRegressionCV([0.1, 1.0], **EQUAL, tol=1e-6)
    model.fit(X, labels, sample_weight=weight)
    assert (model.measure_ == "uniform") == is_better(compared_scores(model))
    fixed = StumpLogisticRegression(model.C_, measure=model.measure_, tol=1e-8)
    best = fixed.fit(X, labels, sample_weight=weight).certificate_
    assert model.certificate_.primal == pytest.approx(best.primal, rel=2 * model.tol)


def test_another_fit_forgets_the_comparison(ring):
    model = StumpLogisticRegressionCV([0.1, 1.0], interactions=0).fit(*ring)
    assert hasattr(model, "measure_cv_results_")
    model.set_params(measure="rank").fit(*ring)
    assert model.measure_ == "rank" and not hasattr(model, "measure_cv_results_")


# Given measures, and other selections


@pytest.mark.parametrize("measure", ["mixed", "lebesgue", Rank()])
def test_a_given_measure_is_kept(ring, measure):
    model = StumpLogisticRegressionCV(Cs=[0.1, 1.0], measure=measure, **EQUAL).fit(*ring)
    assert model.measure_ is measure and not hasattr(model, "measure_cv_results_")


@pytest.mark.parametrize("n_levels", [2, 6])
def test_measures_that_differ_by_a_factor_are_not_compared(n_levels):
    """They are the same for another C: numbers of two values, or categories alone."""
    rng = np.random.default_rng(0)
    X = rng.integers(n_levels, size=(100, 4)).astype(float)
    y = X[:, 0] + n_levels * rng.random(100) > 0.8 * n_levels
    categories = [] if n_levels == 2 else [0, 1, 2, 3]
    parameters = {"categorical_features": categories, "interactions": 0}
    model = StumpLogisticRegressionCV([0.1, 1.0], **parameters).fit(X, y)
    assert model.measure_ == "mixed" and not hasattr(model, "measure_cv_results_")
    models = [
        StumpLogisticRegression(C, measure=measure, tol=1e-9, **parameters).fit(X, y)
        for C, measure in ((1.0 if n_levels == 2 else 2.0, "mixed"), (1.0, "uniform"))
    ]
    scores = [own.decision_function(X) for own in models]
    np.testing.assert_allclose(*scores, atol=1e-3)  # of models with a gap of 1e-9
    X[:, 1] += rng.random(100)
    model = StumpLogisticRegressionCV([0.1, 1.0], interactions=0).fit(X, y)
    assert hasattr(model, "measure_cv_results_")


@pytest.mark.parametrize("selection", ["cv-1se", "loo-bound"])
def test_other_selections_keep_the_default_measure(ring, selection):
    model = StumpSVCCV([0.1, 1.0], selection=selection, interactions=0).fit(*ring)
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
    seen.clear()
    parameters = {"interactions": 0, "feature_weights": "adaptive", "measure": "mixed"}
    StumpSVCCV(Cs=[0.1, 1.0], scoring=score, **parameters).fit(X, y)
    assert "Mixed()" in seen and any(measure.startswith("Weighted(Mixed()") for measure in seen)


def test_an_unknown_measure_is_rejected(ring):
    message = "is unknown; use 'lebesgue', .* estimators that choose C also accept 'auto'."
    with pytest.raises(ValueError, match=f"measure='atuo' {message}"):
        StumpSVCCV(measure="atuo").fit(*ring)
    with pytest.raises(ValueError, match=f"measure='auto' {message}"):
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
    edited = loaded.flatten_curve(2, low=0.5)
    settings = describe_settings([ComparedModel("a", edited, X), ComparedModel("b", loaded, X)])
    assert {"name": "measure", "values": ["–", "uniform"]} in settings["different"]


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
    assert model.about_["measure"] == {
        "chosen": "uniform",
        "instead_of": "mixed",
        "with_interactions": False,
        "was_exchanged": True,
        "scoring": "neg_log_loss",
        "n_folds": 5,
    }
    text = " ".join(done.stdout.split())
    assert "Measure uniform, which is better than mixed by cross-validated log loss" in text
    assert f"C {model.about_['path']['chosen']:.3g}, chosen by cross-validated log loss" in text
    measure = getattr(model, "measure_", model.measure)  # that of a second fit may have weights
    assert isinstance(as_measure(getattr(measure, "measure", measure)), Uniform)
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


def test_mixed_is_kept_on_heart_disease():
    X, y = load_dataset("heart", return_X_y=True)
    model = StumpLogisticRegressionCV(**EQUAL).fit(X, y)
    assert model.measure_ == "mixed" and not is_better(compared_scores(model))
