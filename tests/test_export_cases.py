"""The models and rows that exports are tested with, and the record that all exporters read."""

import warnings
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

import everystump as es
from everystump._core.shapes import Shape
from everystump.export import score_json, to_json
from everystump.export._reader import read_model

pd = pytest.importorskip("pandas", reason="the tables of these tests are pandas frames")

# A quote, a double quote, letters outside ASCII, and SQL keywords.
COLUMNS = {"number": "select", "steps": 'a "b"', "flat": "flat", "rough": "Größe 3", "none": "x y"}
TEXT, FLAG, CODE = "O'Brien's", "label", "code;--"
WORDS = ["a", "O'Brien", 'say "no"', "ü→", " "]


class Case(NamedTuple):
    """A fitted model and rows to score."""

    model: object
    rows: object


def numbers(n, rng):
    """Return columns of numbers: dense, few values, constant, long tails, small integers."""
    return {
        COLUMNS["number"]: rng.normal(size=n),
        COLUMNS["steps"]: rng.integers(0, 4, size=n).astype(float),
        COLUMNS["flat"]: np.full(n, 2.5),
        COLUMNS["rough"]: rng.standard_cauchy(size=n),
        COLUMNS["none"]: rng.normal(size=n) * 1e-3,
    }


def table(n, seed, *, missing):
    """Return a frame with missing values and categories."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(numbers(n, rng))
    frame[TEXT] = rng.choice(np.array(WORDS[:4], dtype=object), size=n)
    frame[FLAG] = rng.choice([True, False], size=n)
    frame[CODE] = rng.choice([3, 10, 7], size=n)
    for name in [COLUMNS["number"], COLUMNS["rough"], TEXT][: 3 if missing else 0]:
        frame.loc[rng.random(n) < 0.15, name] = None
    return frame


def labels(frame, n_classes):
    """Return labels that depend on numbers, words and codes."""
    word = frame[TEXT].map({w: k for k, w in enumerate(WORDS)}).fillna(2.0) if TEXT in frame else 0
    first = frame[COLUMNS["number"]].fillna(0.7)
    score = first + 0.6 * word + 0.4 * frame[COLUMNS["steps"]]
    return np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)


def rows_to_score(train, model, seed):
    """Return rows unlike those of training, and some exactly on the cuts of the model."""
    rng = np.random.default_rng(seed)
    rows = train.sample(60, random_state=seed).reset_index(drop=True)
    cuts = [float(cut) for cut in cuts_of(read_model(model).terms) if abs(cut) < 1e6][:40]
    for name in [name for name in COLUMNS.values() if name in rows]:
        spread = float(train[name].max() - train[name].min()) or 1.0
        rows.loc[0:4, name] = float(train[name].max()) + spread * rng.random(5)
        rows.loc[5:9, name] = float(train[name].min()) - spread * rng.random(5)
        rows.loc[10 : 9 + len(cuts), name] = cuts
        rows.loc[10 + len(cuts), name] = -0.0
    return rows


def cuts_of(terms):
    """Yield cuts and the floats just below them."""
    for curves in terms.curves:
        for shape in curves.values():
            cuts = shape.knots[:: max(1, len(shape.knots) // 6)]
            yield from cuts
            yield from np.nextafter(cuts, -np.inf)
    for surfaces in terms.surfaces:
        for surface in surfaces.values():
            for axis in surface.axes:
                yield from axis.knots[:: max(1, len(axis.knots) // 3)]
    for kernel_sum in terms.kernel_sums:
        for cuts in kernel_sum.parameters.get("cuts", []):
            yield from cuts[:3]


def with_unknowns(rows):
    """Return rows with levels and missing values that are not in the training data."""
    rows = rows.copy()
    rows[CODE] = rows[CODE].astype(float)
    rows.loc[50, CODE], rows.loc[51, CODE], rows.loc[52, CODE] = 4.0, 3.5, np.nan
    rows.loc[53, TEXT], rows.loc[54, TEXT], rows.loc[55, TEXT] = "A", "nobody", None
    rows.loc[56, COLUMNS["steps"]] = rows.loc[57, COLUMNS["flat"]] = np.nan
    rows.loc[58, [name for name in rows if name != FLAG]] = None
    return rows


def on_frames(estimator, n_classes=2, *, missing=True, names=("no", "it's", "ÿes")):
    train = table(220, 0, missing=missing)
    model = fit(estimator, train, np.array(names, dtype=object)[labels(train, n_classes)])
    return Case(model, with_unknowns(rows_to_score(train, model, 1)))


def on_numbers(estimator, n_classes=2):
    train = pd.DataFrame(numbers(160, np.random.default_rng(2)))
    model = fit(estimator, train, labels(train, n_classes) * 3 - 1)
    return Case(model, rows_to_score(train, model, 3))


def on_arrays(estimator, n_classes=2):
    """Features of an array are named x0, x1 and so on."""
    train = pd.DataFrame(numbers(160, np.random.default_rng(4)))
    model = fit(estimator, train.to_numpy(), labels(train, n_classes) == 1)
    rows = rows_to_score(train, model, 5)
    return Case(model, rows.set_axis([f"x{d}" for d in range(rows.shape[1])], axis=1))


def fit(estimator, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y)


CODES = [TEXT, CODE]
BY_NAME = {"categorical_features": CODES}
SVC_ = partial(es.StumpSVC, C=0.3, **BY_NAME)
LOGISTIC = partial(es.StumpLogisticRegression, **BY_NAME)
MIDDLE = partial(es.StumpSVC, measure="middle", max_bins=16, **BY_NAME)
BOOSTING = partial(es.StumpBoostingClassifier, n_estimators=40, **BY_NAME)
VOTING = partial(es.SubsampleVotingClassifier, n_estimators=4, random_state=0)
KERNEL = partial(es.KernelSVC, C=2.0)
WEIGHTED = partial(es.WeightedVoteClassifier, random_state=0)
PAIRS = {"interactions": 12, "interaction_strength": 1.0, "interaction_bins": 9}
TRIPLES = [(0, 5, 7), (0, 1, 3), (3, 5), (2, 6, 7), (5, 7), (5, 6)]
SUBSETS = [[0, 1], [1, 2, 3], [4, 0]]
MIXED_SUBSETS = [[0, 5, 7], [6, 1, 2], [3, 5, 4]]

MAKERS = {
    "StumpSVC": lambda: on_frames(SVC_()),
    "StumpSVC, 3 classes": lambda: on_frames(SVC_(), 3),
    "StumpSVC, nothing missing in training": lambda: on_frames(SVC_(), missing=False),
    "StumpSVC, middle": lambda: on_frames(MIDDLE()),
    "StumpSVC, no intercept": lambda: on_frames(SVC_(fit_intercept=False, measure="uniform")),
    "StumpSVC, arrays": lambda: on_arrays(es.StumpSVC()),
    "StumpSVC, interactions": lambda: on_frames(SVC_(**PAIRS)),
    "StumpSVC, interactions, 3 classes": lambda: on_frames(SVC_(**PAIRS), 3),
    "StumpSVC, interactions, nothing missing in training": lambda: on_frames(
        SVC_(**PAIRS), missing=False
    ),
    "StumpSVC, interactions, middle": lambda: on_frames(MIDDLE(**PAIRS)),
    "StumpSVC, interactions, arrays": lambda: on_arrays(es.StumpSVC(**PAIRS)),
    "StumpLogisticRegression, interactions of three features": lambda: on_frames(
        LOGISTIC(interactions=TRIPLES, interaction_bins=6)
    ),
    "StumpSVCCV": lambda: on_frames(es.StumpSVCCV(Cs=[0.1, 1.0], cv=2, interactions=0, **BY_NAME)),
    "StumpLogisticRegression": lambda: on_frames(LOGISTIC()),
    "StumpLogisticRegression, 3 classes": lambda: on_frames(LOGISTIC(multi_class="multinomial"), 3),
    "StumpLogisticRegression, one-vs-rest": lambda: on_frames(LOGISTIC(multi_class="ovr"), 3),
    "StumpLogisticRegressionCV": lambda: on_frames(
        es.StumpLogisticRegressionCV(Cs=[0.1, 1.0], cv=2, interactions=0, **BY_NAME)
    ),
    "DecisionStumpClassifier": lambda: on_frames(es.DecisionStumpClassifier(**BY_NAME)),
    "DecisionStumpClassifier, arrays": lambda: on_arrays(es.DecisionStumpClassifier()),
    "StumpBoostingClassifier": lambda: on_frames(BOOSTING()),
    "StumpBoostingClassifier, 3 classes": lambda: on_frames(BOOSTING("logistic"), 3),
    "StumpBaggingClassifier": lambda: on_frames(
        es.StumpBaggingClassifier(30, random_state=0, **BY_NAME)
    ),
    "StumpBaggingClassifier, 3 classes": lambda: on_frames(
        es.StumpBaggingClassifier(30, features="random", random_state=0, **BY_NAME), 3
    ),
    "BoostedStumpSVC": lambda: on_frames(es.BoostedStumpSVC(20, **BY_NAME)),
    "BoostedStumpSVC, 3 classes": lambda: on_frames(es.BoostedStumpSVC(20, **BY_NAME), 3),
    **{
        f"KernelSVC, {kernel}": partial(lambda k: on_numbers(KERNEL(k)), kernel)
        for kernel in ["gaussian", "laplacian", "linear", "middle", "perceptron", "stump"]
    },
    "KernelSVC, stump, no intercept": lambda: on_numbers(KERNEL("stump", fit_intercept=False)),
    "KernelSVC, gaussian, 3 classes": lambda: on_numbers(KERNEL("gaussian"), 3),
    "KernelSVC, middle, 3 classes": lambda: on_numbers(KERNEL("middle"), 3),
    "PerceptronSVC, exact": lambda: on_numbers(es.PerceptronSVC()),
    "PerceptronSVC, unscaled": lambda: on_numbers(es.PerceptronSVC(scale=False)),
    "PerceptronSVC": lambda: on_numbers(
        es.PerceptronSVC(n_directions=30, exact=False, random_state=0)
    ),
    "PerceptronSVC, 3 classes": lambda: on_numbers(
        es.PerceptronSVC(n_directions=20, include_axes=True, random_state=0), 3
    ),
    "SubsampleVoting, shapes": lambda: on_frames(VOTING(SVC_())),
    "SubsampleVoting, shapes, votes": lambda: on_frames(VOTING(SVC_(), outputs="votes")),
    "SubsampleVoting, shapes, votes, 3 classes": lambda: on_frames(
        VOTING(BOOSTING(), outputs="votes", combine="svm"), 3
    ),
    "SubsampleVoting, shapes, subsets": lambda: on_frames(
        VOTING(es.StumpSVC(), feature_subsets=MIXED_SUBSETS)
    ),
    "SubsampleVoting, interactions": lambda: on_frames(VOTING(SVC_(**PAIRS))),
    "SubsampleVoting, interactions, votes, 3 classes": lambda: on_frames(
        VOTING(SVC_(**PAIRS), outputs="votes"), 3
    ),
    "SubsampleVoting, kernels": lambda: on_numbers(
        VOTING([KERNEL("gaussian"), KERNEL("laplacian", gamma=0.1)])
    ),
    "SubsampleVoting, kernels, svm, 3 classes": lambda: on_numbers(
        VOTING(KERNEL("gaussian"), combine="svm"), 3
    ),
    "SubsampleVoting, kernels, subsets": lambda: on_numbers(
        VOTING([KERNEL("middle"), KERNEL("perceptron")], feature_subsets=SUBSETS)
    ),
    "SubsampleVoting, kernels, votes, 3 classes": lambda: on_numbers(
        VOTING(KERNEL("stump"), outputs="votes"), 3
    ),
    "SubsampleVoting, perceptrons": lambda: on_numbers(
        VOTING(es.PerceptronSVC(n_directions=9, exact=False), n_estimators=2)
    ),
    "WeightedVote": lambda: on_frames(
        WEIGHTED([("svc", SVC_()), ("boosting", BOOSTING()), ("stump", MIDDLE())])
    ),
    "WeightedVote, interactions": lambda: on_frames(
        WEIGHTED([("svc", SVC_(**PAIRS)), ("boosting", BOOSTING()), ("stump", MIDDLE(**PAIRS))])
    ),
    "WeightedVote, 3 classes": lambda: on_numbers(
        WEIGHTED([("svc", KERNEL()), ("stumps", es.StumpSVC()), ("votes", VOTING(KERNEL()))]), 3
    ),
    "WeightedVote, votes of votes": lambda: on_frames(
        WEIGHTED([("one", WEIGHTED([("a", SVC_()), ("b", BOOSTING())])), ("two", LOGISTIC())])
    ),
    "LooBoundSearch": lambda: on_numbers(
        es.LooBoundSearch(KERNEL(fit_intercept=False), {"gamma": [0.01, 0.1]})
    ),
    "LooBoundSearch, StumpSVC": lambda: on_frames(
        es.LooBoundSearch(SVC_(fit_intercept=False), {"C": [0.1, 0.5]})
    ),
}
NAMES = list(MAKERS)


def on_targets(estimator, *, missing=True):
    """Fit a regressor to positive numbers that depend on numbers, words and codes."""
    train = table(220, 0, missing=missing)
    word = train[TEXT].map({w: k for k, w in enumerate(WORDS)}).fillna(2.0)
    score = train[COLUMNS["number"]].fillna(0.7) * (1.0 + word) + 0.4 * train[COLUMNS["steps"]]
    model = fit(estimator, train, np.exp(0.5 * score.to_numpy()))
    return Case(model, with_unknowns(rows_to_score(train, model, 1)))


def on_target_arrays(estimator):
    train = pd.DataFrame(numbers(160, np.random.default_rng(4)))
    model = fit(estimator, train.to_numpy(), 1e6 * train[COLUMNS["number"]] ** 2)
    rows = rows_to_score(train, model, 5)
    return Case(model, rows.set_axis([f"x{d}" for d in range(rows.shape[1])], axis=1))


REGRESSOR = partial(es.StumpRegressor, **BY_NAME)
REGRESSOR_MAKERS = {
    "StumpRegressor": lambda: on_targets(REGRESSOR()),
    "DecisionStumpRegressor": lambda: on_targets(es.DecisionStumpRegressor(**BY_NAME)),
    "StumpBoostingRegressor": lambda: on_targets(
        es.StumpBoostingRegressor(n_estimators=9, **BY_NAME)
    ),
    "StumpRegressor, nothing missing in training": lambda: on_targets(REGRESSOR(), missing=False),
    "StumpRegressor, quantile": lambda: on_targets(REGRESSOR(loss="quantile", quantile=0.8)),
    "StumpRegressor, poisson": lambda: on_targets(REGRESSOR(loss="poisson")),
    "StumpRegressor, gamma, middle": lambda: on_targets(
        REGRESSOR(loss="gamma", measure="middle", max_bins=16)
    ),
    "StumpRegressor, interactions": lambda: on_targets(REGRESSOR(**PAIRS)),
    "StumpRegressor, interactions, poisson": lambda: on_targets(
        REGRESSOR(loss="poisson", interactions=TRIPLES, interaction_bins=6)
    ),
    "StumpRegressor, arrays": lambda: on_target_arrays(es.StumpRegressor()),
    "StumpRegressorCV": lambda: on_targets(
        es.StumpRegressorCV(Cs=[0.1, 1.0], cv=2, interactions=0, **BY_NAME)
    ),
}
REGRESSOR_NAMES = list(REGRESSOR_MAKERS)
WITH_PROBABILITIES = [name for name in NAMES if "Logistic" in name or "StumpBoosting" in name]
WITHOUT_MISSING = ["KernelSVC, gaussian", "PerceptronSVC", "SubsampleVoting, kernels, subsets"]


@cache
def case(name):
    """Return a model and its rows, fitted once for all tests."""
    return (MAKERS | REGRESSOR_MAKERS)[name]()


def call(method, rows):
    """Call a method of a model with a frame or an array, as in training."""
    return method(rows if hasattr(method.__self__, "feature_names_in_") else rows.to_numpy())


def scores_of(model, rows):
    """Return the scores of Python, (n_rows, n_scores)."""
    return call(model.decision_function, rows).reshape(len(rows), -1)


def assert_close(found, expected, tolerance):
    """Compare scores, with a tolerance relative to the largest."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def is_clear(model, rows):
    """Return which rows have scores so far from a tie that rounding cannot change the label."""
    score = scores_of(model, rows)
    if score.shape[1] == 1:
        return np.abs(score[:, 0]) > 1e-7
    ranked = np.sort(score, axis=1)
    return ranked[:, -1] - ranked[:, -2] > 1e-7


