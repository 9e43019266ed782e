"""Propagation: the marks of known groups flow through each KG; what arrives at an entity is its embedding.

The idea of LightEA (Mao et al., 2022), extended to any number of KGs and to partial groups: all members of a group
carry the same random vector, its mark. Two entities are similar if the same marks reach them over similar relations.
Nothing is trained. KGs share random numbers and a few d x d matrices, nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from multiea.data.groups import ABSENT, Groups
from multiea.engines.adjacency import Adjacency, OutgoingEdges
from multiea.engines.damping import damp_and_project
from multiea.settings.propagation import DIMENSIONS_OF_FEW, DIMENSIONS_OF_MANY, FEW_ENTITIES, Propagation

MOST_NUMBERS = 700_000_000  # of all embeddings together, 2.8 GB: with very many entities they become shorter
ENTRIES_AT_ONCE = {"cpu": 1 << 16, "cuda": 1 << 23}  # small sparse products are combined up to this many entries


@dataclass(frozen=True)
class EmbeddingSizes:
    """dimensions: of a mark. relation_numbers: how many numbers describe a relation. width: of an embedding."""

    dimensions: int
    relation_numbers: int
    width: int

    @classmethod
    def of(cls, settings: Propagation, entities: int) -> EmbeddingSizes:
        """The sizes for so many entities, limited by memory."""
        step = 4 * settings.columns
        default = DIMENSIONS_OF_FEW if entities <= FEW_ENTITIES else DIMENSIONS_OF_MANY
        dimensions = settings.dimensions or default // step * step or step
        numbers = settings.relation_numbers or dimensions // 4
        while entities * _width(settings, dimensions, numbers) > MOST_NUMBERS and (dimensions > step or numbers > 1):
            dimensions, numbers = max(step, dimensions // 2 // step * step), max(1, numbers // 2)
        return cls(dimensions, numbers, _width(settings, dimensions, numbers))


def _width(settings: Propagation, dimensions: int, numbers: int) -> int:
    return numbers * settings.columns + dimensions + dimensions // 2 + dimensions // 4


@dataclass(frozen=True)
class _RandomVectors:
    """What all KGs share: random projections and signs, and the mark of each group, (groups, d)."""

    to_relation_numbers: Tensor
    to_relation_view: Tensor
    column_signs: Tensor
    near_signs: Tensor
    marks: Tensor

    @classmethod
    def drawn(
        cls, groups: int, settings: Propagation, sizes: EmbeddingSizes, random_state: int, device: torch.device
    ) -> _RandomVectors:
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
        return cls(*projections, *all_signs, normalize(torch.randn(groups, dimensions, generator=generator)))


@dataclass(frozen=True)
class _Flow:
    """States of entities after 0 to `hops` hops, of relations after 1 to `hops`, and what arrived at each hop."""

    entities: list[Tensor]
    relations: list[Tensor]
    arrived: list[Tensor]


def embed(
    adjacencies: Sequence[Adjacency],
    groups: Groups,
    settings: Propagation,
    random_state: int,
    group_weights: np.ndarray | None = None,
    outgoing: Sequence[OutgoingEdges] | None = None,
) -> Tensor:
    """Embeddings of all entities, KG after KG, (N, width), of unit length; zero where no mark arrives.

    group_weights: the weight of each group's mark, (groups,), one by default. outgoing: for each KG the outgoing edges
    of the entities to embed; all other embeddings stay zero.
    An entity's own mark does not enter its embedding directly, it only returns over neighbours: whether the entity
    belongs to a group is decided by its neighbours.
    """
    device = adjacencies[0].degrees.device
    entities = sum(adjacency.entities for adjacency in adjacencies)
    sizes = EmbeddingSizes.of(settings, entities)
    random = _RandomVectors.drawn(len(groups), settings, sizes, random_state, device)
    marks = random.marks
    if group_weights is not None:
        marks *= torch.from_numpy(group_weights).float()[:, None]
    marks = marks.to(device)
    flows = [
        _flow(adjacency, _marked(adjacency, members, marks), settings)
        for adjacency, members in zip(adjacencies, torch.from_numpy(groups.members.T.astype(np.int64)), strict=True)
    ]
    relation_numbers = damp_and_project(
        [flow.relations for flow in flows], random.to_relation_numbers, settings.relation_discount
    )
    result = torch.zeros(entities, sizes.width, device=device)
    stop = 0
    for kg, (adjacency, flow, numbers) in enumerate(zip(adjacencies, flows, relation_numbers, strict=True)):
        start, stop = stop, stop + adjacency.entities
        edges = adjacency.outgoing if outgoing is None else outgoing[kg]
        rows = result[start:stop] if outgoing is None else result.new_empty(len(edges.entities), sizes.width)
        _write_views(rows, _views(flow, edges, numbers, random, settings, is_part=outgoing is not None), settings)
        if outgoing is not None:
            result[start:stop].index_copy_(0, edges.entities, rows)
    return result


def _marked(adjacency: Adjacency, members: Tensor, marks: Tensor) -> Tensor:
    """The initial state of a KG, (n, d): the marks of its members, zero elsewhere."""
    state = torch.zeros(adjacency.entities, marks.shape[1], device=marks.device)
    known = members != ABSENT
    state[members[known].to(marks.device)] = marks[known.to(marks.device)]
    return state


def _flow(adjacency: Adjacency, state: Tensor, settings: Propagation) -> _Flow:
    flow = _Flow([state], [], [])
    relation_state = state.new_zeros(adjacency.relations, state.shape[1])
    for _ in range(settings.hops):
        spread = adjacency.neighbours @ state
        kept = state * (settings.own_weight * adjacency.degrees)[:, None]
        after = normalize(spread + adjacency.tails @ relation_state + kept)
        relation_state = normalize(adjacency.heads @ state)
        state = after
        flow.arrived.append(normalize(spread))
        flow.entities.append(state)
        flow.relations.append(relation_state)
    flow.arrived.append(normalize(adjacency.neighbours @ state))
    return flow


def _views(
    flow: _Flow, edges: OutgoingEdges, numbers: Tensor, random: _RandomVectors, settings: Propagation, *, is_part: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The four views: neighbours by relation, marks at the last hop, nearer marks, relations only."""
    columns = normalize(_fold(flow.entities, random.column_signs))
    arrived = [state.index_select(0, edges.entities) if is_part else state for state in flow.arrived]
    near = _fold(arrived[:-1], random.near_signs)
    half = near.shape[1] // 2
    return (
        _neighbours_by_relation(edges, columns, numbers, settings.columns),
        arrived[-1],
        near[:, :half] + near[:, half:],
        edges.relations @ (torch.cat(flow.relations, 1) @ random.to_relation_view),
    )


