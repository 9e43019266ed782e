"""Sinkhorn: makes a similarity matrix nearly doubly stochastic (entropic optimal transport), which removes hubness."""

from __future__ import annotations

import torch
from torch import Tensor

from multiea.similarity.matrices import Matrix, blocks


class SinkhornMatrix(Matrix):
    """exp(score / temperature), scaled so that rows and columns each sum to about one; entries act like probabilities.

    Held as the scores and two vectors: no second matrix is stored.
    """

    def __init__(self, scores: Matrix, temperature: float, row_shift: Tensor, column_shift: Tensor) -> None:
        self._scores, self._temperature = scores, temperature
        self._row_shift, self._column_shift = row_shift, column_shift
        self.shape = scores.shape

    def rows(self, which: slice | Tensor) -> Tensor:
        """Some rows."""
        logits = self._scores.rows(which) / self._temperature
        return logits.add_(self._row_shift[which, None]).add_(self._column_shift).exp_()

    def transposed(self, scores: Matrix) -> SinkhornMatrix:
        """The transposed matrix; scores: the transposed scores."""
        return SinkhornMatrix(scores, self._temperature, self._column_shift, self._row_shift)


def sinkhorn(scores: Matrix, temperature: float, sweeps: int) -> SinkhornMatrix:
    """Normalises rows and columns `sweeps` times, in the logarithmic domain and block by block.

    Both are scaled at the same time from the old values, by half of the required factor, so the result does not depend
    on which KG comes first. Where one KG has more candidates, no scaling satisfies both; they meet halfway.
    """
    count, columns = scores.shape
    some = scores.rows(slice(0, 1))
    row_shift, column_shift = some.new_zeros(count), some.new_zeros(columns)
    for _ in range(sweeps):
        row_sums, column_sums = torch.empty_like(row_shift), some.new_full((columns,), -torch.inf)  # logarithms
        for which, block in blocks(scores):
            logits = block / temperature
            row_sums[which] = torch.logsumexp(logits + column_shift, dim=1)
            column_sums = torch.logaddexp(column_sums, torch.logsumexp(logits + row_shift[which, None], dim=0))
        row_shift, column_shift = (row_shift - row_sums) / 2, (column_shift - column_sums) / 2
    return SinkhornMatrix(scores, temperature, row_shift, column_shift)
