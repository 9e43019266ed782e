"""Similarity matrices that are never held whole: rows are computed in blocks on request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor

from multiea.data.groups import ABSENT

BLOCK_NUMBERS = 1 << 24  # entries of a block: 64 MiB of float32
DENSE_NUMBERS = 1 << 27  # 512 MiB: matrices that are read many times may be dense up to this total


class Matrix(ABC):
    """Scores of the candidates of one KG (rows) against those of another (columns); higher is better."""

    shape: tuple[int, int]

    @abstractmethod
    def rows(self, which: slice | Tensor) -> Tensor:
        """Some rows, (rows, columns)."""

    def at(self, row: Tensor, column: Tensor) -> Tensor:
        """The scores of some pairs, (n,) float32 on the CPU."""
        parts = [torch.empty(0)]
        for some in _slices(len(row), self.shape[1]):
            block = self.rows(row[some])
            parts.append(block.gather(1, column[some].to(block.device)[:, None])[:, 0].float().cpu())
        return torch.cat(parts)

    def better_and_tied(self, row: Tensor, column: Tensor) -> tuple[Tensor, Tensor]:
        """For each pair, how many columns of its row score better, and how many equal, itself included; (n,) each."""
        better, tied = [torch.empty(0, dtype=torch.int64)], [torch.empty(0, dtype=torch.int64)]
        for some in _slices(len(row), self.shape[1]):
            block = self.rows(row[some])
            counts = better_and_tied(block, column[some].to(block.device))
            better.append(counts[0].cpu())
            tied.append(counts[1].cpu())
        return torch.cat(better), torch.cat(tied)

    def best_columns(self, *, allow_ties: bool = False) -> tuple[Tensor, Tensor]:
        """For each row its best column and that score, (rows,) each, on the CPU.

        Where several columns share the best score: -1, or the first of them if ties are allowed.
        """
        columns, scores = [], []
        for _, block in blocks(self):
            top = block.topk(min(2, block.shape[1]), dim=1)
            is_only = block.shape[1] == 1
            single = (top.values[:, 0] > top.values[:, -1]) | is_only | allow_ties
            column = torch.where(single, block.argmax(1) if allow_ties else top.indices[:, 0], ABSENT)
            columns.append(column.cpu())
            scores.append(top.values[:, 0].float().cpu())
        return torch.cat(columns), torch.cat(scores)

    def row_sums(self) -> Tensor:
        """The sum of each row, on the CPU."""
        parts = [scores.sum(1).float().cpu() for _, scores in blocks(self)]
        return torch.cat(parts) if parts else torch.zeros(0)


class Cosines(Matrix):
    """Cosines of embeddings of unit length."""

    def __init__(self, left: Tensor, right: Tensor) -> None:
        self._left, self._right = left, right
        self.shape = (len(left), len(right))

    def rows(self, which: slice | Tensor) -> Tensor:
        """Some rows."""
        return self._left[which] @ self._right.t()


class EuclideanSimilarities(Cosines):
    """The paper's similarity 1 - |h_i - h_j| / 2 of embeddings of unit length, in [0, 1] (eq. 15)."""

    def rows(self, which: slice | Tensor) -> Tensor:
        """Some rows; |h_i - h_j|^2 = 2 - 2 cos."""
        cosines = super().rows(which)
        return cosines.mul_(-2).add_(2).clamp_(min=0).sqrt_().mul_(-0.5).add_(1)


class Dense(Matrix):
    """A matrix held whole, for small ones that are read many times."""

    def __init__(self, values: Tensor) -> None:
        self._values = values
        self.shape = (values.shape[0], values.shape[1])

    def rows(self, which: slice | Tensor) -> Tensor:
        """Some rows."""
        return self._values[which]

    def transposed(self) -> Dense:
        """The transposed matrix, in the same memory."""
        return Dense(self._values.t())


def better_and_tied(scores: Tensor, column: Tensor) -> tuple[Tensor, Tensor]:
    """For each row of scores, (n, columns): how many score better than the given column, and how many equal.

    NaN counts as the lowest score: a broken score must never look like a good one.
    """
    scores = scores.masked_fill(scores.isnan(), -torch.inf)
    own = scores.gather(1, column[:, None])
    return (scores > own).sum(1), (scores == own).sum(1)


def blocks(matrix: Matrix) -> Iterator[tuple[slice, Tensor]]:
    """All rows, block by block; a matrix without rows is one block without rows."""
    for which in _slices(max(1, matrix.shape[0]), matrix.shape[1]):
        which = slice(which.start, min(which.stop, matrix.shape[0]))
        yield which, matrix.rows(which)


def _slices(count: int, width: int) -> Iterator[slice]:
    """Slices of at most BLOCK_NUMBERS entries of rows of a width."""
    size = max(1, BLOCK_NUMBERS // max(1, width))
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def dense_if_small(matrix: Matrix, among: int) -> Matrix:
    """The same matrix, dense where it needs no more than its share of memory among so many matrices."""
    if matrix.shape[0] * matrix.shape[1] > DENSE_NUMBERS // among or not matrix.shape[0]:
        return matrix
    return Dense(torch.cat([block for _, block in blocks(matrix)]))


def multiply_rows(left: Tensor, matrix: Matrix) -> Tensor:
    """Some rows of one matrix times all of another, block by block: (rows, C) x (C, B) -> (rows, B)."""
    result = left.new_zeros(len(left), matrix.shape[1])
    for which, block in blocks(matrix):
        result.addmm_(left[:, which], block)
    return result
