"""Operations on the scores of all pairs of KGs in one symmetric matrix: sums, best candidates and ranks by KG.

A half has the entries above the diagonal by rows, or the same by columns: where those of each candidate start, the
other candidate of each entry, rising, and the value. kg: of each candidate.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from multiea.kernels.compiling import Arrays, inlined, kernel


@kernel
def lower_half(starts: np.ndarray, column: np.ndarray) -> Arrays:
    """Entries by columns: where each starts, the row of each entry, and its place among the entries by rows."""
    bounds = np.zeros(len(starts) + 1, np.int64)
    for entry in range(len(column)):
        bounds[column[entry] + 2] += 1
    for candidate in range(len(starts) - 1):
        bounds[candidate + 2] += bounds[candidate + 1]
    row_of, place = np.empty(len(column), np.int32), np.empty(len(column), np.int32)
    for row in range(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            to = bounds[column[entry] + 1]
            row_of[to], place[to] = row, entry
            bounds[column[entry] + 1] += 1
    return bounds[:-1].copy(), row_of, place


@kernel
def add_segment_sums(half: Arrays, kg: np.ndarray, factors: np.ndarray, sums: np.ndarray) -> None:
    """Adds to the sums of each candidate in each KG its values times the factors of the others, (candidates, KGs)."""
    starts, mate, values = half
    for candidate in prange(len(starts) - 1):
        own = kg[candidate]
        for entry in range(starts[candidate], starts[candidate + 1]):
            other = mate[entry]
            sums[candidate, kg[other]] += values[entry] * factors[other, own]


@kernel
def scaled_entries(half: Arrays, kg: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """The values times the factors of both ends, as 32-bit numbers."""
    starts, mate, values = half
    result = np.empty(len(values), np.float32)
    for candidate in prange(len(starts) - 1):
        for entry in range(starts[candidate], starts[candidate + 1]):
            other = mate[entry]
            result[entry] = values[entry] * factors[candidate, kg[other]] * factors[other, kg[candidate]]
    return result


@kernel
def filled_segments(upper: Arrays, lower: Arrays, kg: np.ndarray, kgs: int) -> np.ndarray:
    """Whether each candidate has entries in each KG, (candidates, KGs)."""
    result = np.zeros((len(kg), kgs), np.bool_)
    for candidate in prange(len(kg)):
        for starts, mate in (upper, lower):
            for entry in range(starts[candidate], starts[candidate + 1]):
                result[candidate, kg[mate[entry]]] = True
    return result


@kernel
def mean_logarithms(factors: np.ndarray, is_filled: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The mean logarithm of the factors of the candidates of each KG in each other one, (KGs, KGs)."""
    kgs = len(offsets) - 1
    result = np.zeros((kgs, kgs))
    for own in prange(kgs):
        count = np.zeros(kgs)
        for candidate in range(offsets[own], offsets[own + 1]):
            for other in range(kgs):
                if is_filled[candidate, other]:
                    result[own, other] += np.log(factors[candidate, other])
                    count[other] += 1
        for other in range(kgs):
            result[own, other] /= max(count[other], 1.0)
    return result


@kernel
def correct_factors(
    factors: np.ndarray, sums: np.ndarray, rest: np.ndarray, means: np.ndarray, is_filled: np.ndarray, kg: np.ndarray
) -> None:
    """Half of the correction that Sinkhorn requires. means: exponentials of the mean logarithms of the factors."""
    for candidate in prange(len(factors)):
        for other in range(factors.shape[1]):
            if is_filled[candidate, other]:
                total = sums[candidate, other] + rest[candidate, other] * means[other, kg[candidate]]
                factors[candidate, other] = np.sqrt(factors[candidate, other] / max(total, 1e-200))


@kernel
def masses_of_entries(
    half: Arrays, kg: np.ndarray, highest: np.ndarray, temperature: float, result: np.ndarray
) -> None:
    """Writes exp((value - highest one of the two KGs) / temperature) for each entry."""
    starts, mate, values = half
    for candidate in prange(len(starts) - 1):
        for entry in range(starts[candidate], starts[candidate + 1]):
            top = highest[kg[candidate], kg[mate[entry]]]
            result[entry] = np.exp((np.float64(values[entry]) - top) / temperature)


@kernel
def best_of_segments(
    upper: Arrays, lower: Arrays, kg: np.ndarray, least: float, may_tie: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each candidate and KG its best candidate there, and that score, (candidates, KGs) each.

    -1 where no score is above `least`, or where two share the best one; except in KGs of `may_tie`, where the first
    candidate counts.
    """
    best = np.full((len(kg), len(may_tie)), -1, np.int32)
    score = np.zeros((len(kg), len(may_tie)), np.float32)
    for candidate in prange(len(kg)):
        for starts, mate, values in (upper, lower):
            for entry in range(starts[candidate], starts[candidate + 1]):
                other, value = mate[entry], values[entry]
                into = kg[other]
                if value > score[candidate, into]:
                    score[candidate, into] = value
                    best[candidate, into] = other if value > least else -1
                elif value == score[candidate, into] and not may_tie[into]:
                    best[candidate, into] = -1
    return best, score


@inlined
def first_from(mate: np.ndarray, low: int, high: int, wanted: int) -> int:
    """The first of some rising numbers that is at least as large as the wanted one."""
    while low < high:
        middle = (low + high) // 2
        if mate[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def values_of_pairs(upper: Arrays, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The values of some pairs of candidates in either order, zero where there is no entry."""
    starts, mate, values = upper
    result = np.zeros(len(row), np.float32)
    for pair in prange(len(row)):
        one, other = min(row[pair], column[pair]), max(row[pair], column[pair])
        entry = first_from(mate, starts[one], starts[one + 1], other)
        if entry < starts[one + 1] and mate[entry] == other:
            result[pair] = values[entry]
    return result


@kernel
def ranks_of_pairs(
    upper: Arrays, lower: Arrays, offsets: np.ndarray, kg: np.ndarray, row: np.ndarray, column: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each pair how many candidates of the second one's KG score better as seen from the first, and how many equal.

    offsets: the first candidate of each KG, and the end. Candidates without entry score zero.
    """
    better, tied = np.zeros(len(row), np.int64), np.zeros(len(row), np.int64)
    for pair in prange(len(row)):
        one, into = row[pair], kg[column[pair]]
        starts, mate, values = upper if into > kg[one] else lower
        begin = first_from(mate, starts[one], starts[one + 1], offsets[into])
        own, end = np.float32(0), begin
        while end < starts[one + 1] and mate[end] < offsets[into + 1]:
            if mate[end] == column[pair]:
                own = values[end]
            end += 1
        if np.isnan(own):
            own = np.float32(-np.inf)  # a broken score must never look like a good one
        for entry in range(begin, end):
            better[pair] += values[entry] > own
            tied[pair] += values[entry] == own
        without = offsets[into + 1] - offsets[into] - (end - begin)
        if own < 0:
            better[pair] += without
        elif own == 0:
            tied[pair] += without
        tied[pair] = max(tied[pair], 1)
    return better, tied
