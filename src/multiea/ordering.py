"""The canonical order of a task, in which it is aligned, and the way back to the order in which it came."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.engines.signatures import Signatures
from multiea.graph import canonical
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.mutual import FoundGroups
from multiea.similarity.enhancement import Pairs


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
        groups = Groups.from_names(self.ordered.kgs, found.groups.names(self.task.kgs))
        columns = [self.task.kg_names.index(name) for name in self.ordered.kg_names]
        moved = FoundGroups.of_members(groups, found.confidence[:, columns])
        return moved.take(np.lexsort(groups.members.T))

    def embeddings_back(self, embeddings: torch.Tensor) -> torch.Tensor:
        """Those of all entities, in the order in which these came."""
        return embeddings[torch.from_numpy(self.places).to(embeddings.device)]

    def signatures_back(self, signatures: Signatures | None) -> Signatures | None:
        """Those of all entities, where there are any."""
        return None if signatures is None else signatures[self.places]

    def found_back(self, found: FoundGroups) -> FoundGroups:
        """Found groups, by the task's own numbers of KGs and positions."""
        members, columns = [], []
        for there, position in self._positions():
            own = found.groups.members[:, there]
            members.append(np.where(own == ABSENT, ABSENT, position[own]).astype(np.int32))
            columns.append(there)
        groups = Groups(self.task.kg_names, np.stack(members, axis=1))
        of_pairs, matched = (part[:, columns][:, :, columns] for part in (found.of_pairs, found.matched))
        return FoundGroups(groups, found.confidence[:, columns], of_pairs, matched)

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
