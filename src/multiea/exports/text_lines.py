"""Writes tables as lines of text, one line per row."""

from __future__ import annotations

from typing import BinaryIO

import polars as pl

ROWS_PER_BLOCK = 1 << 17  # limits the memory for text that is being written


def write_lines(file: BinaryIO, rows: pl.DataFrame, template: str, *columns: str | pl.Expr) -> None:
    """Writes the template for each row, with a column in place of each {}; no value may contain a line break."""
    for start in range(0, len(rows), ROWS_PER_BLOCK):
        lines = rows.slice(start, ROWS_PER_BLOCK).select(line=pl.format(template, *columns))
        lines.write_csv(file, include_header=False, quote_style="never")
