"""The canonical order of a task, in which it is aligned, and the way back to the order in which it came."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.graph.joint_graph import canonical
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.matching import FoundGroups
from multiea.similarity.enhancement import Pairs
from multiea.similarity.signatures import Signatures


@dataclass(frozen=True)
class Order:
    """task: as it came. ordered: in its canonical order. places: for each entity of the task its joint id there."""

    task: Task
    ordered: Task
    places: np.ndarray

    @classmethod
    def of(cls, task: Task) -> Order:
        """The order of a task, which depends on its names alone."""
        ordered, places = canonical(task)
        return cls(task, ordered, places.numpy())

    def kept(self, found: FoundGroups) -> FoundGroups:
        """Groups over the task in the canonical order, and themselves in an order that depends on their members."""
        starts = np.cumsum([0, *(len(kg.entities) for kg in self.task.kgs)])
        there = dict(
            zip(self.ordered.kg_names, np.cumsum([0, *(len(kg.entities) for kg in self.ordered.kgs)]), strict=False)
        )
        members = np.full(found.groups.members.shape, ABSENT, dtype=np.int32)
        for column, kg in enumerate(self.task.kgs):
            present = found.groups.present[:, column]
            joint = self.places[starts[column] + found.groups.members[present, column]]
            members[present, column] = joint - there[kg.name]
        moved = replace(found, groups=Groups(self.task.kg_names, members)).over(self.ordered.kg_names)
        return moved.take(np.lexsort(moved.groups.members.T))

    def embeddings_back(self, embeddings: torch.Tensor) -> torch.Tensor:
        """Those of all entities, in the order in which these came."""
        return embeddings[torch.from_numpy(self.places).to(embeddings.device)]

    def signatures_back(self, signatures: Signatures | None) -> Signatures | None:
        """Those of all entities, where there are any."""
        return None if signatures is None else signatures[self.places]

    def found_back(self, found: FoundGroups) -> FoundGroups:
        """Found groups, by the task's own numbers of KGs and positions."""
        members = np.full(found.groups.members.shape, ABSENT, dtype=np.int32)
        for there, position in self._positions():
            present = found.groups.present[:, there]
            members[present, there] = position[found.groups.members[present, there]]
        return replace(found, groups=Groups(self.ordered.kg_names, members)).over(self.task.kg_names)

    def duplicates_back(self, found: Duplicates) -> Duplicates:
        """Duplicates, by the task's own numbers of KGs and positions."""
        kg, entity = found.kg.copy(), found.entity.copy()
        for here, (there, position) in enumerate(self._positions()):
            own = found.kg == there
            kg[own], entity[own] = here, position[found.entity[own]]
        return Duplicates(found.group, kg, entity, found.confidence)

    def scores_back(self, scores: Pairs, pools: list[np.ndarray]) -> tuple[Pairs, list[np.ndarray]]:
        """Scores by the task's own numbers of KGs, and the pools by its own positions."""
        positions = self._positions()
        here = {there: kg for kg, (there, _) in enumerate(positions)}
        own = [position[pools[there]] for there, position in positions]
        return {(here[a], here[b]): matrix for (a, b), matrix in scores.items()}, own

    def _positions(self) -> list[tuple[int, np.ndarray]]:
        """For each KG its place in the canonical order, and for each of its entities there the position here."""
        starts = np.cumsum([0, *(len(kg.entities) for kg in self.ordered.kgs)])
        result, stop = [], 0
        for kg in self.task.kgs:
            start, stop = stop, stop + len(kg.entities)
            there = self.ordered.kg_names.index(kg.name)
            result.append((there, np.argsort(self.places[start:stop] - starts[there])))
        return result
