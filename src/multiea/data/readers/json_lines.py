"""JSON Lines: one object per line, read in blocks."""

from __future__ import annotations

import json
from collections.abc import Generator
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


def rows(path: Path) -> Generator[Rows]:
    """The objects of a file as tables; the columns of a block are the keys that occur in it."""
    for block in line_blocks(path):
        lines = [line for line in block.data.split(b"\n") if line.strip()]
        if not lines:
            continue
        try:
            table = pl.read_ndjson(b"\n".join(lines), infer_schema_length=None)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise _explained(path, block, error) from None
        if table.height != len(lines) or not table.width:
            raise _explained(path, block, None)
        yield Rows(table, partial(_line_numbers, block))


def _line_numbers(block: Block) -> NDArray[np.int64]:
    is_given = [bool(line.strip()) for line in block.data.split(b"\n")]
    return np.flatnonzero(is_given) + block.first_line


def _explained(path: Path, block: Block, error: BaseException | None) -> InputError:
    """The error for the first line that is no object, or whose values have another type than those before."""
    kinds: dict[str, tuple[str, int]] = {}
    for line, text in enumerate(block.data.split(b"\n"), start=block.first_line):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as problem:
            return InputError(f"invalid JSON ({first_line(problem)})", path=path, line=line, expected=EXPECTED)
        if not isinstance(record, dict) or not record:
            return InputError(f"{text[:60].decode('utf-8', 'replace')}", path=path, line=line, expected=EXPECTED)
        for key, value in record.items():
            kind, before = kinds.setdefault(key, (_kind(value), line)) if value is not None else ("", 0)
            if value is not None and _kind(value) != kind:
                found = f"'{key}' is {_kind(value)} here and {kind} in line {before:,}"
                return InputError(found, path=path, line=line, expected="values of one type under each key")
    reason = "" if error is None else f" ({first_line(error)})"
    return InputError(f"cannot be read as JSON Lines{reason}", path=path, line=block.first_line, expected=EXPECTED)


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list"}
    return names.get(type(value), "an object")
