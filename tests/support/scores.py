"""Small matrices of scores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import torch

from multiea.similarity.sparse_scores import SparseScores


def sparse(values: list[list[float]]) -> SparseScores:
    """The sparse form of a matrix; zeros have no entry."""
    dense = torch.tensor(values)
    row, column = torch.nonzero(dense, as_tuple=True)
    return SparseScores(row, column, dense[row, column], (dense.shape[0], dense.shape[1]))


def blocks_of_random_scores(
    sizes: Sequence[int], *, filled: float = 0.6, tied: bool = False
) -> dict[tuple[int, int], SparseScores]:
    """Scores between 0 and 1 of all pairs of KGs (a < b); filled: the share of entries; tied: some are equal."""
    generator = torch.Generator().manual_seed(0)
    pairs = {}
    for a, b in combinations(range(len(sizes)), 2):
        matrix = torch.rand(sizes[a], sizes[b], generator=generator) * 0.99 + 0.01
        matrix = (matrix * 4).ceil() / 4 if tied else matrix
        kept = torch.rand(matrix.shape, generator=generator) < filled
        row, column = torch.nonzero(kept, as_tuple=True)
        pairs[a, b] = SparseScores(row, column, matrix[row, column], (sizes[a], sizes[b]))
    return pairs


def transposed(scores: SparseScores) -> SparseScores:
    """The same pairs from the other side."""
    order = torch.argsort(scores.column, stable=True)
    ends = scores.column[order], scores.row[order]
    return SparseScores(*ends, scores.values[order], (scores.shape[1], scores.shape[0]))
