"""The edges of one KG as sparse matrices, with which propagation multiplies states."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from multiea.data.groups import ABSENT
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.graph.sparse import SparsityPattern, rows_of


class Adjacency:
    """The edges of one KG in both directions; relation r + R is the inverse of relation r.

    degrees: (n,). neighbours: (n, n) the number of edges between two entities. heads: (2R, n), tails: (n, 2R), binary:
    which entities are heads and tails of which relations.
    """

    def __init__(self, kg: KnowledgeGraph, device: torch.device | str = "cpu") -> None:
        count, relations = len(kg.entities), len(kg.relations)
        head, relation, tail = torch.from_numpy(kg.triples.astype(np.int64).T).to(device)
        head, tail = torch.cat([head, tail]), torch.cat([tail, head])
        relation = torch.cat([relation, relation + relations])
        self.entities, self.relations = count, 2 * relations
        self._edges = head, relation, tail
        self.outgoing = OutgoingEdges(torch.arange(count, device=device), *self._edges, (count, 2 * relations))
        pattern = self.outgoing.pattern
        self.degrees = torch.bincount(head, minlength=count).float()
        self.neighbours = pattern.matrix(pattern.sum_edges(torch.ones(len(head), device=device)))
        self.heads = _binary(relation, head, (2 * relations, count))
        self.tails = self.outgoing.relations

    def outgoing_of(self, entities: np.ndarray) -> OutgoingEdges:
        """The outgoing edges of some entities."""
        chosen = torch.from_numpy(entities.astype(np.int64)).to(self.degrees.device)
        position = torch.full((self.entities,), ABSENT, device=chosen.device)
        position[chosen] = torch.arange(len(chosen), device=chosen.device)
        head, relation, tail = self._edges
        row = position.index_select(0, head)
        own = torch.nonzero(row != ABSENT)[:, 0]
        row, relation, tail = (part.index_select(0, own) for part in (row, relation, tail))
        return OutgoingEdges(chosen, row, relation, tail, (self.entities, self.relations))


ENTRIES_AT_ONCE = 1 << 17  # of a block of outgoing edges: some ten thousand entities


class OutgoingEdges:
    """The edges that leave some entities.

    entities: (m,) the entities; row, relation, tail: of each edge, where row is the place of its entity among them.
    relations_of_entry: (entries, 2R) the relations of each pair of neighbours. relations: (m, 2R) the relations of
    which each entity is a tail.
    """

    def __init__(self, entities: Tensor, row: Tensor, relation: Tensor, tail: Tensor, sizes: tuple[int, int]) -> None:
        count, relations = sizes
        self.entities: Tensor = entities
        self.pattern = SparsityPattern(row, tail, (len(entities), count))
        by_entry = SparsityPattern(self.pattern.entry, relation, (self.pattern.entries, relations))
        ones = torch.ones(len(row), device=row.device)
        self.relations_of_entry = by_entry.matrix(by_entry.sum_edges(ones))
        inverse = torch.where(relation < relations // 2, relation + relations // 2, relation - relations // 2)
        self.relations = _binary(row, inverse, (len(entities), relations))

    def blocks(self) -> Iterator[tuple[int, OutgoingEdges]]:
        """The edges of some entities at a time, with the place of the first of them."""
        ends = self.pattern.starts[1:]
        number_of_block = torch.div(ends, ENTRIES_AT_ONCE, rounding_mode="floor")
        changes = torch.nonzero(number_of_block[1:] != number_of_block[:-1])[:, 0] + 1
        bounds = [0, *changes.tolist(), len(self.entities)]
        if len(bounds) <= 3:  # hardly more than one block
            yield 0, self
            return
        for start, stop in pairwise(bounds):
            yield start, self._between(start, stop)

    def _between(self, start: int, stop: int) -> OutgoingEdges:
        part = copy(self)
        part.entities = self.entities[start:stop]
        part.pattern = self.pattern.rows(start, stop)
        entries = slice(int(self.pattern.starts[start]), int(self.pattern.starts[stop]))
        part.relations_of_entry = rows_of(self.relations_of_entry, entries.start, entries.stop)
        part.relations = rows_of(self.relations, start, stop)
        return part


def _binary(row: Tensor, column: Tensor, shape: tuple[int, int]) -> Tensor:
    pattern = SparsityPattern(row, column, shape)
    return pattern.matrix(torch.ones(pattern.entries, device=row.device))
