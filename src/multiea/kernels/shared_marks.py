"""Blocking: for each entity the entities of another KG whose signatures have most in common with its own."""

from __future__ import annotations

import numpy as np
from numba import prange

from multiea.kernels.compiling import Arrays, kernel, part
from multiea.kernels.nearest_marks import CHUNKS, add, insert


@kernel
def index_of_marks(marks: np.ndarray, weights: np.ndarray, count: int, most: int) -> tuple[np.ndarray, ...]:
    """For each of `count` marks the entities for which it counts most: where they start, the entities, and the weights.

    marks, weights: signatures, (n, m).
    """
    sizes = np.zeros(count + 1, np.int64)
    for entity in range(len(marks)):
        for k in range(marks.shape[1]):
            if marks[entity, k] < 0:
                break
            sizes[marks[entity, k] + 1] += 1
    full = np.cumsum(sizes)
    entities, values, filled = np.empty(full[-1], np.int32), np.empty(full[-1], np.float32), full[:-1].copy()
    for entity in range(len(marks)):
        for k in range(marks.shape[1]):
            mark = marks[entity, k]
            if mark < 0:
                break
            entities[filled[mark]], values[filled[mark]] = entity, weights[entity, k]
            filled[mark] += 1
    starts = np.zeros(count + 1, np.int64)
    for mark in range(count):
        starts[mark + 1] = starts[mark] + min(most, sizes[mark + 1])
    kept, kept_values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    for mark in prange(count):
        found = 0
        own, own_values = kept[starts[mark] : starts[mark + 1]], kept_values[starts[mark] : starts[mark + 1]]
        for place in range(full[mark], full[mark + 1]):
            found = insert(own, own_values, found, entities[place], values[place])
    return starts, kept, kept_values


@part
def replace_least(names: np.ndarray, values: np.ndarray, count: int, name: int, value: np.float32) -> int:
    """Puts an entry into a heap of the largest values, smallest at the top; of equal ones the lower name stays."""
    size = len(names)
    if count < size:
        place = count
        while place > 0:
            above = (place - 1) // 2
            if values[above] < value or (values[above] == value and names[above] > name):
                break
            names[place], values[place] = names[above], values[above]
            place = above
        names[place], values[place] = name, value
        return count + 1
    if value < values[0] or (value == values[0] and name > names[0]):
        return count
    place = 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size:
            left, right = values[below], values[below + 1]
            if right < left or (right == left and names[below + 1] > names[below]):
                below += 1
        if value < values[below] or (value == values[below] and name > names[below]):
            break
        names[place], values[place] = names[below], values[below]
        place = below
    names[place], values[place] = name, value
    return count


@kernel
def sharing_marks(signature: Arrays, index: Arrays, others: int, most: int, least: float) -> np.ndarray:
    """For each signature the entities of the other KG with the largest products, (n, most), -1 where there are fewer.

    signature: marks and weights of some entities. index: what index_of_marks returns for the other KG, which has so
    many entities (`others`). Products below `least` do not count.
    """
    marks, weights = signature
    starts, entities, values = index
    result = np.full((len(marks), most), -1, np.int32)
    for chunk in prange(CHUNKS):
        total, touched = np.zeros(others, np.float32), np.empty(others, np.int32)
        best = np.empty(most, np.float32)
        for row in range(chunk * len(marks) // CHUNKS, (chunk + 1) * len(marks) // CHUNKS):
            count = 0
            for k in range(marks.shape[1]):
                mark = marks[row, k]
                if mark < 0:
                    break
                if mark >= len(starts) - 1:
                    continue
                for place in range(starts[mark], starts[mark + 1]):
                    count = add(total, touched, count, entities[place], weights[row, k] * values[place])
            found = 0
            for k in range(count):
                other = touched[k]
                if total[other] >= least:
                    found = replace_least(result[row], best, found, other, total[other])
                total[other] = 0
    return result


@part
def product(own: np.ndarray, other: np.ndarray) -> np.int32:
    """The product of two embeddings in 8 bits."""
    total = np.int32(0)
    for d in range(len(own)):
        total += np.int32(own[d]) * np.int32(other[d])
    return total


@kernel
def cosines_of_rows(left: Arrays, right: Arrays, starts: np.ndarray, column: np.ndarray, result: np.ndarray) -> None:
    """Writes the cosines of each row with some columns, (entries,). starts, column: as in a sparse matrix.

    left, right: embeddings in 8 bits, their scales, and which of them the rows and columns are; nothing is written
    for columns outside of the embeddings.
    """
    numbers, factors, places = left
    others, other_factors, other_places = right
    for row in prange(len(starts) - 1):
        own = places[row]
        for entry in range(starts[row], starts[row + 1]):
            other = other_places[column[entry]]
            if 0 <= other < len(others):
                total = np.float32(product(numbers[own], others[other]))
                result[entry] = total * factors[own] * other_factors[other]


@kernel
def cosines_of_pairs(left: Arrays, right: Arrays, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The cosines of some pairs, (pairs,). left, right: embeddings in 8 bits, and what products are multiplied by."""
    numbers, factors = left
    others, other_factors = right
    result = np.empty(len(row), np.float32)
    for pair in prange(len(row)):
        total = np.float32(product(numbers[row[pair]], others[column[pair]]))
        result[pair] = total * factors[row[pair]] * other_factors[column[pair]]
    return result
