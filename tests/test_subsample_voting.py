"""Votes over subsamples: against members fitted by hand, enumerated subsets, and bad input."""

from itertools import combinations

import joblib
import numpy as np
import pandas as pd
import pytest
from bad_tables import BAD_TABLES, NUMBERS_ONLY, X0, Y0, assert_invalid, table
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from everystump import KernelSVC, StumpSVC, SubsampleVotingClassifier
from everystump._tables.validation import check_table
from everystump.datasets import make_twonorm

GAUSSIAN = KernelSVC(gamma=0.4, tol=1e-8)
PLAIN = KernelSVC(gamma=0.4, fit_intercept=False, tol=1e-8)
X3, Y3 = table(3)


def vote(estimator=PLAIN, X=X0, y=Y0, **parameters):
    params = {"n_estimators": 5, "random_state": 0, **parameters}
    return SubsampleVotingClassifier(estimator, **params).fit(X, y)


def by_hand(model, X=X0, y=Y0, new=X0):
    """Return the scores of estimators fitted one by one to their samples and features."""
    scores = []
    for member, rows, features in zip(
        model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True
    ):
        columns = slice(None) if features is None else features
        separate = clone(member).fit(X[rows][:, columns], y[rows])
        scores.append(separate.decision_function(new[:, columns]))
    return np.array(scores)


# Members and their vote


@pytest.mark.parametrize("estimator", [PLAIN, GAUSSIAN, StumpSVC(tol=1e-8)])
@pytest.mark.parametrize(("X", "y"), [(X0, Y0), (X3, Y3)], ids=["two classes", "three"])
def test_one_member_on_all_rows_is_the_estimator(estimator, X, y):
    model = vote(estimator, X, y, n_estimators=1, subsample=1.0)
    separate = clone(estimator).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), separate.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), separate.predict(X))


@pytest.mark.parametrize(
    "estimator", [PLAIN, GAUSSIAN, KernelSVC("laplacian", gamma=1.0, tol=1e-8)]
)
@pytest.mark.parametrize("features", [None, 2])
def test_the_vote_is_the_mean_of_members_on_their_own_rows(estimator, features):
    """Members trained in shared buffers are the same estimators."""
    model = vote(estimator, feature_subsets=features)
    np.testing.assert_allclose(model.decision_function(X0), by_hand(model).mean(axis=0), atol=1e-5)


def test_members_score_as_on_their_own():
    model = vote()
    for member, scores in zip(model.estimators_, by_hand(model), strict=True):
        np.testing.assert_allclose(member.decision_function(X0), scores, atol=1e-5)
        assert member.certificate_.converged


# Scores of each member


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"estimator": StumpSVC(tol=1e-8)},
        {"estimator": LogisticRegression()},
        {"estimator": [PLAIN, LogisticRegression()]},
        {"feature_subsets": 2},
        {"combine": "svm"},
    ],
    ids=["kernel", "stumps", "sklearn", "mixed", "features", "svm"],
)
@pytest.mark.parametrize(("X", "y"), [(X0, Y0), (X3, Y3)], ids=["two classes", "three"])
def test_machine_scores_are_the_scores_of_each_member(X, y, parameters):
    model = vote(X=X, y=y, **parameters)
    new = X[:7] + 0.01
    scores = model.machine_scores(new)
    n_outputs = 1 if len(model.classes_) == 2 else len(model.classes_)
    assert scores.shape == (7, 5 * n_outputs)
    members = zip(model.estimators_, model.estimators_features_, strict=True)
    for t, (member, features) in enumerate(members):
        columns = slice(None) if features is None else features
        separate = member.decision_function(new[:, columns]).reshape(7, n_outputs)
        own = scores[:, t * n_outputs : (t + 1) * n_outputs]
        np.testing.assert_allclose(own, separate, atol=1e-9)


@pytest.mark.parametrize("outputs", ["scores", "votes"])
@pytest.mark.parametrize("features", [None, 2])
@pytest.mark.parametrize(("X", "y"), [(X0, Y0), (X3, Y3)], ids=["two classes", "three"])
def test_the_mean_of_machine_scores_is_the_vote(X, y, features, outputs):
    model = vote(X=X, y=y, feature_subsets=features, outputs=outputs)
    mean = model.machine_scores(X).reshape(len(X), 5, -1).mean(axis=1)
    score = model.decision_function(X).reshape(len(X), -1)
    np.testing.assert_allclose(mean, score, atol=1e-9)


