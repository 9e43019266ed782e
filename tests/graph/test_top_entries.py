"""The largest entries of each row of a sparse matrix."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from multiea.graph.top_entries import keep_top_entries, top_entries


def random_matrix(rows: int, columns: int, density: float, seed: int = 0) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((rows, columns)) < density, rng.random((rows, columns)) + 1e-3, 0)
    return sp.csr_array(values.astype(np.float32))


@pytest.mark.parametrize("count", [1, 3, 100])
def test_the_largest_entries_match_a_loop_over_rows(count: int) -> None:
    matrix = random_matrix(40, 25, 0.3)
    row, column, value = top_entries(matrix, count)
    dense = matrix.toarray()
    for number in range(matrix.shape[0]):
        own = row == number
        expected = [at for at in np.argsort(-dense[number], kind="stable") if dense[number, at] > 0][:count]
        assert column[own].tolist() == [int(at) for at in expected]
        np.testing.assert_allclose(value[own], dense[number, expected], rtol=1e-6)


def test_the_largest_entry_of_a_row_comes_first_and_rows_rise() -> None:
    row, _, value = top_entries(random_matrix(30, 30, 0.5), 4)
    assert (np.diff(row) >= 0).all()
    assert (np.diff(value)[np.diff(row) == 0] <= 0).all()


def test_of_equal_entries_the_first_column_comes_first() -> None:
    matrix = sp.csr_array(np.array([[0.5, 0.5, 0.5], [0.0, 0.0, 0.0], [0.25, 0.5, 0.5]], dtype=np.float32))
    row, column, value = top_entries(matrix, 2)
    assert row.tolist() == [0, 0, 2, 2]
    assert column.tolist() == [0, 1, 1, 2]
    assert value.tolist() == [0.5, 0.5, 0.5, 0.5]


def test_other_entries_are_removed_and_the_shape_stays() -> None:
    matrix = random_matrix(20, 10, 0.8)
    kept = keep_top_entries(matrix, 3)
    assert kept.shape == matrix.shape
    assert (np.diff(kept.indptr) == np.minimum(np.diff(matrix.indptr), 3)).all()
    dense = matrix.toarray()
    threshold = np.sort(dense, axis=1)[:, -3:][:, :1]
    np.testing.assert_allclose(kept.toarray(), np.where(dense >= threshold, dense, 0), rtol=1e-6)


def test_a_matrix_without_entries_or_rows_gives_nothing() -> None:
    for shape in ((4, 3), (0, 3)):
        kept = keep_top_entries(sp.csr_array(np.zeros(shape, dtype=np.float32)), 2)
        assert kept.shape == shape
        assert kept.nnz == 0


def test_values_lose_only_their_last_bits_in_large_matrices() -> None:
    rows, columns = 1 << 20, 1 << 22
    rng = np.random.default_rng(0)
    entries = np.unique(rng.integers(0, rows, 500))
    data = rng.random(len(entries)).astype(np.float32) + 0.1
    matrix = sp.csr_array((data, (entries, rng.integers(0, columns, len(entries)))), shape=(rows, columns))
    row, column, value = top_entries(matrix, 2)
    order = np.argsort(entries)
    assert row.tolist() == entries[order].tolist()
    assert column.tolist() == matrix.indices.tolist()
    np.testing.assert_allclose(value, data[order], rtol=1e-2)
