"""The leave-one-out bound of multinomial models, against models fitted without each sample."""

import numpy as np
import pytest

from everystump import (
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    SubsampleVotingClassifier,
)
from everystump._core.design import Design
from everystump._core.measures import as_measure
from everystump._core.multiclass import solve_classes
from everystump._core.solvers.problem import no_progress
from everystump.bounds import (
    det_loo_bound,
    ensemble_margin_bound,
    loo_bound,
    radius_margin_bound,
    stability_bound,
    uniform_stability,
    validation_bound,
)

RANGE = [(-4.0, 4.0)] * 2


def table(n=45, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    score = X[:, 0] + np.abs(X[:, 1]) + 0.6 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def model(C=0.3, **params):
    """Return a model whose kernel does not depend on the samples."""
    params = {"measure": "uniform", "feature_range": RANGE, "fit_intercept": False} | params
    return StumpLogisticRegression(C=C, tol=1e-9, **params)


def left_out(X, y, C):
    """Return the scores of all samples, the dual variables, K(x, x), and left-out scores."""
    design = Design.from_rows(
        X,
        measure=as_measure("uniform"),
        max_bins=256,
        n_levels=[0, 0],
        fit_intercept=False,
        feature_range=np.array(RANGE),
        sample_weight=None,
        n_threads=1,
    )
    n, n_classes = len(y), y.max() + 1
    options = {"C": C, "tol": 1e-10, "max_iter": 200, "n_threads": 1, "progress": no_progress}

    def scores(rows, index):
        found = solve_classes(design, y, n_classes, np.ones(n), index=index, **options)
        return found, np.array([design.scores(solution, rows) for solution in found])

    solutions, whole = scores(np.arange(n), None)
    without = [scores(np.array([i]), np.delete(np.arange(n), i))[1][:, 0] for i in range(n)]
    return whole, np.array([s.dual_coef for s in solutions]), design.half_mass, np.array(without).T


@pytest.mark.parametrize("C", [0.02, 0.3, 5.0])
@pytest.mark.parametrize("n_classes", [3, 5])
def test_a_sample_changes_its_scores_by_at_most_its_influence(C, n_classes):
    """The theorem itself: ``|f(x_i) - f^i(x_i)| <= |a_i| K(x_i, x_i)``, and nearly with equality.

    The change is also in the ball around half of ``a_i K``, so it never helps the other classes.
    """
    X, y = table(n_classes=n_classes)
    whole, duals, diagonal, without = left_out(X, y, C)
    change, limit = whole - without, diagonal * duals
    sizes, limits = np.linalg.norm(change, axis=0), np.linalg.norm(limit, axis=0)
    assert np.all(sizes <= limits * (1 + 1e-4))
    assert np.all(np.linalg.norm(change - limit / 2, axis=0) <= limits / 2 * (1 + 1e-4))
    if C == 0.02:  # where samples hardly interact
        assert np.mean(sizes / limits) > 0.8


@pytest.mark.parametrize("C", [0.02, 0.1, 0.5])
def test_the_bound_is_at_least_the_leave_one_out_error(C):
    X, y = table(n=60)
    *_, without = left_out(X, y, C)
    bound = loo_bound(model(C).fit(X, y), X, y)
    assert bound.holds and "several classes" in bound.reference
    assert np.mean(without.argmax(axis=0) != y) <= bound.value
    if C < 0.5:
        assert bound.value < 1


def test_the_bound_counts_what_the_definition_says():
    X, y = table(n=80, n_classes=4)
    fitted = model(0.1).fit(X, y)
    scores, n = fitted.decision_function(X), np.arange(len(y))
    others = scores.copy()
    others[n, y] = -np.inf
    influence = np.sqrt(2) * np.linalg.norm(fitted.dual_coef_, axis=0) * fitted.half_mass_
    expected = np.mean(influence > scores[n, y] - others.max(axis=1))
    assert loo_bound(fitted, X, y).value == pytest.approx(expected)
    weight = np.linspace(1, 2, len(y))
    weighted = loo_bound(fitted, X, y, sample_weight=weight).value
    assert weighted == pytest.approx(
        np.average(influence > scores[n, y] - others.max(axis=1), weights=weight)
    )


def test_it_is_below_the_bound_of_one_vs_rest():
    """A row need not be right in every one-vs-rest problem."""
    X, y = table(n=300, seed=2)
    joint, separate = (
        loo_bound(model(0.1, multi_class=way).fit(X, y), X, y).value
        for way in ("multinomial", "ovr")
    )
    assert joint < separate


def test_violations():
    X, y = table()
    with_intercept = loo_bound(model(fit_intercept=True).fit(X, y), X, y)
    assert not with_intercept.holds and "intercept" in with_intercept.violations[0]
    y = np.where(np.arange(len(y)) == 7, 3, y)
    single = loo_bound(model().fit(X, y), X, y)
    assert any("a class has a single sample" in text for text in single.violations)
    rough = model().set_params(tol=0.05).fit(X, y)
    assert any("duality gaps" in text for text in loo_bound(rough, X, y).violations)


def test_votes_of_multinomial_models():
    X, y = table(n=120)
    vote = SubsampleVotingClassifier(model(0.1), n_estimators=4, subsample=0.5, random_state=0)
    vote.fit(X, y)
    bound = det_loo_bound(vote, X, y)
    influence = np.zeros(len(y))
    for member, rows in zip(vote.estimators_, vote.estimators_samples_, strict=True):
        sizes = np.linalg.norm(member.dual_coef_, axis=0)
        influence[rows] += np.sqrt(2) * sizes * member.half_mass_ / 4
    scores, n = vote.decision_function(X), np.arange(len(y))
    others = np.where(np.arange(3) == y[:, None], -np.inf, scores)
    expected = np.mean(influence > scores[n, y] - others.max(axis=1))
    assert bound.value == pytest.approx(expected) and bound.holds
    mixed = SubsampleVotingClassifier(
        [model(), model(multi_class="ovr")], n_estimators=4, random_state=0
    ).fit(X, y)
    with pytest.raises(ValueError, match="one-vs-rest and multinomial; use one multi_class"):
        det_loo_bound(mixed, X, y)


def test_c_is_chosen_by_the_bound():
    X, y = table(n=80)
    search = StumpLogisticRegressionCV(Cs=[0.01, 0.1, 1.0], selection="loo-bound").fit(X, y)
    assert search.multi_class_ == "multinomial"
    expected = [
        1 - loo_bound(StumpLogisticRegression(C).fit(X, y), X, y).value for C in (0.01, 0.1, 1.0)
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, atol=0.03)


@pytest.mark.parametrize(
    "bound", [ensemble_margin_bound, radius_margin_bound, stability_bound, uniform_stability]
)
def test_bounds_for_two_classes_say_so(bound):
    X, y = table()
    with pytest.raises(ValueError, match=rf"has 3 classes, but {bound.__name__} is for two"):
        bound(model().fit(X, y), X, y)


def test_held_out_samples_bound_the_error_of_any_classifier():
    X, y = table(n=200)
    bound = validation_bound(model().fit(X[:100], y[:100]), X[100:], y[100:])
    assert bound.holds and bound.observed <= bound.value < 1
