"""KnowledgeGraphBuilder: collects triples, literals and names block by block."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.data.interning import TripleInterner
from multiea.data.knowledge_graph import KnowledgeGraph, no_literals, no_names
from multiea.data.properties import NAME, property_roles


class KnowledgeGraphBuilder:
    """Collects the content of one KG, in any order and in any number of blocks.

    roles: what the user decided about properties, as in `KnowledgeGraph.property_roles`.
    """

    def __init__(self, name: str, roles: Mapping[str, str] | None = None) -> None:
        self.name = name
        self._roles = {} if roles is None else dict(roles)
        self._interner = TripleInterner(name)
        self._literals: list[pl.DataFrame] = []
        self._names: list[pl.DataFrame] = []

    def add_triples(self, heads: pl.Series, relations: pl.Series, tails: pl.Series) -> None:
        """Adds triples between entities."""
        self._interner.add_triples(heads, relations, tails)

    def add_literals(self, entities: pl.Series, properties: pl.Series, values: pl.Series, types: pl.Series) -> None:
        """Adds facts whose object is a literal. Their subjects become entities."""
        facts = {"property": properties, "value": values, "type": types}
        table = pl.DataFrame({"entity": self._interner.add_entities(entities), **facts})
        self._literals.append(table.cast({"property": pl.Categorical, "type": pl.Categorical}))

    def add_entities(self, entities: pl.Series, names: pl.Series | None = None) -> None:
        """Adds entities, which may have no triple, and optionally their names."""
        codes = self._interner.add_entities(entities)
        if names is not None:
            self._names.append(pl.DataFrame({"entity": codes, "name": names.cast(pl.String)}))

    def build(self, path: Path | None = None) -> KnowledgeGraph:
        """The KG of everything added. A KG without any entity is an error, reported for this path."""
        interned = self._interner.finish(path)
        literals, given_names = no_literals(), no_names()
        if self._literals:
            literals = _with_positions(self._literals, interned.position_of_code)
        if self._names:
            given_names = _with_positions(self._names, interned.position_of_code).drop_nulls()
            given_names = given_names.unique().sort("entity", "name")
        return KnowledgeGraph(
            self.name,
            interned.entities,
            interned.relations,
            interned.triples,
            duplicates=interned.duplicates,
            literals=literals,
            names=_names(given_names, literals, self._roles, len(interned.entities)),
            given_names=given_names,
            property_roles=self._roles,
        )


def _with_positions(blocks: list[pl.DataFrame], position_of_code: NDArray[np.int32]) -> pl.DataFrame:
    """One table of all blocks, with positions instead of codes in the column `entity`."""
    table = pl.concat(blocks)
    return table.with_columns(entity=pl.Series(position_of_code[table["entity"].to_numpy()]))


def _names(given: pl.DataFrame, literals: pl.DataFrame, roles: Mapping[str, str], entities: int) -> pl.Series | None:
    """The name of each entity: the given one, else its best literal, English first. None if no entity has a name."""
    ranked = property_roles(literals, roles).filter(pl.col("role") == NAME)
    from_literals = (
        literals.with_columns(pl.col("property", "type").cast(pl.String))
        .join(ranked, on="property")
        .with_columns(not_english=pl.col("type") != "@en")
        .sort("rank", "not_english", "type", "value")
        .select("entity", name="value")
    )
    table = pl.concat([given.sort("entity", "name"), from_literals]).unique("entity", keep="first", maintain_order=True)
    if table.is_empty():
        return None
    all_entities = pl.DataFrame({"entity": np.arange(entities, dtype=np.int32)})
    return all_entities.join(table, on="entity", how="left", maintain_order="left")["name"]
