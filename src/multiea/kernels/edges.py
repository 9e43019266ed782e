"""The edges of a KG in both directions, as arrays that kernels read row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from multiea.foundation.errors import MultiEAError

LARGEST_KEY = 2**63 - 1


@dataclass(frozen=True)
class Edges:
    """The outgoing edges of all entities; relation r + R is the inverse of relation r.

    starts: (n + 1,) the first edge of each entity. tail, relation: (edges,), sorted by entity, tail and relation.
    relation_starts: (n + 1,) and incoming: the distinct relations of which each entity is a tail. head_starts:
    (2R + 1,) and heads: the distinct heads of each relation.
    """

    starts: NDArray[np.int64]
    tail: NDArray[np.int32]
    relation: NDArray[np.int32]
    relation_starts: NDArray[np.int64]
    incoming: NDArray[np.int32]
    head_starts: NDArray[np.int64]
    heads: NDArray[np.int32]

    @property
    def entities(self) -> int:
        """The number of entities."""
        return len(self.starts) - 1

    @property
    def relations(self) -> int:
        """The number of relations, inverse ones included."""
        return len(self.head_starts) - 1

    @classmethod
    def of(cls, triples: NDArray[np.int32], entities: int, relations: int) -> Edges:
        """From (T, 3) positions of head, relation and tail."""
        both = 2 * relations
        head, relation, tail = triples.T.astype(np.int64)
        if entities * entities * max(both, 1) > LARGEST_KEY:
            raise MultiEAError(
                f"{entities:,} entities with {relations:,} relations are too many: an edge must fit into a number of "
                "63 bits; join relations that mean the same, or split the KG"
            )
        keys = np.empty(2 * len(triples), dtype=np.int64)
        keys[: len(triples)] = (head * entities + tail) * both + relation
        keys[len(triples) :] = (tail * entities + head) * both + relation + relations
        keys.sort()
        rest, relation = np.divmod(keys, max(both, 1))
        del keys
        head, tail = np.divmod(rest, max(entities, 1))
        of_heads = np.unique(head * both + relation)
        owner, outgoing = np.divmod(of_heads, max(both, 1))
        order = np.argsort(outgoing.astype(np.int32), kind="stable")
        incoming = np.where(outgoing < relations, outgoing + relations, outgoing - relations)
        return cls(
            _starts(head, entities),
            tail.astype(np.int32),
            relation.astype(np.int32),
            _starts(owner, entities),
            incoming.astype(np.int32),
            _starts(outgoing, both),
            owner[order].astype(np.int32),
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by their names."""
        return dict(vars(self))


def _starts(rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The first place of each row, and at the end the number of all."""
    return np.concatenate([[0], np.bincount(rows, minlength=count).cumsum()]).astype(np.int64)
