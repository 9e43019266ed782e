"""Propagation: labels of known groups flow through each KG alone; what arrives at an entity is its embedding.

The idea of LightEA (Mao et al., 2022), taken to any number of KGs and to partial groups: all members of a group carry
one random vector. Two entities are alike where the same labels reach them over relations that are alike. There is
nothing to train. KGs share random numbers and a few d x d matrices, nothing else.
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
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.foundation.errors import SettingError, check_share
from multiea.graph.sparse import Pattern
from multiea.settings.fields import setting

LEAST_LENGTH = 0.01  # of a direction, against the mean: shorter ones are mostly noise
ROWS_THAT_TELL_DIRECTIONS = 1 << 13
FEW_ENTITIES = 30_000  # for so many, longer labels take little time
MANY, USUAL = 768, 512  # dimensions for few entities and for more
MOST_NUMBERS = 700_000_000  # of all embeddings together, 2.8 GB: very many entities get shorter ones

ENTRIES_AT_ONCE = {"cpu": 1 << 16, "cuda": 1 << 23}  # of sparse matrices, multiplied as one where they are small


@dataclass(frozen=True)
class Propagation:
    """How labels flow, and what counts of that which arrives."""

    dimensions: int | None = setting(None, "Numbers of a label; by default the more, the fewer entities there are.")
    relation_numbers: int | None = setting(
        None, "How many numbers tell a relation; by default a quarter of the dimensions."
    )
    columns: int = setting(16, "Columns of the neighbours with which each number of a relation is seen.")
    hops: int = setting(2, "How far labels flow.")
    own_weight: float = setting(0.5, "What an entity keeps of its own vector in a hop, a multiple of its degree.")
    view_weights: tuple[float, float, float, float] = setting(
        (14.0, 3.0, 1.3, 1.3),
        "Weights of what neighbours hold, by relations; of labels at hops + 1; of nearer ones; of relations alone.",
    )
    relation_discount: float = setting(
        0.5, "How much directions that dominate among relations are damped: 0 not, 1 until all are equal."
    )

    def __post_init__(self) -> None:
        for name in ("dimensions", "relation_numbers", "columns", "hops"):
            value = getattr(self, name)
            may_lack = value is None and name in ("dimensions", "relation_numbers")
            if not may_lack and (not isinstance(value, int) or value < 1):
                raise SettingError(f"propagation.{name} must be a whole number from 1, got {value!r}")
        if self.dimensions is not None and self.dimensions % (4 * self.columns):
            raise SettingError(f"propagation.dimensions must be a multiple of 4 x columns ({4 * self.columns})")
        if not 0 <= self.own_weight < math.inf:
            raise SettingError(f"propagation.own_weight must be at least 0, got {self.own_weight}")
        weights = self.view_weights
        if len(weights) != 4 or not all(0 <= weight < math.inf for weight in weights) or not any(weights):
            raise SettingError(
                f"propagation.view_weights must be four numbers from 0, not all of them 0, got {weights}"
            )
        check_share("propagation.relation_discount", self.relation_discount)

    def sizes(self, entities: int) -> tuple[int, int]:
        """Dimensions and numbers of a relation for so many entities: not longer than memory bears."""
        step = 4 * self.columns
        dimensions = self.dimensions or (MANY if entities <= FEW_ENTITIES else USUAL) // step * step or step
        numbers = self.relation_numbers or dimensions // 4
        while entities * self.width(dimensions, numbers) > MOST_NUMBERS and (dimensions > step or numbers > 1):
            dimensions, numbers = max(step, dimensions // 2 // step * step), max(1, numbers // 2)
        return dimensions, numbers

    def width(self, dimensions: int, numbers: int) -> int:
        """Numbers of one embedding."""
        return numbers * self.columns + dimensions + dimensions // 2 + dimensions // 4


class Wiring:
    """One KG's edges, in both directions, as the sparse matrices labels flow through."""

    def __init__(self, kg: KnowledgeGraph, device: torch.device | str = "cpu") -> None:
        count, relations = len(kg.entities), len(kg.relations)
        head, relation, tail = torch.from_numpy(kg.triples.astype(np.int64).T).to(device)
        head, tail = torch.cat([head, tail]), torch.cat([tail, head])
        relation = torch.cat([relation, relation + relations])
        self.entities, self.relations = count, 2 * relations
        self._edges = head, relation, tail
        self.all_eyes = Eyes(torch.arange(count, device=device), *self._edges, (count, 2 * relations))
        pattern = self.all_eyes.pattern
        self.degrees = torch.bincount(head, minlength=count).float()  # (n,)
        self.neighbours = pattern.matrix(pattern.sum_edges(torch.ones(len(head), device=device)))  # (n, n) edges
        self.heads = _binary(relation, head, (2 * relations, count))
        self.tails = self.all_eyes.relations

    def eyes_of(self, entities: np.ndarray) -> Eyes:
        """What some of the entities see."""
        chosen = torch.from_numpy(entities.astype(np.int64)).to(self.degrees.device)
        place = torch.full((self.entities,), ABSENT, device=chosen.device)
        place[chosen] = torch.arange(len(chosen), device=chosen.device)
        head, relation, tail = self._edges
        theirs = torch.nonzero(place.index_select(0, head) != ABSENT)[:, 0]
        row, by, to = (part.index_select(0, theirs) for part in (place.index_select(0, head), relation, tail))
        return Eyes(chosen, row, by, to, (self.entities, self.relations))


