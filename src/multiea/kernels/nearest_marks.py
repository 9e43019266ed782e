"""The marks nearest to each entity, as signatures for blocking."""

from __future__ import annotations

import numpy as np
from numba import prange

from multiea.kernels.compiling import Arrays, inlined, kernel, part

CHUNKS = 64  # each has scratch memory for all entities


@part
def insert(names: np.ndarray, values: np.ndarray, count: int, name: int, value: np.float32) -> int:
    """Puts an entry into a list of the largest values, largest first; of equal ones the lower name first.

    count: how many entries the list has; returns how many it has then.
    """
    place = count
    while place > 0 and (values[place - 1] < value or (values[place - 1] == value and names[place - 1] > name)):
        place -= 1
    if place == len(names):
        return count
    for other in range(min(count, len(names) - 1), place, -1):
        names[other], values[other] = names[other - 1], values[other - 1]
    names[place], values[place] = name, value
    return min(count + 1, len(names))


@inlined
def add(total: np.ndarray, touched: np.ndarray, count: int, place: int, value: np.float32) -> int:
    """Adds a value to a sum with few entries, whose places are noted; returns how many there are. Others than positive
    values are ignored: a place that stays zero would be noted again and again.
    """
    if value > 0:
        if total[place] == 0:
            touched[count] = place
            count += 1
        total[place] += value
    return count


@kernel
def passed_on(starts: np.ndarray, tail: np.ndarray, mark: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The marked neighbours that each entity passes on, those with fewest neighbours first, (n, most), -1 for none.

    Also the number of different neighbours of each entity. tail: sorted within each entity; mark: (n,), -1 for none.
    """
    count = len(starts) - 1
    degree = np.zeros(count, np.int32)
    for entity in prange(count):
        for edge in range(starts[entity], starts[entity + 1]):
            if edge == starts[entity] or tail[edge] != tail[edge - 1]:
                degree[entity] += 1
    chosen = np.full((count, most), -1, np.int32)
    for chunk in prange(CHUNKS):
        values = np.empty(most, np.float32)
        for entity in range(chunk * count // CHUNKS, (chunk + 1) * count // CHUNKS):
            found = 0
            for edge in range(starts[entity], starts[entity + 1]):
                other = tail[edge]
                if mark[other] >= 0 and (edge == starts[entity] or other != tail[edge - 1]):
                    value = np.float32(1) / np.float32(max(degree[other], 1))
                    found = insert(chosen[entity], values, found, other, value)
    return chosen, degree


@kernel
def nearest_marks(
    starts: np.ndarray,
    tail: np.ndarray,
    mark: np.ndarray,
    passed: Arrays,
    entities: np.ndarray,
    most: int,
    far_weight: float,
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest marks of some entities and their weights, (m, most), rows of unit length, -1 and 0 where fewer.

    A mark counts one where a neighbour has it, and far_weight times the share of paths where a neighbour passes it on,
    divided by the root of how many entities are next to it. passed: what `passed_on` returns.
    """
    chosen, degree = passed
    marks = np.full((len(entities), most), -1, np.int32)
    weights = np.zeros((len(entities), most), np.float32)
    for chunk in prange(CHUNKS):
        total, touched = np.zeros(len(mark), np.float32), np.empty(len(mark), np.int32)
        for place in range(chunk * len(entities) // CHUNKS, (chunk + 1) * len(entities) // CHUNKS):
            entity, count = entities[place], 0
            for edge in range(starts[entity], starts[entity + 1]):
                other = tail[edge]
                if edge > starts[entity] and other == tail[edge - 1]:
                    continue
                if mark[other] >= 0:
                    count = add(total, touched, count, other, np.float32(1))
                share = np.float32(far_weight) / np.float32(max(degree[other], 1))
                for k in range(chosen.shape[1]):
                    marked = chosen[other, k]
                    if marked < 0:
                        break
                    count = add(total, touched, count, marked, share)
            found = 0
            for k in range(count):
                marked = touched[k]
                value = total[marked] / np.sqrt(np.float32(max(degree[marked], 1)))
                found = insert(marks[place], weights[place], found, mark[marked], value)
                total[marked] = 0
            length = np.float32(0)
            for k in range(found):
                length += weights[place, k] ** 2
            for k in range(found):
                weights[place, k] /= np.sqrt(length)
    return marks, weights
