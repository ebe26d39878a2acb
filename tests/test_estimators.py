"""The infinite ensembles as scikit-learn estimators, and their errors for bad input."""

import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from bad_tables import BAD_TABLES, X0, Y0, assert_invalid, table, with_one
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from everystump import (
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpSVC,
    StumpSVCCV,
)
from everystump._core.measures import ChosenStumps
from everystump._core.shapes import ShapeModel
from everystump._core.solvers.certificate import Certificate

KINDS = {
    "hinge": StumpSVC(n_jobs=1),
    "squared hinge": StumpSVC(loss="squared_hinge", n_jobs=1),
    "no intercept": StumpSVC(fit_intercept=False, n_jobs=1),
    "logistic": StumpLogisticRegression(multi_class="ovr", n_jobs=1),
    "multinomial": StumpLogisticRegression(multi_class="multinomial", n_jobs=1),
    "hinge path": StumpSVCCV(Cs=[0.1, 1.0], cv=3, interactions=0, n_jobs=1),
    "logistic path": StumpLogisticRegressionCV(
        Cs=[0.1, 1.0], cv=3, multi_class="ovr", interactions=0, n_jobs=1
    ),
    "multinomial path": StumpLogisticRegressionCV(
        Cs=[0.1, 1.0], cv=3, multi_class="multinomial", interactions=0, n_jobs=1
    ),
}
ONE_VS_REST = ["hinge", "squared hinge", "no intercept", "logistic"]
SINGLE = [*ONE_VS_REST, "multinomial"]


@pytest.fixture(params=KINDS)
def model(request):
    return clone(KINDS[request.param])


@pytest.fixture(params=SINGLE)
def single(request):
    return clone(KINDS[request.param])


# Bad input: one sentence that names the argument, before anything is fitted

