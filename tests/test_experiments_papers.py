"""Data and models of the experiments, compared with independent implementations.

Tests that need datasets that are not packaged are skipped unless EVERYSTUMP_DATA has them.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from everystump import StumpBoostingClassifier
from everystump._experiments import NAMES, load_experiment
from everystump._experiments.evgeniou import bounds, figure_7, tuning
from everystump._experiments.evgeniou import protocol as evgeniou
from everystump._experiments.lin_li import figure_2, table_1, table_2
from everystump._experiments.lin_li import protocol as lin_li
from everystump._experiments.published import load_published
from everystump._experiments.sugiyama import simulation
from everystump._experiments.wang import figures, tables
from everystump.datasets._folder import user_files
from everystump.kernels import middle_stump_kernel, simplified_stump_kernel

SEED = 3
RESULTS = Path(__file__).parents[1] / "docs" / "results"
PAPER_RUNS = {"lin-li": 100, "evgeniou": 50, "wang": 5}


def needs(*names):
    """Skip a test unless the user's folder has the datasets."""
    missing = [name for name in names if name not in user_files()]
    if missing:
        pytest.skip(f"{', '.join(missing)} not in the folder EVERYSTUMP_DATA")


# All experiments


@pytest.mark.parametrize("name", NAMES)
def test_experiment_is_described(name):
    experiment = load_experiment(name)
    assert experiment.name == name
    assert len(experiment.protocol.split()) > 50
    assert "\n" not in experiment.title


@pytest.mark.skipif(not RESULTS.exists(), reason="the documentation is not part of the package")
@pytest.mark.parametrize("name", NAMES)
def test_results_in_the_documentation_have_the_current_protocol(name):
    experiment = load_experiment(name)
    page = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {experiment.title}\n")
    assert experiment.protocol.strip() in page
    assert f"## {experiment.title}\n" in (RESULTS / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_more_runs_add_tasks(name):
    tasks = load_experiment(name).tasks
    two, three, five = ({task.key: task for task in tasks(runs)} for runs in (2, 3, 5))
    assert len(three) == len(tasks(3))
    assert two.items() <= five.items()
    assert [task.seed(0) for task in two.values()] == [five[key].seed(0) for key in two]


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith(tuple(PAPER_RUNS))])
def test_number_of_runs_is_the_papers(name):
    (runs,) = (runs for paper, runs in PAPER_RUNS.items() if name.startswith(paper))
    assert load_experiment(name).entry.runs == runs
    assert {task.arguments["run"] for task in load_experiment(name).tasks(runs)} == set(range(runs))


def test_constants_of_lin_and_li():
    assert (lin_li.N_TRAIN, lin_li.N_TEST) == (300, 3000)
    assert (lin_li.TRAIN_FRACTION, lin_li.NOISE, lin_li.N_FOLDS) == (0.6, 0.1, 5)
    assert lin_li.make_folds(RandomState(0)).get_n_splits() == 5
    svm = lin_li.stump_svm("lebesgue", lin_li.make_folds(RandomState(0)))
    np.testing.assert_array_equal(np.log2(svm.Cs), np.arange(-17, 4, 2))
    assert len(svm.Cs) == len(table_2.GAUSSIAN_GRID["C"]) == 11
    assert len(table_2.GAUSSIAN_GRID["gamma"]) == 10
    assert table_1.ROUNDS == (100, 1000) and figure_2.ROUNDS == 100


def test_constants_of_evgeniou():
    vote = evgeniou.make_vote(evgeniou.make_svm(0.0, 1.0, fit_intercept=True), 0)
    assert (vote.n_estimators, vote.subsample, vote.combine) == (30, 0.4, "mean")
    assert evgeniou.VALIDATION_FRACTION == 0.3
    Cs = [load_experiment(f"evgeniou-figure-{k}").run_task.keywords["C"] for k in range(1, 7)]
    assert Cs == [0.5] * 5 + [50.0] and figure_7.C == 0.5
    votes = [load_experiment(f"evgeniou-table-{k}").run_task.keywords["votes"] for k in (2, 3)]
    assert votes == [(("", 30, 0.4),), (("_10", 100, 0.1), ("_5", 100, 0.05))]


