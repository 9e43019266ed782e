"""Shared neighbours: the evidence for a group, namely neighbours of its members that are in one group themselves."""

from __future__ import annotations

import numpy as np
import polars as pl

from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph

SCHEMA = {
    "shown": pl.Int64, "kg": pl.Int64, "relation": pl.Int64, "forwards": pl.Boolean, "neighbour": pl.Int64,
    "neighbour_group": pl.Int64,
}  # fmt: skip


def shared_neighbours(kgs: tuple[KnowledgeGraph, ...], groups: Groups, shown: np.ndarray) -> pl.DataFrame:
    """The triples that connect at least two members of a shown group with members of the same other group.

    groups: all groups, seeds and found ones. shown: the rows of the groups to explain. The result has one row per
    triple: shown (position in `shown`), kg, relation, forwards (whether the member is the head), neighbour,
    neighbour_group (row of the neighbour's group), kgs (how many members have a neighbour in that group).
    """
    parts = [
        _edges(number, kg, members, shown)
        for number, (kg, members) in enumerate(zip(kgs, groups.members.T, strict=True))
        if len(kg.triples)
    ]
    edges = pl.concat([pl.DataFrame(schema=SCHEMA), *parts])
    kgs_per_group = pl.col("kg").n_unique().over("shown", "neighbour_group")
    return edges.with_columns(kgs=kgs_per_group).filter(pl.col("kgs") > 1).unique(maintain_order=True)


def _edges(number: int, kg: KnowledgeGraph, members: np.ndarray, shown: np.ndarray) -> pl.DataFrame:
    """The triples of one KG between members of shown groups and members of any other group."""
    group_of = _rows_by_entity(len(kg.entities), members)
    shown_of = _rows_by_entity(len(kg.entities), members[shown])
    parts = []
    for forwards, (source, target) in ((True, (0, 2)), (False, (2, 0))):
        triples = kg.triples[shown_of[kg.triples[:, source]] != ABSENT]
        neighbour_group = group_of[triples[:, target]]
        triples, neighbour_group = triples[neighbour_group != ABSENT], neighbour_group[neighbour_group != ABSENT]
        position = shown_of[triples[:, source]]
        other = shown[position] != neighbour_group  # a group is no evidence for itself
        count = int(other.sum())
        columns = {
            "shown": position[other], "kg": np.full(count, number), "relation": triples[other, 1],
            "forwards": np.full(count, forwards), "neighbour": triples[other, target],
            "neighbour_group": neighbour_group[other],
        }  # fmt: skip
        parts.append(pl.DataFrame(columns).cast(SCHEMA))  # type: ignore[arg-type]
    return pl.concat(parts)


def _rows_by_entity(entities: int, members: np.ndarray) -> np.ndarray:
    """For each entity of a KG the row that has it in `members`, (entities,), ABSENT if none has."""
    rows = np.full(entities, ABSENT, dtype=np.int64)
    rows[members[members != ABSENT]] = np.flatnonzero(members != ABSENT)
    return rows
