"""The same task, embeddings or alignment in another order: entities, triples, literals, names, groups and KGs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import torch
from torch import Tensor

from multiea import Alignment, Groups, KnowledgeGraph, Task
from multiea.data.groups import ABSENT
from multiea.data.open_seeds import OpenSeeds
from multiea.grouping.found_groups import FoundGroups
from support.embeddings import canonical


@dataclass(frozen=True)
class Shuffling:
    """A random order of everything that has an order in a task.

    kg_order: for each KG of the shuffled task its number in the given one. positions: for each given KG the new
    position of each entity. task: the shuffled task.
    """

    given: Task
    task: Task
    kg_order: list[int]
    positions: list[np.ndarray]

    @classmethod
    def of(cls, task: Task, seed: int, kg_order: Sequence[int] | None = None) -> Shuffling:
        """kg_order: by default rotated by a random number, never as given."""
        rng = np.random.default_rng(seed)
        if kg_order is None:
            kg_order = np.roll(np.arange(len(task.kgs)), 1 + rng.integers(len(task.kgs) - 1)).tolist()
        assert kg_order is not None
        kgs, positions = [], []
        for kg in task.kgs:
            entities, relations = rng.permutation(len(kg.entities)), rng.permutation(len(kg.relations))
            place, relation_place = np.argsort(entities).astype(np.int32), np.argsort(relations).astype(np.int32)
            head, relation, tail = kg.triples.T
            triples = rng.permutation(np.column_stack([place[head], relation_place[relation], place[tail]]))
            kgs.append(
                replace(
                    kg,
                    entities=kg.entities.gather(entities),
                    relations=kg.relations.gather(relations),
                    triples=triples.astype(np.int32),
                    names=None if kg.names is None else kg.names.gather(entities),
                    literals=_shuffled_rows(kg.literals, place, seed),
                    given_names=_shuffled_rows(kg.given_names, place, seed),
                )
            )
            positions.append(place)
        names = tuple(task.kg_names[kg] for kg in kg_order)

        def moved(groups: Groups) -> tuple[Groups, np.ndarray]:
            rows = rng.permutation(len(groups))
            return Groups(names, _moved(groups.members, kg_order, positions)[rows]), rows

        seeds, held_out, validation = (moved(groups)[0] for groups in (task.seeds, task.held_out, task.validation))
        open_groups, rows = moved(task.open_seeds.groups)
        open_seeds = OpenSeeds(open_groups, task.open_seeds.looked_in[rows][:, list(kg_order)])
        shuffled = Task([kgs[kg] for kg in kg_order], seeds, held_out, validation, open_seeds, name=task.name)
        return cls(task, shuffled, list(kg_order), positions)

    def groups(self, groups: Groups) -> Groups:
        """Groups over the given task, over the shuffled one; their rows stay in order."""
        return Groups(self.task.kg_names, _moved(groups.members, self.kg_order, self.positions))

    def embeddings(self, embeddings: Tensor) -> Tensor:
        """Embeddings of all entities of the given task, (N, d), in the order of the shuffled one."""
        parts = torch.split(embeddings, [len(kg.entities) for kg in self.given.kgs])
        return torch.cat([parts[kg][torch.from_numpy(np.argsort(self.positions[kg]))] for kg in self.kg_order])


def shuffled_task(task: Task, seed: int = 1) -> Task:
    """The same task with entities, relations, triples, groups and KGs in another order."""
    return Shuffling.of(task, seed).task


def shuffled_alignment(alignment: Alignment, seed: int) -> Alignment:
    """The same alignment, over a shuffled task without triples and with its found groups in another order."""
    task = alignment.task
    bare = Task(
        [KnowledgeGraph(kg.name, kg.entities, kg.relations, kg.triples[:0]) for kg in task.kgs],
        task.seeds,
        task.held_out,
    )
    order = Shuffling.of(bare, seed)
    rows = np.random.default_rng(seed).permutation(len(alignment.found.groups))
    found = FoundGroups.from_members(
        order.groups(alignment.found.groups).take(rows), alignment.found.confidence[rows][:, order.kg_order]
    )
    return replace(
        alignment,
        task=order.task,
        found=found,
        canonical_embeddings=canonical(order.task, order.embeddings(alignment.embeddings)),
        duplicates=type(alignment.duplicates)(),
        _scores_of_all=None,
    )


def _shuffled_rows(table: pl.DataFrame, place: np.ndarray, seed: int) -> pl.DataFrame:
    """A table about entities with their new positions, its rows in another order."""
    moved = table.with_columns(entity=pl.Series(place).gather(table["entity"]))
    return moved.sample(fraction=1, shuffle=True, seed=seed)


def _moved(members: np.ndarray, kg_order: Sequence[int], positions: Sequence[np.ndarray]) -> np.ndarray:
    columns = [np.where(members[:, kg] == ABSENT, ABSENT, positions[kg][members[:, kg]]) for kg in kg_order]
    return np.stack(columns, axis=1).astype(np.int32)