def test_constants_of_wang():
    assert tables.N_FOLDS == 10
    assert tables.ROUNDS == (100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
    assert figures.ROUNDS == 200
    assert figures.PERCENTAGES == (10, 20, 30, 40, 50, 60, 70, 80, 90)


def test_constants_of_sugiyama():
    assert (simulation.N_TRAIN, simulation.N_STUMPS, simulation.N_PLOTTED) == (50, 5000, 6)
    models = simulation.make_models(0)
    assert models["bagging"].n_estimators == models["boosting"].n_estimators == 5000
    assert simulation.AXIS.min() == -3 and simulation.AXIS.max() == 3 and len(simulation.AXIS) == 50


def test_unknown_experiment():
    with pytest.raises(ValueError, match="'lin-li-table-9' is not an experiment") as raised:
        load_experiment("lin-li-table-9")
    assert all(name in str(raised.value) for name in NAMES)


# Lin & Li: data


@pytest.mark.parametrize("table", ["lin_li_table1", "lin_li_table2"])
def test_datasets_are_those_of_the_printed_table(table):
    assert {row["dataset"] for row in load_published(table)} == set(lin_li.DATASETS)


@pytest.mark.parametrize("dataset", list(lin_li.SIMULATED))
def test_data_are_simulated_anew_in_each_run(dataset):
    split = lin_li.draw_split(dataset, RandomState(SEED))
    assert split.X.shape == (300, 20) and split.X_test.shape == (3000, 20)
    assert split.y.shape == (300,) and split.y_test.shape == (3000,)
    assert not np.isin(split.X, split.X_test).any()
    assert not np.isin(split.X, lin_li.draw_split(dataset, RandomState(SEED + 1)).X).any()


@pytest.mark.parametrize("dataset", list(lin_li.SIMULATED))
def test_noise_flips_a_tenth_of_the_training_labels_and_nothing_else(dataset):
    clean = lin_li.draw_split(dataset, RandomState(SEED))
    noisy = lin_li.draw_split(f"{dataset}-n", RandomState(SEED))
    np.testing.assert_array_equal(noisy.X, clean.X)
    np.testing.assert_array_equal(noisy.X_test, clean.X_test)
    np.testing.assert_array_equal(noisy.y_test, clean.y_test)
    assert np.sum(noisy.y != clean.y) == 30
    assert set(noisy.y) == {-1, 1}


@pytest.mark.parametrize("dataset", lin_li.REAL)
def test_real_data_are_scaled_and_split_60_to_40(dataset):
    if dataset == "australian":
        needs("australian")
    X, y = lin_li.load_real(dataset)
    assert np.abs(X).max() == pytest.approx(1)
    varies = np.ptp(X, axis=0) > 0  # one feature of ionosphere is constant
    assert np.sum(~varies) == (dataset == "ionosphere")
    np.testing.assert_allclose(np.ptp(X[:, varies], axis=0), 2)
    split = lin_li.draw_split(dataset, RandomState(SEED))
    assert len(split.y) == round(0.6 * len(y))
    assert set(split.y) == set(split.y_test) == {-1, 1}
    drawn = np.column_stack([np.vstack([split.X, split.X_test]), [*split.y, *split.y_test]])
    np.testing.assert_array_equal(sort_rows(drawn), sort_rows(np.column_stack([X, y])))


def sort_rows(rows):
    return rows[np.lexsort(rows.T)]


# Lin & Li: models


@pytest.fixture(scope="module", params=["twonorm", "heart"])
def lin_li_run(request):
    """Return one run of Table 1: its split, folds and results."""
    rng = RandomState(SEED)
    split = lin_li.draw_split(request.param, rng)
    cv = lin_li.make_folds(rng)
    return split, cv, table_1.run_task(SEED, request.param, 0)


def stump_gram(rows, training):
    return simplified_stump_kernel(rows, training)


def middle_gram(rows, training):
    return middle_stump_kernel(rows, training, training=training)


@pytest.mark.parametrize(
    ("name", "measure", "gram"),
    [("svm_stump", "lebesgue", stump_gram), ("svm_mid", "middle", middle_gram)],
)
def test_svms_equal_libsvm_with_the_kernels_of_the_paper(lin_li_run, name, measure, gram):
    """With a small tolerance they are equal; with the experiment's, 1e-3 of the objective, only
    samples near the boundary may change sides (scores change by up to 0.025 on heart).
    """
    split, cv, result = lin_li_run
    C = result[f"{name}_C"]
    libsvm = SVC(kernel="precomputed", C=C, tol=1e-8).fit(gram(split.X, split.X), split.y)
    score = libsvm.decision_function(gram(split.X_test, split.X))
    ours = lin_li.stump_svm(measure, cv).set_params(Cs=[C], tol=1e-8).fit(split.X, split.y)
    np.testing.assert_allclose(ours.decision_function(split.X_test), score, atol=1e-5)
    near_boundary = np.mean(np.abs(score) < 0.03)
    assert near_boundary < 0.02
    assert abs(np.mean(np.sign(score) != split.y_test) - result[name]) <= near_boundary + 1e-12


def test_chosen_cost_is_the_best_of_libsvm(lin_li_run):
    split, cv, result = lin_li_run
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": 2.0 ** np.arange(-17, 4, 2)}, cv=cv)
    search.fit(simplified_stump_kernel(split.X), split.y)
    scores = dict(
        zip(search.cv_results_["param_C"], search.cv_results_["mean_test_score"], strict=True)
    )
    assert len(scores) == 11
    assert scores[result["svm_stump_C"]] >= search.best_score_ - 1 / 150


def test_adaboost_100_is_100_rounds_of_boosting(lin_li_run):
    split, _, result = lin_li_run
    boosted = StumpBoostingClassifier(n_estimators=100, n_jobs=1).fit(split.X, split.y)
    assert result["adaboost_100"] == np.mean(boosted.predict(split.X_test) != split.y_test)


@pytest.mark.slow
def test_table_2_has_the_svm_of_table_1_and_ten_times_the_problems():
    first, second = (table.run_task(SEED, "heart", 0) for table in (table_1, table_2))
    assert second["svm_stump"] == first["svm_stump"]
    assert (second["stump_problems"], second["gauss_problems"]) == (55, 550)


def test_models_of_figure_2_are_close_to_the_optimal_boundary():
    result = figure_2.run_task(SEED, 0)
    assert all(0 < result[name] < 0.15 for name in figure_2.TITLES)


# Evgeniou et al.: data


@pytest.mark.parametrize(
    ("dataset", "n_train", "n_test"),
    [
        ("breast", 200, 77),
        ("thyroid", 140, 75),
        ("diabetes", 468, 300),
        ("heart", 170, 100),
        ("usps", 317, 2007),
    ],
)
def test_splits_of_evgeniou(dataset, n_train, n_test):
    if dataset == "usps":
        needs("usps_train", "usps_test")
    split = evgeniou.draw_split(dataset, RandomState(SEED))
    assert (len(split.X), len(split.y)) == (n_train, n_train)
    assert (len(split.X_test), len(split.y_test)) == (n_test, n_test)
    assert set(split.y) == set(split.y_test) == {-1, 1}
    smaller = evgeniou.hold_out(split, RandomState(SEED))
    expected = round(0.7 * n_train)
    assert (len(smaller.y), len(smaller.y_test)) == (expected, n_train - expected)
    drawn = np.column_stack([np.vstack([smaller.X, smaller.X_test]), [*smaller.y, *smaller.y_test]])
    np.testing.assert_array_equal(sort_rows(drawn), sort_rows(np.column_stack([split.X, split.y])))


@pytest.mark.parametrize("dataset", ["breast", "thyroid", "diabetes", "heart"])
def test_features_of_evgeniou_are_standardized(dataset):
    X, _ = evgeniou.load_data(dataset)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)


