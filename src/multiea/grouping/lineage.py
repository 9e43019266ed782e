"""Lineage: group ids that are carried on from run to run, and what became of each group of the previous run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

MEMBER = ["kg", "entity"]
LINEAGE = {"group_id": pl.String, "became": pl.String, "before": pl.Int64, "after": pl.Int64, "into": pl.String}
# What can become of a group, in the order of reports.
FATES = ("kept", "grown", "shrunk", "changed", "split", "merged", "gone", "new", "retired")


def no_lineage() -> pl.DataFrame:
    """The lineage of a run without a previous run."""
    return pl.DataFrame(schema=LINEAGE)


@dataclass(frozen=True)
class GroupIds:
    """The ids of an alignment's known and found groups, in their order, and their lineage.

    lineage: one row per id ever used. group_id; became: one of FATES; before, after: the number of members of the group
    with that id in the previous run and in this one, 0 without such a group; into: the ids of the groups that the
    members are in now, the largest part first, separated by blanks. new_kgs: KGs that the previous run does not have;
    not stored on disk.
    """

    known: list[str]
    found: list[str]
    lineage: pl.DataFrame = field(default_factory=no_lineage)
    new_kgs: tuple[str, ...] = ()

    def fates(self) -> dict[str, int]:
        """How many ids have each fate."""
        counts = dict(self.lineage["became"].value_counts().iter_rows())
        return {fate: counts.get(fate, 0) for fate in FATES}


@dataclass(frozen=True)
class Ancestor:
    """What a run passes on: its groups, one row per member (group_id, kg, entity), its KGs, and ids once used."""

    groups: pl.DataFrame
    kg_names: tuple[str, ...]
    once_used: pl.Series = field(default_factory=lambda: pl.Series([], dtype=pl.String))
    place: str | None = None  # the run folder, for errors

    def lacks(self, kg_names: Sequence[str]) -> tuple[str, ...]:
        """The KGs of a list that it does not have."""
        return tuple(name for name in kg_names if name not in self.kg_names)


def overlaps(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """Which groups of two tables (group_id, kg, entity) share members: old, new, shared."""
    there = old.select("kg", "entity", old="group_id")
    here = new.select("kg", "entity", new="group_id")
    return there.join(here, on=MEMBER).group_by("old", "new").agg(shared=pl.len().cast(pl.Int64))


def follow(ancestor: Ancestor, groups: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Ids that carry on those of a previous run, and what became of each of them.

    groups: (group_id, kg, entity), with ids that depend on the members only. Returns a table of these ids and the new
    ones (new, id), and the lineage. A group inherits the id of the previous group with which it shares most members;
    each id is inherited once. After a split the larger part keeps the id, after a merge the larger group's id is kept.
    A group that inherits nothing gets an id from its members, but never one that once belonged to other members.
    """
    old, new = sizes_of(ancestor.groups, "old"), sizes_of(groups, "new")
    shared = overlaps(ancestor.groups, groups)
    order = shared.join(old, on="old").sort("shared", "size", "old", "new", descending=[True, True, False, False])
    heirs = one_to_one(order)
    used = pl.concat([old["old"], ancestor.once_used.alias("old")]).unique()
    orphans = new.join(heirs, on="new", how="anti").sort("new")["new"]
    born = pl.DataFrame({"new": orphans, "id": _fresh(orphans, used)})
    ids = pl.concat([heirs.select("new", id="old"), born])
    return ids, _lineage(old, new, shared, heirs, ids, used)


def sizes_of(groups: pl.DataFrame, name: str) -> pl.DataFrame:
    """The number of members of each group: its id in a column of the given name, and size."""
    return groups.group_by(pl.col("group_id").alias(name)).agg(size=pl.len().cast(pl.Int64))


