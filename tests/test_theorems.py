"""Theorems 1 to 5 of Lin & Li, "Infinite Ensemble Learning with Support Vector Machines"."""

from dataclasses import replace

import numpy as np
import pytest
from oracles import axis, chosen_axis, density, gram, smooth_stumps
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from everystump import StumpSVC
from everystump._core.chains import Chains
from everystump._core.columns import make_columns
from everystump._core.measures import ChosenStumps, as_measure

NAMED = ["lebesgue", "uniform", "rank", "mixed", "middle", "density"]
THRESHOLDS = [[-0.5, 0.0, 0.0, 0.7], [0.1], [-9.0, 1.0, 9.0]]


@pytest.fixture
def table():
    """Return 30 rows of 3 features with ties, copies of rows, and noisy labels."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 3))
    X[:, 1] = np.round(X[:, 1])
    X[25:] = X[:5]
    y = np.where(X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=30) > 0, 1, -1)
    return X, y


def named(measure):
    return density if measure == "density" else measure


def package_kernel_matrix(X, measure, *, centered, limits=None):
    """Return the kernel matrix of the package's chains."""
    measure = as_measure(measure)
    columns = make_columns(X, max_bins=len(X), thresholds=measure.thresholds)
    wide = columns.columns
    if limits is not None:
        wide = [replace(column, low=limits[0], high=limits[1]) for column in wide]
    masses = [measure.masses(column, d) for d, column in enumerate(wide)]
    chains = Chains.from_columns(columns.columns, masses, centered=centered)
    rows = columns.codes.T + chains.starts[:-1]
    return chains.kernel_matrix(rows)


class TestTheorem1:
    """The kernel that embodies stumps is an inner product."""

    @pytest.mark.parametrize("measure", [*NAMED, ChosenStumps(THRESHOLDS)], ids=str)
    @pytest.mark.parametrize("centered", [True, False])
    def test_gram_is_positive_semidefinite(self, table, measure, centered):
        """No eigenvalue is below -1e-12 of the largest, with and without an intercept."""
        K = package_kernel_matrix(table[0], named(measure), centered=centered)
        eigenvalues = np.linalg.eigvalsh(K)
        assert eigenvalues[0] >= -1e-12 * eigenvalues[-1]

    @pytest.mark.parametrize("measure", NAMED)
    def test_gram_is_the_closed_form(self, table, measure):
        """Half the total mass minus the mass between two rows, to 1e-12."""
        X, _ = table
        K = package_kernel_matrix(X, named(measure), centered=True)
        axes = [axis(x, measure) for x in X.T]
        np.testing.assert_allclose(K, gram(axes), rtol=0, atol=1e-12 * K.max())

    @pytest.mark.parametrize("measure", NAMED)
    def test_with_an_intercept_only_constants_differ(self, table, measure):
        """Both matrices are the same to 1e-12 once rows and columns are centered."""
        X, _ = table
        free, pinned = (package_kernel_matrix(X, named(measure), centered=c) for c in (False, True))
        H = np.eye(len(X)) - 1 / len(X)
        np.testing.assert_allclose(H @ free @ H, H @ pinned @ H, rtol=0, atol=1e-12 * pinned.max())

    @pytest.mark.parametrize("measure", ["lebesgue", "density"])
    def test_gram_is_the_integral_over_stumps(self, table, measure):
        """The sum of 200,000 stumps per feature on an even grid is the kernel, to 1e-4."""
        X, _ = table
        K = package_kernel_matrix(X, named(measure), centered=True)
        integral = np.zeros_like(K)
        for x in X.T:
            edges = np.linspace(x.min(), x.max(), 200_001)
            a = (edges[1:] + edges[:-1]) / 2
            r2 = np.diff(edges) / 4 * (density(a) if measure == "density" else 1.0)
            upto = np.append(0.0, np.cumsum(r2))[np.searchsorted(a, x, side="right")]
            # Stumps on the left of both rows and on the right of both agree, the others do not.
            between = np.abs(upto[:, None] - upto[None, :])
            integral += 2 * (r2.sum() - 2 * between)
        np.testing.assert_allclose(integral, K, rtol=0, atol=1e-4 * K.max())

    def test_chosen_stumps_are_their_own_features(self, table):
        """The matrix is ``sum of s(x) s(x')`` over the given stumps, one given twice, to 1e-12."""
        X, _ = table
        K = package_kernel_matrix(X, ChosenStumps(THRESHOLDS), centered=True)
        votes = [np.where(x[:, None] >= t, 1.0, -1.0) for x, t in zip(X.T, THRESHOLDS, strict=True)]
        np.testing.assert_allclose(K, sum(v @ v.T for v in votes), atol=1e-12)
        axes = [chosen_axis(x, t) for x, t in zip(X.T, THRESHOLDS, strict=True)]
        np.testing.assert_allclose(K, gram(axes), atol=1e-12)

    def test_a_feature_without_chosen_stumps_has_no_effect(self, table):
        """An empty list of thresholds excludes the feature from the kernel."""
        X, _ = table
        K = package_kernel_matrix(X, ChosenStumps([THRESHOLDS[0], [], []]), centered=True)
        votes = np.where(X[:, :1] >= THRESHOLDS[0], 1.0, -1.0)
        np.testing.assert_allclose(K, votes @ votes.T, atol=1e-12)


