"""Checks of a task before learning, and of what learning reached."""

from __future__ import annotations

import logging
from itertools import combinations

import numpy as np
from torch import Tensor

from multiea.data.groups import ABSENT
from multiea.data.task import Task
from multiea.foundation.errors import InputError, counted

log = logging.getLogger("multiea")


def check_task(task: Task) -> None:
    """Refuses a task from which nothing can be learned, and warns of KGs and pairs of KGs without seeds."""
    known = task.seeds.joined(task.open_seeds.groups)
    if not len(known):
        raise InputError(
            f"'{task.name}' has no seeds",
            expected="a few known groups to learn from",
            hint="Give them as seeds.tsv with one column per KG, or raise --train-ratio if groups.tsv was split",
        )
    if not any(len(kg.triples) for kg in task.kgs):
        raise InputError(
            f"'{task.name}' has no triples",
            expected="KGs with triples",
            hint="A run opened without its triples cannot be aligned again: use multiea.open(run, with_triples=True)",
        )
    unreached = [
        kg.name
        for kg, members in zip(task.kgs, known.members.T, strict=True)
        if not kg.degrees[members[members != ABSENT]].any()
    ]
    if len(unreached) > len(task.kgs) - 2:
        raise InputError(
            f"the seeds have no neighbours in {', '.join(unreached)}: none of their members there is in a triple",
            expected="seeds with members that occur in triples, in at least two KGs",
            hint="Compare the entities of the seeds with those of the triples: multiea inspect shows both",
        )
    overlap = known.overlap()
    without_seeds = [name for name, count in zip(task.kg_names, overlap.diagonal(), strict=True) if not count]
    if without_seeds:
        log.warning("no seed has a member in %s: nothing is known of its entities", ", ".join(without_seeds))
    unlinked = [
        f"{task.kg_names[a]}-{task.kg_names[b]}" for a, b in combinations(range(len(task.kgs)), 2) if not overlap[a, b]
    ]
    if unlinked:
        log.warning("no seed links %s: these pairs cannot be learned directly", ", ".join(unlinked))


def warn_of_unreached_entities(task: Task, embeddings: Tensor) -> None:
    """Warns of entities whose embedding is zero: no mark arrives there, and they stay unmatched."""
    is_reached = np.split(embeddings.any(dim=1).cpu().numpy(), task.entity_offsets[1:-1])
    parts = [
        f"{counted(int((~of_kg).sum()), 'entity')} of {kg.name}"
        for kg, of_kg in zip(task.kgs, is_reached, strict=True)
        if not of_kg.all()
    ]
    if parts:
        log.warning("no mark reaches %s: they stay unmatched", ", ".join(parts))
