"""All KGs of a task in one id space, as tensors: who is next to whom, by which relation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import no_literals
from multiea.data.open_seeds import OpenSeeds
from multiea.data.task import Task


@dataclass(frozen=True)
class JointGraph:
    """The neighbourhoods of all entities; KGs have no edge between them.

    entity_offsets, relation_offsets: (M + 1,) where each KG's entities and relations begin. The last relation is the
    self-relation, shared by all KGs. entity, relation, neighbour: (edges,) the tuples <r_k, e_j> in N_i, each once,
    sorted by entity; both directions of a triple, and each entity as its own neighbour (eqs. 1-3). triples: (T, 3) what
    was given, head, relation and tail, each once.
    """

    entity_offsets: tuple[int, ...]
    relation_offsets: tuple[int, ...]
    entity: Tensor
    relation: Tensor
    neighbour: Tensor
    triples: Tensor

    @property
    def entities(self) -> int:
        """How many entities all KGs have together."""
        return self.entity_offsets[-1]

    @property
    def relations(self) -> int:
        """How many relations all KGs have together, the self-relation included."""
        return self.relation_offsets[-1] + 1

    def degrees(self) -> Tensor:
        """How many neighbours each entity has other than itself, (N,)."""
        others = self.relation != self.relation_offsets[-1]
        return torch.bincount(self.entity[others], minlength=self.entities)

    def joint_ids(self, groups: Groups) -> Tensor:
        """A group's members in the one id space, (groups, M), -1 where a KG has none."""
        offsets = np.asarray(self.entity_offsets[:-1])
        ids = np.where(groups.members == ABSENT, ABSENT, groups.members + offsets)
        return torch.from_numpy(ids.astype(np.int64)).to(self.entity.device)


def joint_graph(task: Task, device: torch.device | str = "cpu") -> JointGraph:
    """The task's KGs as one graph of neighbourhoods."""
    entity_offsets = np.cumsum([0, *(len(kg.entities) for kg in task.kgs)])
    relation_offsets = np.cumsum([0, *(len(kg.relations) for kg in task.kgs)])
    heads, relations, tails = (
        np.concatenate(columns)
        for columns in zip(
            *(
                (kg.triples[:, 0] + entities, kg.triples[:, 1] + rels, kg.triples[:, 2] + entities)
                for kg, entities, rels in zip(task.kgs, entity_offsets, relation_offsets, strict=False)
            ),
            strict=True,
        )
    )
    everyone = np.arange(entity_offsets[-1])
    self_relation = np.full(len(everyone), relation_offsets[-1])
    entity, neighbour = np.r_[heads, tails, everyone], np.r_[tails, heads, everyone]
    relation = np.r_[relations, relations, self_relation]
    edges = torch.from_numpy(np.stack([entity, relation, neighbour]).astype(np.int64))
    triples = torch.from_numpy(np.stack([heads, relations, tails], axis=1).astype(np.int64))
    entity, relation, neighbour = torch.unique(edges, dim=1).to(device)
    return JointGraph(
        tuple(entity_offsets.tolist()),
        tuple(relation_offsets.tolist()),
        entity,
        relation,
        neighbour,
        torch.unique(triples, dim=0).to(device),
    )


def canonical(task: Task) -> tuple[Task, Tensor]:
    """The task in an order of its own, and for each entity of the given order its joint id in that one.

    Entities and relations by name, KGs by name, groups by their members: what is random in training then falls on the
    same entities however the task was ordered.
    """
    by_name = sorted(range(len(task.kgs)), key=lambda kg: task.kgs[kg].name)
    places = []  # of each KG: for each entity its place among the sorted names
    kgs = []
    for kg in task.kgs:
        order, relation_order = kg.entities.arg_sort().to_numpy(), kg.relations.arg_sort().to_numpy()
        place, relation_place = np.argsort(order).astype(np.int32), np.argsort(relation_order).astype(np.int32)
        head, relation, tail = kg.triples.T
        triples = np.column_stack([place[head], relation_place[relation], place[tail]])
        kgs.append(replace(kg, entities=kg.entities.gather(order), relations=kg.relations.gather(relation_order),
                           triples=triples, names=None, literals=no_literals()))  # fmt: skip
        places.append(place)
    names = tuple(kgs[kg].name for kg in by_name)

    def moved(groups: Groups) -> tuple[Groups, np.ndarray]:
        """The same groups, and which of them each was."""
        columns = [
            np.where(groups.members[:, kg] == ABSENT, ABSENT, places[kg][groups.members[:, kg]]) for kg in by_name
        ]
        order = np.lexsort(columns)
        return Groups(names, np.stack(columns, axis=1)[order].astype(np.int32)), order

    offsets = np.cumsum([0, *(len(kgs[kg].entities) for kg in by_name)])
    joint = [places[kg] + offsets[by_name.index(kg)] for kg in range(len(kgs))]
    seeds, held_out, validation = (moved(part)[0] for part in (task.seeds, task.held_out, task.validation))
    known, order = moved(task.open_seeds.groups)
    open_seeds = OpenSeeds(known, task.open_seeds.looked_in[order][:, by_name])
    ordered = Task([kgs[kg] for kg in by_name], seeds, held_out, validation, open_seeds, name=task.name)
    return ordered, torch.from_numpy(np.concatenate(joint).astype(np.int64))


def places_by_name(task: Task) -> list[np.ndarray]:
    """For each KG its entities' places in the order of all names, KG after KG by name: an order of the data's own."""
    starts = np.cumsum([0, *(len(kg.entities) for kg in sorted(task.kgs, key=lambda kg: kg.name))])
    start_of = dict(zip(sorted(task.kg_names), starts, strict=False))
    return [np.argsort(kg.entities.arg_sort().to_numpy()) + start_of[kg.name] for kg in task.kgs]
