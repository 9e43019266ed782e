"""Signatures: the few propagation marks nearest to each entity, by which large KGs are blocked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multiea.data.groups import ABSENT, Groups
from multiea.kernels.edges import Edges
from multiea.tasks.shards import Shards

MARKS_PER_ENTITY = 24
MARKS_PASSED_ON = 16  # by a neighbour
SECOND_HOP_WEIGHT = 0.5


@dataclass(frozen=True)
class Signatures:
    """The marks near each entity, (n, m), -1 where there are fewer, and their weights; rows have unit length."""

    marks: np.ndarray
    weights: np.ndarray

    def __getitem__(self, which: np.ndarray | slice) -> Signatures:
        return Signatures(self.marks[which], self.weights[which])


def signatures(edges: Sequence[Edges], groups: Groups) -> Signatures:
    """The signatures of all entities, KG after KG: the groups among their neighbours and the neighbours of those.

    A mark counts less the more entities of the KG are next to it. edges: of each KG.
    """
    parts = [_signatures_of_kg(*of_kg) for of_kg in zip(edges, groups.members.T, strict=True)]
    return Signatures(np.concatenate([p.marks for p in parts]), np.concatenate([p.weights for p in parts]))


def write_candidates(shards: Shards, name: str, prefix: str, place: int, kg: int, entities: str) -> None:
    """The signatures of the candidates of a KG, from shards; their embeddings have the same order.

    place: the column of the KG in the groups. entities: where the shards are that say which entities are candidates.
    """
    marks, edges = shards.get(f"{prefix}/marks"), Edges(**shards.get(f"edges/{kg}"))
    chosen = shards.get(f"{entities}/{kg}")["entities"]
    near = _signatures_of_kg(edges, marks["members"][place], chosen)
    shards.put(name, {"entities": np.arange(len(chosen)), "marks": near.marks, "weights": near.weights})


def _signatures_of_kg(edges: Edges, members: np.ndarray, chosen: np.ndarray | None = None) -> Signatures:
    from multiea.kernels.compiling import use_threads  # deferred: numba takes a second, and small KGs need none
    from multiea.kernels.nearest_marks import nearest_marks, passed_on

    use_threads()
    mark = np.full(edges.entities, ABSENT, np.int32)
    mark[members[members != ABSENT]] = np.flatnonzero(members != ABSENT)
    passed = passed_on(edges.starts, edges.tail, mark, MARKS_PASSED_ON)
    chosen = np.arange(edges.entities) if chosen is None else chosen
    marks, weights = nearest_marks(edges.starts, edges.tail, mark, passed, chosen, MARKS_PER_ENTITY, SECOND_HOP_WEIGHT)
    return Signatures(marks, weights.astype(np.float16))
