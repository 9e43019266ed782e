"""Marks flow over the edges of one KG, hop by hop."""

from __future__ import annotations

import numpy as np
from numba import prange

from multiea.kernels.compiling import CHUNK, Arrays, kernel
from multiea.kernels.states import LARGEST, add_row, length, mixed, write_row, write_unit_row

HEADS_AT_ONCE = 4096
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@kernel
def write_marks(
    mark: np.ndarray, weight: np.ndarray, seed: int, state: Arrays, signs: np.ndarray, columns: Arrays
) -> None:
    """The initial states: random signs for each mark, the same in all KGs; zero for entities without one.

    mark: (n,) of each entity, -1 for none. weight: (marks,). columns: what neighbours pass on, so far the initial state
    times its signs.
    """
    numbers, scales = state
    column_numbers, column_scales = columns
    count, dimensions = numbers.shape
    for entity in prange(count):
        scales[entity] = column_scales[entity] = 0
        if mark[entity] < 0:
            numbers[entity] = 0
            column_numbers[entity] = 0
            continue
        scales[entity] = column_scales[entity] = weight[mark[entity]] / np.sqrt(np.float32(dimensions))
        random = mixed(np.uint64(seed) + np.uint64(mark[entity]) * GOLDEN)
        bits = np.uint64(0)
        for k in range(dimensions):
            if k % 64 == 0:
                random += GOLDEN
                bits = mixed(random)
            numbers[entity, k] = 1 if bits & np.uint64(1) else -1
            column_numbers[entity, k] = numbers[entity, k] if signs[k] > 0 else -numbers[entity, k]
            bits >>= np.uint64(1)


@kernel
def hop(
    edges: Arrays,
    state: Arrays,
    relation_state: np.ndarray,
    own_weight: float,
    signs: np.ndarray,
    sums: Arrays,
    after: Arrays,
) -> None:
    """One hop: after = unit(spread + own + relations), where spread is the sum over edges of the states at their tails.

    edges: starts, tail, relation_starts, incoming. state, after: numbers and scales. signs: (2, d) of this hop. sums:
    over hops, of the spread states times the first signs, both halves added up, and of states times the second ones.
    """
    starts, tail, relation_starts, incoming = edges
    numbers, scales = state
    near_numbers, near_scales, column_numbers, column_scales = sums
    after_numbers, after_scales = after
    count, dimensions = numbers.shape
    half = dimensions // 2
    for chunk in prange((count + CHUNK - 1) // CHUNK):
        total, folded = np.empty(dimensions, np.float32), np.empty(half, np.float32)
        for entity in range(chunk * CHUNK, min(count, (chunk + 1) * CHUNK)):
            total[:] = 0
            for edge in range(starts[entity], starts[entity + 1]):
                if scales[tail[edge]] > 0:
                    add_row(total, numbers, tail[edge], scales[tail[edge]])
            factor = 1 / length(total)
            for k in range(half):
                folded[k] = factor * (total[k] * signs[0, k] + total[k + half] * signs[0, k + half])
            if near_scales[entity] > 0:
                add_row(folded, near_numbers, entity, near_scales[entity])
            write_row(folded, near_numbers, near_scales, entity)
            own = own_weight * (starts[entity + 1] - starts[entity])
            if scales[entity] > 0 and own > 0:
                add_row(total, numbers, entity, own * scales[entity])
            for place in range(relation_starts[entity], relation_starts[entity + 1]):
                for k in range(dimensions):
                    total[k] += relation_state[incoming[place], k]
            write_unit_row(total, LARGEST, after_numbers, after_scales, entity)
            factor = 1 / length(total)
            for k in range(dimensions):
                total[k] *= factor * signs[1, k]
            if column_scales[entity] > 0:
                add_row(total, column_numbers, entity, column_scales[entity])
            write_row(total, column_numbers, column_scales, entity)


@kernel
def sum_of_heads(head_starts: np.ndarray, heads: np.ndarray, numbers: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """For each relation the sum of the states of its heads, (2R, d); in chunks, so that long ones are shared out."""
    relations, dimensions = len(head_starts) - 1, numbers.shape[1]
    first = np.zeros(relations + 1, np.int64)
    for relation in range(relations):
        size = head_starts[relation + 1] - head_starts[relation]
        first[relation + 1] = first[relation] + (size + HEADS_AT_ONCE - 1) // HEADS_AT_ONCE
    parts = np.zeros((first[relations], dimensions), np.float32)
    owner = np.empty(first[relations], np.int64)
    for relation in range(relations):
        owner[first[relation] : first[relation + 1]] = relation
    for number in prange(len(parts)):
        start = head_starts[owner[number]] + (number - first[owner[number]]) * HEADS_AT_ONCE
        for place in range(start, min(start + HEADS_AT_ONCE, head_starts[owner[number] + 1])):
            if scales[heads[place]] > 0:
                add_row(parts[number], numbers, heads[place], scales[heads[place]])
    result = np.zeros((relations, dimensions), np.float32)
    for relation in range(relations):
        for number in range(first[relation], first[relation + 1]):
            result[relation] += parts[number]
    return result


@kernel
def to_unit_length(numbers: np.ndarray, scales: np.ndarray) -> None:
    """Scales all states to unit length; zero stays zero."""
    for entity in prange(len(numbers)):
        if scales[entity] > 0:
            total = np.int64(0)
            for k in range(numbers.shape[1]):
                total += np.int32(numbers[entity, k]) * np.int32(numbers[entity, k])
            scales[entity] = 1 / np.sqrt(total)
