"""Summaries of runs of which only some parts are known, and of two runs of one task."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from multiea import Alignment
from multiea.evaluation.run_summary import RunSummary, summarise


def summary_of(name: str, alignment: Alignment) -> RunSummary:
    return summarise(name, alignment, alignment.evaluate())


def runs_with_outcomes(first: list[bool], second: list[bool]) -> list[RunSummary]:
    """Two runs of which only outcomes are known."""
    held_out = pl.DataFrame({"a": [str(i) for i in range(len(first))], "b": [str(i) for i in range(len(first))]})
    runs = []
    for outcome in (first, second):
        right = np.array(outcome, dtype=bool)
        pairs = np.column_stack([right, np.ones(len(right)), np.ones(len(right))]).astype(float)
        empty = pl.DataFrame(schema=dict.fromkeys(("group_id", "right", "status", "kg", "entity", "name"), pl.String))
        groups = empty.with_columns(confidence=pl.lit(0.5)).clear()
        runs.append(RunSummary("", ("a", "b"), 0, 0, {}, held_out, {"group": right, "rank": ~right}, pairs, groups))
    return runs


def run_with_groups(
    groups: dict[str, str], kgs: str = "abc", seeds: tuple[str, ...] = (), **confidence: float
) -> RunSummary:
    """A run of which only the groups are known: 'a1 b1' has the entities a1 of KG a and b1 of KG b."""
    rows = [
        (name, confidence.get(name, 0.5), "given" if name in seeds else "unknown", "found", member[0], member, member)
        for name, members in groups.items() for member in members.split()
    ]  # fmt: skip
    columns = ["group_id", "confidence", "right", "status", "kg", "entity", "name"]
    return replace(
        runs_with_outcomes([], [])[0], kg_names=tuple(kgs), groups=pl.DataFrame(rows, schema=columns, orient="row")
    )
