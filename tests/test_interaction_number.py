"""How many interactions a model keeps if that is chosen."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import everystump
from everystump import (
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpRegressorCV,
    StumpSVCCV,
)
from everystump._explanations.access import strength_and_path
from everystump._selection.grid import exceeds_error, is_past_best
from everystump.datasets import load_dataset
from everystump.estimators._interaction_path import InteractionPathEnsemble
from everystump.estimators._interactions import InteractionChoice
from everystump.explain import PathDisplay
from everystump.measures import Weighted


@pytest.fixture(scope="module")
def monk():
    """The class depends on whether the first two features are equal, and the fifth is 1."""
    return load_dataset("monk1_train124", return_X_y=True)


@pytest.fixture(scope="module")
def monk_model(monk):
    return StumpLogisticRegressionCV().fit(*monk)


def fold_scores(results, n_interactions):
    k = int(np.flatnonzero(results["param_n_interactions"] == n_interactions)[0])
    return np.array([results[f"split{fold}_test_score"][k] for fold in range(results["n_splits"])])


def test_the_one_pair_that_matters_remains(monk, monk_model):
    assert monk_model.interactions_ == [(0, 1)]
    X, y = load_dataset("monk1", return_X_y=True)  # all 432 combinations
    assert monk_model.score(X, y) == 1.0
    all_pairs = StumpLogisticRegressionCV(interactions=15).fit(*monk)
    assert len(all_pairs.interactions_) == 15
    assert log_loss(y, monk_model.predict_proba(X)) < 0.3 * log_loss(y, all_pairs.predict_proba(X))


def test_the_path_of_the_number_is_drawn(monk_model):
    axis = PathDisplay.from_estimator(monk_model, param="n_interactions").ax_
    (mean,) = [line for line in axis.lines if line.get_marker() == "o"]
    np.testing.assert_array_equal(mean.get_xdata(), [1, 2, 4, 8, 15])
    scores = monk_model.number_cv_results_["mean_test_score"]
    np.testing.assert_array_equal(mean.get_ydata(), -scores)
    labels = {label.get_text() for label in axis.get_xticklabels()}
    assert labels == {"1", "2", "4", "8", "15"}
    assert axis.get_xlabel() == "number of interactions"
    legend = [text.get_text() for text in axis.get_legend().get_texts()]
    assert "chosen number of interactions = 1" in legend


def test_results_of_the_numbers(monk_model):
    results = monk_model.number_cv_results_
    numbers, strengths = results["param_n_interactions"], results["param_interaction_strength"]
    np.testing.assert_array_equal(numbers, [1, 2, 4, 8, 15])
    # The strength of all pairs is that of the first path, and doubles with each halving.
    first = monk_model.interaction_cv_results_["chosen"]
    np.testing.assert_allclose(strengths, first * 2.0 ** np.arange(4, -1, -1))
    assert results["chosen"] == 1 and results["n_splits"] == 5
    assert results["params"][0] == {"n_interactions": 1, "interaction_strength": strengths[0]}
    assert results["max_gap"].max() <= 0.02
    # C is refined from there: its path has the score of the chosen number.
    refined = monk_model.refined_cv_results_
    start = refined["param_C"] == monk_model.cv_results_["chosen"]
    assert refined["mean_test_score"][start] == results["mean_test_score"][0]
    assert monk_model.best_score_ == refined["mean_test_score"].max()
    gains = fold_scores(results, 1) - fold_scores(results, 15)
    assert gains.mean() > gains.std(ddof=1) / np.sqrt(5)


def test_the_model_is_that_of_the_chosen_interactions(monk, monk_model):
    X, y = monk
    tight = StumpLogisticRegression(
        monk_model.C_,
        measure=Weighted(monk_model.measure_, monk_model.feature_weights_),
        interactions=monk_model.interactions_,
        interaction_strength=monk_model.interaction_strength_,
        tol=1e-9,
    ).fit(X, y)
    assert monk_model.certificate_.converged
    assert monk_model.certificate_.dual <= tight.certificate_.primal
    assert tight.certificate_.dual <= monk_model.certificate_.primal


def test_pure_noise_has_unbiased_scores(monkeypatch):
    """No number is better than a guess on average, even the best of each set of samples.

    A fold keeps the pairs of its own samples, or held-out scores of few would be too good.
    """
    best = InteractionPathEnsemble._best

    def with_interactions(self, results, name):
        """Choose the largest strength, although it does not help."""
        chosen = best(self, results, name)
        return (results[f"param_{name}"][-1], -1.0) if name == "interaction_strength" else chosen

    module = "everystump.estimators._interaction_path"
    monkeypatch.setattr(f"{module}.is_relevant", lambda *_: True)
    monkeypatch.setattr(f"{module}.exceeds_error", lambda _: True)
    monkeypatch.setattr(InteractionPathEnsemble, "_best", with_interactions)
    scores = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 3, size=(120, 8)).astype(float), rng.integers(0, 2, size=120)
        model = StumpLogisticRegressionCV().fit(X, y)
        scores.append(model.number_cv_results_["mean_test_score"].max())
    assert np.mean(scores) < -np.log(2)


def test_folds_are_halved_at_the_chosen_strength(monkeypatch, monk):
    """Solutions of folds are kept for some strengths only; others are solved again."""
    strengths, halve = [], InteractionChoice.halve

    def recorded(self, design, *args):
        strengths.append(design.terms.interactions.strength)
        return halve(self, design, *args)

    monkeypatch.setattr(InteractionChoice, "halve", recorded)
    for seed in range(4):
        strengths.clear()
        model = StumpLogisticRegressionCV(random_state=seed).fit(*monk)
        first = model.interaction_cv_results_["chosen"]
        np.testing.assert_array_equal(strengths[:5], np.full(5, first))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_and_weights(n_classes):
    """The class is a sum of two features modulo 3, with noise; four other features do not count."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(300, 6)).astype(float)
    y = X[:, :2].sum(axis=1) % 3 % n_classes
    y = np.where(rng.random(300) < 0.1, rng.integers(0, n_classes, 300), y)
    weight = rng.integers(1, 3, size=300)
    model = StumpLogisticRegressionCV().fit(X, y, sample_weight=weight)
    assert (0, 1) in model.interactions_ and len(model.interactions_) <= 4
    model.set_params(interactions=0).fit(X, y)
    assert not hasattr(model, "number_cv_results_")


