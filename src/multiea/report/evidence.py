"""Evidence behind groups: neighbours that members share, since those neighbours are in one group themselves."""

from __future__ import annotations

import numpy as np
import polars as pl

from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph

SCHEMA = {
    "shown": pl.Int64, "kg": pl.Int64, "relation": pl.Int64, "forwards": pl.Boolean, "neighbour": pl.Int64,
    "common": pl.Int64,
}  # fmt: skip


def shared_neighbours(kgs: tuple[KnowledgeGraph, ...], groups: Groups, shown: np.ndarray) -> pl.DataFrame:
    """The triples by which at least two members of a shown group lead to members of one other group.

    groups: all groups, seeds and found; shown: rows of those to explain. A row a triple: shown (place among the shown
    ones), kg, relation, forwards (the member is head), neighbour, common (the row of the neighbours' group), and
    kgs: how many members lead to that group.
    """
    parts = [
        _edges(number, kg, members, shown)
        for number, (kg, members) in enumerate(zip(kgs, groups.members.T, strict=True))
        if len(kg.triples)
    ]
    edges = pl.concat([pl.DataFrame(schema=SCHEMA), *parts])
    kinds = pl.col("kg").n_unique().over("shown", "common")
    return edges.with_columns(kgs=kinds).filter(pl.col("kgs") > 1).unique(maintain_order=True)


def _edges(number: int, kg: KnowledgeGraph, members: np.ndarray, shown: np.ndarray) -> pl.DataFrame:
    """The triples between members of shown groups and members of any other group, in one KG."""
    group_of = np.full(len(kg.entities), ABSENT, dtype=np.int64)
    group_of[members[members != ABSENT]] = np.flatnonzero(members != ABSENT)
    place_of = np.full(len(kg.entities), ABSENT, dtype=np.int64)
    own = members[shown]
    place_of[own[own != ABSENT]] = np.flatnonzero(own != ABSENT)
    parts = []
    for forwards, (source, target) in ((True, (0, 2)), (False, (2, 0))):
        near = kg.triples[place_of[kg.triples[:, source]] != ABSENT]
        common = group_of[near[:, target]]
        near, common = near[common != ABSENT], common[common != ABSENT]
        place = place_of[near[:, source]]
        other = shown[place] != common  # a thing is no evidence for itself
        columns = {
            "shown": place[other], "kg": np.full(int(other.sum()), number), "relation": near[other, 1],
            "forwards": np.full(int(other.sum()), forwards), "neighbour": near[other, target], "common": common[other],
        }  # fmt: skip
        parts.append(pl.DataFrame(columns).cast(SCHEMA))  # type: ignore[arg-type]
    return pl.concat(parts)
