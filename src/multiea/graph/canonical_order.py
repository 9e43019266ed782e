"""Canonical order: everything between reading and the result runs in an order that depends on names only.

Random numbers, ties and samples then fall on the same entities, however the task was ordered. A task enters this order
where it is aligned (`pipeline/`) and where a result is scored or grouped again; all other stages may rely on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.open_seeds import OpenSeeds
from multiea.data.task import Task
from multiea.foundation.offsets import offsets

Positions = NDArray[np.int32]


@dataclass(frozen=True)
class CanonicalOrder:
    """A task in its given and in its canonical order: KGs, entities and relations by name, groups by members.

    given_columns: for each canonical KG its number in the given task. given_positions: for each canonical KG, for each
    of its entities the position in the given KG. canonical_positions: for each given KG the opposite.
    """

    given: Task
    given_columns: tuple[int, ...]
    given_positions: tuple[Positions, ...]
    canonical_positions: tuple[Positions, ...]

    @classmethod
    def of(cls, task: Task) -> CanonicalOrder:
        """The canonical order of a task; it depends on names only."""
        columns = tuple(sorted(range(len(task.kgs)), key=lambda kg: task.kgs[kg].name))
        given_positions = tuple(task.kgs[kg].order_by_id for kg in columns)
        return cls(task, columns, given_positions, tuple(_inverse(kg.order_by_id) for kg in task.kgs))

    @cached_property
    def canonical(self) -> Task:
        """The task in canonical order, made when it is first asked for: it takes as much memory as the given one."""
        task, columns, positions = self.given, list(self.given_columns), self.canonical_positions
        kgs = [_sorted_kg(task.kgs[kg], positions[kg]) for kg in columns]
        names = tuple(kg.name for kg in kgs)

        def moved(groups: Groups) -> tuple[Groups, NDArray[np.int64]]:
            """The groups in canonical order, and the given row of each."""
            members = [_moved(groups.members[:, kg], positions[kg]) for kg in columns]
            order = np.lexsort(members)
            return Groups(names, np.stack(members, axis=1)[order].astype(np.int32)), order

        seeds, held_out, validation = (moved(part)[0] for part in (task.seeds, task.held_out, task.validation))
        known, order = moved(task.open_seeds.groups)
        open_seeds = OpenSeeds(known, task.open_seeds.looked_in[order][:, columns])
        return Task(kgs, seeds, held_out, validation, open_seeds, name=task.name, origin=task.origin)

    @property
    def given_numbering(self) -> tuple[tuple[Positions, ...], list[int]]:
        """What `renumbered` of groups needs to return to the given order: positions, and columns of the given KGs."""
        return self.given_positions, sorted(range(len(self.given_columns)), key=lambda kg: self.given_columns[kg])

    def groups_to_canonical(self, groups: Groups) -> Groups:
        """Groups over the given task, over the canonical one; their rows stay in order."""
        members = [_moved(groups.members[:, kg], self.canonical_positions[kg]) for kg in self.given_columns]
        names = tuple(self.given.kg_names[kg] for kg in self.given_columns)
        return Groups(names, np.stack(members, axis=1).astype(np.int32))

    def canonical_ids(self) -> NDArray[np.int64]:
        """For each entity of the given task its joint id in canonical order, (N,)."""
        starts = dict(zip(self.given_columns, offsets(map(len, self.given_positions)), strict=False))
        parts = [positions + starts[kg] for kg, positions in enumerate(self.canonical_positions)]
        return np.concatenate(parts)

    def given_ids(self) -> NDArray[np.int64]:
        """For each entity of the canonical task its joint id in given order, (N,)."""
        starts = self.given.entity_offsets
        columns = zip(self.given_columns, self.given_positions, strict=True)
        return np.concatenate([positions + starts[kg] for kg, positions in columns])


def _moved(members: np.ndarray, positions: np.ndarray) -> np.ndarray:
    return np.where(members == ABSENT, ABSENT, positions[members])


def _inverse(order: Positions) -> Positions:
    position = np.empty_like(order)
    position[order] = np.arange(len(order), dtype=order.dtype)
    return position


def _sorted_kg(kg: KnowledgeGraph, position: Positions) -> KnowledgeGraph:
    """A KG with entities and relations in the order of their names; the order of its literals has no effect."""
    relation_order = kg.relations.arg_sort().to_numpy().astype(np.int32)
    triples = np.empty((len(kg.triples), 3), dtype=np.int32)
    for column, new in enumerate((position, _inverse(relation_order), position)):
        triples[:, column] = new[kg.triples[:, column]]
    new_position = pl.Series(position)
    literals, names = (
        part.with_columns(entity=new_position.gather(part["entity"])) for part in (kg.literals, kg.given_names)
    )
    return replace(
        kg,
        entities=kg.entities.gather(kg.order_by_id),
        relations=kg.relations.gather(relation_order),
        triples=triples,
        names=None,
        literals=literals,
        given_names=names,
    )


def sorted_groups(groups: Groups) -> Groups:
    """Groups of a canonical task in their canonical order: by their members."""
    return groups.take(np.lexsort(groups.members.T))
