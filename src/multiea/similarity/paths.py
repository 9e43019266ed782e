"""Paths through third KGs: sparse products of the best direct scores, for any number of KGs (eqs. 16-17)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from multiea.graph.sparse import csr
from multiea.settings.engines import PROPAGATION_WEIGHTS
from multiea.settings.enhancement import Enhancement
from multiea.similarity.block_scores import BlockScores, Half, Segments
from multiea.similarity.many_kgs import MANY, kept_after_paths
from multiea.similarity.sparse_scores import NEGLIGIBLE, SparseScores, top_per_group
from multiea.similarity.sparse_sinkhorn import normalise
from multiea.similarity.weights import Mixing

CANDIDATES_PER_STEP = 10  # candidates in a third KG from which paths continue
STEPS = 80  # from one candidate into all KGs together, where there are many KGs: its best ones
PRODUCTS_WITH_MANY = 200  # paths from one candidate into one KG, where there are many KGs
DENSE_NUMBERS, SPARSE = 1 << 26, 8  # a dense block has at most so many numbers, in all and for each path
FINAL_SWEEPS = 10  # of Sinkhorn, after paths were added


def with_paths(direct: BlockScores, enhancement: Enhancement, mixing: Mixing, *, keeps_rest: bool) -> BlockScores:
    """Direct scores, with paths through third KGs added where the mode asks for it.

    keeps_rest: whether the mass that goes to no candidate stays there: an entity with only weak candidates is then
    certain of none.
    """
    return next(with_paths_mixed(direct, enhancement, [mixing], keeps_rest=keeps_rest))


def with_paths_mixed(
    direct: BlockScores, enhancement: Enhancement, mixings: Sequence[Mixing], *, keeps_rest: bool
) -> Iterator[BlockScores]:
    """The same for several ways to mix direct scores and paths, one after the other."""
    weights, segments = enhancement.weights, direct.segments
    if enhancement.mode != "sharpened" or segments.kgs == 2 or len(weights) == 1 or not weights[1]:
        yield from (direct for _ in mixings)
        return
    steps = BestSteps(direct)
    missing, lost = ((1 - direct.sums()).clamp(min=0), steps.lost()) if keeps_rest else (None, None)
    for mixing in mixings:
        direct_weight, share = shares_of_paths(weights, mixing.direct_share, steps.divisor)
        row, column, values = steps.with_direct(direct, direct_weight, share)
        rest = None if missing is None or lost is None else direct_weight * missing + share * lost
        if steps.cut is not None:  # without it, Sinkhorn would make the few that are kept look certain
            rest = steps.cut if rest is None else rest + steps.cut
        mixed = normalise(BlockScores(Segments(row, column, segments.sizes), values), FINAL_SWEEPS, rest)
        if (known := direct.uncontested) is not None:  # without what is cached for the direct scores
            own = Segments(segments.row, segments.column, segments.sizes)
            mixed.uncontested = replace(known, scores=BlockScores(own, known.scores.score))
        yield mixed


def shares_of_paths(weights: Sequence[float], direct_share: float | None, divisor: float) -> tuple[float, float]:
    """The shares of direct scores, and of each path; direct_share: the one that was learned.

    divisor: the weight of all paths divided by it is that of each.
    """
    direct_weight, weight = (part / sum(weights) for part in weights)
    if direct_share is not None and weights == PROPAGATION_WEIGHTS:  # otherwise the user has decided
        direct_weight, weight = direct_share, 1 - direct_share
    return direct_weight, weight / divisor


def divisor_of_paths(thirds: int, reached: int) -> float:
    """The weight of all paths divided by it is that of each; reached: the KGs that steps of a candidate lead to."""
    return max(reached, 1) ** 2 / max(thirds, 1)


class BestSteps:
    """The best candidates of every entity in all KGs, from which paths are made.

    row, column: joint numbers of candidates, segment after segment; values: their direct scores. divisor: the weight of
    all paths divided by it is that of each. cut: the mass of each candidate in each KG that the last with_direct left
    out, (candidates, KGs); None where nothing is left out.
    """

    def __init__(self, direct: BlockScores) -> None:
        segments = self._segments = direct.segments
        self.thirds = sum(size > 0 for size in segments.sizes) - 2
        count = candidates_per_step(self.thirds, segments.kgs)
        parts = [_best_of_half(half, direct.score, count) for half in segments.halves]
        number, mate, values = (torch.cat(part) for part in zip(*parts, strict=True))
        order = torch.argsort(number, stable=True)  # no segment has entries in both halves
        number, mate, values = (part.index_select(0, order) for part in (number, mate, values))
        self._all = number, values
        self._reached = min(self.thirds, STEPS) if segments.kgs > MANY else self.thirds  # KGs that steps lead to
        if self._reached < self.thirds:
            kept = _best_of_candidates(number, values, segments.kgs)
            number, mate, values = (part.index_select(0, kept) for part in (number, mate, values))
        self.divisor = divisor_of_paths(self.thirds, self._reached)
        self.row = torch.div(number, segments.kgs, rounding_mode="floor")
        self.column = torch.div(mate, segments.kgs, rounding_mode="floor")
        self.values, self._number = values, number
        counts = torch.bincount(number, minlength=segments.count)
        self._starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        self._kept = kept_after_paths(segments.kgs, segments.candidates)
        is_cut = self._kept is not None
        self.cut = direct.score.new_zeros(segments.candidates, segments.kgs, dtype=torch.float64) if is_cut else None

    def paths(self, kg: int, targets: range) -> tuple[Tensor, Tensor]:
        """All paths of two steps from the candidates of a KG to those of later KGs, which follow each other.

        Keys, row * columns + column, counted from the first candidate of the KG and of the first target; and values.
        Keys may repeat; their values are to be summed.
        """
        segments, start = self._segments, self._segments.offsets[kg]
        own, begins, counts = self._second_steps(kg, targets)
        into = torch.repeat_interleave(counts)
        place = (begins - (counts.cumsum(0) - counts)).index_select(0, into)
        place += torch.arange(len(into), device=into.device)
        values = self.values[own].index_select(0, into) * self.values.index_select(0, place)
        kept = torch.nonzero(values > NEGLIGIBLE)[:, 0]
        row = self.row[own].index_select(0, into.index_select(0, kept)) - start
        first, end = segments.offsets[targets.start], segments.offsets[targets.stop]
        column = self.column.index_select(0, place.index_select(0, kept)) - first
        return row * (end - first) + column, values.index_select(0, kept)

    def with_direct(self, direct: BlockScores, direct_weight: float, share: float) -> tuple[Tensor, Tensor, Tensor]:
        """The weighted sums of direct scores and paths: rows, columns and values of the half above the diagonal."""
        segments = self._segments
        parts = []
        if self.cut is not None:
            self.cut.zero_()
        for kg in range(segments.kgs - 1):
            later = range(kg + 1, segments.kgs)
            is_dense = self._is_dense(kg, later)
            for targets in [later] if is_dense else [range(one, one + 1) for one in later]:
                keys, values = self._direct(direct, kg, targets)
                more = self.paths(kg, targets)
                keys, values = torch.cat([keys, more[0]]), torch.cat([values * direct_weight, more[1] * share])
                parts.append(self._summed(keys, values, kg, targets, is_dense=is_dense))
        row, column, total = (torch.cat(part) for part in zip(*parts, strict=True))
        order = torch.argsort(row.int(), stable=True)
        return row.index_select(0, order), column.index_select(0, order), total.index_select(0, order)

    def _second_steps(self, kg: int, targets: range) -> tuple[slice, Tensor, Tensor]:
        """The first steps from a KG; for each where its second steps into the targets begin, and how many there are."""
        segments = self._segments
        ends = (segments.offsets[kg] * segments.kgs, segments.offsets[kg + 1] * segments.kgs)
        own = slice(*self._starts[list(ends)].tolist())
        middle = self.column[own] * segments.kgs
        begins, stops = (self._starts.index_select(0, middle + end) for end in (targets.start, targets.stop))
        return own, begins, stops - begins

    def _is_dense(self, kg: int, targets: range) -> bool:
        """Whether sums are made in a dense block: where it is small, and paths lead nearly everywhere."""
        offsets = self._segments.offsets
        numbers = self._segments.sizes[kg] * (offsets[targets.stop] - offsets[targets.start])
        return bool(numbers <= min(DENSE_NUMBERS, SPARSE * int(self._second_steps(kg, targets)[2].sum())))

    def _direct(self, direct: BlockScores, kg: int, targets: range) -> tuple[Tensor, Tensor]:
        """The direct scores of the candidates of a KG with those of later ones: keys and values."""
        segments = self._segments
        first, end = segments.offsets[targets.start], segments.offsets[targets.stop]
        bounds = torch.tensor(segments.offsets[kg : kg + 2], device=segments.row.device)
        own = slice(*torch.searchsorted(segments.row, bounds).tolist())
        row, column, values = segments.row[own], segments.column[own], direct.score[own]
        inside = torch.nonzero((column >= first) & (column < end))[:, 0]
        row, column, values = (part.index_select(0, inside) for part in (row, column, values))
        return (row - segments.offsets[kg]) * (end - first) + column - first, values

    def _summed(
        self, keys: Tensor, values: Tensor, kg: int, targets: range, *, is_dense: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Values of the same key summed: rows, columns and sums, sorted."""
        segments = self._segments
        first, width = segments.offsets[targets.start], segments.offsets[targets.stop] - segments.offsets[targets.start]
        start, rows = segments.offsets[kg], segments.sizes[kg]
        if is_dense:
            block = values.new_zeros(rows * width).index_add_(0, keys, values)
            keys = block.nonzero()[:, 0]
            row = torch.div(keys, width, rounding_mode="floor")
            summed = SparseScores(row, keys - row * width, block.index_select(0, keys), (rows, width))
        else:
            summed = SparseScores.summed(keys, values, (rows, max(width, 1)))
        if self.cut is not None and self._kept is not None:
            summed = self._best(summed, kg, targets, self._kept, self.cut)
        return summed.row + start, summed.column + first, summed.values

    def _best(self, summed: SparseScores, kg: int, targets: range, count: int, cut: Tensor) -> SparseScores:
        """The best entries of each row in each later KG, and of each column; the mass of the others is noted as cut."""
        segments = self._segments
        first, start = segments.offsets[targets.start], segments.offsets[kg]
        row, column = summed.row + start, summed.column + first
        number = segments.of_ends(row, column) - start * segments.kgs
        kept = torch.zeros(len(number), dtype=torch.bool, device=number.device)
        for groups in (number, summed.column):
            kept[top_per_group(groups, summed.values, count)[0]] = True
        left = torch.nonzero(~kept)[:, 0]
        row, column, mass = (part.index_select(0, left) for part in (row, column, summed.values))
        for ends in (segments.of_ends(row, column), segments.of_ends(column, row)):
            cut.view(-1).index_add_(0, ends, mass.double())
        return summed.take(torch.nonzero(kept)[:, 0])

    def lost(self) -> Tensor:
        """For each candidate and KG the mass that reaches a third KG from where no path goes on, (candidates, KGs).

        A third KG in which the candidate has no counterpart says nothing.
        """
        segments, values = self._segments, self.values.double()
        into, reached = (self._sums(*some) for some in (self._all, (self._number, self.values)))
        starts = self._starts[:: segments.kgs].contiguous()  # sparse products on a GPU read it as if it were
        steps = csr(starts, self.column, values, (segments.candidates, segments.candidates))
        goes_on: Tensor = steps @ into.clamp(max=1)
        lost: Tensor = (reached.sum(1, keepdim=True) - reached - goes_on).clamp(min=0)
        return lost if self._reached == self.thirds else lost * (self._reached / self.thirds)

    def _sums(self, number: Tensor, values: Tensor) -> Tensor:
        """The sum of each segment, (candidates, KGs), in double precision."""
        segments, values = self._segments, values.double()
        total = values.new_zeros(segments.count).index_add_(0, number, values)
        return total.view(segments.candidates, segments.kgs)


def _best_of_half(half: Half, score: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best entries of each segment: their segments, the segments of their other ends, and their scores."""
    values = score.index_select(0, half.entry)
    high = torch.nonzero(values > NEGLIGIBLE)[:, 0]
    number, values = half.number.index_select(0, high), values.index_select(0, high)
    best, number, _ = top_per_group(number, values, count)
    return number, half.mate.index_select(0, high.index_select(0, best)), values.index_select(0, best)


def _best_of_candidates(number: Tensor, values: Tensor, kgs: int) -> Tensor:
    """Which steps of each candidate are among its best in all KGs together, rising; number: of the segments."""
    candidate = torch.div(number, kgs, rounding_mode="floor")
    return top_per_group(candidate, values, STEPS)[0].sort().values


def candidates_per_step(thirds: int, kgs: int) -> int:
    """How many candidates of an entity in a third KG paths continue from."""
    if kgs <= MANY:
        return CANDIDATES_PER_STEP
    return max(1, math.isqrt(PRODUCTS_WITH_MANY // max(thirds, 1)))
