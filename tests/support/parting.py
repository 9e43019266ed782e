"""Tasks taken apart: one KG is to be added to the others; and put into another order."""

from dataclasses import dataclass

import numpy as np

from multiea import Groups, KnowledgeGraph, Task


@dataclass(frozen=True)
class Parted:
    """A task whose last KG is to be added to the others."""

    before: Task
    kg: KnowledgeGraph
    seeds: Groups
    held_out: Groups


def ordered(groups: Groups, order: list[int]) -> Groups:
    return Groups(tuple(groups.kg_names[kg] for kg in order), groups.members[:, order])


def parted(task: Task, new: int) -> Parted:
    order = [kg for kg in range(len(task.kgs)) if kg != new]

    def cut(groups: Groups) -> Groups:
        members = groups.members[:, order]
        return Groups(tuple(task.kg_names[kg] for kg in order), members[(members >= 0).sum(axis=1) > 1])

    before = Task([task.kgs[kg] for kg in order], cut(task.seeds), cut(task.held_out), name=task.name)
    seeds, held_out = (ordered(groups, [*order, new]) for groups in (task.seeds, task.held_out))
    return Parted(before, task.kgs[new], seeds, held_out)


def shuffled(task: Task) -> Task:
    """The same with entities, triples, groups and the first two KGs in another order."""
    rng = np.random.default_rng(1)
    kgs, columns = [], []
    for kg, members in zip(task.kgs, task.known.members.T, strict=True):
        order = rng.permutation(len(kg.entities))
        place = np.argsort(order).astype(np.int32)
        triples = rng.permutation(np.column_stack([place[kg.triples[:, 0]], kg.triples[:, 1], place[kg.triples[:, 2]]]))
        kgs.append(KnowledgeGraph(kg.name, kg.entities.gather(order), kg.relations, triples))
        columns.append(np.where(members < 0, members, place[members]))
    known = np.stack(columns, axis=1)
    seeds, held_out = (rng.permutation(part) for part in np.split(known, [len(task.seeds)]))
    new_order = [1, 0, *range(2, len(kgs))]
    groups = [ordered(Groups(task.kg_names, part), new_order) for part in (seeds, held_out)]
    return Task([kgs[kg] for kg in new_order], *groups)
