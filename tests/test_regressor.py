"""StumpRegressor and StumpRegressorCV: invariances, targets, paths, input errors."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from mixed_tables import mixed_table
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.metrics import get_scorer, mean_pinball_loss
from sklearn.model_selection import KFold, cross_val_score

from everystump import StumpRegressor, StumpRegressorCV
from everystump.chunks import FileChunks

LOSSES = ["squared", "huber", "absolute", "quantile", "epsilon_insensitive", "poisson", "gamma"]
EVERY_LOSS = pytest.mark.parametrize("loss", LOSSES)
IDENTITY = pytest.mark.parametrize("loss", LOSSES[:5])
LOG = pytest.mark.parametrize("loss", LOSSES[5:])


def make(loss, **parameters):
    quantile = 0.8 if loss == "quantile" else 0.5
    return StumpRegressor(**{"loss": loss, "quantile": quantile, "tol": 1e-8, **parameters})


@pytest.fixture(scope="module")
def table():
    """Numbers, ties, levels and missing values, and positive targets of about 1."""
    X, label = mixed_table(0)
    rng = np.random.default_rng(0)
    y = np.exp(0.5 * label + 0.4 * np.nan_to_num(X[:, 0]) + 0.3 * rng.normal(size=len(X)))
    return X, y


def close(model, other, X, factor=1.0, shift=0.0, rtol=1e-4):
    """Check predictions up to the square root of the tolerance of the fits."""
    expected = factor * other.predict(X) + shift
    spread = np.ptp(expected) or 1.0
    np.testing.assert_allclose(model.predict(X), expected, rtol=rtol, atol=rtol * spread)


# Invariances


@EVERY_LOSS
def test_weights_are_repetitions(loss, table):
    X, y = table
    weight = np.random.default_rng(1).integers(0, 4, size=len(y))
    parameters = {"C": 2.0, "categorical_features": [2]}
    weighted = make(loss, **parameters).fit(X, y, sample_weight=weight)
    repeated = make(loss, **parameters).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    close(weighted, repeated, X)
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-7)
    assert np.all(weighted.dual_coef_[weight == 0] == 0)


@IDENTITY
@pytest.mark.parametrize("factor", [1e-300, 1e-9, 0.01, 1e12, 1e300])
def test_units_do_not_matter(loss, factor, table):
    X, y = table
    model, other = make(loss).fit(X, y * factor), make(loss).fit(X, y)
    close(model, other, X, factor)
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-6)
    assert model.target_scale_ == pytest.approx(factor * other.target_scale_)


@LOG
@pytest.mark.parametrize("factor", [1e-300, 1e-9, 1e12, 1e300])
def test_units_do_not_matter_with_a_log_link(loss, factor, table):
    X, y = table
    close(make(loss).fit(X, y * factor), make(loss).fit(X, y), X, factor)


@IDENTITY
@pytest.mark.parametrize("shift", [-3.0, 1e6, 1e10])
def test_offsets_do_not_matter(loss, shift, table):
    X, y = table
    model = make(loss).fit(X, y + shift)
    close(model, make(loss).fit(X, y), X, shift=shift, rtol=1e-3)


@pytest.mark.parametrize("loss", ["squared", "huber", "absolute", "epsilon_insensitive"])
def test_signs_do_not_matter(loss):
    """The mirror image of the targets has the mirror image as its fit.

    With an odd number of targets: otherwise there are two medians.
    """
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(61, 3)), rng.normal(size=61)
    close(make(loss).fit(X, -y), make(loss).fit(X, y), X, factor=-1.0, rtol=1e-3)


@pytest.mark.parametrize("epsilon", [1.0, 5.0])
def test_a_tube_that_holds_all_targets(epsilon):
    """A constant is perfect, and the certificate says so; on 50 random tables."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        y = rng.integers(-2, 3, size=rng.integers(2, 30)).astype(float)
        X = rng.normal(size=(len(y), 2))
        model = make("epsilon_insensitive", epsilon=epsilon * np.ptp(y)).fit(X, y)
        assert model.certificate_.converged


def test_quantiles_of_the_mirror_image():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(61, 3)), rng.normal(size=61)
    low, high = (
        StumpRegressor(loss="quantile", quantile=q, tol=1e-8).fit(X, s * y)
        for q, s in [(0.2, 1), (0.8, -1)]
    )
    close(high, low, X, factor=-1.0, rtol=1e-3)


