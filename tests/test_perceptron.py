"""Perceptrons by the exact kernel and by random directions, which converge to it."""

import pickle

import numpy as np
import pytest
from bad_tables import BAD_TABLES, NUMBERS_ONLY, X0, Y0, assert_invalid, table
from oracles import seeds
from scipy.stats import special_ortho_group
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler

from everystump import KernelSVC, PerceptronSVC, StumpSVC
from everystump.datasets import make_threenorm

DRAWN = PerceptronSVC(exact=False, n_directions=40, random_state=0, n_jobs=1)
AXES = PerceptronSVC(include_axes=True, n_directions=40, random_state=0, n_jobs=1)


@pytest.fixture(params=["exact", "drawn", "axes"])
def model(request):
    kinds = {"exact": PerceptronSVC(exact=True), "drawn": DRAWN, "axes": AXES}
    return clone(kinds[request.param])


# The kernel and the directions


@pytest.mark.parametrize("n_classes", [2, 3])
def test_exact_is_the_kernel_machine(n_classes):
    X, y = table(n_classes)
    params = {"C": 0.7, "class_weight": "balanced"}
    model = PerceptronSVC(exact=True, scale=False, **params).fit(X, y)
    kernel = KernelSVC("perceptron", **params).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), kernel.decision_function(X))
    assert model.exact_ is True
    assert model.directions_ is None
    assert model.certificate_ == kernel.certificate_


@pytest.mark.parametrize("name", ["exact", "drawn", "axes"])
def test_scaling_is_division_by_standard_deviations(name):
    """The model on the table is the unscaled model on the table that scikit-learn scales."""
    model = clone({"exact": PerceptronSVC(exact=True), "drawn": DRAWN, "axes": AXES}[name])
    model.set_params(tol=1e-6)
    X = X0 * [1e-3, 1.0, 1e5] + [0.0, -7.0, 3e5]
    weight = np.random.default_rng(0).integers(0, 4, size=len(X))
    scaler = StandardScaler().fit(X, sample_weight=weight)
    plain = clone(model).set_params(scale=False)
    ours = model.fit(X, Y0, weight).decision_function(X)
    theirs = plain.fit(scaler.transform(X), Y0, weight).decision_function(scaler.transform(X))
    np.testing.assert_allclose(model.scale_, 1 / scaler.scale_, rtol=1e-12)
    assert plain.scale_ is None
    np.testing.assert_allclose(ours, theirs, atol=1e-3 * np.std(theirs))


@pytest.mark.parametrize("exponent", [-300, -150, 150, 300])
def test_scales_that_are_hard_to_square(exponent):
    X = np.column_stack([X0[:, 0] * 10.0**exponent, X0[:, 1], np.full(len(X0), 7.0)])
    model = PerceptronSVC().fit(X, Y0)
    expected = [1 / np.std(X0[:, 0]) / 10.0**exponent, 1 / np.std(X0[:, 1]), 1.0]
    np.testing.assert_allclose(model.scale_, expected, rtol=1e-10)
    assert np.all(np.isfinite(model.decision_function(X)))


def test_wine_requires_scaling():
    X, y = load_wine(return_X_y=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    errors = [
        1 - cross_val_score(PerceptronSVC(scale=scale), X, y, cv=folds).mean()
        for scale in (True, False)
    ]
    assert errors[0] < 0.03
    assert errors[1] > 0.15


def test_projections_are_of_directions_only():
    with pytest.raises(ValueError, match="uses the exact kernel and has no projections"):
        PerceptronSVC(exact=True).fit(X0, Y0).projections()


def test_small_data_are_exact_unless_axes_are_included():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2001, 2)), np.arange(2001) % 2
    model = PerceptronSVC(C=1e-3, n_directions=5, random_state=0)
    assert model.fit(X[:200], y[:200]).exact_ is True
    assert model.fit(X, y).exact_ is False
    assert clone(AXES).fit(X0, Y0).exact_ is False


def test_many_directions_tend_to_the_kernel():
    """16 times the directions, 1/4 of the error, known to about a third from 12 repeats."""
    exact = PerceptronSVC(exact=True, tol=1e-6).fit(X0, Y0).decision_function(X0)

    def error(n_directions):
        model = PerceptronSVC(exact=False, n_directions=n_directions, tol=1e-5, n_jobs=1)
        scores = [
            clone(model).set_params(random_state=seed).fit(X0, Y0).decision_function(X0)
            for seed in range(12)
        ]
        return np.sqrt(np.mean((scores - exact) ** 2))

    few, many = error(25), error(400)
    assert few / many == pytest.approx(4.0, rel=0.35)
    assert many < 0.07 * np.std(exact)


