"""Triples from tables: head, relation and tail as three columns of a TSV, CSV or Parquet file."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from multiea.data.knowledge_graph_builder import KnowledgeGraphBuilder
from multiea.data.readers.kg_file import KgFile
from multiea.data.readers.tables import CSV, TSV, Rows, parquet_columns, parquet_rows, text_rows
from multiea.foundation.errors import InputError, unknown

log = logging.getLogger("multiea")
# Names of the three columns; a first line with one of each is a header.
HEADER_WORDS = (
    ("head", "subject", "source", "from"),
    ("relation", "predicate", "property", "edge"),
    ("tail", "object", "target", "to"),
)
MIN_ROWS_FOR_HEADER_WARNING = 3
EXPECTED = "head, relation, tail"


def add_tsv(file: KgFile, builder: KnowledgeGraphBuilder) -> None:
    """Adds the triples of a TSV file."""
    _add_rows(file, builder, text_rows(file.path, TSV, EXPECTED))


def add_csv(file: KgFile, builder: KnowledgeGraphBuilder) -> None:
    """Adds the triples of a CSV file."""
    _add_rows(file, builder, text_rows(file.path, CSV, EXPECTED))


def add_parquet(file: KgFile, builder: KnowledgeGraphBuilder) -> None:
    """Adds the triples of a Parquet file: the given columns, those with standard names, or the only three."""
    path = file.path
    names = parquet_columns(path)
    chosen = [names[index] for index in _triple_columns(_find_columns(names, file.columns, path), names, path)]
    for rows in parquet_rows(path, chosen):
        _add_chosen(path, builder, rows, (0, 1, 2))


def _add_rows(file: KgFile, builder: KnowledgeGraphBuilder, blocks: Iterable[Rows]) -> None:
    path = file.path
    chosen: list[int] | None = None
    for number, rows in enumerate(blocks):
        if number == 0:
            first = [field or "" for field in rows.table.row(0)]
            named = _find_columns(first, file.columns, path)
            chosen = _triple_columns(named, first, path, line=int(rows.lines[0]))
            if named is not None:
                lines = rows.lines[1:]
                rows = Rows(rows.table.slice(1), lambda lines=lines: lines)  # type: ignore[misc]
            else:
                _warn_about_header(path, rows.table)
        assert chosen is not None
        _add_chosen(path, builder, rows, chosen)


def _find_columns(header: Sequence[str], columns: Sequence[str] | None, path: Path) -> list[int] | None:
    """The indices of head, relation and tail; None if no columns are given and there is no standard header."""
    if columns is not None:
        if len(set(columns)) != 3:
            raise InputError(f"the columns {', '.join(columns)}", path=path, expected="three different columns")
        for name in columns:
            if name not in header:
                raise InputError(unknown(name, header, what="column"), path=path, line=1)
        return [list(header).index(name) for name in columns]
    return header_columns(header)


def header_columns(first_line: Sequence[str]) -> list[int] | None:
    """The indices of head, relation and tail in a first line that is a header; None if it is not a header."""
    names = [name.strip().lower() for name in first_line]
    found = [[names.index(word) for word in words if word in names] for words in HEADER_WORDS]
    return [places[0] for places in found] if all(found) else None


def _triple_columns(named: list[int] | None, header: Sequence[str], path: Path, line: int | None = None) -> list[int]:
    if named is None and len(header) != 3:
        raise InputError(
            f"{len(header)} field{'' if len(header) == 1 else 's'}",
            path=path,
            line=line,
            expected=f"three fields: {EXPECTED}",
            hint="Name the three columns to read with columns = [...] in dataset.toml"
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


def _warn_about_header(path: Path, table: pl.DataFrame) -> None:
    """Warns if no field of the first line occurs again: it is probably a header, not a triple."""
    first, others = table.row(0), table.slice(1)
    occurs_again = others.select(pl.any_horizontal(pl.all().is_in(list(first))).any()).item()
    if table.height >= MIN_ROWS_FOR_HEADER_WARNING and not occurs_again:
        log.warning(
            "%s: the first line (%s) looks like a header but was read as a triple; if it is a header, name the columns "
            "with columns = [...] in dataset.toml",
            path,
            ", ".join(map(str, first)),
        )
