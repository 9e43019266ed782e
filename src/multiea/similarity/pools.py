"""Pools: the candidates among which counterparts are searched, and the similarities between pools."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.settings.enhancement import Enhancement
from multiea.similarity.enhancement import Pairs, similarities
from multiea.similarity.signatures import Signatures

POOLS = ("test", "all")


def candidate_pools(pool: str, task: Task, seeds: Groups, held_out: Groups) -> list[np.ndarray]:
    """For each KG the candidates: held-out members (`test`), or every non-seed entity (`all`)."""
    pools = []
    for kg, seed_members, members in zip(task.kgs, seeds.members.T, held_out.members.T, strict=True):
        inside = np.full(len(kg.entities), pool == "all")
        inside[members[members != ABSENT]] = True
        inside[seed_members[seed_members != ABSENT]] = False
        pools.append(np.flatnonzero(inside))
    return pools


def positions_in_pool(pool: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Where members are in the pool of their KG; -1 where they are not in it."""
    size = max(pool.max(initial=ABSENT), members.max(initial=ABSENT)) + 2  # the last place is for -1
    position = np.full(size, ABSENT, dtype=np.int64)
    position[pool] = np.arange(len(pool))
    return np.asarray(position[members])


def pool_similarities(
    task: Task,
    embeddings: Tensor,
    pools: Sequence[np.ndarray],
    enhancement: Enhancement,
    signatures: Signatures | None = None,
) -> Pairs:
    """The scores of all ordered pairs of KGs between their pools.

    task, embeddings (N, d): in canonical order; signatures: of all entities.
    """
    joint = [pool + start for pool, start in zip(pools, task.entity_offsets, strict=False)]
    candidates = [embeddings[torch.from_numpy(ids).to(embeddings.device)].float() for ids in joint]
    return similarities(candidates, enhancement, None if signatures is None else [signatures[ids] for ids in joint])
