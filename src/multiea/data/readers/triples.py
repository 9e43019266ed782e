"""Triples from tables: which columns are head, relation and tail, and what they say."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from multiea.data.knowledge_graph_builder import KnowledgeGraphBuilder
from multiea.data.readers.record_ids import NUMBER
from multiea.data.readers.table_source import TableSource
from multiea.foundation.errors import InputError, counted, unknown

log = logging.getLogger("multiea")
# Names of the three columns; a first line with one of each is a header.
HEADER_WORDS = (
    ("head", "subject", "source", "from"),
    ("relation", "predicate", "property", "edge"),
    ("tail", "object", "target", "to"),
)
LETTERS = ("hs", "rp", "to")  # the same as single letters, in a header of three
GENERATED_COLUMN = re.compile(r"(column_?|field_?|[a-z]|_)?\d+", re.IGNORECASE)  # where a table had no header
MIN_ROWS_FOR_HEADER_WARNING = 3
EXPECTED = "head, relation, tail"
SEPARATORS = (";", "|", "\t", ",")


def add_triples(source: TableSource, columns: Sequence[int], builder: KnowledgeGraphBuilder) -> None:
    """Adds the triples of a table; columns: the indices of head, relation and tail."""
    for rows in source.blocks():
        head, relation, tail = source.text(rows, columns)
        empty = np.flatnonzero((head.is_null() | relation.is_null() | tail.is_null()).to_numpy())
        if len(empty):
            raise InputError(
                "an empty field", path=source.place, line=int(rows.lines[empty[0]]), expected=f"{EXPECTED}, none empty"
            )
        builder.add_triples(head, relation, tail)


def find_columns(header: Sequence[str], columns: Sequence[str] | None, place: Path | str) -> list[int] | None:
    """The indices of head, relation and tail; None if no columns are given and there is no standard header."""
    if columns is not None:
        if len(set(columns)) != 3:
            raise InputError(f"the columns {', '.join(columns)}", path=place, expected="three different columns")
        for name in columns:
            if name not in header:
                raise InputError(unknown(name, header, what="column"), path=place, line=1)
        return [list(header).index(name) for name in columns]
    return header_columns(header)


def header_columns(first_line: Sequence[str]) -> list[int] | None:
    """The indices of head, relation and tail in a first line that is a header; None if it is not a header."""
    names = [name.strip().lower() for name in first_line]
    known: Sequence[Sequence[str]] = HEADER_WORDS
    if len(names) == 3:
        known = tuple((*words, *letters) for words, letters in zip(HEADER_WORDS, LETTERS, strict=True))
    found = [[names.index(word) for word in words if word in names] for words in known]
    return [places[0] for places in found] if all(found) else None


def refuse_too_few_fields(
    header: Sequence[str], place: Path | str, line: int | None, delimiter: str | None = None
) -> None:
    """Raises an error for a table that can have neither triples nor records.

    line: of the header of a text file. delimiter: the one that dataset.toml sets for it.
    """
    if len(header) >= 2:
        return
    what, hint = "field", "" if line is None else _separator_hint("".join(header), delimiter)
    if line is None:
        what, hint = "column", "Add a column named id, and one for each thing to compare"
        if isinstance(place, str):  # in memory
            hint += '; numbers serve as ids: table.with_row_index("id") in polars, reset_index(names="id") in pandas'
    named = f" ({header[0]})" if header and line is None else ""
    raise InputError(
        counted(len(header), what) + named,
        path=place,
        line=line,
        expected=f"three {what}s: {EXPECTED}; or records with a column of ids and others",
        hint=hint,
    )


def _separator_hint(line: str, delimiter: str | None) -> str:
    """What is said about a line without a separator; delimiter: the one that dataset.toml sets."""
    likely = next((mark for mark in SEPARATORS if mark in line and mark != delimiter), None)
    shown = "|" if likely is None else likely.replace("\t", "\\t")
    if delimiter is None:
        return (
            "Fields are separated by tabs in .tsv files, and by commas, semicolons or tabs in .csv files. For others, "
            f'dataset.toml sets delimiter = "{shown}" below [kgs.NAME]'
        )
    change = "remove delimiter, or set the character that separates them"
    change = change if likely is None else f'the line has {shown!r}: set delimiter = "{shown}"'
    return f"dataset.toml says that fields are separated by {delimiter!r}; {change}"


def are_generated(columns: Sequence[str]) -> bool:
    """Whether names of columns were made by a program, because a table had no header."""
    return all(GENERATED_COLUMN.fullmatch(name) for name in columns)


def warn_about_columns(place: Path | str, columns: Sequence[str]) -> None:
    """Says that three columns are taken as triples by their order, unless their names were generated."""
    if not are_generated(columns):
        log.warning(
            "%s: the columns %s are read as head, relation, tail; rename them so if that is right; if they are "
            "records, rename the ids: id",
            place,
            ", ".join(columns),
        )


def warn_about_header(place: Path | str, first: Sequence[str], others: pl.DataFrame) -> None:
    """Warns if no field of the first line occurs again: it is probably a header, not a triple."""
    occurs_again = others.select(pl.any_horizontal(pl.all().is_in(list(first))).any()).item()
    has_number = pl.Series(list(first)).str.contains(NUMBER).any()
    if others.height >= MIN_ROWS_FOR_HEADER_WARNING - 1 and not occurs_again and not has_number:
        log.warning(
            "%s: the first line (%s) looks like a header but was read as a triple; if it is a header, rename the "
            "columns to head, relation, tail, or the ids of records to id, or name them in dataset.toml: columns = "
            '[...] for triples, id = "..." for records',
            place,
            ", ".join(map(str, first)),
        )
