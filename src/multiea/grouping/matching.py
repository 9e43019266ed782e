"""Matching: mutual best matches of all pairs of KGs, joined greedily by score into groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from multiea.data.groups import ABSENT, Groups
from multiea.foundation.offsets import offsets
from multiea.similarity.block_scores import BlockScores
from multiea.similarity.matrices import Matrix
from multiea.similarity.pools import positions_in_pool

Scores = Mapping[tuple[int, int], Matrix]
MANY_PAIRS = 1 << 20  # from so many on, a kernel joins them


@dataclass(frozen=True)
class Matches:
    """Pairs of candidates that are each other's single best match, the best score first.

    left, right: numbers of candidates, counted KG after KG; score: (matches,). owner, position: of each candidate its
    KG and its position there.
    """

    left: np.ndarray
    right: np.ndarray
    score: np.ndarray
    owner: np.ndarray
    position: np.ndarray

    def above(self, least: float) -> Matches:
        """The matches with at least this score."""
        return self.take(self.score >= least)

    def take(self, kept: np.ndarray) -> Matches:
        """Some of the matches, given by a mask."""
        return Matches(self.left[kept], self.right[kept], self.score[kept], self.owner, self.position)

    def members(self, candidates: np.ndarray, row: np.ndarray, kgs: int) -> np.ndarray:
        """Candidates as rows of groups, (rows, kgs); row: the group of each candidate."""
        members = np.full((row.max(initial=-1) + 1, kgs), ABSENT, dtype=np.int32)
        members[row, self.owner[candidates]] = self.position[candidates]
        return members


def mutual_matches(scores: Scores, pools: Sequence[np.ndarray], with_duplicates: Sequence[int] = ()) -> Matches:
    """All pairs that are each other's single best match.

    pools: for each KG the positions of its candidates, in canonical order, which decides between equal scores. A best
    score that two candidates share is not a match, except in KGs with duplicates, which may be the same entity: there
    the first candidate counts.
    """
    if isinstance(scores, BlockScores):
        left, right, score = _mutual_best_of_blocks(scores, with_duplicates)
    else:
        left, right, score = _mutual_best_of_matrices(scores, pools, with_duplicates)
    order = np.lexsort((right, left, -score))
    owner = np.repeat(np.arange(len(pools)), [len(pool) for pool in pools])
    return Matches(left[order], right[order], score[order], owner, np.concatenate(pools))


def _mutual_best_of_blocks(
    scores: BlockScores, with_duplicates: Sequence[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    layout = scores.layout
    assert scores.order == tuple(range(layout.kgs)), "matches have the numbers of the canonical order"
    best, score = (part.numpy() for part in scores.best(with_duplicates))
    place = np.flatnonzero(best != ABSENT)
    left, right = place // layout.kgs, best[place].astype(np.int64)
    place, left, right = (part[left < right] for part in (place, left, right))
    mutual = best[right * layout.kgs + layout.kg.cpu().numpy()[left]] == left
    return left[mutual], right[mutual], score[place[mutual]]


def _mutual_best_of_matrices(
    scores: Scores, pools: Sequence[np.ndarray], with_duplicates: Sequence[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    starts = offsets(map(len, pools))
    left, right, score = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.float32)]
    for a, b in combinations(range(len(pools)), 2):
        if not len(pools[a]) or not len(pools[b]):
            continue
        best_columns, best_scores = scores[a, b].best_columns(allow_ties=b in with_duplicates)
        best_of_a, best_score = best_columns.numpy(), best_scores.numpy()
        best_of_b = scores[b, a].best_columns(allow_ties=a in with_duplicates)[0].numpy()
        rows = np.flatnonzero(best_of_a != ABSENT)
        rows = rows[best_of_b[best_of_a[rows]] == rows]
        left.append(rows + starts[a])
        right.append(best_of_a[rows] + starts[b])
        score.append(best_score[rows])
    return np.concatenate(left), np.concatenate(right), np.concatenate(score)


def join_matches(matches: Matches, kg_names: tuple[str, ...]) -> Groups:
    """Groups of matched candidates; of contradictory matches the one with the better score wins."""
    group = _greedy_groups(matches)
    inside = group[matches.left] == group[matches.right]
    is_matched = np.zeros(len(matches.owner), dtype=bool)
    is_matched[matches.left[inside]] = is_matched[matches.right[inside]] = True
    candidates = np.flatnonzero(is_matched)
    is_used = np.zeros(group.max(initial=-1) + 1, dtype=bool)
    is_used[group[candidates]] = True
    row = (np.cumsum(is_used) - 1)[group[candidates]]
    return Groups(kg_names, matches.members(candidates, row, len(kg_names)))


def cliques(matches: Matches, kg_names: tuple[str, ...]) -> tuple[Groups, np.ndarray]:
    """Groups in which every pair is a match and that no other match touches, with the weakest score of each."""
    component = _components(matches)
    sizes = np.bincount(component)
    edges = np.bincount(component[matches.left], minlength=len(sizes))
    weakest = np.full(len(sizes), np.inf)
    np.minimum.at(weakest, component[matches.left], matches.score)
    is_clique = (sizes > 1) & (edges == sizes * (sizes - 1) // 2)
    candidates = np.flatnonzero(is_clique[component])
    found, row = np.unique(component[candidates], return_inverse=True)
    return Groups(kg_names, matches.members(candidates, row, len(kg_names))), weakest[found]


def total_scores(matches: Matches, scores: Scores, pools: Sequence[np.ndarray], repeating: Sequence[int]) -> np.ndarray:
    """The scores of matches; of an entity with KGs that repeat entities its total with such a KG, (matches,).

    Repeated entities share the score of their counterpart; its total says whether it has a counterpart at all.
    """
    starts, total = offsets(map(len, pools)), matches.score.copy()
    if not len(repeating):
        return total
    owners = matches.owner[matches.left], matches.owner[matches.right]
    for a, b in combinations(range(len(pools)), 2):
        own = np.flatnonzero((owners[0] == a) & (owners[1] == b))
        for one, other, end in ((a, b, matches.left), (b, a, matches.right)):
            if other in repeating and len(own):
                sums = scores[one, other].row_sums().numpy()
                total[own] = np.maximum(total[own], sums[end[own] - starts[one]])
    return total


def matched_inside(groups: Groups, matches: Matches) -> np.ndarray:
    """Which pairs of members are matches themselves, (groups, M, M)."""
    kgs, group_of = groups.members.shape[1], group_of_candidates(groups, matches)
    inside = (group_of[matches.left] != ABSENT) & (group_of[matches.left] == group_of[matches.right])
    result = np.zeros((len(groups), kgs, kgs), dtype=bool)
    row, left, right = (part[inside] for part in (group_of[matches.left], matches.left, matches.right))
    result[row, matches.owner[left], matches.owner[right]] = True
    return result | result.transpose(0, 2, 1)


def group_of_candidates(groups: Groups, matches: Matches) -> np.ndarray:
    """The group of each candidate, by row, -1 without one."""
    group_of = np.full(len(matches.owner), ABSENT)
    for kg in range(groups.members.shape[1]):
        rows = np.flatnonzero(groups.present[:, kg])
        own = np.flatnonzero(matches.owner == kg)
        group_of[own[positions_in_pool(matches.position[own], groups.members[rows, kg])]] = rows
    return group_of


def scores_inside(groups: Groups, scores: Scores, pools: Sequence[np.ndarray]) -> np.ndarray:
    """The score of each pair of members, (groups, M, M), NaN where one is absent."""
    kgs = len(pools)
    result = np.full((len(groups), kgs, kgs), np.nan, dtype=np.float32)
    if isinstance(scores, BlockScores):
        places = [positions_in_pool(pool, members) for pool, members in zip(pools, groups.members.T, strict=True)]
        joint = np.stack([place + scores.offset(kg) for kg, place in enumerate(places)], axis=1)
        row, one, other = np.nonzero(np.triu(groups.present[:, :, None] & groups.present[:, None, :], 1))
        ends = (torch.from_numpy(joint[row, kg]).to(scores.score.device) for kg in (one, other))
        result[row, one, other] = result[row, other, one] = scores.at(*ends).float().cpu().numpy()
        return result
    for a, b in combinations(range(kgs), 2):
        both = np.flatnonzero(groups.present[:, a] & groups.present[:, b])
        rows, columns = (torch.from_numpy(positions_in_pool(pools[kg], groups.members[both, kg])) for kg in (a, b))
        result[both, a, b] = result[both, b, a] = scores[a, b].at(rows, columns).numpy()
    return result


def _components(matches: Matches) -> np.ndarray:
    size = len(matches.owner)
    edges = (np.ones(len(matches.left), dtype=bool), (matches.left, matches.right))
    return np.asarray(connected_components(coo_array(edges, shape=(size, size)), directed=False)[1])


def _greedy_groups(matches: Matches) -> np.ndarray:
    """The group of each candidate; matches that would put two candidates of one KG together are ignored."""
    size, owner = len(matches.owner), matches.owner
    component = _components(matches)
    kgs = int(owner.max(initial=0)) + 1
    member = np.sort(component.astype(np.int64) * kgs + owner)
    conflicted = np.zeros(component.max(initial=-1) + 1, dtype=bool)
    conflicted[member[1:][member[1:] == member[:-1]] // kgs] = True
    group = component.astype(np.int64)
    inside = np.flatnonzero(conflicted[component])  # few: only there the order of matches decides
    local = np.full(size, ABSENT, dtype=np.int64)
    local[inside] = np.arange(len(inside))
    matched = np.flatnonzero(conflicted[component[matches.left]])
    joined = _joined_in_order(local[matches.left[matched]], local[matches.right[matched]], owner[inside])
    group[inside] = size + inside[joined]
    return group


def _joined_in_order(left: np.ndarray, right: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """The first candidate of the group of each one, (n,), when pairs are joined one after the other.

    A pair that would put two candidates of one KG together is left out; owner: the KG of each candidate.
    """
    if len(left) >= MANY_PAIRS:
        from multiea.kernels.joining import joined_in_order  # deferred: few pairs need no numba

        return joined_in_order(left, right, owner)
    parent = list(range(len(owner)))
    kgs_of = [1 << kg for kg in owner.tolist()]  # a bit for each KG in the group

    def first_of(candidate: int) -> int:
        while parent[candidate] != candidate:
            parent[candidate] = candidate = parent[parent[candidate]]
        return candidate

    for one, other in zip(left.tolist(), right.tolist(), strict=True):
        one, other = first_of(one), first_of(other)
        if one != other and not kgs_of[one] & kgs_of[other]:
            kgs_of[one] |= kgs_of[other]
            parent[other] = one
    return np.array([first_of(candidate) for candidate in range(len(parent))], dtype=np.int64)
