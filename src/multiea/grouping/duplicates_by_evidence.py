"""Duplicates by all evidence: unmatched entities, and groups that repeat another group, join the group they repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import scipy.sparse as sp
import torch

from multiea.data.groups import ABSENT, Groups
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.matching import Matches, Scores, group_of_candidates
from multiea.grouping.repeated_entities import (
    LEAST_PROBABILITY,
    NearestGroups,
    group_rows,
    mean_similarity,
    probability_beyond_chance,
)
from multiea.grouping.roles import may_be_same
from multiea.similarity.mean_similarity import MeanSimilarity
from multiea.similarity.pools import positions_in_pool

CLEAR = 0.5  # the least total score of matches whose groups show how similar members are
ATYPICAL = 0.05  # the share of members that are less similar to their group than a copy may be
# What `auto` asks of a KG: the least probability of copies, their share of the candidates, and their number; of copies
# that are certain by their similarity, or of any.
ENOUGH_CERTAIN, ENOUGH_OF_ANY = (0.8, 0.01, 3), (0.95, 0.03, 5)


@dataclass(frozen=True)
class Copies:
    """Entities of one KG with the group, by row, whose member they probably repeat, (n,) each."""

    entity: np.ndarray
    group: np.ndarray
    probability: np.ndarray

    def take(self, kept: np.ndarray) -> Copies:
        """Some of them."""
        return Copies(self.entity[kept], self.group[kept], self.probability[kept])


class CopyFinder:
    """Finds copies in the KGs of a task. known, groups: seeds, and the groups found; pools: the candidates.

    Seeds count as groups, so that a copy of a member of a seed is not taken for one of a found group. Of groups
    that are not clear nothing is learned, and their members may be copies.
    """

    def __init__(
        self,
        known: Groups,
        groups: Groups,
        is_clear: np.ndarray,
        pools: Sequence[np.ndarray],
        similarity: MeanSimilarity,
        roles: Sequence[sp.csr_array],
    ) -> None:
        self._first, self._all = len(known), known.joined(groups)
        self._is_clear = np.r_[np.ones(len(known), dtype=bool), is_clear, False]  # the last place is for -1
        self._pools, self._similarity, self._roles = pools, similarity, roles
        self._row_of = group_rows(self._all, [len(part) for part in similarity.embeddings])
        self._nearest: dict[int, NearestGroups] = {}

    def unmatched(self, kg: int, repeating: Sequence[int], *, is_certain: bool = False) -> Copies:
        """The candidates of a KG in no clear group that are copies of members of found groups.

        is_certain: only those that are so similar that hardly any is no copy.
        """
        return self._copies(kg, self._in_no_clear_group(kg), repeating, is_certain=is_certain)

    def in_repeated_groups(self, kg: int, repeating: Sequence[int]) -> Copies:
        """The same for members of groups that have members in repeating KGs only: such a group may repeat another."""
        is_inside = ~self._has_other(repeating) & self._is_clear[:-1]
        is_inside[: self._first] = False
        return self._copies(kg, self._all.members[is_inside & self._all.present[:, kg], kg], repeating)

    def _copies(self, kg: int, asked: np.ndarray, repeating: Sequence[int], *, is_certain: bool = False) -> Copies:
        if kg not in self._nearest:
            self._nearest[kg] = NearestGroups.of(kg, self._all, self._similarity)
        nearest = self._nearest[kg]
        matched = self._in_clear_groups(kg)
        elsewhere = matched[self._has_other(repeating)[self._row_of[kg][matched]]]
        some = (self._in_no_clear_group(kg), elsewhere if len(elsewhere) else matched, asked)
        observed, wrong, level = (nearest.similarity[entities] for entities in some)
        probability = probability_beyond_chance(observed, wrong, level)
        row = nearest.group[asked]
        kept = (probability >= LEAST_PROBABILITY) & (row >= self._first)
        kept &= level >= self._least_similarity(kg, wrong, is_certain=is_certain)
        asked, row, probability = asked[kept], row[kept], probability[kept]
        kept = may_be_same(self._roles[kg], asked, self._all.members[row, kg])
        return Copies(asked[kept], row[kept] - self._first, probability[kept])

    def _least_similarity(self, kg: int, wrong: np.ndarray, *, is_certain: bool) -> float:
        """What nearly all matched entities of a KG reach with their group, or half way to it from wrong groups.

        Where all members of groups are equal, a copy with a typo is still far more similar than wrong groups are.
        is_certain: half way to what half of the matched entities reach, which hardly anything reaches by chance.
        """
        matched = self._in_clear_groups(kg)
        own = mean_similarity(kg, matched, self._all, self._row_of[kg][matched], self._similarity)
        if not len(own) or not len(wrong):
            return np.inf
        if is_certain:
            return float((np.median(own) + np.quantile(wrong, 1 - ATYPICAL)) / 2)
        usual = np.quantile(own, ATYPICAL)
        return float(min(usual, (usual + np.median(wrong)) / 2))

    def _in_clear_groups(self, kg: int) -> np.ndarray:
        return np.flatnonzero(self._is_clear[self._row_of[kg]])

    def _in_no_clear_group(self, kg: int) -> np.ndarray:
        pool = self._pools[kg]
        return np.asarray(pool[~self._is_clear[self._row_of[kg][pool]]])

    def _has_other(self, repeating: Sequence[int]) -> np.ndarray:
        """Which groups have a member in a KG that repeats nothing."""
        others = [kg for kg in range(len(self._all.kg_names)) if kg not in repeating]
        return np.asarray(self._all.present[:, others].any(axis=1))


def clear_groups(groups: Groups, matches: Matches, total: np.ndarray) -> np.ndarray:
    """Which groups are clear: the mean over their matches of the total score is high. total: as by total_scores."""
    group_of = group_of_candidates(groups, matches)
    inside = (group_of[matches.left] != ABSENT) & (group_of[matches.left] == group_of[matches.right])
    row = group_of[matches.left[inside]]
    count, sums = (np.bincount(row, weights, minlength=len(groups)) for weights in (None, total[inside]))
    return np.asarray(sums >= CLEAR * np.maximum(count, 1))


def repeating_kgs(finder: CopyFinder, pools: Sequence[np.ndarray]) -> list[int]:
    """The KGs that clearly repeat entities: some copies are too similar for chance, or far more than by chance."""
    chosen = []
    for kg, pool in enumerate(pools):
        for is_certain, (probability, share, fewest) in ((True, ENOUGH_CERTAIN), (False, ENOUGH_OF_ANY)):
            copies = finder.unmatched(kg, (), is_certain=is_certain)
            if np.count_nonzero(copies.probability >= probability) >= max(share * len(pool), fewest):
                chosen.append(kg)
                break
    return chosen


def find_copies(finder: CopyFinder, groups: Groups, kgs: Sequence[int]) -> tuple[Groups, Duplicates]:
    """The groups without those that repeat another one and without copies, and the copies as duplicates of the rest."""
    parts, members = [Duplicates()], groups.members.copy()
    target = _repeated_groups(finder, groups, kgs)
    for kg in kgs:
        copies = finder.unmatched(kg, kgs)
        copies = copies.take(~np.isin(groups.members[copies.group, kg], copies.entity))  # what they repeat must stay
        members[np.isin(members[:, kg], copies.entity), kg] = ABSENT  # of groups that are not clear
        row, entity = copies.group, copies.entity
        row = np.where(target[row] == ABSENT, row, target[row])
        moved = np.flatnonzero((target != ABSENT) & groups.present[:, kg])
        row, entity = np.r_[row, target[moved]], np.r_[entity, groups.members[moved, kg]]
        probability = np.r_[copies.probability, np.full(len(moved), LEAST_PROBABILITY)]
        kept = groups.present[row, kg]
        parts.append(
            Duplicates(row[kept], np.full(int(kept.sum()), kg), entity[kept].astype(np.int32), probability[kept])
        )
    stays = (target == ABSENT) & ((members != ABSENT).sum(axis=1) > 1)
    found, new_row = Duplicates.joined(parts), np.cumsum(stays) - 1
    found = found.take(stays[found.group] & (members[found.group, found.kg] != ABSENT))
    return Groups(groups.kg_names, members[stays]), replace(found, group=new_row[found.group])


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
