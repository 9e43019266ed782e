"""Finds the entity that a user means: by its id, by kg/id or kg:id, or by a name that only one entity has."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import numpy as np
import polars as pl

from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.properties import names_of
from multiea.explain.facts import Entity
from multiea.foundation.errors import InputError, SettingError, counted, is_text

Found = tuple[int, int]  # the number of a KG, and the position of an entity there
MOST_SHOWN = 5
MOST_COMPARED = 5_000  # ids and names that are compared with an unknown word
WAYS = "an id, kg/id, kg:id, or a name that one entity has"


def find_entity(word: object, kgs: Sequence[KnowledgeGraph]) -> Found:
    """The entity that a word means. Ids come before names, and names in the given case before others."""
    if not is_text(word):
        raise SettingError(f"an entity must be text: {WAYS}; got {word!r}")
    text = str(word)
    for matches in (_by_id(text, kgs), _by_name(text, kgs, any_case=False), _by_name(text, kgs, any_case=True)):
        if len(matches) == 1:
            return matches[0]
        if matches:
            shown = ", ".join(_written(match, kgs) for match in matches[:MOST_SHOWN])
            more = f" and {len(matches) - MOST_SHOWN:,} more" if len(matches) > MOST_SHOWN else ""
            raise InputError(
                f"'{text}' means {counted(len(matches), 'entity')}: {shown}{more}",
                expected="one entity",
                hint="Write kg/id",
            )
    near = _near(text, kgs)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"The KGs are {', '.join(kg.name for kg in kgs)}"
    raise InputError(f"no entity '{text}'", expected=WAYS, hint=hint)


def _prefixed(text: str, kgs: Sequence[KnowledgeGraph]) -> list[tuple[int, str]]:
    """What a text says about each KG: the text as a whole, and what follows the name of a KG."""
    whole = [(number, text) for number in range(len(kgs))]
    parts = [
        (number, text.removeprefix(kg.name)[1:])
        for number, kg in enumerate(kgs)
        if text.startswith((f"{kg.name}/", f"{kg.name}:"))
    ]
    return whole + parts


def _by_id(text: str, kgs: Sequence[KnowledgeGraph]) -> list[Found]:
    found = {
        (number, int(position))
        for number, own in _prefixed(text, kgs)
        for position in (kgs[number].entities == own).arg_true()
    }
    return _sorted(found, kgs)


def _by_name(text: str, kgs: Sequence[KnowledgeGraph], *, any_case: bool) -> list[Found]:
    found = set()
    for number, own in _prefixed(text, kgs):
        names = _names(kgs[number])
        is_same = pl.col("name").str.to_lowercase() == own.lower() if any_case else pl.col("name") == own
        found |= {(number, int(entity)) for entity in names.filter(is_same)["entity"]}
    return _sorted(found, kgs)


def _names(kg: KnowledgeGraph) -> pl.DataFrame:
    """All names of a KG, the ones that are shown included: entity, name."""
    names = names_of(kg).select(pl.col("entity").cast(pl.Int32), "name")
    if kg.names is None:
        return names
    shown = pl.DataFrame({"entity": np.arange(len(kg.entities), dtype=np.int32), "name": kg.names})
    return pl.concat([names, shown.drop_nulls()]).unique()


def _near(text: str, kgs: Sequence[KnowledgeGraph]) -> list[str]:
    """The entities whose ids or names are most like a text."""
    parts = []
    for number, own in dict(_prefixed(text, kgs)).items():
        kg, lower = kgs[number], own.lower()
        ids = pl.DataFrame({"entity": np.arange(len(kg.entities), dtype=np.int32), "name": kg.entities})
        texts = pl.concat([ids, _names(kg)]).with_columns(lower=pl.col("name").str.to_lowercase(), kg=pl.lit(number))
        local = pl.col("lower").str.replace(r"^.*[/#]", "")
        alike = local.str.starts_with(lower[:2]) | pl.col("lower").str.contains(lower, literal=True)
        parts.append(texts.filter(alike).with_columns(local=local, wanted=pl.lit(lower)))
    table = pl.concat(parts).sort((pl.col("local").str.len_chars() - len(text)).cast(pl.Int64).abs(), "kg", "local")
    table = table.head(MOST_COMPARED)
    close = difflib.get_close_matches(table["wanted"][0] if len(table) else "", table["local"].to_list(), n=MOST_SHOWN)
    rows = table.filter(pl.col("local").is_in(close)).select("kg", "entity").unique(maintain_order=True).rows()
    return [_written(row, kgs) for row in rows[:MOST_SHOWN]]


def _sorted(found: set[Found], kgs: Sequence[KnowledgeGraph]) -> list[Found]:
    return sorted(found, key=lambda match: _written(match, kgs))


def _written(match: Found, kgs: Sequence[KnowledgeGraph]) -> str:
    kg, entity = match
    position = np.array([entity], dtype=np.int32)
    return str(Entity(kgs[kg].name, str(kgs[kg].entities[int(entity)]), str(kgs[kg].display(position)[0])))
