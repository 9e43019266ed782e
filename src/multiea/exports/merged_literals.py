"""Literals of the merged KG: facts whose object is a value, and names that no fact states."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from multiea.data.iris import relation_iris
from multiea.data.knowledge_graph import KnowledgeGraph, no_literals
from multiea.data.properties import NAME, roles_of_kg
from multiea.exports.text_lines import ROWS_PER_BLOCK

RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


def literal_blocks(kg: KnowledgeGraph, merged: pl.Series) -> Iterator[pl.DataFrame]:
    """The literals of a KG in blocks: subject, property, value, type. The last block has the names no fact states.

    merged: the merged IRI of each entity of the KG, (E,).
    """
    blocks = (kg.literals.slice(start, ROWS_PER_BLOCK) for start in range(0, len(kg.literals), ROWS_PER_BLOCK))
    for block in (*blocks, _unstated_names(kg)):
        yield pl.DataFrame(
            {
                "subject": merged.gather(block["entity"]),
                "property": relation_iris(block["property"].cast(pl.String)),
                "value": block["value"],
                "type": block["type"].cast(pl.String),
            }
        )


def _unstated_names(kg: KnowledgeGraph) -> pl.DataFrame:
    """Names that came with a table of entities, as literals of rdfs:label."""
    if kg.names is None:
        return no_literals()
    names = pl.DataFrame({"entity": np.arange(len(kg.entities)), "value": kg.names}).drop_nulls()
    names = names.with_columns(pl.col("entity").cast(kg.literals.schema["entity"]))
    stated_by = roles_of_kg(kg).filter(pl.col("role") == NAME)["property"].to_list()
    stated = kg.literals.filter(pl.col("property").cast(pl.String).is_in(stated_by))
    unstated = names.join(stated, on=["entity", "value"], how="anti", maintain_order="left")
    return unstated.select("entity", property=pl.lit(RDFS_LABEL), value="value", type=pl.lit(None, pl.String))