BAD_PARAMETERS = {
    "C=0": (StumpSVC(C=0), r"'C' parameter of StumpSVC must be a float in .*\. Got 0"),
    "C<0": (StumpSVC(C=-1.0), r"'C' parameter of StumpSVC .* Got -1\.0"),
    "C=nan": (StumpSVC(C=np.nan), r"'C' parameter of StumpSVC .* Got nan"),
    "C=a": (StumpSVC(C="a"), r"'C' parameter of StumpSVC .* Got 'a'"),
    "logistic C=inf": (
        StumpLogisticRegression(C=np.inf),
        r"'C' parameter of StumpLogisticRegression must be a float in .* Got inf",
    ),
    "loss": (StumpSVC(loss="log"), r"'loss' parameter of StumpSVC .*'squared_hinge'.* Got 'log'"),
    "measure": (StumpSVC(measure="gauss"), r"measure='gauss' is unknown; use '"),
    "measure type": (StumpSVC(measure=3), r"'measure' parameter of StumpSVC .* Got 3"),
    "density": (
        StumpSVC(measure=lambda a: -np.ones_like(a)),
        r"measure: the density of feature 0 is -1 .* must not be negative",
    ),
    "density shape": (
        StumpSVC(measure=lambda a: 1.0),
        r"measure: the density of feature 0 .* shape",
    ),
    "too few thresholds": (
        StumpSVC(measure=ChosenStumps([[0.0]])),
        r"measure: there are thresholds for 1 features",
    ),
    "too many thresholds": (
        StumpSVC(measure=ChosenStumps([[0.0]] * 4)),
        r"measure: there are thresholds for 4 features",
    ),
    "max_bins": (StumpSVC(max_bins=1), r"'max_bins' parameter of StumpSVC .*\[2, inf\).* Got 1"),
    "max_bins type": (StumpSVC(max_bins=8.0), r"'max_bins' parameter .* Got 8\.0"),
    "tol=0": (StumpSVC(tol=0), r"'tol' parameter of StumpSVC .* Got 0"),
    "tol<0": (StumpSVC(tol=-1e-3), r"'tol' parameter of StumpSVC .* Got -0\.001"),
    "max_iter": (StumpSVC(max_iter=0), r"'max_iter' parameter of StumpSVC .* Got 0"),
    "n_jobs": (StumpSVC(n_jobs=0), r"n_jobs=0 has no meaning"),
    "n_jobs type": (StumpSVC(n_jobs=1.5), r"'n_jobs' parameter of StumpSVC .* Got 1\.5"),
    "fit_intercept": (StumpSVC(fit_intercept="yes"), r"'fit_intercept' parameter .* Got 'yes'"),
    "class_weight": (StumpSVC(class_weight="some"), r"'class_weight' parameter .* Got 'some'"),
    "class_weight of an unknown class": (
        StumpSVC(class_weight={0: 1.0, 7: 1.0}),
        r"not in class_weight",
    ),
    "class_weight zero": (StumpSVC(class_weight={0: 0.0}), r"class_weight"),
    "class_weight zero, logistic": (
        StumpLogisticRegression(class_weight={0: 0.0}),
        r"class_weight",
    ),
    "class_weight negative": (StumpLogisticRegression(class_weight={0: -1.0}), r"class_weight"),
    "class_weight nan": (StumpLogisticRegression(class_weight={0: np.nan}), r"class_weight"),
    "range too narrow": (
        StumpSVC(feature_range=(-0.1, 9.0)),
        r"feature_range: \[-0\.1, 9\] does not contain feature 0, .* widen the range",
    ),
    "range of one feature too narrow": (
        StumpSVC(feature_range=[(-9, 9), (-9, 9), (-9, 0)]),
        r"feature_range: \[-9, 0\] does not contain feature 2",
    ),
    "range shape": (
        StumpSVC(feature_range=[(-9, 9)] * 2),
        r"feature_range=.* must be .* each of the 3 features",
    ),
    "range infinite": (StumpSVC(feature_range=(-np.inf, np.inf)), r"feature_range.*finite"),
    "range of words": (StumpSVC(feature_range=("a", "b")), r"feature_range"),
    "range ragged": (StumpSVC(feature_range=[(0, 1), (0,), (0, 1)]), r"feature_range"),
    "Cs=1": (StumpSVCCV(Cs=1), r"'Cs' parameter of StumpSVCCV .* Got 1"),
    "Cs<0": (StumpSVCCV(Cs=-1), r"Cs"),
    "Cs=a": (StumpSVCCV(Cs="a"), r"Cs"),
    "Cs of words": (StumpSVCCV(Cs=["a"]), r"Cs"),
    "Cs empty": (StumpSVCCV(Cs=[]), r"Cs=\[\] must be"),
    "Cs with 0": (StumpSVCCV(Cs=[0.0, 1.0]), r"Cs=\[0\.0, 1\.0\] must be .* positive finite"),
    "Cs with inf": (StumpSVCCV(Cs=[1.0, np.inf]), r"Cs=\[1\.0, inf\] must be .* positive finite"),
    "Cs with nan": (StumpSVCCV(Cs=[1.0, np.nan]), r"Cs=\[1\.0, nan\] must be .* positive finite"),
    "selection": (StumpSVCCV(selection="best"), r"'selection' parameter .* Got 'best'"),
    "scoring": (StumpSVCCV(scoring="speed"), r"'speed' is not a valid scoring|'scoring' parameter"),
    "cv": (StumpSVCCV(cv="three"), r"'cv' parameter of StumpSVCCV"),
}


@pytest.mark.parametrize(("estimator", "match"), BAD_PARAMETERS.values(), ids=BAD_PARAMETERS)
def test_bad_parameters(estimator, match):
    estimator = clone(estimator)
    assert_invalid(lambda: estimator.fit(*table()), match)
    assert not hasattr(estimator, "shapes_")


