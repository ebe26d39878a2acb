"""Pipelines folded into one model: the same classes and scores, on every float."""

import json

import numpy as np
import pandas as pd
import pytest
from oracles import seeds
from sklearn.base import clone
from sklearn.compose import (
    ColumnTransformer,
    TransformedTargetRegressor,
    make_column_selector,
)
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

import everystump
from everystump import (
    KernelSVC,
    PerceptronSVC,
    StumpBaggingClassifier,
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpRegressor,
    StumpRegressorCV,
    StumpSVC,
    StumpSVCCV,
    SubsampleVotingClassifier,
)
from everystump._pipelines.columns import smallest_preimage
from everystump._pipelines.folding import fold_pipeline
from everystump.export import score_json, to_json, write
from everystump.report import write_report

STEPS = {
    "standard": StandardScaler(),
    "center": StandardScaler(with_std=False),
    "spread": StandardScaler(with_mean=False),
    "neither": StandardScaler(with_mean=False, with_std=False),
    "min max": MinMaxScaler((-1, 3)),
    "max abs": MaxAbsScaler(),
    "robust": RobustScaler(),
    "imputer": SimpleImputer(strategy="median"),
    "constant": SimpleImputer(strategy="constant", fill_value=2.5),
    "selected": SelectKBest(k=2),
    "varying": VarianceThreshold(),
    "identity": FunctionTransformer(),
    "passthrough": "passthrough",
    "some": ColumnTransformer([("one", RobustScaler(), [2, 0])], remainder="drop"),
    "turned": ColumnTransformer(
        [("one", StandardScaler(), [-1]), ("two", "passthrough", slice(0, 2))],
        remainder=make_pipeline(MaxAbsScaler(), MinMaxScaler()),
    ),
    "twice": ColumnTransformer([("a", MinMaxScaler(), [0, 1]), ("b", MaxAbsScaler(), [1, 2])]),
    "mask": ColumnTransformer([("a", "passthrough", [True, False, True])]),
}
CHAINS = [[name] for name in STEPS] + [
    ["standard", "min max", "robust"],
    ["imputer", "standard", "selected"],
    ["varying", "turned", "max abs"],
    ["constant", "twice"],
    ["standard", "imputer", "min max"],
]
STEP_MODELS = [
    StumpBoostingClassifier(n_estimators=20),
    StumpSVC(measure="middle"),
    StumpBaggingClassifier(20, random_state=0),
]
SMOOTH_MODELS = [StumpSVC(), StumpLogisticRegression(fit_intercept=False)]


def table(seed, n=60, missing=False):
    rng = np.random.default_rng(seed)
    scale, center = 10.0 ** rng.integers(-4, 5, 3), rng.normal(size=3) * 10.0 ** rng.integers(0, 5)
    X = np.round(rng.normal(size=(n, 3)), 1) * scale + center
    y = (rng.normal(size=n) + (X - X.mean(axis=0)) @ (1 / X.std(axis=0)) > 0).astype(int)
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


def around(X, model):
    """Return rows at and next to every knot of a model, and between its rows."""
    rng = np.random.default_rng(0)
    rows = [X, X[rng.permutation(len(X))] / 2 + X / 2]
    models = model.shapes_ if isinstance(model.shapes_, list) else [model.shapes_]
    for d in range(X.shape[1]):
        knots = np.concatenate([each[d].knots for each in models])
        near = [knots, np.nextafter(knots, -np.inf), np.nextafter(knots, np.inf)]
        for values in near:
            some = X[rng.integers(0, len(X), len(values))].copy()
            some[:, d] = values
            rows.append(some)
    return np.concatenate(rows)


def made(chain, model):
    return make_pipeline(
        *(s if isinstance(s := STEPS[name], str) else clone(s) for name in chain), model
    )


