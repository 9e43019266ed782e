"""Signatures: the few labels nearest to each entity, by which large KGs are searched without comparing all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph

LABELS = 24  # of an entity
PASSED_ON = 16  # labels a neighbour hands on
SECOND_HOP = 0.5


@dataclass(frozen=True)
class Signatures:
    """The labels near each entity, (n, m), -1 where there are fewer, and what each counts; rows of length one."""

    labels: np.ndarray
    weights: np.ndarray

    def __getitem__(self, which: np.ndarray | slice) -> Signatures:
        return Signatures(self.labels[which], self.weights[which])

    def matrix(self, labels: int) -> sp.csr_array:
        """As a sparse matrix, entities x labels."""
        row, place = np.nonzero(self.labels != ABSENT)
        entries = (self.weights[row, place].astype(np.float32), (row, self.labels[row, place]))
        return sp.csr_array(entries, shape=(len(self.labels), labels))


def signatures(kgs: Sequence[KnowledgeGraph], groups: Groups) -> Signatures:
    """Of all entities, KG after KG: the groups among their neighbours, and among the neighbours of those.

    A label counts the less the more entities of the KG are next to it.
    """
    parts = [_of_kg(kg, members) for kg, members in zip(kgs, groups.members.T, strict=True)]
    return Signatures(np.concatenate([p.labels for p in parts]), np.concatenate([p.weights for p in parts]))


def _of_kg(kg: KnowledgeGraph, members: np.ndarray) -> Signatures:
    count = len(kg.entities)
    known = np.flatnonzero(members != ABSENT)
    labels = sp.csr_array((np.ones(len(known), np.float32), (members[known], known)), shape=(count, len(members)))
    head, _, tail = kg.triples.T
    ones = np.ones(2 * len(head), np.float32)
    neighbours = sp.csr_array((ones, (np.r_[head, tail], np.r_[tail, head])), shape=(count, count))
    neighbours.data[:] = 1  # scipy adds up what is given twice
    near = (neighbours @ labels).tocsr()
    entities_near = np.maximum(np.bincount(near.indices, minlength=len(members)), 1)
    passed_on = strongest(_scaled(near, columns=1 / entities_near), PASSED_ON)
    degree = np.maximum(np.diff(neighbours.indptr), 1)
    far = _scaled((_scaled(neighbours, columns=1 / degree) @ passed_on).tocsr(), columns=entities_near)
    whole = (near + SECOND_HOP * far).tocsr()
    best = strongest(_scaled(whole, columns=1 / np.sqrt(entities_near)), LABELS)
    lengths = np.sqrt(np.asarray(best.multiply(best).sum(axis=1)).ravel())
    best = _scaled(best, rows=1 / np.maximum(lengths, 1e-12))
    row = np.repeat(np.arange(count), np.diff(best.indptr))
    place = np.arange(best.nnz) - best.indptr[row]
    found = Signatures(np.full((count, LABELS), ABSENT, np.int32), np.zeros((count, LABELS), np.float16))
    found.labels[row, place] = best.indices
    found.weights[row, place] = best.data
    return found


def _scaled(matrix: sp.csr_array, rows: np.ndarray | None = None, columns: np.ndarray | None = None) -> sp.csr_array:
    data = matrix.data if columns is None else matrix.data * columns[matrix.indices]
    data = data if rows is None else data * np.repeat(rows, np.diff(matrix.indptr))
    return sp.csr_array((data.astype(np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)


def strongest(matrix: sp.csr_array, count: int) -> sp.csr_array:
    """The same with each row's largest entries alone."""
    row, column, data = strongest_of_rows(matrix, count)
    return sp.csr_array((data, (row, column)), shape=matrix.shape)


def strongest_of_rows(matrix: sp.csr_array, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each row's largest entries: row, column and value, the largest of a row first; all must be above zero.

    Row, value and column are sorted as one whole number, several times faster than by an order; the values lose some of
    their last bits by it.
    """
    lengths = np.diff(matrix.indptr)
    for_column = matrix.shape[1].bit_length()
    for_value = min(31, 63 - matrix.shape[0].bit_length() - for_column)
    keys = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), lengths) << (for_value + for_column)
    bits = matrix.data.astype(np.float32).view(np.int32).astype(np.int64)  # of positive numbers, in their order
    keys |= ((1 << for_value) - 1 - (bits >> (31 - for_value))) << for_column
    keys |= matrix.indices
    keys.sort()
    keys = keys[np.arange(matrix.nnz) - np.repeat(matrix.indptr[:-1].astype(np.int64), lengths) < count]
    value = (1 << for_value) - 1 - ((keys >> for_column) & ((1 << for_value) - 1))
    row, column = keys >> (for_value + for_column), keys & ((1 << for_column) - 1)
    return row, column, (value << (31 - for_value)).astype(np.int32).view(np.float32)
