"""Propagator: the embeddings of a round, from any set of marks; one for all KGs, or one for each pair of KGs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from multiea.data.groups import Groups
from multiea.data.task import Task
from multiea.engines.adjacency import Adjacency, OutgoingEdges
from multiea.engines.embeddings import Embeddings
from multiea.engines.propagation import embed
from multiea.settings.tree import AlignSettings
from multiea.similarity.many_kgs import MANY
from multiea.similarity.pools import EmbedPair

UNEVEN = 0.5  # marks are uneven if some two KGs share less than this part of what others share


@dataclass(frozen=True)
class SecondView:
    """Embeddings of another engine that are compared as well: made without the validation seeds, and with them."""

    without_validation: Embeddings
    final: Embeddings
    weight: float


class Propagator:
    """Embeds a task from any set of marks, fused with a second view where there is one."""

    def __init__(
        self, task: Task, settings: AlignSettings, second_view: SecondView | None, device: torch.device
    ) -> None:
        self._settings, self._second_view = settings, second_view
        self._sizes = [len(kg.entities) for kg in task.kgs]
        self.device = device
        self.adjacencies = [Adjacency(kg, device) for kg in task.kgs]

    @property
    def is_fused(self) -> bool:
        """Whether embeddings of another engine are compared as well."""
        return self._second_view is not None

    def embed(
        self, marks: Groups, seeds: int, number: int, outgoing: Sequence[OutgoingEdges] | None = None
    ) -> list[Embeddings]:
        """For each KG the embeddings from marks, of which the first are seeds. number: of the round.

        outgoing: the edges of the entities to embed in a round; None for the final embeddings of all entities.
        """
        view = self._second_view
        weights = _mark_weights(marks, seeds, self._settings.bootstrap.partial_weight)
        own = self._embed(self.adjacencies, marks, number, weights, outgoing)
        if view is None:
            return own
        others = (view.final if outgoing is None else view.without_validation).split(self._sizes)
        if outgoing is not None:
            others = [other[edges.entities] for other, edges in zip(others, outgoing, strict=True)]
        return [fuse(one, other, view.weight) for one, other in zip(own, others, strict=True)]

    def embed_pairs(self, marks: Groups, number: int, outgoing: Sequence[OutgoingEdges]) -> EmbedPair:
        """Embeddings of each pair of KGs from the marks that both have; where marks are uneven, others are noise."""

        def of_pair(a: int, b: int) -> tuple[Embeddings, Embeddings]:
            both = marks.present[:, a] & marks.present[:, b]
            shared = Groups((marks.kg_names[a], marks.kg_names[b]), marks.members[both][:, [a, b]])
            edges = [outgoing[a], outgoing[b]]
            left, right = self._embed([self.adjacencies[a], self.adjacencies[b]], shared, number, None, edges)
            return left, right

        return of_pair

    def _embed(
        self,
        adjacencies: Sequence[Adjacency],
        marks: Groups,
        number: int,
        weights: np.ndarray | None,
        outgoing: Sequence[OutgoingEdges] | None,
    ) -> list[Embeddings]:
        random_state = (self._settings.random_state * 1_000_003 + number) % 2**63
        return embed(adjacencies, marks, self._settings.propagation, random_state, weights, outgoing)


def is_uneven(marks: Groups) -> bool:
    """Whether some two KGs share far fewer marks than others do.

    Not where there are many KGs: some two then always do, and each pair would need embeddings of its own.
    """
    if len(marks.kg_names) > MANY:
        return False
    shared = marks.overlap()[np.triu_indices(len(marks.kg_names), 1)]
    return bool(shared.min() < UNEVEN * shared.max())


def fuse(one: Embeddings, other: Embeddings, weight: float) -> Embeddings:
    """Concatenated so that cosines are the weighted sum of both engines' cosines; unit length, zero where both are."""
    own = one.float()
    parts = torch.cat([own * (1 - weight) ** 0.5, other.float().to(own) * weight**0.5], dim=1)
    return Embeddings(torch.div(parts, parts.norm(dim=1, keepdim=True).clamp(min=1e-12)))


def _mark_weights(marks: Groups, seeds: int, partial_weight: float) -> np.ndarray:
    """The weight of each mark: one for seeds, which come first, and for complete groups."""
    is_partial_pseudo_label = marks.sizes < len(marks.kg_names)
    is_partial_pseudo_label[:seeds] = False
    return np.where(is_partial_pseudo_label, partial_weight, 1.0)
