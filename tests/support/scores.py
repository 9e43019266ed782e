"""Small matrices of scores."""

from __future__ import annotations

import torch

from multiea.similarity.sparse_scores import SparseScores


def sparse(values: list[list[float]]) -> SparseScores:
    """The sparse form of a matrix; zeros have no entry."""
    dense = torch.tensor(values)
    row, column = torch.nonzero(dense, as_tuple=True)
    return SparseScores(row, column, dense[row, column], (dense.shape[0], dense.shape[1]))