def _write_views(rows: Tensor, views: Sequence[Tensor], settings: Propagation) -> None:
    """Writes the weighted views side by side into rows, which then have unit length."""
    start = 0
    for weight, view in zip(settings.view_weights, views, strict=True):
        rows[:, start : start + view.shape[1]] = normalize(view).mul_(math.sqrt(weight))
        start += view.shape[1]
    rows /= rows.norm(dim=1, keepdim=True).clamp(min=1e-12)


def _fold(states: Sequence[Tensor], signs: Tensor) -> Tensor:
    """States of several hops in the space of one: random signs separate them, as a random projection does."""
    total = states[0] * signs[0]
    for state, hop_signs in zip(states[1:], signs[1:], strict=True):
        total.addcmul_(state, hop_signs)
    return total


def _neighbours_by_relation(edges: OutgoingEdges, columns: Tensor, numbers: Tensor, width: int) -> Tensor:
    """A sketch of the sum over edges of (relation's numbers) x (neighbour's columns), (m, K * width).

    For each number of the relations, some columns of the neighbours flow through edges weighted by that number.
    """
    parts = columns.view(len(columns), -1, width).transpose(0, 1).contiguous()  # (parts, n, width)
    entry_weights = (edges.relations_of_entry @ numbers).t().contiguous()  # (K, entries)
    result = columns.new_empty(len(edges.entities), len(entry_weights), width)
    at_once = max(1, ENTRIES_AT_ONCE.get(columns.device.type, 1) // max(1, edges.pattern.entries))
    at_once = math.gcd(1 << (at_once.bit_length() - 1), len(parts))
    for start in range(0, len(entry_weights), at_once):
        weights = entry_weights[start : start + at_once]
        some = parts[start % len(parts) :][: len(weights)].reshape(-1, width)
        product = edges.pattern.repeated(weights) @ some
        result[:, start : start + len(weights)] = product.view(len(weights), -1, width).transpose(0, 1)
    return result.flatten(1)
