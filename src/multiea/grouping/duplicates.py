"""Duplicates: further entities of a KG that mean the same as its member of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from multiea.data.groups import ABSENT, Groups
from multiea.engines.embeddings import Embeddings
from multiea.grouping.found_groups import FoundGroups
from multiea.grouping.matching import Scores
from multiea.similarity.matrices import BLOCK_NUMBERS, Matrix

LEAST_RATIO = 0.8  # similarity of a duplicate to the other members, relative to that of the group's own member


def _none(dtype: type) -> np.ndarray:
    return np.empty(0, dtype)


@dataclass(frozen=True)
class Duplicates:
    """Entities that mean the same as the member of a group in their own KG, (n,) each.

    group: the row of the found group; kg, entity: the number of the KG and the position there; confidence: that of the
    member, times the similarity of the entity to the other members relative to that of the member.
    """

    group: np.ndarray = field(default_factory=lambda: _none(np.int64))
    kg: np.ndarray = field(default_factory=lambda: _none(np.int64))
    entity: np.ndarray = field(default_factory=lambda: _none(np.int32))
    confidence: np.ndarray = field(default_factory=lambda: _none(np.float64))

    def __len__(self) -> int:
        return len(self.group)

    def take(self, kept: np.ndarray) -> Duplicates:
        """Some of the duplicates, given by a mask."""
        return Duplicates(self.group[kept], self.kg[kept], self.entity[kept], self.confidence[kept])

    def renumbered(self, positions: Sequence[np.ndarray], columns: Sequence[int]) -> Duplicates:
        """The same over renumbered entities and KGs; positions, columns: as in FoundGroups.renumbered."""
        kg, entity = self.kg.copy(), self.entity.copy()
        for new, old in enumerate(columns):
            own = self.kg == old
            kg[own], entity[own] = new, positions[old][self.entity[own]]
        return Duplicates(self.group, kg, entity, self.confidence)

    def following(self, before: Groups, found: FoundGroups) -> Duplicates:
        """The same for groups that were calibrated: rows of those found; what lost its group or member is left out.

        confidence: so far the probability to be a copy of the member, from now on times the confidence of the member.
        """
        member = before.members[self.group, self.kg]
        row = found.groups.rows_of(before.members)  # (groups, M)
        row = row[self.group, self.kg] if len(before) else self.group
        kept = (member != ABSENT) & (row != ABSENT)
        group, kg = row[kept], self.kg[kept]
        return Duplicates(group, kg, self.entity[kept], self.confidence[kept] * found.confidence[group, kg])

    @classmethod
    def joined(cls, parts: Sequence[Duplicates]) -> Duplicates:
        """The duplicates of several parts."""
        columns = zip(*((part.group, part.kg, part.entity, part.confidence) for part in parts), strict=True)
        return cls(*map(np.concatenate, columns))


def find_duplicates(
    found: FoundGroups,
    scores: Scores,
    pools: Sequence[np.ndarray],
    embeddings: Sequence[Embeddings],
    seeds: Groups,
    kgs: Sequence[int],
) -> Duplicates:
    """Unmatched candidates of some KGs that belong to a found group as duplicates.

    embeddings: of all entities, KG by KG. All best candidates of a duplicate that are in groups must be in the same
    group, which has a member of its KG, and it must be nearly as similar to the group's other members as that member.
    An entity that is more similar to members of seeds is not a duplicate of a found group.
    """
    parts = [Duplicates()]
    members = found.groups.members
    for kg in kgs:
        others = [other for other in range(len(pools)) if other != kg]
        unmatched = np.flatnonzero(~np.isin(pools[kg], members[:, kg]))
        group = _agreed([_group_of_best(scores[kg, b], pools[b], members[:, b])[unmatched] for b in others])
        unmatched, group = unmatched[group != ABSENT], group[group != ABSENT]
        taken = members[group, kg] != ABSENT
        entity, group = pools[kg][unmatched[taken]], group[taken]
        own, further = np.zeros(len(group)), np.zeros(len(group))
        for b in others:
            there = members[group, b] != ABSENT
            target = embeddings[b][torch.from_numpy(members[group[there], b].astype(np.int64))].float()
            for total, source in ((own, members[group, kg]), (further, entity)):
                ends = embeddings[kg][torch.from_numpy(source[there].astype(np.int64))].float()
                total[there] += (ends * target).sum(1).double().cpu().numpy()
        ratio = np.divide(further, own, out=np.zeros(len(group)), where=own > 0)
        counted = (members[group] != ABSENT).sum(axis=1) - 1
        seed_similarity = _best_seed_similarity(embeddings, seeds, kg, entity)
        is_duplicate = (ratio >= LEAST_RATIO) & (further >= seed_similarity * counted)
        confidence = found.confidence[group, kg] * np.minimum(ratio, 1)
        parts.append(
            Duplicates(
                group[is_duplicate],
                np.full(int(is_duplicate.sum()), kg),
                entity[is_duplicate],
                confidence[is_duplicate],
            )
        )
    return Duplicates.joined(parts)


def _best_seed_similarity(embeddings: Sequence[Embeddings], seeds: Groups, kg: int, entities: np.ndarray) -> np.ndarray:
    """For each entity the highest cosine with a member of a seed in another KG."""
    best = np.zeros(len(entities))
    ends = embeddings[kg][torch.from_numpy(entities.astype(np.int64))].in_8_bits()
    for other, members in enumerate(seeds.members.T):
        if other == kg or not (members != ABSENT).any():
            continue
        targets = embeddings[other][torch.from_numpy(members[members != ABSENT].astype(np.int64))].in_8_bits()
        size = max(1, BLOCK_NUMBERS // len(targets))
        for start in range(0, len(ends), size):
            some = slice(start, start + size)
            best[some] = np.maximum(best[some], ends[some].cosines(targets).amax(1).double().cpu().numpy())
    return best


def _group_of_best(matrix: Matrix, pool: np.ndarray, members: np.ndarray) -> np.ndarray:
    """For each row the group of its best candidate, -1 where that is in none."""
    if not len(pool):
        return np.full(matrix.shape[0], ABSENT)
    best = matrix.best_columns(allow_ties=True)[0].numpy()
    size = max(pool.max(initial=-1), members.max(initial=-1)) + 2  # the last place is for -1
    group_of = np.full(size, ABSENT, dtype=np.int64)
    group_of[members[members != ABSENT]] = np.flatnonzero(members != ABSENT)
    entity = np.where(best == ABSENT, ABSENT, pool[best])
    return np.asarray(group_of[entity])


def _agreed(groups: Sequence[np.ndarray]) -> np.ndarray:
    """The group on which all that are not -1 agree, otherwise -1."""
    stacked = np.stack(groups)
    highest = stacked.max(axis=0)
    return np.asarray(np.where(((stacked == highest) | (stacked == ABSENT)).all(axis=0), highest, ABSENT))
