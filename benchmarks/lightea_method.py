"""LightEA (Mao et al., 2022), written again from its description: a baseline of two KGs for benchmarks.

Settings are those that its authors released: 1,024 dimensions, 2 hops, relations in a third of the dimensions (their
choice for 100,000 entities; a half for 15,000), 16 columns per number of a relation, 500 candidates, 15 sweeps of
Sinkhorn at temperature 0.02, 3 rounds, pseudo-labels above 0.5. The search is exact, as theirs is.

Each KG is embedded alone, with the same random numbers: there are no edges between KGs, so the result is the same as of
one graph, with half of the memory. Only entities of the pool get an embedding, and all products use every core.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.engines.adjacency import Adjacency
from multiea.evaluation.ranks import realistic_ranks
from multiea.graph.sparse import SparsityPattern, csr

BLOCK_NUMBERS = 1 << 26  # similarities that are computed at once: 256 MiB
RELATION_NUMBERS_AT_ONCE = 16  # projections in one product: 256 columns
SELF_WEIGHT = 2.0  # of an entity's own state, for each of its edges
SMALLEST = 1e-30  # what Sinkhorn may divide by


@dataclass(frozen=True)
class LightEA:
    """Its settings."""

    dimensions: int = 1024
    hops: int = 2
    relation_numbers: int = 341
    columns: int = 16
    candidates: int = 500
    sweeps: int = 15
    temperature: float = 0.02
    rounds: int = 3
    threshold: float = 0.5


@dataclass(frozen=True)
class Candidates:
    """For each entity of the left pool its best candidates, by their place in the right pool: (left, k) each.

    scores: after Sinkhorn. columns: the places. right: the size of the right pool.
    """

    scores: Tensor
    columns: Tensor
    right: int

    def confident_pairs(self, threshold: float) -> Tensor:
        """Places of pairs, (2, pairs): the best candidate of a row, where it holds more than a share of its column."""
        best, at = self.scores.max(1)
        row = torch.nonzero(best > threshold)[:, 0]
        return torch.stack([row, self.columns[row, at[row]].long()])

    def ranks(self, row: Tensor, column: Tensor) -> tuple[Tensor, Tensor]:
        """The ranks of pairs, by their places, as seen from the left and from the right; infinite if not a candidate.

        Each entity of the right pool is in at most one of the pairs.
        """
        scores, columns = self.scores[row], self.columns[row]
        is_own = columns == column[:, None]
        own = (scores * is_own).sum(1)
        is_found = is_own.any(1)
        from_left = realistic_ranks((scores > own[:, None]).sum(1), (scores == own[:, None]).sum(1))
        wanted = torch.full((self.right,), torch.inf).index_put_((column,), own)
        places, of_column = self.columns.flatten(), wanted.index_select(0, self.columns.flatten()).view_as(self.scores)
        counts = [
            torch.zeros(self.right).index_add_(0, places, test.flatten().float())
            for test in (self.scores > of_column, self.scores == of_column)
        ]
        from_right = realistic_ranks(*(count[column] for count in counts))
        return from_left.where(is_found, torch.inf), from_right.where(is_found, torch.inf)


Normalise = Callable[[Tensor, Tensor, LightEA], Candidates]


def align_pair(
    kgs: Sequence[KnowledgeGraph],
    seeds: Tensor,
    pools: Sequence[Tensor],
    settings: LightEA,
    normalise: Normalise,
    random_state: int = 0,
) -> Candidates:
    """Rounds of embedding, search and Sinkhorn; confident pairs become seeds. The last round compares whole pools.

    seeds: (2, seeds) entities of each KG. pools: for each KG the entities to compare.
    """
    generator = torch.Generator().manual_seed(random_state)
    graphs = [_Graph(kg) for kg in kgs]
    rest = list(pools)
    for _ in range(settings.rounds - 1):
        if not min(map(len, rest)):
            break
        found = _compare(graphs, seeds, rest, settings, normalise, generator).confident_pairs(settings.threshold)
        if not found.shape[1]:
            break
        pairs = torch.stack([pool[places] for pool, places in zip(rest, found, strict=True)])
        seeds = torch.cat([seeds, pairs], dim=1)
        rest = [pool[~torch.isin(pool, members)] for pool, members in zip(rest, pairs, strict=True)]
    return _compare(graphs, seeds, pools, settings, normalise, generator)


def _compare(
    graphs: Sequence[_Graph],
    seeds: Tensor,
    pools: Sequence[Tensor],
    settings: LightEA,
    normalise: Normalise,
    generator: torch.Generator,
) -> Candidates:
    """Embeds the pools of both KGs and normalises their similarities."""
    random = _RandomVectors.drawn(seeds.shape[1], settings, generator)
    left, right = (
        _embed(graph, members, pool, random, settings)
        for graph, members, pool in zip(graphs, seeds, pools, strict=True)
    )
    return normalise(left, right, settings)


@dataclass(frozen=True)
class _RandomVectors:
    """What both KGs share: the mark of each seed, (seeds, d), and the projections of relations and entities."""

    marks: Tensor
    of_relations: Tensor
    of_entities: Tensor

    @classmethod
    def drawn(cls, seeds: int, settings: LightEA, generator: torch.Generator) -> _RandomVectors:
        """Rows of unit length."""
        states = (settings.hops + 1) * settings.dimensions
        numbers, columns = settings.relation_numbers, settings.columns

        def directions(*shape: int) -> Tensor:
            return normalize(torch.randn(*shape, generator=generator), dim=-1)

        of_entities = directions(states, numbers, columns).view(settings.hops + 1, -1, numbers * columns)
        return cls(directions(seeds, settings.dimensions), directions(states, numbers), of_entities)


class _Graph:
    """The edges of one KG; the indices of sparse matrices are in 32 bits, which makes products twice as fast."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.adjacency = Adjacency(kg)
        self.heads, self.tails = _in_32_bits(self.adjacency.heads), _in_32_bits(self.adjacency.tails)
        self.neighbours = _in_32_bits(self.adjacency.neighbours)

    def edges_of(self, pool: Tensor) -> tuple[SparsityPattern, Tensor]:
        """The neighbours of a pool, (pool, n), and for each such pair the relations between, (pairs, 2R)."""
        edges = self.adjacency.outgoing_of(pool.numpy())
        return edges.pattern, _in_32_bits(edges.relations_of_entry)


