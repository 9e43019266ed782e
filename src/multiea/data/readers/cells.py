"""Cells of typed tables as text: numbers without loss, dates as ISO 8601, lists as several values, parts of objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

XSD = "http://www.w3.org/2001/XMLSchema#"
LARGEST_EXACT_FLOAT = 2.0**53
PLAIN = ""  # the type of text


@dataclass(frozen=True)
class Cells:
    """Values of one column: for each the number of its row, its text, and its type (a datatype, or '')."""

    column: str
    rows: pl.Series
    values: pl.Series
    types: pl.Series


def cells_of(name: str, values: pl.Series, rows: pl.Series | None = None) -> Iterator[Cells]:
    """The cells of a column that are not empty. A list has several values; an object has one column per part, `a.b`.

    Columns that cannot be text give nothing; `is_readable` tells which these are.
    """
    rows = pl.Series(range(len(values)), dtype=pl.UInt32) if rows is None else rows
    kind = values.dtype
    if isinstance(kind, pl.List | pl.Array):
        listed = pl.DataFrame({"row": rows, "value": values.cast(pl.List(kind.inner))}).drop_nulls("value")
        parts = listed.explode("value", empty_as_null=True)
        yield from cells_of(name, parts["value"], parts["row"])
    elif isinstance(kind, pl.Struct):
        for field in kind.fields:
            yield from cells_of(f"{name}.{field.name}", values.struct.field(field.name), rows)
    elif is_readable(kind):
        text = text_of(values)
        is_given = text.str.contains(r"\S").fill_null(False)
        yield Cells(name, rows.filter(is_given), text.filter(is_given), _types(values, text).filter(is_given))


def is_readable(kind: pl.DataType) -> bool:
    """Whether values of this type, or their parts, have a text."""
    if isinstance(kind, pl.List | pl.Array):
        return is_readable(kind.inner)  # type: ignore[arg-type]
    if isinstance(kind, pl.Struct):
        return all(is_readable(field.dtype) for field in kind.fields)  # type: ignore[arg-type]
    return not isinstance(kind, pl.Object | pl.Unknown | pl.Binary)


def text_of(values: pl.Series) -> pl.Series:
    """Values as text, null where there is none. Whole numbers have no '.0', because pandas writes whole numbers with
    gaps as floats, and an id or a year must be the same in all sources.
    """
    kind = values.dtype
    if isinstance(kind, pl.Float32 | pl.Float64):
        values = values.fill_nan(None)
        is_whole = (values.round(0) == values) & (values.abs() < LARGEST_EXACT_FLOAT)
        whole = pl.when(is_whole).then(values).cast(pl.Int64).cast(pl.String)
        return pl.select(pl.coalesce(whole, values.cast(pl.String)).alias(values.name)).to_series()
    if isinstance(kind, pl.Datetime):
        # Excel and pandas have no plain dates: midnight stands for a day.
        text = values.dt.to_string("iso:strict").str.replace(r"\.0+($|[+Z-])", "$1")
        return text.str.replace(r"T00:00:00(?:[+]00:00|Z)?$", "")
    if isinstance(kind, pl.Duration):
        return values.dt.to_string("iso")
    return values.cast(pl.String)


def _types(values: pl.Series, text: pl.Series) -> pl.Series:
    kind = values.dtype
    if isinstance(kind, pl.Datetime):
        has_time = text.str.contains("T", literal=True)
        return pl.select(pl.when(has_time).then(pl.lit(f"{XSD}dateTime")).otherwise(pl.lit(f"{XSD}date"))).to_series()
    return pl.select(pl.repeat(_datatype(kind), len(values), dtype=pl.String)).to_series()


def _datatype(kind: pl.DataType) -> str:
    if kind.is_integer():
        return f"{XSD}integer"
    if kind.is_float():
        return f"{XSD}double"
    names = {pl.Decimal: "decimal", pl.Boolean: "boolean", pl.Date: "date", pl.Time: "time", pl.Duration: "duration"}
    return next((XSD + name for known, name in names.items() if isinstance(kind, known)), PLAIN)