def test_triples_count_as_interactions(monk):
    model = StumpLogisticRegressionCV(max_interaction_order=3).fit(*monk)
    assert model.interactions_ == [(0, 1)]
    assert model.number_cv_results_["param_n_interactions"].max() == 15 + 20


def test_an_integer_cv_does_not_choose_the_number_for_many_samples(monk, monkeypatch):
    monkeypatch.setattr("everystump.estimators._path._MAX_ROWS_OF_FOLDS", 100)
    model = StumpLogisticRegressionCV().fit(*monk)
    assert not hasattr(model, "number_cv_results_")
    assert len(model.interactions_) > 1
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    assert StumpLogisticRegressionCV(cv=cv).fit(*monk).interactions_ == [(0, 1)]


@pytest.mark.parametrize("cls", [StumpLogisticRegressionCV, StumpSVCCV, StumpRegressorCV])
def test_all_remain_where_all_matter(cls):
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(400, 4))
    pairs = [X[:, d] * X[:, e] for d in range(4) for e in range(d)]
    score = 3 * np.sum(pairs, axis=0) + 0.1 * rng.normal(size=400)
    y = score if cls is StumpRegressorCV else score > 0
    model = cls().fit(X, y)
    results = model.number_cv_results_
    assert len(model.interactions_) == results["chosen"] == 6
    means = results["mean_test_score"]
    assert means[results["param_n_interactions"] == 6] > means[0]
    assert "chosen_from" not in strength_and_path(model)["interactions"]


