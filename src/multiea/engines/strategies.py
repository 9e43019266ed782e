"""Strategies: the distance d(l) inside a group that training minimises, as the paper defines it (eqs. 11-14).

Each takes members, (..., M, d), and present, (..., M), and returns (...). Absent members do not count.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Strategy = Callable[[Tensor, Tensor, int], Tensor]


def mean(members: Tensor, present: Tensor, anchor: int) -> Tensor:
    """Toward the mean: the sum of the members' distances to their mean."""
    weight = present.unsqueeze(-1).to(members.dtype)
    centre = (members * weight).sum(-2, keepdim=True) / weight.sum(-2, keepdim=True).clamp(min=1)
    distances: Tensor = (members - centre).norm(dim=-1)
    return (distances * present).sum(-1)


def anchor(members: Tensor, present: Tensor, anchor: int) -> Tensor:
    """Toward the anchor KG's member: the sum of the others' distances to it.

    A group without a member in the anchor KG uses its first present member instead.
    """
    first = torch.argmax(present.to(torch.int8), dim=-1)
    chosen = torch.where(present[..., anchor], torch.full_like(first, anchor), first)  # (...)
    target = members.take_along_dim(chosen[..., None, None], dim=-2)  # (..., 1, d)
    distances: Tensor = (members - target).norm(dim=-1)
    return (distances * present).sum(-1)


def each(members: Tensor, present: Tensor, anchor: int) -> Tensor:
    """Toward each other: the sum of the distances of all ordered pairs of members."""
    distances = torch.cdist(members, members, compute_mode="donot_use_mm_for_euclid_dist")  # (..., M, M)
    both = present.unsqueeze(-1) & present.unsqueeze(-2)
    return (distances * both).sum((-2, -1))


STRATEGIES: dict[str, Strategy] = {"each": each, "anchor": anchor, "mean": mean}
