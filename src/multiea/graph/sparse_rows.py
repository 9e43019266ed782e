"""Rows and columns of a scipy sparse matrix multiplied by factors."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def scaled(matrix: sp.csr_array, rows: np.ndarray | None = None, columns: np.ndarray | None = None) -> sp.csr_array:
    """The matrix in single precision, its rows and columns multiplied by factors."""
    data = matrix.data if columns is None else matrix.data * columns[matrix.indices]
    data = data if rows is None else data * np.repeat(rows, np.diff(matrix.indptr))
    return sp.csr_array((data.astype(np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)


def no_entries(shape: tuple[int, int]) -> sp.csr_array:
    """A matrix in which all is zero."""
    nothing = np.empty(0, dtype=np.int64)
    return sp.csr_array((np.empty(0, dtype=np.float32), (nothing, nothing)), shape=shape)


def unit_rows(matrix: sp.csr_array) -> sp.csr_array:
    """Rows of unit length; zero where all is zero."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    lengths = np.sqrt(np.bincount(row, matrix.data.astype(np.float64) ** 2, minlength=matrix.shape[0]))
    return scaled(matrix, rows=1 / np.maximum(lengths, 1e-12))


def values_at(matrix: sp.csr_array, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The values of some entries, zero where there is none."""
    if not matrix.nnz:
        return np.zeros(len(row))
    matrix.sort_indices()
    own_row = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    keys = own_row * matrix.shape[1] + matrix.indices
    wanted = row.astype(np.int64) * matrix.shape[1] + column
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, matrix.data[place], 0.0)
