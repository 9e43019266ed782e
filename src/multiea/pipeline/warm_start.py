"""WarmStart: the groups from which bootstrapping starts where a KG is added to an alignment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.grouping.found_groups import FoundGroups

LEAKING_HOPS = 2  # groups this many triples away from a validation seed reveal too much about it


@dataclass(frozen=True)
class WarmStart:
    """The groups from which bootstrapping starts.

    pseudo_labels: complete groups, used in the first round; the groups it finds replace them. completed: open seeds
    with the members found for them so far, which carry marks in all rounds.
    """

    pseudo_labels: Groups
    completed: FoundGroups


def without_leakage(start: WarmStart, task: Task, validation: Groups) -> tuple[Groups, Groups]:
    """The pseudo-labels and the completed open seeds that may be known while validation seeds judge.

    Groups near validation seeds were found with the help of these seeds and would reveal them: such pseudo-labels are
    dropped, and such open seeds keep only their known members.
    """
    near = [_near(kg.triples, members, len(kg.entities))
            for kg, members in zip(task.kgs, validation.members.T, strict=True)]  # fmt: skip

    def is_near(groups: Groups) -> np.ndarray:
        columns = zip(near, groups.members.T, strict=True)
        return np.asarray(np.stack([of_kg[members] for of_kg, members in columns], axis=1).any(axis=1))

    completed = start.completed.groups
    known_only = np.where(completed.members_in(task.open_seeds.groups), completed.members, ABSENT)
    members = np.where(is_near(completed)[:, None], known_only, completed.members)
    apart = completed.apart_from(validation)
    return start.pseudo_labels.take(~is_near(start.pseudo_labels)), Groups(task.kg_names, members[apart])


def _near(triples: np.ndarray, members: np.ndarray, entities: int) -> np.ndarray:
    """Which entities of a KG are near some members, (entities + 1,); the last place is for absent ones."""
    near = np.zeros(entities + 1, dtype=bool)
    near[members[members != ABSENT]] = True
    head, _, tail = triples.T
    for _ in range(LEAKING_HOPS):
        heads, tails = head[near[tail]], tail[near[head]]
        near[heads] = near[tails] = True
    return near
