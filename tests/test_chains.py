"""Chains against dense matrices: products, norm, kernel and factors."""

from fractions import Fraction

import numpy as np
import pytest
from column_examples import category, numbers, paths
from oracles import seeds

from everystump._core.chainloops import factor, solve
from everystump._core.chains import Chains
from everystump._core.measures import Masses

BOTH = pytest.mark.parametrize("centered", [True, False])
# The column of each feature, the masses of its edges, and the mass outside.
KINDS = {
    "a category": ([category(4)], [[2.0, 1.0, 0.5, 3.0]], [0.0]),
    "missing": (
        [numbers(4, missing=1.0), category(2, missing=3.0)],
        [[1, 2, 3, 5.0], [1, 1, 4]],
        [0.5, 0],
    ),
    "all kinds": (
        [
            numbers(2),
            numbers(3, missing=2.0, counts=[9, 1, 1]),
            category(3),
            numbers(1, missing=1.0),
        ],
        [[0.5], [1.0, 2.0, 4.0], [2.0, 2.0, 2.0], [3.0]],
        [1.0, 2.0, 0.0, 0.0],
    ),
    "ordinary": (None, [[0.3, 1.0, 2.0], [5.0], [0.1] * 7], [0.5, 2.0, 0.0]),
    "a constant feature": (None, [[], [1.0, 2.0]], [0.0, 1.0]),
    "empty gaps": (None, [[0.0, 1.0, 0.0, 0.0, 2.0], [0.0]], [0.0, 0.0]),
    "huge range": (None, [[1e-12, 1e12, 1.0], [1e-300, 1.0]], [1e-9, 3.0]),
}


MODERATE = [kind for kind in KINDS if kind != "huge range"]
PATHS = [kind for kind in KINDS if KINDS[kind][0] is None]


def of_kind(kind):
    columns, inside, outside = KINDS[kind]
    masses = [Masses(np.array(i), o) for i, o in zip(inside, outside, strict=True)]
    return columns or paths(masses), masses


@pytest.fixture(params=KINDS)
def forms(request):
    return of_kind(request.param)


def beyond(column):
    """Return whether each bin lies beyond the edge to each bin, by walking up to the root."""
    out = np.zeros((column.n_bins, column.n_bins))
    for k in range(column.n_bins):
        ancestor = k
        while ancestor != 0:
            out[k, ancestor] = 1.0
            ancestor = column.parents[ancestor]
    out[:, 0] = 1.0
    return out


def dense_operator(columns, masses, centered):
    """Return the dense matrix ``S`` from the formulas of the module's docstring."""
    blocks = []
    for column, mass in zip(columns, masses, strict=True):
        s = np.sqrt(2 * np.append(mass.outside if centered else 0.0, mass.inside))
        steps = beyond(column)
        steps[:, 0] = 0.0
        if centered:
            steps -= 0.5
            steps[:, 0] = 0.5
        blocks.append(steps * s)
    return block_diagonal(blocks)


