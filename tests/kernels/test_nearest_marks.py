"""Signatures: the marks nearest to each entity, against sparse products of scipy."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from multiea.kernels.edges import Edges
from multiea.kernels.nearest_marks import nearest_marks, passed_on


def by_scipy(edges: Edges, mark: np.ndarray, most: int, kept: int) -> np.ndarray:
    """The weights of the nearest marks, (n, n) by marked entity, before rows are cut and scaled."""
    count = edges.entities
    head = np.repeat(np.arange(count), np.diff(edges.starts))
    neighbours = sp.csr_array((np.ones(len(head)), (head, edges.tail)), shape=(count, count)).toarray() > 0
    degree = neighbours.sum(1)
    is_marked = mark >= 0
    passed = np.zeros((count, count))
    for entity in range(count):
        own = np.flatnonzero(neighbours[entity] & is_marked)
        passed[entity, own[np.lexsort((own, degree[own]))][:kept]] = 1
    total = (neighbours & is_marked) + 0.5 * (neighbours / np.maximum(degree, 1)) @ passed
    return np.asarray(total / np.sqrt(np.maximum(degree, 1)))


def test_nearest_marks_are_those_of_sparse_products(edges: Edges, mark: np.ndarray) -> None:
    most, kept = 8, 4
    passed = passed_on(edges.starts, edges.tail, mark, kept)
    some = np.arange(2, edges.entities, 3)
    marks, weights = nearest_marks(edges.starts, edges.tail, mark, passed, some, most, 0.5)
    whole = by_scipy(edges, mark, most, kept)[some]
    np.testing.assert_allclose(np.linalg.norm(weights, axis=1)[weights.any(1)], 1, rtol=1e-5)
    for row, of_all in enumerate(whole):
        best = np.sort(of_all[of_all > 0])[::-1][:most]
        own = weights[row][marks[row] >= 0]
        assert len(own) == len(best)
        np.testing.assert_allclose(own, best / max(np.linalg.norm(best), 1e-12), rtol=1e-4)
        entity_of = np.full(mark.max() + 1, -1)
        entity_of[mark[mark >= 0]] = np.flatnonzero(mark >= 0)
        values = of_all[entity_of[marks[row][marks[row] >= 0]]]
        np.testing.assert_allclose(values, best, rtol=1e-4)  # each weight belongs to its mark
    assert (marks[whole.max(1) == 0] == -1).all()


def test_some_entities_have_the_same_marks_as_among_all(edges: Edges, mark: np.ndarray) -> None:
    passed = passed_on(edges.starts, edges.tail, mark, 4)
    every = nearest_marks(edges.starts, edges.tail, mark, passed, np.arange(edges.entities), 6, 0.5)
    some = np.array([5, 3, 250])
    for part, whole in zip(nearest_marks(edges.starts, edges.tail, mark, passed, some, 6, 0.5), every, strict=True):
        np.testing.assert_array_equal(part, whole[some])
