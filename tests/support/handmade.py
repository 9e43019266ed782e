"""Alignments made by hand, without an engine: the groups are given."""

from __future__ import annotations

import numpy as np
import polars as pl
import torch

from multiea import Alignment, AlignSettings, Groups, KnowledgeGraph, Task
from multiea.engines.embeddings import Embeddings
from multiea.grouping.found_groups import FoundGroups
from support.embeddings import canonical

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>')


def positions(kg: KnowledgeGraph, *entities: str) -> list[int]:
    return [int(position) for position in kg.positions(pl.Series(entities))]


def alignment_of(kgs: list[KnowledgeGraph], seeds: list[list[int]], found: list[list[int]]) -> Alignment:
    """An alignment with these groups: positions in each KG, -1 where absent."""
    names = tuple(kg.name for kg in kgs)
    seed_groups, found_groups = (
        Groups(names, np.array(rows, dtype=np.int32).reshape(-1, len(kgs))) for rows in (seeds, found)
    )
    confidence = np.where(found_groups.present, np.linspace(0.9, 0.6, len(kgs)), 0.0)
    embeddings = Embeddings(torch.zeros(sum(len(kg.entities) for kg in kgs), 2))
    return Alignment(
        Task(kgs, seed_groups, name="made"),
        FoundGroups.from_members(found_groups, confidence),
        embeddings,
        AlignSettings.default(enhancement="none"),
    )


def chain_alignment(
    kgs: int, groups: int, *, held_out: bool = True, dimensions: int = 8, hostile: bool = False, seeds: int = 3
) -> Alignment:
    """An alignment of KGs whose entities form a chain; group 0, 1, ... has the entity of the same number in each KG.

    With more than two KGs every third found group has no member in the last one. hostile: all names are markup.
    """
    entities = seeds + groups + 5
    graphs = []
    for number in range(kgs):
        ids = [f"kg{number}:{entity}" for entity in range(entities)]
        if hostile:
            ids[:entities:2] = [f"{HOSTILE[entity % 4 // 2]}{number}.{entity}" for entity in range(0, entities, 2)]
        head = np.arange(entities - 1)
        triples = np.stack([head, np.zeros_like(head), head + 1], axis=1).astype(np.int32)
        names = pl.Series([HOSTILE[entity % 2] if hostile else f"name {entity}" for entity in range(entities)])
        relations = pl.Series([HOSTILE[0] if hostile else "next"])
        kg_name = f"{HOSTILE[1]}{number}" if hostile else f"kg{number}"
        graphs.append(KnowledgeGraph(kg_name, pl.Series(ids), relations, triples, names=names))
    kg_names = tuple(kg.name for kg in graphs)
    members = np.repeat(np.arange(seeds + groups, dtype=np.int32)[:, None], kgs, axis=1)
    found = members[seeds:].copy()
    if kgs > 2:
        found[::3, -1] = -1
    confidence = np.where(found >= 0, np.linspace(0.99, 0.4, groups)[:, None], 0.0)
    task = Task(
        graphs,
        Groups(kg_names, members[:seeds]),
        Groups(kg_names, members[seeds:]) if held_out else None,
        name=HOSTILE[0] if hostile else "by hand",
    )
    embeddings = torch.from_numpy(np.random.default_rng(0).normal(size=(kgs * entities, dimensions)).astype(np.float32))
    return Alignment(
        task,
        FoundGroups.from_members(Groups(kg_names, found), confidence),
        canonical(task, embeddings),
        AlignSettings.default(),
    )