def test_learned_weights_combine_machine_scores():
    model = vote(combine="svm")
    score = model.machine_scores(X0) @ model.weights_ + model.intercept_
    np.testing.assert_allclose(score, model.decision_function(X0), atol=1e-9)
    equal = vote(combine="mean")
    np.testing.assert_allclose(model.machine_scores(X0), equal.machine_scores(X0), atol=1e-9)


def test_machine_scores_of_votes_are_votes():
    two, three = (vote(X=X, y=y, outputs="votes") for X, y in ((X0, Y0), (X3, Y3)))
    scores = vote().machine_scores(X0)
    np.testing.assert_array_equal(two.machine_scores(X0), np.where(scores > 0, 1.0, -1.0))
    votes = three.machine_scores(X3).reshape(len(X3), 5, 3)
    assert set(votes.ravel()) == {0.0, 1.0}
    np.testing.assert_array_equal(votes.sum(axis=2), 1)
    for t, member in enumerate(three.estimators_):
        chosen = three.classes_[votes[:, t].argmax(axis=1)]
        np.testing.assert_array_equal(chosen, member.predict(X3))


def test_machine_scores_before_the_fit():
    with pytest.raises(NotFittedError):
        SubsampleVotingClassifier(PLAIN).machine_scores(X0)


@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_machine_scores_of_another_table(n_columns):
    other = np.ones((5, n_columns))
    with pytest.raises(ValueError, match=f"{n_columns} features, but .* is expecting 3 features"):
        vote().machine_scores(other)


def test_a_second_fit_resets_the_first():
    model = vote(StumpSVC(n_jobs=1))
    assert hasattr(model, "shapes_")
    model.set_params(estimator=PLAIN).fit(X0, Y0)
    assert not hasattr(model, "shapes_") and len(model.expansions_) == 1
    np.testing.assert_allclose(model.decision_function(X0), by_hand(model).mean(axis=0), atol=1e-5)
    model.set_params(outputs="votes").fit(X0, Y0)
    assert not hasattr(model, "expansions_")
    assert set(np.round(5 * model.decision_function(X0)).astype(int)) <= {-5, -3, -1, 1, 3, 5}


def test_any_classifier_may_vote():
    """By class scores, probabilities or predictions; scores of pairs of classes are not used."""
    estimators = [
        SVC(decision_function_shape="ovo"),
        RandomForestClassifier(5, random_state=0),
        VotingClassifier([("logistic", LogisticRegression())]),
    ]
    for y in (Y0, np.digitize(X0[:, 0], [-0.5, 0.5])):
        model = vote(estimators, y=y, n_estimators=3)
        assert model.score(X0, y) > 0.75


def test_given_weights_are_used():
    weights = [0.5, 0.0, 0.1, 0.1, 0.3]
    model = vote(weights=weights)
    np.testing.assert_allclose(model.decision_function(X0), weights @ by_hand(model), atol=1e-5)
    np.testing.assert_array_equal(model.weights_, weights)


def test_votes_are_signs():
    model = vote(outputs="votes")
    expected = np.where(by_hand(model) > 0, 1.0, -1.0).mean(axis=0)
    np.testing.assert_allclose(model.decision_function(X0), expected)


def test_votes_for_several_classes_are_winners():
    model = vote(X=X3, y=Y3, outputs="votes")
    winners = by_hand(model, X3, Y3, X3).argmax(axis=2)
    expected = np.mean(winners[:, :, None] == np.arange(3), axis=0)
    np.testing.assert_allclose(model.decision_function(X3), expected)


@pytest.mark.parametrize("outputs", ["scores", "votes"])
def test_learned_weights_are_a_linear_svm_on_the_outputs(outputs):
    """On all rows, not only on those that a member was trained on."""
    model = vote(combine="svm", outputs=outputs, C=0.3)
    inputs = by_hand(model).T
    inputs = inputs if outputs == "scores" else np.where(inputs > 0, 1.0, -1.0)
    svc = SVC(kernel="linear", C=0.3, tol=1e-8).fit(inputs, Y0)
    loose = 0.05  # the linear SVM is trained to a gap of 1e-3
    np.testing.assert_allclose(
        model.decision_function(X0), svc.decision_function(inputs), atol=loose
    )
    np.testing.assert_allclose(model.weights_, svc.coef_[0], atol=loose)
    assert model.certificate_.converged


