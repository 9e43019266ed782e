"""Alignments to export: one made by hand, one computed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import multiea
from multiea import Alignment, KnowledgeGraph, Task
from multiea.data.groups import ABSENT
from multiea.grouping.duplicates import Duplicates
from support.handmade import alignment_of, positions


@pytest.fixture
def three() -> Alignment:
    """Three KGs with one seed, one complete found group and one partial found group."""
    one = KnowledgeGraph.from_triples("one", [("http://o.org/Oslo", "in", "http://o.org/Norway"),
                                              ("http://o.org/Oslo", "twin", "http://o.org/Rome"),
                                              ("http://o.org/Rome", "in", "http://o.org/Italy")])  # fmt: skip
    two = KnowledgeGraph.from_triples(
        "two", [("Oslo", "in", "Norge"), ("Roma", "in", "Italia"), ("Oslo", "near", "Oslo")]
    )
    three = KnowledgeGraph.from_triples("drei & <3>", [("Oslo", "in", "Norwegen"), ("Rom", "in", "Italien")])
    seed = [*positions(one, "http://o.org/Norway"), *positions(two, "Norge"), *positions(three, "Norwegen")]
    complete = [*positions(one, "http://o.org/Oslo"), *positions(two, "Oslo"), *positions(three, "Oslo")]
    partial = [*positions(one, "http://o.org/Rome"), ABSENT, *positions(three, "Rom")]
    return alignment_of([one, two, three], [seed], [complete, partial])


@pytest.fixture
def repeating(three: Alignment) -> Alignment:
    """The three KGs with two duplicates of Oslo in the second, one before and one after its member by id."""
    two = three.task.kgs[1]
    copies = [("Christiania", "in", "Norge"), ("Tigerstaden", "in", "Norge")]
    names = [two.entities.to_list(), two.relations.to_list()]
    triples = [(names[0][h], names[1][r], names[0][t]) for h, r, t in two.triples]
    larger = KnowledgeGraph.from_triples("two", [*triples, *copies], entities=names[0])
    kgs = [three.task.kgs[0], larger, three.task.kgs[2]]
    seeds, found = (
        np.stack([kg.positions(some.to_table(three.task.kgs)[kg.name]) for kg in kgs], axis=1).tolist()
        for some in (three.task.seeds, three.found.groups)
    )
    alignment = alignment_of(kgs, seeds, found)
    (row,) = np.flatnonzero(three.found.groups.present.all(axis=1))
    entity = np.array(positions(larger, "Christiania", "Tigerstaden"), dtype=np.int32)
    return replace(alignment, duplicates=Duplicates(np.full(2, row), np.full(2, 1), entity, np.array([0.5, 0.4])))


@pytest.fixture(scope="session")
def aligned(small: Task) -> Alignment:
    return multiea.align(small)