@pytest.mark.parametrize(("X", "y", "weight", "match"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_bad_tables(model, X, y, weight, match):
    assert_invalid(lambda: model.fit(X, y, sample_weight=weight), match)
    assert not hasattr(model, "shapes_")


def test_bad_values_are_named_by_their_column():
    X = pd.DataFrame(with_one(np.inf), columns=["age", "height", "weight"])
    assert_invalid(
        lambda: StumpSVC().fit(X, Y0),
        r"X contains infinity in row 4, feature 'height'; .* a large number or NaN",
    )


def test_large_numbers_are_not_taken_for_infinity(single):
    X = np.where(X0 > 0, 1e308, -1e308)
    single.set_params(measure="rank").fit(X, Y0)
    assert np.all(np.isfinite(single.decision_function(X)))


def test_prediction_validates_its_samples(single):
    single.fit(X0, Y0)
    assert_invalid(lambda: single.predict(X0[:, :2]), r"X has 2 features, but .* is expecting 3")
    infinite = with_one(np.inf)
    assert_invalid(lambda: single.predict(infinite), r"X contains infinity in row 4, feature 1")
    assert_invalid(lambda: single.predict(X0[0]), r"Expected 2D array")
    frame = pd.DataFrame(X0, columns=["a", "b", "c"])
    single.fit(frame, Y0)
    other = frame.rename(columns={"b": "z"})
    assert_invalid(lambda: single.predict(other), r"feature names should match")
    np.testing.assert_array_equal(
        single.decision_function(frame[["b", "a", "c"]]), single.decision_function(frame)
    )


def test_unfitted_models_raise(model):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.predict(X0)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(with_one(np.inf), Y0)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.predict(X0)


@pytest.mark.parametrize("kind", ["hinge", "squared hinge", "no intercept"])
def test_inseparable_hard_margin(kind):
    model = clone(KINDS[kind]).set_params(C=np.inf)
    X = np.array([[0.0], [0.0], [1.0], [2.0]])
    assert_invalid(lambda: model.fit(X, [0, 1, 0, 1]), r"C=inf requires a hard margin")
    assert_invalid(lambda: model.fit(0 * X, [0, 1, 0, 1]), r"C=inf requires a hard margin")


# Good input


def test_constant_features_are_accepted(single):
    X = np.column_stack([X0, np.full(90, 7.0)])
    single.fit(X, Y0)
    assert single.certificate_.converged
    if single.fit_intercept:
        np.testing.assert_array_equal(single.shapes_[3](np.array([0.0, 7.0, 9.0])), 0.0)


def test_constant_features_predict_the_majority():
    X, y = np.ones((9, 2)), np.arange(9) < 3
    for estimator in (StumpSVC(), StumpLogisticRegression()):
        np.testing.assert_array_equal(estimator.fit(X, y).predict(X), False)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_keep_their_names(model, frame):
    X = frame({"age": X0[:, 0], "height": X0[:, 1], "weight": X0[:, 2]})
    model.fit(X, Y0)
    assert model.feature_names_in_.tolist() == ["age", "height", "weight"]
    assert model.n_features_in_ == 3
    plain = clone(model).fit(X0, Y0)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X0))
    assert not hasattr(plain, "feature_names_in_")


def test_too_few_steps_warn_with_the_gap(single):
    single.set_params(C=100.0, max_iter=1, tol=1e-9)
    with pytest.warns(ConvergenceWarning) as caught:
        single.fit(X0, Y0)
    message = str(caught[0].message)
    assert len(caught) == 1
    assert f"{single.certificate_.gap:.1e}" in message
    assert "max_iter=1 " in message and "tol=1e-09" in message
    assert caught[0].filename == __file__
    assert not single.certificate_.converged


def test_attributes_of_two_classes(model):
    model.fit(X0, Y0)
    assert isinstance(model.shapes_, ShapeModel)
    assert isinstance(model.certificate_, Certificate)
    assert model.intercept_.shape == (1,)
    assert model.intercept_[0] == model.shapes_.intercept
    assert model.dual_coef_.shape == (90,)
    assert model.n_iter_ >= 1 and isinstance(model.n_iter_, int)
    assert model.exact_ is True
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert model.decision_function(X0).shape == (90,)
    assert np.all(np.sign(model.dual_coef_) * (2 * Y0 - 1) >= 0)


def test_attributes_of_multiclass_fits(model):
    X, y = table(n_classes=4)
    names = np.array(["north", "east", "south", "west"])
    model.fit(X, names[y])
    assert len(model.shapes_) == 4
    is_joint = getattr(model, "multi_class", "ovr") == "multinomial"
    assert isinstance(model.certificate_, Certificate if is_joint else list)
    assert model.intercept_.shape == (4,)
    assert model.dual_coef_.shape == (4, 90)
    assert model.decision_function(X).shape == (90, 4)
    np.testing.assert_array_equal(model.classes_, np.sort(names))
    best = model.classes_[model.decision_function(X).argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X), best)
    assert model.score(X, names[y]) > 0.5


