"""Alignments to export: one made by hand, one computed."""

from __future__ import annotations

import pytest

import multiea
from multiea import Alignment, KnowledgeGraph, Task
from multiea.data.groups import ABSENT
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


@pytest.fixture(scope="session")
def aligned(small: Task) -> Alignment:
    return multiea.align(small)