def test_absolute_error_is_twice_the_median_quantile():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    median = StumpRegressor(2.0, loss="quantile", quantile=0.5, tol=1e-8).fit(X, y)
    close(median, StumpRegressor(1.0, loss="absolute", tol=1e-8).fit(X, y), X)


def test_the_order_of_rows_does_not_matter(table):
    X, y = table
    order = np.random.default_rng(0).permutation(len(y))
    for loss in LOSSES:
        model, other = make(loss).fit(X, y), make(loss).fit(X[order], y[order])
        close(model, other, X)


# Special targets


@EVERY_LOSS
@pytest.mark.parametrize("value", [3.0, 0.1, 1e-9, 1e12])
@pytest.mark.parametrize("weighted", [False, True])
def test_constant_targets(loss, value, weighted, table):
    """The prediction is the constant, and the optimum 0."""
    X, _ = table
    weight = np.linspace(0.1, 3, len(X)) if weighted else None
    model = make(loss).fit(X, np.full(len(X), value), sample_weight=weight)
    np.testing.assert_allclose(model.predict(X), value, rtol=1e-12)
    assert model.certificate_.converged


@EVERY_LOSS
def test_one_row(loss):
    model = make(loss).fit([[1.0, 2.0]], [5.0])
    np.testing.assert_allclose(model.predict([[1.0, 2.0], [0.0, 9.0]]), 5.0, rtol=1e-9)


@EVERY_LOSS
def test_constant_features(loss):
    """The prediction is what the loss estimates of a single sample of targets."""
    y = np.random.default_rng(0).gamma(2.0, size=101)
    prediction = make(loss).fit(np.ones((101, 2)), y).predict([[1.0, 1.0]])[0]
    mean, median = y.mean(), np.median(y)
    expected = {
        "squared": mean,
        "poisson": mean,
        "gamma": mean,
        "absolute": median,
        "quantile": np.quantile(y, 0.8, method="inverted_cdf"),
    }
    if loss in expected:
        assert prediction == pytest.approx(expected[loss], rel=1e-4)
    else:
        assert y.min() < prediction < y.max()


@pytest.mark.parametrize("loss", ["squared", "absolute", "poisson"])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, np.float16, object])
def test_targets_of_any_number_type(loss, dtype):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, size=50)
    model = make(loss).fit(X, y.astype(dtype))
    assert model.predict(X).dtype == np.float64
    np.testing.assert_array_equal(model.predict(X), make(loss).fit(X, y).predict(X))


@pytest.mark.parametrize(
    "convert",
    [
        list,
        pd.Series,
        lambda y: pd.Series(y, dtype="Float64"),
        lambda y: pd.Series(y, dtype="double[pyarrow]"),
        lambda y: pd.Series(y.astype(int), dtype="Int32"),
        lambda y: pd.Series(y.astype(int).astype(str)),
        pl.Series,
        lambda y: pl.Series(y.astype(int)),
        pa.array,
        lambda y: pa.chunked_array([y[:20], y[20:]]),
        lambda y: pd.DataFrame({"y": y})["y"],
    ],
)
def test_targets_of_any_container(convert):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 5, size=50).astype(float)
    expected = StumpRegressor().fit(X, y).predict(X)
    np.testing.assert_array_equal(StumpRegressor().fit(X, convert(y)).predict(X), expected)


def test_a_column_of_targets_is_read_with_a_warning():
    """As in scikit-learn."""
    X, y = np.arange(6.0)[:, None], np.arange(6.0)
    with pytest.warns(DataConversionWarning):
        model = StumpRegressor().fit(X, y[:, None])
    np.testing.assert_array_equal(model.predict(X), StumpRegressor().fit(X, y).predict(X))


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({}, [1, np.nan, 3], "y: the target of row 1 is nan"),
        ({}, [1, np.inf, 3], "y: the target of row 1 is inf"),
        ({}, ["1", "two", "3"], "y: the target of row 1 is 'two', which is not a number"),
        ({}, [1, None, 3], "y: the target of row 1 is (None|nan)"),
        ({}, pd.Series([1, None, 3], dtype="Float64"), "y: the target of row 1 is <NA>"),
        ({}, pd.Series(pd.period_range("2024", periods=3, freq="M")), "y contains dates or times"),
        ({}, np.ones((3, 2)), "y should be a 1d array|y has shape"),
        ({}, [1, 2], "inconsistent numbers of samples"),
        ({}, np.array([1, 2j, 3]), "Complex data not supported: y must .* numbers.$"),
        ({"loss": "poisson"}, [1, -2, 3], 'y: loss="poisson" needs targets that are not negative'),
        ({"loss": "poisson"}, [0, 0, 0], "but these are only zeros; use"),
        ({"loss": "gamma"}, [1, 0, 3], 'y: loss="gamma" needs positive targets, and 0 is'),
        ({"loss": "quantile", "quantile": 1}, [1, 2, 3], "'quantile' parameter"),
        ({"loss": "quantile", "quantile": 0}, [1, 2, 3], "'quantile' parameter"),
        ({"epsilon": -0.1}, [1, 2, 3], "'epsilon' parameter"),
        ({"loss": "huber", "epsilon": 0.0}, [1, 2, 3], 'epsilon=0: loss="huber"'),
        ({"loss": "deviance"}, [1, 2, 3], "'loss' parameter"),
        ({"C": np.inf}, [1, 2, 3], "'C' parameter"),
        ({"C": 0}, [1, 2, 3], "'C' parameter"),
    ],
)
def test_invalid_input_raises(parameters, y, message):
    with pytest.raises(ValueError, match=message):
        StumpRegressor(**parameters).fit([[1.0], [2.0], [3.0]], y)