def test_the_directions_mean_kernel_tends_to_the_distance():
    """``|x - y|_1`` of the scaled projections is an estimate of ``|x - y|_2``."""
    model = PerceptronSVC(exact=False, n_directions=1000, random_state=0).fit(X0, Y0)
    rows = model._project(X0, np.float64)
    apart = np.abs(rows[:, None, :300] - rows[None, :5, :300]).sum(axis=2)
    expected = np.linalg.norm(X0[:, None] - X0[None, :5], axis=2) * 300 / 1000
    np.testing.assert_allclose(apart, expected, rtol=0.2)


def test_directions_are_seeded_unit_vectors():
    a, b = (clone(DRAWN).fit(X0, Y0) for _ in range(2))
    c = clone(DRAWN).set_params(random_state=1).fit(X0, Y0)
    assert a.directions_.shape == (40, 3)
    np.testing.assert_allclose(np.linalg.norm(a.directions_, axis=1), 1.0)
    np.testing.assert_array_equal(a.decision_function(X0), b.decision_function(X0))
    assert not np.allclose(a.decision_function(X0), c.decision_function(X0))


def test_directions_are_uniform():
    """The mean of ``u u'`` over unit vectors is ``I / D``."""
    model = PerceptronSVC(exact=False, n_directions=1500, random_state=0, C=1e-3, n_jobs=1)
    directions = model.fit(X0[:8], np.arange(8) % 2).directions_
    np.testing.assert_allclose(directions.T @ directions / 1500, np.eye(3) / 3, atol=0.03)


# Axes


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_axes_come_first_and_their_curves_are_their_part_of_the_score(n_classes):
    X, y = table(n_classes)
    model = clone(AXES).fit(X, y)
    np.testing.assert_array_equal(model.directions_[:3], np.eye(3))
    assert not np.any(np.abs(model.directions_[3:]) == 1.0)
    ours = model.axis_shapes_ if n_classes > 2 else [model.axis_shapes_]
    shapes = model.machine_.shapes_ if n_classes > 2 else [model.machine_.shapes_]
    rows = model._project(X, np.float64)
    scores = np.atleast_2d(model.decision_function(X).T)
    for own, whole, score in zip(ours, shapes, scores, strict=True):
        others = sum(whole[d](rows[:, d]) for d in range(3, 40)) + whole.intercept
        np.testing.assert_allclose(own.evaluate(X) + others, score, atol=1e-9)


def test_the_curves_are_in_the_units_of_the_features():
    X = X0 * [1.0, 10.0, 0.1] + np.array([5.0, -30.0, 0.0])
    model = clone(AXES).fit(X, Y0)
    for shape, x in zip(model.axis_shapes_.shapes, X.T, strict=True):
        assert shape.knots.min() == pytest.approx(x.min(), abs=1e-5 * np.ptp(x))
        assert shape.knots.max() == pytest.approx(x.max(), abs=1e-5 * np.ptp(x))


def test_a_feature_that_decides_alone_has_the_steepest_curve():
    y = X0[:, 1] > 0
    model = clone(AXES).fit(X0, y)
    rises = [np.ptp(shape.values) for shape in model.axis_shapes_.shapes]
    assert np.argmax(rises) == 1
    assert not hasattr(clone(DRAWN).fit(X0, y), "axis_shapes_")


# Invariances


def test_translations_change_nothing(model):
    model.set_params(tol=1e-6)
    moved = X0 + np.array([3.0, -7.0, 100.0])
    a = clone(model).fit(X0, Y0).decision_function(X0)
    b = clone(model).fit(moved, Y0).decision_function(moved)
    np.testing.assert_allclose(a, b, atol=5e-3 * np.std(a))


@pytest.mark.parametrize("seed", seeds(3))
def test_rotations_change_nothing_where_it_is_exact(seed):
    turn = special_ortho_group.rvs(3, random_state=seed)
    model = PerceptronSVC(exact=True, scale=False, tol=1e-8)
    a = clone(model).fit(X0, Y0).decision_function(X0)
    b = clone(model).fit(X0 @ turn, Y0).decision_function(X0 @ turn)
    np.testing.assert_allclose(a, b, atol=1e-5)


