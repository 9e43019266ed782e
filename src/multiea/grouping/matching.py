"""Mutual best matches of all pairs of KGs, joined greedily by score into groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from multiea.data.groups import ABSENT, Groups
from multiea.similarity.matrices import Matrix, blocks
from multiea.similarity.sparse_scores import NEGLIGIBLE, SparseScores

Scores = Mapping[tuple[int, int], Matrix]


@dataclass(frozen=True)
class FoundGroups:
    """Groups with the confidence of each member, (groups, M), zero where a KG has none; the surest group first.

    of_pairs: how probably each two members are the same, (groups, M, M), not a number where one is absent. matched:
    whether they are each other's best, (groups, M, M); other pairs of a group follow from those that are.
    """

    groups: Groups
    confidence: np.ndarray
    of_pairs: np.ndarray
    matched: np.ndarray

    @classmethod
    def of_members(cls, groups: Groups, confidence: np.ndarray) -> FoundGroups:
        """Where only members' confidences are known: a pair is as sure as the less sure of the two, and matched."""
        both = groups.present[:, :, None] & groups.present[:, None, :] & ~np.eye(groups.members.shape[1], dtype=bool)
        of_pairs = np.where(both, np.minimum(confidence[:, :, None], confidence[:, None, :]), np.nan)
        return cls(groups, confidence, of_pairs, both)

    def take(self, rows: np.ndarray) -> FoundGroups:
        """Some of the groups, by number or by a mask."""
        return FoundGroups(self.groups.take(rows), self.confidence[rows], self.of_pairs[rows], self.matched[rows])

    def joined(self, others: FoundGroups) -> FoundGroups:
        """These and others, in this order."""
        parts = ((getattr(self, name), getattr(others, name)) for name in ("confidence", "of_pairs", "matched"))
        return FoundGroups(self.groups.joined(others.groups), *map(np.concatenate, parts))

    def over(self, kg_names: Sequence[str]) -> FoundGroups:
        """The same with the KGs in another order."""
        columns = [self.groups.kg_names.index(name) for name in kg_names]
        groups = Groups(tuple(kg_names), self.groups.members[:, columns])
        of_pairs, matched = (part[:, columns][:, :, columns] for part in (self.of_pairs, self.matched))
        return FoundGroups(groups, self.confidence[:, columns], of_pairs, matched)


@dataclass(frozen=True)
class Matches:
    """Pairs of candidates that are each other's single best, the best score first.

    left, right: numbers of candidates, KG after KG; score: (matches,). owner, position: of each candidate its KG and
    its position there.
    """

    left: np.ndarray
    right: np.ndarray
    score: np.ndarray
    owner: np.ndarray
    position: np.ndarray

    def members(self, candidates: np.ndarray, row: np.ndarray, kgs: int) -> np.ndarray:
        """Candidates as rows of groups, (rows, kgs): each goes to the row that is given for it."""
        members = np.full((row.max(initial=-1) + 1, kgs), ABSENT, dtype=np.int32)
        members[row, self.owner[candidates]] = self.position[candidates]
        return members


def mutual_matches(
    scores: Scores, pools: Sequence[np.ndarray], places: Sequence[np.ndarray], repeating: Sequence[int] = ()
) -> Matches:
    """All pairs that are each other's single best.

    pools: for each KG the positions of its candidates. places: for each KG its entities' places in an order of names,
    which settles equal scores. A best score shared by two candidates is no match, but for those of repeating KGs, which
    may be the same: of them the first by name counts. The order in which entities came never decides.
    """
    offsets = np.cumsum([0, *map(len, pools)])
    left, right, score = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.float32)]
    for a, b in combinations(range(len(pools)), 2):
        if not len(pools[a]) or not len(pools[b]):
            continue
        there, best = single_best(scores[a, b], ties=b in repeating)
        back, _ = single_best(scores[b, a], ties=a in repeating)
        rows = np.flatnonzero(there != ABSENT)
        rows = rows[back[there[rows]] == rows]
        left.append(rows + offsets[a])
        right.append(there[rows] + offsets[b])
        score.append(best[rows])
    ones, others, sureness = np.concatenate(left), np.concatenate(right), np.concatenate(score)
    by_name = np.concatenate([place[pool] for place, pool in zip(places, pools, strict=True)])
    ends = np.sort(np.stack([by_name[ones], by_name[others]]), axis=0)
    order = np.lexsort([ends[1], ends[0], -sureness])
    owner = np.repeat(np.arange(len(pools)), [len(pool) for pool in pools])
    return Matches(ones[order], others[order], sureness[order], owner, np.concatenate(pools))


def joined(matches: Matches, kg_names: tuple[str, ...]) -> Groups:
    """Groups of matched candidates; of contradictory matches the one with the better score wins."""
    member_of = _greedily_joined(matches)
    inside = member_of[matches.left] == member_of[matches.right]
    candidates = np.unique(np.concatenate([matches.left[inside], matches.right[inside]]))
    _, row = np.unique(member_of[candidates], return_inverse=True)
    return Groups(kg_names, matches.members(candidates, row, len(kg_names)))


