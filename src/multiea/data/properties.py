"""Which properties of a KG give names and which give attributes, as the user decided or as the data show."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import polars as pl

from multiea.data.joined_names import JOIN, MIN_SHARE_WITH_LETTERS, are_names_together, parts_of, with_joined_names
from multiea.data.name_words import (
    first_and_last_name,
    is_alternative,
    is_doubtful,
    is_iri,
    is_no_name,
    local_name,
    name_candidates,
    plain_word,
)
from multiea.data.names_by_values import name_candidates_by_values, property_like_names
from multiea.data.readable_ids import readable_ids

if TYPE_CHECKING:
    from multiea.data.knowledge_graph import KnowledgeGraph

NAME, ATTRIBUTE, IGNORE = "name", "attribute", "ignore"
PROPERTY_ROLES = (NAME, ATTRIBUTE, IGNORE)
MIN_SHARE_DISTINCT = 0.5


def property_roles(literals: pl.DataFrame, given: Mapping[str, str], found: Collection[str] = ()) -> pl.DataFrame:
    """The role of each property, and for names a rank, the best first: property, role, rank.

    given: roles that the user decided, by property; among these the order of the names is their rank. found: what
    `name_by_values` and `joined_names` found; it counts where the user decided about no name, and before properties
    whose word leaves a doubt.
    """
    properties = literals["property"].unique().cast(pl.String).sort().to_list()
    rank = name_candidates([one for one in properties if one not in given])
    shown = literals.with_columns(pl.col("property").cast(pl.String)).filter(pl.col("property").is_in(list(rank)))
    stated = shown.group_by("property").agg(
        letters=pl.col("value").str.contains(r"\p{L}").mean(),
        distinct=pl.col("value").n_unique() / pl.len(),
    )
    kept = {
        one
        for one, letters, distinct in stated.iter_rows()
        if letters >= MIN_SHARE_WITH_LETTERS and (distinct >= MIN_SHARE_DISTINCT or not is_doubtful(one))
    }
    decided = [one for one, role in given.items() if role == NAME]
    rank = {one: place for one, place in rank.items() if one in kept}
    if found and not decided:
        rank = {one: place for one, place in rank.items() if not is_doubtful(one)}
        rank |= dict.fromkeys([one for one in found if one not in given], -1)
    rank |= {one: place - len(decided) for place, one in enumerate(decided)}
    roles = [given.get(one, NAME if one in rank else ATTRIBUTE) for one in properties]
    ranks = [rank.get(one, 0) for one in properties]
    return pl.DataFrame(
        {"property": properties, "role": roles, "rank": ranks},
        schema={"property": pl.String, "role": pl.String, "rank": pl.Int32},
    )


def joined_names(
    entities: pl.Series, literals: pl.DataFrame, given_names: pl.DataFrame, given: Mapping[str, str]
) -> tuple[str, ...]:
    """The names that several properties make together: those that the user decided, or else first and last names.

    None of the latter where the KG has other names: given ones, or a property that the user or its word says to be a
    name, and no synonym.
    """
    properties = literals["property"].unique().cast(pl.String).to_list()
    decided = [one for one, role in given.items() if role == NAME]
    if decided or given_names["name"].is_not_null().any():
        return tuple(one for one in decided if parts_of(one, properties))
    parts = first_and_last_name([one for one in properties if one not in given])
    if parts is None or JOIN.join(parts) in given:
        return ()
    names = property_roles(literals, given).filter(pl.col("role") == NAME)["property"]
    rivals = [one for one in names if not is_alternative(one)]
    is_name = all(map(is_doubtful, rivals)) and are_names_together(literals, parts, rivals, len(entities))
    return (JOIN.join(parts),) if is_name else ()


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
    excluded = [one for one in roles["property"] if one in given or is_no_name(plain_word(one))]
    found = property_like_names(literals, excluded, len(entities))
    return found if found is not None and readable_ids(entities).is_empty() else None


def possible_names(kg: KnowledgeGraph) -> list[str]:
    """The properties that may be the name of a KG without any names, the best first; nothing says that they are."""
    if kg.names is not None or kg.given_names["name"].is_not_null().any() or not len(kg.literals):
        return []
    roles = roles_of_kg(kg)
    if (roles["role"] == NAME).any():
        return []
    excluded = [one for one in roles["property"] if one in kg.property_roles or is_no_name(plain_word(one))]
    found = name_candidates_by_values(kg.literals, excluded, len(kg.entities))
    return found if found and readable_ids(kg.entities).is_empty() else []


def meant_by(asked: str, properties: Collection[str]) -> list[str]:
    """The properties that a user names: the one with this id, or else those with this local name.

    Of a joined name, such as `first name + last name`, the same with the ids of all its parts, if they are known.
    """
    if asked in properties:
        return [asked]
    if parts := parts_of(asked, properties):
        meant = [sorted(meant_by(part, properties))[:1] for part in parts]
        return [JOIN.join(part for some in meant for part in some)] if all(meant) else []
    return [one for one in properties if is_iri(one) and local_name(one) == asked]


def resolved_roles(asked: Mapping[str, str], properties: Collection[str]) -> dict[str, str]:
    """Roles by the ids of properties; what a KG does not have is left out."""
    return {one: role for name, role in asked.items() for one in meant_by(name, properties)}


def roles_of_kg(kg: KnowledgeGraph) -> pl.DataFrame:
    """The role and rank of each property of a KG: property, role, rank."""
    found = [one for one in kg.joined_names if one not in kg.property_roles]
    found += [] if kg.name_by_values is None else [kg.name_by_values]
    return property_roles(with_joined_names(kg.literals, kg.joined_names), kg.property_roles, found)


def properties_of(kg: KnowledgeGraph) -> pl.DataFrame:
    """One row per property: property, role, entities (that have it), coverage (their share), example."""
    roles = roles_of_kg(kg)
    counts = (
        with_joined_names(kg.literals, kg.joined_names)
        .group_by("property")
        .agg(entities=pl.col("entity").n_unique(), example=pl.col("value").str.strip_chars().min())
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
    alternatives = [one for one in named if one not in kg.property_roles and is_alternative(one)]
    of_property = pl.col("property").cast(pl.String)
    literals = (
        with_joined_names(kg.literals, kg.joined_names)
        .filter(of_property.is_in(named))
        .select("entity", name="value", is_preferred=~of_property.is_in(alternatives))
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
        with_joined_names(kg.literals, kg.joined_names)
        .with_columns(pl.col("property", "type").cast(pl.String))
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
