"""Edits of curves: what they change, keep and remove."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from test_explanations import LEARNERS, class_name, strange_rows, table

from everystump import (
    BoostedStumpSVC,
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpSVC,
    SubsampleVotingClassifier,
)
from everystump.bounds import (
    boosting_training_bound,
    det_loo_bound,
    ensemble_margin_bound,
    loo_bound,
    loo_error,
    radius_margin_bound,
    stability_bound,
    uniform_stability,
    validation_bound,
)
from everystump.estimators._editing import EditedModelError

X, Y = table()
X3, Y3 = table(3)


def as_columns(score):
    return score.reshape(len(score), -1)


# Setting


@pytest.mark.parametrize("learner", LEARNERS, ids=class_name)
def test_set_between(learner):
    """From 40 on and below 50, and nowhere else."""
    model = clone(learner).fit(X, Y)
    edited = model.set_curve("age", 0.75, low=40, high=50)
    before, after = model.explain_local(X), edited.explain_local(X)
    inside = ((X["age"] >= 40) & (X["age"] < 50)).to_numpy()
    assert inside.any() and (X["age"] == 50).any()
    assert np.all(after["age"][inside] == 0.75)
    np.testing.assert_allclose(after["age"][~inside], before["age"][~inside], rtol=0, atol=1e-12)
    for name in ("intercept", "income", "job"):
        np.testing.assert_array_equal(after[name], before[name])


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"low": 40}, " from 40 on"),
        ({"high": 40}, " below 40"),
        ({"low": 30, "high": 40.5}, " from 30 up to 40.5"),
        ({}, ""),
    ],
    ids=str,
)
@pytest.mark.parametrize("measure", ["middle", "mixed"])
def test_set_at_jumps_and_ends(part, words, measure):
    """Edits at knots, between them and beyond, after another edit."""
    model = StumpSVC(measure=measure).fit(X, Y).set_curve("age", 9.0, low=30, high=40)
    edited = model.set_curve("age", -1.0, **part)
    at = np.array([-1e9, 20, 29.999, 30, 35, 39.999, 40, 40.4, 40.5, 44, 1e9])
    inside = (at >= part.get("low", -np.inf)) & (at < part.get("high", np.inf))
    expected = np.where(inside, -1.0, model.shapes_[0](at))
    np.testing.assert_allclose(edited.shapes_[0](at), expected, rtol=0, atol=1e-12)
    times = np.unique(edited.shapes_[0].knots, return_counts=True)[1]
    assert times.max() <= 2  # a jump has two knots
    assert edited.edits_[-1] == f"age was set to -1{words}"


def test_set_at_levels_and_at_missing():
    model = StumpLogisticRegression().fit(X, Y)
    edited = model.set_curve("job", 2.0, levels=["clerk", "maid"]).set_curve("job", 3, missing=True)
    before, after = model.shapes_[2], edited.shapes_[2]
    np.testing.assert_array_equal(after.levels, [2.0, 2.0, before.levels[2]])
    assert after.missing == 3.0
    assert edited.explain_local(strange_rows())["job"].tolist() == [before.levels[2], 0.0, 3.0, 2.0]
    assert edited.edits_ == (
        "job was set to 2 at 'clerk', 'maid'",
        "job was set to 3 where it is missing",
    )
    same = model.set_curve("job", 2.0, levels="smith", missing=True).shapes_[2]
    np.testing.assert_array_equal(same.levels, [*before.levels[:2], 2.0])
    assert same.missing == 2.0


def test_set_where_none_was_missing():
    model = StumpSVC().fit(X, Y)
    edited = model.set_curve("age", 1.5, missing=True)
    assert edited.explain_local(strange_rows())["age"]["c"] == 1.5
    np.testing.assert_array_equal(edited.decision_function(X), model.decision_function(X))


def test_set_all_levels_keeps_missing_values():
    model = StumpSVC().fit(X, Y)
    edited = model.set_curve("job", 1.0)
    assert set(edited.shapes_[2].levels) == {1.0}
    assert edited.shapes_[2].missing == model.shapes_[2].missing


def test_set_the_curve_of_one_class():
    model = StumpLogisticRegression().fit(X3, Y3)
    edited = model.set_curve("age", 0.0, class_label="mid")
    before, after = model.decision_function(X3), edited.decision_function(X3)
    np.testing.assert_array_equal(after[:, [0, 2]], before[:, [0, 2]])
    own = model.shapes_[1][0](X3["age"].to_numpy())
    np.testing.assert_allclose(after[:, 1], before[:, 1] - own, rtol=0, atol=1e-12)
    assert edited.edits_ == ("age was set to 0 for class 'mid'",)
    with pytest.raises(ValueError, match="class_label=None: the model has a curve for each of"):
        model.set_curve("age", 0.0)


# Flattening


@pytest.mark.parametrize("learner", LEARNERS, ids=class_name)
@pytest.mark.parametrize(
    ("feature", "part"),
    [
        ("age", {"low": 40, "high": 55}),
        ("age", {}),
        ("income", {"low": 0.0}),
        ("income", {"missing": True, "high": 0.3}),
        ("job", {}),
        ("job", {"levels": ["maid", "smith"], "missing": True}),
    ],
    ids=str,
)
def test_flat_curves_keep_the_mean_score(learner, feature, part):
    model = clone(learner).fit(X, Y)
    edited = model.flatten_curve(feature, **part)
    before, after = model.decision_function(X), edited.decision_function(X)
    assert after.mean() == pytest.approx(before.mean(), abs=1e-12)


def test_flattened_regions_are_constant():
    model = StumpSVC().fit(X, Y)
    edited = model.flatten_curve("age", low=40, high=55)
    inside = (X["age"] >= 40) & (X["age"] < 55)
    values = edited.explain_local(X)["age"]
    assert values[inside].nunique() == 1 and values[~inside].nunique() > 5
    assert model.explain_local(X)["age"][inside].nunique() > 5
    assert edited.edits_ == ("age was flattened from 40 up to 55",)


def test_flat_curves_keep_the_weighted_mean():
    weight = np.random.default_rng(2).integers(1, 5, len(X))
    model = StumpSVC().fit(X, Y, sample_weight=weight)
    after = model.flatten_curve("income", low=-0.5, high=0.5).decision_function(X)
    before = model.decision_function(X)
    assert np.average(after, weights=weight) == pytest.approx(
        np.average(before, weights=weight), abs=1e-12
    )
    assert after.mean() != pytest.approx(before.mean(), abs=1e-6)


def test_flat_for_all_classes_or_one():
    model = StumpLogisticRegression().fit(X3, Y3)
    before = model.decision_function(X3)
    everywhere = model.flatten_curve("age").decision_function(X3)
    np.testing.assert_allclose(everywhere.mean(axis=0), before.mean(axis=0), rtol=0, atol=1e-12)
    assert np.all(np.abs(everywhere - before).max(axis=0) > 1e-3)
    one = model.flatten_curve("age", class_label="top").decision_function(X3)
    np.testing.assert_array_equal(one[:, :2], before[:, :2])


# Removing


@pytest.mark.parametrize("learner", LEARNERS, ids=class_name)
@pytest.mark.parametrize("feature", ["age", "income", "job"])
def test_removed_features_contribute_nothing(learner, feature):
    """The score is the old one without the feature, and has the same mean."""
    model = clone(learner).fit(X, Y)
    edited = model.remove_feature(feature)
    before, after = model.explain_local(X), edited.explain_local(X)
    assert np.all(after[feature] == 0.0)
    mean = before[feature].mean()
    expected = before["score"] - before[feature] + mean
    np.testing.assert_allclose(edited.decision_function(X), expected, rtol=0, atol=1e-12)
    if hasattr(model, "intercept_"):
        shift = edited.intercept_ - model.intercept_
        np.testing.assert_allclose(shift, mean, rtol=0, atol=1e-12)
    other = X.assign(**{feature: X[feature].to_numpy()[::-1]})
    np.testing.assert_array_equal(edited.decision_function(other), edited.decision_function(X))


def test_intercepts_and_curves_stay_consistent():
    model = StumpSVC(fit_intercept=False).fit(X3, Y3)
    edited = model.remove_feature("income").remove_feature("job")
    assert np.any(edited.intercept_ != model.intercept_)
    np.testing.assert_array_equal(edited.intercept_, [m.intercept for m in edited.shapes_])


# Attributes of edited models


def test_the_original_model_is_not_changed():
    model = StumpSVC().fit(X, Y)
    state, score = dict(vars(model)), model.decision_function(X)
    edited = model.set_curve("age", 5.0).remove_feature("job")
    assert vars(model) == state and model.edits_ == ()
    np.testing.assert_array_equal(model.decision_function(X), score)
    assert edited is not model and len(edited.edits_) == 2


@pytest.mark.parametrize("learner", LEARNERS, ids=class_name)
def test_edits_are_shown_until_the_next_fit(learner):
    model = clone(learner).fit(X, Y)
    assert "edited" not in repr(model)
    edited = model.set_curve("age", 0.0).remove_feature("income")
    assert repr(edited) == f"<{model!r} edited: income was removed (1 earlier edit)>"
    assert edited.predict(X).shape == Y.shape
    check_is_fitted(edited)
    copied = pickle.loads(pickle.dumps(edited))
    assert copied.edits_ == edited.edits_ == ("age was set to 0", "income was removed")
    np.testing.assert_array_equal(copied.decision_function(X), edited.decision_function(X))
    assert clone(edited).edits_ == ()
    edited.fit(X, Y)
    assert edited.edits_ == () and repr(edited) == repr(model)
    np.testing.assert_array_equal(edited.decision_function(X), model.decision_function(X))
    assert set(vars(model)) <= set(vars(edited))


def test_warm_starts_do_not_continue_edited_models():
    model = StumpBoostingClassifier(n_estimators=5, warm_start=True).fit(X, Y)
    edited = model.set_curve("age", 50.0).set_params(n_estimators=8).fit(X, Y)
    fresh = StumpBoostingClassifier(n_estimators=8).fit(X, Y)
    np.testing.assert_array_equal(edited.decision_function(X), fresh.decision_function(X))


def test_edited_models_have_no_certificate():
    rows, y = X[:60], Y[:60]  # few, as `loo_error` trains once for each
    model = StumpSVC(fit_intercept=False).fit(rows, y)
    edited = model.set_curve("age", 0.0, low=40, high=45)
    assert model.certificate_ is not None and edited.certificate_ is None
    assert not hasattr(edited, "dual_coef_")
    sentence = (
        r"^dual_coef_: StumpSVC was edited \(age was set to 0 from 40 up to 45\), and an edited "
        r"model is not a solution of its training problem; use the model before its edits\.$"
    )
    for bound in (
        loo_bound,
        ensemble_margin_bound,
        radius_margin_bound,
        uniform_stability,
        stability_bound,
        loo_error,
    ):
        bound(model, rows, y)
        with pytest.raises(EditedModelError, match=sentence):
            bound(edited, rows, y)
    again = edited.remove_feature("job")
    with pytest.raises(ValueError, match=r"edited \(job was removed\)"):
        loo_bound(again, rows, y)


def test_edited_votes_and_boosting_have_no_certificate():
    estimator = StumpSVC(fit_intercept=False)
    vote = SubsampleVotingClassifier(estimator, n_estimators=3, random_state=0).fit(X, Y)
    det_loo_bound(vote, X, Y)
    with pytest.raises(EditedModelError, match=r"was edited \(age was removed\), and the bounds"):
        det_loo_bound(vote.remove_feature("age"), X, Y)
    boosted = StumpBoostingClassifier(n_estimators=5).fit(X, Y)
    boosting_training_bound(boosted, X, Y)
    edited = boosted.remove_feature("age")
    with pytest.raises(ValueError, match="edited: age was removed"):
        boosting_training_bound(edited, X, Y)
    with pytest.raises(EditedModelError, match=r"^stumps_: .* was edited"):
        edited.margins(X, Y)
    bound = validation_bound(edited, X, Y)  # it needs predictions only
    assert bound.violations == ("these are the training rows of the model",)
    fresh = X.assign(age=X["age"] + 0.25)
    assert validation_bound(edited, fresh, Y).holds
    estimator = BoostedStumpSVC(5).fit(X, Y).remove_feature("age")
    assert estimator.certificate_ is None and not hasattr(estimator, "margin_")


def test_unknown_attributes():
    model = StumpSVC().fit(X, Y)
    for each in (model, model.remove_feature("age")):
        with pytest.raises(AttributeError, match="'StumpSVC' object has no attribute 'nothing_'"):
            each.nothing_  # noqa: B018


# Refusals


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: m.set_curve("aeg", 0.0), r"feature='aeg' is not among .* use 'age'\."),
        (lambda m: m.remove_feature(7), "feature=7: the model has 3 features"),
        (lambda m: m.set_curve("age", np.nan), "value=nan must be a finite number"),
        (lambda m: m.set_curve("age", "high"), "value='high' must be a finite number"),
        (
            lambda m: m.set_curve("age", 0, low=5, high=5),
            "low=5, high=5: pass numbers with low < high",
        ),
        (lambda m: m.set_curve("age", 0, low=np.nan), "low=nan, high=None: pass numbers"),
        (lambda m: m.set_curve("age", 0, levels=["a"]), r"levels=\['a'\]: 'age' is numeric"),
        (lambda m: m.set_curve("job", 0, low=1), "low=1, high=None: 'job' is a category"),
        (
            lambda m: m.set_curve("job", 0, levels=[]),
            r"levels=\[\] is empty; pass some levels of 'job'",
        ),
        (lambda m: m.set_curve("job", 0, levels=["clark"]), r"'clark'; use 'clerk'\."),
        (
            lambda m: m.flatten_curve("age", low=1e6),
            "'age' has no training samples from 1000000 on",
        ),
        (lambda m: m.flatten_curve("age", missing=True), "no training samples where it is missing"),
        (
            lambda m: m.set_curve("age", 0, class_label="low"),
            r"class_label='low' has no curves; pass one of \['mid'\]",
        ),
    ],
)
def test_invalid_arguments(call, sentence):
    model = StumpSVC().fit(X, Y)
    with pytest.raises(ValueError, match=sentence) as raised:
        call(model)
    assert "\n" not in str(raised.value)


def test_editing_requires_a_fit():
    for call in (lambda m: m.set_curve(0, 0.0), lambda m: m.remove_feature(0)):
        with pytest.raises(NotFittedError):
            call(StumpSVC())


# Capping and freezing


@pytest.mark.parametrize("learner", LEARNERS, ids=class_name)
@pytest.mark.parametrize("feature", ["age", "job"])
@pytest.mark.parametrize("limits", [(-0.05, 0.02), (None, 0.02), (-0.05, None), (0.01, 0.01)])
def test_capped_contributions_are_clipped(learner, feature, limits):
    """Exactly where the curve is at its knots, and up to rounding between them."""
    model = clone(learner).fit(X, Y)
    lowest, highest = limits
    edited = model.cap_curve(feature, lowest=lowest, highest=highest)
    grid = X if feature == "job" else X.assign(age=np.linspace(10, 90, len(X)))
    before, after = model.explain_local(grid), edited.explain_local(grid)
    # Missing values without a contribution of their own stay at 0.
    known = grid[feature].notna().to_numpy() | (lowest is None or lowest <= 0)
    expected = np.clip(before[feature], lowest, highest)
    np.testing.assert_allclose(after[feature][known], expected[known], rtol=0, atol=1e-12)
    for name in ("intercept", "income"):
        np.testing.assert_array_equal(after[name], before[name])
    assert edited.edits_[-1].startswith(f"{feature} was capped to at ")
    assert getattr(edited, "certificate_", None) is None


def test_missing_values_are_capped():
    table_ = X.copy()
    table_.loc[::3, "age"] = np.nan
    model = StumpLogisticRegression(C=10).fit(table_, Y)
    value = float(model.shapes_[0].missing)
    capped = model.cap_curve("age", lowest=0.0 if value < 0 else None, highest=0.0)
    assert value != 0.0 and capped.shapes_[0].missing == 0.0


@pytest.mark.parametrize("learner", LEARNERS, ids=class_name)
@pytest.mark.parametrize("ends", [(35.0, 50.0), (None, 50.0), (35.0, None), (35.5, 50.25)])
def test_frozen_curves_keep_their_values_at_the_ends(learner, ends):
    model = clone(learner).fit(X, Y)
    low, high = ends
    frozen = model.freeze_curve("age", low=low, high=high)
    grid = X.assign(age=np.linspace(10, 90, len(X)))
    inside = grid.assign(age=grid["age"].clip(low, high))
    np.testing.assert_allclose(
        as_columns(frozen.decision_function(grid)),
        as_columns(model.decision_function(inside)),
        rtol=0,
        atol=1e-12,
    )
    missing = X.assign(age=np.nan)
    np.testing.assert_array_equal(
        frozen.decision_function(missing), model.decision_function(missing)
    )


def test_capped_for_one_class():
    model = StumpLogisticRegression().fit(X3, Y3)
    label = model.classes_[1]
    capped = model.cap_curve("age", highest=0.0, class_label=label)
    assert capped.edits_ == (f"age was capped to at most 0 for class {label!r}",)
    changed = [
        not np.array_equal(own[0].values, other[0].values)
        for own, other in zip(model.shapes_, capped.shapes_, strict=True)
    ]
    assert changed == [False, True, False]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: m.cap_curve("age"), "lowest=None, highest=None: pass one or two numbers"),
        (lambda m: m.cap_curve("age", lowest=1, highest=0), "with lowest <= highest"),
        (lambda m: m.cap_curve("age", lowest="a"), "lowest='a'"),
        (lambda m: m.cap_curve("agee", highest=0), "is not among the"),
        (lambda m: m.freeze_curve("age"), "low=None, high=None: pass one of them"),
        (lambda m: m.freeze_curve("age", low=3, high=2), "pass numbers with low < high"),
        (lambda m: m.freeze_curve("job", low=3), "is a category and has no order"),
    ],
)
def test_invalid_limits(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(StumpSVC().fit(X, Y))


def test_interactions_are_neither_capped_nor_frozen():
    model = StumpSVC(interactions=[("age", "income")]).fit(X, Y)
    for call in (model.cap_curve, model.freeze_curve):
        names = ("lowest", "low") if call == model.cap_curve else ("low", "high")
        with pytest.raises(ValueError, match="is an interaction, and only curves are"):
            call(("age", "income"), **{names[0]: 0})
