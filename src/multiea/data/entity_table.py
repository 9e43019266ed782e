"""One table of the entities of all KGs."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from multiea.data.knowledge_graph import KnowledgeGraph


def entity_table(kgs: Sequence[KnowledgeGraph]) -> pl.DataFrame:
    """The entities of all KGs in joint order: kg, entity, name. The name is null where it is unknown."""
    tables = []
    for kg in kgs:
        name = pl.lit(None, pl.String) if kg.names is None else kg.names
        tables.append(pl.DataFrame({"entity": kg.entities}).select(kg=pl.lit(kg.name), entity="entity", name=name))
    return pl.concat(tables)
