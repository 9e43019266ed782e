"""Negative examples: groups that keep one member of a true group and replace all others (eq. 10)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from multiea.data.groups import ABSENT


def draw_negatives(groups: Tensor, entity_offsets: Sequence[int], rounds: int, generator: torch.Generator) -> Tensor:
    """For each group and each member to keep, `rounds` negatives whose other members are drawn from their KGs.

    groups: (G, M) joint ids, -1 where absent. Returns (G, rounds, M, M): the third axis is the member that is kept. A
    drawn member is never the true one. Absent members stay absent; where the kept member is absent, all are.
    """
    count, kgs = groups.shape
    offsets = torch.tensor(entity_offsets, device=groups.device)
    starts, sizes = offsets[:-1], offsets.diff()  # (M,)
    shape = (count, rounds, kgs, kgs)
    uniform = torch.rand(shape, generator=generator, device=groups.device, dtype=torch.float64)
    drawn = (uniform * (sizes - 1).clamp(min=1)).long() + starts  # one less than the size: the next step skips one
    true = groups[:, None, None, :].expand(shape)
    drawn = drawn + (drawn >= true)  # skips the true member
    alone = sizes == 1  # a KG with one entity has no other member
    drawn = torch.where((true == ABSENT) | alone, ABSENT, drawn)
    kept = torch.eye(kgs, dtype=torch.bool, device=groups.device)
    negatives = torch.where(kept, true, drawn)
    return torch.where((groups == ABSENT)[:, None, :, None], ABSENT, negatives)