def closed(matches: Matches, kg_names: tuple[str, ...]) -> tuple[Groups, np.ndarray]:
    """Groups all of whose pairs are matches and that no further match touches, with the weakest score of each."""
    component = _components(matches)
    sizes = np.bincount(component)
    edges = np.bincount(component[matches.left], minlength=len(sizes))
    weakest = np.full(len(sizes), np.inf)
    np.minimum.at(weakest, component[matches.left], matches.score)
    is_closed = (sizes > 1) & (edges == sizes * (sizes - 1) // 2)
    candidates = np.flatnonzero(is_closed[component])
    found, row = np.unique(component[candidates], return_inverse=True)
    return Groups(kg_names, matches.members(candidates, row, len(kg_names))), weakest[found]


def matched_inside(groups: Groups, matches: Matches) -> np.ndarray:
    """Which pairs of members are matches themselves, (groups, M, M)."""
    kgs = groups.members.shape[1]
    group_of = np.full(len(matches.owner), ABSENT)
    for kg in range(kgs):
        rows = np.flatnonzero(groups.present[:, kg])
        own = np.flatnonzero(matches.owner == kg)
        group_of[own[_places(matches.position[own], groups.members[rows, kg])]] = rows
    inside = (group_of[matches.left] != ABSENT) & (group_of[matches.left] == group_of[matches.right])
    result = np.zeros((len(groups), kgs, kgs), dtype=bool)
    row, left, right = (part[inside] for part in (group_of[matches.left], matches.left, matches.right))
    result[row, matches.owner[left], matches.owner[right]] = True
    return result | result.transpose(0, 2, 1)


def scores_inside(groups: Groups, scores: Scores, pools: Sequence[np.ndarray]) -> np.ndarray:
    """The score of each pair of members, (groups, M, M), not a number where one is absent."""
    kgs = len(pools)
    result = np.full((len(groups), kgs, kgs), np.nan, dtype=np.float32)
    for a, b in combinations(range(kgs), 2):
        both = np.flatnonzero(groups.present[:, a] & groups.present[:, b])
        rows, columns = (_places(pools[kg], groups.members[both, kg]) for kg in (a, b))
        matrix = scores[a, b]
        if isinstance(matrix, SparseScores):
            device = matrix.row.device
            values = matrix.at(torch.from_numpy(rows).to(device), torch.from_numpy(columns).to(device)).cpu().numpy()
        else:
            values = _looked_up(matrix, rows, columns)
        result[both, a, b] = result[both, b, a] = values
    return result


def _looked_up(matrix: Matrix, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    values = np.empty(len(rows), np.float32)
    size = max(1, (1 << 24) // max(1, matrix.shape[1]))
    for start in range(0, len(rows), size):
        which = torch.from_numpy(rows[start : start + size])
        block = matrix.rows(which)
        column = torch.from_numpy(columns[start : start + size]).to(block.device)
        values[start : start + size] = block.gather(1, column[:, None])[:, 0].float().cpu().numpy()
    return values


def _places(pool: np.ndarray, members: np.ndarray) -> np.ndarray:
    place = np.zeros(pool.max(initial=-1) + 1, dtype=np.int64)
    place[pool] = np.arange(len(pool))
    return np.asarray(place[members])


def single_best(matrix: Matrix, *, ties: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """For each row the column of its best score and that score; -1 where there is none worth speaking of.

    Where two columns share it: -1, or the first if ties are welcome.
    """
    if isinstance(matrix, SparseScores):
        columns, scores = matrix.best(2, above=NEGLIGIBLE)
        single = (ties | (scores[:, 0] > scores[:, 1])) & (scores[:, 0] > 0)
        return torch.where(single, columns[:, 0], ABSENT).cpu().numpy(), scores[:, 0].float().cpu().numpy()
    of_blocks, best = [], []
    for _, block in blocks(matrix):
        top = block.topk(min(2, block.shape[1]), dim=1)
        is_only = block.shape[1] == 1
        single = (top.values[:, 0] > top.values[:, -1]) | is_only | ties
        of_blocks.append(torch.where(single, block.argmax(1) if ties else top.indices[:, 0], ABSENT).cpu())
        best.append(top.values[:, 0].float().cpu())
    return _numpy(of_blocks), _numpy(best)


def _numpy(parts: list[Tensor]) -> np.ndarray:
    return torch.cat(parts).numpy()


def _components(matches: Matches) -> np.ndarray:
    size = len(matches.owner)
    edges = (np.ones(len(matches.left), dtype=bool), (matches.left, matches.right))
    return np.asarray(connected_components(coo_array(edges, shape=(size, size)), directed=False)[1])


def _greedily_joined(matches: Matches) -> np.ndarray:
    """For each candidate the number of its group; matches that would put two of one KG together are not followed."""
    size, owner = len(matches.owner), matches.owner
    component = _components(matches)
    pairs = np.unique(np.stack([component, owner]), axis=1, return_counts=True)
    conflicted = np.zeros(component.max(initial=-1) + 1, dtype=bool)
    conflicted[pairs[0][0][pairs[1] > 1]] = True
    member_of = component.astype(np.int64)
    inside = np.flatnonzero(conflicted[component])  # few: only there must the order of matches decide
    member_of[inside] = size + inside  # each alone at first
    kgs_of = {int(size + place): {int(owner[place])} for place in inside}
    members = {int(size + place): [int(place)] for place in inside}
    for at in np.flatnonzero(conflicted[component[matches.left]]):
        one, other = int(member_of[matches.left[at]]), int(member_of[matches.right[at]])
        if one != other and not kgs_of[one] & kgs_of[other]:
            kgs_of[one] |= kgs_of.pop(other)
            moved = members.pop(other)
            members[one] += moved
            member_of[moved] = one
    return member_of
