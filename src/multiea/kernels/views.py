"""The views of entities side by side, in 8 bits: what an embedding is made of."""

from __future__ import annotations

import numpy as np
from numba import prange

from multiea.kernels.compiling import CHUNK, Arrays, kernel, part
from multiea.kernels.states import add_row, length, write_unit_row

LARGEST = np.float32(127)


@part
def scale_to(row: np.ndarray, weight: float) -> None:
    """Gives a vector the length sqrt(weight); zero stays zero."""
    factor = np.float32(np.sqrt(weight)) / length(row)
    for k in range(len(row)):
        row[k] *= factor


@kernel
def write_views(
    entities: np.ndarray,
    edges: Arrays,
    columns: Arrays,
    last: Arrays,
    near: Arrays,
    relations: Arrays,
    weights: np.ndarray,
    result: Arrays,
) -> None:
    """The embeddings of some entities: neighbours by relation, marks at the last hop, nearer marks, relations alone.

    Neighbours by relation: a sketch of the sum over edges of (numbers of the relation) x (columns of the neighbour).
    Each number is multiplied by some columns, as many as there are in a part. relations: numbers (2R, K) of relations,
    their own view (2R, v), and how many columns a part has. weights: of the views.
    """
    starts, tail, relation, relation_starts, incoming = edges
    column_numbers, column_scales = columns
    last_numbers, last_scales = last
    near_numbers, near_scales = near
    relation_numbers, relation_view, width = relations
    numbers, scales = result
    dimensions, half, own = column_numbers.shape[1], near_numbers.shape[1], relation_view.shape[1]
    factors = relation_numbers.shape[1]
    parts = dimensions // width
    sketch = factors * width
    for chunk in prange((len(entities) + CHUNK - 1) // CHUNK):
        row = np.empty(numbers.shape[1], np.float32)
        neighbour = np.empty(dimensions, np.float32)
        for place in range(chunk * CHUNK, min(len(entities), (chunk + 1) * CHUNK)):
            entity = entities[place]
            row[:] = 0
            at_last = row[sketch : sketch + dimensions]
            for edge in range(starts[entity], starts[entity + 1]):
                other = tail[edge]
                if last_scales[other] > 0:
                    add_row(at_last, last_numbers, other, last_scales[other])
                if column_scales[other] == 0:
                    continue
                for k in range(dimensions):
                    neighbour[k] = column_scales[other] * np.float32(column_numbers[other, k])
                for number in range(factors):
                    factor = relation_numbers[relation[edge], number]
                    to, start = number * width, (number % parts) * width
                    for k in range(width):
                        row[to + k] += factor * neighbour[start + k]
            nearer = row[sketch + dimensions : sketch + dimensions + half]
            if near_scales[entity] > 0:
                add_row(nearer, near_numbers, entity, near_scales[entity])
            by_relation = row[sketch + dimensions + half :]
            for edge in range(relation_starts[entity], relation_starts[entity + 1]):
                for k in range(own):
                    by_relation[k] += relation_view[incoming[edge], k]
            scale_to(row[:sketch], weights[0])
            scale_to(at_last, weights[1])
            scale_to(nearer, weights[2])
            scale_to(by_relation, weights[3])
            write_unit_row(row, LARGEST, numbers, scales, place)