# Evgeniou et al.: models


@pytest.fixture
def two_sigmas(monkeypatch):
    """Use two values of σ and two of C."""
    for name in evgeniou.LOG_SIGMAS:
        monkeypatch.setitem(evgeniou.LOG_SIGMAS, name, np.array([0.5, 1.5]))
    monkeypatch.setattr(tuning, "CS", (1.0, 10.0))


def test_run_of_a_figure_has_a_list_over_sigma_for_each_line(two_sigmas):
    result = bounds.run_task(SEED, "thyroid", 0, C=0.5)
    assert set(result) == {
        f"{kind}_{suffix}_{line}"
        for kind in ("one", "vote")
        for suffix in ("0", "b")
        for line in ("test", "bound", "validation")
    }
    assert all(len(values) == 2 for values in result.values())
    split = evgeniou.draw_split("thyroid", RandomState(SEED))
    for log_sigma, k in ((0.5, 0), (1.5, 1)):
        # One SVM with an intercept equals LIBSVM with the kernel exp(-|x - x'|^2 / 2 sigma^2).
        libsvm = SVC(C=0.5, gamma=1 / (2 * np.exp(log_sigma) ** 2), tol=1e-6)
        error = np.mean(libsvm.fit(split.X, split.y).predict(split.X_test) != split.y_test)
        assert result["one_b_test"][k] == pytest.approx(error, abs=1 / len(split.y_test))
        # A sample that is misclassified in training is misclassified when it is left out.
        one = evgeniou.make_svm(log_sigma, 0.5, fit_intercept=False).fit(split.X, split.y)
        assert result["one_0_bound"][k] >= 1 - one.score(split.X, split.y)
        assert result["one_0_test"][k] == pytest.approx(1 - one.score(split.X_test, split.y_test))