# Models


@EVERY_LOSS
@pytest.mark.parametrize("sign", [1, -1])
def test_monotonic_curves(loss, sign, table):
    X, y = table
    model = make(loss, tol=1e-5, monotonic_cst=[sign, 0, 0, 0]).fit(X, y)
    grid = np.linspace(-4, 4, 200)
    assert np.all(sign * np.diff(model.shapes_[0](grid)) >= -1e-12)
    assert model.certificate_.converged
    rows = np.repeat(X[-1:], 200, axis=0)
    rows[:, 0] = grid
    assert np.all(sign * np.diff(model.predict(rows)) >= -1e-9)
    free = make(loss, tol=1e-5).fit(X, y)
    assert model.certificate_.primal >= free.certificate_.dual


@EVERY_LOSS
def test_without_an_intercept(loss, table):
    """There is no constant: the intercept is 0, and with a log link the scale is 1."""
    X, y = table
    model = make(loss, fit_intercept=False).fit(X, y)
    constant = make(loss, fit_intercept=False).fit(np.ones((len(y), 1)), y)
    assert model.certificate_.converged
    np.testing.assert_allclose(constant.predict([[1.0]]), 1.0 if loss in LOSSES[5:] else 0.0)


@EVERY_LOSS
def test_predictions_are_sums_of_curves(loss, table):
    X, y = table
    model = make(loss, interactions=2, categorical_features=[2]).fit(X, y)
    scores = model.shapes_.evaluate(X)
    assert model.link_ == ("log" if loss in LOSSES[5:] else "identity")
    np.testing.assert_allclose(model.predict(X), np.exp(scores) if model.link_ == "log" else scores)
    assert model.intercept_[0] == model.shapes_.intercept


@pytest.mark.parametrize(
    ("loss", "scoring"),
    [
        ("squared", "r2"),
        ("absolute", "neg_mean_absolute_error"),
        ("poisson", "neg_mean_poisson_deviance"),
        ("gamma", "neg_mean_gamma_deviance"),
    ],
)
def test_a_larger_cost_has_a_smaller_loss(loss, scoring, table):
    """The loss is that of scikit-learn's scorer."""
    X, y = table
    few, many = (make(loss, C=C, tol=1e-4).fit(X, y) for C in (0.01, 100.0))
    scorer = get_scorer(scoring)
    assert scorer(few, X, y) < scorer(many, X, y)


