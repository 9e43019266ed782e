"""Groups as tables: TSV, CSV, JSON lines, Parquet; a row a member."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from multiea.foundation.errors import OutputError, counted

if TYPE_CHECKING:
    from multiea.grouping.alignment import Alignment

TABLES: dict[str, Callable[[pl.DataFrame, Path], None]] = {
    ".tsv": lambda table, path: write_tsv(table, path),
    ".csv": lambda table, path: table.write_csv(path),
    ".jsonl": lambda table, path: table.write_ndjson(path),
    ".parquet": lambda table, path: table.write_parquet(path),
}


def write_tsv(table: pl.DataFrame, path: Path) -> None:
    """A table without quotes, as all TSV of ours is; text with a tab or a line break cannot stand in it."""
    for name in (name for name, kind in table.schema.items() if kind == pl.String):
        bad = table[name].filter(table[name].str.contains(r"[\t\r\n]").fill_null(False))
        if len(bad):
            raise OutputError(
                f"{counted(len(bad), 'cell')} of column {name} hold a tab or a line break, such as {bad[0]!r}, and "
                "cannot stand in TSV; choose .csv, .jsonl or .parquet"
            )
    table.write_csv(path, separator="\t", quote_style="never")


def group_table(alignment: Alignment) -> pl.DataFrame:
    """All groups: group_id, kg, entity, label, confidence, status."""
    names = []
    for kg in alignment.task.kgs:
        label = pl.lit(None, pl.String) if kg.names is None else kg.names
        names.append(pl.DataFrame({"entity": kg.entities}).select(kg=pl.lit(kg.name), entity="entity", label=label))
    table = alignment.groups.join(pl.concat(names), on=["kg", "entity"], how="left", maintain_order="left")
    return table.select("group_id", "kg", "entity", "label", "confidence", "status")