class TestTheorem2:
    """K_S and -|x - x'|_1 give the same classifier, and it is StumpSVC's."""

    @pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
    def test_same_classifier(self, table, C):
        """Scores of new rows, beyond the data too, agree to 1e-4 and in sign."""
        X, y = table
        new = np.random.default_rng(1).normal(scale=2.0, size=(200, 3))
        stumps = StumpSVC(C, measure="lebesgue", tol=1e-10, n_jobs=1).fit(X, y)
        score = stumps.decision_function(new)
        half_range = (np.ptp(np.vstack([X, new]), axis=0)).sum() / 2
        for constant in (half_range, 0.0):
            svc = SVC(C=C, kernel="precomputed", tol=1e-9)
            svc.fit(constant - cdist(X, X, "cityblock"), y)
            other = svc.decision_function(constant - cdist(new, X, "cityblock"))
            np.testing.assert_allclose(score, other, rtol=0, atol=1e-4)
            clear = np.abs(other) > 1e-4
            assert np.array_equal(stumps.predict(new)[clear], np.sign(other[clear]))

    def test_the_dual_value_does_not_depend_on_the_constant(self, table):
        """The certificate's dual value is that of (P2) under both kernels, to 1e-9."""
        X, y = table
        model = StumpSVC(1.0, measure="lebesgue", tol=1e-9, n_jobs=1).fit(X, y)
        beta = model.dual_coef_
        for constant in (0.0, 50.0):
            K = constant - cdist(X, X, "cityblock")
            dual = np.abs(beta).sum() - beta @ K @ beta / 2
            assert dual == pytest.approx(model.certificate_.dual, rel=1e-9)


class TestTheorem3:
    """Distinct values in one feature make the Gram matrix positive definite."""

    @pytest.mark.parametrize("measure", ["lebesgue", "uniform", "mixed", "density"])
    def test_gram_is_positive_definite(self, measure):
        """Its smallest eigenvalue is at least half the smallest mass of the feature's gaps.

        The inverse of the feature's own matrix is a chain whose rows sum, by absolute value, to
        at most twice the inverse of that mass (Gershgorin); other features only add to it.
        """
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.permutation(12) + 0.5, np.zeros(12), rng.integers(0, 2, 12)])
        K = package_kernel_matrix(X, named(measure), centered=True, limits=(-3.0, 15.0))
        own = axis(X[:, 0], measure, limits=(-3.0, 15.0))
        smallest = min(own.inside.min(), own.outside)
        assert np.linalg.eigvalsh(K)[0] >= smallest / 2

    @pytest.mark.parametrize("measure", ["rank", "middle"])
    def test_gram_is_conditionally_positive_definite(self, measure):
        """Without mass outside the data, it is definite on vectors that sum to 0."""
        X = np.random.default_rng(0).permutation(12)[:, None] + 0.5
        K = package_kernel_matrix(X, measure, centered=False)
        basis = np.linalg.qr(np.column_stack([np.ones(12), np.eye(12)[:, 1:]]))[0][:, 1:]
        smallest = axis(X[:, 0], measure).inside.min()
        assert np.linalg.eigvalsh(basis.T @ K @ basis)[0] >= smallest / 2

    def test_a_tie_in_every_feature_may_be_singular(self):
        """Without the premise the conclusion fails: two equal rows give a zero eigenvalue."""
        X = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 3.0]])
        assert (
            abs(np.linalg.eigvalsh(package_kernel_matrix(X, "lebesgue", centered=True))[0]) <= 1e-12
        )