def test_learned_weights_for_several_classes():
    model = vote(X=X3, y=Y3, combine="svm", n_estimators=3)
    inputs = np.concatenate(by_hand(model, X3, Y3, X3), axis=1)
    assert model.weights_.shape == (3, 9)
    for k in range(3):
        svc = SVC(kernel="linear", tol=1e-8).fit(inputs, np.equal(Y3, k))
        np.testing.assert_allclose(
            model.decision_function(X3)[:, k], svc.decision_function(inputs), atol=0.05
        )


def test_a_list_of_estimators_is_used_in_turn():
    kinds = [KernelSVC("linear"), KernelSVC("laplacian", C=3.0), LogisticRegression()]
    model = vote(kinds, n_estimators=7)
    assert [type(m) for m in model.estimators_] == [type(kinds[t % 3]) for t in range(7)]
    assert [getattr(m, "kernel", None) for m in model.estimators_[:3]] == [
        "linear",
        "laplacian",
        None,
    ]
    np.testing.assert_allclose(
        model.decision_function(X0),
        np.mean([m.decision_function(X0) for m in model.estimators_], axis=0),
    )


def test_members_with_probabilities_vote_from_minus_1_to_1():
    model = vote(RandomForestClassifier(5), n_estimators=3)
    probabilities = np.mean([m.predict_proba(X0)[:, 1] for m in model.estimators_], axis=0)
    np.testing.assert_allclose(model.decision_function(X0), 2 * probabilities - 1)
    assert len({m.random_state for m in model.estimators_}) == 3


# Rows and features


@pytest.mark.parametrize(("subsample", "r"), [(0.4, 36), (1.0, 90), (17, 17), (2, 2), (90, 90)])
def test_rows_are_drawn_without_replacement(subsample, r):
    model = vote(subsample=subsample, n_estimators=20)
    for rows in model.estimators_samples_:
        assert len(rows) == r
        assert np.all(np.diff(rows) > 0)
        assert set(Y0[rows]) == {0, 1}
    assert len({tuple(rows) for rows in model.estimators_samples_}) == (1 if r == 90 else 20)


def test_all_classes_are_drawn_however_rare():
    y = np.where(np.arange(90) < 2, 1, 0)
    model = vote(subsample=10, n_estimators=30, y=y)
    assert all(y[rows].sum() >= 1 for rows in model.estimators_samples_)


@pytest.mark.parametrize(("subsets", "n"), [(0.7, 2), (2, 2), (0.1, 1), (1.0, 3)])
def test_features_are_drawn_without_replacement(subsets, n):
    model = vote(feature_subsets=subsets, n_estimators=10)
    for features in model.estimators_features_:
        assert len(features) == n
        assert np.all(np.diff(features) > 0)
    assert len({tuple(f) for f in model.estimators_features_}) > 1 or n == 3


def test_feature_lists_are_used_in_turn():
    model = vote(feature_subsets=[[0, 2], [1]])
    assert [f.tolist() for f in model.estimators_features_] == [[0, 2], [1], [0, 2], [1], [0, 2]]
    frame = pd.DataFrame(X0, columns=["a", "b", "c"])
    named = vote(X=frame, feature_subsets=[["a", "c"], ["b"]])
    np.testing.assert_array_equal(named.decision_function(frame), model.decision_function(X0))


