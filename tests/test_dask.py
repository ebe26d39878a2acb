"""Fits on a Dask cluster: equal to local ones, however the rows are divided."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import everystump
from everystump import (
    KernelSVC,
    LooBoundSearch,
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpSVC,
    StumpSVCCV,
    SubsampleVotingClassifier,
)
from everystump.bounds import loo_bound

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from dask import delayed  # noqa: E402

from everystump.dask import (  # noqa: E402
    ClusterError,
    DaskStumpBoostingClassifier,
    DaskStumpLogisticRegression,
    DaskStumpSVC,
)

LOCAL = {
    DaskStumpSVC: StumpSVC,
    DaskStumpLogisticRegression: StumpLogisticRegression,
    DaskStumpBoostingClassifier: StumpBoostingClassifier,
}
TIGHT = {"tol": 1e-9, "max_iter": 5000}


def make_table(n_classes=2, n=400, seed=0):
    """A table of few distinct values, a category, missing values, and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.integers(0, 30, n).astype(float),
            "b": rng.integers(0, 12, n) / 7,
            "c": rng.choice(["red", "green", "blue"], n),
        }
    )
    score = X["a"] / 15 + (X["c"] == "red") - X["b"] + rng.normal(size=n)
    y = pd.Series(np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])))
    X.loc[rng.random(n) < 0.1, "a"] = np.nan
    X.loc[:3, "c"] = "rare"  # in the first partition only
    return X, y, pd.Series(rng.integers(0, 3, n).astype(float))


def divide(frame, sizes):
    """Return a Dask collection of partitions of the given sizes."""
    ends = np.cumsum(sizes)
    parts = [frame.iloc[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    return dd.from_delayed([delayed(part) for part in parts], meta=frame.iloc[:0])


UNEVEN = (150, 0, 1, 249)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("cls", "params"),
    [
        (DaskStumpLogisticRegression, {}),
        (DaskStumpLogisticRegression, {"interactions": [("a", "c"), ("a", "b")], "C": 0.5}),
        (DaskStumpLogisticRegression, {"fit_intercept": False, "measure": "rank"}),
        (DaskStumpLogisticRegression, {"interactions": 2, "class_weight": "balanced"}),
        (DaskStumpLogisticRegression, {"multi_class": "ovr"}),
        (DaskStumpLogisticRegression, {"monotonic_cst": {"a": 1}, "C": 0.1}),
        (DaskStumpSVC, {"class_weight": "balanced"}),
        (DaskStumpSVC, {"loss": "squared_hinge", "interactions": 2}),
        (DaskStumpSVC, {"monotonic_cst": {"a": 1}, "C": 0.1}),
        (DaskStumpBoostingClassifier, {"n_estimators": 20}),
        (DaskStumpBoostingClassifier, {"loss": "logistic", "n_estimators": 20}),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_fit_on_a_cluster_equals_a_local_one(client, cls, params, weighted, n_classes):
    X, y, weight = make_table(n_classes)
    params = params if cls is DaskStumpBoostingClassifier else {**params, **TIGHT}
    parts = [divide(column, UNEVEN) for column in (X, y, weight)]
    model = cls(**params).fit(*parts[:2], sample_weight=parts[2] if weighted else None)
    local = LOCAL[cls](**params).fit(X, y, sample_weight=weight if weighted else None)
    # Solutions within a gap of 1e-9 of the objective are this close.
    assert model.decision_function(X) == pytest.approx(local.decision_function(X), abs=1e-3)
    assert [f.levels is None for f in model.feature_info_] == [True, True, False]
    if cls is not DaskStumpBoostingClassifier:
        ours, theirs = (np.ravel([m.certificate_])[0] for m in (model, local))
        assert ours.converged
        assert ours.primal == pytest.approx(theirs.primal, rel=3e-9)
        assert model.interactions_ == local.interactions_
    if cls is DaskStumpLogisticRegression:
        assert model.multi_class_ == local.multi_class_


@pytest.mark.parametrize("n_workers", [1, 2, 7])
@pytest.mark.parametrize(
    ("cls", "edges"),
    [
        (DaskStumpSVC, [0]),
        (DaskStumpLogisticRegression, [0]),
        (DaskStumpLogisticRegression, [0, 1]),
    ],
)
def test_the_number_of_workers_changes_only_rounding(client, cls, edges, n_workers):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 4))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=3000), edges)
    arrays = da.from_array(X, chunks=(500, 2)), da.from_array(y, chunks=700)
    params = {"interactions": 3, "max_bins": 32}
    expected = cls(client=client, **params).fit(*arrays)
    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=2,
            processes=False,
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as other,
    ):
        model = cls(client=other, **params).fit(*arrays)
    assert model.decision_function(X) == pytest.approx(expected.decision_function(X), abs=1e-9)
    assert model.interactions_ == expected.interactions_


