"""Edits of surfaces: what they change, keep and remove."""

import pickle

import numpy as np
import pytest
from interaction_models import add_surfaces, fit_surfaces
from test_explanations import each, strange_rows, table

from everystump import StumpLogisticRegression
from everystump._tables.validation import check_rows

X, Y = table()
X3, Y3 = table(3)
PAIR, MIXED, TRIPLE = "age × income", "age × job", "age × income × job"


@pytest.fixture(scope="module", params=[False, True], ids=["linear", "jumps"])
def model(request):
    return fit_surfaces(X, Y, jumps=request.param)


def assert_only_changed(before, after, name, inside, value):
    """Only the column ``name`` changed, to a value where ``inside``."""
    assert inside.any() and not inside.all()
    np.testing.assert_allclose(after[name][inside], value, rtol=0, atol=1e-12)
    np.testing.assert_allclose(after[name][~inside], before[name][~inside], rtol=0, atol=1e-12)
    others = before.columns.difference([name, "score"])
    np.testing.assert_array_equal(after[others], before[others])


# Setting


@pytest.mark.parametrize(
    ("name", "part", "words"),
    [
        (PAIR, {"low": (40, None), "high": (50, 0.5)}, "age from 40 up to 50 and income below 0.5"),
        (PAIR, {"low": (None, -0.2)}, "income from -0.2 on"),
        (PAIR, {"missing": (False, True)}, "income where it is missing"),
        (
            PAIR,
            {"low": (None, 0.5), "missing": (False, True)},
            "income from 0.5 on and where it is missing",
        ),
        (
            MIXED,
            {"low": [45, None], "levels": [None, ["clerk", "smith"]]},
            "age from 45 on and job at 'clerk', 'smith'",
        ),
        (MIXED, {"levels": (None, "maid")}, "job at 'maid'"),
        (
            TRIPLE,
            {"high": (45, 0.25, None), "levels": (None, None, ["maid"])},
            "age below 45 and income below 0.25 and job at 'maid'",
        ),
    ],
    ids=str,
)
def test_set_in_a_region(model, name, part, words):
    """Also at knots, at the ends of the region, and after another edit of the same surface."""
    rows = X.assign(age=np.round(X["age"] / 5) * 5)
    features = name.split(" × ")
    inside = np.ones(len(rows), dtype=bool)
    for j, feature in enumerate(features):
        x = rows[feature]
        low, high = (part.get(end, [None] * 3)[j] for end in ("low", "high"))
        levels = part.get("levels", [None] * 3)[j]
        own = x.notna()
        own = own if low is None else own & (x >= low)
        own = own if high is None else own & (x < high)
        own = own if levels is None else own & x.isin(np.atleast_1d(levels))
        if part.get("missing", [False] * 3)[j]:
            own = x.isna() if low is None and high is None else own | x.isna()
        inside &= own.to_numpy()
    for before in (model, model.set_curve(name, 9.0)):
        edited = before.set_curve(name, 0.75, **part)
        assert edited.edits_[-1] == f"{name} was set to 0.75 for {words}"
        old, new = before.explain_local(rows), edited.explain_local(rows)
        assert_only_changed(old, new, name, inside, 0.75)
        far = strange_rows()
        score = edited.explain_local(far)["score"]
        np.testing.assert_allclose(edited.decision_function(far), score, rtol=0, atol=1e-12)


def test_set_everywhere_but_at_missing_values(model):
    edited = model.set_curve(("income", 0), -2.0)
    assert edited.edits_ == ("age × income was set to -2",)
    before, after = model.explain_local(X), edited.explain_local(X)
    assert_only_changed(before, after, PAIR, X["income"].notna().to_numpy(), -2.0)


