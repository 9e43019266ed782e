"""Scores of pairs of two KGs, as rows and as columns: built from lists of candidates, summed, cut, compared."""

from __future__ import annotations

import numpy as np
from numba import prange

from multiea.kernels.compiling import Arrays, kernel
from multiea.kernels.nearest_marks import CHUNKS, add, insert
from multiea.kernels.shared_marks import replace_least

Sparse = tuple[np.ndarray, np.ndarray, np.ndarray]  # three arrays, such as starts of rows, columns, and values


@kernel
def joined_lists(forward: np.ndarray, backward: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The union of two lists of candidates: starts of rows, and columns, each pair once, rising in each row.

    forward: columns of each row, (rows, count); backward: rows of each column, (columns, count). -1 where there are
    fewer.
    """
    bounds = np.zeros(len(forward) + 1, np.int64)
    for row in prange(len(forward)):
        for k in range(forward.shape[1]):
            bounds[row + 1] += forward[row, k] >= 0
    for column in range(len(backward)):
        for k in range(backward.shape[1]):
            if backward[column, k] >= 0:
                bounds[backward[column, k] + 1] += 1
    bounds = np.cumsum(bounds)
    found, filled = np.empty(bounds[-1], np.int32), bounds[:-1].copy()
    for column in range(len(backward)):
        for k in range(backward.shape[1]):
            row = backward[column, k]
            if row >= 0:
                found[filled[row]] = column
                filled[row] += 1
    starts = np.zeros(len(forward) + 1, np.int64)
    for row in prange(len(forward)):
        end = filled[row]
        for k in range(forward.shape[1]):
            if forward[row, k] >= 0:
                found[end] = forward[row, k]
                end += 1
        own = found[bounds[row] : bounds[row + 1]]
        own.sort()
        count = 0
        for k in range(len(own)):
            if k == 0 or own[k] != own[k - 1]:
                own[count] = own[k]
                count += 1
        starts[row + 1] = count
    starts = np.cumsum(starts)
    columns = np.empty(starts[-1], np.int32)
    for row in prange(len(forward)):
        size = starts[row + 1] - starts[row]
        columns[starts[row] : starts[row + 1]] = found[bounds[row] : bounds[row] + size]
    return starts, columns


@kernel
def sorted_rows(columns: np.ndarray, values: np.ndarray) -> Sparse:
    """Lists in any order as a sparse matrix: starts of rows, columns, rising in each row, and values.

    columns: distinct ones of each row, (rows, count), -1 where there are fewer.
    """
    starts = np.zeros(len(columns) + 1, np.int64)
    for row in prange(len(columns)):
        for k in range(columns.shape[1]):
            starts[row + 1] += columns[row, k] >= 0
    starts = np.cumsum(starts)
    found, kept = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    for row in prange(len(columns)):
        order = np.argsort(columns[row])
        skipped = columns.shape[1] - (starts[row + 1] - starts[row])  # -1 comes first
        for k in range(skipped, columns.shape[1]):
            found[starts[row] + k - skipped] = columns[row, order[k]]
            kept[starts[row] + k - skipped] = values[row, order[k]]
    return starts, found, kept


@kernel
def transposed(starts: np.ndarray, column: np.ndarray, columns: int) -> Sparse:
    """The same entries by columns: starts of columns, the row of each entry, and its place among the rows."""
    sizes = np.zeros(columns + 1, np.int64)
    for entry in range(len(column)):
        sizes[column[entry] + 1] += 1
    bounds = np.cumsum(sizes)
    filled = bounds[:-1].copy()
    row_of, place = np.empty(len(column), np.int32), np.empty(len(column), np.int64)
    for row in range(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            to = filled[column[entry]]
            row_of[to], place[to] = row, entry
            filled[column[entry]] += 1
    return bounds, row_of, place


@kernel
def lowest_values(starts: np.ndarray, values: np.ndarray, empty: float) -> np.ndarray:
    """The lowest value of each row; `empty` where there is none."""
    result = np.full(len(starts) - 1, empty, np.float32)
    for row in prange(len(result)):
        for entry in range(starts[row], starts[row + 1]):
            result[row] = min(result[row], values[entry])
    return result


@kernel
def weighted_sums(starts: np.ndarray, column: np.ndarray, values: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """The sum of each row, its values times the factors of their columns, in double precision."""
    result = np.zeros(len(starts) - 1)
    for row in prange(len(result)):
        total = 0.0
        for entry in range(starts[row], starts[row + 1]):
            total += values[entry] * factors[column[entry]]
        result[row] = total
    return result


@kernel
def scaled_rows(
    starts: np.ndarray, column: np.ndarray, values: np.ndarray, row_factors: np.ndarray, factors: np.ndarray
) -> np.ndarray:
    """All values times the factors of their rows and columns."""
    result = np.empty(len(values), np.float32)
    for row in prange(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            result[entry] = values[entry] * row_factors[row] * factors[column[entry]]
    return result


@kernel
def above(starts: np.ndarray, column: np.ndarray, values: np.ndarray, least: float) -> Sparse:
    """The entries with a value above `least`: starts, columns and values."""
    kept = np.zeros(len(starts), np.int64)
    for row in prange(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            kept[row + 1] += values[entry] > least
    bounds = np.cumsum(kept)
    columns, others = np.empty(bounds[-1], np.int32), np.empty(bounds[-1], np.float32)
    for row in prange(len(starts) - 1):
        to = bounds[row]
        for entry in range(starts[row], starts[row + 1]):
            if values[entry] > least:
                columns[to], others[to] = column[entry], values[entry]
                to += 1
    return bounds, columns, others


@kernel
def best_of_rows(
    starts: np.ndarray, column: np.ndarray, values: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """The largest values of each row, largest first: columns, -1 where there are fewer, and values, (rows, count)."""
    columns = np.full((len(starts) - 1, count), -1, np.int32)
    best = np.zeros((len(starts) - 1, count), np.float32)
    for row in prange(len(columns)):
        found = 0
        for entry in range(starts[row], starts[row + 1]):
            found = insert(columns[row], best[row], found, column[entry], values[entry])
    return columns, best


@kernel
def paths(
    direct: Arrays, shares: Arrays, first: Arrays, second: Arrays, starts_of_thirds: np.ndarray, columns: int, most: int
) -> Sparse:
    """Direct scores and paths of two steps, summed up: the `most` best columns of each row with their values.

    direct: starts, columns and values. shares: of direct scores, and of each path. first: the best candidates of each
    row in each third KG and their scores, (thirds, rows, steps); second: those of the candidates of all third KGs, one
    KG after the other, among the columns; starts_of_thirds: where those of each begin. Also the sum of what each row
    has beside these.
    """
    starts, column, values = direct
    steps, step_values = first
    next_steps, next_values = second
    rows, chunks = len(starts) - 1, CHUNKS
    kept, best = np.full((rows, most), -1, np.int32), np.zeros((rows, most), np.float32)
    others = np.zeros(rows)
    for chunk in prange(chunks):
        total, touched = np.zeros(columns, np.float32), np.empty(columns, np.int32)
        for row in range(chunk * rows // chunks, (chunk + 1) * rows // chunks):
            count = 0
            for entry in range(starts[row], starts[row + 1]):
                touched[count] = column[entry]
                count += 1
                total[column[entry]] = shares[0] * values[entry]
            for third in range(len(steps)):
                for k in range(steps.shape[2]):
                    middle = steps[third, row, k]
                    if middle < 0:
                        break
                    share = shares[1] * step_values[third, row, k]
                    middle += starts_of_thirds[third]
                    for j in range(next_steps.shape[1]):
                        end = next_steps[middle, j]
                        if end < 0:
                            break
                        count = add(total, touched, count, end, share * next_values[middle, j])
            found, everything = 0, 0.0
            for k in range(count):
                found = replace_least(kept[row], best[row], found, touched[k], total[touched[k]])
                everything += total[touched[k]]
                total[touched[k]] = 0
            for k in range(found):
                everything -= best[row, k]
            others[row] = max(everything, 0.0)
    return kept, best, others


@kernel
def sums_through(steps: np.ndarray, values: np.ndarray, reached: np.ndarray, columns: int) -> np.ndarray:
    """The sum of each column of lists of steps, each row of which is multiplied by what reached it."""
    result = np.zeros(columns)
    for row in range(len(steps)):
        for k in range(steps.shape[1]):
            if steps[row, k] < 0:
                break
            result[steps[row, k]] += reached[row] * values[row, k]
    return result


@kernel
def values_at(
    starts: np.ndarray, column: np.ndarray, values: np.ndarray, row: np.ndarray, wanted: np.ndarray
) -> np.ndarray:
    """The values of some entries, given by row and column, zero where there is none; columns rise in each row."""
    result = np.zeros(len(row), np.float32)
    for pair in prange(len(row)):
        low, high = starts[row[pair]], starts[row[pair] + 1]
        while low < high:
            middle = (low + high) // 2
            if column[middle] < wanted[pair]:
                low = middle + 1
            else:
                high = middle
        if low < starts[row[pair] + 1] and column[low] == wanted[pair]:
            result[pair] = values[low]
    return result
