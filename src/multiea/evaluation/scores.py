"""Scores of an alignment by rank: how high each held-out counterpart stands among a pool of candidates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from multiea.data.groups import ABSENT, Groups
from multiea.evaluation.ranks import hits, m_hits, mean_rank, mean_reciprocal_rank, tie_aware_ranks
from multiea.foundation import progress
from multiea.similarity.matrices import BLOCK_NUMBERS, Matrix
from multiea.similarity.sparse_scores import SparseScores

KS = (1, 10, 20)
POOLS = ("test", "all")


def pool_of_candidates(pool: str, sizes: Sequence[int], seeds: Groups, held_out: Groups) -> list[np.ndarray]:
    """For each KG the entities a counterpart is ranked among: held-out members (`test`), or all but seeds (`all`)."""
    pools = []
    for size, seed_members, members in zip(sizes, seeds.members.T, held_out.members.T, strict=True):
        inside = np.full(size, pool == "all")
        inside[members[members != ABSENT]] = True
        inside[seed_members[seed_members != ABSENT]] = False
        pools.append(np.flatnonzero(inside))
    return pools


def ranks_of_groups(
    scores: Mapping[tuple[int, int], Matrix], pools: Sequence[np.ndarray], groups: Groups
) -> dict[tuple[int, int], Tensor]:
    """For each ordered pair of KGs and each group the rank of its member in the second, asked from the first.

    (groups,) each, not a number where the group lacks one of the two.
    """
    places = [_places(pool, members) for pool, members in zip(pools, groups.members.T, strict=True)]
    ranks = {}
    with progress.stage("ranking", len(scores)) as advance:
        for (a, b), matrix in scores.items():
            ranks[a, b] = _ranks_of_pair(matrix, places[a], places[b])
            advance(1)
    return ranks


def _ranks_of_pair(matrix: Matrix, sources: np.ndarray, targets: np.ndarray) -> Tensor:
    ranks = torch.full((len(sources),), torch.nan, dtype=torch.float64)
    known = torch.from_numpy(np.flatnonzero((sources != ABSENT) & (targets != ABSENT)))
    if isinstance(matrix, SparseScores):
        ranks[known] = matrix.ranks(torch.from_numpy(sources)[known], torch.from_numpy(targets)[known]).cpu()
        return ranks
    size = max(1, BLOCK_NUMBERS // max(1, matrix.shape[1]))
    for start in range(0, len(known), size):
        some = known[start : start + size]
        block = matrix.rows(torch.from_numpy(sources)[some])
        true = torch.from_numpy(targets)[some].to(block.device)
        ranks[some] = tie_aware_ranks(block, true).double().cpu()
    return ranks


def scores_by_rank(ranks: Mapping[tuple[int, int], Tensor], kg_names: Sequence[str]) -> dict[str, Any]:
    """M-Hits@K over the complete groups, Hits@K, MRR and mean rank overall and of each pair of KGs, both directions
    averaged.

    None where there is nothing to score, such as M-Hits without complete groups.
    """
    kgs = len(kg_names)
    complete = ~torch.stack(list(ranks.values())).isnan().any(0)
    of_complete = {pair: values[complete] for pair, values in ranks.items()}
    result: dict[str, Any] = {"m_hits": {str(k): _known(v) for k, v in m_hits(of_complete, kgs, KS).items()}}
    by_pair: dict[str, dict[str, Any]] = {"hits": {}, "mrr": {}, "mean_rank": {}}
    pairs = list(combinations(range(kgs), 2))
    for name, some in [("overall", pairs), *((f"{kg_names[a]}-{kg_names[b]}", [(a, b)]) for a, b in pairs)]:
        both = [torch.cat([ranks[pair] for pair in side]) for side in (some, [(b, a) for a, b in some])]
        both = [values[~values.isnan()] for values in both]
        by_pair["hits"][name] = {str(k): _known(sum(hits(side, k) for side in both) / 2) for k in KS}
        by_pair["mrr"][name] = _known(sum(map(mean_reciprocal_rank, both)) / 2)
        by_pair["mean_rank"][name] = _known(sum(map(mean_rank, both)) / 2)
    return result | by_pair


def _known(score: float) -> float | None:
    """A score, or None where there was nothing to score."""
    return None if math.isnan(score) else score


def _places(pool: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Where members stand in their KG's pool; -1 where they are not in it."""
    size = max(pool.max(initial=ABSENT), members.max(initial=ABSENT)) + 2  # the last place is for -1
    place = np.full(size, ABSENT, dtype=np.int64)
    place[pool] = np.arange(len(pool))
    return np.asarray(place[members])
