"""Mutual best matches of all pairs of KGs, joined greedily by confidence into groups."""

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


@dataclass(frozen=True)
class FoundGroups:
    """Groups with the confidence of each member, (groups, M), zero where a KG has none; the surest group first."""

    groups: Groups
    confidence: np.ndarray


def group_mutual_matches(
    scores: Mapping[tuple[int, int], Matrix],
    pools: Sequence[np.ndarray],
    kg_names: tuple[str, ...],
    places: Sequence[np.ndarray],
) -> FoundGroups:
    """Joins entities that are each other's single best match; of contradictory matches the surer one wins.

    pools: for each KG the positions of its candidates. places: for each KG its entities' places in an order of names,
    which settles equal confidences. A best score shared by two candidates is no match: the order in which
    entities came never decides.
    """
    offsets = np.cumsum([0, *map(len, pools)])
    left, right, confidence = [], [], []
    for a, b in combinations(range(len(pools)), 2):
        if not len(pools[a]) or not len(pools[b]):
            continue
        there, score = _single_best(scores[a, b])
        back, _ = _single_best(scores[b, a])
        rows = np.flatnonzero(there != ABSENT)
        rows = rows[back[there[rows]] == rows]
        left.append(rows + offsets[a])
        right.append(there[rows] + offsets[b])
        confidence.append(score[rows])
    by_name = np.concatenate([place[pool] for place, pool in zip(places, pools, strict=True)])
    ones, others, sureness = (np.concatenate([*parts, []]) for parts in (left, right, confidence))
    matches = _Matches(ones, others, sureness, by_name)
    owner = np.repeat(np.arange(len(pools)), [len(pool) for pool in pools])
    member_of = _joined(matches, owner)
    return _as_groups(matches, member_of, owner, np.concatenate(pools), kg_names)


class _Matches:
    """Matches by joint number, the surest first; of equally sure ones the first by name."""

    def __init__(self, left: np.ndarray, right: np.ndarray, confidence: np.ndarray, by_name: np.ndarray) -> None:
        left, right = left.astype(np.int64), right.astype(np.int64)
        ends = np.sort(np.stack([by_name[left], by_name[right]]), axis=0)
        order = np.lexsort([ends[1], ends[0], -confidence])
        self.left, self.right = left[order], right[order]
        self.confidence = np.clip(confidence[order], 0, 1)


def _single_best(matrix: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """For each row the column of its best score and that score; -1 where two columns share it."""
    columns, scores = [], []
    for _, block in blocks(matrix):
        top = block.topk(min(2, block.shape[1]), dim=1)
        is_only = block.shape[1] == 1
        single = (top.values[:, 0] > top.values[:, -1]) | is_only
        columns.append(torch.where(single, top.indices[:, 0], ABSENT).cpu())
        scores.append(top.values[:, 0].float().cpu())
    return _numpy(columns), _numpy(scores)


def _numpy(parts: list[Tensor]) -> np.ndarray:
    return torch.cat(parts).numpy()


def _joined(matches: _Matches, owner: np.ndarray) -> np.ndarray:
    """For each candidate the number of its group; matches that would put two of one KG together are not followed."""
    size = len(owner)
    edges = (np.ones(len(matches.left), dtype=bool), (matches.left, matches.right))
    _, component = connected_components(coo_array(edges, shape=(size, size)), directed=False)
    pairs = np.unique(np.stack([component, owner]), axis=1, return_counts=True)
    conflicted = np.zeros(component.max(initial=-1) + 1, dtype=bool)
    conflicted[pairs[0][0][pairs[1] > 1]] = True
    member_of = component.copy()
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


def _as_groups(
    matches: _Matches, member_of: np.ndarray, owner: np.ndarray, positions: np.ndarray, kg_names: tuple[str, ...]
) -> FoundGroups:
    """Groups of two or more, with each member's confidence: the mean of its matches inside the group."""
    inside = member_of[matches.left] == member_of[matches.right]
    total, count = np.zeros(len(owner)), np.zeros(len(owner))
    for ends in (matches.left[inside], matches.right[inside]):
        np.add.at(total, ends, matches.confidence[inside])
        np.add.at(count, ends, 1)
    joined = np.flatnonzero(count)
    _, row = np.unique(member_of[joined], return_inverse=True)
    members = np.full((row.max(initial=-1) + 1, len(kg_names)), ABSENT, dtype=np.int32)
    confidence = np.zeros(members.shape)
    members[row, owner[joined]] = positions[joined]
    confidence[row, owner[joined]] = total[joined] / count[joined]
    mean = confidence.sum(1) / np.maximum((members != ABSENT).sum(1), 1)
    order = np.argsort(-mean, kind="stable")
    return FoundGroups(Groups(kg_names, members[order]), confidence[order])
