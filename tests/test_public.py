"""The public names of `everystump`, and that importing it is quick."""

import os
import subprocess
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

import everystump

ESTIMATORS = [
    "BoostedStumpSVC",
    "DecisionStumpClassifier",
    "DecisionStumpRegressor",
    "KernelSVC",
    "LooBoundSearch",
    "PerceptronSVC",
    "StumpBaggingClassifier",
    "StumpBoostingClassifier",
    "StumpBoostingRegressor",
    "StumpLogisticRegression",
    "StumpLogisticRegressionCV",
    "StumpRegressor",
    "StumpRegressorCV",
    "StumpSVC",
    "StumpSVCCV",
    "SubsampleVotingClassifier",
    "WeightedVoteClassifier",
]
MODEL_FILES = ["ModelFileError", "load", "save"]
PACKAGES = ["bounds", "chunks", "conformal", "datasets", "estimators", "explain", "export"]
PACKAGES += ["kernels", "measures", "report", "shapes"]
FUNCTIONS = {"merge": "estimators", "show": "report"}
NAMES = sorted([*ESTIMATORS, *FUNCTIONS, *MODEL_FILES])
SOURCES = str(Path(everystump.__file__).parents[1])
HEAVY = ["joblib", "matplotlib", "numba", "numpy", "pandas", "polars", "scipy", "sklearn"]


WITHOUT_EXTRAS = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"matplotlib", "pandas", "polars", "rich"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
from everystump import StumpSVC
print(*StumpSVC(verbose=1).fit([[0.0], [1.0]], [0, 1]).predict([[0.0], [1.0]]))
"""


def test_public_names():
    assert everystump.__all__ == NAMES
    assert everystump.estimators.__all__ == sorted(ESTIMATORS)


@pytest.mark.parametrize("name", NAMES)
def test_names_are_importable(name):
    value = getattr(everystump, name)
    assert value.__name__ == name
    package = FUNCTIONS.get(name, "modelfile" if name in MODEL_FILES else "estimators")
    assert value.__module__.startswith(f"everystump.{package}.")
    if name not in FUNCTIONS:
        assert getattr(import_module(f"everystump.{package}"), name) is value
    space = {}
    exec(f"from everystump import {name}", space)
    assert space[name] is value


def test_star_import():
    space = {}
    exec("from everystump import *", space)
    assert set(space) - {"__builtins__"} == set(NAMES)


def test_dir_lists_every_name_once():
    listed = dir(everystump)
    assert {*NAMES, *PACKAGES} <= set(listed)
    assert "__version__" in listed
    assert listed == sorted(set(listed))


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'everystump' has no attribute 'StumpSVM'"):
        everystump.StumpSVM  # noqa: B018


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": SOURCES},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    "code",
    [
        "import everystump",
        "import everystump; dir(everystump)",
        "import everystump.estimators; dir(everystump.estimators)",
    ],
)
def test_importing_imports_nothing_heavy(code):
    report = f"{code}; import sys; print(*sorted(m for m in {HEAVY} if m in sys.modules))"
    assert run(report) == []


@pytest.mark.parametrize("name", PACKAGES)
def test_packages_are_attributes(name):
    assert getattr(everystump, name).__name__ == f"everystump.{name}"


@pytest.mark.slow
def test_packages_are_attributes_without_an_import():
    """They are imported on first use."""
    code = f"import everystump; print(*(getattr(everystump, name).__name__ for name in {PACKAGES}))"
    assert run(code) == [f"everystump.{name}" for name in PACKAGES]


def test_module_runs_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "everystump", "--help"],
        env=os.environ | {"PYTHONPATH": SOURCES},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("Usage: everystump [OPTIONS] COMMAND")


def test_estimators_do_not_need_the_extras():
    """Dataframes and plots are optional."""
    assert run(WITHOUT_EXTRAS) == ["0", "1"]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_are_documented(name):
    estimator = getattr(everystump, name)
    text = estimator.__doc__
    for section in ("Parameters", "Attributes", "Examples"):
        assert f"\n    {section}\n    {'-' * len(section)}\n" in text
    for parameter in signature(estimator).parameters:
        assert parameter in text


@pytest.mark.parametrize("name", ["load", "save"])
def test_model_files_are_documented(name):
    function = getattr(everystump, name)
    text = function.__doc__
    assert "\n    Examples\n    --------\n" in text
    for parameter in signature(function).parameters:
        assert f"\n    {parameter} : " in text


@pytest.mark.parametrize("name", ESTIMATORS)
def test_public_methods_are_documented(name):
    estimator = getattr(everystump, name)
    for method in set(dir(estimator)) - set(signature(estimator).parameters):
        if not method.startswith("_"):
            assert getattr(estimator, method).__doc__
