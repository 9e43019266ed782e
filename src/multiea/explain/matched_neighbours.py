"""Matched neighbours: neighbours of two entities that are in one group themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from multiea.data.groups import ABSENT
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.explain.candidate_scores import Node
from multiea.explain.facts import Entity, NeighbourPair
from multiea.explain.membership import Membership


def matched_neighbours(
    kgs: Sequence[KnowledgeGraph],
    membership: Membership,
    pair: tuple[Node, Node],
    shown: Callable[[Node], Entity],
    most: int,
) -> tuple[list[NeighbourPair], int]:
    """Neighbours of the two that are in one group, those with the fewest triples first, and how many there are.

    kgs: in canonical order. shown: what is shown for an entity.
    """
    sides = [_edges(kgs[kg], entity, membership.rows[kg]) for kg, entity in pair]
    own = [membership.row(node) for node in pair]
    left, right = (side.filter(~pl.col("group").is_in(own)) for side in sides)
    joined = left.join(right, on="group", suffix="_right").with_columns(
        same=pl.col("forwards") == pl.col("forwards_right"), triples=pl.col("degree") + pl.col("degree_right")
    )
    best = joined.sort(
        "triples", "same", "relation", "relation_right", "neighbour", "neighbour_right",
        descending=[False, True, False, False, False, False],
    ).unique("group", keep="first", maintain_order=True)  # fmt: skip
    found = []
    for one in best.head(most).iter_rows(named=True):
        ends = (pair[0][0], one["neighbour"]), (pair[1][0], one["neighbour_right"])
        found.append(
            NeighbourPair(
                one["relation"], one["forwards"], shown(ends[0]),
                one["relation_right"], one["forwards_right"], shown(ends[1]),
                "seed" if membership.is_known(one["group"]) else "found",
            )
        )  # fmt: skip
    return found, len(best)


def _edges(kg: KnowledgeGraph, entity: int, rows: np.ndarray) -> pl.DataFrame:
    """The triples of an entity whose other end is in a group: relation, forwards, neighbour, group, degree."""
    parts = []
    for forwards, (source, target) in ((True, (0, 2)), (False, (2, 0))):
        triples = kg.triples[kg.triples[:, source] == entity]
        triples = triples[rows[triples[:, target]] != ABSENT]
        neighbour = triples[:, target].astype(np.int64)
        columns = {
            "relation": kg.relations.gather(triples[:, 1]), "forwards": np.full(len(triples), forwards),
            "neighbour": neighbour, "group": rows[neighbour], "degree": kg.degrees[neighbour].astype(np.int64),
        }  # fmt: skip
        parts.append(pl.DataFrame(columns))
    return pl.concat(parts)
