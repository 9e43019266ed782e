"""Tables of text: TSV, CSV and Parquet, read in blocks; every record is checked before it is parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.data.files import NEWLINE, QUOTE, Block, line_blocks, opened
from multiea.foundation.errors import InputError

COMMENT_HINT = "A line that begins with # is no comment here; of SSSOM mappings the name ends in .sssom.tsv"
PARQUET_ROWS = 1 << 16


@dataclass(frozen=True)
class Dialect:
    """How fields are separated, and whether quotes may enclose them."""

    name: str
    separator: str
    quoted: bool


TSV = Dialect("tabs", "\t", quoted=False)
CSV = Dialect("commas", ",", quoted=True)


class Rows:
    """Some rows of a table, all fields strings, null where empty."""

    def __init__(self, table: pl.DataFrame, find_lines: Callable[[], NDArray[np.int64]]) -> None:
        self.table, self._find_lines = table, find_lines

    @property
    def lines(self) -> NDArray[np.int64]:
        """Where each row stands in its file; found only when asked for, since few ask."""
        return self._find_lines()


def text_rows(path: Path, dialect: Dialect, expected: str) -> Iterator[Rows]:
    """The file's rows in blocks; every row must have as many fields as the first, or the error names its line."""
    fields: int | None = None
    for block in line_blocks(path, quoted=dialect.quoted):
        records = _Records(path, block, dialect)
        if not len(records.starts):
            continue
        fields = int(records.fields[0]) if fields is None else fields
        wrong = np.flatnonzero(records.fields != fields)
        if len(wrong):
            count = records.fields[wrong[0]]
            raise InputError(
                f"{count} field{'s' if count > 1 else ''}",
                path=path,
                line=records.line(wrong[0]),
                expected=f"{fields} as in the first line, separated by {dialect.name}: {expected}",
                hint=COMMENT_HINT if block.first_line == 1 and block.data.startswith(b"#") else None,
            )
        try:
            # The header of our own keeps polars from taking the first bytes for a byte order mark or packed data.
            names = [f"column_{index + 1}" for index in range(fields)]
            table = pl.read_csv(
                (dialect.separator.join(names) + "\n").encode() + records.data_without_blank_lines(),
                separator=dialect.separator,
                quote_char='"' if dialect.quoted else None,
                schema=dict.fromkeys(names, pl.String),
            )
        except pl.exceptions.PolarsError as error:
            raise InputError(f"cannot be read as a table ({first_line(error)})", path=path) from None
        if table.height != len(records.starts):
            raise InputError(
                f"{len(records.starts):,} lines read as {table.height:,} rows", path=path, expected="a row a line"
            )
        yield Rows(_nulls_for_empty(table) if dialect.quoted else table, records.lines)


def parquet_columns(path: Path) -> list[str]:
    """The names of the file's columns."""
    with _scanned(path) as table:
        return table.collect_schema().names()


def parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[Rows]:
    """The rows of some columns in blocks, as strings; here `lines` counts rows from 1."""
    with _scanned(path) as lazy:
        start = 1
        for table in lazy.select(pl.col(columns).cast(pl.String)).collect_batches(chunk_size=PARQUET_ROWS):
            yield Rows(_nulls_for_empty(table), partial(np.arange, start, start + table.height))
            start += table.height


@contextmanager
def _scanned(path: Path) -> Iterator[pl.LazyFrame]:
    """The file as a lazy table; what polars cannot read is named."""
    with opened(path) as stream:
        source: Path | BytesIO = BytesIO(stream.read()) if path.suffix == ".gz" else path
        try:
            yield pl.scan_parquet(source, glob=False)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise InputError(f"not a Parquet table that can be read ({first_line(error)})", path=path) from None


def _nulls_for_empty(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.all().replace({"": None}))


def first_line(error: BaseException) -> str:
    """The gist of another library's message."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__


class _Records:
    """Where the records of a block start and end and how many fields each has; blank lines are no records."""

    def __init__(self, path: Path, block: Block, dialect: Dialect) -> None:
        self._block = block
        self._codes = np.frombuffer(block.data, dtype=np.uint8)
        self._quotes = np.flatnonzero(self._codes == QUOTE) if dialect.quoted else np.empty(0, dtype=np.int64)
        if len(self._quotes):
            self._refuse_stray_quotes(path, dialect)
        ends = self._outside_quotes(NEWLINE)
        starts = np.concatenate([[0], ends[:-1] + 1])
        separators = self._outside_quotes(ord(dialect.separator))
        fields = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
        carriage = (ends > starts) & (self._codes[np.maximum(ends - 1, 0)] == ord("\r"))
        self._blank = (ends - carriage == starts) & (fields == 1)
        self._all_starts, self._all_ends = starts, ends
        self.starts, self.fields = starts[~self._blank], fields[~self._blank]

    def line(self, record: int) -> int:
        """The number of the line a record starts in."""
        return self._block.line_at(int(self.starts[record]))

    def lines(self) -> NDArray[np.int64]:
        """The numbers of the lines all records start in."""
        newlines = np.flatnonzero(self._codes == NEWLINE)
        return np.asarray(np.searchsorted(newlines, self.starts) + self._block.first_line)

    def data_without_blank_lines(self) -> bytes:
        if not self._blank.any():
            return self._block.data
        keep = np.ones(len(self._codes), dtype=bool)
        keep[self._all_starts[self._blank]] = keep[self._all_ends[self._blank]] = False
        return self._codes[keep].tobytes()

    def _outside_quotes(self, code: int) -> NDArray[np.int64]:
        positions = np.flatnonzero(self._codes == code)
        return positions[np.searchsorted(self._quotes, positions) % 2 == 0] if len(self._quotes) else positions

    def _refuse_stray_quotes(self, path: Path, dialect: Dialect) -> None:
        """A quote may only open or close a whole field, or stand doubled inside one; else fields would run together."""
        is_border = np.zeros(256, dtype=bool)
        is_border[list(f'{dialect.separator}\r\n"'.encode())] = True
        border = is_border[self._codes]
        opening, closing = self._quotes[::2], self._quotes[1::2]
        stray = [
            opening[(opening > 0) & ~border[opening - 1]],
            closing[~border[np.minimum(closing + 1, len(border) - 1)]],
            self._quotes[-1:] if len(self._quotes) % 2 else self._quotes[:0],
        ]
        positions = np.concatenate(stray)
        if len(positions):
            raise InputError(
                "a quote that neither opens nor closes a field",
                path=path,
                line=self._block.line_at(int(positions.min())),
                expected='a field with quotes written as "one ""quoted"" field"',
            )