@pytest.mark.parametrize(
    "params",
    [
        {"interactions": 15},
        {"interactions": [(0, 1), (2, 3)]},
        {"Cs": [0.1, 1.0]},
        {"interaction_strength": [0.1, 1.0]},
        {"selection": "cv-1se"},
        {"cv": [(np.arange(0, 124, 2), np.arange(1, 124, 2))]},
    ],
)
def test_a_number_that_is_not_free_is_not_chosen(monk, params):
    model = StumpLogisticRegressionCV(**params).fit(*monk)
    assert not hasattr(model, "number_cv_results_")
    assert len(model.interactions_) > 1


def test_the_choice_is_described_and_survives_a_file(monk_model, tmp_path):
    record = strength_and_path(monk_model)["interactions"]
    assert record["chosen_from"] == 15
    everystump.save(monk_model, tmp_path / "model.stump")
    loaded = everystump.load(tmp_path / "model.stump")
    assert loaded.number_cv_results_["chosen"] == 1
    assert strength_and_path(loaded)["interactions"] == record


def exceeds_one_error(gains):
    return gains.mean() > gains.std(ddof=1) / np.sqrt(5)


@pytest.mark.parametrize("seed", [0, 1, 3, 4, 5, 7])
def test_the_decision_follows_from_the_results(seed):
    """All that help remain unless the best number gains more than one standard error over them."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(200, 6))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0) ^ (rng.random(200) < 0.1)
    model = StumpLogisticRegressionCV().fit(X, y)
    strengths = model.interaction_cv_results_
    scores = np.array([strengths[f"split{k}_test_score"] for k in range(5)])
    additive = scores[:, 0]
    if not model.interactions_:
        assert strengths["chosen"] == 0 and not hasattr(model, "number_cv_results_")
        best = scores[:, np.argmax(scores.mean(axis=0))]
        assert not exceeds_one_error(best - additive)
        return
    results = model.number_cv_results_
    numbers = results["param_n_interactions"]
    best = numbers[np.argmax(results["mean_test_score"])]
    of_best, of_all = fold_scores(results, best), fold_scores(results, 15)
    all_remain = exceeds_one_error(of_all - additive) and not exceeds_one_error(of_best - of_all)
    assert results["chosen"] == (15 if all_remain else best)
    assert exceeds_one_error(fold_scores(results, results["chosen"]) - additive)
    assert len(model.interactions_) <= results["chosen"]


def test_few_interactions_can_help_although_all_do_not():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(200, 6))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0) ^ (rng.random(200) < 0.1)
    model = StumpLogisticRegressionCV().fit(X, y)
    results = model.interaction_cv_results_
    scores = np.array([results[f"split{k}_test_score"] for k in range(5)])
    best = np.argmax(scores.mean(axis=0))
    assert not exceeds_one_error(scores[:, best] - scores[:, 0])
    assert model.interactions_ == [(0, 1)]


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_scores_of_any_size(unit):
    """Squares of scores would overflow or vanish."""
    scores = np.array([[0.5, 0.9, 0.7, 0.6], [0.4, 0.8, 0.6, 0.5], [0.5, 0.8, 0.5, 0.4]])
    assert is_past_best(unit * scores) and is_past_best(scores)
    gains = scores[:, 1] - scores[:, 0]
    assert exceeds_error(unit * gains) and exceeds_error(unit * gains, n_errors=9.0)
    assert not exceeds_error(unit * gains, n_errors=12.0)
    assert not exceeds_error(unit * (scores[:, 0] - scores[:, 1]))


def test_fits_that_do_not_converge_are_reported_once_per_choice(monk):
    with pytest.warns(ConvergenceWarning) as warnings:
        StumpLogisticRegressionCV(max_iter=2, tol=1e-6).fit(*monk)
    messages = [str(warning.message) for warning in warnings]
    for choice in ("the strength of interactions", "the number of interactions"):
        assert sum(f"may affect the choice of {choice};" in message for message in messages) == 1
