"""Uncontested scores: how clear the pairs of a group are if the rivals of its members were not taken by others.

A lookalike such as the class of the left hand has the neighbours of its siblings. Competition tells siblings apart
because each is taken by its own counterpart. An entity without one is left with a sibling that has none either, and the
score of these two is high, although they are hardly more similar than others. Their uncontested score is low.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from multiea.data.groups import Groups
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.duplicates_by_evidence import summed_scores
from multiea.grouping.matching import Scores, scores_inside
from multiea.similarity.block_scores import BlockScores

NUMBERS_AT_ONCE = 1 << 23  # pairs of members


def uncontested_inside(
    groups: Groups, scores: Scores, pools: Sequence[np.ndarray], copies: Duplicates | None = None
) -> np.ndarray | None:
    """For each pair of members the weakest uncontested score of the best chain of members between them.

    (groups, M, M), zero where one is absent; None where no uncontested scores were made. A chain, because two members
    that have little in common may both be clearly the same as a third. copies: of members, whose scores are added.
    """
    uncontested = scores.uncontested if isinstance(scores, BlockScores) else None
    if uncontested is None:
        return None
    inside = scores_inside(groups, uncontested, pools)
    if copies is not None and len(copies):
        inside = summed_scores(inside, groups, copies, uncontested, pools)
    best = np.where(np.isnan(inside), 0, inside)
    at_once = max(1, NUMBERS_AT_ONCE // max(1, best[:1].size))
    for start in range(0, len(best), at_once):
        part = best[start : start + at_once]
        for via in range(part.shape[1]):
            np.maximum(part, np.minimum(part[:, :, via, None], part[:, None, via, :]), out=part)
    return best
