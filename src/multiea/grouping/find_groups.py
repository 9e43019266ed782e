"""The grouping stage: from scores to groups with confidences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from multiea.data.groups import ABSENT
from multiea.data.task import Task
from multiea.grouping.calibration import Calibration
from multiea.grouping.duplicates import Duplicates, find_duplicates
from multiea.grouping.found_groups import FoundGroups
from multiea.grouping.matching import join_matches, matched_inside, mutual_matches, scores_inside
from multiea.similarity.enhancement import Pairs
from multiea.similarity.pools import Comparable

LEAST_PROBABILITY = 0.35  # of a match that joins groups, where names or attributes are compared as well


def find_groups(
    task: Task,
    compared: Comparable,
    scores: Pairs,
    pools: Sequence[np.ndarray],
    calibration: Calibration,
    with_duplicates: Sequence[str] = (),
) -> tuple[FoundGroups, Duplicates]:
    """The groups among the candidates, and further members in KGs that contain duplicates.

    task: in canonical order. Entities without an embedding (all zero) and without other evidence stay unmatched.
    """
    embeddings = compared.embeddings
    assert isinstance(embeddings, Tensor)
    duplicate_kgs = sorted({task.kg_names.index(name) for name in with_duplicates})
    matches = mutual_matches(scores, pools, duplicate_kgs)
    if compared.evidence is not None:
        matches = matches.above(calibration.score_at(LEAST_PROBABILITY))
    groups = join_matches(matches, task.kg_names)
    sizes = [len(kg.entities) for kg in task.kgs]
    has_evidence = np.split(embeddings.any(dim=1).cpu().numpy(), np.cumsum(sizes)[:-1])
    if compared.evidence is not None:
        has_evidence = [one | other for one, other in zip(has_evidence, compared.evidence.has_any(), strict=True)]
    inside, matched = scores_inside(groups, scores, pools), matched_inside(groups, matches)
    for column, of_kg in enumerate(has_evidence):
        dropped = groups.present[:, column] & ~of_kg[groups.members[:, column]]
        inside[dropped, column] = inside[dropped, :, column] = np.nan
        groups.members[dropped, column] = ABSENT
    found = calibration.apply(groups, inside, matched, one_by_one=compared.evidence is not None)
    return found, find_duplicates(found, scores, pools, torch.split(embeddings, sizes), task.seeds, duplicate_kgs)
