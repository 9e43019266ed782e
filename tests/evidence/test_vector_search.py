"""The nearest vectors, of all and with cells."""

from __future__ import annotations

import numpy as np
import pytest

from multiea.evidence import vector_search
from multiea.evidence.vector_search import nearest_vectors


def clustered_vectors(rng: np.random.Generator) -> list[np.ndarray]:
    """Two matrices of 2,000 vectors: row i of both is the same vector with some noise, near one of 60 centres."""
    centres = rng.normal(size=(60, 32))
    shared = centres[rng.integers(60, size=2000)] + 0.5 * rng.normal(size=(2000, 32))
    sides = [shared + 0.1 * rng.normal(size=shared.shape) for _ in range(2)]
    return [(side / np.linalg.norm(side, axis=1, keepdims=True)).astype(np.float32) for side in sides]


def test_cells_find_nearly_all_nearest_vectors_with_their_exact_products(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = clustered_vectors(np.random.default_rng(0))
    exact = nearest_vectors(left, right, 5, 0.1)
    compared = []
    of_all = vector_search._of_all

    def counted(queries, targets, count):  # type: ignore[no-untyped-def]
        compared.append(len(queries) * len(targets))
        return of_all(queries, targets, count)

    monkeypatch.setattr(vector_search, "_of_all", counted)
    monkeypatch.setattr(vector_search, "EXACT_PAIRS", 0)
    monkeypatch.setattr(vector_search, "QUERIES_AT_ONCE", 700)
    monkeypatch.setattr(vector_search, "NEAREST_CELLS", 6)
    row, column, product = nearest_vectors(left, right, 5, 0.1)
    assert sum(compared) < 0.5 * 2 * len(left) * len(right)
    np.testing.assert_allclose(product, (left[row] * right[column]).sum(axis=1), atol=1e-5)
    keys, exact_keys = row * len(right) + column, exact[0] * len(right) + exact[1]
    assert len(np.unique(keys)) == len(keys)
    assert np.isin(exact_keys, keys).mean() > 0.9
    assert np.isin(np.arange(len(left)) * (len(right) + 1), keys).mean() > 0.99  # the same vector of both sides


def test_products_below_the_least_do_not_count() -> None:
    one, other = np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)[:2]
    row, column, product = nearest_vectors(one, other, 2, 0.5)
    assert list(zip(row.tolist(), column.tolist(), product.tolist(), strict=True)) == [(0, 0, 1.0), (1, 1, 1.0)]
