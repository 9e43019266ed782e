"""Limits where there are many KGs: pairs of KGs grow with the square of their number, so each pair keeps less."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

MANY = 11  # up to so many KGs nothing is limited
CANDIDATES = 500  # of an entity in all KGs together
FEWEST = 3  # candidates in each KG
MOST_PADDING = 4  # numbers of a padded matrix for each number in it
SAMPLED = 2560  # other candidates of an entity in all KGs together, from which their mass is estimated


def candidates_per_block(kgs: int, wanted: int | None = None) -> int:
    """How many candidates an entity keeps in each other KG; wanted: what is kept where KGs are few."""
    limit = max(FEWEST, math.ceil(CANDIDATES / max(kgs - 1, 1)))
    if wanted is None:
        return limit
    return wanted if kgs <= MANY else min(wanted, limit)


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


def best_of_blocks(block: Tensor, sizes: Sequence[int], count: int) -> Tensor:
    """The same for a matrix of several blocks side by side, of these widths: a row has its highest in each of them."""
    rows, widest = len(block), max(sizes, default=0)
    if block.numel() and rows * len(sizes) * widest > MOST_PADDING * block.numel():
        return torch.cat([best_of_block(part, count) for part in torch.split(block, list(sizes), dim=1)], dim=1)
    positive = block > 0
    if rows <= count or widest <= count:
        return positive
    size = torch.tensor(sizes, device=block.device)
    start = size.cumsum(0) - size
    place = torch.arange(widest, device=block.device)
    is_column = place < size[:, None]
    column = torch.where(is_column, start[:, None] + place, 0)
    padded = torch.where(is_column, block[:, column.flatten()].view(rows, len(sizes), widest), -torch.inf)
    top = padded.topk(count, dim=2).indices
    last = block.shape[1]  # one more column for what is no column
    chosen = torch.where(top < size[:, None], top + start[:, None], last).view(rows, -1)
    best = torch.zeros(rows, last + 1, dtype=torch.bool, device=block.device).scatter_(1, chosen, True)[:, :last]
    best = best.scatter(0, block.topk(count, dim=0).indices, True)
    return best & positive
