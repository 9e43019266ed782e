"""Scores of the candidates of all KGs in one symmetric sparse matrix, with a block for each ordered pair of KGs.

Whatever the number of KGs, one operation then does for all pairs what would otherwise be done pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import torch
from torch import Tensor

from multiea.foundation.offsets import offsets
from multiea.similarity.sparse_scores import NEGLIGIBLE, SparseScores, better_and_tied, entries_of_rows

Pair = tuple[int, int]


@dataclass(frozen=True)
class Half:
    """The entries above the diagonal, or the same below it, sorted by segment.

    number: (entries,) the segment of each entry; mate: the segment of its other end; entry: its place among those that
    are stored. starts: the first entry of each segment, and at the end the number of entries.
    """

    number: Tensor
    mate: Tensor
    entry: Tensor
    starts: Tensor


class Layout:
    """How candidates and segments are numbered.

    Candidates have joint numbers, KG after KG. The entries of a candidate in one KG are a segment, whose number is
    candidate * KGs + KG. sizes: the number of candidates of each KG. kg: of each candidate.
    """

    def __init__(self, sizes: Sequence[int], device: torch.device) -> None:
        self.sizes = tuple(sizes)
        self.kgs, self.offsets = len(sizes), offsets(sizes).tolist()
        self.candidates = self.offsets[-1]
        self.count = self.candidates * self.kgs
        self.kg = torch.repeat_interleave(torch.tensor(sizes)).to(device)


class Segments(Layout):
    """Where the entries of a symmetric block matrix are.

    row, column: (entries,) joint numbers, of the half above the diagonal only, sorted by row, then column.
    """

    def __init__(self, row: Tensor, column: Tensor, sizes: Sequence[int]) -> None:
        super().__init__(sizes, row.device)
        self.row, self.column = row, column

    @cached_property
    def first(self) -> Tensor:
        """The segments of one end of each entry."""
        return self.of_ends(self.row, self.column)

    @cached_property
    def second(self) -> Tensor:
        """The segments of the other end of each entry."""
        return self.of_ends(self.column, self.row)

    @cached_property
    def halves(self) -> tuple[Half, Half]:
        """The half above the diagonal, and the one below; no segment has entries in both."""
        order = torch.argsort(self.column.int(), stable=True)
        numbers = torch.arange(len(order), device=order.device)
        below = self.second.index_select(0, order)
        return (
            Half(self.first, self.second, numbers, self._starts(self.first)),
            Half(below, self.first.index_select(0, order), order, self._starts(below)),
        )

    @cached_property
    def keys(self) -> Tensor:
        """row * candidates + column of each entry, rising."""
        keys: Tensor = self.row * self.candidates + self.column
        return keys

    @cached_property
    def counts(self) -> Tensor:
        """The number of entries of each candidate in each KG, (candidates, KGs)."""
        upper, lower = self.halves
        return (upper.starts.diff() + lower.starts.diff()).view(self.candidates, self.kgs)

    def of_ends(self, row: Tensor, column: Tensor) -> Tensor:
        """The segments of pairs of joint numbers: of the first one, in the KG of the second one."""
        return row * self.kgs + self.kg.index_select(0, column)

    def _starts(self, number: Tensor) -> Tensor:
        counts = torch.bincount(number, minlength=self.count)
        return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


class BlockScores(Mapping[Pair, SparseScores]):
    """Scores of some pairs of candidates; all other pairs count as zero. A block is the matrix of two KGs.

    score: (entries,) that of each entry of the half above the diagonal. order: the place among the segments of each KG,
    where KGs are asked for by other numbers. uncontested: the probability of each pair among the candidates of either
    end, whoever else wants them; None where that is not asked, or says nothing.
    """

    uncontested: Uncontested | None = None

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
        if len(sizes) > 2:  # sorted by block so far; rows come first
            order = torch.argsort(row.int(), stable=True)
            row, column, values = (part.index_select(0, order) for part in (row, column, values))
        return cls(Segments(row, column, sizes), values)

    def with_values(self, values: Tensor) -> BlockScores:
        """Other values for the same pairs."""
        other = copy(self)
        other.score, other.uncontested = values, None
        return other

    def renumbered(self, order: Sequence[int]) -> BlockScores:
        """The same scores, where KGs have other numbers; order: the present number of each new one."""
        other = copy(self)
        other.order = tuple(self.order[kg] for kg in order)
        other.uncontested = None  # it has the numbers before
        return other

    @property
    def layout(self) -> Layout:
        """How candidates and segments are numbered."""
        return self.segments

    def offset(self, kg: int) -> int:
        """The joint number of the first candidate of a KG."""
        return int(self.layout.offsets[self.order[kg]])

    def __iter__(self) -> Iterator[Pair]:
        return iter(permutations(range(self.layout.kgs), 2))

    def __len__(self) -> int:
        return self.layout.kgs * (self.layout.kgs - 1)

    def __getitem__(self, pair: Pair) -> SparseScores:
        (a, b), segments = (self.order[kg] for kg in pair), self.segments
        starts, shape = segments.offsets, (segments.sizes[a], segments.sizes[b])
        half = segments.halves[a > b]
        rows = torch.arange(starts[a], starts[a + 1], device=self.score.device)
        row, place = entries_of_rows(half.starts, rows * segments.kgs + b)
        entry = half.entry.index_select(0, place)
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
        """The scores of some pairs of joint numbers, zero where there is no entry; on the device of the scores."""
        segments = self.segments
        if not len(segments.row):
            return self.score.new_zeros(len(row))
        wanted = torch.minimum(row, column) * segments.candidates + torch.maximum(row, column)
        place = torch.searchsorted(segments.keys, wanted).clamp(max=len(segments.row) - 1)
        return torch.where(segments.keys[place] == wanted, self.score[place], 0)

    def better_and_tied(self, row: Tensor, column: Tensor) -> tuple[Tensor, Tensor]:
        """For each pair of joint numbers, how many candidates of the second one's KG score better or equal."""
        segments, device = self.segments, self.score.device
        row, column = row.to(device), column.to(device)
        number = segments.of_ends(row, column)
        sizes = torch.tensor(segments.sizes, device=device)
        found = []
        for half in segments.halves:  # a segment without entries in a half adds nothing
            into, place = entries_of_rows(half.starts, number)
            found.append((into, self.score.index_select(0, half.entry.index_select(0, place))))
        into, values = (torch.cat(part) for part in zip(*found, strict=True))
        return better_and_tied(into, values, self.at(row, column), sizes[segments.kg.index_select(0, column)])

    def best(self, ties_in: Sequence[int] = ()) -> tuple[Tensor, Tensor]:
        """For each segment its best candidate, a joint number, and that score, (segments,).

        -1 where all scores are negligible, or where two share the best one; except in the KGs of `ties_in`, where the
        first candidate counts. Numbers are those of the segments, whatever the order in which KGs are asked for.
        """
        segments = self.segments
        candidate = torch.full((segments.count,), -1, device=self.score.device)
        score = self.score.new_zeros(segments.count)
        may_tie = torch.zeros(segments.kgs, dtype=torch.bool, device=self.score.device)
        may_tie[list(ties_in)] = True
        for half in segments.halves:
            values = self.score.index_select(0, half.entry)
            score.scatter_reduce_(0, half.number, values, "amax")
            is_best = (values == score.index_select(0, half.number)) & (values > NEGLIGIBLE)
            place = torch.nonzero(is_best)[:, 0]
            number = half.number.index_select(0, place)
            is_first = torch.ones_like(number, dtype=torch.bool)
            is_first[1:] = number[1:] != number[:-1]
            is_single = torch.bincount(number, minlength=segments.count).index_select(0, number) == 1
            kept = torch.nonzero(is_first & (is_single | may_tie.index_select(0, number % segments.kgs)))[:, 0]
            mate = half.mate.index_select(0, place.index_select(0, kept))
            candidate[number.index_select(0, kept)] = torch.div(mate, segments.kgs, rounding_mode="floor")
        return candidate.cpu(), score.float().cpu()


@dataclass(frozen=True)
class Uncontested:
    """The probability of each pair among the candidates of either end, whoever else wants them.

    pairs: of KGs (a < b), those it is known for: which are compared by structure together with other evidence.
    """

    scores: BlockScores
    pairs: frozenset[Pair]
