"""The groups of a run folder: from its tables of members and pairs back to groups with confidences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.found_groups import FoundGroups
from multiea.grouping.lineage import GroupIds, group_ids


@dataclass(frozen=True)
class StoredGroups:
    """members: one row per member, with a column `kind`: seed, completed (an open seed) or found."""

    members: pl.DataFrame
    pairs: pl.DataFrame
    task: Task
    found: FoundGroups
    completed_seeds: FoundGroups

    @classmethod
    def of(cls, members: pl.DataFrame, pairs: pl.DataFrame, task: Task) -> StoredGroups:
        """From groups.parquet and pairs.parquet."""
        with_kind = _with_kind(members, task)
        found, completed = (_groups_of_kind(kind, with_kind, pairs, task) for kind in ("found", "completed"))
        return cls(with_kind, pairs, task, found, completed)

    def duplicates(self) -> Duplicates:
        """The further members of found groups."""
        ids = _ids_of_kind("found", self.members)
        parts = [Duplicates()]
        for number, kg in enumerate(self.task.kgs):
            own = self.members.filter((pl.col("kg") == kg.name) & (pl.col("status") == "duplicate"))
            group = _rows_of(own["group_id"], ids)
            entity = np.asarray(kg.positions(own["entity"]))
            parts.append(Duplicates(group, np.full(len(own), number), entity, own["confidence"].to_numpy()))
        return Duplicates.joined(parts)

    def ids(self, lineage: pl.DataFrame) -> GroupIds | None:
        """The stored ids; None where they only depend on the members."""
        seeds, kgs = self.task.seeds, self.task.kgs
        entities = seeds.to_table(kgs)
        by_members = group_ids(entities)
        one_member = pl.DataFrame(
            {
                "kg": np.array(self.task.kg_names, dtype=object)[seeds.present.argmax(axis=1)],
                "entity": entities.select(pl.coalesce(pl.all())).to_series(),
                "by_members": by_members,
            },
            schema={"kg": pl.String, "entity": pl.String, "by_members": pl.String},
        )
        own = self.members.filter(pl.col("kind") == "seed").unique(["kg", "entity"])
        known = one_member.join(own, on=["kg", "entity"], how="left", maintain_order="left")
        of_seeds = known.select(pl.coalesce("group_id", "by_members")).to_series().to_list()
        of_completed, of_found = (_ids_of_kind(kind, self.members).to_list() for kind in ("completed", "found"))
        unchanged = [(of_seeds, by_members)]
        for stored, some in ((of_completed, self.completed_seeds), (of_found, self.found)):
            unchanged.append((stored, group_ids(some.groups.to_table(kgs))))
        if not lineage.height and all(stored == expected for stored, expected in unchanged):
            return None
        return GroupIds(of_seeds + of_completed, of_found, lineage)


def _with_kind(members: pl.DataFrame, task: Task) -> pl.DataFrame:
    names = task.seeds.to_table(task.kgs).unpivot(variable_name="kg", value_name="entity").drop_nulls()
    joined = members.join(names.with_columns(in_seeds=True), on=["kg", "entity"], how="left", maintain_order="left")
    of_seed = pl.col("in_seeds").fill_null(value=False) & (pl.col("status") == "seed")
    is_open = ((pl.col("status") == "seed") & ~of_seed).any().over("group_id")
    kind = pl.when(of_seed).then(pl.lit("seed")).when(is_open).then(pl.lit("completed")).otherwise(pl.lit("found"))
    return joined.with_columns(kind=kind)


def _ids_of_kind(kind: str, members: pl.DataFrame) -> pl.Series:
    own = members.filter((pl.col("kind") == kind) & (pl.col("status") != "duplicate"))
    return own["group_id"].unique(maintain_order=True)


def _groups_of_kind(kind: str, members: pl.DataFrame, pairs: pl.DataFrame, task: Task) -> FoundGroups:
    """The groups of a kind, in the order of the table, with the confidences of their members and pairs."""
    table = members.filter((pl.col("kind") == kind) & (pl.col("status") != "duplicate"))
    ids = _ids_of_kind(kind, table)
    if not len(ids):
        return FoundGroups.empty(task.kg_names)
    positions = np.full((len(ids), len(task.kgs)), ABSENT, dtype=np.int32)
    confidence = np.zeros(positions.shape)
    for column, kg in enumerate(task.kgs):
        own = table.filter(pl.col("kg") == kg.name)
        rows = _rows_of(own["group_id"], ids)
        positions[rows, column] = kg.positions(own["entity"])
        confidence[rows, column] = own["confidence"].to_numpy()
    pair_confidence = np.full((*positions.shape, len(task.kgs)), np.nan)
    matched = np.zeros(pair_confidence.shape, dtype=bool)
    pairs = pairs.filter(pl.col("group_id").is_in(ids.implode()))
    rows = _rows_of(pairs["group_id"], ids)
    number_of = {name: number for number, name in enumerate(task.kg_names)}
    ends = [pairs[side].replace_strict(number_of, return_dtype=pl.Int64).to_numpy() for side in ("left_kg", "right_kg")]
    for one, other in (ends, reversed(ends)):
        pair_confidence[rows, one, other] = pairs["confidence"].to_numpy()
        matched[rows, one, other] = pairs["matched"].to_numpy()
    return FoundGroups(Groups(task.kg_names, positions), confidence, pair_confidence, matched)


def _rows_of(group_ids: pl.Series, ids: pl.Series) -> np.ndarray:
    """The row of each group in a list of distinct ids that has all of them, (n,)."""
    if group_ids.is_empty():
        return np.empty(0, dtype=np.int64)
    return group_ids.replace_strict(ids, np.arange(len(ids)), return_dtype=pl.Int64).to_numpy()
