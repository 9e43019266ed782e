"""LargeScores: the scores of all pairs of large KGs, a matrix for each pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

import numpy as np

from multiea.similarity.row_scores import RowScores

Pair = tuple[int, int]


class LargeScores(Mapping[Pair, RowScores]):
    """The scores of all ordered pairs of KGs, of which those with rising numbers are kept.

    order: the present number of each KG, where KGs are asked for by other numbers.
    """

    def __init__(
        self, kept: Mapping[Pair, RowScores], sizes: Sequence[int], order: Sequence[int] | None = None
    ) -> None:
        self._kept, self._sizes = kept, tuple(sizes)
        self._order = tuple(range(len(sizes)) if order is None else order)

    def renumbered(self, order: Sequence[int]) -> LargeScores:
        """The same scores, where KGs have other numbers; order: the present number of each new one."""
        return LargeScores(self._kept, self._sizes, [self._order[kg] for kg in order])

    def __getitem__(self, pair: Pair) -> RowScores:
        a, b = (self._order[kg] for kg in pair)
        if (min(a, b), max(a, b)) not in self._kept:
            nothing = np.zeros(self._sizes[a] + 1, np.int64)
            return RowScores(nothing, np.empty(0, np.int32), np.empty(0, np.float32), (self._sizes[a], self._sizes[b]))
        return self._kept[a, b] if a < b else self._kept[b, a].transposed()

    def __iter__(self) -> Iterator[Pair]:
        return iter(permutations(range(len(self._sizes)), 2))

    def __len__(self) -> int:
        return len(self._sizes) * (len(self._sizes) - 1)
