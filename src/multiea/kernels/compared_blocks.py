"""The best candidates among the products of the embeddings of one KG with those of several others, side by side.

A block is the part of the columns that belongs to one of the other KGs.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from multiea.kernels.compiling import Arrays, inlined, kernel

COLUMNS = 256  # that one thread searches at a time


@inlined
def put(names: np.ndarray, values: np.ndarray, name: int, value: np.float32) -> None:
    """Puts an entry into a full list of the largest values, largest first; of equal ones the earlier stays first."""
    place = len(values) - 1
    while place > 0 and value > values[place - 1]:
        names[place], values[place] = names[place - 1], values[place - 1]
        place -= 1
    names[place], values[place] = name, value


@kernel
def best_of_rows_in_blocks(products: np.ndarray, factors: np.ndarray, bounds: np.ndarray, count: int) -> np.ndarray:
    """The columns with the largest positive values of each row in each block, (rows, blocks * count), -1 where fewer.

    factors: what the products of each column are multiplied by. bounds: the first column of each block, and the end.
    """
    blocks = len(bounds) - 1
    result = np.full((len(products), blocks * count), -1, np.int32)
    for row in prange(len(products)):
        best = np.empty(count, np.float32)
        for block in range(blocks):
            names, best[:] = result[row, block * count : (block + 1) * count], 0
            for column in range(bounds[block], bounds[block + 1]):
                value = np.float32(products[row, column]) * factors[column]
                if value > best[count - 1]:
                    put(names, best, column, value)
    return result


@kernel
def best_of_columns(products: np.ndarray, factors: np.ndarray, count: int) -> np.ndarray:
    """The rows with the largest positive values of each column, (columns, count), -1 where there are fewer.

    factors: what the products of each row are multiplied by.
    """
    rows, columns = products.shape
    result = np.full((columns, count), -1, np.int32)
    for chunk in prange((columns + COLUMNS - 1) // COLUMNS):
        start, end = chunk * COLUMNS, min(columns, (chunk + 1) * COLUMNS)
        best, least = np.zeros((COLUMNS, count), np.float32), np.zeros(COLUMNS, np.float32)
        for row in range(rows):
            for column in range(start, end):
                value = np.float32(products[row, column]) * factors[row]
                if value > least[column - start]:
                    put(result[column], best[column - start], row, value)
                    least[column - start] = best[column - start, count - 1]
    return result


@kernel
def cosines_of_entries(products: np.ndarray, factors: Arrays, starts: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The cosines of some entries, given by rows; factors: of rows and of columns."""
    own, others = factors
    result = np.empty(len(column), np.float32)
    for row in prange(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            product = np.float32(products[row, column[entry]])
            result[entry] = product * others[column[entry]] * own[row]
    return result


@kernel
def masses_of_rows(
    products: np.ndarray, factors: Arrays, entries: Arrays, bounds: np.ndarray, sample: int, highest: np.ndarray
) -> np.ndarray:
    """For each row and block the mass of the candidates without entry, (rows, blocks), estimated from a sample.

    The mass of a candidate is exp(its cosine - the highest one of the block), both divided by the temperature; a cosine
    counts at most as much as the lowest entry. factors: of rows and of columns, both divided by the root of the
    temperature. entries: starts of rows, columns and cosines divided by the temperature, as the highest ones are.
    """
    own, others = factors
    starts, column, values = entries
    blocks = len(bounds) - 1
    result = np.zeros((len(products), blocks))
    for row in prange(len(products)):
        entry = starts[row]
        for block in range(blocks):
            first, end, lowest, count = bounds[block], bounds[block + 1], np.float32(np.inf), 0
            while entry < starts[row + 1] and column[entry] < end:
                lowest, count, entry = min(lowest, values[entry]), count + 1, entry + 1
            step, total, sampled = max(1, (end - first) // sample), 0.0, 0
            for other in range(first, end, step):
                cosine = np.float32(products[row, other]) * others[other] * own[row]
                total += np.exp(np.float64(min(cosine, lowest) - highest[block]))
                sampled += 1
            result[row, block] = total / max(sampled, 1) * (end - first - count)
    return result


@kernel
def masses_of_columns(
    products: np.ndarray, factors: Arrays, entries: Arrays, bounds: np.ndarray, sample: int, highest: np.ndarray
) -> np.ndarray:
    """The same for each column, among the rows, (columns,)."""
    own, others = factors
    _, column, values = entries
    rows, columns = products.shape
    lowest, unlisted = np.full(columns, np.inf, np.float32), np.full(columns, rows)
    for entry in range(len(column)):
        lowest[column[entry]] = min(lowest[column[entry]], values[entry])
        unlisted[column[entry]] -= 1
    block_of = np.empty(columns, np.int64)
    for block in range(len(bounds) - 1):
        block_of[bounds[block] : bounds[block + 1]] = block
    step = max(1, rows // sample)
    sampled = (rows + step - 1) // step
    result = np.zeros(columns)
    for chunk in prange((columns + COLUMNS - 1) // COLUMNS):
        for row in range(0, rows, step):
            for other in range(chunk * COLUMNS, min(columns, (chunk + 1) * COLUMNS)):
                cosine = np.float32(products[row, other]) * others[other] * own[row]
                result[other] += np.exp(np.float64(min(cosine, lowest[other]) - highest[block_of[other]]))
        for other in range(chunk * COLUMNS, min(columns, (chunk + 1) * COLUMNS)):
            result[other] *= unlisted[other] / max(sampled, 1)
    return result
