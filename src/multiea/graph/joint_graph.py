"""All KGs of a task as one graph, in tensors: which entities are neighbours, by which relation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.foundation.offsets import offsets


@dataclass(frozen=True)
class JointGraph:
    """The neighbourhoods of all entities in one id space; there are no edges between KGs.

    entity_offsets, relation_offsets: (M + 1,) where each KG's entities and relations begin. The last relation is the
    self-relation, shared by all KGs. entity, relation, neighbour: (edges,) the tuples <r_k, e_j> in N_i, each once,
    sorted by entity: both directions of each triple, and each entity as its own neighbour (eqs. 1-3). triples: (T, 3)
    the given triples as head, relation and tail, each once.
    """

    entity_offsets: tuple[int, ...]
    relation_offsets: tuple[int, ...]
    entity: Tensor
    relation: Tensor
    neighbour: Tensor
    triples: Tensor

    @property
    def entities(self) -> int:
        """The number of entities of all KGs."""
        return self.entity_offsets[-1]

    @property
    def relations(self) -> int:
        """The number of relations of all KGs, including the self-relation."""
        return self.relation_offsets[-1] + 1

    def degrees(self) -> Tensor:
        """The number of neighbours of each entity other than itself, (N,)."""
        others = self.relation != self.relation_offsets[-1]
        return torch.bincount(self.entity[others], minlength=self.entities)

    def joint_ids(self, groups: Groups) -> Tensor:
        """The members of groups in the joint id space, (groups, M), -1 where a KG has no member."""
        starts = np.asarray(self.entity_offsets[:-1])
        ids = np.where(groups.members == ABSENT, ABSENT, groups.members + starts)
        return torch.from_numpy(ids.astype(np.int64)).to(self.entity.device)


def joint_graph(task: Task, device: torch.device | str = "cpu") -> JointGraph:
    """The KGs of a task as one graph."""
    entity_offsets, relation_offsets = task.entity_offsets, offsets(len(kg.relations) for kg in task.kgs)
    triples = np.concatenate(
        [
            kg.triples.astype(np.int64) + np.array([entities, relations, entities])
            for kg, entities, relations in zip(task.kgs, entity_offsets, relation_offsets, strict=False)
        ]
    )
    heads, relations, tails = triples.T
    everyone = np.arange(entity_offsets[-1])
    self_relation = np.full(len(everyone), relation_offsets[-1])
    entity, neighbour = np.r_[heads, tails, everyone], np.r_[tails, heads, everyone]
    relation = np.r_[relations, relations, self_relation]
    edges = torch.from_numpy(np.stack([entity, relation, neighbour]).astype(np.int64))
    entity, relation, neighbour = torch.unique(edges, dim=1).to(device)
    return JointGraph(
        tuple(entity_offsets.tolist()),
        tuple(relation_offsets.tolist()),
        entity,
        relation,
        neighbour,
        torch.unique(torch.from_numpy(triples), dim=0).to(device),
    )
