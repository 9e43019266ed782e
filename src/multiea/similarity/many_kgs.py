"""Limits where there are many KGs: pairs of KGs grow with the square of their number, so each pair keeps less.

And where there are very many candidates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

MANY = 11  # up to so many KGs nothing is limited
CANDIDATES = 500  # of an entity in all KGs together
FEWEST = 3  # candidates in each KG
KEPT_AFTER_PATHS, FEWEST_KEPT = 200, 2  # scores of a candidate with paths in all KGs together, and in each KG
VERY_MANY_CANDIDATES, KEPT_OF_VERY_MANY = 150_000, 30  # of all KGs; scores of each in each other KG
SAMPLED = 2560  # other candidates of an entity in all KGs together, from which their mass is estimated

AT_ONCE_FROM, LARGEST_AT_ONCE = 8_192, 8_192  # candidates of all KGs, and of one, where kernels compare all pairs


def are_compared_at_once(sizes: Sequence[int]) -> bool:
    """Whether there are so many KGs and candidates that kernels are worth it, and all KGs fit into one product."""
    return len(sizes) > MANY and sum(sizes) >= AT_ONCE_FROM and max(sizes) <= LARGEST_AT_ONCE


def candidates_per_block(kgs: int, wanted: int | None = None) -> int:
    """How many candidates an entity keeps in each other KG; wanted: what is kept where KGs are few."""
    limit = max(FEWEST, math.ceil(CANDIDATES / max(kgs - 1, 1)))
    if wanted is None:
        return limit
    return wanted if kgs <= MANY else min(wanted, limit)


def kept_after_paths(kgs: int, candidates: int) -> int | None:
    """How many scores with paths a candidate keeps in each other KG; the rest is mass only. None for all of them.

    candidates: of all KGs. Where there are very many, most of the memory would be for scores that change no rank.
    """
    if kgs > MANY:
        return max(FEWEST_KEPT, math.ceil(KEPT_AFTER_PATHS / max(kgs - 1, 1)))
    return KEPT_OF_VERY_MANY if candidates > VERY_MANY_CANDIDATES else None


def sample_per_block(kgs: int, wanted: int) -> int:
    """The same for the sample of other candidates."""
    return wanted if kgs <= MANY else min(wanted, max(8, SAMPLED // kgs))


def best_of_block(block: Tensor, count: int) -> Tensor:
    """Which numbers of a matrix are among the `count` highest of their row or of their column, and positive."""
    positive = block > 0
    if min(block.shape) <= count:
        return positive
    best = torch.zeros_like(positive)
    best.scatter_(1, block.topk(count, dim=1).indices, True)
    best.scatter_(0, block.topk(count, dim=0).indices, True)
    return best & positive
