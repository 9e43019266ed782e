"""Small tasks made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import torch
from torch import Tensor
from torch.nn.functional import normalize

from multiea import Alignment, AlignSettings, Groups, KnowledgeGraph, Task, load
from multiea.grouping.found_groups import FoundGroups
from multiea.kernels.edges import Edges
from support.embeddings import canonical


def tiny_task(kgs: int = 3, entities: int = 7, seed: int = 0) -> Task:
    """Random KGs of a few entities, one of them isolated, with partial seeds."""
    rng = np.random.default_rng(seed)
    graphs = []
    for number in range(kgs):
        ends = rng.integers(0, entities, (12, 2))
        triples = [(f"e{a}", f"r{rng.integers(3)}", f"e{b}") for a, b in ends]
        triples += [("e0", "r0", "e1"), ("e1", "r0", "e0"), ("e0", "r1", "e1")]  # both directions, and two relations
        names = ["isolated", *(f"e{i}" for i in range(entities))]
        graphs.append(KnowledgeGraph.from_triples(f"kg{number}", triples, entities=names))
    rows = [{f"kg{number}": f"e{i}" for number in range(kgs) if (i + number) % 4 or number < 2} for i in range(5)]
    return Task(graphs, Groups.from_names(graphs, rows))


def two_tables(entities: int) -> Task:
    """Two tables of records with equal names and sizes, without seeds."""
    rng = np.random.default_rng(0)
    letters = rng.integers(0, 26, (entities, 2, 7)) + ord("a")
    names = [" ".join("".join(map(chr, word)) for word in name) for name in letters.tolist()]
    sizes = rng.integers(10, 10_000, entities).tolist()
    return load({kg: pl.DataFrame({"id": [f"{kg}{i}" for i in range(entities)], "name": names, "size": sizes})
                 for kg in ("a", "b")})  # fmt: skip


def ring(name: str, size: int = 40) -> KnowledgeGraph:
    """A KG in which each entity is the head of one triple, and two entities are isolated."""
    triples = [(f"{i}", f"r{i % 3}", f"{(i * 7 + 1) % size}") for i in range(size)]
    return KnowledgeGraph.from_triples(name, triples, entities=["isolated", "isolated too"])


def related_task(kgs: int = 3, entities: int = 60, seed: int = 0) -> tuple[Task, Tensor]:
    """KGs whose embeddings of equal number are similar; some groups are partial, some entities have no counterpart."""
    rng = np.random.default_rng(seed)
    graphs = [
        KnowledgeGraph.from_triples(f"kg{kg}", [(f"{kg}-{i}", "r", f"{kg}-{i + 1}") for i in range(entities - 1)])
        for kg in range(kgs)
    ]
    rows = [{f"kg{kg}": f"{kg}-{i}" for kg in range(kgs) if kg < 2 or rng.random() < 0.7} for i in range(entities - 10)]
    task = Task(graphs, Groups.from_names(graphs, rows)).split(0.3, random_state=seed)
    centres = rng.normal(size=(entities, 8))
    parts = []
    for kg in graphs:
        number = [int(name.split("-")[1]) for name in kg.entities]
        parts.append(centres[number] + 0.7 * rng.normal(size=(entities, 8)))
    return task, normalize(torch.from_numpy(np.concatenate(parts)).float())


def unaligned(task: Task, embeddings: Tensor) -> Alignment:
    """An alignment with these embeddings that has found nothing; `with_enhancement` finds groups."""
    return Alignment(
        task, FoundGroups.empty(task.kg_names), canonical(task, embeddings), AlignSettings.default("multiea")
    )


def edges_of(kgs: Sequence[KnowledgeGraph]) -> list[Edges]:
    """The edges of KGs, for kernels."""
    return [Edges.of(kg.triples, len(kg.entities), len(kg.relations)) for kg in kgs]
