"""Groups as tables: TSV, CSV, JSON lines, Parquet; a row a member."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from multiea.alignment import Alignment

TABLES: dict[str, Callable[[pl.DataFrame, Path], None]] = {
    ".tsv": lambda table, path: table.write_csv(path, separator="\t"),
    ".csv": lambda table, path: table.write_csv(path),
    ".jsonl": lambda table, path: table.write_ndjson(path),
    ".parquet": lambda table, path: table.write_parquet(path),
}


def group_table(alignment: Alignment) -> pl.DataFrame:
    """All groups: group_id, kg, entity, label, confidence, status."""
    names = []
    for kg in alignment.task.kgs:
        label = pl.lit(None, pl.String) if kg.labels is None else kg.labels
        names.append(pl.DataFrame({"entity": kg.entities}).select(kg=pl.lit(kg.name), entity="entity", label=label))
    table = alignment.groups.join(pl.concat(names), on=["kg", "entity"], how="left", maintain_order="left")
    return table.select("group_id", "kg", "entity", "label", "confidence", "status")