def _in_32_bits(matrix: Tensor) -> Tensor:
    shape = (matrix.shape[0], matrix.shape[1])
    return csr(matrix.crow_indices().int(), matrix.col_indices().int(), matrix.values(), shape)


def _embed(graph: _Graph, members: Tensor, pool: Tensor, random: _RandomVectors, settings: LightEA) -> Tensor:
    """The embeddings of a pool, (pool, numbers * columns), of unit length.

    Over the triples of an entity, each number that describes a relation is multiplied with a projection of its own of
    the neighbour's state, and summed.
    """
    entities, relations = _propagate(graph, members, random.marks, settings.hops)
    numbers = relations @ random.of_relations  # (2R, numbers)
    pattern, relations_of_pair = graph.edges_of(pool)
    neighbours = _in_32_bits(pattern.matrix(torch.zeros(pattern.entries)))
    starts, places = neighbours.crow_indices(), neighbours.col_indices()
    result = torch.empty(len(pool), settings.relation_numbers * settings.columns)
    for first in range(0, settings.relation_numbers, RELATION_NUMBERS_AT_ONCE):
        some = numbers[:, first : first + RELATION_NUMBERS_AT_ONCE].contiguous()
        weights = (relations_of_pair @ some).t().contiguous()  # (some, pairs)
        columns = slice(first * settings.columns, (first + len(weights)) * settings.columns)
        projected = entities[0] @ random.of_entities[0, :, columns]
        for states, projection in zip(entities[1:], random.of_entities[1:], strict=True):
            projected.addmm_(states, projection[:, columns])
        for at, weight in enumerate(weights):
            inside = slice(at * settings.columns, (at + 1) * settings.columns)
            view = csr(starts, places, weight, (len(pool), neighbours.shape[1])) @ projected[:, inside].contiguous()
            result[:, columns][:, inside] = view
    return _to_unit_length(result)