def test_set_one_class_of_several():
    model = fit_surfaces(X3, Y3)
    edited = model.set_curve(PAIR, 0.5, low=(45, None), class_label="mid")
    assert edited.edits_ == ("age × income was set to 0.5 for age from 45 on for class 'mid'",)
    before, after = model.decision_function(X3), edited.decision_function(X3)
    np.testing.assert_allclose(after[:, [0, 2]], before[:, [0, 2]], rtol=0, atol=1e-12)
    inside = ((X3["age"] >= 45) & X3["income"].notna()).to_numpy()
    assert_only_changed(
        model.explain_local(X3)["mid"], edited.explain_local(X3)["mid"], PAIR, inside, 0.5
    )
    shapes = {shapes.surfaces[0].values.shape for shapes in edited.shapes_}
    assert shapes == {edited.surface_density_[0].shape}
    with pytest.raises(ValueError, match="class_label=None: the model has a curve for each of"):
        model.set_curve(PAIR, 0.5)


def test_curves_are_edited_without_their_interactions(model):
    before, after = model.explain_local(X), model.set_curve("age", 0.0).explain_local(X)
    assert (after["age"] == 0.0).all()
    np.testing.assert_array_equal(after[[PAIR, MIXED, TRIPLE]], before[[PAIR, MIXED, TRIPLE]])


# Flattening


def test_flatten_keeps_the_mean():
    """The weights at the grid points of a surface with jumps only are exact."""
    model = StumpLogisticRegression().fit(X, Y)
    add_surfaces(model, X, [(0, 2)], jumps=True)
    (surface,) = model.shapes_.surfaces
    cell = np.repeat(np.arange(6), 2)[1:-1]
    surface.values[:] = surface.values[np.minimum(2 * cell, 9)]
    low = surface.axes[0].knots[2]
    inside = ((X["age"] >= low) & (X["job"] == "maid")).to_numpy()
    edited = model.flatten_curve(MIXED, low=(low, None), levels=(None, ["maid"]))
    before, after = model.explain_local(X), edited.explain_local(X)
    assert_only_changed(before, after, MIXED, inside, before[MIXED][inside].mean())
    assert edited.edits_[0].startswith("age × job was flattened for age from ")
    weights = edited.surface_density_[0]
    assert weights.shape == edited.shapes_.surfaces[0].values.shape
    assert weights.sum() == len(X)
    found = edited.explain_global().set_index("feature").loc[MIXED, "importance"]
    assert found == pytest.approx(after[MIXED].std(ddof=0), abs=1e-12)


def test_flatten_all_classes():
    model = fit_surfaces(X3, Y3)
    edited = model.flatten_curve(PAIR, missing=(False, True), low=(None, -1e9))
    for label in model.classes_:
        assert edited.explain_local(X3)[label][PAIR].nunique() == 1
    assert edited.edits_ == (
        "age × income was flattened for income from -1000000000 on and where it is missing",
    )


# Removing


@pytest.mark.parametrize("is_multiclass", [False, True])
def test_removed_interactions(is_multiclass):
    rows, y = (X3, Y3) if is_multiclass else (X, Y)
    model = fit_surfaces(rows, y)
    model.interactions_ = [(0, 1), (0, 2), (0, 1, 2)]
    edited = model.remove_feature("income × age")
    assert edited.edits_ == ("age × income was removed",)
    assert edited.interactions_ == [(0, 2), (0, 1, 2)]
    assert len(model.interactions_) == len(model.surface_density_) == 3
    assert [weights.ndim for weights in edited.surface_density_] == [3, 2]
    for before, after, k in zip(each(model.shapes_), each(edited.shapes_), range(3), strict=False):
        assert [s.features for s in after.surfaces] == [(0, 1, 2), (0, 2)]
        mean = np.average(before.surfaces[0].values, weights=model.surface_density_[0])
        assert after.intercept == pytest.approx(before.intercept + mean, abs=1e-12)
        assert edited.intercept_[k] == after.intercept
        parts = before.contributions(check_rows(model, rows))
        expected = before.evaluate(check_rows(model, rows)) - parts[:, 3] + mean
        score = edited.decision_function(rows).reshape(len(rows), -1)[:, k]
        np.testing.assert_allclose(score, expected, rtol=0, atol=1e-12)
    assert PAIR not in set(edited.explain_global()["feature"])


