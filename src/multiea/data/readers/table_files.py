"""Tables in files: TSV, CSV, Parquet, JSON Lines and Excel, each with triples or with records."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from multiea.data.knowledge_graph_builder import KnowledgeGraphBuilder
from multiea.data.readers import json_lines
from multiea.data.readers.excel import excel_rows
from multiea.data.readers.kg_file import KgFile, TableChoices
from multiea.data.readers.record_ids import (
    has_index_without_name,
    is_header_of_records,
    named_like_ids,
    named_like_names,
    refuse_data_as_header,
)
from multiea.data.readers.records import add_records
from multiea.data.readers.table_source import TableSource
from multiea.data.readers.tables import (
    TSV,
    Dialect,
    Rows,
    csv_dialect,
    parquet_columns,
    parquet_rows,
    text_rows,
)
from multiea.data.readers.three_columns import (
    MIN_DISTINCT_WITHOUT_HEADER,
    have_values_of_records,
    is_like_a_header,
    refuse_records_without_header,
    warn_of_records,
)
from multiea.data.readers.triples import (
    EXPECTED,
    add_triples,
    are_generated,
    find_columns,
    refuse_too_few_fields,
    warn_about_columns,
    warn_about_header,
)

RECORDS_ONLY = ("id", "relations", "separator")
ROW_EXPECTED = f"{EXPECTED}, or the columns of records"


def add_tsv(file: KgFile, builder: KnowledgeGraphBuilder) -> None:
    """Adds the triples or records of a TSV file."""
    _add_text(file, TSV, builder)


def add_csv(file: KgFile, builder: KnowledgeGraphBuilder) -> None:
    """Adds the triples or records of a CSV file; semicolons and tabs are recognised."""
    _add_text(file, None, builder)


def add_parquet(file: KgFile, builder: KnowledgeGraphBuilder) -> None:
    """Adds the triples or records of a Parquet file."""
    file.table.refuse(("delimiter", "sheet"), builder.name, f"not for Parquet files such as {file.path}")
    add_table(TableSource(file.path, parquet_columns(file.path), partial(parquet_rows, file.path)), file.table, builder)


def add_json_lines(file: KgFile, builder: KnowledgeGraphBuilder) -> None:
    """Adds the triples or records of a file of JSON objects, one per line."""
    file.table.refuse(("delimiter", "sheet"), builder.name, f"not for JSON Lines files such as {file.path}")
    blocks = partial(json_lines.rows, file.path)
    with closing(blocks()) as first:
        columns = next((rows.table.columns for rows in first), None)
    if columns is None:
        return  # the builder refuses an empty KG
    add_table(TableSource(file.path, columns, blocks), file.table, builder)


def add_excel(file: KgFile, builder: KnowledgeGraphBuilder) -> None:
    """Adds the triples or records of one sheet of an Excel file."""
    file.table.refuse(("delimiter",), builder.name, f"not for Excel files such as {file.path}")
    columns, rows = excel_rows(file.path, file.table.sheet)
    add_table(TableSource(file.path, columns, lambda: iter([rows])), file.table, builder)


def add_table(source: TableSource, choices: TableChoices, builder: KnowledgeGraphBuilder) -> None:
    """Adds a table whose columns have names: triples, by the names or because there are three, otherwise records."""
    _refuse_both(choices, builder.name)
    refuse_too_few_fields(source.columns, source.place, source.line)
    named = find_columns(source.columns, choices.columns, source.place)
    are_records = any(name in RECORDS_ONLY for name in choices.given)
    if named is None and len(source.columns) == 3 and not are_records:
        are_records = bool(named_like_names(source.columns) or named_like_ids(source.columns, builder.name))
        if not are_records and not are_generated(source.columns) and _has_values_of_records(source):
            are_records = True
            warn_of_records(source.place, source.columns)
        named = None if are_records else [0, 1, 2]
        if not are_records:
            warn_about_columns(source.place, source.columns)
    if named is None or are_records:
        add_records(source, choices, builder)
    else:
        add_triples(source, named, builder)


def _has_values_of_records(source: TableSource) -> bool:
    first = next(iter(source.blocks()), None)
    return (
        first is not None and list(first.table.columns) == list(source.columns) and have_values_of_records(first.table)
    )


def _refuse_both(choices: TableChoices, kg_name: str) -> None:
    if choices.columns is not None:
        choices.refuse((*RECORDS_ONLY, "missing"), kg_name, "for records; columns are for triples: give one of the two")


def _add_text(file: KgFile, dialect: Dialect | None, builder: KnowledgeGraphBuilder) -> None:
    """Adds a text table; dialect: None if it is to be recognised."""
    path, choices = file.path, file.table
    choices.refuse(("sheet",), builder.name, f"for Excel files (.xlsx) only, not for {path}")
    _refuse_both(choices, builder.name)
    if choices.delimiter is not None:
        dialect = Dialect(f"'{choices.delimiter}'", choices.delimiter, quoted=dialect is None)
    dialect = csv_dialect(path) if dialect is None else dialect
    with closing(_text_rows(path, dialect)) as blocks:
        first = next(blocks, None)
    if first is None:
        return  # the builder refuses an empty KG
    header, others = [(name or "").strip() for name in first.table.row(0)], first.table.slice(1)
    line = int(first.lines[0])
    refuse_too_few_fields(header, path, line, choices.delimiter)
    named = find_columns(header, choices.columns, path)
    are_records = any(name in RECORDS_ONLY for name in choices.given) or has_index_without_name(header, others)
    if (
        named is None
        and len(header) == 3
        and not are_records
        and not is_header_of_records(header, others, builder.name)
    ):
        is_header = is_like_a_header(header, others)
        if not (
            have_values_of_records(others)
            if is_header
            else have_values_of_records(first.table, MIN_DISTINCT_WITHOUT_HEADER)
        ):
            warn_about_header(path, header, others)
            add_triples(TableSource(path, header, partial(_text_rows, path, dialect)), (0, 1, 2), builder)
            return
        if not is_header:
            refuse_records_without_header(header, path, line)
        warn_of_records(path, header)
    source = TableSource(path, header, partial(_rows_below_header, path, dialect, header), line)
    if named is not None and not are_records:
        add_triples(source, named, builder)
        return
    refuse_data_as_header(header, source)
    add_records(source, choices, builder)


def _text_rows(path: Path, dialect: Dialect) -> Generator[Rows]:
    """The rows of a text table, with what to do about a line that has another number of fields."""
    hint = None
    if dialect.quoted:
        separator = f'delimiter = "{dialect.shown_separator}"'
        hint = f"Put a field that contains {dialect.name} in quotes. Read with {separator}; dataset.toml sets another"
    return text_rows(path, dialect, ROW_EXPECTED, hint)


def _rows_below_header(path: Path, dialect: Dialect, header: list[str]) -> Iterator[Rows]:
    """The rows of a text table without its first, with the names of the header where these are unique."""
    for number, rows in enumerate(_text_rows(path, dialect)):
        table, lines = rows.table, rows
        if len(set(header)) == len(header):
            table = table.rename(dict(zip(table.columns, header, strict=True)))
        skipped = 1 if number == 0 else 0
        yield Rows(table.slice(skipped), lambda lines=lines, skipped=skipped: lines.lines[skipped:])  # type: ignore[misc]
