"""Sinkhorn: makes a similarity matrix nearly doubly stochastic, so that hubs no longer win everywhere."""

from __future__ import annotations

import torch
from torch import Tensor

from multiea.similarity.matrices import Matrix, blocks


class Sharpened:
    """exp(score / temperature) scaled so that rows and columns each sum to about one; entries are like probabilities.

    Kept as the scores and two vectors: no second matrix is stored.
    """

    def __init__(self, scores: Matrix, temperature: float, row_shift: Tensor, column_shift: Tensor) -> None:
        self._scores, self._temperature = scores, temperature
        self._row_shift, self._column_shift = row_shift, column_shift
        self.shape = scores.shape

    def rows(self, which: slice | Tensor) -> Tensor:
        """Some rows."""
        logits = self._scores.rows(which) / self._temperature
        return logits.add_(self._row_shift[which, None]).add_(self._column_shift).exp_()

    def transposed(self, scores: Matrix) -> Sharpened:
        """The same seen from the other KG, whose scores are given turned."""
        return Sharpened(scores, self._temperature, self._column_shift, self._row_shift)


def sharpen(scores: Matrix, temperature: float, sweeps: int) -> Sharpened:
    """Scales rows and columns `sweeps` times, in the logarithmic domain and block by block.

    Both are scaled at once from the old values, by half of what each asks for: seen from the other KG the result is the
    same, turned. Where one KG has more candidates, no scaling fits both; they meet halfway.
    """
    count, columns = scores.shape
    some = scores.rows(slice(0, 1))
    row_shift, column_shift = some.new_zeros(count), some.new_zeros(columns)
    for _ in range(sweeps):
        of_rows, of_columns = torch.empty_like(row_shift), some.new_full((columns,), -torch.inf)
        for which, block in blocks(scores):
            logits = block / temperature
            of_rows[which] = torch.logsumexp(logits + column_shift, dim=1)
            of_columns = torch.logaddexp(of_columns, torch.logsumexp(logits + row_shift[which, None], dim=0))
        row_shift, column_shift = (row_shift - of_rows) / 2, (column_shift - of_columns) / 2
    return Sharpened(scores, temperature, row_shift, column_shift)
