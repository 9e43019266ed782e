"""Triples from tables: head, relation and tail as three columns of a TSV, CSV or Parquet file."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from multiea.data.interning import KnowledgeGraphBuilder
from multiea.data.readers.tables import CSV, TSV, Rows, parquet_columns, parquet_rows, text_rows
from multiea.foundation.errors import InputError, unknown

log = logging.getLogger("multiea")
# Words that name a column of triples; a first line with one of each is a header.
HEADER_WORDS = (
    ("head", "subject", "source", "from"),
    ("relation", "predicate", "property", "edge"),
    ("tail", "object", "target", "to"),
)
SHORTEST_TO_JUDGE = 3
EXPECTED = "head, relation, tail"


def add_tsv(path: Path, builder: KnowledgeGraphBuilder, columns: Sequence[str] | None = None) -> None:
    """Adds the triples of a TSV file."""
    _add_rows(path, builder, text_rows(path, TSV, EXPECTED), columns)


def add_csv(path: Path, builder: KnowledgeGraphBuilder, columns: Sequence[str] | None = None) -> None:
    """Adds the triples of a CSV file."""
    _add_rows(path, builder, text_rows(path, CSV, EXPECTED), columns)


def add_parquet(path: Path, builder: KnowledgeGraphBuilder, columns: Sequence[str] | None = None) -> None:
    """Adds the triples of a Parquet file: the named columns, those with the usual names, or the only three."""
    names = parquet_columns(path)
    chosen = [names[index] for index in _three(_columns_named(names, columns, path), names, path)]
    for rows in parquet_rows(path, chosen):
        _add_chosen(path, builder, rows, (0, 1, 2))


def _add_rows(
    path: Path, builder: KnowledgeGraphBuilder, blocks: Iterable[Rows], columns: Sequence[str] | None
) -> None:
    chosen: list[int] | None = None
    for number, rows in enumerate(blocks):
        if number == 0:
            first = [field or "" for field in rows.table.row(0)]
            named = _columns_named(first, columns, path)
            chosen = _three(named, first, path, line=int(rows.lines[0]))
            if named is not None:
                lines = rows.lines[1:]
                rows = Rows(rows.table.slice(1), lambda lines=lines: lines)  # type: ignore[misc]
            else:
                _warn_of_a_header(path, rows.table)
        assert chosen is not None
        _add_chosen(path, builder, rows, chosen)


def _columns_named(header: Sequence[str], columns: Sequence[str] | None, path: Path) -> list[int] | None:
    """Where head, relation and tail stand; None where nothing says so: no column asked for, no usual header."""
    if columns is not None:
        if len(set(columns)) != 3:
            raise InputError(f"the columns {', '.join(columns)}", path=path, expected="three different columns")
        for name in columns:
            if name not in header:
                raise InputError(unknown(name, header, what="column"), path=path, line=1)
        return [list(header).index(name) for name in columns]
    return header_columns(header)


def header_columns(first_line: Sequence[str]) -> list[int] | None:
    """Where head, relation and tail stand in a first line that names them; None where it names no columns."""
    names = [name.strip().lower() for name in first_line]
    found = [[names.index(word) for word in words if word in names] for words in HEADER_WORDS]
    return [places[0] for places in found] if all(found) else None


def _three(named: list[int] | None, header: Sequence[str], path: Path, line: int | None = None) -> list[int]:
    if named is None and len(header) != 3:
        raise InputError(
            f"{len(header)} field{'' if len(header) == 1 else 's'}",
            path=path,
            line=line,
            expected=f"three fields: {EXPECTED}",
            hint="Name the three among them with columns = [...] in dataset.toml"
            if len(header) > 3
            else "Fields are separated by tabs in .tsv files and by commas in .csv files",
        )
    return [0, 1, 2] if named is None else named


def _add_chosen(path: Path, builder: KnowledgeGraphBuilder, rows: Rows, chosen: Sequence[int]) -> None:
    head, relation, tail = (rows.table.to_series(index) for index in chosen)
    empty = np.flatnonzero((head.is_null() | relation.is_null() | tail.is_null()).to_numpy())
    if len(empty):
        raise InputError(
            "an empty field", path=path, line=int(rows.lines[empty[0]]), expected=f"{EXPECTED}, none empty"
        )
    builder.add_triples(head, relation, tail)


def _warn_of_a_header(path: Path, table: pl.DataFrame) -> None:
    """A first line whose names never come again is likely a header that should not become a triple."""
    first, others = table.row(0), table.slice(1)
    comes_again = others.select(pl.any_horizontal(pl.all().is_in(list(first))).any()).item()
    if table.height >= SHORTEST_TO_JUDGE and not comes_again:
        log.warning(
            "%s: the first line (%s) looks like a header but was read as a triple; if it is one, name its columns "
            "with columns = [...] in dataset.toml",
            path,
            ", ".join(map(str, first)),
        )
