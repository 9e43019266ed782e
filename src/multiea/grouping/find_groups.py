"""The grouping stage: from scores to groups with confidences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.engines.embeddings import Embeddings
from multiea.grouping.calibration import Calibration
from multiea.grouping.duplicates import Duplicates, find_duplicates
from multiea.grouping.duplicates_by_evidence import (
    CLEAR,
    CopyFinder,
    clear_groups,
    find_copies,
    repeating_kgs,
    summed_scores,
)
from multiea.grouping.found_groups import FoundGroups
from multiea.grouping.matching import join_matches, matched_inside, mutual_matches, scores_inside, total_scores
from multiea.grouping.repeated_entities import LEAST_PROBABILITY
from multiea.grouping.roles import roles_of
from multiea.grouping.uncontested import uncontested_inside
from multiea.settings.tree import AUTO
from multiea.similarity.enhancement import Pairs
from multiea.similarity.mean_similarity import MeanSimilarity
from multiea.similarity.pools import Comparable


def find_groups(
    task: Task,
    compared: Comparable,
    scores: Pairs,
    pools: Sequence[np.ndarray],
    calibration: Calibration,
    with_duplicates: Sequence[str] = (),
) -> tuple[FoundGroups, Duplicates]:
    """The groups among the candidates, and further members in KGs that contain duplicates.

    task: in canonical order. with_duplicates: the names of these KGs; chosen_duplicates chooses them. Entities without
    an embedding (all zero) and without other evidence stay unmatched.
    """
    kgs = sorted({task.kg_names.index(name) for name in with_duplicates})
    matches = mutual_matches(scores, pools, kgs)
    total = total_scores(matches, scores, pools, kgs if compared.evidence is not None else ())
    if compared.evidence is not None:
        strong = total >= calibration.score_at(LEAST_PROBABILITY)
        matches, total = matches.take(strong), total[strong]
    groups = join_matches(matches, task.kg_names)
    similarity = _similarity(task, compared)
    copies = Duplicates()
    if kgs and compared.evidence is not None:
        is_clear = clear_groups(groups, matches, total)
        groups, copies = find_copies(_finder(task, groups, is_clear, pools, similarity), groups, kgs)
    has_evidence = [part.are_known().numpy() for part in similarity.embeddings]
    if compared.evidence is not None:
        has_evidence = [one | other for one, other in zip(has_evidence, compared.evidence.has_any(), strict=True)]
    inside, matched = scores_inside(groups, scores, pools), matched_inside(groups, matches)
    uncontested = uncontested_inside(groups, scores, pools, copies)
    if len(copies):
        inside = summed_scores(inside, groups, copies, scores, pools)
    for column, of_kg in enumerate(has_evidence):
        dropped = groups.present[:, column] & ~of_kg[groups.members[:, column]]
        inside[dropped, column] = inside[dropped, :, column] = np.nan
        groups.members[dropped, column] = ABSENT
    found = calibration.apply(groups, inside, matched, uncontested, one_by_one=compared.evidence is not None)
    if compared.evidence is not None:
        return found, copies.following(groups, found)
    return found, find_duplicates(found, scores, pools, similarity.embeddings, task.seeds, kgs)


def chosen_duplicates(
    task: Task, compared: Comparable, scores: Pairs, pools: Sequence[np.ndarray], wanted: Sequence[str]
) -> list[str]:
    """The KGs in which duplicates are searched: those wanted, or with `auto` those that repeat entities noticeably."""
    if AUTO not in wanted:
        return list(wanted)
    if compared.evidence is None:
        return []
    every = range(len(pools))
    matches = mutual_matches(scores, pools, every)
    matches = matches.take(total_scores(matches, scores, pools, every) >= CLEAR)
    groups = join_matches(matches, task.kg_names)
    is_clear = np.ones(len(groups), dtype=bool)
    finder = _finder(task, groups, is_clear, pools, _similarity(task, compared))
    return [task.kg_names[kg] for kg in repeating_kgs(finder, pools)]


def _finder(
    task: Task, groups: Groups, is_clear: np.ndarray, pools: Sequence[np.ndarray], similarity: MeanSimilarity
) -> CopyFinder:
    return CopyFinder(task.seeds, groups, is_clear, pools, similarity, [roles_of(kg) for kg in task.kgs])


def _similarity(task: Task, compared: Comparable) -> MeanSimilarity:
    embeddings = compared.embeddings
    assert isinstance(embeddings, Embeddings)
    parts = embeddings.split(len(kg.entities) for kg in task.kgs)
    return MeanSimilarity(parts, compared.evidence, compared.weights)
