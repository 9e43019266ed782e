"""Roles of properties that a user chose for all KGs: checked, and as settings."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.names_by_words import with_names_by_words
from multiea.data.properties import ATTRIBUTE, IGNORE, NAME, PROPERTY_ROLES, meant_by, possible_names, properties_of
from multiea.data.readers import unknown_property
from multiea.foundation.errors import InputError, SettingError, is_text, unknown
from multiea.settings.data import Data

log = logging.getLogger("multiea")
LONGEST_EXAMPLE = 40
LOOKS_LIKE_NAMES = "the values look like names"
SETTINGS = {NAME: "names", ATTRIBUTE: "attributes", IGNORE: "ignore"}


def check_roles(roles: Mapping[str, str] | None) -> None:
    """Refuses roles of another form than {"title": "name"}."""
    if roles is not None and not (isinstance(roles, Mapping) and all(map(is_text, roles))):
        raise SettingError(f"roles must be a mapping such as {{'title': 'name'}}, got {roles!r}")
    for name, role in (roles or {}).items():
        if role not in PROPERTY_ROLES:
            raise SettingError(unknown(str(role), PROPERTY_ROLES, what=f"role of '{name}':"))


def refuse_unknown_roles(kgs: Sequence[KnowledgeGraph], roles: Mapping[str, str] | None) -> None:
    """Raises an error for a property that no KG has."""
    if not roles:
        return
    known = {one for kg in kgs for one in (*kg.literals["property"].unique().cast(pl.String), *kg.property_roles)}
    for asked in roles:
        if not meant_by(asked, known):
            raise InputError(unknown_property(asked, known, "this data set"))


def with_names_by_values(kgs: Sequence[KnowledgeGraph], *, in_memory: bool) -> list[KnowledgeGraph]:
    """The KGs, those without names with names that share words with those of others; warns of all names by values.

    in_memory: whether the KGs were given in Python, without files.
    """
    found = with_names_by_words(kgs)
    for kg, before in zip(found, kgs, strict=True):
        shares_words = kg.name_by_values is not None and before.name_by_values is None
        reason = "its words are those of the names of other KGs" if shares_words else LOOKS_LIKE_NAMES
        _warn(kg, reason, in_memory=in_memory)
    return found


def warn_of_names_by_values(kg: KnowledgeGraph) -> None:
    """Says of a KG from files which property is its name because of its values, or may be."""
    _warn(kg, LOOKS_LIKE_NAMES, in_memory=False)


def _warn(kg: KnowledgeGraph, reason: str, *, in_memory: bool) -> None:
    """Says which property is the name of a KG, and why, or may be it, and how to choose another."""
    if kg.name_by_values is not None:
        change = (
            f'multiea.load(..., roles={{"{kg.name_by_values}": "attribute"}}) changes this'
            if in_memory
            else f"--names, --attributes '{kg.name_by_values}', or names = [...] in dataset.toml change this"
        )
        log.warning("KG '%s': '%s' is taken as its name, because %s; %s", kg.name, kg.name_by_values, reason, change)
    elif candidates := possible_names(kg):
        examples = dict(properties_of(kg).select("property", "example").iter_rows())
        shown = ", ".join(f"'{one}' ('{_shortened(examples[one])}')" for one in candidates)
        first = candidates[0]
        choose = (
            f'multiea.load(..., roles={{"{first}": "name"}})'
            if in_memory
            else f"--names '{first}', or names = [...] in dataset.toml"
        )
        log.warning("KG '%s' has no names; candidates: %s; choose with %s", kg.name, shown, choose)


def _shortened(value: str) -> str:
    text = " ".join(value.split())
    return text if len(text) <= LONGEST_EXAMPLE else f"{text[:LONGEST_EXAMPLE]}..."


def by_role(roles: Mapping[str, str] | None) -> dict[str, Any]:
    """Roles as settings: names, attributes, ignore."""
    given = roles or {}
    return {key: tuple(name for name in given if given[name] == role) for role, key in SETTINGS.items()}


def roles_of(data: Data) -> dict[str, str]:
    """The roles that settings name."""
    return {name: role for role, key in SETTINGS.items() for name in getattr(data, key)}
