"""Scores by rank: how high the counterparts of held-out groups rank among a pool of candidates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from multiea.data.groups import ABSENT, Groups
from multiea.evaluation.ranks import hits, m_hits, mean_rank, mean_reciprocal_rank, realistic_ranks
from multiea.foundation import progress
from multiea.similarity.block_scores import BlockScores
from multiea.similarity.matrices import Matrix
from multiea.similarity.pools import positions_in_pool

KS = (1, 10, 20)
QUERIES_AT_ONCE = 1 << 18


def ranks_of_groups(
    scores: Mapping[tuple[int, int], Matrix], pools: Sequence[np.ndarray], groups: Groups
) -> dict[tuple[int, int], Tensor]:
    """For each ordered pair of KGs and each group the rank of its member in the second, as seen from the first.

    (groups,) each, NaN where the group has no member in one of the two.
    """
    positions = [positions_in_pool(pool, members) for pool, members in zip(pools, groups.members.T, strict=True)]
    if isinstance(scores, BlockScores):
        return _ranks_in_blocks(scores, np.stack(positions, axis=1))
    ranks = {}
    with progress.stage("ranking", len(scores)) as advance:
        for (a, b), matrix in scores.items():
            ranks[a, b] = _ranks_of_pair(matrix, positions[a], positions[b])
            advance(1)
    return ranks


def _ranks_in_blocks(scores: BlockScores, positions: np.ndarray) -> dict[tuple[int, int], Tensor]:
    """The same for all pairs of KGs at once; positions: of the members in their pools, (groups, KGs)."""
    count, kgs = positions.shape
    starts = np.array([scores.offset(kg) for kg in range(kgs)])
    joint, present = positions + starts, positions != ABSENT
    ranks = torch.full((count, kgs, kgs), torch.nan, dtype=torch.float64)
    size = max(1, QUERIES_AT_ONCE // kgs**2)
    for first in range(0, count, size):
        some = slice(first, first + size)
        both = present[some, :, None] & present[some, None, :] & ~np.eye(kgs, dtype=bool)
        group, a, b = np.nonzero(both)
        ends = (torch.from_numpy(joint[some][group, kg]) for kg in (a, b))
        ranks[some][torch.from_numpy(both)] = realistic_ranks(*scores.better_and_tied(*ends))
    return {(one, other): ranks[:, one, other] for one, other in permutations(range(kgs), 2)}


def _ranks_of_pair(matrix: Matrix, sources: np.ndarray, targets: np.ndarray) -> Tensor:
    ranks = torch.full((len(sources),), torch.nan, dtype=torch.float64)
    known = torch.from_numpy(np.flatnonzero((sources != ABSENT) & (targets != ABSENT)))
    for start in range(0, len(known), QUERIES_AT_ONCE):
        some = known[start : start + QUERIES_AT_ONCE]
        rows, columns = torch.from_numpy(sources)[some], torch.from_numpy(targets)[some]
        ranks[some] = realistic_ranks(*matrix.better_and_tied(rows, columns))
    return ranks


def scores_by_rank(ranks: Mapping[tuple[int, int], Tensor], kg_names: Sequence[str]) -> dict[str, Any]:
    """M-Hits@K of complete groups; Hits@K, MRR and mean rank overall and per pair of KGs, both directions averaged.

    None where there is nothing to score, such as M-Hits without complete groups.
    """
    kgs = len(kg_names)
    complete = ~torch.stack(list(ranks.values())).isnan().any(0)
    of_complete = {pair: values[complete] for pair, values in ranks.items()}
    result: dict[str, Any] = {"m_hits": {str(k): _score_or_none(v) for k, v in m_hits(of_complete, kgs, KS).items()}}
    by_pair: dict[str, dict[str, Any]] = {"hits": {}, "mrr": {}, "mean_rank": {}}
    pairs = list(combinations(range(kgs), 2))
    for name, some in [("overall", pairs), *((f"{kg_names[a]}-{kg_names[b]}", [(a, b)]) for a, b in pairs)]:
        both = [torch.cat([ranks[pair] for pair in side]) for side in (some, [(b, a) for a, b in some])]
        both = [values[~values.isnan()] for values in both]
        by_pair["hits"][name] = {str(k): _score_or_none(sum(hits(side, k) for side in both) / 2) for k in KS}
        by_pair["mrr"][name] = _score_or_none(sum(map(mean_reciprocal_rank, both)) / 2)
        by_pair["mean_rank"][name] = _score_or_none(sum(map(mean_rank, both)) / 2)
    return result | by_pair


def _score_or_none(score: float) -> float | None:
    """None where there was nothing to score."""
    return None if math.isnan(score) else score
