"""Sparse tables give the same models and scores as dense ones, and are never made dense."""

import tracemalloc
import warnings

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from bad_tables import assert_invalid
from scipy import sparse
from sklearn.base import clone

from everystump import (
    BoostedStumpSVC,
    DecisionStumpClassifier,
    KernelSVC,
    LooBoundSearch,
    PerceptronSVC,
    StumpBaggingClassifier,
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpSVC,
    StumpSVCCV,
    SubsampleVotingClassifier,
    WeightedVoteClassifier,
)
from everystump._core.sparse import SparseTable
from everystump.bounds import loo_bound, validation_bound
from everystump.explain import ContributionsDisplay
from everystump.report import write_report

matplotlib.use("Agg")
LEARNERS = [
    StumpSVC(),
    StumpSVC(max_bins=4, measure="rank", fit_intercept=False),
    StumpLogisticRegression(),
    StumpSVCCV(Cs=[0.1, 1.0], cv=2),
    StumpSVCCV(Cs=[0.1, 1.0], cv=2, scoring="balanced_accuracy"),
    StumpLogisticRegressionCV(Cs=[0.1, 1.0], cv=2),
    StumpBoostingClassifier(n_estimators=9),
    StumpBoostingClassifier(n_estimators=9, validation_fraction=0.2, random_state=0),
    StumpBaggingClassifier(9, random_state=0),
    DecisionStumpClassifier(),
    BoostedStumpSVC(9),
]
DENSE_ONLY = [
    KernelSVC(),
    PerceptronSVC(),
    SubsampleVotingClassifier(StumpSVC(), n_estimators=2),
    WeightedVoteClassifier([("one", StumpSVC()), ("two", KernelSVC())]),
    LooBoundSearch(KernelSVC(fit_intercept=False), {"C": [1.0]}),
]


def table(seed=0, n=80, d=6, missing=0.0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.25, np.round(rng.normal(size=(n, d)), 2), 0.0)
    X[:, -1] = 0.0
    y = (X[:, 0] - X[:, 1] + 0.2 * rng.normal(size=n) > 0).astype(int)
    X[rng.random((n, d)) < missing] = np.nan
    return X, y


def scattered(X):
    """Return a matrix with stored zeros, cells in two parts, and unsorted cells."""
    rng = np.random.default_rng(0)
    rows, columns = np.nonzero(X)
    values = X[rows, columns]
    rows, columns = np.tile(rows, 2), np.tile(columns, 2)
    values = np.concatenate([values / 2, values / 2])
    some = rng.integers(0, len(X), 5)
    rows, columns = np.append(rows, some), np.append(columns, some % X.shape[1])
    values = np.append(values, np.zeros(5))
    order = np.argsort(rows, kind="stable")
    pointers = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(X)))])
    return sparse.csr_array((values[order], columns[order], pointers), shape=X.shape)


FORMATS = {
    "csr array": sparse.csr_array,
    "csc array": sparse.csc_array,
    "csr matrix": sparse.csr_matrix,
    "csc matrix": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "scattered": scattered,
}


@pytest.mark.parametrize("model", LEARNERS, ids=str)
def test_sparse_and_dense_tables_give_the_same_model(model):
    X, y = table(missing=0.05)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    kinds = (
        [{}] if hasattr(model, "stages") or "CV" in str(model) else [{}, {"sample_weight": weight}]
    )
    for fit_params in kinds:
        dense = clone(model).fit(X, y, **fit_params)
        scores = dense.decision_function(X)
        for make in FORMATS.values() if not fit_params else [sparse.csr_array]:
            rows = make(X)
            fitted = clone(model).fit(rows, y, **fit_params)
            np.testing.assert_array_equal(fitted.decision_function(rows), scores)
            np.testing.assert_array_equal(fitted.decision_function(X), scores)
            np.testing.assert_array_equal(dense.predict(rows), dense.predict(X))
        np.testing.assert_array_equal(fitted.explain_local(rows), dense.explain_local(X))
        assert fitted.explain_global(rows).equals(dense.explain_global(X))
        np.testing.assert_array_equal(fitted.feature_importances_, dense.feature_importances_)
        if hasattr(model, "staged_predict"):
            stages = zip(fitted.staged_predict(rows), dense.staged_predict(X), strict=True)
            assert all(np.array_equal(ours, theirs) for ours, theirs in stages)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64, np.uint8, bool])
def test_other_dtypes(dtype):
    X, y = table()
    X = np.round(X * 3).clip(0, 2).astype(dtype)
    scores = StumpSVC().fit(X, y).decision_function(X)
    rows = sparse.csr_array(X)
    np.testing.assert_array_equal(StumpSVC().fit(rows, y).decision_function(rows), scores)


def test_three_classes_and_warm_start():
    X, _ = table(n=90)
    y = np.arange(90) % 3
    rows = sparse.csc_array(X)
    for model in (StumpLogisticRegression(), StumpBoostingClassifier(n_estimators=5)):
        dense = clone(model).fit(X, y).decision_function(X)
        np.testing.assert_array_equal(clone(model).fit(rows, y).decision_function(rows), dense)
    on = StumpBoostingClassifier(n_estimators=5, warm_start=True).fit(rows, y)
    on.set_params(n_estimators=9).fit(rows, y)
    whole = StumpBoostingClassifier(n_estimators=9).fit(X, y)
    np.testing.assert_allclose(on.decision_function(rows), whole.decision_function(X), atol=1e-9)


