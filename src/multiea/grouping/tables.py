"""Groups as tables: one row per member, one row per pair of members."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from multiea.data.entity_table import entity_table
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.foundation.offsets import offsets
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.found_groups import FoundGroups

MEMBER_COLUMNS = ["group_id", "kg", "entity", "name", "confidence", "status"]
PAIR_COLUMNS = ["group_id", "left_kg", "left", "right_kg", "right", "confidence", "matched", "status"]


def member_table(
    found: FoundGroups, ids: list[str], is_known: np.ndarray, kgs: Sequence[KnowledgeGraph]
) -> pl.DataFrame:
    """One row per member, group by group. is_known: (groups, M) which members were given as seeds."""
    entities = found.groups.to_table(kgs)
    parts = []
    for column, kg in enumerate(kgs):
        columns = {"group_id": ids, "kg": [kg.name] * len(ids), "entity": entities.get_column(kg.name)}
        of_kg = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))  # the types where there is no group
        of_kg = of_kg.with_columns(
            confidence=pl.Series(found.confidence[:, column], dtype=pl.Float64),
            status=_status(is_known[:, column]),
            order=pl.int_range(len(ids)),
        )
        parts.append(of_kg.filter(pl.col("entity").is_not_null()))
    return _with_names(pl.concat(parts).sort("order", "kg").drop("order"), kgs)


def duplicate_table(duplicates: Duplicates, ids: list[str], kgs: Sequence[KnowledgeGraph]) -> pl.DataFrame:
    """One row per duplicate, with the id of its group."""
    entities = [kgs[kg].entities[int(entity)] for kg, entity in zip(duplicates.kg, duplicates.entity, strict=True)]
    columns = {
        "group_id": [ids[group] for group in duplicates.group],
        "kg": [kgs[kg].name for kg in duplicates.kg],
        "entity": entities,
    }
    table = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)).with_columns(
        confidence=pl.Series(duplicates.confidence, dtype=pl.Float64), status=pl.lit("duplicate")
    )
    return _with_names(table.sort("group_id", "kg", "entity"), kgs)


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
    names = pl.Series([kg.name for kg in kgs], dtype=pl.String)
    entities = pl.concat([kg.entities.cast(pl.String).alias("entity") for kg in kgs])
    starts = offsets(len(kg.entities) for kg in kgs)
    columns = {
        "order": row,
        "group_id": pl.Series(ids, dtype=pl.String).gather(row),
        "left_kg": names.gather(a),
        "left": entities.gather(members[row, a] + starts[a]),
        "right_kg": names.gather(b),
        "right": entities.gather(members[row, b] + starts[b]),
        "confidence": found.pair_confidence[row, a, b],
        "matched": found.matched[row, a, b],
        "status": _status(is_known[row, a] & is_known[row, b]),
    }
    return pl.DataFrame(columns).sort("order", "left_kg", "right_kg", maintain_order=True).select(PAIR_COLUMNS)


def _with_names(table: pl.DataFrame, kgs: Sequence[KnowledgeGraph]) -> pl.DataFrame:
    named = table.join(entity_table(kgs), on=["kg", "entity"], how="left", maintain_order="left")
    return named.select(MEMBER_COLUMNS)


def _status(is_known: np.ndarray) -> pl.Series:
    return pl.Series(np.where(is_known, "seed", "found"), dtype=pl.String)
