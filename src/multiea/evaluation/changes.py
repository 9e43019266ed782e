"""Changes from one run to another, group by group."""

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
    """Changes between the groups of two runs, over the KGs that both have.

    counts: the number of changes of each kind. seeds: the number of seeds of both runs, which are not counted.
    kg_names: the common KGs. table: one row per member of each group that differs, the most confident change first.
    Its columns: change: the number of the change; what: one of KINDS; run: first or second; group_id; confidence: of
    the group; right: right or wrong according to the held-out groups, unknown, or given for a seed; status, kg, entity,
    name.
    """

    counts: dict[str, int]
    seeds: int
    kg_names: tuple[str, ...]
    table: pl.DataFrame

    def most_confident(self, count: int = SHOWN) -> list[dict[str, Any]]:
        """The most confident changes, each with its groups and their members."""
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
        """As JSON-compatible values, with the most confident changes only; the table has all of them."""
        return {
            "kgs": list(self.kg_names),
            "counts": self.counts,
            "seeds_of_both": self.seeds,
            "surest": self.most_confident(),
        }


def changes_between(first: RunSummary, second: RunSummary) -> Changes | None:
    """The changes of groups from one run to another; None where the two have fewer than two KGs in common.

    Groups that share the most members are paired. An unpaired group is added to the pair with which it shares the most
    members. Duplicates count as members.
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
        confidence=pl.col("confidence").filter(pl.col("right") != "given").max().fill_null(-1.0),
        member=pl.col("member").min(),
    )
    of_change = of_change.with_columns(what=_kind())
    seeds = of_change.filter(pl.col("same") & pl.col("given"))
    counted = of_change.join(seeds, on="change", how="anti")
    numbers = dict(counted["what"].value_counts().iter_rows())
    changed = counted.filter(pl.col("what") != "same").sort(["confidence", "member"], descending=[True, False])
    changed = changed.select("change", "what", number=pl.int_range(1, pl.len() + 1))
    chosen = groups.join(changed, on="change").select("run", "group_id", "number", "what")
    members = pl.concat([table.with_columns(run=pl.lit(run)) for run, table in zip(RUNS, tables, strict=True)])
    order = ["number", "run", "group_id", "kg", "entity"]
    table = members.join(chosen, on=["run", "group_id"]).sort(order)
    columns = ("what", "run", "group_id", "confidence", "right", "status", "kg", "entity", "name")
    counts = {kind: numbers.get(kind, 0) for kind in KINDS}
    return Changes(counts, seeds.height, kgs, table.select(pl.col("number").alias("change"), *columns))


def _groups_with_change(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """All groups of both runs, with the change they belong to and whether the other run has the same group."""
    shared = _shared_members(first, second)
    pairs = one_to_one(shared).with_columns(change="old")
    attached = {  # unpaired groups with the group they share most members with, which is always paired
        "new": shared.join(pairs, on="new", how="anti").unique("new", keep="first", maintain_order=True),
        "old": shared.join(pairs, on="old", how="anti").unique("old", keep="first", maintain_order=True),
    }
    equal = shared.filter((pl.col("shared") == pl.col("size")) & (pl.col("shared") == pl.col("size_new")))
    parts = []
    for run, table, side, other in zip(RUNS, (first, second), ("old", "new"), ("new", "old"), strict=True):
        of_groups = table.group_by("group_id").agg(
            confidence=pl.col("confidence").first(),
            right=pl.col("right").first(),
            member=pl.concat_str("kg", "entity", separator="\t").min(),  # polars has no minimum of structs
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
    """Pairs of groups that share members, the most first; the order is the same if the runs are exchanged."""
    of_first = first.select(*MEMBER, old="group_id")
    of_second = second.select(*MEMBER, new="group_id")
    both = of_first.join(of_second, on=MEMBER).with_columns(member=pl.concat_str(*MEMBER, separator="\t"))
    shared = both.group_by("old", "new").agg(shared=pl.len().cast(pl.Int64), member=pl.col("member").min())
    sizes = sizes_of(first, "old"), sizes_of(second, "new").rename({"size": "size_new"})
    shared = shared.join(sizes[0], on="old").join(sizes[1], on="new")
    total_size = pl.col("size") + pl.col("size_new")
    return shared.sort(pl.col("shared"), total_size, "member", descending=[True, False, False])


def _kind() -> pl.Expr:
    """The kind of a change, from the number of its groups in each run."""
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