class TestTheorem4:
    """Infinite V-C dimension: the hard margin separates every labeling."""

    @pytest.mark.parametrize("measure", NAMED)
    @pytest.mark.parametrize("n", [2, 10, 200])
    def test_any_labeling_is_separated(self, measure, n):
        """All margins are at least 1 - 1e-9 and the certificate holds, for random labels."""
        rng = np.random.default_rng(n)
        X = np.column_stack([rng.permutation(n) / n, rng.integers(0, 3, n)])
        y = rng.choice([-1, 1], size=n)
        y[:2] = -1, 1
        model = StumpSVC(np.inf, measure=named(measure), tol=1e-6, n_jobs=1).fit(X, y)
        assert np.min(y * model.decision_function(X)) >= 1 - 1e-9
        assert model.certificate_.converged

    def test_without_an_intercept(self):
        """Also without an intercept if the range is wider than the data, as Theorem 3 requires."""
        rng = np.random.default_rng(5)
        X, y = rng.permutation(60)[:, None] / 60, rng.choice([-1, 1], size=60)
        model = StumpSVC(
            np.inf, measure="lebesgue", fit_intercept=False, feature_range=(-1, 2), n_jobs=1
        ).fit(X, y)
        assert np.min(y * model.decision_function(X)) >= 1 - 1e-9

    def test_wide_columns_keep_every_value(self):
        """With more distinct values than max_bins, the hard margin still separates the rows."""
        rng = np.random.default_rng(6)
        X, y = rng.normal(size=(600, 1)), rng.choice([-1, 1], size=600)
        model = StumpSVC(np.inf, max_bins=16, n_jobs=1).fit(X, y)
        assert np.min(y * model.decision_function(X)) >= 1 - 1e-9

    @pytest.mark.parametrize("measure", NAMED)
    def test_equal_rows_with_opposite_labels_raise(self, table, measure):
        """The error states that no stump ensemble separates, and that equal rows are a cause."""
        X, y = table
        y = y.copy()
        y[25] = -y[0]
        with pytest.raises(ValueError, match=r"no stump ensemble separates.*equal features"):
            StumpSVC(np.inf, measure=named(measure), n_jobs=1).fit(X, y)


class TestTheorem5:
    """Smooth stumps add up to K_S, and the fitted model is a vote of them."""

    @pytest.mark.parametrize("measure", NAMED)
    def test_smooth_stumps_sum_to_the_kernel(self, table, measure):
        """Entry by entry to 1e-12, with mass outside the data where the range is wider."""
        X, _ = table
        axes = [axis(x, measure, limits=(-5.0, 4.0)) for x in X.T]
        Phi = smooth_stumps(axes, fit_intercept=False)
        K = gram(axes)
        np.testing.assert_allclose(Phi @ Phi.T, K, rtol=0, atol=1e-12 * K.max())

    @pytest.mark.parametrize("measure", [*NAMED, ChosenStumps(THRESHOLDS)], ids=str)
    @pytest.mark.parametrize("fit_intercept", [True, False])
    def test_the_vote_is_the_score(self, table, measure, fit_intercept):
        """Weights are non-negative and the vote is decision_function to 1e-10, on new rows too."""
        X, y = table
        new = np.vstack([X, np.random.default_rng(2).normal(scale=2.0, size=(50, 3))])
        model = StumpSVC(measure=named(measure), fit_intercept=fit_intercept, n_jobs=1).fit(X, y)
        ensemble = model.shapes_.ensemble()
        assert np.all(ensemble.weight >= 0)
        assert set(np.unique(ensemble.direction)) <= {-1, 1}
        np.testing.assert_allclose(ensemble.vote(new), model.decision_function(new), atol=1e-10)

    @pytest.mark.parametrize("fit_intercept", [True, False])
    def test_weights_are_the_duals_vote(self, table, fit_intercept):
        """A group's weight is half its mass times ``|sum right - sum left|`` of duals, to 1e-5.

        It is ``sum of beta_i s_hat(x_i) mass / 2``, the optimal w of (P4) summed over the group.
        """
        X, y = table
        model = StumpSVC(
            measure="lebesgue",
            fit_intercept=fit_intercept,
            feature_range=(-9, 9),
            tol=5e-12,
            n_jobs=1,
        ).fit(X, y)
        axes = [axis(x, "lebesgue", limits=(-9.0, 9.0)) for x in X.T]
        for d, a in enumerate(axes):
            w = smooth_stumps([a], True).T @ model.dual_coef_ * np.sqrt(a.inside / 2)
            ensemble = model.shapes_.ensemble()
            values = np.unique(X[:, d])
            own = (ensemble.feature == d) & (ensemble.lower >= values[0])
            own &= ensemble.upper <= values[-1]
            gap = np.searchsorted(a.points, ensemble.lower[own])
            found = np.zeros(len(a.inside))
            found[gap] = (ensemble.weight * ensemble.direction)[own]
            np.testing.assert_allclose(found, w, rtol=0, atol=1e-5)