def test_quantiles_hold_back_their_fraction():
    """A fraction of about ``quantile`` of the training targets is below the prediction."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(2000, 2))
    y = X[:, 0] + (1.5 + X[:, 1]) * rng.standard_t(3, size=2000)
    for quantile in (0.1, 0.5, 0.9):
        model = StumpRegressor(0.1, loss="quantile", quantile=quantile).fit(X, y)
        assert np.mean(y <= model.predict(X)) == pytest.approx(quantile, abs=0.02)


def test_training_rows_are_recognized(table):
    X, y = table
    model = StumpRegressor().fit(X, y)
    assert model.training_overlap(X, y).same_table
    assert not model.training_overlap(X, y + 1).same_table


# Chunks


@EVERY_LOSS
def test_fit_chunks_is_fit(loss, table):
    X, y = table
    parts = np.array_split(np.arange(len(y)), 3)
    weight = np.linspace(1, 2, len(y))
    model = make(loss, categorical_features=[2]).fit(X, y, sample_weight=weight)
    chunks = [(X[part], y[part], weight[part]) for part in parts]
    other = make(loss, categorical_features=[2]).fit_chunks(chunks)
    close(other, model, X, rtol=1e-6)
    np.testing.assert_allclose(other.dual_coef_, model.dual_coef_, rtol=1e-5, atol=1e-6)
    assert other.training_overlap(X, y).n_matched == len(y)


def test_bad_chunks_raise():
    X = np.arange(6.0)[:, None]
    with pytest.raises(ValueError, match=r"target of row .* is nan"):
        StumpRegressor().fit_chunks([(X, np.arange(6.0)), (X, np.full(6, np.nan))])
    with pytest.raises(ValueError, match="gamma"):
        StumpRegressor(loss="gamma").fit_chunks([(X, np.arange(6.0)), (X, np.ones(6))])


def test_file_chunks(tmp_path, table):
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcd")).assign(target=y)
    path = tmp_path / "table.parquet"
    frame.to_parquet(path)
    model = StumpRegressor().fit_chunks(FileChunks(path, target="target"))
    close(model, StumpRegressor().fit(frame[list("abcd")], y), frame[list("abcd")], rtol=1e-6)


# Selection of C


@pytest.mark.parametrize(
    ("loss", "scoring"),
    [
        ("squared", "r2"),
        ("huber", "neg_mean_absolute_error"),
        ("absolute", "neg_mean_absolute_error"),
        ("epsilon_insensitive", "neg_mean_absolute_error"),
        ("quantile", "neg_mean_pinball_loss"),
        ("poisson", "neg_mean_poisson_deviance"),
        ("gamma", "neg_mean_gamma_deviance"),
    ],
)
def test_scores_of_the_path_are_those_of_single_fits(loss, scoring, table):
    """The default scorer is that of the loss; folds are scored as `cross_val_score` does."""
    X, y = table
    cv = KFold(3, shuffle=True, random_state=0)
    parameters = {"loss": loss, "quantile": 0.8, "tol": 1e-6, "max_bins": 1000, "measure": "mixed"}
    model = StumpRegressorCV(
        Cs=[0.1, 1.0], cv=cv, interactions=0, feature_weights="equal", **parameters
    ).fit(X, y)
    assert model.scoring_ == scoring
    scorer = scoring
    if loss == "quantile":

        def scorer(estimator, X, y):
            return -mean_pinball_loss(y, estimator.predict(X), alpha=0.8)

    # Scales and bins of a fold are those of all rows in the path: scores differ slightly.
    expected = cross_val_score(StumpRegressor(model.C_, **parameters), X, y, cv=cv, scoring=scorer)
    assert model.best_score_ == pytest.approx(expected.mean(), rel=0.1)
    close(model, StumpRegressor(model.C_, **parameters).fit(X, y), X, rtol=1e-2)


def test_scoring_overrules_the_default(table):
    X, y = table
    parameters = {"Cs": [0.01, 1.0], "cv": 3, "interactions": 0, "random_state": 0}
    default = StumpRegressorCV(**parameters).fit(X, y)
    named = StumpRegressorCV(scoring="r2", **parameters).fit(X, y)
    error = StumpRegressorCV(scoring="neg_root_mean_squared_error", **parameters).fit(X, y)
    own = StumpRegressorCV(scoring=lambda model, X, y: -model.C, **parameters).fit(X, y)
    assert default.best_score_ == pytest.approx(named.best_score_, rel=1e-6)
    assert error.scoring_ == "neg_root_mean_squared_error"
    assert error.best_score_ < 0
    assert own.C_ == 0.01
    with pytest.raises(ValueError, match="scoring"):
        StumpRegressorCV(scoring="no such score", **parameters).fit(X, y)


def test_splitters_and_iterables(table):
    X, y = table
    splitter = KFold(4)
    given = StumpRegressorCV(Cs=[0.1, 1.0], cv=splitter).fit(X, y)
    listed = StumpRegressorCV(Cs=[0.1, 1.0], cv=list(splitter.split(X))).fit(X, y)
    assert given.C_ == listed.C_
    np.testing.assert_array_equal(
        given.cv_results_["mean_test_score"], listed.cv_results_["mean_test_score"]
    )
    assert StumpRegressorCV(Cs=[1.0], cv=2).fit(X, y).C_ == 1.0


def test_one_row_has_no_folds():
    with pytest.raises(ValueError, match="only 1 sample"):
        StumpRegressorCV().fit([[1.0]], [2.0])


@EVERY_LOSS
def test_folds_with_constant_targets_converge(loss):
    """Their optimum is 0, and the gap is all of the rounding error."""
    X, y = np.arange(6.0)[:, None], np.array([1.0, 1.0, 1.0, 4.0, 4.0, 7.0])
    folds = [([0, 1, 2], [3, 4, 5]), ([3, 4], [0, 1])]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        StumpRegressorCV(Cs=[0.1, 1.0], loss=loss, cv=folds).fit(X, y)


@pytest.mark.parametrize("n", [4, 5, 7, 12])
def test_folds_have_two_rows(n):
    """R² of a single row is undefined, and a warning of scikit-learn."""
    X = np.arange(float(n))[:, None]
    model = StumpRegressorCV(Cs=[0.1, 1.0]).fit(X, X[:, 0])
    n_folds = sum(name.startswith("split") for name in model.cv_results_)
    assert n_folds == min(5, n // 2)
    assert np.all(np.isfinite(model.cv_results_["mean_test_score"]))


@EVERY_LOSS
@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_paths_of_tiny_and_huge_targets(loss, unit, table):
    """Scores of folds are those of targets of about 1, without overflow of squares."""
    X, y = table
    parameters = {"loss": loss, "Cs": [0.01, 0.1, 1.0], "cv": 3, "interactions": 0}
    plain, scaled = (
        StumpRegressorCV(**parameters, random_state=0).fit(X, u * y) for u in (1.0, unit)
    )
    assert scaled.C_ == plain.C_
    degree = 0 if loss in ("squared", "gamma") else 1
    np.testing.assert_allclose(
        scaled.cv_results_["mean_test_score"],
        plain.cv_results_["mean_test_score"] * unit**degree,
        rtol=1e-6,
    )
    np.testing.assert_allclose(
        scaled.cv_results_["std_test_score"],
        plain.cv_results_["std_test_score"] * unit**degree,
        rtol=1e-5,
    )


@EVERY_LOSS
def test_the_path_finds_a_good_model(loss):
    """Better than the constant and reasonably accurate, on an additive signal."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 4))
    y = np.exp(np.sin(3 * X[:, 0]) + X[:, 1] ** 2) * rng.gamma(20, 0.05, size=300)
    model = StumpRegressorCV(loss=loss, random_state=0).fit(X[:200], y[:200])
    assert model.certificate_.converged
    assert model.score(X[200:], y[200:]) > 0.6


