"""Triples packed into 64-bit integers."""

from __future__ import annotations

import numpy as np
import pytest

from multiea.data.packed_triples import can_pack, distinct_triples, pack, unpack

LARGEST = (4096, 2**25)  # relations and entities: 2**12 * 2**25 * 2**25 = 2**62


def random_triples(count: int, relations: int, entities: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    columns = [rng.integers(size, size=count) for size in (entities, relations, entities)]
    return np.stack(columns, axis=1).astype(np.int32)


@pytest.mark.parametrize(("relations", "entities"), [(1, 1), (3, 5), LARGEST])
def test_packed_triples_can_be_unpacked(relations: int, entities: int) -> None:
    triples = random_triples(1000, relations, entities)
    triples[-1] = entities - 1, relations - 1, entities - 1
    head, relation, tail = triples.T
    packed = pack(head, relation, tail, relations, entities)
    assert packed.dtype == np.int64
    assert packed.min() >= 0
    np.testing.assert_array_equal(np.stack(unpack(packed, relations, entities), axis=1), triples)


def test_packed_triples_sort_like_triples() -> None:
    head, relation, tail = random_triples(500, 4, 7).T
    order = np.argsort(pack(head, relation, tail, 4, 7), kind="stable")
    np.testing.assert_array_equal(order, np.lexsort([tail, relation, head]))


def test_packing_does_not_change_its_input() -> None:
    head, relation, tail = (np.array([value], dtype=np.int64) for value in (1, 2, 3))
    pack(head, relation, tail, 5, 5)
    assert (head[0], relation[0], tail[0]) == (1, 2, 3)


def test_no_triples_can_be_packed_and_unpacked() -> None:
    none = np.empty(0, dtype=np.int64)
    packed = pack(none, none, none, 0, 0)
    assert [len(column) for column in unpack(packed, 0, 0)] == [0, 0, 0]


@pytest.mark.parametrize(
    ("relations", "entities", "fits"),
    [(0, 0, True), (0, 2**31, True), (2, 2**31, False), (*LARGEST, True), (4096 * 2, 2**25, False), (1, 2**32, False)],
)
def test_triples_can_be_packed_unless_they_overflow(relations: int, entities: int, fits: bool) -> None:
    assert can_pack(relations, entities) is fits


@pytest.mark.parametrize("block_rows", [1, 7, 1 << 18])
def test_distinct_triples_are_sorted_with_any_block_size(block_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiea.data.packed_triples.BLOCK_ROWS", block_rows)
    triples = random_triples(300, 4, 4)
    np.testing.assert_array_equal(distinct_triples(triples.copy(), 4, 4), np.unique(triples, axis=0))


def test_triples_that_do_not_fit_into_one_integer_are_made_distinct_as_well() -> None:
    triples = np.array([[5, 1, 2], [0, 3, 1], [5, 1, 2]], dtype=np.int32)
    expected = [[0, 3, 1], [5, 1, 2]]
    assert distinct_triples(triples.copy(), 4, 6).tolist() == expected
    assert distinct_triples(triples.copy(), 2**31 - 1, 2**31 - 1).tolist() == expected