def _propagate(graph: _Graph, members: Tensor, marks: Tensor, hops: int) -> tuple[Tensor, Tensor]:
    """The states of all hops: of entities, (hops + 1, n, d), and of relations, (2R, (hops + 1) * d), of unit length.

    At each hop an entity receives what its neighbours and the relations of which it is the tail hold, and keeps its
    own; a relation receives what its heads hold.
    """
    adjacency = graph.adjacency
    entities = torch.zeros(hops + 1, adjacency.entities, marks.shape[1])
    relations = torch.zeros(hops + 1, adjacency.relations, marks.shape[1])
    entities[0, members] = marks
    for hop in range(hops):
        entities[hop + 1].addcmul_(entities[hop], adjacency.degrees[:, None], value=SELF_WEIGHT)
        entities[hop + 1].addmm_(graph.neighbours, entities[hop])
        entities[hop + 1].addmm_(graph.tails, relations[hop])
        _to_unit_length(entities[hop + 1])
        relations[hop + 1] = normalize(graph.heads @ entities[hop])
    entities /= torch.linalg.vector_norm(entities, dim=2).norm(dim=0).clamp(min=SMALLEST)[:, None]
    return entities, normalize(relations.transpose(0, 1).flatten(1))


def _to_unit_length(rows: Tensor) -> Tensor:
    """Changes rows in place; rows of zeros stay."""
    return rows.div_(torch.linalg.vector_norm(rows, dim=1, keepdim=True).clamp_(min=SMALLEST))


def sparse_sinkhorn(left: Tensor, right: Tensor, settings: LightEA) -> Candidates:
    """Only the best candidates of each row are kept, by exact search, and only they are normalised."""
    count = min(settings.candidates, len(right))
    scores = torch.empty(len(left), count)
    columns = torch.empty(len(left), count, dtype=torch.int32)
    for rows, block in _similarities(left, right):
        scores[rows], columns[rows] = block.topk(count, dim=1, sorted=False)
    _exponential(scores, settings.temperature)
    places = columns.flatten()
    for _ in range(settings.sweeps):
        scores /= scores.sum(1, keepdim=True).clamp_(min=SMALLEST)
        sums = torch.zeros(len(right)).index_add_(0, places, scores.flatten()).clamp_(min=SMALLEST)
        scores /= sums.index_select(0, places).view_as(scores)
    return Candidates(scores, columns, len(right))


def dense_sinkhorn(left: Tensor, right: Tensor, settings: LightEA) -> Candidates:
    """All pairs are normalised; of the result, the best of each row are returned."""
    scores = torch.empty(len(left), len(right))
    for rows, block in _similarities(left, right):
        scores[rows] = block
    _exponential(scores, settings.temperature)
    for _ in range(settings.sweeps):
        scores /= scores.sum(1, keepdim=True).clamp_(min=SMALLEST)
        scores /= scores.sum(0).clamp_(min=SMALLEST)
    best, columns = scores.topk(min(settings.candidates, len(right)), dim=1, sorted=False)
    return Candidates(best, columns.int(), len(right))


def _similarities(left: Tensor, right: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """The dot products of all pairs, block by block."""
    size = math.ceil(BLOCK_NUMBERS / len(right))
    for start in range(0, len(left), size):
        yield slice(start, start + size), left[start : start + size] @ right.t()


def _exponential(scores: Tensor, temperature: float) -> None:
    """exp(score / temperature) in place, up to a factor of each row, which Sinkhorn removes: nothing overflows."""
    scores.sub_(scores.amax(1, keepdim=True)).div_(temperature).exp_()
