"""RunSummary: the parts of a run that a comparison needs, without embeddings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import torch

from multiea.data.groups import Groups
from multiea.data.task import order_by_names
from multiea.evaluation.scores import KS, ranks_of_groups
from multiea.grouping.alignment import AlignmentResult
from multiea.grouping.judging import groups_found_right, judged_groups, pairs_by_group
from multiea.similarity.pools import POOLS

# The outcomes of a held-out group that are tested.
OUTCOMES = {
    "group": "the group is found correctly",
    "rank": "all counterparts rank first among the held-out entities, as seen from every member",
}
# Where each score is in metrics.json.
SCORES: dict[str, tuple[str, ...]] = {
    **{f"{what} {score}": (what, score) for what in ("pairs", "groups") for score in ("precision", "recall", "f1")},
    **{f"M-Hits@{k}, {pool}": ("m_hits", pool, str(k)) for pool in POOLS for k in KS},
    **{f"Hits@{k}, {pool}": ("hits", pool, "overall", str(k)) for pool in POOLS for k in KS},
    **{f"MRR, {pool}": ("mrr", pool, "overall") for pool in POOLS},
    "calibration error (ECE)": ("confidence", "ece"),
    "seconds": ("seconds", "total"),
}


@dataclass(frozen=True, eq=False)
class RunSummary:
    """The parts of a run that a comparison needs.

    scores: as in SCORES, None where there is nothing to score. held_out: the held-out groups, sorted by names.
    outcomes: for each of these groups, as in OUTCOMES. pairs: as pairs_by_group returns them. groups: as group_table.
    entities: the ids of each KG. contents: a hash of each KG, as far as known.
    """

    name: str
    kg_names: tuple[str, ...]
    seeds: int
    found: int
    scores: Mapping[str, float | None]
    held_out: pl.DataFrame
    outcomes: Mapping[str, np.ndarray]
    pairs: np.ndarray
    groups: pl.DataFrame
    entities: Mapping[str, pl.Series] = field(default_factory=dict)
    contents: Mapping[str, str] = field(default_factory=dict)


def summarise(
    name: str, alignment: AlignmentResult, metrics: Mapping[str, Any], contents: Mapping[str, str] | None = None
) -> RunSummary:
    """The summary of an alignment for a comparison. metrics: its scores, as in metrics.json; contents: of its KGs."""
    task = alignment.task
    held_out = task.held_out.take(order_by_names(task.held_out, task.kgs))
    outcomes = {
        "group": groups_found_right(alignment.found.groups, held_out),
        "rank": _all_rank_first(alignment, held_out),
    }
    return RunSummary(
        name,
        tuple(sorted(task.kg_names)),
        len(alignment.known.groups),
        len(alignment.found.groups),
        {score: _looked_up(metrics, place) for score, place in SCORES.items()},
        held_out.to_table(task.kgs).select(sorted(task.kg_names)),
        outcomes,
        pairs_by_group(alignment.found.groups, held_out),
        group_table(alignment),
        {kg.name: kg.entities for kg in task.kgs},
        contents or {},
    )


def group_table(alignment: AlignmentResult) -> pl.DataFrame:
    """One row per member, with the confidence of its group and the verdict of the held-out groups."""
    task, found = alignment.task, alignment.found.groups
    share, is_right = judged_groups(found, task.held_out, whole=True)
    verdicts = np.where(share == 0, "unknown", np.where(is_right, "right", "wrong")).tolist()
    judged = pl.DataFrame(
        {"group_id": alignment.group_ids()[1], "right": verdicts}, schema={"group_id": pl.String, "right": pl.String}
    )
    table = alignment.groups.join(judged, on="group_id", how="left", maintain_order="left")
    group_confidence = pl.col("confidence").filter(pl.col("status") != "duplicate").mean().over("group_id")
    return table.select(
        "group_id",
        confidence=group_confidence,
        right=pl.col("right").fill_null("given"),
        status="status",
        kg="kg",
        entity="entity",
        name=pl.coalesce("name", "entity"),
    ).sort("group_id", "kg", "entity")


def _all_rank_first(alignment: AlignmentResult, held_out: Groups) -> np.ndarray:
    """For each held-out group whether all its counterparts rank first, as seen from every member, (groups,).

    Among the held-out entities: these candidates are the same for all runs over the same held-out groups.
    """
    if not len(held_out):
        return np.zeros(0, dtype=bool)
    scores, pools = alignment.similarities("test", held_out)
    ranks = torch.stack(list(ranks_of_groups(scores, pools, held_out).values()))  # (ordered pairs of KGs, groups)
    return ((ranks <= 1) | ranks.isnan()).all(0).numpy()


def _looked_up(metrics: Mapping[str, Any], place: Sequence[str]) -> float | None:
    value: Any = metrics
    for key in place:
        value = value.get(key) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, int | float) else None
