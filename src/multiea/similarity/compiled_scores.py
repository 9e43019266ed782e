"""Scores of very many pairs of candidates of many KGs: the same as BlockScores, computed by kernels in less memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from multiea.foundation.offsets import offsets
from multiea.kernels.block_matrices import (
    add_segment_sums,
    best_of_segments,
    correct_factors,
    filled_segments,
    lower_half,
    mean_logarithms,
    ranks_of_pairs,
    scaled_entries,
    values_of_pairs,
)
from multiea.similarity.block_scores import BlockScores, Layout, Segments
from multiea.similarity.sparse_scores import NEGLIGIBLE


@dataclass(frozen=True)
class Entries:
    """Where the entries of a symmetric block matrix are.

    starts: the first entry above the diagonal of each candidate, and the end; column: of each entry, rising in each
    row. sizes: the number of candidates of each KG.
    """

    starts: np.ndarray
    column: np.ndarray
    sizes: tuple[int, ...]

    @cached_property
    def kg(self) -> np.ndarray:
        """Of each candidate."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.int32), self.sizes)

    @cached_property
    def offsets(self) -> np.ndarray:
        """The first candidate of each KG, and the end."""
        return np.asarray(offsets(self.sizes), dtype=np.int64)

    @cached_property
    def lower(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same entries by columns: starts, rows, and places among those by rows."""
        return lower_half(self.starts, self.column)

    def halves(self, values: np.ndarray) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
        """Both halves with their values."""
        starts, row, place = self.lower
        return (self.starts, self.column, values), (starts, row, values[place])

    def segments(self) -> Segments:
        """The same as tensors."""
        row = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return Segments(torch.from_numpy(row), torch.from_numpy(self.column.astype(np.int64)), self.sizes)


def normalised(entries: Entries, values: np.ndarray, sweeps: int, rest: np.ndarray) -> np.ndarray:
    """The values after some sweeps of Sinkhorn, as `sparse_sinkhorn.normalise` does it.

    rest: the mass of each candidate in each KG that belongs to no entry, (candidates, KGs).
    """
    upper, lower = entries.halves(values)
    kg, kgs = entries.kg, len(entries.sizes)
    is_filled = filled_segments(upper[:2], lower[:2], kg, kgs)
    factors, sums = np.ones((len(kg), kgs)), np.empty((len(kg), kgs))
    for _ in range(sweeps):
        sums[:] = 0
        for half in (upper, lower):
            add_segment_sums(half, kg, factors, sums)
        means = np.exp(mean_logarithms(factors, is_filled, entries.offsets))
        correct_factors(factors, sums, rest, means, is_filled, kg)
    return scaled_entries(upper, kg, factors)


class CompiledScores(BlockScores):
    """Scores of some pairs of candidates; all other pairs count as zero. values: (entries,).

    Segments, which take much more memory, are made where single blocks are asked for.
    """

    def __init__(self, entries: Entries, values: np.ndarray) -> None:
        self._entries, self.score = entries, torch.from_numpy(values)
        self._upper, self._lower = entries.halves(values)
        self.order = tuple(range(len(entries.sizes)))
        self._layout = Layout(entries.sizes, self.score.device)

    @cached_property
    def segments(self) -> Segments:  # type: ignore[override]
        """Where the entries are, as tensors."""
        return self._entries.segments()

    @property
    def layout(self) -> Layout:
        """How candidates and segments are numbered."""
        return self._layout

    def at(self, row: Tensor, column: Tensor) -> Tensor:
        """The scores of some pairs of joint numbers, zero where there is no entry."""
        return torch.from_numpy(values_of_pairs(self._upper, row.numpy(), column.numpy()))

    def better_and_tied(self, row: Tensor, column: Tensor) -> tuple[Tensor, Tensor]:
        """For each pair of joint numbers, how many candidates of the second one's KG score better or equal."""
        entries = self._entries
        ends = row.numpy(), column.numpy()
        better, tied = ranks_of_pairs(self._upper, self._lower, entries.offsets, entries.kg, *ends)
        return torch.from_numpy(better), torch.from_numpy(tied)

    def best(self, ties_in: Sequence[int] = ()) -> tuple[Tensor, Tensor]:
        """For each segment its best candidate, a joint number, and that score, (segments,)."""
        may_tie = np.zeros(len(self._entries.sizes), dtype=bool)
        may_tie[list(ties_in)] = True
        best, score = best_of_segments(self._upper, self._lower, self._entries.kg, NEGLIGIBLE, may_tie)
        return torch.from_numpy(best.ravel()), torch.from_numpy(score.ravel())
