"""Scores of the best candidates only: a sparse similarity matrix."""

from __future__ import annotations

from copy import copy
from functools import cached_property

import torch
from torch import Tensor

from multiea.data.groups import ABSENT
from multiea.graph.sparse import sorted_unique
from multiea.similarity.matrices import Matrix

FEW = 3  # values of a group that are found one after the other, without sorting
NEGLIGIBLE = 1e-6  # scores below this change no rank worth the memory


class SparseScores(Matrix):
    """Scores of some pairs of candidates; all other pairs count as zero.

    row, column, values: (entries,) each, sorted by row, then column; each pair once.
    """

    def __init__(self, row: Tensor, column: Tensor, values: Tensor, shape: tuple[int, int]) -> None:
        self.row, self.column, self.values, self.shape = row, column, values, shape

    @classmethod
    def summed(cls, keys: Tensor, values: Tensor, shape: tuple[int, int]) -> SparseScores:
        """From entries in any order, keys = row * columns + column; values of the same pair are summed."""
        keys, order, is_first = sorted_unique(keys)
        place = is_first.cumsum(0) - 1
        total = values.new_zeros(len(keys)).index_add_(0, place, values.index_select(0, order))
        return cls(keys // shape[1], keys % shape[1], total, shape)

    @classmethod
    def distinct(cls, keys: Tensor, values: Tensor, shape: tuple[int, int]) -> SparseScores:
        """From entries in any order, where a repeated pair has the same value; only positive values are kept."""
        positive = values > 0
        keys, order, is_first = sorted_unique(keys[positive])
        return cls(keys // shape[1], keys % shape[1], values[positive].index_select(0, order)[is_first], shape)

    @cached_property
    def starts(self) -> Tensor:
        """The first entry of each row, and at the end the number of entries."""
        counts = torch.bincount(self.row, minlength=self.shape[0])
        return torch.cat([counts.new_zeros(1), counts.cumsum(0)])

    @property
    def keys(self) -> Tensor:
        """row * columns + column of each entry, rising."""
        return self.row * self.shape[1] + self.column

    def with_values(self, values: Tensor) -> SparseScores:
        """Other values for the same pairs."""
        other = copy(self)
        other.values = values
        return other

    def take(self, entries: Tensor) -> SparseScores:
        """Some of the entries, given in rising order."""
        row, column, values = (part.index_select(0, entries) for part in (self.row, self.column, self.values))
        return SparseScores(row, column, values, self.shape)

    def best_of_rows_and_columns(self, count: int) -> SparseScores:
        """The best entries of each row and of each column."""
        kept = torch.zeros(len(self.values), dtype=torch.bool, device=self.row.device)
        for groups in (self.row, self.column):
            kept[top_per_group(groups, self.values, count)[0]] = True
        return self.take(torch.nonzero(kept)[:, 0])

    def rows(self, which: slice | Tensor) -> Tensor:
        """Some rows, dense."""
        numbers = torch.arange(self.shape[0], device=self.row.device)[which]
        into, entry = entries_of_rows(self.starts, numbers)
        block = self.values.new_zeros(len(numbers), self.shape[1])
        block[into, self.column[entry]] = self.values[entry]
        return block

    def better_and_tied(self, row: Tensor, column: Tensor) -> tuple[Tensor, Tensor]:
        """For each pair, how many columns of its row score better, and how many equal; pairs without entry are zero."""
        row, column = row.to(self.row.device), column.to(self.row.device)
        into, entry = entries_of_rows(self.starts, row)
        columns = torch.full_like(row, self.shape[1])
        return better_and_tied(into, self.values.index_select(0, entry), self._values_at(row, column), columns)

    def at(self, row: Tensor, column: Tensor) -> Tensor:
        """The scores of some pairs, zero where there is no entry; float32 on the CPU."""
        return self._values_at(row.to(self.row.device), column.to(self.row.device)).float().cpu()

    def best_columns(self, *, allow_ties: bool = False) -> tuple[Tensor, Tensor]:
        """For each row its best column and that score; -1 for rows with negligible scores only, or with a tie."""
        columns, scores = self.top(2, above=NEGLIGIBLE)
        single = (allow_ties | (scores[:, 0] > scores[:, 1])) & (scores[:, 0] > 0)
        return torch.where(single, columns[:, 0], ABSENT).cpu(), scores[:, 0].float().cpu()

    def row_sums(self) -> Tensor:
        """The sum of each row, on the CPU."""
        return self.values.new_zeros(self.shape[0]).index_add(0, self.row, self.values).float().cpu()

    def top_entries(self, count: int, above: float = 0.0) -> tuple[Tensor, Tensor, Tensor]:
        """The best entries of each row: entry, row, and rank in the row, (n,) each, row after row, the best first."""
        high = torch.nonzero(self.values > above)[:, 0]
        entry, row, rank = top_per_group(self.row.index_select(0, high), self.values.index_select(0, high), count)
        return high.index_select(0, entry), row, rank

    def top(self, count: int, above: float = 0.0) -> tuple[Tensor, Tensor]:
        """For each row its best columns and their scores, (rows, count), best first; -1 and 0 where there are fewer.

        above: what a score must exceed to count. Of equal scores the first column comes first.
        """
        order, row, place = self.top_entries(count, above)
        columns = torch.full((self.shape[0], count), ABSENT, device=row.device)
        scores = self.values.new_zeros(self.shape[0], count)
        columns[row, place] = self.column.index_select(0, order)
        scores[row, place] = self.values.index_select(0, order)
        return columns, scores

    def _values_at(self, row: Tensor, column: Tensor) -> Tensor:
        if not len(self.row):
            return self.values.new_zeros(len(row))
        wanted, keys = row * self.shape[1] + column, self.keys
        place = torch.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
        return torch.where(keys[place] == wanted, self.values[place], 0)


def better_and_tied(into: Tensor, values: Tensor, own: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
    """For each query how many of its candidates score better than the right one, and how many equal.

    into: the query of each entry; values: of the entries. own: (queries,) the score of the right candidate; sizes:
    (queries,) the number of candidates, of which those without entry score zero.
    """
    own = own.masked_fill(own.isnan(), -torch.inf)  # a broken score must never look like a good one
    against = own.index_select(0, into)
    better = torch.bincount(into[values > against], minlength=len(own))
    tied = torch.bincount(into[values == against], minlength=len(own))
    without_entry = sizes - torch.bincount(into, minlength=len(own))
    better += torch.where(own < 0, without_entry, 0)
    tied += torch.where(own == 0, without_entry, 0)
    return better.cpu(), tied.clamp(min=1).cpu()


def entries_of_rows(starts: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """All entries of some rows: for each the place of its row among these, and its number.

    starts: the first entry of each row, and at the end the number of entries.
    """
    counts = starts.diff().index_select(0, rows)
    into = torch.repeat_interleave(torch.arange(len(rows), device=rows.device), counts)
    first = starts.index_select(0, rows) - (counts.cumsum(0) - counts)
    return into, first.index_select(0, into) + torch.arange(len(into), device=rows.device)


def top_per_group(groups: Tensor, values: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The entries with the highest values of each group: entry, group, and rank in the group, (n,) each.

    groups: the group of each entry, such as its row or column; values: at least zero. Of equal values the first entry
    comes first.
    """
    if count <= FEW and len(values):
        return _top_few_per_group(groups, values.float(), count)
    bits = values.float().view(torch.int32).long()  # floats from zero on sort like their bits
    order = torch.argsort((groups << 32) | (0x7FFFFFFF - bits), stable=True)
    group = groups.index_select(0, order)
    counts = torch.bincount(group)
    rank = torch.arange(len(group), device=group.device) - (counts.cumsum(0) - counts).index_select(0, group)
    kept = torch.nonzero(rank < count)[:, 0]
    return order.index_select(0, kept), group.index_select(0, kept), rank.index_select(0, kept)


def _top_few_per_group(groups: Tensor, values: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The same for a small count: the best of each group, then the best of the rest, and so on."""
    total, nothing = int(groups.max()) + 1, len(values)
    chosen = torch.full((total, count), nothing, device=groups.device)
    entry = torch.arange(len(values), device=groups.device)
    for rank in range(count):
        best = values.new_full((total,), -1).scatter_reduce_(0, groups, values, "amax")
        is_best = torch.nonzero(values == best.index_select(0, groups))[:, 0]
        chosen[:, rank].scatter_reduce_(0, groups.index_select(0, is_best), entry.index_select(0, is_best), "amin")
        if rank + 1 < count:
            left = torch.ones(len(values), dtype=torch.bool, device=groups.device)
            found = chosen[:, rank]
            left[torch.searchsorted(entry, found[found < nothing])] = False
            groups, values, entry = (part[left] for part in (groups, values, entry))
            if not len(values):
                break
    group, place = torch.nonzero(chosen < nothing, as_tuple=True)
    return chosen[group, place], group, place
