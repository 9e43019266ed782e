"""Which properties of a KG give names and which give attributes, as the user decided or as the data show."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import polars as pl

from multiea.data.names_by_values import property_like_names
from multiea.data.readable_ids import readable_ids

if TYPE_CHECKING:
    from multiea.data.knowledge_graph import KnowledgeGraph

NAME, ATTRIBUTE, IGNORE = "name", "attribute", "ignore"
PROPERTY_ROLES = (NAME, ATTRIBUTE, IGNORE)
_SKOS, _OBO = "http://www.w3.org/2004/02/skos/core#", "http://www.geneontology.org/formats/oboInOwl#"
# Properties whose literals are names of entities, the best ones first: these are shown.
PREFERRED_PROPERTIES = (
    "http://www.w3.org/2000/01/rdf-schema#label",
    f"{_SKOS}prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
    "http://purl.org/dc/terms/title",
    "http://purl.org/dc/elements/1.1/title",
)
ALTERNATIVE_PROPERTIES = (
    f"{_SKOS}altLabel",
    "http://schema.org/alternateName",
    "https://schema.org/alternateName",
    f"{_OBO}hasExactSynonym",
    "http://purl.obolibrary.org/obo/IAO_0000118",  # alternative term
    f"{_SKOS}hiddenLabel",
    f"{_OBO}hasRelatedSynonym",
    f"{_OBO}hasNarrowSynonym",
    f"{_OBO}hasBroadSynonym",
)
NAME_PROPERTIES = (*PREFERRED_PROPERTIES, *ALTERNATIVE_PROPERTIES)
# The same for columns, and for the local names of other IRIs: without case and punctuation, the best ones first.
PREFERRED_WORDS = (
    *("label", "preflabel", "preferredlabel", "name", "preferredname", "prefname", "displayname", "fullname"),
    *("names", "labels"),
)
ALTERNATIVE_WORDS = (
    *("altlabel", "altlabels", "alternatename", "alternatenames", "alternativename"),
    *("altname", "altnames", "othername", "othernames", "alias", "aliases", "synonym", "synonyms"),
)
NAME_WORDS = (*PREFERRED_WORDS, *ALTERNATIVE_WORDS)
# Names only where their values differ from entity to entity: "title" may be that of a person.
DOUBTFUL_WORDS = ("title", "maintitle")
# Columns such as `city_name` are names if they are the only one of their kind; these never are.
PARTS_OF_NAMES = (
    "first",
    "last",
    "given",
    "family",
    "middle",
    "maiden",
    "sur",
    "user",
    "nick",
    "file",
    "host",
    "domain",
)
# Columns that are never names, whatever their values look like.
NO_NAMES = ("description", "comment", "comments", "note", "notes", "remark", "remarks", "address", "street")
MIN_SHARE_WITH_LETTERS = 0.5
MIN_SHARE_DISTINCT = 0.5


def property_roles(literals: pl.DataFrame, given: Mapping[str, str], name_by_values: str | None = None) -> pl.DataFrame:
    """The role of each property, and for names a rank, the best first: property, role, rank.

    given: roles that the user decided, by property; among these the order of the names is their rank. name_by_values:
    the property that `name_by_values` found; it counts where the user decided otherwise about no name.
    """
    properties = literals["property"].unique().cast(pl.String).sort().to_list()
    rank = _candidates([one for one in properties if one not in given])
    shown = literals.with_columns(pl.col("property").cast(pl.String)).filter(pl.col("property").is_in(list(rank)))
    stated = shown.group_by("property").agg(
        letters=pl.col("value").str.contains(r"\p{L}").mean(),
        distinct=pl.col("value").n_unique() / pl.len(),
    )
    kept = {
        one
        for one, letters, distinct in stated.iter_rows()
        if letters >= MIN_SHARE_WITH_LETTERS and (distinct >= MIN_SHARE_DISTINCT or not _is_doubtful(one))
    }
    decided = [one for one, role in given.items() if role == NAME]
    rank = {one: place for one, place in rank.items() if one in kept}
    if name_by_values is not None and not decided and name_by_values not in given:
        rank[name_by_values] = 0
    rank |= {one: place - len(decided) for place, one in enumerate(decided)}
    roles = [given.get(one, NAME if one in rank else ATTRIBUTE) for one in properties]
    ranks = [rank.get(one, 0) for one in properties]
    return pl.DataFrame(
        {"property": properties, "role": roles, "rank": ranks},
        schema={"property": pl.String, "role": pl.String, "rank": pl.Int32},
    )


def name_by_values(
    entities: pl.Series, literals: pl.DataFrame, given_names: pl.DataFrame, given: Mapping[str, str]
) -> str | None:
    """The property to take as the name of a KG because its values look like names.

    None where the KG has other names: given ones, a property that the user or its word says to be a name, or readable
    ids.
    """
    if given_names["name"].is_not_null().any() or not len(literals):
        return None
    roles = property_roles(literals, given)
    if (roles["role"] == NAME).any():
        return None
    excluded = [one for one in roles["property"] if one in given or _is_no_name(plain_word(one))]
    found = property_like_names(literals, excluded, len(entities))
    return found if found is not None and readable_ids(entities).is_empty() else None


def meant_by(asked: str, properties: Collection[str]) -> list[str]:
    """The properties that a user names: the one with this id, or else those with this local name."""
    if asked in properties:
        return [asked]
    return [one for one in properties if _is_iri(one) and local_name(one) == asked]


def resolved_roles(asked: Mapping[str, str], properties: Collection[str]) -> dict[str, str]:
    """Roles by the ids of properties; what a KG does not have is left out."""
    return {one: role for name, role in asked.items() for one in meant_by(name, properties)}


def roles_of_kg(kg: KnowledgeGraph) -> pl.DataFrame:
    """The role and rank of each property of a KG: property, role, rank."""
    return property_roles(kg.literals, kg.property_roles, kg.name_by_values)


def properties_of(kg: KnowledgeGraph) -> pl.DataFrame:
    """One row per property: property, role, entities (that have it), coverage (their share), example."""
    roles = roles_of_kg(kg)
    counts = kg.literals.group_by("property").agg(
        entities=pl.col("entity").n_unique(), example=pl.col("value").str.strip_chars().min()
    )
    return (
        roles.join(counts.with_columns(pl.col("property").cast(pl.String)), on="property")
        .with_columns(
            entities=pl.col("entities").cast(pl.Int64),
            coverage=pl.col("entities") / max(len(kg.entities), 1),
            order=pl.col("role").replace_strict(list(PROPERTY_ROLES), [0, 1, 2], return_dtype=pl.Int32),
        )
        .sort("order", "rank", "entities", "property", descending=[False, False, True, False])
        .select("property", "role", "entities", "coverage", "example")
    )


def names_of(kg: KnowledgeGraph) -> pl.DataFrame:
    """Every name of every entity, each once: entity, name, sorted.

    These are the given names and the literals of name properties. A KG that has neither is named by its ids, where
    they are readable, or else by a property whose values look like names.
    """
    return names_with_preference(kg).select("entity", "name")


def names_with_preference(kg: KnowledgeGraph) -> pl.DataFrame:
    """Every name of every entity: entity, name, is_preferred, sorted.

    Labels and given names are preferred. Synonyms are not, unless an entity has nothing else or the user chose them:
    they may be the labels of wider or narrower concepts as well.
    """
    named = roles_of_kg(kg).filter(pl.col("role") == NAME)["property"].to_list()
    alternatives = [one for one in named if one not in kg.property_roles and _is_alternative(one)]
    of_property = pl.col("property").cast(pl.String)
    literals = kg.literals.filter(of_property.is_in(named)).select(
        "entity", name="value", is_preferred=~of_property.is_in(alternatives)
    )
    given = kg.given_names.select("entity", "name", is_preferred=pl.lit(value=True))
    names = _tidied(pl.concat([given, literals]))
    if names.is_empty():
        return _tidied(readable_ids(kg.entities)).with_columns(is_preferred=pl.lit(value=True))
    return (
        names.group_by("entity", "name")
        .agg(pl.col("is_preferred").any())
        .with_columns(pl.col("is_preferred") | ~pl.col("is_preferred").any().over("entity"))
        .sort("entity", "name")
    )


def attributes_of(kg: KnowledgeGraph) -> pl.DataFrame:
    """The literals of attributes: entity, property, value, type."""
    return _of_role(kg, ATTRIBUTE)


def shown_names(kg: KnowledgeGraph) -> pl.Series | None:
    """The name of each entity: the given one, else its best literal, English first. None if no entity has a name."""
    ranked = roles_of_kg(kg).filter(pl.col("role") == NAME)
    from_literals = (
        kg.literals.with_columns(pl.col("property", "type").cast(pl.String))
        .join(ranked, on="property")
        .with_columns(not_english=pl.col("type") != "@en")
        .sort("rank", "not_english", "type", "value")
        .select("entity", name="value")
    )
    given = kg.given_names.sort("entity", "name")
    table = pl.concat([given, from_literals]).unique("entity", keep="first", maintain_order=True)
    if table.is_empty():
        return None
    all_entities = pl.DataFrame({"entity": pl.Series(range(len(kg.entities)), dtype=pl.Int32)})
    return all_entities.join(table, on="entity", how="left", maintain_order="left")["name"]


def _of_role(kg: KnowledgeGraph, role: str) -> pl.DataFrame:
    chosen = roles_of_kg(kg).filter(pl.col("role") == role)["property"].to_list()
    return kg.literals.filter(pl.col("property").cast(pl.String).is_in(chosen))


def _tidied(names: pl.DataFrame) -> pl.DataFrame:
    stripped = names.drop_nulls().with_columns(pl.col("name").str.strip_chars())
    return stripped.filter(pl.col("name") != "").unique().sort("entity", "name")


def _candidates(properties: list[str]) -> dict[str, int]:
    """The properties that may be names, each with its rank."""
    order = [*NAME_PROPERTIES, *NAME_WORDS, *DOUBTFUL_WORDS]
    rank = {one: order.index(one) for one in properties if one in NAME_PROPERTIES}
    others = {one: plain_word(one) for one in properties if one not in rank}
    rank |= {
        one: order.index(word)
        for one, word in others.items()
        if word in NAME_WORDS or (word in DOUBTFUL_WORDS and not _is_iri(one))
    }
    if not rank:
        of_kind = [one for one, word in others.items() if _is_some_name(word) and not _is_iri(one)]
        rank |= dict.fromkeys(of_kind if len(of_kind) == 1 else [], len(order))
    return rank


def _is_alternative(name_property: str) -> bool:
    return name_property in ALTERNATIVE_PROPERTIES or plain_word(name_property) in ALTERNATIVE_WORDS


def _is_doubtful(name_property: str) -> bool:
    return name_property not in NAME_PROPERTIES and plain_word(name_property) not in NAME_WORDS


def _is_some_name(word: str) -> bool:
    return word.endswith("name") and word.removesuffix("name") not in PARTS_OF_NAMES


def _is_no_name(word: str) -> bool:
    return word in NO_NAMES or (word.endswith("name") and word.removesuffix("name") in PARTS_OF_NAMES)


def _is_iri(name_property: str) -> bool:
    return "://" in name_property or name_property.startswith("urn:")


def local_name(name: str) -> str:
    """A property or relation without its namespace, if it is an IRI."""
    return name.rstrip("/#").replace("#", "/").rpartition("/")[2] if _is_iri(name) else name


def plain_word(name_property: str) -> str:
    """A property without case and punctuation; of an IRI the local name."""
    return "".join(filter(str.isalnum, local_name(name_property).casefold()))
