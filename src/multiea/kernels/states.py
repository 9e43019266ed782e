"""States of entities in 16 bits: whole numbers from -32767 to 32767, and a scale per entity."""

from __future__ import annotations

import numba
import numpy as np

from multiea.kernels.compiling import part

LARGEST = 32767.0


@part
def write_unit_row(total: np.ndarray, numbers: np.ndarray, scales: np.ndarray, row: int) -> None:
    """Writes a vector with unit length into a row; zero stays zero."""
    length = np.float32(0)
    highest = np.float32(0)
    for k in range(len(total)):
        length += total[k] * total[k]
        highest = max(highest, abs(total[k]))
    if highest <= 1e-20:
        scales[row] = 0
        for k in range(len(total)):
            numbers[row, k] = 0
        return
    factor = np.float32(LARGEST) / highest
    for k in range(len(total)):
        numbers[row, k] = np.int16(np.rint(total[k] * factor))
    scales[row] = 1 / (factor * np.sqrt(length))


@part
def write_row(total: np.ndarray, numbers: np.ndarray, scales: np.ndarray, row: int) -> None:
    """Writes a vector as it is into a row."""
    highest = np.float32(0)
    for k in range(len(total)):
        highest = max(highest, abs(total[k]))
    factor = np.float32(0) if highest <= 1e-20 else np.float32(LARGEST) / highest
    for k in range(len(total)):
        numbers[row, k] = np.int16(np.rint(total[k] * factor))
    scales[row] = highest / np.float32(LARGEST)


@part
def length(vector: np.ndarray) -> np.float32:
    """The length of a vector, or a tiny one instead of zero."""
    total = np.float32(0)
    for k in range(len(vector)):
        total += vector[k] * vector[k]
    return max(np.sqrt(total), np.float32(1e-12))


@part
def add_row(total: np.ndarray, numbers: np.ndarray, row: int, factor: float) -> None:
    """Adds a row of states, multiplied by a factor."""
    for k in range(len(total)):
        total[k] += factor * np.float32(numbers[row, k])


@numba.njit(nogil=True, inline="always")  # type: ignore[untyped-decorator, unused-ignore]
def mixed(number: np.uint64) -> np.uint64:
    """A number that looks random (the finaliser of splitmix64, Steele et al., 2014)."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))
