"""Groups as tables: TSV, CSV, JSON lines, Parquet; a row a member."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from multiea.foundation.errors import OutputError, counted

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
