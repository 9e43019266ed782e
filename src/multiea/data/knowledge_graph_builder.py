"""KnowledgeGraphBuilder: collects triples, literals, records and names block by block."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.data.interning import TripleInterner
from multiea.data.knowledge_graph import KnowledgeGraph, no_literals, no_names
from multiea.data.properties import joined_names, name_by_values, resolved_roles, shown_names
from multiea.data.record_cells import RecordCells


class KnowledgeGraphBuilder:
    """Collects the content of one KG, in any order and in any number of blocks.

    roles: what the user decided about properties, by their ids or the local names of these.
    """

    def __init__(self, name: str, roles: Mapping[str, str] | None = None) -> None:
        self.name = name
        self._roles = {} if roles is None else dict(roles)
        self._interner = TripleInterner(name)
        self._literals: list[pl.DataFrame] = []
        self._names: list[pl.DataFrame] = []
        self._records = RecordCells()
        self.properties: set[str] = set()  # those of literals and all columns of records; complete after build

    def add_triples(self, heads: pl.Series, relations: pl.Series, tails: pl.Series) -> None:
        """Adds triples between entities."""
        self._interner.add_triples(heads, relations, tails)

    def add_literals(self, entities: pl.Series, properties: pl.Series, values: pl.Series, types: pl.Series) -> None:
        """Adds facts whose object is a literal. Their subjects become entities."""
        facts = {"property": properties, "value": values, "type": types}
        table = pl.DataFrame({"entity": self._interner.add_entities(entities), **facts})
        self._literals.append(table.cast({"property": pl.Categorical, "type": pl.Categorical}))

    def add_records(self, ids: pl.Series, relations: Collection[str] = ()) -> pl.Series:
        """Adds entities and returns their codes for `add_cells`; relations: columns that are known to be relations."""
        codes = self._interner.add_entities(ids)
        self._records.ids.append(ids)
        self._records.codes.append(codes)
        self._records.declared.update(relations)
        return codes

    def add_cells(self, column: str, codes: pl.Series, values: pl.Series, types: pl.Series) -> None:
        """Adds values of a column. If they are ids of records, the column is a relation, otherwise a property."""
        cells = pl.DataFrame({"entity": codes, "value": values, "type": types}).cast({"type": pl.Categorical})
        self._records.columns.setdefault(column, []).append(cells)
        self.properties.add(column)

    def add_entities(self, entities: pl.Series, names: pl.Series | None = None) -> None:
        """Adds entities, which may have no triple, and optionally their names."""
        codes = self._interner.add_entities(entities)
        if names is not None:
            self._names.append(pl.DataFrame({"entity": codes, "name": names.cast(pl.String)}))

    def build(self, path: Path | None = None) -> KnowledgeGraph:
        """The KG of everything added. A KG without any entity is an error, reported for this path."""
        literals_of_records, relations = self._records.separated(self.name, self._roles)
        for block in relations:
            self._interner.add_coded_triples(*block)
        interned = self._interner.finish(path)
        literals, given_names = no_literals(), no_names()
        if blocks := self._literals + literals_of_records:
            literals = _with_positions(blocks, interned.position_of_code)
        if self._names:
            given_names = _with_positions(self._names, interned.position_of_code).drop_nulls()
            given_names = given_names.unique().sort("entity", "name")
        self.properties.update(literals["property"].unique().cast(pl.String))
        roles = resolved_roles(self._roles, self.properties)
        known = (interned.entities, literals, given_names, roles)
        joined = joined_names(*known)
        kg = KnowledgeGraph(
            self.name,
            interned.entities,
            interned.relations,
            interned.triples,
            duplicates=interned.duplicates,
            literals=literals,
            given_names=given_names,
            property_roles=roles,
            name_by_values=None if joined else name_by_values(*known),
            joined_names=joined,
        )
        return replace(kg, names=shown_names(kg))


def _with_positions(blocks: list[pl.DataFrame], position_of_code: NDArray[np.int32]) -> pl.DataFrame:
    """One table of all blocks, with positions instead of codes in the column `entity`."""
    table = pl.concat(blocks)
    return table.with_columns(entity=pl.Series(position_of_code[table["entity"].to_numpy()]))
