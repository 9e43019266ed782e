"""Edges of a KG in both directions."""

from __future__ import annotations

import numpy as np
import pytest

from multiea.foundation.errors import MultiEAError
from multiea.kernels.edges import Edges


def test_edges_are_those_of_the_triples_in_both_directions(edges: Edges, triples: np.ndarray) -> None:
    head = np.repeat(np.arange(edges.entities), np.diff(edges.starts))
    found = sorted(zip(head.tolist(), edges.tail.tolist(), edges.relation.tolist(), strict=True))
    relations = edges.relations // 2
    wanted = [(h, t, r) for h, r, t in triples.tolist()] + [(t, h, r + relations) for h, r, t in triples.tolist()]
    assert found == sorted(wanted)
    assert found == list(zip(head.tolist(), edges.tail.tolist(), edges.relation.tolist(), strict=True))


def test_each_entity_has_the_relations_that_lead_to_it_and_each_relation_its_heads(
    edges: Edges, triples: np.ndarray
) -> None:
    relations = edges.relations // 2
    both = {(h, r, t) for h, r, t in triples.tolist()} | {(t, r + relations, h) for h, r, t in triples.tolist()}
    for entity in (0, 3, 50, edges.entities - 1):
        own = edges.incoming[edges.relation_starts[entity] : edges.relation_starts[entity + 1]].tolist()
        assert sorted(own) == sorted({r for _, r, t in both if t == entity})
    for relation in range(edges.relations):
        own = edges.heads[edges.head_starts[relation] : edges.head_starts[relation + 1]].tolist()
        assert own == sorted({h for h, r, _ in both if r == relation})


def test_a_kg_without_triples_has_no_edges() -> None:
    edges = Edges.of(np.empty((0, 3), np.int32), 4, 0)
    assert (edges.entities, edges.relations, len(edges.tail)) == (4, 0, 0)


def test_too_many_entities_and_relations_are_an_error_not_a_wrong_result() -> None:
    with pytest.raises(MultiEAError, match="too many"):
        Edges.of(np.array([[0, 0, 1]], np.int32), 2**31 - 1, 2**10)
