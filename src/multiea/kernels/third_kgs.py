"""Paths through third KGs where there are many: from the best steps of each candidate, in whatever KGs they are."""

from __future__ import annotations

import numpy as np
from numba import prange

from multiea.kernels.compared_blocks import put
from multiea.kernels.compiling import CHUNK, Arrays, kernel, part
from multiea.kernels.nearest_marks import add


@kernel
def best_steps(
    upper: Arrays, lower: Arrays, kg: np.ndarray, kgs: int, limits: tuple[int, int], least: float
) -> tuple[np.ndarray, np.ndarray]:
    """The best scores of each candidate: columns, rising, -1 where there are fewer, and values, (candidates, most).

    limits: how many count in each KG, and how many of these in all KGs together; the first of equal ones do.
    """
    each, most = limits
    steps = np.full((len(kg), most), -1, np.int32)
    values = np.zeros((len(kg), most), np.float32)
    for chunk in prange((len(kg) + CHUNK - 1) // CHUNK):
        names, best = np.empty((kgs, each), np.int32), np.empty((kgs, each), np.float32)
        chosen, highest = np.empty(most, np.int32), np.empty(most, np.float32)
        for candidate in range(chunk * CHUNK, min(len(kg), (chunk + 1) * CHUNK)):
            best[:], highest[:], chosen[:] = least, 0, -1
            names[:] = -1
            for starts, mate, scores in (lower, upper):
                for entry in range(starts[candidate], starts[candidate + 1]):
                    into = kg[mate[entry]]
                    if scores[entry] > best[into, each - 1]:
                        put(names[into], best[into], mate[entry], scores[entry])
            for into in range(kgs):
                for k in range(each):
                    if names[into, k] >= 0 and best[into, k] > highest[most - 1]:
                        put(chosen, highest, names[into, k], best[into, k])
            count = 0
            while count < most and chosen[count] >= 0:
                count += 1
            order = np.argsort(chosen[:count])
            for k in range(count):
                steps[candidate, k], values[candidate, k] = chosen[order[k]], highest[order[k]]
    return steps, values


@part
def sums_of_row(
    row: int, end: int, direct: Arrays, shares: Arrays, step_lists: Arrays, least: float, total: np.ndarray,
    touched: np.ndarray,
) -> int:  # fmt: skip
    """Adds up the direct scores and the paths of a row to candidates from `end` on; returns to how many there are."""
    starts, column, scores = direct
    steps, values = step_lists
    count = 0
    for entry in range(starts[row], starts[row + 1]):
        if scores[entry] > 0:
            count = add(total, touched, count, column[entry], shares[0] * scores[entry])
    for k in range(steps.shape[1]):
        middle = steps[row, k]
        if middle < 0:
            break
        for j in range(steps.shape[1] - 1, -1, -1):
            other = steps[middle, j]
            if other < 0:
                continue
            if other < end:
                break
            value = values[row, k] * values[middle, j]
            if value > least:
                count = add(total, touched, count, other, shares[1] * value)
    return count


@part
def joined_rows(forward: Arrays, backward: Arrays, starts: np.ndarray, column: np.ndarray, values: np.ndarray) -> int:
    """The union of the best of each row and of each column, by rows; returns how many entries there are.

    forward: columns and values of rows, (rows, n); backward: rows and values of columns, (columns, n). starts, column,
    values: are filled.
    """
    names, scores = forward
    rows_of, row_scores = backward
    count = np.zeros(len(names) + 1, np.int64)
    for row in range(len(names)):
        for k in range(names.shape[1]):
            count[row + 1] += names[row, k] >= 0
    for other in range(len(rows_of)):
        for k in range(rows_of.shape[1]):
            if rows_of[other, k] >= 0:
                count[rows_of[other, k] + 1] += 1
    bounds = np.cumsum(count)
    keys, filled = np.empty(bounds[-1], np.int64), bounds[:-1].copy()
    bits, row_bits = scores.view(np.int32), row_scores.view(np.int32)
    for row in range(len(names)):
        for k in range(names.shape[1]):
            if names[row, k] >= 0:
                keys[filled[row]] = (np.int64(names[row, k]) << 32) | np.int64(bits[row, k])
                filled[row] += 1
    for other in range(len(rows_of)):
        for k in range(rows_of.shape[1]):
            row = rows_of[other, k]
            if row >= 0:
                keys[filled[row]] = (np.int64(other) << 32) | np.int64(row_bits[other, k])
                filled[row] += 1
    to, found = 0, values.view(np.int32)
    for row in range(len(names)):
        own = keys[bounds[row] : bounds[row + 1]]
        own.sort()
        for k in range(len(own)):
            if k == 0 or own[k] != own[k - 1]:
                column[to], found[to] = own[k] >> 32, own[k] & 0xFFFFFFFF
                to += 1
        starts[row + 1] = to
    return to


@kernel
def paths_of_kgs(
    kgs: tuple[int, int], offsets: np.ndarray, kg: np.ndarray, direct: Arrays, shares: Arrays, step_lists: Arrays,
    limits: Arrays, cut: np.ndarray,
) -> Arrays:  # fmt: skip
    """Direct scores and paths of the candidates of some KGs (from, to) to those of later KGs, summed up.

    Of each row and of each column, the best in the KG of the other side are kept; the mass of the others is added to
    `cut`, (candidates, KGs). limits: how many are kept, and the product that a path must exceed. Returns for each KG
    the end of each row, and the columns and values of all, which are filled up to there.
    """
    (first, last), (count, least) = kgs, limits
    size, rows = len(kg), 0
    for own in range(first, last):
        rows = max(rows, offsets[own + 1] - offsets[own])
    room = (rows * (len(offsets) - 1) + size) * count
    ends = np.zeros((last - first, rows + 1), np.int64)
    columns, values = np.empty((last - first, room), np.int32), np.empty((last - first, room), np.float32)
    for number in prange(last - first):
        own = first + number
        start, end = offsets[own], offsets[own + 1]
        total, touched = np.zeros(size, np.float32), np.empty(size, np.int32)
        names = np.full((end - start, (len(offsets) - 1) * count), -1, np.int32)
        best = np.zeros((end - start, (len(offsets) - 1) * count), np.float32)
        row_names, row_best = np.full((size, count), -1, np.int32), np.zeros((size, count), np.float32)
        for row in range(start, end):
            found = sums_of_row(row, end, direct, shares, step_lists, least, total, touched)
            own_names, own_best = names[row - start], best[row - start]
            for k in range(found):
                other = touched[k]
                value, into = total[other], slice(kg[other] * count, (kg[other] + 1) * count)
                total[other] = 0
                cut[row, kg[other]] += value
                cut[other, own] += value
                if value > own_best[into.stop - 1]:
                    put(own_names[into], own_best[into], other, value)
                if value > row_best[other, count - 1]:
                    put(row_names[other], row_best[other], row - start, value)
        own_ends = ends[number, : end - start + 1]
        joined_rows((names, best), (row_names, row_best), own_ends, columns[number], values[number])
        for row in range(start, end):
            for entry in range(own_ends[row - start], own_ends[row - start + 1]):
                other, value = columns[number, entry], values[number, entry]
                cut[row, kg[other]] -= value
                cut[other, own] -= value
    return ends, columns, values
