"""Roles: the relations of an entity, with their direction. A country and a time zone of one name share none."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from multiea.data.knowledge_graph import KnowledgeGraph


def roles_of(kg: KnowledgeGraph) -> sp.csr_array:
    """Whether an entity is a head (first half of the columns) or a tail of each relation, (E, 2 R)."""
    head, relation, tail = kg.triples.T
    shape = (len(kg.entities), 2 * max(len(kg.relations), 1))
    rows, columns = np.r_[head, tail], np.r_[relation, relation + len(kg.relations)]
    roles = sp.coo_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape).tocsr()
    roles.data[:] = 1
    return roles


def may_be_same(roles: sp.csr_array, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Whether two entities of a KG have a role in common, or one of them none at all, (n,)."""
    one, other = roles[left], roles[right]
    common, counts = one.multiply(other).sum(axis=1), [np.diff(part.indptr) for part in (one, other)]
    return np.asarray((common > 0) | (counts[0] == 0) | (counts[1] == 0))