def one_to_one(pairs: pl.DataFrame) -> pl.DataFrame:
    """Greedy one-to-one matching of old and new groups; pairs: best first.

    Pairs that come first for both their groups are taken together, round after round, which gives the same result as
    going through them one by one. Hashes or names decide between equal overlaps, so that few rounds are needed.
    """
    left = pairs.select("old", "new").with_row_index("place")
    taken = [left.clear()]
    while left.height:
        first = [pl.col("place") == pl.col("place").min().over(side) for side in ("old", "new")]
        taken.append(left.filter(first))
        for side in ("old", "new"):
            left = left.join(taken[-1], on=side, how="anti")
    return pl.concat(taken).select("old", "new")


def _fresh(own: pl.Series, used: pl.Series) -> pl.Series:
    """Ids from members; where one was used before, another one that also depends on the members only."""
    ids, attempt = own.clone(), 0  # changed in place
    while (taken := ids.is_in(used.implode()) | ids.is_duplicated()).any():
        attempt += 1
        again = pl.Series([hashed_id(f"{one}\n{attempt}") for one in own.filter(taken)], dtype=pl.String)
        ids.scatter(taken.arg_true(), again)
    return ids


def _lineage(
    old: pl.DataFrame, new: pl.DataFrame, shared: pl.DataFrame, heirs: pl.DataFrame, ids: pl.DataFrame, used: pl.Series
) -> pl.DataFrame:
    went = shared.join(ids, on="new").sort(["old", "shared", "id"], descending=[False, True, False])
    parts = went.group_by("old", maintain_order=True).agg(into=pl.col("id").str.join(" "), parts=pl.len())
    of_heir = heirs.join(shared, on=["old", "new"]).join(new.rename({"size": "after"}), on="new")
    swallowing = shared.join(heirs, on="old", how="anti").select("new").unique().with_columns(swallows=True)
    splitting = shared.join(heirs, on="new", how="anti").select("old").unique().with_columns(splits=True)
    table = old.join(parts, on="old", how="left").join(of_heir, on="old", how="left")
    table = table.join(swallowing, on="new", how="left").join(splitting, on="old", how="left")
    ended = pl.col("new").is_null()
    heir_has_all = pl.col("shared") == pl.col("size")
    all_from_it = pl.col("shared") == pl.col("after")
    became = (
        pl.when(pl.col("parts").is_null())
        .then(pl.lit("gone"))
        .when(pl.col("splits") | (ended & (pl.col("parts") > 1)))
        .then(pl.lit("split"))
        .when(ended | pl.col("swallows"))
        .then(pl.lit("merged"))
        .when(heir_has_all & all_from_it)
        .then(pl.lit("kept"))
        .when(heir_has_all)
        .then(pl.lit("grown"))
        .when(all_from_it)
        .then(pl.lit("shrunk"))
        .otherwise(pl.lit("changed"))
    )
    of_old = table.select(group_id="old", became=became, before="size", after="after", into="into")
    born = ids.join(heirs, on="new", how="anti").join(new, on="new")
    of_new = born.select(group_id="id", became=pl.lit("new"), before=0, after="size", into="id")
    retired = pl.DataFrame({"group_id": used}).join(of_old, on="group_id", how="anti")
    of_retired = retired.select("group_id", became=pl.lit("retired"), before=0, after=0, into=pl.lit(""))
    parts_of_table = [part.cast({"before": pl.Int64, "after": pl.Int64}) for part in (of_old, of_new, of_retired)]
    filled = pl.concat(parts_of_table).with_columns(pl.col("after").fill_null(0), pl.col("into").fill_null(""))
    return filled.sort("group_id")


def hashed_id(text: str) -> str:
    """A short id of a text."""
    return "g" + hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def group_ids(entities: pl.DataFrame) -> list[str]:
    """An id for each group that depends on its members only: the same group has the same id in every run.

    entities: one column per KG, null where a KG has no member.
    """
    members = {str(at): kg + "\t" + entities.get_column(kg) for at, kg in enumerate(sorted(entities.columns))}
    texts = pl.DataFrame(members).select(pl.concat_str(pl.all(), separator="\n", ignore_nulls=True))
    return [hashed_id(text) for text in texts.to_series()]
