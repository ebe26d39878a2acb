"""Votes, searches and experiments under joblib's Ray backend, if Ray is installed."""

import os

import joblib
import numpy as np
import pytest
import toy_experiment
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from everystump import KernelSVC, StumpSVC, StumpSVCCV, SubsampleVotingClassifier
from everystump._experiments.engine.runner import run_experiment
from everystump.datasets import make_twonorm

ray = pytest.importorskip("ray")
register_ray = pytest.importorskip("ray.util.joblib").register_ray

MODELS = [
    SubsampleVotingClassifier(KernelSVC(), n_estimators=4, random_state=0),
    GridSearchCV(StumpSVC(), {"C": [0.1, 1.0]}, cv=3),
    StumpSVCCV(),
]


@pytest.fixture(scope="module", autouse=True)
def backend():
    """A local cluster that listens on the loopback interface only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        paths = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            _node_ip_address="127.0.0.1",
            runtime_env={"env_vars": {"PYTHONPATH": paths}},
        )
        register_ray()
        with joblib.parallel_config(backend="ray"):
            yield
        ray.shutdown()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_models_are_those_of_this_process(model):
    X, y = make_twonorm(300, random_state=0)
    with joblib.parallel_config(backend="sequential"):
        expected = clone(model).fit(X, y).decision_function(X)
    found = clone(model).set_params(n_jobs=2).fit(X, y).decision_function(X)
    assert np.array_equal(found, expected)


@pytest.mark.filterwarnings("ignore")
def test_experiments(tmp_path):
    experiment = toy_experiment.load_experiment("toy")
    found = run_experiment(experiment, tmp_path / "ray", runs=4, seed=0, jobs=2)
    with joblib.parallel_config(backend="sequential"):
        expected = run_experiment(experiment, tmp_path / "local", runs=4, seed=0, jobs=1)
    assert found.report.data == expected.report.data