@pytest.mark.parametrize("subsample", [0.4, 0.1])
def test_both_votes_from_one_training_equal_separate_fits(subsample):
    split = evgeniou.draw_split("heart", RandomState(SEED))
    svm = evgeniou.make_svm(1.0, 1.0, fit_intercept=True)
    both = evgeniou.vote_errors(svm, split, 11, n_svms=10, subsample=subsample)
    separate = [
        1
        - evgeniou.make_vote(svm, 11, n_svms=10, subsample=subsample, combine=combine)
        .fit(split.X, split.y)
        .score(split.X_test, split.y_test)
        for combine in ("mean", "svm")
    ]
    assert both == pytest.approx(separate)


RECORDS = [
    {"svm_validation": [0.1, 0.3, 0.2], "svm_test": [0.11, 0.12, 0.13]},
    {"svm_validation": [0.6, 0.1, 0.2], "svm_test": [0.21, 0.22, 0.23]},
]


def test_pair_with_the_smallest_mean_validation_error_is_chosen():
    """The means are 0.35, 0.2 and 0.2; the first of two ties is chosen."""
    assert tuning.tuned_errors(RECORDS, "svm").tolist() == [0.12, 0.22]


def test_one_pair_per_split():
    assert tuning.errors_tuned_per_split(RECORDS, "svm").tolist() == [0.11, 0.22]


def test_printed_deviation_becomes_a_standard_error_of_50_splits():
    records = [record | {"dataset": "heart"} for record in RECORDS * 2]
    cell = tuning.make_cell(records, "heart", "svm", "SVM", 16.0, 3.0)
    assert cell.ours == pytest.approx(17) and cell.ours_error == pytest.approx(5 / 3**0.5)
    assert cell.paper_error == pytest.approx(3 / 50**0.5) and cell.tolerance == 3
    assert tuning.make_cell(records, "heart", "svm", "SVM", 16.0, None).tolerance == 1
    assert tuning.make_cell(records, "breast", "svm", "SVM", 16.0, 3.0).ours is None
