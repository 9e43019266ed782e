"""Paths through third KGs: sparse products of the best direct scores, for any number of KGs (eqs. 16-17)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from multiea.graph.sparse import csr, sorted_unique
from multiea.settings.engines import PROPAGATION_WEIGHTS
from multiea.settings.enhancement import Enhancement
from multiea.similarity.block_scores import BlockScores, Segments
from multiea.similarity.many_kgs import MANY, best_of_block, candidates_per_block
from multiea.similarity.sparse_scores import NEGLIGIBLE, top_per_group
from multiea.similarity.sparse_sinkhorn import normalise
from multiea.similarity.weights import Mixing

CANDIDATES_PER_STEP = 10  # candidates in a third KG from which paths continue
PRODUCTS_WITH_MANY = 300  # paths from one candidate into one KG, where there are many KGs
DENSE_NUMBERS, SPARSE = 1 << 26, 50  # a dense block has at most so many numbers, in all and for each path
FINAL_SWEEPS = 10  # of Sinkhorn, after paths were added


def with_paths(direct: BlockScores, enhancement: Enhancement, mixing: Mixing, *, keeps_rest: bool) -> BlockScores:
    """Direct scores, with paths through third KGs added where the mode asks for it.

    keeps_rest: whether the mass that goes to no candidate stays there: an entity with only weak candidates is then
    certain of none.
    """
    weights, segments = enhancement.weights, direct.segments
    if enhancement.mode != "sharpened" or segments.kgs == 2 or len(weights) == 1 or not weights[1]:
        return direct
    direct_weight, weight = (part / sum(weights) for part in weights)
    if mixing.direct_share is not None and weights == PROPAGATION_WEIGHTS:  # otherwise the user has decided
        direct_weight, weight = mixing.direct_share, 1 - mixing.direct_share
    steps = BestSteps(direct)
    share = weight / max(steps.thirds, 1)  # of each third KG
    parts = [steps.with_direct(kg, direct, direct_weight, share) for kg in range(segments.kgs - 1)]
    row, column, values = (torch.cat([part[place] for part in parts]) for place in range(3))
    rest = direct_weight * (1 - direct.sums()).clamp(min=0) + share * steps.lost() if keeps_rest else None
    return normalise(BlockScores(Segments(row, column, segments.sizes), values), FINAL_SWEEPS, rest)


class BestSteps:
    """The best candidates of every entity in all KGs, from which paths are made.

    row, column: joint numbers of candidates, segment after segment; values: their direct scores.
    """

    def __init__(self, direct: BlockScores) -> None:
        segments = self._segments = direct.segments
        self.thirds = sum(size > 0 for size in segments.sizes) - 2
        values = direct.score.index_select(0, segments.entry)
        number = torch.repeat_interleave(segments.starts.diff())
        high = torch.nonzero(values > NEGLIGIBLE)[:, 0]
        number, values = number.index_select(0, high), values.index_select(0, high)
        entry, number, _ = top_per_group(number, values, _candidates_per_step(self.thirds, segments.kgs))
        self.row = torch.div(number, segments.kgs, rounding_mode="floor")
        mate = segments.mate.index_select(0, high.index_select(0, entry))
        self.column = torch.div(mate, segments.kgs, rounding_mode="floor")
        self.values = values.index_select(0, entry)
        self._number = number
        counts = torch.bincount(number, minlength=segments.count)
        self._starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])

    def paths(self, kg: int) -> tuple[Tensor, Tensor]:
        """All paths of two steps from the candidates of a KG to those of later KGs: keys and values.

        A key is row * columns + column, counted from the first candidate of the KG and the first one after it. Keys may
        repeat; their values are to be summed.
        """
        segments = self._segments
        start, end = segments.offsets[kg], segments.offsets[kg + 1]
        own = slice(int(self._starts[start * segments.kgs]), int(self._starts[end * segments.kgs]))
        row, middle, first = self.row[own], self.column[own], self.values[own]
        begins = self._starts.index_select(0, middle * segments.kgs + kg + 1)
        counts = self._starts.index_select(0, (middle + 1) * segments.kgs) - begins
        into = torch.repeat_interleave(counts)
        place = (begins - (counts.cumsum(0) - counts)).index_select(0, into)
        place += torch.arange(len(into), device=into.device)
        values = first.index_select(0, into) * self.values.index_select(0, place)
        kept = torch.nonzero(values > NEGLIGIBLE)[:, 0]
        row = row.index_select(0, into.index_select(0, kept)) - start
        column = self.column.index_select(0, place.index_select(0, kept)) - end
        return row * (segments.candidates - end) + column, values.index_select(0, kept)

    def with_direct(
        self, kg: int, direct: BlockScores, direct_weight: float, share: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The entries of a KG's candidates in later KGs, sorted: rows, columns, and the weighted sums of both."""
        segments = self._segments
        start, end = segments.offsets[kg], segments.offsets[kg + 1]
        shape = (end - start, segments.candidates - end)
        bounds = torch.tensor([start, end], device=segments.row.device)
        own = slice(*torch.searchsorted(segments.row, bounds).tolist())
        keys, values = self.paths(kg)
        keys = torch.cat([(segments.row[own] - start) * shape[1] + segments.column[own] - end, keys])
        values = torch.cat([direct.score[own] * direct_weight, values * share])
        if shape[0] * shape[1] <= min(DENSE_NUMBERS, SPARSE * len(keys)):
            block = values.new_zeros(shape[0] * shape[1]).index_add_(0, keys, values)
            keys = torch.nonzero(self._best(block.view(shape), kg).flatten())[:, 0]
            total = block.index_select(0, keys)
        else:
            keys, order, is_first = sorted_unique(keys)
            total = values.new_zeros(len(keys))
            total.index_add_(0, is_first.cumsum(0) - 1, values.index_select(0, order))
        return torch.div(keys, max(shape[1], 1), rounding_mode="floor") + start, keys % max(shape[1], 1) + end, total

    def lost(self) -> Tensor:
        """For each candidate and KG the mass that reaches a third KG from where no path goes on, (candidates, KGs).

        A third KG in which the candidate has no counterpart says nothing.
        """
        segments, values = self._segments, self.values.double()
        into = values.new_zeros(segments.count).index_add_(0, self._number, values)
        into = into.view(segments.candidates, segments.kgs)
        starts = self._starts[:: segments.kgs]
        steps = csr(starts, self.column, values, (segments.candidates, segments.candidates))
        goes_on: Tensor = steps @ into.clamp(max=1)
        return (into.sum(1, keepdim=True) - into - goes_on).clamp(min=0)

    def _best(self, block: Tensor, kg: int) -> Tensor:
        """Which entries of a block of one KG against all later ones are kept: where there are many KGs, the best."""
        segments = self._segments
        if segments.kgs <= MANY:
            return block > 0
        count = candidates_per_block(segments.kgs)
        sizes = list(segments.sizes[kg + 1 :])
        return torch.cat([best_of_block(part, count) for part in torch.split(block, sizes, dim=1)], dim=1)


def _candidates_per_step(thirds: int, kgs: int) -> int:
    if kgs <= MANY:
        return CANDIDATES_PER_STEP
    return max(1, math.isqrt(PRODUCTS_WITH_MANY // max(thirds, 1)))
