"""The registry of kernels: one entry reaches estimators, model files and every export."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel

from everystump import KernelSVC
from everystump._core.kernel_machines.kernels import (
    CallableKernel,
    Expansion,
    NamedKernel,
    PrecomputedKernel,
    make_kernel,
)
from everystump._core.kernel_machines.registry import KERNELS, KernelSpec
from everystump.kernels import gaussian_kernel
from everystump.modelfile import ModelFileError
from everystump.modelfile.decode import Decoder

# A kernel that is not in the registry, in a separate process: the registry is read on import.
NEW_KERNEL = """
import importlib.util, sqlite3, sys
import numpy as np

from everystump._core.kernel_machines.registry import KERNELS, KernelSpec
KERNELS["exponential"] = KernelSpec("euclidean", "gamma", aliases=("ornstein-uhlenbeck",))

from scipy.spatial.distance import cdist
from sklearn.svm import SVC
from everystump import KernelSVC, load, save
from everystump.bounds import loo_bound
from everystump.export import score_json, to_json, to_onnx, to_sql

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = X[:, 0] + X[:, 1] ** 2 > 1
model = KernelSVC("exponential", gamma=0.7, tol=1e-9).fit(X, y)
svc = SVC(kernel="precomputed", tol=1e-9).fit(np.exp(-0.7 * cdist(X, X)), y)
scores = model.decision_function(X)
np.testing.assert_allclose(scores, svc.decision_function(np.exp(-0.7 * cdist(X, X))), atol=1e-4)
alias = KernelSVC("ornstein-uhlenbeck", gamma=0.7, tol=1e-9).fit(X, y)
np.testing.assert_array_equal(alias.decision_function(X), scores)

save(model, sys.argv[1])
np.testing.assert_array_equal(load(sys.argv[1]).decision_function(X), scores)
np.testing.assert_allclose(score_json(to_json(model), X.tolist()).score, scores, atol=1e-9)

base = sqlite3.connect(":memory:")
base.execute("CREATE TABLE data (id, x0, x1, x2)")
keyed = np.column_stack([np.arange(60), X]).tolist()
base.executemany("INSERT INTO data VALUES (?, ?, ?, ?)", keyed)
found = sorted(base.execute(to_sql(model, keep=["id"])).fetchall())
np.testing.assert_allclose([row[1] for row in found], scores, atol=1e-9)

if importlib.util.find_spec("onnx") and importlib.util.find_spec("onnxruntime"):
    from onnxruntime import InferenceSession
    session = InferenceSession(to_onnx(model), providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(["score"], {"X": X})[0], scores, atol=1e-9)

