"""Groups as tables: one row per member, one row per pair of members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.foundation.offsets import offsets
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.found_groups import FoundGroups

MEMBER_COLUMNS = ["group_id", "kg", "entity", "name", "confidence", "status"]
PAIR_COLUMNS = ["group_id", "left_kg", "left", "right_kg", "right", "confidence", "matched", "status"]


def member_table(
    found: FoundGroups, ids: Sequence[str], is_known: np.ndarray, kgs: Sequence[KnowledgeGraph]
) -> pl.DataFrame:
    """One row per member, group by group. is_known: (groups, M) which members were given as seeds."""
    by_name = np.array(sorted(range(len(kgs)), key=lambda kg: kgs[kg].name))
    row, place = np.nonzero(found.groups.present[:, by_name])
    kg = by_name[place]
    of_member = {"confidence": _numbers(found.confidence[row, kg]), "status": _status(is_known[row, kg])}
    return _members(_texts(ids).gather(row), kg, found.groups.members[row, kg], kgs, of_member)


def duplicate_table(duplicates: Duplicates, ids: Sequence[str], kgs: Sequence[KnowledgeGraph]) -> pl.DataFrame:
    """One row per duplicate, with the id of its group."""
    of_member = {"confidence": _numbers(duplicates.confidence), "status": pl.lit("duplicate")}
    table = _members(_texts(ids).gather(duplicates.group), duplicates.kg, duplicates.entity, kgs, of_member)
    return table.sort("group_id", "kg", "entity")


def duplicate_pair_table(members: pl.DataFrame, kg_names: Sequence[str]) -> pl.DataFrame:
    """One row per pair of members of which one or both are duplicates; members: of all groups, one row each.

    The KG on the left is the first of the two in kg_names, as in pair_table. A pair inside a KG has the member of the
    group on the left, and counts as matched; the other pairs follow from these. confidence: the lower one of the
    duplicates.
    """
    number = {name: at for at, name in enumerate(kg_names)}
    ends = members.with_columns(is_duplicate=pl.col("status") == "duplicate")
    ends = ends.filter(pl.col("is_duplicate").any().over("group_id"))
    ends = ends.sort(pl.col("kg").replace_strict(number, return_dtype=pl.Int64), "is_duplicate", "entity")
    ends = ends.with_row_index("at")
    pairs = ends.join(ends, on="group_id", suffix="_right").filter(
        pl.col("is_duplicate") | pl.col("is_duplicate_right"), pl.col("at") < pl.col("at_right")
    )
    pairs = pairs.with_columns(
        left_kg="kg",
        left="entity",
        right_kg="kg_right",
        right="entity_right",
        confidence=pl.min_horizontal(
            pl.when("is_duplicate").then("confidence"), pl.when("is_duplicate_right").then("confidence_right")
        ),
        matched=(pl.col("kg") == pl.col("kg_right")) & ~pl.col("is_duplicate"),
        status=pl.lit("duplicate"),
    )
    return pairs.sort("group_id", "at", "at_right").select(PAIR_COLUMNS)


def pair_table(found: FoundGroups, ids: list[str], is_known: np.ndarray, kgs: Sequence[KnowledgeGraph]) -> pl.DataFrame:
    """One row per pair of members, group by group. is_known: (groups, M) which members were given as seeds."""
    present, members = found.groups.present, found.groups.members
    row, a, b = np.nonzero(np.triu(present[:, :, None] & present[:, None, :], 1))
    by_name = np.argsort(sorted(range(len(kgs)), key=lambda kg: kgs[kg].name))  # the place of each KG
    order = np.argsort((row * len(kgs) + by_name[a]) * len(kgs) + by_name[b], kind="stable")
    row, a, b = row[order], a[order], b[order]
    names, entities = _texts([kg.name for kg in kgs]), _all_entities(kgs)
    starts = offsets(len(kg.entities) for kg in kgs)
    columns = {
        "group_id": _texts(ids).gather(row),
        "left_kg": names.gather(a),
        "left": entities.gather(members[row, a] + starts[a]),
        "right_kg": names.gather(b),
        "right": entities.gather(members[row, b] + starts[b]),
        "confidence": found.pair_confidence[row, a, b],
        "matched": found.matched[row, a, b],
        "status": _status(is_known[row, a] & is_known[row, b]),
    }
    return pl.DataFrame(columns).select(PAIR_COLUMNS)


def _members(
    group_ids: pl.Series, kg: np.ndarray, entity: np.ndarray, kgs: Sequence[KnowledgeGraph], others: dict[str, Any]
) -> pl.DataFrame:
    """One row per member of a group; kg, entity: the number of its KG and its position there, (n,)."""
    joint = entity + offsets(len(one.entities) for one in kgs)[kg]
    nameless = [pl.Series([None], dtype=pl.String).new_from_index(0, len(one.entities)) for one in kgs]
    shown = [own if one.names is None else one.names for one, own in zip(kgs, nameless, strict=True)]
    columns = {
        "group_id": group_ids,
        "kg": _texts([one.name for one in kgs]).gather(kg),
        "entity": _all_entities(kgs).gather(joint),
        "name": pl.concat([one.alias("name") for one in shown]).gather(joint),
    }
    return pl.DataFrame(columns).with_columns(**others).select(MEMBER_COLUMNS)


def _all_entities(kgs: Sequence[KnowledgeGraph]) -> pl.Series:
    return pl.concat([kg.entities.cast(pl.String).alias("entity") for kg in kgs])


def _texts(values: Sequence[str] | pl.Series) -> pl.Series:
    return pl.Series(values, dtype=pl.String)


def _numbers(values: np.ndarray) -> pl.Series:
    return pl.Series(values, dtype=pl.Float64)


def _status(is_known: np.ndarray) -> pl.Series:
    return pl.Series(["found", "seed"], dtype=pl.String).gather(is_known.astype(np.uint32))
