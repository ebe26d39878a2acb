"""Model files: every estimator is restored exactly."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles import search
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from stored_models import CASES, KERNEL, REGRESSORS, TWO, fitted, regression_table, table

import everystump
from everystump import bounds
from everystump._core.measures import Density
from everystump.bounds._bound import Bound
from everystump.modelfile import ModelFileError, container, load, registry, save
from everystump.modelfile.decode import Decoder
from everystump.modelfile.encode import Encoder


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.stump"


def save_and_load(model, path):
    save(model, path)
    return load(path)


def equal(a, b):
    """Whether two values have the same type and content; NaN equals NaN."""
    if isinstance(a, np.ma.MaskedArray):
        return equal(a.mask, b.mask) and equal(a.compressed(), b.compressed())
    if isinstance(a, np.ndarray):
        if type(b) is not np.ndarray or a.dtype != b.dtype or a.shape != b.shape:
            return False
        return all(map(equal, a.ravel().tolist(), b.ravel().tolist()))
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return equal(list(a.items()), list(b.items()))
    return a == b or (a != a and b != b)


@pytest.mark.parametrize(("name", "n_classes"), CASES)
def test_every_estimator_is_restored(name, n_classes, path, tmp_path):
    model, (X, y) = fitted(name, n_classes), table(n_classes)
    again = save_and_load(model, path)
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    assert repr(again.get_params()) == repr(model.get_params())
    assert list(vars(again).keys() - vars(model).keys()) == []
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.predict(X).dtype == model.predict(X).dtype
    save(again, tmp_path / "second")
    assert (tmp_path / "second").read_bytes() == path.read_bytes()
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    fresh = clone(again)
    assert not hasattr(fresh, "classes_")
    scores = fresh.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(again.fit(X, y).decision_function(X), scores)


@pytest.mark.parametrize("name", REGRESSORS)
def test_every_regressor_is_restored(name, path, tmp_path):
    model, (X, y) = fitted(name), regression_table()
    again = save_and_load(model, path)
    assert type(again) is type(model)
    assert repr(again.get_params()) == repr(model.get_params())
    assert vars(again).keys() == vars(model).keys()
    scales = [getattr(each, "target_scale_", None) for each in (again, model)]
    assert again.link_ == model.link_ and scales[0] == scales[1]
    has_log_link = model.get_params().get("loss") in ("poisson", "gamma")
    assert again.link_ == ("log" if has_log_link else "identity")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    save(again, tmp_path / "second")
    assert (tmp_path / "second").read_bytes() == path.read_bytes()
    assert again.training_overlap(X[::-1], y[::-1]).same_rows
    np.testing.assert_array_equal(again.fit(X, y).predict(X), model.predict(X))


def test_an_edited_regressor_is_restored(path):
    model, (X, _) = fitted("StumpRegressor, poisson"), regression_table()
    edited = model.remove_feature("x1").set_curve("x2", 0.5, low=0.0)
    again = save_and_load(edited, path)
    np.testing.assert_array_equal(again.predict(X), edited.predict(X))
    assert again.link_ == "log" and again.edits_ == edited.edits_
    assert np.all(again.predict(X) != model.predict(X))


def test_all_public_estimators_are_tested():
    tested = {type(model).__name__ for model in [*TWO.values(), *REGRESSORS.values()]}
    public = {n for n in everystump.__all__ if hasattr(getattr(everystump, n), "get_params")}
    assert tested == public == set(registry.ESTIMATORS)


def test_names_of_features_and_objects_as_labels(path):
    X, y = table(2)
    frame = pd.DataFrame(X, columns=["a", "b", "ü", "d e"])
    labels = np.array(["no", "yes"], dtype=object)[(y > 0).astype(int)]
    model = save_and_load(everystump.StumpSVC().fit(frame, labels), path)
    assert model.feature_names_in_.tolist() == ["a", "b", "ü", "d e"]
    assert model.classes_.dtype == object
    assert model.score(frame, labels) > 0.8
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize("name", ["StumpSVC, range", "KernelSVC", "SubsampleVotingClassifier"])
def test_bounds_of_a_loaded_model(name, path):
    model, (X, y) = fitted(name), table(2)
    again = save_and_load(model, path)
    assert bounds.det_loo_bound(again, X, y) == bounds.det_loo_bound(model, X, y)
    if name.startswith("Subsample"):
        assert bounds.det_loo_error(again, X, y) == bounds.det_loo_error(model, X, y)
    with pytest.raises(ValueError, match="the data that"):
        bounds.det_loo_bound(again, X[::-1], y)


def test_boosting_bounds_of_a_loaded_model(path):
    model, (X, y) = fitted("StumpBoostingClassifier"), table(2)
    again = save_and_load(model, path)
    assert bounds.boosting_training_bound(again) == bounds.boosting_training_bound(model)
    args = dict(X=X, y=y, theta=0.1)
    assert bounds.margin_distribution_bound(again, **args) == bounds.margin_distribution_bound(
        model, **args
    )


def test_shared_objects_stay_shared(path):
    search = save_and_load(fitted("LooBoundSearch"), path)
    assert search.candidates_[search.best_index_] is search.best_estimator_
    assert isinstance(search.best_bound_, Bound)
    assert search.candidates_[0] is not search.candidates_[1]
    perceptrons = save_and_load(fitted("PerceptronSVC"), path)
    assert perceptrons.dual_coef_ is perceptrons.machine_.dual_coef_


def test_precomputed_kernels(path):
    X, y = table(2)
    model = everystump.KernelSVC("precomputed").fit(X @ X.T, y)
    again = save_and_load(model, path)
    np.testing.assert_array_equal(
        again.decision_function(X @ X.T), model.decision_function(X @ X.T)
    )


def test_arrays_are_writable(path):
    model = save_and_load(fitted("StumpSVC"), path)
    model.intercept_[0] = 7.0
    assert model.intercept_.tolist() == [7.0]


def test_boosting_continues_from_a_file(path):
    X, y = table(2)
    short = everystump.StumpBoostingClassifier(n_estimators=5, warm_start=True).fit(X, y)
    longer = save_and_load(short, path).set_params(n_estimators=12).fit(X, y)
    straight = everystump.StumpBoostingClassifier(n_estimators=12).fit(X, y)
    np.testing.assert_allclose(longer.decision_function(X), straight.decision_function(X))


PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.sampled_from(
        [np.float32(0.1), np.float64("nan"), np.int8(-3), np.str_("x"), np.bool_(True)]
    ),
    hnp.arrays(
        st.sampled_from(["f8", "f4", ">f8", "i8", "u1", "?", "U3"]),
        hnp.array_shapes(min_dims=0, min_side=0, max_side=3),
    ),
    st.just(np.asfortranarray(np.arange(6.0).reshape(2, 3))),
    st.just(np.array([[None, "a"], [1, (2.0, np.inf)]], dtype=object)),
    st.just(np.ma.MaskedArray([1.0, 2.0], mask=[True, False])),
)
KEYS = st.one_of(st.text(), st.integers(), st.booleans(), st.tuples(st.integers(), st.text()))
VALUES = st.recursive(
    PLAIN,
    lambda part: st.one_of(
        st.lists(part, max_size=4),
        st.lists(part, max_size=4).map(tuple),
        st.dictionaries(KEYS, part, max_size=4),
    ),
    max_leaves=12,
)


@given(VALUES)
@search(150)
def test_any_plain_value_is_restored(value):
    encoder = Encoder()
    text = json.dumps(encoder.encode(value, "value"), allow_nan=False)
    files = {name: container.npy_bytes(array) for name, array in encoder.arrays.items()}
    decoder = Decoder(lambda name: container.read_array(files.pop(name)))
    assert equal(decoder.decode(json.loads(text)), value)
    assert not files


def test_files_are_readable_without_everystump(path):
    model = fitted("StumpSVC")
    save(model, path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        index = json.loads(archive.read("model.json"))
        arrays = {n: np.load(io.BytesIO(archive.read(n))) for n in archive.namelist()[1:]}
    assert (index["format"], index["format_version"]) == ("everystump model", 1)
    assert index["everystump"] == everystump.__version__
    assert set(index["versions"]) == {"numpy", "python", "scikit-learn", "scipy"}
    assert set(arrays) == set(index["arrays"])
    file = index["model"]["holds"]["dual_coef_"]["file"]
    np.testing.assert_array_equal(arrays[file], model.dual_coef_)


@pytest.mark.parametrize("name", ["StumpSVC", "StumpLogisticRegressionCV", "LooBoundSearch"])
def test_equal_fits_make_equal_bytes(path, tmp_path, name):
    """The file contains no times, which differ between fits."""
    save(fitted(name), path)
    save(clone(TWO[name]).fit(*table(2)), str(tmp_path / "other"))
    assert (tmp_path / "other").read_bytes() == path.read_bytes()


class OurChild(everystump.StumpSVC):
    pass


def flat(x):
    return np.ones_like(x)


def dot(A, B):
    return A @ B.T


def scorer(model, X, y):
    return model.score(X, y)


UNSTORABLE = [
    (
        everystump.StumpSVC(measure=flat),
        r"^measure=<function flat.* is a function, .*; use a measure's name",
    ),
    (everystump.StumpSVC(measure=Density([flat] * 4)), r"^measure=Density\(\) is of type D"),
    (everystump.KernelSVC(dot), r"^kernel=<function dot.* is a function, .*; use a kernel's name"),
    (
        everystump.StumpSVCCV(Cs=2, cv=2, scoring=scorer),
        r"^scoring=<function .*; use a scorer's name",
    ),
    (everystump.StumpSVCCV(Cs=2, cv=StratifiedKFold(2)), r"^cv=Strat.*; use a number of folds"),
    (
        everystump.StumpBaggingClassifier(3, random_state=np.random.RandomState(0)),
        r"^random_state=RandomState.* is of type RandomState, .*; use an int",
    ),
    (
        everystump.WeightedVoteClassifier([("k", KNeighborsClassifier())], random_state=0),
        r"^estimators\[0\]\[1\]=KNeighborsClassifier\(\) is not an estimator of .*skops\.$",
    ),
    (
        everystump.SubsampleVotingClassifier(KNeighborsClassifier(), n_estimators=2),
        r"^estimator=KNeighborsClassifier\(\) is not an estimator of everystump.*skops\.$",
    ),
    (
        everystump.SubsampleVotingClassifier(OurChild(), n_estimators=2),
        r"^estimator=OurChild\(\) is not an estimator of everystump.*skops\.$",
    ),
    (
        everystump.LooBoundSearch(KERNEL, {"kernel": [dot]}),
        r"^param_grid\['kernel'\]\[0\]=<function dot.*; use plain numbers",
    ),
    (
        everystump.StumpSVC(feature_range=pd.Series([-9.0, 9.0])),
        r"^feature_range=0 -9.0 1 9.0 dtype: float64 is of type Series",
    ),
]


@pytest.mark.parametrize(("model", "message"), UNSTORABLE)
def test_unsupported_values_raise_before_anything_is_written(model, message, path):
    model = clone(model).fit(*table(2))
    path.write_bytes(b"as it was")
    with pytest.raises(ModelFileError, match=message) as caught:
        save(model, path)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == b"as it was"
    assert list(path.parent.iterdir()) == [path]


def with_attribute(value):
    model = clone(TWO["StumpSVC"]).fit(*table(2))
    model.note_ = value
    return model


def test_unsupported_types(path):
    ring = []
    ring.append(ring)
    with pytest.raises(ModelFileError, match=r"nested more than 60 levels deep"):
        save(with_attribute(ring), path)
    for value in (1j, np.array([1j]), np.longdouble(1), np.zeros(2, "f8,f8"), {1, 2}, b"x", object):
        with pytest.raises(
            ModelFileError, match=r"^note_=.* a model file cannot contain; use plain"
        ):
            save(with_attribute(value), path)
    model = with_attribute(1)
    model.predict = 3
    with pytest.raises(ModelFileError, match=r"^predict=3 is"):
        save(model, path)
    assert not path.exists()


def test_unfitted_and_other_models_raise(path):
    with pytest.raises(ModelFileError, match=r"^model=StumpSVC is not fitted; call fit"):
        save(everystump.StumpSVC(), path)
    with pytest.raises(ModelFileError, match=r"^model=Pipeline is not fitted; call fit"):
        save(make_pipeline(everystump.StumpSVC()), path)
    for other in (OurChild().fit(*table(2)), {"a": 1}, None):
        with pytest.raises(ModelFileError, match=r"is not an estimator of everystump; .* skops\.$"):
            save(other, path)


def test_output_paths(path, tmp_path):
    model = fitted("DecisionStumpClassifier")
    with pytest.raises(IsADirectoryError, match=r"is a folder; pass the path of a file"):
        save(model, tmp_path)
    with pytest.raises(FileNotFoundError, match=r"in a folder that does not exist; create it"):
        save(model, tmp_path / "no" / "model")
    path.write_bytes(b"as it was")
    with pytest.raises(FileExistsError, match=r"exists; pass overwrite=True"):
        save(model, path, overwrite=False)
    assert path.read_bytes() == b"as it was"
    save(model, path)
    assert repr(load(path)) == repr(model)


def test_limits_of_a_file(path, monkeypatch):
    for name in ("MAX_BYTES", "MAX_FILES", "MAX_JSON_BYTES", "MAX_JSON_VALUES"):
        with monkeypatch.context() as patch:
            patch.setattr(container, name, 10)
            with pytest.raises(
                ModelFileError, match=r"^model: .* a model file is limited to .* joblib instead\.$"
            ):
                save(fitted("StumpSVC"), path)
    assert not path.exists()


@pytest.mark.parametrize("name", registry.ESTIMATORS)
def test_skops_stores_every_estimator(name):
    skops = pytest.importorskip("skops.io")
    model = fitted(name)
    X, _ = regression_table() if name in REGRESSORS else table(2)
    content = skops.dumps(model)
    again = skops.loads(content, trusted=skops.get_untrusted_types(data=content))
    assert repr(again) == repr(model)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
