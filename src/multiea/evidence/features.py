"""Features: what is compared of the entities of a KG for one kind of evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Links:
    """For each of a number of things those it is linked with: items[starts[i] : starts[i + 1]]."""

    starts: np.ndarray
    items: np.ndarray

    @classmethod
    def of(cls, one: np.ndarray, other: np.ndarray, count: int) -> Links:
        """From pairs; count: of the things on the first side."""
        order = np.argsort(one, kind="stable")
        return cls(np.r_[0, np.cumsum(np.bincount(one, minlength=count))], other[order])

    @property
    def counts(self) -> np.ndarray:
        """With how many each is linked."""
        return np.diff(self.starts)


def crossed(left: Links, right: Links, one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All combinations of what the two ends of each pair are linked with: pair, left item, right item."""
    right_counts = right.counts[other]
    counts = left.counts[one] * right_counts
    pair = np.repeat(np.arange(len(one)), counts)
    place = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)
    each = np.maximum(right_counts[pair], 1)
    left_item = left.items[left.starts[one[pair]] + place // each]
    return pair, left_item, right.items[right.starts[other[pair]] + place % each]


def in_half(matrix: sp.csr_array) -> sp.csr_array:
    """Values as a run folder stores them, so that an opened run scores the same."""
    values = matrix.data.astype(np.float16).astype(np.float32)
    return sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


@dataclass(frozen=True)
class Features:
    """Rows of at most unit length, (rows, columns), and which row describes which entity, (links,) each.

    Several entities may share a row, such as a name, and an entity may have several. entities: how many there are.
    """

    rows: sp.csr_array | np.ndarray
    row: np.ndarray
    entity: np.ndarray
    entities: int

    @classmethod
    def one_each(cls, rows: sp.csr_array | np.ndarray) -> Features:
        """Where each entity has one row of its own."""
        every = np.arange(rows.shape[0])
        return cls(rows, every, every, len(every))

    @property
    def has_any(self) -> np.ndarray:
        """Which entities have a row that is not zero, (entities,)."""
        sizes = np.diff(self.rows.indptr) if isinstance(self.rows, sp.csr_array) else self.rows.any(axis=1)
        filled = np.asarray(sizes > 0)
        result = np.zeros(self.entities, dtype=bool)
        result[self.entity[filled[self.row]]] = True
        return result

    @property
    def entities_of_rows(self) -> Links:
        """For each row the entities that it describes."""
        return Links.of(self.row, self.entity, self.rows.shape[0])

    @property
    def rows_of_entities(self) -> Links:
        """For each entity its rows."""
        return Links.of(self.entity, self.row, self.entities)
