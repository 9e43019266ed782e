"""Matched neighbours as evidence: two entities are similar if their neighbours are members of the same known groups.

Embeddings say so too, but mix near and far. Here only direct neighbours count, and rare ones more: a group whose
members have thousands of neighbours says little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import scipy.sparse as sp

from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.evidence.evidence import NEIGHBOURS, Evidence, EvidenceOfKind
from multiea.evidence.features import Features, in_half
from multiea.evidence.pair_search import similar_pairs
from multiea.evidence.tokens import counts, tf_idf


def with_neighbours(evidence: Evidence, kgs: Sequence[KnowledgeGraph], marks: Groups) -> Evidence:
    """The evidence with matched neighbours as one more kind; marks: groups that are known or found so far.

    Each pair of KGs is compared by the marks that both have.
    """
    if not len(marks) or not evidence.has_triples:
        return evidence
    near = [_marked_neighbours(kg, members) for kg, members in zip(kgs, marks.members.T, strict=True)]
    similarity = {}
    for a, b in combinations(range(len(kgs)), 2):
        both = np.flatnonzero(marks.present[:, a] & marks.present[:, b])
        sides = [near[kg][:, both].tocsr() for kg in (a, b)]
        left, right = (_features(side, rows) for side, rows in zip(sides, tf_idf(sides), strict=True))
        similarity[a, b] = in_half(similar_pairs(left, right))
    has_any = [np.diff(of_kg.indptr) > 0 for of_kg in near]
    return replace(evidence, kinds=dict(evidence.kinds) | {NEIGHBOURS: EvidenceOfKind(similarity, has_any)})


def _marked_neighbours(kg: KnowledgeGraph, members: np.ndarray) -> sp.csr_array:
    """Which marks each entity has as neighbours, (entities, marks); members: of the marks in this KG."""
    mark = np.full(len(kg.entities), ABSENT, dtype=np.int64)
    marked = np.flatnonzero(members != ABSENT)
    mark[members[marked]] = marked
    head, tail = kg.triples[:, 0].astype(np.int64), kg.triples[:, 2].astype(np.int64)
    entity, neighbour = np.r_[head, tail], np.r_[tail, head]
    counted = (mark[neighbour] != ABSENT) & (entity != neighbour)
    linked = np.unique(entity[counted] * len(members) + mark[neighbour[counted]])  # each neighbour once
    return counts(*np.divmod(linked, max(len(members), 1)), (len(kg.entities), len(members)))


def _features(near: sp.csr_array, rows: sp.csr_array) -> Features:
    """One row for all entities with the same marked neighbours; those without any have none."""
    entity = np.flatnonzero(np.diff(near.indptr) > 0)
    number = np.random.default_rng(0).integers(2**63, size=near.shape[1], dtype=np.uint64)  # sums tell sets apart
    total = np.add.reduceat(number[near.indices], near.indptr[entity]) if len(entity) else number[:0]
    _, first, row = np.unique(total, return_index=True, return_inverse=True)
    return Features(rows[entity[first]], row.ravel(), entity, near.shape[0])
