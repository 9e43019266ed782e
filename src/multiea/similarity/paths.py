"""Paths through third KGs: sparse products of the best direct scores, for any number of KGs (eqs. 16-17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from multiea.foundation.offsets import offsets
from multiea.settings.engines import PROPAGATION_WEIGHTS
from multiea.settings.enhancement import Enhancement
from multiea.similarity.sparse_scores import NEGLIGIBLE, SparseScores, entries_of_rows
from multiea.similarity.sparse_sinkhorn import normalise
from multiea.similarity.weights import Mixing

Pair = tuple[int, int]
CANDIDATES_PER_STEP = 10  # candidates in a third KG from which paths continue
FINAL_SWEEPS = 10  # of Sinkhorn, after paths were added


def with_paths(
    direct: Mapping[Pair, SparseScores], enhancement: Enhancement, mixing: Mixing, *, keeps_rest: bool
) -> dict[Pair, SparseScores]:
    """Direct scores of all ordered pairs of KGs, with paths through third KGs added where the mode asks for it.

    keeps_rest: whether the mass that goes to no candidate stays there: an entity with only weak candidates is then
    certain of none.
    """
    weights, kgs = enhancement.weights, sorted({kg for pair in direct for kg in pair})
    if enhancement.mode != "sharpened" or len(kgs) == 2 or len(weights) == 1 or not weights[1]:
        return dict(direct)
    direct_weight, weight = (part / sum(weights) for part in weights)
    if mixing.direct_share is not None and weights == PROPAGATION_WEIGHTS:  # otherwise the user has decided
        direct_weight, weight = mixing.direct_share, 1 - mixing.direct_share
    steps = BestSteps(direct, kgs)
    enhanced: dict[Pair, SparseScores] = {}
    for a, b in combinations(kgs, 2):
        own = direct[a, b]
        share = weight / max(steps.thirds(a, b), 1)  # of each third KG
        keys, values = steps.paths(a, b)
        keys, values = torch.cat([own.keys, keys]), torch.cat([own.values * direct_weight, values * share])
        rest = None
        if keeps_rest:
            sides = [
                direct_weight * (1 - _row_sums(direct[one, other])).clamp(min=0) + share * steps.lost(one, other)
                for one, other in ((a, b), (b, a))
            ]
            rest = sides[0], sides[1]
        scores = normalise(SparseScores.summed(keys, values, own.shape), FINAL_SWEEPS, rest)
        enhanced |= {(a, b): scores, (b, a): scores.transposed()}
    return enhanced


@dataclass(frozen=True)
class _Entries:
    """Entries of a sparse matrix, (n,) each, row after row."""

    row: Tensor
    column: Tensor
    values: Tensor

    @classmethod
    def best_of(cls, scores: SparseScores) -> _Entries:
        entry, row, _ = scores.top_entries(CANDIDATES_PER_STEP, above=NEGLIGIBLE)
        return cls(row, scores.column.index_select(0, entry), scores.values.index_select(0, entry))

    @classmethod
    def joined(cls, parts: Sequence[_Entries]) -> _Entries:
        columns = zip(*((part.row, part.column, part.values) for part in parts), strict=True)
        return cls(*(torch.cat(column) for column in columns))

    def moved(self, rows: int, columns: int) -> _Entries:
        """The same in a larger matrix."""
        return _Entries(self.row + rows, self.column + columns, self.values)

    def take(self, which: Tensor) -> _Entries:
        return _Entries(self.row[which], self.column[which], self.values[which])


class BestSteps:
    """The best candidates of every entity in all KGs, from which paths are made; candidates have joint numbers."""

    def __init__(self, direct: Mapping[Pair, SparseScores], kgs: Sequence[int]) -> None:
        sizes = {pair[0]: scores.shape[0] for pair, scores in direct.items()}
        starts = offsets(sizes[kg] for kg in kgs).tolist()
        self._range = {kg: (start, start + sizes[kg]) for kg, start in zip(kgs, starts, strict=False)}
        self._total = starts[-1]
        best = {pair: _Entries.best_of(scores) for pair, scores in direct.items()}
        self._from = {a: _Entries.joined([best[a, b].moved(0, self._range[b][0]) for b in kgs if b != a]) for a in kgs}
        self._into = {b: _Entries.joined([best[a, b].moved(self._range[a][0], 0) for a in kgs if a != b]) for b in kgs}
        self._starts = {kg: self._starts_of_rows(entries.row) for kg, entries in self._into.items()}

    def thirds(self, a: int, b: int) -> int:
        """How many third KGs have candidates."""
        return sum(end > start for kg, (start, end) in self._range.items() if kg not in (a, b))

    def paths(self, a: int, b: int) -> tuple[Tensor, Tensor]:
        """All paths of two steps between the candidates of two KGs: keys, row * columns + column, and values.

        Keys may repeat; their values are to be summed.
        """
        first, second, starts = self._to_thirds(a, b), self._into[b], self._starts[b]
        columns = self._range[b][1] - self._range[b][0]
        into, entry = entries_of_rows(starts, first.column)
        values = first.values.index_select(0, into) * second.values.index_select(0, entry)
        kept = torch.nonzero(values > NEGLIGIBLE)[:, 0]
        row = first.row.index_select(0, into.index_select(0, kept))
        column = second.column.index_select(0, entry.index_select(0, kept))
        return row * columns + column, values.index_select(0, kept)

    def lost(self, a: int, b: int) -> Tensor:
        """For each row the mass that reaches a third KG from where no path goes on.

        A third KG in which the row has no counterpart says nothing.
        """
        first, second = self._to_thirds(a, b), self._into[b]
        goes_on = torch.zeros(self._total, dtype=torch.float64, device=second.row.device)
        goes_on = goes_on.index_add_(0, second.row, second.values.double()).clamp_(max=1)
        ends = first.values.double() * (1 - goes_on.index_select(0, first.column))
        return goes_on.new_zeros(self._range[a][1] - self._range[a][0]).index_add_(0, first.row, ends)

    def _to_thirds(self, a: int, b: int) -> _Entries:
        """The first steps from a KG, without those into the target."""
        entries, (start, end) = self._from[a], self._range[b]
        return entries.take(torch.nonzero((entries.column < start) | (entries.column >= end))[:, 0])

    def _starts_of_rows(self, row: Tensor) -> Tensor:
        counts = torch.bincount(row, minlength=self._total)
        return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


def _row_sums(scores: SparseScores) -> Tensor:
    return scores.values.new_zeros(scores.shape[0], dtype=torch.float64).index_add_(
        0, scores.row, scores.values.double()
    )
