"""Propagation in large KGs: the same flow and views, by kernels that read states in 16 bits, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from multiea.data.groups import ABSENT, Groups
from multiea.engines.damping import damp_and_project
from multiea.engines.embeddings import Embeddings
from multiea.engines.propagation import EmbeddingSizes, RandomVectors
from multiea.kernels.compiling import use_threads
from multiea.kernels.edges import Edges
from multiea.kernels.flow import hop, sum_of_heads, to_unit_length, write_marks
from multiea.kernels.views import write_views
from multiea.settings.propagation import Propagation

State = tuple[np.ndarray, np.ndarray]  # numbers (n, d) and scales (n,)


@dataclass(frozen=True)
class Flowed:
    """What flows through a KG, as in engines/propagation. relations: their states after each hop, (hops, 2R, d)."""

    columns: State
    last: State
    near: State
    relations: np.ndarray


def embed(
    edges: Sequence[Edges],
    groups: Groups,
    settings: Propagation,
    random_state: int,
    group_weights: np.ndarray | None = None,
    entities: Sequence[np.ndarray] | None = None,
) -> Embeddings:
    """The same embeddings as those of engines/propagation, of other random marks; in 8 bits, KG after KG.

    entities: those of each KG to embed; by default all.
    """
    use_threads()
    sizes = EmbeddingSizes.of(settings, sum(of_kg.entities for of_kg in edges))
    random = RandomVectors.drawn(0, settings, sizes, random_state, torch.device("cpu"))
    weights = np.ones(len(groups), np.float32) if group_weights is None else group_weights.astype(np.float32)
    flows = []
    for of_kg, members in zip(edges, groups.members.T, strict=True):
        mark = np.full(of_kg.entities, ABSENT, np.int32)
        mark[members[members != ABSENT]] = np.flatnonzero(members != ABSENT)
        flows.append(flow(of_kg, mark, weights, random, settings))
    relations = [[torch.from_numpy(state) for state in flowed.relations] for flowed in flows]
    numbers = damp_and_project(relations, random.to_relation_numbers, settings.relation_discount)
    entities = [np.arange(of_kg.entities) for of_kg in edges] if entities is None else entities
    joint = Embeddings.empty_in_8_bits(sum(map(len, entities)), sizes.width)
    for kg, part in enumerate(joint.split(map(len, entities))):
        own_view = torch.cat(relations[kg], 1) @ random.to_relation_view
        views(edges[kg], flows[kg], (numbers[kg], own_view), entities[kg], settings, part)
        flows[kg] = None  # type: ignore[call-overload]  # its memory is needed for the next ones
    return joint


def flow(edges: Edges, mark: np.ndarray, weights: np.ndarray, random: RandomVectors, settings: Propagation) -> Flowed:
    """Marks flow over all hops. mark: (n,) of each entity, -1 for none; weights: (marks,)."""
    count, dimensions = edges.entities, random.column_signs.shape[1]
    column_signs, near_signs = random.column_signs.numpy(), random.near_signs.numpy()
    of_edges = (edges.starts, edges.tail, edges.relation_starts, edges.incoming)
    state, columns = _empty(count, dimensions), _empty(count, dimensions)
    near = _empty(count, dimensions // 2)
    write_marks(mark, weights, random.seed_of_marks, state, column_signs[0], columns)
    relations = np.zeros((settings.hops + 1, edges.relations, dimensions), np.float32)
    after = _empty(count, dimensions)
    for number in range(settings.hops):
        relations[number + 1] = _unit(sum_of_heads(edges.head_starts, edges.heads, *state))
        signs = np.stack([near_signs[number], column_signs[number + 1]])
        hop(of_edges, state, relations[number], settings.own_weight, signs, (*near, *columns), after)
        state, after = after, state
    to_unit_length(*columns)
    return Flowed(columns, state, near, relations[1:])


def views(
    edges: Edges,
    flowed: Flowed,
    relations: tuple[torch.Tensor, torch.Tensor],
    entities: np.ndarray,
    settings: Propagation,
    result: Embeddings,
) -> None:
    """Writes the embeddings of some entities. relations: their numbers, and a view of their own."""
    assert result.scale is not None
    write_views(
        entities,
        (edges.starts, edges.tail, edges.relation, edges.relation_starts, edges.incoming),
        flowed.columns,
        flowed.last,
        flowed.near,
        (*(part.contiguous().numpy() for part in relations), settings.columns),
        np.array(settings.view_weights, np.float32),
        (result.numbers.numpy(), result.scale.numpy()),
    )


def _empty(count: int, dimensions: int) -> State:
    return np.empty((count, dimensions), np.int16), np.zeros(count, np.float32)


def _unit(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))
