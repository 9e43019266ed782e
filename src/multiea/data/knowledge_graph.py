"""KnowledgeGraph: a name, entities, relations and integer triples, held in arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.foundation.errors import InputError, is_text

Indices = NDArray[np.int32]

# Few properties and types stand in many facts: categories store each once.
LITERAL_SCHEMA = {"entity": pl.Int32, "property": pl.Categorical, "value": pl.String, "type": pl.Categorical}


def no_literals() -> pl.DataFrame:
    """An empty table of literals."""
    return pl.DataFrame(schema=LITERAL_SCHEMA)


@dataclass(frozen=True, eq=False, repr=False)
class KnowledgeGraph:
    """Entities and the triples between them; the order of either carries no meaning.

    entities, relations: unique names, (E,) and (R,). triples: (T, 3) positions of head, relation and tail, each triple
    once; `duplicates` counts the repetitions the source had. literals: facts whose object is a value, not an entity,
    kept apart (entity, property, value, type, where the type is a datatype or a language as '@en'). names: (E,)
    display names, null where unknown; nothing that aligns ever reads them.
    """

    name: str
    entities: pl.Series
    relations: pl.Series
    triples: Indices
    duplicates: int = 0
    literals: pl.DataFrame = field(default_factory=no_literals)
    names: pl.Series | None = None

    def __post_init__(self) -> None:
        sizes = (len(self.entities), len(self.relations), len(self.entities))
        if self.triples.ndim != 2 or self.triples.shape[1] != 3 or not np.issubdtype(self.triples.dtype, np.integer):
            raise InputError(
                f"KG '{self.name}': triples of shape {self.triples.shape}", expected="(T, 3) whole numbers"
            )
        if len(self.triples) and (self.triples.min() < 0 or (self.triples.max(axis=0) >= sizes).any()):
            raise InputError(f"KG '{self.name}': a triple of a position that is not there", expected=f"below {sizes}")
        for what, names in (("entities", self.entities), ("relations", self.relations)):
            if names.n_unique() != len(names):
                raise InputError(f"KG '{self.name}': two {what} of one name", expected="each name once")

    @classmethod
    def from_triples(
        cls,
        name: str,
        triples: pl.DataFrame | Iterable[Sequence[str]],
        entities: Iterable[str] = (),
    ) -> KnowledgeGraph:
        """A KG from named triples (head, relation, tail), plus entities that need not occur in any.

        >>> KnowledgeGraph.from_triples("en", [("Oslo", "capital of", "Norway")])
        KnowledgeGraph('en': 2 entities, 1 relations, 1 triples)
        """
        from multiea.data.interning import KnowledgeGraphBuilder

        if isinstance(triples, pl.DataFrame):
            if triples.width != 3:
                raise InputError(f"KG '{name}': a table of {triples.width} columns", expected="head, relation, tail")
            columns = [triples.to_series(i).cast(pl.String) for i in range(3)]
            if any(column.is_null().any() or (column == "").any() for column in columns):
                raise InputError(
                    f"KG '{name}': an empty field in the table of triples", expected="head, relation, tail"
                )
        else:
            rows = list(triples)
            wrong = next((row for row in rows if not _is_triple(row)), None)
            if wrong is not None:
                raise InputError(f"KG '{name}': the triple {wrong!r}", expected="three names: head, relation, tail")
            columns = [pl.Series([row[i] for row in rows], dtype=pl.String) for i in range(3)]
        builder = KnowledgeGraphBuilder(name)
        builder.add_triples(*columns)
        others = list(entities)
        if not all(map(is_text, others)):
            raise InputError(f"KG '{name}': an entity that is no text", expected="names that are not empty")
        builder.add_entities(pl.Series(others, dtype=pl.String))
        return builder.build()

    @cached_property
    def degrees(self) -> Indices:
        """How often each entity is head or tail of a triple, (E,)."""
        counts = np.zeros(len(self.entities), dtype=np.int32)
        for column in (0, 2):
            counts += np.bincount(self.triples[:, column], minlength=len(counts)).astype(np.int32)
        return counts

    def positions(self, names: pl.Series) -> Indices:
        """Where each name stands among the entities; -1 where this KG has no such entity."""
        wanted = pl.DataFrame({"name": names.cast(pl.String)})
        known = pl.DataFrame({"name": self.entities}).with_row_index("position")
        joined = wanted.join(known, on="name", how="left", maintain_order="left")
        return joined["position"].cast(pl.Int32).fill_null(-1).to_numpy()

    def display(self, positions: Indices) -> list[str]:
        """Labels of entities where there are any, else their names."""
        names = self.entities.gather(positions)
        if self.names is not None:
            names = pl.select(pl.coalesce(self.names.gather(positions), names)).to_series()
        return names.to_list()

    def named_triples(self, which: slice = slice(None)) -> pl.DataFrame:
        """The triples, or some of them, as names: head, relation, tail."""
        head, relation, tail = self.triples[which].T
        return pl.DataFrame(
            {
                "head": self.entities.gather(head),
                "relation": self.relations.gather(relation),
                "tail": self.entities.gather(tail),
            }
        )

    def restricted_to(self, kept: NDArray[np.bool_]) -> KnowledgeGraph:
        """The KG induced by some of its entities: these, the triples among them and the relations those use."""
        head, _, tail = self.triples.T
        triples = self.triples[kept[head] & kept[tail]]
        used = np.zeros(len(self.relations), dtype=bool)
        used[triples[:, 1]] = True
        new_entity = (np.cumsum(kept) - 1).astype(np.int32)
        new_relation = (np.cumsum(used) - 1).astype(np.int32)
        literals = self.literals.filter(pl.Series(kept).gather(self.literals["entity"]))
        return KnowledgeGraph(
            self.name,
            self.entities.filter(pl.Series(kept)),
            self.relations.filter(pl.Series(used)),
            np.column_stack(
                [new_entity[triples[:, 0]], new_relation[triples[:, 1]], new_entity[triples[:, 2]]],
            ),
            literals=literals.with_columns(entity=pl.Series(new_entity).gather(literals["entity"])),
            names=None if self.names is None else self.names.filter(pl.Series(kept)),
        )

    def __repr__(self) -> str:
        return (
            f"KnowledgeGraph('{self.name}': {len(self.entities):,} entities, {len(self.relations):,} relations, "
            f"{len(self.triples):,} triples)"
        )


def _is_triple(row: object) -> bool:
    return isinstance(row, Sequence) and not isinstance(row, str) and len(row) == 3 and all(map(is_text, row))