@pytest.mark.parametrize("name", NAMES)
def test_cases_predict_several_classes(name):
    """A constant model would test nothing."""
    found = case(name)
    assert len(np.unique(call(found.model.predict, found.rows))) > 1
    assert np.ptp(scores_of(found.model, found.rows)) > 0.1


def test_every_estimator_is_among_the_cases():
    tested = {type(case(name).model).__name__ for name in [*NAMES, *REGRESSOR_NAMES]}
    assert tested == {name for name in es.__all__ if isinstance(getattr(es, name), type)} - {
        "ModelFileError"
    }


def test_features_without_names_get_default_names():
    model = es.DecisionStumpClassifier().fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    assert read_model(model).names == ["x0", "x1"]


def test_zero_curves_are_left_out():
    record = read_model(case("DecisionStumpClassifier").model)
    assert len(record.terms.curves[0]) == 1


def test_members_on_feature_subsets_become_one_curve_per_feature():
    record = read_model(case("SubsampleVoting, shapes, subsets").model)
    assert not record.terms.votes
    assert len(record.terms.curves[0]) <= len(record.features)


def test_a_linear_kernel_has_one_support_vector():
    (kernel_sum,) = read_model(case("KernelSVC, linear").model).terms.kernel_sums
    assert kernel_sum.rows.shape == (1, 5)


