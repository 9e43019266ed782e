"""Anchors: pairs of entities that are probably the same, from which corresponding numbers are learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import scipy.sparse as sp

from multiea.data.groups import Groups

Anchors = Mapping[tuple[int, int], tuple[np.ndarray, np.ndarray]]
LEAST_SIMILARITY = 0.5
LEAST_MARGIN = 0.05  # to the second best candidate
MOST_ANCHORS = 4000  # of two KGs: more would not say more


def are_enough(anchors: Anchors, kgs: int) -> bool:
    """Whether each two of so many KGs have as many anchors as are used."""
    return len(anchors) == kgs * (kgs - 1) // 2 and all(len(left) >= MOST_ANCHORS for left, _ in anchors.values())


def find_anchors(kinds: Sequence[Mapping[tuple[int, int], sp.csr_array]], seeds: Groups) -> Anchors:
    """Seeds, and each other's clearly best match by the mean similarity; kinds: the similarities of each kind."""
    anchors: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
    for a, b in kinds[0] if kinds else ():
        total = kinds[0][a, b]
        for kind in kinds[1:]:
            total = (total + kind[a, b]).tocsr()
        left, right = mutual_best((total / len(kinds)).tocsr(), LEAST_SIMILARITY, LEAST_MARGIN)
        both = seeds.present[:, a] & seeds.present[:, b]
        anchors[a, b] = (np.r_[seeds.members[both, a], left], np.r_[seeds.members[both, b], right])
    return anchors


def mutual_best(similarity: sp.csr_array, least: float, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Pairs that are each other's best by a margin, and similar enough: rows and columns."""
    best_of_rows = _clear_best(similarity, margin)
    best_of_columns = _clear_best(similarity.T.tocsr(), margin)
    row = np.flatnonzero(best_of_rows[0] >= 0)
    column = best_of_rows[0][row]
    kept = (best_of_columns[0][column] == row) & (best_of_rows[1][row] >= least)
    return row[kept], column[kept]


def _clear_best(similarity: sp.csr_array, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """For each row its best column and that value; -1 where another column comes as close as the margin."""
    row = np.repeat(np.arange(similarity.shape[0]), np.diff(similarity.indptr))
    order = np.lexsort((-similarity.data, row))
    ordered = row[order]
    start = np.searchsorted(ordered, np.arange(similarity.shape[0] + 1))
    has_one, has_two = np.diff(start) > 0, np.diff(start) > 1
    column, value = np.full(similarity.shape[0], -1), np.zeros(similarity.shape[0], np.float32)
    first = order[start[:-1][has_one]]
    column[has_one], value[has_one] = similarity.indices[first], similarity.data[first]
    second = np.zeros(similarity.shape[0], np.float32)
    second[has_two] = similarity.data[order[start[:-1][has_two] + 1]]
    column[value - second < margin] = -1
    return column, value
