"""Bands around curves and surfaces: coverage, invariances, tables, plots, files, errors."""

from copy import copy
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.contour import QuadContourSet
from scipy.stats import norm

from everystump import (
    ModelFileError,
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpRegressor,
    StumpSVC,
    load,
    save,
)
from everystump._workflow.targets.classes import fit_with_class_order
from everystump.explain import CurvesDisplay, SurfacesDisplay

mpl.use("Agg")


def additive(n, rng):
    """Return three features, two of them correlated, and a sum of two curves."""
    X = rng.normal(size=(n, 3))
    X[:, 1] = 0.6 * X[:, 0] + 0.8 * X[:, 1]
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1]


def mixed_table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    X["job"] = pd.Categorical(rng.choice(["x", "y", "z"], n, p=[0.6, 0.3, 0.1]))
    f = X["a"] - (X["job"] == "z") + X["a"] * X["b"]
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-2 * f)), "yes", "no")


@pytest.fixture(scope="module")
def pairs():
    X, y = mixed_table()
    model = StumpLogisticRegression(interactions=[("a", "b")], interaction_bins=6)
    return model.fit(X, y).compute_bands(X, y), X, y


def coverage(make, curves, n, n_tables, is_class):
    """Return the mean coverage of 95% bands of the true curves, over tables and samples."""
    covered = []
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X, f = additive(n, rng)
        y = rng.random(n) < 1 / (1 + np.exp(-f)) if is_class else f + rng.normal(size=n)
        model = make().fit(X, y).compute_bands(X, y)
        for d, curve in enumerate(curves):
            truth = curve(X[:, d]) - curve(X[:, d]).mean()
            error = np.abs(model.shapes_[d](X[:, d]) - truth)
            covered.append(np.mean(error <= 1.96 * model.standard_errors_[d](X[:, d])))
    return np.mean(covered)


CURVES = [lambda x: np.sin(2 * x), lambda x: 0.5 * x, lambda x: 0.0 * x]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "is_class"),
    [(lambda: StumpRegressor(C=0.1), False), (lambda: StumpLogisticRegression(C=0.3), True)],
)
def test_coverage_across_the_curves_is_nominal(make, is_class):
    """At a C near the best one; 60 curves have a standard error of at most 0.02."""
    assert 0.91 < coverage(make, CURVES, 500, 20, is_class) < 0.985


def test_bands_do_not_depend_on_the_units_of_the_target():
    rng = np.random.default_rng(0)
    X, f = additive(300, rng)
    y = f + rng.normal(size=300)
    plain = StumpRegressor().fit(X, y).compute_bands(X, y)
    scaled = StumpRegressor().fit(X, 1e6 * y + 3).compute_bands(X, 1e6 * y + 3)
    for one, other in zip(plain.standard_errors_, scaled.standard_errors_, strict=True):
        np.testing.assert_allclose(other.values, 1e6 * one.values, rtol=1e-6)
    assert scaled.standard_errors_.intercept == pytest.approx(
        1e6 * plain.standard_errors_.intercept
    )


def test_weights_are_repetitions():
    rng = np.random.default_rng(0)
    X, f = additive(200, rng)
    y = f + rng.normal(size=200)
    weight = rng.integers(0, 4, size=200)
    weighted = StumpRegressor().fit(X, y, weight).compute_bands(X, y, weight, n_samples=300)
    X, y = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    repeated = StumpRegressor().fit(X, y).compute_bands(X, y, n_samples=300)
    for one, other in zip(weighted.standard_errors_, repeated.standard_errors_, strict=True):
        # The samples of the posterior differ.
        np.testing.assert_allclose(one.values, other.values, rtol=0.05)


def test_balanced_classes_are_not_repetitions():
    """Class weights that multiply all costs by 10 are a larger C, not ten times the samples."""
    rng = np.random.default_rng(0)
    X, f = additive(300, rng)
    y = f > 0
    plain = StumpLogisticRegression(C=1.0).fit(X, y).compute_bands(X, y)
    tenfold = StumpLogisticRegression(C=0.1, class_weight={False: 10, True: 10}).fit(X, y)
    tenfold.compute_bands(X, y)
    for one, other in zip(plain.standard_errors_, tenfold.standard_errors_, strict=True):
        np.testing.assert_allclose(one.values, other.values, rtol=1e-3)


