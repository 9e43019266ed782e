"""Scores of the few candidates that matter: a sparse matrix, sharpened and composed without ever being whole."""

from __future__ import annotations

from copy import copy

import torch
from torch import Tensor

from multiea.data.groups import ABSENT
from multiea.graph.sparse import csr
from multiea.similarity.int8_embeddings import Comparable
from multiea.similarity.matrices import BLOCK_NUMBERS

SAMPLE = 256  # candidates that tell what all others are like
NEGLIGIBLE = 1e-6  # products below this change no rank worth the memory


class SparseScores:
    """Scores of some pairs of candidates; all others count as zero.

    row, column, values: (entries,) each, sorted by row, then column, each pair once.
    """

    def __init__(self, row: Tensor, column: Tensor, values: Tensor, shape: tuple[int, int]) -> None:
        self.row, self.column, self.values, self.shape = row, column, values, shape
        counts = torch.bincount(row, minlength=shape[0])
        self.starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        self._turned: tuple[Tensor, SparseScores] | None = None

    @classmethod
    def summed(cls, keys: Tensor, values: Tensor, shape: tuple[int, int]) -> SparseScores:
        """From entries in any order, keys = row * columns + column; values of one pair are added up."""
        keys, order = torch.sort(keys)
        new = torch.ones_like(keys, dtype=torch.bool)
        new[1:] = keys[1:] != keys[:-1]
        place = new.cumsum(0) - 1
        total = values.new_zeros(int(new.sum())).index_add_(0, place, values.index_select(0, order))
        keys = keys[new]
        return cls(keys // shape[1], keys % shape[1], total, shape)

    @property
    def keys(self) -> Tensor:
        """Each entry's place in the whole matrix, rising."""
        return self.row * self.shape[1] + self.column

    def with_values(self, values: Tensor) -> SparseScores:
        """Other values for the same pairs."""
        other = copy(self)
        other.values = values
        return other

    def take(self, entries: Tensor) -> SparseScores:
        """Some entries alone, given in their order."""
        row, column, values = (part.index_select(0, entries) for part in (self.row, self.column, self.values))
        return SparseScores(row, column, values, self.shape)

    def transposed(self) -> SparseScores:
        """The same seen from the other KG. The order of entries there is found once for all values."""
        if self._turned is None:
            order = torch.argsort(self.column.int(), stable=True)
            ends = self.column.index_select(0, order), self.row.index_select(0, order)
            self._turned = order, SparseScores(*ends, self.values, (self.shape[1], self.shape[0]))
        order, turned = self._turned
        return turned.with_values(self.values.index_select(0, order))

    def rows(self, which: slice | Tensor) -> Tensor:
        """Some rows, whole."""
        numbers = torch.arange(self.shape[0], device=self.row.device)[which]
        into, entry = self._entries(numbers)
        block = self.values.new_zeros(len(numbers), self.shape[1])
        block[into, self.column[entry]] = self.values[entry]
        return block

    def ranks(self, row: Tensor, column: Tensor) -> Tensor:
        """The rank of one column in each of some rows, as if these were whole: 1 + better + (ties - 1) / 2."""
        row, column = row.to(self.row.device), column.to(self.row.device)
        own = self.at(row, column)
        into, entry = self._entries(row)
        own = own.masked_fill(own.isnan(), -torch.inf)  # a broken score must never look like a good one
        values, against = self.values.index_select(0, entry), own.index_select(0, into)
        better = torch.bincount(into[values > against], minlength=len(row))
        ties = torch.bincount(into[values == against], minlength=len(row))
        without = self.shape[1] - torch.bincount(into, minlength=len(row))  # columns without an entry count as zero
        better += torch.where(own < 0, without, 0)
        ties += torch.where(own == 0, without, 0)
        return 1 + better + (ties.clamp(min=1).double() - 1) / 2

    def _entries(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """All entries of some rows, and for each of them which of the rows it is of."""
        counts = self.starts.diff().index_select(0, rows)
        into = torch.repeat_interleave(torch.arange(len(rows), device=rows.device), counts)
        first = self.starts.index_select(0, rows) - (counts.cumsum(0) - counts)
        return into, first.index_select(0, into) + torch.arange(len(into), device=rows.device)

    def at(self, row: Tensor, column: Tensor) -> Tensor:
        """The scores of some pairs, zero where there is none."""
        if not len(self.row):
            return self.values.new_zeros(len(row))
        wanted, keys = row * self.shape[1] + column, self.keys
        place = torch.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
        return torch.where(keys[place] == wanted, self.values[place], 0)

    def best(self, count: int, above: float = 0.0) -> tuple[Tensor, Tensor]:
        """For each row its best columns and their scores, (rows, count), the best first; -1 and 0 where there are none.

        above: what a score must exceed to count. Of equal scores the first column stands first.
        """
        high = torch.nonzero(self.values > above)[:, 0]
        order, row, place = best_first(self.row.index_select(0, high), self.values.index_select(0, high), count)
        order = high.index_select(0, order)
        columns = torch.full((self.shape[0], count), ABSENT, device=row.device)
        scores = self.values.new_zeros(self.shape[0], count)
        columns[row, place] = self.column.index_select(0, order)
        scores[row, place] = self.values.index_select(0, order)
        return columns, scores


def best_first(ends: Tensor, values: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The entries with the highest values at each end, (n,) each: which they are, at which end, in which place there.

    ends: numbers of rows or columns; values: from zero on. Of equal values the first entry stands first.
    """
    bits = values.float().view(torch.int32).long()  # from zero on, in their order
    order = torch.argsort((ends << 32) | (0x7FFFFFFF - bits), stable=True)
    end = ends.index_select(0, order)
    counts = torch.bincount(end)
    place = torch.arange(len(end), device=end.device) - (counts.cumsum(0) - counts).index_select(0, end)
    kept = torch.nonzero(place < count)[:, 0]
    return order.index_select(0, kept), end.index_select(0, kept), place.index_select(0, kept)


def sharpen_sparse(
    scores: SparseScores, left: Comparable, right: Comparable, temperature: float, sweeps: int
) -> SparseScores:
    """Sinkhorn on the entries there are: exp(score / temperature), rows and columns scaled towards a sum of one.

    left, right: the embeddings. What all other candidates would take is estimated from a sample of them and goes to
    nobody: an entity with nothing but weak candidates is sure of none.
    """
    highest = max(float(scores.values.amax()) if len(scores.values) else 0.0, 0.0)
    of_rows = _rest(scores, left, right, highest, temperature)
    of_columns = _rest(scores.transposed(), right, left, highest, temperature)
    sharp = scores.with_values(torch.exp((scores.values.double() - highest) / temperature))
    return balance(sharp, sweeps, (of_rows, of_columns))


def _rest(scores: SparseScores, left: Comparable, right: Comparable, highest: float, temperature: float) -> Tensor:
    """For each row what the columns that are no candidates of it would add up to, (rows,)."""
    sample = right[:: max(1, len(right) // SAMPLE)]
    counts = scores.starts[1:] - scores.starts[:-1]
    lowest = scores.values.new_full((scores.shape[0],), torch.inf).scatter_reduce(0, scores.row, scores.values, "amin")
    parts = []
    size = max(1, BLOCK_NUMBERS // max(1, len(sample)))
    for start in range(0, len(left), size):
        some = slice(start, start + size)
        cosines = torch.minimum(left[some].cosines(sample), lowest[some, None])
        parts.append(cosines.sub_(highest).div_(temperature).exp_().mean(1))
    return torch.cat(parts).double() * (scores.shape[1] - counts)


def balance(scores: SparseScores, sweeps: int, rest: tuple[Tensor, Tensor] | None = None) -> SparseScores:
    """Scales rows and columns at once, by half of what each asks for, so that a pair of KGs has the same from both.

    rest: what each row and each column gives away besides, before scaling.
    """
    turned = scores.transposed()
    values = scores.values.double()
    rest_of_rows, rest_of_columns = rest if rest is not None else (values.new_zeros(1), values.new_zeros(1))
    there = csr(scores.starts, scores.column, values, scores.shape)
    back = csr(turned.starts, turned.column, turned.values.double(), turned.shape)
    of_rows, of_columns = values.new_ones(scores.shape[0]), values.new_ones(scores.shape[1])
    share_of_row, share_of_column = _shares(scores), _shares(turned)
    for _ in range(sweeps):  # what is given away goes to factors in the middle of all
        row_sums = there @ of_columns + rest_of_rows * (of_columns.log() @ share_of_column).exp()
        column_sums = back @ of_rows + rest_of_columns * (of_rows.log() @ share_of_row).exp()
        of_rows = torch.where(share_of_row > 0, (of_rows / row_sums.clamp(min=1e-200)).sqrt(), 1.0)
        of_columns = torch.where(share_of_column > 0, (of_columns / column_sums.clamp(min=1e-200)).sqrt(), 1.0)
    return scores.with_values(
        (values * of_rows.index_select(0, scores.row) * of_columns.index_select(0, scores.column)).float()
    )


def _shares(scores: SparseScores) -> Tensor:
    """For each row its share in a mean over the rows that have candidates."""
    known = (scores.starts[1:] > scores.starts[:-1]).double()
    return known / known.sum().clamp(min=1)


def products(first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor], columns: int) -> tuple[Tensor, Tensor]:
    """Paths through a third KG: keys and values of the product of two matrices, each given as its best by row.

    first: for each row the best candidates in the third KG, (rows, n); second: for each of those the best in the
    target. Keys may repeat; their values are to be added up.
    """
    via, score = first
    target, further = (part[via.clamp(min=0)] for part in second)  # (rows, n, n)
    value = score[:, :, None] * further
    row = torch.arange(len(via), device=via.device)[:, None, None]
    kept = (via[:, :, None] != ABSENT) & (target != ABSENT) & (value > NEGLIGIBLE)
    return (row * columns + target)[kept], value[kept]
