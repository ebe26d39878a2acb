"""Private parts of scikit-learn: used through one module, and available in the installed version.

``make test-oldest`` runs the tests with the oldest supported version.
"""

import ast
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from everystump import PerceptronSVC, StumpBaggingClassifier, _sklearn_compat

SOURCES = Path(_sklearn_compat.__file__).parent
COMPAT = Path(_sklearn_compat.__file__)


def private_imports(path):
    """Yield the private names that a file imports from scikit-learn."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sklearn":
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if any(part.startswith("_") for part in name.split(".")):
                    yield name


def test_private_imports_are_in_one_module():
    found = {path.name: list(private_imports(path)) for path in SOURCES.rglob("*.py")}
    assert [name for name, imports in found.items() if imports] == [COMPAT.name]


def test_every_name_is_available():
    for name in (*_sklearn_compat.__all__, "BaseHeterogeneousEnsemble"):
        assert getattr(_sklearn_compat, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        _ = _sklearn_compat.missing


def test_random_states_of_nested_estimators():
    model = make_pipeline(StumpBaggingClassifier(), PerceptronSVC(), DecisionTreeClassifier())
    _sklearn_compat.set_random_states(model, np.random.RandomState(0))
    seeds = [step.random_state for _, step in model.steps]
    rng = np.random.RandomState(0)
    expected = [rng.randint(2**31 - 1) for _ in seeds]
    assert sorted(seeds) == sorted(expected)
