"""One name for each group: who stands for it in exports, in all KGs' one id space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from multiea.data.groups import ABSENT
from multiea.data.iris import ENTITY, GROUP, entity_iris
from multiea.foundation.errors import resolve
from multiea.grouping.alignment import AlignmentResult


@dataclass(frozen=True)
class Canonical:
    """All entities, KG after KG, and what stands for each.

    iris: (N,) of the entities themselves. merged: (N,) the IRI that stands for each: its own where it is in no group.
    group: (N,) the id of its group, null without one.
    """

    offsets: np.ndarray
    iris: pl.Series
    merged: pl.Series
    group: pl.Series

    def encoded_members(self) -> int:
        """How many members of groups have names that are no IRIs."""
        return int(self.iris.filter(self.group.is_not_null()).str.starts_with(ENTITY).sum())


def canonical(alignment: AlignmentResult, prefer: Sequence[str] = ()) -> Canonical:
    """The member of a group that stands for it is that of the first KG that has one.

    KGs come in the order preferred, then by number of triples or entities. A member whose IRI another KG uses for
    something else cannot stand for its group, or two things would become one; a group without any other gets an IRI of
    its own.
    """
    task = alignment.task
    for name in prefer:
        resolve(name, dict.fromkeys(task.kg_names), what="KG")
    iris = pl.concat([entity_iris(kg.entities, kg.name) for kg in task.kgs]).alias("iri")
    row, columns = alignment.group_rows()
    ids = [one for part in alignment.group_ids() for one in part]
    shared = _means_two_things(iris, row)
    by_size = sorted(task.kgs, key=lambda kg: (-len(kg.triples), -len(kg.entities), kg.name))
    order = list(dict.fromkeys([*prefer, *(kg.name for kg in by_size)]))
    representative = np.full(len(ids), ABSENT)
    for name in reversed(order):  # the first of them has the last word
        members = columns[:, task.kg_names.index(name)]
        good = (members != ABSENT) & ~shared[members]
        representative[good] = members[good]
    stands = pl.Series(np.where(representative == ABSENT, 0, representative))
    nobody, of_their_own = pl.Series(representative == ABSENT), GROUP + pl.Series(ids, dtype=pl.String)
    of_groups = pl.select(pl.when(nobody).then(of_their_own).otherwise(iris.gather(stands))).to_series()
    merged = iris.to_frame().with_columns(row=pl.Series(row).cast(pl.Int64))
    table = pl.DataFrame({"row": np.arange(len(ids)), "merged": of_groups, "id": pl.Series(ids, dtype=pl.String)})
    joined = merged.join(table, on="row", how="left", maintain_order="left")
    return Canonical(
        task.entity_offsets,
        iris,
        joined.select(pl.coalesce("merged", "iri")).to_series().alias("merged"),
        joined["id"].alias("group"),
    )


def _means_two_things(iris: pl.Series, row: np.ndarray) -> np.ndarray:
    """Whether an entity's IRI is used for something that is not of its group, (N,); the last is for -1."""
    table = pl.DataFrame({"iri": iris, "row": row, "at": np.arange(len(row))})
    table = table.with_columns(thing=pl.when(pl.col("row") == ABSENT).then(-2 - pl.col("at")).otherwise(pl.col("row")))
    several = table.select(pl.col("thing").n_unique().over("iri") > 1).to_series().to_numpy()
    return np.append(several, True)
