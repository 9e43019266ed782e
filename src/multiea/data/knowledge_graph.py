"""KnowledgeGraph: a name, entities, relations and integer triples, stored in arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.data.interning import TripleInterner
from multiea.data.properties import PROPERTY_ROLES
from multiea.foundation.errors import InputError, check_kind, is_text, unknown

Indices = NDArray[np.int32]
ABSENT = -1  # the position of an entity that a KG does not have

# Few distinct properties and types occur in many facts: categories store each one once.
LITERAL_SCHEMA = {"entity": pl.Int32, "property": pl.Categorical, "value": pl.String, "type": pl.Categorical}
NAME_SCHEMA = {"entity": pl.Int32, "name": pl.String}


def no_literals() -> pl.DataFrame:
    """An empty table of literals."""
    return pl.DataFrame(schema=LITERAL_SCHEMA)


def no_names() -> pl.DataFrame:
    """An empty table of given names."""
    return pl.DataFrame(schema=NAME_SCHEMA)


@dataclass(frozen=True, eq=False, repr=False)
class KnowledgeGraph:
    """Entities and the triples between them. The order of entities, relations and triples has no meaning.

    entities, relations: unique ids, (E,) and (R,). triples: (T, 3) positions of head, relation and tail, each triple
    once. duplicates: how many repeated triples the source had. literals: facts whose object is a literal (entity,
    property, value, type, where the type is a datatype or a language such as '@en'), names included. names: (E,)
    display names, null where unknown. given_names: names beside those in literals (entity, name); an entity may have
    several. property_roles: what the user decided about properties: "name", "attribute" or "ignore";
    `multiea.data.properties` decides the others from the data. name_by_values: the property that is taken as the name
    because its values look like names, or have the words of the names of other KGs, where there are no other names.
    joined_names: names that several properties make together, such as "first name + last name".
    """

    name: str
    entities: pl.Series
    relations: pl.Series
    triples: Indices
    duplicates: int = 0
    literals: pl.DataFrame = field(default_factory=no_literals)
    names: pl.Series | None = None
    given_names: pl.DataFrame = field(default_factory=no_names)
    property_roles: Mapping[str, str] = field(default_factory=dict)
    name_by_values: str | None = None
    joined_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_kind(self.name, str, "the name of a KG", "text")
        for what, ids in (("entities", self.entities), ("relations", self.relations)):
            check_kind(ids, pl.Series, f"KG '{self.name}': {what}", "a polars Series", "from_triples takes lists")
        check_kind(self.triples, np.ndarray, f"KG '{self.name}': triples", "a numpy array", "from_triples takes lists")
        sizes = (len(self.entities), len(self.relations), len(self.entities))
        if self.triples.ndim != 2 or self.triples.shape[1] != 3 or not np.issubdtype(self.triples.dtype, np.integer):
            raise InputError(
                f"KG '{self.name}': triples of shape {self.triples.shape}", expected="(T, 3) whole numbers"
            )
        if len(self.triples) and (self.triples.min() < 0 or (self.triples.max(axis=0) >= sizes).any()):
            raise InputError(f"KG '{self.name}': a triple with a position out of range", expected=f"below {sizes}")
        for what, ids in (("entities", self.entities), ("relations", self.relations)):
            if ids.n_unique() != len(ids):
                raise InputError(f"KG '{self.name}': two {what} with the same id", expected="unique ids")
        for name, role in self.property_roles.items():
            if role not in PROPERTY_ROLES:
                raise InputError(f"KG '{self.name}': {unknown(role, PROPERTY_ROLES, what=f'role of {name}:')}")

    @classmethod
    def from_triples(
        cls,
        name: str,
        triples: pl.DataFrame | Iterable[Sequence[str]],
        entities: Iterable[str] = (),
    ) -> KnowledgeGraph:
        """A KG from triples of ids (head, relation, tail), and optionally more entities, which may have no triple.

        >>> KnowledgeGraph.from_triples("en", [("Oslo", "capital of", "Norway")])
        KnowledgeGraph('en': 2 entities, 1 relations, 1 triples)
        """
        if not is_text(name):
            raise InputError(f"a KG named {name!r}", expected="text")
        for what, several in (("triples", triples), ("entities", entities)):
            if isinstance(several, str) or not isinstance(several, Iterable):
                raise InputError(f"KG '{name}': {what} given as {type(several).__name__}", expected=f"a list of {what}")
        if isinstance(triples, pl.DataFrame):
            if triples.width != 3:
                raise InputError(f"KG '{name}': a table with {triples.width} columns", expected="head, relation, tail")
            columns = [triples.to_series(i).cast(pl.String) for i in range(3)]
            if any(column.is_null().any() or (column == "").any() for column in columns):
                raise InputError(
                    f"KG '{name}': an empty field in the table of triples", expected="head, relation, tail"
                )
        else:
            rows = list(triples)
            wrong = next((row for row in rows if not _is_triple(row)), None)
            if wrong is not None:
                raise InputError(
                    f"KG '{name}': the triple {wrong!r}", expected="three non-empty strings: head, relation, tail"
                )
            columns = [pl.Series([row[i] for row in rows], dtype=pl.String) for i in range(3)]
        interner = TripleInterner(name)
        interner.add_triples(*columns)
        others = list(entities)
        if not all(map(is_text, others)):
            raise InputError(f"KG '{name}': an entity that is not text", expected="non-empty strings")
        interner.add_entities(pl.Series(others, dtype=pl.String))
        interned = interner.finish()
        return cls(name, interned.entities, interned.relations, interned.triples, interned.duplicates)

    @cached_property
    def degrees(self) -> Indices:
        """The number of triples of which each entity is the head or the tail, (E,)."""
        counts = np.zeros(len(self.entities), dtype=np.int32)
        for column in (0, 2):
            counts += np.bincount(self.triples[:, column], minlength=len(counts)).astype(np.int32)
        return counts

    @cached_property
    def order_by_id(self) -> Indices:
        """The positions of the entities in the order of their ids, (E,)."""
        return np.asarray(self.entities.arg_sort().to_numpy().astype(np.int32))

    def positions(self, entities: pl.Series) -> Indices:
        """The position of each given entity in this KG, (n,); -1 where this KG does not have the entity."""
        wanted = pl.DataFrame({"entity": entities.cast(pl.String)})
        known = pl.DataFrame({"entity": self.entities}).with_row_index("position")
        joined = wanted.join(known, on="entity", how="left", maintain_order="left")
        return joined["position"].cast(pl.Int32).fill_null(ABSENT).to_numpy()

    def display(self, positions: Indices) -> list[str]:
        """What to show for each entity: its name, or its id where the name is unknown."""
        shown = self.entities.gather(positions)
        if self.names is not None:
            shown = pl.select(pl.coalesce(self.names.gather(positions), shown)).to_series()
        return shown.to_list()

    def named_triples(self, which: slice = slice(None)) -> pl.DataFrame:
        """All or some of the triples as a table of ids: head, relation, tail."""
        head, relation, tail = self.triples[which].T
        return pl.DataFrame(
            {
                "head": self.entities.gather(head),
                "relation": self.relations.gather(relation),
                "tail": self.entities.gather(tail),
            }
        )

    def restricted_to(self, kept: NDArray[np.bool_]) -> KnowledgeGraph:
        """The subgraph induced by some entities, given as an (E,) mask: with their triples and the relations in use."""
        head, _, tail = self.triples.T
        triples = self.triples[kept[head] & kept[tail]]
        used = np.zeros(len(self.relations), dtype=bool)
        used[triples[:, 1]] = True
        new_entity = (np.cumsum(kept) - 1).astype(np.int32)
        new_relation = (np.cumsum(used) - 1).astype(np.int32)

        def kept_rows(table: pl.DataFrame) -> pl.DataFrame:
            rows = table.filter(pl.Series(kept).gather(table["entity"]))
            return rows.with_columns(entity=pl.Series(new_entity).gather(rows["entity"]))

        return KnowledgeGraph(
            self.name,
            self.entities.filter(pl.Series(kept)),
            self.relations.filter(pl.Series(used)),
            np.column_stack(
                [new_entity[triples[:, 0]], new_relation[triples[:, 1]], new_entity[triples[:, 2]]],
            ),
            literals=kept_rows(self.literals),
            names=None if self.names is None else self.names.filter(pl.Series(kept)),
            given_names=kept_rows(self.given_names),
            property_roles=self.property_roles,
            name_by_values=self.name_by_values,
            joined_names=self.joined_names,
        )

    def __repr__(self) -> str:
        return (
            f"KnowledgeGraph('{self.name}': {len(self.entities):,} entities, {len(self.relations):,} relations, "
            f"{len(self.triples):,} triples)"
        )


def _is_triple(row: object) -> bool:
    return isinstance(row, Sequence) and not isinstance(row, str) and len(row) == 3 and all(map(is_text, row))