def test_rotations_do_not_change_the_distribution_of_directions():
    """The mean score over seeds is the same for a rotated table, up to its standard error."""
    turn = special_ortho_group.rvs(3, random_state=0)

    def scores(X):
        model = PerceptronSVC(exact=False, n_directions=100, n_jobs=1)
        return np.array(
            [
                clone(model).set_params(random_state=seed).fit(X, Y0).decision_function(X)
                for seed in range(15)
            ]
        )

    a, b = scores(X0), scores(X0 @ turn)
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / 15)
    apart = np.abs(a.mean(axis=0) - b.mean(axis=0)) / error
    assert np.mean(apart < 2) > 0.8
    assert apart.max() < 6


def test_threads_change_nothing():
    a = clone(DRAWN).set_params(n_jobs=1).fit(X0, Y0)
    b = clone(DRAWN).set_params(n_jobs=3).fit(X0, Y0)
    np.testing.assert_array_equal(a.decision_function(X0), b.decision_function(X0))


@pytest.mark.parametrize("exact", [True, False])
def test_perceptrons_beat_axis_stumps_on_threenorm(exact):
    """Its classes are separated by sums of features, not by single features."""
    X, y = make_threenorm(300, random_state=0)
    new, answer = make_threenorm(2000, random_state=1)
    perceptron = PerceptronSVC(exact=exact, n_directions=300, random_state=0).fit(X, y)
    stumps = [StumpSVC(C).fit(X, y) for C in (0.01, 0.1, 1.0)]
    best = min(1 - stump.score(new, answer) for stump in stumps)
    assert 1 - perceptron.score(new, answer) < best - 0.01


# Weights, classes and estimator conventions


def test_sample_weights_repeat_samples(model):
    times = np.random.default_rng(1).integers(0, 4, size=90)
    model.set_params(tol=1e-8)
    weighted = clone(model).fit(X0, Y0, sample_weight=times)
    repeated = clone(model).fit(np.repeat(X0, times, axis=0), np.repeat(Y0, times))
    a, b = weighted.decision_function(X0), repeated.decision_function(X0)
    np.testing.assert_allclose(a, b, atol=2e-3)


def test_multiclass_is_one_vs_rest(model):
    X, y = table(3)
    names = np.array(["a", "b", "c"])
    model.fit(X, names[y])
    score = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), names[score.argmax(axis=1)])
    for k in range(3):
        separate = clone(model).fit(X, y == k)
        np.testing.assert_allclose(separate.decision_function(X), score[:, k], atol=1e-9)


def test_attributes_of_the_inner_estimator(model):
    model.fit(X0, Y0)
    for name in ("certificate_", "n_iter_"):
        assert getattr(model, name) == getattr(model.machine_, name)
    np.testing.assert_array_equal(model.dual_coef_, model.machine_.dual_coef_)
    np.testing.assert_array_equal(model.intercept_, model.machine_.intercept_)
    assert model.certificate_.converged


def test_pickles(model):
    model.fit(X0, Y0)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X0), model.decision_function(X0))


BAD_PARAMETERS = {
    "C": (PerceptronSVC(C=0), r"'C' parameter of PerceptronSVC .* Got 0"),
    "directions": (PerceptronSVC(n_directions=0), r"'n_directions' parameter .* Got 0"),
    "exact": (PerceptronSVC(exact="yes"), r"'exact' parameter of PerceptronSVC .* Got 'yes'"),
    "bins": (PerceptronSVC(max_bins=1), r"'max_bins' parameter of PerceptronSVC .* Got 1"),
    "exact axes": (
        PerceptronSVC(exact=True, include_axes=True),
        r"exact=True uses no directions, and include_axes=True .* set one of them to False",
    ),
    "axes only": (
        PerceptronSVC(include_axes=True, n_directions=3),
        r"n_directions=3 must be larger than the 3 axes .*; raise it, or use StumpSVC",
    ),
    "n_jobs": (PerceptronSVC(exact=False, n_jobs=0), r"n_jobs=0 has no meaning"),
}


@pytest.mark.parametrize(("estimator", "match"), BAD_PARAMETERS.values(), ids=BAD_PARAMETERS)
def test_bad_parameters(estimator, match):
    estimator = clone(estimator)
    assert_invalid(lambda: estimator.fit(X0, Y0), match)
    assert not hasattr(estimator, "machine_")


BAD = BAD_TABLES | NUMBERS_ONLY


@pytest.mark.parametrize(("X", "y", "weight", "match"), BAD.values(), ids=BAD)
def test_bad_tables(model, X, y, weight, match):
    assert_invalid(lambda: model.fit(X, y, sample_weight=weight), match)
