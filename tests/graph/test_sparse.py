"""Sparse operators against dense ones, with their gradients."""

from __future__ import annotations

import torch

from multiea.graph.sparse import SparsityPattern, dot_products, gather_rows, multiply, softmax_over_rows


def test_sparse_operators_match_dense_ones_and_have_correct_gradients() -> None:
    generator = torch.Generator().manual_seed(0)
    row, column = torch.randint(0, 6, (2, 15), generator=generator)
    pattern = SparsityPattern(row, column, (6, 6))
    values = torch.randn(pattern.entries, dtype=torch.float64, generator=generator, requires_grad=True)
    left, right = torch.randn(2, 6, 4, dtype=torch.float64, generator=generator).requires_grad_()
    dense = pattern.matrix(values).to_dense()
    torch.testing.assert_close(multiply(pattern, values, right), dense @ right)
    at = pattern.matrix(torch.ones_like(values)).to_dense().bool()
    torch.testing.assert_close(dot_products(pattern, left, right), (left @ right.t())[at])
    leaves = tuple(x.detach().requires_grad_() for x in (left, right))
    assert torch.autograd.gradcheck(lambda v, x: multiply(pattern, v, x), (values, leaves[1]))
    assert torch.autograd.gradcheck(lambda x, y: dot_products(pattern, x, y), leaves)
    index = torch.tensor([[0, 3, 3], [5, 0, 0]])
    assert torch.autograd.gradcheck(lambda x: gather_rows(x, index), (leaves[0],))
    edges = torch.randn(15, dtype=torch.float64, generator=generator, requires_grad=True)
    assert torch.autograd.gradcheck(lambda e: softmax_over_rows(row, e, 6), (edges,))


def test_a_repeated_pattern_multiplies_several_matrices_at_once() -> None:
    generator = torch.Generator().manual_seed(0)
    row, column = torch.randint(0, 6, (2, 15), generator=generator)
    pattern = SparsityPattern(row, column, (6, 7))
    for times in (1, 3):
        values = torch.randn(times, pattern.entries, generator=generator)
        matrices = torch.randn(times, 7, 4, generator=generator)
        found = (pattern.repeated(values) @ matrices.flatten(0, 1)).view(6, -1)
        alone = [pattern.matrix(own) @ matrix for own, matrix in zip(values, matrices, strict=True)]
        assert torch.equal(found, torch.cat(alone, dim=1))
