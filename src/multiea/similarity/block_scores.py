"""Scores of the candidates of all KGs in one symmetric sparse matrix, with a block for each ordered pair of KGs.

Whatever the number of KGs, one operation then does for all pairs what would otherwise be done pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import permutations

import torch
from torch import Tensor

from multiea.foundation.offsets import offsets
from multiea.similarity.sparse_scores import NEGLIGIBLE, SparseScores, better_and_tied, entries_of_rows

Pair = tuple[int, int]


class Segments:
    """Where the entries of a symmetric block matrix are.

    Candidates have joint numbers, KG after KG. The entries of a candidate in one KG are a segment, whose number is
    candidate * KGs + KG. sizes: the number of candidates of each KG. row, column: (entries,) joint numbers, of the half
    above the diagonal only, sorted by row, then column. first, second: (entries,) the segments of the two ends.
    """

    def __init__(self, row: Tensor, column: Tensor, sizes: Sequence[int]) -> None:
        self.row, self.column, self.sizes = row, column, tuple(sizes)
        self.kgs, self.offsets = len(sizes), offsets(sizes).tolist()
        self.candidates = self.offsets[-1]
        self.count = self.candidates * self.kgs
        self.kg = torch.repeat_interleave(torch.tensor(sizes)).to(row.device)  # of each candidate
        self.first = row * self.kgs + self.kg.index_select(0, column)
        self.second = column * self.kgs + self.kg.index_select(0, row)

    @cached_property
    def _both(self) -> tuple[Tensor, Tensor, Tensor]:
        """Both halves, segment after segment: the start of each segment; of each entry its number, and the other end's
        segment.
        """
        order = torch.argsort(self.column.int(), stable=True)  # by column, then row: the other half
        first, second = self.first, self.second.index_select(0, order)
        counts = [torch.bincount(part, minlength=self.count) for part in (first, second)]
        starts = _starts(counts[0] + counts[1])
        numbers = torch.arange(len(first), device=first.device)
        entry, mate = numbers.new_empty(2 * len(first)), numbers.new_empty(2 * len(first))
        for part, own, number, other in (
            (first, counts[0], numbers, self.second),
            (second, counts[1], order, self.first.index_select(0, order)),
        ):
            place = (starts - _starts(own)).index_select(0, part) + numbers
            entry[place], mate[place] = number, other
        return starts, entry, mate

    @property
    def starts(self) -> Tensor:
        """The first entry of each segment among those of both halves, and at the end their number."""
        return self._both[0]

    @property
    def entry(self) -> Tensor:
        """For each entry of both halves its number in the half that is stored."""
        return self._both[1]

    @property
    def mate(self) -> Tensor:
        """For each entry of both halves the segment of its other end."""
        return self._both[2]

    @cached_property
    def is_filled(self) -> Tensor:
        """Which candidates have entries in which KG, (candidates, KGs)."""
        return (self.starts.diff() > 0).view(self.candidates, self.kgs)

    def of_ends(self, row: Tensor, column: Tensor) -> Tensor:
        """The segments of pairs of joint numbers: of the first one, in the KG of the second one."""
        return row * self.kgs + self.kg.index_select(0, column)


class BlockScores(Mapping[Pair, SparseScores]):
    """Scores of some pairs of candidates; all other pairs count as zero. A block is the matrix of two KGs.

    score: (entries,) that of each entry of the half above the diagonal. order: the place among the segments of each KG,
    where KGs are asked for by other numbers.
    """

    def __init__(self, segments: Segments, values: Tensor) -> None:
        self.segments, self.score, self.order = segments, values, tuple(range(segments.kgs))

    @classmethod
    def of(cls, blocks: Mapping[Pair, SparseScores], sizes: Sequence[int], device: torch.device) -> BlockScores:
        """From the blocks (a, b) with a < b; a missing one is empty."""
        starts = offsets(sizes).tolist()
        parts = [
            (one.row + starts[a], one.column + starts[b], one.values) for (a, b), one in sorted(blocks.items()) if a < b
        ]
        nothing = torch.empty(0, dtype=torch.int64, device=device)
        row, column = (torch.cat([nothing, *(part[end] for part in parts)]) for end in (0, 1))
        values = torch.cat([nothing.float(), *(part[2] for part in parts)])
        if len(sizes) > 2:  # blocks of one row come one after the other, but rows must
            order = torch.argsort(row.int(), stable=True)
            row, column, values = (part.index_select(0, order) for part in (row, column, values))
        return cls(Segments(row, column, sizes), values)

    def with_values(self, values: Tensor) -> BlockScores:
        """Other values for the same pairs."""
        other = copy(self)
        other.score = values
        return other

    def renumbered(self, order: Sequence[int]) -> BlockScores:
        """The same scores, where KGs have other numbers; order: the present number of each new one."""
        other = copy(self)
        other.order = tuple(self.order[kg] for kg in order)
        return other

    def offset(self, kg: int) -> int:
        """The joint number of the first candidate of a KG."""
        return int(self.segments.offsets[self.order[kg]])

    def __iter__(self) -> Iterator[Pair]:
        return iter(permutations(range(self.segments.kgs), 2))

    def __len__(self) -> int:
        return self.segments.kgs * (self.segments.kgs - 1)

    def __getitem__(self, pair: Pair) -> SparseScores:
        (a, b), segments = (self.order[kg] for kg in pair), self.segments
        starts, shape = segments.offsets, (segments.sizes[a], segments.sizes[b])
        rows = torch.arange(starts[a], starts[a + 1], device=self.score.device)
        row, place = entries_of_rows(segments.starts, rows * segments.kgs + b)
        entry = segments.entry.index_select(0, place)
        column = (segments.column if a < b else segments.row).index_select(0, entry) - starts[b]
        return SparseScores(row, column, self.score.index_select(0, entry), shape)

    def sums(self) -> Tensor:
        """The sum of each segment, (candidates, KGs), in double precision."""
        segments, values = self.segments, self.score.double()
        total = values.new_zeros(segments.count)
        for ends in (segments.first, segments.second):
            total.index_add_(0, ends, values)
        return total.view(segments.candidates, segments.kgs)

    def at(self, row: Tensor, column: Tensor) -> Tensor:
        """The scores of some pairs of joint numbers, zero where there is no entry."""
        segments = self.segments
        if not len(segments.row):
            return self.score.new_zeros(len(row))
        wanted = torch.minimum(row, column) * segments.candidates + torch.maximum(row, column)
        keys = segments.row * segments.candidates + segments.column
        place = torch.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
        return torch.where(keys[place] == wanted, self.score[place], 0)

    def better_and_tied(self, row: Tensor, column: Tensor) -> tuple[Tensor, Tensor]:
        """For each pair of joint numbers, how many candidates of the second one's KG score better or equal."""
        segments, device = self.segments, self.score.device
        row, column = row.to(device), column.to(device)
        into, place = entries_of_rows(segments.starts, segments.of_ends(row, column))
        values = self.score.index_select(0, segments.entry.index_select(0, place))
        sizes = torch.tensor(segments.sizes, device=device)
        return better_and_tied(into, values, self.at(row, column), sizes[segments.kg.index_select(0, column)])

    def best(self, ties_in: Sequence[int] = ()) -> tuple[Tensor, Tensor]:
        """For each segment its best candidate, a joint number, and that score, (segments,).

        -1 where all scores are negligible, or where two share the best one; except in the KGs of `ties_in`, where the
        first candidate counts.
        """
        segments = self.segments
        values = self.score.index_select(0, segments.entry)
        number = torch.repeat_interleave(segments.starts.diff())
        highest = values.new_zeros(segments.count).scatter_reduce(0, number, values, "amax")
        is_best = torch.nonzero((values == highest.index_select(0, number)) & (values > NEGLIGIBLE))[:, 0]
        number = number.index_select(0, is_best)
        count = torch.bincount(number, minlength=segments.count)
        candidate = torch.full_like(count, -1)
        first = torch.ones_like(number, dtype=torch.bool)
        first[1:] = number[1:] != number[:-1]
        may_tie = torch.zeros(segments.kgs, dtype=torch.bool, device=number.device)
        may_tie[list(ties_in)] = True
        kept = first & ((count.index_select(0, number) == 1) | may_tie.index_select(0, number % segments.kgs))
        mate = segments.mate.index_select(0, is_best)[kept]
        candidate[number[kept]] = torch.div(mate, segments.kgs, rounding_mode="floor")
        return candidate.cpu(), highest.float().cpu()


def _starts(counts: Tensor) -> Tensor:
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])