plain = KernelSVC("exponential", C=0.1, gamma=0.7, fit_intercept=False).fit(X, y)
assert loo_bound(plain, X, y).holds
"""


def test_a_new_kernel_needs_one_registry_entry(tmp_path):
    assert "exponential" not in KERNELS
    run = subprocess.run(
        [sys.executable, "-c", NEW_KERNEL, str(tmp_path / "model.stump")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_every_kernel_is_documented():
    schema = json.loads(files("everystump.export").joinpath("model.schema.json").read_text())
    listed = schema["$defs"]["kernel_sums"]["items"]["properties"]["kernel"]["enum"]
    assert sorted(listed) == sorted([*KERNELS, "scaled_perceptron"])
    guide = Path(__file__).parents[1].joinpath("docs", "export.md").read_text(encoding="utf-8")
    for name in KERNELS:
        assert f'"{name}"' in KernelSVC.__doc__
        assert f"| `{name}` |" in guide


X = np.random.default_rng(0).normal(size=(20, 3))


@pytest.mark.parametrize("name", KERNELS)
def test_the_diagonal_is_that_of_the_matrix(name):
    kernel = make_kernel(name, X, gamma=0.3, weight=None)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(kernel.matrix(X, X)), atol=1e-12)
    assert set(kernel.parameters) == {KERNELS[name].parameter} - {None}


@pytest.mark.parametrize("name", KERNELS)
def test_a_matrix_can_be_filled_in_place(name):
    kernel = make_kernel(name, X, gamma=0.3, weight=None)
    out = np.full((5, 20), np.nan)
    kernel.fill(X, np.arange(3, 8), out)
    np.testing.assert_allclose(out, kernel.matrix(X[3:8], X), atol=1e-12)


def test_scikit_learns_linear_kernel_is_the_named_one():
    assert make_kernel(linear_kernel, X, gamma="scale", weight=None) == NamedKernel("linear", {})
    assert KernelSpec("dot", None).diagonal({}) is None


# Model files of earlier versions


def old_kernel(function, **parts):
    """Return the JSON of a kernel as files of earlier versions have it."""
    parts = {"fixed": True, "own": None, "libsvm": None, "writes": False, **parts}
    return {"type": "PairKernel", "with": {"function": function, **parts}}


OLD_KERNELS = {
    "gaussian": (
        old_kernel({"type": "partial", "name": "gaussian", "keywords": {"gamma": 0.5}}, own=1.0),
        NamedKernel("gaussian", {"gamma": 0.5}),
    ),
    "stump": (
        old_kernel(
            {"type": "partial", "name": "stump", "keywords": {"constant": 3.0}}, fixed=False
        ),
        NamedKernel("stump", {"constant": 3.0}, data_independent=False),
    ),
    "middle": (
        old_kernel({"type": "partial", "name": "middle_stump", "keywords": {"cuts": []}}),
        NamedKernel("middle", {"cuts": []}),
    ),
    "linear": (
        old_kernel({"type": "function", "name": "linear_kernel"}),
        NamedKernel("linear", {}),
    ),
    "function": (
        old_kernel({"type": "function", "name": "gaussian_kernel"}),
        CallableKernel(gaussian_kernel),
    ),
    "precomputed": (
        {"type": "PrecomputedKernel", "with": {"fixed": True, "own": None, "libsvm": None}},
        PrecomputedKernel(),
    ),
}


@pytest.mark.parametrize(("node", "kernel"), OLD_KERNELS.values(), ids=OLD_KERNELS)
def test_kernels_of_earlier_files_load(node, kernel):
    assert Decoder(dict).decode(node) == kernel


def test_support_vectors_of_earlier_files_load():
    arrays = {"a": np.zeros((2, 3)), "b": np.ones((2, 1)), "c": np.zeros(1)}
    parts = {name: {"type": "array", "file": file} for name, file in zip("kci", "abc", strict=True)}
    node = {
        "type": "Expansion",
        "with": {
            "kernel": OLD_KERNELS["gaussian"][0],
            "kept": parts["k"],
            "coef": parts["c"],
            "intercept": parts["i"],
        },
    }
    expansion = Decoder(arrays.__getitem__).decode(node)
    assert isinstance(expansion, Expansion) and expansion.support_vectors is arrays["a"]


BAD_KERNELS = [
    {"name": "unknown", "parameters": {}, "data_independent": True},
    {"name": "gaussian", "parameters": {}, "data_independent": True},
    {"name": "gaussian", "parameters": {"gamma": "1"}, "data_independent": True},
    {"name": "gaussian", "parameters": {"gamma": 1.0}, "data_independent": 1},
    {"name": "stump", "parameters": {"gamma": 1.0}, "data_independent": True},
    {"name": "middle", "parameters": {"cuts": [1.0]}, "data_independent": True},
]


@pytest.mark.parametrize("parts", BAD_KERNELS)
def test_a_kernel_with_other_parameters_is_rejected(parts):
    items = [[name, value] for name, value in parts["parameters"].items()]
    node = {
        "type": "NamedKernel",
        "with": {**parts, "parameters": {"type": "dict", "items": items}},
    }
    with pytest.raises(ModelFileError, match="a NamedKernel"):
        Decoder(dict).decode(node)