def test_predictions_on_collections_are_lazy(client):
    X, y, _ = make_table(3)
    model = DaskStumpLogisticRegression().fit(divide(X, UNEVEN), divide(y, UNEVEN))
    local = model.to_local()
    assert type(local) is StumpLogisticRegression
    for name in ("decision_function", "predict", "predict_proba"):
        lazy = getattr(model, name)(divide(X, UNEVEN))
        assert isinstance(lazy, da.Array)
        np.testing.assert_array_equal(lazy.compute(), getattr(local, name)(X))
    numbers = da.from_array(X[["a", "b"]].to_numpy(), chunks=(100, 1))
    two = DaskStumpSVC().fit(numbers, da.from_array((y == 1).to_numpy(), chunks=100))
    scores = two.decision_function(numbers)
    assert scores.chunks == ((100,) * 4,)
    np.testing.assert_array_equal(
        scores, two.to_local().decision_function(X[["a", "b"]].to_numpy())
    )


def test_local_copies_are_saved_explained_and_cloned(client, tmp_path):
    X, y, _ = make_table()
    model = DaskStumpSVC(C=0.5, interactions=1).fit(divide(X, UNEVEN), divide(y, UNEVEN))
    local = model.to_local()
    everystump.save(local, tmp_path / "m.stump")
    loaded = everystump.load(tmp_path / "m.stump")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    terms = local.explain_local(X).drop(columns="score")
    assert terms.to_numpy().sum(axis=1) == pytest.approx(local.decision_function(X))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert clone(DaskStumpSVC(client=client, C=3.0)).get_params()["client"] is client
    with pytest.raises(ValueError, match="fitted on a cluster"):
        loo_bound(local, X, y)


def test_rows_on_workers_are_found_where_they_are(client):
    rng = np.random.default_rng(0)
    X = client.persist(da.from_array(rng.normal(size=(1000, 3)), chunks=(100, 3)))
    y = client.persist(da.from_array(rng.integers(2, size=1000), chunks=100))
    distributed.wait([X, y])
    model = DaskStumpLogisticRegression().fit(X, y)
    assert model.certificate_.converged and model.n_rebuilt_parts_ == 0


def test_bad_input_gets_one_sentence(client):
    X, y, _ = make_table()
    dX, dy = divide(X, UNEVEN), divide(y, UNEVEN)
    model = DaskStumpSVC()
    with pytest.raises(
        TypeError, match="X is a DataFrame, but a Dask array or dataframe is needed"
    ):
        model.fit(X, dy)
    with pytest.raises(ValueError, match="y has 2 partitions, but X has 4"):
        model.fit(dX, divide(y, (200, 200)))
    with pytest.raises(ValueError, match="only one class, 1"):
        model.fit(dX, divide(y * 0 + 1, UNEVEN))
    with pytest.raises(
        ValueError, match="'a' has numbers in partition 0 and categories in partition 1"
    ):
        text = X.iloc[200:].assign(a="x")
        model.fit(
            dd.from_delayed([delayed(X.iloc[:200]), delayed(text)], verify_meta=False),
            divide(y, (200, 200)),
        )
    with pytest.raises(ValueError, match="partition 1 has no 'b'"):
        other = X.iloc[200:].rename(columns={"b": "z"})
        model.fit(
            dd.from_delayed([delayed(X.iloc[:200]), delayed(other)], verify_meta=False),
            divide(y, (200, 200)),
        )
    numbers = da.from_array(X[["a", "b"]].to_numpy(), chunks=(100, 1))
    unknown = numbers[numbers[:, 0] > 3]
    with pytest.raises(ValueError, match=r"call X\.compute_chunk_sizes"):
        model.fit(unknown, da.from_array(y.to_numpy(), chunks=100))
    with pytest.raises(ValueError, match="y has 399 rows, but X has 400"):
        model.fit(numbers, da.from_array(y.to_numpy()[1:], chunks=100))
    with pytest.raises(ValueError, match=r"max_bins=.* is too large for data in chunks"):
        DaskStumpSVC(C=np.inf).fit(dX, dy)
    with pytest.raises(ValueError, match=r"validation_fraction=0\.1 is not supported on a cluster"):
        DaskStumpBoostingClassifier(validation_fraction=0.1).fit(dX, dy)
    assert not hasattr(model, "shapes_")


