"""The operator of interactions against dense matrices, and purified models against their scores."""

from dataclasses import replace

import numpy as np
import pytest

from everystump._core import rowloops
from everystump._core.cells import make_cells
from everystump._core.columns import make_columns
from everystump._core.design import Design
from everystump._core.fitted_shapes import SurfaceBuilder
from everystump._core.losses import LOSSES
from everystump._core.measures import ChosenStumps, as_measure
from everystump._core.solvers.problem import no_progress

PAIRS = [(0, 1), (0, 3), (1, 2), (3, 4), (4, 5)]
TRIPLES = [(0, 1, 2), (1, 3, 4), (3, 4, 5)]
TERMS = {"pairs": PAIRS, "triples": TRIPLES, "both": PAIRS + TRIPLES}


def make_rows(seed=0, n=150):
    """Numbers with missing values, a category and columns of few values, which share codes."""
    rng = np.random.default_rng(seed)
    X = np.round(2 * rng.normal(size=(n, 6)))
    X[:, 3], X[:, 4], X[:, 5] = rng.integers(0, [[3], [2], [2]], size=(3, n))
    X[rng.random(n) < 0.1, 1] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + X[:, 2] * X[:, 3] + rng.normal(size=n) > 0.3
    return X, y, rng.random(n) + 0.5


def solve(design, loss, y, weight, **options):
    options = {"C": 1.0, "tol": 1e-4, "max_iter": 500, "n_threads": 1, **options}
    return design.solve(LOSSES[loss], y, weight, progress=no_progress, **options)


def make_design(X, weight, terms, *, measure="mixed", fit_intercept=True, max_cells=32):
    design = Design.from_rows(
        X,
        measure=as_measure(measure),
        max_bins=256,
        n_levels=[0, 0, 0, 3, 0, 0],
        fit_intercept=fit_intercept,
        feature_range=None,
        sample_weight=weight,
        n_threads=1,
    )
    return design.with_interactions(terms, max_cells=max_cells, strength=0.7)


def cells_of(design, feature):
    """Return the cell of each row in a feature of a term."""
    return feature.joint_cells[design.packing.codes.cells[feature.joint]]


def dense_votes(design):
    """Return the votes of all weights on each row, and which weights are free."""
    codes = design.packing.codes
    units = np.eye(design.terms.n_weights)
    votes = np.empty((codes.n_rows, len(units)))
    for j, unit in enumerate(units):
        rowloops.gather(codes, design.packing.expand(design.terms.matvec(unit)), votes[:, j])
    free = np.ones(len(units), dtype=bool)
    for group in design.terms.interactions.groups:
        for block in group.blocks:
            if block.mask is not None:
                first = design.terms.n_bins + block.weights.start
                free[first : first + block.mask.size] = block.mask.ravel()
    return votes, free


def centered_stump_kernel(design, d, cells):
    """Return the kernel of the stumps of a feature, centered by the rows, by its definition."""
    column = cells.column
    masses = design.measure.stump_masses(column, d).inside
    share = column.weights / column.weights.sum()
    kernel = np.zeros((column.n_bins, column.n_bins))
    for k, mass in enumerate(masses, start=1):
        stump = column.beyond(k) - share[column.beyond(k)].sum()
        kernel += 2 * mass * np.outer(stump, stump)
    return kernel


def product_kernel(design):
    """Return the kernel matrix of the interactions, by its definition."""
    interactions = design.terms.interactions
    total = 0.0
    for term in interactions.terms:
        product = interactions.strength ** (len(term) - 1)
        for d, feature in zip(term, interactions.features[term], strict=True):
            cells = cells_of(design, feature)
            product = (
                product * centered_stump_kernel(design, d, feature.cells)[np.ix_(cells, cells)]
            )
        total = total + product
    return total


@pytest.mark.parametrize("terms", TERMS.values(), ids=TERMS)
@pytest.mark.parametrize("max_cells", [4, 32])
def test_operator_and_kernel_matrix(terms, max_cells):
    X, _, weight = make_rows()
    design = make_design(X, weight, terms, max_cells=max_cells)
    votes, free = dense_votes(design)
    codes, n_bins = design.packing.codes, design.terms.n_bins
    kernel = design.terms.kernel_matrix(design.packing, codes)
    np.testing.assert_allclose(votes[:, free] @ votes[:, free].T, kernel, atol=1e-10)
    expected = product_kernel(design)
    np.testing.assert_allclose(
        votes[:, n_bins:][:, free[n_bins:]] @ votes[:, n_bins:][:, free[n_bins:]].T,
        expected,
        atol=1e-10,
    )
    r, sums = np.random.default_rng(1).normal(size=len(X)), np.empty(codes.n_entries)
    rowloops.scatter(codes, r, 0, len(r), sums)
    found = design.terms.rmatvec(design.packing.fold(sums))
    np.testing.assert_allclose(found, np.where(free, votes.T @ r, 0.0), atol=1e-10)
    diagonal = np.zeros(codes.n_entries)
    diagonal[codes.starts[-1] :] = design.terms.interactions.diagonal_table()
    scores = np.empty(len(X))
    rowloops.gather(codes, diagonal, scores)
    np.testing.assert_allclose(scores, np.diag(expected), atol=1e-10)
    assert design.terms.interactions.block_norms @ design.terms.interactions.block_norms >= (
        scores.max() - 1e-10
    )