def test_a_feature_is_removed_with_its_interactions(model):
    edited = model.remove_feature("income")
    assert edited.edits_ == ("income was removed with 2 interactions",)
    assert edited.shapes_.terms == ((0,), (1,), (2,), (0, 2))
    shuffled = X.assign(income=X["income"].to_numpy()[::-1])
    np.testing.assert_array_equal(edited.decision_function(shuffled), edited.decision_function(X))
    names = edited.explain_local(X).columns.tolist()
    assert names == ["intercept", "age", "income", "job", MIXED, "score"]
    assert (
        edited.remove_feature("job").remove_feature("age").explain_local(X)["score"].nunique() == 1
    )
    assert len(edited.remove_feature("age").explain_ensemble()) > 0


def test_removing_keeps_the_mean_of_step_surfaces():
    model = StumpLogisticRegression().fit(X, Y)
    add_surfaces(model, X, [(1, 2)], jumps=True)
    (surface,) = model.shapes_.surfaces
    cell = np.append(np.minimum(2 * np.repeat(np.arange(6), 2)[1:-1], 9), 10)
    surface.values[:] = surface.values[cell]
    mean = model.decision_function(X).mean()
    assert model.remove_feature(("income", "job")).decision_function(X).mean() == pytest.approx(
        mean
    )
    assert model.remove_feature("job").decision_function(X).mean() == pytest.approx(mean)


# Edited models


def test_edited_surfaces_are_pickled(model):
    edited = model.set_curve(PAIR, 1.0, low=(40, None)).remove_feature(MIXED)
    copied = pickle.loads(pickle.dumps(edited))
    np.testing.assert_array_equal(copied.decision_function(X), edited.decision_function(X))
    assert copied.explain_global().equals(edited.explain_global())
    assert repr(edited).endswith("edited: age × job was removed (1 earlier edit)>")
    assert edited.certificate_ is None


def test_the_original_is_not_changed(model):
    before, weights = model.decision_function(X), [w.copy() for w in model.surface_density_]
    model.flatten_curve(TRIPLE, high=(40, 0, None)).remove_feature(0)
    np.testing.assert_array_equal(model.decision_function(X), before)
    for own, old in zip(model.surface_density_, weights, strict=True):
        np.testing.assert_array_equal(own, old)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda m: m.set_curve(PAIR, 0.0, low=3),
            r"low=3: 'age × income' has 2 features; pass .* such as low=\(\.\.\., None\)\.",
        ),
        (
            lambda m: m.set_curve(TRIPLE, 0.0, missing=True),
            r"missing=True: .* has 3 features; pass .* missing=\(\.\.\., False, False\)\.",
        ),
        (lambda m: m.set_curve(PAIR, 0.0, high=(1, 2, 3)), r"high=\(1, 2, 3\): 'age × income' has"),
        (lambda m: m.set_curve(PAIR, 0.0, low=(5, 1), high=(5, 2)), "low=5, high=5: pass numbers"),
        (lambda m: m.set_curve(MIXED, 0.0, low=(1, 1)), "low=1, high=None: 'job' is a category"),
        (lambda m: m.set_curve(MIXED, np.inf), "value=inf must be a finite number"),
        (
            lambda m: m.flatten_curve(PAIR, low=(1e6, None)),
            "'age × income' has no training samples for age from 1000000 on to average over",
        ),
        (
            lambda m: m.remove_feature("income × job"),
            "is not an interaction of the model; use 'age × income × job'",
        ),
        (lambda m: m.remove_feature(("job", "income")), "is not an interaction of the model"),
    ],
)
def test_invalid_arguments(model, call, message):
    with pytest.raises(ValueError, match=message) as raised:
        call(model)
    assert "\n" not in str(raised.value)
