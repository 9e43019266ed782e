"""Tasks taken apart: one KG is to be added to the others."""

from __future__ import annotations

from dataclasses import dataclass

from multiea import Groups, KnowledgeGraph, Task
from support.shuffling import Shuffling


@dataclass(frozen=True)
class Parted:
    """A task whose last KG is to be added to the others."""

    before: Task
    kg: KnowledgeGraph
    seeds: Groups
    held_out: Groups


def ordered(groups: Groups, order: list[int]) -> Groups:
    """The same groups over KGs in another order."""
    return Groups(tuple(groups.kg_names[kg] for kg in order), groups.members[:, order])


def parted(task: Task, new: int) -> Parted:
    """A task without one of its KGs, that KG, and the known groups over all KGs with that one last."""
    order = [kg for kg in range(len(task.kgs)) if kg != new]

    def cut(groups: Groups) -> Groups:
        members = groups.members[:, order]
        return Groups(tuple(task.kg_names[kg] for kg in order), members[(members >= 0).sum(axis=1) > 1])

    before = Task([task.kgs[kg] for kg in order], cut(task.seeds), cut(task.held_out), name=task.name)
    seeds, held_out = (ordered(groups, [*order, new]) for groups in (task.seeds, task.held_out))
    return Parted(before, task.kgs[new], seeds, held_out)


def shuffled(task: Task) -> Task:
    """The same task with entities, triples, groups and the first two KGs in another order; later KGs stay in place."""
    return Shuffling.of(task, seed=1, kg_order=[1, 0, *range(2, len(task.kgs))]).task
