"""Evidence in a run folder: what is stored reads back as the same evidence and the same weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import multiea
from multiea import Alignment, Groups, KnowledgeGraph, Task
from multiea.evidence.evidence import ATTRIBUTES, NAMES, STRUCTURE, Evidence
from multiea.runs.stored_evidence import evidence_tensors, read_evidence, read_weights, recorded_weights
from multiea.similarity.weights import Mixing, Weights
from support.evidence import table_kg
from support.quick import align

CITIES = ["Oslo", "Bergen", "Paris", "Lyon", "Berlin", "Hamburg", "Vienna", "Graz", "Madrid", "Sevilla"]


def city_kg(name: str, cities: list[str | None]) -> KnowledgeGraph:
    codes = [None if city is None else f"K{CITIES.index(city)}Z" for city in cities]
    return table_kg(name, name=cities, code=[*codes[:-1], None])


@pytest.fixture(scope="module")
def aligned() -> Alignment:
    """Three tables, given in an order that is not that of their names, with several gaps."""
    kgs = [
        city_kg("c", [*CITIES[3:], None]),
        city_kg("a", [*CITIES]),
        city_kg("b", [*reversed(CITIES[:8])]),
    ]
    return align(Task(kgs, Groups.from_names(kgs, [{"a": "a0000", "b": "b0007"}])))


def assert_same_evidence(one: Evidence | None, other: Evidence | None) -> None:
    assert one is not None
    assert other is not None
    assert set(one.kinds) == set(other.kinds)
    for has, same in zip(one.has_structure, other.has_structure, strict=True):
        np.testing.assert_array_equal(has, same)
    assert one.conflicts.keys() == other.conflicts.keys()
    for pair, conflicts in one.conflicts.items():
        np.testing.assert_array_equal(conflicts.toarray(), other.conflicts[pair].toarray())
    for kind, stored in one.kinds.items():
        assert stored.similarity.keys() == other.kinds[kind].similarity.keys()
        for pair, matrix in stored.similarity.items():
            np.testing.assert_array_equal(matrix.toarray(), other.kinds[kind].similarity[pair].toarray())
        for has, same in zip(stored.has_any, other.kinds[kind].has_any, strict=True):
            np.testing.assert_array_equal(has, same)


def test_stored_evidence_reads_back_exactly(aligned: Alignment) -> None:
    assert aligned.evidence is not None
    assert set(aligned.evidence.kinds) == {NAMES, ATTRIBUTES}
    assert_same_evidence(read_evidence(evidence_tensors(aligned), aligned.task), aligned.evidence)


def test_a_run_folder_holds_the_evidence(aligned: Alignment, tmp_path: Path) -> None:
    aligned.save(tmp_path / "run")
    opened = multiea.open(tmp_path / "run")
    assert_same_evidence(opened.evidence, aligned.evidence)
    assert opened.weights == aligned.weights


def test_weights_read_back_for_the_same_pairs_of_kgs(aligned: Alignment) -> None:
    weights = Weights(
        {(0, 1): {NAMES: 9.0, ATTRIBUTES: 20.5}, (1, 2): {STRUCTURE: 30.0, NAMES: 0.5}},
        17,
        Mixing(is_softer=True, direct_share=0.6),
    )
    recorded = recorded_weights(replace(aligned, weights=weights))
    assert [one["kgs"] for one in recorded["pairs"]] == [["a", "b"], ["b", "c"]]
    assert read_weights(recorded, aligned.task) == weights


def test_a_run_by_structure_alone_stores_no_evidence(aligned: Alignment) -> None:
    bare = replace(aligned, evidence=None)
    assert evidence_tensors(bare) == {}
    assert recorded_weights(bare) == {}
    assert read_evidence({}, aligned.task) is None
    assert read_weights({}, aligned.task) == Weights()