def test_weights_of_other_interactions_keep_their_tables():
    """Also if features are merged into other joint columns, and of another strength."""
    X, _, weight = make_rows()
    terms = [*PAIRS, *TERMS["triples"]]
    source = make_design(X, weight, terms)
    weights = np.random.default_rng(2).normal(size=source.terms.interactions.n_weights)
    for kept in [terms[::2], terms[1:], PAIRS, [terms[-1]], terms]:
        design = source.with_interactions(kept, max_cells=32, strength=0.3)
        own, others = design.terms.interactions, source.terms.interactions
        converted = own.convert(weights, others)
        for term in kept:
            np.testing.assert_allclose(
                own.term_table(term, converted), others.term_table(term, weights), atol=1e-12
            )
    back = source.terms.interactions.convert(
        converted[:0], make_design(X, weight, []).terms.interactions
    )
    assert not back.any()


def test_hessian_diagonal():
    X, _, weight = make_rows()
    design = make_design(X, weight, PAIRS)
    votes, free = dense_votes(design)
    sums = np.empty(design.packing.codes.n_entries)
    rowloops.scatter(design.packing.codes, weight, 0, len(X), sums)
    n_bins = design.terms.n_bins
    found = design.terms.interactions.hessian_diagonal(sums[design.packing.starts[-1] :])
    expected = np.where(free, (votes**2 * weight[:, None]).sum(axis=0), 0.0)[n_bins:]
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_bound_on_the_magnitude_of_scores():
    X, _, weight = make_rows()
    design = make_design(X, weight, PAIRS + TRIPLES)
    votes, free = dense_votes(design)
    w = np.random.default_rng(2).normal(size=design.terms.n_weights) * free
    assert (np.abs(votes) @ np.abs(w)).max() <= design.terms.magnitude(w)


