"""JSON Lines: one object per line, read in blocks."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.data.files import Block, line_blocks
from multiea.data.readers.tables import Rows, first_line
from multiea.foundation.errors import InputError

EXPECTED = 'one JSON object per line, such as {"id": "1", "name": "Oslo"}'
# Under a key that has text elsewhere, polars gives lists and objects as JSON.
_STRING = r'"(?:[^"\\]|\\.)*"'
LIST_AS_TEXT = rf"^\[{_STRING}(?:,\s*{_STRING})*\]$"
OBJECT_AS_TEXT = r'^\{".*\}$'


def rows(path: Path) -> Generator[Rows]:
    """The objects of a file as tables; the columns of a block are the keys that occur in it."""
    for block in line_blocks(path):
        lines = [line for line in block.data.split(b"\n") if line.strip()]
        if not lines:
            continue
        try:
            # The blank line keeps polars from mistaking the first bytes for compressed data.
            table = pl.read_ndjson(b"\n" + b"\n".join(lines), infer_schema_length=None)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise _explained(path, block, f" ({first_line(error)})") from None
        if table.height != len(lines) or not table.width:
            raise _explained(path, block, "")
        if _columns_with(OBJECT_AS_TEXT, table) and (mixed := _first_mixture(path, block, _structure)) is not None:
            raise mixed
        yield Rows(_with_lists(table), partial(_line_numbers, block))


def _with_lists(table: pl.DataFrame) -> pl.DataFrame:
    """The table with lists where a key has texts and lists of texts."""
    for name in _columns_with(LIST_AS_TEXT, table):
        listed = pl.col(name).str.contains(LIST_AS_TEXT)
        decoded = pl.when(listed).then(pl.col(name)).str.json_decode(pl.List(pl.String))
        table = table.with_columns(pl.when(listed).then(decoded).otherwise(pl.concat_list(name)).alias(name))
    return table


def _columns_with(pattern: str, table: pl.DataFrame) -> list[str]:
    texts = table.select(pl.col(pl.String).str.contains(pattern).any())
    return [name for name in texts.columns if texts[name].item()]


def _line_numbers(block: Block) -> NDArray[np.int64]:
    is_given = [bool(line.strip()) for line in block.data.split(b"\n")]
    return np.flatnonzero(is_given) + block.first_line


def _explained(path: Path, block: Block, reason: str) -> InputError:
    """The error for the first line that is not an object, or whose values have another type than those before."""
    mixed = _first_mixture(path, block, _structure) or _first_mixture(path, block, _kind)
    found = f"cannot be read as JSON Lines{reason}"
    return mixed or InputError(found, path=path, line=block.first_line, expected=EXPECTED)


def _first_mixture(path: Path, block: Block, kind_of: Callable[[Any], str]) -> InputError | None:
    kinds: dict[str, tuple[str, int]] = {}
    for line, text in enumerate(block.data.split(b"\n"), start=block.first_line):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as problem:
            return InputError(f"invalid JSON ({first_line(problem)})", path=path, line=line, expected=EXPECTED)
        if not isinstance(record, dict) or not record:
            return InputError(text[:60].decode("utf-8", "replace"), path=path, line=line, expected=EXPECTED)
        for key, value in record.items():
            if value is None:
                continue
            kind, before = kinds.setdefault(key, (kind_of(value), line))
            if kind_of(value) != kind:
                found = f"'{key}' is {kind_of(value)} here and {kind} in line {before:,}"
                return InputError(found, path=path, line=line, expected="values of one type under each key")
    return None


def _structure(value: Any) -> str:
    return "an object" if isinstance(value, dict) else "no object"


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list"}
    return names.get(type(value), "an object")