@pytest.mark.parametrize("kind", ONE_VS_REST)
def test_multiclass_is_one_vs_rest(kind):
    X, y = table(n_classes=3)
    single = clone(KINDS[kind]).set_params(tol=1e-8).fit(X, y)
    for k in range(3):
        separate = clone(single).fit(X, y == k)
        scores = single.decision_function(X)[:, k]
        np.testing.assert_allclose(scores, separate.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", ["logistic", "logistic path", "multinomial", "multinomial path"])
def test_probabilities(kind, n_classes):
    X, y = table(n_classes)
    model = clone(KINDS[kind]).fit(X, y)
    p = model.predict_proba(X)
    assert p.shape == (90, n_classes)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.all((p > 0) & (p < 1))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p)
    np.testing.assert_array_equal(model.predict(X), p.argmax(axis=1))
    score = model.decision_function(X)
    separate = 1 / (1 + np.exp(-score))
    if n_classes == 2:
        np.testing.assert_allclose(p[:, 1], separate)
    else:
        parts = np.exp(score) if model.multi_class == "multinomial" else separate
        np.testing.assert_allclose(p, parts / parts.sum(axis=1, keepdims=True))


def test_extreme_probabilities_are_finite():
    """Probabilities sum to 1 even if all three scores are very negative."""
    model = StumpLogisticRegression().fit(*table(3))
    model.shapes_ = [ShapeModel((0.0 * model.shapes_[0]).shapes, -1e4)] * 3
    np.testing.assert_allclose(model.predict_proba(X0), 1 / 3)


def test_curves_have_mean_zero_over_the_training_rows():
    model = StumpSVC().fit(X0, Y0)
    means = [shape(X0[:, d]).mean() for d, shape in enumerate(model.shapes_)]
    np.testing.assert_allclose(means, 0.0, atol=1e-12)


def test_sample_weights_repeat_samples(single):
    """A gap of ``tol * primal`` allows weights a distance of ``sqrt(2 tol primal)``: 1e-4 here."""
    times = np.random.default_rng(1).integers(0, 4, size=90)
    single.set_params(tol=1e-10)
    weighted = clone(single).fit(X0, Y0, sample_weight=times)
    repeated = clone(single).fit(np.repeat(X0, times, axis=0), np.repeat(Y0, times))
    a, b = weighted.decision_function(X0), repeated.decision_function(X0)
    np.testing.assert_allclose(a, b, atol=2e-4)


def test_samples_of_weight_zero_keep_their_index(model):
    weight = np.where(np.arange(90) % 3 == 0, 0.0, 1.5)
    model.fit(X0, Y0, sample_weight=weight)
    assert model.dual_coef_.shape == (90,)
    np.testing.assert_array_equal(model.dual_coef_[weight == 0], 0.0)
    assert np.any(model.dual_coef_ != 0)


def test_balanced_weights(single):
    y = np.arange(90) < 20
    single.set_params(tol=1e-9)
    named = clone(single).set_params(class_weight="balanced").fit(X0, y)
    by_hand = clone(single).set_params(class_weight={True: 90 / 40, False: 90 / 140}).fit(X0, y)
    np.testing.assert_allclose(
        named.decision_function(X0), by_hand.decision_function(X0), atol=1e-6
    )
    plain = clone(single).fit(X0, y)
    assert named.predict(X0).sum() > plain.predict(X0).sum()


def test_class_weights_and_sample_weights_multiply(single):
    """Lengths as masses do not depend on weights, so only the costs are left to differ."""
    weight = np.random.default_rng(2).uniform(0.5, 2.0, size=90)
    single.set_params(tol=1e-10, measure="lebesgue")
    both = clone(single).set_params(class_weight={0: 1.0, 1: 3.0})
    both.fit(X0, Y0, sample_weight=weight)
    product = clone(single).fit(X0, Y0, sample_weight=weight * np.where(Y0, 3.0, 1.0))
    scores = both.decision_function(X0), product.decision_function(X0)
    np.testing.assert_allclose(*scores, atol=2e-4)


