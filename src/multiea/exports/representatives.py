"""Representatives: the IRI that stands for each group in an export, and the IRI of every entity after merging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from multiea.data.groups import ABSENT
from multiea.data.iris import ENTITY, GROUP, entity_iris
from multiea.data.task import Task
from multiea.foundation.errors import SettingError, resolve
from multiea.grouping.alignment import AlignmentResult
from multiea.runs.run import Run


@dataclass(frozen=True)
class MergedNames:
    """IRIs of the entities of all KGs in joint order, before and after merging.

    offsets: (M + 1,) where each KG begins. iris: (N,) the IRI of each entity. merged: (N,) the IRI of its group's
    representative; its own IRI if it is in no group. group: (N,) the id of its group, null if it has none. member: (N,)
    for a duplicate the member of its KG in the group, -1 for all other entities.
    """

    offsets: np.ndarray
    iris: pl.Series
    merged: pl.Series
    group: pl.Series
    member: np.ndarray

    def merged_in_kg(self, kg: int) -> pl.Series:
        """The merged IRIs of the entities of one KG, (E,)."""
        start, end = self.offsets[kg : kg + 2].tolist()
        return self.merged.slice(start, end - start)

    def encoded_members(self) -> int:
        """How many members of groups have ids that are not IRIs."""
        return int(self.iris.filter(self.group.is_not_null()).str.starts_with(ENTITY).sum())


def merged_names(run: Run, prefer: Sequence[str] = ()) -> MergedNames:
    """Chooses a representative for each group: its member in the first KG that has one.

    KGs come in the order of `prefer`, then by number of triples and of entities. If another KG uses the IRI of a member
    for an entity outside the group, the member cannot be the representative: two different things would be merged. A
    group without a possible representative gets a new IRI.
    """
    alignment, task = run.alignment, run.alignment.task
    iris = pl.concat([entity_iris(kg.entities, kg.name) for kg in task.kgs]).alias("iri")
    group_row, members = alignment.group_rows()
    ids = pl.Series([one for part in alignment.group_ids() for one in part], dtype=pl.String)
    ambiguous = _ambiguous_iris(iris, group_row)
    representative = np.full(len(ids), ABSENT)
    for name in reversed(_kgs_by_preference(task, prefer)):  # the most preferred KG comes last and overwrites
        candidates = members[:, task.kg_names.index(name)]
        possible = (candidates != ABSENT) & ~ambiguous[candidates]
        representative[possible] = candidates[possible]
    none = pl.Series(representative == ABSENT)
    chosen_iris = iris.gather(pl.Series(np.where(representative == ABSENT, 0, representative)))
    group_iris = pl.select(pl.when(none).then(GROUP + ids).otherwise(chosen_iris)).to_series()
    groups = pl.DataFrame({"row": np.arange(len(ids)), "merged": group_iris, "id": ids})
    entities = iris.to_frame().with_columns(row=pl.Series(group_row).cast(pl.Int64))
    entities = entities.join(groups, on="row", how="left", maintain_order="left")
    return MergedNames(
        task.entity_offsets,
        iris,
        entities.select(pl.coalesce("merged", "iri")).to_series().alias("merged"),
        entities["id"].alias("group"),
        _members_of_duplicates(alignment, members),
    )


def _members_of_duplicates(alignment: AlignmentResult, members: np.ndarray) -> np.ndarray:
    """For each entity that is a duplicate the member of its KG, otherwise -1, (N,); members: of all groups."""
    duplicates, starts = alignment.duplicates, alignment.task.entity_offsets
    member = np.full(starts[-1], ABSENT, dtype=np.int64)
    row = duplicates.group + len(members) - len(alignment.found.groups)
    member[duplicates.entity + starts[duplicates.kg]] = members[row, duplicates.kg]
    return member


def _kgs_by_preference(task: Task, prefer: Sequence[str]) -> list[str]:
    if isinstance(prefer, str) or not isinstance(prefer, Sequence):
        raise SettingError(f"prefer must be a list of KGs, from: {', '.join(task.kg_names)}; got {prefer!r}")
    for name in prefer:
        resolve(name, dict.fromkeys(task.kg_names), what="KG")
    by_size = sorted(task.kgs, key=lambda kg: (-len(kg.triples), -len(kg.entities), kg.name))
    return list(dict.fromkeys([*prefer, *(kg.name for kg in by_size)]))


def _ambiguous_iris(iris: pl.Series, group_row: np.ndarray) -> np.ndarray:
    """Whether the IRI of an entity is also used outside its group, (N + 1,); the last value answers for ABSENT."""
    table = pl.DataFrame({"iri": iris, "row": group_row, "at": np.arange(len(group_row))})
    table = table.with_columns(thing=pl.when(pl.col("row") == ABSENT).then(-2 - pl.col("at")).otherwise(pl.col("row")))
    ambiguous = table.select(pl.col("thing").n_unique().over("iri") > 1).to_series().to_numpy()
    return np.append(ambiguous, True)
