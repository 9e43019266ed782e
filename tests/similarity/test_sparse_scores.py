"""Sparse scores: the matrix they represent."""

from __future__ import annotations

import pytest
import torch

from multiea.similarity import sparse_scores
from multiea.similarity.matrices import Dense, blocks
from multiea.similarity.sparse_scores import top_per_group
from support.scores import sparse


def test_sparse_scores_agree_with_the_matrix_they_represent() -> None:
    values = [[0.0, 0.5, 0.2], [0.0, 0.0, 0.0], [0.9, 0.0, 0.9], [0.1, 0.3, 0.0]]
    scores, dense = sparse(values), torch.tensor(values)
    assert torch.equal(torch.cat([block for _, block in blocks(scores)]), dense)
    assert torch.equal(scores.rows(torch.tensor([2, 0])), dense[[2, 0]])
    assert torch.equal(scores.at(torch.tensor([0, 1, 2]), torch.tensor([1, 1, 2])), torch.tensor([0.5, 0.0, 0.9]))
    torch.testing.assert_close(scores.row_sums(), dense.sum(1))
    torch.testing.assert_close(Dense(dense).row_sums(), dense.sum(1))
    columns, best = scores.top(2)
    assert columns.tolist() == [[1, 2], [-1, -1], [0, 2], [1, 0]]
    torch.testing.assert_close(best, torch.tensor([[0.5, 0.2], [0.0, 0.0], [0.9, 0.9], [0.3, 0.1]]))


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_the_few_best_of_each_group_are_the_same_without_sorting(
    monkeypatch: pytest.MonkeyPatch, count: int, is_sorted: bool
) -> None:
    generator = torch.Generator().manual_seed(count)
    groups, values = (torch.randint(0, high, (500,), generator=generator) for high in (90, 20))
    groups = groups.sort().values if is_sorted else groups
    without = top_per_group(groups, values / 20, count)
    monkeypatch.setattr(sparse_scores, "FEW", 0)
    for found, expected in zip(without, top_per_group(groups, values / 20, count), strict=True):
        assert torch.equal(found, expected)
