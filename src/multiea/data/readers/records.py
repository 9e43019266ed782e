"""Records: tables with one row per entity. A cell is a literal, or a relation where its value is the id of a record."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import polars as pl

from multiea.data.knowledge_graph_builder import KnowledgeGraphBuilder
from multiea.data.readers.cells import Cells, cells_of, is_readable, text_of
from multiea.data.readers.kg_file import TableChoices
from multiea.data.readers.missing import MissingCells
from multiea.data.readers.record_ids import id_column, refuse_no_rows
from multiea.data.readers.table_source import TableSource
from multiea.data.readers.tables import Rows
from multiea.foundation.errors import InputError, counted, unknown

log = logging.getLogger("multiea")


def add_records(source: TableSource, choices: TableChoices, builder: KnowledgeGraphBuilder) -> None:
    """Adds one entity per row, with the values of its cells."""
    source.refuse_bad_header()
    for name in choices.relations:
        if name not in source.columns:
            raise InputError(unknown(name, source.columns, what="column"), path=source.place, line=source.line)
    key = id_column(source, choices.id, builder.name)
    builder.properties.update(column for column in source.columns if column != key)
    ids, lines, unread = [], [], set()
    missing = MissingCells(choices.missing)
    for rows in source.blocks():
        own = _ids(source, rows, key)
        codes = builder.add_records(own, choices.relations)
        ids.append(own)
        lines.append(rows.lines)
        others = [column for column in rows.table.columns if column != key]
        unread |= {column for column in others if not is_readable(rows.table.schema[column])}
        for column in others:
            for cells in cells_of(column, rows.table[column]):
                _add_cells(builder, missing.without(cells), codes, choices.separator)
    refuse_no_rows(source, sum(map(len, ids)))
    _refuse_repeated(source, key, pl.concat(ids), np.concatenate(lines))
    missing.warn(source)
    if unread:
        log.warning("%s: not read, because they are not text: the columns %s", source.place, ", ".join(sorted(unread)))


def _ids(source: TableSource, rows: Rows, key: str) -> pl.Series:
    if key not in rows.table.columns or not is_readable(rows.table.schema[key]) or rows.table.schema[key].is_nested():
        what = f"of type {rows.table.schema[key]}" if key in rows.table.columns else "missing"
        raise InputError(f"the id column '{key}' is {what}", path=source.place, expected="text or numbers")
    ids = text_of(rows.table[key])
    missing = np.flatnonzero(~ids.str.contains(r"\S").fill_null(False).to_numpy())
    if len(missing):
        raise InputError(
            f"no id in the column '{key}' ({counted(len(missing), 'such row')})",
            path=source.place,
            line=int(rows.lines[missing[0]]),
            expected="an id in every row",
            hint="Fill it in, remove the row, or "
            + (
                "rename another column to id"
                if source.is_in_memory
                else 'name another column: id = "..." in dataset.toml'
            ),
        )
    return ids


def _add_cells(builder: KnowledgeGraphBuilder, cells: Cells, codes: pl.Series, separator: str | None) -> None:
    owners = codes.gather(cells.rows)
    text, types = cells.values, cells.types
    if separator is not None:
        split = pl.DataFrame({"entity": owners, "value": text.str.split(separator), "type": types})
        split = split.explode("value").with_columns(pl.col("value").str.strip_chars())
        owners, text, types = split.filter(pl.col("value") != "")
    builder.add_cells(cells.column, owners, text, types)


def _refuse_repeated(source: TableSource, key: str, ids: pl.Series, lines: Sequence[int] | np.ndarray) -> None:
    again = np.flatnonzero(~ids.is_first_distinct().to_numpy())
    if len(again):
        first = int(ids.index_of(ids[int(again[0])]) or 0)
        raise InputError(
            f"the id '{ids[int(again[0])]}' of line {int(lines[first]):,} again ({counted(len(again), 'such row')})",
            path=source.place,
            line=int(lines[again[0]]),
            expected=f"each id of the column '{key}' once: one row per entity",
            hint="Join these rows (several values of a cell: a list), or rename another column to id"
            if source.is_in_memory
            else "Join these rows (several values of a cell: separator in dataset.toml), or name "
            'another column: id = "..." in dataset.toml',
        )
