"""Repeated entities by all evidence: which entities of a KG are probably copies of its member of a group.

A copy is about as similar to the members of its group as an entity can be only by being the same. How similar an entity
is to a wrong group at best is known from matched entities: each of them belongs elsewhere. Where unmatched entities are
similar to a group more often than that, the excess are copies (the two-groups model of empirical Bayes, Efron 2008):

    P(copy | s) = 1 - share of others * density of s for matched entities / density of s for unmatched ones
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multiea.data.groups import ABSENT, Groups
from multiea.similarity.mean_similarity import MeanSimilarity

GROUPS_PER_ENTITY = 3  # the most similar ones beside structure, which are compared by all evidence
LEAST_PROBABILITY = 0.35  # of a match that joins groups, and of a copy, where names or attributes are compared
FEWEST_MATCHED = 10  # from which it is learned how similar an entity is to a wrong group


@dataclass(frozen=True)
class NearestGroups:
    """For each entity of a KG the group that it is most similar to, of those with a member of the KG but its own.

    group: -1 where it is similar to none; similarity: the mean over all members of the group, (entities,) each.
    """

    group: np.ndarray
    similarity: np.ndarray

    @classmethod
    def of(cls, kg: int, groups: Groups, similarity: MeanSimilarity) -> NearestGroups:
        """Compares the entities of a KG with the groups that names or attributes suggest."""
        size, own = len(similarity.embeddings[kg]), _row_of(groups, kg, len(similarity.embeddings[kg]))
        entity, group = _suggested(kg, groups, similarity)
        kept = (group != own[entity]) & groups.present[group, kg]
        entity, group = entity[kept], group[kept]
        mean = mean_similarity(kg, entity, groups, group, similarity)
        order = np.lexsort((group, -mean, entity))
        first = order[np.r_[True, entity[order][1:] != entity[order][:-1]]] if len(order) else order
        nearest, best = np.full(size, ABSENT, dtype=np.int64), np.zeros(size)
        nearest[entity[first]], best[entity[first]] = group[first], mean[first]
        return cls(nearest, best)


def mean_similarity(
    kg: int, entity: np.ndarray, groups: Groups, row: np.ndarray, similarity: MeanSimilarity
) -> np.ndarray:
    """For each entity of a KG the mean similarity to the members of a group, except itself."""
    total, count = np.zeros(len(entity)), np.zeros(len(entity))
    for other in range(len(groups.kg_names)):
        members = groups.members[row, other]
        there = (members != ABSENT) & ((members != entity) | (other != kg))
        total[there] += similarity.at(kg, entity[there], other, members[there])
        count += there
    return np.asarray(total / np.maximum(count, 1))


def probability_beyond_chance(observed: np.ndarray, wrong: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """For each of some similarities the probability that an entity reaches it by being the same, not by chance.

    observed: similarities of a mixture of both. wrong: of entities to groups they do not belong to. asked: (n,). One
    more wrong one is counted at each level, so that a single similar entity among many is not yet certain.
    """
    from scipy.optimize import isotonic_regression  # deferred: needed only where duplicates are asked for

    if len(wrong) < FEWEST_MATCHED or not len(observed):
        return np.zeros(len(asked))
    is_observed = np.r_[np.ones(len(observed)), np.zeros(len(wrong))]
    values, place = np.unique(np.r_[observed, wrong], return_inverse=True)
    weight = np.bincount(place)
    share = isotonic_regression(np.bincount(place, is_observed) / weight, weights=weight).x
    level, of_value = np.unique(share, return_inverse=True)
    count = np.bincount(of_value, weight)
    share = (level * count / (count + 1))[of_value]
    ratio = len(observed) / len(wrong) * (1 - share) / np.maximum(share, 1e-12)  # of the densities
    probability = np.clip(1 - _share_of_others(observed, wrong) * ratio, 0, 1)
    below = np.searchsorted(values, asked, side="right") - 1
    return np.where((asked > 0) & (below >= 0), probability[np.maximum(below, 0)], 0.0)


def _share_of_others(observed: np.ndarray, wrong: np.ndarray) -> float:
    """The share of entities that are similar by chance: twice those below the median of wrong groups."""
    return float(min(1.0, 2 * np.mean(observed <= np.median(wrong))))


def _suggested(kg: int, groups: Groups, similarity: MeanSimilarity) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of entity and group whose members have similar names or attributes, the best few of each entity."""
    keys, values = [np.empty(0, np.int64)], [np.empty(0)]
    for other in range(len(groups.kg_names)):
        entries = similarity.beside_structure(kg, other).tocoo()
        group = _row_of(groups, other, entries.shape[1])[entries.col]
        keys.append((entries.row.astype(np.int64) * len(groups) + group)[group != ABSENT])
        values.append(entries.data[group != ABSENT])
    unique, place = np.unique(np.concatenate(keys), return_inverse=True)
    total = np.bincount(place, np.concatenate(values), minlength=len(unique))
    entity, group = unique // max(len(groups), 1), unique % max(len(groups), 1)
    mean = total / groups.sizes[group]
    order = np.lexsort((group, -mean, entity))
    entity, group = entity[order], group[order]
    rank = np.arange(len(entity)) - np.searchsorted(entity, entity)
    return entity[rank <= GROUPS_PER_ENTITY], group[rank <= GROUPS_PER_ENTITY]  # one of them may be its own


def _row_of(groups: Groups, kg: int, size: int) -> np.ndarray:
    """The group of each entity of a KG, -1 without one."""
    row = np.full(size, ABSENT, dtype=np.int64)
    present = groups.present[:, kg]
    row[groups.members[present, kg]] = np.flatnonzero(present)
    return row


def group_rows(groups: Groups, sizes: Sequence[int]) -> list[np.ndarray]:
    """For each KG the group of each of its entities, -1 without one."""
    return [_row_of(groups, kg, size) for kg, size in enumerate(sizes)]
