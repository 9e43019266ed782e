"""Duplicates: KGs that hold some things more than once give further entities to groups that have a member of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from multiea.data.groups import ABSENT, Groups
from multiea.grouping.matching import FoundGroups, Scores, single_best
from multiea.similarity.int8_embeddings import Comparable
from multiea.similarity.matrices import BLOCK_NUMBERS, Matrix

ALIKE = 0.8  # of how much a group's own member resembles the others


def _none(dtype: type) -> np.ndarray:
    return np.empty(0, dtype)


@dataclass(frozen=True)
class Duplicates:
    """Entities that stand for the same as a group's member of their own KG, (n,) each.

    group: the row of the found group; kg, entity: the KG's number and the position there; confidence: that of the
    member, times how much the entity resembles the others as compared with the member.
    """

    group: np.ndarray = field(default_factory=lambda: _none(np.int64))
    kg: np.ndarray = field(default_factory=lambda: _none(np.int64))
    entity: np.ndarray = field(default_factory=lambda: _none(np.int32))
    confidence: np.ndarray = field(default_factory=lambda: _none(np.float64))

    def __len__(self) -> int:
        return len(self.group)

    @classmethod
    def joined(cls, parts: Sequence[Duplicates]) -> Duplicates:
        """All of several."""
        columns = zip(*((part.group, part.kg, part.entity, part.confidence) for part in parts), strict=True)
        return cls(*map(np.concatenate, columns))


def find_duplicates(
    found: FoundGroups,
    scores: Scores,
    pools: Sequence[np.ndarray],
    embeddings: Sequence[Tensor],
    seeds: Groups,
    kgs: Sequence[int],
) -> Duplicates:
    """Candidates of some KGs that were left alone and belong to a group all the same.

    embeddings: of all entities, KG by KG. Wherever one's best candidates are in groups, it must be one and the same
    group, with a member of its KG, and it must resemble the group's other members nearly as much as that member does.
    What resembles members of seeds more than these is no duplicate of anything found.
    """
    parts = [Duplicates()]
    members = found.groups.members
    for kg in kgs:
        others = [other for other in range(len(pools)) if other != kg]
        alone = np.flatnonzero(~np.isin(pools[kg], members[:, kg]))
        group = _agreed([_group_of_best(scores[kg, b], pools[b], members[:, b])[alone] for b in others])
        alone, group = alone[group != ABSENT], group[group != ABSENT]
        taken = members[group, kg] != ABSENT
        entity, group = pools[kg][alone[taken]], group[taken]
        own, further = np.zeros(len(group)), np.zeros(len(group))
        for b in others:
            there = members[group, b] != ABSENT
            target = embeddings[b][torch.from_numpy(members[group[there], b].astype(np.int64))]
            for total, source in ((own, members[group, kg]), (further, entity)):
                ends = embeddings[kg][torch.from_numpy(source[there].astype(np.int64))]
                total[there] += (ends * target).sum(1).double().cpu().numpy()
        ratio = np.divide(further, own, out=np.zeros(len(group)), where=own > 0)
        counted = (members[group] != ABSENT).sum(axis=1) - 1
        of_seeds = _likest_seed(embeddings, seeds, kg, entity)
        alike = (ratio >= ALIKE) & (further >= of_seeds * counted)
        confidence = found.confidence[group, kg] * np.minimum(ratio, 1)
        parts.append(Duplicates(group[alike], np.full(int(alike.sum()), kg), entity[alike], confidence[alike]))
    return Duplicates.joined(parts)


def _likest_seed(embeddings: Sequence[Tensor], seeds: Groups, kg: int, entities: np.ndarray) -> np.ndarray:
    """How much each entity resembles the member of a seed, in another KG, that it resembles most."""
    best = np.zeros(len(entities))
    ends = Comparable(embeddings[kg][torch.from_numpy(entities.astype(np.int64))].float())
    for other, members in enumerate(seeds.members.T):
        if other == kg or not (members != ABSENT).any():
            continue
        targets = Comparable(embeddings[other][torch.from_numpy(members[members != ABSENT].astype(np.int64))].float())
        size = max(1, BLOCK_NUMBERS // len(targets))
        for start in range(0, len(ends), size):
            some = slice(start, start + size)
            best[some] = np.maximum(best[some], ends[some].cosines(targets).amax(1).double().cpu().numpy())
    return best


def _group_of_best(matrix: Matrix, pool: np.ndarray, members: np.ndarray) -> np.ndarray:
    """For each row the group its best candidate is in, -1 where that is in none."""
    if not len(pool):
        return np.full(matrix.shape[0], ABSENT)
    best, _ = single_best(matrix, ties=True)
    group_of = np.full(max(pool.max(initial=-1), members.max(initial=-1)) + 2, ABSENT, dtype=np.int64)  # -1 comes last
    group_of[members[members != ABSENT]] = np.flatnonzero(members != ABSENT)
    entity = np.where(best == ABSENT, ABSENT, pool[best])
    return np.asarray(group_of[entity])


def _agreed(groups: Sequence[np.ndarray]) -> np.ndarray:
    """The one group all speak of that speak of any, otherwise -1."""
    stacked = np.stack(groups)
    highest = stacked.max(axis=0)
    return np.asarray(np.where(((stacked == highest) | (stacked == ABSENT)).all(axis=0), highest, ABSENT))