def block_diagonal(blocks):
    size = sum(len(block) for block in blocks)
    out, at = np.zeros((size, size)), 0
    for block in blocks:
        out[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    return out


@BOTH
def test_matvec_is_a_product_with_the_matrix(forms, centered):
    chains = Chains.from_columns(*forms, centered=centered)
    weights = np.random.default_rng(0).normal(size=len(chains.jumps))
    expected = dense_operator(*forms, centered) @ weights
    np.testing.assert_allclose(chains.matvec(weights), expected, rtol=1e-9, atol=1e-9)


@BOTH
def test_rmatvec_is_a_product_with_the_transpose(forms, centered):
    chains = Chains.from_columns(*forms, centered=centered)
    sums = np.random.default_rng(1).normal(size=len(chains.jumps))
    expected = dense_operator(*forms, centered).T @ sums
    np.testing.assert_allclose(chains.rmatvec(sums), expected, rtol=1e-9, atol=1e-9)


@BOTH
@pytest.mark.parametrize("kind", MODERATE)
def test_the_norm_of_the_weights_is_the_energy_of_the_table(kind, centered):
    """``|w|^2 = sum (dU)^2 / (2 m)``, plus a corner term without an intercept; others are 0."""
    columns, masses = of_kind(kind)
    chains = Chains.from_columns(columns, masses, centered=centered)
    weights = np.random.default_rng(2).normal(size=len(chains.jumps))
    weights[chains.jumps == 0] = 0.0
    table, energy = chains.matvec(weights), 0.0
    for d, mass in enumerate(masses):
        U = table[chains.starts[d] : chains.starts[d + 1]]
        rise, has_mass = (U - U[columns[d].parents])[1:], mass.inside > 0
        np.testing.assert_allclose(rise[~has_mass], 0.0, atol=1e-14)
        energy += np.sum(rise[has_mass] ** 2 / (2 * mass.inside[has_mass]))
        if centered and mass.outside > 0:
            root = 2 * U[0] + rise.sum()
            energy += root**2 / (2 * mass.outside)
    assert weights @ weights == pytest.approx(energy, rel=1e-10)


@BOTH
@pytest.mark.parametrize("kind", PATHS)
def test_without_outside_mass_the_ends_are_opposite(kind, centered):
    columns, masses = of_kind(kind)
    chains = Chains.from_columns(
        columns, [Masses(mass.inside, 0.0) for mass in masses], centered=centered
    )
    table = chains.matvec(np.random.default_rng(3).normal(size=len(chains.jumps)))
    first, last = table[chains.starts[:-1]], table[chains.starts[1:] - 1]
    if centered:
        np.testing.assert_allclose(first, -last, rtol=1e-12)
    else:
        np.testing.assert_array_equal(first, 0.0)


@BOTH
def test_kernel_matrix_is_the_kernel_of_the_operator(forms, centered):
    """``K = V V'``, where a row of ``V`` is the sum of the rows of ``S`` at its bins."""
    chains = Chains.from_columns(*forms, centered=centered)
    rng = np.random.default_rng(4)
    bins = np.column_stack(
        [
            rng.integers(a, b, size=12)
            for a, b in zip(chains.starts, chains.starts[1:], strict=False)
        ]
    )
    units = np.eye(len(chains.jumps))
    S = np.column_stack([chains.matvec(unit) for unit in units])
    Phi = S[bins].sum(axis=1)
    K = chains.kernel_matrix(bins)
    np.testing.assert_allclose(K, Phi @ Phi.T, rtol=1e-9, atol=1e-9 * np.abs(K).max())


def test_votes_are_rows_of_the_operator_up_to_a_constant():
    """The votes at a joint bin minus their mean are the rows of the operator minus theirs."""
    masses = [Masses(np.array(i), 1.0) for i in ([1.0, 2.0], [0.5], [3.0])]
    chains = Chains.from_columns(paths(masses), masses, centered=True)
    S = np.column_stack([chains.matvec(unit) for unit in np.eye(len(chains.jumps))])
    bins = np.array([[0, 5], [1, 6], [2, 5]])
    entries, votes = chains.votes([0, 2], bins)
    np.testing.assert_array_equal(entries, [0, 1, 2, 5, 6])
    expected = S[bins].sum(axis=1)[:, entries]
    np.testing.assert_allclose(votes - votes.mean(axis=0), expected - expected.mean(axis=0))


def dense_block(column, s, d):
    """Return ``I + S'(D - dd'/sum d)S`` with plain sums ``S``."""
    S = beyond(column) * s
    middle = np.diag(d) - np.outer(d, d) / d.sum() if d.sum() > 0 else np.diag(d)
    return np.eye(len(s)) + S.T @ middle @ S


def chain_solve(chains, d, rhs):
    schur, damp, out = np.empty_like(d), np.empty_like(d), np.full_like(d, np.nan)
    factor(chains.starts, chains.parents, chains.jumps, d, schur, damp)
    solve(chains.starts, chains.parents, chains.jumps, schur, damp, rhs, out)
    return out


def random_curvature(size, zero_fraction, rng):
    return rng.uniform(0.1, 3.0, size=size) * (rng.uniform(size=size) >= zero_fraction)


@BOTH
@pytest.mark.parametrize("zero_fraction", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("kind", MODERATE)
def test_solve_inverts_the_block_of_each_feature(kind, zero_fraction, centered):
    columns, masses = of_kind(kind)
    chains = Chains.from_columns(columns, masses, centered=centered)
    rng = np.random.default_rng(5)
    d = random_curvature(len(chains.jumps), zero_fraction, rng)
    rhs = rng.normal(size=len(d))
    out = chain_solve(chains, d, rhs)
    for column, a, b in zip(columns, chains.starts, chains.starts[1:], strict=False):
        expected = np.linalg.solve(dense_block(column, chains.jumps[a:b], d[a:b]), rhs[a:b])
        np.testing.assert_allclose(out[a:b], expected, rtol=1e-9, atol=1e-11)


def exact_solve(s, d, rhs):
    """Solve with `dense_block` in exact fractions."""
    s, d, rhs = ([Fraction(float(number)) for number in array] for array in (s, d, rhs))
    size, total = len(s), sum(d)
    after = [sum(d[k:]) for k in range(size)]
    A = [
        [s[i] * s[j] * (after[max(i, j)] - after[i] * after[j] / total) for j in range(size)]
        for i in range(size)
    ]
    rows = [[*A[i], rhs[i]] for i in range(size)]
    for i in range(size):
        rows[i][i] += 1
    for i in range(size):
        for j in range(size):
            if j != i:
                factor = rows[j][i] / rows[i][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return np.array([float(rows[i][-1] / rows[i][i]) for i in range(size)])


@pytest.mark.parametrize("power", [3, 6, 12])
@pytest.mark.parametrize("seed", seeds(4))
def test_solve_with_a_huge_range_of_masses_and_curvatures(power, seed):
    """Nothing is subtracted, so scales over 24 decades cost few digits."""
    rng = np.random.default_rng(seed)
    masses = [Masses(10.0 ** rng.uniform(-power, power, size=9), 0.0)]
    chains = Chains.from_columns(paths(masses), masses, centered=False)
    d = 10.0 ** rng.uniform(-power, power, size=10)
    rhs = rng.normal(size=10)
    out, expected = chain_solve(chains, d, rhs), exact_solve(chains.jumps, d, rhs)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_solve_is_symmetric_and_positive():
    """A preconditioner must be both, for any scales."""
    rng = np.random.default_rng(6)
    masses = [Masses(10.0 ** rng.uniform(-6, 6, size=15), 0.0)]
    chains = Chains.from_columns(paths(masses), masses, centered=False)
    d = 10.0 ** rng.uniform(-6, 6, size=16)
    inverse = np.column_stack([chain_solve(chains, d, unit) for unit in np.eye(16)])
    np.testing.assert_allclose(inverse, inverse.T, rtol=1e-6, atol=1e-9)
    assert np.linalg.eigvalsh((inverse + inverse.T) / 2).min() > 0
