"""Ranks that know ties, and the scores made of them; pure functions on tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor


def tie_aware_ranks(scores: Tensor, true: Tensor) -> Tensor:
    """The rank of the true candidate in each row: 1 + better + (ties - 1) / 2, so that order never decides.

    scores: (rows, candidates), the higher the better. true: (rows,) the true candidate's column. What is not a number
    ranks last: a broken score must never look like a good one.
    """
    scores = scores.masked_fill(scores.isnan(), -torch.inf)
    own = scores.gather(1, true[:, None])
    better = (scores > own).sum(1)
    ties = (scores == own).sum(1)  # itself included
    return 1 + better + (ties - 1) / 2


def hits(ranks: Tensor, k: int) -> float:
    """The share of ranks up to k."""
    return float((ranks <= k).double().mean()) if len(ranks) else float("nan")


def mean_reciprocal_rank(ranks: Tensor) -> float:
    """The mean of 1 / rank."""
    return float((1 / ranks.double()).mean()) if len(ranks) else float("nan")


def mean_rank(ranks: Tensor) -> float:
    """The mean rank."""
    return float(ranks.double().mean()) if len(ranks) else float("nan")


def m_hits(ranks: Mapping[tuple[int, int], Tensor], kgs: int, ks: Sequence[int]) -> dict[int, float]:
    """M-Hits@K: the share of complete groups all of whose M-1 counterparts rank up to K, averaged over each KG.

    ranks[a, b]: for each complete group the rank of its member in KG b among b's candidates, asked from KG a.
    """
    worst = [torch.stack([ranks[a, b] for b in range(kgs) if b != a]).amax(0) for a in range(kgs)]
    return {k: sum(hits(of_kg, k) for of_kg in worst) / kgs for k in ks}
