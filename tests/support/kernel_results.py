"""Runs kernels with many roundings on random numbers and prints a hash of what they compute."""

from __future__ import annotations

import hashlib

import numpy as np

from multiea.kernels.edges import Edges
from multiea.kernels.flow import hop, to_unit_length, write_marks
from multiea.kernels.pair_scores import weighted_sums
from multiea.kernels.views import write_views

ENTITIES, RELATIONS, DIMENSIONS, PARTS = 500, 6, 72, 4
State = tuple[np.ndarray, np.ndarray]


def empty_state(width: int = DIMENSIONS) -> State:
    return np.zeros((ENTITIES, width), np.int16), np.zeros(ENTITIES, np.float32)


def hash_of_results() -> str:
    """Of embeddings and of sums of rows."""
    random = np.random.default_rng(0)
    triples = random.integers(0, (ENTITIES, RELATIONS, ENTITIES), (4000, 3)).astype(np.int32)
    edges = Edges.of(triples, ENTITIES, RELATIONS)
    signs = np.sign(random.normal(size=(3, DIMENSIONS))).astype(np.float32)
    start, after, columns, near = (empty_state(), empty_state(), empty_state(), empty_state(DIMENSIONS // 2))
    mark = np.arange(ENTITIES, dtype=np.int32) % 50
    write_marks(mark, random.random(50).astype(np.float32), 3, start, signs[0], columns)
    states = random.normal(size=(edges.relations, DIMENSIONS)).astype(np.float32)
    of_edges = (edges.starts, edges.tail, edges.relation_starts, edges.incoming)
    hop(of_edges, start, states, 0.3, signs[1:], (*near, *columns), after)
    to_unit_length(*columns)
    numbers = random.normal(size=(edges.relations, 16)).astype(np.float32)
    width = 16 * DIMENSIONS // PARTS + DIMENSIONS + DIMENSIONS // 2 + DIMENSIONS
    embeddings = np.zeros((ENTITIES, width), np.int8), np.zeros(ENTITIES, np.float32)
    every = np.arange(ENTITIES)
    own = (edges.starts, edges.tail, edges.relation, edges.relation_starts, edges.incoming)
    weights = np.array([0.4, 0.3, 0.2, 0.1], np.float32)
    write_views(every, own, columns, after, near, (numbers, states, DIMENSIONS // PARTS), weights, embeddings)
    values = random.random(len(edges.tail)).astype(np.float32)
    sums = weighted_sums(edges.starts, edges.tail, values, random.random(ENTITIES))
    return hashlib.sha256(b"".join(array.tobytes() for array in (*embeddings, sums))).hexdigest()


if __name__ == "__main__":
    print(hash_of_results())
