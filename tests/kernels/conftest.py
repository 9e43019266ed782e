"""Random graphs and scores for kernels."""

from __future__ import annotations

import numpy as np
import pytest

from multiea.kernels.edges import Edges

ENTITIES, RELATIONS, MARKS = 300, 7, 60


@pytest.fixture(scope="session")
def triples() -> np.ndarray:
    """Some triples more than once, one entity with very many edges, some without any."""
    generator = np.random.default_rng(0)
    entity = generator.integers(0, ENTITIES - 10, (1500, 2))
    entity[:400, 0] = 3
    relation = generator.integers(0, RELATIONS, 1500)
    rows = np.stack([entity[:, 0], relation, entity[:, 1]], axis=1)
    return np.concatenate([rows, rows[:20]]).astype(np.int32)


@pytest.fixture(scope="session")
def edges(triples: np.ndarray) -> Edges:
    return Edges.of(triples, ENTITIES, RELATIONS)


@pytest.fixture(scope="session")
def mark() -> np.ndarray:
    """The mark of each entity, -1 for most."""
    generator = np.random.default_rng(1)
    result = np.full(ENTITIES, -1, np.int32)
    result[generator.permutation(ENTITIES)[:MARKS]] = generator.permutation(MARKS)
    return result
