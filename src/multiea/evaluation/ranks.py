"""Tie-aware ranks, and the scores made of them; pure functions on tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor


def realistic_ranks(better: Tensor, tied: Tensor) -> Tensor:
    """1 + better + (tied - 1) / 2, so that the order of candidates never decides (PyKEEN's "realistic" rank).

    better, tied: how many candidates score better than the true one, and how many equal, itself included.
    """
    return 1 + better + (tied.double() - 1) / 2


def hits(ranks: Tensor, k: int) -> float:
    """The share of ranks of at most k."""
    return float((ranks <= k).double().mean()) if len(ranks) else float("nan")


def mean_reciprocal_rank(ranks: Tensor) -> float:
    """The mean of 1 / rank."""
    return float((1 / ranks.double()).mean()) if len(ranks) else float("nan")


def mean_rank(ranks: Tensor) -> float:
    """The mean rank."""
    return float(ranks.double().mean()) if len(ranks) else float("nan")


def m_hits(ranks: Mapping[tuple[int, int], Tensor], kgs: int, ks: Sequence[int]) -> dict[int, float]:
    """M-Hits@K: the share of complete groups whose M-1 counterparts all rank in the top K, averaged over the KGs.

    ranks[a, b]: for each complete group the rank of its member in KG b among b's candidates, as seen from KG a.
    """
    worst = [torch.stack([ranks[a, b] for b in range(kgs) if b != a]).amax(0) for a in range(kgs)]
    return {k: sum(hits(of_kg, k) for of_kg in worst) / kgs for k in ks}
