"""What can be said of a task before and after learning: seeds that are missing, KGs that no label reaches."""

from __future__ import annotations

import logging
from itertools import combinations

import numpy as np
from torch import Tensor

from multiea.data.groups import ABSENT
from multiea.data.task import Task
from multiea.foundation.errors import InputError

log = logging.getLogger("multiea")


def check_task(task: Task) -> None:
    """Refuses a task from which nothing can be learned, and warns of KGs and pairs that seeds leave out."""
    known = task.seeds.joined(task.open_seeds.groups)
    if not len(known):
        raise InputError(
            f"'{task.name}' has no seeds",
            expected="a few known groups to learn from",
            hint="Give them as seeds.tsv, a column a KG, or raise --train-ratio if groups.tsv was split",
        )
    if not any(len(kg.triples) for kg in task.kgs):
        raise InputError(f"'{task.name}' has no triples", expected="KGs with facts; a run that was opened has none")
    unreached = [
        kg.name
        for kg, members in zip(task.kgs, known.members.T, strict=True)
        if not kg.degrees[members[members != ABSENT]].any()
    ]
    if len(unreached) > len(task.kgs) - 2:
        raise InputError(
            f"the seeds reach nothing in {', '.join(unreached)}: none of their members there is in a triple",
            expected="seeds with members that occur in triples, in at least two KGs",
            hint="Compare the names in the seeds with those in the triples: multiea inspect shows both",
        )
    overlap = known.overlap()
    unknown = [name for name, count in zip(task.kg_names, overlap.diagonal(), strict=True) if not count]
    if unknown:
        log.warning("no seed reaches %s: nothing is known of its entities", ", ".join(unknown))
    apart = [
        f"{task.kg_names[a]}-{task.kg_names[b]}" for a, b in combinations(range(len(task.kgs)), 2) if not overlap[a, b]
    ]
    if apart:
        log.warning("no seed joins %s: these pairs cannot be learned directly", ", ".join(apart))


def warn_of_unreached(task: Task, embeddings: Tensor) -> None:
    """Says which KGs have entities that stay at zero: no label arrives there, and they are left alone."""
    reached = np.split(embeddings.any(dim=1).cpu().numpy(), np.cumsum([len(kg.entities) for kg in task.kgs])[:-1])
    parts = [
        f"{int((~of_kg).sum()):,} of {kg.name}" for kg, of_kg in zip(task.kgs, reached, strict=True) if not of_kg.all()
    ]
    if parts:
        log.warning("nothing reaches %s: these entities are left alone", ", ".join(parts))
