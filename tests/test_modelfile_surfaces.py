"""Model files of models with interactions, and of those from before there were interactions."""

import json
import time
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from stored_models import fitted, table
from test_modelfile_damaged import contents, error_message, holds, npy, replace_array, rewrite

import everystump
from everystump import bounds
from everystump._core.shapes import Shape, ShapeModel
from everystump._core.surfaces import Axis, Surface
from everystump.datasets import make_twonorm
from everystump.modelfile import load, save

TERMS = [("size", "kind"), ("size", "steps"), ("size", "kind", "steps")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.stump"


def mixed_table(n=240, n_classes=2):
    """Return numbers with missing values, a category, small integers, and labels."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=n)
    X = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, size),
            "kind": rng.choice(["a", "b", "c"], size=n),
            "steps": rng.integers(0, 4, size=n).astype(float),
        }
    )
    score = size * np.where(X["kind"] == "a", 1, -1) + X["steps"]
    return X, np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)


@pytest.fixture(scope="module", params=[2, 3])
def interacting(request):
    X, y = mixed_table(n_classes=request.param)
    return everystump.StumpSVC(C=0.1, interactions=TERMS, interaction_bins=8).fit(X, y), X, y


def index_of(path):
    return json.loads(contents(path)["model.json"])


def test_interactions_are_restored(interacting, path, tmp_path):
    model, X, y = interacting
    save(model, path)
    again = load(path)
    assert vars(again).keys() == vars(model).keys()
    assert again.get_params() == model.get_params()
    assert again.interactions_ == model.interactions_ == [(0, 1), (0, 2), (0, 1, 2)]
    assert again.interaction_strength_ == model.interaction_strength_ > 0.0
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    for one, other in zip(again.surface_density_, model.surface_density_, strict=True):
        np.testing.assert_array_equal(one, other)
    save(again, tmp_path / "second")
    assert (tmp_path / "second").read_bytes() == path.read_bytes()
    scores = again.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(scores, model.fit(X, y).decision_function(X))


def test_surfaces_of_a_file_share_their_axes(interacting, path):
    save(interacting[0], path)
    shapes = load(path).shapes_
    models = shapes if isinstance(shapes, list) else [shapes]
    axes = [axis for model in models for surface in model.surfaces for axis in surface.axes]
    distinct = {(axis.knots.tobytes(), axis.is_category, axis.has_missing) for axis in axes}
    assert len({id(axis) for axis in axes}) == len(distinct) < len(axes)


def test_bounds_of_a_loaded_model(path):
    X, y = table(2)
    model = everystump.StumpSVC(C=0.1, interactions=3).fit(X, y)
    save(model, path)
    assert bounds.det_loo_bound(load(path), X, y) == bounds.det_loo_bound(model, X, y)


def test_edited_models(interacting, path):
    model = interacting[0].remove_feature("steps")
    save(model, path)
    again = load(path)
    assert vars(again).keys() == vars(model).keys()
    assert again.interactions_ == model.interactions_ == [(0, 1)]


def test_identical_fits_give_identical_files(tmp_path):
    X, y = mixed_table()
    for name in ("first", "second"):
        model = everystump.StumpLogisticRegressionCV(
            Cs=[0.1, 1.0], cv=2, interactions=1, interaction_strength=[0.1, 1.0]
        )
        save(model.fit(X, y), tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    results = load(tmp_path / "first").interaction_cv_results_
    assert results and not any(name.endswith("_time") for name in results)


@pytest.mark.parametrize("name", ["StumpSVC", "StumpLogisticRegressionCV", "StumpSVCCV, bound"])
def test_files_without_interactions_are_as_they_were(name, path):
    """Earlier versions can read them, since they contain nothing that these do not know."""
    save(fitted(name), path)
    index = index_of(path)
    assert index["format_version"] == 1
    model = index["model"]
    assert set(holds(index)["shapes_"]["with"]) == {"shapes", "intercept"}
    new = ("interaction", "surface", "_kernel", "_max_kernel", "max_interaction")
    assert not [key for key in [*model["with"], *model["holds"]] if key.startswith(new)]
    again = load(path)
    assert vars(again).keys() == vars(fitted(name)).keys()
    assert again.get_params() == fitted(name).get_params()
    assert (again.interactions, again.interactions_, again.surface_density_) == (0, [], ())
    assert again.interaction_strength_ == 0.0


def test_bounds_of_files_without_interactions(path):
    X, y = table(2)
    save(fitted("StumpSVC, range"), path)
    again = load(path)
    assert again._max_kernel == again.half_mass_ == fitted("StumpSVC, range")._max_kernel
    np.testing.assert_array_equal(again._kernel_diagonal, [again.half_mass_])
    assert bounds.det_loo_bound(again, X, y) == bounds.det_loo_bound(
        fitted("StumpSVC, range"), X, y
    )


@pytest.mark.parametrize("entry", ["interactions", "interaction_bins", "max_interaction_order"])
def test_options_of_interactions_need_the_newer_format(entry, path):
    """Earlier versions advise to upgrade instead of calling the file damaged."""
    X, y = table(2)
    values = {"interactions": 2, "interaction_bins": 8, "max_interaction_order": 3}
    model = everystump.StumpSVC(**{entry: values[entry]}).fit(X, y)
    save(model, path)
    assert index_of(path)["format_version"] == 2
    assert load(path).get_params() == model.get_params()


def first_surface(index):
    shapes = holds(index)["shapes_"]
    model = shapes[0] if isinstance(shapes, list) else shapes
    return model["with"]["surfaces"]["items"][0]["with"]


def axis(index, j):
    return first_surface(index)["axes"]["items"][j]["with"]


INCONSISTENT = {
    "features, order": (lambda i: first_surface(i)["features"]["items"].reverse(), "ascending"),
    "features, twice": (
        lambda i: first_surface(i).update(features={"type": "tuple", "items": [0, 0]}),
        "ascending order",
    ),
    "features, range": (
        lambda i: first_surface(i)["features"]["items"].__setitem__(1, 99),
        "features (0, 99), but the model has 3 features",
    ),
    "features, negative": (
        lambda i: first_surface(i)["features"]["items"].__setitem__(0, -1),
        "two or three numbers of features",
    ),
    "features, float": (
        lambda i: first_surface(i)["features"]["items"].__setitem__(0, 0.0),
        "a tuple of feature numbers",
    ),
    "features, other": (
        lambda i: first_surface(i).update(features={"type": "tuple", "items": [1, 2]}),
        "",
    ),
    "axes": (lambda i: first_surface(i)["axes"]["items"].pop(), "one axis per feature"),
    "axes, text": (lambda i: first_surface(i).update(axes="ab"), ""),
    "category": (lambda i: axis(i, 1).update(is_category=False), "must match their features"),
    "category, text": (lambda i: axis(i, 1).update(is_category="yes"), "must be booleans"),
    "missing": (lambda i: axis(i, 0).update(has_missing=2), "must be booleans"),
    "missing, more": (lambda i: axis(i, 1).update(has_missing=True), "one value per combination"),
    "values": (lambda i: first_surface(i).update(values=[1.0]), ""),
    "surfaces": (
        lambda i: holds(i)["shapes_"]["with"].update(surfaces=[]),
        "surface_density_ must have one weight",
    ),
    "twice": (
        lambda i: holds(i)["shapes_"]["with"]["surfaces"]["items"].append(
            {"type": "Surface", "with": dict(first_surface(i))}
        ),
        "",
    ),
    "terms": (lambda i: holds(i).update(interactions_=[[0, 1]]), "interactions_ must be a list"),
    "terms, range": (
        lambda i: holds(i).update(interactions_=[{"type": "tuple", "items": [0, 3]}]),
        "interactions_ must be a list of tuples of feature numbers",
    ),
    "strength": (lambda i: holds(i).update(interaction_strength_=-1.0), "interaction_strength_"),
    "weights": (
        lambda i: holds(i)["surface_density_"]["items"].reverse(),
        "surface_density_ must have one weight",
    ),
    "parameter": (lambda i: i["model"]["with"].update(interaction_bins=1), "'interaction_bins'"),
}


def save_interacting(path):
    X, y = mixed_table()
    model = everystump.StumpSVC(C=0.1, interactions=TERMS, interaction_bins=8).fit(X, y)
    save(model, path)
    # A note refers to all arrays, so that errors are not about unused ones.
    files = index_of(path)["arrays"]
    note = [{"type": "array", "file": file} for file in files]
    rewrite(path, lambda index: holds(index).update(note_=note))
    load(path)


@pytest.mark.parametrize("kind", INCONSISTENT)
def test_inconsistent_surfaces(kind, path):
    edit, message = INCONSISTENT[kind]
    save_interacting(path)
    rewrite(path, edit)
    assert message in error_message(path)


def changed(array, index, value):
    array = array.copy()
    array[index] = value
    return array


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda values: changed(values, (0, 0), np.nan), "the values of a Surface must be finite"),
        (lambda values: changed(values, (0, 0), np.inf), "the values of a Surface must be finite"),
        (lambda values: values[:-1].copy(), "pass one axis per feature and one value"),
        (lambda values: values.ravel(), "pass one axis per feature and one value"),
        (lambda values: values.astype(np.float32), "must be an array of 64-bit floats"),
        (lambda values: values.astype(int), "must be an array of 64-bit floats"),
    ],
)
def test_values_of_surfaces(edit, message, path):
    save_interacting(path)
    file = first_surface(index_of(path))["values"]["file"]
    values = load(path).shapes_.surfaces[0].values
    replace_array(path, file, npy(edit(values)))
    assert message in error_message(path)


@pytest.mark.parametrize(
    ("j", "edit", "message"),
    [
        (0, lambda knots: knots[::-1].copy(), "the knots of an Axis must be in ascending order"),
        (0, lambda knots: changed(knots, 1, np.nan), "an array of finite 64-bit floats"),
        (0, lambda knots: changed(knots, -1, np.inf), "an array of finite 64-bit floats"),
        (0, lambda knots: knots.astype(">f8"), "an array of finite 64-bit floats"),
        (0, lambda knots: knots[:-1].copy(), "one value per combination"),
        (0, lambda knots: knots[:0].copy(), "must be in ascending order"),
        (1, lambda knots: knots + 1.0, "the knots of an Axis of levels must be 0, 1, 2"),
    ],
)
def test_knots_of_axes(j, edit, message, path):
    save_interacting(path)
    file = axis(index_of(path), j)["knots"]["file"]
    knots = load(path).shapes_.surfaces[0].axes[j].knots
    replace_array(path, file, npy(edit(knots)))
    assert message in error_message(path)


def test_many_references_to_one_array(path):
    """A small file cannot describe a model that takes all memory."""
    n = 60
    X, y = np.tile(make_twonorm(40, random_state=0)[0], 3), make_twonorm(40, random_state=0)[1]
    model = everystump.StumpSVC().fit(X, y)
    values, axis = np.zeros((600, 600)), Axis(np.arange(600.0))
    surfaces = tuple(Surface(pair, (axis, axis), values) for pair in combinations(range(n), 2))
    flat = tuple(Shape(np.zeros(1), np.zeros(1)) for _ in range(n))
    model.shapes_ = ShapeModel(flat, 0.0, surfaces)
    with pytest.raises(everystump.ModelFileError, match="values, more than a model file can have"):
        save(model, path)


def test_saving_and_loading_many_surfaces_is_fast(path):
    X, y = make_twonorm(2000, random_state=0)
    model = everystump.StumpLogisticRegression(interactions=190, tol=0.5).fit(X, y)
    assert len(model.interactions_) == 190
    start = time.perf_counter()
    save(model, path)
    again = load(path)
    assert time.perf_counter() - start < 2.0  # 0.1 s on an idle machine
    assert path.stat().st_size < 4e6
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
