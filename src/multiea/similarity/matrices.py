"""Similarity matrices that are never whole: rows come in blocks, made when asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import torch
from torch import Tensor

BLOCK_NUMBERS = 1 << 24  # entries of a block: 64 MiB of float32
DENSE_NUMBERS = 1 << 27  # 512 MiB: matrices read many times may be kept whole as long as all together stay below


class Matrix(Protocol):
    """Scores of the candidates of one KG (rows) against those of another (columns), the higher the better."""

    shape: tuple[int, int]

    def rows(self, which: slice | Tensor) -> Tensor:
        """Some rows, (rows, columns)."""
        ...


class Cosines:
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


class Dense:
    """A matrix kept whole, for one that is small and read many times."""

    def __init__(self, values: Tensor) -> None:
        self._values = values
        self.shape = (values.shape[0], values.shape[1])

    def rows(self, which: slice | Tensor) -> Tensor:
        """Some rows."""
        return self._values[which]

    def transposed(self) -> Dense:
        """The same seen from the other KG, in the same memory."""
        return Dense(self._values.t())


def blocks(matrix: Matrix) -> Iterator[tuple[slice, Tensor]]:
    """All rows, block by block."""
    size = max(1, BLOCK_NUMBERS // max(1, matrix.shape[1]))
    for start in range(0, max(1, matrix.shape[0]), size):  # a matrix without rows is one block without rows
        which = slice(start, min(start + size, matrix.shape[0]))
        yield which, matrix.rows(which)


def kept_if_small(matrix: Matrix, among: int) -> Matrix:
    """The same matrix, whole where it takes no more than its share of memory among so many."""
    if matrix.shape[0] * matrix.shape[1] > DENSE_NUMBERS // among or not matrix.shape[0]:
        return matrix
    return Dense(torch.cat([block for _, block in blocks(matrix)]))


def multiplied(left: Tensor, matrix: Matrix) -> Tensor:
    """Some rows of one matrix times a whole other one, block by block: (rows, C) x (C, B) -> (rows, B)."""
    result = left.new_zeros(len(left), matrix.shape[1])
    for which, block in blocks(matrix):
        result.addmm_(left[:, which], block)
    return result