def test_seeds_make_votes_repeatable():
    a, b, c = (vote(random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(a.decision_function(X0), b.decision_function(X0))
    assert not np.allclose(a.decision_function(X0), c.decision_function(X0))


# Parallel workers


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
@pytest.mark.parametrize("estimator", [PLAIN, StumpSVC()])
def test_workers_change_nothing(estimator, backend):
    separate = vote(estimator, n_jobs=1).decision_function(X0)
    np.testing.assert_allclose(vote(estimator, n_jobs=2).decision_function(X0), separate, atol=1e-9)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        np.testing.assert_allclose(vote(estimator).decision_function(X0), separate, atol=1e-9)


# Theorems


@pytest.mark.parametrize("combine", ["mean", "svm"])
@pytest.mark.parametrize(("X", "y"), [(X0, Y0), (X3, Y3)], ids=["two classes", "three"])
def test_a_vote_of_stump_ensembles_is_one_shape_model(combine, X, y):
    model = vote(StumpSVC(), X, y, combine=combine)
    outputs = [np.atleast_2d(m.decision_function(X).T) for m in model.estimators_]
    if combine == "mean":
        expected = np.mean(outputs, axis=0)
    else:
        expected = np.atleast_2d(model.weights_) @ np.concatenate(outputs)
        expected += model.intercept_[:, None]
    shapes = model.shapes_ if isinstance(model.shapes_, list) else [model.shapes_]
    np.testing.assert_allclose([s.evaluate(X) for s in shapes], expected, atol=1e-10)
    np.testing.assert_allclose(np.atleast_2d(model.decision_function(X).T), expected, atol=1e-10)


@pytest.mark.parametrize("parameters", [{"outputs": "votes"}, {"feature_subsets": 2}])
def test_other_votes_of_stump_ensembles_have_no_shapes(parameters):
    assert not hasattr(vote(StumpSVC(), **parameters), "shapes_")


def test_many_subsamples_tend_to_the_expected_vote():
    """All 4 of 8 rows with both classes give F-hat; 16 times the members, 1/4 of the error."""
    X, y = X0[:8], np.array([0, 1, 1, 0, 1, 0, 0, 1])
    estimator = KernelSVC(gamma=0.4, C=2.0, fit_intercept=False, tol=1e-6)
    subsets = [list(rows) for rows in combinations(range(8), 4) if len(set(y[list(rows)])) == 2]
    assert len(subsets) == 68
    scores = [clone(estimator).fit(X[rows], y[rows]).decision_function(X) for rows in subsets]
    expected, spread = np.mean(scores, axis=0), np.std(scores)

    def error(n_estimators, repeats):
        models = [
            vote(estimator, X, y, n_estimators=n_estimators, subsample=4, random_state=s, n_jobs=1)
            for s in range(repeats)
        ]
        differences = [m.decision_function(X) - expected for m in models]
        return np.sqrt(np.mean(np.square(differences)))

    few, many = error(4, 60), error(64, 20)
    assert few / many == pytest.approx(4.0, rel=0.3)
    assert many == pytest.approx(spread / np.sqrt(64), rel=0.3)


def test_precomputed_products():
    K = rbf_kernel(X0, gamma=0.4)
    precomputed = vote(KernelSVC("precomputed", fit_intercept=False, tol=1e-8), X=K)
    members = [clone(PLAIN).fit(X0[rows], Y0[rows]) for rows in precomputed.estimators_samples_]
    mean = np.mean([member.decision_function(X0) for member in members], axis=0)
    np.testing.assert_allclose(precomputed.decision_function(K), mean, atol=1e-5)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "linear"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "least_squares"])
