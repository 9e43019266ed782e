"""What changed from one run to another, group by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from multiea.evaluation.run_summary import RunSummary
from multiea.grouping.lineage import MEMBER, one_to_one, sizes_of

# mixed: split and merged at once
KINDS = ("same", "changed members", "only in first", "only in second", "split", "merged", "mixed")
SHOWN = 10
RUNS = ("first", "second")


@dataclass(frozen=True, eq=False)
class Changes:
    """counts: of each kind, how often. seeds: groups that were given to both runs, which are not counted.

    kg_names: the KGs both runs have, which alone are looked at. table: a row a member of each group that is not the
    same in both, the surest change first. change: its number; what: one of KINDS; run: first or second; group_id;
    confidence: of the group; right: right or wrong by the held-out groups, unknown, or given for a seed; status, kg,
    entity, name.
    """

    counts: dict[str, int]
    seeds: int
    kg_names: tuple[str, ...]
    table: pl.DataFrame

    def most_confident(self, count: int = SHOWN) -> list[dict[str, Any]]:
        """The surest changes, each with its groups and their members."""
        by_group = self.table.filter(pl.col("change") <= count).group_by(
            "change", "what", "run", "group_id", "confidence", "right", maintain_order=True
        )
        groups = by_group.agg(members=pl.struct("kg", "entity", "name"))
        changes: dict[int, dict[str, Any]] = {}
        for change, what, *of_group in groups.iter_rows():
            group = dict(zip(("run", "group_id", "confidence", "right", "members"), of_group, strict=True))
            changes.setdefault(change, {"what": what, "groups": []})["groups"].append(group)
        return list(changes.values())

    def to_dict(self) -> dict[str, Any]:
        """For machines; all changes are in the table."""
        return {
            "kgs": list(self.kg_names),
            "counts": self.counts,
            "seeds_of_both": self.seeds,
            "surest": self.most_confident(),
        }


def changes_between(first: RunSummary, second: RunSummary) -> Changes | None:
    """What became of the groups of one run in another; None where the two have fewer than two KGs in common.

    Groups that share most members are paired, and one that is left over goes with the pair it shares most members with;
    duplicates count as members.
    """
    kgs = tuple(kg for kg in first.kg_names if kg in second.kg_names)
    if len(kgs) < 2:
        return None
    tables = []
    for run in (first, second):
        common = run.groups.filter(pl.col("kg").is_in(kgs))
        tables.append(common.filter(pl.len().over("group_id") > 1))
    groups = _groups_with_change(tables[0], tables[1])
    of_change = groups.group_by("change").agg(
        *((pl.col("run") == run).sum().alias(run) for run in RUNS),
        same=pl.col("unchanged").all(),
        given=(pl.col("right") == "given").all(),
        sureness=pl.col("confidence").filter(pl.col("right") != "given").max().fill_null(-1.0),
        member=pl.col("member").min(),
    )
    of_change = of_change.with_columns(what=_kind())
    given = of_change.filter(pl.col("same") & pl.col("given"))
    counted = of_change.join(given, on="change", how="anti")
    numbers = dict(counted["what"].value_counts().iter_rows())
    changed = counted.filter(pl.col("what") != "same").sort(["sureness", "member"], descending=[True, False])
    changed = changed.select("change", "what", number=pl.int_range(1, pl.len() + 1))
    chosen = groups.join(changed, on="change").select("run", "group_id", "number", "what")
    members = pl.concat([table.with_columns(run=pl.lit(run)) for run, table in zip(RUNS, tables, strict=True)])
    order = ["number", "run", "group_id", "kg", "entity"]
    table = members.join(chosen, on=["run", "group_id"]).sort(order)
    columns = ("what", "run", "group_id", "confidence", "right", "status", "kg", "entity", "name")
    counts = {kind: numbers.get(kind, 0) for kind in KINDS}
    return Changes(counts, given.height, kgs, table.select(pl.col("number").alias("change"), *columns))


def _groups_with_change(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """All groups of both runs, with the change they belong to and whether the other run has the same group."""
    shared = _shared_members(first, second)
    pairs = one_to_one(shared).with_columns(change="old")
    attached = {  # what is left over, with the pair of its best partner, which is never left over itself
        "new": shared.join(pairs, on="new", how="anti").unique("new", keep="first", maintain_order=True),
        "old": shared.join(pairs, on="old", how="anti").unique("old", keep="first", maintain_order=True),
    }
    equal = shared.filter((pl.col("shared") == pl.col("size")) & (pl.col("shared") == pl.col("size_new")))
    parts = []
    for run, table, side, other in zip(RUNS, (first, second), ("old", "new"), ("new", "old"), strict=True):
        of_groups = table.group_by("group_id").agg(
            confidence=pl.col("confidence").first(),
            right=pl.col("right").first(),
            member=pl.concat_str("kg", "entity", separator="\t").min(),  # of structs there is no minimum
        )
        followers = attached[side].select(side, other).join(pairs.select(other, "change"), on=other)
        change_of = pl.concat([pairs.select(side, "change"), followers.select(side, "change")])
        own = of_groups.join(change_of, left_on="group_id", right_on=side, how="left").with_columns(
            run=pl.lit(run),
            change=pl.coalesce(pl.lit("pair ") + pl.col("change"), pl.lit(f"{run} ") + pl.col("group_id")),
            unchanged=pl.col("group_id").is_in(equal[side].implode()),
        )
        parts.append(own)
    return pl.concat(parts)


def _shared_members(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """Which groups share members, the closest first, in an order that is the same if the runs are exchanged."""
    there = first.select(*MEMBER, old="group_id")
    here = second.select(*MEMBER, new="group_id")
    both = there.join(here, on=MEMBER).with_columns(member=pl.concat_str(*MEMBER, separator="\t"))
    shared = both.group_by("old", "new").agg(shared=pl.len().cast(pl.Int64), member=pl.col("member").min())
    sizes = sizes_of(first, "old"), sizes_of(second, "new").rename({"size": "size_new"})
    shared = shared.join(sizes[0], on="old").join(sizes[1], on="new")
    together = pl.col("size") + pl.col("size_new")
    return shared.sort(pl.col("shared"), together, "member", descending=[True, False, False])


def _kind() -> pl.Expr:
    first, second = (pl.col(run) for run in RUNS)
    return (
        pl.when("same").then(pl.lit("same"))
        .when(second == 0).then(pl.lit("only in first"))
        .when(first == 0).then(pl.lit("only in second"))
        .when((first == 1) & (second == 1)).then(pl.lit("changed members"))
        .when(first == 1).then(pl.lit("split"))
        .when(second == 1).then(pl.lit("merged"))
        .otherwise(pl.lit("mixed"))
    )  # fmt: skip