def test_more_samples_narrow_the_bands_and_noise_widens_them():
    rng = np.random.default_rng(0)

    def error(n, noise):
        X = rng.uniform(size=(n, 1))
        y = X[:, 0] + noise * rng.normal(size=n)
        model = StumpRegressor(C=0.05).fit(X, y).compute_bands(X, y)
        return np.mean(model.standard_errors_[0](X[:, 0]))

    assert error(2000, 1.0) < 0.8 * error(300, 1.0)
    assert error(300, 1.0) > 3 * error(300, 0.2)


def test_bands_are_the_same_in_every_run():
    rng = np.random.default_rng(0)
    X, f = additive(200, rng)
    y = f > 0
    model = StumpLogisticRegression(fit_intercept=False).fit(X, y)  # has to be simulated
    first = model.compute_bands(X, y).standard_errors_
    again = model.compute_bands(X, y).standard_errors_
    other = model.compute_bands(X, y, random_state=1).standard_errors_
    assert all(np.array_equal(a.values, b.values) for a, b in zip(first, again, strict=True))
    assert any(np.any(a.values != b.values) for a, b in zip(first, other, strict=True))


def test_bootstrap_agrees_with_the_curvature():
    """Where the data dominate the regularization, both estimate the same errors."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(600, 1)).astype(float)
    y = X[:, 0] + rng.normal(size=600)
    model = StumpRegressor(C=100.0).fit(X, y)
    laplace = model.compute_bands(X, y).standard_errors_[0].values
    bootstrap = model.compute_bands(X, y, method="bootstrap", n_samples=200).standard_errors_
    # The standard deviation of 200 refits has a relative error of 0.05.
    np.testing.assert_allclose(bootstrap[0].values, laplace, rtol=0.2)
    assert bootstrap.intercept == pytest.approx(1 / np.sqrt(600), rel=0.2)


@pytest.mark.parametrize(
    "model",
    [
        StumpSVC(C=0.1),
        StumpRegressor(C=0.1, loss="absolute"),
        StumpRegressor(C=0.1, loss="quantile", quantile=0.8),
        StumpRegressor(C=0.1, loss="epsilon_insensitive"),
    ],
)
def test_losses_without_curvature_need_the_bootstrap(model):
    rng = np.random.default_rng(0)
    X, f = additive(150, rng)
    y = f > 0 if isinstance(model, StumpSVC) else f
    model.fit(X, y)
    with pytest.raises(ValueError, match='use method="bootstrap"'):
        model.compute_bands(X, y)
    errors = model.compute_bands(X, y, method="bootstrap", n_samples=5).standard_errors_
    assert all(shape.values.max() > 0 for shape in errors)


def test_several_classes():
    rng = np.random.default_rng(0)
    X, f = additive(300, rng)
    y = np.digitize(f + 0.3 * rng.normal(size=300), [-0.5, 0.5])
    model = StumpLogisticRegression(multi_class="ovr").fit(X, y)
    model.compute_bands(X, y, n_samples=1000)
    assert len(model.standard_errors_) == 3
    frame = model.curve("x0", bands=True)
    assert frame["class"].unique().tolist() == [0, 1, 2]
    assert (frame["high"] > frame["low"]).all()
    for k in range(3):
        binary = StumpLogisticRegression().fit(X, y == k)
        one = binary.compute_bands(X, y == k, n_samples=1000).standard_errors_
        for shape, own in zip(one, model.standard_errors_[k], strict=True):
            np.testing.assert_allclose(own.values, shape.values, rtol=0.05)


def test_multinomial_models():
    """Both methods, threads, and class weights, which are not repetitions."""
    rng = np.random.default_rng(0)
    X, f = additive(300, rng)
    y = np.digitize(f + 0.3 * rng.normal(size=300), [-0.5, 0.5])
    model = StumpLogisticRegression(n_jobs=1).fit(X, y).compute_bands(X, y)
    errors = model.standard_errors_
    frame = model.curve("x0", bands=True)
    assert frame["class"].unique().tolist() == [0, 1, 2]
    assert (frame["high"] > frame["low"]).all()
    threads = StumpLogisticRegression(n_jobs=2).fit(X, y).compute_bands(X, y).standard_errors_
    tenfold = StumpLogisticRegression(C=0.1, class_weight=dict.fromkeys(range(3), 10)).fit(X, y)
    tenfold.compute_bands(X, y)
    for own, other, weighted in zip(errors, threads, tenfold.standard_errors_, strict=True):
        for a, b, c in zip(own, other, weighted, strict=True):
            np.testing.assert_allclose(b.values, a.values, rtol=1e-6)
            np.testing.assert_allclose(c.values, a.values, rtol=1e-3)
    model.compute_bands(X, y, method="bootstrap", n_samples=10)
    assert len(model.standard_errors_) == 3


def test_weights_of_multinomial_models_are_repetitions():
    rng = np.random.default_rng(0)
    X, f = additive(150, rng)
    y = np.digitize(f, [-0.5, 0.5])
    weight = rng.integers(0, 4, size=150)
    weighted = StumpLogisticRegression().fit(X, y, weight).compute_bands(X, y, weight)
    X, y = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    repeated = StumpLogisticRegression().fit(X, y).compute_bands(X, y)
    for own, other in zip(weighted.standard_errors_, repeated.standard_errors_, strict=True):
        for a, b in zip(own, other, strict=True):
            assert np.mean(a.values / b.values) == pytest.approx(1.0, abs=0.03)


def test_changed_parameters_do_not_change_the_bands():
    rng = np.random.default_rng(0)
    X, f = additive(120, rng)
    model = StumpRegressor(C=1.0).fit(X, f)
    before = model.compute_bands(X, f).standard_errors_
    after = model.set_params(C=1000.0).compute_bands(X, f).standard_errors_
    np.testing.assert_allclose(after[0].values, before[0].values)


def test_no_intercept_and_monotonic_curves():
    rng = np.random.default_rng(0)
    X, f = additive(200, rng)
    for params in ({"fit_intercept": False}, {"monotonic_cst": [1, 0, 0]}):
        model = StumpRegressor(**params).fit(X, f).compute_bands(X, f)
        assert all(np.all(shape.values > 0) for shape in model.standard_errors_)


def test_knots_are_those_of_the_curves(pairs):
    model, _, _ = pairs
    for shape, errors in zip(model.shapes_, model.standard_errors_, strict=True):
        assert np.array_equal(shape.knots, errors.knots)
        assert (shape.missing is None) == (errors.missing is None)
        assert shape.is_category == errors.is_category
    (surface,), (errors,) = model.shapes_.surfaces, model.standard_errors_.surfaces
    assert errors.values.shape == surface.values.shape
    assert (errors.values > 0).all()


def test_tables_with_bands(pairs):
    model, _, _ = pairs
    z = norm.ppf(0.975)
    for frame in (model.curve("b", bands=True), model.curve("job", bands=True)):
        assert frame.columns.tolist() == ["value", "contribution", "std_error", "low", "high"]
        np.testing.assert_allclose(frame["high"] - frame["contribution"], z * frame["std_error"])
        np.testing.assert_allclose(frame["contribution"] - frame["low"], z * frame["std_error"])
    narrow, wide = (model.curve("a", bands=level) for level in (0.5, True))
    ratio = (narrow["high"] - narrow["low"]) / (wide["high"] - wide["low"])
    np.testing.assert_allclose(ratio, norm.ppf(0.75) / z)
    surface = model.surface("a × b", bands=True)
    assert (surface["std_error"] > 0).all()
    assert model.curve("a").columns.tolist() == ["value", "contribution"]


def test_terms_with_bands(pairs):
    model, X, _ = pairs
    frame = model.explain_global(bands=True).set_index("feature")
    errors = model.standard_errors_[0](X["a"].to_numpy())
    assert frame.loc["a", "std_error"] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=0.02)
    curve = model.curve("a", bands=True)
    assert frame.loc["a", "low"] == pytest.approx(curve["low"].min())
    assert frame.loc["a × b", "high"] == pytest.approx(
        model.surface("a × b", bands=True)["high"].max()
    )
    assert "std_error" in model.explain_global(X, bands=0.9)


def test_display_draws_bands(pairs):
    model, X, y = pairs
    display = CurvesDisplay.from_estimator(model)
    assert display.half_widths is not None
    assert "95% bands" in display.caption
    a, job = display.names.index("a"), display.names.index("job")
    curve = model.curve("a", bands=True)
    (band,) = [c for c in display.axes_[a].collections if hasattr(c, "get_paths")][:1]
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(curve["low"].min())
    assert heights.max() == pytest.approx(curve["high"].max())
    assert display.axes_[job].containers  # error bars
    assert CurvesDisplay.from_estimator(model, bands=False).half_widths is None
    assert CurvesDisplay.from_estimator(StumpSVC().fit(X, y)).half_widths is None


def dotted(display):
    """Return the hatched regions of the first heat map that are dotted."""
    found = [c for c in display.axes_[0].collections if isinstance(c, QuadContourSet)]
    return [c for c in found if ".." in c.hatches]


def test_heat_maps_are_dotted_where_the_band_contains_zero(pairs):
    model, X, y = pairs
    display = SurfacesDisplay.from_estimator(model)
    assert display.level == 0.95
    label = display.figure_.axes[-1].get_xlabel().replace("\n", " ")
    assert "dotted: 0 is within the 95% band" in label
    (surface,), (errors,) = model.shapes_.surfaces, model.standard_errors_.surfaces
    regions = dotted(display)
    mesh = next(c for c in display.axes_[0].collections if isinstance(c, QuadMesh))
    corners = mesh.get_coordinates()
    x, v = (
        (corners[0, :-1, 0] + corners[0, 1:, 0]) / 2,
        (corners[:-1, 0, 1] + corners[1:, 0, 1]) / 2,
    )
    n_dotted = n_plain = 0
    for a in x[5::10]:
        for b in v[5::10]:
            is_dotted = any(p.contains_point((a, b)) for r in regions for p in r.get_paths())
            value, half = (float(own(np.array([[a, b]]))[0]) for own in (surface, errors))
            if abs(abs(value) - norm.ppf(0.975) * half) > 0.02 * half:
                expected = abs(value) < norm.ppf(0.975) * half
                assert is_dotted <= expected  # regions without samples are hatched instead
                n_dotted, n_plain = n_dotted + is_dotted, n_plain + (not is_dotted)
    assert n_dotted > 5 and n_plain > 5
    narrow = SurfacesDisplay.from_estimator(model, bands=0.01)
    assert narrow.level == 0.01
    plain = SurfacesDisplay.from_estimator(model, bands=False)
    assert plain.level is None and not dotted(plain)
    assert "dotted" not in plain.figure_.axes[-1].get_xlabel()
    without = StumpLogisticRegression(interactions=[("a", "b")], interaction_bins=6).fit(X, y)
    assert SurfacesDisplay.from_estimator(without).level is None
    with pytest.raises(ValueError, match=r"call compute_bands\(X, y\) first"):
        SurfacesDisplay.from_estimator(without, bands=True)


def test_slices_of_triples_have_their_bands():
    X, y = mixed_table(200)
    model = StumpLogisticRegression(interactions=[("a", "b", "job")], interaction_bins=4)
    model.fit(X, y).compute_bands(X, y, n_samples=10)
    display = SurfacesDisplay.from_estimator(model, terms=["a × b × job"])
    index = [s.features for s in model.shapes_.surfaces].index((0, 1, 2))
    errors = model.standard_errors_.surfaces[index].values
    for panel in display.panels:
        assert panel.half_widths.shape == panel.surface.values.shape
        ratios = np.abs(errors * norm.ppf(0.975) - panel.half_widths[:, :, None]).max(axis=(0, 1))
        assert ratios.min() < 1e-12


def test_the_order_of_classes_does_not_matter():
    """The command puts the positive class second, and fits models to indices of classes."""
    X, y = mixed_table(200)
    model = fit_with_class_order(StumpLogisticRegression(), X, y, np.array(["yes", "no"]))
    expected = StumpLogisticRegression().fit(X, y).compute_bands(X, y)
    errors = model.compute_bands(X, y).standard_errors_
    for one, other in zip(errors, expected.standard_errors_, strict=True):
        np.testing.assert_allclose(one.values, other.values, rtol=1e-6)


def test_model_files_keep_standard_errors(pairs, tmp_path):
    model, _, _ = pairs
    save(model, tmp_path / "model.stump")
    again = load(tmp_path / "model.stump")
    pd.testing.assert_frame_equal(again.curve("job", bands=True), model.curve("job", bands=True))
    pd.testing.assert_frame_equal(
        again.surface("a × b", bands=True), model.surface("a × b", bands=True)
    )


def test_model_files_with_other_knots_are_rejected(pairs, tmp_path):
    model = copy(pairs[0])
    shapes = model.standard_errors_.shapes
    fewer = replace(shapes[0], knots=shapes[0].knots[1:], values=shapes[0].values[1:])
    model.standard_errors_ = replace(model.standard_errors_, shapes=(fewer, *shapes[1:]))
    with pytest.raises(ModelFileError, match="standard_errors_ must have the knots"):
        save(model, tmp_path / "model.stump")
        load(tmp_path / "model.stump")


def test_a_loaded_model_computes_bands(tmp_path):
    X, y = mixed_table(200)
    model = StumpLogisticRegressionCV(interactions=0, Cs=[0.1, 1.0]).fit(X, y)
    save(model, tmp_path / "model.stump")
    again = load(tmp_path / "model.stump").compute_bands(X, y)
    expected = model.compute_bands(X, y)
    pd.testing.assert_frame_equal(again.curve("a", bands=True), expected.curve("a", bands=True))


def test_models_fitted_to_chunks():
    """Their bins may differ from those of the whole table: errors are those at their knots."""
    rng = np.random.default_rng(0)
    X, f = additive(2000, rng)
    y = f > 0
    model = StumpLogisticRegression(max_bins=32).fit_chunks(
        [(X[:1000], y[:1000]), (X[1000:], y[1000:])]
    )
    whole = StumpLogisticRegression(max_bins=32).fit(X, y).compute_bands(X, y)
    errors = model.compute_bands(X, y).standard_errors_
    x = np.linspace(-1, 1, 50)
    np.testing.assert_allclose(errors[0](x), whole.standard_errors_[0](x), rtol=0.1)


def test_a_fit_and_an_edit_remove_standard_errors(pairs):
    model, X, y = pairs
    edited = model.flatten_curve("a")
    with pytest.raises(ValueError, match="was edited and has no standard errors"):
        edited.curve("a", bands=True)
    with pytest.raises(ValueError, match="was edited"):
        edited.compute_bands(X, y)
    fresh = StumpLogisticRegression().fit(X, y).compute_bands(X, y).fit(X, y)
    assert not hasattr(fresh, "standard_errors_")
    with pytest.raises(ValueError, match=r"call compute_bands\(X, y\) first"):
        fresh.curve("a", bands=True)


def test_errors():
    X, y = mixed_table(100)
    model = StumpLogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="not the training samples"):
        model.compute_bands(X[:50], y[:50])
    with pytest.raises(ValueError, match="not the training samples"):
        model.compute_bands(X, y, np.full(100, 2.0))
    with pytest.raises(ValueError, match="method='wald' must be"):
        model.compute_bands(X, y, method="wald")
    with pytest.raises(ValueError, match="n_samples=1 must be"):
        model.compute_bands(X, y, n_samples=1)
    model.compute_bands(X, y)
    with pytest.raises(ValueError, match=r"bands=1\.5 must be a boolean"):
        model.curve("a", bands=1.5)
    numbers = X[["a"]].to_numpy()
    hard = StumpSVC(loss="squared_hinge", C=np.inf).fit(numbers, numbers[:, 0] > 0)
    with pytest.raises(ValueError, match="C=inf: a hard margin"):
        hard.compute_bands(numbers, numbers[:, 0] > 0)
    boosted = StumpBoostingClassifier().fit(numbers, y)
    with pytest.raises(ValueError, match="has no standard errors; use a stump ensemble"):
        boosted.curve("x0", bands=True)
