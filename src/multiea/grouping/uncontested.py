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
    """The uncontested score of each pair of members, (groups, M, M).

    NaN where one is absent, or their KGs are not compared by structure together with other evidence. None where no
    uncontested scores were made. copies: of members, whose scores are added.
    """
    known = scores.uncontested if isinstance(scores, BlockScores) else None
    if known is None:
        return None
    inside = scores_inside(groups, known.scores, pools)
    if copies is not None and len(copies):
        inside = summed_scores(inside, groups, copies, known.scores, pools)
    is_known = np.zeros(inside.shape[1:], dtype=bool)
    for a, b in known.pairs:
        is_known[a, b] = is_known[b, a] = True
    return np.where(is_known, inside, np.nan)


def best_chains(uncontested: np.ndarray) -> np.ndarray:
    """For each pair of members the weakest uncontested score of the best chain of members between them.

    A chain, because two members that have little in common may both be clearly the same as a third. NaN, where a pair
    has no uncontested score, stays, and no chain leads through it.
    """
    best = np.where(np.isnan(uncontested), 0, uncontested)
    at_once = max(1, NUMBERS_AT_ONCE // max(1, best[:1].size))
    for start in range(0, len(best), at_once):
        part = best[start : start + at_once]
        for via in range(part.shape[1]):
            np.maximum(part, np.minimum(part[:, :, via, None], part[:, None, via, :]), out=part)
    return np.where(np.isnan(uncontested), np.nan, best)
