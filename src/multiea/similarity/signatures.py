"""Signatures: the few propagation marks nearest to each entity, by which large KGs are blocked."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch

from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.graph.sparse_rows import scaled
from multiea.graph.top_entries import keep_top_entries

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

    def matrix(self, marks: int) -> sp.csr_array:
        """As a sparse matrix, entities x marks."""
        row, place = np.nonzero(self.marks != ABSENT)
        entries = (self.weights[row, place].astype(np.float32), (row, self.marks[row, place]))
        return sp.csr_array(entries, shape=(len(self.marks), marks))


def signatures(kgs: Sequence[KnowledgeGraph], groups: Groups) -> Signatures:
    """The signatures of all entities, KG after KG: the groups among their neighbours and the neighbours of those.

    A mark counts less the more entities of the KG are next to it.
    """
    with ThreadPoolExecutor(torch.get_num_threads()) as threads:  # scipy and numpy let other threads run
        parts = list(threads.map(_signatures_of_kg, kgs, groups.members.T))
    return Signatures(np.concatenate([p.marks for p in parts]), np.concatenate([p.weights for p in parts]))


def _signatures_of_kg(kg: KnowledgeGraph, members: np.ndarray) -> Signatures:
    count = len(kg.entities)
    known = np.flatnonzero(members != ABSENT)
    marks = sp.csr_array((np.ones(len(known), np.float32), (members[known], known)), shape=(count, len(members)))
    head, _, tail = kg.triples.T
    ones = np.ones(2 * len(head), np.float32)
    neighbours = sp.csr_array((ones, (np.r_[head, tail], np.r_[tail, head])), shape=(count, count))
    neighbours.data[:] = 1  # scipy sums repeated entries
    near = (neighbours @ marks).tocsr()
    entities_near = np.maximum(np.bincount(near.indices, minlength=len(members)), 1)
    passed_on = keep_top_entries(scaled(near, columns=1 / entities_near), MARKS_PASSED_ON)
    degree = np.maximum(np.diff(neighbours.indptr), 1)
    far = scaled((scaled(neighbours, columns=1 / degree) @ passed_on).tocsr(), columns=entities_near)
    both_hops = (near + SECOND_HOP_WEIGHT * far).tocsr()
    best = keep_top_entries(scaled(both_hops, columns=1 / np.sqrt(entities_near)), MARKS_PER_ENTITY)
    lengths = np.sqrt(np.asarray(best.multiply(best).sum(axis=1)).ravel())
    best = scaled(best, rows=1 / np.maximum(lengths, 1e-12))
    row = np.repeat(np.arange(count), np.diff(best.indptr))
    place = np.arange(best.nnz) - best.indptr[row]
    shape = (count, MARKS_PER_ENTITY)
    result = Signatures(np.full(shape, ABSENT, np.int32), np.zeros(shape, np.float16))
    result.marks[row, place] = best.indices
    result.weights[row, place] = best.data
    return result
