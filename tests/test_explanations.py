"""Explanations of shape models: features, samples, stumps and curves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel

from everystump import (
    BoostedStumpSVC,
    DecisionStumpClassifier,
    KernelSVC,
    StumpBaggingClassifier,
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpSVC,
    StumpSVCCV,
    SubsampleVotingClassifier,
)

LEARNERS = [
    StumpSVC(measure="middle"),
    StumpSVC(fit_intercept=False),
    StumpSVCCV(Cs=[0.1, 1.0], cv=2, interactions=0),
    StumpLogisticRegression(),
    StumpLogisticRegressionCV(Cs=[0.1, 1.0], cv=2, interactions=0),
    StumpBoostingClassifier(n_estimators=25),
    StumpBaggingClassifier(25, random_state=0),
    BoostedStumpSVC(25),
    DecisionStumpClassifier(),
    SubsampleVotingClassifier(StumpSVC(), n_estimators=3, random_state=0),
]
N_ROWS = 120


def class_name(learner):
    return type(learner).__name__


def table(n_classes=2, seed=0):
    """A frame with missing values, a category and an index that is not a range, and labels."""
    rng = np.random.default_rng(seed)
    age = np.round(rng.normal(45, 12, N_ROWS))
    income = np.where(rng.random(N_ROWS) < 0.2, np.nan, np.round(rng.normal(size=N_ROWS), 1))
    job = rng.choice(["clerk", "maid", "smith"], N_ROWS).astype(object)
    score = (age - 45) / 12 + np.nan_to_num(income) + (job == "clerk") + rng.normal(size=N_ROWS)
    job[rng.random(N_ROWS) < 0.1] = None
    frame = pd.DataFrame(
        {"age": age, "income": income, "job": job}, index=np.arange(N_ROWS) * 10 + 5
    )
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return frame, np.array(["low", "mid", "top"])[np.searchsorted(cuts, score)]


def strange_rows():
    """Samples with values that were not in the training data."""
    return pd.DataFrame(
        {
            "age": [-1e6, 1e6, np.nan, 45.0],
            "income": [np.nan, 0.05, -9.0, 1.0],
            "job": ["smith", "astronaut", None, "maid"],
        },
        index=list("abcd"),
    )


def each(shapes):
    return shapes if isinstance(shapes, list) else [shapes]


CASES = [(learner, 2) for learner in LEARNERS] + [
    (learner, 3) for learner in LEARNERS if not isinstance(learner, DecisionStumpClassifier)
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{class_name(case[0])}-{case[1]}")
def fitted(request):
    learner, n_classes = request.param
    X, y = table(n_classes)
    return clone(learner).fit(X, y), X, y


# Rows


def test_contributions_sum_to_the_score(fitted):
    model, X, _ = fitted
    for rows in (X, strange_rows()):
        frame = model.explain_local(rows)
        assert frame.index.equals(rows.index)
        score = model.decision_function(rows)
        parts = [frame] if score.ndim == 1 else [frame[label] for label in model.classes_]
        for part, expected in zip(parts, score.reshape(len(rows), -1).T, strict=True):
            assert part.columns.tolist() == ["intercept", "age", "income", "job", "score"]
            np.testing.assert_allclose(part["score"], expected, rtol=0, atol=1e-12)
            added = part.drop(columns="score").sum(axis=1)
            np.testing.assert_allclose(added, expected, rtol=0, atol=1e-12)


def test_unseen_values_contribute_nothing(fitted):
    model, _, _ = fitted
    frame = model.explain_local(strange_rows())
    job = frame.xs("job", axis=1, level="feature") if frame.columns.nlevels > 1 else frame["job"]
    age = frame.xs("age", axis=1, level="feature") if frame.columns.nlevels > 1 else frame["age"]
    assert np.all(job.loc["b"] == 0.0)
    assert np.all(age.loc["c"] == 0.0)  # no age was missing in training


def test_columns_are_the_curves():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    frame = model.explain_local(X)
    np.testing.assert_array_equal(frame["age"], model.shapes_[0](X["age"].to_numpy()))
    clerk = model.shapes_[2].levels[0]
    assert set(frame["job"][X["job"] == "clerk"]) == {clerk}
    assert set(frame["job"][X["job"].isna()]) == {model.shapes_[2].missing}


def test_features_of_arrays_are_named_by_index():
    X, y = table()
    model = StumpSVC().fit(X[["age"]].to_numpy(), y)
    frame = model.explain_local(X[["age"]].to_numpy()[:3])
    assert frame.columns.tolist() == ["intercept", "x0", "score"]
    assert frame.index.tolist() == [0, 1, 2]


def test_a_feature_named_score():
    X, y = table()
    model = StumpSVC().fit(X.rename(columns={"age": "score"}), y)
    names = model.explain_local(X.rename(columns={"age": "score"})).columns.tolist()
    assert names == ["intercept", "score", "income", "job", "(score)"]


# Features


def test_importance_is_the_standard_deviation_over_the_training_rows(fitted):
    """Every value has its own bin here, so the density is exact."""
    model, X, _ = fitted
    frame = model.explain_local(X)
    found = model.explain_global()
    assert found["importance"].is_monotonic_decreasing
    assert len(found) == 3 * len(each(model.shapes_))
    for row in found.to_dict("records"):
        column = frame[(row["class"], row["feature"])] if "class" in row else frame[row["feature"]]
        assert row["importance"] == pytest.approx(column.std(ddof=0), abs=1e-12)
        assert row["lowest"] - 1e-12 <= column.min() and column.max() <= row["highest"] + 1e-12
        assert row["share_missing"] == pytest.approx(X[row["feature"]].isna().mean())
        assert row["kind"] == ("category" if row["feature"] == "job" else "number")


def test_feature_importances_are_normalized_global_importances(fitted):
    model, _, _ = fitted
    by_name = model.explain_global().groupby("feature")["importance"].sum()
    expected = by_name[["age", "income", "job"]].to_numpy()
    np.testing.assert_allclose(model.feature_importances_, expected / expected.sum(), rtol=1e-12)
    np.testing.assert_allclose(model.feature_importances_.sum(), 1.0, rtol=1e-12)


def test_feature_importances_work_with_selectors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = X[:, 1] + X[:, 3] > 0
    chosen = SelectFromModel(StumpLogisticRegression()).fit(X, y)
    assert chosen.get_support().tolist() == [False, True, False, True, False]
    ranked = RFE(StumpSVC(), n_features_to_select=2).fit(X, y)
    assert ranked.support_.tolist() == [False, True, False, True, False]


def test_feature_importances_of_a_constant():
    model = StumpSVC().fit(np.zeros((4, 2)), [0, 0, 0, 1])
    np.testing.assert_array_equal(model.feature_importances_, [0.0, 0.0])


def test_models_without_feature_importances():
    X, y = table()
    assert not hasattr(StumpSVC(), "feature_importances_")
    with pytest.raises(NotFittedError, match="not fitted"):
        StumpSVC().feature_importances_  # noqa: B018
    vote = SubsampleVotingClassifier(KernelSVC(), n_estimators=2, random_state=0)
    vote.fit(X[["age"]], y)
    assert not hasattr(vote, "feature_importances_")
    with pytest.raises(AttributeError, match=r"no feature_importances_: Subsample.* has no curves"):
        vote.feature_importances_  # noqa: B018


def test_importance_counts_sample_weights():
    X, y = table()
    weight = np.random.default_rng(1).integers(1, 4, N_ROWS)
    model = StumpLogisticRegression().fit(X, y, sample_weight=weight)
    frame = model.explain_local(X)
    for row in model.explain_global().to_dict("records"):
        repeated = np.repeat(frame[row["feature"]].to_numpy(), weight)
        assert row["importance"] == pytest.approx(repeated.std(), abs=1e-12)


def test_importance_on_other_samples():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    rows = strange_rows()
    frame = model.explain_local(rows)
    found = model.explain_global(rows)
    for row in found.to_dict("records"):
        assert row["importance"] == pytest.approx(frame[row["feature"]].std(ddof=0), abs=1e-12)
    assert found.set_index("feature").loc["age", "share_missing"] == 0.25


def test_lowest_and_highest_are_ends_of_the_curve():
    X, y = table()
    model = StumpLogisticRegression().fit(X, y)
    found = model.explain_global().set_index("feature")
    for d, name in enumerate(["age", "income", "job"]):
        shape = model.shapes_[d]
        values = shape.levels if shape.is_category else shape.values
        values = values if shape.missing is None else np.append(values, shape.missing)
        assert found.loc[name, "lowest"] == values.min()
        assert found.loc[name, "highest"] == values.max()


def test_a_model_without_its_density():
    X, y = table()
    model = StumpSVC().fit(X, y)
    del model.density_
    with pytest.raises(ValueError, match=r"StumpSVC has no density_ .* explain_global\(X\)"):
        model.explain_global()
    assert len(model.explain_global(X)) == 3


# Stumps


def answers(row, columns):
    """The answer of a stump to its question, computed from its record only."""
    if row["question"] == "always":
        return 1.0
    x, missing = columns[row["feature"]]
    if row["question"].endswith(" is missing"):
        return np.where(missing, 1.0, -1.0)
    if isinstance(row["level"], str):
        assert row["question"] == f"{row['feature']} is {row['level']!r}"
        return np.where(x == row["level"], 1.0, -1.0)
    low, high = row["low"], row["high"]
    with np.errstate(invalid="ignore", divide="ignore"):
        ramp = np.clip((2 * x - low - high) / (high - low), -1.0, 1.0)
    side = np.where(x >= low, 1.0, -1.0) if low == high else ramp
    return np.where(missing, 0.0, side)


def test_the_weighted_answers_of_all_stumps_are_the_score(fitted):
    model, X, _ = fitted
    frame = model.explain_ensemble()
    assert frame["weight"].is_monotonic_decreasing and np.all(frame["weight"] > 0)
    assert set(frame["direction"]) <= {-1, 1}
    for rows in (X, strange_rows()):
        score = model.decision_function(rows).reshape(len(rows), -1)
        columns = {name: (rows[name].to_numpy(), rows[name].isna().to_numpy()) for name in rows}
        for k in range(score.shape[1]):
            own = frame if score.shape[1] == 1 else frame[frame["class"] == model.classes_[k]]
            vote = sum(
                row["weight"] * row["direction"] * answers(row, columns)
                for row in own.to_dict("records")
            )
            np.testing.assert_allclose(vote, score[:, k], rtol=0, atol=1e-9)


def test_questions():
    X, y = table()
    questions = set(
        StumpBoostingClassifier(n_estimators=60).fit(X, y).explain_ensemble()["question"]
    )
    assert {"job is 'clerk'", "income is missing"} <= questions
    assert any(question.startswith("age >= ") for question in questions)
    ramps = StumpSVC().fit([[40.0], [45.0]], [0, 1]).explain_ensemble()
    assert ramps["question"].tolist() == ["x0 from 40 to 45"]


# Curves


def test_curves_are_points(fitted):
    model, _, _ = fitted
    for d, name in enumerate(["age", "income", "job"]):
        frame = model.curve(name)
        parts = [frame]
        if "class" in frame:
            parts = [frame[frame["class"] == label] for label in model.classes_]
        for part, shapes in zip(parts, each(model.shapes_), strict=True):
            shape = shapes[d]
            values = shape.levels if shape.is_category else shape.values
            present = part[part["value"].notna()]
            np.testing.assert_array_equal(present["contribution"], values)
            expected = ["clerk", "maid", "smith"] if name == "job" else shape.knots
            np.testing.assert_array_equal(present["value"], expected)
            rest = part[part["value"].isna()]["contribution"].tolist()
            assert rest == ([] if shape.missing is None else [shape.missing])


def test_features_by_index_or_name():
    X, y = table()
    model = StumpSVC().fit(X, y)
    pd.testing.assert_frame_equal(model.curve(1), model.curve("income"))
    with pytest.raises(ValueError, match=r"^feature='icome' is not among the 3 .* 'income'\.$"):
        model.curve("icome")
    with pytest.raises(ValueError, match=r"feature=3: the model has 3 features; .* from 0 to 2"):
        model.curve(3)


def test_votes_without_curves():
    X, y = table()
    rows = X[["age"]]
    model = SubsampleVotingClassifier(KernelSVC(), n_estimators=2, random_state=0).fit(rows, y)
    for call in (model.explain_global, model.explain_ensemble, lambda: model.explain_local(rows)):
        with pytest.raises(ValueError, match="SubsampleVotingClassifier has no curves"):
            call()
