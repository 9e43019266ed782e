"""Sparse scores: the matrix they represent, and Sinkhorn on them."""

from __future__ import annotations

import torch

from multiea.similarity.matrices import Dense, blocks
from multiea.similarity.sparse_sinkhorn import normalise
from support.scores import sparse


def test_sparse_scores_agree_with_the_matrix_they_represent() -> None:
    values = [[0.0, 0.5, 0.2], [0.0, 0.0, 0.0], [0.9, 0.0, 0.9], [0.1, 0.3, 0.0]]
    scores, dense = sparse(values), torch.tensor(values)
    assert torch.equal(torch.cat([block for _, block in blocks(scores)]), dense)
    assert torch.equal(scores.rows(torch.tensor([2, 0])), dense[[2, 0]])
    assert torch.equal(scores.transposed().rows(slice(None)), dense.t())
    assert torch.equal(scores.at(torch.tensor([0, 1, 2]), torch.tensor([1, 1, 2])), torch.tensor([0.5, 0.0, 0.9]))
    torch.testing.assert_close(scores.row_sums(), dense.sum(1))
    torch.testing.assert_close(Dense(dense).row_sums(), dense.sum(1))
    columns, best = scores.top(2)
    assert columns.tolist() == [[1, 2], [-1, -1], [0, 2], [1, 0]]
    torch.testing.assert_close(best, torch.tensor([[0.5, 0.2], [0.0, 0.0], [0.9, 0.9], [0.3, 0.1]]))


def test_normalised_rows_and_columns_sum_to_one_and_less_with_mass_outside_the_entries() -> None:
    generator = torch.Generator().manual_seed(1)
    scores = sparse((torch.rand(6, 6, generator=generator) + 0.1).tolist())
    even = normalise(scores, 200).rows(slice(None))
    torch.testing.assert_close(even.sum(0), torch.ones(6), atol=1e-4, rtol=0)
    torch.testing.assert_close(even.sum(1), torch.ones(6), atol=1e-4, rtol=0)
    rest = (torch.full((6,), 5.0).double(), torch.full((6,), 5.0).double())
    assert (normalise(scores, 200, rest).rows(slice(None)).sum(1) < 0.9).all()