@pytest.mark.parametrize("chain", CHAINS, ids="+".join)
@pytest.mark.parametrize("model", STEP_MODELS, ids=lambda model: type(model).__name__)
def test_step_models_jump_at_the_same_floats(chain, model):
    takes_missing = not {"selected", "varying"} & {*chain[:1]}
    X, y = table(3, missing=takes_missing)
    pipeline = made(chain, clone(model)).fit(X, y)
    one = fold_pipeline(pipeline)
    rows = around(X, one)
    scores = pipeline.decision_function(rows)
    np.testing.assert_allclose(one.decision_function(rows), scores, rtol=0, atol=1e-12)
    clear = np.abs(scores) > 1e-12  # another order of columns rounds a sum of 0 differently
    np.testing.assert_array_equal(one.predict(rows)[clear], pipeline.predict(rows)[clear])
    assert type(one) is type(model)
    assert one.n_features_in_ == 3
    np.testing.assert_allclose(
        one.feature_importances_.sum(), pipeline[-1].feature_importances_.sum(), rtol=1e-9
    )


@pytest.mark.parametrize("chain", CHAINS, ids="+".join)
@pytest.mark.parametrize("model", SMOOTH_MODELS, ids=lambda model: type(model).__name__)
def test_smooth_curves_agree_up_to_rounding(chain, model):
    takes_missing = not {"selected", "varying"} & {*chain[:1]}
    X, y = table(4, missing=takes_missing)
    pipeline = made(chain, clone(model)).fit(X, y)
    one = fold_pipeline(pipeline)
    rows = around(X, one)
    scores = pipeline.decision_function(rows)
    np.testing.assert_allclose(
        one.decision_function(rows), scores, atol=1e-9 * np.abs(scores).max()
    )
    assert one.certificate_ == pipeline[-1].certificate_


@pytest.mark.parametrize("seed", seeds(6))
def test_three_classes_and_any_chain(seed):
    rng = np.random.default_rng(seed)
    X, _ = table(seed, n=90)
    y = rng.integers(0, 3, 90) + (X[:, 0] > np.median(X[:, 0]))
    names = [name for name in STEPS if name not in {"selected", "some", "mask"}]
    chain = rng.choice(names, size=3).tolist()
    chain = [name if name != "twice" or k == 2 else "robust" for k, name in enumerate(chain)]
    pipeline = made(chain, StumpBoostingClassifier(n_estimators=9)).fit(X, y)
    one = fold_pipeline(pipeline)
    rows = around(X, one)
    np.testing.assert_allclose(
        one.decision_function(rows), pipeline.decision_function(rows), atol=1e-12
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x,
        lambda x: x / 3.0,
        lambda x: x * 1e250,
        lambda x: (x - 1e20) / 7.0,
        lambda x: x * 1e-200 + 0.1,
    ],
    ids=["same", "third", "huge", "far", "tiny"],
)
def test_smallest_preimage(function):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=40) * 10.0 ** rng.integers(-30, 30, 40), [0.0, 5e-324]])
    targets = function(x)
    found = smallest_preimage(function, targets)
    assert np.all(found <= x)
    assert np.all(function(found) >= targets)
    assert np.all(function(np.nextafter(found, -np.inf)) < targets)


def frame(n=80):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "note": [f"row {k}" for k in range(n)],
            "job": rng.choice(["clerk", "maid", "smith"], n),
            "pay": np.exp(rng.normal(8, 1, n)),
        }
    )
    X.loc[rng.random(n) < 0.2, "pay"] = np.nan
    X.loc[rng.random(n) < 0.2, "job"] = None
    y = np.where((X["age"] > 45) ^ (X["job"] == "maid"), "yes", "no")
    return X, y