def test_members_with_a_common_kernel_matrix_are_those_without(kernel, loss):
    estimator = KernelSVC(kernel, gamma=0.4, loss=loss, fit_intercept=False, tol=1e-8)
    many = {"n_estimators": 16, "subsample": 0.5}
    model = vote(estimator, **many)
    table = check_table(clone(estimator), X0, Y0, None, None)
    assert estimator._shared_gram(table, len(X0) // 2, 16, 1) is not None
    np.testing.assert_allclose(model.machine_scores(X0), by_hand(model).T, rtol=1e-5, atol=1e-5)
    tight = vote(clone(estimator).set_params(memory_limit=2e-4), **many)
    assert tight.estimator._shared_gram(table, len(X0) // 2, 16, 1) is None
    np.testing.assert_allclose(tight.decision_function(X0), model.decision_function(X0), atol=1e-5)


# Bad input

BAD_PARAMETERS = {
    "r too large": (
        {"subsample": 91},
        r"subsample=91 is more than the 90 samples of X; pass at most",
    ),
    "r too small": ({"subsample": 1}, r"subsample=1 gives each estimator 1 .* 2 classes; raise it"),
    "share too small": ({"subsample": 0.02}, r"subsample=0\.02 gives each estimator 1 of the 90"),
    "no rows": ({"subsample": 0.0}, r"'subsample' parameter .* Got 0\.0"),
    "share above 1": ({"subsample": 1.5}, r"'subsample' parameter .* Got 1\.5"),
    "negative weight": (
        {"weights": [0.5, 0.5, 0.5, -1.0, 0.5]},
        r"weights contains -1; .* non-negative",
    ),
    "sum of weights": ({"weights": [1.0] * 5}, r"weights sums to 5 and must sum to 1; divide it"),
    "weights nan": ({"weights": [np.nan] * 5}, r"weights contains nan"),
    "too few weights": ({"weights": [0.5, 0.5]}, r"weights has shape \(2,\); .* n_estimators=5"),
    "weights of words": ({"weights": ["a"] * 5}, r"weights=\['a'.* must be one weight for each"),
    "weights with svm": (
        {"weights": [0.2] * 5, "combine": "svm"},
        r"weights are learned .*; use weights=None",
    ),
    "combine": ({"combine": "max"}, r"'combine' parameter .* Got 'max'"),
    "outputs": ({"outputs": "ranks"}, r"'outputs' parameter .* Got 'ranks'"),
    "no members": ({"n_estimators": 0}, r"'n_estimators' parameter .* Got 0"),
    "features": (
        {"feature_subsets": 4},
        r"feature_subsets=4 is more than the 3 features of X; pass",
    ),
    "no features": (
        {"feature_subsets": [[]]},
        r"feature_subsets contains \[\], which is not a list",
    ),
    "no subsets": ({"feature_subsets": []}, r"feature_subsets=\[\]"),
    "unknown feature": (
        {"feature_subsets": [[0], [3]]},
        r"feature_subsets contains \[3\], .* below 3",
    ),
    "unknown name": ({"feature_subsets": [["d"]]}, r"feature_subsets.*'d'.*names of features of X"),
    "feature twice": ({"feature_subsets": [[1, 1]]}, r"feature_subsets contains \[1, 1\]"),
    "flat features": (
        {"feature_subsets": [0, 1]},
        r"feature_subsets contains 0, which is not a list",
    ),
    "not an estimator": ({"estimator": "svm"}, r"'estimator' parameter .* Got 'svm'"),
    "in a list": (
        {"estimator": [PLAIN, 3]},
        r"estimator contains 3, which is not a classifier; pass",
    ),
    "empty list": ({"estimator": []}, r"estimator=\[\] is empty; pass"),
}


@pytest.mark.parametrize(("parameters", "match"), BAD_PARAMETERS.values(), ids=BAD_PARAMETERS)
def test_bad_parameters(parameters, match):
    parameters = {"estimator": PLAIN, "n_estimators": 5, **parameters}
    assert_invalid(lambda: SubsampleVotingClassifier(**parameters).fit(X0, Y0), match)


@pytest.mark.parametrize("n", [30, 70, 90])
def test_the_fraction_that_the_error_suggests_is_enough(n):
    with pytest.raises(ValueError, match="raise it to") as caught:
        vote(X=X0[:n], y=Y0[:n], subsample=1e-6)
    share = float(str(caught.value).split("raise it to at least ")[1].rstrip("."))
    assert len(vote(X=X0[:n], y=Y0[:n], subsample=share).estimators_samples_[0]) == 2


def test_fractions_are_not_rounded_down():
    """0.29 of 100 rows are 29, though ``0.29 * 100`` is a little less."""
    X, y = np.vstack([X0, X0[:10]]), np.append(Y0, Y0[:10])
    assert len(vote(X=X, y=y, subsample=0.29).estimators_samples_[0]) == 29


def test_classes_too_rare_to_be_drawn():
    X, y = np.tile(X0, (60, 1)), np.zeros(5400, dtype=int)
    y[3] = 1
    assert_invalid(
        lambda: vote(X=X, y=y, subsample=2),
        r"subsample: none of 1000 draws of 2 samples contained .* 1 of the 5400 samples; raise",
    )


def test_feature_subsets_of_precomputed_kernels_are_rejected():
    model = SubsampleVotingClassifier(KernelSVC("precomputed"), feature_subsets=0.5)
    assert_invalid(
        lambda: model.fit(np.eye(90), Y0), r"feature_subsets=0\.5 .* precomputed kernel; use"
    )


BAD = (BAD_TABLES | NUMBERS_ONLY).values()


@pytest.mark.parametrize(("X", "y", "match"), [(t[0], t[1], t[3]) for t in BAD if t[2] is None])
def test_bad_tables(X, y, match):
    assert_invalid(lambda: SubsampleVotingClassifier(PLAIN).fit(X, y), match)


def test_constraints_by_name_reach_the_members():
    X, y = make_twonorm(120, random_state=0)
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"]).assign(c=list("uvw") * 40)
    estimator = StumpSVC(monotonic_cst={"a": "decreasing"})
    vote = SubsampleVotingClassifier(estimator, n_estimators=3, random_state=0).fit(frame, y)
    assert np.all(np.diff(vote.shapes_[0].values) <= 1e-12)
    free = SubsampleVotingClassifier(StumpSVC(), n_estimators=3, random_state=0).fit(frame, y)
    assert np.any(np.diff(free.shapes_[0].values) > 1e-3)


def test_members_must_agree_on_categories():
    X, y = make_twonorm(60, random_state=0)
    estimators = [StumpSVC(categorical_features=[0]), StumpSVC()]
    assert_invalid(
        lambda: SubsampleVotingClassifier(estimators).fit(X, y),
        r"categorical_features is \[0\] in one estimator and 'from_dtype' in another",
    )
