"""Hashes of rows: which differences between tables change them, and which do not."""

import numpy as np
import pytest
from scipy import sparse

from everystump._tables.row_hashes import hash_numbers, hash_rows


def table(seed=0, n=50, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, size=d)
    X[rng.random(X.shape) < 0.2] = 0.0
    return X, rng.integers(0, 3, n)


def test_equal_numbers_have_equal_hashes():
    X, label = table()
    other = np.where(X == 0, -0.0, X)
    assert hash_rows(other, label).ordered_checksum() == hash_rows(X, label).ordered_checksum()
    missing = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64)
    first, second = hash_rows(missing.view(np.float64)[:, None], np.zeros(2, dtype=int)).rows
    assert first == second


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda X: X[::-1][::-1], np.float32])
def test_the_memory_layout_does_not_matter(layout):
    X, label = table()
    X = X.astype(np.float32).astype(np.float64)
    assert hash_rows(layout(X), label).ordered_checksum() == hash_rows(X, label).ordered_checksum()


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.coo_matrix])
def test_sparse_and_dense_tables_have_equal_hashes(kind):
    X, label = table()
    np.testing.assert_array_equal(hash_rows(kind(X), label).rows, hash_rows(X, label).rows)
    assert hash_rows(kind(X), label).ordered_checksum() == hash_rows(X, label).ordered_checksum()


def test_rows_are_equal_to_a_few_digits_and_tables_to_the_last_bit():
    X, label = table()
    short, rough = X.astype(np.float32), X * (1 + 1e-4)
    found = hash_rows(X, label)
    np.testing.assert_array_equal(hash_rows(short, label).rows, found.rows)
    assert hash_rows(short, label).ordered_checksum() != found.ordered_checksum()
    nonzero = X.any(axis=1)
    assert np.all((hash_rows(rough, label).rows != found.rows)[nonzero])
    for row, column in np.argwhere(X != 0)[::17]:
        changed = X.copy()
        changed[row, column] = np.nextafter(X[row, column], np.inf)
        assert hash_rows(changed, label).ordered_checksum() != found.ordered_checksum()


@pytest.mark.parametrize(("digits", "share"), [(6, 0.5), (7, 0.93), (9, 0.99), (12, 1.0)])
def test_most_rows_keep_their_hash_with_fewer_digits(digits, share):
    X = np.random.default_rng(0).normal(size=(1000, 5))
    label = np.zeros(1000, dtype=int)
    written = np.array([float(f"{x:.{digits}g}") for x in X.ravel()]).reshape(X.shape)
    same = hash_rows(written, label).rows == hash_rows(X, label).rows
    assert np.mean(same) >= share


def test_the_order_of_rows_columns_and_labels_matters():
    X, label = table()
    found, order = hash_rows(X, label), np.random.default_rng(1).permutation(len(X))
    shuffled = hash_rows(X[order], label[order])
    np.testing.assert_array_equal(shuffled.rows, found.rows[order])
    assert shuffled.ordered_checksum() != found.ordered_checksum()
    assert shuffled.unordered_checksum() == found.unordered_checksum()
    assert hash_rows(X[:, ::-1], label).unordered_checksum() != found.unordered_checksum()
    assert np.all(hash_rows(X, label + 1).rows != found.rows)


def test_rows_of_small_integers_do_not_collide():
    """Such numbers differ in few bits: a poor hash would merge many of them."""
    grid = np.stack(np.meshgrid(*[np.arange(30.0)] * 3), axis=-1).reshape(-1, 3)
    assert len(np.unique(hash_rows(grid, np.zeros(len(grid), dtype=int)).rows)) == len(grid)
    signs = np.array([[(k >> d) & 1 for d in range(14)] for k in range(2**14)]) * 2.0 - 1
    assert len(np.unique(hash_rows(signs, np.zeros(2**14, dtype=int)).rows)) == 2**14


def test_blocks_and_threads_do_not_matter():
    X, label = table(n=70_000, d=16)
    whole = hash_rows(X, label, n_threads=2)
    parts = [hash_rows(X[k : k + 9999], label[k : k + 9999]) for k in range(0, len(X), 9999)]
    np.testing.assert_array_equal(whole.rows, np.concatenate([part.rows for part in parts]))
    np.testing.assert_array_equal(whole.fine, np.concatenate([part.fine for part in parts]))


def test_the_checksum_of_numbers_depends_on_their_order():
    values = np.array([1.0, 2.0, 3.0])
    assert hash_numbers(values) == hash_numbers(values.copy())
    assert hash_numbers(values) != hash_numbers(values[::-1])
    assert hash_numbers(values) != hash_numbers(np.nextafter(values, 9))
