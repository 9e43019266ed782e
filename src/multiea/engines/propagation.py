"""Propagation: the marks of known groups flow through each KG; what arrives at an entity is its embedding.

The idea of LightEA (Mao et al., 2022), extended to any number of KGs and to partial groups: all members of a group
carry the same random vector, its mark. Two entities are similar if the same marks reach them over similar relations.
Nothing is trained. KGs share random numbers and a few d x d matrices, nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from multiea.data.groups import ABSENT, Groups
from multiea.engines.adjacency import Adjacency, OutgoingEdges
from multiea.engines.damping import damp_and_project, principal_numbers
from multiea.engines.embeddings import Embeddings, normalise_rows, row_blocks
from multiea.settings.propagation import (
    FEW_ENTITIES,
    MANY_ENTITIES,
    PRINCIPAL_FROM,
    VERY_MANY_ENTITIES,
    Propagation,
    default_dimensions,
)

MOST_KEPT = 1 << 28  # numbers of the states of all KGs: up to so many they are kept for a moment
ENTRIES_AT_ONCE = {"cpu": 1 << 16, "cuda": 1 << 23}  # small sparse products are combined up to this many entries


@dataclass(frozen=True)
class EmbeddingSizes:
    """dimensions: of a mark. relation_numbers: how many numbers describe a relation. width: of an embedding.

    are_principal: whether these numbers are of principal directions, not of random ones.
    """

    dimensions: int
    relation_numbers: int
    width: int
    are_principal: bool = False

    @classmethod
    def of(cls, settings: Propagation, entities: int, many: int = MANY_ENTITIES) -> EmbeddingSizes:
        """The sizes for so many entities; many: up to so many marks stay long."""
        step = 4 * settings.columns
        dimensions = settings.dimensions or default_dimensions(entities, many) // step * step or step
        numbers = settings.relation_numbers or dimensions // 4
        width = numbers * settings.columns + dimensions + dimensions // 2 + dimensions // 4
        return cls(dimensions, numbers, width, entities > PRINCIPAL_FROM)

    def describe(
        self, relations: Sequence[Sequence[Tensor]], random: RandomVectors, settings: Propagation
    ) -> list[Tensor]:
        """For each KG the numbers of its relations, from their states after each hop."""
        describe = principal_numbers if self.are_principal else damp_and_project
        return describe(relations, random.to_relation_numbers, settings.relation_discount)


@dataclass(frozen=True)
class RandomVectors:
    """What all KGs share: random projections and signs, and the mark of each group, (groups, d).

    seed_of_marks: for marks that are made of hashes instead, where they are many.
    """

    to_relation_numbers: Tensor
    to_relation_view: Tensor
    column_signs: Tensor
    near_signs: Tensor
    marks: Tensor
    seed_of_marks: int

    @classmethod
    def drawn(
        cls, groups: int, settings: Propagation, sizes: EmbeddingSizes, random_state: int, device: torch.device
    ) -> RandomVectors:
        """Drawn on the CPU, so that every device gets the same numbers."""
        generator = torch.Generator().manual_seed(random_state)
        hops, dimensions = settings.hops, sizes.dimensions

        def projection(columns: int) -> Tensor:
            matrix = torch.randn(hops * dimensions, columns, generator=generator) / math.sqrt(columns)
            return matrix.to(device)

        def signs(count: int) -> Tensor:
            return torch.randn(count, dimensions, generator=generator).sign_().to(device)

        projections = projection(sizes.relation_numbers), projection(dimensions // 4)
        all_signs = signs(hops + 1), signs(hops)
        marks = normalise_rows(torch.randn(groups, dimensions, generator=generator))
        return cls(*projections, *all_signs, marks, int(torch.randint(2**62, (1,), generator=generator)))


@dataclass(frozen=True)
class _Flow:
    """What flows through a KG. columns: what neighbours pass on, from the states after 0 to `hops` hops. near, last:
    what arrived at nearer hops and at the last one. relations: their states after 1 to `hops` hops.
    """

    columns: Tensor
    near: Tensor
    last: Tensor
    relations: list[Tensor]


def embed(
    adjacencies: Sequence[Adjacency],
    groups: Groups,
    settings: Propagation,
    random_state: int,
    group_weights: np.ndarray | None = None,
    outgoing: Sequence[OutgoingEdges] | None = None,
) -> list[Embeddings]:
    """For each KG the embeddings of its entities, (n, width), of unit length; zero where no mark arrives.

    group_weights: the weight of each group's mark, (groups,), one by default. outgoing: for each KG the outgoing edges
    of the entities to embed; by default of all. On a CPU embeddings are in 8 bits, except the final ones where
    entities are few.
    An entity's own mark does not enter its embedding directly, it only returns over neighbours: whether the entity
    belongs to a group is decided by its neighbours.
    """
    device = adjacencies[0].degrees.device
    entities = sum(adjacency.entities for adjacency in adjacencies)
    sizes = EmbeddingSizes.of(settings, entities, VERY_MANY_ENTITIES if device.type == "cuda" else MANY_ENTITIES)
    random = RandomVectors.drawn(len(groups), settings, sizes, random_state, device)
    marks = random.marks
    if group_weights is not None:
        marks *= torch.from_numpy(group_weights).float()[:, None]
    marks = marks.to(device)
    members = torch.from_numpy(groups.members.T.astype(np.int64))

    def flow(kg: int) -> _Flow:
        return _flow(adjacencies[kg], _marked(adjacencies[kg], members[kg], marks), random, settings)

    in_8_bits = device.type == "cpu" and (outgoing is not None or entities > FEW_ENTITIES)
    is_kept = entities * sizes.dimensions <= MOST_KEPT  # otherwise it flows a second time, to save memory
    flows = {}
    relations = []
    for kg in range(len(adjacencies)):
        flowed = flow(kg)
        relations.append(flowed.relations)
        if is_kept:
            flows[kg] = flowed
        del flowed
    numbers = sizes.describe(relations, random, settings)
    edges = [adjacency.outgoing for adjacency in adjacencies] if outgoing is None else outgoing
    result = _empty([len(of_kg.entities) for of_kg in edges], sizes.width, device, in_8_bits=in_8_bits)
    for kg, embeddings in enumerate(result):
        views = _Views(flows.pop(kg) if is_kept else flow(kg), numbers[kg], random, settings)
        _embed_kg(embeddings, views, edges[kg])
    return result


def _empty(counts: Sequence[int], width: int, device: torch.device, *, in_8_bits: bool) -> list[Embeddings]:
    """Embeddings of each KG to be written to; next to each other, as all are needed together in the end."""
    if in_8_bits:
        return [Embeddings.empty_in_8_bits(count, width) for count in counts]
    return Embeddings(torch.empty(sum(counts), width, device=device)).split(counts)


def _embed_kg(embeddings: Embeddings, views: _Views, edges: OutgoingEdges) -> None:
    """Writes the embeddings of the entities of some edges; those in 8 bits from a few rows at a time."""
    if embeddings.scale is None:
        write = views.of(edges)
        for place in row_blocks(embeddings.numbers):
            write(place, embeddings.numbers[place])
        return
    for start, some in edges.blocks():
        write, buffer = views.of(some), None
        for place in row_blocks(embeddings.numbers[start : start + len(some.entities)]):
            buffer = torch.empty(place.stop, embeddings.shape[1]) if buffer is None else buffer
            rows = buffer[: place.stop - place.start]
            write(place, rows)
            embeddings.write(start + place.start, rows)


def _marked(adjacency: Adjacency, members: Tensor, marks: Tensor) -> Tensor:
    """The initial state of a KG, (n, d): the marks of its members, zero elsewhere."""
    state = torch.zeros(adjacency.entities, marks.shape[1], device=marks.device)
    known = members != ABSENT
    state[members[known].to(marks.device)] = marks[known.to(marks.device)]
    return state


def _flow(adjacency: Adjacency, state: Tensor, random: RandomVectors, settings: Propagation) -> _Flow:
    relations: list[Tensor] = []
    relation_state = state.new_zeros(adjacency.relations, state.shape[1])
    columns = state * random.column_signs[0]  # random signs separate hops in one space, as a random projection does
    near = torch.zeros_like(state)
    for hop in range(settings.hops):
        spread, relation_after = adjacency.neighbours @ state, normalise_rows(adjacency.heads @ state)
        kept = state.mul_((settings.own_weight * adjacency.degrees)[:, None])
        state = normalise_rows((adjacency.tails @ relation_state).add_(spread).add_(kept))
        relation_state = relation_after
        near.addcmul_(normalise_rows(spread), random.near_signs[hop])
        columns.addcmul_(state, random.column_signs[hop + 1])
        relations.append(relation_state)
    half = near.shape[1] // 2
    last = normalise_rows(adjacency.neighbours @ state)
    return _Flow(normalise_rows(columns), near[:, :half] + near[:, half:], last, relations)


class _Views:
    """The four views of entities: neighbours by relation, marks at the last hop, nearer marks, relations only."""

    def __init__(self, flow: _Flow, numbers: Tensor, random: RandomVectors, settings: Propagation) -> None:
        self._near, self._last, self._numbers, self._weights = flow.near, flow.last, numbers, settings.view_weights
        parts = flow.columns.view(len(flow.columns), -1, settings.columns)
        self._parts = parts.transpose(0, 1).contiguous()  # (parts, n, columns)
        self._relations = torch.cat(flow.relations, 1) @ random.to_relation_view

    def of(self, edges: OutgoingEdges) -> Callable[[slice, Tensor], None]:
        """A function that writes the weighted views of some of the entities side by side into rows of unit length.

        It takes the place of the entities among those that the edges leave, and the rows.
        """
        by_relation = _neighbours_by_relation(edges, self._parts, self._numbers)
        of_relations: Tensor = edges.relations @ self._relations

        def write(place: slice, rows: Tensor) -> None:
            last, near = (part.index_select(0, edges.entities[place]) for part in (self._last, self._near))
            start = 0
            for weight, view in zip(self._weights, (by_relation[place], last, near, of_relations[place]), strict=True):
                part = rows[:, start : start + view.shape[1]]
                normalise_rows(view, out=part).mul_(math.sqrt(weight))
                start += view.shape[1]
            normalise_rows(rows)

        return write


def _neighbours_by_relation(edges: OutgoingEdges, parts: Tensor, numbers: Tensor) -> Tensor:
    """A sketch of the sum over edges of (relation's numbers) x (neighbour's columns), (m, K * width).

    For each number of the relations, some columns of the neighbours flow through edges weighted by that number. parts:
    all columns, (parts, n, width).
    """
    width = parts.shape[2]
    entry_weights = (edges.relations_of_entry @ numbers).t().contiguous()  # (K, entries)
    result = parts.new_empty(len(edges.entities), len(entry_weights) * width)
    at_once = max(1, ENTRIES_AT_ONCE.get(parts.device.type, 1) // max(1, edges.pattern.entries))
    at_once = math.gcd(1 << (at_once.bit_length() - 1), len(parts))
    for start in range(0, len(entry_weights), at_once):
        weights = entry_weights[start : start + at_once]
        some = parts[start % len(parts) :][: len(weights)].reshape(-1, width)
        product = edges.pattern.repeated(weights) @ some
        result[:, start * width :][:, : len(weights) * width] = product.view(len(result), len(weights) * width)
    return result
