"""Propagator: the embeddings of a round, from any set of marks; one for all KGs, or one for each pair of KGs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from multiea.data.groups import Groups
from multiea.data.task import Task
from multiea.engines.adjacency import Adjacency, OutgoingEdges
from multiea.engines.embeddings import Embeddings
from multiea.engines.propagation import embed
from multiea.kernels.edges import Edges
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
    """Embeds a task from any set of marks, fused with a second view where there is one.

    pools: for each KG the entities that are embedded in rounds.
    """

    def __init__(
        self,
        task: Task,
        settings: AlignSettings,
        second_view: SecondView | None,
        pools: Sequence[np.ndarray],
        device: torch.device,
    ) -> None:
        self._settings, self._second_view, self._kgs, self._pools = settings, second_view, task.kgs, pools
        self.device = device

    @property
    def is_fused(self) -> bool:
        """Whether embeddings of another engine are compared as well."""
        return self._second_view is not None

    @cached_property
    def edges(self) -> list[Edges]:
        """The edges of all KGs, for signatures."""
        return [Edges.of(kg.triples, len(kg.entities), len(kg.relations)) for kg in self._kgs]

    def forget(self, number: int) -> None:
        """Nothing is kept of a round."""

    @cached_property
    def _adjacencies(self) -> list[Adjacency]:
        return [Adjacency(kg, self.device) for kg in self._kgs]

    @cached_property
    def _outgoing(self) -> list[OutgoingEdges]:
        """The outgoing edges of the entities that are embedded in rounds."""
        return [of_kg.outgoing_of(pool) for of_kg, pool in zip(self._adjacencies, self._pools, strict=True)]

    def embed_all(self, marks: Groups, seeds: int, number: int) -> Embeddings:
        """The embeddings of all entities, KG after KG, from marks, of which the first are seeds."""
        return Embeddings.joined(self.embed(marks, seeds, number, is_final=True))

    def embed(self, marks: Groups, seeds: int, number: int, *, is_final: bool = False) -> list[Embeddings]:
        """For each KG the embeddings from marks, of which the first are seeds; of all entities in the end.

        number: of the round.
        """
        view, kgs = self._second_view, range(len(self._kgs))
        weights = mark_weights(marks, seeds, self._settings.bootstrap.partial_weight)
        own = self._embed(kgs, marks, number, weights, is_final=is_final)
        if view is None:
            return own
        others = (view.final if is_final else view.without_validation).split([len(kg.entities) for kg in self._kgs])
        if not is_final:
            others = [other[torch.from_numpy(pool)] for other, pool in zip(others, self._pools, strict=True)]
        return [fuse(one, other, view.weight) for one, other in zip(own, others, strict=True)]

    def embed_pairs(self, marks: Groups, number: int) -> EmbedPair:
        """Embeddings of each pair of KGs from the marks that both have; where marks are uneven, others are noise."""

        def of_pair(a: int, b: int) -> tuple[Embeddings, Embeddings]:
            both = marks.present[:, a] & marks.present[:, b]
            shared = Groups((marks.kg_names[a], marks.kg_names[b]), marks.members[both][:, [a, b]])
            left, right = self._embed((a, b), shared, number, None)
            return left, right

        return of_pair

    def _embed(
        self, kgs: Sequence[int], marks: Groups, number: int, weights: np.ndarray | None, *, is_final: bool = False
    ) -> list[Embeddings]:
        outgoing = None if is_final else [self._outgoing[kg] for kg in kgs]
        adjacencies = [self._adjacencies[kg] for kg in kgs]
        return embed(
            adjacencies, marks, self._settings.propagation, state_of_round(self._settings, number), weights, outgoing
        )


def state_of_round(settings: AlignSettings, number: int) -> int:
    """The random state of a round."""
    return (settings.random_state * 1_000_003 + number) % 2**63


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


def mark_weights(marks: Groups, seeds: int, partial_weight: float) -> np.ndarray:
    """The weight of each mark: one for seeds, which come first, and for complete groups."""
    is_partial_pseudo_label = marks.sizes < len(marks.kg_names)
    is_partial_pseudo_label[:seeds] = False
    return np.where(is_partial_pseudo_label, partial_weight, 1.0)
