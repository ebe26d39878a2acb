"""Models recognize their training rows, and no validation bound holds on them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from leave_out import PLAIN, rows
from scipy.stats import beta
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import everystump
from everystump import (
    LooBoundSearch,
    StumpBoostingClassifier,
    StumpSVC,
    SubsampleVotingClassifier,
    WeightedVoteClassifier,
)
from everystump._tables.overlap import TrainingRecord
from everystump._tables.row_hashes import hash_rows
from everystump.bounds import boosting_training_bound, loo_bound, validation_bound
from everystump.bounds._protocol import (
    HasTrainingOverlap,
    NotTrainingDataError,
    SubsampleEnsemble,
    SupportsKernelEnsembles,
    WarmStartable,
)

STUMPS = StumpSVC(n_jobs=1)
MODELS = {
    "StumpSVC": STUMPS,
    "StumpLogisticRegression": everystump.StumpLogisticRegression(n_jobs=1),
    "StumpSVCCV": everystump.StumpSVCCV(Cs=[0.1, 1.0], cv=2, n_jobs=1),
    "StumpLogisticRegressionCV": everystump.StumpLogisticRegressionCV(Cs=[1.0], cv=2, n_jobs=1),
    "KernelSVC": PLAIN,
    "PerceptronSVC": everystump.PerceptronSVC(),
    "PerceptronSVC, directions": everystump.PerceptronSVC(n_directions=9, exact=False),
    "DecisionStumpClassifier": everystump.DecisionStumpClassifier(),
    "StumpBoostingClassifier": StumpBoostingClassifier(n_estimators=3),
    "StumpBaggingClassifier": everystump.StumpBaggingClassifier(3, random_state=0),
    "BoostedStumpSVC": everystump.BoostedStumpSVC(3),
    "SubsampleVotingClassifier": SubsampleVotingClassifier(
        PLAIN, n_estimators=3, subsample=0.8, random_state=0, n_jobs=1
    ),
    "learned weights": SubsampleVotingClassifier(
        STUMPS, n_estimators=3, subsample=0.8, combine="svm", random_state=0, n_jobs=1
    ),
    "WeightedVoteClassifier": WeightedVoteClassifier([("stumps", STUMPS)], random_state=0),
    "LooBoundSearch": LooBoundSearch(PLAIN, {"C": [0.1]}),
    "pipeline": make_pipeline(StandardScaler(), STUMPS),
    "search": GridSearchCV(STUMPS, {"C": [0.1, 1.0]}, cv=2),
    "pipeline in a search": GridSearchCV(
        make_pipeline(StandardScaler(), STUMPS), {"stumpsvc__C": [0.1]}, cv=2
    ),
}
X0, Y0 = rows(0, n=40)
FRESH, FRESH_Y = rows(1, n=40)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:estimators. no classifier is better")
def test_no_bound_holds_on_training_rows(name):
    model = clone(MODELS[name]).fit(X0, Y0)
    order = np.random.default_rng(0).permutation(40)
    bound = validation_bound(model, X0, Y0)
    assert not bound.holds
    assert bound.violations == ("these are the training rows of the model",)
    shuffled = validation_bound(model, X0[order], Y0[order])
    assert not shuffled.holds and shuffled.violations == bound.violations
    some = validation_bound(model, X0[order[:20]], Y0[order[:20]])
    assert "about 100% of these rows equal" in some.violations[0]
    mixed = np.r_[X0[:10], FRESH], np.r_[Y0[:10], FRESH_Y]
    assert "about 20% of these rows equal" in validation_bound(model, *mixed).violations[0]
    fresh = validation_bound(model, FRESH, FRESH_Y)
    assert fresh.holds and fresh.violations == ()


def test_a_few_training_rows_count_as_errors():
    """However they are classified, two training rows add two errors."""
    model = clone(STUMPS).fit(X0, Y0)
    alone = validation_bound(model, FRESH, FRESH_Y)
    mixed = validation_bound(model, np.r_[X0[:2], FRESH], np.r_[Y0[:2], FRESH_Y])
    n_wrong = round(40 * alone.observed + np.sum(model.predict(X0[:2]) != Y0[:2]))
    assert mixed.holds and mixed.observed == n_wrong / 42
    assert mixed.value == pytest.approx(beta.ppf(0.95, n_wrong + 3, 42 - n_wrong - 2))
    assert mixed.value > alone.value
    assert any("2 count as errors" in text for text in mixed.assumptions)


def test_every_estimator_implements_the_protocol():
    own = [getattr(everystump, name) for name in everystump.__all__]
    own = [cls for cls in own if isinstance(cls, type) and hasattr(cls, "fit")]
    assert len(own) >= 13
    assert all(issubclass(cls, everystump.estimators._base.TableEstimator) for cls in own)
    ours = [model for name, model in MODELS.items() if name[0].isupper()]
    assert all(isinstance(model, HasTrainingOverlap) for model in ours)
    assert [type(model) for model in ours if isinstance(model, WarmStartable)] == [
        StumpBoostingClassifier
    ]
    assert isinstance(STUMPS, SupportsKernelEnsembles) and isinstance(
        PLAIN, SupportsKernelEnsembles
    )
    assert not isinstance(StumpBoostingClassifier(), SupportsKernelEnsembles)
    assert isinstance(MODELS["SubsampleVotingClassifier"], SubsampleEnsemble)
    assert not isinstance(STUMPS, SubsampleEnsemble)


def test_other_classifiers_have_no_record():
    assert validation_bound(LogisticRegression().fit(X0, Y0), X0, Y0).holds


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda d: pl.DataFrame(dict(d))])
@pytest.mark.parametrize("name", ["StumpSVC", "KernelSVC", "WeightedVoteClassifier"])
@pytest.mark.filterwarnings("ignore:estimators. no classifier is better")
def test_columns_of_frames_are_matched_by_name(frame, name):
    columns = {"a": X0[:, 0], "b": X0[:, 1]}
    model = clone(MODELS[name]).fit(frame(columns), Y0)
    backwards = frame({"b": X0[:, 1], "a": X0[:, 0]})
    assert model.training_overlap(backwards, Y0).same_table
    renamed = frame({"a": X0[:, 1], "b": X0[:, 0]})
    assert model.training_overlap(renamed, Y0).n_matched == 0


def test_text_columns_of_a_vote_are_compared():
    frame = pd.DataFrame({"a": X0[:, 0], "job": np.where(X0[:, 1] > 0, "maid", "clerk")})
    model = WeightedVoteClassifier([("stumps", STUMPS)], random_state=0).fit(frame, Y0)
    assert model.training_overlap(frame[::-1], Y0[::-1]).same_rows
    assert model.training_overlap(frame.assign(job="clerk"), Y0).match_rate < 1


def test_rows_of_weight_0_are_not_training_rows():
    weight = np.repeat([1.0, 0.0], 20)
    for model in (clone(STUMPS), clone(PLAIN), everystump.DecisionStumpClassifier()):
        model.fit(X0, Y0, sample_weight=weight)
        assert model.training_overlap(X0, Y0).same_table
        assert validation_bound(model, X0[20:], Y0[20:]).holds
        assert not validation_bound(model, X0[:20], Y0[:20]).holds


def test_rows_with_another_label_are_different():
    model = clone(STUMPS).fit(X0, Y0)
    assert model.training_overlap(X0, 1 - Y0).n_matched == 0


# Rows that are equal by chance


def few_values(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, 2)).astype(float)
    return X, (X[:, 0] + rng.integers(0, 2, n) > 1).astype(int)


def test_new_rows_of_few_values_are_accepted_with_an_assumption():
    X, y = few_values(0, 400)
    model = clone(STUMPS).fit(X, y)
    for seed in range(1, 20):
        bound = validation_bound(model, *few_values(seed, 100))
        assert bound.holds
        assert any("match by chance, as 100% of the training" in text for text in bound.assumptions)
    assert not validation_bound(model, X[::-1], y[::-1]).holds


def test_new_rows_of_few_values_are_rarely_rejected():
    """However many there are: duplicates of training rows estimate the matches by chance."""
    rng, label = np.random.default_rng(5), np.zeros(20_000, dtype=int)
    caveats = 0
    for _ in range(60):
        X = np.floor(rng.exponential(60.0, size=(20_200, 2)))
        record = TrainingRecord.from_hashes(hash_rows(X[:200], label[:200]), 200, None, 0)
        caveats += record.compare(hash_rows(X[200:], label)).leakage is not None
    assert caveats <= 1


def test_training_rows_rounded_to_seven_digits_are_recognized():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 20)), np.tile([0, 1], 30)
    model = clone(STUMPS).fit(X, y)
    for digits in (7, 8, 9, 12):
        again = np.array([float(f"{x:.{digits}g}") for x in X.ravel()]).reshape(X.shape)
        assert not validation_bound(model, again, y).holds


def test_more_matches_than_by_chance_are_rejected():
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 60, size=(400, 2)).astype(float)
    y = (wide[:, 0] > 30).astype(int)
    model = clone(STUMPS).fit(wide[:200], y[:200])
    overlap = model.training_overlap(wide[200:], y[200:])
    assert 0 < overlap.duplicate_rate < 0.3 and 0 < overlap.match_rate < 0.3
    assert validation_bound(model, wide[200:], y[200:]).holds
    mixed = np.r_[wide[:60], wide[200:300]], np.r_[y[:60], y[200:300]]
    bound = validation_bound(model, *mixed)
    assert not bound.holds and "would by chance" in bound.violations[0]


def test_the_probability_of_a_match_is_that_of_good_and_turing():
    """A record of all rows and a sketch of some agree with a direct count of duplicates."""
    rng = np.random.default_rng(3)
    X, label = rng.integers(0, 300, size=(40_000, 2)).astype(float), np.zeros(40_000, dtype=int)
    hashes = hash_rows(X, label)
    record = TrainingRecord.from_hashes(hashes, len(X), None, 0)
    _, index, count = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    duplicates = int(np.sum(count[index.ravel()] > 1))
    assert record.duplicates == record.sketch().duplicates == duplicates
    fresh = hash_rows(rng.integers(0, 300, size=(9000, 2)).astype(float), label[:9000])
    for one in (record, record.sketch()):
        overlap = one.compare(fresh)
        assert overlap.match_rate == pytest.approx(overlap.duplicate_rate, abs=0.02)
        assert overlap.leakage is None


# Large tables


def large(n=40_000):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, (X[:, 0] > 0).astype(int)


def test_one_changed_bit_makes_another_table():
    X, y = large()
    model = StumpSVC(0.001, measure="lebesgue", feature_range=(-1, 1), fit_intercept=False)
    model.fit(X, y)
    loo_bound(model, X, y)
    for row in (1, 2, 39_998):
        other = X.copy()
        other[row, 1] = np.nextafter(other[row, 1], 2)
        with pytest.raises(NotTrainingDataError, match="X and y must be the data that"):
            loo_bound(model, other, y)
    with pytest.raises(ValueError, match="all samples in the same order"):
        loo_bound(model, X[::-1], y[::-1])


def test_a_stored_model_keeps_a_sample_of_its_rows(tmp_path):
    X, y = large()
    model = everystump.DecisionStumpClassifier().fit(X, y)
    everystump.save(model, tmp_path / "m.stump")
    loaded = everystump.load(tmp_path / "m.stump")
    assert (tmp_path / "m.stump").stat().st_size < 200_000
    fresh, fresh_y = (
        np.random.default_rng(1).uniform(-1, 1, size=(40_000, 2)),
        np.tile([0, 1], 20_000),
    )
    for each in (model, loaded):
        assert each.training_overlap(X, y).same_table
        assert each.training_overlap(X[::-1], y[::-1]).same_rows
        assert each.training_overlap(X[:9000], y[:9000]).match_rate == 1
        mixed = np.r_[X[:10_000], fresh[:30_000]], np.r_[y[:10_000], fresh_y[:30_000]]
        assert each.training_overlap(*mixed).match_rate == pytest.approx(0.25, abs=0.02)
        assert each.training_overlap(fresh, fresh_y).leakage is None
    everystump.save(loaded, tmp_path / "again.stump")
    assert (tmp_path / "again.stump").read_bytes() == (tmp_path / "m.stump").read_bytes()


def test_a_model_of_earlier_versions_has_no_record():
    model = clone(PLAIN).fit(X0, Y0)
    expected = loo_bound(model, X0, Y0)
    del model._training_record
    bound = loo_bound(model, X0, Y0)
    assert bound.value == expected.value and expected.holds and not bound.holds
    assert "saved by earlier versions" in bound.violations[0]
    assert not validation_bound(model, FRESH, FRESH_Y).holds
    with pytest.raises(NotTrainingDataError, match="X and y must be the data that"):
        loo_bound(model, X0[:-1], Y0[:-1])


# Boosting with warm_start


def test_stumps_of_two_tables_have_no_bound():
    model = StumpBoostingClassifier(n_estimators=3, warm_start=True).fit(X0, Y0)
    model.set_params(n_estimators=6).fit(X0, Y0)
    assert boosting_training_bound(model, X0, Y0).holds
    model.set_params(n_estimators=9).fit(FRESH, FRESH_Y)
    for data in ((), (FRESH, FRESH_Y), (X0, Y0)):
        bound = boosting_training_bound(model, *data)
        assert any("different training data" in text for text in bound.violations)
        assert not bound.holds
    for X, y in ((X0, Y0), (FRESH, FRESH_Y)):
        assert not validation_bound(model, X, y).holds


def test_the_bounds_of_boosting_need_the_training_rows():
    model = StumpBoostingClassifier(n_estimators=3).fit(X0, Y0)
    assert boosting_training_bound(model).holds
    bound = boosting_training_bound(model, FRESH, FRESH_Y)
    assert bound.violations[0] == "X and y are not the training data"


# Nested estimators


OTHERS = LogisticRegression()
WRAPPED = {
    "votes": VotingClassifier([("stumps", STUMPS), ("other", OTHERS)]),
    "stacking": StackingClassifier([("stumps", STUMPS)], cv=2),
    "bagging": BaggingClassifier(STUMPS, n_estimators=3, max_features=0.5, random_state=0),
    "calibration": CalibratedClassifierCV(STUMPS, cv=2),
    "calibration of one": CalibratedClassifierCV(STUMPS, cv=2, ensemble=False),
    "a threshold": FixedThresholdClassifier(STUMPS, threshold=0.1, response_method="auto"),
    "a tuned threshold": TunedThresholdClassifierCV(STUMPS, cv=2),
    "calibrated pipelines": CalibratedClassifierCV(make_pipeline(StandardScaler(), STUMPS), cv=2),
    "search of votes": GridSearchCV(
        VotingClassifier([("stumps", STUMPS)]), {"stumps__C": [0.1]}, cv=2
    ),
}


@pytest.mark.parametrize("name", WRAPPED)
@pytest.mark.parametrize("words", [False, True])
def test_nested_estimators_are_compared(name, words):
    of = np.array(["no", "yes"]) if words else np.arange(2)
    model = clone(WRAPPED[name]).fit(X0, of[Y0])
    bound = validation_bound(model, X0[::-1], of[Y0[::-1]])
    assert not bound.holds and "training rows" in bound.violations[0]
    fresh = validation_bound(model, FRESH, of[FRESH_Y])
    assert fresh.holds and any("nested estimators" in text for text in fresh.assumptions)


@pytest.mark.parametrize("wrapper", [OneVsRestClassifier, OneVsOneClassifier])
def test_one_vs_one_and_one_vs_rest_estimators_are_compared(wrapper):
    X, y = rows(4, n=60, n_classes=3)
    model = wrapper(clone(STUMPS)).fit(X, y)
    assert not validation_bound(model, X, y).holds
    assert validation_bound(model, *rows(5, n=60, n_classes=3)).holds


def test_frames_reach_nested_estimators():
    frame = pd.DataFrame(X0, columns=["a", "b"])
    for name in ("votes", "bagging", "calibration", "a threshold"):
        model = clone(WRAPPED[name]).fit(frame, Y0)
        assert not validation_bound(model, frame, Y0).holds


def test_a_forest_without_a_record_adds_an_assumption():
    for model in (RandomForestClassifier(3, random_state=0), GradientBoostingClassifier()):
        bound = validation_bound(model.fit(X0, Y0), X0, Y0)
        assert bound.holds
        name = type(model).__name__
        assert f"they are new to {name}, which has no record" in bound.assumptions[-1]


NEW, NEW_Y = rows(2, n=40)


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.filterwarnings("ignore:estimators. no classifier is better")
def test_training_rows_of_prefitted_members(frozen):
    member, other = clone(STUMPS).fit(X0, Y0), clone(PLAIN).fit(FRESH, FRESH_Y)
    pairs = [("stumps", member), ("other", other)]
    if frozen:
        pairs = [(name, FrozenEstimator(one)) for name, one in pairs]
    model = WeightedVoteClassifier(pairs, prefit=not frozen, random_state=0).fit(NEW, NEW_Y)
    for X, y in ((X0, Y0), (FRESH, FRESH_Y), (NEW, NEW_Y)):
        bound = validation_bound(model, X, y)
        assert not bound.holds and "training rows" in bound.violations[0]
    assert validation_bound(model, *rows(3, n=40)).holds


@pytest.mark.filterwarnings("ignore:estimators. no classifier is better")
def test_a_member_without_a_record_is_a_violation():
    pairs = [("stumps", clone(STUMPS).fit(X0, Y0)), ("other", clone(OTHERS).fit(FRESH, FRESH_Y))]
    model = WeightedVoteClassifier(pairs, prefit=True).fit(NEW, NEW_Y)
    bound = validation_bound(model, *rows(3, n=40))
    assert not bound.holds and "models of other packages" in bound.violations[0]
    on_training = validation_bound(model, X0, Y0)
    assert on_training.violations == ("these are the training rows of the model",)
    anew = WeightedVoteClassifier(pairs, random_state=0).fit(NEW, NEW_Y)
    assert validation_bound(anew, *rows(3, n=40)).holds


def test_prefitted_members_of_a_subsample_ensemble():
    member = FrozenEstimator(clone(STUMPS).fit(X0, Y0))
    model = SubsampleVotingClassifier(member, n_estimators=2, random_state=0).fit(NEW, NEW_Y)
    for X, y in ((X0, Y0), (NEW, NEW_Y)):
        assert not validation_bound(model, X, y).holds
    assert validation_bound(model, FRESH, FRESH_Y).holds
