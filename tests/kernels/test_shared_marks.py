"""Blocking and cosines by kernels, against dense products."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from multiea.engines.embeddings import Embeddings
from multiea.kernels.nearest_marks import insert
from multiea.kernels.shared_marks import (
    cosines_of_pairs,
    cosines_of_rows,
    index_of_marks,
    replace_least,
    sharing_marks,
)

MARKS = 40


def signatures(count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Marks and weights of random signatures, and the same as a dense matrix."""
    generator = np.random.default_rng(seed)
    marks, weights = np.full((count, 6), -1, np.int32), np.zeros((count, 6), np.float32)
    dense = np.zeros((count, MARKS))
    for row in range(count - 2):  # the last ones have no marks
        size = generator.integers(1, 7)
        marks[row, :size] = generator.permutation(MARKS)[:size]
        weights[row, :size] = generator.random(size)
        dense[row, marks[row, :size]] = weights[row, :size]
    return marks, weights, dense


@pytest.mark.parametrize(("most_per_mark", "count"), [(100, 5), (100, 90), (3, 5)])
def test_entities_with_most_in_common_are_found(most_per_mark: int, count: int) -> None:
    (marks, weights, left), (others, values, right) = signatures(70, 0), signatures(80, 1)
    index = index_of_marks(others, values, MARKS, most_per_mark)
    found = sharing_marks((marks, weights), index, len(others), count, 0.01)
    cut = right.copy()
    for mark in range(MARKS):
        cut[np.argsort(-right[:, mark], kind="stable")[most_per_mark:], mark] = 0
    product = left @ cut.T
    for row, own in enumerate(product):
        own_found = found[row][found[row] >= 0]
        wanted = np.sort(own[own >= 0.01])[::-1][:count]
        np.testing.assert_allclose(np.sort(own[own_found])[::-1], wanted, rtol=1e-5)
        assert len(set(own_found.tolist())) == len(own_found)


def test_lists_of_the_best_do_not_depend_on_the_order_of_entries() -> None:
    """Of equal values the lower names are kept, however entries arrive."""
    generator = np.random.default_rng(0)
    values = generator.integers(0, 5, 40).astype(np.float32)
    wanted = set(np.lexsort((np.arange(40), -values))[:7].tolist())
    for into in (insert, replace_least):
        for _ in range(5):
            names, best, found = np.full(7, -1, np.int32), np.zeros(7, np.float32), 0
            for name in generator.permutation(40):
                found = into(names, best, found, name, values[name])
            assert set(names.tolist()) == wanted
            np.testing.assert_array_equal(best, values[names])


def test_cosines_of_kernels_equal_those_of_embeddings() -> None:
    generator = torch.Generator().manual_seed(0)
    left, right = (Embeddings.empty_in_8_bits(size, 64) for size in (30, 20))
    for part in (left, right):
        part.write(0, normalize(torch.randn(*part.shape, generator=generator)))
    right = right.times(torch.rand(20, generator=generator))
    whole = left.cosines(right).numpy()
    assert left.multipliers is not None
    assert right.multipliers is not None
    one = left.numbers.numpy(), left.multipliers.numpy()
    other = right.numbers.numpy(), right.multipliers.numpy()
    rows, columns = np.array([29, 4, 4]), np.array([0, 19, 7])
    np.testing.assert_allclose(cosines_of_pairs(one, other, rows, columns), whole[rows, columns], rtol=1e-5)
    chosen, others = np.array([3, 9, 27]), np.arange(19, -1, -1)
    starts, column = np.array([0, 2, 2, 3]), np.array([0, 5, 19], np.int32)
    values = np.zeros(3, np.float32)
    cosines_of_rows((*one, chosen), (*other, others), starts, column, values)
    np.testing.assert_allclose(values, whole[[3, 3, 27], others[column]], rtol=1e-5)
    in_parts = np.zeros(3, np.float32)
    for some in (slice(0, 8), slice(8, 20)):
        of_part = (other[0][some], other[1][some], others - some.start)
        cosines_of_rows((*one, chosen), of_part, starts, column, in_parts)
    np.testing.assert_array_equal(in_parts, values)