def test_votes_of_estimators_that_accept_sparse_tables():
    X, y = table()
    vote = WeightedVoteClassifier(
        [("a", StumpSVC()), ("b", DecisionStumpClassifier())], random_state=0
    )
    scores = clone(vote).fit(X, y).decision_function(X)
    rows = sparse.csr_array(X)
    np.testing.assert_array_equal(clone(vote).fit(rows, y).decision_function(rows), scores)


def test_a_custom_scorer_gets_a_sparse_matrix():
    X, y = table()
    is_sparse = []

    def scorer(model, rows, labels):
        is_sparse.append(sparse.issparse(rows))
        return model.score(rows, labels)

    StumpSVCCV(Cs=[0.1, 1.0], cv=2, scoring=scorer).fit(sparse.csr_array(X), y)
    assert is_sparse
    assert all(is_sparse)


def test_the_users_matrix_is_not_changed():
    X, y = table()
    rows = scattered(X)
    before = rows.copy()
    StumpSVC().fit(rows, y).predict(rows)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(before, name))


def test_memory_stays_far_below_the_dense_table():
    """One byte per code, plus what the solver needs; a dense table would add 8 bytes per value."""
    rng = np.random.default_rng(0)
    n, d = 20_000, 400
    n_cells = n * d // 100
    positions = rng.integers(0, n, n_cells), rng.integers(0, d, n_cells)
    values = np.round(rng.normal(size=n_cells), 2)
    X = sparse.coo_array((values, positions), shape=(n, d)).tocsr()
    y = rng.integers(0, 2, n)
    model = StumpLogisticRegression(C=1e-3, tol=1e-2).fit(X[:200], y[:200])
    tracemalloc.start()
    try:
        model.fit(X, y).predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * n * d


def test_plots_of_sparse_tables(tmp_path):
    X, y = table()
    rows = sparse.csr_array(X)
    model = StumpSVC().fit(rows, y)
    ours, dense = (ContributionsDisplay.from_estimator(model, data, row=3) for data in (rows, X))
    assert ours.labels == dense.labels
    np.testing.assert_array_equal(ours.contributions, dense.contributions)
    plt.close("all")
    write_report(model, tmp_path / "page.html", rows, y)


def test_bounds_of_sparse_tables():
    X, y = table()
    model = StumpSVC(fit_intercept=False, feature_range=(-5, 5), measure="lebesgue")
    expected = loo_bound(clone(model).fit(X, y), X, y).value
    for make in FORMATS.values():
        rows = make(X)
        model.fit(rows, y)
        for data in (rows, X):
            assert loo_bound(model, data, y).value == expected
            assert model.training_overlap(data, y).same_table
            assert not validation_bound(model, data, y).holds
    new, labels = table(seed=1)
    expected = validation_bound(model, new, labels).value
    assert validation_bound(model, sparse.csr_array(new), labels).value == expected


BAD = {
    "infinity": (np.inf, StumpSVC(), r"X contains infinity in row 3, feature 2; StumpSVC does not"),
    "minus infinity": (-np.inf, StumpBaggingClassifier(3), r"infinity in row 3, feature 2; Stump"),
}


@pytest.mark.parametrize(("value", "model", "match"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array])
def test_messages_locate_the_invalid_cell(make, value, model, match):
    X, y = table()
    fitted = clone(model).fit(X, y)
    X[3, 2] = X[5, 0] = value
    assert_invalid(lambda: clone(model).fit(make(X), y), match)
    assert_invalid(lambda: fitted.predict(make(X)), match)


@pytest.mark.parametrize("model", DENSE_ONLY, ids=lambda model: type(model).__name__)
def test_estimators_that_need_dense_tables(model):
    X, y = table()
    sentence = r"(?i)sparse data was passed for X, but dense data is required"
    assert_invalid(lambda: clone(model).fit(sparse.csr_array(X), y), sentence)


def test_categories_are_dense():
    X, y = table()
    rows = sparse.csr_array(X)
    sentence = r"(?i)sparse .* dense data is required for categories"
    assert_invalid(lambda: StumpSVC(categorical_features=[0]).fit(rows, y), sentence)
    model = StumpSVC(categorical_features=[0]).fit(X, y)
    assert_invalid(lambda: model.predict(rows), sentence)
    assert_invalid(lambda: StumpSVC().fit(rows, y).predict(rows[:, :4]), r"X has 4 features")


def test_integers_that_floats_cannot_distinguish():
    X = sparse.csr_array(np.array([[0, 2**53 + 1], [1, 0], [0, 5], [2, 0]]))
    with pytest.warns(UserWarning, match=r"X: column 1 has integers beyond 2\*\*53") as caught:
        model = StumpSVC().fit(X, [0, 1, 0, 1])
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X)


def test_a_sparse_table_reads_like_an_array():
    X, _ = table(missing=0.1)
    for make in FORMATS.values():
        rows = SparseTable(make(X).tocsr())
        assert rows.shape == X.shape
        assert len(rows) == len(X)
        np.testing.assert_array_equal(np.asarray(rows), X)
        np.testing.assert_array_equal(rows[3:9], X[3:9])
        np.testing.assert_array_equal(rows[:, 2], X[:, 2])
        np.testing.assert_array_equal(rows[4], X[4])
        np.testing.assert_array_equal(np.asarray(rows[np.array([5, 1, 5])]), X[[5, 1, 5]])
        out = np.empty((2, len(X)))
        rows.read(1, out)
        np.testing.assert_array_equal(out, X[:, 1:3].T)