class Eyes:
    """The edges that leave some entities, by which these see their neighbours and the relations to them.

    entities: (m,) whose they are; row, relation, tail: of each edge, row being the number among these entities.
    """

    def __init__(self, entities: Tensor, row: Tensor, relation: Tensor, tail: Tensor, sizes: tuple[int, int]) -> None:
        count, relations = sizes
        self.entities = entities
        self.pattern = Pattern(row, tail, (len(entities), count))
        of_entry = Pattern(self.pattern.entry, relation, (self.pattern.entries, relations))
        ones = torch.ones(len(row), device=row.device)
        self.relations_of_entry = of_entry.matrix(of_entry.sum_edges(ones))  # (entries, 2r)
        inverse = torch.where(relation < relations // 2, relation + relations // 2, relation - relations // 2)
        self.relations = _binary(row, inverse, (len(entities), relations))  # those of which each is a tail


@dataclass(frozen=True)
class _Flow:
    """States of entities after 0 to `hops` hops, of relations after 1 to `hops`; what neighbours held at each hop."""

    entities: list[Tensor]
    relations: list[Tensor]
    arrived: list[Tensor]


def embed(
    wirings: Sequence[Wiring],
    groups: Groups,
    settings: Propagation,
    random_state: int,
    weights_of_groups: np.ndarray | None = None,
    eyes: Sequence[Eyes] | None = None,
) -> Tensor:
    """Embeddings of all entities, KG after KG, (N, width), of unit length; zero where no label arrives.

    weights_of_groups: how much each group's label counts, (groups,), one without. eyes: for each KG those of the
    entities whose embeddings are wanted; all others stay zero.
    An entity's own label does not enter its embedding directly, it only comes back over neighbours: whether it belongs
    to a group is told by these.
    """
    device = wirings[0].degrees.device
    generator = torch.Generator().manual_seed(random_state)
    entities, hops = sum(wiring.entities for wiring in wirings), settings.hops
    dimensions, numbers = settings.sizes(entities)

    def signs(count: int) -> Tensor:
        return torch.randn(count, dimensions, generator=generator).sign_().to(device)

    def projection(columns: int) -> Tensor:
        matrix = torch.randn(hops * dimensions, columns, generator=generator) / math.sqrt(columns)
        return matrix.to(device)

    to_numbers, to_kinds = projection(numbers), projection(dimensions // 4)
    for_columns, for_near = signs(hops + 1), signs(hops)
    labels = normalize(torch.randn(len(groups), dimensions, generator=generator))
    if weights_of_groups is not None:
        labels *= torch.from_numpy(weights_of_groups).float()[:, None]
    labels = labels.to(device)
    flows = []
    for wiring, members in zip(wirings, torch.from_numpy(groups.members.T.astype(np.int64)), strict=True):
        start = torch.zeros(wiring.entities, dimensions, device=device)
        known = members != ABSENT
        start[members[known].to(device)] = labels[known.to(device)]
        flows.append(_flow(wiring, start, settings))
    of_relations = _damped([flow.relations for flow in flows], to_numbers, settings.relation_discount)
    weights = [math.sqrt(weight) for weight in settings.view_weights]
    result = torch.zeros(entities, settings.width(dimensions, numbers), device=device)
    stop = 0
    for number, (wiring, flow, own_numbers) in enumerate(zip(wirings, flows, of_relations, strict=True)):
        start_row, stop = stop, stop + wiring.entities
        seeing = wiring.all_eyes if eyes is None else eyes[number]
        columns = normalize(_folded(flow.entities, for_columns))
        arrived = [state.index_select(0, seeing.entities) if eyes else state for state in flow.arrived]
        near = _folded(arrived[:-1], for_near)
        views = (
            _by_relations(seeing, columns, own_numbers, settings.columns),
            arrived[-1],
            near[:, : dimensions // 2] + near[:, dimensions // 2 :],
            seeing.relations @ (torch.cat(flow.relations, 1) @ to_kinds),
        )
        rows = result[start_row:stop] if eyes is None else result.new_empty(len(arrived[0]), result.shape[1])
        at = 0
        for weight, view in zip(weights, views, strict=True):
            rows[:, at : at + view.shape[1]] = normalize(view).mul_(weight)
            at += view.shape[1]
        rows /= rows.norm(dim=1, keepdim=True).clamp(min=1e-12)
        if eyes is not None:
            result[start_row:stop].index_copy_(0, seeing.entities, rows)
    return result


def _folded(states: Sequence[Tensor], signs: Tensor) -> Tensor:
    """States of several hops in the space of one: random signs tell them apart, as a random projection would."""
    total = states[0] * signs[0]
    for state, of_hop in zip(states[1:], signs[1:], strict=True):
        total.addcmul_(state, of_hop)
    return total


def _flow(wiring: Wiring, state: Tensor, settings: Propagation) -> _Flow:
    flow = _Flow([state], [], [])
    of_relations = state.new_zeros(wiring.relations, state.shape[1])
    for _ in range(settings.hops):
        spread = wiring.neighbours @ state
        kept = state * (settings.own_weight * wiring.degrees)[:, None]
        after = normalize(spread + wiring.tails @ of_relations + kept)
        of_relations = normalize(wiring.heads @ state)
        state = after
        flow.arrived.append(normalize(spread))
        flow.entities.append(state)
        flow.relations.append(of_relations)
    flow.arrived.append(normalize(wiring.neighbours @ state))
    return flow


def _damped(states: Sequence[Sequence[Tensor]], projection: Tensor, strength: float) -> list[Tensor]:
    """For each KG its states of all hops side by side, directions that dominate in all KGs damped, then projected.

    states: for each KG a list of (n, d), one a hop. projection: (hops * d, out). C ** (-strength / 2) is what damps,
    where C says how much of a hop's states lies in which direction; at 1 every direction would count the same.
    """
    matrices = projection.view(len(states[0]), states[0][0].shape[1], -1)
    if strength:
        stride = max(1, sum(len(of_kg[0]) for of_kg in states) // ROWS_THAT_TELL_DIRECTIONS)
        of_hops = [torch.cat([state[::stride] for state in of_kgs]) for of_kgs in zip(*states, strict=True)]
        matrices = torch.stack([_damping(some, strength) for some in of_hops]) @ matrices
    return [normalize(sum(map(torch.matmul, of_kg, matrices), start=projection.new_zeros(()))) for of_kg in states]


def _damping(some: Tensor, strength: float) -> Tensor:
    """C ** (-strength / 2), for C = some' some scaled to a mean of one on its diagonal; made on the smaller side."""
    rows, size = some.shape
    few = rows < size
    square = some @ some.t() if few else some.t() @ some
    lengths, directions = _axes(square)
    mean = (lengths.sum() / size).clamp(min=1e-12)
    if few:  # the directions of the other side; all others have length zero
        directions = some.t() @ (directions / lengths.clamp(min=1e-6 * float(mean)).sqrt())
    lowest = LEAST_LENGTH ** (-strength / 2)
    factors = (lengths / mean).clamp(min=LEAST_LENGTH) ** (-strength / 2)
    damped: Tensor = (directions * (factors - lowest if few else factors)) @ directions.t()
    if few:
        damped = damped + lowest * torch.eye(size, device=some.device)
    return damped.float()


def _axes(square: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors; in double precision where many equal values keep single from converging."""
    try:
        lengths, directions = torch.linalg.eigh(square)
    except torch.linalg.LinAlgError:  # type: ignore[attr-defined]  # documented, yet not exported
        lengths, directions = torch.linalg.eigh(square.double())
    return lengths.to(square), directions.to(square)


def _by_relations(eyes: Eyes, columns: Tensor, numbers: Tensor, width: int) -> Tensor:
    """A sketch of the sum over edges of (relation's numbers) x (neighbour's columns), (n, K * width).

    For each of a relation's numbers, some of the neighbours' columns flow through edges weighted by it.
    """
    parts = columns.view(len(columns), -1, width).transpose(0, 1).contiguous()  # (parts, n, width)
    of_entries = (eyes.relations_of_entry @ numbers).t().contiguous()  # (K, entries)
    result = columns.new_empty(len(eyes.entities), len(of_entries), width)
    at_once = max(1, ENTRIES_AT_ONCE.get(columns.device.type, 1) // max(1, eyes.pattern.entries))
    at_once = math.gcd(1 << (at_once.bit_length() - 1), len(parts))
    for start in range(0, len(of_entries), at_once):
        weights = of_entries[start : start + at_once]
        some = parts[start % len(parts) :][: len(weights)].reshape(-1, width)
        seen = eyes.pattern.repeated(weights) @ some
        result[:, start : start + len(weights)] = seen.view(len(weights), -1, width).transpose(0, 1)
    return result.flatten(1)


def _binary(row: Tensor, column: Tensor, shape: tuple[int, int]) -> Tensor:
    pattern = Pattern(row, column, shape)
    return pattern.matrix(torch.ones(pattern.entries, device=row.device))
