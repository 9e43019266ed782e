"""Which table is one of records, and which of its columns has the ids."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import polars as pl

from multiea.data.name_words import DOUBTFUL_WORDS, NAME_WORDS, first_and_last_name, plain_word
from multiea.data.readers.cells import is_readable, text_of
from multiea.data.readers.table_source import TableSource
from multiea.foundation.errors import InputError, unknown

log = logging.getLogger("multiea")
MOST_TABLES = 5  # in one warning
_TABLES_TOLD_TOGETHER: ContextVar[list[tuple[TableSource, str]] | None] = ContextVar(
    "tables_told_together", default=None
)
ID_WORDS = ("id", "iri", "uri", "key", "identifier", "entity", "entityid", "recordid", "recid", "uuid", "guid")
ID_EXPECTED = "a column of ids named id, iri, uri, key, identifier or KG_id, or a first column without repeated values"
MIN_ROWS = 3
NUMBER = r"^\s*[-+]?\d[\d.,:eE+-]*\s*$"


def is_header_of_records(first: Sequence[str], others: pl.DataFrame, kg_name: str) -> bool:
    """Whether the first of three-column lines is a header of records and not a triple: it has a word for ids or names,
    and none of its fields occurs again in its column.
    """
    words = [plain_word(name) for name in first]
    if not all(words):
        return False  # two of the same name are refused later, by name
    if not others.height:  # a header alone: reading it reports that there are no rows
        return bool(named_like_ids(first, kg_name))
    occurs_again = others.select(
        pl.any_horizontal(pl.col(name).eq(value).any() for name, value in zip(others.columns, first, strict=True))
    ).item()
    has_name = bool(named_like_names(first)) and others.height >= MIN_ROWS
    return not occurs_again and (has_name or bool(named_like_ids(first, kg_name)))


def has_index_without_name(first: Sequence[str], others: pl.DataFrame) -> bool:
    """Whether a first line is a header in which only the first column has no name, since it numbers the rows.

    pandas writes such a column unless it is told not to.
    """
    if not others.height or first[0] or not all(first[1:]):
        return False
    numbers = pl.Series(range(others.height)).cast(pl.String)
    return bool((others.to_series(0) == numbers).all())


def refuse_data_as_header(first: Sequence[str], place: TableSource) -> None:
    """Raises an error if a first line that should name columns has numbers instead."""
    numbers = [field for field in first if pl.Series([field]).str.contains(NUMBER).item()]
    if numbers:
        raise InputError(
            f"{len(first)} fields, among them {numbers[0]}, which is a value and names no column",
            path=place.place,
            line=place.line,
            expected="a header that names every column, or three fields: head, relation, tail",
            hint="Add a first line with the names of the columns, one of them id",
        )


def named_like_names(columns: Sequence[str]) -> list[str]:
    """The columns whose names say that they have names, or first and last names."""
    named = [column for column in columns if plain_word(column) in (*NAME_WORDS, *DOUBTFUL_WORDS)]
    return named or list(first_and_last_name(columns) or ())


def named_like_ids(columns: Sequence[str], kg_name: str) -> list[str]:
    """The columns whose names say that they have ids."""
    return [column for column in columns if plain_word(column) in (*ID_WORDS, plain_word(f"{kg_name}_id"))]


def id_column(source: TableSource, given: str | None, kg_name: str) -> str:
    """The column of ids: the given one, the only one named so whose values are complete and unique, or the first."""
    columns = source.columns
    if given is not None:
        if given not in columns:
            raise InputError(unknown(given, columns, what="column"), path=source.place, line=source.line)
        return given
    candidates = named_like_ids(columns, kg_name)
    if len(candidates) == 1:
        return candidates[0]
    unique = _unique_columns(source, candidates or columns[:1])
    if not candidates:
        return _first_column(source, bool(unique))
    if len(unique) > 1:
        raise InputError(
            f"the columns {' and '.join(map(repr, unique))} both could be the ids",
            path=source.place,
            line=source.line,
            expected="one column of ids",
            hint=f"Rename or drop '{unique[1]}'"
            + ("" if source.is_in_memory else f', or choose in dataset.toml: id = "{unique[0]}"'),
        )
    if not unique:
        return candidates[0]  # reading it reports what is wrong
    others = [f"'{column}'" for column in candidates if column != unique[0]]
    log.warning(
        "%s: '%s' has the ids; %s repeated or missing values and %s",
        source.place,
        unique[0],
        f"{', '.join(others)} {'has' if len(others) == 1 else 'have'}",
        "counts as an attribute" if len(others) == 1 else "count as attributes",
    )
    return unique[0]


def _first_column(source: TableSource, is_unique: bool) -> str:
    first, count = source.columns[0], len(source.columns)
    what = "columns" if source.line is None else "fields"
    if not is_unique:
        raise InputError(
            f"{count} {what} ({', '.join(source.columns[:8])}) and no column of ids: the first, '{first}', has "
            "repeated or missing values",
            path=source.place,
            line=source.line,
            expected=f"three {what}: head, relation, tail; or records with {ID_EXPECTED}",
            hint=source.id_hint,
        )
    together = _TABLES_TOLD_TOGETHER.get()
    if together is None:
        _warn_of_first_columns([(source, first)])
    else:
        together.append((source, first))
    return first


@contextmanager
def one_warning_for_all_tables() -> Iterator[None]:
    """Inside, one warning names all tables in which no column is named id and the first has the ids."""
    together: list[tuple[TableSource, str]] = []
    before = _TABLES_TOLD_TOGETHER.set(together)
    try:
        yield
    finally:
        _TABLES_TOLD_TOGETHER.reset(before)
        if together:
            _warn_of_first_columns(together)


def _warn_of_first_columns(tables: Sequence[tuple[TableSource, str]]) -> None:
    source, column = tables[0]
    change = "to use another, rename it to id" if source.is_in_memory else 'another: id = "..." in dataset.toml'
    if len(tables) == 1:
        log.warning(
            "%s: no column is named id; the first, '%s', has the ids, because its values are unique; %s",
            source.place,
            column,
            change,
        )
        return
    named = [f"'{first}' of {_short_place(table)}" for table, first in tables[:MOST_TABLES]]
    more = len(tables) - MOST_TABLES
    listed = ", ".join(named) + (f" and of {more:,} more tables" if more > 0 else "")
    log.warning("no column is named id; the first has the ids, because its values are unique: %s; %s", listed, change)


def _short_place(source: TableSource) -> str:
    return source.place.name if isinstance(source.place, Path) else source.place


def _unique_columns(source: TableSource, columns: Sequence[str]) -> list[str]:
    """Those of the columns that have a value in every row, and each value once."""
    parts: dict[str, list[pl.Series]] = {column: [] for column in columns}
    total = 0
    for rows in source.blocks():
        total += rows.table.height
        for column in columns:
            kind = rows.table.schema.get(column)
            if kind is not None and is_readable(kind) and not kind.is_nested():
                parts[column].append(text_of(rows.table[column]))
    refuse_no_rows(source, total)
    unique = []
    for column, texts in parts.items():
        values = pl.concat(texts) if texts else pl.Series([], dtype=pl.String)
        if len(values) == total == values.n_unique() and values.str.contains(r"\S").fill_null(False).all():
            unique.append(column)
    return unique


def refuse_no_rows(source: TableSource, rows: int) -> None:
    """Raises an error for a table that has a header only."""
    if not rows:
        below = "" if source.is_in_memory else " below the header"
        raise InputError("a table without rows", path=source.place, expected=f"one row per entity{below}")