def test_pieces_of_a_curve_with_ramps_and_jumps():
    knots = np.array([0.0, 1.0, 1.0, 2.0, 3.0])
    shape = Shape(knots, np.array([0.0, 1.0, 5.0, 5.0, 4.0]))
    cuts, level, slope, anchor = shape.pieces()
    assert cuts.tolist() == [0.0, 1.0, 2.0, 3.0]
    x = np.array([-1.0, 0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 9.0])
    k = np.searchsorted(cuts, x, side="right")
    assert np.array_equal(level[k] + slope[k] * (x - anchor[k]), shape(x))


def test_prefit_members_with_different_levels_and_column_orders():
    """Prefit members may have columns in another order and levels that others lack."""
    train = table(220, 0, missing=True)
    y = labels(train, 2)
    some = train[TEXT].isin(["a", "ü→"]) | train[TEXT].isna()
    first = fit(SVC_(), train[some], y[some])
    second = fit(BOOSTING(), train[train.columns[::-1]], y)
    vote = fit(WEIGHTED([("a", first), ("b", second)], prefit=True), train, y)
    assert sorted(read_model(vote).features[5].levels) == sorted(WORDS[:4])
    rows = with_unknowns(train.iloc[:60].reset_index(drop=True))
    plain = rows.astype(object).where(rows.notna(), None).to_dict("records")
    assert_close(score_json(to_json(vote), plain).score, vote.decision_function(rows), 1e-12)


