"""Groups as tables with one row per member: TSV, CSV, JSON Lines, Parquet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from multiea.foundation.errors import OutputError, counted


def write_tsv(table: pl.DataFrame, path: Path) -> None:
    """Writes TSV without quoting, as everywhere in multiea; values with a tab or a line break are refused."""
    for name in (name for name, kind in table.schema.items() if kind == pl.String):
        bad = table[name].filter(table[name].str.contains(r"[\t\r\n]").fill_null(False))
        if len(bad):
            raise OutputError(
                f"TSV cannot contain tabs or line breaks, but column {name} has them in "
                f"{counted(len(bad), 'value')}, such as {bad[0]!r}; choose .csv, .jsonl or .parquet"
            )
    table.write_csv(path, separator="\t", quote_style="never")


TABLES: dict[str, Callable[[pl.DataFrame, Path], None]] = {
    ".tsv": write_tsv,
    ".csv": lambda table, path: table.write_csv(path),
    ".jsonl": lambda table, path: table.write_ndjson(path),
    ".parquet": lambda table, path: table.write_parquet(path),
}
