"""Which properties are names and which are attributes, what the names of an entity are, and when ids are names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from multiea.data.knowledge_graph import NAME_SCHEMA, KnowledgeGraph
from multiea.data.knowledge_graph_builder import KnowledgeGraphBuilder
from multiea.data.properties import attributes_of, names_of, names_with_preference, properties_of
from multiea.foundation.errors import InputError

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
SKOS = "http://www.w3.org/2004/02/skos/core#"
OBO = "http://www.geneontology.org/formats/oboInOwl#"
Fact = tuple[str, str, str]


def kg_of(facts: Iterable[Fact], roles: Mapping[str, str] | None = None) -> KnowledgeGraph:
    builder = KnowledgeGraphBuilder("a", roles)
    table = pl.DataFrame(list(facts), schema=["entity", "property", "value"], orient="row")
    entities, properties, values = table
    builder.add_literals(entities, properties, values, pl.Series([""] * table.height))
    return builder.build()


def table_kg(columns: Mapping[str, list[str]], roles: Mapping[str, str] | None = None) -> KnowledgeGraph:
    return kg_of([(str(row), name, cells[row]) for name, cells in columns.items() for row in range(len(cells))], roles)


def kg_of_ids(*ids: str) -> KnowledgeGraph:
    return KnowledgeGraph.from_triples("a", [], entities=ids)


def names(kg: KnowledgeGraph) -> set[tuple[str, str]]:
    return {(kg.entities[entity], name) for entity, name in names_of(kg).rows()}


def name_properties(kg: KnowledgeGraph) -> list[str]:
    return properties_of(kg).filter(pl.col("role") == "name")["property"].to_list()


@pytest.mark.parametrize(
    "name_property",
    [
        LABEL,
        *(f"{SKOS}{word}" for word in ("prefLabel", "altLabel", "hiddenLabel")),
        *(f"{scheme}://schema.org/{word}" for scheme in ("http", "https") for word in ("name", "alternateName")),
        "http://xmlns.com/foaf/0.1/name",
        "http://purl.org/dc/terms/title",
        "http://purl.org/dc/elements/1.1/title",
        *(f"{OBO}has{kind}Synonym" for kind in ("Exact", "Related", "Broad", "Narrow")),
        "http://purl.obolibrary.org/obo/IAO_0000118",
        "http://example.org/ontology/name",
        *("label", "Name", "TITLE", "full_name", "Display Name", "prefLabel", "aliases", "Synonyms", "city_name"),
    ],
)
def test_the_literals_of_a_name_property_are_names_and_not_attributes(name_property: str) -> None:
    kg = kg_of([("1", name_property, "Oslo"), ("2", name_property, "Bergen"), ("1", "size", "3")])
    assert names(kg) == {("1", "Oslo"), ("2", "Bergen")}
    assert name_properties(kg) == [name_property]
    assert attributes_of(kg)["property"].to_list() == ["size"]
    assert set(kg.display(np.array([0, 1]))) == {"Oslo", "Bergen"}


@pytest.mark.parametrize(
    "column", ["first_name", "Last Name", "givenName", "family_name", "surname", "comment", "user_name"]
)
def test_parts_of_names_and_other_columns_are_attributes(column: str) -> None:
    kg = table_kg({column: ["Oslo", "Bergen"]})
    assert name_properties(kg) == []
    assert len(attributes_of(kg)) == 2


def test_a_column_such_as_city_name_is_a_name_only_if_it_is_the_only_one_and_no_better_one_exists() -> None:
    places = {"city_name": ["Oslo", "Bergen"], "river_name": ["Akerselva", "Nordåselva"]}
    assert table_kg(places).name_by_values == "city_name"  # not by its word: that is as good as the other's
    assert table_kg({"city_name": places["city_name"]}).name_by_values is None
    assert name_properties(table_kg({"label": ["Oslo", "Bergen"], "river_name": places["river_name"]})) == ["label"]


def test_a_title_that_many_entities_share_is_an_attribute() -> None:
    people = {"name": ["Ada", "Grace", "Emmy", "Marie", "Lise"], "title": ["Dr", "Dr", "Prof", "Dr", "Prof"]}
    assert name_properties(table_kg(people)) == ["name"]
    assert name_properties(table_kg({"title": ["Dune", "Emma", "Ulysses", "Solaris", "Dune"]})) == ["title"]


def test_a_name_property_without_letters_is_an_attribute() -> None:
    kg = table_kg({"label": ["12", "13", "14"]})
    assert name_properties(kg) == []
    assert names(kg) == set()


def test_an_entity_has_all_its_names_each_once() -> None:
    facts = [("1", LABEL, "Oslo"), ("1", f"{SKOS}altLabel", " Christiania "), ("1", f"{SKOS}altLabel", "Oslo")]
    builder = KnowledgeGraphBuilder("a")
    entities, properties, values = pl.DataFrame(facts, orient="row")
    builder.add_literals(entities, properties, values, pl.Series([""] * 3))
    builder.add_entities(pl.Series(["1", "1", "2", "3"]), pl.Series(["Oslo", "Kristiania", "Bergen", None]))
    kg = builder.build()
    assert names(kg) == {("1", "Oslo"), ("1", "Christiania"), ("1", "Kristiania"), ("2", "Bergen")}
    assert len(kg.given_names) == 3


def test_the_user_decides_the_role_of_a_property() -> None:
    columns = {"label": ["Oslo", "Bergen"], "note": ["big", "wet"], "size": ["1", "2"], "code": ["x", "y"]}
    kg = table_kg(columns, {"note": "name", "label": "attribute", "code": "ignore"})
    assert names(kg) == {("0", "big"), ("1", "wet")}
    assert set(attributes_of(kg)["property"].to_list()) == {"label", "size"}
    roles = dict(properties_of(kg).select("property", "role").rows())
    assert roles == {"note": "name", "label": "attribute", "size": "attribute", "code": "ignore"}
    assert kg.names is not None
    assert set(kg.names.to_list()) == {"big", "wet"}


def test_the_first_of_the_names_that_the_user_lists_is_shown() -> None:
    kg = table_kg({"a": ["one"], "b": ["two"], "label": ["three"]}, {"b": "name", "a": "name"})
    assert kg.names is not None
    assert kg.names.to_list() == ["two"]


def test_a_role_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="unknown role of size: 'nmae'; choose one of: name, attribute, ignore"):
        table_kg({"size": ["1"]}, {"size": "nmae"})


def test_properties_have_coverage_and_an_example() -> None:
    kg = kg_of([("1", "label", "Oslo"), ("2", "label", "Bergen"), ("1", "size", "3"), ("1", "size", "4")])
    assert properties_of(kg).rows() == [("label", "name", 2, 1.0, "Bergen"), ("size", "attribute", 1, 0.5, "3")]


def test_a_restricted_kg_keeps_given_names_and_roles() -> None:
    builder = KnowledgeGraphBuilder("a", {"size": "ignore"})
    builder.add_entities(pl.Series(["1", "2", "3"]), pl.Series(["Oslo", "Bergen", "Voss"]))
    builder.add_literals(*(pl.Series([cell]) for cell in ("1", "size", "3", "")))
    kg = builder.build()
    kept = kg.restricted_to((kg.entities != "2").to_numpy())
    assert names(kept) == {("1", "Oslo"), ("3", "Voss")}
    assert kept.property_roles == {"size": "ignore"}


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["http://x.org/resource/Oslo", "http://x.org/resource/New_York"], {"Oslo", "New York"}),
        (["http://x.org/onto#redWine", "http://x.org/onto#whiteWine"], {"redWine", "whiteWine"}),
        (["http://x.org/r/%C3%98resund", "http://x.org/r/AC/DC", "http://x.org/r/Abba"], {"Øresund", "AC/DC", "Abba"}),
        (["http://x.org/r/东京", "http://x.org/r/美国"], {"东京", "美国"}),
        (["dbr:Oslo", "dbr:Bergen"], {"Oslo", "Bergen"}),
        (["Oslo", "New_York", "1994 Winter Olympics", "2001"], {"Oslo", "New York", "1994 Winter Olympics", "2001"}),
        (["http://x.org/Oslo/", "http://x.org/Bergen/"], {"Oslo", "Bergen"}),
    ],
)
def test_ids_that_are_words_are_names_where_there_are_no_others(ids: list[str], expected: set[str]) -> None:
    assert {name for _, name in names(kg_of_ids(*ids))} == expected


@pytest.mark.parametrize(
    "ids",
    [
        [
            "http://www.wikidata.org/entity/Q42",
            "http://www.wikidata.org/entity/Q1",
            "http://www.wikidata.org/entity/Q7",
        ],
        ["http://purl.obolibrary.org/obo/EMAPA_31877", "http://purl.obolibrary.org/obo/EMAPA_12"],
        ["m.0abc", "m.02mjmr", "m.0k3p"],
        ["0001234", "0001235"],
        ["dbpedia-5091", "dbpedia-1524", "dbpedia-77"],
        ["city-1", "city-2", "city-3", "person-1", "person-2", "person-3"],
        ["cl:1", "cl:2"],
        ["_:abc", "_:def"],
        ["a", "b", "c"],
        ["3f2504e0-4f89-41d3-9a0c-0305e82c3301", "7d9f3c1a-0b52-4c7e-8f6a-1c2d3e4f5a6b"],
    ],
)
def test_ids_that_are_codes_are_no_names(ids: list[str]) -> None:
    assert names(kg_of_ids(*ids)) == set()


def test_ids_are_no_names_where_a_kg_has_names() -> None:
    kg = kg_of([("Oslo", "label", "capital"), ("Bergen", "size", "3")])
    assert names(kg) == {("Oslo", "capital")}


def test_labels_and_given_names_are_preferred_to_synonyms() -> None:
    facts = [
        *(
            ("x", LABEL, "gill"),
            ("x", f"{OBO}hasExactSynonym", "branchia"),
            ("x", "http://xmlns.com/foaf/0.1/name", "Gill"),
        ),
        ("y", f"{OBO}hasExactSynonym", "fin"),
        *(("z", "http://example.org/name", "Paris"), ("z", f"{SKOS}altLabel", "City of Light")),
    ]
    kg = kg_of(facts)
    given = pl.DataFrame([(0, "Kieme")], schema=NAME_SCHEMA, orient="row")
    preferred = {name: liked for _, name, liked in names_with_preference(replace(kg, given_names=given)).rows()}
    others = [name for name, liked in preferred.items() if not liked]
    assert sorted(others) == ["City of Light", "branchia"]
    assert len(preferred) == 7
    chosen = kg_of(facts, {f"{OBO}hasExactSynonym": "name"})
    assert {"branchia", "gill"} <= set(names_with_preference(chosen).filter("is_preferred")["name"])
