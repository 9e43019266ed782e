"""Small tables of records in all formats."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import openpyxl
import polars as pl

from support.datasets import parquet

ROWS: list[dict[str, Any]] = [
    {"id": "p1", "name": "Oslo", "size": "3", "country": "c1"},
    {"id": "p2", "name": "Bergen", "size": "", "country": "c1"},
    {"id": "p3", "name": "Paris", "size": "7", "country": "c2"},
    {"id": "c1", "name": "Norway", "size": "9", "country": ""},
    {"id": "c2", "name": "France", "size": "", "country": ""},
]


def text_table(rows: Sequence[Mapping[str, Any]], separator: str) -> str:
    lines = [list(rows[0])] + [[str(cell) for cell in row.values()] for row in rows]
    return "".join(separator.join(line) + "\n" for line in lines)


def excel(*sheets: tuple[str, Sequence[Sequence[Any]]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    buffer = BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def record_files() -> dict[str, str | bytes]:
    """The same records in every format of tables."""
    filled = [{key: cell or None for key, cell in row.items()} for row in ROWS]
    return {
        "a.csv": text_table(ROWS, ","),
        "a;.csv": text_table(ROWS, ";"),
        "a tab.csv": text_table(ROWS, "\t"),
        "a.tsv": text_table(ROWS, "\t"),
        "a.parquet": parquet(pl.DataFrame(filled)),
        "a.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS),
        "a.ndjson": "".join(json.dumps({k: v for k, v in row.items() if v}) + "\n\n" for row in ROWS),
        "a.xlsx": excel(("Sheet1", [list(ROWS[0]), *(list(row.values()) for row in filled)]), ("empty", [])),
    }
