"""Signatures: the few propagation marks nearest to each entity, by which large KGs are blocked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multiea.data.groups import ABSENT, Groups
from multiea.kernels.edges import Edges

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


def _signatures_of_kg(edges: Edges, members: np.ndarray) -> Signatures:
    from multiea.kernels.compiling import use_threads  # deferred: numba takes a second, and small KGs need none
    from multiea.kernels.nearest_marks import nearest_marks, passed_on

    use_threads()
    mark = np.full(edges.entities, ABSENT, np.int32)
    mark[members[members != ABSENT]] = np.flatnonzero(members != ABSENT)
    passed = passed_on(edges.starts, edges.tail, mark, MARKS_PASSED_ON)
    every = np.arange(edges.entities)
    marks, weights = nearest_marks(edges.starts, edges.tail, mark, passed, every, MARKS_PER_ENTITY, SECOND_HOP_WEIGHT)
    return Signatures(marks, weights.astype(np.float16))
