"""The table of the entities of all KGs."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from multiea.data.entity_table import entity_table
from multiea.data.knowledge_graph import KnowledgeGraph

ENGLISH = KnowledgeGraph.from_triples("en", [("Oslo", "capital of", "Norway")])
FRENCH = KnowledgeGraph.from_triples("fr", [("Oslo", "capitale de", "Norvège")])


def test_all_entities_are_listed_in_joint_order() -> None:
    table = entity_table([ENGLISH, FRENCH])
    assert table.schema == {"kg": pl.String, "entity": pl.String, "name": pl.String}
    assert table["kg"].to_list() == ["en", "en", "fr", "fr"]
    assert table["entity"].to_list() == [*ENGLISH.entities, *FRENCH.entities]


def test_names_are_null_where_they_are_unknown() -> None:
    named = replace(ENGLISH, names=pl.Series(["first", None]))
    assert entity_table([named, FRENCH])["name"].to_list() == ["first", None, None, None]
