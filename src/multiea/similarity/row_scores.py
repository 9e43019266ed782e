"""Scores of two large KGs: rows of a sparse matrix in arrays that take 8 bytes per entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from multiea.data.groups import ABSENT
from multiea.engines.embeddings import tensor_of
from multiea.similarity.matrices import Matrix
from multiea.similarity.sparse_scores import NEGLIGIBLE, better_and_tied, entries_of_rows

Lists = tuple[np.ndarray, np.ndarray]  # columns of each row, -1 where there are fewer, and values; (rows, count)


@dataclass(frozen=True, eq=False)
class RowScores(Matrix):
    """Scores of some pairs of candidates; all other pairs count as zero.

    starts: (rows + 1,) of rows; column (rising in each row) and values: of each entry. shape: rows and columns.
    """

    starts: np.ndarray
    column: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]

    def with_values(self, values: np.ndarray) -> RowScores:
        """Other values for the same pairs."""
        return RowScores(self.starts, self.column, values, self.shape)

    def above(self, least: float) -> RowScores:
        """The entries with a higher value."""
        from multiea.kernels.pair_scores import above  # deferred: numba

        return RowScores(*above(self.starts, self.column, self.values, least), self.shape)

    def transposed(self) -> RowScores:
        """The same scores, seen from the other KG."""
        from multiea.kernels.pair_scores import transposed  # deferred: numba

        starts, row, place = transposed(self.starts, self.column, self.shape[1])
        return RowScores(starts, row, self.values[place], (self.shape[1], self.shape[0]))

    def best(self, count: int) -> Lists:
        """The best columns of each row and their scores, the best first."""
        from multiea.kernels.pair_scores import best_of_rows  # deferred: numba

        columns, values = best_of_rows(self.starts, self.column, self.values, count)
        return columns, values

    def row_sums(self) -> Tensor:
        """The sum of each row."""
        from multiea.kernels.pair_scores import weighted_sums  # deferred: numba

        sums = weighted_sums(self.starts, self.column, self.values, np.ones(self.shape[1]))
        return torch.from_numpy(sums).float()

    def rows(self, which: slice | Tensor) -> Tensor:
        """Some rows, dense."""
        numbers = torch.arange(self.shape[0])[which]
        into, entry = entries_of_rows(tensor_of(self.starts), numbers)
        block = torch.zeros(len(numbers), self.shape[1])
        block[into, tensor_of(self.column[entry.numpy()]).long()] = tensor_of(self.values[entry.numpy()])
        return block

    def at(self, row: Tensor, column: Tensor) -> Tensor:
        """The scores of some pairs, zero where there is no entry."""
        from multiea.kernels.pair_scores import values_at  # deferred: numba

        return torch.from_numpy(values_at(self.starts, self.column, self.values, row.numpy(), column.numpy()))

    def better_and_tied(self, row: Tensor, column: Tensor) -> tuple[Tensor, Tensor]:
        """For each pair, how many columns of its row score better, and how many equal; pairs without entry are zero."""
        into, entry = entries_of_rows(tensor_of(self.starts), row)
        columns = torch.full_like(row, self.shape[1])
        values = tensor_of(self.values[entry.numpy()])
        return better_and_tied(into, values, self.at(row, column), columns)

    def best_columns(self, *, allow_ties: bool = False) -> tuple[Tensor, Tensor]:
        """For each row its best column and that score; -1 for rows with negligible scores only, or with a tie."""
        columns, scores = self.best(2)
        single = (allow_ties | (scores[:, 0] > scores[:, 1])) & (scores[:, 0] > NEGLIGIBLE)
        best = np.where(single, columns[:, 0], ABSENT).astype(np.int64)
        return torch.from_numpy(best), torch.from_numpy(np.where(scores[:, 0] > NEGLIGIBLE, scores[:, 0], 0))


def sums_of_columns(scores: RowScores) -> np.ndarray:
    """The sum of each column, in double precision."""
    return np.bincount(scores.column, scores.values, minlength=scores.shape[1])


def joint(parts: Sequence[Lists]) -> Lists:
    """Lists of several KGs, one after the other."""
    columns, values = zip(*parts, strict=True)
    return np.concatenate(columns), np.concatenate(values)
