"""States of entities in 16 bits: whole numbers from -32767 to 32767, and a scale per entity."""

from __future__ import annotations

import numpy as np

from multiea.kernels.compiling import inlined, part, part_in_any_order

LARGEST = np.float32(32767)
LANES = 8  # partial sums that vector instructions compute side by side


@part
def write_unit_row(total: np.ndarray, largest: np.float32, numbers: np.ndarray, scales: np.ndarray, row: int) -> None:
    """Writes a vector with unit length as whole numbers up to the largest, and a scale; zero stays zero."""
    highest = highest_of(total)
    if highest <= 1e-20:
        scales[row] = 0
        numbers[row] = 0
        return
    factor = largest / highest
    for k in range(len(total)):
        numbers[row, k] = np.rint(total[k] * factor)
    scales[row] = np.float32(1) / (factor * length(total))


@part
def write_row(total: np.ndarray, numbers: np.ndarray, scales: np.ndarray, row: int) -> None:
    """Writes a vector as it is into a row."""
    highest = highest_of(total)
    factor = np.float32(0) if highest <= 1e-20 else LARGEST / highest
    for k in range(len(total)):
        numbers[row, k] = np.rint(total[k] * factor)
    scales[row] = highest / LARGEST


@part_in_any_order
def highest_of(vector: np.ndarray) -> np.float32:
    """The largest absolute value."""
    highest = np.float32(0)
    for k in range(len(vector)):
        highest = max(highest, abs(vector[k]))
    return highest


@part
def length(vector: np.ndarray) -> np.float32:
    """The length of a vector, or a tiny one instead of zero."""
    a, b, c, d = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    e, f, g, h = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    whole = len(vector) // LANES * LANES
    for k in range(0, whole, LANES):
        a += vector[k] * vector[k]
        b += vector[k + 1] * vector[k + 1]
        c += vector[k + 2] * vector[k + 2]
        d += vector[k + 3] * vector[k + 3]
        e += vector[k + 4] * vector[k + 4]
        f += vector[k + 5] * vector[k + 5]
        g += vector[k + 6] * vector[k + 6]
        h += vector[k + 7] * vector[k + 7]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for k in range(whole, len(vector)):
        total += vector[k] * vector[k]
    return max(np.sqrt(total), np.float32(1e-12))


@part
def add_row(total: np.ndarray, numbers: np.ndarray, row: int, factor: float) -> None:
    """Adds a row of states, multiplied by a factor."""
    for k in range(len(total)):
        total[k] += factor * np.float32(numbers[row, k])


@inlined
def mixed(number: np.uint64) -> np.uint64:
    """A number that looks random (the finaliser of splitmix64, Steele et al., 2014)."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))