def test_class_weights_multiply_c_but_do_not_move_the_bins():
    """``mixed`` counts rows by their sample weights only."""
    plain = StumpSVC(tol=1e-9).fit(X0, Y0)
    doubled = StumpSVC(C=0.5, class_weight={0: 2.0, 1: 2.0}, tol=1e-9).fit(X0, Y0)
    scores = plain.decision_function(X0), doubled.decision_function(X0)
    np.testing.assert_allclose(*scores, atol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_hard_margin(loss, fit_intercept):
    """Every row keeps its margin, also where there are more values than bins."""
    model = StumpSVC(C=np.inf, loss=loss, fit_intercept=fit_intercept, max_bins=8, tol=1e-6)
    model.fit(X0, Y0)
    margin = (2 * Y0 - 1) * model.decision_function(X0)
    assert margin.min() >= 1 - 1e-9
    assert model.certificate_.converged
    assert model.exact_


def test_both_losses_have_one_hard_margin():
    hinge, squared = (
        StumpSVC(C=np.inf, loss=loss, tol=1e-9).fit(X0, Y0) for loss in ("hinge", "squared_hinge")
    )
    np.testing.assert_array_equal(hinge.decision_function(X0), squared.decision_function(X0))


@pytest.mark.parametrize("measure", ["lebesgue", "uniform", "rank", "mixed", np.ones_like])
def test_piecewise_linear_measures(measure):
    model = StumpSVC(measure=measure).fit(X0, Y0)
    assert not model.shapes_[0].is_step


@pytest.mark.parametrize("measure", ["middle", ChosenStumps([[0.0, 1.0], [], [0.5]])])
def test_step_measures(measure):
    model = StumpSVC(measure=measure).fit(X0, Y0)
    assert all(shape.is_step for shape in model.shapes_)
    assert not np.all(model.shapes_[0].values == 0)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_wider_range_of_lengths_matters_without_an_intercept_only(fit_intercept):
    narrow = StumpSVC(1.0, measure="lebesgue", tol=1e-9, fit_intercept=fit_intercept)
    wide = clone(narrow).set_params(feature_range=(-50.0, 60.0))
    scores = [model.fit(X0, Y0).decision_function(X0) for model in (narrow, wide)]
    assert np.allclose(*scores, atol=1e-4) == fit_intercept


@pytest.mark.parametrize("where", ["among the rows", "beyond the rows"])
def test_without_an_intercept_scores_are_the_kernel_expansion(where):
    """``f(x) = sum of (y a)_i K_S(x_i, x)`` on all of [L, R], also where there are no rows.

    With ``tol = 1e-12`` both sides agree to about the square root of it.
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(30, 2))
    y = X[:, 0] + rng.normal(size=30) > -0.7
    reach = 1.0 if where == "among the rows" else 4.0
    model = StumpSVC(
        0.05, fit_intercept=False, measure="lebesgue", feature_range=(-4.0, 4.0), tol=1e-12
    ).fit(X, y)
    low, high = X.min(axis=0), X.max(axis=0)
    new = rng.uniform(-reach, reach, size=(50, 2))
    new = np.clip(new, low, high) if where == "among the rows" else new
    kernel = (4.0 - np.abs(new[:, None] - X[None])).sum(axis=2)
    expected = kernel @ model.dual_coef_
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-4)


def test_exact_is_whether_no_feature_was_binned():
    assert StumpSVC(max_bins=90).fit(X0, Y0).exact_ is True
    assert StumpSVC(max_bins=89).fit(X0, Y0).exact_ is False


@pytest.mark.parametrize("form", [np.float32, np.int64])
def test_other_types_of_numbers(single, form):
    X = (100 * X0).astype(form)
    a = clone(single).fit(X, Y0).decision_function(X)
    b = clone(single).fit(X.astype(np.float64), Y0).decision_function(X.astype(np.float64))
    np.testing.assert_allclose(a, b, atol=1e-9)


def test_the_layout_of_the_table_does_not_matter(single):
    a = clone(single).fit(X0, Y0).decision_function(X0)
    X = np.asfortranarray(X0)
    np.testing.assert_array_equal(clone(single).fit(X, Y0).decision_function(X), a)


def test_threads_change_nothing(single):
    a = clone(single).set_params(n_jobs=1).fit(X0, Y0)
    b = clone(single).set_params(n_jobs=3).fit(X0, Y0)
    np.testing.assert_array_equal(a.decision_function(X0), b.decision_function(X0))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_round_trips(model, tmp_path, n_classes):
    X, y = table(n_classes)
    model.fit(X, y)
    model.decision_function(X)
    joblib.dump(model, tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        assert again.certificate_ == model.certificate_


def test_silence_by_default(model, capsys):
    model.fit(X0, Y0)
    assert capsys.readouterr() == ("", "")


def test_verbose_reports_to_standard_error(single, capsys):
    single.set_params(verbose=1).fit(X0, Y0)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert all(line.startswith(f"{type(single).__name__}, C=1: step ") for line in lines)
    assert "objective " in lines[-1] and "gap " in lines[-1] and lines[-1].endswith(" s")
    assert len(lines) >= 2


def test_verbose_names_the_class(capsys):
    StumpSVC(verbose=1).fit(*table(3))
    err = capsys.readouterr().err
    assert all(f"class {k}" in err for k in range(3))


def test_verbose_path_counts_its_fits(capsys):
    StumpSVCCV(Cs=[0.1, 1.0], cv=3, verbose=1).fit(X0, Y0)
    err = capsys.readouterr().err
    assert "StumpSVCCV: fits 6 of 6" in err


def test_a_second_fit_resets_the_first(single):
    single.fit(X0[:, :2], Y0)
    single.fit(X0, Y0)
    fresh = clone(single).fit(X0, Y0)
    np.testing.assert_array_equal(single.decision_function(X0), fresh.decision_function(X0))


def test_no_warning_of_any_kind_on_plain_data(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X0, Y0).predict(X0)


def test_a_hard_margin_warns_if_it_runs_out_of_steps():
    """Too few steps do not prove that the classes are inseparable."""
    x = np.arange(40.0)[:, None]
    with pytest.raises(ValueError, match=r"not separated within max_iter=1 Newton steps"):
        StumpSVC(np.inf, max_iter=1).fit(x, np.arange(40) % 2)


@pytest.mark.parametrize("C", [1e100, 1e-200])
@pytest.mark.parametrize("estimator", [StumpSVC, lambda C: StumpSVCCV(Cs=[C])])
def test_extreme_costs_are_rejected(estimator, C):
    with pytest.raises(ValueError, match=r"times the sample weights .* keep it between"):
        estimator(C).fit(X0, Y0)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_text_columns_are_categories(frame):
    X = frame({"age": [1.0, 2.0, 3.0, 4.0], "vote": ["y", "n", "y", "n"]})
    model = StumpSVC().fit(X, [0, 1, 0, 1])
    assert model.feature_info_[0].levels is None
    assert model.feature_info_[1].levels.tolist() == ["n", "y"]
    assert model.predict(X).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("thresholds", [[[np.nan]], [[np.inf]], [["a"]], 5])
def test_thresholds_must_be_finite_numbers(thresholds):
    with pytest.raises(ValueError, match=r"thresholds=.* finite numbers, one array"):
        ChosenStumps(thresholds)


def test_a_measure_is_an_instance():
    with pytest.raises(ValueError, match=r"measure=ChosenStumps is a class; pass an instance"):
        StumpSVC(measure=ChosenStumps).fit(X0, Y0)


def test_log_probabilities_keep_small_ones():
    model = StumpLogisticRegression().fit(X0, Y0)
    score = model.decision_function(X0)
    np.testing.assert_allclose(model.predict_log_proba(X0)[:, 1], -np.logaddexp(0, -score))
    np.testing.assert_allclose(model.predict_proba(X0).sum(axis=1), 1.0)


def test_the_old_name_of_feature_info():
    model = StumpSVC().fit([[0.0], [1.0]], [0, 1])
    with pytest.warns(FutureWarning, match="use feature_info_") as caught:
        assert model.features_ is model.feature_info_
    assert caught[0].filename == __file__
    assert not hasattr(StumpSVC(), "features_")


def test_a_fit_deletes_the_attributes_of_the_last_one():
    model = StumpSVC().fit(X0, Y0).remove_feature(0)
    model.about_, model.note = {"target": "y"}, "kept"
    model.fit(X0, Y0)
    assert not hasattr(model, "about_") and model.edits_ == () and model.note == "kept"
    assert set(vars(model)) == {*vars(StumpSVC().fit(X0, Y0)), "note"}


def test_invalid_training_data_keep_the_last_fit():
    model = StumpSVC().fit(X0, Y0).remove_feature(0)
    scores = model.decision_function(X0)
    with pytest.raises(ValueError, match="X contains infinity"):
        model.fit(with_one(np.inf), Y0)
    np.testing.assert_array_equal(model.decision_function(X0), scores)
    assert model.edits_ == ("x0 was removed",)