def test_bound_on_the_kernel_of_rows_that_training_has_not():
    """Rare columns of zeros and ones that are never 1 together share a joint column."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [np.eye(6)[np.minimum(rng.geometric(0.1, 300), 6) - 1], rng.normal(size=300)]
    )
    design = Design.from_rows(
        X,
        measure=as_measure("mixed"),
        max_bins=256,
        n_levels=[0] * 7,
        fit_intercept=True,
        feature_range=None,
        sample_weight=None,
        n_threads=1,
    ).with_interactions([(d, 6) for d in range(6)], max_cells=8, strength=1.0)
    kernel = design.half_mass
    for pair in design.terms.interactions.features.values():
        kernel += np.prod([np.diag(feature.cells.kernel).max() for feature in pair])
    assert design.max_kernel == pytest.approx(kernel)
    assert design.max_kernel > design.kernel_diagonal().max()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_both_ways_to_solve_agree(loss, fit_intercept):
    """In the span of the rows and with the weights of all terms."""
    X, y, weight = make_rows()
    design = make_design(X, weight, PAIRS, fit_intercept=fit_intercept)
    plain = replace(design, kernel_matrix=None)
    found = [solve(d, loss, y, weight, C=2.0, tol=1e-7) for d in (design, plain)]
    assert all(solution.certificate.converged for solution in found)
    first, second = (solution.certificate for solution in found)
    assert first.primal >= second.dual * (1 - 1e-12)
    assert second.primal >= first.dual * (1 - 1e-12)
    assert first.primal == pytest.approx(second.primal, rel=1e-6)


@pytest.mark.parametrize("measure", ["mixed", "middle", "uniform"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("terms", [PAIRS, [(1, 3, 4), (3, 4, 5)]], ids=["pairs", "triples"])
def test_shapes_score_as_the_solution(measure, fit_intercept, terms):
    """Where every value has its own cell, purification changes no score."""
    X, y, weight = make_rows()
    X = X.clip(-4, 4)
    design = make_design(X, weight, terms, measure=measure, fit_intercept=fit_intercept)
    solution = solve(design, "logistic", y, weight)
    model = design.shape_model(solution)
    scores = design.scores(solution, np.arange(len(X)))
    np.testing.assert_allclose(model.evaluate(X), scores, rtol=0, atol=1e-10)
    density = design.surface_density(model)
    for surface, weights in zip(model.surfaces, density, strict=True):
        assert weights.shape == surface.values.shape
        assert weights.sum() == pytest.approx(weight.sum())
        if surface.order == len(terms[0]) and measure != "middle":
            _check_purified(surface, X, weight, weights)


def _check_purified(surface, X, weight, density):
    """Check that the rows of each line of the grid have weighted mean 0."""
    positions = []
    for d, axis in zip(surface.features, surface.axes, strict=True):
        index = np.searchsorted(axis.knots, X[:, d])
        positions.append(np.where(np.isnan(X[:, d]), len(axis.knots), index))
    counts = np.zeros(surface.values.shape)
    np.add.at(counts, tuple(positions), weight)
    np.testing.assert_allclose(density, counts, atol=1e-9)
    sums = counts * surface.values
    for j in range(surface.order):
        np.testing.assert_allclose(sums.sum(axis=j), 0.0, atol=1e-9)


@pytest.mark.parametrize("measure", ["mixed", "middle"])
def test_pairs_of_triples_are_purified(measure, monkeypatch):
    """Triples, which have fewer cells, add to the surfaces of pairs; scores do not change."""
    X, y, weight = make_rows(n=300)
    rng = np.random.default_rng(0)
    X[:, :3] += rng.normal(size=(300, 3))
    terms = [(0, 1), (0, 3), (1, 3), (0, 1, 3), (0, 1, 4)]
    design = make_design(X, weight, terms, measure=measure)
    solution = solve(design, "logistic", y, weight)
    model = design.shape_model(solution)
    for surface, weights in zip(model.surfaces, design.surface_density(model), strict=True):
        for j in range(surface.order):
            sums = (weights * surface.values).sum(axis=j)
            np.testing.assert_allclose(sums, 0.0, atol=1e-9, err_msg=str(surface.features))
    monkeypatch.setattr(SurfaceBuilder, "purify_sum", lambda *_: None)
    raw = design.shape_model(solution)
    new = X + rng.normal(size=X.shape) * [1, 1, 1, 0, 1, 1]
    np.testing.assert_allclose(model.evaluate(new), raw.evaluate(new), rtol=0, atol=1e-12)


def test_few_cells_and_rare_levels():
    """With few cells, neighboring values and the rare levels of a category share them."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=400), rng.geometric(0.3, size=400).clip(0, 11) - 1.0])
    y = X[:, 0] * (X[:, 1] - 2) > 0
    design = Design.from_rows(
        X,
        measure=as_measure("mixed"),
        max_bins=256,
        n_levels=[0, 12],
        fit_intercept=True,
        feature_range=None,
        sample_weight=None,
        n_threads=1,
    ).with_interactions([(0, 1)], max_cells=5, strength=1.0)
    solution = solve(design, "hinge", y, np.ones(400))
    (surface,) = design.shape_model(solution).surfaces
    assert [len(axis) for axis in surface.axes] == [5, 12]
    rare = np.argsort(-np.bincount(X[:, 1].astype(int), minlength=12), kind="stable")[4:]
    present = [level for level in rare if level in X[:, 1]]
    np.testing.assert_array_equal(
        surface.values[:, present], np.repeat(surface.values[:, present[:1]], len(present), axis=1)
    )
    absent = [level for level in range(12) if level not in X[:, 1]]
    assert not surface.values[:, absent].any()


def test_cells_of_chosen_stumps():
    """Frequent levels keep the mass of their stumps, rare ones share the largest of theirs."""
    x = np.repeat([0.0, 1.0, 2.0, 3.0, np.nan], [1, 8, 2, 9, 4])
    column = make_columns(x[:, None], max_bins=256, n_levels=[4]).columns[0]
    measure = ChosenStumps([[]], levels=[[0, 0, 1, 3, 3, 3]], missing=[1])
    cells = make_cells(column, 0, measure, max_cells=3)
    assert cells.cell_of_bin.tolist() == [0, 3, 1, 3, 2, 4]
    expected = np.zeros((5, 5))
    for cell, mass, share in ((1, 2, 8 / 24), (2, 6, 9 / 24), (3, 4, 3 / 24), (4, 2, 4 / 24)):
        stump = (np.arange(5) == cell) - share
        expected += 2 * mass * np.outer(stump, stump)
    # The root of a category has no rows.
    np.testing.assert_allclose(cells.kernel[1:, 1:], expected[1:, 1:], atol=1e-12)