@EVERY_LOSS
def test_cv_with_weights_missing_values_and_chunks(loss, table):
    X, y = table
    weight = np.linspace(1, 2, len(y))
    parameters = {"loss": loss, "Cs": [0.1, 1.0], "cv": 3, "interactions": 0, "random_state": 0}
    model = StumpRegressorCV(**parameters).fit(X, y, sample_weight=weight)
    chunks = [(X[:40], y[:40], weight[:40]), (X[40:], y[40:], weight[40:])]
    other = StumpRegressorCV(**parameters).fit_chunks(chunks)
    assert other.C_ == model.C_
    close(other, model, X, rtol=1e-3)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("loss", "weight"), [("poisson", 1e6), ("gamma", 1e8)])
def test_paths_to_large_costs(loss, weight, seed):
    """Scores of the last C would be far too large in the span of the rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (30, 3)).astype(float)
    mean = np.exp(X[:, 0] / 2 + 0.5 * rng.normal(size=30))
    y = rng.poisson(mean / 3).astype(float) if loss == "poisson" else mean
    model = StumpRegressorCV(loss=loss, interactions=0, feature_weights="equal")
    model.fit(X, y, sample_weight=np.full(30, weight))
    assert model.certificate_.converged
    assert np.all(np.isfinite(model.predict(X)))


@pytest.mark.parametrize("loss", ["absolute", "quantile", "epsilon_insensitive"])
def test_interactions_of_a_constant_target(loss):
    """No sample has a residual, so no interaction would help."""
    X = np.random.default_rng(0).integers(0, 4, (30, 4)).astype(float)
    model = StumpRegressor(loss=loss, interactions=2).fit(X, np.full(30, 3.0))
    np.testing.assert_allclose(model.predict(X), 3.0)
    rare = np.eye(30)[0]  # constant in the training samples of a fold
    assert StumpRegressorCV(loss=loss, interactions=2).fit(X, rare).certificate_.converged