def on_two_rows(estimator):
    return estimator.fit([[1.0, 0.0], [0.0, 1.0]], [0, 1])


def on_forty_rows(estimator):
    return estimator.fit(np.arange(40.0)[:, None], np.repeat([0, 1], 20))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (SVC, TypeError, "model=SVC.* is not an everystump model"),
        (es.StumpSVC, NotFittedError, "not fitted"),
        (es.KernelSVC, NotFittedError, "not fitted"),
        (
            lambda: on_two_rows(es.KernelSVC(lambda X, Y: X @ Y.T)),
            ValueError,
            "kernel=.*lambda.* cannot be exported",
        ),
        (
            lambda: on_two_rows(es.KernelSVC("precomputed")),
            ValueError,
            "kernel='precomputed' cannot be exported",
        ),
        (
            lambda: on_forty_rows(WEIGHTED([("svc", SVC()), ("stumps", es.StumpSVC())])),
            TypeError,
            "model=SVC.* is not an everystump model",
        ),
        (
            lambda: on_forty_rows(VOTING(SVC())),
            TypeError,
            "model=SVC.* is not an everystump model",
        ),
    ],
)
def test_models_that_cannot_be_exported_raise_one_sentence(make, error, message):
    with pytest.raises(error, match=message) as raised:
        read_model(make())
    assert "\n" not in str(raised.value)


def test_features_must_be_of_one_kind_for_all_members():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 5), [0, 0, 1, 1] * 5
    members = [es.StumpSVC(), es.StumpSVC(categorical_features=[0])]
    vote = WEIGHTED([("a", members[0].fit(X, y)), ("b", members[1].fit(X, y))], prefit=True)
    with pytest.raises(ValueError, match="feature 0 is not the same for all members"):
        read_model(vote.fit(X, y))


def test_names_that_are_equal_as_text():
    model = es.StumpSVC().fit(np.eye(2), [0, 1])
    model.feature_info_ = tuple(
        replace(f, name=n) for f, n in zip(model.feature_info_, (1, "1"), strict=True)
    )
    with pytest.raises(ValueError, match="two features have the name '1'"):
        read_model(model)
