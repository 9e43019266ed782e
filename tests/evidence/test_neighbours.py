"""Matched neighbours are evidence: which count, and how much."""

from __future__ import annotations

import numpy as np
import pytest

from multiea import Groups, KnowledgeGraph
from multiea.evidence.evidence import NEIGHBOURS, Evidence
from multiea.evidence.neighbours import with_neighbours

RELATION = "knows"


def kg(name: str, links: list[tuple[str, str]]) -> KnowledgeGraph:
    return KnowledgeGraph.from_triples(name, [(head, RELATION, tail) for head, tail in links])


def marks_of(kgs: list[KnowledgeGraph], *groups: tuple[str | None, ...]) -> Groups:
    places = [{one: place for place, one in enumerate(each.entities)} for each in kgs]
    members = [[-1 if one is None else places[c][one] for c, one in enumerate(group)] for group in groups]
    return Groups(tuple(each.name for each in kgs), np.array(members, dtype=np.int32).reshape(-1, len(kgs)))


def similarity(kgs: list[KnowledgeGraph], marks: Groups, one: str, other: str) -> float:
    evidence = with_neighbours(Evidence({}, [each.degrees > 0 for each in kgs]), kgs, marks)
    matrix = evidence.kinds[NEIGHBOURS].similarity[0, 1].toarray()
    return float(matrix[kgs[0].entities.to_list().index(one), kgs[1].entities.to_list().index(other)])


@pytest.fixture
def two() -> list[KnowledgeGraph]:
    """x has the neighbours p and q; those of the hub h are many."""
    many = [(f"n{number}", "h") for number in range(30)]
    return [
        kg("a", [("x", "p"), ("q", "x"), ("y", "h"), ("x", "x"), *many]),
        kg("b", [("P", "X"), ("X", "Q"), ("Y", "H"), ("Z", "P"), ("Z", "H"), *((a.upper(), "H") for a, _ in many)]),
    ]


def test_neighbours_in_one_group_make_similar_whatever_the_direction(two: list[KnowledgeGraph]) -> None:
    marks = marks_of(two, ("p", "P"), ("q", "Q"), ("h", "H"))
    assert similarity(two, marks, "x", "X") == pytest.approx(1, abs=1e-3)
    assert 0 < similarity(two, marks, "x", "Z") < similarity(two, marks, "x", "X")
    assert similarity(two, marks, "x", "Y") == 0


def test_rare_neighbours_count_more_than_hubs(two: list[KnowledgeGraph]) -> None:
    marks = marks_of(two, ("p", "P"), ("q", "Q"), ("h", "H"))
    assert similarity(two, marks, "y", "Z") < similarity(two, marks, "x", "Z")


def test_an_entity_is_not_its_own_neighbour(two: list[KnowledgeGraph]) -> None:
    marks = marks_of(two, ("x", "X"), ("h", "H"))
    assert similarity(two, marks, "x", "X") == 0


def test_only_marks_that_both_kgs_have_count() -> None:
    kgs = [kg("a", [("x", "p"), ("x", "q")]), kg("b", [("X", "P"), ("W", "V")]), kg("c", [("r", "s")])]
    both = marks_of(kgs, ("p", "P", None), ("q", None, "s"))
    assert similarity(kgs, both, "x", "X") == pytest.approx(1, abs=1e-3)


def test_matched_neighbours_belong_to_structure(two: list[KnowledgeGraph]) -> None:
    evidence = with_neighbours(Evidence({}, [each.degrees > 0 for each in two]), two, marks_of(two, ("p", "P")))
    assert NEIGHBOURS in evidence.kinds
    assert not evidence.beside_structure
    assert not any(has.any() for has in evidence.has_any())
    assert not evidence.without_structure().kinds
    without = Evidence({}, [np.zeros(len(each.entities), dtype=bool) for each in two])
    assert with_neighbours(without, two, marks_of(two, ("p", "P"))) is without


def test_the_many_neighbours_of_a_hub_propose_nobody_whatever_their_order() -> None:
    leaves = [(f"n{number:03}", "h") for number in range(100)]
    kgs = [kg("a", [*leaves, ("x", "h"), ("x", "p")]), kg("b", [(a.upper(), "H") for a, _ in leaves] + [("X", "P")])]
    marks = marks_of(kgs, ("h", "H"), ("p", "P"))
    evidence = with_neighbours(Evidence({}, [each.degrees > 0 for each in kgs]), kgs, marks)
    matrix = evidence.kinds[NEIGHBOURS].similarity[0, 1]
    assert matrix.nnz == 1
    assert similarity(kgs, marks, "x", "X") > 0.5
