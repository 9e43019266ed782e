"""Triples packed into one 64-bit integer each, which sort and compare fast."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK_ROWS = 1 << 18
Packed = NDArray[np.int64]


def can_pack(relation_count: int, entity_count: int) -> bool:
    """Whether all triples of a KG of this size fit into 64-bit integers."""
    return entity_count * entity_count * max(relation_count, 1) < 2**63


def pack(
    heads: NDArray[Any], relations: NDArray[Any], tails: NDArray[Any], relation_count: int, entity_count: int
) -> Packed:
    """(n,) heads, relations and tails as (n,) integers, which sort like the triples."""
    packed = heads.astype(np.int64)  # a copy; the steps below work in place to save memory
    packed *= relation_count
    packed += relations
    packed *= entity_count
    packed += tails
    return packed


def unpack(packed: Packed, relation_count: int, entity_count: int) -> tuple[Packed, Packed, Packed]:
    """The heads, relations and tails of packed triples, (n,) each."""
    rest, tails = np.divmod(packed, max(entity_count, 1))
    heads, relations = np.divmod(rest, max(relation_count, 1))
    return heads, relations, tails


def distinct_triples(triples: NDArray[np.int32], relation_count: int, entity_count: int) -> NDArray[np.int32]:
    """Each of (n, 3) triples once, sorted by head, relation and tail. Overwrites the given array."""
    if not can_pack(relation_count, entity_count):
        return np.unique(triples, axis=0)
    heads, relations, tails = triples.T
    packed = pack(heads, relations, tails, relation_count, entity_count)
    packed.sort()
    count = 0
    for start in range(0, len(packed), BLOCK_ROWS):  # in blocks, so that no second array of full size is needed
        before = packed[start - 1] if start else -1
        block = packed[start : start + BLOCK_ROWS]
        block = block[np.diff(block, prepend=before) != 0]
        rows = slice(count, count := count + len(block))
        triples[rows, 0], triples[rows, 1], triples[rows, 2] = unpack(block, relation_count, entity_count)
    return triples if count == len(triples) else triples[:count].copy()
