"""Duplicates by all evidence: unmatched entities, and groups that repeat another group, join the group they repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import torch

from multiea.data.groups import ABSENT, Groups
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.matching import Scores
from multiea.grouping.repeated_entities import (
    LEAST_PROBABILITY,
    NearestGroups,
    group_rows,
    mean_similarity,
    probability_of_copies,
)
from multiea.similarity.mean_similarity import MeanSimilarity
from multiea.similarity.pools import positions_in_pool

ATYPICAL = 0.05  # the share of members that are less similar to their group than a copy may be
LEAST_SHARE = 0.02  # of the entities of a KG that must be copies for `auto` to choose it


@dataclass(frozen=True)
class Copies:
    """Entities of one KG with the group, by row, whose member they probably repeat, (n,) each."""

    entity: np.ndarray
    group: np.ndarray
    probability: np.ndarray


class CopyFinder:
    """Finds copies in the KGs of a task. known, groups: seeds, and the groups found; pools: the candidates.

    Seeds count as groups, so that a copy of a member of a seed is not taken for one of a found group.
    """

    def __init__(self, known: Groups, groups: Groups, pools: Sequence[np.ndarray], similarity: MeanSimilarity) -> None:
        self._first = len(known)
        self._all = known.joined(groups)
        self._pools, self._similarity = pools, similarity
        self._row_of = group_rows(self._all, [len(part) for part in similarity.embeddings])

    def unmatched(self, kg: int, repeating: Sequence[int]) -> Copies:
        """The unmatched candidates of a KG that are copies of members of found groups."""
        pool = self._pools[kg]
        return self._copies(kg, pool[self._row_of[kg][pool] == ABSENT], repeating)

    def in_repeated_groups(self, kg: int, repeating: Sequence[int]) -> Copies:
        """The same for members of groups that have members in repeating KGs only: such a group may repeat another."""
        is_inside = ~self._has_other(repeating)
        is_inside[: self._first] = False
        return self._copies(kg, self._all.members[is_inside & self._all.present[:, kg], kg], repeating)

    def _copies(self, kg: int, asked: np.ndarray, repeating: Sequence[int]) -> Copies:
        nearest = NearestGroups.of(kg, self._all, self._similarity)
        row_of, pool = self._row_of[kg], self._pools[kg]
        matched = np.flatnonzero(row_of != ABSENT)
        elsewhere = matched[self._has_other(repeating)[row_of[matched]]]
        matched = elsewhere if len(elsewhere) else matched
        probability = probability_of_copies(nearest, pool[row_of[pool] == ABSENT], matched, asked)
        group = nearest.group[asked] - self._first
        kept = (probability >= LEAST_PROBABILITY) & (group >= 0)
        kept &= nearest.similarity[asked] >= self._least_similarity(kg, nearest.similarity[matched])
        return Copies(asked[kept], group[kept], probability[kept])

    def _least_similarity(self, kg: int, wrong: np.ndarray) -> float:
        """What nearly all matched entities of a KG reach with their group, or half way to it from wrong groups.

        Where all members of groups are equal, a copy with a typo is still far more similar than wrong groups are.
        """
        matched = np.flatnonzero(self._row_of[kg] != ABSENT)
        own = mean_similarity(kg, matched, self._all, self._row_of[kg][matched], self._similarity)
        if not len(own) or not len(wrong):
            return np.inf
        usual, by_chance = np.quantile(own, ATYPICAL), np.quantile(wrong, 1 - ATYPICAL)
        return float(min(usual, (usual + by_chance) / 2))

    def _has_other(self, repeating: Sequence[int]) -> np.ndarray:
        """Which groups have a member in a KG that repeats nothing."""
        others = [kg for kg in range(len(self._all.kg_names)) if kg not in repeating]
        return np.asarray(self._all.present[:, others].any(axis=1))


def repeating_kgs(finder: CopyFinder, pools: Sequence[np.ndarray]) -> list[int]:
    """The KGs of which a noticeable share of the candidates are copies of members of groups."""
    return [
        kg for kg, pool in enumerate(pools) if len(finder.unmatched(kg, ()).entity) >= max(LEAST_SHARE * len(pool), 1)
    ]


def find_copies(finder: CopyFinder, groups: Groups, kgs: Sequence[int]) -> tuple[Groups, Duplicates]:
    """The groups without those that repeat another one, and the copies as duplicates of the rest."""
    parts = [Duplicates()]
    target = _repeated_groups(finder, groups, kgs)
    for kg in kgs:
        copies = finder.unmatched(kg, kgs)
        row, entity = copies.group, copies.entity
        row = np.where(target[row] == ABSENT, row, target[row])
        moved = np.flatnonzero((target != ABSENT) & groups.present[:, kg])
        row, entity = np.r_[row, target[moved]], np.r_[entity, groups.members[moved, kg]]
        probability = np.r_[copies.probability, np.full(len(moved), LEAST_PROBABILITY)]
        kept = groups.present[row, kg]
        parts.append(
            Duplicates(row[kept], np.full(int(kept.sum()), kg), entity[kept].astype(np.int32), probability[kept])
        )
    stays = target == ABSENT
    copies_of_all, new_row = Duplicates.joined(parts), np.cumsum(stays) - 1
    return groups.take(stays), replace(copies_of_all, group=new_row[copies_of_all.group])


def _repeated_groups(finder: CopyFinder, groups: Groups, kgs: Sequence[int]) -> np.ndarray:
    """For each group the one that it repeats with all its members, -1 if none; that one repeats no other."""
    votes = np.full((len(groups), len(groups.kg_names)), ABSENT, dtype=np.int64)
    row_of = group_rows(groups, [int(column.max(initial=-1)) + 1 for column in groups.members.T])
    for kg in kgs:
        copies = finder.in_repeated_groups(kg, kgs)
        votes[row_of[kg][copies.entity], kg] = copies.group
    target = votes.max(axis=1, initial=ABSENT)
    is_whole = ((votes == target[:, None]) | ~groups.present).all(axis=1) & (target != ABSENT)
    rank = groups.sizes * len(groups) - np.arange(len(groups))  # of two that repeat each other the larger one stays
    is_whole &= rank[target] > rank
    target = np.where(is_whole, target, ABSENT)
    return np.where((target != ABSENT) & (target[target] == ABSENT), target, ABSENT)


def summed_scores(
    inside: np.ndarray, groups: Groups, duplicates: Duplicates, scores: Scores, pools: Sequence[np.ndarray]
) -> np.ndarray:
    """The scores of all pairs of members, (groups, M, M), with those of their copies added.

    Copies compete for the same counterpart, so that each of them has only a part of its score.
    """
    result = inside.copy()
    every = [
        (
            np.r_[np.flatnonzero(groups.present[:, kg]), duplicates.group[duplicates.kg == kg]],
            np.r_[groups.members[groups.present[:, kg], kg], duplicates.entity[duplicates.kg == kg]],
        )
        for kg in range(len(pools))
    ]
    for a, b in combinations(range(len(pools)), 2):
        if not np.isin((a, b), duplicates.kg).any():
            continue
        one, other = _pairs_of_groups(every[a][0], every[b][0], len(groups))
        ends = (
            torch.from_numpy(positions_in_pool(pools[kg], every[kg][1][some])) for kg, some in ((a, one), (b, other))
        )
        values = scores[a, b].at(*ends).double().numpy()
        total = np.bincount(every[a][0][one], values, minlength=len(groups))
        both = ~np.isnan(inside[:, a, b])
        result[both, a, b] = result[both, b, a] = np.minimum(total[both], 1)
    return result


def _pairs_of_groups(left: np.ndarray, right: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of places of two lists that have the same group."""
    order = np.argsort(right, kind="stable")
    counts = np.bincount(right, minlength=groups)
    starts = np.cumsum(counts) - counts
    repeated = np.repeat(np.arange(len(left)), counts[left])
    within = np.arange(len(repeated)) - np.repeat(np.cumsum(counts[left]) - counts[left], counts[left])
    return repeated, order[starts[left[repeated]] + within]
