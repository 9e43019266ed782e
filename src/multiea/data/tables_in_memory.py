"""KGs and groups from tables in memory: polars or pandas DataFrames of records or of triples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.knowledge_graph_builder import KnowledgeGraphBuilder
from multiea.data.raw_dataset import RawDataset
from multiea.data.readers import read_given_groups
from multiea.data.readers.kg_file import TableChoices
from multiea.data.readers.table_files import add_table
from multiea.data.readers.table_source import TableSource
from multiea.data.readers.tables import Rows
from multiea.foundation.errors import InputError, is_text

BLOCK_ROWS = 1 << 17
TABLE_EXPECTED = "a polars or pandas table of records or triples, or a KnowledgeGraph"
SEEDS_EXPECTED = "Groups, a table with one column per KG, a list such as [{'a': 'x', 'b': 'y'}], or a file"


def read_tables(
    tables: Mapping[str, Any], seeds: Any, *, lenient: bool, roles: Mapping[str, str] | None = None
) -> RawDataset:
    """The data set of one table or KnowledgeGraph per KG, with seeds as Groups, table, list of dicts, or file."""
    wrong = next((name for name in tables if not is_text(name)), None)
    if wrong is not None:
        raise InputError(f"a KG named {wrong!r}", expected="names that are text, such as {'a': table, 'b': table}")
    if len(tables) < 2:
        raise InputError(
            f"a single table, '{next(iter(tables))}'" if tables else "no table",
            expected='at least two to align, by name: {"a": table, "b": table}',
            hint="Give each source a table of its own; one table whose rows are of several sources is to be split"
            if tables
            else None,
        )
    kgs = [kg_of_table(name, table, roles) for name, table in tables.items()]
    groups = {} if seeds is None else {"seeds": _groups(seeds, kgs, lenient=lenient)}
    return RawDataset(" + ".join(tables), kgs, groups)


def kg_of_table(name: str, table: Any, roles: Mapping[str, str] | None = None) -> KnowledgeGraph:
    """A KG from a table; a KnowledgeGraph gets the name."""
    if isinstance(table, KnowledgeGraph):
        return table if table.name == name else replace(table, name=name)
    frame = _polars(table, f"KG '{name}'")
    if frame is None:
        raise InputError(f"KG '{name}' given as {type(table).__name__}", expected=TABLE_EXPECTED)
    builder = KnowledgeGraphBuilder(name, roles)
    add_table(TableSource(f"KG '{name}'", frame.columns, partial(_blocks, frame)), TableChoices(), builder)
    return builder.build()


def _blocks(frame: pl.DataFrame) -> Iterator[Rows]:
    for start in range(0, frame.height, BLOCK_ROWS):
        rows = frame.slice(start, BLOCK_ROWS)
        yield Rows(rows, partial(np.arange, start + 1, start + rows.height + 1))


def _groups(seeds: Any, kgs: Sequence[KnowledgeGraph], *, lenient: bool) -> Groups:
    if isinstance(seeds, Groups):
        return seeds
    if isinstance(seeds, str | Path):
        return read_given_groups(Path(seeds), kgs, lenient=lenient)
    frame = _polars(seeds, "the table of seeds")
    if frame is not None:
        source = TableSource("the table of seeds", frame.columns, partial(_blocks, frame))
        text = source.text(Rows(frame, partial(np.arange, 1, frame.height + 1)), range(frame.width))
        return Groups.from_table(kgs, pl.DataFrame(text), lenient=lenient)
    if isinstance(seeds, Sequence) and all(isinstance(row, Mapping) for row in seeds):
        return Groups.from_names(kgs, seeds, lenient=lenient)
    raise InputError(f"seeds given as {type(seeds).__name__}", expected=SEEDS_EXPECTED)


def _polars(table: Any, what: str) -> pl.DataFrame | None:
    """A polars or pandas table as polars; None if it is neither."""
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if isinstance(table, pl.DataFrame):
        return table
    if type(table).__module__.partition(".")[0] != "pandas" or type(table).__name__ != "DataFrame":
        return None
    if table.index.name is not None or table.index.nlevels > 1:  # a named index is a column
        table = table.reset_index()
    names = [str(name) for name in table.columns]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(
            f"{what}: two columns are named {', '.join(map(repr, repeated))}", expected="a different name for each"
        )
    return pl.DataFrame([_series(name, table.iloc[:, at]) for at, name in enumerate(names)])


def _series(name: str, column: Any) -> pl.Series:
    """A column of pandas without pyarrow, which polars would need. Mixed types become text."""
    if column.dtype.kind in "iufb" and isinstance(column.dtype, np.dtype):
        return pl.Series(name, column.to_numpy())
    values = column.astype(object).where(column.notna(), None).tolist()
    try:
        return pl.Series(name, values, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)