NAMED = {
    "passthrough": ColumnTransformer(
        [("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["pay", "age"])],
        remainder="passthrough",
    ),
    "dropped": ColumnTransformer(
        [("numbers", StandardScaler(), ["age"]), ("rest", "passthrough", ["job"])]
    ),
    "filled": ColumnTransformer(
        [
            ("words", SimpleImputer(strategy="most_frequent"), ["job"]),
            ("numbers", RobustScaler(), make_column_selector(dtype_include="number")),
        ]
    ),
    "one column": ColumnTransformer([("numbers", "passthrough", slice("job", "pay"))]),
}


@pytest.mark.parametrize("kind", NAMED)
@pytest.mark.parametrize("output", ["default", "pandas"])
def test_frames_with_categories(kind, output, tmp_path):
    X, y = frame()
    steps = clone(NAMED[kind]).set_output(transform=output)
    X = X.drop(columns="note") if kind == "passthrough" else X
    if output == "default":
        X = X.astype({"job": object}).where(X.notna(), np.nan)
    pipeline = make_pipeline(steps, StumpLogisticRegression()).fit(X, y)
    everystump.save(pipeline, tmp_path / "model.stump")
    one = everystump.load(tmp_path / "model.stump")
    assert one.feature_names_in_.tolist() == X.columns.tolist()
    expected = pipeline.decision_function(X)
    np.testing.assert_allclose(one.decision_function(X), expected, atol=1e-9)
    turned = X[X.columns[::-1]]
    np.testing.assert_allclose(one.decision_function(turned), expected, atol=1e-9)
    write_report(pipeline, tmp_path / "page.html", X, y)
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_saved_exported_and_reported(tmp_path):
    X, y = table(5)
    pipeline = make_pipeline(StandardScaler(), StumpSVC()).fit(X, y)
    everystump.save(pipeline, tmp_path / "model.stump")
    one = everystump.load(tmp_path / "model.stump")
    np.testing.assert_array_equal(
        one.decision_function(X), fold_pipeline(pipeline).decision_function(X)
    )
    scores = score_json(json.loads(to_json(pipeline)), X)
    np.testing.assert_allclose(np.ravel(scores.score), pipeline.decision_function(X), atol=1e-9)
    for name in ("model.json", "model.sql", "model.onnx"):
        write(pipeline, tmp_path / name)
    write_report(pipeline, tmp_path / "page.html", X, y)


def test_attributes_of_the_last_step_that_folding_removes():
    X, y = table(5)
    pipeline = make_pipeline(StandardScaler(), StumpSVC()).fit(X, y)
    one = fold_pipeline(pipeline)
    with pytest.raises(ValueError, match=r"dual_coef_: StumpSVC was the last step of a pipeline"):
        one.dual_coef_  # noqa: B018
    assert not hasattr(one, "dual_coef_")
    assert hasattr(pipeline[-1], "dual_coef_")
    assert one.edits_ == ()
    np.testing.assert_array_equal(one.fit(X, y).dual_coef_, StumpSVC().fit(X, y).dual_coef_)


def test_votes_and_paths():
    X, y = table(6)
    vote = SubsampleVotingClassifier(StumpSVC(), n_estimators=3, random_state=0)
    for last in (vote, StumpSVCCV(Cs=3, cv=2)):
        pipeline = make_pipeline(StandardScaler(), last).fit(X, y)
        one = fold_pipeline(pipeline)
        np.testing.assert_allclose(
            one.decision_function(X), pipeline.decision_function(X), atol=1e-9
        )
    assert one.C_ == pipeline[-1].C_


def test_pipelines_without_effect_fold_to_their_last_step():
    X, y = table(7)
    for last in (KernelSVC(), PerceptronSVC(), StumpSVC()):
        pipeline = Pipeline([("none", "passthrough"), ("last", last)]).fit(X, y)
        assert fold_pipeline(pipeline) is pipeline[-1]
    assert fold_pipeline(last) is last


class MyScaler(StandardScaler):
    """A subclass, which may do anything."""


UNSUPPORTED = {
    "step": (make_pipeline(PolynomialFeatures(), StumpSVC()), r"step 'polynomialfeatures' \(Poly"),
    "subclass": (
        make_pipeline(MyScaler(), StumpSVC()),
        r"step 'myscaler' \(MyScaler\) .* is not sup",
    ),
    "clip": (make_pipeline(MinMaxScaler(clip=True), StumpSVC()), r"clips values \(clip=True\)"),
    "function": (
        make_pipeline(FunctionTransformer(np.log1p), StumpSVC()),
        r"calls a Python function",
    ),
    "indicator": (make_pipeline(SimpleImputer(add_indicator=True), StumpSVC()), r"adds columns"),
    "other missing": (
        make_pipeline(SimpleImputer(missing_values=0), StumpSVC()),
        r"than NaN",
    ),
    "kernel": (
        make_pipeline(StandardScaler(), KernelSVC()),
        r"curves only, and KernelSVC has none",
    ),
    "inside": (
        make_pipeline(ColumnTransformer([("poly", PolynomialFeatures(), [0])]), StumpSVC()),
        r"step 'poly' \(PolynomialFeatures\)",
    ),
    "levels": (
        make_pipeline(MaxAbsScaler(), StumpSVC(categorical_features=[0])),
        r"change column 0, whose values are levels",
    ),
}


@pytest.mark.parametrize(("pipeline", "match"), UNSUPPORTED.values(), ids=UNSUPPORTED)
def test_unsupported_steps_are_named(pipeline, match, tmp_path):
    X, y = np.abs(np.round(table(8)[0])), table(8)[1]
    pipeline = clone(pipeline).fit(X, y)
    with pytest.raises(everystump.ModelFileError, match=match) as caught:
        everystump.save(pipeline, tmp_path / "model.stump")
    assert "pass the last step alone, or save the pipeline with skops or joblib." in str(
        caught.value
    )
    with pytest.raises(ValueError, match=match):
        write(pipeline, tmp_path / "model.json")
    with pytest.raises(ValueError, match=match):
        write_report(pipeline, tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_pipelines_of_other_estimators_raise(tmp_path):
    from sklearn.linear_model import LogisticRegression

    X, y = table(8)
    others = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    with pytest.raises(everystump.ModelFileError, match=r"last step .* LogisticRegression, is not"):
        everystump.save(others, tmp_path / "model.stump")
    with pytest.raises(everystump.ModelFileError, match="is not fitted"):
        everystump.save(make_pipeline(StandardScaler(), StumpSVC()), tmp_path / "model.stump")
    search = GridSearchCV(StumpSVC(), {"C": [0.1, 1.0]}, cv=2).fit(X, y)
    with pytest.raises(everystump.ModelFileError, match="pass its best_estimator_"):
        everystump.save(search, tmp_path / "model.stump")


REGRESSORS = [
    StumpRegressor(),
    StumpRegressor(loss="gamma", measure="middle"),
    StumpRegressorCV(Cs=[0.1, 1.0], cv=2, loss="poisson", interactions=0),
]


@pytest.mark.parametrize("chain", [["standard"], ["imputer", "turned"], ["constant", "twice"]])
@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: model.loss)
def test_regressors(chain, model, tmp_path):
    X, _ = table(9, missing=chain[0] != "standard")
    y = 1e3 * np.exp(np.where(X[:, 0] > np.nanmedian(X[:, 0]), 1.0, 0.0) + np.arange(len(X)) / 60)
    pipeline = made(chain, clone(model)).fit(X, y)
    one = fold_pipeline(pipeline)
    rows = around(X, one)
    predicted = pipeline.predict(rows)
    np.testing.assert_allclose(one.predict(rows), predicted, rtol=1e-9)
    assert (one.link_, one.target_scale_) == (pipeline[-1].link_, pipeline[-1].target_scale_)
    assert type(one) is type(model) and one.certificate_ == pipeline[-1].certificate_
    everystump.save(pipeline, tmp_path / "model.stump")
    again = everystump.load(tmp_path / "model.stump")
    np.testing.assert_array_equal(again.predict(rows), one.predict(rows))
    found = score_json(to_json(pipeline), rows).prediction
    np.testing.assert_allclose(found, predicted, rtol=1e-9)
    assert not hasattr(one, "dual_coef_")


@pytest.mark.parametrize("inside", [False, True])
def test_transformed_targets_cannot_be_folded(inside, tmp_path):
    X, _ = table(9)
    model = TransformedTargetRegressor(StumpRegressor(), func=np.log, inverse_func=np.exp)
    model = make_pipeline(StandardScaler(), model) if inside else model
    model.fit(X, np.arange(1.0, len(X) + 1))
    message = r"^model: TransformedTargetRegressor changes predictions, .*; pass its regressor_ "
    with pytest.raises(everystump.ModelFileError, match=message) as caught:
        everystump.save(model, tmp_path / "model.stump")
    assert "\n" not in str(caught.value)
    for name in ("model.json", "model.sql", "model.onnx"):
        with pytest.raises(ValueError, match=message):
            write(model, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
