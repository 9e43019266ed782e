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
from multiea.evaluation.ranks import m_hits, realistic_ranks
from multiea.foundation import progress
from multiea.similarity.block_scores import BlockScores
from multiea.similarity.matrices import Matrix
from multiea.similarity.pools import positions_in_pool

KS = (1, 10, 20)
QUERIES_AT_ONCE = 1 << 18
QUERIES_OF_LARGE_KGS = 1 << 15  # each may have many candidates


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
    for start in range(0, len(known), QUERIES_OF_LARGE_KGS):
        some = known[start : start + QUERIES_OF_LARGE_KGS]
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
    pairs = list(combinations(range(kgs), 2))
    names = ["overall", *(f"{kg_names[a]}-{kg_names[b]}" for a, b in pairs)]
    both = []
    for side in (pairs, [(b, a) for a, b in pairs]):
        of_pairs = torch.stack([ranks[pair] for pair in side])
        both.append(torch.cat([_means(of_pairs.view(1, -1)), _means(of_pairs)]))
    *of_ks, reciprocal, mean = ((both[0] + both[1]) / 2).T.tolist()  # one number of each pair
    hits_of = {name: dict(zip(map(str, KS), map(_score_or_none, values), strict=True))
               for name, *values in zip(names, *of_ks, strict=True)}  # fmt: skip
    of_names = [dict(zip(names, map(_score_or_none, values), strict=True)) for values in (reciprocal, mean)]
    return result | {"hits": hits_of, "mrr": of_names[0], "mean_rank": of_names[1]}


def _means(ranks: Tensor) -> Tensor:
    """Hits@K, the mean reciprocal rank and the mean rank of each row, (rows, scores); unknown ranks are NaN."""
    count = (~ranks.isnan()).sum(1)
    sums = [*((ranks <= k).sum(1).double() for k in KS), (1 / ranks).nansum(1), ranks.nansum(1)]
    return torch.stack([total / count for total in sums], dim=1)


def _score_or_none(score: float) -> float | None:
    """None where there was nothing to score."""
    return None if math.isnan(score) else score