def write_parts(frame, folder):
    for k in range(4):
        frame.iloc[100 * k : 100 * (k + 1)].to_parquet(folder / f"{k}.parquet")


def test_columns_of_files_keep_their_partitions(client, tmp_path):
    """Dask joins partitions if few columns are read: other ones for X than for y."""
    X, y, weight = make_table()
    write_parts(X.assign(y=y, weight=weight), tmp_path)
    data = dd.read_parquet(tmp_path)
    assert len(data[["a", "b", "c"]].to_delayed()) != len(data["y"].to_delayed())
    model = DaskStumpSVC(**TIGHT).fit(data[["a", "b", "c"]], data["y"], data["weight"])
    local = StumpSVC(**TIGHT).fit(X, y, weight)
    assert model.certificate_.primal == pytest.approx(local.certificate_.primal, rel=3e-9)


def test_files_that_cannot_be_read_are_reported(client, tmp_path):
    X, y, _ = make_table()
    write_parts(X.assign(y=y), tmp_path)
    data = dd.read_parquet(tmp_path)
    path = tmp_path / "2.parquet"
    path.write_bytes(path.read_bytes()[:500])
    model = DaskStumpSVC()
    with pytest.raises(ValueError, match=r"Partition 2 cannot be read \(.*\); check its file"):
        model.fit(data[["a", "b", "c"]], data["y"])
    assert not hasattr(model, "shapes_")


def test_classes_of_a_single_partition(client):
    X, y, _ = make_table()
    y = y.astype(object)
    y[:150], y[150:] = "first", "second"
    y[399] = "third"
    model = DaskStumpSVC().fit(divide(X, UNEVEN), divide(y, UNEVEN))
    assert model.classes_.tolist() == ["first", "second", "third"]


def test_a_closed_client_is_rejected():
    X, y, _ = make_table()
    with distributed.LocalCluster(
        n_workers=1, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster:
        closed = distributed.Client(cluster, set_as_default=False)
        closed.close()
    with pytest.raises(ValueError, match="is not connected"):
        DaskStumpSVC(client=closed).fit(divide(X, UNEVEN), divide(y, UNEVEN))


def test_a_fit_without_a_client_says_how_to_start_one(monkeypatch):
    def no_client():
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr("everystump.dask._estimators.get_client", no_client)
    X, y, _ = make_table()
    with pytest.raises(ValueError, match=r"client=None .* there is none; start one with"):
        DaskStumpSVC().fit(divide(X, UNEVEN), divide(y, UNEVEN))


def test_unknown_chunk_sizes_are_accepted_if_rows_are_not_divided(client):
    X, y, _ = make_table()
    dX, dy = divide(X[["a", "b"]], UNEVEN).to_dask_array(), divide(y, UNEVEN).to_dask_array()
    model = DaskStumpSVC(**TIGHT).fit(dX, dy)
    local = StumpSVC(**TIGHT).fit(X[["a", "b"]].to_numpy(), y.to_numpy())
    assert model.certificate_.primal == pytest.approx(local.certificate_.primal, rel=3e-9)


def test_votes_and_searches_run_on_a_cluster(client):
    X, y, _ = make_table()
    X = X[["a", "b"]].fillna(0.0)
    models = [
        SubsampleVotingClassifier(KernelSVC(), n_estimators=5, random_state=0),
        LooBoundSearch(KernelSVC(fit_intercept=False), {"C": [0.1, 1.0]}),
        GridSearchCV(StumpSVC(), {"C": [0.1, 1.0]}, cv=3),
        StumpSVCCV(),
        StumpLogisticRegressionCV(),
    ]
    expected = [model.fit(X, y).decision_function(X) for model in models]
    with joblib.parallel_config(backend="dask"):
        found = [clone(model).fit(X, y).decision_function(X) for model in models]
    for scores, reference in zip(found, expected, strict=True):
        assert scores == pytest.approx(reference, abs=1e-9)


def test_cluster_errors_are_runtime_errors():
    assert issubclass(ClusterError, RuntimeError)
